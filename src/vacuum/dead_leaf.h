/*-------------------------------------------------------------------------
 * dead_leaf.h - rewriting a leaf without entries that a reader found dead (X3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_LEAF_H
#define SURFIDX_DEAD_LEAF_H

#include "surfidx.h"
#include "leaf.h"

/*
 * A reader has found many entries of the main tree's leaf that holds pos dead, those with
 * tids[0..n).  Rewrite the leaf without those that the heap confirms; unless they are too few to be
 * worth it, or another backend holds the merge lock.  Does nothing in recovery, in parallel mode,
 * or if this backend holds the merge lock.  The caller holds no LWLock; heap is its open table.
 * tids is overwritten.  An error becomes a warning (M10).
 */
extern void sfx_dead_clean_leaf(Relation index, Relation heap, const SfxOrder *order, const SfxPos *pos,
								uint64 *tids, int n);

#endif							/* SURFIDX_DEAD_LEAF_H */
