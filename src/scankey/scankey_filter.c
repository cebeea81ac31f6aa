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

bool
sfx_scanfilter_fill(SfxScanKeys *sk, ScanKey keys)
{
	if (sk->nfilters > 0 && sk->eval == NULL)
		sk->eval = AllocSetContextCreate(sk->parent, "surfidx scan filters", ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < sk->nfilters; i++)
	{
		SfxScanFilter *f = &sk->filters[i];
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

		if (f->qual->row)
			pass = sfx_row_passes(key, values, isnull);
		else
			pass = check_one(sk, f, key, values[col], isnull[col]);
	}
	MemoryContextSwitchTo(old);
	return pass;
}
