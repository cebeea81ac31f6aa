/*-------------------------------------------------------------------------
 * parallel.h - seizing and publishing the steps of a parallel index scan
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PARALLEL_H
#define SURFIDX_PARALLEL_H

#include "surfidx.h"
#include "reader.h"

#include "access/relscan.h"

/* Where the next step begins.  The participant that has seized the scan may read and change it. */
typedef struct SfxShare
{
	int			range;			/* number of the range, counted in the direction of the scan */
	bool		at_start;		/* at its start; else at the position below */
	uint32		len;
	uint64		tid;
	uint8		key[SFX_BOUND_MAX];
} SfxShare;

/* Wait for our turn to make a step.  NULL: the scan is at its end. */
extern SfxShare *sfx_parallel_seize(IndexScanDesc scan);

/* Let the others go on from what we left in the share. */
extern void sfx_parallel_publish(IndexScanDesc scan, bool done);

#endif							/* SURFIDX_PARALLEL_H */
