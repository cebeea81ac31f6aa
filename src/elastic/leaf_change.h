/*-------------------------------------------------------------------------
 * leaf_change.h - leaves of the main tree become cut, or whole: what leaf_keys.c (all of them) and
 * leaf_limit.c (some of them) share
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAF_CHANGE_H
#define SURFIDX_LEAF_CHANGE_H

#include "surfidx.h"
#include "find.h"
#include "group.h"
#include "leaf_keys.h"
#include "meta.h"
#include "pos.h"
#include "progress.h"
#include "stats.h"

/* Leaves whose keys are looked up at once: they become several times as many. */
#define SFX_WHOLE_LEAVES	2
#define SFX_CUT_LEAVES		20	/* cut at once, if they fit one record: the last page of what
								 * becomes of them is not full */

typedef struct SfxLeafChange
{
	Relation	index;
	const SfxOrder *order;
	const SfxLeafManner *how;
	bool		cut;			/* leaves are to be cut, or to be whole */
	bool		optional;		/* a table that is locked is no error */
	SfxPosBuf	pos;			/* of the group to come */
	SfxKeptNode kept;
	MemoryContext cxt;			/* of a group */
	bool		parted;			/* the group's first leaf is several now, still cut */
	uint64		written;		/* leaves */
	uint64		changed;		/* leaves that became of the other kind */
	SfxProgress *progress;
} SfxLeafChange;

/* Memory: the current context. */
extern void sfx_leaf_change_begin(SfxLeafChange *c, Relation index, const SfxOrder *order,
								  const SfxLeafManner *how);
extern void sfx_leaf_change_end(SfxLeafChange *c);

/* From the beginning of the tree, to cut leaves or to have them whole. */
extern void sfx_leaf_change_start(SfxLeafChange *c, bool cut);

/*
 * Change those of the located group's leaves [from, end) that are of the other kind.  Merge lock
 * held.  Where the group ends then in *g, which may be before end.
 * -1: the table is locked, and the change optional.  Leaves that changed.
 */
extern int	sfx_leaf_change_group(SfxLeafChange *c, SfxGroup *g, int end);

/* On to what is behind the group, or to what became of a leaf; false: it was the last one. */
extern bool sfx_leaf_change_next(SfxLeafChange *c, const SfxGroup *g);

#endif							/* SURFIDX_LEAF_CHANGE_H */
