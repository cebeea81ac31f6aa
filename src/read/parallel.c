/*-------------------------------------------------------------------------
 * parallel.c - the shared state of a parallel index scan
 *
 * The participants share the work step by step (reader.c): one that needs entries seizes the scan,
 * makes one step from the published boundary, publishes where that step stopped, and then returns
 * the step's entries while others go on.  Steps cover the range without gap or overlap,
 * so every entry is returned by exactly one participant, wherever a merge has it.  With = ANY lists
 * the number of the range goes along.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "scan_impl.h"

#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

typedef enum StepState
{
	SCAN_IDLE,					/* the boundary is published: to be seized */
	SCAN_ADVANCING,				/* somebody makes a step, and owns everything but state */
	SCAN_DONE
} StepState;

typedef struct SfxParallelScan
{
	slock_t		mutex;			/* protects state */
	StepState	state;
	ConditionVariable cv;		/* state is no longer SCAN_ADVANCING */
	SfxShare	share;
} SfxParallelScan;

static SfxParallelScan *
shared_scan(ParallelIndexScanDesc target)
{
	return (SfxParallelScan *) OffsetToPointer(target, SfxParallelOffset(target));
}

Size
sfx_estimateparallelscan(SfxEstimateParallelArgs)
{
	return sizeof(SfxParallelScan);
}

void
sfx_initparallelscan(void *target)
{
	SfxParallelScan *ps = target;

	SpinLockInit(&ps->mutex);
	ConditionVariableInit(&ps->cv);
	ps->state = SCAN_IDLE;
	ps->share.range = 0;
	ps->share.at_start = true;
}

void
sfx_parallelrescan(IndexScanDesc scan)
{
	SfxParallelScan *ps = shared_scan(scan->parallel_scan);

	/* the leader calls this while no worker runs */
	ps->state = SCAN_IDLE;
	ps->share.range = 0;
	ps->share.at_start = true;
}

SfxShare *
sfx_parallel_seize(IndexScanDesc scan)
{
	SfxParallelScan *ps = shared_scan(scan->parallel_scan);
	StepState	was;

	for (;;)
	{
		SpinLockAcquire(&ps->mutex);
		was = ps->state;
		if (was == SCAN_IDLE)
			ps->state = SCAN_ADVANCING;
		SpinLockRelease(&ps->mutex);
		if (was != SCAN_ADVANCING)
			break;
		ConditionVariableSleep(&ps->cv, WAIT_EVENT_BTREE_PAGE);
	}
	ConditionVariableCancelSleep();
	return was == SCAN_DONE ? NULL : &ps->share;
}

void
sfx_parallel_publish(IndexScanDesc scan, bool done)
{
	SfxParallelScan *ps = shared_scan(scan->parallel_scan);

	SpinLockAcquire(&ps->mutex);
	ps->state = done ? SCAN_DONE : SCAN_IDLE;
	SpinLockRelease(&ps->mutex);
	if (done)
		ConditionVariableBroadcast(&ps->cv);
	else
		ConditionVariableSignal(&ps->cv);
}
