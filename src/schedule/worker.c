/*-------------------------------------------------------------------------
 * worker.c - background merges: short-lived workers, one of a database or more by need
 *
 * A worker takes requests (requests.c) one by one, each in a transaction of its own, gives up an
 * index as soon as somebody waits for a lock on it, and exits when there has been nothing left for
 * a moment, or when another database waits for its place.  An error ends its work on one index, not
 * on the others.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "leaf_keys.h"
#include "merge.h"
#include "meta.h"
#include "order.h"
#include "pack.h"
#include "pay.h"
#include "policy.h"
#include "requests.h"
#include "settings.h"
#include "sleep.h"
#include "yield.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#define MERGES_A_TURN	4		/* of one index before the next request is served */
#define LOOK_MS			100		/* so often who lingers looks whether somebody wants the database:
								 * as often as core looks whether everybody has left it */

PGDLLEXPORT void sfx_worker_main(Datum arg);

static void
report_activity(Relation index)
{
	char		what[2 * NAMEDATALEN + 32];

	snprintf(what, sizeof(what), "surfidx: merging index %s", RelationGetRelationName(index));
	pgstat_report_activity(STATE_RUNNING, what);
}

/* Is a run being merged into an older one? */
static bool
run_is_source(Relation index)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	return meta.resume[SFX_RESUME_RUN].source != 0;
}

static bool
can_serve(Relation index)
{
	return index->rd_rel->relkind == RELKIND_INDEX && index->rd_indam != NULL &&
		sfx_is_ours(index->rd_indam) && index->rd_index->indisvalid &&
		!RelationUsesLocalBuffers(index);
}

/* Between two groups of leaves: merges that are due come first. */
static bool
may_change_leaves(Relation index, SfxProgress *p)
{
	CHECK_FOR_INTERRUPTS();
	sfx_worker_pay(index, p);
	return !sfx_worker_is_in_the_way(index) && !sfx_merge_delta_due(index);
}

static void
keep_size_limit(Relation index)
{
	static const SfxLeafManner how = {may_change_leaves, false};
	SfxKeyDesc *kd;
	const SfxOrder *order;

	if (sfx_opt_size_limit(index) == 0)
		return;
	kd = palloc(sizeof(SfxKeyDesc));
	order = sfx_order_open(index, kd, true);
	(void) sfx_keep_size_limit(index, order, &how);
	sfx_order_end(order);
	pfree(kd);
}

/* What was appended meanwhile may be worth the next merge; but other indexes wait, too. */
static SfxServed
merge_index(Relation index)
{
	bool		again = false;

	for (int n = 0; n < MERGES_A_TURN && sfx_merge_due(index); n++)
	{
		again = sfx_merge_politely(index) > 0;
		/* somebody has the merge lock, for long perhaps */
		if (!again && n == 0)
			return SFX_IN_VAIN;
		if (!again || (run_is_source(index) && sfx_requests_wait(true)))
			break;
	}
	keep_size_limit(index);
	return again && run_is_source(index) ? SFX_UNFINISHED : SFX_SERVED;
}

/*
 * Merge one index if it is still there and nobody is in the way.  False: somebody wants the whole
 * database.  SFX_UNFINISHED: there was time only for the delta, a run is half merged.  Where nobody
 * has asked, an idle delta is left alone.
 */
static bool
serve(Oid relid, bool asked, SfxServed *served)
{
	Relation	index;
	bool		wanted;

	*served = SFX_IN_VAIN;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	if (ConditionalLockRelationOid(relid, SFX_WORKER_LOCK))
	{
		index = try_relation_open(relid, NoLock);
		/* one that is gone has no need of a pause */
		if (index == NULL)
			*served = SFX_SERVED;
		else
		{
			if (can_serve(index) && (asked || sfx_merge_due_for_size(index)))
			{
				/*
				 * a merge takes a snapshot only where it asks the table, for as long as that: it
				 * must hold back nobody's xmin
				 */
				InvalidateCatalogSnapshot();
				report_activity(index);
				*served = merge_index(index);
			}
			SFX_STOP("index served");
			relation_close(index, SFX_WORKER_LOCK);
		}
	}
	wanted = sfx_database_is_wanted();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
	return !wanted;
}

/*
 * What ended the service of an index is reported; that somebody has locked a table whose rows a
 * merge needs (W3) is nothing that goes wrong.
 */
static void
report_failure(void)
{
	ErrorData  *edata;

	if (geterrcode() != ERRCODE_OBJECT_IN_USE || !sfx_pack_lacks_table ||
		SFX_MUTANT("locked tables are errors"))
	{
		EmitErrorReport();
		return;
	}
	edata = CopyErrorData();
	FlushErrorState();
	ereport(DEBUG1, (errmsg_internal("%s", edata->message)));
	FreeErrorData(edata);
}

