/*-------------------------------------------------------------------------
 * leap_cost.h - the cost of scans that leap over values of columns without an equality, before 18
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LEAP_COST_H
#define SURFIDX_LEAP_COST_H

/* Lower *total and *pages to the cost of the path if its scan leaps, if that is less. */
extern void sfx_leap_costs(PlannerInfo *root, IndexPath *path, double loop_count, Cost *total,
						   double *pages);

#endif							/* SURFIDX_LEAP_COST_H */
