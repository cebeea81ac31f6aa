/*-------------------------------------------------------------------------
 * shared_use.h - tables of a fixed size in shared memory: how many places they have, and who has
 * them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SHARED_USE_H
#define SURFIDX_SHARED_USE_H

#include "surfidx.h"

/* A row of surfidx_shared_memory(). */
typedef struct SfxSharedUse
{
	const char *what;
	int64		places;
	int64		used;
	int64		taken;			/* places since the server was started; -1: not counted */
	int64		evicted;		/* ... that somebody else had */
} SfxSharedUse;

/*
 * Places for indexes in tables of their own in shared memory: as many as the memory for images
 * could be of use to.
 */
extern int	sfx_shared_places(void);

#endif							/* SURFIDX_SHARED_USE_H */
