/*-------------------------------------------------------------------------
 * agg_path.h - aggregates computed by the index: when the planner is offered them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_PATH_H
#define SURFIDX_AGG_PATH_H

#include "surfidx.h"

/* At preload; settings before that. */
extern void sfx_agg_define_gucs(void);
extern void sfx_agg_init(void);

/*
 * An index's estimate is asked for: a path that may be the one to count by.  Called by
 * sfx_costestimate, whose results the others are.
 */
extern void sfx_agg_note_path(PlannerInfo *root, const IndexPath *path, Cost startup, Cost total,
							  Selectivity selectivity);

#endif							/* SURFIDX_AGG_PATH_H */
