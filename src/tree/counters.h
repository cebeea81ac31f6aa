/*-------------------------------------------------------------------------
 * counters.h - what filters have been good for and what cut keys have taken, index by index, since
 * the server was started
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNTERS_H
#define SURFIDX_COUNTERS_H

#include "surfidx.h"
#include "shared_area.h"

/*
 * Filters asked in front of leaves; those that said no; those that said yes of a leaf in which
 * there was nothing for the step.
 */
typedef struct SfxFilterCounts
{
	uint64		asked;
	uint64		denied;
	uint64		wrong;
} SfxFilterCounts;

/* This session's (counters.c). */
extern SfxFilterCounts sfx_filter_counts;

/* What is counted of an index's file, by all sessions. */
typedef enum SfxCount
{
	SFX_COUNT_ASKED,			/* as in SfxFilterCounts */
	SFX_COUNT_DENIED,
	SFX_COUNT_WRONG,
	SFX_COUNT_READ,				/* keys of cut leaves that readers asked of the table, */
	SFX_COUNT_MERGED,			/* and merges, VACUUM and changes of leaves */
	SFX_COUNT_CUT,				/* leaves whose keys were cut where nothing was merged, */
	SFX_COUNT_WHOLE,			/* and that got them back */
	SFX_COUNT_CHANGED,			/* TimestampTz of the last of these; 0: none */
	SFX_COUNT_TOLD,				/* the log was told that this size_limit is exceeded; 0: not */
	SFX_COUNTS
} SfxCount;

extern void sfx_activity_add(Relation index, SfxCount which, uint64 n);
extern void sfx_activity_set(Relation index, SfxCount which, uint64 value);

/* Add a reader's counts to its index's and to those of this session, and set them to zero. */
extern void sfx_activity_add_filters(Relation index, SfxFilterCounts *counts);

/* Those of an index since its file was made: SFX_COUNTS of them. */
extern void sfx_activity_get(Relation index, uint64 *counts);

/*
 * The hand of an index's CLOCK (leaf_limit.c): the beginning of a position's key, at which the last
 * pass ended.  Its length; 0: at the beginning.
 */
#define SFX_HAND_KEY	32
extern int	sfx_activity_hand(Relation index, uint8 *key);
extern void sfx_activity_set_hand(Relation index, const uint8 *key, int len);

/* A row of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_activity_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_activity_area;

/* Leaves that this session's readers have read so far; those whose TIDs were left out (Y8). */
extern uint64 sfx_leaves_read;
extern uint64 sfx_leaves_tidless;

#endif							/* SURFIDX_COUNTERS_H */
