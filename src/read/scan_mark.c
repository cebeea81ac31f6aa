/*-------------------------------------------------------------------------
 * scan_mark.c - marks in a scan
 *
 * A mark is the odometer and a copy of the entry last returned; restoring it seeks by that key.  No
 * batch is kept for it, so a merge between mark and restore does not matter.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "scan_impl.h"

#include "utils/memutils.h"

void
sfx_markpos(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxMark    *mark = so->mark;
	SfxEntry	e;

	if (mark == NULL)
	{
		mark = so->mark = MemoryContextAlloc(so->cxt, sizeof(SfxMark));
		mark->key = MemoryContextAlloc(so->cxt, SFX_MAX_ENTRY);
		mark->wheels = MemoryContextAlloc(so->cxt, (so->kd.nkeys + 1) * sizeof(int));
		/* a plan that marks a place once will do so again, and that takes its key */
		if (so->reader)
			sfx_reader_tids_only(so->reader, false);
	}
	if (so->on_mark)
		return;					/* it stands there */
	mark->set = so->on_entry;
	if (!mark->set)
		return;
	sfx_reader_last(so->reader, &e);
	memcpy(mark->key, e.key, e.keylen);
	mark->len = e.keylen;
	mark->tid = e.tid;
	sfx_scan_count_stretch(so);
	mark->nth = so->ahead.nth;
	for (int i = 0; i < so->keys.nlists; i++)
		mark->wheels[i] = so->keys.lists[i].cur;
	mark->wheels[so->kd.nkeys] = so->keys.piece;
}

/*
 * The marked row becomes the one last returned: the next fetch returns its neighbour.  Without a
 * mark the scan starts over.
 */
void
sfx_restrpos(IndexScanDesc scan)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxMark    *mark = so->mark;
	SfxPos		pos;
	bool		moved = false;

	so->locks.turned = true;
	sfx_scan_forget_rows(scan, so);
	if (mark == NULL || !mark->set)
	{
		sfx_scan_leave_range(scan, so);
		if (so->reader && so->started)
			sfx_reader_reset(so->reader);
		if (so->ahead.scout)
			sfx_scout_rest(so->ahead.scout);
		so->started = false;
		so->heap_end = 0;
		so->on_entry = so->on_mark = so->swift = false;
		return;
	}
	for (int i = 0; i < so->keys.nlists; i++)
	{
		moved |= so->keys.lists[i].cur != mark->wheels[i];
		so->keys.lists[i].cur = mark->wheels[i];
	}
	moved |= so->keys.piece != mark->wheels[so->kd.nkeys];
	so->keys.piece = mark->wheels[so->kd.nkeys];
	if (moved)
	{
		sfx_scan_leave_range(scan, so);
		sfx_scan_seek_range(scan, so, so->locks.dir, true);
		so->locks.turned = true;
	}
	pos.key = mark->key;
	pos.len = mark->len;
	pos.tid = mark->tid;
	sfx_reader_reposition(so->reader, &pos, false);
	/* the scout stays where it is: what it has asked for comes later */
	so->ahead.nth = mark->nth;
	so->on_entry = so->on_mark = true;
	so->swift = false;
}
