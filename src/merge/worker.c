/*-------------------------------------------------------------------------
 * worker.c - background merges: requests in shared memory, one short-lived worker per database
 *
 * An inserter whose append made a merge due leaves a request and, if no worker serves its database,
 * starts one.  The worker takes requests one by one, each in a transaction of its own, gives up an index as soon as somebody waits for
 * a lock on it, and exits when there is nothing left.  An error ends its work on one index, not on the others.  A request is only advice:
 * losing one costs nothing but time.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "merge.h"
#include "meta.h"
#include "settings.h"
#include "yield.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#define MAX_REQUESTS	64
#define MAX_WORKERS		8
#define START_TIMEOUT_MS	10000
#define MERGES_A_TURN	4		/* of one index before the next request is served */

typedef struct Request
{
	Oid			db;				/* InvalidOid: free */
	Oid			index;
	bool		running;
	bool		anew;			/* running, and asked for again since */
} Request;

typedef struct WorkerSlot
{
	Oid			db;				/* InvalidOid: free */
	bool		started;
	TimestampTz asked;
} WorkerSlot;

typedef struct WorkerShared
{
	LWLock		lock;
	Request		request[MAX_REQUESTS];
	WorkerSlot	worker[MAX_WORKERS];
} WorkerShared;

static WorkerShared *shared = NULL;
static int	my_slot = -1;

PGDLLEXPORT void sfx_worker_main(Datum arg);

Size
sfx_worker_shmem_size(void)
{
	return MAXALIGN(sizeof(WorkerShared));
}

void
sfx_worker_shmem_startup(void)
{
	bool		found;

	shared = ShmemInitStruct("surfidx worker", sfx_worker_shmem_size(), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(*shared));
		LWLockInitialize(&shared->lock, LWLockNewTrancheId());
	}
	LWLockRegisterTranche(shared->lock.tranche, "surfidx_worker");
}

/* ---- asking ---- */

/* Does a worker serve this database, or is one about to?  Lock held. */
static bool
has_worker(Oid db)
{
	for (int i = 0; i < MAX_WORKERS; i++)
		if (shared->worker[i].db == db)
			return true;
	return false;
}

/*
 * A place for a request where all are taken: one of a database that no worker serves.  It may have been dropped, and then nobody would
 * take its requests any more.  -1: there is none.  Lock held.
 */
static int
unserved_request(void)
{
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].db != MyDatabaseId && !has_worker(shared->request[i].db))
			return i;
	return -1;
}

/* Enter the request unless it stands there. True if a worker has to be started, in *slot.  *served: one is at it. Lock held. */
static bool
enter_request(Oid index, int *slot, bool *served)
{
	int			free_request = -1;

	*slot = -1;
	*served = false;
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[i];

		if (r->db == MyDatabaseId && r->index == index)
		{
			free_request = -2;	/* there already */
			*served = r->running;
			r->anew = r->running && !SFX_MUTANT("request while served is lost");
			break;
		}
		if (r->db == InvalidOid && free_request == -1)
			free_request = i;
	}
	if (free_request == -1 && (free_request = unserved_request()) == -1)
		return false;
	if (free_request >= 0)
	{
		shared->request[free_request].db = MyDatabaseId;
		shared->request[free_request].index = index;
		shared->request[free_request].running = shared->request[free_request].anew = false;
	}
	for (int i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *w = &shared->worker[i];

		/* one that was asked for long ago and never came does not count */
		if (w->db != InvalidOid && !w->started &&
			TimestampDifferenceExceeds(w->asked, GetCurrentTimestamp(), START_TIMEOUT_MS))
			w->db = InvalidOid;
		if (w->db == MyDatabaseId)
			return false;
		if (w->db == InvalidOid && *slot < 0)
			*slot = i;
	}
	if (*slot < 0)
		return false;
	shared->worker[*slot].db = MyDatabaseId;
	shared->worker[*slot].started = false;
	shared->worker[*slot].asked = GetCurrentTimestamp();
	return true;
}

bool
sfx_worker_request(Relation index)
{
	BackgroundWorker bgw;
	int			slot;
	bool		start;
	bool		served;

	if (shared == NULL)
		return false;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	start = enter_request(RelationGetRelid(index), &slot, &served);
	LWLockRelease(&shared->lock);
	if (!start)
		return served;

	memset(&bgw, 0, sizeof(bgw));
	bgw.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	bgw.bgw_start_time = BgWorkerStart_RecoveryFinished;
	bgw.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(bgw.bgw_library_name, BGW_MAXLEN, "surfidx");
	snprintf(bgw.bgw_function_name, BGW_MAXLEN, "sfx_worker_main");
	snprintf(bgw.bgw_name, BGW_MAXLEN, "surfidx merge worker");
	snprintf(bgw.bgw_type, BGW_MAXLEN, "surfidx merge worker");
	bgw.bgw_main_arg = Int32GetDatum(slot);
	memcpy(bgw.bgw_extra, &MyDatabaseId, sizeof(Oid));
	if (!RegisterDynamicBackgroundWorker(&bgw, NULL))
	{
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
		if (shared->worker[slot].db == MyDatabaseId && !shared->worker[slot].started)
			shared->worker[slot].db = InvalidOid;
		LWLockRelease(&shared->lock);
	}
	return false;
}

