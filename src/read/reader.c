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
#include "budget.h"
#include "counters.h"
#include "leaf.h"
#include "meta.h"
#include "reader.h"
#include "reader_impl.h"
#include "requests.h"
#include "scratch.h"
#include "settings.h"

/* ---- set-up ---- */

SfxReader *
sfx_reader_begin(Relation index, const SfxOrder *order, bool gate)
{
	SfxReader  *r = sfx_spare_get(SFX_SPARE_READER, sizeof(SfxReader));
	BoundRoom  *rooms = (BoundRoom *) &r->room;

	/* Not zeroed whole: most of it is buffers. */
	r->cxt = CurrentMemoryContext;
	r->index = index;
	r->order = order;
	r->want.snapshot = NULL;
	r->gate.wanted = gate;
	r->gate.buf = r->gate.metabuf = InvalidBuffer;
	r->gate.number = sfx_reader_last_gate(index);
	r->range.follows = r->kept.valid = false;
	r->kept.in_a_row = 0;
	sfx_reader_begin_cursor(&r->main);
	for (int i = 0; i < KEY_ROOMS; i++)
		rooms[i].more = NULL;
	for (int i = 0; i < READER_BATCHES; i++)
		r->delta.batch[i] = NULL;
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		r->run[i] = NULL;
	r->range.anchor = ANCHOR_END;
	r->range.parts = 0;
	r->want.one = r->want.tids_only = r->vouch.given = false;
	r->want.expected = r->range.wanted = 0;
	r->delta.looker = NULL;
	r->delta.portion = 0;
	r->range.dir = ForwardScanDirection;
	r->win.curbuf = 0;
	r->stretched = NULL;
	r->stretch.block = NULL;
	r->stretch.at = 0;
	r->stretch.step = 1;
	end_step(r);
	r->warms = sfx_opt_keys(index) == SFX_LEAVES_BOUND;
	r->warmed = false;
	r->want.believe = r->filter.maybe = r->filter.keys_only = false;
	memset(&r->filter.counts, 0, sizeof(r->filter.counts));
	r->dead.in_batches = 0;
	r->dead.in_leaves = r->dead.goes_on = false;
	r->dead.leaves = (SfxDeadLeaves) {r->cxt, NULL};
	r->want.heap = NULL;
	r->want.pass_dead = r->want.skip_dead = r->passed.on = r->passed.found = false;
	r->want.candidates = r->want.rechecks = r->gate.missing = r->cut.recheck = false;
	r->cut.recovery = NULL;
	r->cut.whole_keys = NULL;
	r->cut.whole_tid = 0;
	r->main.leaf.cut = false;
	return r;
}

void
sfx_reader_snapshot(SfxReader *r, Snapshot snapshot)
{
	r->want.snapshot = snapshot;
}

void
sfx_reader_tids_only(SfxReader *r, bool tids_only)
{
	r->want.tids_only = tids_only;
}

void
sfx_reader_dead(SfxReader *r, Relation heap, bool pass)
{
	Assert(!pass || (heap && r->order == NULL));
	r->want.heap = heap;
	r->want.pass_dead = pass;
}

void
sfx_reader_skip_dead(SfxReader *r, bool skip)
{
	r->want.skip_dead = skip;
}

void
sfx_reader_expect(SfxReader *r, int entries)
{
	r->want.expected = entries;
}

void
sfx_reader_candidates(SfxReader *r, bool candidates, bool rechecks)
{
	Assert(!candidates || r->want.tids_only);
	r->want.candidates = candidates;
	r->want.rechecks = candidates && rechecks;
}

void
sfx_reader_vouch(SfxReader *r)
{
	Assert(r->win.active && !r->want.tids_only);
	r->vouch.given = true;
	r->vouch.state = r->win.state;
}

BlockNumber
sfx_reader_leaf(const SfxReader *r)
{
	return r->main.leafblk;
}

void
sfx_reader_release_gate(SfxReader *r)
{
	Assert(!r->win.active);
	drop_gate(r);
	sfx_reader_give_back(r);
}

void
sfx_reader_rewind(SfxReader *r)
{
	remove_dead(r, SFX_DEAD_RANGE);
	drop_gate(r);
	end_step(r);
	r->range.anchor = ANCHOR_END;
	r->vouch.given = false;
	r->delta.looker = NULL;
	r->delta.portion = 0;
	sfx_reader_give_back(r);
}

