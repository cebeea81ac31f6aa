/*-------------------------------------------------------------------------
 * scan_blocks.c - a scan's entries many at once, for bitmaps and for aggregates
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "scan_impl.h"

#include "access/table.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "utils/memutils.h"

/* TIDs handed to a bitmap at once. */
#define BITMAP_BATCH	256

int
sfx_scan_tids(IndexScanDesc scan, const uint64 **tid)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			n = 0;

	Assert(so->rows.unread);
	if (so->swift && (n = sfx_reader_stretch_tids(so->reader, tid)) == 0)
		so->swift = false;
	if (n == 0)
	{
		if (!so->started)
			sfx_scan_start(scan, ForwardScanDirection);
		if (so->empty || !sfx_scan_next(scan, so, ForwardScanDirection, &e))
			return 0;
		so->swift = scan->parallel_scan == NULL && sfx_scan_goes_on(so);
		so->blocks.tid = e.tid;
		*tid = &so->blocks.tid;
		n = 1;
	}
	pgstat_count_index_tuples(scan->indexRelation, n);
	return n;
}

/* Start; are all its entries those of one range, and may they come in any order? */
static bool
start_unordered(IndexScanDesc scan, SfxScan *so)
{
	Assert(!so->started);
	sfx_scan_start(scan, ForwardScanDirection);
	return !so->empty && !sfx_scan_has_filters(so) && sfx_scankeys_single(&so->keys) && !so->mark &&
		!so->locks.wanted && !scan->parallel_scan;
}

bool
sfx_scan_count(IndexScanDesc scan, SfxVisibility *v)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(so->rows.unread);
	if (!start_unordered(scan, so) || !sfx_reader_count(so->reader, v))
		return false;
	sfx_reader_release_gate(so->reader);
	return true;
}

bool
sfx_scan_feed(IndexScanDesc scan, SfxVisibility *v, const SfxTaker *taker)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(!so->rows.unread);
	if (!start_unordered(scan, so) || !sfx_reader_feed(so->reader, v, taker))
		return false;
	sfx_reader_release_gate(so->reader);
	return true;
}

/*
 * Y8: when so many entries were handed out that testing their TIDs took as long as a look at all of
 * the map, that look is worth its while.
 */
static void
look_at_map(SfxScan *so, const SfxVisibility *v, int n)
{
	so->blocks.handed += n;
	if (so->blocks.looked || so->locks.wanted || sfx_scan_has_filters(so) ||
		so->blocks.handed < SFX_BLOCK_ENTRIES + sfx_visibility_map_bytes(v) / MAP_BYTES_AN_ENTRY)
		return;
	so->blocks.looked = true;
	if (sfx_visibility_of_all(v))
		sfx_reader_vouch(so->reader);
	SFX_STOP("map looked at");
}

/* Entries of several stages that come among one another. */
static int
merged_entries(SfxScan *so, const SfxBlock **block, int *from, const bool **known)
{
	if (so->blocks.merged == NULL)
	{
		so->blocks.merged = MemoryContextAlloc(so->cxt, sizeof(SfxBlock));
		so->blocks.known = MemoryContextAlloc(so->cxt, SFX_BLOCK_ENTRIES * sizeof(bool));
		if (so->kd.natts > so->kd.nkeys)
			so->blocks.payloads = MemoryContextAlloc(so->cxt, SFX_MERGED_PAYLOADS + SFX_MAX_ENTRY);
	}
	*block = so->blocks.merged;
	*from = 0;
	*known = so->blocks.known;
	return sfx_reader_merged(so->reader, so->blocks.merged, so->blocks.known, so->blocks.payloads);
}

/* The entry just returned, alone. */
static int
single_entry(SfxScan *so, const SfxEntry *e, const SfxBlock **block, int *from, const bool **known)
{
	static const bool yes = true;

	if (so->blocks.single == NULL)
		so->blocks.single = MemoryContextAlloc(so->cxt, sizeof(SfxBlock));
	sfx_block_of_entry(so->blocks.single, e);
	so->blocks.single->tidless = sfx_reader_last_tidless(so->reader);
	*block = so->blocks.single;
	*from = 0;
	*known = sfx_reader_last_known(so->reader) ? &yes : NULL;
	return 1;
}

/* Start to read entries in order. */
static void
start_ordered(IndexScanDesc scan, SfxScan *so, SfxVisibility *v)
{
	sfx_scan_start(scan, ForwardScanDirection);
	if (!so->empty && !so->locks.wanted && !sfx_scan_has_filters(so))
		sfx_reader_look_ahead(so->reader, v);
}

