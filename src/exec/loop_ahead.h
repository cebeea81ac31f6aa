/*-------------------------------------------------------------------------
 * loop_ahead.h - reading ahead of the inner side of nested loops
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOOP_AHEAD_H
#define SURFIDX_LOOP_AHEAD_H

#include "nodes/execnodes.h"

/*
 * A loop of a plan that is set up (plan_start.c), after the nodes below it.  limit: above the loop,
 * if each of its rows may be one that counts there, or NULL.
 */
extern void sfx_loop_ahead_look(NestLoopState *loop, LimitState *limit);

#endif							/* SURFIDX_LOOP_AHEAD_H */
