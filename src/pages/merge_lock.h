/*-------------------------------------------------------------------------
 * merge_lock.h - the merge lock of an index, and its place in the order of locks
 *
 * LOCK ORDER (a lock may be taken while holding those above it, never the reverse)
 *
 *	1. lock over check and append	heavyweight object lock, one for an index (insert.c, U1)
 *	2. merge lock					heavyweight object lock (this file)
 *	3. image directory lock			LWLock (image_slots.c)
 *	4. image lock					LWLock (image_slots.c)
 *	   predicate locks				LWLock (predicate.c), while none of 2 to 5 is held
 *	5. buffers: inner page, its right neighbours, leaves left to right, metapage, log tail
 *
 * New pages are locked before any of these, without waiting (alloc.h): only outdated links lead to
 * them, and a reader that follows one holds nothing else.
 *
 * Readers hold one buffer lock at a time.  The exception: with a leaf locked they may lock the
 * metapage and a page of a dictionary, one at a time, to open the dictionary that the leaf needs
 * (no backend waits for a leaf's lock while it holds one of those).  A gate page is pinned, never
 * locked, except by VACUUM, which takes its cleanup lock holding nothing else.
 *
 * A backend that counts the log's entries locks the log's tail while it holds the metapage's lock.
 * A reader that is outrun again and again takes the merge lock, with no page locked (retry.h).
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_LOCK_H
#define SURFIDX_MERGE_LOCK_H

/*
 * The merge lock: its holder is the single writer of all trees of the index (T2).  It is held until
 * it is released, or the transaction ends.  sfx_merge_lock waits; sfx_merge_trylock returns false
 * instead.  The caller holds no LWLock when it takes the lock, nor when it releases it: page locks
 * end with the step that took them (M1).
 */
extern void sfx_merge_lock(Relation index);
extern bool sfx_merge_trylock(Relation index);
extern void sfx_merge_unlock(Relation index);

/* Release it, for a reader that has found a page under it and keeps that page locked (retry.h). */
extern void sfx_merge_unlock_with_page(Relation index);

extern bool sfx_merge_lock_held(Relation index);	/* does this backend hold it? */

#endif							/* SURFIDX_MERGE_LOCK_H */
