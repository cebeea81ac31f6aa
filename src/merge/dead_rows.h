/*-------------------------------------------------------------------------
 * dead_rows.h - entries that are dead to everybody: asking the heap, and the horizon that standbys
 * must hear of
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DEAD_H
#define SURFIDX_DEAD_H

#include "surfidx.h"
#include "horizon.h"
#include "leaf.h"

/* TIDs that the heap is asked about at once, at most. */
#define SFX_DEAD_MAX	4096

/*
 * Entries of one key that a merge asks about, at most: longer lists are of values that many rows
 * share.
 */
#define SFX_VERSIONS_RUN	64
#define SFX_VERSIONS_MAX	(16 * SFX_DEAD_MAX) /* in a group */

/*
 * Which of tids[0..n), n <= SFX_DEAD_MAX, lead to rows that are dead to every snapshot here?
 * Moves them to the front, ascending, and returns how many there are; raises *horizon to what a
 * standby has to be told before it loses their entries.  The caller has seen the entries in the
 * index since it pinned the gate or took the merge lock, and still holds that: so no TID is in
 * other hands.
 */
extern int	sfx_dead_ask(Relation index, Relation heap, uint64 *tids, int n, SfxHorizon *horizon);

/*
 * The rows of these TIDs are known to be dead to every snapshot, on the same conditions: what a
 * standby has to be told.  There may be none any more.
 */
extern void sfx_dead_known(Relation index, Relation heap, const uint64 *tids, int n,
						   SfxHorizon *horizon);

/*
 * Which of the index's TIDs tids[0..n), n <= SFX_BLOCK_ENTRIES, are dead?  Their places go to dead,
 * ascending; how many.  May throw where a TID is none (damage).
 */
typedef int (*SfxDeadAmong) (Relation index, const uint64 *tids, int n, uint16 *dead, void *arg);

typedef struct SfxTidList
{
	uint64	   *tid;			/* ascending */
	int			n;
} SfxTidList;

/* As an SfxDeadAmong: those that are in this list. */
extern int	sfx_tid_list_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *list);

/*
 * Versions of rows that a merge meets: entries of equal keys, among them new ones, most of which
 * UPDATEs have left behind.  The entries of a group are noted in order; then the heap is asked
 * which of them are dead.
 */
typedef struct SfxVersions
{
	Relation	heap;			/* NULL: nobody is asked */
	int			nrun;			/* of the key at hand */
	bool		fresh;			/* ... one of them at least is new */
	uint64		run[SFX_VERSIONS_RUN];
	uint32		keylen;
	uint8		key[SFX_MAX_ENTRY];
	bool		asked;
	int			room;			/* in tids */
	SfxTidList	tids;			/* to ask about; once asked, the dead ones */
} SfxVersions;

extern void sfx_versions_clear(SfxVersions *v);

/* An entry of the key at hand, or a new one of another key. */
extern void sfx_versions_note(SfxVersions *v, const SfxEntry *e, bool fresh);

/* Are entries with e's key being noted? */
static inline bool
sfx_versions_same(const SfxVersions *v, const SfxEntry *e)
{
	return v->nrun > 0 && sfx_same_bytes(v->key, v->keylen, e->key, e->keylen);
}

/*
 * May a merge meet versions of rows?  In unique indexes a key has one living row; in others only
 * updates that changed no key are sure to have left versions.
 */
static inline bool
sfx_versions_wanted(Relation index, bool unchanged)
{
	return unchanged || index->rd_index->indisunique;
}

/* Ask, once.  True: there are dead ones.  Merge lock held. */
extern bool sfx_versions_ask(SfxVersions *v, Relation index, SfxHorizon *horizon);

/*
 * The index's table, if a lock on it is to be had at once, ready to be asked about rows; else
 * NULL.  Needs no snapshot, and leaves none. A worker keeps it for one group only: it looks for
 * waiters at the index.
 */
extern Relation sfx_dead_open_heap(Relation index);

/* Is it worth it to rewrite a leaf of so many entries to be rid of ndead? */
extern bool sfx_dead_worth(uint64 nentries, int ndead);

#endif							/* SURFIDX_DEAD_H */
