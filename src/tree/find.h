/*-------------------------------------------------------------------------
 * find.h - finding pages of trees by position, and what this backend remembers of trees
 *
 * Callers hold no lock: they get pages share-locked, one at a time, and release them.  What changes
 * trees is in swap.h and shrink.h.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_FIND_H
#define SURFIDX_FIND_H

#include "horizon.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"
#include "pos.h"
#include "state.h"
#include "upper.h"
#include "wal.h"

/*
 * A run's tree, as a metapage has it.  Readers change nothing of *meta.  A writer holds the merge
 * lock, has read *meta under it, and finds *meta changed after a swap.
 */
typedef struct SfxTree
{
	Relation	index;
	const SfxOrder *order;
	SfxMeta    *meta;
	uint32		run;			/* its id */
} SfxTree;

/* A tree for one call, or for the block around it. */
#define SfxTreeOf(index, order, meta, run) \
	(&(SfxTree) {(index), (order), (SfxMeta *) (meta), (run)})

/*
 * List the leaves of the run from the one that holds pos (before: the positions just below pos), to
 * the right (before: to the left): as many of the n wanted as one parent names.  By meta its root is
 * no leaf.  Returns how many; 0: the run was dropped, or its root is a leaf by now.  What these
 * blocks hold by now is not certain.
 */
extern int	sfx_tree_leaves_from(const SfxTree *t, const SfxPos *pos, bool before,
								 BlockNumber *blkno, int n);

/*
 * The fences of a leaf of the run, as sfx_leaf_fences tells them.  False: what this block holds by
 * now is something else.
 */
extern bool sfx_tree_leaf_fences(const SfxTree *t, BlockNumber blkno, uint8 *lowbuf, SfxPos *low,
								 uint8 *highbuf, SfxPos *high, bool *inf);

/*
 * The page of that level (0 = leaf) of the run whose interval holds pos, share-locked.  before: the
 * page that holds the positions just below pos; then pos->key NULL means plus infinity.  Starts
 * from meta's root; if the tree has changed since meta was read, from a fresh metapage.
 * InvalidBuffer: the run was dropped (never under the merge lock, and never the main tree).  The
 * caller holds no page lock.
 */
extern Buffer sfx_tree_find(const SfxTree *t, const SfxPos *pos, bool before, int level);

/* The same for leaves, opened in *leaf, which is valid while the page is locked. */
extern Buffer sfx_tree_find_leaf(const SfxTree *t, const SfxPos *pos, bool before, SfxLeaf *leaf);

/* ---- root_copy.c: this backend's decoded copies of roots ---- */

/*
 * By a copy of meta's root, the page that leads to pos, *levels below that root;
 * InvalidBlockNumber: there is no copy.  The root must not be a leaf.  *place: between which
 * separators of the copy pos is, valid until the next descent begins.
 */
extern BlockNumber sfx_cache_descend(Relation index, const SfxMeta *meta, const SfxOrder *order,
									 const SfxPos *pos, bool before, int *levels,
									 SfxUpperPlace *place);

/* A descent has gone through the root, which is locked: it is copied if that is worth it by now. */
extern void sfx_cache_offer(Relation index, const SfxMeta *meta, const SfxInner *root);

/*
 * A descent is about to begin: would it pay to copy the level below the root, too?  True at most
 * once for a copy; then sfx_cache_offer_below may be given all pages of that level, from left to
 * right, none of which names filters.
 */
#define SFX_CACHE_BELOW		8	/* pages of that level, at most */
extern bool sfx_cache_wants_below(Relation index, const SfxMeta *meta);
extern void sfx_cache_offer_below(Relation index, const SfxMeta *meta, const SfxInner *pages,
								  int n);

/*
 * One key was looked for by its bytes in a leaf to which the copy led (B5).  told: that said
 * whether the key is there.  Where it seldom does the copy recommends it no more
 * (SfxUpperPlace.bytewise).
 */
