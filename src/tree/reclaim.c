/*-------------------------------------------------------------------------
 * reclaim.c - blocks that nothing owns go to the free space map, dictionaries that no leaf names go
 *
 * The map is not logged: after a crash, and on a promoted standby, it does not know what was freed.
 * An error or a crash has the same effect if it comes between the record that unlinks a page, or
 * drops a generation or a run, and the entry in the map, or after a block was taken and before it
 * is linked.  So each VACUUM asks the trees, by the level above the leaves, which blocks are
 * theirs, and looks at those others that the map does not list: log pages, dictionaries, and lost
 * blocks.  It holds no lock meanwhile.  What the trees say is a hint, as the map is; whether a
 * block is free its own page says (P3).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "dict.h"
#include "find.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "shrink.h"

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
 * The number of blocks, as of a moment at which no backend is extending the file.  A block just
 * added is all zero, as a lost one is, until its maker has locked it; so the number is taken under
 * the lock that extends the file, and newer blocks are not looked at.
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

/* ---- blocks of trees ---- */

/* Note that a tree has that block. */
static void
own(Reclaim *rc, BlockNumber blkno)
{
	if (blkno < rc->nblocks)
		rc->owned[blkno / 8] |= 1 << (blkno % 8);
}

/* Note the pages of that level of a run; at level 1 also the leaves below, and their filters. */
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
		 * False: the run was merged into an older one meanwhile.  Its pages say themselves that
		 * they are free.
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

/* Note the blocks of all runs. */
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

/* ---- other blocks ---- */

/*
 * Is the block free, as its page says (P3)?  Then enter it into the map, while the page is locked.
 */
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

	Assert(!SfxHoldsLWLock());

	/*
	 * In this order: blocks that are added later are not looked at, and generations and runs that
	 * are made later get such blocks, or blocks that the map lists.
	 */
	rc.nblocks = count_blocks(index);
	sfx_meta_read(index, &meta);
	own_trees(&rc, &meta);
	SFX_STOP("blocks owned");
	for (BlockNumber blkno = SFX_FIRST_BLKNO; blkno < rc.nblocks; blkno++)
	{
		SfxVacuumDelay();
		if ((rc.owned[blkno / 8] & (1 << (blkno % 8))) != 0)
			continue;
		nfree += sfx_map_says_free(index, blkno) || (!SFX_MUTANT("lost pages are not looked for") && reclaim(&rc, blkno, &meta));
	}
	pfree(rc.owned);
	/* its upper pages: swaps beside this VACUUM leave them to it */
	IndexFreeSpaceMapVacuum(index);
	return nfree;
}

/* ---- dictionaries ---- */

/*
 * As a bit, the place in meta's list of the dictionary that this page, if it is a leaf, names; 0:
 * none.
 */
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
 * Which dictionaries of the list leaves name, as bits.  VACUUM looks at the blocks from the file's
 * end to its start: leaves move to lower blocks only (G1), so each is met before or after its move
 * (H1).
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
	sfx_merge_lock(index);
	sfx_dicts_forget_written(index, &meta);
	sfx_merge_unlock(index);
	used = dicts_in_use(index, order, strategy, &meta);

	/*
	 * Not those newer than all in use: they may have been made for leaves that come now.  If all
	 * places are taken, only the newest one stays.
	 */
	for (uint32 i = 0; i + 1 < meta.ndicts; i++)
	{
		if ((used & (1U << i)) || (used >> i == 0 && meta.ndicts < SFX_MAX_DICTS))
			continue;
		sfx_merge_lock(index);
		sfx_dict_drop(index, meta.dict[i].number);
		sfx_merge_unlock(index);
	}
}
