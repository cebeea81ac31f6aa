/*-------------------------------------------------------------------------
 * insert.c - aminsert and the unique check
 *
 * A plain insert encodes the key and appends to the log: it reads no page of the tree.  Rows of one
 * statement may be appended together (D7).
 *
 * A unique insert checks, and its append goes through only if no equal key has come into the log
 * since the check looked there (U1).  Where equal keys may have different bytes, a lock is held
 * over check and append; it is released before a wait for another transaction, and the check starts
 * over.  Ascending keys need no check (U3, right_edge.c), nor do keys that an UPDATE leaves
 * unchanged (U1).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "column.h"
#include "key.h"
#include "leaf.h"
#include "log.h"
#include "order.h"
#include "page.h"
#include "payload.h"
#include "pending.h"
#include "predicate.h"
#include "pressure.h"
#include "reader.h"
#include "right_edge.h"
#include "settings.h"
#include "statement.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define LOCK_FIELD_UNIQUE	2	/* objsubid of the lock over check and append (insert_locked) */

/*
 * Readers that all statements of a backend may keep from row to row, with their memory: a statement
 * into hundreds of partitions has as many indexes.
 */
#define READERS_KEPT	16

/* Tries that may be outrun; after them a check follows the log however far it has grown. */
#define PATIENT_AFTER	3

/* Rows of a statement that are appended at once, before others wait: most statements have one. */
#define ROWS_ALONE	4

/* State of the inserts of one statement into one index; in IndexInfo.ii_AmCache. */
typedef struct InsertState
{
	MemoryContextCallback gone;
	bool		keeps;			/* it keeps its reader from row to row: one of READERS_KEPT */
	int			rows;			/* so far, up to ROWS_ALONE + 1 */
	bool		together;		/* entries of later rows may wait for each other (D7) */
	bool		believes;		/* core's word that a key is unchanged is proof (U1) */
	const SfxOrder *order;
	SfxReader  *reader;			/* unique indexes only */
	SfxKeyDesc	kd;				/* last member: it has as many columns as there are */
} InsertState;

static int	readers_kept = 0;

/* Reset callback of the statement's context. */
static void
state_is_gone(void *arg)
{
	if (((InsertState *) arg)->keeps)
		readers_kept--;
}

/*
 * U1: does core's word that an UPDATE left a key unchanged mean that the row's old version stands
 * in the index under the same key?  (If a function of another index, declared immutable, inserts
 * the key between the row and its entry, it does not, and that is not seen.)
 */
static bool
believes_hint(Relation index, Relation heap, const IndexInfo *info)
{
	if (SFX_MUTANT("hints are believed"))
		return true;
	return index->rd_index->indisvalid && info->ii_Expressions == NIL &&
		info->ii_Predicate == NIL && heap->rd_tableam == GetHeapamTableAmRoutine() &&
		(heap->trigdesc == NULL || !heap->trigdesc->trig_update_before_row) &&
		sfx_statement_is(info->ii_Context, SFX_HINT_HOLDS);
}

/* The statement's state, made at its first row. */
static InsertState *
insert_state(Relation index, Relation heap, IndexInfo *info)
{
	InsertState *st = info->ii_AmCache;

	if (st == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(info->ii_Context);

		sfx_require_preload(index);
		st = palloc(offsetof(InsertState, kd.col) +
					IndexRelationGetNumberOfAttributes(index) * sizeof(SfxColumn));
		st->order = sfx_order_open(index, &st->kd, false);
		st->reader = NULL;
		st->keeps = false;
		st->rows = 0;
		st->believes = index->rd_index->indisunique && believes_hint(index, heap, info);
		st->gone.func = state_is_gone;
		st->gone.arg = st;
		MemoryContextRegisterResetCallback(info->ii_Context, &st->gone);
		info->ii_AmCache = st;
		MemoryContextSwitchTo(old);
	}
	return st;
}

/*
 * Have equal keys equal bytes?  Whether a key is compressed follows from the sizes of its values,
 * so of equal keys either all are compressed or none.
 */
static bool
equal_by_bytes(Relation index, const SfxKeyDesc *kd, const SfxEntry *e)
{
	return (kd->image_equal && !sfx_key_is_squeezed(kd, index, e->key, e->keylen)) ||
		SFX_MUTANT("unique by bytes");
}

/*
 * May the entry of a row whose key an UPDATE left unchanged go in without a check?  Not where a
 * lock covers check and append (insert_locked): what comes in without it is not seen by a check
 * that has read the index, but looks at the row's old version after the UPDATE's commit.
 */
