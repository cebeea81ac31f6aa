/*-------------------------------------------------------------------------
 * swap.h - one record that changes several pages of a tree
 *
 * All of it needs the merge lock. Memory is palloc'd in the current context.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SWAP_H
#define SURFIDX_SWAP_H

#include "surfidx.h"
#include "find.h"
#include "horizon.h"
#include "inner.h"
#include "meta.h"
#include "page.h"
#include "wal.h"

/* One page of a swap. */
typedef struct SfxSwapPage
{
	Buffer		buf;			/* valid: allocated, already locked */
	BlockNumber blkno;
	SfxPageKind kind;
	int			level;
	BlockNumber right;
	const uint8_t *body;
	uint32		len;
	bool		link_only;		/* only its right link changes */
	char	   *edit;			/* what redo does to it, where it needs no image */
	Size		editlen;
} SfxSwapPage;

typedef struct SfxSwap
{
	SfxTree		tree;
	bool		new_root;
	bool		counts;			/* the metapage learns the run's counts and the merge positions, */
	bool		works;			/* ... and counts this group as one of a merge's */
	bool		create;			/* ... and the run itself */
	int			level;
	SfxHorizon	horizon;
	bool		filters;		/* ... of node's children change, too */
	bool		keep_freed;		/* what is unlinked does not go to the free space map */
	int			n;
	SfxSwapPage page[SFX_GROUP_BLOCKS];
} SfxSwap;

/* An empty swap in that run's tree; level: of the node whose children change. */
extern SfxSwap *sfx_swap_begin(const SfxTree *t, int level);

/*
 * One page more: what becomes of block blkno, or of a new block, which is locked
 * (InvalidBlockNumber).  body stays the caller's and must live until the swap is executed.  Inner
 * pages first, then leaves from left to right: that is the order of their locks.
 */
extern SfxSwapPage *sfx_swap_add(SfxSwap *s, BlockNumber blkno, SfxPageKind kind, int level, const uint8_t *body, uint32 len);

/*
 * Replace node's children [from, to) by repl[0..n): the pages that node becomes, and a new root if
 * it was the root.  Returns how many it becomes.
 */
extern int	sfx_swap_parent(SfxSwap *s, SfxNode *node, int from, int to, const SfxChild *repl, int n);

/*
 * Lock all pages, write them, log them as one record, and give what is unlinked to the free space
 * map.
 */
extern void sfx_swap_execute(SfxSwap *s);

/*
 * The same, and if the node above has become several pages (nmade > 1), tell the node above that.
 */
extern void sfx_swap_finish(SfxSwap *s, const SfxNode *parent, int nmade);

/*
 * The page one level above that leads to block blkno, which begins at low; returns the number of
 * the child.  If there is none that is damage; in comparator order -1: comparisons lead elsewhere
 * (K4).
 */
extern int	sfx_swap_find_parent(const SfxTree *t, int level, const SfxPos *low,
								 BlockNumber blkno, SfxNode *parent);

#endif							/* SURFIDX_SWAP_H */
