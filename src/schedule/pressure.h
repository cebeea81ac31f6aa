/*-------------------------------------------------------------------------
 * pressure.h - what inserters do when a merge is due or overdue
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PRESSURE_H
#define SURFIDX_PRESSURE_H

#include "surfidx.h"

/*
 * Called when the log grew by a page, holding no lock: wakes the worker, or helps where a merge is
 * due and none comes.
 */
extern void sfx_merge_pressure(Relation index);

#endif							/* SURFIDX_PRESSURE_H */
