/*-------------------------------------------------------------------------
 * check_rows.c - the verifier: each entry's row
 *
 * A row has one entry, unless it is in a stage that a merge is on its way through.  An entry's TID
 * leads to a row, or to the remains of one that nobody can see any more.  Of the versions that
 * somebody may still see (a HOT chain's), one has the entry's key, and its INCLUDE columns byte by
 * byte.
 *
 * The merge lock is held, so no VACUUM that has yet to pass the tree gives a TID that was read here
 * to another row meanwhile.
 *
 * Entries come in the order of keys, and their rows lie anywhere: one by one, a page of the table
 * would be read for each.  So maintenance_work_mem of them are kept, and looked for in the order of
 * the table.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "compare.h"
#include "counters.h"
#include "dead_rows.h"
#include "heap_ahead.h"
#include "key.h"
#include "leaf.h"
#include "payload.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* An entry that waits: its key and payload follow. */
typedef struct Kept
{
	BlockNumber blkno;			/* where it stands */
	uint16		keylen;
	uint16		paylen;
	uint8		bytes[FLEXIBLE_ARRAY_MEMBER];
} Kept;

typedef struct KeptRef
{
	uint64		tid;			/* first, for sfx_cmp_u64 */
	Size		at;				/* in bytes */
} KeptRef;

struct SfxRows
{
	IndexInfo  *info;
	EState	   *estate;
	TupleTableSlot *slot;
	IndexFetchTableData *fetch;
	SnapshotData snapshot;
	SfxHeapAhead ahead;
	BlockNumber nblocks;		/* of the table */
	bool		is_heap;
	uint8	   *seen;			/* a bit per TID of the table's blocks that are looked at: an entry
								 * has it */
	BlockNumber nseen;			/* such blocks */
	BlockNumber every;			/* one block in so many is */
	KeptRef    *kept;			/* entries that wait, ... */
	Size		nkept;
	Size		kept_room;
	char	   *bytes;			/* ... and what they are */
	Size		used;
	Size		room;
};

#define SEEN_BYTES		((MaxHeapTuplesPerPage + 7) / 8)
#define FIRST_KEPT		256

void
sfx_check_rows_begin(SfxCheck *cs)
{
	SfxRows    *rows = palloc0(sizeof(SfxRows));

	rows->info = BuildIndexInfo(cs->index);
	rows->estate = CreateExecutorState();
	rows->slot = table_slot_create(cs->heap, NULL);
	rows->fetch = SfxBeginFetch(cs->heap, 0);
	sfx_ahead_begin(&rows->ahead, cs->heap, true);
	rows->is_heap = cs->heap->rd_tableam == GetHeapamTableAmRoutine();
	/* what nobody can see any more may have lost its values out of line */
	InitNonVacuumableSnapshot(rows->snapshot, GlobalVisTestFor(cs->heap));
	GetPerTupleExprContext(rows->estate)->ecxt_scantuple = rows->slot;
	rows->every = 1 + (uint64) RelationGetNumberOfBlocks(cs->heap) * SEEN_BYTES / ((uint64) maintenance_work_mem * 1024);
	rows->nseen = RelationGetNumberOfBlocks(cs->heap) / rows->every + 1;
	rows->seen = MemoryContextAllocExtended(CurrentMemoryContext, (Size) rows->nseen * SEEN_BYTES, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	rows->kept_room = FIRST_KEPT;
	rows->kept = palloc(rows->kept_room * sizeof(KeptRef));
	rows->room = FIRST_KEPT * SFX_MAX_ENTRY;
	rows->bytes = palloc(rows->room);
	cs->rows = rows;
}

void
sfx_check_only(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e)
{
	SfxRows    *rows = cs->rows;
	BlockNumber nth = SFX_TID_BLOCK(e->tid) / rows->every;
	uint32		bit = SFX_TID_OFFSET(e->tid) - 1;
	uint8	   *byte;

	/*
	 * rows are inserted in blocks that the table got after we began; impossible TIDs are not this
	 * check's business
	 */
	if (SFX_TID_BLOCK(e->tid) % rows->every != 0 || nth >= rows->nseen || bit >= SEEN_BYTES * 8)
		return;
	byte = &rows->seen[(Size) nth * SEEN_BYTES + bit / 8];
	if (*byte & (1 << bit % 8))
		sfx_broken(cs, blkno, "there is another entry for row (%u,%u)", SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid));
	*byte |= 1 << bit % 8;
}

