/*-------------------------------------------------------------------------
 * percentile.c - percentiles by the place of their rows
 *
 * Core sorts all rows for a percentile and takes one.  Which one follows from their number, so a
 * query that has an index of ours in that order is planned a second time as a query with OFFSET
 * (percentile_query.c), whose rows the index passes over, and the cheaper plan is taken.  What is
 * executed is core's nodes, with count(*) and OFFSET as anywhere else.
 *
 * Declined: groups, HAVING, several tables, subqueries, volatile functions, percentiles of different
 * columns or with FILTER, row-level security, small tables.  Among these are the empty shells of
 * tables whose rows are elsewhere, whose extensions plan queries in their own way.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count_column.h"
#include "offset_path.h"
#include "percentile.h"
#include "percentile_query.h"
#include "settings.h"
#include "settled.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "utils/rel.h"

/* Tables with fewer pages are left to core: they are read before a second plan is made. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define PAGES_WORTH		1		/* to have it tested */
#else
#define PAGES_WORTH		64
#endif

static planner_hook_type prev_planner = NULL;

/* ---- what fits ---- */

/* What a query's outputs are made of. */
typedef struct Outputs
{
	const Aggref *percentile;	/* the first one */
	SfxPercentileOrder order;	/* its order */
} Outputs;

/* Are both ordered by the same? */
static bool
same_order(const SfxPercentileOrder *a, const SfxPercentileOrder *b)
{
	return equal(a->expr, b->expr) && a->sortop == b->sortop && a->eqop == b->eqop;
}

/* Walker: is there something that a query of percentiles cannot have? */
static bool
is_unfit(Node *node, void *context)
{
	Outputs    *out = context;
	Aggref	   *agg = (Aggref *) node;
	SfxPercentileOrder order;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == 0;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, is_unfit, context);
	if (agg->agglevelsup > 0)
		return true;
	if (!sfx_is_percentile(agg))
		return false;
	if (agg->aggfilter != NULL || !sfx_percentile_order(agg, &order))
		return true;
	if (out->percentile == NULL)
	{
		out->percentile = agg;
		out->order = order;
	}
	return !same_order(&out->order, &order);
}

static bool
fits(const Query *q, Outputs *out)
{
	if (q->commandType != CMD_SELECT || !q->hasAggs || q->hasSubLinks || q->hasWindowFuncs ||
		q->hasTargetSRFs || q->hasRowSecurity || q->groupClause != NIL || q->groupingSets != NIL ||
		q->havingQual != NULL || q->cteList != NIL || q->rowMarks != NIL || q->setOperations != NULL ||
		sfx_only_table(q) == NULL)
		return false;
	out->percentile = NULL;
	return !is_unfit((Node *) q->targetList, out) && out->percentile != NULL &&
		!contain_volatile_functions((Node *) q);
}

/* ---- its index ---- */

/* The table's columns that the index is made of, as pull_varattnos counts them. */
static Bitmapset *
columns_of(Relation index)
{
	Bitmapset  *columns = NULL;

	for (int c = 0; c < IndexRelationGetNumberOfAttributes(index); c++)
		columns = bms_add_member(columns, index->rd_index->indkey.values[c] -
								 FirstLowInvalidHeapAttributeNumber);
	pull_varattnos((Node *) RelationGetIndexExpressions(index), 1, &columns);
	pull_varattnos((Node *) RelationGetIndexPredicate(index), 1, &columns);
	return columns;
}

/*
 * Has the index this order in one of its columns, after those with conditions, and all columns with
 * conditions?  *nulls_first: where a scan in it meets NULLs.
 */
static bool
has_order(Relation index, const SfxPercentileOrder *order, const Bitmapset * conditions,
		  bool *nulls_first)
{
	AttrNumber	att = IsA(order->expr, Var) ? ((const Var *) order->expr)->varattno : 0;

	if (!sfx_is_ours(index->rd_indam) || !index->rd_index->indisvalid ||
		!bms_is_subset(conditions, columns_of(index)))
		return false;
	for (int c = 0; c < IndexRelationGetNumberOfKeyAttributes(index); c++)
	{
		AttrNumber	column = index->rd_index->indkey.values[c];
		bool		reverse = (index->rd_indoption[c] & INDOPTION_DESC) != 0;
		bool		first = (index->rd_indoption[c] & INDOPTION_NULLS_FIRST) != 0;

		if (column == att)
		{
			*nulls_first = first == (reverse == order->reverse);
			return true;
		}
		if (column != 0 &&
			!bms_is_member(column - FirstLowInvalidHeapAttributeNumber, conditions))
			return false;
	}
	return false;
}

/*
 * May the column have NULLs in rows that some snapshot sees, though it is NOT NULL?  Core drops the
 * condition that the new query needs then.
 */
