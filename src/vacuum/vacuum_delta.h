/*-------------------------------------------------------------------------
 * vacuum_delta.h - does VACUUM merge the delta? (V6)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VACUUM_DELTA_H
#define SURFIDX_VACUUM_DELTA_H

#include "surfidx.h"
#include "order.h"

/* Is this leaf of the main tree, which VACUUM has not been to, written by it in any case? */
typedef bool (*SfxLeafAsk) (const SfxMeta *meta, BlockNumber blkno, void *arg);

/*
 * Is the delta's merge due, or does it write few leaves beside those that VACUUM writes?  ask is
 * NULL where VACUUM writes none.
 */
extern bool sfx_vacuum_merges(Relation index, const SfxOrder *order, SfxLeafAsk ask, void *arg);

#endif							/* SURFIDX_VACUUM_DELTA_H */
