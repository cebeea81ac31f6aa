/*-------------------------------------------------------------------------
 * wal_meta.c - a change of the metapage alone, and its record
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "horizon.h"
#include "meta.h"
#include "wal.h"

#include "miscadmin.h"
#include "utils/rel.h"

/* Write the META record, in a critical section. */
static void
log_change(Relation index, Buffer buf, const SfxMeta *meta, SfxMetaChange change,
		   const SfxHorizon *horizon)
{
	SfxXlMeta	x = {0};
	XLogRecPtr	lsn;

	x.change = change;
	if (horizon)
	{
		x.horizon = horizon->xid;
		x.catalog = horizon->catalog;
	}
	XLogBeginInsert();
	XLogRegisterData((char *) &x, sizeof(x));
	XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
	XLogRegisterBufData(0, (char *) meta, sizeof(SfxMeta));
	lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_META);
	PageSetLSN(BufferGetPage(buf), lsn);
}

void
sfx_meta_change(Relation index, Buffer buf, const SfxMeta *meta, SfxMetaChange change,
				const SfxHorizon *horizon)
{
	START_CRIT_SECTION();
	sfx_meta_store(BufferGetPage(buf), meta);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(index))
		log_change(index, buf, meta, change, horizon);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buf);
}
