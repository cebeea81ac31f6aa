/*-------------------------------------------------------------------------
 * plan_effects.h - does it matter when a part of a plan is asked for its next row?
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PLAN_EFFECTS_H
#define SURFIDX_PLAN_EFFECTS_H

/*
 * Would it make a difference if rows of this node of a running plan were fetched earlier than core
 * fetches them, or more rows?  Looks at all nodes below and all their expressions, and each
 * function's row of pg_proc: to be asked once in a query; in one with subqueries again after each
 * rescan, which may have made some run again.
 */
extern bool sfx_plan_has_effects(PlanState *ps);

#endif							/* SURFIDX_PLAN_EFFECTS_H */
