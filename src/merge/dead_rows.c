/*-------------------------------------------------------------------------
 * dead_rows.c - removing entries of rows that are dead to everybody before VACUUM
 *
 * Scans and unique checks meet rows that are dead to every snapshot.  A reader flags their entries
 * in an image and takes them out (image.c, X1): no page changes, and no merge will move them to a
 * leaf.  Those in a leaf are noted, and a reader that has met enough of them rewrites the leaf
 * without them (dead_leaf.c, X3).  A merge asks about versions of rows (X5).
 *
 * The heap is asked again before an entry goes: since the entry was met, its TID may have been
 * given to a new row.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "compare.h"
#include "counters.h"
#include "dead_rows.h"
#include "heap_ahead.h"
#include "horizon.h"
#include "leaf.h"
#include "merge_lock.h"
#include "page.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define LEAF_DEAD_MIN	32		/* rewriting a leaf and its parent costs about as much as so many
								 * visits to dead rows */
#define LEAF_DEAD_SHARE	64		/* ... and dead entries must be one in so many of the leaf's */
#define HORIZON_TIDS	4096	/* that the table is asked about in one call */
#define FIRST_ROOM		4096	/* TIDs, for versions of rows */

/*
 * Raise *horizon to that of rows that are known to be dead, which the table computes from its
 * tuples.
 */
static void
raise_horizon(Relation index, Relation heap, const uint64 *tids, int n, SfxHorizon *horizon)
{
	TM_IndexDeleteOp op = {.irel = index,.iblknum = InvalidBlockNumber,.ndeltids = n};
	SfxHorizon	h;

	op.deltids = palloc(n * sizeof(TM_IndexDelete));
	op.status = palloc0(n * sizeof(TM_IndexStatus));
	for (int i = 0; i < n; i++)
	{
		sfx_tid_pointer(index, SFX_MAX_OFFSET, tids[i], &op.deltids[i].tid);
		op.deltids[i].id = i;
		op.status[i].idxoffnum = FirstOffsetNumber; /* only for error messages of the table */
		op.status[i].knowndeletable = true;
	}
	h.xid = table_index_delete_tuples(heap, &op);
	h.catalog = RelationIsAccessibleInLogicalDecoding(heap);
	sfx_horizon_raise(horizon, &h);
	pfree(op.deltids);
	pfree(op.status);
}

static inline bool
is_heap(Relation table)
{
	return table->rd_tableam == GetHeapamTableAmRoutine();
}

/*
 * Can the table be asked for the horizon of this TID?  An entry without a row looks like a dead one
 * (X7), but core would report it as damage.  The page, of a heap, is locked.
 */
static bool
has_row(Page page, ItemPointer tid)
{
	ItemId		item;

	if (ItemPointerGetOffsetNumber(tid) > PageGetMaxOffsetNumber(page))
		return false;
	item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	return ItemIdIsUsed(item) &&
		!(ItemIdHasStorage(item) &&
		  HeapTupleHeaderIsHeapOnly((HeapTupleHeader) PageGetItem(page, item)));
}

