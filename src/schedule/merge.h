/*-------------------------------------------------------------------------
 * merge.h - moving deltas and runs into older trees
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_H
#define SURFIDX_MERGE_H

#include "surfidx.h"
#include "dead_rows.h"

#include "access/genam.h"

/*
 * Freeze what there is and merge all of the delta and all runs into the main tree, group by group,
 * taking the merge lock per group.  Returns entries merged, those of runs included.
 */
extern uint64 sfx_merge_all(Relation index);

/*
 * Merge the delta to where it costs least, and then, if asked, runs that are due; gives up as soon
 * as the merge lock is busy.
 */
extern uint64 sfx_merge_delta(Relation index, bool runs);

/*
 * As sfx_merge_delta with runs, for VACUUM (V6).  active: else only of what another merge has
 * begun.  dead: entries with such TIDs are left out of all that is rewritten, and counted in
 * *removed; NULL: nothing is.
 */
extern uint64 sfx_merge_for_vacuum(Relation index, bool active, SfxDeadAmong dead,
								   void *arg, double *removed);

/*
 * Merge so many groups of a run that is due, if the merge lock is free: for inserters, where there
 * is no worker.
 */
extern uint64 sfx_merge_run_slice(Relation index, int groups);

/*
 * As sfx_merge_delta, and runs that are due, stopping as soon as somebody waits for the caller's
 * SFX_WORKER_LOCK on the index.
 */
extern uint64 sfx_merge_politely(Relation index);

#endif							/* SURFIDX_MERGE_H */
