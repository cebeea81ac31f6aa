/*-------------------------------------------------------------------------
 * dead_rows.h - entries of rows that are dead to everybody: asking the heap, and the horizon that
 * standbys must be told
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_ROWS_H
#define SURFIDX_DEAD_ROWS_H

#include "horizon.h"
#include "leaf.h"

/*
 * Entries of one key about which a merge asks, at most: longer lists belong to values that many
 * rows share.
 */
#define SFX_VERSIONS_RUN	64
#define SFX_VERSIONS_MAX	65536	/* in a group */

/*
 * Which of tids[0..n) lead to rows that are dead to every snapshot here?  Moves them to the front of
 * tids, ascending and each once, and returns their number; raises *horizon to the one that a
 * standby must be told before it loses their entries.  REQUIRES: the caller has read
 * the entries from the index since it pinned the gate or took the merge lock, and still holds it,
 * so that no TID has been reused.  heap: from sfx_dead_open_heap.
 */
extern int	sfx_dead_ask(Relation index, Relation heap, uint64 *tids, int n, SfxHorizon *horizon);

/*
 * The same for TIDs whose rows are known to be dead to every snapshot: only raises *horizon.  TIDs
 * that lead to no row are skipped (X7).
 */
extern void sfx_dead_known(Relation index, Relation heap, const uint64 *tids, int n,
						   SfxHorizon *horizon);

/*
 * Which of the TIDs tids[0..n) of the index's entries, n <= SFX_BLOCK_ENTRIES, are dead?  Writes
 * their places in tids to dead, ascending, and returns their number.  Raises an error for a
 * malformed TID (damage).
 */
typedef int (*SfxDeadAmong) (Relation index, const uint64 *tids, int n, uint16 *dead, void *arg);

typedef struct SfxTidList
{
	uint64	   *tid;			/* ascending */
	int			n;
} SfxTidList;

/* An SfxDeadAmong: finds the TIDs that are in this list. */
extern int	sfx_tid_list_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *list);

/*
 * Versions of rows that a merge meets: entries of equal keys of which one at least is new; mostly
 * UPDATEs have left them.  While a group is packed its entries are noted in order; then the heap is
 * asked which of them are dead, and the group is packed again without these (X5).
 */
typedef struct SfxVersions
{
	Relation	heap;			/* NULL: versions are not looked for */
	int			nrun;			/* entries noted of the current key */
	bool		fresh;			/* ... at least one of them is new */
	uint64		run[SFX_VERSIONS_RUN];
	uint32		keylen;
	uint8		key[SFX_MAX_ENTRY];
	bool		asked;
	int			room;			/* number of TIDs for which tids has memory */
	SfxTidList	tids;			/* to ask about; after sfx_versions_ask, the dead ones */
} SfxVersions;

/* Forget the entries that were noted for a group; the answer of sfx_versions_ask stays. */
extern void sfx_versions_clear(SfxVersions *v);

/*
 * Note an entry of the current key, or the first one of the next key.  fresh: it is from the
 * source.
 */
extern void sfx_versions_note(SfxVersions *v, const SfxEntry *e, bool fresh);

/* Are entries with e's key being noted? */
static inline bool
sfx_versions_same(const SfxVersions *v, const SfxEntry *e)
{
	return v->nrun > 0 && sfx_same_bytes(v->key, v->keylen, e->key, e->keylen);
}

/*
 * May a merge meet versions of rows?  In unique indexes each key has one live row at most.  In
 * others only UPDATEs that changed no key (unchanged: the source has entries of such) surely left
 * versions.
 */
static inline bool
sfx_versions_wanted(Relation index, bool unchanged)
{
	return unchanged || index->rd_index->indisunique;
}

/*
 * Ask the heap about the noted entries, once for each group.  True: some are dead, and v->tids has
 * them; *horizon is raised.  Merge lock held (asserted).
 */
extern bool sfx_versions_ask(SfxVersions *v, Relation index, SfxHorizon *horizon);

/*
 * The index's table, locked with AccessShareLock and ready to be asked about rows, if that lock is
 * available at once; else NULL.  The caller closes it.  Needs no snapshot, and leaves none.  A
 * worker keeps it for one group only, since it checks for waiters at the index and not at the
 * table.
 */
extern Relation sfx_dead_open_heap(Relation index);

/* Is a leaf of nentries entries worth rewriting to get rid of ndead of them? */
extern bool sfx_dead_worth(uint64 nentries, int ndead);

#endif							/* SURFIDX_DEAD_ROWS_H */