/* Does this TID of a heap lead to a row; if asked, to one that is dead to everybody?  buf: below. */
static bool
heap_has_row(Relation heap, ItemPointer tid, bool dead, Buffer *buf)
{
	bool		result;

	*buf = ReleaseAndReadBuffer(*buf, heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(*buf, BUFFER_LOCK_SHARE);
	result = has_row(BufferGetPage(*buf), tid);
	if (result && dead && !SFX_MUTANT("dead without asking"))
	{
		ItemPointerData at = *tid;
		HeapTupleData tuple;
		bool		all_dead = false;

		result = !heap_hot_search_buffer(&at, heap, *buf, SnapshotSelf, &tuple, &all_dead, true) &&
			all_dead;
	}
	LockBuffer(*buf, BUFFER_LOCK_UNLOCK);
	return result;
}

/*
 * Does this TID lead to a row that is dead to everybody?  *buf: the heap page last read, pinned, or
 * invalid; the caller releases it.
 */
static bool
is_dead_row(Relation heap, ItemPointer tid, Buffer *buf)
{
	bool		all_dead = false;

	if (is_heap(heap))
		return heap_has_row(heap, tid, true, buf);
	return !table_index_fetch_tuple_check(heap, tid, SnapshotSelf, &all_dead) && all_dead;
}

int
sfx_dead_ask(Relation index, Relation heap, uint64 *tids, int n, SfxHorizon *horizon)
{
	SfxHeapAhead ahead;
	Buffer		buf = InvalidBuffer;
	int			ndead = 0;

	sfx_ahead_begin(&ahead, heap, true);
	qsort(tids, n, sizeof(uint64), sfx_cmp_u64);
	for (int i = 0; i < n; i++)
	{
		ItemPointerData htid;
		BlockNumber end;

		if (i > 0 && tids[i] == tids[i - 1])
			continue;
		CHECK_FOR_INTERRUPTS();
		sfx_ahead_rows(&ahead, tids, sizeof(uint64), i, n);
		sfx_tid_pointer(index, SFX_MAX_OFFSET, tids[i], &htid);
		/* an entry beyond the table's end leads to no row: the next reader of it reports that */
		if (sfx_heap_reaches(heap, tids[i], &end) && is_dead_row(heap, &htid, &buf))
			tids[ndead++] = tids[i];
	}
	if (BufferIsValid(buf))
		ReleaseBuffer(buf);
	sfx_count_ahead(&SfxRelLocator(index), &ahead);
	for (int i = 0; i < ndead; i += HORIZON_TIDS)
		raise_horizon(index, heap, tids + i, Min(HORIZON_TIDS, ndead - i), horizon);
	return ndead;
}

void
sfx_dead_known(Relation index, Relation heap, const uint64 *tids, int n, SfxHorizon *horizon)
{
	uint64	   *with_rows = palloc(n * sizeof(uint64));
	Buffer		buf = InvalidBuffer;
	int			found = 0;

	for (int i = 0; i < n; i++)
	{
		ItemPointerData htid;
		BlockNumber end;

		sfx_tid_pointer(index, SFX_MAX_OFFSET, tids[i], &htid);
		if (sfx_heap_reaches(heap, tids[i], &end) &&
			(!is_heap(heap) || heap_has_row(heap, &htid, false, &buf)))
			with_rows[found++] = tids[i];
	}
	if (BufferIsValid(buf))
		ReleaseBuffer(buf);
	for (int i = 0; i < found; i += HORIZON_TIDS)
		raise_horizon(index, heap, with_rows + i, Min(HORIZON_TIDS, found - i), horizon);
	pfree(with_rows);
}

int
sfx_tid_list_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *list)
{
	SfxTidList *l = list;
	int			found = 0;

	for (int i = 0; i < n && l->n > 0; i++)
		if (bsearch(&tids[i], l->tid, l->n, sizeof(uint64), sfx_cmp_u64) != NULL)
			dead[found++] = (uint16) i;
	return found;
}

bool
sfx_dead_worth(uint64 nentries, int ndead)
{
	return ndead >= LEAF_DEAD_MIN && ndead >= nentries / LEAF_DEAD_SHARE;
}

/* ---- versions that a merge meets (X5) ---- */

void
sfx_versions_clear(SfxVersions *v)
{
	v->nrun = 0;
	v->fresh = false;
	if (!v->asked)
		v->tids.n = 0;
}

/*
 * All entries of one key have been noted: keep their TIDs to ask about, unless there is only one,
 * or none is new.
 */
static void
end_run(SfxVersions *v)
{
	if (v->nrun > 1 && v->nrun < SFX_VERSIONS_RUN && v->fresh && !v->asked && v->tids.n + v->nrun <= SFX_VERSIONS_MAX)
	{
		if (v->tids.n + v->nrun > v->room)
		{
			v->room = v->room == 0 ? FIRST_ROOM : 2 * v->room;
			v->tids.tid = v->tids.tid ? repalloc(v->tids.tid, sizeof(uint64) * v->room) : palloc(sizeof(uint64) * v->room);
		}
		memcpy(v->tids.tid + v->tids.n, v->run, v->nrun * sizeof(uint64));
		v->tids.n += v->nrun;
	}
	v->nrun = 0;
	v->fresh = false;
}

void
sfx_versions_note(SfxVersions *v, const SfxEntry *e, bool fresh)
{
	if (!sfx_versions_same(v, e))
	{
		end_run(v);
		v->keylen = e->keylen;
		memcpy(v->key, e->key, e->keylen);
	}
	v->fresh |= fresh;
	if (v->nrun < SFX_VERSIONS_RUN)
		v->run[v->nrun++] = e->tid;
}

bool
sfx_versions_ask(SfxVersions *v, Relation index, SfxHorizon *horizon)
{
	Assert(sfx_merge_lock_held(index));
	end_run(v);
	if (v->asked || v->tids.n == 0)
		return false;
	v->asked = true;
	v->tids.n = sfx_dead_ask(index, v->heap, v->tids.tid, v->tids.n, horizon);
	return v->tids.n > 0;
}

Relation
sfx_dead_open_heap(Relation index)
{
	Oid			relid = index->rd_index->indrelid;

	/* All code locks the table before the index; waiting for it now could be a deadlock. */
	if (IsInParallelMode() || SfxSnapshotsExpire() || !ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	/* Horizons, which decide what is dead, are brought up to date by taking a snapshot. */
	if (!ActiveSnapshotSet())
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		PopActiveSnapshot();
	}
	return table_open(relid, NoLock);
}
