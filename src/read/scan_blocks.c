/*-------------------------------------------------------------------------
 * scan_blocks.c - a scan's entries many at once, for bitmaps and for aggregates
 *-------------------------------------------------------------------------
 */
#include "scan_impl.h"

#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "utils/memutils.h"

/* TIDs handed to a bitmap at once. */
#define BITMAP_BATCH	256

/* To test an entry's TID takes about as long as to look at so much of the map. */
#define MAP_BYTES_AN_ENTRY	32

int
sfx_scan_tids(IndexScanDesc scan, const uint64 **tid)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			n = 0;

	Assert(so->unread);
	if (so->swift && (n = sfx_reader_stretch_tids(so->reader, tid)) == 0)
		so->swift = false;
	if (n == 0)
	{
		if (!so->started)
			sfx_scan_start(scan, ForwardScanDirection);
		if (so->empty || !sfx_scan_next(scan, so, ForwardScanDirection, &e))
			return 0;
		so->swift = !sfx_scan_has_filters(so) && scan->parallel_scan == NULL;
		so->tid = e.tid;
		*tid = &so->tid;
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
	return !so->empty && !sfx_scan_has_filters(so) && so->keys.nlists == 0 && !so->mark &&
		!so->serializable && !scan->parallel_scan;
}

bool
sfx_scan_count(IndexScanDesc scan, SfxVisibility *v)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(so->unread);
	if (!start_unordered(scan, so) || !sfx_reader_count(so->reader, v))
		return false;
	sfx_reader_release_gate(so->reader);
	return true;
}

bool
sfx_scan_feed(IndexScanDesc scan, SfxVisibility *v, const SfxTaker *taker)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(!so->unread);
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
	so->handed += n;
	if (so->looked || so->serializable || sfx_scan_has_filters(so) ||
		so->handed < SFX_BLOCK_ENTRIES + sfx_visibility_map_bytes(v) / MAP_BYTES_AN_ENTRY)
		return;
	so->looked = true;
	if (sfx_visibility_of_all(v))
		sfx_reader_vouch(so->reader);
	SFX_STOP("map looked at");
}

int
sfx_scan_entries(IndexScanDesc scan, const SfxVisibility *v, const SfxBlock **block, int *from)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;
	int			n = 0;

	Assert(!so->unread && scan->parallel_scan == NULL);
	if (so->swift)
		n = sfx_reader_stretch_entries(so->reader, false, block, from);
	if (n == 0)
	{
		so->swift = false;
		if (!so->started)
			sfx_scan_start(scan, ForwardScanDirection);
		if (so->empty || !sfx_scan_next(scan, so, ForwardScanDirection, &e))
			return 0;
		so->swift = !sfx_scan_has_filters(so);
		if (so->swift)
			n = sfx_reader_stretch_entries(so->reader, true, block, from);
	}
	if (n == 0)
	{
		if (so->single == NULL)
			so->single = MemoryContextAlloc(so->cxt, sizeof(SfxBlock));
		sfx_block_of_entry(so->single, &e);
		so->single->tidless = sfx_reader_last_tidless(so->reader);
		*block = so->single;
		*from = 0;
		n = 1;
	}
	pgstat_count_index_tuples(scan->indexRelation, n);
	look_at_map(so, v, n);
	return n;
}

int64
sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	ItemPointerData tids[BITMAP_BATCH];
	int			n = 0;
	int64		total = 0;
	const SfxBlock *block;
	SfxEntry	e;

	sfx_scan_start(scan, ForwardScanDirection);
	if (so->empty)
		return 0;
	while (sfx_scan_next(scan, so, ForwardScanDirection, &e))
	{
		int			i = -1;

		do
		{
			sfx_tid_pointer(scan->indexRelation, i < 0 ? e.tid : block->tid[i], &tids[n++]);
			if (n == BITMAP_BATCH)
			{
				tbm_add_tuples(tbm, tids, n, false);
				total += n;
				n = 0;
			}
		} while (!sfx_scan_has_filters(so) && sfx_reader_stretch(so->reader, ForwardScanDirection, &block, &i));
		CHECK_FOR_INTERRUPTS();
	}
	if (n > 0)
		tbm_add_tuples(tbm, tids, n, false);
	return total + n;
}
