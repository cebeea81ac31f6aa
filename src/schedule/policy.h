/*-------------------------------------------------------------------------
 * policy.h - when a merge is due, and where it goes
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_POLICY_H
#define SURFIDX_POLICY_H

#include "surfidx.h"
#include "meta.h"

/* Is a merge due, or at least worth its cost?  The worker asks before it merges. */
extern bool sfx_merge_due(Relation index);

/* The same, but for an idle delta. */
extern bool sfx_merge_due_for_size(Relation index);

/* What the delta's size asks for. */
typedef struct SfxMergeNeed
{
	bool		due;			/* it has reached its bounds */
	bool		worth_asking;	/* ... or may be worth a merge, which a worker looks at */
	bool		run_overdue;	/* a worker had time to start: who writes merges runs that are due */
	bool		pressing;		/* it is about to outgrow them: if no worker is at it, one more is
								 * started */
	bool		late;			/* it has outgrown its bounds: who writes merges if nobody does */
	bool		too_late;		/* whoever merges does not keep up: who writes slows down */
} SfxMergeNeed;

extern void sfx_merge_need(Relation index, SfxMergeNeed *need);

/* Is a run being merged, or due? */
extern bool sfx_merge_run_waits(Relation index);

/* Has the delta reached its bounds?  Has it outgrown them? */
extern bool sfx_merge_delta_due(Relation index);
extern bool sfx_merge_is_late(Relation index);

/*
 * Where a merge goes (merge lock held).  The id of the run that generation meta->gens[g] is merged
 * into; 0: a new one. full: towards the main tree without regard to the cost.
 */
extern uint32 sfx_merge_gen_target(Relation index, const SfxOrder *order, const SfxMeta *meta,
								   int g, bool full);

/*
 * Will a merge of the oldest frozen generation go through most of the old leaves?  Not if it goes
 * to a run; nor, of an index that is large, if the keys keep together.  A guess from the metapage
 * alone.
 */
extern bool sfx_merge_meets_old(Relation index, const SfxMeta *meta, bool full);

/*
 * Do deltas of keys that fall everywhere go to runs?  entries: in the active generation.
 */
extern bool sfx_merge_makes_runs(Relation index, const SfxMeta *meta, uint64 entries);

/* The id of the older run that run number r is merged into. */
extern uint32 sfx_merge_run_target(Relation index, const SfxMeta *meta, int r, bool full);

/*
 * The number of a run that is to be merged into an older one; -1: none is due.  upto: runs with
 * ids up to this one are due in any case.
 */
extern int	sfx_merge_run_due(Relation index, const SfxMeta *meta, uint32 upto);

/*
 * May the merge that is due leave behind what is read often (storage parameter merge_cold)?  And
 * how many entries of generation meta->gens[g], at most?  So few that the next merge is not due
 * because of them.
 */
extern bool sfx_merge_may_carry(Relation index);
extern uint64 sfx_merge_carry_limit(Relation index, const SfxMeta *meta, int g);

#endif							/* SURFIDX_POLICY_H */
