/*-------------------------------------------------------------------------
 * worker.c - background merges: short-lived workers, one or, if need be, more for each database
 *
 * A worker takes requests (requests.c) one by one, and serves each in a transaction of its own.  It
 * gives up an index as soon as another session waits for a lock on it.  It exits after a while
 * without requests, or when another database waits for its slot.  An error ends its work on one
 * index only.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "autotune.h"
#include "budget.h"
#include "column.h"
#include "leaf_keys.h"
#include "merge.h"
#include "meta.h"
#include "order.h"
#include "pack.h"
#include "policy.h"
#include "requests.h"
#include "settings.h"
#include "sleep.h"
#include "yield.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
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

#define MERGES_A_TURN	4		/* merges of one index before the next request is served */
#define BUDGET_PASSES	8		/* with each one less is left to do: room that one pass makes is
								 * given to others by the next one */
#define LOOK_MS			100		/* a worker that lingers checks as often whether another session
								 * wants the database as core checks whether all connections have
								 * ended */

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
is_ours(Relation index)
{
	return index->rd_rel->relkind == RELKIND_INDEX && index->rd_indam != NULL &&
		sfx_is_ours(index->rd_indam) && !RelationUsesLocalBuffers(index);
}

/* Is this an index of ours that a worker may merge? */
static bool
can_serve(Relation index)
{
	return is_ours(index) && index->rd_index->indisvalid;
}

/*
 * Called between two groups of leaves that are cut or made whole: merges that are due come first.
 */
static bool
may_change_leaves(Relation index, SfxProgress *p)
{
	CHECK_FOR_INTERRUPTS();
	sfx_worker_pay(index, p);
	return !sfx_worker_is_in_the_way(index) && !sfx_merge_need(index).due;
}

static uint64
keep_size_limit(Relation index, const SfxBudgetShare *share)
{
	static const SfxLeafManner how = {may_change_leaves, false};
	SfxKeyDesc *kd;
	const SfxOrder *order;
	uint64		written;

	if (share == NULL && sfx_opt_size_limit(index) == 0)
		return 0;
	kd = palloc(sizeof(SfxKeyDesc));
	order = sfx_order_open(index, kd, true);
	written = sfx_keep_size_limit(index, order, &how, share);
	sfx_order_end(order);
	pfree(kd);
	return written;
}

/*
 * What a worker does with an index that it has opened and locked, which is one of ours.
 */
typedef struct Task
{
	LOCKMODE	lock;
	SfxServed	(*run) (Relation index, void *arg);
	void	   *arg;
} Task;

/*
 * Merge an index, several times if entries appended meanwhile make the next merge due; but at most
 * MERGES_A_TURN times, since other indexes wait.
 */
static SfxServed
merge_index(Relation index, void *arg)
{
	bool		again = false;
	const char *why;

	if (!can_serve(index))
		return SFX_IN_VAIN;
	report_activity(index);
	for (int n = 0; n < MERGES_A_TURN && (why = sfx_merge_due(index)) != NULL; n++)
	{
		again = sfx_merge_politely(index, why) > 0;
		/* another backend has the merge lock, perhaps for long */
		if (!again && n == 0)
			return SFX_IN_VAIN;
		if (!again || (run_is_source(index) && sfx_requests_wait(true)))
			break;
	}
	(void) keep_size_limit(index, NULL);
	return again && run_is_source(index) ? SFX_UNFINISHED : SFX_SERVED;
}

/* The same without a request: an idle delta is left alone. */
static SfxServed
merge_if_due(Relation index, void *arg)
{
	if (!can_serve(index) || !sfx_merge_due_for_size(index))
		return SFX_IN_VAIN;
	return merge_index(index, arg);
}

static const Task merge = {SFX_WORKER_LOCK, merge_index, NULL};
static const Task merge_due = {SFX_WORKER_LOCK, merge_if_due, NULL};

/*
 * Do that with one index, if it still exists and no other session waits for it.  False: another
 * session wants the whole database.  *served is SFX_UNFINISHED if there was time only for the
 * delta, and a run is half merged.
 */
