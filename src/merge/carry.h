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

/* May generation meta->gens[g] have entries of older ones? */
static inline bool
sfx_carried(const SfxMeta *meta, int g)
{
	return (meta->carried >> g & 1) != 0;
}

/* May a newer generation than meta->gens[g] have entries of it? */
static inline bool
sfx_carried_from(const SfxMeta *meta, int g)
{
	return (meta->carried & ((1 << g) - 1)) != 0;
}

/*
 * Take out of entry[0..n), which are of generation meta->gens[g] and ascending, those that a newer one has, too.  How many are left.  Merge lock
 * held, meta read under it.
 */
extern int	sfx_carry_leave_out(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *entry, int n);

typedef struct SfxCarry SfxCarry;

/* Carry over what of a frozen generation is read often.  Memory: the current context. */
extern SfxCarry *sfx_carry_begin(Relation index, const SfxOrder *order);
/* Go on with generation meta->gens[g], a little; false at the end.  Merge lock held, meta read under it. */
extern bool sfx_carry_step(SfxCarry *c, const SfxMeta *meta, int g);
extern void sfx_carry_end(SfxCarry *c);

#endif							/* SURFIDX_CARRY_H */
