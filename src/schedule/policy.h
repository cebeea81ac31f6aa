/*-------------------------------------------------------------------------
 * policy.h - when a merge is due, and which run it goes to
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_POLICY_H
#define SURFIDX_POLICY_H

#include "meta.h"

/*
 * Is a merge due, or worth its cost, or is the delta idle?  The reason, a constant for the server
 * log; NULL: no.  A worker asks before it merges, while it holds no lock; tries the merge lock.
 */
extern const char *sfx_merge_due(Relation index);

/* The same without regard to an idle delta. */
extern const char *sfx_merge_due_for_size(Relation index);

/* What the size of the delta calls for. */
typedef struct SfxMergeNeed
{
	bool		due;			/* it has reached one of its bounds */
	bool		worth_asking;	/* ... or a worker should look whether a merge is worth it */
	bool		run_overdue;	/* if no worker has come, inserters merge due runs */
	bool		pressing;		/* it nearly exceeds its bounds: if no worker serves the index, one
								 * more is started */
	bool		late;			/* it exceeds its bounds: inserters merge if no worker does */
	bool		too_late;		/* the backend that merges does not keep up: inserters slow down */
} SfxMergeNeed;

extern SfxMergeNeed sfx_merge_need(Relation index);

/* Is a run being merged into an older one, or due for it? */
extern bool sfx_merge_run_waits(Relation index);

/*
 * The id of the run into which generation meta->gens[g] is merged; 0: a new run.  full: towards the
 * main tree, without regard to the cost.  Merge lock held (asserted), meta read under it.
 */
extern uint32 sfx_merge_gen_target(Relation index, const SfxOrder *order, const SfxMeta *meta,
								   int g, bool full);

/*
 * Will a merge of the oldest frozen generation rewrite most of the old leaves?  Not if it goes to a
 * run; nor in a large index, if its keys are close together.  A guess from the metapage alone.
 */
extern bool sfx_merge_meets_old(Relation index, const SfxMeta *meta, bool full);

/*
 * Does a delta whose keys are spread over the whole index go to a run?  entries: of the active
 * generation.
 */
extern bool sfx_merge_makes_runs(Relation index, const SfxMeta *meta, uint64 entries);

/* The id of the older run into which run number r is merged. */
extern uint32 sfx_merge_run_target(Relation index, const SfxMeta *meta, int r, bool full);

/*
 * The number of a run that is to be merged into an older one; -1: none is due.  upto: runs with ids
 * up to this one are due in any case; 0: none.
 */
extern int	sfx_merge_run_due(Relation index, const SfxMeta *meta, uint32 upto);

#endif							/* SURFIDX_POLICY_H */