static bool
serve(Oid relid, const Task *task, SfxServed *served)
{
	Relation	index;
	bool		wanted;

	*served = SFX_IN_VAIN;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	if (ConditionalLockRelationOid(relid, task->lock))
	{
		index = try_relation_open(relid, NoLock);
		/* an index that is gone needs no pause */
		if (index == NULL)
			*served = SFX_SERVED;
		else
		{
			/*
			 * a merge takes a snapshot only while it asks the table: this transaction must not
			 * hold back the horizon of VACUUM
			 */
			InvalidateCatalogSnapshot();
			*served = task->run(index, task->arg);
			SFX_STOP("index served");
			relation_close(index, task->lock);
		}
	}
	wanted = sfx_database_is_wanted();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
	return !wanted;
}

/*
 * Report the error that ended the service of an index.  A table that another session has locked,
 * and whose rows a merge needs (W3), is no failure, and reported as DEBUG1.
 */
static void
report_failure(void)
{
	ErrorData  *edata;

	if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE &&
		(geterrcode() != ERRCODE_OBJECT_IN_USE || !sfx_pack_lacks_table ||
		 SFX_MUTANT("locked tables are errors")))
	{
		EmitErrorReport();
		return;
	}
	edata = CopyErrorData();
	FlushErrorState();
	ereport(DEBUG1, (errmsg_internal("%s", edata->message)));
	FreeErrorData(edata);
}

