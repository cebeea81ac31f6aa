/*-------------------------------------------------------------------------
 * heat.h - how often leaves are read, for size_limit and size_budget
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_HEAT_H
#define SURFIDX_HEAT_H

#include "shared_area.h"

#define SFX_HEAT_MAX		24
#define SFX_HEAT_OF_KEYS	8	/* a visit that takes keys counts as so many others */

/*
 * sfx_heat_touch: note that the leaf was read, as if `times` times; has it become hotter?
 * sfx_heat_of: its heat.  Heat h stands for some 2^h visits; a leaf that was not read lately has 0,
 * as has every leaf without shared memory.
 * sfx_heat_is_cut: were its keys cut when its heat was noted?  False also if none was.
 * Both are hints: leaves may share a byte, and no lock is taken.
 */
extern bool sfx_heat_touch(Relation index, BlockNumber leaf, bool cut, int times);
extern int	sfx_heat_of(Relation index, BlockNumber leaf);
extern bool sfx_heat_is_cut(Relation index, BlockNumber leaf);

/* A leaf that was just written has this heat, not that of the block's last page. */
extern void sfx_heat_set(Relation index, BlockNumber leaf, bool cut, int heat);

/* Lower the leaf's heat by one, which halves its number of visits. */
extern void sfx_heat_age(Relation index, BlockNumber leaf);

extern const SfxSharedArea sfx_heat_area;

#endif							/* SURFIDX_HEAT_H */
