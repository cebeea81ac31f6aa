/*-------------------------------------------------------------------------
 * find.h - the static stage: finding pages by position, and swapping groups of them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_TREE_H
#define SURFIDX_TREE_H

#include "surfidx.h"
#include "horizon.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"
#include "pos.h"
#include "upper.h"
#include "wal.h"

/*
 * A run's tree, as a metapage has it.  Readers change nothing of *meta; who changes the tree holds
 * the merge lock, has read *meta under it, and finds it changed.
 */
typedef struct SfxTree
{
	Relation	index;
	const SfxOrder *order;
	SfxMeta    *meta;
	uint32		run;			/* its id */
} SfxTree;

/* One for a call or a block. */
#define SfxTreeOf(index, order, meta, run) \
	(&(SfxTree) {(index), (order), (SfxMeta *) (meta), (run)})

/*
 * The leaves of that run from the one on that holds pos (before: the positions just below it),
 * rightwards (leftwards), as many as one parent names of the n wanted: their number; 0 if the run
 * was dropped.  Nothing is said of what they hold by now.
 */
extern int	sfx_tree_leaves_from(const SfxTree *t, const SfxPos *pos, bool before,
								 BlockNumber *blkno, int n);

/*
 * The page of that level (0 = leaf) of that run whose interval holds pos, share-locked.  With
 * before: the page that holds the positions just below pos.  pos->key NULL means plus infinity
 * (only with before). Starts from meta's root; where the tree has changed under it, from a fresh
 * metapage.  InvalidBuffer: the run was dropped (never where the merge lock is held, and never the
 * main tree).
 */
extern Buffer sfx_tree_find(const SfxTree *t, const SfxPos *pos, bool before, int level);

/* The same for leaves, opened in *leaf. */
extern Buffer sfx_tree_find_leaf(const SfxTree *t, const SfxPos *pos, bool before, SfxLeaf *leaf);

/* ---- root_copy.c: this backend's decoded copies of roots ---- */

/*
 * The page that leads to pos, so many levels below meta's root, by a copy; InvalidBlockNumber if
 * there is none. The root must not be a leaf. place: between which separators, for as long as no
 * other descent begins.
 */
extern BlockNumber sfx_cache_descend(Relation index, const SfxMeta *meta, const SfxOrder *order,
									 const SfxPos *pos, bool before, int *levels,
									 SfxUpperPlace *place);

/* A descent went through the root, which is locked: copy it if that is worth it by now. */
extern void sfx_cache_offer(Relation index, const SfxMeta *meta, const SfxInner *root);

/*
 * A descent is about to begin: would it pay to copy the level below the root, too?  True once, and
 * then sfx_cache_offer_below may be told of all its pages, from left to right; none of them names
 * filters.
 */
#define SFX_CACHE_BELOW		8	/* of so many pages at most */
extern bool sfx_cache_wants_below(Relation index, const SfxMeta *meta);
extern void sfx_cache_offer_below(Relation index, const SfxMeta *meta, const SfxInner *pages,
								  int n);

/*
 * One key was looked for by its bytes in a leaf that the copy led to (B5): did that tell whether it
 * is there?  Where it seldom does, the copy calls no leaf bytewise any more, for as long as it is.
 */
extern void sfx_cache_tried_bytes(Relation index, const SfxMeta *meta, bool told);

/*
 * The copy led to a page from which it was necessary to go right; to one that was of no use at all.
 */
extern void sfx_cache_lagged(Relation index, const SfxMeta *meta);
extern void sfx_cache_forget(Relation index, const SfxMeta *meta);

/*
 * Where main trees end (tree_end.c).  meta: read for R1 of the step that asks.  Do all entries of
 * the main tree certainly stand before pos?
 */
extern bool sfx_last_before(Relation index, const SfxMeta *meta, const SfxOrder *order,
							const SfxPos *pos);

/*
 * The last leaf had nothing: is its last entry worth being told of?  Then sfx_last_note is to be
 * called next.
 */
extern bool sfx_last_wanted(Relation index, const SfxMeta *meta);
extern void sfx_last_note(Relation index, const SfxMeta *meta, const SfxEntry *e);

/*
 * What of main trees is dead to everybody (tree_passed.c); byte order only.  meta: read for R1 of
 * the step that asks.  True: all that the main tree has from pos up to *to is; key: room for
 * SFX_PASSED_KEY bytes, to which *to points.
 */
#define SFX_PASSED_KEY	64
extern bool sfx_passed_until(Relation index, const SfxMeta *meta, const SfxPos *pos, SfxPos *to,
							 uint8 *key);

/*
 * Each entry that the main tree had in [from, to), and still has, leads to a row that is dead to
 * every snapshot, and so many were found to.  They were read behind an R1 that found this build and
 * count of groups.
 */
