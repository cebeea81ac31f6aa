/*-------------------------------------------------------------------------
 * predicate.h - SERIALIZABLE: what transactions have read of an index, by ranges of keys
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PREDICATE_H
#define SURFIDX_PREDICATE_H

#include "leaf.h"
#include "shared_area.h"

#include "access/xact.h"
#include "utils/snapmgr.h"

/* A range whose reading is under way.  All zeros: none. */
typedef struct SfxKeyLock
{
	uint64		serial;			/* 0: none; else the reader's, which must still have it */
	uint32		reader;
	uint32		range;
} SfxKeyLock;

/* Do reads with this snapshot take predicate locks?  (Core may still know better.) */
static inline bool
sfx_predicate_wanted(Snapshot snapshot)
{
	return unlikely(IsolationIsSerializable()) && snapshot != NULL && IsMVCCSnapshot(snapshot);
}

/* A scan begins in a serializable transaction, here or in workers of ours. */
extern void sfx_predicate_begin(Relation index);

/*
 * [lo, hi) is going to be read with this snapshot; hi->key NULL: to the end.  Called before
 * anything of it is read.  With open: the range may turn out to be smaller, which
 * sfx_predicate_close will tell; *open was zero.
 */
extern void sfx_predicate_read(Relation index, const SfxOrder *order, Snapshot snapshot,
							   const SfxPos *lo, const SfxPos *hi, SfxKeyLock *open);

#ifdef USE_ASSERT_CHECKING
/* Has sfx_predicate_read been told of this, or was there no need? */
extern bool sfx_predicate_told(Relation index, const SfxOrder *order, Snapshot snapshot,
							   const SfxPos *lo, const SfxPos *hi);
#endif

/*
 * The range was read as far as to the key of *upto, from its low end or, backward, its high one;
 * upto NULL: whole.  *open becomes zero.
 */
extern void sfx_predicate_close(Relation index, const SfxOrder *order, SfxKeyLock *open,
								const SfxEntry *upto, bool backward);

/*
 * An entry with this key was appended, or a duplicate of it is about to be reported: notes a
 * conflict with each transaction that has read a range that it lies in.  May throw.
 */
extern void sfx_predicate_write(Relation index, const SfxOrder *order, const SfxEntry *e);

extern const SfxSharedArea sfx_predicate_area;

#endif							/* SURFIDX_PREDICATE_H */
