/*-------------------------------------------------------------------------
 * scan_ahead.c - asking for pages of the table before a scan's rows are visited
 *
 * A scan looks at its third row whether the page has to be read (R13).  If so, it gets a *scout*:
 * another scan of the same ranges, which goes the same way some rows ahead, over blocks, leaves,
 * stages and ranges, and asks for the pages of the rows that it comes to.  Where pages turn out to
 * be in memory the scout rests, and the scan looks again later, each time after twice as many rows.
 *
 * Nothing that the scan returns comes from its scout, which locks nothing, and holds the gate only
 * while it stands in a leaf of cut keys: it may be wrong, or lost, and is led to the scan's place
 * again.  A scan that reads from memory never has one.
 */
#include "surfidx.h"
#include "pos.h"
#include "scan_impl.h"

#include "access/visibilitymap.h"

/* Of a scout, for each look: rows, entries that fail, ranges without entries. */
#define PATIENCE		1024

/* Entries of an index-only scan among which one is looked for whose row will be visited. */
#define HIDDEN_AMONG	32

/* Pages of rows in hand, besides the first one's, that are looked for in memory. */
#define PAGES_TRIED		3

/* Will core visit the row of an index-only scan? */
static bool
is_hidden(IndexScanDesc scan, uint64 tid, Buffer *map)
{
	return !VM_ALL_VISIBLE(scan->heapRelation, SFX_TID_BLOCK(tid), map);
}

/* One of the next rows in hand that will be visited; without any in hand, the one just returned. */
static bool
next_visited(IndexScanDesc scan, SfxScan *so, uint64 *tid)
{
	const SfxStretch *s = sfx_reader_in_hand(so->reader);
	int			n = Min(abs(s->end - s->at), HIDDEN_AMONG);
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	Buffer		map = InvalidBuffer;
	bool		found;

	if (n > 0 && so->rows.map && !so->locks.wanted)
	{
		const uint64 *rows = s->block->tid + (s->step > 0 ? s->at : s->at - n + 1);

		if (sfx_visibility_hidden(so->rows.map, rows, n, hidden) == 0)
			return false;
		*tid = rows[hidden[0]];
		return true;
	}
	found = is_hidden(scan, *tid, &map);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
	return found;
}

/* Has the page of the row just returned to be read, or one of the next few in hand? */
static bool
reads_rows(IndexScanDesc scan, SfxScan *so, uint64 tid)
{
	const SfxStretch *s = sfx_reader_in_hand(so->reader);
	int			at = s->at;

	if (scan->xs_want_itup && !next_visited(scan, so, &tid))
		return false;
	for (int i = 0; !sfx_ahead_is_read(&so->ahead.pages, tid); i++, at += s->step)
	{
		/* a caller that has read three rows may want no more */
		if (so->ahead.nth <= SFX_FIRST_LOOK || scan->xs_want_itup || i == PAGES_TRIED ||
			at == s->end)
			return false;
		tid = s->block->tid[at];
	}
	return true;
}

/* Is it time for a scout?  If not, the scan looks again later. */
static bool
wants_scout(IndexScanDesc scan, SfxScan *so, uint64 tid)
{
	if (so->ahead.pages.heap == NULL)
		sfx_ahead_begin(&so->ahead.pages, scan->heapRelation, false);
	if (so->ahead.pages.most == 0 || !SFX_SCANS_READ_AHEAD)
	{
		so->ahead.look_at = PG_UINT64_MAX;
		return false;
	}
	if (reads_rows(scan, so, tid))
		return true;
	sfx_ahead_rest(&so->ahead.pages, so->ahead.nth);
	so->ahead.look_at = so->ahead.pages.rest_until;
	return false;
}

IndexScanDesc
sfx_scout_scan(Relation index, Relation heap, int nkeys)
{
	IndexScanDesc scan = sfx_beginscan(index, nkeys, 0);

	scan->heapRelation = heap;
	scan->parallel_scan = NULL;
	((SfxScan *) scan->opaque)->ahead.scouts = true;
	return scan;
}

static SfxScout *
begin_scout(IndexScanDesc scan, SfxScan *so)
{
	MemoryContext old = MemoryContextSwitchTo(so->cxt);
	SfxScout   *s = palloc0(sizeof(SfxScout));

	s->scan = sfx_scout_scan(scan->indexRelation, scan->heapRelation, scan->numberOfKeys);
	s->stale = s->lost = true;
	MemoryContextSwitchTo(old);
	return s;
}