extern void sfx_passed_note(Relation index, uint64 build_id, uint64 groups, const SfxPos *from,
							const SfxPos *to, int n);

/*
 * What a reader that wants the leaf of pos only for its entries in a range asks the filter over it
 * first.
 */
typedef struct SfxFilterProbe
{
	const SfxPos *lo;			/* [lo, hi) */
	const SfxPos *hi;			/* NULL: to the end */
	const uint8 *key;			/* the one key of the range; NULL: there may be several */
	uint32		keylen;
	bool		no_leaf;		/* where there is a filter its answer will do: InvalidBuffer in any
								 * case */
	bool		asked;			/* there is a filter, and it can tell */
	bool		keys_only;		/* there is one, of a kind that cannot tell of ranges */
	bool		absent;			/* it says no: no entry from pos up to the fence, in the direction
								 * of search, is in the range */
	bool		fence_inf;
	SfxPos		fence;			/* fence_buf has its bytes */
	uint8		fence_buf[SFX_MAX_ENTRY];
} SfxFilterProbe;

/* As sfx_tree_find_leaf.  InvalidBuffer with probe->absent where the filter says no. */
extern Buffer sfx_tree_probe(const SfxTree *t, const SfxPos *pos, bool before, SfxLeaf *leaf,
							 SfxFilterProbe *probe);

/* Has a filter made the leaf unnecessary? */
static inline bool
sfx_filter_answered(const SfxFilterProbe *probe)
{
	return probe->asked && (probe->absent || probe->no_leaf);
}

/*
 * Copy of one leaf page of a run, opened.  copy must be MAXALIGNed, BLCKSZ. strategy may be NULL.
 */
extern void sfx_leaf_copy(const SfxTree *t, BlockNumber blkno, BufferAccessStrategy strategy,
						  char *copy, SfxLeaf *leaf);

/* A writer's copy of an inner page. All memory is palloc'd in the current context. */
typedef struct SfxNode
{
	uint32		run;
	BlockNumber blkno;
	BlockNumber right;
	int			level;
	uint32		len;			/* bytes of its body */
	int			nchildren;
	SfxChild   *children;
	bool		high_inf;
	SfxPos		high;
	struct SfxKeptNode *kept;	/* it is a copy of that one; NULL: of none */
} SfxNode;

/*
 * Copy the inner page of that level that holds pos.  It may be outdated at once, and the run gone:
 * false.
 */
extern bool sfx_tree_try_load(const SfxTree *t, const SfxPos *pos, int level, SfxNode *node);

/* The same for writers.  Merge lock held. */
extern void sfx_tree_load(const SfxTree *t, const SfxPos *pos, int level, SfxNode *node);

/* Copy the inner page in buf, which is locked, and let it go. */
extern void sfx_tree_load_page(Relation index, const SfxOrder *order, Buffer buf, SfxNode *node);

/* ---- parent_copy.c: a writer's copy of a parent of leaves, from group to group ---- */

typedef struct SfxKeptNode
{
	MemoryContext cxt;			/* where the node's memory is */
	bool		valid;
	bool		by_bytes;		/* comparator order: it was found by the bytes of a fence (K4) */
	SfxNode		node;			/* its run and block stay when it is not valid any more */
	SfxChild   *outdated;		/* its children before the last change */
	char	   *page;			/* what it was made of, or becomes */
} SfxKeptNode;

/* Memory: the current context. */
extern void sfx_kept_init(SfxKeptNode *kept);
extern void sfx_kept_end(SfxKeptNode *kept);

/*
 * As sfx_tree_load at level 1.  True: *node is the one of last time, as sfx_tree_swap has left it.
 * Valid until the next call.
 */
extern bool sfx_kept_load(SfxKeptNode *kept, const SfxTree *t, const SfxPos *pos, SfxNode *node);

/*
 * Comparator order: do the fences of the pages on the way to pos ascend, on all levels?  Then
 * comparisons that lead there are to be trusted (K4).  Merge lock held.  Memory: the current
 * context.
 */
extern bool sfx_way_ascends(const SfxTree *t, const SfxPos *pos);

/* The page has got repl[0..n) in place of its children [from, to), and this body. */
extern void sfx_kept_replace(SfxKeptNode *kept, int from, int to, const SfxChild *repl, int n, const uint8 *body, uint32 len);

