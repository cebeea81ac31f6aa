/*-------------------------------------------------------------------------
 * group_blocks.h - how many blocks the record of a group takes
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_GROUP_BLOCKS_H
#define SURFIDX_GROUP_BLOCKS_H

#include "surfidx.h"
#include "find.h"
#include "group.h"

/*
 * The blocks that swapping the group's leaves for n new ones takes, at most, with as many filters
 * that go.
 */
extern int	sfx_group_blocks(const SfxGroup *g, const SfxNewLeaf *leaf, int n, int filters);

#endif							/* SURFIDX_GROUP_BLOCKS_H */
