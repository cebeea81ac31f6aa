/*-------------------------------------------------------------------------
 * count_delta.h - the exact number of a generation's entries in a range
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNT_DELTA_H
#define SURFIDX_COUNT_DELTA_H

#include "meta.h"
#include "pos.h"

/*
 * Add to *n the entries of generation meta->gens[g] in [*lo, *hi) (hi->key NULL: to the end).
 * False: the generation is gone.  The caller holds no lock.  Errors: K4.
 */
extern bool sfx_count_delta(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
							const SfxPos *lo, const SfxPos *hi, uint64 *n);

#endif							/* SURFIDX_COUNT_DELTA_H */
