/*-------------------------------------------------------------------------
 * requests.c - which indexes a merge is asked for, in shared memory, and who serves them
 *
 * An inserter whose append made a merge due leaves a request and, if no worker serves its
 * database, starts one (worker.c).  A request is only advice: losing one costs nothing but time.
 *
 * What no worker can serve is not asked for: an index that is not valid, or that our own
 * transaction has made or locked.  What a worker could not serve all the same (somebody else has
 * locked the index, or it is damaged) is not asked for again for VAIN_MS: no page that an
 * inserter fills may start a worker in vain each time.
 *
 * Places of requests are few.  They end with their service, and with their database.  Where all
 * are taken one goes that is of no use (turn_out).  A request that finds no place, or loses it, is
 * missed: when nothing else is left, the worker of its database looks at all indexes there.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "gone.h"
#include "lwlocks.h"
#include "requests.h"
#include "settings.h"
#include "shared_area.h"
#include "shared_use.h"
#include "yield.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#define MAX_REQUESTS	64
#define MAX_WORKERS		8
#define START_TIMEOUT_MS	10000
#define VAIN_MS			1000	/* an index that could not be served is left alone for so long */

typedef struct Request
{
	Oid			db;				/* InvalidOid: free */
	Oid			index;
	bool		running;
	bool		anew;			/* running, and asked for again since */
	TimestampTz vain;			/* a worker could do nothing for it; 0: it waits */
} Request;

typedef struct WorkerSlot
{
	Oid			db;				/* InvalidOid: free */
	bool		started;
	bool		missed;			/* there were requests without a place */
	TimestampTz asked;
} WorkerSlot;

typedef struct RequestsShared
{
	LWLock		lock;
	uint64		taken;			/* places of requests */
	uint64		turned_out;
	uint64		starts;			/* of workers */
	Request		request[MAX_REQUESTS];
	WorkerSlot	worker[MAX_WORKERS];
} RequestsShared;

static RequestsShared *shared = NULL;
static int	my_slot = -1;		/* the worker's that we are */

void
sfx_requests_forget(Oid db)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].db == db)
			shared->request[i] = (Request)
		{
			.db = InvalidOid
		};
	LWLockRelease(&shared->lock);
}

static void
forget_database(const SfxLocator *file)
{
	if (SfxLocatorNumber(*file) == InvalidOid)
		sfx_requests_forget(SfxLocatorDb(*file));
}

static Size
area_size(void)
{
	return MAXALIGN(sizeof(RequestsShared));
}

static void
attach_area(void *area, bool made)
{
	shared = area;
	if (made)
	{
		memset(shared, 0, sizeof(*shared));
		LWLockInitialize(&shared->lock, SfxNewTranche("surfidx_worker"));
	}
	SfxNameTranche(shared->lock.tranche, "surfidx_worker");
	sfx_gone_tell(forget_database);
}

const SfxSharedArea sfx_requests_area = {"surfidx worker", area_size, attach_area};

/* ---- asking ---- */

/* The worker that serves this database, or is about to; NULL: none.  Lock held. */
static WorkerSlot *
worker_of(Oid db)
{
	Assert(LWLockHeldByMe(&shared->lock));
	for (int i = 0; i < MAX_WORKERS; i++)
		if (shared->worker[i].db == db)
			return &shared->worker[i];
	return NULL;
}

static int
requests_of(Oid db)
{
	int			n = 0;

	for (int i = 0; i < MAX_REQUESTS; i++)
		n += shared->request[i].db == db;
	return n;
}

/*
 * A place where all are taken: one that waits for nothing; or of a database that no worker
 * serves, which may have been dropped; or of one that has more of them than ours will have.  -1:
 * there is none.  Lock held.
 */
static int
turn_out(void)
{
	int			most = requests_of(MyDatabaseId) + 1;
	int			found = -1;

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].vain != 0 && !shared->request[i].running)
			return i;
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].db != MyDatabaseId && worker_of(shared->request[i].db) == NULL)
			return i;
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (!shared->request[i].running && requests_of(shared->request[i].db) > most)
		{
			most = requests_of(shared->request[i].db);
			found = i;
		}
	if (found >= 0 && worker_of(shared->request[found].db))
		worker_of(shared->request[found].db)->missed = true;
	return found;
}

/*
 * The request of this index, a new one if there is none; NULL: no place is left for it.  Lock
 * held.
 */
static Request *
make_request(Oid index)
{
	int			place = -1;

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[i];

		if (r->db == MyDatabaseId && r->index == index)
			return r;
		if (r->db == InvalidOid && place < 0)
			place = i;
	}
	if (place < 0)
	{
		if ((place = turn_out()) < 0)
			return NULL;
		shared->turned_out++;
	}
	shared->taken++;
	shared->request[place] = (Request)
	{
		.db = MyDatabaseId,.index = index
	};
	return &shared->request[place];
}

/*
 * Enter the request unless it stands there. True if a worker has to be started, in *slot.
 * *served: one is at it. idle: where there is no place nothing is missed. Lock held.
 */
