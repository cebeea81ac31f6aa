/*-------------------------------------------------------------------------
 * log_watch.h - places in the log, and watches over what is appended after them (U1, U3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_WATCH_H
#define SURFIDX_LOG_WATCH_H

#include "leaf.h"

/*
 * A place: it stands for all of a build's log before `off` of page blkno.  It remains valid when
 * pages are appended or generations frozen; it is lost when its generation is dropped.
 */
typedef struct SfxLogPlace
{
	uint64		build_id;
	uint32		gen;
	BlockNumber blkno;			/* InvalidBlockNumber: before the generation's first page */
	uint32		off;			/* bytes from the body's start */
} SfxLogPlace;

/*
 * A watch shows `passes` each entry after its place, flagged ones included, and moves the place on.
 * `passes` runs under a page's lock: it reads no buffers, raises no errors, and takes little time.
 * False from it: nothing is to be appended.
 */
typedef struct SfxLogWatch
{
	SfxLogPlace *place;
	bool		(*passes) (void *arg, const SfxEntry *e);
	void	   *arg;
	bool		patient;		/* follow the log to its end, however long the way */

	/*
	 * Shown the entry that is appended, under the same lock; the place then moves past it.  NULL:
	 * the caller does not need the place any more.
	 */
	void		(*appended) (void *arg, const SfxEntry *e);
} SfxLogWatch;

typedef enum SfxWatched
{
	SFX_WATCH_PASSED,
	SFX_WATCH_MET,				/* an entry did not pass */
	SFX_WATCH_BEHIND,			/* the place is on an earlier page: follow */
	SFX_WATCH_LOST				/* the log's end cannot be reached from the place, or not by a
								 * short way */
} SfxWatched;

/*
 * Show the watch what follows its place on the log's last page, if the place is on that page.  The
 * page is locked by the caller.
 */
extern SfxWatched sfx_log_watch_tail(Relation index, BlockNumber blkno, Page page, SfxLogWatch *w);

/*
 * Tell the watch that the entry was appended to that page, which is still locked, and of which the
 * watch has seen all other entries.
 */
extern void sfx_log_watch_appended(Page page, SfxLogWatch *w, const SfxEntry *e);

/*
 * Follow the log from the place to its end, through whatever pages and generations.  Locks one page
 * after the other; the caller holds none.  PASSED: the place is where that end was.
 */
extern SfxWatched sfx_log_watch_follow(Relation index, SfxLogWatch *w);

#endif							/* SURFIDX_LOG_WATCH_H */
