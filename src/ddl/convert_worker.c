/*-------------------------------------------------------------------------
 * convert_worker.c - the background worker that runs the steps of a conversion
 *
 * CREATE and DROP INDEX CONCURRENTLY must not run in a transaction, so no function can run them.
 * The worker acts as the caller, and each step has transactions of its own.  An error ends the work
 * on one index, not on the others.  The worker keeps nothing except in the catalogs: after it was
 * killed, another one goes on from there (convert_plan.c).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "convert.h"
#include "settings.h"
#include "sleep.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

/* How long an exchange waits for its locks, with other sessions queued after it. */
#define SWAP_TIMEOUT	"1s"

/* How often a step is tried that has to give way; a build, which begins anew each time, less often. */
#define TRIES			60
#define BUILD_TRIES		5

/* How long the worker pauses before it tries again, or looks whether it is its turn. */
#define PAUSE_MS		1000

/* How often a step that waits for a lock looks for a deadlock; ms. */
#define LOOK_MS			100

/* A class of advisory locks that users' locks never have. */
#define LOCK_CLASS		0x5346

PGDLLEXPORT void sfx_convert_main(Datum arg);

StaticAssertDecl(sizeof(SfxConversion) <= BGW_EXTRALEN, "it goes to the worker as it is");

/* ---- one at a time ---- */

/* Try to get the database's turn; the lock is the session's, so it ends with the worker. */
static bool
lock_database(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, get_index_am_oid(SFX_METHOD, false), 0, LOCK_CLASS);
	return LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * Wait for this worker's turn.  A worker that waits is in no transaction: the worker that builds an
 * index would wait for that.
 */
static void
wait_in_turn(void)
{
	for (;;)
	{
		bool		alone;

		StartTransactionCommand();
		alone = lock_database();
		CommitTransactionCommand();
		if (alone)
			return;
		pgstat_report_activity(STATE_IDLE, "waiting for another conversion in this database");
		sfx_sleep(SFX_SLEEP_CONVERT, PAUSE_MS);
	}
}

/*
 * Wait for the caller's transaction.  True: it committed, and what it has done is visible.  False:
 * nothing is to be done.
 */
static bool
caller_commits(const SfxConversion *c)
{
	bool		committed;

	StartTransactionCommand();
	XactLockTableWait(c->caller, NULL, NULL, XLTW_None);
	committed = TransactionIdDidCommit(c->caller);
	CommitTransactionCommand();
	return committed;
}

/* Start the worker; its process ID; 0: it has ended already; -1: there is no slot for it. */
static pid_t
start_worker(BackgroundWorker *bgw)
{
	BackgroundWorkerHandle *handle;
	pid_t		pid = 0;

	if (!RegisterDynamicBackgroundWorker(bgw, &handle))
		return -1;
	switch (WaitForBackgroundWorkerStartup(handle, &pid))
	{
		case BGWH_POSTMASTER_DIED:
			return -1;
		case BGWH_STARTED:
			return pid;
		default:
			return 0;
	}
}

void
sfx_convert_start(const SfxConversion *c)
{
	BackgroundWorker bgw = {0};
	pid_t		worker = 0;
	int			place = sfx_convert_take_place();

	if (place < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("%d conversions go on or wait in turn already", sfx_convert_places()),
				 errdetail("There may be a third of max_worker_processes."),
				 errhint("Convert a schema by one call, or call again when one has ended.")));
	bgw.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	bgw.bgw_start_time = BgWorkerStart_RecoveryFinished;
	bgw.bgw_restart_time = BGW_NEVER_RESTART;
	bgw.bgw_notify_pid = MyProcPid;
	snprintf(bgw.bgw_library_name, BGW_MAXLEN, "surfidx");
	snprintf(bgw.bgw_function_name, BGW_MAXLEN, "sfx_convert_main");
	snprintf(bgw.bgw_name, BGW_MAXLEN, "surfidx conversion");
	snprintf(bgw.bgw_type, BGW_MAXLEN, "surfidx conversion");
	memcpy(bgw.bgw_extra, c, sizeof(*c));
	PG_TRY();
	{
		worker = start_worker(&bgw);
	}
	PG_FINALLY();
	{
		sfx_convert_give_place(place, Max(worker, 0));
	}
	PG_END_TRY();
	if (worker < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a worker for the conversion"),
				 errhint("max_worker_processes may be too low, or all of them in use: try again, "
						 "or run the statements of surfidx_convert(dry_run => true).")));
}

/* ---- a step ---- */

/*
 * The twin of a deferrable constraint's index must not check at once what may be duplicate until
 * the end of the transaction.  The grammar has that for constraints only, and the twin is none's.
 * So its row is changed before another session can see it.
 */
