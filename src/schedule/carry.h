/*-------------------------------------------------------------------------
 * carry.h - carrying entries that are read often over to the active generation
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CARRY_H
#define SURFIDX_CARRY_H

#include "meta.h"

typedef struct SfxCarry SfxCarry;

/*
 * Begin to carry over those entries of a frozen generation that are read often (M7).  The state is
 * in the current context; sfx_carry_end frees it.
 */
extern SfxCarry *sfx_carry_begin(Relation index, const SfxOrder *order);

/*
 * Continue with generation meta->gens[g], by a bounded number of entries; false at the end.  Merge
 * lock held (asserted), meta read under it.  No LWLock is held, since entries are appended to the
 * log.
 */
extern bool sfx_carry_step(SfxCarry *c, const SfxMeta *meta, int g);
extern void sfx_carry_end(SfxCarry *c);

#endif							/* SURFIDX_CARRY_H */
