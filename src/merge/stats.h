/*-------------------------------------------------------------------------
 * stats.h - what a merge or VACUUM has done, and the counts of a run on the metapage
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STATS_H
#define SURFIDX_STATS_H

#include "horizon.h"
#include "leaf.h"
#include "meta.h"

/* What a merge or VACUUM has done so far; sfx_group_rewrite adds to it. */
typedef struct SfxMergeStats
{
	uint64		taken;			/* entries that came from the delta */
	uint64		removed;		/* entries that were dropped as dead */
	int64		entries;		/* change of the number of entries in leaves */
	int64		leaves;			/* change of the number of leaves */
	int64		cut;			/* change of the number of leaves with cut keys */
	uint64		groups;			/* groups written */
	uint64		written;		/* leaves written */
	uint64		changed;		/* leaves that became cut, or whole */
	bool		parted;			/* a leaf that was to be whole became several cut ones (W9) */
	uint64		asked;			/* leaves prefetched, ... */
	uint64		reads_begun;	/* ... for which so many reads were started */
	BlockNumber asked_last;		/* last leaf that was prefetched, or found not to be needed; 0:
								 * none */
	uint64		rests;			/* bytes of rests in leaves written since the last review of
								 * dictionaries: before coding, ... */
	uint64		stored;			/* ... as stored, ... */
	uint64		promised;		/* ... and as the dictionaries have promised */
	int			reviews;		/* in which dictionaries were trained, or tried */
	bool		whole;			/* the source is merged from its first entry on */
	bool		late;			/* a mutant's: groups do not count, their end does (M16) */
	SfxRestSample *sample;		/* of these rests; NULL: not wanted */
	uint32		last_entries;	/* entries of the last leaf written, if it is sparse; else 0 */
	SfxHorizon	horizon;		/* of entries of the generation that no leaf received */
} SfxMergeStats;

/*
 * Add the changes of entries and leaves to the run's counts, in the copy of the metapage that the
 * group's own record stores, so that a crash cannot lose them (M16).
 */
extern void sfx_count_tree_stats(SfxRun *run, const SfxMergeStats *stats);

#endif							/* SURFIDX_STATS_H */