/* ---- serving ---- */

static void
leave_slot(int code, Datum arg)
{
	if (my_slot < 0)
		return;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].db == shared->worker[my_slot].db && shared->request[i].running)
			shared->request[i].db = InvalidOid;
	shared->worker[my_slot].db = InvalidOid;
	LWLockRelease(&shared->lock);
	my_slot = -1;
}

/*
 * The next request of this database; InvalidOid, and the slot given up in the same breath, if there is none.  again: the one served
 * just now was not finished, and comes again behind the others, as does one that was asked for meanwhile: the worker may have looked before.
 */
static Oid
take_request(Oid db, bool again)
{
	Oid			index = InvalidOid;
	Request    *unfinished = NULL;

	SFX_STOP("request served");
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[i];

		if (r->db != db)
			continue;
		if (r->running && (again || r->anew))
		{
			unfinished = r;
			r->anew = false;
		}
		else if (r->running)
			r->db = InvalidOid;
		else if (index == InvalidOid)
		{
			index = r->index;
			r->running = true;
		}
	}
	if (unfinished && index == InvalidOid)
		index = unfinished->index;
	else if (unfinished)
		unfinished->running = false;
	if (index == InvalidOid)
	{
		shared->worker[my_slot].db = InvalidOid;
		my_slot = -1;
	}
	LWLockRelease(&shared->lock);
	return index;
}

/* Whoever wants the database has our requests, too: they were only advice. */
static void
forget_requests(Oid db)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].db == db)
			shared->request[i].db = InvalidOid;
	LWLockRelease(&shared->lock);
}

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

/*
 * Merge one index if it is still there and nobody is in the way.  False: somebody wants the whole database.  *again: there was time only
 * for the delta, a run is half merged.
 */
static bool
serve(Oid relid, bool *again)
{
	Relation	index;
	bool		wanted;

	*again = false;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	if (ConditionalLockRelationOid(relid, SFX_WORKER_LOCK))
	{
		index = try_relation_open(relid, NoLock);
		if (index != NULL)
		{
			if (index->rd_rel->relkind == RELKIND_INDEX && index->rd_indam != NULL &&
				sfx_is_ours(index->rd_indam) && index->rd_index->indisvalid &&
				!RelationUsesLocalBuffers(index))
			{
				/* a merge takes a snapshot only where it asks the table, for as long as that: it must hold back nobody's xmin */
				InvalidateCatalogSnapshot();
				report_activity(index);
				/* what was appended meanwhile may be worth the next merge; but other indexes wait, too */
				for (int n = 0; n < MERGES_A_TURN && sfx_merge_due(index); n++)
				{
					*again = sfx_merge_politely(index) > 0;
					if (!*again)
						break;
				}
				*again = *again && run_is_source(index);
			}
			relation_close(index, SFX_WORKER_LOCK);
		}
	}
	wanted = sfx_database_is_wanted();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
	return !wanted;
}

/* An error is reported, and ends the service for this index only. */
static bool
serve_safely(Oid relid, bool *again)
{
	bool		go_on = true;
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		go_on = serve(relid, again);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		pgstat_report_activity(STATE_IDLE, NULL);
		*again = false;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return go_on;
}

/*
 * What the administrator or the database has set for sessions is not meant for us.  A snapshot must not last longer than the question to the table
 * for which it was taken (dead_rows.c); nor may a timeout end a merge, or a view of the statistics be as old as our transaction.
 */
static void
override_settings(void)
{
	static const char *const settings[][2] = {
		{"default_transaction_isolation", "read committed"},
		{"stats_fetch_consistency", "none"},
		{"statement_timeout", "0"},
		{"lock_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		SFX_MORE_TIMEOUTS
	};

	if (SFX_MUTANT("settings of sessions"))
		return;
	for (int i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}

void
sfx_worker_main(Datum arg)
{
	Oid			db,
				index;
	int			slot = DatumGetInt32(arg);
	bool		again = false;

	memcpy(&db, MyBgworkerEntry->bgw_extra, sizeof(Oid));
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (shared->worker[slot].db != db || shared->worker[slot].started)
	{
		LWLockRelease(&shared->lock);	/* came too late: another one was asked for */
		return;
	}
	shared->worker[slot].started = true;
	my_slot = slot;
	LWLockRelease(&shared->lock);
	before_shmem_exit(leave_slot, (Datum) 0);

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(db, InvalidOid, 0);
	override_settings();
	/* let the buffer manager count what pages cost (merge.c) */
	VacuumCostActive = true;
	VacuumCostBalance = 0;
	while ((index = take_request(db, again)) != InvalidOid)
	{
		CHECK_FOR_INTERRUPTS();
		if (!serve_safely(index, &again))
		{
			forget_requests(db);
			break;
		}
	}
}