static bool
needs_no_check(Relation index, const InsertState *st, const SfxEntry *e)
{
	return st->believes &&
		(equal_by_bytes(index, &st->kd, e) || SFX_MUTANT("hints are believed beside the lock"));
}

/* ERROR: the key exists. */
static void
report_conflict(Relation index, Relation heap, InsertState *st, const SfxEntry *e)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *desc;

	sfx_key_decode(&st->kd, index, e->key, e->keylen, st->kd.nkeys, values, isnull, palloc(SFX_ARENA));
	desc = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					RelationGetRelationName(index)),
			 desc ? errdetail("Key %s already exists.", desc) : 0,
			 errtableconstraint(heap, RelationGetRelationName(index))));
}

static void
tid_pointer(uint64 tid, ItemPointer p)
{
	ItemPointerSet(p, SFX_TID_BLOCK(tid), SFX_TID_OFFSET(tid));
}

/*
 * Look at every other row with this key, with a dirty snapshot (U1).  Returns a transaction that
 * the caller has to wait for, with *token if its insertion is speculative; or InvalidTransactionId,
 * and then *unique is the verdict.  Raises an error on a certain conflict.
 */
static TransactionId
check_unique(Relation index, Relation heap, InsertState *st, const SfxEntry *e,
			 IndexUniqueCheck mode, bool *unique, uint32 *token)
{
	SnapshotData dirty;
	SfxPos		lo,
				hi;
	uint8		lobytes[SFX_MAX_ENTRY + 1];
	uint8		hibytes[SFX_MAX_ENTRY + 1];
	SfxEntry	other;
	bool		refound = false;

	InitDirtySnapshot(dirty);
	*unique = true;
	sfx_key_range(&st->kd, index, e->key, e->keylen, lobytes, &lo, hibytes, &hi);
	sfx_reader_seek(st->reader, &lo, &hi);
	while (sfx_reader_next(st->reader, ForwardScanDirection, &other))
	{
		ItemPointerData htid;
		bool		all_dead = false;
		TransactionId xwait;

		CHECK_FOR_INTERRUPTS();
		if (other.tid == e->tid)
		{
			refound = true;
			continue;
		}
		SFX_STOP("unique row found");
		sfx_tid_pointer(index, sfx_max_offset(heap), other.tid, &htid);
		(void) sfx_heap_end(index, heap, other.tid);
		if (!table_index_fetch_tuple_check(heap, &htid, &dirty, &all_dead))
		{
			if (all_dead)
				sfx_reader_kill(st->reader, heap);
			continue;
		}
		if (mode == UNIQUE_CHECK_PARTIAL)
		{
			*unique = false;
			return InvalidTransactionId;
		}
		xwait = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (TransactionIdIsValid(xwait))
		{
			*token = dirty.speculativeToken;
			return xwait;
		}

		/*
		 * Our own row may be dead by now (deferred checks, a concurrent index build): then it
		 * conflicts with nothing.
		 */
		tid_pointer(e->tid, &htid);
		if (!table_index_fetch_tuple_check(heap, &htid, SnapshotSelf, NULL))
			break;
		sfx_reader_reset(st->reader);

		/* S2: a serialization failure, after which the user may repeat all, is reported first */
		if (!SFX_MUTANT("duplicate before conflict"))
			sfx_predicate_write(index, st->order, e);
		report_conflict(index, heap, st, e);
	}
	if (mode == UNIQUE_CHECK_EXISTING && !refound)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("failed to find a row's entry again in index \"%s\"", RelationGetRelationName(index)),
				 errhint("This may be because of a non-immutable index expression."),
				 errtableconstraint(heap, RelationGetRelationName(index))));
	return InvalidTransactionId;
}

/*
 * Begin the statement's reader, with the gate: a TID that it finds must not be given to a new row
 * before the check has looked at that row (U1).
 */
static void
begin_reader(Relation index, InsertState *st, IndexInfo *info)
{
	MemoryContext old;

	if (st->reader != NULL)
		return;
	old = MemoryContextSwitchTo(info->ii_Context);
	st->reader = sfx_reader_begin(index, st->order, true);
	sfx_reader_skip_dead(st->reader, true);
	MemoryContextSwitchTo(old);
	if (readers_kept < READERS_KEPT)
	{
		st->keeps = true;
		readers_kept++;
	}
}

/* End the reader, unless it is kept. */
static void
end_reader(InsertState *st)
{
	if (st->keeps)
		return;
	sfx_reader_end(st->reader);
	st->reader = NULL;
}

