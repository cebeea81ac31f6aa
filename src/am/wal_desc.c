/*-------------------------------------------------------------------------
 * wal_desc.c - descriptions of records: in pg_walinspect, and in the context of redo's errors
 *
 * A block's data is absent where the record has an image of the block, so nothing here relies on
 * it.  No description is empty.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "wal.h"

#include "lib/stringinfo.h"

const char *
sfx_wal_identify(uint8 info)
{
	switch (info & XLR_RMGR_INFO_MASK)
	{
		case XLOG_SFX_APPEND:
			return "APPEND";
		case XLOG_SFX_EXTEND:
			return "EXTEND";
		case XLOG_SFX_FREEZE:
			return "FREEZE";
		case XLOG_SFX_GROUP:
			return "GROUP";
		case XLOG_SFX_META:
			return "META";
		case XLOG_SFX_FLAG:
			return "FLAG";
		case XLOG_SFX_GATE:
			return "GATE";
		case XLOG_SFX_BATCH:
			return "BATCH";
	}
	return NULL;
}

/* Data of a block of the record, at least `min` bytes; NULL: the record has an image instead. */
static const char *
block_data(XLogReaderState *record, uint8 block_id, Size min, Size *len)
{
	const char *data;

	*len = 0;
	if (!XLogRecHasBlockRef(record, block_id))
		return NULL;
	data = XLogRecGetBlockData(record, block_id, len);
	return *len >= min ? data : NULL;
}

/* What the metapage becomes. */
static void
describe_meta(StringInfo buf, XLogReaderState *record, uint8 block_id)
{
	Size		len;
	const char *data = block_data(record, block_id, sizeof(SfxMeta), &len);
	SfxMeta		m;

	if (data == NULL)
		return;
	memcpy(&m, data, sizeof(m));
	appendStringInfo(buf, " gens %u runs %u epoch " UINT64_FORMAT " removals " UINT64_FORMAT,
					 m.ngens, m.nruns, m.epoch, m.removals);
}

static void
describe_horizon(StringInfo buf, TransactionId horizon, uint8 catalog)
{
	if (TransactionIdIsValid(horizon))
		appendStringInfo(buf, " horizon %u%s", horizon, catalog ? " catalog" : "");
}

static void
describe_group(StringInfo buf, XLogReaderState *record)
{
	SfxXlGroup *x = (SfxXlGroup *) XLogRecGetData(record);

	appendStringInfo(buf, "pages %u level %u%s", x->npages, x->level, x->new_root ? " new root" : "");
	if (x->meta)
	{
		appendStringInfoString(buf, " meta");
		describe_meta(buf, record, x->npages);
	}
	describe_horizon(buf, x->horizon, x->catalog);
}

static void
describe_change(StringInfo buf, XLogReaderState *record)
{
	static const char *const what[] = {
		"unknown change", "drop generation", "removals", "gate", "statistics", "merge run", "drop run", "epoch"
	};
	SfxXlMeta  *x = (SfxXlMeta *) XLogRecGetData(record);

	appendStringInfoString(buf, what[x->change < lengthof(what) ? x->change : 0]);
	describe_meta(buf, record, 0);
	describe_horizon(buf, x->horizon, x->catalog);
}

static void
describe_batch(StringInfo buf, XLogReaderState *record)
{
	uint16		n = 0;
	Size		len;

	if (XLogRecGetDataLen(record) >= sizeof(n))
		memcpy(&n, XLogRecGetData(record), sizeof(n));
	appendStringInfo(buf, "entries %u", n);
	if (block_data(record, 0, 1, &len) != NULL)
		appendStringInfo(buf, " of %zu bytes", len);
	else
		appendStringInfoString(buf, " in image");
}

void
sfx_wal_desc(StringInfo buf, XLogReaderState *record)
{
	SfxXlExtend *x = (SfxXlExtend *) XLogRecGetData(record);
	Size		len;

	switch (XLogRecGetInfo(record) & XLR_RMGR_INFO_MASK)
	{
		case XLOG_SFX_APPEND:
			if (block_data(record, 0, 1, &len) != NULL)
				appendStringInfo(buf, "entry of %zu bytes", len);
			else
				appendStringInfoString(buf, "entry in image");
			break;
		case XLOG_SFX_EXTEND:
			appendStringInfo(buf, "gen %u page %u block %u", x->gen, x->seq, x->newblk);
			describe_meta(buf, record, 0);
			break;
		case XLOG_SFX_FREEZE:
			appendStringInfoString(buf, "active generation sealed");
			describe_meta(buf, record, 0);
			break;
		case XLOG_SFX_GROUP:
			describe_group(buf, record);
			break;
		case XLOG_SFX_META:
			describe_change(buf, record);
			break;
		case XLOG_SFX_FLAG:
			if (block_data(record, 0, 1, &len) != NULL)
				appendStringInfo(buf, "dead entries %zu", len / sizeof(uint16));
			else
				appendStringInfoString(buf, "dead entries in image");
			break;
		case XLOG_SFX_GATE:
			appendStringInfo(buf, "gate page %u", XLogRecGetBlock(record, 0)->blkno);
			break;
		case XLOG_SFX_BATCH:
			describe_batch(buf, record);
			break;
	}
}
