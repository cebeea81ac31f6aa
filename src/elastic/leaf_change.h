/*-------------------------------------------------------------------------
 * leaf_change.h - making leaves of the main tree cut or whole: what leaf_keys.c (all leaves) and
 * leaf_limit.c (some leaves) share
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAF_CHANGE_H
#define SURFIDX_LEAF_CHANGE_H

#include "find.h"
#include "group.h"
#include "leaf_keys.h"
#include "pos.h"
#include "progress.h"

/* Leaves made whole in one record: they become several times as many. */
#define SFX_WHOLE_LEAVES	2
#define SFX_CUT_LEAVES		20	/* leaves cut in one record, if they fit; many, since the last page
								 * of the result is partly empty */

/* The state of a walk over leaves; begun by sfx_leaf_change_begin. */
typedef struct SfxLeafChange
{
	Relation	index;
	const SfxOrder *order;
	const SfxLeafManner *how;
	SfxBudgetShare share;		/* of size_budget */
	bool		cut;			/* leaves are to be cut; else to be whole */
	bool		optional;		/* a locked table ends the walk without an error */
	SfxPosBuf	pos;			/* where the next group begins */
	SfxKeptNode kept;
	MemoryContext cxt;			/* of a group; the caller resets it */
	bool		parted;			/* the group's first leaf was divided into several cut ones (W9) */
	uint64		written;		/* leaves written */
	uint64		changed;		/* leaves that became of the other kind */
	SfxProgress *progress;
} SfxLeafChange;

/*
 * Begin: set *c, with memory from the current context.  The caller sets c->progress.  End: free it,
 * and count the changed leaves in the index's activity; not *c itself.
 */
extern void sfx_leaf_change_begin(SfxLeafChange *c, Relation index, const SfxOrder *order,
								  const SfxLeafManner *how);
extern void sfx_leaf_change_end(SfxLeafChange *c);

/* Start at the first leaf, to make leaves cut or whole. */
extern void sfx_leaf_change_start(SfxLeafChange *c, bool cut);

/* The sum of the heat of the group's leaves [from, to). */
extern int	sfx_leaf_change_heat(const SfxLeafChange *c, const SfxGroup *g, int from, int to);

/*
 * Change those of the located group's leaves [g->from, end) that are of the other kind, in one
 * record.  Returns the number of leaves changed; -1: the table is locked, and c->optional.  On
 * return [g->from, g->to) is what was done; g->to may be less than end.  Merge lock held
 * (asserted).  Errors: as of sfx_group_rewrite.
 */
extern int	sfx_leaf_change_group(SfxLeafChange *c, SfxGroup *g, int end);

/*
 * Move c->pos to the end of the group, or back to a leaf that was divided; false: the group was the
 * last one.
 */
extern bool sfx_leaf_change_next(SfxLeafChange *c, const SfxGroup *g);

#endif							/* SURFIDX_LEAF_CHANGE_H */
