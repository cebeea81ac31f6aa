/*-------------------------------------------------------------------------
 * insert_together.c - the statements whose entries may wait for each other, and when they end (D7)
 *
 * Known are those of which it is certain that they take back no row of theirs while they run.
 * ON CONFLICT does: its row is dead at once where another one was faster, and the next VACUUM gives
 * its TID away.  Who inserts by other ways (an extension, logical replication, CREATE INDEX
 * CONCURRENTLY) is not known, and appends row by row.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "lwlocks.h"
#include "pending.h"
#include "pressure.h"

#include "executor/executor.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "tcop/utility.h"

#define FEW_ROWS	4

static ExecutorStart_hook_type prev_executor_start = NULL;
static ExecutorFinish_hook_type prev_executor_finish = NULL;
static ProcessUtility_hook_type prev_utility = NULL;

/* Most statements have a row or two: they are not asked more than the planner's number. */
static bool
keeps_its_rows(const PlannedStmt *stmt)
{
	const ModifyTable *m = (const ModifyTable *) stmt->planTree;

	if (stmt->commandType == CMD_SELECT || stmt->hasModifyingCTE || !IsA(m, ModifyTable))
		return false;
	return outerPlan(m) != NULL && outerPlan(m)->plan_rows > FEW_ROWS &&
		m->onConflictAction == ONCONFLICT_NONE;
}

/*
 * A statement inside of another one, of a function or a trigger, sees what that has done so far.
 * Readers of this backend see to that themselves; parallel workers cannot.
 */
static void
together_start(QueryDesc *query, int eflags)
{
	if (query->plannedstmt->parallelModeNeeded && !SFX_MUTANT("workers miss what waits"))
		sfx_pending_flush(NULL);
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && keeps_its_rows(query->plannedstmt))
		sfx_pending_allow(query->estate->es_query_cxt);
}

static void
together_finish(QueryDesc *query)
{
	/* a btree asks comparisons that are statements while it has a page locked: not then */
	if (sfx_pending_indexes > 0 && sfx_holds_no_lwlock())
		sfx_pending_flush(sfx_merge_pressure);
	if (prev_executor_finish)
		prev_executor_finish(query);
	else
		standard_ExecutorFinish(query);
}

static void
utility(PlannedStmt *pstmt, const char *source, bool read_only_tree, ProcessUtilityContext context,
		ParamListInfo params, QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	if (prev_utility)
		prev_utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
}

static void
together_utility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
				 ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				 DestReceiver *dest, QueryCompletion *qc)
{
	MemoryContext own = CurrentMemoryContext;	/* COPY's IndexInfos are made here */

	sfx_pending_flush(NULL);
	if (!IsA(pstmt->utilityStmt, CopyStmt) || !((CopyStmt *) pstmt->utilityStmt)->is_from)
	{
		utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
		return;
	}
	sfx_pending_allow(own);
	PG_TRY();
	{
		utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	}
	PG_FINALLY();
	{
		sfx_pending_forbid(own);
	}
	PG_END_TRY();
	sfx_pending_flush(sfx_merge_pressure);
}

void
sfx_together_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = together_start;
	prev_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = together_finish;
	prev_utility = ProcessUtility_hook;
	ProcessUtility_hook = together_utility;
	sfx_pending_init();
}