static Oid	deferrable_of = InvalidOid;
static object_access_hook_type prev_access = NULL;

/* The object access hook: a relation has been created. */
static void
at_access(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	char		name[NAMEDATALEN];

	if (prev_access)
		prev_access(access, class, object, sub, arg);
	if (access != OAT_POST_CREATE || class != RelationRelationId || sub != 0)
		return;
	CommandCounterIncrement();
	sfx_twin_name(name, deferrable_of);
	if (SearchSysCacheExists1(INDEXRELID, ObjectIdGetDatum(object)) &&
		strcmp(get_rel_name(object), name) == 0)
		sfx_row_set(IndexRelationId, INDEXRELID, object, Anum_pg_index_indimmediate, BoolGetDatum(false), false);
}

/*
 * Run the statement as a client's.  An event trigger that runs SQL gets its snapshot from the
 * portal, as the statement has ended the transactions before.
 */
static void
run_portal(const SfxStep *step)
{
	RawStmt    *raw = linitial_node(RawStmt, raw_parser(step->statement, RAW_PARSE_DEFAULT));
	PlannedStmt *planned = makeNode(PlannedStmt);
	Portal		portal = CreatePortal("", true, true);

	planned->commandType = CMD_UTILITY;
	planned->canSetTag = true;
	planned->utilityStmt = raw->stmt;
	planned->stmt_len = strlen(step->statement);
	portal->visible = false;
	PortalDefineQuery(portal, NULL, step->statement, CreateCommandTag(raw->stmt),
					  list_make1(planned), NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	(void) SfxPortalRun(portal, None_Receiver);
	PortalDrop(portal, false);
}

static void
execute(const SfxStep *step)
{
	deferrable_of = step->deferrable ? step->index : InvalidOid;
	prev_access = object_access_hook;
	if (step->deferrable)
		object_access_hook = at_access;
	PG_TRY();
	{
		run_portal(step);
	}
	PG_FINALLY();
	{
		object_access_hook = prev_access;
	}
	PG_END_TRY();
}

static void
run_step(void *arg)
{
	const SfxStep *step = arg;

	debug_query_string = step->statement;
	pgstat_report_activity(STATE_RUNNING, step->statement);
	if (step->kind == SFX_STEP_SWAP)
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		sfx_convert_swap(step->item, SWAP_TIMEOUT);
	}
	else
		execute(step);
}

static void
run(void (*what) (void *arg), void *arg, MemoryContext cxt)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	/* statements inside end and begin transactions */
	MemoryContextSwitchTo(cxt);
	what(arg);
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_stat(true);
}

/* ---- the worker gives way ---- */

/*
 * A step waits for transactions, and holds a lock on the table meanwhile.  If one of these
 * transactions comes to want that lock (ANALYZE has a snapshot while it waits for it), one of the
 * two has to end with an error: the first that looks for the deadlock.  Sessions look once, when
 * they have waited for deadlock_timeout.  The worker looks as soon as it waits, and again and
 * again, so that it is the one.
 */
static TimeoutId look_again;

static void
prepare_to_give_way(void)
{
	SetConfigOption("deadlock_timeout", "1ms", PGC_SUSET, PGC_S_OVERRIDE);
	/* it would say something at each look */
	SetConfigOption("log_lock_waits", "off", PGC_SUSET, PGC_S_OVERRIDE);
	look_again = RegisterTimeout(USER_TIMEOUT, CheckDeadLockAlert);
}

/* Has a step ended because of other sessions, so that another try may succeed? */
static bool
gave_way(int state)
{
	return state == ERRCODE_T_R_DEADLOCK_DETECTED || state == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Call what(arg) in a transaction, with memory of its own.  Returns 0, or the SQLSTATE.  last: it
 * will not be tried again, so that any error is logged.
 */
static int
run_safely(void (*what) (void *arg), void *arg, bool last)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "surfidx conversion",
											  ALLOCSET_DEFAULT_SIZES);
	int			state = 0;

	enable_timeout_every(look_again,
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LOOK_MS), LOOK_MS);
	PG_TRY();
	{
		run(what, arg, cxt);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		state = geterrcode();
		MemoryContextSwitchTo(TopMemoryContext);
		if (!gave_way(state) || last)
			EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	disable_timeout(look_again, false);
	MemoryContextSwitchTo(TopMemoryContext);
	pgstat_report_activity(STATE_IDLE, NULL);
	debug_query_string = NULL;
	MemoryContextDelete(cxt);
	return state;
}