void
sfx_reader_reset(SfxReader *r)
{
	sfx_reader_rewind(r);
	sfx_reader_end_recovery(r);
	if (BufferIsValid(r->gate.metabuf))
		ReleaseBuffer(r->gate.metabuf);
	r->gate.metabuf = InvalidBuffer;
	if (r->filter.counts.asked > 0)
		sfx_activity_add_filters(r->index, &r->filter.counts);
	if ((r->warmed || sfx_guc_autotune) && sfx_budget_asks())
		sfx_request_idle(r->index);
	r->warmed = false;
}

void
sfx_reader_end(SfxReader *r)
{
	BoundRoom  *rooms = (BoundRoom *) &r->room;

	remove_dead(r, SFX_DEAD_END);
	sfx_reader_reset(r);
	for (int i = 0; i < KEY_ROOMS; i++)
		if (rooms[i].more)
			sfx_spare_put(rooms[i].more);
	if (r->cut.whole_keys)
		pfree(r->cut.whole_keys);
	for (int i = 0; i < READER_BATCHES; i++)
		if (r->delta.batch[i])
		{
			sfx_reader_shrink_batch(r->delta.batch[i]);
			sfx_spare_put(r->delta.batch[i]);
		}
	for (int i = 0; i < SFX_MAX_RUNS && r->run[i]; i++)
	{
		sfx_reader_end_cursor(r->run[i]);
		sfx_spare_put(r->run[i]);
	}
	sfx_reader_end_cursor(&r->main);
	sfx_spare_put(r);
}

/* ---- from step to step ---- */

bool
sfx_reader_next(SfxReader *r, ScanDirection dir, SfxEntry *e)
{
	if (!r->win.active || r->range.dir != dir)
	{
		if (r->range.anchor == ANCHOR_END && r->range.dir == dir)
			return false;
		r->range.dir = dir;
		r->range.steps = 0;
		sfx_reader_set_boundary(r);
		remove_dead(r, SFX_DEAD_RANGE);
		end_step(r);
		if (range_is_empty(r))
		{
			r->range.anchor = ANCHOR_END;
			return false;
		}
		sfx_reader_one_step(r);
	}
	for (;;)
	{
		if (sfx_reader_union_next(r, e))
		{
			r->range.anchor = ANCHOR_ENTRY;
			return true;
		}
		if (r->win.final || r->filter.maybe)
		{
			r->range.anchor = ANCHOR_END;
			end_step(r);
			return false;
		}
		if (r->passed.on)
			sfx_reader_passed_step(r);
		cur_from_stop(r);
		remove_dead(r, SFX_DEAD_STEP);
		r->dead.goes_on = true;
		sfx_reader_must_end(r);
		sfx_reader_one_step(r);
	}
}

bool
sfx_reader_first(SfxReader *r, const SfxPos *lo, const SfxPos *hi, SfxEntry *e)
{
	bool		found;

	sfx_reader_seek(r, lo, hi);
	r->want.one = true;
	found = sfx_reader_next(r, ForwardScanDirection, e);
	r->want.one = false;
	/* what else the step has is not all that there is */
	end_step(r);
	r->range.anchor = ANCHOR_END;
	return found;
}

bool
sfx_reader_may_hold(SfxReader *r)
{
	SfxEntry	e;
	bool		found;

	r->want.believe = true;
	r->filter.maybe = false;
	found = sfx_reader_next(r, ForwardScanDirection, &e) || r->filter.maybe;
	r->want.believe = r->filter.maybe = r->filter.keys_only = false;
	return found;
}

/* ---- single steps, for parallel scans ---- */

bool
sfx_reader_step(SfxReader *r, ScanDirection dir, const SfxPos *from, SfxPos *stop)
{
	remove_dead(r, SFX_DEAD_STEP);
	r->range.dir = dir;
	r->range.anchor = ANCHOR_RANGE;
	end_step(r);
	if (from == NULL)
		sfx_reader_set_boundary(r);
	else
		set_cur(r, from->key, from->len, from->tid);
	if (range_is_empty(r))
		return false;
	sfx_reader_one_step(r);
	*stop = r->win.stop.pos;
	return !r->win.final;
}

bool
sfx_reader_take(SfxReader *r, SfxEntry *e)
{
	if (!r->win.active)
		return false;
	if (sfx_reader_union_next(r, e))
	{
		r->range.anchor = ANCHOR_ENTRY;
		return true;
	}
	r->range.anchor = ANCHOR_END;
	end_step(r);
	return false;
}
