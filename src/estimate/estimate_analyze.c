/*-------------------------------------------------------------------------
 * estimate_analyze.c - does ANALYZE's estimate do for a plan?
 *
 * To count in the index costs about as much as a short range scan.  It is not worth it where no
 * count would change the plan.  That is so if the query reads one table, if all its conditions are
 * equalities on the first columns of an index and comparisons of the next one, if no other index
 * might look cheaper by a range of its own, and if it
 *
 * - wants the first few rows in the index's order, and ANALYZE expects several times as many: the
 *   scan of that index reads the rows that are wanted, and no plan reads fewer;
 * - or reads all of few rows, by statistics that are not stale.  If the range is on the index's
 *   first column, the histogram tells (estimate_histogram.c).  If it is on a later column, the
 *   equalities alone leave few rows, however the columns depend on one another.
 *
 * Core keeps the selectivities that it is asked for here in the conditions.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "estimate.h"

#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#define MAX_COMPARISONS	8		/* of a query */
#define FEW				50		/* one row in so many is few rows, of those with equal columns */
#define NARROW			10		/* a range of one row in so many may be of more in truth */
#define MANY			1000	/* rows, for which another scan may be better than an index scan */
#define SEVERAL			4		/* times the wanted rows are certainly enough of them */

/*
 * A condition "column op constant", which ANALYZE's statistics describe, or "column IS NOT NULL".
 */
typedef struct Comparison
{
	RestrictInfo *rinfo;
	AttrNumber	attno;
	int			strategy;		/* of btree; 0: IS NOT NULL */
} Comparison;

/* All conditions of a query's only table. */
typedef struct TableQuery
{
	PlannerInfo *root;
	RelOptInfo *rel;
	int			n;
	Comparison	c[MAX_COMPARISONS];
} TableQuery;

