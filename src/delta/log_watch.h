/*-------------------------------------------------------------------------
 * log_watch.h - places in the log, and who watches what comes behind them (U1, U3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_WATCH_H
#define SURFIDX_LOG_WATCH_H

#include "surfidx.h"
#include "leaf.h"

/* Of a build's log, what stands before `off` of that page, and in all pages before it. */
typedef struct SfxLogPlace
{
	uint64		build_id;
	uint32		gen;
	BlockNumber blkno;			/* InvalidBlockNumber: in front of the generation's first page */
	uint32		off;			/* from the body's start */
} SfxLogPlace;

/*
 * passes is shown each entry behind the place, flagged ones too, and the place moves on.  It is
 * called under a page's lock: no buffers, no errors, little time.  False: nothing is to be
 * appended.
 */
typedef struct SfxLogWatch
{
	SfxLogPlace *place;
	bool		(*passes) (void *arg, const SfxEntry *e);
	void	   *arg;
	bool		patient;		/* no way to the log's end is too long */

	/*
	 * Shown the entry that is appended, under the same lock; the place moves behind it.  NULL: the
	 * place is of no use any more.
	 */
	void		(*appended) (void *arg, const SfxEntry *e);
} SfxLogWatch;

typedef enum SfxWatched
{
	SFX_WATCH_PASSED,
	SFX_WATCH_MET,				/* an entry did not pass */
	SFX_WATCH_BEHIND,			/* the place is on another page: follow */
	SFX_WATCH_LOST				/* there is no way from it to the log's end, or a long one */
} SfxWatched;

/* What a page, the log's last one, locked, has behind the place, if that is on it. */
extern SfxWatched sfx_log_watch_tail(Relation index, BlockNumber blkno, Page page, SfxLogWatch *w);

/* The entry has come to the end of that page, of which the watch has seen all else. */
extern void sfx_log_watch_appended(Page page, SfxLogWatch *w, const SfxEntry *e);

/*
 * Go on from the place to the log's end, whatever pages and generations that takes.  No page is
 * locked.  PASSED: the place is where that end was.
 */
extern SfxWatched sfx_log_watch_follow(Relation index, SfxLogWatch *w);

#endif							/* SURFIDX_LOG_WATCH_H */
