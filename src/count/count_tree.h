/*-------------------------------------------------------------------------
 * count_tree.h - the exact number of a run's entries in a range
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNT_TREE_H
#define SURFIDX_COUNT_TREE_H

#include "surfidx.h"
#include "meta.h"

/*
 * The number of entries of a run in [*lo, *hi) (hi->key NULL: to the end).  It is exact if no group
 * has been written since meta was read (T6), and the run still exists, which the caller checks
 * afterwards; and if *exact, that is, if each cut leaf tells on which side of the bounds its keys
 * are.  The caller holds no lock.  Errors: damage.
 */
extern uint64 sfx_count_tree(Relation index, const SfxOrder *order, const SfxMeta *meta,
							 const SfxRun *run, const SfxPos *lo, const SfxPos *hi,
							 bool *exact);

#endif							/* SURFIDX_COUNT_TREE_H */
