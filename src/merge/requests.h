/*-------------------------------------------------------------------------
 * requests.h - asking for merges in the background, and taking what was asked for
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_REQUESTS_H
#define SURFIDX_REQUESTS_H

#include "surfidx.h"
#include "shared_area.h"

/* Ask for a background merge of this index.  True if a worker is at it right now. */
extern bool sfx_request_merge(Relation index);

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
 * The next request of this database, those in turn behind the last one; InvalidOid, and the place
 * given up in the same breath, if there is none.  One that was served SFX_UNFINISHED comes again
 * behind the others, as does one that was asked for meanwhile: the worker may have looked before.
 * With *all the place is kept: there were requests without a place, so all indexes of the database
 * are to be looked at.
 */
extern Oid	sfx_requests_take(Oid db, SfxServed served, bool *all);

/* They are to be looked at once more. */
extern void sfx_requests_missed(void);

/* Does another index of this database wait for a worker? */
extern bool sfx_requests_wait(void);

/* The worker ends, and with it what it had taken. */
extern void sfx_requests_leave(void);

/* Whoever wants the database has our requests, too: they were only advice. */
extern void sfx_requests_forget(Oid db);

/* Two rows of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_requests_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_requests_area;

#endif							/* SURFIDX_REQUESTS_H */
