/*-------------------------------------------------------------------------
 * yield.h - when background work gives way
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_YIELD_H
#define SURFIDX_YIELD_H

#include "surfidx.h"

/*
 * The worker's lock on an index.  Weaker ones may be fast-path locks, which LockHasWaitersRelation
 * cannot look at (it crashes); this one conflicts with none that reading, writing or VACUUM takes
 * on an index.
 */
#define SFX_WORKER_LOCK	ShareUpdateExclusiveLock
/* Has somebody locked this database, to drop it or to copy it?  Needs a transaction. */
extern bool sfx_database_is_wanted(void);

/* Is a worker that holds that lock in somebody's way? */
extern bool sfx_worker_is_in_the_way(Relation index);

#endif							/* SURFIDX_YIELD_H */