extern void sfx_cache_tried_bytes(Relation index, const SfxMeta *meta, bool told);

/*
 * sfx_cache_lagged: the copy led to a page from which the descent had to go right.
 * sfx_cache_forget: it led to a page that was of no use; the copy is dropped.
 */
extern void sfx_cache_lagged(Relation index, const SfxMeta *meta);
extern void sfx_cache_forget(Relation index, const SfxMeta *meta);

/*
 * tree_end.c, where main trees end.  Do all entries of the main tree certainly stand before pos?
 * meta: as read for R1 of the step that asks.
 */
extern bool sfx_last_before(Relation index, const SfxMeta *meta, const SfxOrder *order,
							const SfxPos *pos);

/*
 * The last leaf had nothing for the caller.  True: its last entry is worth being noted, and the
 * caller calls sfx_last_note next, with that entry, or with a position that no entry of the leaf is
 * above.
 */
extern bool sfx_last_wanted(Relation index, const SfxMeta *meta);
extern void sfx_last_note(Relation index, const SfxMeta *meta, const SfxEntry *e);

/*
 * tree_passed.c, what of main trees is dead to all snapshots; byte order only.  True: all that the
 * main tree has from pos up to *to is dead, and the caller may go on at *to.  meta: as read for R1
 * of the step that asks.  key: room for SFX_PASSED_KEY bytes, in which the key of *to stands.
 */
#define SFX_PASSED_KEY	64
extern bool sfx_passed_until(Relation index, const SfxMeta *meta, const SfxPos *pos, SfxPos *to,
							 uint8 *key);

/*
 * Note that each entry that the main tree has in [from, to) leads to a row that is dead to all
 * snapshots, as n entries were found to.  They were read after an R1 that found this state.
 */
extern void sfx_passed_note(Relation index, const SfxState *state, const SfxPos *from,
							const SfxPos *to, int n);

/*
 * The same of single TIDs, in any order of keys and all trees.  sfx_passed_note_tid: the entry of
 * that TID in that leaf, read after an R1 that found this state, is of a row that is dead to all
 * snapshots.  sfx_passed_tids: which of these TIDs of a leaf, read after an R1 that found this
 * state, are known to be of such rows; their bits are set.  False: none, and bits may not be set.
 */
extern void sfx_passed_note_tid(Relation index, const SfxState *state, BlockNumber leaf,
								uint64 tid);
extern bool sfx_passed_tids(Relation index, const SfxState *state, BlockNumber leaf,
							const uint64 *tids, int n, uint64 *bits);

/*
 * A reader that wants the leaf of a position only for entries in a range has the filter over that
 * leaf asked first.  The first five members are the question, the others the answer.
 */
typedef struct SfxFilterProbe
{
	const SfxPos *lo;			/* the range */
	const SfxPos *hi;			/* [lo, hi), NULL: to the end */
	const uint8 *key;			/* the only key of the range; NULL: there may be several */
	uint32		keylen;
	bool		no_leaf;		/* the leaf is not wanted if there is a filter */
	bool		asked;			/* there is a filter, and it can answer */
	bool		keys_only;		/* there is one, of a kind that cannot answer for ranges */
	bool		absent;			/* it says no: no entry between pos and the fence, in the direction
								 * of the search, is in the range */
	bool		fence_inf;		/* the fence is plus infinity */
	SfxPos		fence;			/* its key is in fence_buf */
	uint8		fence_buf[SFX_MAX_ENTRY];
} SfxFilterProbe;

/*
 * As sfx_tree_find_leaf; but InvalidBuffer, with the answer in *probe, where a filter has made the
 * leaf unnecessary (sfx_filter_answered), or the run was dropped.
 */
extern Buffer sfx_tree_probe(const SfxTree *t, const SfxPos *pos, bool before, SfxLeaf *leaf,
							 SfxFilterProbe *probe);

/* Has a filter made the leaf unnecessary? */
static inline bool
sfx_filter_answered(const SfxFilterProbe *probe)
{
	return probe->asked && (probe->absent || probe->no_leaf);
}

