/*-------------------------------------------------------------------------
 * shrink.c - what is given back when entries are gone: sparse inner pages, levels, the file's end
 *
 * Free blocks are reused, but those at the end of the file can be given back.  If many are free,
 * the tree's pages beyond the block where the file could end move down into free blocks
 * (sfx_tree_move: one record for each, or for some leaves of one parent), from the end on.  Log
 * pages do not move; the next merge frees them.  Then the file is cut off after its last page that
 * is not free, under an AccessExclusiveLock that is asked for and not waited for: a backend that
 * has read a link to a block holds a lock on the index as long as it may follow that link (G3).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "find.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "shrink.h"
#include "sleep.h"
#include "subxact.h"
#include "wal.h"

#include "access/xlog.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define MIN_BLOCKS		8		/* blocks; fewer are not given back */
#define MIN_SHARE		16		/* nor less than one in so many blocks of the file */
#define TRY_INTERVAL_MS	20
#define LOOK_FOR_WAITERS	32	/* blocks; as core does where it truncates tables */
#define READ_AHEAD			32

/* ---- inner pages ---- */

/*
 * Merge lock held.  Look at one page of that level of a run, the one that holds *pos, and join it
 * with its right neighbour if they are sparse.  *pos, whose key is in poscxt, becomes the page's
 * high fence, or stays if there was a join.  False: that was the last page.
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

/* Join the sparse pages of that level of a run.  Takes the merge lock for each page. */
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

/* Remove roots that have one child.  Takes the merge lock for each. */
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

/* A file that is being shrunk. */
typedef struct Shrink
{
	Relation	index;
	const SfxOrder *order;
	BufferAccessStrategy strategy;
	BlockNumber low;			/* no block below it is free any more */
	BlockNumber target;			/* where the file could end */
} Shrink;

bool
sfx_map_says_free(Relation index, BlockNumber blkno)
{
	return GetRecordedFreeSpace(index, blkno) >= BLCKSZ / 2;
}

/* How many of the file's blocks the free space map lists. */
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

/*
 * Is the block free, as its page says?  If not, *movable: is it a page of a tree or a dictionary?
 */
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

/* Claim the lowest free block below limit: exclusively locked; InvalidBuffer if there is none. */
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

/* As SfxTargets.claim. */
static Buffer
claim_target(void *arg, const SfxMeta *meta)
{
	Shrink	   *sh = arg;

	return claim_low(sh, sh->target, meta);
}

/* Merge lock held.  Make block blkno free, by moving its page if need be.  False: it cannot be. */
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
		/* take it out of the map, or an inserter's next log page might go there */
		RecordUsedIndexPage(sh->index, blkno);
		return true;
	}
	if (!movable)
		return false;
	buf = claim_low(sh, sh->target, &meta);
	return BufferIsValid(buf) && sfx_tree_move(sh->index, sh->order, &meta, blkno, buf, &targets);
}

/*
 * Make blocks free from the end down to the target, until one cannot be.  Returns the first block
 * of the free end.  Takes the merge lock for each block.
 */
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

/*
 * Try to lock the index exclusively, `tries` times, some milliseconds apart.  False: other sessions
 * use it.
 */
static bool
lock_alone(Relation index, int tries)
{
	for (int i = 0; i < tries; i++)
	{
		if (ConditionalLockRelation(index, AccessExclusiveLock))
			return true;
		if (i + 1 == tries)
			break;
		sfx_sleep(SFX_SLEEP_TRUNCATE, TRY_INTERVAL_MS);
	}
	return false;
}

/*
 * Copies of roots (root_copy.c) may hold links to blocks that go.  A new epoch makes the copies
 * void; on standbys, too, before the file is cut off there.
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

/* Arguments and result of try_cut. */
typedef struct Cut
{
	Shrink	   *sh;
	BlockNumber from;
	int			tries;
	bool		all;			/* the file was cut off at block `from`, or before it */
} Cut;

/* Cut off the free blocks at the file's end, unless another session uses the index. */
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
		/* sessions wait for the lock: what was looked at is cut off, and no more */
		if ((nblocks - end) % LOOK_FOR_WAITERS == LOOK_FOR_WAITERS - 1 &&
			LockHasWaitersRelation(sh->index, AccessExclusiveLock))
			break;
		if (end - 1 >= SFX_FIRST_BLKNO + READ_AHEAD)
			PrefetchBuffer(sh->index, MAIN_FORKNUM, end - 1 - READ_AHEAD);
		if (!look_at(sh, end - 1, &meta, &movable))
			break;
	}

	/*
	 * Images' cursors and cached tails lead to pages of listed generations only, which are not
	 * free.
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
 * G3: on a standby the lock lasts until the end of the transaction that it was announced under, and
 * keeps readers out as long.  So the cut is a subtransaction of its own, which is rolled back: a
 * truncation cannot be undone, and need not be.
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
		/* the rollback's record lets standbys go on; no other session might flush it soon */
		XLogFlush(XactLastRecEnd);
	}
	return cut.all;
}

/*
 * Give blocks that were emptied and not cut off to the free space map: all from block end on, and
 * those before it, from the target on, whose leaves moved along with others (G3).
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

	Assert(!SfxHoldsLWLock());
	if (nfree < MIN_BLOCKS || nfree < nblocks / MIN_SHARE)
		return;
	sh.target = nblocks - nfree;
	end = empty_end(&sh, nblocks);
	if (end < nblocks && cut_off(&sh, end, tries))
		return;
	release_rest(&sh, end, Min(nblocks, RelationGetNumberOfBlocks(index)));
}
