/*-------------------------------------------------------------------------
 * shared_area.h - memory that all processes share: one area for each module that needs some
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SHARED_AREA_H
#define SURFIDX_SHARED_AREA_H

/*
 * An area of a module; shmem.c requests and attaches all of them when the server starts.  It begins
 * with a struct that is zeroed when it is new.
 */
typedef struct SfxSharedArea
{
	const char *name;			/* as pg_shmem_allocations shows it */
	void	  **shared;			/* is set to the area in each process */
	Size		head;			/* bytes of the struct */
	Size		(*size) (void); /* bytes of the area; NULL: as many */
	const char *tranche;		/* of the LWLock at its beginning; NULL: it begins with none */

	/*
	 * Called in each process after that.  made: the area is new.  NULL: nothing else is to be
	 * done.
	 */
	void		(*attach) (bool made);
} SfxSharedArea;

#endif							/* SURFIDX_SHARED_AREA_H */
