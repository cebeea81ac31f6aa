/*-------------------------------------------------------------------------
 * dead_pointers.c - the table's dead line pointers, for merges (README "Dead entries", X6)
 *
 * An UPDATE of an indexed column leaves an entry under the old key, where no scan for the new one
 * and no unique check meets it.  But the table knows.  Whoever visits a heap page that is nearly
 * full prunes it.  Of a row that is dead to all and had entries in indexes a line pointer remains
 * that says so, a stub, until VACUUM has been to all indexes.  VACUUM begins by collecting stubs; a
 * merge does the same before its first group.  It rewrites these leaves anyway, and what it need
 * not write again is not VACUUM's work any more, nor the file's.
 *
 * Pages are looked at only if the table's statistics promise that it is worth it, and never those
 * that are all-visible.  The heap is the one table access method whose pages we know.
 */
#include "surfidx.h"
#include "bits.h"
#include "dead_pointers.h"
#include "dead_rows.h"
#include "lwlocks.h"
#include "meta.h"
#include "subxact.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/rel.h"

#define FRESH_PER_STUB		4	/* fewer than one for so many entries that the merge brings are
								 * left to VACUUM */
#define PAGES_PER_STUB		8	/* heap pages to look at for each stub that is expected, and for
								 * each entry that the merge brings, at most */
#define ASKS_PER_PAGE		8	/* entries about which VACUUM is not asked for the price of a heap
								 * page */
#define BATCH_PAGES			128 /* heap pages for which the table's lock is held */
#define STUB_WORDS			((MaxHeapTuplesPerPage + 64) / 64)	/* a bit for each offset, from 1 on */

/* 64 blocks of the table: which of them have stubs, and how many blocks before them do. */
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
	bool		full;			/* not all are noted: no more memory */
};

/* Entries that the index has. */
static double
count_entries(const SfxMeta *meta)
{
	double		n = 0;

	for (int r = 0; r < meta->nruns; r++)
		n += meta->runs[r].entries;
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
 * Would room for so many blocks with stubs be within what maintenance may take?  As core's VACUUM.
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

/* Note the stubs of a heap page.  False: no more memory. */
static bool
collect_page(SfxStubs *s, Relation heap, BlockNumber blkno, BufferAccessStrategy strategy,
			 bool vacuum, Buffer *vmbuf)
{
	Buffer		buf = ReadBufferExtended(heap, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buf);
	uint64		bits[STUB_WORDS] = {0};
	bool		any = false;
	bool		fits = true;

	/* as any scan of the table would; VACUUM has done so */
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
 * Is it worth it to look at the table's pages, for a merge of so many fresh entries?  It has no
 * more stubs than dead rows, nor the index entries of more than it has beyond those of living
 * rows.  How many rows live both counters of the server know roughly: the one that goes by what
 * statements report counts some twice behind VACUUM, the other one is as old as that.
 */
static bool
is_worth(Relation heap, double fresh, double entries, double dead, double live)
{
	double		stubs = Min(dead, entries - (heap->rd_rel->reltuples >= 0 ? Min(live, heap->rd_rel->reltuples) : live));

	return heap->rd_tableam == GetHeapamTableAmRoutine() && stubs * FRESH_PER_STUB >= fresh &&
		pages_to_look_at(heap) <= Min(stubs, fresh) * PAGES_PER_STUB;
}

/* Some pages from block from on, in a table that we have locked. False: that is enough. */
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

/* NULL: the table is too large. */
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

/* What a collection is for, and what it has. */
typedef struct Collection
{
	Relation	index;
	double		fresh;
	double		entries;
	int64		live;
	int64		dead;
	bool		(*go_on) (void *arg);
	void	   *arg;
	SfxStubs   *stubs;			/* NULL: not begun, for it is not worth it */
	bool		looked;			/* to the end, or as far as memory goes */
} Collection;

/*
 * The table's lock is given up from batch to batch, so that who wants the table for himself does
 * not wait.  What was collected until he has it, or until memory is used up, is good for as much as
 * it is.
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
 * A merge needs nothing of the table: where a page of it is damaged, others may have noted enough.
 * That is found out in a subtransaction, whose end lets go of the page and of the table.
 */
SfxStubs *
sfx_stubs_collect(Relation index, const SfxMeta *meta, bool (*go_on) (void *arg), void *arg, bool *looked)
{
	Collection	c = {.index = index,.fresh = meta->gens[meta->ngens - 1].sealed,.entries = count_entries(meta),.go_on = go_on,.arg = arg};
	ErrorData  *edata;

	Assert(sfx_holds_no_lwlock());
	*looked = false;
	if (IsInParallelMode() || sfx_attempts_are_told())
		return NULL;
	/* of an index with a condition nobody counts which rows have entries */
	if (index->rd_indpred != NULL || !SfxTableRows(index->rd_index->indrelid, &c.live, &c.dead) ||
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

/* Were most of the blocks that this backend has gone through since then not in memory? */
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

		/* neighbours in the index are neighbours in the table, often */
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
