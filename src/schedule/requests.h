/*-------------------------------------------------------------------------
 * requests.h - asking for merges in the background, and taking what was asked for
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_REQUESTS_H
#define SURFIDX_REQUESTS_H

#include "surfidx.h"
#include "shared_area.h"

#include "utils/timestamp.h"

/*
 * Ask for a background merge of this index.  pressing: it was asked for before, and a worker had
 * time to come, so one more may be started.  True if a worker is at it right now.  No lock held.
 */
extern bool sfx_request_merge(Relation index, bool pressing);

/*
 * A reader has met a delta to which nobody appends any more (sfx_image_idle); no lock held but
 * pins: asks for a merge, if anybody can make one.
 */
extern void sfx_request_idle(Relation index);

/*
 * Nobody but this session can merge the index: it is temporary, or our own transaction has made
 * it or holds a lock that keeps the worker out.
 */
extern bool sfx_request_shut_out(Relation index);

/* ---- for the worker ---- */

/* How the request that was taken last was served. */
typedef enum SfxServed
{
	SFX_SERVED,
	SFX_UNFINISHED,				/* there was time only for a part of it */
	SFX_IN_VAIN					/* nothing could be done for it */
} SfxServed;

/* We are the worker that was asked for in that place, for this database.  False: no more. */
extern bool sfx_requests_serve(Oid db, int slot);

/*
 * Waits for a moment, until somebody sets the latch, or asks for the database.  False: enough of
 * it, since then.  No lock held, no transaction.
 */
typedef bool (*SfxPause) (TimestampTz since);

/*
 * How the index that we are at was served, and which is next: of this database's requests, in turn,
 * one at which no other worker is.  InvalidOid, and the place given up in the same breath, if there
 * is none, or if another database waits for a place.  Before it gives up the place for want of
 * requests it calls pause (NULL: it does not), again and again, until there is one, or pause says
 * false, or another database waits (M17).  A request that was served SFX_UNFINISHED comes again
 * behind the others, as does one that was asked for meanwhile: we may have looked before.  With
 * *all the place is kept: there were requests without a place, so all indexes of the database are
 * to be looked at.
 */
extern Oid	sfx_requests_take(SfxServed served, SfxPause pause, bool *all);

/*
 * Then, before each of them: how the one before was served, and may we go to this one?  False:
 * another worker is at it.
 */
extern bool sfx_requests_claim(Oid index, SfxServed served);

/*
 * Does a run make way?  An index of this database waits at which no worker is; or, if others are
 * asked for, a database that has no worker because there are as many as there may be.
 */
extern bool sfx_requests_wait(bool others);

/* Merge workers of the server that are at work, or about to come: not those that linger. */
extern int	sfx_requests_workers(void);

/*
 * The worker ends.  Orderly: its place goes to a database that waits for one.  Else what it was at
 * is left to others of its database.
 */
extern void sfx_requests_leave(bool orderly);

/* Whoever wants the database has our requests, too: they were only advice. */
extern void sfx_requests_forget(Oid db);

/* Two rows of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_requests_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_requests_area;

#endif							/* SURFIDX_REQUESTS_H */
