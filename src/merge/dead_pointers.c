/*-------------------------------------------------------------------------
 * dead_pointers.c - the table's dead line pointers (stubs), for merges and VACUUM (X6)
 *
 * An UPDATE of an indexed column leaves an entry under the old key, which neither scans for the new
 * key nor unique checks meet.  The table knows that it is dead: a backend that visits a nearly full
 * heap page prunes it, and of a row that was dead to all and has index entries a line pointer
 * marked LP_DEAD remains, a stub, until VACUUM has visited all indexes.  VACUUM begins by
 * collecting stubs; a merge does the same before its first group.  It rewrites these leaves anyway,
 * and an entry that it leaves out costs neither VACUUM nor the file anything.
 *
 * Pages are read only if the table's statistics promise enough stubs, and all-visible pages never.
 * Only the heap access method has pages that we can read.
 * that are all-visible.  The heap is the one table access method whose pages we know.
 */
#include "surfidx.h"
#include "bits.h"
#include "dead_pointers.h"
#include "dead_rows.h"
#include "meta.h"
#include "subxact.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/rel.h"

#define FRESH_PER_STUB		4	/* merges for which fewer than one stub in so many new entries is
								 * expected leave dead rows to VACUUM */
#define PAGES_PER_STUB		8	/* heap pages to read for each stub that is expected, and for each
								 * entry that the merge brings, at most */
#define ASKS_PER_PAGE		8	/* questions to VACUUM (one for each entry) that cost as much as
								 * reading a heap page */
#define BATCH_PAGES			128 /* heap pages read in one hold of the table's lock */
#define STUB_WORDS			((MaxHeapTuplesPerPage + 64) / 64)	/* a bit for each offset */

/*
 * 64 blocks of the table: a bit for each that has stubs, and the number of earlier blocks with
 * stubs
 */
typedef struct Stretch
{
	uint64		blocks;
	uint32		before;
} Stretch;

struct SfxStubs
{
	BlockNumber nblocks;
	Stretch    *stretch;
	uint64	   *words;			/* STUB_WORDS for each block that has stubs */
	uint32		nplaces;
	uint32		room;
	bool		full;			/* memory is used up: some stubs are not noted */
};

/* Entries of the index, without those of the active generation. */
static double
count_entries(const SfxMeta *meta)
{
	double		n = sfx_meta_entries(meta);

	for (int g = 1; g < meta->ngens; g++)
		n += meta->gens[g].sealed;
	return n;
}

static Size
stretches_size(BlockNumber nblocks)
{
	return ((Size) nblocks / 64 + 1) * sizeof(Stretch);
}

/*
 * Would memory for so many blocks with stubs stay within maintenance_work_mem, or
 * autovacuum_work_mem in autovacuum?
 */
static bool
memory_suffices(BlockNumber nblocks, Size room)
{
	int			kb = SfxIsAutovacuum() && autovacuum_work_mem != -1 ?
	autovacuum_work_mem : maintenance_work_mem;

	return stretches_size(nblocks) + room * STUB_WORDS * sizeof(uint64) <= (Size) kb * 1024;
}

static bool
has_room(SfxStubs *s)
{
	if (s->nplaces < s->room)
		return true;
	if (!memory_suffices(s->nblocks, (Size) s->room * 2))
	{
		s->full = true;
		return false;
	}
	s->room *= 2;
	s->words = repalloc_huge(s->words, (Size) s->room * STUB_WORDS * sizeof(uint64));
	return true;
}

/* Note the stubs of a heap page.  False: no memory is left. */
static bool
collect_page(SfxStubs *s, Relation heap, BlockNumber blkno, BufferAccessStrategy strategy,
			 bool vacuum, Buffer *vmbuf)
{
	Buffer		buf = ReadBufferExtended(heap, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buf);
	uint64		bits[STUB_WORDS] = {0};
	bool		any = false;
	bool		fits = true;

	/* prune as a scan of the table would; VACUUM has pruned already */
	if (!vacuum)
		SfxPrune(heap, buf, vmbuf, 0);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page))
	{
		OffsetNumber last = Min(PageGetMaxOffsetNumber(page), MaxHeapTuplesPerPage);

		for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
			if (ItemIdIsDead(PageGetItemId(page, off)))
			{
				bits[off / 64] |= UINT64CONST(1) << off % 64;
				any = true;
			}
	}
	UnlockReleaseBuffer(buf);
	if (any && (fits = has_room(s)))
	{
		Stretch    *t = &s->stretch[blkno / 64];

		if (t->blocks == 0)
			t->before = s->nplaces;
		t->blocks |= UINT64CONST(1) << blkno % 64;
		memcpy(s->words + (Size) s->nplaces++ * STUB_WORDS, bits, sizeof(bits));
	}
	return fits;
}

