/*-------------------------------------------------------------------------
 * estimate.c - how many rows the planner expects of conditions on an indexed column
 *
 * Core estimates conditions one by one from what ANALYZE has sampled, before it asks any access
 * method.  But the index can count.  So while a table's size is estimated, core is shown statistics
 * made for this very query.  The constants with which its conditions compare the column cut the
 * index into intervals within which no condition changes its answer.  Each interval that is not
 * empty is shown as one most common value, its first entry, with the interval's share of all
 * entries.  Whatever condition core tries on these values, it adds up what the index has counted,
 * for every operator of the family and every type.
 *
 * Such statistics know nothing of other constants, of joins or of groups.  So they are shown only
 * - while the table's own size is not yet known (its rows are 0): joins, groups and costs come
 *   later (E1);
 * - if every condition on the column, wherever core may look for one at that time, was understood
 *   (E1);
 * - if one of them, or of those on a later column of the index, is an inequality: ANALYZE tells
 *   well enough what an equality or a test for NULL finds, and planning a lookup should not take
 *   longer than the lookup (E1);
 * - to users who may see the column in all rows, because they reveal something of it (E1);
 * - if a count may change the plan (estimate_analyze.c).
 *
 * A later column of an index is shown as it is distributed where the columns before it have the
 * values that the query wants of them (E1).  Core multiplies the selectivities of single
 * conditions, and so gets the share of all together, however the columns depend on one another.
 *
 * Columns that are in no surfidx index, or only after columns that are not fixed, and partial
 * indexes, are estimated as ever; so is an index with a damaged page (a WARNING says so, E5).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "estimate.h"
#include "index_open.h"
#include "order.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

static bool range_estimates = true;
static get_relation_stats_hook_type prev_relation_stats = NULL;

/*
 * May the user see the column in all rows (E1)?  Of a partition or child: in the table that the
 * query names.
 */
static bool
may_see(PlannerInfo *root, RelOptInfo *rel, AttrNumber attno)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	Oid			user = SfxPlannedUser(rel, rte);

	if (rte->securityQuals != NIL)
		return false;
	if (pg_class_aclcheck(rte->relid, user, ACL_SELECT) == ACLCHECK_OK)
		return true;
	return pg_attribute_aclcheck(rte->relid, attno, user, ACL_SELECT) == ACLCHECK_OK;
}

static bool
may_be_null(Oid relid, AttrNumber attno)
{
	Relation	table = table_open(relid, NoLock);
	bool		result = !SfxColumnIsNotNull(table, attno);

	table_close(table, NoLock);
	return result;
}

/* Make the statistics for a column's conditions; NULL: only ANALYZE's apply. */
static HeapTuple
count_for(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, AttrNumber attno, int col,
		  int ncols)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "surfidx estimate", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	SfxConditions c = {.root = root,.varno = rel->relid,.attno = attno};
	SfxEdges   *edges = palloc(sizeof(SfxEdges));
	SfxPiece	piece[SFX_MAX_EDGES + 1];
	HeapTuple	tuple = NULL;
	int			n;

	/* the planner holds a lock on it */
	c.pin = palloc(sizeof(ScanKeyData) * (col + 1));
	c.chained = ncols > col + 1;
	c.o.index = index_open(info->indexoid, NoLock);
	c.o.order = sfx_order_open(c.o.index, &c.o.kd, false);
	if (!sfx_is_absent(c.o.index) &&
		sfx_conditions_pin(&c, rel, info, col) && sfx_conditions_collect(&c, rel) &&
		sfx_edges_find(&c, may_be_null(rte->relid, attno), edges) &&
		(n = sfx_edges_measure(&c, edges, piece)) > 0)
		tuple = sfx_statistics_form(&c, rte->relid, rte->inh, piece, n, old);
	MemoryContextSwitchTo(old);
	sfx_order_end(c.o.order);
	index_close(c.o.index, NoLock);
	MemoryContextDelete(work);
	return tuple;
}

/* Is it an equality or a test for NULL, or a list or an OR of such? */
static bool
finds_single_values(Node *clause)
{
	ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) clause;

	if (IsA(clause, ScalarArrayOpExpr))
		return array->useOr && op_mergejoinable(array->opno, exprType(linitial(array->args)));
	if (!is_orclause(clause))
		return IsA(clause, NullTest) || sfx_is_equality(clause);
	foreach_ptr(Node, arm, ((BoolExpr *) clause)->args)
	{
		if (!finds_single_values(arm))
			return false;
	}
	return true;
}

/*
 * Is there a condition on the table that may be other than equalities and tests for NULL?  Most
 * lookups have none, and end here.
 */
