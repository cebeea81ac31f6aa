/*-------------------------------------------------------------------------
 * reader.c - delta and tree as one ordered stream of entries
 *
 * Everything that reads the index by key comes through here.  A reader is positioned by key, and
 * goes on by *steps* (reader_step.c).
 *
 * No lock is held between calls, and nothing but the gate page and the metapage is pinned.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "dict.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "predicate.h"
#include "reader.h"
#include "reader_impl.h"
#include "scratch.h"
#include "settings.h"

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

/* ---- set-up ---- */

SfxReader *
sfx_reader_begin(Relation index, const SfxOrder *order, bool gate)
{
	bool		fresh;
	SfxReader  *r = sfx_spare_get(SFX_SPARE_READER, sizeof(SfxReader), &fresh);

	/* Not zeroed whole: most of it is buffers. */
	r->cxt = CurrentMemoryContext;
	r->index = index;
	r->order = order;
	r->snapshot = NULL;
	r->gate = gate;
	r->gatebuf = r->metabuf = InvalidBuffer;
	r->gateno = sfx_reader_last_gate(index);
	r->follows = r->copied = false;
	r->same_leaf = 0;
	r->main.dict = NULL;
	for (int i = 0; i < READER_BATCHES; i++)
		r->batch[i] = NULL;
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		r->run[i] = NULL;
	r->anchor = ANCHOR_END;
	r->parts = 0;
	r->one = r->tids_only = r->vouched = false;
	r->expected = r->wanted = 0;
	r->looker = NULL;
	r->portion = 0;
	r->dir = ForwardScanDirection;
	r->curbuf = 0;
	r->stretched = NULL;
	r->stretch.block = NULL;
	r->stretch.at = 0;
	r->stretch.step = 1;
	end_step(r);
	r->touches = sfx_opt_merge_cold(index);
	r->warms = sfx_opt_size_limit(index) > 0;
	r->believe = r->maybe = r->keys_only = false;
	memset(&r->filters, 0, sizeof(r->filters));
	r->nkilled = r->ndead = 0;
	r->dead = NULL;
	r->pass_dead = r->passing = r->passed = false;
	r->candidates = r->rechecks = r->gate_missing = r->recheck = false;
	r->recovery = NULL;
	r->whole_keys = NULL;
	r->whole_tid = 0;
	r->main.leaf.cut = false;
	return r;
}

void
sfx_reader_snapshot(SfxReader *r, Snapshot snapshot)
{
	r->snapshot = snapshot;
}

void
sfx_reader_tids_only(SfxReader *r, bool tids_only)
{
	r->tids_only = tids_only;
}

void
sfx_reader_pass_dead(SfxReader *r, bool pass)
{
	Assert(!pass || r->order == NULL);
	r->pass_dead = pass;
}

void
sfx_reader_expect(SfxReader *r, int entries)
{
	r->expected = entries;
}

void
sfx_reader_candidates(SfxReader *r, bool candidates, bool rechecks)
{
	Assert(!candidates || r->tids_only);
	r->candidates = candidates;
	r->rechecks = candidates && rechecks;
}

void
sfx_reader_vouch(SfxReader *r)
{
	Assert(r->active && !r->tids_only);
	r->vouched = true;
	r->vouched_state = r->step_state;
}

static void
seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	/* S1 */
	Assert(sfx_predicate_told(r->index, r->order, r->snapshot, lo, hi));
	remove_dead(r);
	r->lo.pos = *lo;
	r->lo.inf = false;
	r->hi.pos = *hi;
	r->hi.inf = hi->key == NULL;
	r->point = !r->hi.inf && sfx_same_bytes(lo->key, lo->len, hi->key, hi->len);
	r->hashed = r->placed = false;
	r->ask = true;
	r->anchor = ANCHOR_RANGE;
	r->parts = READER_PARTS;
	r->wanted = r->expected;
	r->portion = 0;
	r->went_on = r->ahead = 0;
	end_step(r);
}

void
sfx_reader_seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	seek(r, lo, hi);
	r->follows = r->copied = false;
}

void
sfx_reader_seek_on(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	seek(r, lo, hi);
	r->follows = true;
}

SfxLogPlace
sfx_reader_log_place(const SfxReader *r)
{
	Assert(r->placed);
	return r->place;
}

void
sfx_reader_no_filters(SfxReader *r)
{
	r->ask = false;
}

void
sfx_reader_reposition(SfxReader *r, const SfxPos *pos, bool inclusive)
{
	remove_dead(r);
	bound_set(&r->anchor_pos, r->anchor_bytes, pos->key, pos->len, pos->tid);
	r->anchor = ANCHOR_POS;
	r->anchor_inclusive = inclusive;
	r->parts = READER_PARTS;
	r->wanted = r->expected;
	r->portion = 0;
	end_step(r);
}

BlockNumber
sfx_reader_leaf(const SfxReader *r)
{
	return r->main.leafblk;
}

static void
unpin_dicts(SfxReader *r)
{
	sfx_dict_unpin(&r->main.dict);
	for (int i = 0; i < SFX_MAX_RUNS && r->run[i]; i++)
		sfx_dict_unpin(&r->run[i]->dict);
}

void
sfx_reader_release_gate(SfxReader *r)
{
	drop_gate(r);
}

void
sfx_reader_rewind(SfxReader *r)
{
	remove_dead(r);
	drop_gate(r);
	end_step(r);
	r->anchor = ANCHOR_END;
	r->vouched = false;
	r->looker = NULL;
	r->portion = 0;
}