static bool
enter_request(Oid index, bool idle, int *slot, bool *served)
{
	Request    *r = make_request(index);

	*slot = -1;
	*served = r && r->running;
	if (r == NULL && idle)
		return false;
	if (r)
		r->anew = r->running && !SFX_MUTANT("request while served is lost");
	if (r && r->vain != 0 && !SFX_MUTANT("workers in vain"))
	{
		if (!TimestampDifferenceExceeds(r->vain, GetCurrentTimestamp(), VAIN_MS))
			return false;
		r->vain = 0;
	}
	for (int i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *w = &shared->worker[i];

		/* one that was asked for long ago and never came does not count */
		if (w->db != InvalidOid && !w->started &&
			TimestampDifferenceExceeds(w->asked, GetCurrentTimestamp(), START_TIMEOUT_MS))
			w->db = InvalidOid;
		if (w->db == MyDatabaseId)
		{
			w->missed |= r == NULL;
			return false;
		}
		if (w->db == InvalidOid && *slot < 0)
			*slot = i;
	}
	if (*slot < 0)
		return false;
	shared->worker[*slot] = (WorkerSlot)
	{
		.db = MyDatabaseId,.missed = r == NULL,.asked = GetCurrentTimestamp()
	};
	return true;
}

bool
sfx_request_shut_out(Relation index)
{
	return RelationUsesLocalBuffers(index) || index->rd_createSubid != InvalidSubTransactionId ||
		(CheckRelationLockedByMe(index, SFX_WORKER_LOCK, true) && !SFX_MUTANT("workers in vain"));
}

static bool
request(Relation index, bool idle)
{
	BackgroundWorker bgw;
	int			slot;
	bool		start;
	bool		served;

	Assert(sfx_holds_no_lwlock());
	if (shared == NULL || sfx_request_shut_out(index) || !index->rd_index->indisvalid)
		return false;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	start = enter_request(RelationGetRelid(index), idle, &slot, &served);
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
	start = RegisterDynamicBackgroundWorker(&bgw, NULL);
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (start)
		shared->starts++;
	else if (shared->worker[slot].db == MyDatabaseId && !shared->worker[slot].started)
		shared->worker[slot].db = InvalidOid;
	LWLockRelease(&shared->lock);
	return false;
}

bool
sfx_request_merge(Relation index)
{
	return request(index, false);
}

void
sfx_request_idle(Relation index)
{
	if (sfx_guc_auto_merge && !RecoveryInProgress() && !IsParallelWorker())
		(void) request(index, true);
}

/* ---- serving ---- */

bool
sfx_requests_serve(Oid db, int slot)
{
	bool		ours;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	/* who came too late: another one was asked for */
	ours = shared->worker[slot].db == db && !shared->worker[slot].started;
	if (ours)
	{
		shared->worker[slot].started = true;
		my_slot = slot;
	}
	LWLockRelease(&shared->lock);
	return ours;
}

void
sfx_requests_leave(void)
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

bool
sfx_requests_wait(void)
{
	bool		any = false;

	if (shared == NULL || SFX_MUTANT("runs before others"))
		return false;
	LWLockAcquire(&shared->lock, LW_SHARED);
	for (int i = 0; i < MAX_REQUESTS; i++)
		any |= shared->request[i].db == MyDatabaseId && !shared->request[i].running &&
			shared->request[i].vain == 0;
	LWLockRelease(&shared->lock);
	return any;
}

void
sfx_requests_missed(void)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->worker[my_slot].missed = true;
	LWLockRelease(&shared->lock);
}

Oid
sfx_requests_take(Oid db, SfxServed served, bool *all)
{
	static int	last = MAX_REQUESTS - 1;
	int			first = last + 1;
	Oid			index = InvalidOid;
	Request    *unfinished = NULL;

	SFX_STOP("request served");
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[(first + i) % MAX_REQUESTS];

		if (r->db != db || (r->vain != 0 && !r->running))
			continue;
		if (r->running && served == SFX_IN_VAIN)
		{
			r->running = r->anew = false;
			r->vain = GetCurrentTimestamp();
		}
		else if (r->running && (served == SFX_UNFINISHED || r->anew))
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
			last = (first + i) % MAX_REQUESTS;
		}
	}
	if (unfinished && index == InvalidOid)
		index = unfinished->index;
	else if (unfinished)
		unfinished->running = false;
	*all = index == InvalidOid && shared->worker[my_slot].missed &&
		!SFX_MUTANT("missed requests are lost");
	if (*all)
		shared->worker[my_slot].missed = false;
	else if (index == InvalidOid)
	{
		shared->worker[my_slot].db = InvalidOid;
		my_slot = -1;
	}
	LWLockRelease(&shared->lock);
	return index;
}

/* ---- how much is in use ---- */

void
sfx_requests_use(SfxSharedUse *use)
{
	use[0] = (SfxSharedUse)
	{
		.what = "merge requests",.places = MAX_REQUESTS
	};
	use[1] = (SfxSharedUse)
	{
		.what = "merge workers",.places = MAX_WORKERS
	};
	if (shared == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_SHARED);
	for (int i = 0; i < MAX_REQUESTS; i++)
		use[0].used += shared->request[i].db != InvalidOid;
	for (int i = 0; i < MAX_WORKERS; i++)
		use[1].used += shared->worker[i].db != InvalidOid;
	use[0].taken = shared->taken;
	use[0].evicted = shared->turned_out;
	use[1].taken = shared->starts;
	LWLockRelease(&shared->lock);
}
