/*-------------------------------------------------------------------------
 * index_only.c - rows by block for core's index-only scans
 *
 * Core's node takes a row in many steps: the access method forms a tuple, the map is asked for one
 * bit, the tuple is taken apart again.  Where the next entries stand in a decoded block, and the
 * map's bits of all of them were tested at once, all that remains is to put the next one's values
 * into the node's slot.
 *
 * So when a plan is set up for execution its index-only scans get a function of ours, which does
 * that where it can (sfx_scan_row).  Whatever else there is to do is left to core's function, which
 * finds the scan where it would have been without us: the first row of each stretch, rows that have
 * to be looked at in the table, rescans, runtime keys, ranges to come, entries that have to pass
 * filters, SERIALIZABLE.  The plan is core's, and so is what EXPLAIN shows of it; nothing of the
 * node's state is ours, so marks, parallel scans and cursors that turn round work as ever.
 *
 * Another function is for scans whose columns nobody reads: count(*), EXISTS, semijoins.  It tells
 * the scan before its first row (sfx_scan_unread), which then decodes no key.  Plans that are set
 * up any other way than by ExecutorStart (the re-evaluation of updated rows) have core's function,
 * and all columns.
 *
 * A column is read where a condition of the scan's node names it, or where the node's output is
 * computed from it and that is read.  count(*)'s plans have such outputs that are not: where the
 * columns as they are cost no projection, the planner leaves them in.  So it takes a look at the
 * node above, for the two kinds that matter: an aggregate of all rows, and either side of a nested
 * loop.  Any other node counts as one that reads all.
 *
 * And a scan that begins below a LIMIT is told how many rows that asks for, if the plan says so
 * (sfx_scan_expect).  That is a hint (N4): a wrong one costs time, and nothing else.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "index_only.h"
#include "like.h"
#include "scan.h"
#include "settings.h"
#include "slot.h"

#include "access/relscan.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"
#include "utils/guc.h"

static bool rows_by_block = true;

/* What index-only scans are set up with, by core. */
static ExecProcNodeMtd core_scan = NULL;

/* ---- how many rows a LIMIT asks for ---- */

static Plan *
left_below(Plan *plan)
{
	return IsA(plan, SubqueryScan) ? ((SubqueryScan *) plan)->subplan : outerPlan(plan);
}

/* The LIMIT right above the plan, in what is below top, or NULL. */
static Limit *
limit_above(Plan *top, const Plan *plan)
{
	Limit	   *found = NULL;

	for (; top != NULL && found == NULL; top = left_below(top))
	{
		if (outerPlan(top) == plan)
			return IsA(top, Limit) ? (Limit *) top : NULL;
		found = limit_above(innerPlan(top), plan);
	}
	return found;
}

/* A constant of LIMIT or OFFSET; -1: it is none, or NULL. */
static int64
constant_count(Node *expr)
{
	Const	   *c = (Const *) expr;

	return expr && IsA(expr, Const) && !c->constisnull ? DatumGetInt64(c->constvalue) : -1;
}

/* The rows that a plan above wants, if that is known when it is made; else 0. */
static int
rows_wanted(const IndexOnlyScanState *node)
{
	Plan	   *plan = node->ss.ps.plan;
	Limit	   *limit;
	int64		count;

	if (plan->qual != NIL)
		return 0;
	limit = limit_above(node->ss.ps.state->es_plannedstmt->planTree, plan);
	count = limit ? constant_count(limit->limitCount) : -1;
	if (count < 0 || count > SFX_BLOCK_ENTRIES)
		return 0;
	count += Min(Max(constant_count(limit->limitOffset), 0), SFX_BLOCK_ENTRIES);
	return (int) Min(Min(count, SFX_BLOCK_ENTRIES), plan->plan_rows);
}

/* ---- rows ---- */

static inline ScanDirection
direction(const IndexOnlyScanState *node)
{
	ScanDirection dir = node->ss.ps.state->es_direction;

	return ScanDirectionIsBackward(((IndexOnlyScan *) node->ss.ps.plan)->indexorderdir) ? -dir : dir;
}

bool
sfx_index_only_begin(IndexOnlyScanState *node)
{
	if (node->ioss_ScanDesc != NULL)
		return false;
	node->ioss_ScanDesc = SfxIndexBeginScan(node);
	node->ioss_ScanDesc->xs_want_itup = true;
	node->ioss_VMBuffer = InvalidBuffer;
	return true;
}