static BlockNumber
pages_to_look_at(Relation heap)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(heap);
	BlockNumber visible;

	visibilitymap_count(heap, &visible, NULL);
	return nblocks - Min(visible, nblocks);
}

/*
 * Is it worth reading the table's pages for a merge of `fresh` new entries?  The table has at most
 * as many stubs as dead rows, and at most as many as the index has entries beyond those of live
 * rows.  The number of live rows is the lesser of two rough counts: the cumulative statistics may
 * count some rows twice after VACUUM, and reltuples is as old as the last VACUUM or ANALYZE.
 */
static bool
is_worth(Relation heap, double fresh, double entries, double dead, double live)
{
	double		stubs = Min(dead, entries - (heap->rd_rel->reltuples >= 0 ? Min(live, heap->rd_rel->reltuples) : live));

	return heap->rd_tableam == GetHeapamTableAmRoutine() && stubs * FRESH_PER_STUB >= fresh &&
		pages_to_look_at(heap) <= Min(stubs, fresh) * PAGES_PER_STUB;
}

/*
 * Note the stubs of BATCH_PAGES pages, from block `from` on.  The table is locked.  False: this was
 * the last batch, or memory is used up.
 */
static bool
collect_batch(SfxStubs *s, Relation heap, BlockNumber from, BufferAccessStrategy strategy, bool vacuum)
{
	uint64		behind = (uint64) from + BATCH_PAGES;
	BlockNumber end = Min(Min(behind, s->nblocks), RelationGetNumberOfBlocks(heap));
	Buffer		vmbuf = InvalidBuffer;
	bool		more = end == behind;

	for (BlockNumber blkno = from; blkno < end; blkno++)
	{
		if (vacuum)
			SfxVacuumDelay();
		CHECK_FOR_INTERRUPTS();
		if (!VM_ALL_VISIBLE(heap, blkno, &vmbuf) &&
			!collect_page(s, heap, blkno, strategy, vacuum, &vmbuf))
		{
			more = false;
			break;
		}
	}
	if (BufferIsValid(vmbuf))
		ReleaseBuffer(vmbuf);
	return more;
}

/* An empty set for this table, palloc'd; NULL: the table is too large for the memory. */
static SfxStubs *
make_stubs(Relation heap)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(heap);
	SfxStubs   *s;

	if (!memory_suffices(nblocks, BATCH_PAGES))
		return NULL;
	s = palloc0(sizeof(*s));
	s->nblocks = nblocks;
	s->stretch = palloc_extended(stretches_size(nblocks), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	s->room = BATCH_PAGES;
	s->words = palloc((Size) s->room * STUB_WORDS * sizeof(uint64));
	return s;
}

/* The parameters of a collection and its result. */
typedef struct Collection
{
	Relation	index;
	double		fresh;
	double		entries;
	int64		live;
	int64		dead;
	bool		(*go_on) (void *arg);
	void	   *arg;
	SfxStubs   *stubs;			/* NULL: not begun, since it is not worth it */
	bool		looked;			/* all pages were read, or as many as memory allows */
} Collection;

/*
 * Collect stubs batch by batch.  The table's lock is released between batches, so that a session
 * that waits for a strong lock on the table waits for one batch at most.  If that session gets the
 * lock, or if memory is used up, the stubs noted so far remain valid and are returned.
 */
static void
attempt_collect(void *arg)
{
	Collection *c = arg;
	Relation	heap = sfx_dead_open_heap(c->index);
	BufferAccessStrategy strategy;
	bool		more = true;

	if (heap == NULL)
		return;
	if (!is_worth(heap, c->fresh, c->entries, c->dead, c->live) || (c->stubs = make_stubs(heap)) == NULL)
	{
		table_close(heap, AccessShareLock);
		return;
	}
	strategy = GetAccessStrategy(BAS_BULKREAD);
	for (uint64 from = 0; more && heap != NULL; from += BATCH_PAGES)
	{
		more = collect_batch(c->stubs, heap, from, strategy, false);
		table_close(heap, AccessShareLock);
		c->looked = !more;
		SFX_STOP("stubs noted");
		heap = more && c->go_on(c->arg) ? sfx_dead_open_heap(c->index) : NULL;
	}
	FreeAccessStrategy(strategy);
}

/*
 * A merge does not need the table, so a damaged heap page must not fail it: the collection runs in
 * a subtransaction, whose abort releases the page and the table.  Stubs noted before the damaged
 * page are used.
 */
