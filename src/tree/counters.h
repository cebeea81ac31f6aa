/*-------------------------------------------------------------------------
 * counters.h - what filters and reading ahead have been good for, and what cut keys have cost:
 * index by index since the server was started, and in this process
 *
 * The functions need no lock of the caller's, and take one of their own for a moment.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNTERS_H
#define SURFIDX_COUNTERS_H

#include "shared_area.h"

/* How filters have answered in front of leaves. */
typedef struct SfxFilterCounts
{
	uint64		asked;			/* filters asked */
	uint64		denied;			/* those that said no: a leaf was not read */
	uint64		wrong;			/* those that said yes of a leaf with no entry for the step */
} SfxFilterCounts;

/* This session's, of all indexes. */
extern SfxFilterCounts sfx_filter_counts;

/* Pages of tables that this process has requested so far (sfx_count_ahead). */
typedef struct SfxAheadCounts
{
	uint64		pages;
	uint64		in_vain;		/* those of them whose rows were not visited */
} SfxAheadCounts;

extern SfxAheadCounts sfx_ahead_counts;

/* What is counted of an index's file, by all sessions together. */
typedef enum SfxCount
{
	SFX_COUNT_ASKED,			/* as in SfxFilterCounts */
	SFX_COUNT_DENIED,
	SFX_COUNT_WRONG,
	SFX_COUNT_READ,				/* keys of cut leaves that readers took from the table, ... */
	SFX_COUNT_MERGED,			/* ... and those that merges, VACUUM and changes of leaves took */
	SFX_COUNT_CUT,				/* leaves whose keys were cut, merges not counted, ... */
	SFX_COUNT_WHOLE,			/* ... and leaves whose keys became whole again */
	SFX_COUNT_CHANGED,			/* TimestampTz of the last of these; 0: none */
	SFX_COUNT_TOLD,				/* not 0: the server's log has been told that size_limit (of a
								 * database: size_budget) is exceeded */
	SFX_COUNT_DUE,				/* of a database: TimestampTz from which size_budget is to be
								 * shared out again, or autotune's turn has come */
	SFX_COUNT_AGES,				/* of a database: not 0: the next pass of size_budget halves the
								 * visits to leaves */
	SFX_COUNT_AHEAD,			/* pages of the table that were requested before their rows were
								 * visited, ... */
	SFX_COUNT_IN_VAIN,			/* ... and those of them whose rows were not visited */
	SFX_COUNTS
} SfxCount;

/* Add n to a count, or set it, of this index's file. */
extern void sfx_activity_add(Relation index, SfxCount which, uint64 n);
extern void sfx_activity_set(Relation index, SfxCount which, uint64 value);

/* Add a reader's counts to those of its index and of this session, and set *counts to zero. */
extern void sfx_activity_add_filters(Relation index, SfxFilterCounts *counts);

struct SfxHeapAhead;

/*
 * Add what a visitor of rows has requested to the counts of an index's file and of this process,
 * and set its own to 0.  What is still on its way counts as visited: call sfx_ahead_forget before,
 * where that may not be so.
 */
extern void sfx_count_ahead(const SfxLocator *file, struct SfxHeapAhead *ahead);

/* The counts of this index's file: SFX_COUNTS numbers, all 0 if nothing was counted. */
extern void sfx_activity_get(Relation index, uint64 *counts);

/* Of the things that are counted of this database: 0 if it was not set. */
extern uint64 sfx_database_get(SfxCount which);
extern void sfx_database_set(SfxCount which, uint64 value);

/*
 * The hand of an index's CLOCK (leaf_limit.c): the key, cut to SFX_HAND_KEY bytes, at which the
 * last pass over its leaves ended.  Returns its length; 0: the pass begins at the first leaf.
 */
#define SFX_HAND_KEY	32
extern int	sfx_activity_hand(Relation index, uint8 *key);
extern void sfx_activity_set_hand(Relation index, const uint8 *key, int len);

/* Fill a row of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_activity_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_activity_area;

/* Number of leaves that this session's readers have read, and of those read without TIDs (Y8). */
extern uint64 sfx_leaves_read;
extern uint64 sfx_leaves_tidless;

#endif							/* SURFIDX_COUNTERS_H */
