/*-------------------------------------------------------------------------
 * drop.h - dropping generations and runs that are merged
 *-------------------------------------------------------------------------
 */
#ifndef SFX_DROP_H
#define SFX_DROP_H

#include "horizon.h"
#include "meta.h"

/* A generation or run that is off the metapage's list, and whose pages are not yet free. */
typedef struct SfxDropped
{
	enum
	{
		SFX_DROPPED_NOTHING,
		SFX_DROPPED_GEN,
		SFX_DROPPED_RUN
	}			what;
	SfxMeta		meta;			/* the metapage when it left the list */
	SfxGen		gen;
	SfxRun		run;
} SfxDropped;

/*
 * Take the oldest generation, number gen, off the metapage's list, in one record with this horizon.
 * The caller has seen that all its entries are merged (M4).  usecs: is added to the time spent in
 * merges.  shed, pause (stub_pause): new values on the metapage, or -1 to keep them.  *d: for
 * sfx_dropped_free.  Merge lock held (asserted).  elog if gen is not the oldest frozen one.
 */
extern void sfx_generation_drop(Relation index, uint32 gen, const SfxHorizon *horizon, uint64 usecs,
								int shed, int pause, SfxDropped *d);

/* Take a run off the list; all its entries are in older runs.  The rest as above. */
extern void sfx_run_drop(Relation index, uint32 id, uint64 usecs, SfxDropped *d);

/*
 * Give the pages of what was dropped, if anything was, to the free space map, and clear d->what.
 * The caller holds no LWLock (asserted), and need not hold the merge lock (M1).  Ends early at a
 * page that already belongs to something else; pages left by an error are found by VACUUM.
 */
extern void sfx_dropped_free(Relation index, const SfxOrder *order, SfxDropped *d);

#endif							/* SFX_DROP_H */
