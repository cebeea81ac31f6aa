/*-------------------------------------------------------------------------
 * group.h - a group of neighbouring leaves below one parent
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_GROUP_H
#define SURFIDX_GROUP_H

#include "surfidx.h"
#include "find.h"
#include "horizon.h"
#include "meta.h"
#include "stats.h"

typedef struct SfxGroup
{
	SfxTree		tree;
	bool		has_node;		/* false: the root is a leaf */
	SfxNode		node;			/* the parent */
	int			from;			/* children [from, to) */
	int			to;
	SfxPos		resume;			/* where work goes on after the rewrite */
	bool		resume_inf;		/* nowhere */
	SfxHorizon	horizon;		/* of entries that are dropped, where it is not VACUUM who does it */
	bool		joined;			/* the first leaf has nothing to take */
	int			asked_to;		/* children in front of this one have been asked for, as far as the
								 * source falls into them */
	uint32		asked;			/* as in SfxMergeStats */
	uint32		reads_begun;
	bool		whole;			/* its keys are to be recovered (set by the caller), */
	bool		cut;			/* or cut; neither: its new leaves are as its old ones */
	Relation	heap;			/* to be asked about versions of rows; NULL: nobody is (the caller
								 * sets it after locating) */
} SfxGroup;

#define SFX_GROUP_LEAVES	8	/* neighbours that absorb an overflow, and VACUUM's stride */

/*
 * The group of the one leaf of that run that holds pos.  Merge lock held, meta read under it. kept:
 * for who has many groups; may be NULL.
 */
extern void sfx_group_locate(SfxGroup *group, const SfxTree *t, const SfxPos *pos,
							 SfxKeptNode *kept);

/*
 * Take in the leaf to the left, if it is the last one of the group before and much of it is empty.
 */
extern void sfx_group_join_left(SfxGroup *group, const SfxMergeStats *stats);

/* The block of child i; where the root is a leaf, its own. */
extern BlockNumber sfx_group_leaf(const SfxGroup *group, int i);

/* Has leaf i cut keys? */
extern bool sfx_group_is_cut(const SfxGroup *group, int i);

/* The group's fences: its low one, and its high one (false: infinity); the latter of any child. */
extern SfxPos sfx_group_low(const SfxGroup *group);
extern bool sfx_group_high(const SfxGroup *group, SfxPos *high);
extern bool sfx_group_child_high(const SfxGroup *group, int child, SfxPos *high);

#endif							/* SURFIDX_GROUP_H */
