/*-------------------------------------------------------------------------
 * drop.c - dropping generations and runs that are merged
 *
 * A source goes as a whole.  First it leaves the metapage's list, in one record (M4), under the
 * merge lock.  Then, without that lock, its pages go to the free space map (M1).  Each page is
 * checked again, since another backend may have reused it meanwhile.  Pages left by a crash in
 * between are found by VACUUM.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "drop.h"
#include "find.h"
#include "horizon.h"
#include "image.h"
#include "inner.h"
#include "log.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "wal.h"

#include "miscadmin.h"
#include "utils/rel.h"

/* ---- dropping a generation ---- */

static void
free_log_pages(Relation index, const SfxMeta *meta, const SfxGen *gen, SfxFreed *freed)
{
	BlockNumber blkno = gen->first;

	/* at most as many pages as the metapage said, so a damaged link cannot cause an endless loop */
	for (uint32 n = 0; n < gen->pages && blkno != InvalidBlockNumber; n++)
	{
		Buffer		buf = sfx_read_linked(index, blkno, NULL);
		BlockNumber right;
		bool		ours;

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		ours = sfx_log_page_is(index, blkno, BufferGetPage(buf), meta->build_id, gen->gen);
		right = ours ? SfxPageGetTail(BufferGetPage(buf))->right : InvalidBlockNumber;
		UnlockReleaseBuffer(buf);
		if (!ours)
			break;
		sfx_freed_add(freed, index, blkno);
		blkno = right;
		SFX_STOP("page given back");
		CHECK_FOR_INTERRUPTS();
	}
}

void
sfx_generation_drop(Relation index, uint32 gen, const SfxHorizon *horizon, uint64 usecs, int shed,
					int pause, SfxDropped *d)
{
	SfxMeta		meta;
	Buffer		metabuf;
	SfxGen		dropped;

	Assert(sfx_merge_lock_held(index));
	SFX_STOP("drop generation");
	sfx_meta_lock(index, &meta, &metabuf);
	dropped = meta.gens[meta.ngens - 1];
	if (meta.ngens < 2 || dropped.gen != gen)
		sfx_corrupt(index, SFX_META_BLKNO, "what was merged is not the oldest generation");
	memset(&meta.gens[--meta.ngens], 0, sizeof(SfxGen));
	memset(&meta.resume[SFX_RESUME_GEN], 0, sizeof(SfxResume));
	meta.merges++;
	meta.work.entries += dropped.sealed;
	meta.work.log_pages += dropped.pages;
	meta.work.usecs += usecs;
	if (shed >= 0)
		meta.shed = shed;
	if (pause >= 0)
		meta.stub_pause = pause;

	sfx_meta_change(index, metabuf, &meta, SFX_META_DROP_GEN, horizon);

	SFX_STOP("generation dropped");
	sfx_image_forget(index, &meta, gen);
	*d = (SfxDropped) {.what = SFX_DROPPED_GEN,.meta = meta,.gen = dropped};
}

/* ---- dropping a run ---- */

/*
 * Write the filters over the children of an inner page of level 1, which is locked, to filters;
 * returns their number.
 */
static int
list_filters(Page page, const SfxOrder *order, BlockNumber *filters)
{
	SfxInner	inner;
	int			n = 0;

	if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		return 0;
	for (int i = 0; i < inner.nchildren; i++)
	{
		BlockNumber f = sfx_inner_filter(&inner, i);

		if (f >= SFX_FIRST_BLKNO && (n == 0 || filters[n - 1] != f))
			filters[n++] = f;
	}
	return n;
}

/*
 * Free the pages of one level of a dropped run, from block blkno to the right.  Returns the
 * leftmost page of the level below.
 */
static BlockNumber
free_run_level(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, int level, BlockNumber blkno,
			   SfxFreed *freed)
{
	BlockNumber below = InvalidBlockNumber;
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);

	/* no more pages than the file has, so a damaged link cannot cause an endless loop */
	for (BlockNumber n = 0; n < nblocks && blkno != InvalidBlockNumber; n++)
	{
		Buffer		buf = sfx_read_linked(index, blkno, NULL);
		Page		page = BufferGetPage(buf);
		SfxInner	inner;
		uint32_t	child;
		uint64_t	count;
		BlockNumber right;
		BlockNumber *filters;
		int			nfilters;

		LockBuffer(buf, BUFFER_LOCK_SHARE);

		/*
		 * A page that is in the map already may have been reused by another backend.  The pages to
		 * its right are reached only by links from here; if one of them is not of this run, the
		 * rest of the level is left to VACUUM.
		 */
		if (!sfx_tree_page_is(index, blkno, page, meta, run, level))
		{
			UnlockReleaseBuffer(buf);
			break;
		}
		if (n == 0 && level > 0 &&
			sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) >= 0 &&
			sfx_inner_child(&inner, 0, &child, &count) >= 0)
			below = child;
		filters = palloc(sizeof(BlockNumber) * SFX_INNER_MAXCHILDREN);
		nfilters = level == 1 ? list_filters(page, order, filters) : 0;
		right = SfxPageGetTail(page)->right;
		UnlockReleaseBuffer(buf);
		while (nfilters > 0)
			sfx_freed_add(freed, index, filters[--nfilters]);
		pfree(filters);
		sfx_freed_add(freed, index, blkno);
		blkno = right;
		SFX_STOP("page given back");
		CHECK_FOR_INTERRUPTS();
	}
	return below;
}

static void
free_run(Relation index, const SfxOrder *order, const SfxMeta *meta, const SfxRun *run,
		 SfxFreed *freed)
{
	BlockNumber blkno = run->root;

	for (int level = run->level; level >= 0 && blkno != InvalidBlockNumber; level--)
		blkno = free_run_level(index, order, meta, run->id, level, blkno, freed);
}

void
sfx_run_drop(Relation index, uint32 id, uint64 usecs, SfxDropped *d)
{
	SfxMeta		meta;
	Buffer		metabuf;
	SfxRun		run;
	int			r;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_lock(index, &meta, &metabuf);
	r = sfx_meta_find_run(&meta, id);
	if (r < 0 || r == meta.nruns - 1)
		sfx_corrupt(index, SFX_META_BLKNO, "what was merged is no run before the main tree");
	run = meta.runs[r];
	memmove(&meta.runs[r], &meta.runs[r + 1], (meta.nruns - r - 1) * sizeof(SfxRun));
	memset(&meta.runs[--meta.nruns], 0, sizeof(SfxRun));
	memset(&meta.resume[SFX_RESUME_RUN], 0, sizeof(SfxResume));
	meta.epoch++;
	meta.work.usecs += usecs;

	sfx_meta_change(index, metabuf, &meta, SFX_META_DROP_RUN, NULL);

	SFX_STOP("run dropped");

	*d = (SfxDropped) {.what = SFX_DROPPED_RUN,.meta = meta,.run = run};
}

void
sfx_dropped_free(Relation index, const SfxOrder *order, SfxDropped *d)
{
	SfxFreed	freed = {0};

	Assert(!SfxHoldsLWLock());
	if (d->what == SFX_DROPPED_GEN)
		free_log_pages(index, &d->meta, &d->gen, &freed);
	else if (d->what == SFX_DROPPED_RUN)
		free_run(index, order, &d->meta, &d->run, &freed);
	else
		return;
	d->what = SFX_DROPPED_NOTHING;
	sfx_freed_end(&freed, index);
}
