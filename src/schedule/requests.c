/*-------------------------------------------------------------------------
 * requests.c - requests for merges, in shared memory, and the workers that serve them
 *
 * An inserter whose append made a merge due leaves a request.  If no worker serves its database, or
 * if the workers there have let the delta grow on, the inserter starts one (worker.c); the server
 * has at most surfidx.max_merge_workers.  A request is only advice: losing one costs only time.
 *
 * A request's slot holds a request that waits.  The index that a worker serves is in the worker's
 * own slot, so an index has one worker at a time, and requests for it meanwhile wait for that
 * worker (M14).  A worker that ends hands its slot to a database that waits for one (M12).  Before
 * that it lingers for a while, one worker for each database at most, and the next request there
 * wakes it (M17).
 *
 * No request is made for an index that no worker can serve: one that is not valid, or that this
 * transaction has made or locked.  A worker may be unable to serve one nevertheless: another
 * session has locked the index, or it is damaged, or connections to its database fail.  Such an
 * index is not asked for again for VAIN_MS, lest each page that an inserter fills start a worker in
 * vain.
 *
 * Slots of requests are few.  They end when a worker takes them, and with their database.  If all
 * are in use a new request displaces one (turn_out).  No request is lost (M13): one that finds no
 * slot, or loses it, is noted as missed, and when nothing else is left, a worker of its database
 * looks at all indexes there.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "gone.h"
#include "requests.h"
#include "settings.h"
#include "shared_area.h"
#include "shared_use.h"
#include "yield.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#define MAX_REQUESTS	64
#define A_TURN			8		/* indexes that a worker serves before its slot may go to another
								 * database, where a process has to be started */
#define START_TIMEOUT_MS	10000
#define LINGER_SERVED	500		/* a worker that has served so many indexes does not linger: a new
								 * process has no caches of relations that are gone */
#define VAIN_MS			1000	/* time for which an index that could not be served is not asked
								 * for */

typedef struct Request
{
	Oid			db;				/* InvalidOid: free */
	Oid			index;			/* InvalidOid: all indexes of the database */
	TimestampTz vain;			/* since when a worker could not serve it; 0: it waits */
	bool		orphan;			/* ... because no worker could serve the database */
} Request;

typedef struct WorkerSlot
{
	Oid			db;				/* InvalidOid: free */
	Oid			index;			/* that it serves; InvalidOid: none at the moment */
	bool		started;
	Latch	   *lingers;		/* its latch while it lingers, which requests set; else NULL */
	int			served;			/* indexes, since it got this slot */
	bool		missed;			/* there were requests without a slot */
	bool		all;			/* it looks at all indexes of its database */
	TimestampTz asked;
} WorkerSlot;

typedef struct RequestsShared
{
	LWLock		lock;
	uint64		taken;			/* slots of requests, so far */
	uint64		turned_out;
	uint64		starts;			/* of workers */
	int			turn;			/* the slot after the one that was served last */
	Request		request[MAX_REQUESTS];
	WorkerSlot	worker[SFX_MAX_MERGE_WORKERS];
} RequestsShared;

/* What a worker that looks for its next request is to do. */
typedef struct Turn
{
	bool		alone;			/* no process is available for another worker */
	bool		may_linger;
	bool		all;			/* look at all indexes of the database */
	bool		lingers;
	Oid			index;
	Oid			other;			/* start a worker in this database, ... */
	int			place;			/* ... in this slot */
} Turn;

static RequestsShared *shared = NULL;
static int	my_slot = -1;		/* that of this worker; -1: this process is none, or has given it
								 * up */
static int	all_served = 0;		/* indexes, by this process */

void
sfx_requests_forget(Oid db)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].db == db)
			shared->request[i].db = InvalidOid;
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
		if (shared->worker[i].db == db)
			shared->worker[i].missed = false;
	LWLockRelease(&shared->lock);
}

