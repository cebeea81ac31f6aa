/*-------------------------------------------------------------------------
 * agg_offer.c - aggregates computed by the index: what a table's indexes offer, and at what cost
 *
 * Core decides which conditions an index answers, when it makes index-only paths for the table.  It
 * may drop such a path before the hook for aggregates runs, because another path is cheaper for
 * reading rows.  So each path is noted when its estimate is asked for, by planner run.  The hook
 * then looks up the table's paths, finds out which of them have what the query wants (agg_want.c),
 * and takes the cheapest: a node (agg_exec.c) over that path.
 *
 * Declined are conditions that the index does not answer alone, row-level security, TABLESAMPLE,
 * and tables whose visibility map has more pages than may stay pinned.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_exec.h"
#include "agg_bucket.h"
#include "agg_offer.h"
#include "agg_partial.h"
#include "compat.h"
#include "settings.h"
#include "visible.h"

#include <math.h>

#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/selfuncs.h"

/* in cpu_tuple_cost: for an entry that is decoded and tested ... */
#define COUNT_COST		0.08
/* ... for its key, and for each value that is computed with, or that one by one ... */
#define KEY_COST		0.05
#define VALUE_COST		0.05
#define SLOW_ROW_COST	0.5
#define SLOW_VALUE_COST	0.2
/* ... for a group, and for a state of it that core's functions make (agg_partial.c) */
#define GROUP_COST		1.0
#define STATE_COST		60.0

typedef struct SfxAggCandidate
{
	PlannerInfo *root;
	IndexPath	path;			/* a copy: core may free the original */
	Cost		startup;		/* the access method's estimate */
	Cost		total;
	Selectivity selectivity;
} Candidate;

static bool aggregates = true;

/*
 * Of the current planner run; runs can be nested, as functions are inlined and folded during
 * planning.
 */
static bool planning = false;
static List *candidates = NIL;

static planner_hook_type prev_planner = NULL;

void
sfx_agg_offer_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.aggregates",
							 "Lets surfidx indexes compute aggregates without handing out rows.",
							 NULL, &aggregates, true, PGC_USERSET, 0, NULL, NULL, NULL);
}

/* ---- paths noted ---- */

static bool
asks_groups(const Query *parse)
{
	return parse->hasAggs || parse->groupClause != NIL ||
		(parse->distinctClause != NIL && !parse->hasDistinctOn);
}

void
sfx_agg_note_path(PlannerInfo *root, const IndexPath *path, Cost startup, Cost total,
				  Selectivity selectivity)
{
	Candidate  *c;

	if (!planning || !aggregates || !asks_groups(root->parse) ||
		path->path.pathtype != T_IndexOnlyScan || path->path.param_info != NULL ||
		path->indexscandir == BackwardScanDirection || path->indexinfo->hypothetical)
		return;
	c = palloc(sizeof(Candidate));
	c->root = root;
	c->path = *path;
	c->startup = startup;
	c->total = total;
	c->selectivity = selectivity;
	candidates = lappend(candidates, c);
}

/* Planner hook: begins and ends a run. */
static PlannedStmt *
note_planner(SFX_PLANNER_PARAMS)
{
	List	   *outer = candidates;
	bool		outer_planning = planning;
	PlannedStmt *result;

	candidates = NIL;
	planning = true;
	PG_TRY();
	{
		result = prev_planner ? prev_planner(SFX_PLANNER_ARGS) :
			standard_planner(SFX_PLANNER_ARGS);
	}
	PG_FINALLY();
	{
		candidates = outer;
		planning = outer_planning;
	}
	PG_END_TRY();
	return result;
}

void
sfx_agg_offer_init(void)
{
	prev_planner = planner_hook;
	planner_hook = note_planner;
}

bool
sfx_agg_may_offer(void)
{
	return aggregates && enable_indexscan && candidates != NIL;
}

/* ---- what is asked for ---- */

bool
sfx_agg_fits_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->tablesample != NULL || rte->securityQuals != NIL)
		return false;
	/* more of the map than may stay pinned: see visible.c */
	return rel->pages / sfx_visibility_blocks() < (BlockNumber) sfx_visibility_max_pages();
}

bool
sfx_agg_answers_all(RelOptInfo *rel, const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant || rinfo->security_level > 0)
			return false;
		if (is_redundant_with_indexclauses(rinfo, path->indexclauses))
			continue;
		if (contain_mutable_functions((Node *) rinfo->clause) ||
			!predicate_implied_by(list_make1(rinfo->clause), path->indexinfo->indpred, false))
			return false;
	}
	return true;
}