static bool
has_old_nulls(Relation table, const SfxPercentileOrder *order)
{
	AttrNumber	column = IsA(order->expr, Var) ? ((const Var *) order->expr)->varattno : 0;

	return SFX_CORE_DROPS_NOT_NULL && SfxColumnIsNotNull(table, column) &&
		!sfx_column_has_no_nulls(table, column, NULL);
}

/*
 * Find out which indexes of ours have the order, and can answer the conditions alone: has[0] NULLs
 * last, has[1] NULLs first.  None of a table that core refuses to read.
 */
static void
find_indexes(const Query *q, const SfxPercentileOrder *order, bool *has)
{
	const RangeTblEntry *rte = sfx_only_table(q);
	Bitmapset  *conditions = NULL;
	Relation	table;

	has[0] = has[1] = false;
	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW)
		return;
	pull_varattnos(q->jointree->quals, linitial_node(RangeTblRef, q->jointree->fromlist)->rtindex,
				   &conditions);
	table = table_open(rte->relid, NoLock);
	if (table->rd_rel->relhasindex && (RelationIsPermanent(table) || !RecoveryInProgress()) &&
		RelationGetNumberOfBlocks(table) >= PAGES_WORTH && !has_old_nulls(table, order))
	{
		foreach_oid(oid, RelationGetIndexList(table))
		{
			Relation	index = index_open(oid, rte->rellockmode);
			bool		nulls_first;

			if (has_order(index, order, conditions, &nulls_first))
				has[nulls_first] = true;
			index_close(index, NoLock);
		}
	}
	table_close(table, NoLock);
}

/* ---- planning ---- */

/* Walker: has a query percentiles at any level? */
static bool
has_percentiles(Node *node, void *context)
{
	Query	   *query = (Query *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && sfx_is_percentile((Aggref *) node))
		return true;
	if (!IsA(node, Query))
		return expression_tree_walker(node, has_percentiles, context);
	if (query->hasAggs || query->hasSubLinks)
		return query_tree_walker(query, has_percentiles, context, 0);
	/* no expression of its own has any */
	foreach_node(RangeTblEntry, rte, query->rtable)
	{
		if (has_percentiles((Node *) rte->subquery, context))
			return true;
	}
	return expression_tree_walker((Node *) query->cteList, has_percentiles, context);
}

typedef struct Rewrites
{
	ParamListInfo params;
	bool		nulls_first;	/* where indexes have NULLs last and first: which are to be used */
	int			n;				/* queries that were rewritten */
	bool		either;			/* there was such a choice */
} Rewrites;

/* Mutator: with queries of percentiles rewritten.  Shares nodes with its input. */
static Node *
rewritten(Node *node, void *context)
{
	Rewrites   *r = context;
	Query	   *q;
	Query	   *with_offset;
	Outputs		out;
	bool		has[2];

	if (node == NULL)
		return NULL;
	if (!IsA(node, Query))
		return expression_tree_mutator(node, rewritten, context);
	q = query_tree_mutator((Query *) node, rewritten, context, 0);
	if (!fits(q, &out))
		return (Node *) q;
	find_indexes(q, &out.order, has);
	out.order.nulls_first = has[1] && (r->nulls_first || !has[0]);
	if (!(has[0] || has[1]) ||
		(with_offset = sfx_percentile_query(q, &out.order, r->params)) == NULL)
		return (Node *) q;
	r->n++;
	r->either |= has[0] && has[1];
	return (Node *) with_offset;
}

static bool
is_cheaper(const Plan *a, const Plan *b)
{
	return SfxDisabledNodes(a) != SfxDisabledNodes(b) ?
		SfxDisabledNodes(a) < SfxDisabledNodes(b) : a->total_cost < b->total_cost;
}

/* The hook. */
static PlannedStmt *
plan_percentiles(SFX_PLANNER_PARAMS)
{
	Query	   *with_offset[2] = {NULL, NULL};
	PlannedStmt *best;

	if (sfx_offset_wanted() && has_percentiles((Node *) parse, NULL))
		for (int i = 0; i < 2; i++)
		{
			Rewrites	r = {params, i == 1, 0, false};
			Query	   *q = (Query *) rewritten(copyObject((Node *) parse), &r);

			if (r.n > 0)
				with_offset[i] = q;
			if (!r.either)
				break;
		}
	best = prev_planner ? prev_planner(SFX_PLANNER_ARGS) : standard_planner(SFX_PLANNER_ARGS);
	for (int i = 0; i < 2; i++)
	{
		PlannedStmt *plan;

		parse = with_offset[i];
		if (parse == NULL)
			continue;
		plan = prev_planner ? prev_planner(SFX_PLANNER_ARGS) : standard_planner(SFX_PLANNER_ARGS);
		if (is_cheaper(plan->planTree, best->planTree))
			best = plan;
	}
	return best;
}

void
sfx_percentile_init(void)
{
	prev_planner = planner_hook;
	planner_hook = plan_percentiles;
}
