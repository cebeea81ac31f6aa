/*-------------------------------------------------------------------------
 * stats.h - what a merge or VACUUM has done, and the counts of a run on the metapage
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STATS_H
#define SURFIDX_STATS_H

#include "surfidx.h"
#include "hope.h"
#include "horizon.h"
#include "leaf.h"
#include "meta.h"

typedef struct SfxMergeStats
{
	uint64		taken;			/* entries that came from the delta */
	uint64		removed;		/* entries that the filter dropped */
	int64		entries;		/* entries in leaves: change */
	int64		leaves;			/* leaves: change */
	int64		cut;			/* leaves with cut keys: change */
	uint64		groups;			/* groups written */
	uint64		written;		/* leaves written */
	uint64		changed;		/* leaves that became cut, or whole */
	bool		parted;			/* a leaf did not, but is several now (W9) */
	uint64		asked;			/* leaves asked for before they were needed, ... */
	uint64		reads_begun;	/* ... of which so many had to be read */
	BlockNumber asked_last;		/* the last one of them, or of those to which nothing comes; 0:
								 * none */
	uint64		rests;			/* bytes of rests in them: before coding, */
	uint64		stored;			/* and as they are stored */
	bool		whole;			/* these are of all that the source's entries come to */
	bool		late;			/* a mutant's: groups do not count, their end does (M16) */
	SfxRestSample *sample;		/* of these rests; NULL: not wanted, or seen already */
	uint32		last_entries;	/* those in the last leaf written, if much of it is empty; else 0 */
	SfxHorizon	horizon;		/* of entries that were in the generation and went nowhere */
} SfxMergeStats;

/*
 * Add the changes of entries and leaves to those of the run, in a copy of the metapage that the
 * group's own record stores: what is stored later a crash would forget.
 */
extern void sfx_count_tree_stats(SfxRun *run, const SfxMergeStats *stats);

#endif							/* SURFIDX_STATS_H */