static void
forget_database(const SfxLocator *file)
{
	if (SfxLocatorNumber(*file) == InvalidOid)
		sfx_requests_forget(SfxLocatorDb(*file));
}

static void
attach_area(bool made)
{
	sfx_gone_tell(forget_database);
}

const SfxSharedArea sfx_requests_area = {
	.name = "surfidx worker",.shared = (void **) &shared,.head = sizeof(RequestsShared),
	.tranche = "surfidx_worker",.attach = attach_area
};

/* ---- workers: all with the lock held ---- */

/* A worker that serves this database, or is about to start; NULL: none. */
static WorkerSlot *
worker_of(Oid db)
{
	Assert(LWLockHeldByMe(&shared->lock));
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
		if (shared->worker[i].db == db)
			return &shared->worker[i];
	return NULL;
}

/* The worker that serves this index; NULL: none. */
static WorkerSlot *
at(Oid db, Oid index)
{
	Assert(LWLockHeldByMe(&shared->lock));
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS && index != InvalidOid; i++)
		if (shared->worker[i].db == db && shared->worker[i].index == index)
			return &shared->worker[i];
	return NULL;
}

/* Number of workers of all databases, with those that are about to start. */
static int
workers(void)
{
	int			n = 0;

	Assert(LWLockHeldByMe(&shared->lock));
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
		n += shared->worker[i].db != InvalidOid;
	return n;
}

/* A worker that lingers: of this database, or, for InvalidOid, of any; NULL: none. */
static WorkerSlot *
lingering(Oid db)
{
	Assert(LWLockHeldByMe(&shared->lock));
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
	{
		WorkerSlot *w = &shared->worker[i];

		if (w->db != InvalidOid && w->lingers != NULL && (db == InvalidOid || w->db == db))
			return w;
	}
	return NULL;
}

/* Wake one of these.  False: there is none. */
static bool
wake(Oid db)
{
	WorkerSlot *w = lingering(db);

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	if (w == NULL)
		return false;
	SetLatch(w->lingers);
	w->lingers = NULL;
	return true;
}

static bool
waits(const Request *r)
{
	return r->db != InvalidOid && r->vain == 0;
}

/* A database other than ours that has requests and no worker, in turn; InvalidOid: none. */
static Oid
database_without_worker(void)
{
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		const Request *r = &shared->request[(shared->turn + i) % MAX_REQUESTS];

		if (waits(r) && r->db != MyDatabaseId && worker_of(r->db) == NULL)
			return r->db;
	}
	return InvalidOid;
}

/* ... because the number of workers is at its limit. */
static bool
others_are_kept_waiting(void)
{
	return workers() >= sfx_guc_max_merge_workers && database_without_worker() != InvalidOid &&
		!SFX_MUTANT("databases in a row");
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
 * The request in that slot (-1: one without a slot) is missed: note that all indexes of its
 * database are to be looked at, at a worker of it, or else at another of its requests.  False: it
 * has neither.  Lock held.
 */
static bool
note_missed(Oid db, int place)
{
	WorkerSlot *w = worker_of(db);

	if (w != NULL)
		return w->missed = true;
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[i];

		if (i == place || r->db != db)
			continue;
		r->index = InvalidOid;
		if (!r->orphan)
			r->vain = 0;
		return true;
	}
	return false;
}

/*
 * All slots are in use: choose one to be displaced, which does not wait, or is of a database that
 * has more slots than `db` will have.  -1: there is none.  Lock held.
 */
static int
turn_out(Oid db)
{
	int			most = requests_of(db) + 1;
	int			found = -1;

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	for (int i = 0; i < MAX_REQUESTS; i++)
		if (shared->request[i].vain != 0 && !shared->request[i].orphan)
			return i;
	for (int i = 0; i < MAX_REQUESTS && found < 0; i++)
		if (requests_of(shared->request[i].db) > most)
			found = i;
	if (found >= 0)
		(void) note_missed(shared->request[found].db, found);
	return found;
}

