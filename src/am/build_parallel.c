/*-------------------------------------------------------------------------
 * build_parallel.c - scan and sort of a build by several processes
 *
 * Each participant, the leader among them, scans a share of the heap (a parallel table scan) and
 * sorts the items of its share; the leader merges what all have sorted, and packs the leaves.
 * PostgreSQL plans the number of workers for access methods other than btree from 17 on; before, we
 * ask its planner here.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "build.h"

#include "access/parallel.h"
#include "access/table.h"
#include "catalog/index.h"
#include "executor/instrument.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#define KEY_SHARED			UINT64CONST(0x5F1D000000000001)
#define KEY_QUERY			UINT64CONST(0x5F1D000000000002)
#define KEY_WAL_USAGE		UINT64CONST(0x5F1D000000000003)
#define KEY_BUFFER_USAGE	UINT64CONST(0x5F1D000000000004)
#define KEY_SPOOL			UINT64CONST(0x5F1D000000000005)

/* In the parallel context's memory; the descriptor of the table scan follows it. */
typedef struct BuildShared
{
	SfxBuildPlan plan;			/* what all go by: workers decide nothing (A1) */
	int			participants;	/* as planned, the leader included */
	uint64		query_id;

	ConditionVariable done_cv;	/* signalled by each participant that is done */
	slock_t		mutex;			/* protects the members below */
	int			ndone;			/* participants that are done */
	double		rows;
	double		indtuples;
	bool		broken_hot;
} BuildShared;

/* The leader's state. */
typedef struct SfxBuildLeader
{
	ParallelContext *pcxt;
	BuildShared *shared;
	SfxSpoolShared *spool;
	Snapshot	snapshot;
	WalUsage   *wal;
	BufferUsage *buffers;
	int			participants;	/* that have started, the leader included */
} SfxBuildLeader;

PGDLLEXPORT void sfx_build_worker_main(dsm_segment *seg, shm_toc *toc);

/* The table scan's descriptor. */
static ParallelTableScanDesc
scan_of(BuildShared *shared)
{
	return (ParallelTableScanDesc) ((char *) shared + BUFFERALIGN(sizeof(BuildShared)));
}

/* ---- what every participant does ---- */

/* What each participant does: scan a share, sort it, and report. */
static void
scan_and_sort(SfxBuild *b, BuildShared *shared, SfxSpoolShared *spool, int number, int workmem,
			  bool progress)
{
	SfxSpoolPart part = {spool, number};
	double		rows;

	b->spool = sfx_spool_begin(b, workmem, &part);
	rows = sfx_build_scan(b, SfxBeginScanParallel(b->heap, scan_of(shared)), progress);
	sfx_spool_perform(b->spool);

	SpinLockAcquire(&shared->mutex);
	shared->ndone++;
	shared->rows += rows;
	shared->indtuples += b->indtuples;
	shared->broken_hot |= b->info->ii_BrokenHotChain;
	SpinLockRelease(&shared->mutex);
	ConditionVariableSignal(&shared->done_cv);
	sfx_spool_end(b->spool);
}

/* A worker's main function. */
void
sfx_build_worker_main(dsm_segment *seg, shm_toc *toc)
{
	BuildShared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	SfxSpoolShared *spool = shm_toc_lookup(toc, KEY_SPOOL, false);
	const SfxBuildPlan *plan = &shared->plan;
	LOCKMODE	heaplock = plan->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	indexlock = plan->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	SfxBuild	b;
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	WalUsage   *wal;
	BufferUsage *buffers;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(shared->query_id, false);
	/* the locks that the leader has, and shares with its workers */
	heap = table_open(plan->heap, heaplock);
	index = index_open(plan->index, indexlock);
	SharedFileSetAttach(&spool->files, seg);

	InstrStartParallelQuery();
	info = SFX_MUTANT("workers ask the catalogs") ? BuildIndexInfo(index) :
		sfx_build_worker_info(index, plan);
	sfx_build_begin(&b, heap, index, info, SFX_MUTANT("workers decide") ? NULL : plan);
	scan_and_sort(&b, shared, spool, ParallelWorkerNumber + 1,
				  plan->workmem / shared->participants, false);
	wal = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	buffers = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);
	InstrEndParallelQuery(&buffers[ParallelWorkerNumber], &wal[ParallelWorkerNumber]);

	index_close(index, indexlock);
	table_close(heap, heaplock);
}

/* ---- the leader ---- */

/* Wait for the workers to end, and free everything. */
static void
end_leader(SfxBuildLeader *l)
{
	WaitForParallelWorkersToFinish(l->pcxt);
	for (int i = 0; i < l->pcxt->nworkers_launched; i++)
		InstrAccumParallelQuery(&l->buffers[i], &l->wal[i]);
	if (IsMVCCSnapshot(l->snapshot))
		UnregisterSnapshot(l->snapshot);
	DestroyParallelContext(l->pcxt);
	ExitParallelMode();
}

static void
estimate(ParallelContext *pcxt, Size size)
{
	shm_toc_estimate_chunk(&pcxt->estimator, size);
	shm_toc_estimate_keys(&pcxt->estimator, 1);
}