/* ---- the path ---- */

Cost
sfx_agg_heap_cost(const RelOptInfo *rel, double rows)
{
	double		pages = Max((double) rel->pages, 1);
	double		hidden = 1 - rel->allvisfrac;
	double		visited = Min(2 * pages * rows / (2 * pages + rows), pages) * hidden;
	double		nearer = (random_page_cost - seq_page_cost) * sqrt(visited / pages);

	return visited * (random_page_cost - nearer) + rows * hidden * cpu_tuple_cost;
}

double
sfx_agg_count_groups(PlannerInfo *root, const SfxAggQuestion *question, double rows)
{
	double		buckets = -1;
	double		groups;
	List	   *others;

	if (question->groups == NIL)
		return 1;
	if (question->bucket)
		buckets = sfx_bucket_number(root, (FuncExpr *) question->bucket, question->bucketed);
	groups = estimate_num_groups(root, question->groups, rows, NULL, NULL);
	if (buckets < 0)
		return groups;
	others = list_delete(list_copy(question->groups), question->bucket);
	if (others != NIL)
		buckets *= estimate_num_groups(root, others, rows, NULL, NULL);
	return clamp_row_est(Min(groups, buckets));
}

/* Number of outputs that are states in a form of core's own. */
static int
count_states(const SfxAggWanted *w)
{
	ListCell   *lc;
	int			n = 0;

	foreach(lc, w->exprs)
	{
		const Aggref *agg = (const Aggref *) lfirst(lc);

		n += IsA(agg, Aggref) && sfx_agg_is_partial(agg) && agg->aggtranstype == INTERNALOID;
	}
	return n;
}

/*
 * Number of entries that are read, of `rows`.  All of them; or, if groups are longer than a leaf
 * and decided by their ends (Y18), as many of each as are read before the leaps to its end and back
 * from there, and as many again as these descents cost.  *pages: the cost of the index's pages.
 */
static double
entries_read(const Candidate *c, const RelOptInfo *rel, const SfxAggWanted *w, double groups,
			 double rows, Cost *pages)
{
	const IndexOptInfo *info = c->path.indexinfo;
	double		a_leaf = rel->tuples / Max(info->pages, 1);
	int			descents = w->values > 0 ? 2 : 1;
	double		each = SFX_LEAP_FIRST * (1 + descents);

	if (rows / groups <= Max(each, a_leaf) ||
		!sfx_groups_may_leap(&w->grouping, w->outputs, list_length(w->exprs)))
		return rows;
	*pages = Min(*pages, groups * (1 + descents) * random_page_cost);
	return groups * each;
}

/* The access method's estimate without its part for rows, and the cost of computing. */
static Cost
compute_cost(const RelOptInfo *rel, const Candidate *c, const SfxAggWanted *w, double groups)
{
	double		rows = clamp_row_est(c->selectivity * rel->tuples);
	double		row_cost = (cpu_index_tuple_cost +
							list_length(c->path.indexclauses) * cpu_operator_cost);
	Cost		pages = Max(c->total - c->startup - rows * row_cost, 0);
	double		each = COUNT_COST + VALUE_COST * (w->values - w->slow) + SLOW_VALUE_COST * w->slow;
	double		group = GROUP_COST + STATE_COST * count_states(w);

	if (w->slow > 0)
		each += SLOW_ROW_COST;
	if (w->values > 0 || w->grouping.columns > 0 || w->grouping.distinct)
		each += KEY_COST;
	rows = entries_read(c, rel, w, groups, rows, &pages);
	return c->startup + pages + sfx_agg_heap_cost(rel, rows) +
		(rows * each + groups * group) * cpu_tuple_cost;
}

/* ---- the node ---- */

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *custom_plans)
{
	List	   *having = linitial(path->custom_private);
	const SfxAggWanted *wanted = lsecond(path->custom_private);

	return (Plan *) sfx_agg_make_plan(linitial(custom_plans), wanted, tlist, having);
}

static const CustomPathMethods path_methods = {
	.CustomName = "SurfidxAggregate",
	.PlanCustomPath = make_plan
};

/*
 * The index-only scan for core, at core's cost; EXPLAIN shows its cost without handing out rows, if
 * that is less.  As a rule it is, and core need not be asked: it adds rows, and pages of the table,
 * to the index's estimate.
 */
