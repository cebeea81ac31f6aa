/*-------------------------------------------------------------------------
 * counters.h - what filters have been good for, index by index, since the server was started
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ACTIVITY_H
#define SURFIDX_ACTIVITY_H

#include "surfidx.h"

/* Add a reader's counts to its index's and to those of this session, and set them to zero. */
extern void sfx_activity_add(Relation index, SfxFilterCounts *counts);
/* Those of an index of this database, of all sessions. */
extern void sfx_activity_get(Oid index, SfxFilterCounts *counts);
extern Size sfx_activity_shmem_size(void);
extern void sfx_activity_shmem_startup(void);

#endif							/* SURFIDX_ACTIVITY_H */
