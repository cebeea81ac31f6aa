/*-------------------------------------------------------------------------
 * shared_area.h - memory that all processes share: one area for each module that needs some
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SHARED_AREA_H
#define SURFIDX_SHARED_AREA_H

#include "surfidx.h"

/* An area of a module; shmem.c requests and attaches all of them when the server starts. */
typedef struct SfxSharedArea
{
	const char *name;			/* as pg_shmem_allocations shows it */
	Size		(*size) (void); /* bytes */

	/* Called in each process with the area.  made: it is new, and to be set up. */
	void		(*attach) (void *area, bool made);
} SfxSharedArea;

#endif							/* SURFIDX_SHARED_AREA_H */
