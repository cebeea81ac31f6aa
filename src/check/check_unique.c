/*-------------------------------------------------------------------------
 * check_unique.c - the verifier: no key of a unique index stands twice
 *
 * Entries of equal keys are neighbours in the index's order.  Most are versions of one row, dead
 * ones or ones that other transactions are making; but no snapshot may see two of them.  The table
 * is asked only where keys are equal.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "key.h"
#include "leaf.h"
#include "order.h"
#include "reader.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* The entries of one key. */
typedef struct Same
{
	uint8		key[SFX_MAX_ENTRY];
	uint32		len;
	uint64		first;			/* TID of the first entry, until its row was looked at */
	bool		looked;
	ItemPointerData seen;		/* the row that the snapshot sees; invalid: none so far */
} Same;

static void
begin_key(Same *same, const SfxEntry *e)
{
	memcpy(same->key, e->key, e->keylen);
	same->len = e->keylen;
	same->first = e->tid;
	same->looked = false;
	ItemPointerSetInvalid(&same->seen);
}

static bool
is_equal(SfxCheck *cs, const Same *same, const SfxEntry *e)
{
	int			len;

	if (same->len == 0)
		return false;
	if (cs->kd.comparator)
		return sfx_order_equal(cs->order, same->key, same->len, e->key, e->keylen);
	len = sfx_key_equal_len(&cs->kd, cs->index, e->key, e->keylen);
	return len == sfx_key_equal_len(&cs->kd, cs->index, same->key, same->len) &&
		memcmp(same->key, e->key, len) == 0;
}

/* May the key stand there several times, because of its NULLs? */
static bool
is_distinct(SfxCheck *cs, const Same *same)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old = MemoryContextSwitchTo(cs->rowcxt);
	bool		any = false;

	sfx_key_decode(&cs->kd, cs->index, same->key, same->len, cs->kd.nkeys, values, isnull,
				   cs->arena);
	for (int i = 0; i < cs->kd.nkeys; i++)
		any |= isnull[i];
	MemoryContextSwitchTo(old);
	MemoryContextReset(cs->rowcxt);
	return any && !cs->index->rd_index->indnullsnotdistinct;
}

static void
report_twice(SfxCheck *cs, ItemPointer a, ItemPointer b)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is unique, but rows (%u,%u) and (%u,%u) of table \"%s\" "
					"have the same key", RelationGetRelationName(cs->index),
					ItemPointerGetBlockNumber(a), ItemPointerGetOffsetNumber(a),
					ItemPointerGetBlockNumber(b), ItemPointerGetOffsetNumber(b),
					RelationGetRelationName(cs->heap)),
			 errhint("Find them by their ctid, delete or change one of them, "
					 "then REINDEX the index.")));
}

/* Does the snapshot see the entry's row?  ERROR if it has seen another row with this key. */
static void
look_at_row(SfxCheck *cs, Same *same, Snapshot snapshot, uint64 tid)
{
	ItemPointerData at;

	sfx_tid_pointer(cs->index, sfx_max_offset(cs->heap), tid, &at);
	(void) sfx_heap_end(cs->index, cs->heap, tid);
	if (!table_index_fetch_tuple_check(cs->heap, &at, snapshot, NULL))
		return;
	if (ItemPointerIsValid(&same->seen) && !ItemPointerEquals(&same->seen, &at))
		report_twice(cs, &same->seen, &at);
	same->seen = at;
}

void
sfx_check_unique(SfxCheck *cs, Snapshot snapshot)
{
	SfxReader  *r;
	Same	   *same;
	SfxEntry	e;

	/* a deferred check leaves what this transaction has written alone until it ends */
	if (!cs->index->rd_index->indisunique ||
		(!cs->index->rd_index->indimmediate && TransactionIdIsValid(GetTopTransactionIdIfAny())))
		return;
	same = palloc(sizeof(Same));
	same->len = 0;

	/*
	 * With the gate, as unique checks read: on a standby nothing else keeps TIDs from being given
	 * to other rows.
	 */
	r = sfx_reader_begin(cs->index, cs->order, true);
	sfx_reader_seek(r, &SFX_POS_FIRST, &SFX_POS_END);
	while (sfx_reader_next(r, ForwardScanDirection, &e))
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_equal(cs, same, &e))
		{
			begin_key(same, &e);
			continue;
		}
		if (is_distinct(cs, same))
			continue;
		if (!same->looked)
			look_at_row(cs, same, snapshot, same->first);
		same->looked = true;
		look_at_row(cs, same, snapshot, e.tid);
	}
	sfx_reader_end(r);
	pfree(same);
}
