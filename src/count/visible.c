/*-------------------------------------------------------------------------
 * visible.c - counting which rows of many entries a snapshot sees, mostly by the visibility map
 * alone
 *
 * Core's index-only scan keeps one page of the map pinned and visits rows in index order.  A count
 * can do better.  All pages of the map stay pinned, the TIDs of a block are tested by vector
 * instructions (tidvisible.c), and rows for which the map does not vouch are put off, sorted by
 * their place in the table, and visited page by page.
 *
 * The rules are Y1 (an entry is read before its block's bit, and each bit once), Y2 (the gate is
 * held from the one to the other; rows may be visited later) and Y8 (if the map vouches for the
 * whole table after R1, each entry that the trees have then is of a visible row); src/README.md,
 * "Counts by block".
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "cpu.h"
#include "heap_ahead.h"
#include "page.h"
#include "visible.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* As in core: two bits for each heap block, after the page header. */
#define MAP_BYTES			(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define MAP_BLOCKS			(MAP_BYTES * 4)

#define ADD_MAX				1024	/* TIDs tested in one call, at most */
#define RADIX_BITS			11
#define RADIX				(1 << RADIX_BITS)
#define RADIX_WORTH			2048	/* shorter lists are sorted by comparisons */
#define FEW_WORTH			512 /* shorter ones are not looked at for few that are out of order */
#define FEW_OF(n)			((n) / 8 + 64)	/* so many of n are few */

/* In an item to be visited, the row's number is in the high bits, and its TID below. */
#define ROW_SHIFT			48
#define ROW_TID(item)		((item) & ((UINT64CONST(1) << ROW_SHIFT) - 1))

StaticAssertDecl(SFX_VISIBILITY_ROWS <= 1 << (64 - ROW_SHIFT), "a row's number fits");

StaticAssertDecl(MAP_BLOCKS % 16 == 0, "the kernel reads words of 16 blocks");

struct SfxVisibility
{
	Relation	index;
	Relation	heap;
	Snapshot	snapshot;
	MemoryContext cxt;
	uint32		flags;			/* of the scan, for fetching rows */
	bool		serializable;	/* heap blocks for which the map vouches get predicate locks */
	BlockNumber locked;			/* the last one of these */
	BlockNumber heap_end;		/* the table has at least so many blocks */
	bool		was_all;		/* mutant: the map was read when it was pinned */
	SfxVisMap	map;
	Buffer	   *buf;			/* pins of the map's pages */
	Buffer		prune_map;		/* ... and of the page that pruning has used last */
	SfxHeapAhead ahead;			/* for pages of rows; begun with the first ones */
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	uint64		visible;
	uint64		fetched;
	int			n;				/* TIDs put off */
	int			room;
	uint64	   *tid;			/* memory for room + ADD_MAX + SFX_HIDDEN_SLACK of them */
};

int
sfx_visibility_max_pages(void)
{
	return Max(8, NBuffers / 64);
}

BlockNumber
sfx_visibility_blocks(void)
{
	return MAP_BLOCKS;
}

/*
 * The number of blocks that this backend has last seen, which needs no system call.  If the table
 * has grown since, the map's pages for the new blocks may not be pinned, and their rows are visited
 * (Y1).
 */
static BlockNumber
known_blocks(Relation heap)
{
	BlockNumber n = RelationGetSmgr(heap)->smgr_cached_nblocks[MAIN_FORKNUM];

	return n != InvalidBlockNumber ? n : RelationGetNumberOfBlocks(heap);
}

/* Pin the map.  Blocks of a page that the map does not have yet are not all-visible. */
static void
pin_map(SfxVisibility *v)
{
	BlockNumber nblocks = known_blocks(v->heap);
	int			npages = Min((nblocks + MAP_BLOCKS - 1) / MAP_BLOCKS, sfx_visibility_max_pages());
	const uint8 **page = palloc(sizeof(uint8 *) * Max(npages, 1));

	v->buf = palloc(sizeof(Buffer) * Max(npages, 1));
	v->heap_end = nblocks;
	for (int i = 0; i < npages; i++)
	{
		v->buf[i] = InvalidBuffer;
		(void) visibilitymap_get_status(v->heap, (BlockNumber) i * MAP_BLOCKS, &v->buf[i]);
		if (!BufferIsValid(v->buf[i]))
			break;
		page[i] = (const uint8 *) PageGetContents(BufferGetPage(v->buf[i]));
		if (SFX_MUTANT("map before entries"))
			page[i] = memcpy(palloc(MAP_BYTES), page[i], MAP_BYTES);
		v->map.npages = i + 1;
	}
	v->map.page = page;
	v->map.blocks = MAP_BLOCKS;
}

