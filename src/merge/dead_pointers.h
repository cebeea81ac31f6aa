/*-------------------------------------------------------------------------
 * dead_pointers.h - rows of which only dead line pointers remain: merges leave their entries out of
 * new leaves
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_POINTERS_H
#define SURFIDX_DEAD_POINTERS_H

#include "meta.h"

/*
 * The line pointers of a table that were LP_DEAD (stubs) when they were collected: dead to all
 * snapshots, their rows removed, kept until VACUUM.
 */
typedef struct SfxStubs SfxStubs;

/*
 * Collect stubs of the index's table, for a merge of the oldest frozen generation.  Returns NULL if
 * the table's statistics do not promise enough stubs for that merge and for the pages to be read,
 * if the lock on the table is not available at once, or if none were found; else a palloc'd set,
 * for sfx_stubs_free.  The caller holds no LWLock (asserted).  go_on(arg) is called between two
 * batches of pages, while the table is not locked: false ends the collection early.  *looked: all
 * pages that may have stubs were read.  A damaged heap page is a WARNING; other errors are raised.
 *
 * X6: an entry that was in the index before this call, and whose TID is in the set, is dead to all,
 * provided that the set is not applied to entries that came later.
 */
extern SfxStubs *sfx_stubs_collect(Relation index, const SfxMeta *meta, bool (*go_on) (void *arg), void *arg, bool *looked);

/*
 * For VACUUM, between its two passes over the table: all stubs, palloc'd; or NULL if asking VACUUM
 * about each entry is cheaper, or if the table cannot be read.  Every row that VACUUM takes for
 * dead is a stub (V5).  entries: of the index, roughly.  strategy: VACUUM's.
 */
extern SfxStubs *sfx_stubs_of_vacuum(Relation index, BufferAccessStrategy strategy, double entries);

extern void sfx_stubs_free(SfxStubs *stubs);

/* An SfxDeadAmong: finds the TIDs that are in the set `stubs`. */
extern int	sfx_stubs_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *stubs);

#endif							/* SURFIDX_DEAD_POINTERS_H */
