/*-------------------------------------------------------------------------
 * dead_leaf.h - rewriting a leaf without entries that a reader found dead (X3)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_LEAF_H
#define SURFIDX_DEAD_LEAF_H

/* Entries of one leaf that a reader has found dead. */
typedef struct SfxDeadInLeaf
{
	struct SfxDeadInLeaf *next;
	BlockNumber leaf;
	uint32		run;			/* the leaf's */
	uint32		entries;		/* that it has */
	bool		left;			/* the scan goes on in leaves after it, in its direction */
	bool		in_order;		/* tids ascend, and each is there once */
	int			n;				/* of tids */
	int			room;
	uint64		met;			/* so often one was met, ... */
	uint64		wait;			/* ... and so often before the leaf is tried again */
	uint64	   *tids;			/* NULL until first needed, and so is ... */
	SfxPos		pos;			/* ... a position in the leaf */
} SfxDeadInLeaf;

/* Those of the leaves that a reader has found dead entries in, the last one first. */
typedef struct SfxDeadLeaves
{
	MemoryContext cxt;			/* where memory is taken from */
	SfxDeadInLeaf *first;
	bool		changed;		/* since the list was looked at */
} SfxDeadLeaves;

/*
 * That leaf of that run becomes the first of the list.  goes_on: whatever other leaf of the run was
 * the first one before is left.
 */
extern SfxDeadInLeaf *sfx_dead_in_leaf(SfxDeadLeaves *l, uint32 run, BlockNumber leaf,
									   uint32 entries, bool goes_on);

/* Note n more.  pos: a position in the leaf, which is looked at for the first of them. */
extern void sfx_dead_note(SfxDeadLeaves *l, SfxDeadInLeaf *d, const SfxPos *pos,
						  const uint64 *tids, int n);

/* Which leaves are rewritten, if enough of their entries are noted? */
typedef enum SfxDeadWhen
{
	SFX_DEAD_STEP,				/* those that are left, and those too many to be remembered */
	SFX_DEAD_RANGE,				/* and those of which a quarter is noted, or a part that is met
								 * again and again: the range ends, and others may follow */
	SFX_DEAD_END				/* all, and the list is empty then */
} SfxDeadWhen;

/*
 * Rewrite these leaves without those noted entries that the heap confirms, and forget the leaves.
 * Leaves are not rewritten if the run is gone, another backend holds the merge lock, or the heap
 * does not confirm enough; nor in recovery, in parallel mode, by a backend that holds the merge
 * lock, or while the transaction ends.  The caller holds no LWLock; heap is its open table.  An
 * error becomes a warning (M10).
 */
extern void sfx_dead_clean(Relation index, Relation heap, const SfxOrder *order, SfxDeadLeaves *l,
						   SfxDeadWhen when);

#endif							/* SURFIDX_DEAD_LEAF_H */
