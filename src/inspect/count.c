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
#include "count_tree.h"
#include "delta.h"
#include "image.h"
#include "meta.h"
#include "page.h"
#include "predicate.h"
#include "range.h"
#include "rank.h"
#include "reader.h"
#include "state.h"

#include "miscadmin.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(surfidx_count);

#define COUNT_TRIES		3		/* tries before entries are counted one by one */
#define COUNT_BATCH		1024	/* entries counted under one hold of an image's lock */

typedef struct CountPos
{
	SfxPos		pos;
	uint8		bytes[SFX_BOUND_MAX];
} CountPos;

static void
set_pos(CountPos *to, const SfxPos *from, uint64 tid)
{
	memmove(to->bytes, from->key, from->len);
	to->pos.key = to->bytes;
	to->pos.len = from->len;
	to->pos.tid = tid;
}

static inline bool
below_end(const SfxOpened *o, const SfxPos *pos, const SfxRange *range)
{
	return range->hi.key == NULL || sfx_order_cmp_pos(o->order, pos, &range->hi) < 0;
}

/* ---- the delta ---- */

/*
 * Count one batch of generation meta->gens[g] from *from on; *from moves after it.  *more: the
 * range goes on.  False: the generation is gone.
 */
static bool
count_batch(const SfxOpened *o, const SfxMeta *meta, int g, const SfxRange *range, CountPos *from, uint64 *n, bool *more)
{
	SfxImage   *img = sfx_image_acquire(o->index, o->order, meta, g);
	SfxNodeAlloc a;
	const SfxDelta *d;
	SfxCursor	c;
	bool		have;
	bool		misled = false;
	int			batch = 0;

	*more = false;
	if (img == NULL)
		return false;
	d = sfx_image_delta(img, o->order, &a);
	for (have = sfx_delta_seek(d, &a, &from->pos, &c); have; have = sfx_delta_next(d, &a, &c))
	{
		SfxEntry	e;
		SfxPos		pos;

		sfx_delta_get(d, &a, &c, &e);
		pos.key = e.key;
		pos.len = e.keylen;
		pos.tid = e.tid;
		if (!below_end(o, &pos, range))
			break;
		batch++;
		if (batch == COUNT_BATCH)
		{
			pos.tid++;
			misled = sfx_image_misleads(o->order, &from->pos, &pos);
			set_pos(from, &pos, pos.tid);
			*more = true;
			break;
		}
	}
	sfx_image_release(img);
	if (misled)
		sfx_image_misled(o->index, o->order, meta, meta->gens[g].gen);
	*n += batch;
	return true;
}

/*
 * Add to *n the entries of generation meta->gens[g] in the range, counted one by one.  False: the
 * generation is gone.
 */
static bool
count_generation(const SfxOpened *o, const SfxMeta *meta, int g, const SfxRange *range, uint64 *n)
{
	CountPos   *from = palloc(sizeof(CountPos));
	bool		more = meta->gens[g].first != InvalidBlockNumber;

	set_pos(from, &range->lo, range->lo.tid);
	while (more)
	{
		CHECK_FOR_INTERRUPTS();
		if (!count_batch(o, meta, g, range, from, n, &more))
			return false;
	}
	pfree(from);
	return true;
}

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
	if (!nothing_moved(&state, &before) || !count_generation(o, &before, 0, range, n))
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

static uint64
count_exact(const SfxOpened *o, const SfxRange *range)
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
		return count_exact(o, range);	/* there is nothing above the only leaf */
	below = sfx_rank_above_leaves(o, &meta, &range->lo);
	upto = sfx_rank_above_leaves(o, &meta, &range->hi);
	for (int g = 0; g < meta.ngens; g++)
		(void) count_generation(o, &meta, g, range, &n);
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
		n = PG_GETARG_BOOL(5) ? count_approximately(&o, range) : count_exact(&o, range);
	}
	sfx_close_after_look(&o);
	PG_RETURN_INT64((int64) n);
}
