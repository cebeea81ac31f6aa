/*-------------------------------------------------------------------------
 * unread_columns.c - index-only scans whose rows nobody reads
 *
 * count(*), EXISTS, semijoins: index-only scans that are asked how many entries there are, or whether there is one, and whose columns are named nowhere in the
 * plan.  The access method is not told so; it would decode each key and form each row.  When a plan is set up for execution we look at its index-only scans.
 *
 * How the scan learns of it: the executor hands amrescan an array of order-by keys, ours of length 0, which nobody looks into.  For a scan
 * whose rows are not read, that pointer is made to point to a mark of ours.  It belongs to the scan's node, so it comes with each rescan and in each
 * participant of a parallel scan, and dies with the plan's state.  Plans that are set up any other way than by ExecutorStart (the re-evaluation of updated rows)
 * have no mark, and all columns.
 *
 * A column is read where a condition of the scan's node names it, or where the node's output is computed from it and that is read.  count(*)'s plans have such
 * outputs that are not: where the columns as they are cost no projection, the planner leaves them in.  So it takes a look at the node above, for the two kinds that
 * matter: an aggregate of all rows, and either side of a nested loop.  Any other node counts as one that reads all.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "settings.h"
#include "unread_columns.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"

static ScanKeyData unread_mark;
static ExecutorStart_hook_type prev_executor_start = NULL;

bool
sfx_unread_told(ScanKey orderbys)
{
	return orderbys == &unread_mark;
}

ScanKey
sfx_unread_keys(void)
{
	return &unread_mark;
}

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

/* May the node's columns be NULL without any difference to those of its outputs that are read?  With output false, none is. */
static bool
columns_unread(const Plan *plan, bool output)
{
	ListCell   *lc;

	if (any_column(plan->qual, INDEX_VAR))
		return false;
	foreach(lc, plan->targetlist)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;

		/* what is computed and thrown away may throw */
		if ((output || !IsA(expr, Var)) && any_column(expr, INDEX_VAR))
			return false;
	}
	return true;
}

/* If this is an index-only scan of ours, tell it if its columns are not read. */
static void
look_at_scan(PlanState *ps, bool output)
{
	IndexOnlyScanState *node = (IndexOnlyScanState *) ps;

	if (ps == NULL || !IsA(ps, IndexOnlyScanState) || node->ioss_RelationDesc == NULL ||
		!sfx_is_ours(node->ioss_RelationDesc->rd_indam) || node->ioss_NumOrderByKeys > 0)
		return;
	if (columns_unread(ps->plan, output))
		node->ioss_OrderByKeys = &unread_mark;
}

/* An aggregate of all rows: what it reads of them stands in the aggregates' arguments. */
static void
look_below_agg(PlanState *ps)
{
	Agg		   *agg = (Agg *) ps->plan;

	if (agg->aggstrategy == AGG_PLAIN && agg->numCols == 0 && agg->groupingSets == NIL && agg->chain == NIL)
		look_at_scan(outerPlanState(ps), any_column(agg->plan.targetlist, OUTER_VAR) || any_column(agg->plan.qual, OUTER_VAR));
}

static void
look_below_loop(PlanState *ps)
{
	NestLoop   *loop = (NestLoop *) ps->plan;
	bool		outer = false,
				inner = false;
	List	   *exprs[] = {loop->join.plan.targetlist, loop->join.plan.qual, loop->join.joinqual};
	ListCell   *lc;

	for (int i = 0; i < lengthof(exprs); i++)
	{
		outer |= any_column(exprs[i], OUTER_VAR);
		inner |= any_column(exprs[i], INNER_VAR);
	}
	foreach(lc, loop->nestParams)
		outer |= any_column(lfirst_node(NestLoopParam, lc)->paramval, OUTER_VAR);
	look_at_scan(outerPlanState(ps), outer);
	look_at_scan(innerPlanState(ps), inner);
}

static bool
look_at_node(PlanState *ps, void *unused)
{
	if (IsA(ps, AggState))
		look_below_agg(ps);
	else if (IsA(ps, NestLoopState))
		look_below_loop(ps);
	else
		look_at_scan(ps, true);
	return planstate_tree_walker(ps, look_at_node, unused);
}

static void
unread_executor_start(QueryDesc *query, int eflags)
{
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && query->planstate != NULL)
		look_at_node(query->planstate, NULL);
}

void
sfx_unread_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = unread_executor_start;
}
