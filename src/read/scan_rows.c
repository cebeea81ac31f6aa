/*-------------------------------------------------------------------------
 * scan_rows.c - rows out of decoded blocks, for index-only scans
 *
 * Of a stretch's next entries the map is asked at once, and their values are made ready together
 * (Y12); sfx_scan_row (scan.h) then takes one after the other.
 *-------------------------------------------------------------------------
 */
#include "scan_impl.h"
#include "column.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Rows that an index-only scan returns before it pins the map: who wants few does not wait. */
#define ROWS_BEFORE_MAP	16
StaticAssertDecl(SFX_BLOCK_ENTRIES <= SFX_VISIBILITY_ENTRIES, "a block is tested at once");

void
sfx_scan_unread(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	Assert(so->unread || !so->started);
	so->unread = true;
}

/* The map, pinned as soon as rows enough were returned without it.  NULL: not yet. */
static SfxVisibility *
pinned_map(IndexScanDesc scan, SfxScan *so)
{
	if (so->map == NULL && ++so->asked >= ROWS_BEFORE_MAP && IsMVCCSnapshot(scan->xs_snapshot))
	{
		MemoryContext old = MemoryContextSwitchTo(so->cxt);

		so->map = sfx_visibility_begin(scan->indexRelation, scan->heapRelation, scan->xs_snapshot);
		MemoryContextSwitchTo(old);
		SFX_STOP("map pinned");
	}
	return so->map;
}

/*
 * Which of the stretch's next entries are visible for certain, and what are their values?  Who has
 * read few rows of a range may want few: there are more each time.
 */
static pg_noinline void
prepare_rows(IndexScanDesc scan, SfxScan *so)
{
	SfxRowsAhead *rows = &so->rows_ahead;
	SfxStretch *s = sfx_reader_in_hand(so->reader);
	uint16		hidden[SFX_VISIBILITY_ENTRIES];
	int			from;
	int			n;

	if (pinned_map(scan, so) == NULL)
		return;
	n = Min(so->portion, s->step > 0 ? s->end - s->at : s->at - s->end);
	from = s->step > 0 ? s->at : s->at - n + 1;
	so->portion = Min(2 * so->portion, SFX_BLOCK_ENTRIES);
	if (rows->stretch != s)
		memset(rows->visible, false, sizeof(rows->visible));
	rows->stretch = s;
	so->prepared_from = from;
	so->prepared = n;
	memset(rows->visible + from, true, n);
	rows->unread = !so->form;
	rows->single = so->kd.natts == 1;
	if (so->form)
	{
		if (so->row.value == SFX_QUICK_TEXT && so->texts == NULL)
			so->texts = MemoryContextAlloc(so->cxt, SFX_ROW_TEXTS);
		rows->single = sfx_row_values_of_block(&so->row, s->block, from, n, rows->value,
											   so->texts);
	}
	n = sfx_visibility_hidden(so->map, s->block->tid + from, n, hidden);
	for (int i = 0; i < n; i++)
		rows->visible[from + hidden[i]] = SFX_MUTANT("hidden rows are ready");
}

/* The values of entry i of a block.  False: they take more memory than there is at hand. */
static bool
get_values(IndexScanDesc scan, SfxScan *so, const SfxBlock *block, int i, Datum *values,
		   bool *isnull)
{
	SfxEntry	e;

	if (!so->form)
	{
		memset(isnull, true, so->kd.natts);
		return true;
	}
	sfx_block_entry(block, i, &e);
	if (sfx_key_may_be_long(&so->kd, e.keylen))
		return false;
	sfx_row_values(&so->row, scan->indexRelation, &so->kd, &e, values, isnull);
	return true;
}

bool
sfx_scan_row_slowly(IndexScanDesc scan, ScanDirection dir, Datum *values, bool *isnull)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxRowsAhead *rows = &so->rows_ahead;
	const SfxBlock *block;
	int			i;

	/* what is not looked at in the table is locked by core */
	if (!so->swift || so->serializable || !sfx_reader_peek(so->reader, dir, &block, &i))
		return false;
	Assert(!scan->kill_prior_tuple && so->on_entry && !so->on_mark);
	if (rows->stretch == &sfx_no_rows || (unsigned) (i - so->prepared_from) >= (unsigned) so->prepared)
		prepare_rows(scan, so);
	if (rows->stretch == &sfx_no_rows || !rows->visible[i])
		return false;
	if (rows->single)
	{
		values[0] = rows->value[i];
		isnull[0] = rows->unread;
	}
	else if (!get_values(scan, so, block, i, values, isnull))
		return false;
	sfx_scan_take(scan, rows->stretch);
	return true;
}