/* Begin the scan that core would begin for the first row, unless that was done. */
static void
begin_scan(IndexOnlyScanState *node)
{
	if (sfx_index_only_begin(node) &&
		(node->ioss_NumRuntimeKeys == 0 || node->ioss_RuntimeKeysReady))
		index_rescan(node->ioss_ScanDesc, node->ioss_ScanKeys, node->ioss_NumScanKeys,
					 node->ioss_OrderByKeys, node->ioss_NumOrderByKeys);
}

/* The next row by the short way, if it is not ready yet; else NULL: it takes core's. */
static pg_noinline TupleTableSlot *
prepare_row(IndexOnlyScanState *node)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	CHECK_FOR_INTERRUPTS();
	if (node->ioss_ScanDesc == NULL)
	{
		int			wanted = rows_wanted(node);

		if (wanted > 0)
		{
			begin_scan(node);
			sfx_scan_expect(node->ioss_ScanDesc, wanted);
		}
		return NULL;
	}
	/* somebody has made it own its values */
	if (TTS_SHOULDFREE(slot))
		ExecClearTuple(slot);
	if (!sfx_scan_row_slowly(node->ioss_ScanDesc, direction(node), slot->tts_values,
							 slot->tts_isnull))
		return NULL;
	return SfxSlotFilled(slot);
}

/* Interrupts can wait for the stretch's end. */
static inline TupleTableSlot *
next_row(IndexOnlyScanState *node)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	IndexScanDesc scan = node->ioss_ScanDesc;

	if (likely(scan != NULL && !TTS_SHOULDFREE(slot) &&
			   sfx_scan_row(scan, direction(node), slot->tts_values, slot->tts_isnull)))
		return SfxSlotFilled(slot);
	return prepare_row(node);
}

/* All calls are in the last place, so that this function needs no frame. */
static pg_noinline TupleTableSlot *
exec_slowly(PlanState *ps)
{
	TupleTableSlot *slot = prepare_row((IndexOnlyScanState *) ps);

	return slot ? slot : core_scan(ps);
}

static TupleTableSlot *
exec_rows(PlanState *ps)
{
	IndexOnlyScanState *node = (IndexOnlyScanState *) ps;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	IndexScanDesc scan = node->ioss_ScanDesc;

	if (unlikely(scan == NULL || TTS_SHOULDFREE(slot) ||
				 !sfx_scan_row(scan, direction(node), slot->tts_values, slot->tts_isnull)))
		return exec_slowly(ps);
	return SfxSlotFilled(slot);
}

/*
 * The next row as core's node finds it, before its conditions and its output: with them it would go
 * on, row by row, to the first one that passes, and leave out the block's other rows.
 */
static pg_noinline TupleTableSlot *
core_row(PlanState *ps)
{
	ExprState  *qual = ps->qual;
	ProjectionInfo *output = ps->ps_ProjInfo;
	TupleTableSlot *slot;

	ps->qual = NULL;
	ps->ps_ProjInfo = NULL;
	slot = core_scan(ps);
	ps->qual = qual;
	ps->ps_ProjInfo = output;
	return slot;
}

/* The same where rows have to pass conditions, or something is computed from them. */
static TupleTableSlot *
exec_rows_further(PlanState *ps)
{
	IndexOnlyScanState *node = (IndexOnlyScanState *) ps;
	ExprContext *econtext = ps->ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = next_row(node);

		if (slot == NULL)
			slot = core_row(ps);
		if (TupIsNull(slot))
			return ps->ps_ProjInfo ? ExecClearTuple(ps->ps_ProjInfo->pi_state.resultslot) : slot;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		if (ExecQual(ps->qual, econtext))
			return ps->ps_ProjInfo ? ExecProject(ps->ps_ProjInfo) : slot;
		InstrCountFiltered1(node, 1);
	}
}

/*
 * The scan's columns are not read.  It has to know before its first row, so a scan that core would
 * begin for that one begins here, unless its keys have to be worked out first.
 */
static void
tell_unread(IndexOnlyScanState *node)
{
	begin_scan(node);
	sfx_scan_unread(node->ioss_ScanDesc);
}

static TupleTableSlot *
exec_unread_by_core(PlanState *ps)
{
	tell_unread((IndexOnlyScanState *) ps);
	return core_scan(ps);
}

