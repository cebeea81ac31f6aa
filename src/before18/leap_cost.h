/*-------------------------------------------------------------------------
 * leap_cost.h - the price of scans that leap over values of columns without an equality, before 18
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAP_COST_H
#define SURFIDX_LEAP_COST_H

#include "surfidx.h"

/* Lower *total, and *pages with it, to what the path costs if its scan leaps. */
extern void sfx_leap_costs(PlannerInfo *root, IndexPath *path, double loop_count, Cost *total,
						   double *pages);

#endif							/* SURFIDX_LEAP_COST_H */
