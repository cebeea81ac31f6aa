/*-------------------------------------------------------------------------
 * leap_cost.c - the cost of scans that leap over values of columns without an equality, before 18
 *
 * From 18 on btree's own estimate knows of such scans.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "leap_cost.h"

#include <math.h>

#include "access/stratnum.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* as in cost.c */
#define DESCENT_PAGE	50.0

/*
 * Does the clause fix its column to single values, so that the next column's clause still narrows
 * the range?
 */
static bool
is_equality(const IndexOptInfo *info, const IndexClause *clause)
{
	foreach_node(RestrictInfo, rinfo, clause->indexquals)
	{
		Expr	   *qual = rinfo->clause;
		Oid			op = InvalidOid;

		if (IsA(qual, NullTest) && ((NullTest *) qual)->nulltesttype == IS_NULL)
			return true;
		if (IsA(qual, OpExpr))
			op = ((OpExpr *) qual)->opno;
		else if (IsA(qual, ScalarArrayOpExpr))
			op = ((ScalarArrayOpExpr *) qual)->opno;
		if (OidIsValid(op) &&
			get_op_opfamily_strategy(op, info->opfamily[clause->indexcol]) == BTEqualStrategyNumber)
			return true;
	}
	return false;
}

/*
 * How many of a path's clauses bound the range that is read; the others are checked entry by entry.
 */
static int
count_bounds(const IndexPath *path)
{
	int			n = 0,
				col = 0;
	bool		fixed = false;	/* column col has an equality */

	foreach_node(IndexClause, clause, path->indexclauses)
	{
		if (clause->indexcol != col)
		{
			if (!fixed || clause->indexcol != col + 1)
				break;
			col++;
			fixed = false;
		}
		fixed = fixed || is_equality(path->indexinfo, clause);
		n++;
	}
	return n;
}

/*
 * How many sequences of entries with equal values in the columns before col there are among `rows`
 * entries: each may need a leap.
 */
static double
count_groups(PlannerInfo *root, const IndexPath *path, int col, double rows)
{
	IndexOptInfo *info = path->indexinfo;
	List	   *exprs = NIL;

	for (int i = 0; i < col; i++)
	{
		bool		fixed = false;

		foreach_node(IndexClause, clause, path->indexclauses)
		{
			Expr	   *qual = linitial_node(RestrictInfo, clause->indexquals)->clause;

			fixed |= clause->indexcol == i && !IsA(qual, ScalarArrayOpExpr) && is_equality(info, clause);
		}
		if (!fixed)
			exprs = lappend(exprs, list_nth_node(TargetEntry, info->indextlist, i)->expr);
	}
	return exprs ? estimate_num_groups(root, exprs, Max(rows, 1), NULL, NULL) : 1;
}

/* The part of the table that clauses [from, to) of a path select. */
static double
clauses_selectivity(PlannerInfo *root, const IndexPath *path, int from, int to)
{
	List	   *quals = NIL;

	for (int i = from; i < to; i++)
		quals = list_concat(quals, list_copy(list_nth_node(IndexClause, path->indexclauses, i)->indexquals));
	return clauselist_selectivity(root, quals, path->indexinfo->rel->relid, JOIN_INNER, NULL);
}

/*
 * The cost of a scan that leaps: a descent and a leaf for each group of equal values in the columns
 * before that of the first clause that bounds nothing, and the entries that this clause lets pass.
 * Taken if it is less than *total.
 */
static void
leap_costs(PlannerInfo *root, IndexPath *path, double loop_count, int bounds, Cost *total, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	int			n = list_length(path->indexclauses);
	int			col = list_nth_node(IndexClause, path->indexclauses, bounds)->indexcol;
	int			end = bounds;
	double		rows = info->tuples * clauses_selectivity(root, path, 0, bounds);
	double		groups = count_groups(root, path, col, rows);
	double		leaf = info->tuples / Max(info->pages, 1);
	GenericCosts costs = {0};

	while (end < n && list_nth_node(IndexClause, path->indexclauses, end)->indexcol == col)
		end++;
	costs.numIndexTuples = rint(rows * clauses_selectivity(root, path, bounds, end) + groups * leaf);
	if (costs.numIndexTuples < 1 || costs.numIndexTuples >= rows)
		return;
	genericcostestimate(root, path, loop_count, &costs);
	costs.indexTotalCost += groups * (ceil(log(Max(info->tuples, 2)) / log(2.0)) +
									  (info->tree_height + 1) * DESCENT_PAGE) * cpu_operator_cost;
	if (costs.indexTotalCost >= *total)
		return;
	*total = costs.indexTotalCost;
	*pages = costs.numIndexPages;
}

void
sfx_leap_costs(PlannerInfo *root, IndexPath *path, double loop_count, Cost *total, double *pages)
{
	int			bounds;

	/* the clauses of an only column bound the range, all of them */
	if (SFX_BTREE_SKIPS || path->indexinfo->nkeycolumns == 1)
		return;
	bounds = count_bounds(path);
	if (bounds < list_length(path->indexclauses))
		leap_costs(root, path, loop_count, bounds, total, pages);
}
