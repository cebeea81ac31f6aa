/*-------------------------------------------------------------------------
 * dead_leaf.h - rewriting a leaf without entries that a reader found dead (X3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_LEAF_H
#define SURFIDX_DEAD_LEAF_H

#include "surfidx.h"
#include "leaf.h"

/* Entries of one leaf that a reader has found dead.  Zeroed before the first use. */
typedef struct SfxDeadInLeaf
{
	uint32		run;			/* the leaf's, and ... */
	uint32		entries;		/* ... how many it has: set where it is read */
	int			n;
	int			room;			/* in tids */
	uint64	   *tids;			/* NULL until first needed, and so is ... */
	uint8	   *key;			/* ... room for the key of */
	SfxPos		pos;			/* a position in the leaf */
} SfxDeadInLeaf;

/*
 * Note n <= SFX_BLOCK_ENTRIES more, with these TIDs.  cxt: where memory is taken from.  pos: a
 * position in the leaf, which is looked at for the first of them.
 */
extern void sfx_dead_note(SfxDeadInLeaf *d, MemoryContext cxt, const SfxPos *pos,
						  const uint64 *tids, int n);

/* Free its memory. */
extern void sfx_dead_forget(SfxDeadInLeaf *d);

/*
 * Rewrite the leaf without those noted entries that the heap confirms; unless they are too few to
 * be worth it, the run is gone, or another backend holds the merge lock.  Does nothing in recovery,
 * in parallel mode, or if this backend holds the merge lock.  Nothing is noted any more.  The
 * caller holds no LWLock; heap is its open table.  An error becomes a warning (M10).
 */
extern void sfx_dead_clean_leaf(Relation index, Relation heap, const SfxOrder *order,
								SfxDeadInLeaf *d);

#endif							/* SURFIDX_DEAD_LEAF_H */
