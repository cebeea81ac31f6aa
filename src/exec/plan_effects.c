/*-------------------------------------------------------------------------
 * plan_effects.c - does it matter when a part of a plan is asked for its next row?
 *
 * It does if the part calls a volatile function, locks rows, changes tables, or has a node that is
 * not known here.  Subqueries, which may run at their first use, and CTEs are parts of it.  Core's
 * test for volatile functions looks at neither the transition functions of aggregates nor the
 * constraints of domains, and so nothing here does.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "plan_effects.h"

#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"

static bool has_effects(PlanState *ps, void *unused);

/* *exprs: expressions of a node besides its targets and conditions.  False: it is not known. */
static bool
more_expressions(const Plan *plan, List **exprs)
{
	*exprs = NIL;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SubqueryScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_Append:
		case T_MergeAppend:
		case T_Material:
		case T_Memoize:
		case T_Sort:
		case T_IncrementalSort:
		case T_Unique:
		case T_Group:
		case T_Agg:
		case T_Gather:
		case T_GatherMerge:
		case T_CteScan:
		case T_WorkTableScan:
			return true;
		case T_IndexScan:
			*exprs = list_make2(((IndexScan *) plan)->indexqualorig,
								((IndexScan *) plan)->indexorderbyorig);
			return true;
		case T_IndexOnlyScan:
			*exprs = list_make2(((IndexOnlyScan *) plan)->indexqual,
								((IndexOnlyScan *) plan)->indexorderby);
			return true;
		case T_BitmapIndexScan:
			*exprs = ((BitmapIndexScan *) plan)->indexqualorig;
			return true;
		case T_BitmapHeapScan:
			*exprs = ((BitmapHeapScan *) plan)->bitmapqualorig;
			return true;
		case T_ValuesScan:
			*exprs = ((ValuesScan *) plan)->values_lists;
			return true;
		case T_FunctionScan:
			*exprs = ((FunctionScan *) plan)->functions;
			return true;
		case T_Result:
			*exprs = (List *) ((Result *) plan)->resconstantqual;
			return true;
		case T_Limit:
			*exprs = list_make2(((Limit *) plan)->limitOffset, ((Limit *) plan)->limitCount);
			return true;
		case T_NestLoop:
			*exprs = ((NestLoop *) plan)->join.joinqual;
			return true;
		case T_MergeJoin:
			*exprs = list_make2(((MergeJoin *) plan)->join.joinqual,
								((MergeJoin *) plan)->mergeclauses);
			return true;
		case T_HashJoin:
			*exprs = list_make2(((HashJoin *) plan)->join.joinqual,
								((HashJoin *) plan)->hashclauses);
			return true;
		case T_Hash:
			*exprs = ((Hash *) plan)->hashkeys;
			return true;
		default:
			return false;
	}
}

/*
 * Does an expression, or a list of them, name a subquery that has effects, and is still to run?
 * (It runs once, and again after a rescan.)  A function for expression_tree_walker.
 */
static bool
runs_effects(Node *node, void *estate)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
	{
		ParamExecData *param = &((EState *) estate)->es_param_exec_vals[((Param *) node)->paramid];
		SubPlanState *subquery = param->execPlan;

		return subquery != NULL && has_effects(subquery->planstate, NULL);
	}
	return expression_tree_walker(node, runs_effects, estate);
}

static bool
expressions_effects(List *exprs, EState *estate)
{
	return contain_volatile_functions((Node *) exprs) || runs_effects((Node *) exprs, estate);
}

/* Does it matter when a node, or one below it, is asked for its next row? */
static bool
has_effects(PlanState *ps, void *unused)
{
	Plan	   *plan = ps->plan;
	List	   *exprs;

	if (!more_expressions(plan, &exprs) || expressions_effects(plan->targetlist, ps->state) ||
		expressions_effects(plan->qual, ps->state) || expressions_effects(exprs, ps->state))
		return true;
	/* (a CTE that modifies tables is found below its scan) */
	if (IsA(ps, CteScanState) && has_effects(((CteScanState *) ps)->cteplanstate, NULL))
		return true;
	return planstate_tree_walker(ps, has_effects, NULL);
}

bool
sfx_plan_has_effects(PlanState *ps)
{
	return has_effects(ps, NULL);
}
