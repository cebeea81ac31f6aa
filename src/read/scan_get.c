/*-------------------------------------------------------------------------
 * scan_get.c - a scan's entries one at a time, as core asks for them
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "scan_impl.h"

#include "utils/memutils.h"

/* The row of an entry, for an index-only scan. */
static void
form_row(IndexScanDesc scan, SfxScan *so, const SfxEntry *e)
{
	MemoryContext old = CurrentMemoryContext;

	if (unlikely(!so->rows.set_up))
		sfx_row_init(&so->row, scan->indexRelation, &so->kd);
	so->rows.set_up = true;
	if (unlikely(sfx_key_may_be_long(&so->kd, e->keylen)))
		MemoryContextSwitchTo(sfx_scan_long_context(so));
	scan->xs_itup = sfx_row_form(&so->row, scan->indexRelation, &so->kd, e);
	MemoryContextSwitchTo(old);
}

/* The row of entry i of a block, whose TID is set. */
static pg_noinline bool
get_row_slowly(IndexScanDesc scan, const SfxBlock *block, int i)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;

	if (SFX_TID_BLOCK(block->tid[i]) >= so->heap_end)
		so->heap_end = sfx_heap_end(scan->indexRelation, scan->heapRelation, block->tid[i]);
	if (!so->rows.form)
		return true;
	sfx_block_entry(block, i, &e);
	form_row(scan, so, &e);
	return true;
}

/* An entry was returned that has this TID; its stretch ends where the next look is due (R13). */
static inline void
look_ahead(IndexScanDesc scan, SfxScan *so, ScanDirection dir, uint64 tid)
{
	if (unlikely(++so->ahead.nth >= so->ahead.look_at))
		sfx_scan_look_ahead(scan, so, dir, tid);
	if (unlikely(so->ahead.looks_soon))
		sfx_reader_shorten(so->reader,
						   (int) Min(so->ahead.look_at - so->ahead.nth - 1, SFX_BLOCK_ENTRIES));
	so->ahead.stood = sfx_reader_in_hand(so->reader)->at;
}

/* The next entry, wherever it is. */
static pg_noinline bool
get_slowly(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxEntry	e;

	scan->xs_recheck = false;
	scan->xs_itup = NULL;
	if (!so->started)
		sfx_scan_start(scan, dir);
	so->on_mark = false;
	sfx_scan_forget_rows(scan, so);
	so->locks.turned |= dir != so->locks.dir;
	sfx_scan_count_stretch(so);
	so->on_entry = !so->empty && sfx_scan_next(scan, so, dir, &e);
	if (SFX_MUTANT("lock behind the read") && so->started && !so->empty)
	{
		SfxPos		lo;
		SfxPos		hi;

		sfx_scankeys_bounds(&so->keys, &lo, &hi);
		sfx_predicate_read(scan->indexRelation, so->order, scan->xs_snapshot, &lo, &hi, NULL);
	}
	so->swift = so->on_entry && sfx_scan_goes_on(so);
	if (!so->on_entry)
	{
		if (unlikely(so->ahead.scout != NULL))
			sfx_scout_rest(so->ahead.scout);
		return false;
	}
	scan->xs_recheck = sfx_reader_recheck(so->reader);
	sfx_tid_pointer(scan->indexRelation, so->max_offset, e.tid, &scan->xs_heaptid);
	if (SFX_TID_BLOCK(e.tid) >= so->heap_end)
		so->heap_end = sfx_heap_end(scan->indexRelation, scan->heapRelation, e.tid);
	if (so->rows.form)
		form_row(scan, so, &e);
	else if (scan->xs_want_itup)
		scan->xs_itup = (IndexTuple) so->row.itup;
	look_ahead(scan, so, dir, e.tid);
	return true;
}

/* The row last returned is dead: tell the reader, then go on. */
static pg_noinline bool
get_after_kill(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;

	if (so->on_entry)
		sfx_reader_kill(so->reader, scan->heapRelation);
	scan->kill_prior_tuple = false;
	return sfx_gettuple(scan, dir);
}

/*
 * Most entries follow one another in a decoded block.  All else is left to calls in the last place,
 * so that this function needs no frame.
 */
bool
sfx_gettuple(IndexScanDesc scan, ScanDirection dir)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	const SfxBlock *block;
	int			i;

	Assert(!ScanDirectionIsNoMovement(dir));
	if (unlikely(scan->kill_prior_tuple))
		return get_after_kill(scan, dir);
	if (!so->swift || !sfx_reader_stretch(so->reader, dir, &block, &i))
		return get_slowly(scan, dir);
	sfx_tid_pointer(scan->indexRelation, so->max_offset, block->tid[i], &scan->xs_heaptid);
	if (unlikely(SFX_TID_BLOCK(block->tid[i]) >= so->heap_end) ||
		(so->rows.form && !sfx_row_quick(&so->row, block, i)))
		return get_row_slowly(scan, block, i);
	return true;
}