/* Append the entry, or let it wait (D7).  True: the log grew. */
static bool
insert_plain(Relation index, Relation heap, InsertState *st, const SfxEntry *e, IndexInfo *info,
			 bool unchanged)
{
	if (st->rows == ROWS_ALONE)
		st->together = sfx_pending_allowed(index, heap, info, st->believes);
	if (st->rows <= ROWS_ALONE)
		st->rows++;
	if (st->rows > ROWS_ALONE && st->together)
		return sfx_pending_add(index, e, unchanged, sfx_merge_pressure);
	return sfx_log_append(index, e, unchanged);
}

/*
 * U3: append an entry that is known to be beyond all others of the index; the watch sees those that
 * other backends append meanwhile.  False: it is not known to be.
 */
static bool
insert_at_edge(Relation index, InsertState *st, const SfxEntry *e, bool unchanged, bool *grew)
{
	SfxPos		lo,
				hi;
	uint8		lobytes[SFX_MAX_ENTRY + 1];
	uint8		hibytes[SFX_MAX_ENTRY + 1];
	SfxLogWatch watch;
	SfxEdge    *edge = st->order == NULL ? sfx_edge_see_key(index, e) : NULL;

	if (edge == NULL)
		return false;
	sfx_key_range(&st->kd, index, e->key, e->keylen, lobytes, &lo, hibytes, &hi);
	if (!sfx_edge_watch(edge, &lo, &watch))
		return false;
	SFX_STOP("unique checked");
	if (!sfx_log_append_watched(index, e, unchanged, &watch, grew))
	{
		sfx_edge_refused(edge);
		return false;
	}
	return true;
}

/*
 * Wait for the end of the other row's transaction, or of its speculative insertion; then the check
 * begins again.  The caller holds no gate, no lock and no pin.
 */
static void
wait_for_other(Relation index, const SfxEntry *e, TransactionId xwait, uint32 token)
{
	ItemPointerData tid;

	SFX_STOP("unique wait");
	tid_pointer(e->tid, &tid);
	if (token)
		SpeculativeInsertionWait(xwait, token);
	else
		XactLockTableWait(xwait, index, &tid, XLTW_InsertIndex);
}

/*
 * Has the index nothing at or beyond the key?  Then there is no equal key, the edge is noted, and
 * the result is true.
 */
static bool
find_edge(Relation index, InsertState *st, const SfxEntry *e)
{
	SfxPos		lo,
				hi;
	uint8		lobytes[SFX_MAX_ENTRY + 1];
	uint8		hibytes[SFX_MAX_ENTRY + 1];
	SfxEntry	other;
	SfxLogPlace place;

	sfx_key_range(&st->kd, index, e->key, e->keylen, lobytes, &lo, hibytes, &hi);
	if (sfx_reader_first(st->reader, &lo, &SFX_POS_END, &other))
		return false;
	place = sfx_reader_log_place(st->reader);
	sfx_edge_note(index, &lo, &place);
	return true;
}

/* SfxLogWatch.passes: is the key of an entry appended since the check another one? */
static bool
is_other_key(void *arg, const SfxEntry *other)
{
	const SfxPos *key = arg;

	return other->keylen < key->len || memcmp(other->key, key->key, key->len) != 0;
}

/*
 * Append an entry that was checked, unless one with an equal key was appended since.  False: the
 * check has to begin again.  With patient that means that there is such an entry; without it, the
 * log may just have grown too far to be followed.
 */
static bool
append_checked(Relation index, InsertState *st, const SfxEntry *e, bool unchanged, bool patient,
			   bool *grew)
{
	SfxPos		key = {e->key, sfx_key_equal_len(&st->kd, index, e->key, e->keylen), 0};
	SfxLogPlace place = sfx_reader_log_place(st->reader);
	SfxLogWatch watch = {.place = &place,.passes = is_other_key,.arg = &key,.patient = patient};

	return sfx_log_append_watched(index, e, unchanged, &watch, grew);
}

/* Check and append, where equal keys have equal bytes (U1).  False: the caller begins again. */
static bool
insert_by_bytes(Relation index, Relation heap, InsertState *st, const SfxEntry *e,
				IndexUniqueCheck mode, bool unchanged, bool patient, bool *unique, bool *grew)
{
	uint32		token = 0;
	TransactionId xwait = InvalidTransactionId;

	*unique = true;
	if (mode == UNIQUE_CHECK_EXISTING || !sfx_edge_take_turn(index) || !find_edge(index, st, e))
		xwait = check_unique(index, heap, st, e, mode, unique, &token);
	sfx_reader_reset(st->reader);
	if (TransactionIdIsValid(xwait))
	{
		wait_for_other(index, e, xwait, token);
		return false;
	}
	SFX_STOP("unique checked");
	if (mode == UNIQUE_CHECK_EXISTING)
		return true;
	if (*unique)
		return append_checked(index, st, e, unchanged, patient, grew);
	*grew |= sfx_log_append(index, e, unchanged);
	return true;
}

