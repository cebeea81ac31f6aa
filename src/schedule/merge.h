/*-------------------------------------------------------------------------
 * merge.h - moving deltas and runs into older trees
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_H
#define SURFIDX_MERGE_H

#include "dead_rows.h"

/*
 * Freeze the active generation and merge the whole delta and all runs into the main tree, group by
 * group.  Waits for the merge lock before each group (M1).  Returns the number of entries merged,
 * those of runs included.
 *
 * All functions here raise the errors of a merge: damage, a locked table of cut leaves (W3), an
 * order that changed (K4).  The caller holds no LWLock and not the merge lock.
 */
extern uint64 sfx_merge_all(Relation index);

/*
 * Merge the delta to where it costs least and then, with `runs`, runs that are due.  Gives up as
 * soon as the merge lock is busy.
 */
extern uint64 sfx_merge_delta(Relation index, bool runs);

/*
 * Like sfx_merge_delta with runs, for VACUUM (V6).  active: merge the active generation as well,
 * not only those that are frozen.  dead: entries with such TIDs are left out of all leaves that are
 * rewritten, and their number is added to *removed; NULL: none are.
 */
extern uint64 sfx_merge_for_vacuum(Relation index, bool active, SfxDeadAmong dead,
								   void *arg, double *removed);

/*
 * Merge at most so many groups of a run that is due, if the merge lock is free: for inserters if no
 * worker serves the index.
 */
extern uint64 sfx_merge_run_slice(Relation index, int groups);

/*
 * For the worker: like sfx_merge_delta with runs, but ends as soon as another session waits for the
 * caller's SFX_WORKER_LOCK on the index, or wants the database.  why: a constant, as sfx_merge_due
 * returns it, for the server log.
 */
extern uint64 sfx_merge_politely(Relation index, const char *why);

#endif							/* SURFIDX_MERGE_H */
