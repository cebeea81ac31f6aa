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
#include "utils/memutils.h"
#include "utils/rel.h"

void
sfx_dead_note(SfxDeadInLeaf *d, MemoryContext cxt, BlockNumber leaf, const SfxPos *pos,
			  const uint64 *tids, int n)
{
	Assert(n <= SFX_BLOCK_ENTRIES);
	if (d->leaf != leaf || d->tids == NULL)
	{
		d->leaf = leaf;
		d->refused = false;
		d->n = 0;
	}
	if (d->refused)
		return;
	if (d->tids == NULL)
	{
		d->key = MemoryContextAlloc(cxt, SFX_BOUND_MAX);
		d->room = SFX_BLOCK_ENTRIES;
		d->tids = MemoryContextAlloc(cxt, sizeof(uint64) * d->room);
	}
	if (d->n == 0)
	{
		Assert(pos->len <= SFX_BOUND_MAX);
		memcpy(d->key, pos->key, pos->len);
		d->pos = (SfxPos) {d->key, pos->len, pos->tid};
	}
	if (d->n + n > d->room)
	{
		d->room *= 2;
		d->tids = repalloc(d->tids, sizeof(uint64) * d->room);
	}
	memcpy(d->tids + d->n, tids, n * sizeof(uint64));
	d->n += n;
}

void
sfx_dead_forget(SfxDeadInLeaf *d)
{
	if (d->tids == NULL)
		return;
	pfree(d->tids);
	pfree(d->key);
	d->tids = NULL;
}

/*
 * Reduce the sorted list to TIDs that the leaf still has.  The others' entries are gone since the
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
 * Rewrite the run's leaf that holds pos without those entries of the list that it still has and that
 * the heap confirms.  False: it was not worth it, or the run is gone.  Merge lock held (asserted); it keeps VACUUM from
 * finishing, so no TID is reused.
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
	qsort(list->tid, list->n, sizeof(uint64), sfx_cmp_u64);
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

void
sfx_dead_clean_leaf(Relation index, Relation heap, const SfxOrder *order, SfxDeadInLeaf *d)
{
	Cleaning	c = {index, heap, order, d->run, &d->pos, {.tid = d->tids,.n = d->n}};

	if (!sfx_dead_worth(d->entries, d->n))
		return;
	d->n = 0;
	d->refused = true;

	/*
	 * In parallel mode the processes of a query share heavyweight locks, so the merge lock would
	 * exclude none of them.  If this backend holds the merge lock already, the call comes from the
	 * middle of another change.
	 */
	if (RecoveryInProgress() || IsInParallelMode() || sfx_merge_lock_held(index) ||
		sfx_attempts_are_told())
		return;
	sfx_attempt_aside(index, "remove dead entries from", attempt_clean, &c);
	d->refused = !c.done;
}