/* The page has become something else. */
extern void sfx_kept_forget(SfxKeptNode *kept);

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
 * Replace children [from, to) of node by the leaves new[0..n), n >= 1, in one WAL record together
 * with node itself (which may become several pages), the filters over them, and the run's counts
 * and the merge positions of *meta: filters is what sfx_filters_plan made for this very swap; NULL:
 * these leaves, and others under the same filters, go without.  node NULL: the run's root is a
 * leaf, and it is replaced.  works: it counts as a group of a merge's.  Updates *meta.  Needs the
 * merge lock. Pages that are no longer needed go to the free space map.  horizon: of entries that
 * are left out, for standbys.
 */
extern void sfx_tree_swap(const SfxTree *t, SfxNode *node, int from, int to,
						  const SfxNewLeaf *leaves, int n, bool works, const SfxHorizon *horizon,
						  const struct SfxFilterPlan *filters);

/*
 * Make an empty run, the newest one, in one record.  Updates *meta; the run's id.  Needs the merge
 * lock and a free place in the list.
 */
extern uint32 sfx_tree_create(Relation index, const SfxOrder *order, SfxMeta *meta);

/*
 * Build the inner page of the first of children[0..n), as many as it takes (halves: not more than
 * half of them, if they fit two pages), so that it ends between two filters.  high: their high
 * fence, NULL: infinity.  Returns how many; body (SFX_BODY_CAPACITY bytes) and its length.
 */
extern int	sfx_tree_first_page(Relation index, const SfxOrder *order, const SfxChild *children, int n, const SfxPos *high, bool halves,
								uint8 *body, void *scratch, int *len);

/* How many leaves sfx_tree_swap can take in place of nold ones. */
#define SFX_SWAP_MAX	(SFX_GROUP_BLOCKS - 6)

/*
 * Make sure that every page of that level around pos has its downlink one level up (heals what a
 * crash left).
 */
extern void sfx_tree_post(const SfxTree *t, int level, const SfxPos *pos);

/*
 * Free blocks for pages from block end on. claim: one more, exclusively locked, or InvalidBuffer.
 */
typedef struct SfxTargets
{
	BlockNumber end;
	Buffer		(*claim) (void *arg, const SfxMeta *meta);
	void	   *arg;
} SfxTargets;

/*
 * Move page blkno of the tree into the free block of target, which is exclusively locked and is let
 * go: with its parent, or the metapage if it is the root, and the right link of its left neighbour
 * in one record; a leaf takes some of its siblings along that have to move, too.  Merge lock held.
 * The old blocks are not given to the free space map. False: blkno is no page of the tree, or
 * comparisons do not lead to it and to its left neighbour (K4); target is let go. (A dictionary's
 * page moves likewise.)
 */
extern bool sfx_tree_move(Relation index, const SfxOrder *order, SfxMeta *meta, BlockNumber blkno, Buffer target, const SfxTargets *targets);

/*
 * Put the entry counts above level 1 right where they lag: estimates go by them.  Merge lock held.
 * Memory: the current context.
 */
extern void sfx_tree_recount(const SfxTree *t);

/* Join inner page node (loaded under the merge lock) with its right neighbour below the same parent, if one of them is sparse and both fit
 * into one page.  True: done, node is outdated. */
extern bool sfx_tree_join(const SfxTree *t, SfxNode *node);

/* Take the run's root away if it has one child and that is an inner page.  Merge lock held. */
extern bool sfx_tree_lower(const SfxTree *t);

/* Is this page one of that run's tree at that level? */
extern bool sfx_tree_page_is(Relation index, BlockNumber blkno, Page page, const SfxMeta *meta, uint32 run, int level);

/*
 * Join sparse inner pages and lower the root, where entries have gone (shrink.c). Takes the merge
 * lock, page by page.
 */
extern void sfx_shrink_inner(Relation index, const SfxOrder *order);

/*
 * Give the end of the file back where enough of the file is free: pages there move down into free
 * blocks, and the rest is cut off if nobody else uses the index at the moment.  tries: how often to
 * ask for that, some milliseconds apart.  No lock but the caller's on the index may be held.
 */
extern void sfx_shrink_file(Relation index, const SfxOrder *order, BufferAccessStrategy strategy, int tries);

/* Does the free space map have this block? */
extern bool sfx_map_says_free(Relation index, BlockNumber blkno);

/*
 * reclaim.c: put blocks that are free, and that nobody knows of, into the free space map; how many
 * free ones there are.  No lock is held, and none asked for; whatever happens meanwhile at most
 * leaves a block to the next time.
 */
extern BlockNumber sfx_reclaim_blocks(Relation index, const SfxOrder *order, BufferAccessStrategy strategy);

/*
 * Drop dictionaries that no leaf names any more (H2): looks at all blocks, if there are several.
 * Takes the merge lock for each that goes.
 */
extern void sfx_reclaim_dicts(Relation index, const SfxOrder *order, BufferAccessStrategy strategy);

#endif							/* SURFIDX_TREE_H */
