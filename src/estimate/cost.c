/*-------------------------------------------------------------------------
 * cost.c - what the planner is told about the cost of a scan
 *
 * The cost of a btree with as many pages, so that plans are those that a btree would get; plus the
 * leaps that scans make over values of columns without equality, for which core has an estimate
 * from 18 on; plus one more descent for each run in front of the main tree; plus visits to rows for
 * cut keys; less what is saved by asking for pages of the table before their rows are visited.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_offer.h"
#include "cost.h"
#include "heap_ahead.h"
#include "leap_cost.h"
#include "meta.h"
#include "metacache.h"
#include "prefix.h"
#include "settings.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/index_selfuncs.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

/* times cpu_operator_cost, for each page of a descent: btree's figure */
#define DESCENT_PAGE	50.0

/* entries of a leaf with cut keys, for each entry of a whole leaf: two to four */
#define CUT_LEAF_ENTRIES	3.0

/*
 * times cpu_operator_cost, for a row that is visited for its key; and as much again if the previous
 * one is on another page (docs/dev/measured/2026-11-cut-scans.md)
 */
#define KEY_VISIT		25.0
#define FAR_VISIT		150.0

static set_rel_pathlist_hook_type prev_pathlist = NULL;

/* The relation of which an index-only scan was charged for such visits last. */
static const RelOptInfo *charged = NULL;

/* The index's metapage, as kept by this backend; NULL: there is none, or it cannot be read. */
static const SfxMeta *
known_meta(const IndexOptInfo *info)
{
	const SfxGlance *g = info->hypothetical || !sfx_preloaded ? NULL : sfx_glance(info->indexoid);

	return g && g->sound ? &g->meta : NULL;
}

/*
 * The cost of searching the runs in front of the main tree, as btree's estimate counts a descent:
 * comparisons and pages.  Also tells core the height of the tree, which before 18 it knows of
 * btrees only.  A hypothetical index has one inner level.
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

/*
 * Can an index-only scan do without keys: is no column read, and does each condition bound the
 * range?
 */
static bool
needs_no_keys(const IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;

	return info->rel->reltarget->exprs == NIL && info->nkeycolumns == 1 &&
		list_length(info->indrestrictinfo) == list_length(path->indexclauses);
}

/*
 * The cost of visiting rows for their keys in an index-only scan, where leaves have cut keys: pages
 * as core charges them to a plain scan, once each, and further visits to them, which core takes to
 * be free.
 */
static Cost
key_recovery_cost(PlannerInfo *root, const IndexPath *path, const SfxMeta *meta, double loop_count,
				  Selectivity selectivity, double correlation)
{
	const IndexOptInfo *info = path->indexinfo;
	const SfxRun *main = meta ? SfxMetaMain(meta) : NULL;
	double		apart = 1 - correlation * correlation;
	double		rows;
	double		pages;			/* of one scan */
	double		shared;			/* ... if others of a loop need them, too */
	double		in_order;
	double		fresh;			/* share of pages for which core does not charge */
	Cost		again;
	double		cut;			/* share of entries */

	if (main == NULL || main->cut == 0 || path->path.pathtype != T_IndexOnlyScan ||
		needs_no_keys(path))
		return 0;
	rows = clamp_row_est(selectivity * info->rel->tuples);
	pages = index_pages_fetched(rows, info->rel->pages, info->pages, root);
	shared = index_pages_fetched(rows * loop_count, info->rel->pages, info->pages, root);
	shared /= loop_count;
	in_order = Max(Min(shared, ceil(selectivity * info->rel->pages)), 1);
	again = (KEY_VISIT + apart * FAR_VISIT) * cpu_operator_cost * Max(rows - pages, 0);
	cut = main->cut * CUT_LEAF_ENTRIES;
	cut /= Max(cut + (double) main->leaves - main->cut, 1);
	charged = info->rel;
	/* core charges for pages that are not all-visible, in whole ones, and the visit is the same */
	fresh = 1 - Min(ceil(shared * (1 - info->rel->allvisfrac)) / Max(shared, 1), 1);
	return Min(cut, 1) * (again + fresh *
						  (apart * shared * random_page_cost +
						   (1 - apart) * (random_page_cost + (in_order - 1) * seq_page_cost)));
}