SfxStubs *
sfx_stubs_collect(Relation index, const SfxMeta *meta, bool (*go_on) (void *arg), void *arg, bool *looked)
{
	Collection	c = {.index = index,.fresh = meta->gens[meta->ngens - 1].sealed,.entries = count_entries(meta),.go_on = go_on,.arg = arg};
	ErrorData  *edata;
	int64		changed;

	Assert(!SfxHoldsLWLock());
	*looked = false;
	if (IsInParallelMode() || sfx_attempts_are_told())
		return NULL;
	/* for an index with a predicate no counter tells how many rows have entries */
	if (index->rd_indpred != NULL || !SfxTableRows(index->rd_index->indrelid, &c.live, &c.dead, &changed) ||
		c.dead * FRESH_PER_STUB < c.fresh)
		return NULL;
	edata = sfx_attempt(attempt_collect, &c);
	if (edata && edata->sqlerrcode != ERRCODE_DATA_CORRUPTED)
		ReThrowError(edata);
	if (edata)
		ereport(WARNING,
				(errcode(edata->sqlerrcode),
				 errmsg("dead rows cannot be looked for in the table of index \"%s\": %s", RelationGetRelationName(index), edata->message)));
	*looked = c.looked;
	if (c.stubs && c.stubs->nplaces > 0)
		return c.stubs;
	sfx_stubs_free(c.stubs);
	return NULL;
}

/*
 * Were most of the blocks that this backend accessed since then read from outside shared buffers?
 */
static bool
reads_most(const BufferUsage *since)
{
	int64		hits = pgBufferUsage.shared_blks_hit - since->shared_blks_hit;
	int64		reads = pgBufferUsage.shared_blks_read - since->shared_blks_read;

	return reads > hits + BATCH_PAGES / 4;
}

SfxStubs *
sfx_stubs_of_vacuum(Relation index, BufferAccessStrategy strategy, double entries)
{
	SfxStubs   *s = NULL;
	BlockNumber pages;
	Relation	heap;
	BufferUsage before = pgBufferUsage;
	bool		all = true;

	if (!index->rd_index->indisvalid || (heap = sfx_dead_open_heap(index)) == NULL)
		return NULL;
	pages = heap->rd_tableam == GetHeapamTableAmRoutine() ? pages_to_look_at(heap) : 0;
	if (pages > 0 && pages <= (BlockNumber) NBuffers / 2 && entries >= (double) pages * ASKS_PER_PAGE &&
		(s = make_stubs(heap)) != NULL)
	{
		for (uint64 from = 0; all && from < s->nblocks; from += BATCH_PAGES)
			all = (collect_batch(s, heap, from, strategy, true) ||
				   from + BATCH_PAGES >= s->nblocks) && !reads_most(&before);
		all = all && !s->full;
	}
	table_close(heap, AccessShareLock);
	if (s == NULL || all)
		return s;
	sfx_stubs_free(s);
	return NULL;
}

void
sfx_stubs_free(SfxStubs *s)
{
	if (s == NULL)
		return;
	pfree(s->stretch);
	pfree(s->words);
	pfree(s);
}

/* The stubs of a heap page, a bit for each offset; NULL: it has none. */
static const uint64 *
stubs_of_page(const SfxStubs *s, BlockNumber blkno)
{
	uint64		bit = UINT64CONST(1) << blkno % 64;
	const Stretch *t;

	if (blkno >= s->nblocks)
		return NULL;
	t = &s->stretch[blkno / 64];
	if ((t->blocks & bit) == 0)
		return NULL;
	return s->words + (t->before + sfx_popcount(t->blocks & (bit - 1))) * STUB_WORDS;
}

int
sfx_stubs_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *stubs)
{
	const SfxStubs *s = stubs;
	BlockNumber blkno = InvalidBlockNumber;
	const uint64 *words = NULL;
	int			found = 0;

	for (int i = 0; i < n; i++)
	{
		uint32		off = SFX_TID_OFFSET(tids[i]);

		/* entries that are neighbors in the index often are neighbors in the table */
		if (SFX_TID_BLOCK(tids[i]) != blkno)
		{
			blkno = SFX_TID_BLOCK(tids[i]);
			words = stubs_of_page(s, blkno);
		}
		if (unlikely(off == InvalidOffsetNumber))
			sfx_bad_tid(index, tids[i]);
		if (words == NULL || off > MaxHeapTuplesPerPage)
			continue;
		dead[found] = (uint16) i;
		found += words[off / 64] >> off % 64 & 1;
	}
	return found;
}
