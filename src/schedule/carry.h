/*-------------------------------------------------------------------------
 * carry.h - entries that stay in the delta although it is merged
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CARRY_H
#define SURFIDX_CARRY_H

#include "surfidx.h"
#include "leaf.h"
#include "meta.h"
#include "rewrite.h"

typedef struct SfxCarry SfxCarry;

/* Carry over what of a frozen generation is read often.  Memory: the current context. */
extern SfxCarry *sfx_carry_begin(Relation index, const SfxOrder *order);

/*
 * Go on with generation meta->gens[g], a little; false at the end.  Merge lock held, meta read
 * under it.
 */
extern bool sfx_carry_step(SfxCarry *c, const SfxMeta *meta, int g);
extern void sfx_carry_end(SfxCarry *c);

#endif							/* SURFIDX_CARRY_H */
