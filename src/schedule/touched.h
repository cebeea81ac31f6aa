/*-------------------------------------------------------------------------
 * touched.h - the leaves into which a delta falls
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_TOUCHED_H
#define SURFIDX_TOUCHED_H

#include "surfidx.h"
#include "inner.h"
#include "meta.h"
#include "order.h"

/*
 * Called with a leaf, as its parent has it, and the number of the generation's entries.  False ends
 * the walk.
 */
typedef bool (*SfxLeafVisit) (const SfxChild *leaf, uint64 entries, void *arg);

/*
 * Visit the leaves of the main tree into which entries of generation meta->gens[g] fall, from left
 * to right; none, if the root is a leaf.  Returns the number of the generation's entries; 0 also if
 * its image is not available.  Merge lock held (asserted), meta read under it.
 */
extern uint64 sfx_leaves_touched(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
								 SfxLeafVisit visit, void *arg);

#endif							/* SURFIDX_TOUCHED_H */
