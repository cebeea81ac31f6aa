/*-------------------------------------------------------------------------
 * reader_range.c - the range that is read, and where in it the caller stands
 *
 * A seek sets the range [lo, hi), and chooses what all of its steps will do.  The caller stands at
 * one of the range's ends, on the entry last returned, or at a position; from there the next step
 * takes its boundary.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "page.h"
#include "predicate.h"
#include "reader_impl.h"

#define STEPS_A_LOOK	1024
#define STEPS_A_PAGE	64		/* a page of the log has entries for half as many, at most */

/* Order of two high bounds (inf greatest), or with low of two low ones (inf least). */
static int
bound_cmp(const SfxReader *r, const Bound *a, const Bound *b, bool low)
{
	if (a->inf || b->inf)
		return low ? b->inf - a->inf : a->inf - b->inf;
	return sfx_order_cmp_pos(r->order, &a->pos, &b->pos);
}

/* The range is set: choose what its steps do beside reading. */
static void
choose(SfxReader *r)
{
	r->range.cut_point = r->want.rechecks && r->range.point && r->range.lo.pos.tid == 0;
	r->range.notes_dead = r->want.pass_dead && !r->range.point;
	r->filter.ask = true;
	r->range.parts = READER_PARTS;
	r->range.wanted = r->want.expected;
	r->delta.portion = 0;
	r->ahead.went_on = r->ahead.leaves = 0;
}

static void
seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	/* S1 */
	Assert(lo->len <= SFX_BOUND_MAX && (hi->key == NULL || hi->len <= SFX_BOUND_MAX));
	Assert(sfx_predicate_told(r->index, r->order, r->want.snapshot, lo, hi));
	remove_dead(r, SFX_DEAD_STEP);
	r->range.lo.pos = *lo;
	r->range.lo.inf = false;
	r->range.hi.pos = *hi;
	r->range.hi.inf = hi->key == NULL;
	r->range.point = !r->range.hi.inf && sfx_same_bytes(lo->key, lo->len, hi->key, hi->len);
	r->range.hashed = r->range.placed = false;
	r->range.anchor = ANCHOR_RANGE;
	choose(r);
	end_step(r);
}

void
sfx_reader_seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	seek(r, lo, hi);
	r->range.follows = r->kept.valid = r->dead.goes_on = false;
}

void
sfx_reader_seek_on(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	seek(r, lo, hi);
	r->range.follows = r->dead.goes_on = true;
}

SfxLogPlace
sfx_reader_log_place(const SfxReader *r)
{
	Assert(r->range.placed);
	return r->range.place;
}

void
sfx_reader_no_filters(SfxReader *r)
{
	r->filter.ask = false;
}

void
sfx_reader_reposition(SfxReader *r, const SfxPos *pos, bool inclusive)
{
	remove_dead(r, SFX_DEAD_RANGE);
	bound_set(r, &r->range.anchor_pos, &r->room.anchor, pos->key, pos->len, pos->tid);
	r->range.anchor = ANCHOR_POS;
	r->range.anchor_inclusive = inclusive;
	r->range.parts = READER_PARTS;
	r->range.wanted = r->want.expected;
	r->delta.portion = 0;
	end_step(r);
}

/* Set cur for the direction now asked for, from where the stream stands. */
void
sfx_reader_set_boundary(SfxReader *r)
{
	const Bound *start = forward(r) ? &r->range.lo : &r->range.hi;
	SfxEntry	last;

	switch (r->range.anchor)
	{
		case ANCHOR_RANGE:
		case ANCHOR_END:		/* turned round after running off the far end */
			r->win.cur = *start;
			break;
		case ANCHOR_ENTRY:
			sfx_reader_last(r, &last);
			set_cur(r, last.key, last.keylen, last.tid + (forward(r) ? 1 : 0));
			break;
		case ANCHOR_POS:
			r->win.cur = r->range.anchor_pos;
			r->win.cur.pos.tid += forward(r) == r->range.anchor_inclusive ? 0 : 1;
			break;
	}
	/* never outside the range */
	if (r->range.anchor >= ANCHOR_ENTRY &&
		bound_cmp(r, &r->win.cur, start, forward(r)) * (forward(r) ? 1 : -1) < 0)
		r->win.cur = *start;
}

/*
 * K4: where comparisons are no order, each step may lie ahead, and all of them lead round.  There
 * are no more than the file has leaves, and batches of log entries.
 */
void
sfx_reader_must_end(SfxReader *r)
{
	if (r->order == NULL || ++r->range.steps % STEPS_A_LOOK != 0)
		return;
	if (r->range.steps > STEPS_A_PAGE * (uint64) RelationGetNumberOfBlocks(r->index) &&
		!SFX_MUTANT("steps without an end"))
		sfx_out_of_order(r->index, r->order, SFX_META_BLKNO,
						 "a scan comes to the same places again and again");
}