static void *
allocate(ParallelContext *pcxt, uint64 key, Size size)
{
	void	   *p = shm_toc_allocate(pcxt->toc, size);

	shm_toc_insert(pcxt->toc, key, p);
	return p;
}

/* Make the shared memory and start workers.  NULL: there is none of either. */
static SfxBuildLeader *
begin_leader(SfxBuild *b, int request)
{
	SfxBuildLeader *l = palloc0(sizeof(SfxBuildLeader));
	ParallelContext *pcxt;
	Size		sharedsize,
				walsize,
				bufsize,
				querysize = debug_query_string ? strlen(debug_query_string) + 1 : 0;

	EnterParallelMode();
	l->pcxt = pcxt = CreateParallelContext("surfidx", "sfx_build_worker_main", request);

	/*
	 * all rows that some snapshot may still see; or, while others write, those that one snapshot
	 * sees
	 */
	l->snapshot = b->plan.concurrent ? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	sharedsize = add_size(BUFFERALIGN(sizeof(BuildShared)), table_parallelscan_estimate(b->heap, l->snapshot));
	walsize = mul_size(sizeof(WalUsage), request);
	bufsize = mul_size(sizeof(BufferUsage), request);
	estimate(pcxt, sharedsize);
	estimate(pcxt, sfx_spool_shared_size(request + 1));
	estimate(pcxt, walsize);
	estimate(pcxt, bufsize);
	if (querysize > 0)
		estimate(pcxt, querysize);
	InitializeParallelDSM(pcxt);
	if (pcxt->seg == NULL)
	{
		if (IsMVCCSnapshot(l->snapshot))
			UnregisterSnapshot(l->snapshot);
		DestroyParallelContext(pcxt);
		ExitParallelMode();
		return NULL;
	}

	l->shared = allocate(pcxt, KEY_SHARED, sharedsize);
	memset(l->shared, 0, sizeof(BuildShared));
	l->shared->plan = b->plan;
	l->shared->participants = request + 1;
	l->shared->query_id = pgstat_get_my_query_id();
	ConditionVariableInit(&l->shared->done_cv);
	SpinLockInit(&l->shared->mutex);
	table_parallelscan_initialize(b->heap, scan_of(l->shared), l->snapshot);
	l->spool = allocate(pcxt, KEY_SPOOL, sfx_spool_shared_size(request + 1));
	memset(l->spool, 0, sfx_spool_shared_size(request + 1));
	l->spool->nparts = request + 1;
	SharedFileSetInit(&l->spool->files, pcxt->seg);
	l->wal = allocate(pcxt, KEY_WAL_USAGE, walsize);
	l->buffers = allocate(pcxt, KEY_BUFFER_USAGE, bufsize);
	if (querysize > 0)
		memcpy(allocate(pcxt, KEY_QUERY, querysize), debug_query_string, querysize);
	LaunchParallelWorkers(pcxt);
	l->participants = pcxt->nworkers_launched + 1;
	if (pcxt->nworkers_launched == 0)
	{
		end_leader(l);
		return NULL;
	}
	return l;
}

/* Wait until that many participants are done. */
static void
wait_for(SfxBuildLeader *l, int participants)
{
	for (;;)
	{
		int			ndone;

		SpinLockAcquire(&l->shared->mutex);
		ndone = l->shared->ndone;
		SpinLockRelease(&l->shared->mutex);
		if (ndone >= participants)
			break;
		ConditionVariableSleep(&l->shared->done_cv, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
}

/* The leader's own share, with a build state of its own. */
static void
take_part(const SfxBuild *b, SfxBuildLeader *l)
{
	SfxBuild   *own = palloc(sizeof(SfxBuild));

	/* breaks no rule: tests see by it that workers scan */
	if (SFX_MUTANT("workers first"))
	{
		WaitForParallelWorkersToAttach(l->pcxt);
		wait_for(l, l->participants - 1);
	}
	sfx_build_begin(own, b->heap, b->index, b->info, &b->plan);
	scan_and_sort(own, l->shared, l->spool, 0, b->plan.workmem / l->participants, true);
}

bool
sfx_build_parallel(SfxBuild *b, double *rows)
{
	int			request = SfxBuildWorkers(b->heap, b->index, b->info);
	SfxBuildLeader *l = request > 0 ? begin_leader(b, request) : NULL;
	SfxSpoolPart part;

	if (l == NULL)
		return false;
	b->leader = l;
	ereport(DEBUG1,
			(errmsg_internal("building index \"%s\" with %d parallel workers",
							 RelationGetRelationName(b->index), l->participants - 1)));
	take_part(b, l);
	/* a worker that never started must not be waited for */
	WaitForParallelWorkersToAttach(l->pcxt);
	wait_for(l, l->participants);
	*rows = l->shared->rows;
	b->indtuples = l->shared->indtuples;
	b->info->ii_BrokenHotChain |= l->shared->broken_hot;

	part.shared = l->spool;
	part.number = -1;
	b->spool = sfx_spool_begin(b, b->plan.workmem, &part);
	return true;
}

void
sfx_build_parallel_end(SfxBuild *b)
{
	if (b->leader)
		end_leader(b->leader);
	b->leader = NULL;
}
