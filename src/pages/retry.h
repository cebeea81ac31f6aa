/*-------------------------------------------------------------------------
 * retry.h - looks at the index that others' changes outrun
 *
 * Who reads holds no lock from one page to the next.  Where the tree changes in between, a page is
 * not what the page before promised, and the look begins again.  A damaged page looks the same;
 * what tells them apart is a try during which nothing changes (T4).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RETRY_H
#define SURFIDX_RETRY_H

#include "surfidx.h"

#include "access/xlogdefs.h"

/* Begins as {.index = index}. */
typedef struct SfxRetry
{
	Relation	index;
	int			tries;
	bool		quiet;			/* nobody else changes the tree: the merge lock is held, ... */
	bool		locked;			/* ... by this */
	bool		recovery;		/* as of the last call ... */
	XLogRecPtr	replayed;		/* ... and how far replay had come */
} SfxRetry;

/*
 * A try has failed because of what it saw.  True: make another one, from the metapage on.  False:
 * nothing has changed during this one, so that what it saw is damage; the caller says which.
 *
 * No LWLock is held, but by who has the merge lock.  May wait for the merge lock; on a standby,
 * where replay stops for nobody, there is an end of trying: an error that says so.
 */
extern bool sfx_retry(SfxRetry *r);

/* The last try was a good one. */
extern void sfx_retry_end(SfxRetry *r);

/* On a standby: has nothing been replayed, not even in part, since sfx_replayed() said this? */
extern XLogRecPtr sfx_replayed(void);
extern bool sfx_replay_stood_still(XLogRecPtr since);

#endif							/* SURFIDX_RETRY_H */
