/*-------------------------------------------------------------------------
 * reclaim.c - blocks that nobody owns go to the free space map, dictionaries that no leaf names go
 *
 * The map is not logged: after a crash, and on a promoted standby, it does not know what was
 * freed.  Nor does it after an error or a crash between the record that unlinks a page, or drops a
 * generation or a run, and the entry in the map, or between taking a block and linking it. So each
 * VACUUM asks the trees, by the level above the leaves, which blocks are theirs, and looks at those
 * others that the map does not have either: log pages, dictionaries, and what was lost.  No lock is
 * held meanwhile: what the trees say is a hint, as the map is, and whether a block is free its own
 * page says (P3).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "dict.h"
#include "find.h"
#include "leaf.h"
#include "lwlocks.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"

#include "commands/vacuum.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

typedef struct Reclaim
{
	Relation	index;
	const SfxOrder *order;
	BufferAccessStrategy strategy;
	BlockNumber nblocks;
	uint8	   *owned;			/* a bit per block: a tree has it */
} Reclaim;

/*
 * The blocks of the file, none of which somebody is just extending it by: that one is all zero,
 * like a leaked one, until its maker has locked it.
 */
static BlockNumber
count_blocks(Relation index)
{
	bool		needlock = !RELATION_IS_LOCAL(index) && !SFX_MUTANT("count without lock");
	BlockNumber nblocks;

	if (needlock)
		LockRelationForExtension(index, ExclusiveLock);
	nblocks = RelationGetNumberOfBlocks(index);
	if (needlock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return nblocks;
}

/* ---- who owns what ---- */

static void
own(Reclaim *rc, BlockNumber blkno)
{
	if (blkno < rc->nblocks)
		rc->owned[blkno / 8] |= 1 << (blkno % 8);
}

static bool
is_owned(const Reclaim *rc, BlockNumber blkno)
{
	return (rc->owned[blkno / 8] & (1 << (blkno % 8))) != 0;
}

/* The pages of that level of a run and, from level 1, those below it and their filters. */
static void
own_level(Reclaim *rc, const SfxMeta *meta, uint32 run, int level)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx reclaim", ALLOCSET_DEFAULT_SIZES);
	SfxPosBuf  *pos = palloc(sizeof(SfxPosBuf));
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	bool		more = true;

	sfx_pos_set(pos, &start);
	while (more)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);
		SfxNode		node;

		SfxVacuumDelay();

		/*
		 * false: the run was merged into an older one meanwhile, and its pages speak for
		 * themselves
		 */
		more = sfx_tree_try_load(SfxTreeOf(rc->index, rc->order, meta, run), &pos->pos, level,
								 &node);
		if (more)
		{
			own(rc, node.blkno);
			for (int i = 0; i < node.nchildren && node.level == 1; i++)
			{
				own(rc, node.children[i].blkno);
				own(rc, node.children[i].filter);
			}
			more = !node.high_inf;
			if (more)
				sfx_pos_set(pos, &node.high);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
	}
	MemoryContextDelete(cxt);
	pfree(pos);
}

static void
own_trees(Reclaim *rc, const SfxMeta *meta)
{
	rc->owned = MemoryContextAllocExtended(CurrentMemoryContext, (Size) rc->nblocks / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int r = 0; r < meta->nruns; r++)
	{
		own(rc, meta->runs[r].root);
		for (int level = meta->runs[r].level; level > 0; level--)
			own_level(rc, meta, meta->runs[r].id, level);
	}
}

/* ---- the others ---- */

/* Is the block free, as its page says?  Then into the map with it. */
static bool
reclaim(Reclaim *rc, BlockNumber blkno, const SfxMeta *meta)
{
	Buffer		buf = ReadBufferExtended(rc->index, MAIN_FORKNUM, blkno, RBM_NORMAL, rc->strategy);
	bool		is_free;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	is_free = sfx_page_is_free(BufferGetPage(buf), meta);
	if (is_free)
		sfx_page_release_free(rc->index, blkno);
	UnlockReleaseBuffer(buf);
	return is_free;
}

BlockNumber
sfx_reclaim_blocks(Relation index, const SfxOrder *order, BufferAccessStrategy strategy)
{
	Reclaim		rc = {.index = index,.order = order,.strategy = strategy};
	BlockNumber nfree = 0;
	SfxMeta		meta;

	Assert(sfx_holds_no_lwlock());

	/*
	 * in this order: blocks that come later are not looked at, generations and runs that come
	 * later have such blocks or ones of the map
	 */
	rc.nblocks = count_blocks(index);
	sfx_meta_read(index, &meta);
	own_trees(&rc, &meta);
	SFX_STOP("blocks owned");
	for (BlockNumber blkno = SFX_FIRST_BLKNO; blkno < rc.nblocks; blkno++)
	{
		SfxVacuumDelay();
		if (is_owned(&rc, blkno))
			continue;
		nfree += sfx_map_says_free(index, blkno) || (!SFX_MUTANT("lost pages are not looked for") && reclaim(&rc, blkno, &meta));
	}
	pfree(rc.owned);
	/* whoever unlinked pages, too, has left that to us */
	IndexFreeSpaceMapVacuum(index);
	return nfree;
}

/* ---- dictionaries ---- */

/* Does a leaf name a dictionary of the list?  Then it is used: a bit per place in the list. */
static uint32
dict_of_leaf(const SfxOrder *order, const SfxMeta *meta, Page page)
{
	SfxPageTail *tail;
	SfxLeaf		leaf;

	if (PageIsNew(page) || ((PageHeader) page)->pd_special != BLCKSZ - sizeof(SfxPageTail))
		return 0;
	tail = SfxPageGetTail(page);
	if (tail->kind != SFX_PAGE_LEAF || tail->build_id != meta->build_id ||
		sfx_leaf_open(&leaf, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		return 0;
	for (uint32 i = 0; i < meta->ndicts; i++)
		if (meta->dict[i].number == leaf.dictno)
			return 1U << i;
	return 0;
}

/*
 * What the leaves name.  They may be moving to lower blocks: none escapes who looks at higher ones
 * first (H2).
 */
static uint32
dicts_in_use(Relation index, const SfxOrder *order, BufferAccessStrategy strategy, const SfxMeta *meta)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	uint32		used = 0;

	for (BlockNumber i = SFX_FIRST_BLKNO; i < nblocks; i++)
	{
		BlockNumber blkno = SFX_MUTANT("leaves by ascending blocks") ? i : nblocks - 1 - (i - SFX_FIRST_BLKNO);
		Buffer		buf;

		SfxVacuumDelay();
		SFX_STOP("leaf looked at");
		buf = ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		used |= dict_of_leaf(order, meta, BufferGetPage(buf));
		UnlockReleaseBuffer(buf);
	}
	return used;
}

void
sfx_reclaim_dicts(Relation index, const SfxOrder *order, BufferAccessStrategy strategy)
{
	SfxMeta		meta;
	uint32		used;

	sfx_meta_read(index, &meta);
	if (meta.ndicts < 2)
		return;
	used = dicts_in_use(index, order, strategy, &meta);
	/* not the newest: merges are about to write leaves with it */
	for (uint32 i = 0; i + 1 < meta.ndicts; i++)
	{
		if (used & (1U << i))
			continue;
		sfx_merge_lock(index);
		sfx_dict_drop(index, meta.dict[i].number);
		sfx_merge_unlock(index);
	}
}
