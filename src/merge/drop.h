/*-------------------------------------------------------------------------
 * drop.h - generations and runs that are merged go
 *-------------------------------------------------------------------------
 */
#ifndef SFX_DROP_H
#define SFX_DROP_H

#include "surfidx.h"
#include "find.h"
#include "horizon.h"

/* What has left the metapage's list, and has its pages still. */
typedef struct SfxDropped
{
	enum
	{
		SFX_DROPPED_NOTHING,
		SFX_DROPPED_GEN,
		SFX_DROPPED_RUN
	}			what;
	SfxMeta		meta;			/* when it left */
	SfxGen		gen;
	SfxRun		run;
} SfxDropped;

/*
 * Take the oldest generation off the metapage's list (M4 has been checked).  Merge lock held.
 * usecs: what is to be added to the time that merges took; shed and pause (stub_pause): for the
 * metapage, -1: as before.  *d: for sfx_dropped_free.
 */
extern void sfx_generation_drop(Relation index, uint32 gen, const SfxHorizon *horizon, uint64 usecs,
								int shed, int pause, SfxDropped *d);

/* Take a run, all of whose entries are in older ones, off the list.  The rest as above. */
extern void sfx_run_drop(Relation index, uint32 id, uint64 usecs, SfxDropped *d);

/*
 * Give the pages of what was dropped, if anything was, to the free space map, and note that.  No
 * lock is held (M1).  Ends early where a page is somebody else's already; an error leaves the rest
 * to VACUUM.
 */
extern void sfx_dropped_free(Relation index, const SfxOrder *order, SfxDropped *d);

#endif							/* SFX_DROP_H */