/*
 * The request for this index, a new one if there is none; NULL: no slot is left for it.  Lock held.
 */
static Request *
make_request(Oid db, Oid index)
{
	int			place = -1;

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[i];

		if (r->db == db && r->index == index)
			return r;
		if (r->db == InvalidOid && place < 0)
			place = i;
	}
	if (place < 0)
	{
		if ((place = turn_out(db)) < 0)
			return NULL;
		shared->turned_out++;
	}
	shared->taken++;
	shared->request[place] = (Request) {.db = db,.index = index};
	return &shared->request[place];
}

/* No worker comes to this slot: what it was to look at is asked for elsewhere.  Lock held. */
static void
give_up_slot(WorkerSlot *w)
{
	Oid			db = w->db;

	w->db = InvalidOid;
	if (w->missed && !note_missed(db, -1))
		(void) make_request(db, InvalidOid);
}

/* Free slots of workers that were asked for long ago and have not started. */
static void
forget_who_never_came(void)
{
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
	{
		WorkerSlot *w = &shared->worker[i];

		if (w->db != InvalidOid && !w->started &&
			TimestampDifferenceExceeds(w->asked, GetCurrentTimestamp(), START_TIMEOUT_MS))
			give_up_slot(w);
	}
}

/* A worker is about to start in this database: its orphaned requests wait again. */
static void
adopt_orphans(Oid db)
{
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		Request    *r = &shared->request[i];

		if (r->db == db && r->orphan && !SFX_MUTANT("orphans stay"))
		{
			r->vain = 0;
			r->orphan = false;
		}
	}
}

/*
 * The slot of one more worker of our database, which the caller has to start; -1: the number of
 * workers is at its limit, or none is needed.  pressing: start one beside those at work, but one at
 * a time.  A worker that lingers is woken: one of ours, or else one of another database, so that it
 * gives up its slot.
 */
static int
place_of_worker(bool pressing)
{
	bool		any = false;
	bool		coming = false;
	int			place = -1;

	forget_who_never_came();
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
	{
		WorkerSlot *w = &shared->worker[i];

		any |= w->db == MyDatabaseId;
		coming |= w->db == MyDatabaseId && !w->started;
		if (w->db == InvalidOid && place < 0)
			place = i;
	}
	if (any && wake(MyDatabaseId))
		return -1;
	if (any && (coming || !pressing || SFX_MUTANT("one worker for all")))
		return -1;
	if (place < 0 || (workers() >= sfx_guc_max_merge_workers && !SFX_MUTANT("workers without end")))
	{
		if (!any)
			(void) wake(InvalidOid);
		return -1;
	}
	adopt_orphans(MyDatabaseId);
	shared->worker[place] = (WorkerSlot) {.db = MyDatabaseId,.asked = GetCurrentTimestamp()};
	return place;
}

/*
 * Start a worker for that database in that slot.  False: no process is available, and the slot is
 * free again.  The lock is not held.
 */
static bool
start_worker(int place, Oid db)
{
	BackgroundWorker bgw;
	bool		started;

	Assert(!SfxHoldsLWLock());
	memset(&bgw, 0, sizeof(bgw));
	bgw.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	bgw.bgw_start_time = BgWorkerStart_RecoveryFinished;
	bgw.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(bgw.bgw_library_name, BGW_MAXLEN, "surfidx");
	snprintf(bgw.bgw_function_name, BGW_MAXLEN, "sfx_worker_main");
	snprintf(bgw.bgw_name, BGW_MAXLEN, "surfidx merge worker");
	snprintf(bgw.bgw_type, BGW_MAXLEN, "surfidx merge worker");
	bgw.bgw_main_arg = Int32GetDatum(place);
	memcpy(bgw.bgw_extra, &db, sizeof(Oid));
	started = RegisterDynamicBackgroundWorker(&bgw, NULL);
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (started)
		shared->starts++;
	else
	{
		if (shared->worker[place].db == db && !shared->worker[place].started)
			give_up_slot(&shared->worker[place]);
		/* a worker that lingers ends then, and its process is available to the next request */
		(void) wake(InvalidOid);
	}
	LWLockRelease(&shared->lock);
	return started;
}

