/*-------------------------------------------------------------------------
 * recover.c - the whole keys of cut leaves, taken from the table (README, "Cut leaves")
 *
 * The key of an entry is that of the last member of its HOT chain that is not dead to all
 * snapshots: a build indexes that member where the chain is broken, and later members differ in no
 * indexed column (W2).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "counters.h"
#include "filter.h"
#include "heap_ahead.h"
#include "key.h"
#include "page.h"
#include "recover.h"
#include "settings.h"

#include "access/table.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* A recovery in progress: what is open of the table. */
struct SfxRecovery
{
	Relation	index;
	Relation	heap;
	bool		opened;			/* the table was opened by sfx_recovery_begin */
	SfxKeyDesc	kd;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	SnapshotData snapshot;
	MemoryContext cxt;			/* of one row's values */
	uint64		asked;			/* keys recovered so far */
	SfxHeapAhead ahead;
};

/* ---- which leaves are cut ---- */

static bool
has_expressions(Relation index)
{
	for (int i = 0; i < index->rd_index->indnatts; i++)
		if (index->rd_index->indkey.values[i] <= 0)
			return true;
	return false;
}

/*
 * What of an index's columns keeps its leaves whole, as a clause for messages; NULL: nothing.  The
 * index may be of another access method.
 */
static const char *
column_obstacle(Relation index, bool comparator)
{
	if (comparator)
		return "a column is not in the order of its bytes";
	if (has_expressions(index))
		return "it has an expression";
	if (index->rd_index->indnatts > index->rd_index->indnkeyatts)
		return "it has INCLUDE columns";
	return NULL;
}

bool
sfx_cut_possible(Relation index, bool comparator)
{
	return column_obstacle(index, comparator) == NULL;
}

/* What keeps the index's leaves whole, as a clause for messages; NULL: nothing. */
static const char *
obstacle(Relation index, bool comparator)
{
	const char *why = column_obstacle(index, comparator);
	SfxFilterSpec filter;

	if (why)
		return why;
	sfx_opt_filter(index, &filter);
	if (filter.kind != SFX_FILTER_NONE)
		return "it has filters";
	return NULL;
}

SfxLeafKeys
sfx_leaves_wanted(Relation index, const SfxOrder *order)
{
	SfxLeafKeys keys = sfx_opt_keys(index);

	if (keys == SFX_LEAVES_FULL || !index->rd_index->indisvalid || obstacle(index, order != NULL))
		return SFX_LEAVES_FULL;
	return keys;
}

bool
sfx_cut_wanted(Relation index, const SfxOrder *order)
{
	return sfx_leaves_wanted(index, order) == SFX_LEAVES_CUT;
}

void
sfx_cut_notice(Relation index)
{
	SfxKeyDesc	kd;
	const char *why;

	sfx_keydesc_init(&kd, index);
	why = obstacle(index, kd.comparator);

	/*
	 * where a setting, not the index's own parameter, asks for it there is no notice for each
	 * index
	 */
	if (why && sfx_opt_keys(index) != SFX_LEAVES_FULL &&
		(sfx_opt_keys(index) == SFX_LEAVES_BOUND ? sfx_opt_size_limit(index) > 0 :
		 sfx_guc_keys != SFX_LEAVES_CUT))
		ereport(NOTICE,
				(errmsg("keys of index \"%s\" will not be cut", RelationGetRelationName(index)),
				 errdetail("Its leaves keep them whole, since %s.", why)));
}

/* ---- recovery ---- */

/*
 * Has this backend a lock on the table?  The table exists: to drop it another session would have to
 * lock the index, on which we have a lock.
 */
static bool
is_locked_by_us(Oid relid)
{
	Relation	rel = RelationIdGetRelation(relid);
	bool		locked = CheckRelationLockedByMe(rel, AccessShareLock, true);

	RelationClose(rel);
	return locked;
}

Relation
sfx_recovery_open_heap(Relation index)
{
	Oid			relid = index->rd_index->indrelid;

	/*
	 * Locks on tables come before those on their indexes, so waiting for the table here could be a
	 * deadlock (W3).  A backend that has a lock on the table already gets this one at once,
	 * whatever others wait for.
	 */
	if (is_locked_by_us(relid) && !SFX_MUTANT("own locks are others'"))
		LockRelationOid(relid, AccessShareLock);
	else if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	return table_open(relid, NoLock);
}

SfxRecovery *
sfx_recovery_begin(Relation index, Relation heap)
{
	SfxRecovery *rc = palloc(sizeof(SfxRecovery));

	rc->index = index;
	rc->asked = 0;
	rc->opened = heap == NULL;
	rc->heap = heap ? heap : table_open(index->rd_index->indrelid, AccessShareLock);
	sfx_ahead_begin(&rc->ahead, rc->heap, true);
	sfx_keydesc_init(&rc->kd, index);
	rc->fetch = SfxBeginFetch(rc->heap, 0);
	rc->slot = table_slot_create(rc->heap, NULL);
	/* taking a snapshot brings the horizons up to date by which rows are judged dead */
	if (!ActiveSnapshotSet())
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		PopActiveSnapshot();
	}
	InitNonVacuumableSnapshot(rc->snapshot, GlobalVisTestFor(rc->heap));
	rc->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx recovered key",
									ALLOCSET_SMALL_SIZES);
	return rc;
}

