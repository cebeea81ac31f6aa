/*-------------------------------------------------------------------------
 * agg_tree.h - aggregates of a partitioned table, or one with heirs, by those of its tables
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_TREE_H
#define SURFIDX_AGG_TREE_H

#include "surfidx.h"

#include "nodes/pathnodes.h"

/* Offer it, to output.  extra: of the stage GROUP_AGG; NULL: DISTINCT. */
extern void sfx_agg_offer_tree(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
							   PathTarget *target, GroupPathExtraData *extra);

#endif							/* SURFIDX_AGG_TREE_H */
