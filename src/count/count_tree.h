/*-------------------------------------------------------------------------
 * count_tree.h - how many entries of a run lie in a range, exactly
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNT_TREE_H
#define SURFIDX_COUNT_TREE_H

#include "surfidx.h"
#include "meta.h"

/*
 * The entries of a run in [lo, hi) (hi->key NULL: to the end).  Right if nothing came into the run
 * since meta was read, nor was the run dropped, which is for the caller to see afterwards; and if
 * no bound is undecided beside the keys of a cut leaf (*exact).
 */
extern uint64 sfx_count_tree(Relation index, const SfxOrder *order, const SfxMeta *meta,
							 const SfxRun *run, const SfxPos *lo, const SfxPos *hi,
							 bool *exact);

#endif							/* SURFIDX_COUNT_TREE_H */
