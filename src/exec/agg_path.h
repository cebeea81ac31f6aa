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

#endif							/* SURFIDX_AGG_PATH_H */
