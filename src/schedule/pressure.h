/*-------------------------------------------------------------------------
 * pressure.h - what inserters do when a merge is due or overdue
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PRESSURE_H
#define SURFIDX_PRESSURE_H

/*
 * Called by an inserter when its append added a page to the log.  Asks for a worker if a merge is
 * due; merges itself, or slows down, if the merge is overdue.  No LWLock is held (asserted).  A
 * merge that fails is a warning, except where no subtransaction may be begun (M10).
 */
extern void sfx_merge_pressure(Relation index);

#endif							/* SURFIDX_PRESSURE_H */