void
sfx_recovery_rest(SfxRecovery *rc)
{
	ExecClearTuple(rc->slot);
	table_index_fetch_reset(rc->fetch);
}

void
sfx_recovery_end(SfxRecovery *rc, SfxCount count)
{
	if (rc->asked > 0)
		sfx_activity_add(rc->index, count, rc->asked);
	sfx_count_ahead(&SfxRelLocator(rc->index), &rc->ahead);
	table_index_fetch_end(rc->fetch);
	ExecDropSingleTupleTableSlot(rc->slot);
	if (rc->opened)
		table_close(rc->heap, AccessShareLock);
	MemoryContextDelete(rc->cxt);
	pfree(rc);
}

/* Form the key of the row in the slot; returns its length. */
static int
key_of_row(SfxRecovery *rc, uint8 *key)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old = MemoryContextSwitchTo(rc->cxt);
	bool		pushed = !ActiveSnapshotSet();	/* values out of line want one */
	int			len;

	if (pushed)
		PushActiveSnapshot(GetTransactionSnapshot());
	for (int i = 0; i < rc->kd.nkeys; i++)
		values[i] = slot_getattr(rc->slot, rc->index->rd_index->indkey.values[i], &isnull[i]);
	len = sfx_key_encode(&rc->kd, rc->index, values, isnull, key);
	if (pushed)
		PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextReset(rc->cxt);
	return len;
}

/* Is an indexed column of the row stored out of line? */
static bool
is_out_of_line(SfxRecovery *rc)
{
	for (int i = 0; i < rc->kd.nkeys; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(rc->slot, rc->index->rd_index->indkey.values[i], &isnull);

		if (!isnull && rc->kd.col[i].typlen == -1 &&
			VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
			return true;
	}
	return false;
}

/*
 * Is the row in the slot dead by the horizons of now?  If it is alive only by older ones, VACUUM of
 * the TOAST table, which runs by itself, may have removed its values (W2).
 */
static bool
is_dead_now(SfxRecovery *rc)
{
	if (!is_out_of_line(rc) || SFX_MUTANT("horizons of before"))
		return false;
	(void) GetOldestNonRemovableTransactionId(rc->heap);
	return !table_tuple_satisfies_snapshot(rc->heap, rc->slot, &rc->snapshot);
}

/*
 * The key of the row at tid, in key; returns its length.  -1: the row is dead to all snapshots, or
 * there is none (X7).
 */
static int
key_at(SfxRecovery *rc, uint64 tid, uint8 *key)
{
	ItemPointerData at;
	BlockNumber end;
	bool		again = false;
	int			len = -1;

	sfx_tid_pointer(rc->index, sfx_max_offset(rc->heap), tid, &at);
	if (!sfx_heap_reaches(rc->heap, tid, &end))
		return -1;
	/* all members of the chain, one after the other: the last one counts */
	do
	{
		bool		all_dead;

		if (!table_index_fetch_tuple(rc->fetch, &at, &rc->snapshot, rc->slot, &again, &all_dead))
			break;
		if (is_dead_now(rc))
			len = -1;
		else if (len < 0 || !SFX_MUTANT("first of a chain"))
			len = key_of_row(rc, key);
	} while (again);
	return len;
}

/* ERROR: the key of a row does not begin with what the leaf has stored of it. */
pg_noreturn static void
other_key(SfxRecovery *rc, BlockNumber blkno, uint64 tid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged at block %u: an entry begins otherwise than the key of "
					"its row (%u,%u)", RelationGetRelationName(rc->index), blkno,
					SFX_TID_BLOCK(tid), SFX_TID_OFFSET(tid)),
			 errhint("Please REINDEX it.")));
}

void
sfx_recovery_ahead(SfxRecovery *rc, const SfxBlock *block, int from)
{
	SfxHeapAhead *a = &rc->ahead;

	if (!sfx_ahead_due(a, sfx_ahead_in_list(a, from, block->nent)))
		return;
	while (a->next < block->nent && sfx_ahead_has_room(a))
	{
		sfx_ahead_ask(a, a->base + a->next, block->tid[a->next]);
		a->next = sfx_block_end_of_key(block, a->next);
	}
}

int
sfx_recover_key(SfxRecovery *rc, BlockNumber blkno, const SfxBlock *block, int from, int to,
				uint8 *key)
{
	SfxEntry	stored;

	Assert(from < to && !block->keyless && !block->tidless);
	sfx_block_entry(block, from, &stored);
	if (stored.keylen > SFX_CUT_MOST)
	{
		memcpy(key, stored.key, stored.keylen);
		return stored.keylen;
	}
	rc->asked++;
	for (int i = from; i < to; i++)
	{
		int			len = key_at(rc, block->tid[i], key);

		if (len < 0)
			continue;
		if (!sfx_begins(stored.key, stored.keylen, sfx_block_loose(block, from), key, len))
			other_key(rc, blkno, block->tid[i]);
		return len;
	}
	return -1;
}

SfxPos
sfx_recover_bound(const SfxBlock *block, const SfxPos *pos, int c, uint8 *bytes)
{
	SfxEntry	stored;

	/* the stored key's bytes are below pos, and so is its whole key (or the entry is dead) */
	if (c < 0)
		return *pos;
	sfx_block_entry(block, 0, &stored);
	memcpy(bytes, stored.key, stored.keylen);
	return (SfxPos) {bytes, stored.keylen, c == 0 ? pos->tid : 0};
}