/*
 * Is the row gone for every new snapshot, and was it so for every snapshot when the image lost
 * entries with that horizon (NULL: it is not known)?  That is not what core answers today: its own
 * horizon moves back when a standby with hot_standby_feedback connects again.
 */
static bool
was_dead(SfxCheck *cs, const SfxEntry *e, const SfxHorizon *taken)
{
	ItemPointerData tid;
	SnapshotData dirty;
	SfxHorizon	own = {InvalidTransactionId, false};
	bool		all_dead = false;

	InitDirtySnapshot(dirty);
	ItemPointerSet(&tid, SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid));
	if (table_index_fetch_tuple_check(cs->heap, &tid, &dirty, &all_dead))
		return false;
	if (all_dead || taken == NULL)
		return true;
	sfx_dead_known(cs->index, cs->heap, &e->tid, 1, &own);
	return TransactionIdIsValid(own.xid) && TransactionIdIsValid(taken->xid) &&
		TransactionIdPrecedesOrEquals(own.xid, taken->xid);
}

void
sfx_check_dead(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e, const SfxHorizon *taken)
{
	if (!was_dead(cs, e, taken))
		sfx_broken(cs, blkno, "the image %s the log's entry for row (%u,%u), which is not dead to everybody",
				   taken ? "lacks" : "has a dead flag on", SFX_TID_BLOCK(e->tid),
				   SFX_TID_OFFSET(e->tid));
}

/* Is there so much as a line pointer?  One that is not used would be given to the next row. */
static bool
tid_is_used(SfxCheck *cs, ItemPointer tid)
{
	Buffer		buf;
	Page		page;
	OffsetNumber off = ItemPointerGetOffsetNumber(tid);
	bool		used;

	if (!cs->rows->is_heap)
		return true;
	buf = ReadBuffer(cs->heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	used = !PageIsNew(page) && off <= PageGetMaxOffsetNumber(page) && ItemIdIsUsed(PageGetItemId(page, off));
	UnlockReleaseBuffer(buf);
	return used;
}

/*
 * Has the row in hand this key?  values and isnull: the index's columns of the row, not yet formed.
 */
static bool
row_has_key(SfxCheck *cs, const SfxEntry *e, Datum *values, bool *isnull)
{
	uint8		want[SFX_MAX_ENTRY + 6];
	uint8		got[SFX_MAX_ENTRY + 6];
	int			wantlen = sfx_check_element(cs, e->key, e->keylen, e->tid, want);
	int			gotlen;

	FormIndexDatum(cs->rows->info, cs->rows->slot, cs->rows->estate, values, isnull);
	gotlen = sfx_key_encode(&cs->kd, cs->index, values, isnull, got);
	gotlen = sfx_check_element(cs, got, gotlen, e->tid, got);
	return gotlen == wantlen && memcmp(got, want, gotlen) == 0;
}

/*
 * Are the entry's INCLUDE columns those of the row?  Values may be compressed in one of them only.
 */
static bool
row_has_payload(SfxCheck *cs, const SfxEntry *e, const Datum *values, const bool *isnull)
{
	Datum		stored[INDEX_MAX_KEYS];
	bool		stored_null[INDEX_MAX_KEYS];

	if (e->paylen == 0)
		return true;
	sfx_payload_decode(&cs->kd, cs->index, e->payload, e->paylen, stored, stored_null, cs->arena);
	for (int i = cs->kd.nkeys; i < cs->kd.natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(cs->index), i);

		if (stored_null[i] != isnull[i] ||
			(!isnull[i] && !datum_image_eq(stored[i], values[i], att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

typedef enum RowMatch
{
	ROW_NONE,					/* nobody can see it any more */
	ROW_OTHER_KEY,
	ROW_OTHER_PAYLOAD,
	ROW_MATCHES
} RowMatch;

/* How far does the row in hand agree with the entry? */
static RowMatch
match_row(SfxCheck *cs, const SfxEntry *e)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	RowMatch	match = ROW_OTHER_KEY;
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(cs->rows->estate));

	if (row_has_key(cs, e, values, isnull))
		match = row_has_payload(cs, e, values, isnull) ? ROW_MATCHES : ROW_OTHER_PAYLOAD;
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(cs->rows->estate);
	return match;
}

/*
 * Does the entry, which stands in blkno, lead to its row?  Without a key: to a line pointer, at
 * least.
 */
static void
check_row(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e)
{
	SfxRows    *rows = cs->rows;
	ItemPointerData tid;
	ItemPointerData at;
	bool		again = false;
	RowMatch	best = ROW_NONE;

	ItemPointerSet(&tid, SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid));
	if (SFX_TID_BLOCK(e->tid) >= rows->nblocks)
		rows->nblocks = RelationGetNumberOfBlocks(cs->heap);
	if (SFX_TID_BLOCK(e->tid) >= rows->nblocks)
		sfx_broken(cs, blkno, "entry for row (%u,%u) of a table that has %u blocks",
				   SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid), rows->nblocks);
	CHECK_FOR_INTERRUPTS();
	at = tid;
	while (e->keylen > 0)
	{
		bool		all_dead;

		if (!table_index_fetch_tuple(rows->fetch, &at, &rows->snapshot, rows->slot, &again, &all_dead))
			break;
		best = Max(best, match_row(cs, e));
		if (best == ROW_MATCHES)
			return;
		if (!again)
			break;
	}
	if (best != ROW_NONE)
		sfx_broken(cs, blkno, "entry for row (%u,%u), which has %s", SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid),
				   best == ROW_OTHER_KEY ? "another key" : "other values in INCLUDE columns");
	if (!tid_is_used(cs, &tid))
		sfx_broken(cs, blkno, "entry for row (%u,%u), which does not exist", SFX_TID_BLOCK(e->tid), SFX_TID_OFFSET(e->tid));
}