void
sfx_reader_reset(SfxReader *r)
{
	sfx_reader_rewind(r);
	sfx_reader_end_recovery(r);
	if (BufferIsValid(r->metabuf))
		ReleaseBuffer(r->metabuf);
	r->metabuf = InvalidBuffer;
	if (r->filters.asked > 0)
		sfx_activity_add_filters(r->index, &r->filters);
}

static void
put_batch(Batch *b)
{
	if (b->entry != b->few)
	{
		pfree(b->entry);
		pfree(b->bytes);
	}
	sfx_spare_put(SFX_SPARE_BATCH, b);
}

void
sfx_reader_end(SfxReader *r)
{
	sfx_reader_reset(r);
	unpin_dicts(r);
	if (r->dead)
		pfree(r->dead);
	if (r->whole_keys)
		pfree(r->whole_keys);
	for (int i = 0; i < READER_BATCHES; i++)
		if (r->batch[i])
			put_batch(r->batch[i]);
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		if (r->run[i])
			sfx_spare_put(SFX_SPARE_SHARE, r->run[i]);
	sfx_spare_put(SFX_SPARE_READER, r);
}

/* ---- from step to step ---- */

/* Set cur for the direction now asked for, from where the stream stands. */
static void
set_boundary(SfxReader *r)
{
	const Bound *start = forward(r) ? &r->lo : &r->hi;
	SfxEntry	last;

	switch (r->anchor)
	{
		case ANCHOR_RANGE:
		case ANCHOR_END:		/* turned round after running off the far end */
			r->cur = *start;
			break;
		case ANCHOR_ENTRY:
			sfx_reader_last(r, &last);
			set_cur(r, last.key, last.keylen, last.tid + (forward(r) ? 1 : 0));
			break;
		case ANCHOR_POS:
			r->cur = r->anchor_pos;
			r->cur.pos.tid += forward(r) == r->anchor_inclusive ? 0 : 1;
			break;
	}
	/* never outside the range */
	if (r->anchor >= ANCHOR_ENTRY && bound_cmp(r, &r->cur, start, forward(r)) * (forward(r) ? 1 : -1) < 0)
		r->cur = *start;
}

static bool
range_is_empty(const SfxReader *r)
{
	if (forward(r))
		return !r->hi.inf && sfx_order_cmp_pos(r->order, &r->cur.pos, &r->hi.pos) >= 0;
	return !r->cur.inf && sfx_order_cmp_pos(r->order, &r->cur.pos, &r->lo.pos) <= 0;
}

/*
 * K4: where comparisons are no order, each step may lie ahead, and all of them lead round.  There
 * are no more than the file has leaves, and batches of log entries.
 */
static void
must_come_to_an_end(SfxReader *r)
{
	if (r->order == NULL || ++r->steps % STEPS_A_LOOK != 0)
		return;
	if (r->steps > STEPS_A_PAGE * (uint64) RelationGetNumberOfBlocks(r->index) &&
		!SFX_MUTANT("steps without an end"))
		sfx_out_of_order(r->index, r->order, SFX_META_BLKNO,
						 "a scan comes to the same places again and again");
}

bool
sfx_reader_next(SfxReader *r, ScanDirection dir, SfxEntry *e)
{
	if (!r->active || r->dir != dir)
	{
		if (r->anchor == ANCHOR_END && r->dir == dir)
			return false;
		r->dir = dir;
		r->steps = 0;
		set_boundary(r);
		remove_dead(r);
		end_step(r);
		if (range_is_empty(r))
		{
			r->anchor = ANCHOR_END;
			return false;
		}
		sfx_reader_one_step(r);
	}
	for (;;)
	{
		if (sfx_reader_union_next(r, e))
		{
			r->anchor = ANCHOR_ENTRY;
			return true;
		}
		if (r->final || r->maybe)
		{
			r->anchor = ANCHOR_END;
			end_step(r);
			return false;
		}
		if (r->passing)
			sfx_reader_passed_step(r);
		cur_from_stop(r);
		remove_dead(r);
		must_come_to_an_end(r);
		sfx_reader_one_step(r);
	}
}

bool
sfx_reader_first(SfxReader *r, const SfxPos *lo, const SfxPos *hi, SfxEntry *e)
{
	bool		found;

	sfx_reader_seek(r, lo, hi);
	r->one = true;
	found = sfx_reader_next(r, ForwardScanDirection, e);
	r->one = false;
	/* what else the step has is not all that there is */
	end_step(r);
	r->anchor = ANCHOR_END;
	return found;
}

bool
sfx_reader_may_hold(SfxReader *r)
{
	SfxEntry	e;
	bool		found;

	r->believe = true;
	r->maybe = false;
	found = sfx_reader_next(r, ForwardScanDirection, &e) || r->maybe;
	r->believe = r->maybe = r->keys_only = false;
	return found;
}

/* ---- single steps, for parallel scans ---- */

bool
sfx_reader_step(SfxReader *r, ScanDirection dir, const SfxPos *from, SfxPos *stop)
{
	remove_dead(r);
	r->dir = dir;
	r->anchor = ANCHOR_RANGE;
	end_step(r);
	if (from == NULL)
		set_boundary(r);
	else
		set_cur(r, from->key, from->len, from->tid);
	if (range_is_empty(r))
		return false;
	sfx_reader_one_step(r);
	*stop = r->stop.pos;
	return !r->final;
}

bool
sfx_reader_take(SfxReader *r, SfxEntry *e)
{
	if (!r->active)
		return false;
	if (sfx_reader_union_next(r, e))
	{
		r->anchor = ANCHOR_ENTRY;
		return true;
	}
	r->anchor = ANCHOR_END;
	end_step(r);
	return false;
}