/*
 * A scan that reads ahead (R13) waits less for pages in no order.  Core takes a cost between that
 * of pages at random and that of pages in order, by the square of the correlation.  Returned is the
 * correlation for which it takes what such a scan costs.  On inner sides of nested loops the
 * correlation stays as it is, so that the planner chooses among kinds of joins as ever.
 */
static double
correlation_ahead(PlannerInfo *root, const IndexPath *path, double loop_count,
				  Selectivity selectivity, double correlation)
{
	const RelOptInfo *rel = path->indexinfo->rel;
	double		rows = clamp_row_est(selectivity * rel->tuples);
	double		pages = index_pages_fetched(rows, rel->pages, path->indexinfo->pages, root);
	double		saves = sfx_ahead_saves(rel->reltablespace, rows, pages, rel->pages);
	double		random;
	double		seq;
	double		in_order;
	double		at_random;
	double		cost;

	if (loop_count > 1 || saves == 0)
		return correlation;
	get_tablespace_page_costs(rel->reltablespace, &random, &seq);
	at_random = pages * random;
	in_order = random + (Max(ceil(selectivity * rel->pages), 1) - 1) * seq;
	if (at_random <= in_order)
		return correlation;
	cost = at_random + correlation * correlation * (in_order - at_random);
	cost *= 1 - saves;
	cost = Max(cost, in_order);
	Assert(cost <= at_random);
	return copysign(sqrt((at_random - cost) / (at_random - in_order)), correlation);
}

bool
sfx_is_our_info(const IndexOptInfo *info)
{
	return (void *) info->amcostestimate == (void *) sfx_costestimate;
}

/*
 * Where an index-only scan is possible, core prices bitmap scans by its path, although these need
 * no keys.  So they are offered once more, by paths of indexes that can do nothing else.
 */
static void
offer_bitmaps(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	bool		none[INDEX_MAX_KEYS] = {false};
	List	   *were = NIL;
	ListCell   *lc,
			   *was;

	if (prev_pathlist)
		prev_pathlist(root, rel, rti, rte);
	if (charged != rel)
		return;
	charged = NULL;
	foreach_ptr(IndexOptInfo, info, rel->indexlist)
	{
		were = lappend(were, info->canreturn);
		if (!sfx_is_our_info(info))
			continue;
		info->canreturn = none;
		info->amhasgettuple = false;
	}
	create_index_paths(root, rel);
	forboth(lc, rel->indexlist, was, were)
	{
		IndexOptInfo *info = lfirst(lc);

		info->canreturn = lfirst(was);
		info->amhasgettuple |= sfx_is_our_info(info);
	}
}

void
sfx_cost_init(void)
{
	prev_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = offer_bitmaps;
}

void
sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
				 Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	GenericCosts costs = {0};
	const SfxMeta *meta = known_meta(info);
	SfxMeta		copy;
	Cost		runs;

	/* what estimates call may read other indexes, whose metapages replace the one that is kept */
	if (meta)
	{
		sfx_meta_assign(&copy, meta);
		meta = &copy;
	}
	runs = look_at_runs(info, meta);

	sfx_prefix_mark_exact(path);

	/*
	 * btree's estimate needs the ordering operators that core has found for the columns; it would
	 * crash without them.
	 */
	if (info->sortopfamily != NULL)
	{
		btcostestimate(root, path, loop_count, startup, total, selectivity, correlation, pages);
		sfx_leap_costs(root, path, loop_count, total, pages);
		*startup += runs;
		*total += runs + key_recovery_cost(root, path, meta, loop_count, *selectivity,
										   *correlation);
		sfx_agg_note_path(root, path, *startup, *total, *selectivity);
		*correlation = correlation_ahead(root, path, loop_count, *selectivity, *correlation);
		return;
	}
	genericcostestimate(root, path, loop_count, &costs);
	*startup = costs.indexStartupCost + runs;
	*total = costs.indexTotalCost + runs;
	*selectivity = costs.indexSelectivity;
	*correlation = costs.indexCorrelation;
	*pages = costs.numIndexPages;
}
