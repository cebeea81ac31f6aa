/*-------------------------------------------------------------------------
 * shrink.c - what goes when entries have gone: sparse inner pages, levels, and the end of the file
 *
 * The file: free blocks are reused, but those at its end can be given back.  If the free ones are
 * many, the tree's pages behind the block where the file could end move down into them
 * (sfx_tree_move: one record for each, or for some leaves of one parent), from the end on; log
 * pages do not move, the next merge frees them.  Then the file is cut off behind its last page that
 * is not free, under an AccessExclusiveLock, which is only asked for, not waited for: whoever has
 * read a link to a block holds a lock on the index as long as he may follow it
 * (README "Giving back").
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "find.h"
#include "lwlocks.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "subxact.h"
#include "wal.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define MIN_BLOCKS		8		/* fewer are not given back */
#define MIN_SHARE		16		/* nor less than one in so many of the file's */
#define TRY_INTERVAL_MS	20

/* ---- inner pages ---- */

/*
 * Merge lock held. Join pages of that level of a run from *pos on; *pos: behind what was looked
 * at.  False: that was the last one.
 */
static bool
join_step(Relation index, const SfxOrder *order, uint32 run, int level, SfxPos *pos, MemoryContext poscxt)
{
	SfxMeta		meta;
	SfxTree		tree = {index, order, &meta, run};
	SfxNode		node;
	MemoryContext old;
	int			r;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_read(index, &meta);
	r = sfx_meta_find_run(&meta, run);
	if (r < 0 || meta.runs[r].level <= level)
		return false;
	sfx_tree_load(&tree, pos, level, &node);
	if (sfx_tree_join(&tree, &node))
		return true;			/* and look again */
	if (node.high_inf)
		return false;
	old = MemoryContextSwitchTo(poscxt);
	*pos = sfx_pos_copy(&node.high);
	MemoryContextSwitchTo(old);
	return true;
}

static void
join_level(Relation index, const SfxOrder *order, uint32 run, int level)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext poscxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx join position", ALLOCSET_SMALL_SIZES);
	SfxPos		pos = {(const uint8_t *) "", 0, 0};
	bool		more = true;

	while (more)
	{
		MemoryContext old;

		SfxVacuumDelay();
		sfx_merge_lock(index);
		old = MemoryContextSwitchTo(cxt);
		more = join_step(index, order, run, level, &pos, poscxt);
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
		sfx_merge_unlock(index);
	}
	MemoryContextDelete(cxt);
	MemoryContextDelete(poscxt);
}

/* Take away roots that have one child. */
static void
lower(Relation index, const SfxOrder *order, uint32 run)
{
	bool		more = true;

	while (more)
	{
		SfxMeta		meta;

		sfx_merge_lock(index);
		sfx_meta_read(index, &meta);
		more = sfx_meta_find_run(&meta, run) >= 0 && sfx_tree_lower(SfxTreeOf(index, order, &meta,
																			  run));
		sfx_merge_unlock(index);
	}
}

void
sfx_shrink_inner(Relation index, const SfxOrder *order)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	for (int r = 0; r < meta.nruns; r++)
	{
		for (int level = 1; level < meta.runs[r].level; level++)
			join_level(index, order, meta.runs[r].id, level);
		lower(index, order, meta.runs[r].id);
	}
}

/* ---- moving pages down ---- */

typedef struct Shrink
{
	Relation	index;
	const SfxOrder *order;
	BufferAccessStrategy strategy;
	BlockNumber low;			/* below it nothing is free any more */
	BlockNumber target;			/* the file could end here */
} Shrink;

bool
sfx_map_says_free(Relation index, BlockNumber blkno)
{
	return GetRecordedFreeSpace(index, blkno) >= BLCKSZ / 2;
}

static BlockNumber
count_free(Relation index, BlockNumber nblocks)
{
	BlockNumber n = 0;

	for (BlockNumber blkno = SFX_FIRST_BLKNO; blkno < nblocks; blkno++)
	{
		SfxVacuumDelay();
		n += sfx_map_says_free(index, blkno);
	}
	return n;
}

/* Is the block free?  Otherwise *movable: is it a page of the tree? */
static bool
look_at(Shrink *sh, BlockNumber blkno, const SfxMeta *meta, bool *movable)
{
	Buffer		buf = ReadBufferExtended(sh->index, MAIN_FORKNUM, blkno, RBM_NORMAL, sh->strategy);
	Page		page = BufferGetPage(buf);
	bool		is_free;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	is_free = sfx_page_is_free(page, meta);
	*movable = !is_free && sfx_page_check(sh->index, blkno, page) &&
		(SfxPageGetTail(page)->kind == SFX_PAGE_LEAF || SfxPageGetTail(page)->kind == SFX_PAGE_INNER ||
		 SfxPageGetTail(page)->kind == SFX_PAGE_FILTER || SfxPageGetTail(page)->kind == SFX_PAGE_DICT);
	UnlockReleaseBuffer(buf);
	return is_free;
}

/* The lowest free block below limit, claimed. */
static Buffer
claim_low(Shrink *sh, BlockNumber limit, const SfxMeta *meta)
{
	for (; sh->low < limit; sh->low++)
	{
		Buffer		buf;

		SfxVacuumDelay();
		if (!sfx_map_says_free(sh->index, sh->low))
			continue;
		buf = sfx_page_claim(sh->index, sh->low, meta);
		if (BufferIsValid(buf))
		{
			sh->low++;
			return buf;
		}
	}
	return InvalidBuffer;
}

static Buffer
claim_target(void *arg, const SfxMeta *meta)
{
	Shrink	   *sh = arg;

	return claim_low(sh, sh->target, meta);
}

