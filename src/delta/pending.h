/*-------------------------------------------------------------------------
 * pending.h - entries of one statement that are held back, to be appended together (D7)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PENDING_H
#define SURFIDX_PENDING_H

#include "leaf.h"

/*
 * Number of indexes for which this backend may hold entries back; 0 makes the checks below cheap.
 */
extern int	sfx_pending_indexes;

/*
 * May entries of this index wait, for the statement that info belongs to?  unchecked: those that
 * would wait need no unique check.
 */
extern bool sfx_pending_allowed(Relation index, Relation heap, IndexInfo *info, bool unchecked);

/*
 * Let an entry wait; it is copied.  Some or all that wait may be appended.  True: the index's log
 * has grown by a page since this was last reported, as from sfx_log_append.  grew is called with
 * other indexes of which that is so.  The caller holds no LWLock.
 */
extern bool sfx_pending_add(Relation index, const SfxEntry *e, bool unchanged,
							void (*grew) (Relation index));

/*
 * Append all that waits.  grew is called with each index whose log has grown; no LWLock may be held
 * then.  NULL: that is left to a later sfx_pending_add, or flush.
 */
extern void sfx_pending_flush_all(void (*grew) (Relation index));

/* Append what waits for one index. */
extern void sfx_pending_flush_one(Relation index);

static inline void
sfx_pending_flush(void (*grew) (Relation index))
{
	if (unlikely(sfx_pending_indexes > 0))
		sfx_pending_flush_all(grew);
}

static inline void
sfx_pending_flush_index(Relation index)
{
	if (unlikely(sfx_pending_indexes > 0))
		sfx_pending_flush_one(index);
}

extern void sfx_pending_init(void);

#endif							/* SURFIDX_PENDING_H */
