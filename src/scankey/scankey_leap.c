/*-------------------------------------------------------------------------
 * scankey_leap.c - leaps over entries that cannot pass the filters
 *
 * The ranges end with the first column that has no equality.  A later column's values ascend only
 * among entries that are equal in the columns before it.  So a scan that meets a value that is too
 * small there can seek to the least allowed value with the same earlier columns; from one that is
 * too great it can seek to the next values of the earlier columns.  (PostgreSQL 18's btree calls
 * this a skip scan.)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "key.h"
#include "rowcompare.h"
#include "scankey.h"
#include "scankey_impl.h"

/* The interval of a filter's column that the filter allows, or a wider one.  False: none. */
static bool
allowed_interval(SfxScanKeys *sk, SfxScanFilter *f, ScanKey keys, ByteRange *iv)
{
	SfxQual    *q = f->qual;
	ConstResult r = CONST_FILTER;
	bool		near;

	if (f->exact && !f->by_bytes)
	{
		*iv = (ByteRange) {f->lo, f->hi, f->lolen, f->hilen};
		return true;
	}
	if (q->is_test)
	{
		sfx_interval_null_test(sk, q, iv);
		return true;
	}
	if (!(q->flags & SK_SEARCHARRAY))
		r = sfx_interval_constant(sk, q, sfx_first_key(&keys[q->keyno])->sk_argument, iv, &near);
	if (r == CONST_FILTER)
		sfx_interval_all(sk, iv);
	return r != CONST_NONE;
}

bool
sfx_leap_prepare(SfxScanKeys *sk, ScanKey keys, int from)
{
	ByteRange	iv;
	int			col;

	if (from >= sk->nquals)
		return true;
	if (sk->leap_lo == NULL)
	{
		sk->leap_lo = MemoryContextAlloc(sk->parent, SFX_MAX_ENTRY + 1);
		sk->leap_hi = MemoryContextAlloc(sk->parent, SFX_MAX_ENTRY + 1);
		sk->leap_to = MemoryContextAlloc(sk->parent, SFX_BOUND_MAX);
	}
	iv = (ByteRange) {sk->leap_lo, sk->leap_hi, 0, 0};
	sk->leap_list = NULL;
	col = sk->quals[from].col;
	for (int i = 0; i < sk->nfilters; i++)
	{
		SfxScanFilter *f = &sk->filters[i];
		ByteRange	one = {sk->lo, sk->hi, 0, 0};	/* free until sfx_scankeys_bounds */

		if (f->qual->col != col)
			continue;
		if (!allowed_interval(sk, f, keys, &one))
			return false;
		sfx_interval_intersect(sk, col, &iv, &one);
		if (f->by_bytes)
			sk->leap_list = f;
	}
	sk->leap_col = col;
	sk->leap_lolen = iv.lolen;
	sk->leap_hilen = iv.hilen;
	return cmp_bytes(sk, col, iv.lo, iv.lolen, iv.hi, iv.hilen) < 0;
}

/*
 * The element of the leap column's list nearest to these bytes in that direction; NULL: there is
 * none. *equal: the bytes are in the list.
 */
static const SfxBytes *
next_listed(const SfxScanKeys *sk, const SfxBytes *b, ScanDirection dir, bool *equal)
{
	const SfxScanFilter *f = sk->leap_list;
	ElemOrder	eo = {sk, sk->leap_col};
	int			i = sfx_array_find(&eo, f->set, f->n, b, equal);

	if (!*equal && !ScanDirectionIsForward(dir))
		i--;
	return i >= 0 && i < f->n ? &f->set[i] : NULL;
}

/*
 * Where to seek from this value of the leap column: *to, bytes after those of the earlier columns;
 * or, if *away, to the next values of the earlier columns.  False: the value is allowed.
 */
static bool
leap_target(const SfxScanKeys *sk, const SfxBytes *b, ScanDirection dir, SfxBytes *to, bool *away)
{
	bool		below = cmp_bytes(sk, sk->leap_col, b->p, b->len, sk->leap_lo, sk->leap_lolen) < 0;
	bool		above = !below && cmp_bytes(sk, sk->leap_col, b->p, b->len, sk->leap_hi, sk->leap_hilen) >= 0;

	/* no allowed value is left with the same earlier columns */
	*away = ScanDirectionIsForward(dir) ? above : below;
	if (below || above)
	{
		to->p = below ? sk->leap_lo : sk->leap_hi;
		to->len = below ? sk->leap_lolen : sk->leap_hilen;
		return true;
	}
	if (sk->leap_list)
	{
		bool		equal;
		const SfxBytes *e = next_listed(sk, b, dir, &equal);

		if (equal)
			return false;
		*away = e == NULL;
		if (e)
			*to = *e;
		return true;
	}
	return false;
}

bool
sfx_scankeys_leap(SfxScanKeys *sk, const uint8 *key, int len, ScanDirection dir, SfxPos *pos)
{
	bool		forward = ScanDirectionIsForward(dir);
	int			at = 0;
	SfxBytes	value;
	SfxBytes	to = {NULL, 0};
	bool		away;
	bool		listed;

	if (sk->leap_col < 0)
		return false;
	for (int i = 0; i < sk->leap_col; i++)
		at += sfx_column_length(&sk->kd->col[i], sk->index, key + at, len - at);
	value.p = key + at;
	value.len = sfx_column_length(&sk->kd->col[sk->leap_col], sk->index, key + at, len - at);
	if (!leap_target(sk, &value, dir, &to, &away))
		return false;
	memcpy(sk->leap_to, key, at);
	pos->key = sk->leap_to;
	pos->tid = 0;
	if (away)
	{
		pos->len = forward ? end_above(sk, sk->leap_to, at) : end_below(sk, sk->leap_to, at);
		return pos->len > 0;
	}
	pos->len = append_cut(sk, sk->leap_to, at, to.p, to.len);
	/* bounds of the interval have end marks, elements of the list have none */
	listed = to.p != sk->leap_lo && to.p != sk->leap_hi;
	if (listed)
		pos->len = forward ? end_below(sk, sk->leap_to, pos->len) : end_above(sk, sk->leap_to, pos->len);
	return true;
}