static void
ask_for_failed(void *arg)
{
	SfxStep    *drop = arg;
	char	   *statement;

	PushActiveSnapshot(GetTransactionSnapshot());
	statement = sfx_drop_of_failed(drop->index);
	if (statement)
		drop->statement = MemoryContextStrdup(TopMemoryContext, statement);
}

static int	try_step(SfxStep *step);

/*
 * Drop the index that a failed build has left, which every write to the table would continue to
 * fill.
 */
static void
drop_failed(Oid index)
{
	SfxStep		drop = {.kind = SFX_STEP_DROP,.index = index};

	if (run_safely(ask_for_failed, &drop, true) != 0 || drop.statement == NULL)
		return;
	(void) try_step(&drop);
	pfree(drop.statement);
}

/*
 * Run a step, again if it had to give way.  While an exchange waits for the lock on an index, other
 * sessions queue after it, so it waits for short times only.  Returns 0, or the SQLSTATE.
 */
static int
try_step(SfxStep *step)
{
	const int	tries = step->kind == SFX_STEP_CREATE ? BUILD_TRIES : TRIES;
	int			state = 0;

	for (int i = 1; i <= tries; i++)
	{
		if (i > 1)
			sfx_sleep(SFX_SLEEP_CONVERT, PAUSE_MS);
		state = run_safely(run_step, step, i == tries);
		if (state != 0 && step->kind == SFX_STEP_CREATE)
			drop_failed(step->index);
		if (!gave_way(state))
			break;
		if (state == ERRCODE_T_R_DEADLOCK_DETECTED && i < tries)
			ereport(LOG,
					(errmsg("surfidx: a conversion gave way to a session that waited for it, "
							"and tries again: %s", step->statement)));
	}
	if (state == 0 && step->kind == SFX_STEP_SWAP)
		ereport(LOG,
				(errmsg("surfidx: index %u was converted: %s", step->item, step->statement)));
	return state;
}

/* Run the steps.  False: they were cancelled. */
static bool
run_steps(List *steps)
{
	Oid			failed = InvalidOid;

	foreach_ptr(SfxStep, step, steps)
	{
		int			state;

		CHECK_FOR_INTERRUPTS();
		if (step->kind == SFX_STEP_LEFT || step->item == failed)
			continue;
		state = try_step(step);
		if (state == 0)
			continue;
		if (state == ERRCODE_QUERY_CANCELED)
			return false;
		failed = step->item;
	}
	return true;
}

/* ---- the worker ---- */

/* Connect, and set what the worker needs. */
static void
get_ready(const SfxConversion *c)
{
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(c->database, c->session_user, 0);
	sfx_worker_settings();
	prepare_to_give_way();
	SetConfigOption("default_transaction_read_only", "off", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_tablespace", "", PGC_SUSET, PGC_S_OVERRIDE);
	sfx_exact_settings(GUC_ACTION_SET);
	/* statements mean what they say */
	SetConfigOption("surfidx.in_place_of_btree", "off", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("surfidx.unique_notice", "off", PGC_SUSET, PGC_S_OVERRIDE);
	/* with the caller's rights; an error returns to these, too */
	SetUserIdAndSecContext(c->user, 0);
}

/*
 * A question: which steps of a table, or (InvalidOid) which tables.  The answer is in memory that
 * outlives the question's transaction.
 */
typedef struct Question
{
	const SfxConversion *conversion;
	Oid			table;
	MemoryContext cxt;
	List	   *answer;
} Question;

static void
ask(void *arg)
{
	Question   *q = arg;

	PushActiveSnapshot(GetTransactionSnapshot());
	MemoryContextSwitchTo(q->cxt);
	q->answer = OidIsValid(q->table) ? sfx_convert_plan(q->conversion, q->table) :
		sfx_convert_tables(q->conversion);
}

void
sfx_convert_main(Datum arg)
{
	SfxConversion c;
	Question	tables = {.conversion = &c,.cxt = TopMemoryContext};
	Question	steps = {.conversion = &c};

	memcpy(&c, MyBgworkerEntry->bgw_extra, sizeof(c));
	get_ready(&c);
	if (!caller_commits(&c))
		return;
	wait_in_turn();
	steps.cxt = AllocSetContextCreate(TopMemoryContext, "surfidx steps", ALLOCSET_DEFAULT_SIZES);
	(void) run_safely(ask, &tables, true);
	foreach_oid(oid, tables.answer)
	{
		steps.table = oid;
		steps.answer = NIL;
		if (run_safely(ask, &steps, true) == ERRCODE_QUERY_CANCELED ||
			!run_steps(steps.answer))
			break;
		MemoryContextReset(steps.cxt);
	}
}
