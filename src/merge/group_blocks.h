/*-------------------------------------------------------------------------
 * group_blocks.h - how many blocks the record of a group takes
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_GROUP_BLOCKS_H
#define SURFIDX_GROUP_BLOCKS_H

#include "find.h"
#include "group.h"
#include "swap.h"

/*
 * An upper bound of the blocks in the record that replaces the group's leaves with leaf[0..n) and
 * unlinks that many filters.
 */
extern int	sfx_group_blocks(const SfxGroup *g, const SfxNewLeaf *leaf, int n, int filters);

#endif							/* SURFIDX_GROUP_BLOCKS_H */
