/*-------------------------------------------------------------------------
 * planner.c - what core grants to btree alone, and hooks can grant to us
 *
 * Two lifts, each with its own setting.  None of them touches a plan or a statement in which
 * no surfidx index takes part.
 *
 *	surfidx.planner_lift	Core proves uniqueness and derives conditions by comparing an index's operator families with
 *							btree's.  Our families are other ones with the same operators, so the planner may be
 *							shown btree's in their place.
 *	surfidx.onconflict_lift	Before 18 the executor refuses to prepare a unique index that is not a btree for
 *							ON CONFLICT, though nothing that it does then depends on that.  So the indexes are
 *							prepared before it comes to it.
 *
 * All hooks call those who were there before them first.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "cost.h"
#include "planner.h"
#include "rowlift.h"
#include "settings.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "tcop/utility.h"
#include "utils/catcache.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static bool planner_lift = true;
static bool onconflict_lift = true;

static SfxRelInfoHook prev_relation_info = NULL;
static ExecutorStart_hook_type prev_executor_start = NULL;

static void lift_relation_info(SFX_REL_INFO_PARAMS);
static void lift_executor_start(QueryDesc *query, int eflags);
static void forget_coverage(Datum arg, int cacheid, uint32 hashvalue);

void
sfx_planner_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.planner_lift",
							 "Lets the planner use surfidx indexes where core looks for btree operator families.",
							 NULL,
							 &planner_lift,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("surfidx.onconflict_lift",
							 "Lets INSERT ... ON CONFLICT work on tables with unique surfidx indexes.",
							 "From PostgreSQL 18 on it does so by itself.",
							 &onconflict_lift,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

void
sfx_planner_init(void)
{
	CacheRegisterSyscacheCallback(AMOPOPID, forget_coverage, (Datum) 0);
	prev_relation_info = sfx_rel_info_hook;
	sfx_rel_info_hook = lift_relation_info;
	sfx_rowlift_init();
	if (!SFX_UNIQUE_MEANS_BTREE)
		return;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = lift_executor_start;
}

bool
sfx_onconflict_lifted(void)
{
	return onconflict_lift;
}

/* ------------------------------------------------------------------ plans
 *
 * The executor looks up each operator in the families that the index really has.  So btree's family may stand in
 * for ours only if every operator of btree's is in ours, as the same strategy: a condition found through one that we
 * lack would fail at run time.  Whoever adds an operator to a btree family and not to ours loses the lift for
 * that family's columns, and nothing else.
 *
 * relam is btree's from 18 on: then core makes row comparisons conditions of the index.  Before 18
 * its executor would refuse them; so relam is btree's only for queries that have some, and rowlift.c
 * makes of them what the executor takes.
 */

typedef struct FamilyPair
{
	Oid			ours;
	Oid			btree;
} FamilyPair;

typedef struct Coverage
{
	FamilyPair	pair;			/* hash key */
	bool		covers;
} Coverage;

static HTAB *coverage = NULL;	/* what was found out so far */
static bool coverage_stale = false;

static void
forget_coverage(Datum arg, int cacheid, uint32 hashvalue)
{
	coverage_stale = true;
}

/* An empty table of pairs if there is none or operators have changed since. */
static void
renew_coverage(void)
{
	HASHCTL		ctl = {0};

	if (coverage != NULL && !coverage_stale)
		return;
	if (coverage != NULL)
		hash_destroy(coverage);
	coverage = NULL;
	coverage_stale = false;
	ctl.keysize = sizeof(FamilyPair);
	ctl.entrysize = sizeof(Coverage);
	coverage = hash_create("surfidx operator families", 64, &ctl, HASH_ELEM | HASH_BLOBS);
}

