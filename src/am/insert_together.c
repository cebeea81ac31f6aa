/*-------------------------------------------------------------------------
 * insert_together.c - what executor and utilities tell of statements: whose entries may wait for
 * each other, and when these statements end (D7); and in which core's hint of an unchanged key is
 * proof (U1)
 *
 * Entries wait only if it is certain that the statement takes back no row while it runs.  ON CONFLICT
 * does: where another session is faster its row is dead at once, and the next VACUUM frees the
 * row's TID.  Inserts that come by other ways (extensions, logical replication, CREATE INDEX
 * CONCURRENTLY) append row by row.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "pending.h"
#include "pressure.h"
#include "statement.h"

#include "executor/executor.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "tcop/utility.h"

#define FEW_ROWS	4

static ExecutorStart_hook_type prev_executor_start = NULL;
static ExecutorFinish_hook_type prev_executor_finish = NULL;
static ProcessUtility_hook_type prev_utility = NULL;

/*
 * What is known of the statement (statement.h)?  Most statements insert a row or two, and are asked
 * for no more than the planner's number.
 */
static int
known_of(const PlannedStmt *stmt)
{
	const ModifyTable *m = (const ModifyTable *) stmt->planTree;
	int			what = 0;

	if (stmt->commandType == CMD_SELECT || stmt->hasModifyingCTE || !IsA(m, ModifyTable))
		return 0;
	if (outerPlan(m) != NULL && outerPlan(m)->plan_rows > FEW_ROWS &&
		m->onConflictAction == ONCONFLICT_NONE)
		what |= SFX_ROWS_STAY;
	if (stmt->commandType == CMD_UPDATE || m->onConflictAction == ONCONFLICT_UPDATE)
		what |= SFX_HINT_HOLDS;
	return what;
}

/*
 * ExecutorStart hook.  A statement inside of another one, in a function or a trigger, sees what the
 * outer one has done so far.  Readers of this backend flush what waits; parallel workers cannot, so
 * it is flushed before they start.
 */
static void
together_start(QueryDesc *query, int eflags)
{
	int			what;

	if (query->plannedstmt->parallelModeNeeded && !SFX_MUTANT("workers miss what waits"))
		sfx_pending_flush(NULL);
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && (what = known_of(query->plannedstmt)) != 0)
		sfx_statement_note(query->estate->es_query_cxt, what);
}

/* ExecutorFinish hook: append what waits at the statement's end. */
static void
together_finish(QueryDesc *query)
{
	/* not while a page is locked: a btree may call comparisons that run statements then */
	if (sfx_pending_indexes > 0 && !SfxHoldsLWLock())
		sfx_pending_flush(sfx_merge_pressure);
	if (prev_executor_finish)
		prev_executor_finish(query);
	else
		standard_ExecutorFinish(query);
}

/* The next ProcessUtility hook, or core's function. */
static void
utility(PlannedStmt *pstmt, const char *source, bool read_only_tree, ProcessUtilityContext context,
		ParamListInfo params, QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	if (prev_utility)
		prev_utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
}

/*
 * ProcessUtility hook: append what waits before any utility statement, and let entries of COPY FROM
 * wait.
 */
static void
together_utility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
				 ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				 DestReceiver *dest, QueryCompletion *qc)
{
	MemoryContext own = CurrentMemoryContext;	/* COPY makes its IndexInfos here */

	sfx_pending_flush(NULL);
	if (!IsA(pstmt->utilityStmt, CopyStmt) || !((CopyStmt *) pstmt->utilityStmt)->is_from)
	{
		utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
		return;
	}
	sfx_statement_note(own, SFX_ROWS_STAY);
	PG_TRY();
	{
		utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	}
	PG_FINALLY();
	{
		sfx_statement_forget(own);
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
