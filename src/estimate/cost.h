/*-------------------------------------------------------------------------
 * cost.h - costs
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COST_H
#define SURFIDX_COST_H

extern void sfx_cost_init(void);	/* installs a planner hook */

/* Ours?  By the function: the access method may have been created under any name. */
extern bool sfx_is_our_info(const struct IndexOptInfo *info);

/* amcostestimate. */
extern void sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
							 Selectivity *selectivity, double *correlation, double *pages);

#endif							/* SURFIDX_COST_H */
