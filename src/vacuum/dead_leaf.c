/*-------------------------------------------------------------------------
 * dead_leaf.c - rewriting a leaf without entries that a reader found dead (X3)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "compare.h"
#include "dead_leaf.h"
#include "dead_rows.h"
#include "find.h"
#include "group.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "rewrite.h"
#include "stats.h"
#include "subxact.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "lib/qunique.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define LEAVES_MOST		64		/* are remembered, ... */
#define NOTED_MOST		8192	/* ... and TIDs of them */
#define FIRST_ROOM		64		/* TIDs of a leaf */
/* A leaf to which the scan may return is rewritten ... */
#define STAYS_SHARE		4		/* ... for one in so many of its entries, not each time that a few
								 * are found, or ... */
#define MET_AGAIN		256		/* ... after so many were found that had been found before */
#define WAIT_TIMES		8		/* what was met before an attempt that failed, until the next one */

/* ---- the list ---- */

static SfxDeadInLeaf *
find_leaf(SfxDeadLeaves *l, uint32 run, BlockNumber leaf)
{
	for (SfxDeadInLeaf **p = &l->first; *p; p = &(*p)->next)
	{
		SfxDeadInLeaf *d = *p;

		if (d->leaf != leaf || d->run != run)
			continue;
		*p = d->next;
		return d;
	}
	return NULL;
}

static void
leave_other(SfxDeadLeaves *l, uint32 run, BlockNumber leaf)
{
	SfxDeadInLeaf *d = l->first;

	while (d && d->run != run)
		d = d->next;
	if (d && d->leaf != leaf)
		d->left = l->changed = true;
}

SfxDeadInLeaf *
sfx_dead_in_leaf(SfxDeadLeaves *l, uint32 run, BlockNumber leaf, uint32 entries, bool goes_on)
{
	SfxDeadInLeaf *d = l->first;

	if (d && d->leaf == leaf && d->run == run)
		return d;
	if (goes_on)
		leave_other(l, run, leaf);
	d = find_leaf(l, run, leaf);
	if (d == NULL)
	{
		d = MemoryContextAllocZero(l->cxt, sizeof(SfxDeadInLeaf));
		d->leaf = leaf;
		d->run = run;
	}
	d->entries = entries;
	d->left = false;
	d->next = l->first;
	l->first = d;
	return d;
}

/* Put the TIDs in order, each once. */
static void
put_in_order(SfxDeadInLeaf *d)
{
	if (d->in_order)
		return;
	qsort(d->tids, d->n, sizeof(uint64), sfx_cmp_u64);
	d->n = (int) qunique(d->tids, d->n, sizeof(uint64), sfx_cmp_u64);
	d->in_order = true;
}

static void
first_note(SfxDeadLeaves *l, SfxDeadInLeaf *d, const SfxPos *pos)
{
	uint8	   *key = MemoryContextAlloc(l->cxt, Max(pos->len, 1));

	memcpy(key, pos->key, pos->len);
	d->pos = (SfxPos) {key, pos->len, pos->tid};
	d->room = FIRST_ROOM;
	d->tids = MemoryContextAlloc(l->cxt, sizeof(uint64) * d->room);
	d->in_order = true;
}

/* The list is full: of those that were met more than once, one is kept. */
static void
make_room(SfxDeadInLeaf *d)
{
	put_in_order(d);
	if (d->n <= d->room / 2)
		return;
	d->room *= 2;
	d->tids = repalloc_huge(d->tids, sizeof(uint64) * d->room);
}

void
sfx_dead_note(SfxDeadLeaves *l, SfxDeadInLeaf *d, const SfxPos *pos, const uint64 *tids, int n)
{
	if (d->tids == NULL)
		first_note(l, d, pos);
	for (int i = 0; i < n; i++)
	{
		if (d->n == d->room)
			make_room(d);
		d->in_order &= d->n == 0 || d->tids[d->n - 1] < tids[i];
		d->tids[d->n++] = tids[i];
	}
	d->met += n;
	l->changed = true;
}

static void
forget_leaf(SfxDeadInLeaf *d)
{
	if (d->tids)
	{
		pfree(d->tids);
		pfree((uint8 *) d->pos.key);
	}
	pfree(d);
}

/* ---- cleaning one leaf ---- */

/*
 * Reduce the list, which is sorted, to TIDs that the leaf still has.  The others' entries are gone since the
 * reader saw them, so VACUUM may have finished, and their TIDs may belong to new rows.  *nentries:
 * entries of the leaf.
 */
static void
intersect_leaf(const SfxGroup *g, SfxTidList *list, uint64 *nentries)
{
	char	   *copy = palloc(BLCKSZ);
	uint64	   *tids = palloc(sizeof(uint64) * SFX_BLOCK_ENTRIES);
	uint64	   *found = palloc(sizeof(uint64) * Max(list->n, 1));
	BlockNumber blkno = sfx_group_leaf(g, g->from);
	int			nfound = 0;
	SfxLeaf		leaf;

	sfx_leaf_copy(&g->tree, blkno, NULL, copy, &leaf);
	for (int b = 0; b < leaf.nblocks; b++)
	{
		int			n = sfx_leaf_tids(&leaf, b, tids);

		if (n < 0)
			sfx_corrupt(g->tree.index, blkno, "leaf TIDs");
		for (int i = 0; i < n && nfound < list->n; i++)
			if (bsearch(&tids[i], list->tid, list->n, sizeof(uint64), sfx_cmp_u64) != NULL)
				found[nfound++] = tids[i];
	}
	memcpy(list->tid, found, nfound * sizeof(uint64));
	list->n = nfound;
	*nentries = leaf.nentries;
}