/* ---- in the order of the table ---- */

/* All that wait. */
static void
check_kept(SfxCheck *cs)
{
	SfxRows    *rows = cs->rows;
	BlockNumber blkno = InvalidBlockNumber;
	ErrorContextCallback context = {
		.callback = sfx_check_context,.arg = &blkno,.previous = error_context_stack
	};

	/* by their TIDs */
	qsort(rows->kept, rows->nkept, sizeof(KeptRef), sfx_cmp_u64);
	error_context_stack = &context;
	for (Size i = 0; i < rows->nkept; i++)
	{
		const Kept *k = (const Kept *) (rows->bytes + rows->kept[i].at);
		SfxEntry	e = {
			.key = k->bytes,.keylen = k->keylen,.tid = rows->kept[i].tid,
			.payload = k->bytes + k->keylen,.paylen = k->paylen
		};

		sfx_ahead_rows(&rows->ahead, &rows->kept->tid, sizeof(KeptRef), i, rows->nkept);
		blkno = k->blkno;
		check_row(cs, blkno, &e);
	}
	error_context_stack = context.previous;
	rows->nkept = 0;
	rows->used = 0;
}

void
sfx_check_row(SfxCheck *cs, BlockNumber blkno, const SfxEntry *e)
{
	SfxRows    *rows = cs->rows;
	Size		need = MAXALIGN(offsetof(Kept, bytes) + e->keylen + e->paylen);
	Kept	   *k;

	if (rows->nkept * sizeof(KeptRef) + rows->used + need > (Size) maintenance_work_mem * 1024)
		check_kept(cs);
	if (rows->nkept == rows->kept_room)
		rows->kept = repalloc_huge(rows->kept, (rows->kept_room *= 2) * sizeof(KeptRef));
	if (rows->used + need > rows->room)
		rows->bytes = repalloc_huge(rows->bytes, rows->room *= 2);
	rows->kept[rows->nkept++] = (KeptRef) {e->tid, rows->used};
	k = (Kept *) (rows->bytes + rows->used);
	k->blkno = blkno;
	k->keylen = e->keylen;
	k->paylen = e->paylen;
	memcpy(k->bytes, e->key, e->keylen);
	if (e->paylen > 0)
		memcpy(k->bytes + e->keylen, e->payload, e->paylen);
	rows->used += need;
}

void
sfx_check_row_is_there(SfxCheck *cs, BlockNumber blkno, uint64 tid)
{
	SfxEntry	e = {.key = (const uint8 *) "",.tid = tid};

	sfx_check_row(cs, blkno, &e);
}

void
sfx_check_rows_end(SfxCheck *cs)
{
	check_kept(cs);
	sfx_count_ahead(&SfxRelLocator(cs->index), &cs->rows->ahead);
	table_index_fetch_end(cs->rows->fetch);
	ExecDropSingleTupleTableSlot(cs->rows->slot);
	FreeExecutorState(cs->rows->estate);
	pfree(cs->rows->seen);
	pfree(cs->rows->kept);
	pfree(cs->rows->bytes);
	cs->rows = NULL;
}
