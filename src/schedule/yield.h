/*-------------------------------------------------------------------------
 * yield.h - background work gives way to sessions, and is throttled
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_YIELD_H
#define SURFIDX_YIELD_H

#include "progress.h"

/*
 * A worker's lock on an index.  It conflicts with no lock that reading, writing or VACUUM takes on
 * an index.  A weaker lock may be a fast-path lock, which LockHasWaitersRelation cannot examine (it
 * crashes).
 */
#define SFX_WORKER_LOCK	ShareUpdateExclusiveLock

/* Has another session locked this database, to drop or to copy it?  Needs a transaction. */
extern bool sfx_database_is_wanted(void);

/*
 * Must a worker that holds SFX_WORKER_LOCK on the index give up, since another session waits for a
 * lock on the index, or wants the database?  Needs a transaction; invalidates the catalog snapshot.
 */
extern bool sfx_worker_is_in_the_way(Relation index);

/*
 * For a worker between two groups: charge it for the pages that it has read and written, as VACUUM
 * does, and sleep if the limit is reached; but not if the delta is so large that inserters would
 * have to merge.  Workers share one limit.  The phase in *p is SFX_PROGRESS_SLEEP meanwhile.  No
 * LWLock is held (asserted).
 */
extern void sfx_worker_pay(Relation index, SfxProgress *p);

#endif							/* SURFIDX_YIELD_H */
