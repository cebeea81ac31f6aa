/*-------------------------------------------------------------------------
 * agg_tree.h - aggregates of a partitioned table, or one with children, by those of its tables
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_TREE_H
#define SURFIDX_AGG_TREE_H

/* Add such paths to output.  extra: of the stage GROUP_AGG; NULL: the stage is DISTINCT. */
extern void sfx_agg_offer_tree(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
							   PathTarget *target, GroupPathExtraData *extra);

#endif							/* SURFIDX_AGG_TREE_H */