SfxVisibility *
sfx_visibility_begin(IndexScanDesc scan)
{
	SfxVisibility *v = palloc0(sizeof(SfxVisibility));

	Assert(IsMVCCSnapshot(scan->xs_snapshot));
	v->index = scan->indexRelation;
	v->heap = scan->heapRelation;
	v->snapshot = scan->xs_snapshot;
	v->flags = SfxFetchFlags(scan);
	v->cxt = CurrentMemoryContext;
	v->serializable = IsolationIsSerializable();
	v->locked = InvalidBlockNumber;
	pin_map(v);
	v->was_all = SFX_MUTANT("table as it was") && sfx_visibility_of_all(v);
	return v;
}

/* ---- rows that have to be visited ---- */

/* Enlarge the list of TIDs, which is short at first, up to what work_mem allows. */
static void
grow_list(SfxVisibility *v)
{
	int64		most = Max(work_mem * INT64CONST(1024) / (2 * (int64) sizeof(uint64)), ADD_MAX);
	Size		bytes;
	int64		room = v->room == 0 ? ADD_MAX : 4 * (int64) v->room;

	room = Min(room, Min(most, MaxAllocSize / (2 * sizeof(uint64))));
	if (room <= v->room)
		return;
	bytes = sizeof(uint64) * (room + ADD_MAX + SFX_HIDDEN_SLACK);
	v->tid = v->tid == NULL ? MemoryContextAlloc(v->cxt, bytes) : repalloc(v->tid, bytes);
	v->room = (int) room;
}

static int
cmp_tid(const void *a, const void *b)
{
	uint64		x = ROW_TID(*(const uint64 *) a);
	uint64		y = ROW_TID(*(const uint64 *) b);

	return (x > y) - (x < y);
}

static void sort_by_place(uint64 *tid, int n);

