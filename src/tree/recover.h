/*-------------------------------------------------------------------------
 * recover.h - the whole keys of cut leaves, taken from the table (README, W1 to W7)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RECOVER_H
#define SURFIDX_RECOVER_H

#include "counters.h"
#include "leaf.h"
#include "settings.h"

/* Bytes; longer keys stay whole, as their values may lie out of line. */
#define SFX_CUT_MOST	1000

/*
 * What leaves of the main tree are to have of keys: what the storage parameters say, provided that
 * keys are told apart by their bytes and computed from a row without calling user functions, and
 * that the index is valid (only then is an entry's row known to have its key).  Else
 * SFX_LEAVES_FULL.
 */
extern SfxLeafKeys sfx_leaves_wanted(Relation index, const SfxOrder *order);

/* Are all new leaves of the main tree to be cut? */
extern bool sfx_cut_wanted(Relation index, const SfxOrder *order);

/* Could keys of these columns be cut?  The index may be of another access method. */
extern bool sfx_cut_possible(Relation index, bool comparator);

/* Raise a NOTICE if leaves stay whole though the index's parameter asks for cut ones. */
extern void sfx_cut_notice(Relation index);

typedef struct SfxRecovery SfxRecovery;

/*
 * Open and lock the index's table, for a caller that has locked the index but perhaps not the
 * table.  NULL: another session's lock on it conflicts (W3).  To be closed with AccessShareLock.
 */
extern Relation sfx_recovery_open_heap(Relation index);

/*
 * Begin to recover keys.  heap: the index's table; NULL: it is opened and locked here, and closed
 * at the end (most callers have it locked, so that does not wait).  The recovery belongs to the
 * current resource owner and memory context.  sfx_recovery_end adds the number of keys recovered to
 * the count that it names.
 */
extern SfxRecovery *sfx_recovery_begin(Relation index, Relation heap);
extern void sfx_recovery_end(SfxRecovery *rc, SfxCount count);

/*
 * The keys of all entries of the block from number `from` on will be recovered: request their pages
 * of the table.
 */
extern void sfx_recovery_ahead(SfxRecovery *rc, const SfxBlock *block, int from);

/*
 * Recover the key of entries [from, to) of a decoded block of the cut leaf blkno, which share one
 * stored key.  key: room for SFX_MAX_ENTRY bytes; returns the key's length.  -1: all of these
 * entries are dead to all snapshots.  The caller has held the gate since before it read the leaf,
 * or holds the merge lock (W3), and has no page locked.  ERRCODE_INDEX_CORRUPTED if the row's key
 * begins otherwise than the stored one.
 */
extern int	sfx_recover_key(SfxRecovery *rc, BlockNumber blkno, const SfxBlock *block, int from,
							int to, uint8 *key);

/* Release the page of the table that stays pinned between keys. */
extern void sfx_recovery_rest(SfxRecovery *rc);

/*
 * The position that stands for *pos among the stored keys of a cut leaf: stored entries are >= it
 * if and only if the whole ones are >= *pos.  Decoded entry 0 of block has the stored key beside
 * which *pos is undecided (sfx_leaf_undecided).  c: how that entry's whole key compares to *pos;
 * less than zero also if the entry is dead.  The result's key may be in bytes (room for
 * SFX_CUT_MOST).
 */
extern SfxPos sfx_recover_bound(const SfxBlock *block, const SfxPos *pos, int c, uint8 *bytes);

#endif							/* SURFIDX_RECOVER_H */
