/*-------------------------------------------------------------------------
 * redo.c - the resource manager: redo, mask, description
 *
 * Redo applies the page functions that the action used.  It touches no shared memory except buffers
 * and metacache.c's counter: on a standby the first reader fills an image from the pages (I1).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "log_entry.h"
#include "meta.h"
#include "page.h"
#include "wal.h"

#include "access/bufmask.h"
#include "access/xlogutils.h"

/* Redo the metapage, block block_id of the record, and leave it locked in *buf. */
static void
redo_meta_block(XLogReaderState *record, uint8 block_id, Buffer *buf)
{
	if (XLogReadBufferForRedo(record, block_id, buf) == BLK_NEEDS_REDO)
	{
		Size		len;
		char	   *data = XLogRecGetBlockData(record, block_id, &len);
		Page		page = BufferGetPage(*buf);

		if (data == NULL || len != sizeof(SfxMeta))
			elog(PANIC, "surfidx: metapage data of %zu bytes in a record", len);
		sfx_meta_store(page, (SfxMeta *) data);
		PageSetLSN(page, record->EndRecPtr);
		MarkBufferDirty(*buf);
	}
	else
		sfx_meta_count_change();	/* a full image may have been restored: count the change */
}

/*
 * Cancel snapshots that may still see the rows of entries that this record removes without VACUUM.
 */
static void
resolve_conflict(XLogReaderState *record, TransactionId horizon, bool catalog)
{
	SfxLocator	locator;

	if (!TransactionIdIsValid(horizon) || !InHotStandby || SFX_MUTANT("no conflict in redo"))
		return;
	XLogRecGetBlockTag(record, 0, &locator, NULL, NULL);
	SfxResolveConflict(horizon, catalog, locator);
}

/* APPEND and BATCH: n entries. */
static void
redo_append(XLogReaderState *record, int n)
{
	Buffer		buf;

	if (XLogReadBufferForRedo(record, 0, &buf) == BLK_NEEDS_REDO)
	{
		Size		len;
		char	   *data = XLogRecGetBlockData(record, 0, &len);

		sfx_log_page_put(BufferGetPage(buf), (uint8 *) data, (int) len, n);
		PageSetLSN(BufferGetPage(buf), record->EndRecPtr);
		MarkBufferDirty(buf);
	}
	if (BufferIsValid(buf))
		UnlockReleaseBuffer(buf);
}

/* The number of entries in a BATCH record. */
static uint16
batch_count(XLogReaderState *record)
{
	uint16		n;

	if (XLogRecGetDataLen(record) != sizeof(n))
		elog(PANIC, "surfidx: batch record with %u bytes of data", XLogRecGetDataLen(record));
	memcpy(&n, XLogRecGetData(record), sizeof(n));
	return n;
}

/*
 * EXTEND.  The new page is locked first, as in the action.  It may have been a leaf of a dropped
 * run, which a reader with an older metapage still believes in; that reader may want the metapage,
 * to open the leaf's dictionary, while it holds this page's lock (H3).
 */
static void
redo_extend(XLogReaderState *record)
{
	SfxXlExtend *x = (SfxXlExtend *) XLogRecGetData(record);
	Buffer		metabuf,
				newbuf,
				oldbuf = InvalidBuffer;

	newbuf = XLogInitBufferForRedo(record, 1);
	redo_meta_block(record, 0, &metabuf);
	sfx_log_page_init(BufferGetPage(newbuf), x->build_id, x->gen, x->seq, x->before);
	PageSetLSN(BufferGetPage(newbuf), record->EndRecPtr);
	MarkBufferDirty(newbuf);
	if (XLogRecHasBlockRef(record, 2) &&
		XLogReadBufferForRedo(record, 2, &oldbuf) == BLK_NEEDS_REDO)
	{
		SfxPageGetTail(BufferGetPage(oldbuf))->right = x->newblk;
		PageSetLSN(BufferGetPage(oldbuf), record->EndRecPtr);
		MarkBufferDirty(oldbuf);
	}
	if (BufferIsValid(oldbuf))
		UnlockReleaseBuffer(oldbuf);
	UnlockReleaseBuffer(newbuf);
	if (BufferIsValid(metabuf))
		UnlockReleaseBuffer(metabuf);
}

/* FREEZE. */
static void
redo_freeze(XLogReaderState *record)
{
	Buffer		metabuf,
				tailbuf;

	redo_meta_block(record, 0, &metabuf);
	if (XLogReadBufferForRedo(record, 1, &tailbuf) == BLK_NEEDS_REDO)
	{
		SfxPageGetTail(BufferGetPage(tailbuf))->flags |= SFX_LOG_SEALED;
		PageSetLSN(BufferGetPage(tailbuf), record->EndRecPtr);
		MarkBufferDirty(tailbuf);
	}
	if (BufferIsValid(tailbuf))
		UnlockReleaseBuffer(tailbuf);
	if (BufferIsValid(metabuf))
		UnlockReleaseBuffer(metabuf);
}

