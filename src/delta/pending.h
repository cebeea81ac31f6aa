/*-------------------------------------------------------------------------
 * pending.h - entries of one statement that wait for each other
 *
 * README's rule D7 says whose may, and until when.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PENDING_H
#define SURFIDX_PENDING_H

#include "surfidx.h"
#include "leaf.h"

#include "nodes/execnodes.h"

/* Indexes of which this backend may have entries that wait. */
extern int	sfx_pending_indexes;

/*
 * Statements whose IndexInfos stand in this context insert no row that is taken back before the
 * (sub)transaction's end.  It holds until the context is reset or sfx_pending_forbid.
 */
extern void sfx_pending_allow(MemoryContext context);
extern void sfx_pending_forbid(MemoryContext context);

/* May entries of this index wait, for the statement that info belongs to? */
extern bool sfx_pending_allowed(Relation index, Relation heap, IndexInfo *info);

/*
 * Let an entry wait (it is copied).  Some or all that wait may be appended.  True: the index's log
 * has grown since this was last said, as sfx_log_append; grew is called with other indexes of which
 * that is so.
 */
extern bool sfx_pending_add(Relation index, const SfxEntry *e, bool unchanged,
							void (*grew) (Relation index));

/*
 * Append all that waits.  Where a log has grown, grew is called with its index; NULL: that is left
 * to sfx_pending_add, or the next one who calls this.  With it no LWLock may be held.
 */
extern void sfx_pending_flush_all(void (*grew) (Relation index));

/* Append what waits of one index. */
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
