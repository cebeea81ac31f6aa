/*-------------------------------------------------------------------------
 * scankey_filter.c - what ranges do not guarantee: checks of entries, and leaps over those that cannot pass
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "key.h"
#include "reader.h"
#include "reader_impl.h"
#include "scankey.h"
#include "scankey_impl.h"

#include "miscadmin.h"
#include "utils/memutils.h"

void
sfx_scanfilter_add(SfxScanKeys *sk, SfxQual *q)
{
	SfxFilter  *f = &sk->filters[sk->nfilters++];

	memset(f, 0, sizeof(*f));
	f->qual = q;
	sk->filter_upto = Max(sk->filter_upto, q->col + 1);
}

bool
sfx_scanfilter_fill(SfxScanKeys *sk, ScanKey keys)
{
	if (sk->nfilters > 0 && sk->eval == NULL)
		sk->eval = AllocSetContextCreate(sk->parent, "surfidx scan filters", ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < sk->nfilters; i++)
	{
		SfxFilter  *f = &sk->filters[i];
		SfxQual    *q = f->qual;
		const ScanKeyData *key = &keys[q->keyno];

		if (!(q->flags & SK_SEARCHARRAY))
			continue;
		f->n = is_equal_array(q) ? sfx_array_equal_set(sk, q, key, &f->set) : -1;
		f->by_bytes = f->n >= 0;
		if (!f->by_bytes)
			f->n = sfx_array_open(q, key, &f->elems, &f->elem_isnull);
		if (f->n == 0)
			return false;
	}
	return true;
}

static bool
check_array(SfxScanKeys *sk, const SfxFilter *f, ScanKey key, Datum value)
{
	if (f->by_bytes)
	{
		SfxBytes	b = {sk->scratch, 0};
		ElemOrder	eo = {sk, f->qual->col};

		if (!sfx_bound_encode(sk->kd, sk->index, f->qual->col, value, sk->scratch, &b.len, SFX_MAX_ENTRY))
			return false;
		return sfx_array_has(&eo, f->set, f->n, &b);
	}
	for (int i = 0; i < f->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!f->elem_isnull[i] &&
			DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, f->elems[i])))
			return true;
	}
	return false;
}

static bool
check_one(SfxScanKeys *sk, const SfxFilter *f, ScanKey key, Datum value, bool isnull)
{
	if (f->qual->is_test)
		return isnull == ((f->qual->flags & SK_SEARCHNULL) != 0);
	if (isnull)
		return false;
	if (f->qual->flags & SK_SEARCHARRAY)
		return check_array(sk, f, key, value);
	return DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, key->sk_argument));
}

bool
sfx_scankeys_check(SfxScanKeys *sk, ScanKey keys, const Datum *values, const bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(sk->eval);
	bool		pass = true;

	/* operators may leave memory behind */
	MemoryContextReset(sk->eval);
	for (int i = 0; pass && i < sk->nfilters; i++)
	{
		const SfxFilter *f = &sk->filters[i];

		pass = check_one(sk, f, &keys[f->qual->keyno], values[f->qual->col], isnull[f->qual->col]);
	}
	MemoryContextSwitchTo(old);
	return pass;
}

/* ------------------------------------------------------------------ leaping
 *
 * The ranges end with the first column that has no equality. A later column's values ascend only among entries whose columns before it are
 * equal; so a scan can go, from an entry whose value there is too small, to the least one that fits behind the same columns, and from
 * one too great to the next value of those columns. (A btree of PostgreSQL 18 calls this a skip scan.)
 */

bool
sfx_leap_prepare(SfxScanKeys *sk, ScanKey keys, int from)
{
	ByteRange	iv;
	ByteRange	one = {sk->lo, sk->hi, 0, 0};	/* free until sfx_scankeys_bounds */
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
	for (int i = from; i < sk->nquals && sk->quals[i].col == col; i++)
	{
		SfxQual    *q = &sk->quals[i];
		ConstResult r = CONST_FILTER;
		bool		near;

		if (q->is_test)
			sfx_interval_null_test(sk, q, &one);
		else if ((q->flags & SK_SEARCHARRAY) == 0)
			r = sfx_interval_constant(sk, q, keys[q->keyno].sk_argument, &one, &near);
		if (r == CONST_NONE)
			return false;
		if (r == CONST_FILTER && !q->is_test)
			sfx_interval_all(sk, &one);
		sfx_interval_intersect(sk, col, &iv, &one);
	}
	for (int i = 0; i < sk->nfilters; i++)
		if (sk->filters[i].qual->col == col && sk->filters[i].by_bytes)
			sk->leap_list = &sk->filters[i];
	sk->leap_col = col;
	sk->leap_lolen = iv.lolen;
	sk->leap_hilen = iv.hilen;
	return cmp_bytes(sk, col, iv.lo, iv.lolen, iv.hi, iv.hilen) < 0;
}

/* The element of the leap column's list that is nearest to these bytes in that direction; NULL: there is none. *equal: it is the same. */
static const SfxBytes *
next_listed(const SfxScanKeys *sk, const SfxBytes *b, ScanDirection dir, bool *equal)
{
	const SfxFilter *f = sk->leap_list;
	ElemOrder	eo = {sk, sk->leap_col};
	int			lo = 0,
				hi = f->n;

	*equal = false;
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			c = cmp_elem(&eo, b, &f->set[mid]);

		if (c == 0)
		{
			*equal = true;
			return &f->set[mid];
		}
		if (c > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!ScanDirectionIsForward(dir))
		lo--;
	return lo >= 0 && lo < f->n ? &f->set[lo] : NULL;
}

/* Where to go from a value outside of what is asked for, as bytes behind the columns before: *b changed.  False: it is asked for. */
static bool
leap_target(const SfxScanKeys *sk, const SfxBytes *b, ScanDirection dir, SfxBytes *to, bool *away)
{
	bool		below = cmp_bytes(sk, sk->leap_col, b->p, b->len, sk->leap_lo, sk->leap_lolen) < 0;
	bool		above = !below && cmp_bytes(sk, sk->leap_col, b->p, b->len, sk->leap_hi, sk->leap_hilen) >= 0;

	/* away: there is nothing more behind the same columns */
	*away = ScanDirectionIsForward(dir) ? above : below;
	if (below || above)
	{
		*to = below ? (SfxBytes) {sk->leap_lo, sk->leap_lolen} : (SfxBytes) {sk->leap_hi, sk->leap_hilen};
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
	/* an element of the list has no end mark yet: the interval's ends have */
	listed = to.p != sk->leap_lo && to.p != sk->leap_hi;
	if (listed)
		pos->len = forward ? end_below(sk, sk->leap_to, pos->len) : end_above(sk, sk->leap_to, pos->len);
	return true;
}
