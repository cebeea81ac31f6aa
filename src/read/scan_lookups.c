/*-------------------------------------------------------------------------
 * scan_lookups.c - where the rows of the next lookups stand
 *
 * A caller that knows the keys of many lookups in advance gets the TIDs of their rows, whose pages it
 * requests (R13).  Keys are sought in the order of the index.  If the first one reads a page, the
 * leaves of the others are requested together.  Like a scout (scan_ahead.c), such a scan returns
 * hints (N4): it locks nothing, and reads the first range of each lookup.
 */
#include "surfidx.h"
#include "find.h"
#include "meta.h"
#include "metacache.h"
#include "pos.h"
#include "scan_impl.h"

/* A lookup's first range. */
typedef struct Lookup
{
	int			number;			/* of the lookup, as the caller counts */
	bool		closed;			/* the range is bounded on both sides */
	SfxPos		lo;
	SfxPos		hi;
} Lookup;

static int
compare_lookups(const void *a, const void *b, void *order)
{
	return sfx_order_cmp_pos(order, &((const Lookup *) a)->lo, &((const Lookup *) b)->lo);
}

/* List the lookups that can find something, in the order of the index.  Returns their number. */
static int
sort_lookups(IndexScanDesc scan, ScanKey keys, int n, Lookup *list)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	int			nkeys = scan->numberOfKeys;
	int			found = 0;

	for (int i = 0; i < n; i++)
	{
		Lookup	   *l = &list[found];

		sfx_rescan(scan, keys + i * nkeys, nkeys, NULL, 0);
		sfx_scan_start(scan, ForwardScanDirection);
		if (so->empty)
			continue;
		sfx_scankeys_bounds(&so->keys, &l->lo, &l->hi);
		l->lo = sfx_pos_copy(&l->lo);
		if (l->hi.key != NULL)
			l->hi = sfx_pos_copy(&l->hi);
		l->closed = so->keys.closed;
		l->number = i;
		found++;
	}
	qsort_arg(list, found, sizeof(Lookup), compare_lookups, (void *) so->order);
	return found;
}

/* Request the leaves of the main tree to which n sorted lookups lead. */
static void
request_leaves(Relation index, const SfxOrder *order, const Lookup *list, int n)
{
	BlockNumber end = RelationGetNumberOfBlocks(index);
	BlockNumber last = InvalidBlockNumber;
	SfxMeta		meta;

	if (!sfx_meta_known(index, &meta) || SfxMetaMain(&meta)->level == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		BlockNumber leaf;

		if (sfx_tree_leaves_from(SfxTreeOf(index, order, &meta, SfxMetaMain(&meta)->id),
								 &list[i].lo, false, &leaf, 1) == 0)
			return;
		if (leaf != last && leaf >= SFX_FIRST_BLKNO && leaf < end)
			(void) PrefetchBuffer(index, MAIN_FORKNUM, leaf);
		last = leaf;
	}
}

/* The TIDs of a lookup's first rows, at most `most`; returns their number. */
static int
look_up(SfxReader *r, const Lookup *l, bool first, uint64 *tid, int most)
{
	SfxEntry	e;
	int			n = 0;

	(first ? sfx_reader_seek : sfx_reader_seek_on) (r, &l->lo, &l->hi);
	if (!l->closed)
		sfx_reader_no_filters(r);
	while (n < most && sfx_reader_next(r, ForwardScanDirection, &e))
		tid[n++] = e.tid;
	return n;
}

void
sfx_scan_lookups(Relation index, Relation heap, ScanKey keys, int nkeys, int n,
				 uint64 *tid, int most, int *found)
{
	IndexScanDesc scan = sfx_scout_scan(index, heap, nkeys);
	SfxScan    *so = (SfxScan *) scan->opaque;
	Lookup	   *list = palloc(n * sizeof(Lookup));

	Assert(n > 0 && most > 0 && index->rd_index->indrelid == RelationGetRelid(heap));
	memset(found, 0, n * sizeof(int));
	n = sort_lookups(scan, keys, n, list);
	for (int i = 0; i < n; i++)
	{
		int64		before = sfx_pages_read();
		int			number = list[i].number;

		found[number] = look_up(so->reader, &list[i], i == 0, tid + number * most, most);
		if (i == 0 && sfx_pages_read() != before)
			request_leaves(index, so->order, list + 1, n - 1);
	}
	pfree(list);
	sfx_endscan(scan);
	IndexScanEnd(scan);
}