static TupleTableSlot *
exec_unread(PlanState *ps)
{
	TupleTableSlot *slot = next_row((IndexOnlyScanState *) ps);

	return slot ? slot : exec_unread_by_core(ps);
}

/* ---- which columns are read ---- */

/* Is there a column of this kind (INDEX_VAR, OUTER_VAR, INNER_VAR) in an expression or list? */
static bool
names_column(Node *node, void *varno)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == *(int *) varno;
	return expression_tree_walker(node, names_column, varno);
}

static bool
any_column(void *expr, int varno)
{
	return names_column((Node *) expr, &varno);
}

/*
 * May the node's columns be NULL without any difference to those of its outputs that are read?
 * With output false, none is.
 */
static bool
columns_unread(const Plan *plan, bool output)
{

	if (any_column(plan->qual, INDEX_VAR))
		return false;
	foreach_node(TargetEntry, target, plan->targetlist)
	{
		Node	   *expr = (Node *) target->expr;

		/* what is computed and thrown away may throw */
		if ((output || !IsA(expr, Var)) && any_column(expr, INDEX_VAR))
			return false;
	}
	return true;
}

static bool
is_ours(const PlanState *ps)
{
	const IndexOnlyScanState *node = (const IndexOnlyScanState *) ps;

	return ps != NULL && IsA(ps, IndexOnlyScanState) && node->ioss_RelationDesc != NULL &&
		sfx_is_ours(node->ioss_RelationDesc->rd_indam) && node->ioss_NumOrderByKeys == 0;
}

/* If this is an index-only scan of ours, it gets its function. */
static void
look_at_scan(PlanState *ps, bool output)
{
	bool		unread;
	bool		further;

	if (!is_ours(ps))
		return;
	if (core_scan == NULL)
		core_scan = ps->ExecProcNodeReal;
	/* the walk may have come here before; and others may put functions of theirs there */
	if (ps->ExecProcNodeReal != core_scan && ps->ExecProcNodeReal != exec_rows &&
		ps->ExecProcNodeReal != exec_rows_further)
		return;
	unread = columns_unread(ps->plan, output);
	further = ps->qual != NULL || ps->ps_ProjInfo != NULL;
	if (unread)
		ExecSetExecProcNode(ps, rows_by_block && !further ? exec_unread : exec_unread_by_core);
	else if (rows_by_block)
	{
		sfx_like_quicken(ps->qual);
		ExecSetExecProcNode(ps, further ? exec_rows_further : exec_rows);
	}
}

/* An aggregate of all rows: what it reads of them stands in the aggregates' arguments. */
static void
look_below_agg(PlanState *ps)
{
	Agg		   *agg = (Agg *) ps->plan;

	if (is_ours(outerPlanState(ps)) && agg->aggstrategy == AGG_PLAIN && agg->numCols == 0 &&
		agg->groupingSets == NIL && agg->chain == NIL)
		look_at_scan(outerPlanState(ps), any_column(agg->plan.targetlist, OUTER_VAR) ||
					 any_column(agg->plan.qual, OUTER_VAR));
}

static void
look_below_loop(PlanState *ps)
{
	NestLoop   *loop = (NestLoop *) ps->plan;
	bool		outer = false,
				inner = false;
	List	   *exprs[] = {loop->join.plan.targetlist, loop->join.plan.qual, loop->join.joinqual};

	if (!is_ours(outerPlanState(ps)) && !is_ours(innerPlanState(ps)))
		return;
	for (int i = 0; i < lengthof(exprs); i++)
	{
		outer |= any_column(exprs[i], OUTER_VAR);
		inner |= any_column(exprs[i], INNER_VAR);
	}
	foreach_node(NestLoopParam, param, loop->nestParams)
		outer |= any_column(param->paramval, OUTER_VAR);
	look_at_scan(outerPlanState(ps), outer);
	look_at_scan(innerPlanState(ps), inner);
}

void
sfx_index_only_look(PlanState *ps)
{
	if (IsA(ps, AggState))
		look_below_agg(ps);
	else if (IsA(ps, NestLoopState))
		look_below_loop(ps);
	else
		look_at_scan(ps, true);
}

void
sfx_index_only_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.rows_by_block",
							 "Lets index-only scans of surfidx indexes take rows out of decoded "
							 "blocks.",
							 NULL, &rows_by_block, true, PGC_USERSET, 0, NULL, NULL, NULL);
}
