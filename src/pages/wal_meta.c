/*-------------------------------------------------------------------------
 * wal_meta.c - the record of a change of the metapage
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "horizon.h"
#include "meta.h"
#include "wal.h"

#include "utils/rel.h"

void
sfx_wal_meta(Relation index, Buffer buf, const SfxMeta *meta, SfxMetaChange change, const SfxHorizon *horizon)
{
	SfxXlMeta	x = {0};
	XLogRecPtr	lsn;

	if (!RelationNeedsWAL(index))
		return;
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
