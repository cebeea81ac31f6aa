/*-------------------------------------------------------------------------
 * touched.h - the leaves that a delta falls into
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_TOUCHED_H
#define SURFIDX_TOUCHED_H

#include "surfidx.h"
#include "inner.h"
#include "meta.h"
#include "order.h"

/* A leaf, as its parent has it, and how many entries the generation has.  False: no more. */
typedef bool (*SfxLeafVisit) (const SfxChild *leaf, uint64 entries, void *arg);

/*
 * Visit the leaves of the main tree that generation meta->gens[g] falls into, from left to right.
 * Returns how many entries that has; 0 also if its image cannot be had.  Merge lock held, meta read
 * under it.  A root that is a leaf is not visited.
 */
extern uint64 sfx_leaves_touched(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
								 SfxLeafVisit visit, void *arg);

#endif							/* SURFIDX_TOUCHED_H */