/* The number of the column, of that collation (InvalidOid: any); 0: it is something else. */
static AttrNumber
column_number(const TableQuery *q, Node *node, Oid collation)
{
	const Var  *var;

	if (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	var = (const Var *) node;
	if (!IsA(var, Var) || var->varno != q->rel->relid || var->varlevelsup != 0)
		return 0;
	if (OidIsValid(collation) && var->varcollid != collation)
		return 0;
	return Max(var->varattno, 0);
}

/* False: it is another condition. */
static bool
add_comparison(TableQuery *q, RestrictInfo *rinfo)
{
	const OpExpr *clause = (const OpExpr *) rinfo->clause;
	const NullTest *test = (const NullTest *) rinfo->clause;
	Comparison *c = &q->c[q->n++];
	const TypeCacheEntry *type;

	*c = (Comparison) {.rinfo = rinfo};
	if (IsA(test, NullTest))
	{
		c->attno = column_number(q, (Node *) test->arg, InvalidOid);
		return c->attno > 0 && test->nulltesttype == IS_NOT_NULL && !test->argisrow;
	}
	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return false;
	if (!IsA(lsecond(clause->args), Const) || lsecond_node(Const, clause->args)->constisnull)
		return false;
	c->attno = column_number(q, linitial(clause->args), clause->inputcollid);
	type = lookup_type_cache(exprType(linitial(clause->args)), TYPECACHE_BTREE_OPFAMILY);
	c->strategy = get_op_opfamily_strategy(clause->opno, type->btree_opf);
	return c->attno > 0 && c->strategy > 0;
}

/* Find all conditions.  False: there are others, or other tables. */
static bool
find_comparisons(TableQuery *q)
{
	if (q->rel->reloptkind != RELOPT_BASEREL || q->rel->joininfo != NIL ||
		bms_membership(q->root->all_baserels) != BMS_SINGLETON ||
		list_length(q->rel->baserestrictinfo) > MAX_COMPARISONS)
		return false;
	foreach_node(RestrictInfo, rinfo, q->rel->baserestrictinfo)
	{
		if (!add_comparison(q, rinfo))
			return false;
	}
	return true;
}

static int
column_of(const IndexOptInfo *info, AttrNumber attno)
{
	int			col = 0;

	while (col < info->nkeycolumns && info->indexkeys[col] != attno)
		col++;
	return col;
}

/* Can a scan of the index use the condition on its column col? */
static bool
is_usable(const Comparison *c, const IndexOptInfo *info, int col)
{
	const OpExpr *clause = (const OpExpr *) c->rinfo->clause;

	if (c->strategy == 0)
		return true;
	return op_in_opfamily(clause->opno, info->opfamily[col]) &&
		(!OidIsValid(info->indexcollations[col]) || info->indexcollations[col] == clause->inputcollid);
}

/*
 * How many leading columns of the index have all conditions, with an equality on each of them but
 * the last?  0: other columns have some, or the index is of another order.
 */
static int
compared_columns(const TableQuery *q, const IndexOptInfo *info)
{
	uint64		equal = 0;
	int			last = 0;

	for (int i = 0; i < q->n; i++)
	{
		int			col = column_of(info, q->c[i].attno);

		if (col == info->nkeycolumns || !is_usable(&q->c[i], info, col))
			return 0;
		last = Max(last, col);
		if (q->c[i].strategy == BTEqualStrategyNumber)
			equal |= UINT64CONST(1) << col;
	}
	return (~equal & ((UINT64CONST(1) << last) - 1)) == 0 ? last + 1 : 0;
}

static double
rows_by_analyze(const TableQuery *q)
{
	List	   *all = q->rel->baserestrictinfo;

	return clauselist_selectivity(q->root, all, 0, JOIN_INNER, NULL) * q->rel->tuples;
}

static double
selectivity_of(const TableQuery *q, const Comparison *c)
{
	return clause_selectivity(q->root, (Node *) c->rinfo, 0, JOIN_INNER, NULL);
}

/* Does the index give the query's order in that direction? */
static bool
gives_order(PlannerInfo *root, IndexOptInfo *info, ScanDirection direction)
{
	return pathkeys_contained_in(root->query_pathkeys, build_index_pathkeys(root, info, direction));
}

/* Does the query want few of the rows, in the index's order, that ANALYZE expects? */
static bool
wants_first_rows(const TableQuery *q, IndexOptInfo *info)
{
	PlannerInfo *root = q->root;

	return root->query_pathkeys != NIL &&
		(gives_order(root, info, ForwardScanDirection) || gives_order(root, info, BackwardScanDirection)) &&
		root->limit_tuples <= MANY && rows_by_analyze(q) >= SEVERAL * root->limit_tuples;
}

/*
 * Do the equalities on the columns before the last one leave few rows, of which the query reads no
 * more than an index scan may?
 */
static bool
leave_few(const TableQuery *q, const IndexOptInfo *info, int ncols)
{
	double		least = 1;

	for (int i = 0; i < q->n; i++)
		if (column_of(info, q->c[i].attno) < ncols - 1 && q->c[i].strategy == BTEqualStrategyNumber)
			least = Min(least, selectivity_of(q, &q->c[i]));
	return least <= 1.0 / FEW && (least * q->rel->tuples <= MANY || rows_by_analyze(q) <= MANY);
}

/*
 * Does another index begin with a column whose conditions ANALYZE takes to be narrow?  Its scan may
 * look cheaper, since its rows may be close together, and read many more than that, after others
 * were changed.  Not if it is bounded by all conditions, or by an equality that leaves few rows.
 */
static bool
has_rival(const TableQuery *q)
{
	foreach_node(IndexOptInfo, other, q->rel->indexlist)
	{
		List	   *conditions = NIL;
		bool		few = false;

		for (int i = 0; i < q->n; i++)
		{
			if (q->c[i].attno != other->indexkeys[0])
				continue;
			conditions = lappend(conditions, q->c[i].rinfo);
			few |= q->c[i].strategy == BTEqualStrategyNumber && selectivity_of(q, &q->c[i]) <= 1.0 / FEW;
		}
		if (conditions != NIL && !few && compared_columns(q, other) == 0 &&
			clauselist_selectivity(q->root, conditions, 0, JOIN_INNER, NULL) <= 1.0 / NARROW)
			return true;
	}
	return false;
}

/* Are there statistics for all columns before the last one? */
static bool
are_analyzed(Oid relid, const IndexOptInfo *info, int ncols)
{
	for (int i = 1; i < ncols - 1; i++)
		if (!SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid),
								   Int16GetDatum(info->indexkeys[i]), BoolGetDatum(false)))
			return false;
	return true;
}

/* Does ANALYZE's estimate do, since a scan of that index is the plan in any case? */
static bool
is_certain(const TableQuery *q, IndexOptInfo *info)
{
	const PlannerInfo *root = q->root;
	Oid			relid = root->simple_rte_array[q->rel->relid]->relid;
	int			ncols = sfx_tells_of_all(info) ? compared_columns(q, info) : 0;

	if (ncols == 0)
		return false;
	if (root->limit_tuples > 0)
		return wants_first_rows(q, info);
	if (root->parent_root || root->tuple_fraction != 0 || root->parse->limitCount)
		return false;
	if (ncols == 1)
		return sfx_histogram_has_few(relid, q->rel, info);
	return sfx_histogram_is_fresh(relid, info) && are_analyzed(relid, info, ncols) &&
		leave_few(q, info, ncols);
}

bool
sfx_analyze_will_do(PlannerInfo *root, RelOptInfo *rel)
{
	TableQuery	q = {.root = root,.rel = rel};

	/* between such subplans core chooses by the number of rows */
	if (root->hasAlternativeSubPlans || !find_comparisons(&q))
		return false;
	foreach_node(IndexOptInfo, info, rel->indexlist)
	{
		if (is_certain(&q, info) && !has_rival(&q))
			return true;
	}
	/* what core has computed for this is not by counts */
	for (int i = 0; i < q.n; i++)
	{
		/* core's mark of a redundant condition, which only joins have */
		Assert(q.c[i].rinfo->norm_selec <= 1);
		q.c[i].rinfo->norm_selec = -1;
	}
	return false;
}