/* Merge lock held.  Make block blkno free; false: it cannot be. */
static bool
empty_block(Shrink *sh, BlockNumber blkno)
{
	SfxMeta		meta;
	SfxTargets	targets = {.end = sh->target,.claim = claim_target,.arg = sh};
	Buffer		buf;
	bool		movable;

	Assert(sfx_merge_lock_held(sh->index));
	sfx_meta_read(sh->index, &meta);
	if (look_at(sh, blkno, &meta, &movable))
	{
		/* out of the map, or an inserter's next log page would come to lie here */
		RecordUsedIndexPage(sh->index, blkno);
		return true;
	}
	if (!movable)
		return false;
	buf = claim_low(sh, sh->target, &meta);
	return BufferIsValid(buf) && sfx_tree_move(sh->index, sh->order, &meta, blkno, buf, &targets);
}

/* Empty blocks from the end down to the target; the first block of those that were emptied. */
static BlockNumber
empty_end(Shrink *sh, BlockNumber nblocks)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx shrink", ALLOCSET_DEFAULT_SIZES);
	BlockNumber end = nblocks;
	bool		done = true;

	while (end > sh->target && done)
	{
		MemoryContext old;

		SfxVacuumDelay();
		sfx_merge_lock(sh->index);
		old = MemoryContextSwitchTo(cxt);
		done = empty_block(sh, end - 1);
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
		sfx_merge_unlock(sh->index);
		if (done)
			end--;
	}
	MemoryContextDelete(cxt);
	return end;
}

/* ---- cutting off ---- */

static bool
lock_alone(Relation index, int tries)
{
	for (int i = 0; i < tries; i++)
	{
		if (ConditionalLockRelation(index, AccessExclusiveLock))
			return true;
		if (i + 1 == tries)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, TRY_INTERVAL_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/*
 * Copies of roots (root_copy.c) may hold links to what goes.  A new epoch makes them void, on
 * standbys before the file is cut off there.
 */
static void
raise_epoch(Relation index)
{
	SfxMeta		meta;
	Buffer		buf;

	sfx_meta_lock(index, &meta, &buf);
	meta.epoch++;
	sfx_meta_change(index, buf, &meta, SFX_META_EPOCH, NULL);
}

typedef struct Cut
{
	Shrink	   *sh;
	BlockNumber from;
	int			tries;
	bool		all;			/* of it was cut off from block from on */
} Cut;

/* Cut off what is free at the file's end, if nobody else uses the index. */
static void
try_cut(void *arg)
{
	Cut		   *cut = arg;
	Shrink	   *sh = cut->sh;
	SfxMeta		meta;
	BlockNumber nblocks;
	BlockNumber end;
	bool		movable;

	if (!lock_alone(sh->index, cut->tries) && !SFX_MUTANT("cut off what is read"))
		return;
	sfx_meta_read(sh->index, &meta);
	nblocks = RelationGetNumberOfBlocks(sh->index);
	for (end = nblocks; end > SFX_FIRST_BLKNO; end--)
	{
		CHECK_FOR_INTERRUPTS();
		if (!look_at(sh, end - 1, &meta, &movable))
			break;
	}

	/*
	 * An image's cursor, a cached tail: they lead to pages of listed generations only, which are
	 * not free.
	 */
	if (end < nblocks)
	{
		raise_epoch(sh->index);
		SFX_STOP("epoch raised");
		RelationTruncate(sh->index, end);
	}
	UnlockRelation(sh->index, AccessExclusiveLock);
	cut->all = end <= cut->from;
}

/*
 * G3: standbys keep the lock until the transaction ends that it was announced under, and with it
 * their readers out.  So that is one of its own, within ours, which is rolled back: a truncation
 * cannot be undone, and has not to be.
 */
static bool
cut_off(Shrink *sh, BlockNumber from, int tries)
{
	Cut			cut = {.sh = sh,.from = from,.tries = tries};

	if (!XLogStandbyInfoActive() || SFX_MUTANT("standbys keep the lock"))
		try_cut(&cut);
	else
	{
		sfx_undone(try_cut, &cut);
		/* nobody else might write soon, and standbys are to hear of the rollback */
		XLogFlush(XactLastRecEnd);
	}
	return cut.all;
}

/*
 * What could not be cut off is free for others: all from block end on, and before it what went
 * along with others.
 */
static void
release_rest(Shrink *sh, BlockNumber end, BlockNumber nblocks)
{
	SfxMeta		meta;
	bool		movable;

	sfx_meta_read(sh->index, &meta);
	for (BlockNumber blkno = sh->target; blkno < nblocks; blkno++)
	{
		CHECK_FOR_INTERRUPTS();
		if (blkno >= end || look_at(sh, blkno, &meta, &movable))
			sfx_page_release_free(sh->index, blkno);
	}
	IndexFreeSpaceMapVacuum(sh->index);
}

void
sfx_shrink_file(Relation index, const SfxOrder *order, BufferAccessStrategy strategy, int tries)
{
	Shrink		sh = {.index = index,.order = order,.strategy = strategy,.low = SFX_FIRST_BLKNO};
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber nfree = count_free(index, nblocks);
	BlockNumber end;

	Assert(sfx_holds_no_lwlock());
	if (nfree < MIN_BLOCKS || nfree < nblocks / MIN_SHARE)
		return;
	sh.target = nblocks - nfree;
	end = empty_end(&sh, nblocks);
	if (end < nblocks && cut_off(&sh, end, tries))
		return;
	release_rest(&sh, end, Min(nblocks, RelationGetNumberOfBlocks(index)));
}
