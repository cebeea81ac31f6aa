/*-------------------------------------------------------------------------
 * merge_lock.h - the lock of who changes the trees, and where it stands in the order of locks
 *
 * LOCK ORDER (each may be taken while holding those above it, never the reverse)
 *
 *	1. lock on unequal bytes		heavyweight object lock, one for an index (insert.c, U1)
 *	2. merge lock					heavyweight object lock (this file)
 *	3. image directory lock			LWLock (image_slots.c)
 *	4. image lock					LWLock (image_slots.c)
 *	   predicate locks				LWLock (predicate.c), while none of 2 to 5 is held
 *	5. buffers: inner page, its right neighbours, leaves left to right, metapage, log tail
 *
 * New pages are locked before any of these, without waiting (alloc.h): what leads to them are old
 * links alone, and who follows one has nothing in hand.
 *
 * Readers hold one buffer lock at a time; except that with a leaf's they may take the metapage's,
 * and a page's of a dictionary, one at a time, to open the dictionary that the leaf needs (nobody
 * waits for a leaf with one of those in hand).  A gate page is pinned, never locked, except by
 * VACUUM, which takes its cleanup lock holding nothing else.
 *
 * Who counts the log's entries takes the lock of its tail with the metapage's.  Who reads and is
 * outrun again and again takes the merge lock, with no page locked (retry.h).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_LOCK_H
#define SURFIDX_MERGE_LOCK_H

#include "surfidx.h"

/*
 * The merge lock: whoever holds it is the single writer of all trees (T2).  Transaction-scoped.  No
 * LWLock is held where it is taken, nor where it is given back: what a step has locked ends with
 * the step.
 */
extern void sfx_merge_lock(Relation index);
extern bool sfx_merge_trylock(Relation index);
extern void sfx_merge_unlock(Relation index);

/* The same for a reader that has found a page under it, which stays locked (retry.h). */
extern void sfx_merge_unlock_with_page(Relation index);

extern bool sfx_merge_lock_held(Relation index);	/* by this backend */

#endif							/* SURFIDX_MERGE_LOCK_H */