/*
 * Copy one leaf page of a run, and open the copy.  copy: BLCKSZ bytes, MAXALIGNed.  strategy may be
 * NULL.  ERROR if the block is no leaf of the run: the caller holds the merge lock, or knows the
 * block otherwise.
 */
extern void sfx_leaf_copy(const SfxTree *t, BlockNumber blkno, BufferAccessStrategy strategy,
						  char *copy, SfxLeaf *leaf);

/* A writer's copy of an inner page, decoded.  Memory: the context that was current. */
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
	struct SfxKeptNode *kept;	/* the kept node that this is a copy of; NULL: none */
} SfxNode;

/*
 * Copy the inner page of that level that holds pos.  The copy may be outdated at once.  False: the
 * run is gone.
 */
extern bool sfx_tree_try_load(const SfxTree *t, const SfxPos *pos, int level, SfxNode *node);

/* The same for writers.  Merge lock held. */
extern void sfx_tree_load(const SfxTree *t, const SfxPos *pos, int level, SfxNode *node);

/*
 * Call visit for each downlink in the pages of that level (1 or higher) of a run, from left to
 * right, with memory that is reset after each page.  No page is locked meanwhile: others may change
 * those to come.  No downlinks if by t->meta the root is below that level.  False: the run is gone,
 * or has lost that level.
 */
typedef void (*SfxChildVisit) (const SfxTree *t, const SfxChild *child, void *arg);
extern bool sfx_tree_children(const SfxTree *t, int level, SfxChildVisit visit, void *arg);

/* As an SfxChildFn: copies the child, with its fence, to children, an array of SfxChild. */
extern int	sfx_child_copy(void *children, int i, const SfxChild *child);

/* Copy the inner page in buf, which is locked, then unlock and release it. */
extern void sfx_tree_load_page(Relation index, const SfxOrder *order, Buffer buf, SfxNode *node);

/* ---- parent_copy.c: a writer's copy of a parent of leaves, from group to group ---- */

typedef struct SfxKeptNode
{
	MemoryContext cxt;			/* the node's memory */
	bool		valid;
	bool		by_bytes;		/* comparator order: it was found by the bytes of a fence (K4) */
	SfxNode		node;			/* its run and block stay even if it is not valid any more */
	SfxChild   *outdated;		/* its children before the last change */
	char	   *page;			/* the page that it was made of, or that it becomes by the next
								 * swap */
} SfxKeptNode;

/* Begin and end the keeping.  Memory: the current context. */
extern void sfx_kept_init(SfxKeptNode *kept);
extern void sfx_kept_end(SfxKeptNode *kept);

/*
 * As sfx_tree_load at level 1.  True: *node is that of last time, as sfx_tree_swap has left it.
 * *node is valid until the next call.
 */
extern bool sfx_kept_load(SfxKeptNode *kept, const SfxTree *t, const SfxPos *pos, SfxNode *node);

/*
 * Comparator order: do the fences of the pages on the way to pos ascend, on all levels?  Then
 * comparisons that lead there can be trusted (K4).  Merge lock held.  Memory: the current context.
 */
extern bool sfx_way_ascends(const SfxTree *t, const SfxPos *pos);

/*
 * Make the kept node what a swap has made of its page: children [from, to) replaced by repl[0..n),
 * with this new body.
 */
extern void sfx_kept_replace(SfxKeptNode *kept, int from, int to, const SfxChild *repl, int n, const uint8 *body, uint32 len);

/* Forget the kept node: a swap has made several pages of it. */
extern void sfx_kept_forget(SfxKeptNode *kept);

/*
 * Is this page, which is locked or a copy, one of that run's tree at that level?  ERROR if it is
 * damaged.
 */
extern bool sfx_tree_page_is(Relation index, BlockNumber blkno, Page page, const SfxMeta *meta, uint32 run, int level);

#endif							/* SURFIDX_FIND_H */
