/*-------------------------------------------------------------------------
 * vacuum_delta.h - whether VACUUM merges the delta (V6)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VACUUM_DELTA_H
#define SURFIDX_VACUUM_DELTA_H

#include "meta.h"

/*
 * Does VACUUM write this leaf of the main tree, which it has not yet visited, in any case?  Merge
 * lock held, meta read under it.
 */
typedef bool (*SfxLeafAsk) (const SfxMeta *meta, BlockNumber blkno, void *arg);

/*
 * Is the merge of the delta due, or does it write few leaves beside those that VACUUM writes
 * anyway? ask(arg) tells which these are; NULL: VACUUM writes none.  Tries the merge lock; if that
 * is busy, only a merge that is due counts.
 */
extern bool sfx_vacuum_merges(Relation index, const SfxOrder *order, SfxLeafAsk ask, void *arg);

#endif							/* SURFIDX_VACUUM_DELTA_H */