static IndexPath *
make_child(PlannerInfo *root, const Candidate *c, Cost cost)
{
	IndexPath  *child = makeNode(IndexPath);
	const RelOptInfo *rel = c->path.path.parent;

	*child = c->path;
	child->path.pathkeys = NIL;
	child->path.rows = rel->rows;
	child->indextotalcost = c->total;
	child->indexselectivity = c->selectivity;
	if (cost > c->total + cpu_tuple_cost * clamp_row_est(c->selectivity * rel->tuples))
	{
		planning = false;
		cost_index(child, root, 1.0, false);
		planning = true;
		cost = Min(child->path.total_cost, cost);
	}
	child->path.startup_cost = c->startup;
	child->path.total_cost = cost;
	return child;
}

/* The order in which groups come: the scan's order, as far as it is by grouping columns. */
static List *
groups_order(const IndexPath *path, const SfxAggQuestion *question)
{
	List	   *keys = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, path->path.pathkeys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		bool		found = false;

		foreach(lc2, SfxClassMembers(key->pk_eclass, path->path.parent->relid))
		{
			Expr	   *expr = lfirst_node(EquivalenceMember, lc2)->em_expr;

			/* varchar's order is text's */
			while (expr && IsA(expr, RelabelType))
				expr = ((RelabelType *) expr)->arg;
			found |= list_member(question->groups, expr);
		}
		if (!found)
			break;
		keys = lappend(keys, key);
	}
	return keys;
}

CustomPath *
sfx_agg_node_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target,
				  const SfxAggQuestion *question, const SfxAggOffer *offer, List *having)
{
	CustomPath *path = makeNode(CustomPath);
	IndexPath  *child = make_child(root, offer->candidate, offer->cost);
	SfxAggWanted *wanted = palloc(sizeof(SfxAggWanted));
	Cost		cost = child->path.total_cost;
	bool		grouped = question->groups != NIL;
	double		rows = offer->groups;
	QualCost	quals;

	*wanted = offer->wanted;
	cost_qual_eval(&quals, having, NULL);
	path->path.pathtype = T_CustomScan;
	path->path.parent = parent;
	path->path.pathtarget = target;
	path->path.parallel_safe = (parent->consider_parallel && child->path.parallel_safe) ||
		SFX_MUTANT("workers take all");
	path->path.startup_cost = (grouped ? child->path.startup_cost : cost) + quals.startup +
		target->cost.startup;
	path->path.total_cost = cost + quals.startup + target->cost.startup + rows * quals.per_tuple;
	if (having != NIL)
		rows = clamp_row_est(rows * clauselist_selectivity(root, having, 0, JOIN_INNER, NULL));
	path->path.rows = grouped ? rows : 1;
	path->path.total_cost += path->path.rows * target->cost.per_tuple;
	if (!grouped)
		path->path.startup_cost = path->path.total_cost;
	path->path.pathkeys = groups_order(&offer->candidate->path, question);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->custom_private = list_make2(having, wanted);
	path->methods = &path_methods;
	return path;
}

/* What an index offers by a scan along that path.  False: nothing. */
static bool
find_offer(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question, const Candidate *c,
		   SfxAggOffer *offer)
{
	if (c->root != root || c->path.path.parent != rel || !sfx_agg_answers_all(rel, &c->path) ||
		!sfx_agg_wanted(root, rel, question, &c->path, &offer->wanted))
		return false;
	offer->candidate = c;
	offer->groups = sfx_agg_count_groups(root, question,
										 clamp_row_est(c->selectivity * rel->tuples));
	offer->cost = compute_cost(rel, c, &offer->wanted, offer->groups);
	return true;
}

bool
sfx_agg_best_offer(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question,
				   SfxAggOffer *best)
{
	SfxAggOffer offer;
	ListCell   *lc;

	best->candidate = NULL;
	if (!sfx_agg_fits_table(root, rel))
		return false;
	foreach(lc, candidates)
	{
		if (find_offer(root, rel, question, lfirst(lc), &offer) &&
			(best->candidate == NULL || offer.cost < best->cost))
			*best = offer;
	}
	return best->candidate != NULL;
}

List *
sfx_agg_offers(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question)
{
	SfxAggOffer *offer = palloc(sizeof(SfxAggOffer));
	List	   *offers = NIL;
	ListCell   *lc;

	if (question->groups == NIL)
		return sfx_agg_best_offer(root, rel, question, offer) ? list_make1(offer) : NIL;
	if (!sfx_agg_fits_table(root, rel))
		return NIL;
	foreach(lc, candidates)
	{
		if (!find_offer(root, rel, question, lfirst(lc), offer))
			continue;
		offers = lappend(offers, offer);
		offer = palloc(sizeof(SfxAggOffer));
	}
	return offers;
}