/* Serve an index; an error is reported, and ends the service of this index only. */
static bool
serve_safely(Oid relid, const Task *task, SfxServed *served)
{
	bool		go_on = true;
	MemoryContext cxt = CurrentMemoryContext;

	sfx_pack_lacks_table = false;
	PG_TRY();
	{
		go_on = serve(relid, task, served);
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
	/* a transaction that ends leaves another one */
	MemoryContextSwitchTo(cxt);
	return go_on;
}

/* The OIDs of all indexes of the database that may be ours, in the current memory context. */
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

		if (form->relkind != RELKIND_INDEX || form->relam < FirstNormalObjectId ||
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

/* Reload settings between indexes: a worker may run for long (M12). */
static void
read_settings(void)
{
	if (!ConfigReloadPending || SFX_MUTANT("settings of its start"))
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/*
 * Merge what is due in the whole database, once.  The worker does not give up its slot meanwhile,
 * even if another database waits: the scan cannot be resumed.  *served_last: how the last index was
 * served.  False: another session wants the database.
 */
static bool
serve_all(SfxServed *served_last)
{
	List	   *list = list_indexes();
	bool		go_on = true;
	SfxServed	before = SFX_SERVED;

	foreach_oid(oid, list)
	{
		SfxServed	served;

		CHECK_FOR_INTERRUPTS();
		if (sfx_requests_claim(oid, before))
		{
			go_on = serve_safely(oid, &merge_due, &served);

			/*
			 * there was no request for it, so a failure must not keep later requests off (VAIN_MS)
			 */
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

/* ---- size_budget ---- */

static SfxServed
look_at_index(Relation index, void *arg)
{
	SfxBudgetPass *pass = arg;

	if (is_ours(index))
		sfx_budget_look(index, pass->age, &pass->x[pass->n++]);
	return SFX_SERVED;
}

/* Take an index to its share. */
static SfxServed
keep_share(Relation index, void *arg)
{
	SfxBudgetIndex *x = arg;

	if (!can_serve(index))
		return SFX_SERVED;
	report_activity(index);
	x->changed = keep_size_limit(index, &x->share) > 0;
	return SFX_SERVED;
}

/*
 * Look at all indexes, and set their shares.  Returns whether some are to change; *go_on: as of
 * serve.
 */
static bool
share_out(SfxBudgetPass *pass, bool *go_on)
{
	List	   *list = list_indexes();

	pass->x = palloc0(sizeof(SfxBudgetIndex) * Max(list_length(list), 1));
	foreach_oid(oid, list)
	{
		Task		look = {AccessShareLock, look_at_index, pass};
		SfxServed	served;

		CHECK_FOR_INTERRUPTS();
		if (!(*go_on = serve_safely(oid, &look, &served)))
			return false;
		pass->some_locked |= served != SFX_SERVED;
	}
	return sfx_budget_share_out(pass);
}

/* Take indexes to their shares.  Returns whether one of them has changed. */
static bool
keep_shares(SfxBudgetPass *pass, SfxServed *before, bool *go_on)
{
	bool		changed = false;

	for (int i = 0; i < pass->n && *go_on && sfx_guc_size_budget > 0; i++)
	{
		SfxBudgetIndex *x = &pass->x[i];
		Task		keep = {SFX_WORKER_LOCK, keep_share, x};
		SfxServed	served;

		if (x->share.limit == 0 || !sfx_requests_claim(x->index, *before))
			continue;
		*go_on = serve_safely(x->index, &keep, &served);
		*before = SFX_SERVED;
		changed |= x->changed;
		read_settings();
	}
	return changed;
}

/*
 * Keep size_budget: cut leaves, then let others become whole in the room that there is then, and so
 * on, until nothing is left to do or another index waits.  *served: how the last index was served,
 * also before the call.  ms: spent on looking before.  False: another session wants the database.
 */
static bool
keep_budget(SfxServed *served, double ms)
{
	bool		go_on = true;
	bool		more = true;

	for (int n = 0; n < BUDGET_PASSES && more && go_on && sfx_guc_size_budget > 0; n++)
	{
		SfxBudgetPass pass = {.age = n == 0 && sfx_budget_ages()};
		TimestampTz begun = GetCurrentTimestamp();

		more = share_out(&pass, &go_on);
		ms += TimestampDifferenceMilliseconds(begun, GetCurrentTimestamp());
		sfx_budget_next(ms);
		if (!more && go_on && !pass.some_locked)
			sfx_budget_tell(pass.total);
		more = more && keep_shares(&pass, served, &go_on) && !sfx_requests_wait(true);
		MemoryContextReset(CurrentMemoryContext);
	}
	return go_on;
}

/* ---- autotune ---- */

typedef struct Proposals
{
	MemoryContext cxt;
	List	   *list;
} Proposals;

static SfxServed
ask_for_proposals(Relation pg_class, void *arg)
{
	Proposals  *p = arg;

	p->list = sfx_autotune_ask(p->cxt);
	return SFX_SERVED;
}

static SfxServed
apply_proposal(Relation index, void *arg)
{
	return is_ours(index) && sfx_autotune_apply(index, arg) ? SFX_SERVED : SFX_IN_VAIN;
}

/* Apply the first proposal that can be applied now.  False: as of serve. */
static bool
autotune(void)
{
	Proposals	p = {CurrentMemoryContext, NIL};
	Task		ask = {AccessShareLock, ask_for_proposals, &p};
	SfxServed	served;
	bool		go_on = serve_safely(RelationRelationId, &ask, &served);

	served = SFX_IN_VAIN;
	foreach_ptr(SfxProposal, proposal, p.list)
	{
		Task		apply = {SFX_WORKER_LOCK, apply_proposal, proposal};

		if (!go_on || served == SFX_SERVED)
			break;
		go_on = serve_safely(proposal->index, &apply, &served);
	}
	return go_on;
}

/* What is to be done every budget_interval.  Arguments and result as of keep_budget. */
static bool
look_round(SfxServed *served)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx size budget",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	TimestampTz begun = GetCurrentTimestamp();
	bool		go_on;
	double		ms;

	sfx_budget_next(0);
	go_on = !sfx_guc_autotune || autotune();
	ms = TimestampDifferenceMilliseconds(begun, GetCurrentTimestamp());
	sfx_budget_next(ms);
	go_on = go_on && keep_budget(served, ms);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
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

/* An SfxPause: the worker has no transaction, snapshot or lock while it lingers (M17). */
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
	sfx_requests_leave(false);
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
	/* make the buffer manager count the cost of pages (yield.c) */
	VacuumCostActive = true;
	VacuumCostBalance = 0;
	while ((index = sfx_requests_take(served, pause_of_now(), &all)) != InvalidOid || all)
	{
		bool		go_on;

		CHECK_FOR_INTERRUPTS();
		go_on = all ? serve_all(&served) : serve_safely(index, &merge, &served);
		read_settings();
		if (go_on && sfx_budget_due())
			go_on = look_round(&served);
		if (!go_on)
		{
			sfx_requests_forget(db);
			break;
		}
	}
	sfx_requests_leave(true);
}
