/*-------------------------------------------------------------------------
 * count_tree.h - the exact number of a run's entries in a range
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNT_TREE_H
#define SURFIDX_COUNT_TREE_H

#include "meta.h"
#include "pos.h"

/*
 * The number of entries of a run in [*lo, *hi) (hi->key NULL: to the end).  It is exact if no group
 * has been written since meta was read (T6), and the run still exists, which the caller checks
 * afterwards; and if *exact, that is, if each cut leaf tells on which side of the bounds its keys
 * are, and no group was met that is newer.  The caller holds no lock.  Errors: damage.
 */
extern uint64 sfx_count_tree(Relation index, const SfxOrder *order, const SfxMeta *meta,
							 const SfxRun *run, const SfxPos *lo, const SfxPos *hi,
							 bool *exact);

/*
 * The same from *at on, over as many whole leaves as have no more than `most` entries together; of
 * the first and the last leaf those in the range count.  *at becomes the beginning of the leaf that
 * would be too many.  *all: there is none, and everything up to hi was counted; *at has no meaning
 * then.
 */
extern uint64 sfx_pass_tree(Relation index, const SfxOrder *order, const SfxMeta *meta,
							const SfxRun *run, SfxBoundBuf *at, const SfxPos *hi, uint64 most,
							bool *all, bool *exact);

#endif							/* SURFIDX_COUNT_TREE_H */