/* ---- asking ---- */

/*
 * Enter a request, unless there is one.  Returns whether a worker serves the index.  idle: if there
 * is no slot, the request is dropped, and not noted as missed.  *place: as from place_of_worker.
 * Lock held.
 */
static bool
enter_request(Oid index, bool idle, bool pressing, int *place)
{
	bool		served = at(MyDatabaseId, index) != NULL;
	Request    *r;

	*place = -1;
	if (served && SFX_MUTANT("request while served is lost"))
		return true;
	r = make_request(MyDatabaseId, index);
	if (r == NULL && idle)
		return served;
	if (r && r->vain != 0 && !SFX_MUTANT("workers in vain"))
	{
		if (!TimestampDifferenceExceeds(r->vain, GetCurrentTimestamp(), VAIN_MS))
			return served;
		r->vain = 0;
		r->orphan = false;
	}
	if (!served)
		*place = place_of_worker(pressing);
	if (r == NULL)
		(void) note_missed(MyDatabaseId, -1);
	return served;
}

bool
sfx_request_shut_out(Relation index)
{
	return RelationUsesLocalBuffers(index) || index->rd_createSubid != InvalidSubTransactionId ||
		(CheckRelationLockedByMe(index, SFX_WORKER_LOCK, true) && !SFX_MUTANT("workers in vain"));
}

static bool
request(Relation index, bool idle, bool pressing)
{
	int			place;
	bool		served;

	Assert(!SfxHoldsLWLock());
	if (shared == NULL || sfx_request_shut_out(index) || !index->rd_index->indisvalid)
		return false;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	served = enter_request(RelationGetRelid(index), idle, pressing, &place);
	LWLockRelease(&shared->lock);
	if (place >= 0)
		(void) start_worker(place, MyDatabaseId);
	return served;
}

bool
sfx_request_merge(Relation index, bool pressing)
{
	return request(index, false, pressing);
}

void
sfx_request_idle(Relation index)
{
	if (sfx_guc_auto_merge && !RecoveryInProgress() && !IsParallelWorker())
		(void) request(index, true, false);
}

/* ---- serving ---- */

bool
sfx_requests_serve(Oid db, int slot)
{
	bool		ours;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	/* a worker that starts too late finds the slot taken: another one was started */
	ours = shared->worker[slot].db == db && !shared->worker[slot].started;
	if (ours)
	{
		shared->worker[slot].started = true;
		my_slot = slot;
	}
	LWLockRelease(&shared->lock);
	return ours;
}

/* This worker is done with its index; a new request is entered unless all was done.  Lock held. */
static void
end_service(SfxServed served)
{
	WorkerSlot *me = &shared->worker[my_slot];
	Oid			index = me->index;
	Request    *r;

	me->index = InvalidOid;
	if (index == InvalidOid)
		return;
	me->served++;
	all_served++;
	if (served == SFX_SERVED)
		return;
	r = make_request(MyDatabaseId, index);
	if (r == NULL)
		me->missed |= served == SFX_UNFINISHED;
	else if (served == SFX_IN_VAIN)
	{
		r->vain = GetCurrentTimestamp();
		r->orphan = false;
	}
}

/*
 * The next of our database's requests, in turn, whose index no worker serves; that of index `last`
 * only if there is no other.  NULL: none.  Lock held.
 */
static Request *
next_request(Oid last)
{
	Request    *again = NULL;

	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		int			place = (shared->turn + i) % MAX_REQUESTS;
		Request    *r = &shared->request[place];

		if (!waits(r) || r->db != MyDatabaseId ||
			(at(r->db, r->index) != NULL && !SFX_MUTANT("two at one index")))
			continue;
		if (r->index == InvalidOid || r->index != last)
		{
			shared->turn = place + 1;
			return r;
		}
		again = r;
	}
	return again;
}

