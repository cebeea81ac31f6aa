/*-------------------------------------------------------------------------
 * cost.h - costs
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COST_H
#define SURFIDX_COST_H

#include "surfidx.h"

/* amcostestimate. */
extern void sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
							 Selectivity *selectivity, double *correlation, double *pages);

#endif							/* SURFIDX_COST_H */
