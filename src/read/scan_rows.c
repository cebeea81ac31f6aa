/*-------------------------------------------------------------------------
 * scan_rows.c - rows out of decoded blocks, for index-only scans
 *
 * Of a stretch's next entries the map is asked at once, and their values are made ready together
 * (Y12); sfx_scan_row (scan.h) then takes one after the other.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "scan_impl.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* So few rows between others that do not pass filters are made one by one. */
#ifdef USE_ASSERT_CHECKING
#define FEW_ROWS	2			/* to have it tested */
#else
#define FEW_ROWS	8
#endif

/* Rows that an index-only scan returns before it pins the map, so that few rows come at once. */
#define ROWS_BEFORE_MAP	16
StaticAssertDecl(SFX_BLOCK_ENTRIES <= SFX_VISIBILITY_ENTRIES, "a block is tested at once");

void
sfx_scan_unread(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	so->rows.unread |= !so->started;
}

void
sfx_scan_expect(IndexScanDesc scan, int rows)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(!so->started);
	so->rows.expected = rows;
}

/*
 * The map, pinned as soon as rows enough were returned without it, or are expected.  NULL: not yet.
 */
static SfxVisibility *
pinned_map(IndexScanDesc scan, SfxScan *so)
{
	if (so->rows.map == NULL && Max(++so->rows.asked, so->rows.expected) >= ROWS_BEFORE_MAP &&
		IsMVCCSnapshot(scan->xs_snapshot))
	{
		MemoryContext old = MemoryContextSwitchTo(so->cxt);

		so->rows.map = sfx_visibility_begin(scan);
		MemoryContextSwitchTo(old);
		SFX_STOP("map pinned");
	}
	return so->rows.map;
}

/* Where values are made. */
static void
begin_values(IndexScanDesc scan, SfxScan *so)
{
	MemoryContext old = MemoryContextSwitchTo(so->cxt);

	so->rows.values = sfx_rows_of_block_begin(scan->indexRelation, &so->kd);
	so->rows_ahead.natts = so->kd.natts;
	so->rows_ahead.value = sfx_rows_of_block_values(so->rows.values);
	so->rows_ahead.isnull = sfx_rows_of_block_nulls(so->rows.values);
	MemoryContextSwitchTo(old);
}

/*
 * Which of the stretch's next entries are visible for certain, and what are their values?  A caller
 * that has read few rows of a range may want few: there are more each time.
 */
static void
prepare_rows(IndexScanDesc scan, SfxScan *so)
{
	SfxRowsAhead *rows = &so->rows_ahead;
	SfxStretch *s = sfx_reader_in_hand(so->reader);
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	int			from;
	int			n;
	int			nhidden;

	if (pinned_map(scan, so) == NULL)
		return;
	if (so->rows.values == NULL)
		begin_values(scan, so);
	n = Min(so->rows.portion, s->step > 0 ? s->end - s->at : s->at - s->end);
	from = s->step > 0 ? s->at : s->at - n + 1;
	so->rows.portion = Min(2 * so->rows.portion, SFX_BLOCK_ENTRIES);
	if (rows->stretch != s)
		memset(rows->ready, false, sizeof(rows->ready));
	rows->stretch = s;
	so->rows.prepared_from = from;
	so->rows.prepared = n;
	memset(rows->ready + from, true, n);
	if (so->rows.form)
		sfx_rows_of_block_make(so->rows.values, s->block, from, n, rows->ready);
	else
		sfx_rows_of_block_unread(so->rows.values);
	nhidden = sfx_visibility_hidden(so->rows.map, s->block->tid + from, n, hidden);
	for (int i = 0; i < nhidden; i++)
		rows->ready[from + hidden[i]] &= SFX_MUTANT("hidden rows are ready");
}

/* Does the stretch have few rows, because the next ones do not pass the filters? */
static inline bool
is_short(const SfxScan *so)
{
	const SfxStretch *s = sfx_reader_in_hand(so->reader);

	return sfx_scan_has_filters(so) && so->rows_ahead.stretch == &sfx_no_rows &&
		abs(s->end - s->at) < FEW_ROWS;
}

bool
sfx_scan_row_slowly(IndexScanDesc scan, ScanDirection dir, Datum *values, bool *isnull)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxRowsAhead *rows = &so->rows_ahead;
	const SfxBlock *block;
	int			i;

	/* what is not looked at in the table is locked by core; and few rows are not worth it */
	if (!so->swift || so->locks.wanted || is_short(so) || !sfx_reader_peek(so->reader, dir, &block, &i))
		return false;
	Assert(!scan->kill_prior_tuple && so->on_entry && !so->on_mark);
	if (rows->stretch == &sfx_no_rows ||
		(unsigned) (i - so->rows.prepared_from) >= (unsigned) so->rows.prepared)
		prepare_rows(scan, so);
	return sfx_scan_row(scan, dir, values, isnull);
}
