/*-------------------------------------------------------------------------
 * cost.c - what the planner is told about the price of a scan
 *
 * The same amount as a btree of as many pages, so that plans are those that a btree would get; with
 * the leaps that scans make over values of columns without equality, for which core has an estimate
 * from 18 on; and one more descent for each run in front of the main tree.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_offer.h"
#include "cost.h"
#include "meta.h"
#include "metacache.h"
#include "settings.h"

#include <math.h>

#include "access/stratnum.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Times cpu_operator_cost for each page on the way down: what btree's estimate has. */
#define DESCENT_PAGE	50.0

/* Entries of a leaf with cut keys for each one of a whole leaf: two to four. */
#define CUT_LEAF_ENTRIES	3.0

/* The index's metapage; NULL: it has none, or none that can be read. */
static const SfxMeta *
known_meta(const IndexOptInfo *info)
{
	const SfxGlance *g = info->hypothetical || !sfx_preloaded ? NULL : sfx_glance(info->indexoid);

	return g && g->sound ? &g->meta : NULL;
}

/*
 * What searching the runs in front of the main tree costs, as btree's estimate counts a descent:
 * comparisons and pages.  Core knows the height of its own trees only before 18: it is told here.
 * An index that somebody only thinks of has one inner level.
 */
static Cost
look_at_runs(IndexOptInfo *info, const SfxMeta *meta)
{
	Cost		cost = 0;

	for (int r = 0; meta && r < meta->nruns - 1; r++)
		cost += (ceil(log2(Max((double) meta->runs[r].entries, 2))) + (meta->runs[r].level + 1) * DESCENT_PAGE) * cpu_operator_cost;
	if (info->tree_height < 0)
		info->tree_height = meta ? SfxMetaMain(meta)->level : 1;
	return cost;
}

/* Needs an index-only scan no keys: no column is read, and each condition bounds the range? */
static bool
needs_no_keys(const IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;

	return info->rel->reltarget->exprs == NIL && info->nkeycolumns == 1 &&
		list_length(info->indrestrictinfo) == list_length(path->indexclauses);
}

/*
 * What an index-only scan pays for visits to rows, for their keys, where leaves have cut ones: as
 * core charges a plain scan.
 */
static Cost
key_recovery_cost(PlannerInfo *root, const IndexPath *path, const SfxMeta *meta, double loop_count,
				  Selectivity selectivity, double correlation)
{
	const IndexOptInfo *info = path->indexinfo;
	const SfxRun *main = meta ? SfxMetaMain(meta) : NULL;
	double		rows;
	double		pages;
	double		in_order;
	double		cut;			/* share of entries */

	if (main == NULL || main->cut == 0 || path->path.pathtype != T_IndexOnlyScan ||
		needs_no_keys(path))
		return 0;
	rows = clamp_row_est(selectivity * info->rel->tuples);
	pages = index_pages_fetched(rows * loop_count, info->rel->pages, info->pages, root);
	pages /= loop_count;
	in_order = Min(pages, ceil(selectivity * info->rel->pages));
	pages += correlation * correlation * (in_order - pages);
	cut = main->cut * CUT_LEAF_ENTRIES;
	cut /= Max(cut + (double) main->leaves - main->cut, 1);
	return (pages * random_page_cost + rows * cpu_tuple_cost) * Min(cut, 1);
}

#if !SFX_BTREE_SKIPS

/*
 * Does the clause fix its column to single values, so that the next column's clause still narrows
 * the range read?
 */
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

/*
 * How many of a path's clauses bound the range that is read; the rest are checked entry by entry.
 */
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

/*
 * How many runs of entries with equal values in the columns before col there are among rows
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
		ListCell   *lc;

		foreach(lc, path->indexclauses)
		{
			IndexClause *clause = lfirst_node(IndexClause, lc);
			Expr	   *qual = linitial_node(RestrictInfo, clause->indexquals)->clause;

			fixed |= clause->indexcol == i && !IsA(qual, ScalarArrayOpExpr) && is_equality(info, clause);
		}
		if (!fixed)
			exprs = lappend(exprs, list_nth_node(TargetEntry, info->indextlist, i)->expr);
	}
	return exprs ? estimate_num_groups(root, exprs, Max(rows, 1), NULL, NULL) : 1;
}

/* The part of the table that the clauses [from, to) of a path select. */
static double
clauses_selectivity(PlannerInfo *root, const IndexPath *path, int from, int to)
{
	List	   *quals = NIL;

	for (int i = from; i < to; i++)
		quals = list_concat(quals, list_copy(list_nth_node(IndexClause, path->indexclauses, i)->indexquals));
	return clauselist_selectivity(root, quals, path->indexinfo->rel->relid, JOIN_INNER, NULL);
}

/*
 * What a scan costs that leaps: for each group of equal values in the columns before that of the
 * first clause that bounds nothing a descent and a leaf, and the entries that this clause lets
 * pass. Taken if it is less than *total.
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
	costs.indexTotalCost += groups * (ceil(log(Max(info->tuples, 2)) / log(2.0)) + (info->tree_height + 1) * DESCENT_PAGE) *
		cpu_operator_cost;
	if (costs.indexTotalCost >= *total)
		return;
	*total = costs.indexTotalCost;
	*pages = costs.numIndexPages;
}

#endif							/* !SFX_BTREE_SKIPS */

void
sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
				 Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	GenericCosts costs = {0};
	const SfxMeta *meta = known_meta(info);
	Cost		runs = look_at_runs(info, meta);

	/*
	 * btree's estimate needs the ordering operators that core found for the columns; without them,
	 * it would crash
	 */
	if (info->sortopfamily != NULL)
	{
		btcostestimate(root, path, loop_count, startup, total, selectivity, correlation, pages);
#if !SFX_BTREE_SKIPS
		/* the clauses of an only column bound the range, all of them */
		if (info->nkeycolumns > 1 && count_bounds(path) < list_length(path->indexclauses))
			leap_costs(root, path, loop_count, count_bounds(path), total, pages);
#endif
		*startup += runs;
		*total += runs + key_recovery_cost(root, path, meta, loop_count, *selectivity,
										   *correlation);
		sfx_agg_note_path(root, path, *startup, *total, *selectivity);
		return;
	}
	genericcostestimate(root, path, loop_count, &costs);
	*startup = costs.indexStartupCost + runs;
	*total = costs.indexTotalCost + runs;
	*selectivity = costs.indexSelectivity;
	*correlation = costs.indexCorrelation;
	*pages = costs.numIndexPages;
}
