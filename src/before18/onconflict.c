/*-------------------------------------------------------------------------
 * onconflict.c - INSERT ... ON CONFLICT on tables with unique surfidx indexes, before 18 (L1)
 *
 * The executor refuses to prepare a unique index that is not a btree for ON CONFLICT, though
 * nothing that it does then depends on that.  So the indexes are prepared before the executor comes
 * to it (surfidx.onconflict_lift).
 *
 * The executor opens a table's indexes at the first row, unless they are open, and prepares the
 * unique ones for the search for conflicting rows; that is where it refuses ours.  Here they are
 * opened at the start of the statement, and prepared as the executor would, by the equality
 * operators of their classes.  The executor closes them at the statement's end as if it had opened
 * them.
 *
 * Out of reach are partitions that rows are routed to: they are opened while the statement runs.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "onconflict.h"
#include "settings.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static bool onconflict_lift = true;

static ExecutorStart_hook_type prev_executor_start = NULL;

void
sfx_onconflict_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.onconflict_lift",
							 "Lets INSERT ... ON CONFLICT work on tables with unique surfidx indexes.",
							 "From PostgreSQL 18 on it does so by itself.",
							 &onconflict_lift,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

bool
sfx_onconflict_lifted(void)
{
	return onconflict_lift;
}

/*
 * May this index be ours?  Told without opening it, for the sake of tables that have only core's
 * indexes.
 */
static bool
has_added_am(Oid indexoid)
{
	FormData_pg_class row;

	return sfx_row_get(RELOID, indexoid, &row, sizeof(row)) && row.relam >= FirstNormalObjectId;
}

static bool
needs_lift(Relation rel)
{
	List	   *indexes;
	bool		result = false;

	if (rel->rd_rel->relkind != RELKIND_RELATION || !rel->rd_rel->relhasindex)
		return false;
	indexes = RelationGetIndexList(rel);
	foreach_oid(oid, indexes)
	{
		result = has_added_am(oid);
		if (result)
			break;
	}
	list_free(indexes);
	return result;
}

/* Tell the executor what it has to know of a unique index to look for conflicts. */
static void
prepare_unique(Relation index, IndexInfo *info)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);

	if (!sfx_is_ours(index->rd_indam))
	{
		BuildSpeculativeIndexInfo(index, info);
		return;
	}
	info->ii_UniqueOps = palloc(nkeys * sizeof(Oid));
	info->ii_UniqueProcs = palloc(nkeys * sizeof(Oid));
	info->ii_UniqueStrats = palloc(nkeys * sizeof(uint16));
	for (int i = 0; i < nkeys; i++)
	{
		Oid			type = index->rd_opcintype[i];
		Oid			op = get_opfamily_member(index->rd_opfamily[i], type, type, BTEqualStrategyNumber);

		if (!OidIsValid(op))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("column %d of unique surfidx index \"%s\" has an operator class without an equality operator",
							i + 1, RelationGetRelationName(index)),
					 errhint("Add the operator to the class's family as strategy %d.", BTEqualStrategyNumber)));
		info->ii_UniqueOps[i] = op;
		info->ii_UniqueProcs[i] = get_opcode(op);
		info->ii_UniqueStrats[i] = BTEqualStrategyNumber;
	}
}

static void
lift_modify_table(EState *estate, PlanState *planstate)
{
	ModifyTableState *mt = (ModifyTableState *) planstate;
	ResultRelInfo *target;
	MemoryContext old;

	if (planstate == NULL || !IsA(planstate, ModifyTableState) ||
		((ModifyTable *) planstate->plan)->onConflictAction == ONCONFLICT_NONE)
		return;
	/* there is exactly one: ON CONFLICT belongs to INSERT */
	target = mt->resultRelInfo;
	if (target->ri_IndexRelationDescs != NULL || !needs_lift(target->ri_RelationDesc))
		return;

	old = MemoryContextSwitchTo(estate->es_query_cxt);
	ExecOpenIndices(target, false);
	for (int i = 0; i < target->ri_NumIndices; i++)
		if (target->ri_IndexRelationInfo[i]->ii_Unique)
			prepare_unique(target->ri_IndexRelationDescs[i], target->ri_IndexRelationInfo[i]);
	MemoryContextSwitchTo(old);
}

static void
lift_executor_start(QueryDesc *query, int eflags)
{
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (!onconflict_lift || (eflags & EXEC_FLAG_EXPLAIN_ONLY))
		return;

	/*
	 * A statement's own ModifyTable is its topmost node; those of WITH and of rules are in the
	 * list.
	 */
	lift_modify_table(query->estate, query->planstate);
	foreach_ptr(PlanState, node, query->estate->es_auxmodifytables)
		lift_modify_table(query->estate, node);
}

void
sfx_onconflict_init(void)
{
	if (!SFX_UNIQUE_MEANS_BTREE)
		return;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = lift_executor_start;
}