int
sfx_scan_entries(IndexScanDesc scan, SfxVisibility *v, const SfxBlock **block, int *from,
				 const bool **known)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			n = 0;

	Assert(!so->rows.unread && scan->parallel_scan == NULL);
	*known = NULL;
	if (so->swift)
		n = sfx_reader_stretch_entries(so->reader, false, block, from);
	if (n == 0 && so->swift && !sfx_scan_has_filters(so))
		n = merged_entries(so, block, from, known);
	if (n == 0)
	{
		if (!so->started)
			start_ordered(scan, so, v);
		if (so->empty || !sfx_scan_next(scan, so, ForwardScanDirection, &e))
			return 0;
		so->swift = sfx_scan_goes_on(so);
		*known = NULL;
		if (so->swift)
			n = sfx_reader_stretch_entries(so->reader, true, block, from);
		if (n == 0)
			n = single_entry(so, &e, block, from, known);
	}
	pgstat_count_index_tuples(scan->indexRelation, n);
	look_at_map(so, v, n);
	return n;
}

bool
sfx_scan_can_skip(IndexScanDesc scan)
{
	const SfxScan *so = (const SfxScan *) scan->opaque;

	return so->started && !so->empty && !sfx_scan_has_filters(so) && !scan->parallel_scan &&
		!so->locks.wanted && !so->mark && !sfx_scankeys_in_pieces(&so->keys);
}

BlockNumber
sfx_scan_leaf(IndexScanDesc scan)
{
	return sfx_reader_leaf(((SfxScan *) scan->opaque)->reader);
}

void
sfx_scan_skip(IndexScanDesc scan, const SfxPos *pos)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(sfx_scan_can_skip(scan));
	sfx_reader_reposition(so->reader, pos, true);
	so->swift = false;
}

bool
sfx_scan_at_leaf_end(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	return so->swift && sfx_scan_can_skip(scan) && sfx_reader_at_leaf_end(so->reader);
}

bool
sfx_scan_count_on(IndexScanDesc scan, const SfxPos *pos, uint64 *n)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (!sfx_reader_count_on(so->reader, pos, n))
		return false;
	pgstat_count_index_tuples(scan->indexRelation, *n);
	sfx_scan_skip(scan, pos);
	return true;
}

int
sfx_scan_count_blocks(IndexScanDesc scan, const SfxPos *pos)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	int			n;

	if (!so->swift || !sfx_scan_can_skip(scan))
		return 0;
	n = sfx_reader_count_blocks(so->reader, pos);
	pgstat_count_index_tuples(scan->indexRelation, n);
	return n;
}

bool
sfx_scan_back(IndexScanDesc scan, const SfxBlock **block)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			from;
	const bool *known;

	Assert(!so->swift && sfx_scan_can_skip(scan));
	if (!sfx_reader_next(so->reader, BackwardScanDirection, &e))
		return false;
	(void) single_entry(so, &e, block, &from, &known);
	pgstat_count_index_tuples(scan->indexRelation, 1);
	return true;
}

/* A bitmap scan is not told its table, which is locked by then. */
static pg_noinline void
ask_heap_end(IndexScanDesc scan, SfxScan *so, uint64 tid)
{
	Relation	heap = table_open(scan->indexRelation->rd_index->indrelid, NoLock);

	so->heap_end = sfx_heap_end(scan->indexRelation, heap, tid);
	table_close(heap, NoLock);
}

int64
sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	ItemPointerData tids[BITMAP_BATCH];
	int			n = 0;
	int64		total = 0;
	bool		recheck = false;
	const SfxBlock *block;
	SfxEntry	e;

	sfx_scan_start(scan, ForwardScanDirection);
	if (so->empty)
		return 0;
	while (sfx_scan_next(scan, so, ForwardScanDirection, &e))
	{
		bool		goes_on = sfx_scan_goes_on(so);
		int			i = -1;

		if (sfx_reader_recheck(so->reader) != recheck)
		{
			tbm_add_tuples(tbm, tids, n, recheck);
			total += n;
			n = 0;
			recheck = !recheck;
		}
		do
		{
			uint64		tid = i < 0 ? e.tid : block->tid[i];

			if (unlikely(SFX_TID_BLOCK(tid) >= so->heap_end))
				ask_heap_end(scan, so, tid);
			sfx_tid_pointer(scan->indexRelation, so->max_offset, tid, &tids[n++]);
			if (n == BITMAP_BATCH)
			{
				tbm_add_tuples(tbm, tids, n, recheck);
				total += n;
				n = 0;
			}
		} while (goes_on &&
				 sfx_reader_stretch(so->reader, ForwardScanDirection, &block, &i));
		CHECK_FOR_INTERRUPTS();
	}
	if (n > 0)
		tbm_add_tuples(tbm, tids, n, recheck);
	/* the other arms of an OR come next */
	if (sfx_readers_are_many())
	{
		sfx_reader_end(so->reader);
		so->reader = NULL;
	}
	return total + n;
}
