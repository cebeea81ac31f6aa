/*-------------------------------------------------------------------------
 * plan_start.c - one walk over a plan that is set up: which nodes get functions of ours?
 *
 * Index-only scans (index_only.c), Limit nodes above scans (offset.c), and the outer sides of
 * nested loops (loop_ahead.c).  A loop's function goes round those that the nodes below have got.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "index_only.h"
#include "loop_ahead.h"
#include "offset.h"
#include "settings.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

static ExecutorStart_hook_type prev_executor_start = NULL;

/* A node on the way down, and the LIMIT above of whose rows each row of it may be one, or NULL. */
typedef struct Above
{
	PlanState  *node;
	LimitState *limit;
} Above;

/* The same LIMIT for a node right below. */
static LimitState *
limit_below(const Above *above, const PlanState *ps)
{
	switch (nodeTag(above->node))
	{
		case T_LimitState:
			return outerPlanState(above->node) == ps ? (LimitState *) above->node : NULL;
		case T_NestLoopState:
		case T_ResultState:
		case T_LockRowsState:
			return outerPlanState(above->node) == ps ? above->limit : NULL;
		case T_SubqueryScanState:
			return ((SubqueryScanState *) above->node)->subplan == ps ? above->limit : NULL;
		case T_AppendState:
			for (int i = 0; i < ((AppendState *) above->node)->as_nplans; i++)
				if (((AppendState *) above->node)->appendplans[i] == ps)
					return above->limit;
			return NULL;
		default:
			return NULL;
	}
}

static bool
look_at_node(PlanState *ps, void *above)
{
	Above		here = {ps, above ? limit_below(above, ps) : NULL};

	if (IsA(ps, LimitState))
		sfx_offset_look((LimitState *) ps);
	sfx_index_only_look(ps);
	(void) planstate_tree_walker(ps, look_at_node, &here);
	if (IsA(ps, NestLoopState) && sfx_guc_read_ahead > 0 &&
		(ps->state->es_top_eflags & EXEC_FLAG_BACKWARD) == 0)
		sfx_loop_ahead_look((NestLoopState *) ps, here.limit);
	return false;
}

static void
plan_executor_start(QueryDesc *query, int eflags)
{
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && query->planstate != NULL)
		(void) look_at_node(query->planstate, NULL);
}

void
sfx_plan_start_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = plan_executor_start;
}
