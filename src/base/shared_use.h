/*-------------------------------------------------------------------------
 * shared_use.h - tables of a fixed size in shared memory: how many places they have, and how many
 * are in use
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SHARED_USE_H
#define SURFIDX_SHARED_USE_H

/* A row of surfidx_shared_memory(). */
typedef struct SfxSharedUse
{
	const char *what;
	int64		places;
	int64		used;
	int64		taken;			/* places given out since the server was started; -1: not counted */
	int64		evicted;		/* places that were taken from another user; -1: not counted */
} SfxSharedUse;

/*
 * Number of places of tables in shared memory that have one for each index: as many as there may be
 * images in surfidx.delta_memory.
 */
extern int	sfx_shared_places(void);

#endif							/* SURFIDX_SHARED_USE_H */
