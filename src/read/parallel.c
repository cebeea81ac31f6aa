/*-------------------------------------------------------------------------
 * parallel.c - the shared state of a parallel index scan
 *
 * The participants share the work step by step (reader.c): one that needs entries seizes the scan,
 * makes one step from the published boundary, publishes where that step stopped, and then returns
 * the step's entries while others go on.  Steps cover the range without gap or overlap,
 * so every entry is returned by exactly one participant, wherever a merge has it.  With = ANY lists
 * the number of the range goes along.
 *
 * Aggregates share it by *portions*, which are longer: from the published boundary to the end of a
 * leaf some way on.  A participant reads each as a scan of its own, by all means that a scan has,
 * so that to begin one has to be worth its while.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "meta.h"
#include "scan_impl.h"

#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

typedef enum StepState
{
	SCAN_IDLE,					/* the boundary is published: to be seized */
	SCAN_ADVANCING,				/* somebody makes a step, and owns everything but state */
	SCAN_DONE
} StepState;

struct SfxParallelScan
{
	slock_t		mutex;			/* protects state */
	StepState	state;
	ConditionVariable cv;		/* state is no longer SCAN_ADVANCING */
	SfxShare	share;
};

/* Leaves of a portion, at most. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define PORTION_LEAVES	2		/* small, so that tests have many portions */
#else
#define PORTION_LEAVES	64
#endif

SfxParallelScan *
sfx_parallel_of(ParallelIndexScanDesc target)
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
	ps->share.len = 0;
	ps->share.tid = 0;
}

void
sfx_parallelrescan(IndexScanDesc scan)
{
	/* the leader calls this while no worker runs */
	sfx_initparallelscan(sfx_parallel_of(scan->parallel_scan));
}

SfxShare *
sfx_parallel_seize(SfxParallelScan *ps)
{
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
sfx_parallel_publish(SfxParallelScan *ps, bool done)
{
	SpinLockAcquire(&ps->mutex);
	ps->state = done ? SCAN_DONE : SCAN_IDLE;
	SpinLockRelease(&ps->mutex);
	if (done)
		ConditionVariableBroadcast(&ps->cv);
	else
		ConditionVariableSignal(&ps->cv);
}

/* ---- portions ---- */

Size
sfx_portions_size(void)
{
	return sizeof(SfxParallelScan);
}

/*
 * Where a leaf of the main tree ends that comes some leaves after pos: any position will do (N4), as
 * long as it is after pos.  False: there is none, or the leaf has gone elsewhere.
 */
static bool
find_ahead(IndexScanDesc scan, const SfxOrder *order, const SfxPos *pos, SfxBoundBuf *ahead)
{
	uint8		bytes[2][SFX_MAX_ENTRY];
	BlockNumber leaf[PORTION_LEAVES];
	SfxMeta		meta;
	SfxTree		main = {scan->indexRelation, order, &meta};
	int			n;
	SfxPos		low;
	SfxPos		high;
	bool		inf;

	sfx_meta_read(scan->indexRelation, &meta);
	main.run = SfxMetaMain(&meta)->id;
	if (SfxMetaMain(&meta)->level == 0)
		return false;
	n = sfx_tree_leaves_from(&main, pos, false, leaf, PORTION_LEAVES);
	if (n == 0 ||
		!sfx_tree_leaf_fences(&main, leaf[n - 1], bytes[0], &low, bytes[1], &high, &inf) ||
		inf || sfx_order_cmp_pos(order, &high, pos) <= 0)
		return false;
	sfx_bound_set(ahead, &high);
	return true;
}

/* The portion that begins where the share says: it is ours, and others go on after it. */
static bool
cut_portion(IndexScanDesc scan, SfxScan *so, SfxShare *share)
{
	SfxPortion *p = so->portion;
	SfxPos		from = {share->key, share->len, share->tid};
	SfxPos		lo;
	SfxPos		hi;

	sfx_bound_set(&p->lo, &from);
	sfx_scankeys_rewind(&so->keys, ForwardScanDirection);
	sfx_scankeys_bounds(&so->keys, &lo, &hi);
	if (sfx_order_cmp_pos(so->order, &from, &lo) < 0)
		from = lo;
	p->ends = find_ahead(scan, so->order, &from, &p->hi);
	sfx_scankeys_rewind(&so->keys, BackwardScanDirection);
	sfx_scankeys_bounds(&so->keys, &lo, &hi);
	p->ends = p->ends && (hi.key == NULL || sfx_order_cmp_pos(so->order, &p->hi.pos, &hi) < 0);
	/* (comparisons that are no order may lead in circles: K4) */
	p->ends = p->ends && ++share->range <= (int) RelationGetNumberOfBlocks(scan->indexRelation);
	if (!p->ends)
		return false;
	share->len = p->hi.pos.len;
	share->tid = p->hi.pos.tid;
	memcpy(share->key, p->hi.pos.key, share->len);
	return true;
}

bool
sfx_scan_take_portion(IndexScanDesc scan, SfxParallelScan *ps)
{
	SfxScan    *so = (SfxScan *) scan->opaque;
	SfxShare   *share;

	Assert(!so->started && scan->parallel_scan == NULL);
	if (!sfx_scankeys_prepare(&so->keys, scan->keyData, so->nkeys))
		return false;
	share = sfx_parallel_seize(ps);
	if (share == NULL)
		return false;
	if (so->portion == NULL)
		so->portion = MemoryContextAlloc(so->cxt, sizeof(SfxPortion));
	so->portion->first = share->range == 0;
	sfx_parallel_publish(ps, !cut_portion(scan, so, share));
	return true;
}

/* The position, or that end of [lo, hi) which is nearer to it if it lies outside. */
static SfxPos
move_into(const SfxOrder *order, const SfxPos *pos, const SfxPos *lo, const SfxPos *hi)
{
	if (sfx_order_cmp_pos(order, pos, lo) <= 0)
		return *lo;
	return hi->key && sfx_order_cmp_pos(order, pos, hi) >= 0 ? *hi : *pos;
}

void
sfx_portion_cut(const SfxScan *so, SfxPos *lo, SfxPos *hi)
{
	const SfxPortion *p = so->portion;
	SfxPos		from = move_into(so->order, &p->lo.pos, lo, hi);

	if (p->ends && !SFX_MUTANT("portions overlap"))
		*hi = move_into(so->order, &p->hi.pos, lo, hi);
	*lo = from;
}
