/*-------------------------------------------------------------------------
 * reader_step.c - one step of a reader: what all stages have between a boundary and a stop
 *
 * src/README.md, "read", has the rules R1 to R8 and why nothing is missed.  A step covers the
 * positions from the boundary `cur` to `stop`: metapage (R1), images (R2, reader_batch.c), leaves
 * (R3), and the least end of all these (R4).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "meta.h"
#include "reader_impl.h"
#include "retry.h"

#include "miscadmin.h"

/*
 * R3 for the other runs: copy the leaves; they can be decoded only when it is known where the step
 * stops. False: one of them is gone.
 */
static bool
copy_run_leaves(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	for (r->nruns = 0; r->nruns < meta->nruns - 1; r->nruns++)
	{
		LeafCursor *s = r->run[r->nruns];
		Buffer		buf;
		bool		answered;

		if (s == NULL)
		{
			s = get_spare(r, SFX_SPARE_CURSOR, sizeof(LeafCursor));
			sfx_reader_begin_cursor(s);
			r->run[r->nruns] = s;
		}
		sfx_reader_take_block(r, s);
		buf = sfx_reader_find_leaf(r, meta, meta->runs[r->nruns].id, pos, s, &s->leaf, &answered);
		if (answered)
		{
			sfx_reader_skip_leaf(r, s);
			continue;
		}
		if (!BufferIsValid(buf))
			return false;
		sfx_reader_keep_leaf(r, s, buf);
		s->run = meta->runs[r->nruns].id;
	}
	return true;
}

/* R3 and R4.  False: start again with R1. */
static bool
read_trees(SfxReader *r, const SfxMeta *meta)
{
	SfxPos		infinity = {NULL, 0, 0};
	const SfxPos *pos = r->win.cur.inf ? &infinity : &r->win.cur.pos;

	if (!copy_run_leaves(r, meta, pos))
		return false;
	sfx_reader_read_main(r, meta, pos);
	return !r->gate.missing;
}

/* R2 and R3.  False: start again with R1. */
static bool
read_stages(SfxReader *r, const SfxMeta *meta)
{
	if (SFX_MUTANT("leaf before delta"))
	{
		(void) read_trees(r, meta);
		SFX_STOP("between stages");
		return sfx_reader_fill_batches(r, meta);
	}
	if (!sfx_reader_fill_batches(r, meta))
		return false;
	SFX_STOP("between stages");
	return read_trees(r, meta);
}

/* Was the leaf read without TIDs, and something may have come into it before that? */
static bool
vouched_too_much(SfxReader *r)
{
	SfxMeta		meta;

	if (!r->main.tidless)
		return false;
	sfx_meta_reread(r->index, &meta, &r->gate.metabuf);
	r->vouch.given = sfx_reader_is_vouched(r, &meta);
	return !r->vouch.given;
}

void
sfx_reader_one_step(SfxReader *r)
{
	SfxRetry	retry = {.index = r->index};
	SfxMeta		meta;

	Assert(r->dead.in_batches == 0 && !r->dead.in_leaves && !r->passed.found);
	Assert(!r->win.cur.inf || !forward(r));
	CHECK_FOR_INTERRUPTS();
	sfx_reader_take_block(r, &r->main);
	for (;;)
	{
		r->win.stop = forward(r) ? r->range.hi : r->range.lo;
		r->win.final = true;
		r->ahead.right = InvalidBlockNumber;
		r->ranked.key = NULL;
		sfx_reader_meta(r, &meta);
		r->win.state = sfx_state_take(&meta);
		SFX_STOP("metapage read");
		if (read_stages(r, &meta))
		{
			if (!vouched_too_much(r))
				break;
		}
		else if (r->gate.missing)
			r->gate.missing = false;
		else if (!sfx_retry(&retry))
			sfx_corrupt(r->index, SFX_META_BLKNO,
						"a generation of the delta, or a run, that is listed is not there");
	}
	sfx_retry_end(&retry);
	/* R6: last, since VACUUM changes the metapage before it removes anything */
	if (!SFX_MUTANT("snapshots do not expire"))
		test_for_old_snapshot(r);
	if (r->delta.nbatches > 0)
	{
		sfx_reader_trim_batches(r);
		sfx_reader_prove_batches(r, &meta);
	}
	Assert(r->win.final || !r->win.stop.inf);
	/* (comparisons that have changed may lead anywhere: K4) */
	Assert(r->order != NULL || r->win.cur.inf || r->win.stop.inf ||
		   sfx_order_cmp_pos(NULL, &r->win.stop.pos, &r->win.cur.pos) * r->range.dir > 0);
	for (int i = 0; i < r->nruns; i++)
		sfx_reader_settle(r, r->run[i]);
	sfx_reader_settle(r, &r->main);
	r->stretch.step = r->range.dir;
	r->win.active = true;
}
