/*-------------------------------------------------------------------------
 * cost.c - what the planner is told about the price of a scan
 *
 * The same amount as a btree of as many pages, so that plans are those that a btree would get.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"

#include <math.h>

#include "access/stratnum.h"
#include "nodes/pathnodes.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Children of an inner page, roughly: only the logarithm matters. */
#define TYPICAL_FANOUT	256.0

/* Inner levels of a tree of that many pages. */
int
sfx_tree_height(BlockNumber pages)
{
	return pages > SFX_FIRST_BLKNO + 1 ? (int) ceil(log(pages - SFX_FIRST_BLKNO) / log(TYPICAL_FANOUT)) : 0;
}

/* Does the clause fix its column to single values, so that the next column's clause still narrows the range read? */
static bool
is_equality(const IndexOptInfo *info, const IndexClause *clause)
{
	ListCell   *lc;

	foreach(lc, clause->indexquals)
	{
		Expr	   *qual = lfirst_node(RestrictInfo, lc)->clause;
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

/* How many of a path's clauses bound the range that is read; the rest are checked entry by entry. */
static int
count_bounds(const IndexPath *path)
{
	int			n = 0,
				col = 0;
	bool		fixed = false;	/* column col has an equality */
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

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

void
sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
				 Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	GenericCosts costs = {0};

	/* core knows the height only of its own trees before 18 */
	if (info->tree_height < 0)
		info->tree_height = sfx_tree_height(info->pages);

	/* btree's estimate needs the ordering operators that core found for the columns; without them, it would crash */
	if (info->sortopfamily != NULL)
	{
		int			bounds = count_bounds(path);
		IndexPath	bounded = *path;

		if (!SFX_BTREE_SKIPS || bounds == list_length(path->indexclauses))
		{
			btcostestimate(root, path, loop_count, startup, total, selectivity, correlation, pages);
			return;
		}
		/* btree would leap from value to value of the columns before; here all entries between the bounds are read */
		bounded.indexclauses = list_copy_head(path->indexclauses, bounds);
		btcostestimate(root, &bounded, loop_count, startup, total, selectivity, correlation, pages);
		genericcostestimate(root, path, loop_count, &costs);
		*selectivity = costs.indexSelectivity;
		return;
	}
	genericcostestimate(root, path, loop_count, &costs);
	*startup = costs.indexStartupCost;
	*total = costs.indexTotalCost;
	*selectivity = costs.indexSelectivity;
	*correlation = costs.indexCorrelation;
	*pages = costs.numIndexPages;
}
