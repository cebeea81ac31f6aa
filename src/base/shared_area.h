/*-------------------------------------------------------------------------
 * shared_area.h - memory that all processes share, an area for each module that has some
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SHARED_AREA_H
#define SURFIDX_SHARED_AREA_H

#include "surfidx.h"

/* The server's start goes through all of them: shmem.c. */
typedef struct SfxSharedArea
{
	const char *name;			/* as pg_shmem_allocations shows it */
	Size		(*size) (void);

	/* The area is at hand.  made: it is new, nobody has set it up. */
	void		(*attach) (void *area, bool made);
} SfxSharedArea;

#endif							/* SURFIDX_SHARED_AREA_H */
