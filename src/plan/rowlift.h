/*-------------------------------------------------------------------------
 * rowlift.h - row comparisons, (a, b) > (1, 2), as conditions of an index before 18
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROWLIFT_H
#define SURFIDX_ROWLIFT_H

#include "surfidx.h"

#include "nodes/pathnodes.h"

/* At preload, on versions whose executor makes row comparisons for btree only. */
extern void sfx_rowlift_init(void);

/*
 * May the planner take an index of the query at hand for a btree, so that it makes row comparisons
 * its conditions?  Only if there are some, and if what it makes of them comes by here again.
 */
extern bool sfx_rowlift_offers(PlannerInfo *root);

#endif							/* SURFIDX_ROWLIFT_H */
