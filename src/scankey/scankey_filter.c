/*-------------------------------------------------------------------------
 * scankey_filter.c - filters: conditions that the ranges do not guarantee, checked for each entry
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "key.h"
#include "rowcompare.h"
#include "scankey.h"
#include "scankey_impl.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* Is a stored value, after which other bytes may come, in the filter's interval? */
static inline bool
in_interval(const SfxScanFilter *f, const uint8 *value, int len)
{
	uint64		first = sfx_load_be(value, len);

	if (likely(first != f->first_lo && first != f->first_hi))
		return (first > f->first_lo) & (first < f->first_hi);
	return sfx_cmp_bytes(value, len, f->lo, f->lolen) >= 0 &&
		sfx_cmp_bytes(value, len, f->hi, f->hilen) < 0;
}

/* In byte order: the condition's interval.  False: it is not exact, or its ends are too long. */
static bool
make_interval(SfxScanKeys *sk, SfxScanFilter *f, const ScanKeyData *key)
{
	ByteRange	iv = {sk->lo, sk->hi, 0, 0};
	bool		near = false;

	if (f->qual->is_test)
		sfx_interval_null_test(sk, f->qual, &iv);
	else if (sfx_interval_constant(sk, f->qual, key->sk_argument, &iv, &near) != CONST_INTERVAL ||
			 near)
		return false;
	if (Max(iv.lolen, iv.hilen) > SFX_FILTER_BYTES)
		return false;
	set_bytes(f->lo, &f->lolen, iv.lo, iv.lolen);
	set_bytes(f->hi, &f->hilen, iv.hi, iv.hilen);
	f->first_lo = sfx_load_be(f->lo, f->lolen);
	f->first_hi = sfx_load_be(f->hi, f->hilen);
	return true;
}

bool
sfx_scanfilter_fill(SfxScanKeys *sk, ScanKey keys)
{
	for (int i = 0; i < sk->nfilters; i++)
	{
		SfxScanFilter *f = &sk->filters[i];
		SfxQual    *q = f->qual;
		const ScanKeyData *key = &keys[q->keyno];

		if (q->flags & SK_SEARCHARRAY)
		{
			f->n = is_equal_array(q) ? sfx_array_equal_set(sk, q, key, &f->set) : -1;
			f->by_bytes = f->n >= 0;
			if (!f->by_bytes)
				f->n = sfx_array_open(q, key, &f->elems, &f->elem_isnull);
			if (f->n == 0)
				return false;
		}
		f->exact = !sk->kd->comparator && !q->row &&
			(q->flags & SK_SEARCHARRAY ? f->by_bytes : make_interval(sk, f, key));
		if (f->exact)
			continue;
		sk->inexact++;
		sk->filter_upto = Max(sk->filter_upto, q->upto);
	}
	if (sk->inexact > 0 && sk->eval == NULL)
		sk->eval = AllocSetContextCreate(sk->parent, "surfidx scan filters", ALLOCSET_SMALL_SIZES);
	return true;
}

bool
sfx_scankeys_pass(const SfxScanKeys *sk, const uint8 *key, int len)
{
	int			col = 0;
	int			at = 0;			/* where it stands */

	for (int i = 0; i < sk->nfilters; i++)
	{
		const SfxScanFilter *f = &sk->filters[i];
		SfxBytes	value;

		if (!f->exact)
			continue;
		Assert(col <= f->qual->col);
		for (; col < f->qual->col; col++)
			at += sfx_column_length(&sk->kd->col[col], sk->index, key + at, len - at);
		value = (SfxBytes) {key + at, len - at};
		if (f->by_bytes)
		{
			ElemOrder	eo = {sk, col};

			value.len = sfx_column_length(&sk->kd->col[col], sk->index, value.p, value.len);
			if (!sfx_array_has(&eo, f->set, f->n, &value))
				return false;
		}
		else if (!in_interval(f, value.p, value.len))
			return false;
	}
	return true;
}

void
sfx_scankeys_pass_keys(const SfxScanKeys *sk, const SfxBlock *block, int from, int to, bool *pass)
{
	const SfxScanFilter *f = sk->filters;
	int			at = sfx_key_place(sk->kd, f->qual->col);

	/* an interval of a column that stands at one place */
	if (sk->nfilters == 1 && f->exact && !f->by_bytes && at >= 0 && sk->kd->nrests == 0 &&
		(int) block->width == sfx_key_place(sk->kd, sk->kd->nkeys))
	{
		const uint8 *p = block->keys + block->keyoff[from] + at;

		for (int k = from; k < to; k++, p += block->width)
			pass[k] &= in_interval(f, p, block->width - at);
		return;
	}
	for (int k = from; k < to; k++)
		pass[k] &= sfx_scankeys_pass(sk, block->keys + block->keyoff[k],
									 block->keyoff[k + 1] - block->keyoff[k]);
}

/* Does an = ANY (or < ANY, ...) condition hold for this value? */
static bool
check_array(SfxScanKeys *sk, const SfxScanFilter *f, ScanKey key, Datum value)
{
	if (f->by_bytes)
	{
		uint8		bytes[SFX_MAX_ENTRY];
		SfxBytes	b = {bytes, 0};
		ElemOrder	eo = {sk, f->qual->col};

		if (!sfx_bound_encode(sk->kd, sk->index, f->qual->col, value, bytes, &b.len, SFX_MAX_ENTRY))
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
check_one(SfxScanKeys *sk, const SfxScanFilter *f, ScanKey key, Datum value, bool isnull)
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

	/* operators may leave memory allocated */
	MemoryContextReset(sk->eval);
	for (int i = 0; pass && i < sk->nfilters; i++)
	{
		const SfxScanFilter *f = &sk->filters[i];
		ScanKey		key = &keys[f->qual->keyno];
		int			col = f->qual->col;

		if (f->exact)
			continue;
		if (f->qual->row)
			pass = sfx_row_passes(key, values, isnull);
		else
			pass = check_one(sk, f, key, values[col], isnull[col]);
	}
	MemoryContextSwitchTo(old);
	return pass;
}
