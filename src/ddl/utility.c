/*-------------------------------------------------------------------------
 * utility.c - what we do about users' utility statements
 *
 *	constraints WITH (access_method = surfidx): constraint*.c, rules Q1 to Q3 and Q7
 *	surfidx.in_place_of_btree: what would be btree becomes ours: in_place.c, rule Q5
 *	surfidx.unique_notice: what this version does not allow is said when a unique index is created
 *
 * A statement that has nothing to do with us is passed on as it came, and takes no lock that it
 * would not take without us.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "constraint.h"
#include "in_place.h"
#include "onconflict.h"
#include "subxact.h"
#include "utility.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/guc.h"

static bool unique_notice = true;
static ProcessUtility_hook_type prev_utility = NULL;

void
sfx_utility_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.unique_notice",
							 "Tells at creation of a unique surfidx index what this version of PostgreSQL grants only to btree.",
							 NULL,
							 &unique_notice,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	sfx_in_place_define_gucs();
}

/* ---- the notice ---- */

/*
 * Is this a client's CREATE UNIQUE INDEX ... USING surfidx?  Not an index that another command
 * creates, and not an upgrade.
 */
static bool
deserves_notice(Node *parsetree, ProcessUtilityContext context)
{
	IndexStmt  *stmt = (IndexStmt *) parsetree;

	if (!unique_notice || IsBinaryUpgrade || context != PROCESS_UTILITY_TOPLEVEL || !IsA(parsetree, IndexStmt))
		return false;
	return stmt->unique && stmt->relation != NULL && stmt->accessMethod != NULL && sfx_is_our_method(stmt->accessMethod) &&
		!sfx_name_is_taken(stmt, RangeVarGetRelid(stmt->relation, NoLock, true));
}

/*
 * What this version of core, with the lifts as they are set, does not let a unique surfidx index
 * do.
 */
static char *
describe_refusals(void)
{
	StringInfoData s;

	initStringInfo(&s);
	appendStringInfoString(&s, "A unique surfidx index cannot ");
	if (SFX_UNIQUE_MEANS_BTREE)
	{
		appendStringInfoString(&s, "enforce UNIQUE on a partitioned table, "
							   "serve REFRESH MATERIALIZED VIEW CONCURRENTLY, ");
		if (SFX_APPLY_MEANS_BTREE)
			appendStringInfoString(&s, "be REPLICA IDENTITY of a table to which logical replication is applied, ");
		appendStringInfoString(&s, sfx_onconflict_lifted() ?
							   "be on a partition to which INSERT ... ON CONFLICT routes rows, " :
							   "be on a table or partition that is the target of INSERT ... ON CONFLICT (surfidx.onconflict_lift is off), ");
	}
	appendStringInfoString(&s, SFX_UNIQUE_MEANS_BTREE ? "or be found by a conflict target that names an operator class." :
						   "be found by a conflict target that names an operator class.");
	return s.data;
}

/* ---- the hook ---- */

/* What is to be done after a statement. */
typedef struct After
{
	char	   *notice;			/* the table of a unique index */
	List	   *down;			/* Q3 */
	List	   *out;			/* Q3 */
	List	   *foreign;		/* Q7 */
} After;

/*
 * May the statement have something of ours in it?  Then it is copied, since parse trees may be
 * kept.  Where core is going to refuse it none of our code runs, so that nothing is locked before.
 */
static bool
concerns_us(const Node *stmt)
{
	return (IsA(stmt, IndexStmt) || IsA(stmt, AlterTableStmt)) &&
		!XactReadOnly && !RecoveryInProgress() && !IsInParallelMode();
}

static void
before_statement(Node *stmt, const char *source, ProcessUtilityContext context, After *after)
{
	if (IsA(stmt, IndexStmt))
	{
		sfx_method_of_index((IndexStmt *) stmt);
		if (deserves_notice(stmt, context))
			after->notice = pstrdup(((IndexStmt *) stmt)->relation->relname);
		/* last: a user who did not ask for our index needs no notice about it */
		sfx_in_place_of_index((IndexStmt *) stmt, source);
	}
	else
	{
		AlterTableStmt *alter = (AlterTableStmt *) stmt;

		sfx_method_of_constraints(alter);
		sfx_in_place_of_constraints(alter);
		sfx_method_stays(alter);
		sfx_method_of_partition(alter);
		sfx_method_of_partitions(alter);
		after->foreign = sfx_foreign_out(alter, source);
		after->out = sfx_using_out(alter);
		after->down = sfx_constraints_down(alter);
	}
}

static void
after_statement(const After *after, const char *source)
{
	sfx_constraints_up(after->down);
	sfx_using_done(after->out);
	sfx_foreign_done(after->foreign, source);
	if (after->notice == NULL)
		return;
	ereport(NOTICE,
			(errmsg("this version of PostgreSQL accepts only btree for some uses of a unique index on table \"%s\"", after->notice),
			 errdetail("%s", describe_refusals()),
			 errhint("Where one of these is needed, use a unique btree index instead, "
					 "or one of the ways around in surfidx/unique.md, "
					 "below the directory that pg_config --docdir names. "
					 "Set surfidx.unique_notice to off to silence this notice.")));
}

static bool
ends_transaction(const Node *stmt)
{
	const TransactionStmt *s = (const TransactionStmt *) stmt;

	return IsA(s, TransactionStmt) &&
		(s->kind == TRANS_STMT_COMMIT || s->kind == TRANS_STMT_PREPARE);
}

/* ProcessUtility hook. */
static void
at_utility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
		   ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
		   DestReceiver *dest, QueryCompletion *qc)
{
	After		after = {0};
	bool		ours = concerns_us(pstmt->utilityStmt);

	if (ours)
	{
		if (read_only_tree)
			pstmt = copyObject(pstmt);
		read_only_tree = false;
		before_statement(pstmt->utilityStmt, source, context, &after);
	}
	if (prev_utility)
		prev_utility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	if (ours)
		after_statement(&after, source);
	if (ends_transaction(pstmt->utilityStmt))
		sfx_attempts_at_end();
}

void
sfx_utility_init(void)
{
	prev_utility = ProcessUtility_hook;
	ProcessUtility_hook = at_utility;
	sfx_refer_init();
}
