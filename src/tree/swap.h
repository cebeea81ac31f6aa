/*-------------------------------------------------------------------------
 * swap.h - changing trees: one record that changes several pages
 *
 * A writer begins a swap, adds pages, and executes it: locks in the order in which pages were
 * added, one critical section, one WAL record.  The caller holds the merge lock from the reading of
 * what it replaces until the swap is executed (asserted).  Memory: the current context.
 *
 * Most callers need sfx_tree_swap alone, which does all of that for a group of leaves.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SWAP_H
#define SURFIDX_SWAP_H

#include "find.h"
#include "horizon.h"
#include "inner.h"
#include "page.h"
#include "wal.h"

/* One page of a swap: what becomes of a block. */
typedef struct SfxSwapPage
{
	Buffer		buf;			/* valid: the block is new, and already locked */
	BlockNumber blkno;
	SfxPageKind kind;
	int			level;			/* 0: leaf */
	BlockNumber right;			/* right link */
	const uint8_t *body;		/* of the page; NULL for an unlinked page */
	uint32		len;
	bool		link_only;		/* only the right link changes */
	char	   *edit;			/* of an inner page: the children that are new, for redo
								 * (inner_edit.c); NULL: it needs an image */
	Size		editlen;
} SfxSwapPage;

/* The swap.  The flags say what of the metapage changes; if none does, it is not locked. */
typedef struct SfxSwap
{
	SfxTree		tree;
	bool		new_root;		/* the run's root or its level */
	bool		counts;			/* the run's counts and the positions of merges ... */
	bool		works;			/* ... and the group counts as one of a merge's */
	bool		create;			/* ... and the run is new */
	int			level;			/* of the node whose children change */
	SfxHorizon	horizon;		/* conflict horizon of entries that are left out, for standbys */
	bool		filters;		/* filters of node's children change */
	bool		keep_freed;		/* unlinked blocks are not given to the free space map */
	int			n;				/* pages */
	SfxSwapPage page[SFX_GROUP_BLOCKS];
} SfxSwap;

/* An empty swap in that tree; level: of the node whose children change. */
extern SfxSwap *sfx_swap_begin(const SfxTree *t, int level);

/*
 * Add a page: what becomes of block blkno, or with InvalidBlockNumber of a new block, which is
 * allocated and locked at once.  body is not copied, and must live until the swap is executed.
 * Pages are locked in the order in which they are added: inner pages first, then leaves from left
 * to right.
 */
extern SfxSwapPage *sfx_swap_add(SfxSwap *s, BlockNumber blkno, SfxPageKind kind, int level, const uint8_t *body, uint32 len);

/*
 * Replace node's children [from, to) by repl[0..n): adds the pages that node becomes, and a new
 * root if node was the root and splits.  Returns how many pages node becomes.
 */
extern int	sfx_swap_parent(SfxSwap *s, SfxNode *node, int from, int to, const SfxChild *repl, int n);

/*
 * Lock all pages, write them and log that in one record; then give the unlinked blocks to the free
 * space map, unless keep_freed.  Everything that can fail comes before the critical section.
 */
extern void sfx_swap_execute(SfxSwap *s);

/* The same; and if parent has become several pages (nmade > 1), post them one level up. */
extern void sfx_swap_finish(SfxSwap *s, const SfxNode *parent, int nmade);

/*
 * Load into *parent the page one level above the page in block blkno, which begins at low; returns
 * the index of that child.  A downlink that a crash has kept from being posted is posted first
 * (T3).  If there is none it is damage; in comparator order -1: comparisons lead elsewhere (K4).
 */
extern int	sfx_swap_find_parent(const SfxTree *t, int level, const SfxPos *low,
								 BlockNumber blkno, SfxNode *parent);

/* ---- groups of leaves, runs, downlinks ---- */

struct SfxFilterPlan;			/* filter_make.h */

/* A leaf body waiting to be written. */
typedef struct SfxNewLeaf
{
	uint8	   *body;
	uint32		len;
	SfxPos		low;
	uint32		nentries;
} SfxNewLeaf;

/*
 * Replace children [from, to) of node by the leaves[0..n), n >= 1, in one WAL record together
 * with node itself (which may become several pages), the filters over them, and, in the metapage,
 * the run's counts and the positions of merges (T2).
 *
 * node: as loaded under the merge lock; NULL: the run's root is a leaf, and is replaced.  works: it
 * counts as a group of a merge.  horizon: the conflict horizon of entries that are left out, for
 * standbys.  filters: what sfx_filters_plan has made for this very swap; NULL: these leaves, and
 * others under the same filters, get none.  *meta is updated.  Needs the merge lock.  Blocks that
 * are no longer needed go to the free space map.
 */
extern void sfx_tree_swap(const SfxTree *t, SfxNode *node, int from, int to,
						  const SfxNewLeaf *leaves, int n, bool works, const SfxHorizon *horizon,
						  const struct SfxFilterPlan *filters);

/*
 * Make an empty run, the newest one, in one record; returns its id.  *meta is updated.  Needs the
 * merge lock, and a free place in the list.
 */
extern uint32 sfx_tree_create(Relation index, const SfxOrder *order, SfxMeta *meta);

/*
 * Build the inner page of the first of children[0..n): as many as it takes, ending between two
 * filters (F1); halves: not more than half of them, if they fit two pages.  high: the last one's
 * high fence, NULL: infinity.  Returns how many; body (SFX_BODY_CAPACITY bytes) and its length
 * *len.  scratch: sfx_inner_scratch_size() bytes.
 */
extern int	sfx_tree_first_page(Relation index, const SfxOrder *order, const SfxChild *children,
								int n, const SfxPos *high, bool halves, uint8 *body,
								void *scratch, int *len);

/* Leaves that sfx_tree_swap can write, at most. */
#define SFX_SWAP_MAX	(SFX_GROUP_BLOCKS - 6)

/*
 * Post downlinks: make sure that every page of that level around pos has one in the level above,
 * which a split or a crash may have left out (T3).  Merge lock held.
 */
extern void sfx_tree_post(const SfxTree *t, int level, const SfxPos *pos);

#endif							/* SURFIDX_SWAP_H */