static bool
any_inequality(const RelOptInfo *rel)
{
	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
	{
		if (!sfx_is_equality(rinfo) && !finds_single_values((Node *) rinfo->clause))
			return true;
	}
	return false;
}

/* May the user see the column, and those before it in the index, in all rows? */
static bool
may_see_all(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, int col)
{
	for (int i = 0; i <= col; i++)
		if (!may_see(root, rel, info->indexkeys[i]))
			return false;
	return true;
}

/* ---- the hook ---- */

/*
 * What was found for a column, since core asks once for each condition; column 0: for the table.
 * In the planner's memory, and forgotten with it.
 */
typedef struct Shown
{
	struct Shown *next;
	PlannerInfo *root;
	Index		varno;
	AttrNumber	attno;
	HeapTuple	tuple;			/* NULL: ANALYZE's is all */
	bool		counts;			/* column 0: a count may change the plan */
	MemoryContextCallback gone;
} Shown;

static Shown *shown = NULL;

/* Reset callback of the planner's memory. */
static void
forget_shown(void *arg)
{
	Shown	  **link = &shown;

	while (*link && *link != arg)
		link = &(*link)->next;
	if (*link)
		*link = (*link)->next;
}

/* What was found for a column.  *found: it was asked for before. */
static Shown *
find_shown(PlannerInfo *root, Index varno, AttrNumber attno, bool *found)
{
	Shown	   *s = shown;

	while (s && !(s->root == root && s->varno == varno && s->attno == attno))
		s = s->next;
	*found = s != NULL;
	if (s)
		return s;
	s = MemoryContextAllocZero(root->planner_cxt, sizeof(Shown));
	s->root = root;
	s->varno = varno;
	s->attno = attno;
	s->gone.func = forget_shown;
	s->gone.arg = s;
	MemoryContextRegisterResetCallback(root->planner_cxt, &s->gone);
	s->next = shown;
	return shown = s;
}

/* The statistics for a column; NULL: only ANALYZE's apply. */
static HeapTuple
show(PlannerInfo *root, RelOptInfo *rel, AttrNumber attno)
{
	int			col,
				ncols;
	IndexOptInfo *info;
	MemoryContext old;
	bool		found;
	Shown	   *all = find_shown(root, rel->relid, 0, &found);
	Shown	   *s;

	/* meanwhile core asks again, and gets nothing */
	if (!found)
		all->counts = !may_see(root, rel, attno) || !sfx_analyze_will_do(root, rel);
	if (!all->counts)
		return NULL;
	s = find_shown(root, rel->relid, attno, &found);
	if (found)
		return s->tuple;
	info = sfx_telling_index(rel, attno, &col, &ncols);
	if (info && may_see_all(root, rel, info, col))
	{
		old = MemoryContextSwitchTo(root->planner_cxt);
		s->tuple = count_for(root, rel, info, attno, col, ncols);
		MemoryContextSwitchTo(old);
	}
	return s->tuple;
}

/* Core's callback to free the statistics: they end with the planner's memory. */
static void
keep_statistics(HeapTuple tuple)
{
}

/*
 * The relation of a range table entry; NULL: unknown.  Core's estimate for brin calls the hook with
 * a vardata in which nothing is set.
 */
static RelOptInfo *
relation_of(const PlannerInfo *root, const RangeTblEntry *rte)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
		if (root->simple_rte_array[i] == rte)
			return root->simple_rel_array[i];
	return NULL;
}

/* The hook for a column's statistics. */
static bool
estimate_relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	RelOptInfo *rel;
	HeapTuple	tuple;

	if (prev_relation_stats && prev_relation_stats(root, rte, attnum, vardata))
		return true;
	if (!range_estimates || attnum <= 0 || rte->rtekind != RTE_RELATION || rte->inh)
		return false;
	rel = relation_of(root, rte);
	if (rel == NULL || rel->rows != 0 || !IS_SIMPLE_REL(rel) || rel->indexlist == NIL || !any_inequality(rel))
		return false;
	tuple = show(root, rel, attnum);
	if (tuple == NULL)
		return false;
	vardata->statsTuple = tuple;
	vardata->freefunc = keep_statistics;
	vardata->acl_ok = true;
	return true;
}

void
sfx_estimate_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.range_estimates",
							 "Lets the planner count in surfidx indexes how many rows the conditions on a column find.",
							 "Where it is off, and for columns that no surfidx index begins with, ANALYZE's samples tell.",
							 &range_estimates,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

void
sfx_estimate_init(void)
{
	prev_relation_stats = get_relation_stats_hook;
	get_relation_stats_hook = estimate_relation_stats;
}
