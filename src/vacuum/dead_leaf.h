/*-------------------------------------------------------------------------
 * dead_leaf.h - a leaf is rewritten without the rows that a reader found dead
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_LEAF_H
#define SURFIDX_DEAD_LEAF_H

#include "surfidx.h"
#include "leaf.h"

/*
 * Many entries of the leaf that holds pos were found dead, by TID.  Rewrite it without those that
 * the heap confirms, unless they are too few for its cost or somebody else is writing the tree.
 * tids is scratch afterwards.
 */
extern void sfx_dead_clean_leaf(Relation index, Relation heap, const SfxOrder *order, const SfxPos *pos,
								uint64 *tids, int n);

#endif							/* SURFIDX_DEAD_LEAF_H */