/*
 * Give our slot to a database that waits for one, in which the caller has to start a worker.  If
 * t->other is InvalidOid, the slot is free.  Requests that this worker has noted as missed are
 * handed on to others of its database.  Lock held.
 */
static void
hand_on(Turn *t)
{
	bool		missed = shared->worker[my_slot].missed;

	/* the setting may have been lowered */
	bool		too_many = (workers() > sfx_guc_max_merge_workers &&
							!SFX_MUTANT("places outlive the setting"));

	t->place = my_slot;
	t->other = t->alone || too_many || SFX_MUTANT("places are kept") ?
		InvalidOid : database_without_worker();
	my_slot = -1;
	if (t->other != InvalidOid)
		adopt_orphans(t->other);
	shared->worker[t->place] = (WorkerSlot) {.db = t->other,.asked = GetCurrentTimestamp()};
	if (missed && !SFX_MUTANT("missed requests are not handed on") && !note_missed(MyDatabaseId, -1))
		(void) make_request(MyDatabaseId, InvalidOid);
}

/*
 * This worker was terminated, or could not connect.  Its index, and its look at all indexes, are
 * left to other workers of the database.  If there are none, the database's requests do not wait
 * for a while, lest a worker be started in vain again and again.  Lock held.
 */
static void
drop_out(void)
{
	WorkerSlot	me = shared->worker[my_slot];
	WorkerSlot *other;
	TimestampTz now = GetCurrentTimestamp();

	shared->worker[my_slot].db = InvalidOid;
	my_slot = -1;
	other = worker_of(me.db);
	if (me.index != InvalidOid && !SFX_MUTANT("what the dead had taken is lost"))
		me.missed |= make_request(me.db, me.index) == NULL;
	if ((me.missed || me.all) && !SFX_MUTANT("what is missed dies with its worker") &&
		!note_missed(me.db, -1))
		(void) make_request(me.db, InvalidOid);
	if (other != NULL)
		(void) wake(me.db);
	for (int i = 0; i < MAX_REQUESTS && other == NULL; i++)
		if (shared->request[i].db == me.db && waits(&shared->request[i]))
		{
			shared->request[i].vain = now;
			shared->request[i].orphan = true;
		}
}

void
sfx_requests_leave(bool orderly)
{
	Turn		t = {.other = InvalidOid};

	if (my_slot < 0)
		return;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (orderly)
		hand_on(&t);
	else
		drop_out();
	LWLockRelease(&shared->lock);
	if (t.other != InvalidOid)
		(void) start_worker(t.place, t.other);
}

bool
sfx_requests_wait(bool others)
{
	bool		any;

	if (shared == NULL || SFX_MUTANT("runs before others"))
		return false;
	LWLockAcquire(&shared->lock, LW_SHARED);
	any = others && others_are_kept_waiting();
	for (int i = 0; i < MAX_REQUESTS; i++)
	{
		const Request *r = &shared->request[i];

		any |= waits(r) && r->db == MyDatabaseId && at(r->db, r->index) == NULL;
	}
	LWLockRelease(&shared->lock);
	return any;
}

int
sfx_requests_workers(void)
{
	int			n;

	LWLockAcquire(&shared->lock, LW_SHARED);
	n = workers();
	for (int i = 0; i < SFX_MAX_MERGE_WORKERS; i++)
		n -= shared->worker[i].db != InvalidOid && shared->worker[i].lingers != NULL;
	LWLockRelease(&shared->lock);
	return n;
}

/*
 * No process was available for the database to which our slot went: take the slot back.  False:
 * another worker has got it meanwhile.
 */
static bool
take_back(int place)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (shared->worker[place].db == InvalidOid)
	{
		shared->worker[place] = (WorkerSlot) {.db = MyDatabaseId,.started = true};
		my_slot = place;
	}
	LWLockRelease(&shared->lock);
	return my_slot >= 0;
}

