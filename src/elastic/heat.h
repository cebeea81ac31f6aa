/*-------------------------------------------------------------------------
 * heat.h - which leaves are read, of indexes that want to know (storage parameter size_limit)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_HEAT_H
#define SURFIDX_HEAT_H

#include "surfidx.h"
#include "shared_area.h"

#define SFX_HEAT_MAX		24
#define SFX_HEAT_OF_KEYS	8	/* a visit that takes keys counts as so many others */

/*
 * Note that the leaf was read, as if `times` times; and its heat.  Heat h stands for some 2^h
 * visits; a cold leaf has 0, and so has every leaf where there is no shared memory.  A hint: other
 * leaves may share its place, and nothing is locked.
 */
extern void sfx_heat_touch(Relation index, BlockNumber leaf, int times);
extern int	sfx_heat_of(Relation index, BlockNumber leaf);

/* Lower the leaf's heat by one: half of its visits are forgotten. */
extern void sfx_heat_age(Relation index, BlockNumber leaf);

extern const SfxSharedArea sfx_heat_area;

#endif							/* SURFIDX_HEAT_H */
