/*-------------------------------------------------------------------------
 * recover.h - the whole keys of cut leaves, out of the table (README, W1 to W7)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RECOVER_H
#define SURFIDX_RECOVER_H

#include "surfidx.h"
#include "counters.h"
#include "leaf.h"
#include "pos.h"
#include "settings.h"

/* Longer keys stay whole: their values may lie out of line. */
#define SFX_CUT_MOST	1000

/*
 * What leaves of the main tree are to have of keys: what the storage parameters say, if the index
 * is of a kind whose keys can be told by their bytes and computed from a row without calling
 * anybody's function; and valid, for an entry's row is known to have its key only then.  Else
 * SFX_LEAVES_FULL.
 */
extern SfxLeafKeys sfx_leaves_wanted(Relation index, const SfxOrder *order);

/* Are all new ones to be cut? */
extern bool sfx_cut_wanted(Relation index, const SfxOrder *order);

/* Could keys of these columns be cut?  The index may be of another method. */
extern bool sfx_cut_possible(Relation index, bool comparator);

/* NOTICE, if leaves stay whole though the index's parameter asks for cut ones. */
extern void sfx_cut_notice(Relation index);

typedef struct SfxRecovery SfxRecovery;

/*
 * The index's table, for who holds the index but perhaps not the table: NULL if that is locked by
 * somebody else.  To be closed with AccessShareLock.
 */
extern Relation sfx_recovery_open_heap(Relation index);

/*
 * heap: the index's table; NULL: it is opened, whose lock the caller has in most cases.  Until end
 * it belongs to the current resource owner, its memory to the current context.  At its end the keys
 * that were asked for are counted: for readers or for merges.
 */
extern SfxRecovery *sfx_recovery_begin(Relation index, Relation heap);
extern void sfx_recovery_end(SfxRecovery *rc, SfxCount who);

/*
 * The key of entries [from, to) of a decoded block of the cut leaf blkno, which have one stored
 * key: into key (SFX_MAX_ENTRY bytes), and its length; -1: all of these entries are dead to
 * everybody.  The caller holds the gate, from before he read the leaf, or the merge lock (W3), and
 * no page lock.  ERRCODE_INDEX_CORRUPTED if the row's key begins otherwise.
 */
extern int	sfx_recover_key(SfxRecovery *rc, BlockNumber blkno, const SfxBlock *block, int from,
							int to, uint8 *key);

/* Nothing is asked for in the near future: no page of the table stays pinned. */
extern void sfx_recovery_rest(SfxRecovery *rc);

/*
 * What stands for a position among the stored keys of a cut leaf.  Decoded entry 0 of block has the
 * stored key beside which pos is undecided (sfx_leaf_undecided); c says how the whole key compares
 * to pos, less than zero also if the entry is dead.  Stored entries are >= what comes back just if
 * the whole ones are >= *pos.  Its key may be in bytes (SFX_CUT_MOST).
 */
extern SfxPos sfx_recover_bound(const SfxBlock *block, const SfxPos *pos, int c, uint8 *bytes);

#endif							/* SURFIDX_RECOVER_H */
