/*-------------------------------------------------------------------------
 * plan_effects.h - does it matter when a part of a plan is asked for its next row?
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PLAN_EFFECTS_H
#define SURFIDX_PLAN_EFFECTS_H

#include "nodes/execnodes.h"

/*
 * May the rows of this node of a running plan not be fetched earlier than core would, or more of
 * them?  Looks at all nodes below and all their expressions, with a look-up for each function: ask
 * once in a query.
 */
extern bool sfx_plan_has_effects(PlanState *ps);

#endif							/* SURFIDX_PLAN_EFFECTS_H */