/* An error is reported, and ends the service for this index only. */
static bool
serve_safely(Oid relid, bool asked, SfxServed *served)
{
	bool		go_on = true;
	MemoryContext cxt = CurrentMemoryContext;

	sfx_pack_lacks_table = false;
	PG_TRY();
	{
		go_on = serve(relid, asked, served);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		report_failure();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		pgstat_report_activity(STATE_IDLE, NULL);
		*served = SFX_IN_VAIN;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return go_on;
}

/* All indexes of the database that may be ours, in the current memory context. */
static List *
list_indexes(void)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *list = NIL;
	Relation	pg_class;
	TableScanDesc scan;
	HeapTuple	row;

	StartTransactionCommand();
	pg_class = table_open(RelationRelationId, AccessShareLock);
	scan = table_beginscan_catalog(pg_class, 0, NULL);
	while ((row = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(row);
		MemoryContext old;

		if (form->relkind != RELKIND_INDEX || form->relam == BTREE_AM_OID ||
			form->relpersistence == RELPERSISTENCE_TEMP)
			continue;
		old = MemoryContextSwitchTo(cxt);
		list = lappend_oid(list, form->oid);
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	table_close(pg_class, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	return list;
}

/* As whoever sets them expects of a process that may go on for long (M12). */
static void
read_settings(void)
{
	if (!ConfigReloadPending || SFX_MUTANT("settings of its start"))
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/*
 * Merge what is due in the whole database, once, whoever waits for our place: a look that was cut
 * off would begin anew.  *served_last: how the last one was served.  False: somebody wants the
 * database.
 */
static bool
serve_all(SfxServed *served_last)
{
	List	   *list = list_indexes();
	bool		go_on = true;
	SfxServed	before = SFX_SERVED;
	ListCell   *l;

	foreach(l, list)
	{
		SfxServed	served;

		CHECK_FOR_INTERRUPTS();
		if (sfx_requests_claim(lfirst_oid(l), before))
		{
			go_on = serve_safely(lfirst_oid(l), false, &served);
			/* nobody has asked for it: nobody is to be kept from asking */
			before = served == SFX_UNFINISHED ? SFX_UNFINISHED : SFX_SERVED;
			read_settings();
		}
		if (!go_on)
			break;
	}
	list_free(list);
	*served_last = before;
	return go_on;
}

static bool
database_is_wanted(void)
{
	bool		wanted;

	StartTransactionCommand();
	wanted = sfx_database_is_wanted();
	CommitTransactionCommand();
	return wanted && !SFX_MUTANT("lingers in the way");
}

/* SfxPause: here is nothing that anybody could wait for (M17). */
static bool
linger(TimestampTz since)
{
	bool		enough;

	pgstat_report_stat(true);
	Assert(!IsTransactionState() && !TransactionIdIsValid(MyProc->xmin));
	sfx_sleep(SFX_SLEEP_IDLE, Min(sfx_guc_merge_worker_idle, LOOK_MS));
	read_settings();
	enough = TimestampDifferenceExceeds(since, GetCurrentTimestamp(), sfx_guc_merge_worker_idle);
	return !enough && !database_is_wanted();
}

static SfxPause
pause_of_now(void)
{
	return sfx_guc_merge_worker_idle > 0 && !SFX_MUTANT("ends at once") ? linger : NULL;
}

static void
leave(int code, Datum arg)
{
	sfx_requests_leave(code == 0);
}

void
sfx_worker_main(Datum arg)
{
	Oid			db,
				index;
	SfxServed	served = SFX_SERVED;
	bool		all;

	memcpy(&db, MyBgworkerEntry->bgw_extra, sizeof(Oid));
	if (!sfx_requests_serve(db, DatumGetInt32(arg)))
		return;
	before_shmem_exit(leave, (Datum) 0);

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(db, InvalidOid, 0);
	if (!SFX_MUTANT("settings of sessions"))
		sfx_worker_settings();
	/* let the buffer manager count what pages cost (merge.c) */
	VacuumCostActive = true;
	VacuumCostBalance = 0;
	while ((index = sfx_requests_take(served, pause_of_now(), &all)) != InvalidOid || all)
	{
		bool		go_on;

		CHECK_FOR_INTERRUPTS();
		go_on = all ? serve_all(&served) : serve_safely(index, true, &served);
		read_settings();
		if (!go_on)
		{
			sfx_requests_forget(db);
			break;
		}
	}
}
