/*-------------------------------------------------------------------------
 * rowlift.c - row comparisons, (a, b) > (1, 2), as conditions of an index before 18 (L4)
 *
 * The planner makes a row comparison a condition of a btree only, and the executor accepts it as a
 * btree's scan key only.  The planner is shown our indexes as btrees (lift_relation_info).  Before
 * the executor sees the finished plan, the row comparisons among their conditions are taken apart:
 * a comparison of single columns for each member, which the executor turns into scan keys as any
 * other, with constants, parameters and NULLs.  Their operators are the members' own, as the
 * executor looks them up in the index's families; their functions are marks, by which amrescan
 * recognizes them and puts them together again (row_gather.c).
 *
 * A plan has each condition twice: for the index, and for the table's rows, which EXPLAIN shows and
 * with which updated rows are checked again.  The second one is left alone.  Of an index-only scan
 * EXPLAIN shows the first one; so the state of such a scan gets a copy of its plan node that has
 * the second one there.  Only a parallel worker makes scan keys of a copy sent to it: there plans
 * are taken apart again.
 *
 * A caller of standard_planner() that bypasses all hooks gets a plan without any of this: then no
 * index passes for a btree.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "rowlift.h"

#include "access/parallel.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/planner.h"

/* A call of our planner hook. */
typedef struct Planning
{
	bool		offered;		/* an index has passed for a btree */
	const Query *asked;			/* last, and ... */
	bool		found;			/* ... has it row comparisons? */
} Planning;

static Planning *planning = NULL;	/* the innermost call */
static bool any_split = false;	/* this backend has taken apart a row comparison */

static planner_hook_type prev_planner = NULL;
static ExecutorStart_hook_type prev_executor_start = NULL;

static bool
has_row_comparison(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (IsA(node, RowCompareExpr))
		return true;
	return expression_tree_walker(node, has_row_comparison, unused);
}

bool
sfx_rowlift_offers(PlannerInfo *root)
{
	bool		found;

	if (planning == NULL)
		return false;
	if (planning->asked == root->parse)
		return planning->found;
	found = has_row_comparison((Node *) root->parse->jointree, NULL);
	foreach_node(RangeTblEntry, rte, root->parse->rtable)
	{
		List	   *policies = rte->securityQuals;

		found = found || has_row_comparison((Node *) policies, NULL);
	}
	planning->asked = root->parse;
	planning->found = found;
	planning->offered |= found;
	return found;
}

/* ------------------------------------------------------------------ taking apart */

/* Not that of a btree, whose executor takes them as they are, nor of a hypothetical index. */
static bool
is_to_be_split(Oid indexid)
{
	FormData_pg_class row;

	return sfx_row_get(RELOID, indexid, &row, sizeof(row)) && row.relam != BTREE_AM_OID;
}

/* Append the members of a row comparison to a list of conditions. */
static List *
append_members(List *quals, const RowCompareExpr *row)
{
	int			n = list_length(row->opnos);

	for (int i = 0; i < n; i++)
	{
		OpExpr	   *op = makeNode(OpExpr);

		op->opno = list_nth_oid(row->opnos, i);
		op->opfuncid = i < n - 1 ? SFX_ROW_GOES_ON : SFX_ROW_ENDS;
		op->opresulttype = BOOLOID;
		op->inputcollid = list_nth_oid(row->inputcollids, i);
		op->args = list_make2(list_nth(row->largs, i), list_nth(row->rargs, i));
		op->location = -1;
		quals = lappend(quals, op);
	}
	return quals;
}

static void
split_quals(List **quals, Oid indexid)
{
	List	   *result = NIL;
	bool		any = false;

	foreach_ptr(Node, qual, *quals)
		any |= IsA(qual, RowCompareExpr);
	if (!any || !is_to_be_split(indexid))
		return;
	foreach_ptr(Node, qual, *quals)
		result = IsA(qual, RowCompareExpr) ?
		append_members(result, (RowCompareExpr *) qual) : lappend(result, qual);
	*quals = result;
	any_split = true;
}

static void split_plan(Plan *plan);

static void
split_plans(List *plans)
{
	foreach_ptr(Plan, plan, plans)
		split_plan(plan);
}

/* Split the conditions of all index scans in a plan, without the subplans of its expressions. */
static void
split_plan(Plan *plan)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			split_quals(&((IndexScan *) plan)->indexqual, ((IndexScan *) plan)->indexid);
			break;
		case T_IndexOnlyScan:
			split_quals(&((IndexOnlyScan *) plan)->indexqual, ((IndexOnlyScan *) plan)->indexid);
			break;
		case T_BitmapIndexScan:
			split_quals(&((BitmapIndexScan *) plan)->indexqual,
						((BitmapIndexScan *) plan)->indexid);
			break;
		case T_BitmapAnd:
			split_plans(((BitmapAnd *) plan)->bitmapplans);
			break;
		case T_BitmapOr:
			split_plans(((BitmapOr *) plan)->bitmapplans);
			break;
		case T_Append:
			split_plans(((Append *) plan)->appendplans);
			break;
		case T_MergeAppend:
			split_plans(((MergeAppend *) plan)->mergeplans);
			break;
		case T_SubqueryScan:
			split_plan(((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			split_plans(((CustomScan *) plan)->custom_plans);
			break;
		default:
			break;
	}
	split_plan(plan->lefttree);
	split_plan(plan->righttree);
}

static void
split_statement(PlannedStmt *stmt)
{
	split_plan(stmt->planTree);
	split_plans(stmt->subplans);
}

static PlannedStmt *
rowlift_planner(SFX_PLANNER_PARAMS)
{
	Planning	mine = {false};
	Planning   *outer = planning;
	PlannedStmt *result;

	planning = &mine;
	PG_TRY();
	{
		if (prev_planner)
			result = prev_planner(SFX_PLANNER_ARGS);
		else
			result = standard_planner(SFX_PLANNER_ARGS);
	}
	PG_FINALLY();
	{
		planning = outer;
	}
	PG_END_TRY();
	if (mine.offered)
		split_statement(result);
	return result;
}

/* ------------------------------------------------------------------ execution */

static bool
has_member(List *quals)
{
	foreach_ptr(Node, qual, quals)
		if (IsA(qual, OpExpr) && sfx_is_row_member(((OpExpr *) qual)->opfuncid))
		return true;
	return false;
}

/* For EXPLAIN of an index-only scan: its conditions as they were. */
static bool
show_rows(PlanState *ps, void *unused)
{
	IndexOnlyScan *plan = (IndexOnlyScan *) ps->plan;

	if (IsA(ps, IndexOnlyScanState) && has_member(plan->indexqual))
	{
		plan = palloc(sizeof(IndexOnlyScan));
		*plan = *(IndexOnlyScan *) ps->plan;
		plan->indexqual = plan->recheckqual;
		ps->plan = &plan->scan.plan;
	}
	return planstate_tree_walker(ps, show_rows, unused);
}

static void
rowlift_executor_start(QueryDesc *query, int eflags)
{
	if (IsParallelWorker())
		split_statement(query->plannedstmt);
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (any_split && query->planstate != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(query->estate->es_query_cxt);

		(void) show_rows(query->planstate, NULL);
		MemoryContextSwitchTo(old);
	}
}

void
sfx_rowlift_init(void)
{
	if (SFX_TAKES_ROW_COMPARISONS)
		return;
	prev_planner = planner_hook;
	planner_hook = rowlift_planner;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = rowlift_executor_start;
}
