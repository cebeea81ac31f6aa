/*-------------------------------------------------------------------------
 * counters.h - what filters have been good for, index by index, since the server was started
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ACTIVITY_H
#define SURFIDX_ACTIVITY_H

#include "surfidx.h"
#include "shared_area.h"

/* Filters asked in front of leaves; those that said no; those that said yes of a leaf in which there was nothing for the step. */
typedef struct SfxFilterCounts
{
	uint64		asked;
	uint64		denied;
	uint64		wrong;
} SfxFilterCounts;

/* This session's (counters.c). */
extern SfxFilterCounts sfx_filter_counts;

/* Add a reader's counts to its index's and to those of this session, and set them to zero. */
extern void sfx_activity_add(Relation index, SfxFilterCounts *counts);

/* Those of an index, of all sessions, since its file was made. */
extern void sfx_activity_get(Relation index, SfxFilterCounts *counts);

/* A row of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_activity_use(struct SfxSharedUse *use);
extern const SfxSharedArea sfx_activity_area;

/* Leaves that this session's readers have read so far. */
extern uint64 sfx_leaves_read;

#endif							/* SURFIDX_ACTIVITY_H */