/* The same where equal keys may have different bytes: one inserter at a time, by a lock. */
static bool
insert_locked(Relation index, Relation heap, InsertState *st, const SfxEntry *e,
			  IndexUniqueCheck mode, bool unchanged, bool *unique, bool *grew)
{
	LOCKTAG		tag;
	uint32		token = 0;
	TransactionId xwait;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationGetRelid(index), 0, LOCK_FIELD_UNIQUE);
	if (!SFX_MUTANT("no unique lock"))
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
	xwait = check_unique(index, heap, st, e, mode, unique, &token);
	sfx_reader_reset(st->reader);
	if (TransactionIdIsValid(xwait))
	{
		if (!SFX_MUTANT("wait with unique lock"))
			LockRelease(&tag, ExclusiveLock, false);
		wait_for_other(index, e, xwait, token);
		return false;
	}
	SFX_STOP("unique checked");
	if (mode != UNIQUE_CHECK_EXISTING)
		*grew |= sfx_log_append(index, e, unchanged);
	if (!SFX_MUTANT("no unique lock"))
		LockRelease(&tag, ExclusiveLock, false);
	return true;
}

/* Check and append.  *grew: as from sfx_log_append.  Returns aminsert's verdict. */
static bool
insert_unique(Relation index, Relation heap, InsertState *st, const SfxEntry *e, IndexInfo *info,
			  IndexUniqueCheck mode, bool unchanged, bool *grew)
{
	bool		by_bytes = equal_by_bytes(index, &st->kd, e);
	bool		unique = true;
	bool		done = false;

	if (by_bytes && mode != UNIQUE_CHECK_EXISTING &&
		insert_at_edge(index, st, e, unchanged, grew))
		return true;
	begin_reader(index, st, info);
	for (int tries = 1; !done; tries++)
	{
		bool		patient = tries > PATIENT_AFTER && !SFX_MUTANT("checks are outrun for ever");

		done = by_bytes ?
			insert_by_bytes(index, heap, st, e, mode, unchanged, patient, &unique, grew) :
			insert_locked(index, heap, st, e, mode, unchanged, &unique, grew);
	}
	end_reader(st);
	return unique;
}

bool
sfx_insert(Relation index, Datum *values, bool *isnull, ItemPointer ht_ctid, Relation heap,
		   IndexUniqueCheck checkUnique, bool indexUnchanged, IndexInfo *info)
{
	InsertState *st = insert_state(index, heap, info);
	uint8		bytes[SFX_MAX_ENTRY];
	SfxEntry	e;
	bool		grew = false;
	bool		unique = true;
	bool		anynull = false;

	e.key = bytes;
	e.keylen = sfx_key_encode(&st->kd, index, values, isnull, bytes);
	sfx_order_prove(st->order, values, isnull);
	e.tid = SFX_TID(ItemPointerGetBlockNumber(ht_ctid), ItemPointerGetOffsetNumber(ht_ctid));
	e.payload = bytes + e.keylen;
	e.paylen = 0;
	if (st->kd.natts > st->kd.nkeys)
		e.paylen = sfx_payload_encode(&st->kd, index, values, isnull, bytes + e.keylen,
									  SFX_MAX_ENTRY - e.keylen);
	for (int i = 0; i < st->kd.nkeys; i++)
		anynull |= isnull[i];

	if (SFX_MUTANT("look before append"))
		sfx_predicate_write(index, st->order, &e);
	if (checkUnique == UNIQUE_CHECK_NO || (anynull && !info->ii_NullsNotDistinct) ||
		(checkUnique == UNIQUE_CHECK_YES && indexUnchanged && needs_no_check(index, st, &e)))
	{
		if (checkUnique != UNIQUE_CHECK_EXISTING)
			grew = insert_plain(index, heap, st, &e, info, indexUnchanged);
	}
	else
		unique = insert_unique(index, heap, st, &e, info, checkUnique, indexUnchanged, &grew);
	/* after the append: a reader that locks its range after this look finds the entry (S2) */
	if (checkUnique != UNIQUE_CHECK_EXISTING && !SFX_MUTANT("look before append"))
		sfx_predicate_write(index, st->order, &e);
	if (grew)
		sfx_merge_pressure(index);
	return unique;
}
