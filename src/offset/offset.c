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
 * An Append node in between, of partitions, returns the rows of one plan after the other, whatever
 * their order is.  So those of its plans that are such scans pass over theirs, and those of others
 * are fetched, up to the plan in which OFFSET ends.
 *
 * Rows of the scan must be what the index says they are, and nobody may miss them: no filter, no
 * row locks (another node stands in between then), no volatile function in what the scan computes,
 * nor a subquery, which may call one.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "index_only.h"
#include "offset.h"
#include "offset_path.h"
#include "percentile.h"
#include "scan.h"
#include "settings.h"
#include "visible.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/snapmgr.h"

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

/* Bring the node's parameters up to date, as core does at its first row. */
static void
bring_parameters(PlanState *ps)
{
	bool		ready = true;

	if (IsA(ps, IndexScanState))
	{
		IndexScanState *node = (IndexScanState *) ps;

		ready = node->iss_NumRuntimeKeys == 0 || node->iss_RuntimeKeysReady;
	}
	else if (IsA(ps, IndexOnlyScanState))
	{
		IndexOnlyScanState *node = (IndexOnlyScanState *) ps;

		ready = node->ioss_NumRuntimeKeys == 0 || node->ioss_RuntimeKeysReady;
	}
	if (ps->chgParam != NULL || !ready)
		ExecReScan(ps);
}

/* Is this a scan of ours whose rows nobody misses? */
static bool
may_pass_scan(const PlanState *ps)
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

/* Is it one, or has it one below? */
static bool
may_pass(const PlanState *ps)
{
	const AppendState *append = (const AppendState *) ps;

	if (!IsA(ps, AppendState))
		return may_pass_scan(ps);
	if (ps->plan->parallel_aware || append->as_nasyncplans > 0)
		return false;
	for (int i = 0; i < append->as_nplans; i++)
	{
		if (may_pass(append->appendplans[i]))
			return true;
	}
	return false;
}

/* ---- rows ---- */

/* All three: pass over the node's first n rows.  Return how many there were. */

static int64
pass_scan(PlanState *ps, int64 n)
{
	ScanDirection dir = ScanDirectionIsBackward(direction_of(ps->plan)) ?
	BackwardScanDirection : ForwardScanDirection;
	IndexScanDesc scan;
	SfxVisibility *v;
	uint64		passed;
	uint64		fetched;

	if (IsA(ps, IndexScanState))
		scan = begin_index_scan((IndexScanState *) ps);
	else
		scan = begin_index_only_scan((IndexOnlyScanState *) ps);
	v = sfx_visibility_begin(scan);
	SFX_STOP("offset begun");
	passed = sfx_scan_pass(scan, dir, (uint64) n, v, &fetched);
	sfx_visibility_end(v);
	if (IsA(ps, IndexOnlyScanState))
		InstrCountTuples2((IndexOnlyScanState *) ps, fetched);
	return (int64) passed;
}

static int64
fetch_rows(PlanState *ps, int64 n)
{
	for (int64 fetched = 0; fetched < n; fetched++)
	{
		TupleTableSlot *slot = ExecProcNode(ps);

		if (TupIsNull(slot))
			return fetched;
	}
	return n;
}

static int64 pass_rows(PlanState *ps, int64 n);

/* Plan after plan, as core's function goes through them, which goes on with the last one. */
static int64
pass_append(AppendState *node, int64 n)
{
	int64		passed = 0;

	Assert(!node->as_begun);
	node->as_begun = node->choose_next_subplan(node);
	while (node->as_begun)
	{
		CHECK_FOR_INTERRUPTS();
		passed += pass_rows(node->appendplans[node->as_whichplan], n - passed);
		if (passed == n || !node->choose_next_subplan(node))
			break;
	}
	return passed;
}

/* Is it worth it that this scan passes over n rows? */
static bool
worth_passing(const PlanState *ps, int64 n)
{
	Relation	table = ((const ScanState *) ps)->ss_currentRelation;

	return n >= sfx_offset_worth(RelationGetNumberOfBlocks(table));
}

static int64
pass_rows(PlanState *ps, int64 n)
{
	bool		append = IsA(ps, AppendState);
	int64		passed;

	if (!may_pass(ps) || (!append && !worth_passing(ps, n)))
		return fetch_rows(ps, n);
	bring_parameters(ps);
	/* EXPLAIN shows the time as the node's, and no rows */
	if (ps->instrument)
		InstrStartNode(ps->instrument);
	passed = append ? pass_append((AppendState *) ps, n) : pass_scan(ps, n);
	if (ps->instrument)
		InstrStopNode(ps->instrument, 0);
	return passed;
}

/* ---- the node above ---- */

/*
 * The node is at its start, and goes forward.  In that state core's function computes its limits
 * first, and is then done if it goes backward.
 */
static void
pass_offset(LimitState *node)
{
	EState	   *estate = node->ps.state;

	if (node->lstate == LIMIT_INITIAL)
	{
		estate->es_direction = BackwardScanDirection;
		(void) core_limit(&node->ps);
		estate->es_direction = ForwardScanDirection;
	}
	Assert(node->lstate == LIMIT_RESCAN && node->position == 0);
	if (node->offset == 0 || (!node->noCount && node->count <= 0) ||
		!IsMVCCSnapshot(estate->es_snapshot))
		return;
	node->position = pass_rows(outerPlanState(node), node->offset);
	/* as core's function notes that there are no more rows; other nodes must not be asked again */
	if (node->position < node->offset && !SFX_MUTANT("nodes at their end are asked again"))
		node->lstate = LIMIT_EMPTY;
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

void
sfx_offset_look(LimitState *node)
{
	PlanState  *ps = &node->ps;

	/* the walk may have come here before, and others may put functions of theirs there */
	if (node->limitOffset != NULL && sfx_offset_wanted() &&
		(core_limit == NULL || ps->ExecProcNodeReal == core_limit) &&
		may_pass(outerPlanState(ps)))
	{
		core_limit = ps->ExecProcNodeReal;
		ExecSetExecProcNode(ps, exec_limit);
	}
}

void
sfx_offset_init(void)
{
	sfx_offset_path_init();
	sfx_percentile_init();
}
