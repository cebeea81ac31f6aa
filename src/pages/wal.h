/*-------------------------------------------------------------------------
 * wal.h - record kinds of the resource manager, and the page changes that action and redo share
 *
 *	kind	blocks									data
 *	APPEND	0 log tail								the entry's bytes (block 0)
 *	EXTEND	0 metapage, 1 new tail, 2 old tail		SfxMeta (block 0), SfxXlExtend
 *	FREEZE	0 metapage, 1 tail						SfxMeta (block 0)
 *	GROUP	0..n-1 tree pages, as full images,		SfxMeta (that block's); BlockNumber (of blocks with a
 *			or what changes in them; then the		new right link only); new children (of inner pages,
 *			metapage if SfxXlGroup.meta				inner_edit.c)
 *	META	0 metapage								SfxMeta (block 0), SfxXlMeta
 *	FLAG	0 log page								uint16 body offsets of entries that are dead
 *	GATE	0 gate page, taken with a cleanup lock	-
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_WAL_H
#define SURFIDX_WAL_H

#include "surfidx.h"
#include "horizon.h"
#include "inner.h"
#include "meta.h"

#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

/* In the range for custom resource managers (128 to 255); see docs/replication.md. */
#define SFX_RMGR_ID		183
#define SFX_RMGR_NAME	"surfidx"

#define XLOG_SFX_APPEND	0x00
#define XLOG_SFX_EXTEND	0x10
#define XLOG_SFX_FREEZE	0x20
#define XLOG_SFX_GROUP	0x30
#define XLOG_SFX_META	0x40
#define XLOG_SFX_FLAG	0x50
#define XLOG_SFX_GATE	0x60
#define XLOG_SFX_BATCH	0x70	/* APPEND of several entries: their number is its data, 2 bytes */

/* What a group record may touch: the limit of XLogEnsureRecordSpace. */
#define SFX_GROUP_BLOCKS	33

/*
 * What one touches that could do with fewer blocks: their buffers are pinned together, and a
 * quarter of all leaves the others enough.  Twelve do for a leaf that becomes five below a root
 * that is split.
 */
static inline int
sfx_record_blocks(void)
{
	return Min(SFX_GROUP_BLOCKS, Max(12, NBuffers / 4));
}

typedef struct SfxXlExtend
{
	uint64		build_id;
	uint64		before;
	uint32		gen;
	uint32		seq;
	BlockNumber newblk;
	uint32		pad;
} SfxXlExtend;

typedef struct SfxXlGroup
{
	uint16		npages;
	uint8		meta;			/* the metapage follows the pages */
	uint8		new_root;
	uint8		level;
	uint8		catalog;		/* SfxHorizon */
	TransactionId horizon;
} SfxXlGroup;

typedef enum SfxMetaChange
{
	SFX_META_DROP_GEN = 1,
	SFX_META_REMOVALS,
	SFX_META_GATE,
	SFX_META_STATS,
	SFX_META_MERGE_RUN,
	SFX_META_DROP_RUN,
	SFX_META_EPOCH
} SfxMetaChange;

typedef struct SfxXlMeta
{
	uint8		change;			/* SfxMetaChange */
	uint8		catalog;		/* SfxHorizon */
	TransactionId horizon;
} SfxXlMeta;

/*
 * The children [from, to) of an inner page become repl[0..n): palloced data for a record, *len
 * bytes; and the same done to a page in byte order, exclusively locked.  False: page or data are
 * damaged (inner_edit.c).
 */
extern char *sfx_edit_encode(int from, int to, const SfxChild *repl, int n, Size *len);
extern bool sfx_edit_redo(Page page, const char *data, Size len);

/*
 * The metapage in buf, which sfx_meta_lock has locked, becomes *meta, in a record of its own; the
 * page is let go.  horizon: of entries that go with it, or NULL.
 */
extern void sfx_meta_change(Relation index, Buffer buf, const SfxMeta *meta, SfxMetaChange change,
							const SfxHorizon *horizon);

#endif							/* SURFIDX_WAL_H */
