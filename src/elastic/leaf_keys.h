/*-------------------------------------------------------------------------
 * leaf_keys.h - the main tree's leaves get what the storage parameters keys and size_limit ask for
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAF_KEYS_H
#define SURFIDX_LEAF_KEYS_H

#include "surfidx.h"
#include "progress.h"

/* How whoever changes leaves gets along with others. */
typedef struct SfxLeafManner
{
	bool		(*go_on) (Relation index, SfxProgress *p);	/* before each group, no lock held;
															 * false: no more of it */
	bool		wait;			/* for the merge lock; else that ends it, too */
} SfxLeafManner;

/*
 * Cut the keys of leaves, or recover them, if the main tree has leaves of another kind than the
 * storage parameters want.  Takes the merge lock per group.  Leaves written.
 */
extern uint64 sfx_change_leaf_keys(Relation index, const SfxOrder *order, const SfxLeafManner *how);

/* The same, where it is for size_limit: those of keys may wait. */
extern uint64 sfx_keep_size_limit(Relation index, const SfxOrder *order, const SfxLeafManner *how);

#endif							/* SURFIDX_LEAF_KEYS_H */
