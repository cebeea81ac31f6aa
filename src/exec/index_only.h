/*-------------------------------------------------------------------------
 * index_only.h - rows by block for core's index-only scans
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INDEX_ONLY_H
#define SURFIDX_INDEX_ONLY_H

/*
 * Begin the scan of an index-only scan's node, as core would at its first row.  False: it was begun
 * already; else it waits for its rescan.
 */
extern bool sfx_index_only_begin(IndexOnlyScanState *node);

/* A node of a plan that is set up (plan_start.c), before those below it. */
extern void sfx_index_only_look(PlanState *ps);

/* At preload. */
extern void sfx_index_only_define_gucs(void);

#endif							/* SURFIDX_INDEX_ONLY_H */
