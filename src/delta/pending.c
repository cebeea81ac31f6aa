/*-------------------------------------------------------------------------
 * pending.c - entries of one statement that are held back, to be appended together (D7)
 *
 * D7 says whose entries may wait, how long, and why no other session misses them.  They stand in
 * this backend's memory, in places for a few indexes.  All places end with the transaction.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "log.h"
#include "pending.h"
#include "statement.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define PLACES			16
#define PLACE_ENTRIES	128
#define PLACE_BYTES		4096

/* The entries of one index that wait. */
typedef struct Place
{
	Oid			index;
	SubTransactionId subid;		/* the subtransaction that inserted last */
	bool		grew;			/* the log has grown, and no caller was told */
	int			done;			/* entries that are in the log already: not 0 if an error ended an
								 * append half-way */
	int			n;
	int			used;			/* bytes in use of bytes[] */
	SfxEntry	e[PLACE_ENTRIES];
	bool		unchanged[PLACE_ENTRIES];
	uint8		bytes[PLACE_BYTES]; /* keys and payloads */
} Place;

/*
 * In TopTransactionContext.  The first sfx_pending_indexes are in use; the others are empty, or
 * NULL.
 */
static Place *place[PLACES];
int			sfx_pending_indexes = 0;

/* ---- which entries may wait ---- */

/*
 * See pending.h.  A session that checks a constraint looks for rows of transactions in progress,
 * and so does one that reads for a serializable transaction: they would miss entries that wait.
 * (In place of a row whose key is unchanged they meet its old version: U1.)  Access methods of
 * tables other than heap may give a TID to another row at any time.
 */
bool
sfx_pending_allowed(Relation index, Relation heap, IndexInfo *info, bool unchecked)
{
	if (((index->rd_index->indisunique && !unchecked) || index->rd_index->indisexclusion) &&
		!SFX_MUTANT("wait below a constraint"))
		return false;
	if (IsolationIsSerializable() && !SFX_MUTANT("wait while serializable"))
		return false;
	return heap->rd_tableam == GetHeapamTableAmRoutine() &&
		(sfx_statement_is(info->ii_Context, SFX_ROWS_STAY) || SFX_MUTANT("everybody waits"));
}

/* ---- appending ---- */

/* Append what waits in p.  After an error p->done says where to go on. */
static void
flush_place(Relation index, Place *p)
{
	SFX_STOP("pending flushed");
	p->grew |= sfx_log_append_many(index, p->e, p->unchanged, p->n, &p->done);
	p->n = p->done = p->used = 0;
}

/* The place of that index; NULL: it has none. */
static Place *
find_place(Oid index)
{
	for (int i = 0; i < sfx_pending_indexes; i++)
		if (place[i]->index == index)
			return place[i];
	return NULL;
}

/*
 * The same where the index is not open.  It cannot have been dropped: another session that drops it
 * waits for our lock, and our own DDL is a statement, before which everything was flushed.  (A
 * rollback may let go of the lock, but then nothing is left to append here.)
 */
static void
flush_unopened(Place *p, void (*grew) (Relation index))
{
	Relation	index;

	if (p->n == 0 && !(p->grew && grew != NULL))
		return;
	index = index_open(p->index, RowExclusiveLock);
	if (p->n > 0)
		flush_place(index, p);
	if (p->grew && grew != NULL)
	{
		p->grew = false;
		grew(index);
	}
	index_close(index, RowExclusiveLock);
}

void
sfx_pending_flush_all(void (*grew) (Relation index))
{
	Assert(grew == NULL || !SfxHoldsLWLock());
	for (int i = 0; i < sfx_pending_indexes; i++)
		flush_unopened(place[i], grew);
	if (grew != NULL)
		sfx_pending_indexes = 0;
}

void
sfx_pending_flush_one(Relation index)
{
	Place	   *p = find_place(RelationGetRelid(index));

	if (p != NULL && p->n > 0 && !SFX_MUTANT("own scans miss what waits"))
		flush_place(index, p);
}

/* ---- waiting ---- */

/*
 * A new, empty place.  If all are taken they are flushed, so that each of many indexes has its
 * turn.
 */
static Place *
take_place(Oid index, void (*grew) (Relation index))
{
	Place	   *p;

	if (sfx_pending_indexes == PLACES)
		sfx_pending_flush_all(grew);
	if (place[sfx_pending_indexes] == NULL)
		place[sfx_pending_indexes] = MemoryContextAlloc(TopTransactionContext, sizeof(Place));
	p = place[sfx_pending_indexes++];
	p->index = index;
	p->subid = GetCurrentSubTransactionId();
	p->grew = false;
	p->n = p->done = p->used = 0;
	return p;
}

bool
sfx_pending_add(Relation index, const SfxEntry *e, bool unchanged, void (*grew) (Relation index))
{
	Place	   *p = find_place(RelationGetRelid(index));
	bool		told;

	StaticAssertStmt(PLACE_BYTES >= SFX_MAX_ENTRY, "an entry has room");
	if (p == NULL)
		p = take_place(RelationGetRelid(index), grew);
	if (p->n == PLACE_ENTRIES || p->used + e->keylen + e->paylen > PLACE_BYTES ||
		p->subid != GetCurrentSubTransactionId())
		flush_place(index, p);
	p->subid = GetCurrentSubTransactionId();
	p->used += sfx_entry_copy(e, &p->e[p->n], p->bytes + p->used);
	p->unchanged[p->n++] = unchanged;
	told = p->grew;
	p->grew = false;
	return told;
}

/* ---- transactions ---- */

/*
 * Before a subtransaction commits its entries are appended.  When it rolls back they are dropped:
 * its rows are gone, and other rows may get their TIDs.  Places that it, or a subtransaction below
 * it, used last no longer tell that a log has grown: the rollback may have released the lock that
 * kept that index from being dropped.
 */
static void
at_subxact_end(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_PRE_COMMIT_SUB)
		sfx_pending_flush(NULL);
	if (event != SUBXACT_EVENT_ABORT_SUB || SFX_MUTANT("what waits outlives its rollback"))
		return;
	for (int i = 0; i < sfx_pending_indexes; i++)
	{
		/* those of subtransactions below it are greater, of those before it less */
		if (place[i]->subid >= subid)
			place[i]->grew &= SFX_MUTANT("grown logs outlive a rollback");
		if (place[i]->subid == subid)
			place[i]->n = place[i]->done = place[i]->used = 0;
	}
}

/*
 * Before the transaction commits, or is prepared, all entries are appended; at its end the places
 * go with TopTransactionContext.
 */
static void
at_xact_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			sfx_pending_flush(NULL);
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
			sfx_pending_indexes = 0;
			memset(place, 0, sizeof(place));
			break;
		default:
			break;
	}
}

void
sfx_pending_init(void)
{
	RegisterXactCallback(at_xact_end, NULL);
	RegisterSubXactCallback(at_subxact_end, NULL);
}