/* GROUP: a page without an image, of which only the right link changed, or some children. */
static void
redo_change(XLogReaderState *record, uint8 block_id, Buffer buf)
{
	Size		len;
	char	   *data = XLogRecGetBlockData(record, block_id, &len);
	Page		page = BufferGetPage(buf);

	if (data == NULL)
		elog(PANIC, "surfidx: group record without an image of its block %d", block_id);
	if (len == sizeof(BlockNumber))
		memcpy(&SfxPageGetTail(page)->right, data, sizeof(BlockNumber));
	else if (!sfx_edit_redo(page, data, len))
		elog(PANIC, "surfidx: inner page in block %u cannot take the children that a record has for it", BufferGetBlockNumber(buf));
	PageSetLSN(page, record->EndRecPtr);
	MarkBufferDirty(buf);
}

/*
 * GROUP.  All pages are restored before the first one is unlocked, so a reader on a standby never
 * sees half a group (T2).
 */
static void
redo_group(XLogReaderState *record)
{
	SfxXlGroup *x = (SfxXlGroup *) XLogRecGetData(record);
	Buffer		bufs[SFX_GROUP_BLOCKS + 1];
	int			n = x->npages;

	resolve_conflict(record, x->horizon, x->catalog);
	for (int i = 0; i < n; i++)
	{
		if (XLogReadBufferForRedo(record, i, &bufs[i]) == BLK_NEEDS_REDO)
			redo_change(record, i, bufs[i]);
		if (SFX_MUTANT("redo page by page") && BufferIsValid(bufs[i]))
		{
			UnlockReleaseBuffer(bufs[i]);
			bufs[i] = InvalidBuffer;
		}
		SFX_STOP("page of group redone");
	}
	if (x->meta)
	{
		redo_meta_block(record, n, &bufs[n]);
		n++;
	}
	while (n-- > 0)
		if (BufferIsValid(bufs[n]))
			UnlockReleaseBuffer(bufs[n]);
}

/* META. */
static void
redo_meta(XLogReaderState *record)
{
	SfxXlMeta  *x = (SfxXlMeta *) XLogRecGetData(record);
	Buffer		buf;

	resolve_conflict(record, x->horizon, x->catalog);
	redo_meta_block(record, 0, &buf);
	if (BufferIsValid(buf))
		UnlockReleaseBuffer(buf);
}

/* FLAG. */
static void
redo_flag(XLogReaderState *record)
{
	Buffer		buf;

	if (XLogReadBufferForRedo(record, 0, &buf) == BLK_NEEDS_REDO)
	{
		Size		len;
		char	   *data = XLogRecGetBlockData(record, 0, &len);

		sfx_log_page_flag(BufferGetPage(buf), (uint16 *) data, (int) (len / sizeof(uint16)));
		PageSetLSN(BufferGetPage(buf), record->EndRecPtr);
		MarkBufferDirty(buf);
	}
	if (BufferIsValid(buf))
		UnlockReleaseBuffer(buf);
}

/*
 * GATE (V3): wait until no scan on this standby holds entries that it copied before the removals
 * just replayed.
 */
static void
redo_gate(XLogReaderState *record)
{
	Buffer		buf;

	(void) XLogReadBufferForRedoExtended(record, 0, RBM_NORMAL, !SFX_MUTANT("no gate in redo"), &buf);
	if (BufferIsValid(buf))
		UnlockReleaseBuffer(buf);
}

/*
 * Redo one record.  Each kind has a stop point of its own, for tests that interrupt recovery.  A
 * kind that this version does not know was written by a later one: PANIC, as core does for its own.
 */
static void
sfx_redo(XLogReaderState *record)
{
	switch (XLogRecGetInfo(record) & XLR_RMGR_INFO_MASK)
	{
		case XLOG_SFX_APPEND:
			SFX_STOP("redo append");
			redo_append(record, 1);
			break;
		case XLOG_SFX_BATCH:
			SFX_STOP("redo batch");
			redo_append(record, batch_count(record));
			break;
		case XLOG_SFX_EXTEND:
			SFX_STOP("redo extend");
			redo_extend(record);
			break;
		case XLOG_SFX_FREEZE:
			SFX_STOP("redo freeze");
			redo_freeze(record);
			break;
		case XLOG_SFX_GROUP:
			SFX_STOP("redo group");
			redo_group(record);
			break;
		case XLOG_SFX_META:
			SFX_STOP("redo meta");
			redo_meta(record);
			break;
		case XLOG_SFX_FLAG:
			SFX_STOP("redo flag");
			redo_flag(record);
			break;
		case XLOG_SFX_GATE:
			SFX_STOP("redo gate");
			redo_gate(record);
			break;
		default:
			elog(PANIC, "surfidx: unknown record kind %u", XLogRecGetInfo(record));
	}
}

/*
 * For wal_consistency_checking: mask what may differ between primary and standby, which is LSN and
 * checksum, hint bits of the page header, and the free space of a page.  Nothing in a body is
 * unlogged.
 */
static void
mask_page(char *pagedata, BlockNumber blkno)
{
	Page		page = (Page) pagedata;

	mask_page_lsn_and_checksum(page);
	mask_page_hint_bits(page);
	mask_unused_space(page);
}

static const RmgrData sfx_rmgr = {
	.rm_name = SFX_RMGR_NAME,
	.rm_redo = sfx_redo,
	.rm_desc = sfx_wal_desc,
	.rm_identify = sfx_wal_identify,
	.rm_startup = NULL,
	.rm_cleanup = NULL,
	.rm_mask = mask_page,
	.rm_decode = NULL,
};

void
sfx_wal_init(void)
{
	RegisterCustomRmgr(SFX_RMGR_ID, (RmgrData *) &sfx_rmgr);
}
