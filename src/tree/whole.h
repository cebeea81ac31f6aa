/*-------------------------------------------------------------------------
 * whole.h - proving that a scan of all entries gives all of them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_WHOLE_H
#define SURFIDX_WHOLE_H

/*
 * R12: all trees of an index in comparator order are in that order now, so that a scan without
 * bounds misses nothing.  Reads every leaf, under the merge lock, which it takes; the caller holds
 * no LWLock.  Errors: out of order or damaged (INDEX_CORRUPTED); those of comparison functions.
 */
extern void sfx_prove_order(Relation index, const SfxOrder *order);

#endif							/* SURFIDX_WHOLE_H */
