/*-------------------------------------------------------------------------
 * group.h - a group of neighboring leaves below one parent
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_GROUP_H
#define SURFIDX_GROUP_H

#include "find.h"
#include "horizon.h"
#include "stats.h"

/*
 * A group of neighboring leaves below one parent that one WAL record replaces (sfx_group_rewrite).
 * Valid while the merge lock is held under which it was located.
 */
typedef struct SfxGroup
{
	SfxTree		tree;
	bool		has_node;		/* false: the root is a leaf */
	SfxNode		node;			/* the parent */
	int			from;			/* children [from, to) */
	int			to;
	SfxPos		resume;			/* where work continues: the source's next entry, or the group's
								 * end */
	bool		resume_inf;		/* nowhere: the source, or the tree, has ended */
	SfxHorizon	horizon;		/* of entries that are dropped, except by VACUUM */
	bool		joined;			/* its first leaf was added by sfx_group_join_left */
	int			asked_to;		/* children before this one have been prefetched, if entries of the
								 * source fall into them */
	uint32		asked;			/* as in SfxMergeStats */
	uint32		reads_begun;
	bool		whole;			/* recover whole keys (set by the caller), or ... */
	bool		cut;			/* ... cut them; neither: new leaves are of the kind of the old
								 * ones (W8) */
	Relation	heap;			/* table to be asked about versions of rows (X5), or NULL; set by
								 * the caller after locating */
} SfxGroup;

#define SFX_GROUP_LEAVES	8	/* neighbors among which an overflow is spread; also VACUUM's
								 * stride */

/*
 * Set *group to the one leaf of tree t that holds pos.  Merge lock held (asserted), t->meta read
 * under it.  kept: remembers the parent for callers that locate many groups; may be NULL.  Heals a
 * parent of which its own parent does not know (T3).
 */
extern void sfx_group_locate(SfxGroup *group, const SfxTree *t, const SfxPos *pos,
							 SfxKeptNode *kept);

/*
 * Add the leaf to the left of a group that was just located, if that leaf is the last one that the
 * previous group wrote (stats) and much of it is empty.
 */
extern void sfx_group_join_left(SfxGroup *group, const SfxMergeStats *stats);

/* The block of child i, or of the root if that is a leaf. */
extern BlockNumber sfx_group_leaf(const SfxGroup *group, int i);

/* Has leaf i cut keys?  Reads the leaf. */
extern bool sfx_group_is_cut(const SfxGroup *group, int i);

/*
 * The group's low fence; its high fence, and that of any child of its parent (false: infinity).
 * They point into the group.
 */
extern SfxPos sfx_group_low(const SfxGroup *group);
extern bool sfx_group_high(const SfxGroup *group, SfxPos *high);
extern bool sfx_group_child_high(const SfxGroup *group, int child, SfxPos *high);

#endif							/* SURFIDX_GROUP_H */
