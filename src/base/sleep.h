/*-------------------------------------------------------------------------
 * sleep.h - to sleep for some milliseconds, under a name
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SLEEP_H
#define SURFIDX_SLEEP_H

/* For what; pg_stat_activity shows it as wait event from 17 on, and before as "Extension". */
typedef enum SfxSleep
{
	SFX_SLEEP_IDLE,				/* a merge worker waits for something to merge */
	SFX_SLEEP_MERGE,			/* surfidx.merge_cost_delay */
	SFX_SLEEP_INSERT,			/* an inserter lets a merge catch up */
	SFX_SLEEP_TRUNCATE,			/* until nobody uses the index whose file is to be cut off */
	SFX_SLEEP_CONVERT			/* a conversion's worker waits for its turn, or to try again */
} SfxSleep;

/*
 * For so many milliseconds, or until the latch is set.  No LWLock is held.  ERROR if the session is
 * cancelled meanwhile.
 */
extern void sfx_sleep(SfxSleep what, long ms);

#endif							/* SURFIDX_SLEEP_H */
