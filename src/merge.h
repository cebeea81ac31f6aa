/*-------------------------------------------------------------------------
 * merge.h - the merge, its lock, its triggers and its worker
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_H
#define SURFIDX_MERGE_H

#include "surfidx.h"

/* The merge lock: whoever holds it is the single writer of the main tree. Transaction-scoped. */
extern void sfx_merge_lock(Relation index);
extern bool sfx_merge_trylock(Relation index);
extern void sfx_merge_unlock(Relation index);
extern bool sfx_merge_lock_held(Relation index);	/* by this backend */

/* Called when the log grew by a page, holding no lock: wakes the worker or helps where a merge is due (policy.c). */
extern void sfx_merge_pressure(Relation index);
/* Is a merge due, or at least worth its cost?  The worker asks before it merges. */
extern bool sfx_merge_due(Relation index);

/*
 * Freeze what there is and merge every frozen generation into the main tree, group by group, taking the merge
 * lock per group.  With wait = false gives up as soon as the lock is busy.  Returns entries merged.
 */
extern uint64 sfx_merge_all(Relation index, bool wait);

/* The same without waiting, stopping as soon as somebody waits for the caller's RowExclusiveLock on the index. */
extern uint64 sfx_merge_politely(Relation index);

/* Open an index that a function was given; ERROR (WRONG_OBJECT_TYPE) unless it is a surfidx index. */
extern Relation sfx_open_index(Oid relid, LOCKMODE lockmode);

/*
 * The worker's lock on an index.  Weaker ones may be fast-path locks, which LockHasWaitersRelation cannot
 * look at (it crashes); this one conflicts with none that reading, writing or VACUUM takes on an index.
 */
#define SFX_WORKER_LOCK	ShareUpdateExclusiveLock

/* Has somebody locked this database, to drop it or to copy it?  Needs a transaction. */
extern bool sfx_database_is_wanted(void);

/* Ask for a background merge of this index (worker.c).  True if a worker is at it right now. */
extern bool sfx_worker_request(Relation index);
extern Size sfx_worker_shmem_size(void);
extern void sfx_worker_shmem_startup(void);
extern Size sfx_image_shmem_size(void);
extern void sfx_image_shmem_startup(void);

#endif							/* SURFIDX_MERGE_H */
