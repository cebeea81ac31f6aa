/*-------------------------------------------------------------------------
 * count.h - how many entries a range holds
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNT_H
#define SURFIDX_COUNT_H

#include "range.h"

/*
 * The exact number of entries of a range that is not empty.  In SERIALIZABLE transactions the
 * caller has locked it.  Errors: damage.
 */
extern uint64 sfx_count_exact(const SfxOpened *o, const SfxRange *range);

#endif							/* SURFIDX_COUNT_H */
