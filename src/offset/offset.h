/*-------------------------------------------------------------------------
 * offset.h - the rows of OFFSET are passed over by the index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_OFFSET_H
#define SURFIDX_OFFSET_H

#include "nodes/execnodes.h"

/* A Limit of a plan that is set up (plan_start.c). */
extern void sfx_offset_look(LimitState *node);

/* At preload: install the planner's hooks. */
extern void sfx_offset_init(void);

#endif							/* SURFIDX_OFFSET_H */