/* Does our family have all operators of btree's? */
static bool
compare_families(Oid ours, Oid btree)
{
	CatCList   *members = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(btree));
	bool		covers = true;

	for (int i = 0; i < members->n_members && covers; i++)
	{
		Form_pg_amop op = (Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);

		/* row comparisons need the comparison function, too */
		covers = get_opfamily_member(ours, op->amoplefttype, op->amoprighttype, op->amopstrategy) == op->amopopr &&
			OidIsValid(get_opfamily_proc(ours, op->amoplefttype, op->amoprighttype, BTORDER_PROC)) ==
			OidIsValid(get_opfamily_proc(btree, op->amoplefttype, op->amoprighttype, BTORDER_PROC));
	}
	ReleaseSysCacheList(members);
	return covers;
}

static bool
family_covers(Oid ours, Oid btree)
{
	FamilyPair	pair = {ours, btree};
	Coverage   *entry;
	bool		covers;

	renew_coverage();
	entry = hash_search(coverage, &pair, HASH_FIND, NULL);
	if (entry != NULL)
		return entry->covers;
	/* If operators change while they are compared, the entry goes again with the next call. */
	covers = compare_families(ours, btree);
	entry = hash_search(coverage, &pair, HASH_ENTER, NULL);
	entry->covers = covers;
	return covers;
}

/* By the function, not by name or oid: the access method may have been created under any name. */
static inline bool
is_our_info(const IndexOptInfo *info)
{
	return (void *) info->amcostestimate == (void *) sfx_costestimate;
}

static void
lift_relation_info(SFX_REL_INFO_PARAMS)
{
	ListCell   *lc;

	if (prev_relation_info)
		prev_relation_info(SFX_REL_INFO_ARGS);
	if (!planner_lift)
		return;
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = (IndexOptInfo *) lfirst(lc);
		bool		all;

		/* without sortopfamily core has found a column whose order no btree family knows */
		if (!is_our_info(info) || info->sortopfamily == NULL)
			continue;
		all = true;
		for (int i = 0; i < info->nkeycolumns; i++)
			if (family_covers(info->opfamily[i], info->sortopfamily[i]))
				info->opfamily[i] = info->sortopfamily[i];
			else
				all = false;
		if (all && (SFX_TAKES_ROW_COMPARISONS || sfx_rowlift_offers(root)))
			info->relam = BTREE_AM_OID;
	}
}

/* ------------------------------------------------------------------ ON CONFLICT
 *
 * The executor opens a table's indexes at the first row, unless they are open already, and prepares unique ones for
 * the search for conflicting rows; that is where it refuses ours.  Here they are opened at the start of the
 * statement and prepared as the executor would, by the equality operators of their classes.  It closes
 * them at the statement's end as if they were its own.
 *
 * Only partitions that rows are routed to are out of reach: they come into being while the statement runs.
 */

/*
 * Might this index be ours?  Told without opening it, for the sake of tables that have only core's
 * indexes.
 */
static bool
has_added_am(Oid indexoid)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(indexoid));
	bool		result;

	if (!HeapTupleIsValid(tup))
		return false;
	result = ((Form_pg_class) GETSTRUCT(tup))->relam >= FirstNormalObjectId;
	ReleaseSysCache(tup);
	return result;
}

static bool
needs_lift(Relation rel)
{
	List	   *indexes;
	ListCell   *lc;
	bool		result = false;

	if (rel->rd_rel->relkind != RELKIND_RELATION || !rel->rd_rel->relhasindex)
		return false;
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		result = has_added_am(lfirst_oid(lc));
		if (result)
			break;
	}
	list_free(indexes);
	return result;
}

/* What the executor has to know of a unique index to look for conflicts. */
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
	ListCell   *lc;

	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (!onconflict_lift || (eflags & EXEC_FLAG_EXPLAIN_ONLY))
		return;

	/*
	 * a statement's own ModifyTable is its topmost node; those of WITH and of rules are in the
	 * list
	 */
	lift_modify_table(query->estate, query->planstate);
	foreach(lc, query->estate->es_auxmodifytables)
		lift_modify_table(query->estate, (PlanState *) lfirst(lc));
}
