/*-------------------------------------------------------------------------
 * requests.h - asking for merges in the background, and serving these requests
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_REQUESTS_H
#define SURFIDX_REQUESTS_H

#include "shared_area.h"

#include "utils/timestamp.h"

/*
 * Ask for a background merge of this index.  pressing: it was asked for before, and a worker had
 * time to come, so one more may be started.  Returns whether a worker serves the index right now.
 * False also if no worker can serve it.  No LWLock is held (asserted).
 */
extern bool sfx_request_merge(Relation index, bool pressing);

/*
 * For a reader that has met an idle delta (sfx_image_idle): ask for a merge if one is possible.
 * The caller holds pins, but no lock.
 */
extern void sfx_request_idle(Relation index);

/*
 * Can only this session merge the index, because it is temporary, or because this transaction has
 * made it or holds a lock on it that keeps a worker out?
 */
extern bool sfx_request_shut_out(Relation index);

/* ---- for the worker ---- */

/* How the request that was taken last was served. */
typedef enum SfxServed
{
	SFX_SERVED,
	SFX_UNFINISHED,				/* there was time for a part of it only */
	SFX_IN_VAIN					/* it was not possible */
} SfxServed;

/*
 * This process is the worker that was started for that slot and database.  False: it came too late,
 * and another one was started; it must end.
 */
extern bool sfx_requests_serve(Oid db, int slot);

/*
 * Waits for a moment, until the latch is set or another session wants the database.  False: the
 * worker has lingered long enough since `since`, or must end.  Called without lock and transaction.
 */
typedef bool (*SfxPause) (TimestampTz since);

/*
 * Report how the current index was served, and take the next request of this database, in turn, for
 * an index that no other worker serves.  InvalidOid if there is none, or if another database waits
 * for a slot; then the slot is given up in the same hold of the lock (M14).
 *
 * If there are no requests, `pause` (NULL: none) is called repeatedly before the slot is given up,
 * until there is a request, or pause returns false, or another database waits (M17).
 *
 * A request that was served SFX_UNFINISHED is entered again, and comes after the others; so does
 * one that was made while its index was served, since this worker may have looked before.
 *
 * *all: there were requests without a slot, so the worker is to look at all indexes of the
 * database, and keeps its slot (M13).
 */
extern Oid	sfx_requests_take(SfxServed served, SfxPause pause, bool *all);

/*
 * For a worker that looks at all indexes, before each: report how the previous one was served, and
 * claim this one.  False: another worker serves it.
 */
extern bool sfx_requests_claim(Oid index, SfxServed served);

/*
 * Must the merge of a run give way?  Yes if an index of this database waits that no worker serves;
 * with `others` also if a database without a worker waits because the number of workers is at its
 * limit (M12).
 */
extern bool sfx_requests_wait(bool others);

/* Merge workers of the server that are at work, or about to start: not those that linger. */
extern int	sfx_requests_workers(void);

/*
 * The worker ends.  orderly: its slot goes to a database that waits for one, whose worker is started
 * here, so the process is not exiting yet.  Otherwise what it served is left to other workers of its
 * database.  Nothing happens after the first call.
 */
extern void sfx_requests_leave(bool orderly);

/*
 * Drop all requests of this database, which another session wants for itself; requests are only
 * advice.
 */
extern void sfx_requests_forget(Oid db);

/* Two rows of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_requests_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_requests_area;

#endif							/* SURFIDX_REQUESTS_H */
