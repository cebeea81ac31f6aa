/*-------------------------------------------------------------------------
 * shrink.h - giving space back: pages that move, are joined, or are free
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SHRINK_H
#define SURFIDX_SHRINK_H

#include "find.h"

/* ---- move.c ---- */

/*
 * Where pages from block `end` on may move: claim gives one more free block, exclusively locked, or
 * InvalidBuffer.
 */
typedef struct SfxTargets
{
	BlockNumber end;
	Buffer		(*claim) (void *arg, const SfxMeta *meta);
	void	   *arg;
} SfxTargets;

/*
 * Move page blkno of a tree into the free block of target, in one record with its parent (or the
 * metapage, if it is a root) and the right link of its left neighbour (G1).  A leaf takes some of
 * its siblings along that have to move, too.  A dictionary's page moves likewise.  target is
 * exclusively locked, and is released here.  The old blocks are not given to the free space map.
 * Merge lock held.  False: blkno is no page of a tree, or comparisons do not lead to it and its
 * left neighbour (K4).
 */
extern bool sfx_tree_move(Relation index, const SfxOrder *order, SfxMeta *meta, BlockNumber blkno,
						  Buffer target, const SfxTargets *targets);

/* ---- reshape.c ---- */

/*
 * Correct the entry counts above level 1 where they lag, for estimates.  Merge lock held.  Memory:
 * the current context.
 */
extern void sfx_tree_recount(const SfxTree *t);

/*
 * Join inner page node with its right neighbour below the same parent, if one of them is sparse and
 * both fit on one page.  The caller holds the merge lock since it loaded node.  True: done, node is
 * outdated.
 */
extern bool sfx_tree_join(const SfxTree *t, SfxNode *node);

/* Remove the run's root if it has one child and that is an inner page.  Merge lock held. */
extern bool sfx_tree_lower(const SfxTree *t);

/* ---- shrink.c ---- */

/*
 * Join sparse inner pages of all runs, and lower their roots, after entries were removed.  Takes
 * the merge lock page by page.
 */
extern void sfx_shrink_inner(Relation index, const SfxOrder *order);

/*
 * Give back the end of the file if enough of the file is free: move pages there down into free
 * blocks, and cut the rest off if no other session uses the index at the moment.  tries: how often
 * to try to lock the index for that, some milliseconds apart.  The caller has a lock on the index,
 * and holds no LWLock.
 */
extern void sfx_shrink_file(Relation index, const SfxOrder *order, BufferAccessStrategy strategy,
							int tries);

/* Does the free space map list this block as free?  A hint (P3). */
extern bool sfx_map_says_free(Relation index, BlockNumber blkno);

/* ---- reclaim.c ---- */

/*
 * Enter blocks that are free, and that nothing leads to, into the free space map (P3).  Returns how
 * many blocks are free.  No lock is held, and none asked for; what other sessions do meanwhile at
 * most leaves a block to the next time.
 */
extern BlockNumber sfx_reclaim_blocks(Relation index, const SfxOrder *order,
									  BufferAccessStrategy strategy);

/*
 * Drop dictionaries that no leaf names any more (H1).  Looks at all blocks, if there are several
 * dictionaries.  Takes the merge lock for each that is dropped.
 */
extern void sfx_reclaim_dicts(Relation index, const SfxOrder *order,
							  BufferAccessStrategy strategy);

#endif							/* SURFIDX_SHRINK_H */