/*
 * Rewrite the run's leaf that holds pos without those entries of the sorted list that it still has
 * and that the heap confirms.  False: it was not worth it, or the run is gone.  Merge lock held
 * (asserted); it keeps VACUUM from finishing, so no TID is reused.
 */
static bool
clean_leaf(Relation index, Relation heap, const SfxOrder *order, uint32 run, const SfxPos *pos,
		   SfxTidList *list)
{
	SfxMergeStats stats = {0};
	SfxMeta		meta;
	SfxGroup	g;
	uint64		nentries;

	Assert(sfx_merge_lock_held(index));
	sfx_meta_read(index, &meta);
	if (sfx_meta_find_run(&meta, run) < 0)
		return false;
	sfx_group_locate(&g, SfxTreeOf(index, order, &meta, run), pos, NULL);
	intersect_leaf(&g, list, &nentries);
	if (!sfx_dead_worth(nentries, list->n))
		return false;
	list->n = sfx_dead_ask(index, heap, list->tid, list->n, &g.horizon);
	if (!sfx_dead_worth(nentries, list->n))
		return false;
	sfx_group_rewrite(&g, NULL, sfx_tid_list_among, list, &stats);
	return true;
}

typedef struct Cleaning
{
	Relation	index;
	Relation	heap;
	const SfxOrder *order;
	uint32		run;
	const SfxPos *pos;
	SfxTidList	list;
	bool		done;
} Cleaning;

static void
attempt_clean(void *arg)
{
	Cleaning   *c = arg;
	MemoryContext cxt;
	MemoryContext old;

	if (!sfx_merge_trylock(c->index))
		return;
	SFX_STOP("leaf to be cleaned");
	cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx dead entries",
								ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	c->done = clean_leaf(c->index, c->heap, c->order, c->run, c->pos, &c->list);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	sfx_merge_unlock(c->index);
}

/* Clean the leaf.  False: that could not be. */
static bool
try_clean(Relation index, Relation heap, const SfxOrder *order, SfxDeadInLeaf *d)
{
	Cleaning	c = {index, heap, order, d->run, &d->pos, {.tid = d->tids,.n = d->n}};

	/*
	 * In parallel mode the processes of a query share heavyweight locks, so the merge lock would
	 * exclude none of them.  If this backend holds the merge lock already, the call comes from the
	 * middle of another change.
	 */
	if (RecoveryInProgress() || IsInParallelMode() || sfx_merge_lock_held(index) ||
		sfx_attempts_are_told() || sfx_transaction_ends())
		return false;
	sfx_attempt_aside(index, "remove dead entries from", attempt_clean, &c);
	/* of those that were asked about some may be left */
	d->n = c.list.n;
	d->in_order = false;
	return c.done;
}

/* ---- which leaves ---- */

/* Is so much noted of a leaf to which the scan may return, or met so often, that it is rewritten? */
static bool
is_enough(const SfxDeadInLeaf *d)
{
	return d->met >= d->wait &&
		(d->n >= d->entries / STAYS_SHARE || d->met >= 2 * (uint64) d->n + MET_AGAIN);
}

/* Rewrite the leaf if it is worth that.  False: it was not, or that could not be. */
static bool
clean_if_worth(Relation index, Relation heap, const SfxOrder *order, SfxDeadInLeaf *d, bool stays)
{
	if (!sfx_dead_worth(d->entries, d->n))
		return false;
	put_in_order(d);
	if (!sfx_dead_worth(d->entries, d->n) || (stays && !is_enough(d)))
		return false;
	d->wait = d->met * WAIT_TIMES;
	return try_clean(index, heap, order, d);
}

void
sfx_dead_clean(Relation index, Relation heap, const SfxOrder *order, SfxDeadLeaves *l,
			   SfxDeadWhen when)
{
	SfxDeadInLeaf **p = &l->first;
	int			nleaves = 0;
	int			ntids = 0;

	Assert(!SfxHoldsLWLock());
	if (!l->changed && when != SFX_DEAD_END)
		return;
	l->changed = false;
	while (*p)
	{
		SfxDeadInLeaf *d = *p;
		bool		stays = !d->left && when != SFX_DEAD_END && nleaves < LEAVES_MOST &&
		ntids + d->n <= NOTED_MOST;

		if (!(stays && when == SFX_DEAD_STEP) && clean_if_worth(index, heap, order, d, stays))
			stays = false;
		if (stays)
		{
			nleaves++;
			ntids += d->n;
			p = &d->next;
			continue;
		}
		*p = d->next;
		forget_leaf(d);
	}
}
