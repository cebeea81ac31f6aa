/*-------------------------------------------------------------------------
 * offset.c - the rows of OFFSET are passed over by the index
 *
 * Core's Limit node fetches the rows of OFFSET one by one and forgets them.  Where it stands right
 * above an index or index-only scan of ours, its rows need not be fetched: when a plan is set up for
 * execution, such a node gets a function of ours, which, before the first row, lets the scan pass
 * over them (sfx_scan_pass) and tells the node that they have come.  All else is core's: the plan,
 * what the expressions of LIMIT and OFFSET say, WITH TIES, cursors that turn round (they never go
 * back to rows before the window), rescans.
 *
 * Rows of the scan must be what the index says they are, and nobody may miss them: no filter, no
 * row locks (another node stands in between then), no volatile function in what the scan computes,
 * nor a subquery, which may call one.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "compat.h"
#include "index_only.h"
#include "offset.h"
#include "offset_path.h"
#include "percentile.h"
#include "scan.h"
#include "settings.h"
#include "stop.h"
#include "visible.h"

#include "access/genam.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/snapmgr.h"

static ExecutorStart_hook_type prev_executor_start = NULL;

/* What Limit nodes are set up with, by core. */
static ExecProcNodeMtd core_limit = NULL;

/* ---- the scan ---- */

/* Begin the scan as core would at its first row, with its parameters as they are now. */
static IndexScanDesc
begin_index_scan(IndexScanState * node)
{
	if (node->iss_ScanDesc == NULL)
		node->iss_ScanDesc = SfxBeginPlainScan(node);
	index_rescan(node->iss_ScanDesc, node->iss_ScanKeys, node->iss_NumScanKeys, NULL, 0);
	return node->iss_ScanDesc;
}

static IndexScanDesc
begin_index_only_scan(IndexOnlyScanState *node)
{
	(void) sfx_index_only_begin(node);
	index_rescan(node->ioss_ScanDesc, node->ioss_ScanKeys, node->ioss_NumScanKeys, NULL, 0);
	return node->ioss_ScanDesc;
}

static ScanDirection
direction_of(const Plan *plan)
{
	return IsA(plan, IndexScan) ? ((const IndexScan *) plan)->indexorderdir :
		((const IndexOnlyScan *) plan)->indexorderdir;
}

/* Bring the scan's parameters up to date, as core does at its first row. */
static void
bring_parameters(PlanState *scan)
{
	bool		ready;

	if (IsA(scan, IndexScanState))
	{
		IndexScanState *node = (IndexScanState *) scan;

		ready = node->iss_NumRuntimeKeys == 0 || node->iss_RuntimeKeysReady;
	}
	else
	{
		IndexOnlyScanState *node = (IndexOnlyScanState *) scan;

		ready = node->ioss_NumRuntimeKeys == 0 || node->ioss_RuntimeKeysReady;
	}
	if (scan->chgParam != NULL || !ready)
		ExecReScan(scan);
}

/* Pass over the scan's first n rows; returns how many there were. */
static int64
pass_rows(PlanState *ps, int64 n)
{
	ScanDirection dir = ScanDirectionIsBackward(direction_of(ps->plan)) ?
	BackwardScanDirection : ForwardScanDirection;
	IndexScanDesc scan;
	SfxVisibility *v;
	uint64		passed;
	uint64		fetched;

	bring_parameters(ps);
	/* EXPLAIN shows the time as the scan's, and no rows */
	if (ps->instrument)
		InstrStartNode(ps->instrument);
	if (IsA(ps, IndexScanState))
		scan = begin_index_scan((IndexScanState *) ps);
	else
		scan = begin_index_only_scan((IndexOnlyScanState *) ps);
	v = sfx_visibility_begin(scan);
	SFX_STOP("offset begun");
	passed = sfx_scan_pass(scan, dir, (uint64) n, v, &fetched);
	sfx_visibility_end(v);
	if (ps->instrument)
		InstrStopNode(ps->instrument, 0);
	if (IsA(ps, IndexOnlyScanState))
		InstrCountTuples2((IndexOnlyScanState *) ps, fetched);
	return (int64) passed;
}

/* ---- the node above ---- */

/*
 * The node is at its start, and goes forward.  In that state core's function computes its limits
 * first, and is then done if it goes backward.
 */
static void
pass_offset(LimitState * node)
{
	EState	   *estate = node->ps.state;
	Relation	table = ((ScanState *) outerPlanState(node))->ss_currentRelation;

	if (node->lstate == LIMIT_INITIAL)
	{
		estate->es_direction = BackwardScanDirection;
		(void) core_limit(&node->ps);
		estate->es_direction = ForwardScanDirection;
	}
	Assert(node->lstate == LIMIT_RESCAN && node->position == 0);
	if (node->offset < sfx_offset_worth(RelationGetNumberOfBlocks(table)) || (!node->noCount && node->count <= 0) ||
		!IsMVCCSnapshot(estate->es_snapshot))
		return;
	node->position = pass_rows(outerPlanState(node), node->offset);
}

static TupleTableSlot *
exec_limit(PlanState *ps)
{
	LimitState *node = (LimitState *) ps;

	if (unlikely(node->lstate == LIMIT_INITIAL || node->lstate == LIMIT_RESCAN) &&
		ScanDirectionIsForward(ps->state->es_direction))
		pass_offset(node);
	return core_limit(ps);
}

/* ---- when a plan is set up ---- */

/* Is this a scan of ours whose rows nobody misses? */
static bool
may_pass(const PlanState *ps)
{
	Relation	index = NULL;
	int			orderbys = 0;

	if (IsA(ps, IndexScanState))
	{
		index = ((const IndexScanState *) ps)->iss_RelationDesc;
		orderbys = ((const IndexScanState *) ps)->iss_NumOrderByKeys;
	}
	else if (IsA(ps, IndexOnlyScanState))
	{
		index = ((const IndexOnlyScanState *) ps)->ioss_RelationDesc;
		orderbys = ((const IndexOnlyScanState *) ps)->ioss_NumOrderByKeys;
	}
	return index && orderbys == 0 && sfx_is_ours(index->rd_indam) && ps->qual == NULL &&
		!ps->plan->parallel_aware && ps->subPlan == NIL &&
		!contain_volatile_functions((Node *) ps->plan->targetlist);
}

static bool
look_at_node(PlanState *ps, void *unused)
{
	LimitState *node = (LimitState *) ps;

	/* the walk may have come here before, and others may put functions of theirs there */
	if (IsA(ps, LimitState) && node->limitOffset != NULL &&
		(core_limit == NULL || ps->ExecProcNodeReal == core_limit) &&
		may_pass(outerPlanState(ps)))
	{
		core_limit = ps->ExecProcNodeReal;
		ExecSetExecProcNode(ps, exec_limit);
	}
	return planstate_tree_walker(ps, look_at_node, unused);
}

static void
offset_executor_start(QueryDesc *query, int eflags)
{
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (sfx_offset_wanted() && (eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && query->planstate != NULL)
		look_at_node(query->planstate, NULL);
}

void
sfx_offset_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = offset_executor_start;
	sfx_offset_path_init();
	sfx_percentile_init();
}
