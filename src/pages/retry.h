/*-------------------------------------------------------------------------
 * retry.h - repeating searches that concurrent changes have outrun
 *
 * A reader holds no lock from one page to the next.  Where the tree changes in between, a page is
 * not what the page before promised, and the search begins again.  A damaged page looks the same;
 * what tells them apart is a try during which nothing changes (T4).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RETRY_H
#define SURFIDX_RETRY_H

#include "access/xlogdefs.h"

/* The tries of one search.  Begins as {.index = index}. */
typedef struct SfxRetry
{
	Relation	index;
	int			tries;
	bool		quiet;			/* no other backend changes the tree: this one holds the merge
								 * lock, ... */
	bool		locked;			/* ... taken here */
	bool		recovery;		/* was this a standby at the last call, ... */
	XLogRecPtr	replayed;		/* ... and how far had replay come? */
} SfxRetry;

/*
 * A try has failed because of what it saw.  True: make another one, from the metapage on.  False:
 * nothing has changed during that try, so what it saw is damage, which the caller reports.
 *
 * The caller holds no LWLock, unless it holds the merge lock.  May wait for the merge lock.  On a
 * standby, where replay waits for no reader, an error ends the tries after a while.
 */
extern bool sfx_retry(SfxRetry *r);

/*
 * The last try was successful: release the merge lock, if sfx_retry has taken it.  The page found
 * may stay locked.
 */
extern void sfx_retry_end(SfxRetry *r);

/*
 * On a standby: where replay is now; and later, has nothing been replayed since then, not even a
 * part of a record?
 */
extern XLogRecPtr sfx_replayed(void);
extern bool sfx_replay_stood_still(XLogRecPtr since);

#endif							/* SURFIDX_RETRY_H */
