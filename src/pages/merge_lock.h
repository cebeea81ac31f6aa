/*-------------------------------------------------------------------------
 * merge_lock.h - the lock of who changes the tree
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_LOCK_H
#define SURFIDX_MERGE_LOCK_H

#include "surfidx.h"

/* The merge lock: whoever holds it is the single writer of the main tree. Transaction-scoped. */
extern void sfx_merge_lock(Relation index);
extern bool sfx_merge_trylock(Relation index);
extern void sfx_merge_unlock(Relation index);
extern bool sfx_merge_lock_held(Relation index);	/* by this backend */

#endif							/* SURFIDX_MERGE_LOCK_H */
