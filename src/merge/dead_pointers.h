/*-------------------------------------------------------------------------
 * dead_pointers.h - rows of which the table has line pointers only: their entries need not go into
 * new leaves
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STUBS_H
#define SURFIDX_STUBS_H

#include "surfidx.h"
#include "meta.h"

/*
 * Which line pointers of a table were stubs when somebody looked: dead to all, their rows gone,
 * waiting for VACUUM.
 */
typedef struct SfxStubs SfxStubs;

/*
 * Look for stubs in the index's table, for a merge of the oldest frozen generation: if the table's
 * statistics promise enough of them for that and for the pages that have to be looked at, and if a
 * lock on it is to be had at once; else NULL.  It and what it points to is palloc'd.  No lock is
 * held.  go_on is asked between two batches of pages, when the table is not locked: false if the
 * rest of them is to be left out.  *looked: all pages that may have stubs were looked at.
 *
 * X6: an entry that was in the index before this was called, and whose TID is among them, is dead
 * to all as long as no entry that came later is asked about.
 */
extern SfxStubs *sfx_stubs_collect(Relation index, const SfxMeta *meta, bool (*go_on) (void *arg), void *arg, bool *looked);

/*
 * For VACUUM, between its two passes over the table: all stubs there are; or NULL, where it is
 * cheaper, or not possible, to ask VACUUM about each entry.  What VACUUM takes for dead is a stub
 * (V5).  index: vacuumed, with about so many entries.  strategy: VACUUM's.
 */
extern SfxStubs *sfx_stubs_of_vacuum(Relation index, BufferAccessStrategy strategy, double entries);

extern void sfx_stubs_free(SfxStubs *stubs);

/* As an SfxDeadAmong: those that are stubs. */
extern int	sfx_stubs_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *stubs);

#endif							/* SURFIDX_STUBS_H */
