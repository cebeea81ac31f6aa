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
	BlockNumber leaf;			/* those that are noted are of this one */
	bool		refused;		/* it was not cleaned: no more are noted */
	int			n;
	int			room;			/* in tids */
	uint64	   *tids;			/* NULL until first needed, and so is ... */
	uint8	   *key;			/* ... room for the key of */
	SfxPos		pos;			/* a position in the leaf */
} SfxDeadInLeaf;

/* Would an entry of that leaf be the first one of it to be noted? */
static inline bool
sfx_dead_none_of(const SfxDeadInLeaf *d, BlockNumber leaf)
{
	return d->leaf != leaf || (d->n == 0 && !d->refused);
}

/*
 * Note n <= SFX_BLOCK_ENTRIES more of that leaf, with these TIDs; those of another leaf are
 * forgotten.  cxt: where memory is taken from.  pos: a position in the leaf, which is looked at for
 * the first of them.
 */
extern void sfx_dead_note(SfxDeadInLeaf *d, MemoryContext cxt, BlockNumber leaf, const SfxPos *pos,
						  const uint64 *tids, int n);

/* Free its memory. */
extern void sfx_dead_forget(SfxDeadInLeaf *d);

/*
 * Rewrite the leaf without those noted entries that the heap confirms.  If they are too few to be
 * worth it they stay noted: more may be found in the leaf.  If the run is gone, another backend
 * holds the merge lock, or the heap does not confirm enough, no more of this leaf are noted until
 * some of another one are.  Does nothing in recovery, in parallel mode, or if this backend holds
 * the merge lock.  The caller holds no LWLock; heap is its open table.  An error becomes a warning
 * (M10).
 */
extern void sfx_dead_clean_leaf(Relation index, Relation heap, const SfxOrder *order,
								SfxDeadInLeaf *d);

#endif							/* SURFIDX_DEAD_LEAF_H */
