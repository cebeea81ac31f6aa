/*-------------------------------------------------------------------------
 * count.c - surfidx_count(): how many entries a range holds
 *
 * Exact: the delta's entries in the range are counted one by one in its image, the tree's by the
 * pages above the leaves, whose counts are exact (count_tree.c).  An entry that a merge is moving
 * stands in both places, and one that moves between the two looks could be missed in a later
 * generation; so
 *
 *	R9	this way is taken only if each entry stands in one stage at first, and no entry has come
 *		into a tree by the end (T6).
 *
 * Otherwise the entries are counted one by one by a reader, which recognizes what stands in two
 * places.
 *
 * Approximate: the tree's entries before either end by one page of each level above the leaves
 * (rank.c), the delta's one by one.
 *
 * All entries count, also those of rows that are dead but not yet vacuumed, and of rows not visible
 * yet.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count.h"
#include "count_delta.h"
#include "count_tree.h"
#include "meta.h"
#include "predicate.h"
#include "range.h"
#include "rank.h"
#include "reader.h"
#include "state.h"

#include "miscadmin.h"

PG_FUNCTION_INFO_V1(surfidx_count);

#define COUNT_TRIES		3		/* tries before entries are counted one by one */

/* ---- exact ---- */

/* R9: has what was counted of each stage since the state was taken each entry once? */
static bool
nothing_moved(const SfxState *state, const SfxMeta *now)
{
	return sfx_state_still_holds(state, now, SFX_STAGES_ARE_DISJOINT) ||
		SFX_MUTANT("count what moves");
}

/* R9.  False: entries are moving. */
static bool
count_settled(const SfxOpened *o, const SfxRange *range, uint64 *n)
{
	SfxMeta		before,
				after;
	SfxState	state;

	*n = 0;
	sfx_meta_read(o->index, &before);
	state = sfx_state_take(&before);
	if (!nothing_moved(&state, &before) ||
		!sfx_count_delta(o->index, o->order, &before, 0, &range->lo, &range->hi, n))
		return false;
	SFX_STOP("delta counted");
	for (int r = 0; r < before.nruns; r++)
	{
		bool		exact;

		*n += sfx_count_tree(o->index, o->order, &before, &before.runs[r], &range->lo, &range->hi,
							 &exact);
		if (!exact)
			return false;
	}
	sfx_meta_read(o->index, &after);
	return nothing_moved(&state, &after);
}

static uint64
count_one_by_one(const SfxOpened *o, const SfxRange *range)
{
	SfxReader  *r = sfx_reader_begin(o->index, o->order, false);
	SfxEntry	e;
	uint64		n = 0;

	sfx_reader_tids_only(r, true);
	sfx_reader_candidates(r, true, false);
	sfx_reader_seek(r, &range->lo, &range->hi);
	while (sfx_reader_next(r, ForwardScanDirection, &e))
		if ((++n & 1023) == 0)
			CHECK_FOR_INTERRUPTS();
	sfx_reader_end(r);
	return n;
}

uint64
sfx_count_exact(const SfxOpened *o, const SfxRange *range)
{
	uint64		n;

	for (int i = 0; i < COUNT_TRIES; i++)
		if (count_settled(o, range, &n))
			return n;
	return count_one_by_one(o, range);
}

/* ---- approximate ---- */

static uint64
count_approximately(const SfxOpened *o, const SfxRange *range)
{
	SfxMeta		meta;
	double		below,
				upto;
	uint64		n = 0;

	sfx_meta_read(o->index, &meta);
	if (SfxMetaMain(&meta)->level == 0)
		return sfx_count_exact(o, range);	/* there is nothing above the only leaf */
	below = sfx_rank_above_leaves(o, &meta, &range->lo);
	upto = sfx_rank_above_leaves(o, &meta, &range->hi);
	for (int g = 0; g < meta.ngens; g++)
		(void) sfx_count_delta(o->index, o->order, &meta, g, &range->lo, &range->hi, &n);
	return n + (uint64) (Max(upto - below, 0) + 0.5);
}

/* ---- SQL ---- */

Datum
surfidx_count(PG_FUNCTION_ARGS)
{
	SfxOpened	o;
	SfxArg		low = sfx_arg_get(fcinfo, 1);
	SfxArg		high = sfx_arg_get(fcinfo, 2);
	SfxRange   *range = palloc(sizeof(SfxRange));
	uint64		n = 0;

	for (int i = 0; i < 6; i++)
		if (i != 1 && i != 2 && PG_ARGISNULL(i))
			PG_RETURN_NULL();
	sfx_open_to_look(PG_GETARG_OID(0), &o);
	sfx_range_between(&o, &low, PG_GETARG_BOOL(3), &high, PG_GETARG_BOOL(4), range);
	if (!range->empty)
	{
		sfx_predicate_read(o.index, o.order, GetActiveSnapshot(), &range->lo, &range->hi, NULL);
		n = PG_GETARG_BOOL(5) ? count_approximately(&o, range) : sfx_count_exact(&o, range);
	}
	sfx_close_after_look(&o);
	PG_RETURN_INT64((int64) n);
}