/* The scout goes on from the entry that its scan has just returned. */
static void
lead(SfxScout *s, IndexScanDesc scan, SfxScan *so, ScanDirection dir)
{
	SfxScan    *scout = (SfxScan *) s->scan->opaque;
	SfxEntry	e;
	SfxPos		pos;

	sfx_ahead_forget(&so->ahead.pages, so->ahead.nth);
	if (s->stale)
	{
		/* the scan has gathered its row comparisons already, in place: what follows is left over */
		if (scan->numberOfKeys > 0)
			memcpy(s->scan->keyData, scan->keyData, scan->numberOfKeys * sizeof(ScanKeyData));
		sfx_rescan(s->scan, NULL, 0, NULL, 0);
		scout->nkeys = so->nkeys;
	}
	if (!scout->started)
		sfx_scan_start(s->scan, dir);
	s->dir = dir;
	s->row = so->ahead.nth;
	s->asked = so->ahead.pages.asked;
	s->stale = s->lost = false;
	/* (the time zone may have been set since the scan began, and conditions lead to other ranges) */
	s->at_end = scout->empty || !sfx_scankeys_stand_as(&scout->keys, &so->keys);
	if (s->at_end)
		return;
	sfx_scan_seek_range(s->scan, scout, dir, true);
	sfx_reader_last(so->reader, &e);
	pos = sfx_entry_pos(&e);
	sfx_reader_reposition(scout->reader, &pos, false);
	scout->swift = false;
}

/* The scout's next row.  False: there is none, or its patience is at an end. */
static bool
next_row(SfxScout *s, uint64 *tid)
{
	SfxScan    *scout = (SfxScan *) s->scan->opaque;
	const SfxBlock *block;
	int			i;
	SfxEntry	e;

	if (scout->swift && sfx_reader_stretch(scout->reader, s->dir, &block, &i))
		*tid = block->tid[i];
	else if (sfx_scan_next(s->scan, scout, s->dir, &e))
	{
		scout->swift = sfx_scan_goes_on(scout);
		*tid = e.tid;
	}
	else
	{
		s->at_end = scout->ahead.patience != 0;
		return false;
	}
	s->row++;
	return true;
}

/* Let the scout go on and ask for pages, as far as there is room. */
static void
scout_ahead(SfxScout *s, IndexScanDesc scan, SfxScan *so)
{
	uint64		before = so->ahead.pages.asked;
	uint64		most = s->row + PATIENCE;
	uint64		tid;

	if (s->at_end)
		return;
	((SfxScan *) s->scan->opaque)->ahead.patience = PATIENCE;
	while (sfx_ahead_has_room(&so->ahead.pages) && s->row < most && next_row(s, &tid))
		if (!scan->xs_want_itup || is_hidden(scan, tid, &s->map))
			sfx_ahead_ask(&so->ahead.pages, s->row, tid);

	/*
	 * Where next to nothing is visited, or all is in memory, there is nothing to be gained.  A
	 * range that ended is judged by all that was asked for since the scout was led there, so short
	 * ranges of a nested loop over a warm table rest, and those of a cold one do not.
	 */
	if (so->ahead.pages.asked == (s->at_end ? s->asked : before) &&
		sfx_ahead_has_room(&so->ahead.pages))
		sfx_ahead_rest(&so->ahead.pages, so->ahead.nth);
}

/* The row at which the scan looks again. */
static void
look_again(SfxScout *s, SfxScan *so)
{
	so->ahead.looks_soon = so->ahead.pages.rest_until <= so->ahead.nth;
	if (!so->ahead.looks_soon)
	{
		so->ahead.look_at = so->ahead.pages.rest_until;
		sfx_scout_rest(s);
	}
	else if (s->at_end)
		so->ahead.look_at = s->row + 1;
	else
		so->ahead.look_at = sfx_ahead_next_due(&so->ahead.pages, s->row);
	so->ahead.look_at = Max(so->ahead.look_at, so->ahead.nth + 1);
}

void
sfx_scan_look_ahead(IndexScanDesc scan, SfxScan *so, ScanDirection dir, uint64 tid)
{
	SfxScout   *s = so->ahead.scout;

	Assert(!so->ahead.scouts && so->on_entry);
	if (s == NULL)
	{
		so->ahead.looks_soon = false;
		if (!wants_scout(scan, so, tid))
			return;
		s = so->ahead.scout = begin_scout(scan, so);
	}
	if (s->lost || s->dir != dir || s->row < so->ahead.nth)
		lead(s, scan, so, dir);
	if (sfx_ahead_due(&so->ahead.pages, so->ahead.nth))
		scout_ahead(s, scan, so);
	look_again(s, so);
}
