/*-------------------------------------------------------------------------
 * merge_impl.h - a merge: merge.c (which sources, one after the other) and merge_source.c (one
 * source, from its first entry to its last).  Nobody else includes this.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_IMPL_H
#define SURFIDX_MERGE_IMPL_H

#include "surfidx.h"
#include "dead_pointers.h"
#include "drop.h"
#include "group.h"
#include "log_sorted.h"
#include "order.h"
#include "pos.h"
#include "progress.h"
#include "stats.h"

#include "portability/instr_time.h"

typedef enum MergeManner
{
	MERGE_WAIT,					/* wait for the merge lock */
	MERGE_TRY,					/* give up when it is busy */
	MERGE_POLITE				/* and when somebody waits for the index or the database */
} MergeManner;

typedef struct Merge
{
	/* what is asked for */
	Relation	index;
	const SfxOrder *order;
	MergeManner manner;
	bool		full;			/* into the main tree, whatever it costs, and all runs up to ... */
	uint32		last_run;		/* ... this one, not those that are made meanwhile; 0: those that
								 * are due */
	int			slice;			/* groups of a run, at most; 0: to its end */
	bool		runs;			/* those that are due, too */
	bool		frozen_only;	/* of generations those that are frozen already */
	SfxDeadAmong filter;		/* VACUUM's, for all that is rewritten; NULL: none */
	void	   *filter_arg;
	double	   *removed;		/* what was left out is added to it; may be NULL */

	/* the source in hand */
	uint32		run;			/* this run, or if 0 ... */
	uint32		gen;			/* ... this generation */
	uint32		target;			/* run; 0: not decided yet */
	bool		started;		/* from is where we are */
	SfxPosBuf	from;
	SfxKeptNode kept;
	MemoryContext source_cxt;	/* for as long as it is merged */
	SfxLogSorted *log;			/* a generation's, in order; NULL: its image is looked at */
	SfxDropped	dropped;		/* by the step behind us; its pages are to be given back */

	/* dead rows of the source in hand (X6) */
	SfxStubs   *stubs;			/* read since the generation was frozen; NULL: none */
	int			pause;			/* for the metapage's stub_pause, unless stubs were looked for in
								 * vain; -1: as it is */
	bool		looked;			/* all stubs were looked for */
	uint64		taken_before;	/* stats.taken and removed when the source was begun */
	uint64		removed_before;

	/* of the whole merge */
	SfxMergeStats stats;
	SfxRestSample *sample;		/* NULL: keys have no rests worth one */
	SfxProgress *progress;
	uint64		noted;			/* of stats.taken */
	uint64		collations;		/* comparisons by collations when the source was begun */
	uint64		usecs;			/* that steps took, not told by any record yet: the next one does,
								 * the last step's is the drop's */
} Merge;

/* Take the merge lock as the merge's manner is.  False: it gives up. */
extern bool sfx_merge_take_lock(const Merge *m);

/* Is the source still there, and to be merged?  Its place in the metapage's list, or -1. */
extern int	sfx_merge_find_source(const Merge *m, const SfxMeta *meta);

/*
 * Merge the source to its end.  False if it gave up, or if somebody else finished it meanwhile.  A
 * run gives way to a delta that has become due, if nobody waits for the end of it all.
 */
extern bool sfx_merge_source(Merge *m);

#endif							/* SURFIDX_MERGE_IMPL_H */