/*
 * May this worker linger?  One of each database may, as long as no other database waits for a slot
 * (M17).  Lock held.
 */
static bool
may_linger(const Turn *t)
{
	return t->may_linger && !t->alone &&
		(all_served < LINGER_SERVED || SFX_MUTANT("lingers for ever")) &&
		(lingering(MyDatabaseId) == NULL || SFX_MUTANT("all linger")) &&
		(database_without_worker() == InvalidOid || SFX_MUTANT("places of those who linger"));
}

/*
 * Decide what to do next, as told at sfx_requests_take, or which database gets our slot.  Lock
 * held.
 */
static void
take(SfxServed served, Turn *t)
{
	WorkerSlot *me = &shared->worker[my_slot];
	Oid			last = me->index;
	Request    *r = NULL;
	bool		go;

	forget_who_never_came();
	me->lingers = NULL;
	end_service(served);
	go = me->served >= A_TURN && others_are_kept_waiting();
	if (!go)
		r = next_request(last);
	if (r != NULL)
	{
		t->index = me->index = r->index;
		r->db = InvalidOid;
		t->all = me->index == InvalidOid;
	}
	else if (!go && me->missed && !SFX_MUTANT("missed requests are lost"))
	{
		me->missed = false;
		t->all = true;
	}
	me->all = t->all;
	if (r != NULL || t->all)
		return;
	if (!go && may_linger(t))
	{
		me->lingers = MyLatch;
		t->lingers = true;
	}
	else
	{
		if (SFX_MUTANT("leaves behind its look"))
		{
			LWLockRelease(&shared->lock);
			SFX_STOP("nothing left");
			LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
		}
		hand_on(t);
	}
}

/*
 * Our slot has gone to another database, or comes back.  True: it is ours again, and the worker
 * looks again.
 */
static bool
give_place(Turn *t)
{
	if (t->other == InvalidOid || start_worker(t->place, t->other) || !take_back(t->place))
		return false;
	/* no process was available, and ours may be the one that is missing: end without lingering */
	t->alone = !SFX_MUTANT("asks until there is a process");
	return true;
}

Oid
sfx_requests_take(SfxServed served, SfxPause pause, bool *all)
{
	TimestampTz since = GetCurrentTimestamp();
	Turn		t = {.may_linger = pause != NULL};

	SFX_STOP("request served");
	do
	{
		t.other = InvalidOid;
		t.lingers = false;
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
		take(served, &t);
		LWLockRelease(&shared->lock);
		if (t.lingers)
			t.may_linger = pause(since);
	} while (t.lingers || give_place(&t));
	*all = t.all;
	if (t.index != InvalidOid || t.all)
		SFX_STOP("request taken");
	else
		SFX_STOP("nothing left");
	return t.index;
}

bool
sfx_requests_claim(Oid index, SfxServed served)
{
	WorkerSlot *me = &shared->worker[my_slot];
	WorkerSlot *other;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	end_service(served);
	other = at(MyDatabaseId, index);
	if (other == NULL)
		me->index = index;
	/* that worker may have looked at the index before it was due */
	else if (!SFX_MUTANT("passed by") && make_request(MyDatabaseId, index) == NULL)
		other->missed = true;
	LWLockRelease(&shared->lock);
	return other == NULL;
}

/* ---- how much is in use ---- */

void
sfx_requests_use(SfxSharedUse *use)
{
	use[0] = (SfxSharedUse) {.what = "merge requests",.places = MAX_REQUESTS};
	use[1] = (SfxSharedUse) {.what = "merge workers",.places = sfx_guc_max_merge_workers};
	if (shared == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_SHARED);
	for (int i = 0; i < MAX_REQUESTS; i++)
		use[0].used += shared->request[i].db != InvalidOid;
	use[1].used = workers();
	use[0].taken = shared->taken;
	use[0].evicted = shared->turned_out;
	use[1].taken = shared->starts;
	LWLockRelease(&shared->lock);
}
