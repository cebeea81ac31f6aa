/*-------------------------------------------------------------------------
 * wal.h - record kinds of the resource manager, and the page changes that action and redo share
 *
 *	kind	blocks									data
 *	APPEND	0 log tail								the entry's bytes (block 0)
 *	BATCH	0 log tail								uint16 number of entries; their bytes (block 0)
 *	EXTEND	0 metapage, 1 new tail, 2 old tail		SfxMeta (block 0), SfxXlExtend
 *	FREEZE	0 metapage, 1 tail						SfxMeta (block 0)
 *	GROUP	0..n-1 tree pages, as full images,		SfxMeta (that block's); BlockNumber (blocks with a
 *			or what changes in them; then the		new right link only); new children (inner pages,
 *			metapage if SfxXlGroup.meta				inner_edit.c); SfxXlGroup
 *	META	0 metapage								SfxMeta (block 0), SfxXlMeta
 *	FLAG	0 log page								uint16 body offsets of entries that are dead
 *	GATE	0 gate page, taken with a cleanup lock	-
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_WAL_H
#define SURFIDX_WAL_H

#include "horizon.h"
#include "inner.h"
#include "meta.h"

#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

/* Within the range of custom resource managers (128 to 255); see docs/replication.md. */
#define SFX_RMGR_ID		183
#define SFX_RMGR_NAME	"surfidx"

#define XLOG_SFX_APPEND	0x00
#define XLOG_SFX_EXTEND	0x10
#define XLOG_SFX_FREEZE	0x20
#define XLOG_SFX_GROUP	0x30
#define XLOG_SFX_META	0x40
#define XLOG_SFX_FLAG	0x50
#define XLOG_SFX_GATE	0x60
#define XLOG_SFX_BATCH	0x70	/* APPEND of several entries (D7) */

/* Blocks of a GROUP record, at most: the limit of XLogEnsureRecordSpace. */
#define SFX_GROUP_BLOCKS	33

/*
 * Blocks that a record should touch if it could do with fewer: their buffers are pinned together,
 * and other backends need some, too.  Twelve are enough for a leaf that becomes five below a root
 * that splits.
 */
static inline int
sfx_record_blocks(void)
{
	return Min(SFX_GROUP_BLOCKS, Max(12, NBuffers / 4));
}

/* Data of an EXTEND record: the head of the new log page. */
typedef struct SfxXlExtend
{
	uint64		build_id;
	uint64		before;			/* entries of the generation on earlier pages */
	uint32		gen;
	uint32		seq;			/* number of the page in its generation */
	BlockNumber newblk;
	uint32		pad;
} SfxXlExtend;

/* Data of a GROUP record. */
typedef struct SfxXlGroup
{
	uint16		npages;			/* blocks of the record, the metapage not counted */
	uint8		meta;			/* the metapage is the last block */
	uint8		new_root;		/* a root has changed */
	uint8		level;			/* of the node whose children change */
	uint8		catalog;		/* as SfxHorizon.catalog */
	TransactionId horizon;		/* conflict horizon of entries that are left out */
} SfxXlGroup;

/* Why a META record was written. */
typedef enum SfxMetaChange
{
	SFX_META_DROP_GEN = 1,		/* the oldest frozen generation was merged (M4) */
	SFX_META_REMOVALS,			/* VACUUM has flagged log entries (V2) */
	SFX_META_GATE,				/* VACUUM has flipped the gate (V3) */
	SFX_META_STATS,				/* numbers for statistics and the planner */
	SFX_META_MERGE_RUN,			/* a run has become a source (M6) */
	SFX_META_DROP_RUN,			/* a run was merged (M4) */
	SFX_META_EPOCH				/* links read before are void (shrink.c) */
} SfxMetaChange;

/* Data of a META record. */
typedef struct SfxXlMeta
{
	uint8		change;			/* SfxMetaChange */
	uint8		catalog;		/* as SfxHorizon.catalog */
	TransactionId horizon;		/* conflict horizon of what was taken out of a dropped generation
								 * (X1) */
} SfxXlMeta;

/*
 * sfx_edit_encode: data for a record that says that children [from, to) of an inner page become
 * repl[0..n); palloc'd, *len bytes.  sfx_edit_redo: do the same to a page in byte order,
 * exclusively locked.  False: page or data are damaged (inner_edit.c).
 */
extern char *sfx_edit_encode(int from, int to, const SfxChild *repl, int n, Size *len);
extern bool sfx_edit_redo(Page page, const char *data, Size len);

/*
 * Make *meta the metapage in buf, which sfx_meta_lock has locked, in a META record, and unlock and
 * release it.  horizon: of entries that go with the change, or NULL.
 */
extern void sfx_meta_change(Relation index, Buffer buf, const SfxMeta *meta, SfxMetaChange change,
							const SfxHorizon *horizon);

#endif							/* SURFIDX_WAL_H */