/* How many of n sorted ones are not beyond that place? */
static int
count_before(const uint64 *tid, int n, uint64 place)
{
	int			from = 0;

	while (from < n)
	{
		int			middle = from + (n - from) / 2;

		if (ROW_TID(tid[middle]) <= place)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/*
 * Sort where few are out of order: a stage before the one that has most, or rows that were updated.
 * These are taken out and merged with the others.  False: they are not few, and nothing is sorted.
 */
static bool
sort_few(uint64 *tid, int n)
{
	uint64	   *out = palloc(sizeof(uint64) * FEW_OF(n));
	int			nout = 0;
	int			kept = 0;
	int			i;
	int			breaks = 0;

	for (i = 0; i < n && breaks < FEW_OF(i); i++)
	{
		uint64		place = ROW_TID(tid[i]);
		uint64		before = kept > 0 ? ROW_TID(tid[kept - 1]) : 0;
		uint64		next = i + 1 < n ? ROW_TID(tid[i + 1]) : place;
		int			stay = kept;

		if (likely(place >= before && (place <= next || next < before)))
		{
			tid[kept++] = tid[i];
			continue;
		}
		/* where another run begins, what the one before has beyond goes */
		if (place <= next && next < before)
			stay = count_before(tid, kept, place);
		if (nout + kept - stay + 1 > FEW_OF(n))
			break;
		memcpy(out + nout, tid + stay, sizeof(uint64) * (kept - stay));
		nout += kept - stay;
		breaks++;
		if (stay < kept)
			tid[stay++] = tid[i];
		else
			out[nout++] = tid[i];
		kept = stay;
	}
	memcpy(tid + kept, out, sizeof(uint64) * nout);
	if (i == n && nout > 0)
	{
		sort_by_place(out, nout);
		for (int at = n; nout > 0;)
			tid[--at] = kept > 0 && ROW_TID(tid[kept - 1]) > ROW_TID(out[nout - 1]) ?
				tid[--kept] : out[--nout];
	}
	pfree(out);
	return i == n;
}

/*
 * Sort by heap block, and in each block by offset, since memory is read fastest in order.  Many by a
 * radix sort from the lowest digit on, without the digits above the highest block.
 */
static void
sort_by_place(uint64 *tid, int n)
{
	uint64	   *other;
	uint64	   *from = tid;
	uint64		all = 0;

	if (n >= FEW_WORTH && sort_few(tid, n))
		return;
	for (int i = 0; i < n; i++)
		all |= ROW_TID(tid[i]);
	if (n < RADIX_WORTH)
	{
		qsort(tid, n, sizeof(uint64), cmp_tid);
		return;
	}
	other = palloc(sizeof(uint64) * n);
	/* a heap's offsets fit in one digit */
	for (int shift = 0; shift < 48 && all >> shift != 0; shift += shift == 0 ? 16 : RADIX_BITS)
	{
		int			start[RADIX] = {0};
		uint64	   *to = from == tid ? other : tid;
		int			at = 0;

		for (int i = 0; i < n; i++)
			start[ROW_TID(from[i]) >> shift & (RADIX - 1)]++;
		for (int k = 0; k < RADIX; k++)
		{
			int			count = start[k];

			start[k] = at;
			at += count;
		}
		for (int i = 0; i < n; i++)
			to[start[ROW_TID(from[i]) >> shift & (RADIX - 1)]++] = from[i];
		from = to;
	}
	if (from != tid)
		memcpy(tid, from, sizeof(uint64) * n);
	pfree(other);
}

/* Note that a row was visited and is visible. */
static inline void
note_seen(SfxVisibility *v, uint64 item, bool *seen)
{
	pgstat_count_heap_fetch(v->index);
	if (seen)
		seen[item >> ROW_SHIFT] = true;
}

/*
 * Is a row of a pinned and locked page visible by what stands in it, as HeapTupleSatisfiesMVCC finds
 * in most cases: its inserter committed before the snapshot was taken, and nothing deleted it?
 * False: core has to look.
 */
static inline bool
is_plainly_visible(const SfxVisibility *v, Page page, OffsetNumber offset)
{
	ItemId		lp;
	HeapTupleHeader tuple;

	if (offset > PageGetMaxOffsetNumber(page) || !ItemIdIsNormal(lp = PageGetItemId(page, offset)))
		return false;
	tuple = (HeapTupleHeader) PageGetItem(page, lp);
	return (tuple->t_infomask & HEAP_XMAX_INVALID) != 0 && HeapTupleHeaderXminCommitted(tuple) &&
		!HeapTupleHeaderIsHeapOnly(tuple) &&
		(HeapTupleHeaderXminFrozen(tuple) ||
		 TransactionIdPrecedes(HeapTupleHeaderGetRawXmin(tuple), v->snapshot->xmin));
}

/*
 * Visit rows of one heap block, which is pinned and locked once, as in bitmap scans; returns how
 * many are visible.
 */
static int
look_at_page(SfxVisibility *v, const uint64 *item, int n, bool *seen)
{
	Buffer		buf = ReadBuffer(v->heap, SFX_TID_BLOCK(ROW_TID(item[0])));
	Page		page = BufferGetPage(buf);
	int			visible = 0;

	SfxPrune(v->heap, buf, &v->prune_map, v->flags);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	for (int i = 0; i < n; i++)
	{
		ItemPointerData pointer;
		HeapTupleData tuple;

		sfx_tid_pointer(v->index, SFX_MAX_HEAP_OFFSET, ROW_TID(item[i]), &pointer);
		/* serializable transactions lock rows */
		if (!(is_plainly_visible(v, page, ItemPointerGetOffsetNumber(&pointer)) &&
			  !v->serializable) &&
			!heap_hot_search_buffer(&pointer, v->heap, buf, v->snapshot, &tuple, NULL, true))
			continue;
		note_seen(v, item[i], seen);
		visible++;
	}
	UnlockReleaseBuffer(buf);
	return visible;
}

/* The same for other table access methods, which offer no access to the rows of a block. */
static int
fetch_rows(SfxVisibility *v, const uint64 *item, int n, bool *seen)
{
	int			visible = 0;

	if (v->fetch == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(v->cxt);

		v->fetch = SfxBeginFetch(v->heap, v->flags);
		v->slot = table_slot_create(v->heap, NULL);
		MemoryContextSwitchTo(old);
	}
	for (int i = 0; i < n; i++)
	{
		ItemPointerData pointer;
		bool		again = false;

		sfx_tid_pointer(v->index, SFX_MAX_OFFSET, ROW_TID(item[i]), &pointer);
		if (!table_index_fetch_tuple(v->fetch, &pointer, v->snapshot, v->slot, &again, NULL))
			continue;
		note_seen(v, item[i], seen);
		visible++;
	}
	ExecClearTuple(v->slot);
	return visible;
}

/*
 * Visit n rows page by page; sorts tid.  Returns how many are visible; if seen is not NULL, it is
 * set for the numbers of these.
 */
static uint64
look_at_rows(SfxVisibility *v, uint64 *tid, int n, bool *seen)
{
	bool		is_heap = v->heap->rd_tableam == GetHeapamTableAmRoutine();
	uint64		visible = 0;
	int			end;

	if (n > 1)
		sort_by_place(tid, n);
	if (v->ahead.heap == NULL)
		sfx_ahead_begin(&v->ahead, v->heap, false);
	for (int i = 0; i < n; i = end)
	{
		BlockNumber block = SFX_TID_BLOCK(ROW_TID(tid[i]));

		CHECK_FOR_INTERRUPTS();
		sfx_ahead_rows(&v->ahead, tid, sizeof(uint64), i, n);
		for (end = i + 1; end < n && SFX_TID_BLOCK(ROW_TID(tid[end])) == block;)
			end++;
		if (block >= v->heap_end)
			v->heap_end = sfx_heap_end(v->index, v->heap, ROW_TID(tid[i]));
		visible += (is_heap ? look_at_page : fetch_rows) (v, tid + i, end - i, seen);
	}
	v->fetched += n;
	return visible;
}

/* Visit the rows that were put off, and count the visible ones. */
static void
count_put_off(SfxVisibility *v)
{
	v->visible += look_at_rows(v, v->tid, v->n, NULL);
	v->n = 0;
}

/* ---- counting ---- */

/* Make room in the list for n more TIDs. */
static inline void
make_room(SfxVisibility *v, int n)
{
	if (v->n + n > v->room)
		grow_list(v);
	if (v->n + n > v->room)
		count_put_off(v);
}

/*
 * In SERIALIZABLE transactions, heap blocks for which the map vouches are locked as read, as by
 * core's index-only scans.
 */
static void
lock_blocks(SfxVisibility *v, const uint64 *tid, int n)
{
	for (int i = 0; i < n; i++)
	{
		BlockNumber block = SFX_TID_BLOCK(tid[i]);

		if (block == v->locked)
			continue;
		PredicateLockPage(v->heap, block, v->snapshot);
		v->locked = block;
	}
}

/* Count and list come from one reading of the bits (Y1). */
static void
test_once(SfxVisibility *v, const uint64 *tid, int n)
{
	int			hidden = sfx_kernels->hidden(&v->map, tid, n, v->tid + v->n);

	v->visible += n - hidden;
	v->n += hidden;
}

#ifdef SFX_TEST
/* A mutant: reads the bits twice, and a bit may change in between. */
static void
test_twice(SfxVisibility *v, const uint64 *tid, int n)
{
	v->visible += n - sfx_kernels->hidden(&v->map, tid, n, v->tid + v->n);
	SFX_STOP("bits read once");
	v->n += sfx_kernels->hidden(&v->map, tid, n, v->tid + v->n);
}
#else
#define test_twice	test_once
#endif

void
sfx_visibility_add(SfxVisibility *v, const uint64 *tid, int n)
{
	while (n > 0)
	{
		int			now = Min(n, ADD_MAX);

		make_room(v, now);
		if (v->serializable)
			lock_blocks(v, tid, now);
		(SFX_MUTANT("bit read twice") ? test_twice : test_once) (v, tid, now);
		tid += now;
		n -= now;
	}
}

int
sfx_visibility_add_block(SfxVisibility *v, const SfxLeaf *leaf, int b, const SfxPos *lo,
						 const SfxPos *hi)
{
	int			n;
	int			hidden;

	Assert(!v->serializable);
	make_room(v, SFX_BLOCK_ENTRIES);
	hidden = sfx_leaf_hidden(leaf, b, lo, hi, &v->map, v->tid + v->n, &n);
	if (hidden < 0)
		return SFX_CORRUPT;
	v->visible += n - hidden;
	if (SFX_MUTANT("bit read twice"))
	{
		SFX_STOP("bits read once");
		hidden = sfx_leaf_hidden(leaf, b, lo, hi, &v->map, v->tid + v->n, &n);
	}
	v->n += hidden;
	return n;
}

int
sfx_visibility_of_block(SfxVisibility *v, const SfxLeaf *leaf, int b, const SfxPos *lo,
						const SfxPos *hi)
{
	uint64		hidden[SFX_BLOCK_ENTRIES + SFX_HIDDEN_SLACK];
	int			n;
	int			found = sfx_leaf_hidden(leaf, b, lo, hi, &v->map, hidden, &n);

	Assert(!v->serializable);
	if (SFX_MUTANT("hidden rows of a coded block"))
		found = Min(found, 0);
	return found < 0 ? SFX_CORRUPT : found == 0;
}

bool
sfx_visibility_of_all(const SfxVisibility *v)
{
	BlockNumber left = RelationGetNumberOfBlocks(v->heap);
	const uint64 visible = UINT64CONST(0x5555555555555555);

	if (v->was_all)
		return true;
	if (left > (uint64) v->map.npages * MAP_BLOCKS)
		return false;
	for (int i = 0; left > 0; i++)
	{
		const uint64 *word = (const uint64 *) v->map.page[i];
		BlockNumber blocks = Min(left, MAP_BLOCKS);
		uint64		all = visible;

		for (BlockNumber w = 0; w < blocks / 32; w++)
			all &= word[w];
		if (blocks % 32 > 0)
			all &= word[blocks / 32] | ~UINT64CONST(0) << 2 * (blocks % 32);
		if ((all & visible) != visible)
			return false;
		left -= blocks;
	}
	return true;
}

Size
sfx_visibility_map_bytes(const SfxVisibility *v)
{
	return (Size) v->map.npages * MAP_BYTES;
}

void
sfx_visibility_add_visible(SfxVisibility *v, uint64 n)
{
	v->visible += n;
}

void
sfx_visibility_forget(SfxVisibility *v)
{
	v->visible = 0;
	v->n = 0;
}

uint64
sfx_visibility_count(SfxVisibility *v, uint64 *fetched)
{
	uint64		visible;

	count_put_off(v);
	visible = v->visible;
	*fetched = v->fetched;
	v->visible = v->fetched = 0;
	return visible;
}

/* ---- rows one by one ---- */

int
sfx_visibility_hidden(SfxVisibility *v, const uint64 *tid, int n, uint16 *hidden)
{
	uint64		list[SFX_VISIBILITY_ENTRIES + SFX_HIDDEN_SLACK];
	int			found;
	int			i = 0;

	Assert(n <= SFX_VISIBILITY_ENTRIES);
	if (v->serializable)
		lock_blocks(v, tid, n);
	found = sfx_kernels->hidden(&v->map, tid, n, list);
	/* the kernel keeps the order of TIDs */
	for (int h = 0; h < found; h++, i++)
	{
		while (tid[i] != list[h])
			i++;
		hidden[h] = (uint16) i;
	}
	return found;
}

void
sfx_visibility_look(SfxVisibility *v, uint64 *tid, int n, bool *seen)
{
	Assert(n <= SFX_VISIBILITY_ROWS);
	memset(seen, 0, (unsigned) n * sizeof(bool));
	for (int i = 0; i < n; i++)
		tid[i] |= (uint64) i << ROW_SHIFT;
	(void) look_at_rows(v, tid, n, seen);
}

void
sfx_visibility_end(SfxVisibility *v)
{
	sfx_count_ahead(&SfxRelLocator(v->index), &v->ahead);
	for (uint32 i = 0; i < v->map.npages; i++)
		ReleaseBuffer(v->buf[i]);
	if (BufferIsValid(v->prune_map))
		ReleaseBuffer(v->prune_map);
	if (v->fetch)
	{
		table_index_fetch_end(v->fetch);
		ExecDropSingleTupleTableSlot(v->slot);
	}
	if (v->tid)
		pfree(v->tid);
	pfree(v->buf);
	pfree((void *) v->map.page);
	pfree(v);
}
