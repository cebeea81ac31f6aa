/*-------------------------------------------------------------------------
 * may_contain.c - surfidx_may_contain() and surfidx_may_contain_range(): is a key, or any key of a
 * range, stored?
 *
 * "No" is certain.  Where a filter can answer, "yes" is not, since the leaf is not read then.
 * Where there is none, or a Bloom filter is asked for a range, the leaf is read, and "yes" means an
 * entry, even if its row is dead or not visible yet.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "predicate.h"
#include "range.h"
#include "reader.h"

PG_FUNCTION_INFO_V1(surfidx_may_contain);
PG_FUNCTION_INFO_V1(surfidx_may_contain_range);

/*
 * May any entry have a key of the range?  A serializable transaction locks the range like a scan
 * (predicate.h).
 */
static bool
range_may_hold(const SfxOpened *o, const SfxRange *range)
{
	SfxReader  *r;
	bool		found;

	if (range->empty)
		return false;
	sfx_predicate_read(o->index, o->order, GetActiveSnapshot(), &range->lo, &range->hi, NULL);
	r = sfx_reader_begin(o->index, o->order, false);
	sfx_reader_seek(r, &range->lo, &range->hi);
	found = sfx_reader_may_hold(r);
	sfx_reader_end(r);
	return found;
}

/*
 * surfidx_may_contain(index, VARIADIC key "any"): key is the first columns of one.  A NULL value
 * means that the column is NULL.
 */
Datum
surfidx_may_contain(PG_FUNCTION_ARGS)
{
	SfxOpened	o;
	SfxRange   *range = palloc(sizeof(SfxRange));
	bool		may;

	if (!sfx_open_to_look_for(fcinfo, &o, range))
		PG_RETURN_NULL();
	may = range_may_hold(&o, range);
	sfx_close_after_look(&o);
	PG_RETURN_BOOL(may);
}

/*
 * surfidx_may_contain_range(index, low, high, low_inclusive, high_inclusive): see sfx_range_between
 * for the bounds
 */
Datum
surfidx_may_contain_range(PG_FUNCTION_ARGS)
{
	SfxOpened	o;
	SfxArg		low = sfx_arg_get(fcinfo, 1);
	SfxArg		high = sfx_arg_get(fcinfo, 2);
	SfxRange   *range = palloc(sizeof(SfxRange));
	bool		may;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	sfx_open_to_look(PG_GETARG_OID(0), &o);
	sfx_range_between(&o, &low, PG_GETARG_BOOL(3), &high, PG_GETARG_BOOL(4), range);
	may = range_may_hold(&o, range);
	sfx_close_after_look(&o);
	PG_RETURN_BOOL(may);
}
