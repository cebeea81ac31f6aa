/*-------------------------------------------------------------------------
 * merge_impl.h - the state of a merge, shared by merge.c (which sources, one after the other) and
 * merge_source.c (one source, from its first entry to its last) only
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_IMPL_H
#define SURFIDX_MERGE_IMPL_H

#include "dead_pointers.h"
#include "dead_rows.h"
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
	MERGE_TRY,					/* give up if it is busy */
	MERGE_POLITE				/* ... or if another session waits for the index or the database */
} MergeManner;

typedef struct Merge
{
	/* parameters */
	Relation	index;
	const SfxOrder *order;
	MergeManner manner;
	const char *why;			/* for the server log: the command, or the bound that was reached */
	bool		full;			/* into the main tree, whatever it costs, and all runs up to ... */
	uint32		last_run;		/* ... this id, not those made meanwhile; 0: runs that are due */
	int			slice;			/* groups of a run, at most; 0: to its end */
	bool		runs;			/* merge runs that are due as well */
	bool		frozen_only;	/* of generations, only those that are frozen already */
	SfxDeadAmong among;			/* VACUUM's: entries to drop where leaves are rewritten; or NULL */
	void	   *among_arg;
	double	   *removed;		/* the number of entries left out is added to it; may be NULL */

	/* the current source */
	uint32		run;			/* id of a run, or, if 0, ... */
	uint32		gen;			/* ... this generation */
	uint32		target;			/* id of a run; 0: not decided yet */
	bool		started;		/* `from` is set */
	SfxPosBuf	from;
	SfxKeptNode kept;
	MemoryContext source_cxt;	/* lives as long as the source is merged */
	SfxLogSorted *log;			/* a generation's, in order; NULL: its image is used */
	SfxDropped	dropped;		/* by the previous step; its pages are to be freed */

	/* dead rows of the current source (X6) */
	SfxStubs   *stubs;			/* collected after the generation was frozen; NULL: none */
	int			pause;			/* new stub_pause of the metapage, unless this look for stubs was
								 * in vain; -1: unchanged */
	bool		looked;			/* all stubs were collected */
	uint64		taken_before;	/* stats.taken and stats.removed when the source was begun */
	uint64		removed_before;

	/* of the whole merge */
	SfxMergeStats stats;
	SfxRestSample *sample;		/* NULL: keys have no rests worth one */
	SfxProgress *progress;
	uint64		noted;			/* part of stats.taken that progress shows */
	uint64		collations;		/* comparisons by collations before the source was begun */
	uint64		usecs;			/* time of steps that no record has counted yet: the next group's
								 * record does, or the drop's */
} Merge;

/* Take the merge lock in the merge's manner.  False: it gives up. */
extern bool sfx_merge_take_lock(const Merge *m);

/*
 * Merge the source to its end.  False if the merge gave up, or if another backend finished the
 * source meanwhile.  Unless the merge is full, a run gives way to a delta that has become due.  The
 * merge lock is taken for each group, and not held on return.
 */
extern bool sfx_merge_source(Merge *m);

#endif							/* SURFIDX_MERGE_IMPL_H */
