/*-------------------------------------------------------------------------
 * dead.h - entries that are dead to everybody: asking the heap, and the horizon that standbys must hear of
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_H
#define SURFIDX_DEAD_H

#include "surfidx.h"

/* TIDs that the heap is asked about at once, at most. */
#define SFX_DEAD_MAX	4096

/*
 * Which of tids[0..n), n <= SFX_DEAD_MAX, lead to rows that are dead to every snapshot here?  Moves them to the front, ascending, and returns how
 * many there are; raises *horizon to what a standby has to be told before it loses their entries.  The caller
 * has seen the entries in the index since it pinned the gate or took the merge lock, and still holds that: so no TID is in other hands.
 */
extern int	sfx_dead_ask(Relation index, Relation heap, uint64 *tids, int n, SfxHorizon *horizon);

/* As an IndexBulkDeleteCallback: is the TID in this list? */
typedef struct SfxTidList
{
	uint64	   *tid;			/* ascending */
	int			n;
} SfxTidList;

extern bool sfx_tid_list_has(ItemPointer tid, void *list);

/*
 * Many entries of the leaf that holds pos were found dead, by TID.  Rewrite it without those that the heap
 * confirms, unless they are too few for its cost or somebody else is writing the tree.  tids is scratch afterwards.
 */
extern void sfx_dead_clean_leaf(Relation index, Relation heap, const SfxOrder *order, const SfxPos *pos, uint64 *tids, int n);

/* Is it worth it to rewrite a leaf of so many entries to be rid of ndead? */
extern bool sfx_dead_worth(uint64 nentries, int ndead);

#endif							/* SURFIDX_DEAD_H */
