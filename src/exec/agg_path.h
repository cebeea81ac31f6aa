/*-------------------------------------------------------------------------
 * agg_path.h - aggregates computed by the index: offering them to the planner
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_PATH_H
#define SURFIDX_AGG_PATH_H

/* At preload: install hooks. */
extern void sfx_agg_init(void);

#endif							/* SURFIDX_AGG_PATH_H */
