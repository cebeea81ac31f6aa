/*-------------------------------------------------------------------------
 * agg_offer.c - aggregates computed by the index: what a table's indexes offer, and at what cost
 *
 * Core decides which conditions an index answers, when it makes index-only paths for the table.  It
 * may drop such a path before the hook for aggregates runs, because another path is cheaper for
 * reading rows.  So each path is noted when its estimate is asked for, by planner run.  The hook
 * then looks up the table's paths, finds out which of them have what the query wants (agg_want.c),
 * and takes the cheapest: a node (agg_exec.c) over that path.
 *
 * Declined are conditions that need more than an entry, row-level security, TABLESAMPLE,
 * and tables whose visibility map has more pages than may stay pinned.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_exec.h"
#include "agg_bucket.h"
#include "agg_offer.h"
#include "agg_partial.h"
#include "count_column.h"
#include "heap_ahead.h"
#include "visible.h"

#include <math.h>

#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* in cpu_tuple_cost: for an entry that is decoded and tested ... */
#define COUNT_COST		0.08
/* ... for its key, and for each value that is computed with, or that one by one ... */
#define KEY_COST		0.05
#define VALUE_COST		0.05
#define SLOW_ROW_COST	0.5
#define SLOW_VALUE_COST	0.2
/* ... for each FILTER that is evaluated, or that bytes of keys tell */
#define FILTER_COST		1.5
#define TEST_COST		0.1
/* ... for a group, and for a state of it that core's functions make (agg_partial.c) */
#define GROUP_COST		1.0
#define STATE_COST		60.0
/* parallel_setup_cost is that of rows which take several times as long as the above do */
#define SETUP_COSTS		8.0

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
	return parse->hasAggs || parse->groupClause != NIL || parse->distinctClause != NIL;
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
		if (aggregates)
			sfx_count_rows_of_columns(parse);
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
	if (!aggregates || !enable_indexscan)
		return sfx_agg_note(0, "surfidx.aggregates or enable_indexscan is off");
	return candidates != NIL ||
		sfx_agg_note(0, "no surfidx index has all columns that are asked for");
}

/* ---- what is asked for ---- */

bool
sfx_agg_fits_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->tablesample != NULL || rte->securityQuals != NIL)
		return sfx_agg_note(0, "the table has row-level security or TABLESAMPLE");
	/* more of the map than may stay pinned: see visible.c */
	return rel->pages / sfx_visibility_blocks() < (BlockNumber) sfx_visibility_max_pages() ||
		sfx_agg_note(0, "the table is too large for shared_buffers");
}

/*
 * The conditions on the table that the index does not answer by its order: they can be evaluated
 * for an entry (agg_expr.c).  False: not all of them.
 */
static bool
find_conditions(RelOptInfo *rel, const IndexPath *path, List **conditions)
{
	*conditions = NIL;
	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
	{
		if (rinfo->pseudoconstant || rinfo->security_level > 0)
			return sfx_agg_note(0, "a condition is constant, or one of row-level security");
		if (is_redundant_with_indexclauses(rinfo, path->indexclauses))
			continue;
		if (contain_volatile_functions((Node *) rinfo->clause) ||
			contain_subplans((Node *) rinfo->clause))
			return sfx_agg_note(0, "a condition is volatile or has a subquery");
		if (contain_mutable_functions((Node *) rinfo->clause) ||
			!predicate_implied_by(list_make1(rinfo->clause), path->indexinfo->indpred, false))
			*conditions = lappend(*conditions, rinfo->clause);
	}
	return true;
}

bool
sfx_agg_answers_all(RelOptInfo *rel, const IndexPath *path)
{
	List	   *conditions;

	return find_conditions(rel, path, &conditions) && conditions == NIL;
}

/* ---- the path ---- */

/*
 * Number of groups of that many rows, where those that come again count each time.  stepped: the
 * column with steps is grouped by these, not by its values.
 */
static double
count_returned(PlannerInfo *root, const SfxAggQuestion *question, bool stepped, double rows)
{
	List	   *columns = list_copy(question->columns);
	double		groups = 1;

	if (question->stepped && stepped)
		groups = sfx_steps_number(root, question->stepped, question->steps);
	if (question->stepped && (!stepped || groups < 0))
	{
		columns = lappend(columns, question->stepped);
		groups = 1;
	}
	if (columns != NIL)
		groups *= estimate_num_groups(root, columns, rows, NULL, NULL);
	return clamp_row_est(Min(groups, rows));
}

Cost
sfx_agg_heap_cost(const RelOptInfo *rel, double rows)
{
	double		pages = Max((double) rel->pages, 1);
	double		hidden = 1 - rel->allvisfrac;
	double		visited = Min(2 * pages * rows / (2 * pages + rows), pages) * hidden;
	double		nearer = (random_page_cost - seq_page_cost) * sqrt(visited / pages);
	double		saves = sfx_ahead_saves(rel->reltablespace, rows, visited, pages);

	return (1 - saves) * visited * (random_page_cost - nearer) + rows * hidden * cpu_tuple_cost;
}

double
sfx_agg_count_groups(PlannerInfo *root, const SfxAggQuestion *question, double rows)
{
	double		groups;

	if (question->groups == NIL)
		return 1;
	groups = estimate_num_groups(root, question->groups, rows, NULL, NULL);
	return clamp_row_est(Min(groups, count_returned(root, question, true, rows)));
}

/* Cost of the outputs of a group that core's functions make: states, and functions. */
static Cost
outputs_cost(const SfxAggWanted *w)
{
	Cost		cost = 0;

	foreach_ptr(Node, expr, w->exprs)
	{
		QualCost	function;

		if (IsA(expr, Aggref))
		{
			if (sfx_agg_is_partial((Aggref *) expr) && ((Aggref *) expr)->aggtranstype == INTERNALOID)
				cost += STATE_COST * cpu_tuple_cost;
			continue;
		}
		cost_qual_eval_node(&function, expr, NULL);
		cost += function.per_tuple;
	}
	return cost;
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

	if (rows / groups <= Max(each, a_leaf) || w->conditions ||
		!sfx_groups_may_leap(&w->grouping, w->outputs, list_length(w->exprs)))
		return rows;
	*pages = Min(*pages, groups * (1 + descents) * random_page_cost);
	return groups * each;
}

/* Cost of rows that have to pass conditions: each is decoded. */
static Cost
conditions_cost(List *conditions, double rows)
{
	QualCost	cost;

	if (conditions == NIL)
		return 0;
	cost_qual_eval(&cost, conditions, NULL);
	return cost.startup + rows * (cost.per_tuple + SLOW_ROW_COST * cpu_tuple_cost);
}

/* Does a filter consist of comparisons of a column, which the ends of a stretch decide (agg_expr.c)? */
static bool
are_comparisons(Expr *filter, const Expr *column)
{
	foreach_ptr(const OpExpr, op, make_ands_implicit(filter))
	{
		if (!IsA(op, OpExpr) || list_length(op->args) != 2 || !equal(linitial(op->args), column) ||
			contain_var_clause(lsecond(op->args)) || get_mergejoin_opfamilies(op->opno) != NIL ||
			SfxOpInterpretation(op->opno) == NIL)
			return false;
	}
	return true;
}

/* The cost of FILTERs: each is evaluated for each key, or row if it uses INCLUDE columns. */
static Cost
filters_cost(PlannerInfo *root, const Candidate *c, const SfxAggWanted *w, double rows)
{
	const IndexOptInfo *info = c->path.indexinfo;
	List	   *keys = NIL;
	double		distinct = -1;
	Cost		sum = 0;

	foreach_node(TargetEntry, target, info->indextlist)
		if (list_length(keys) < info->nkeycolumns)
		keys = lappend(keys, target->expr);
	for (int i = 0; i < list_length(w->exprs); i++)
	{
		const SfxAggOutput *out = &w->outputs[i];
		QualCost	cost;

		if (!sfx_agg_is_filtered(out) || are_comparisons(out->aggref->aggfilter, linitial(keys)))
			continue;
		if (out->tested)
		{
			sum += rows * TEST_COST * cpu_tuple_cost;
			continue;
		}
		if (distinct < 0)
			distinct = estimate_num_groups(root, keys, rows, NULL, NULL);
		cost_qual_eval_node(&cost, (Node *) out->aggref->aggfilter, root);
		sum += (cost.per_tuple + FILTER_COST * cpu_tuple_cost) *
			(list_difference(pull_var_clause((Node *) out->aggref->aggfilter, 0), keys) == NIL ?
			 distinct : rows);
	}
	return sum;
}

/* The cost of computing arguments from a row, and of calling transition functions. */
static Cost
arguments_cost(PlannerInfo *root, const SfxAggWanted *w)
{
	QualCost	cost = {0};

	for (int i = 0; i < list_length(w->exprs); i++)
	{
		const SfxAggOutput *out = &w->outputs[i];
		QualCost	args;

		if (!sfx_agg_is_computed(out))
			continue;
		cost_qual_eval_node(&args, (Node *) out->aggref->args, root);
		cost.per_tuple += args.per_tuple;
		if (out->kind == SFX_AGG_FED)
			add_function_cost(root, sfx_agg_transition(out->aggref), NULL, &cost);
	}
	return cost.per_tuple;
}

/*
 * Cost of the table's pages for rows that are looked at in index order, block by block: core's, which
 * knows how far this is the table's.
 */
static Cost
ordered_heap_cost(PlannerInfo *root, const Candidate *c, double rows)
{
	IndexPath	path = c->path;

	planning = false;
	cost_index(&path, root, 1.0, false);
	planning = true;
	return Max(path.path.total_cost - c->total - rows * cpu_tuple_cost, 0);
}

/*
 * The access method's estimate without its part for rows, and the cost of computing, which *shared
 * becomes.
 */
static Cost
compute_cost(PlannerInfo *root, const RelOptInfo *rel, const Candidate *c, const SfxAggWanted *w,
			 double groups, Cost *shared)
{
	double		rows = clamp_row_est(c->selectivity * rel->tuples);
	double		row_cost = (cpu_index_tuple_cost +
							list_length(c->path.indexclauses) * cpu_operator_cost);
	Cost		pages = Max(c->total - c->startup - rows * row_cost, 0);
	double		each = COUNT_COST + VALUE_COST * (w->values - w->slow) + SLOW_VALUE_COST * w->slow;
	Cost		group = GROUP_COST * cpu_tuple_cost + outputs_cost(w);

	if (w->slow > 0)
		each += SLOW_ROW_COST;
	if (w->values > 0 || w->grouping.columns > 0 || w->grouping.distinct || w->conditions)
		each += KEY_COST;
	rows = entries_read(c, rel, w, groups, rows, &pages);
	*shared = rows * (each * cpu_tuple_cost + arguments_cost(root, w)) + groups * group;
	return c->startup + pages +
		(w->in_order ? ordered_heap_cost(root, c, rows) : sfx_agg_heap_cost(rel, rows)) + *shared;
}

/* ---- the node ---- */

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *custom_plans)
{
	List	   *having = linitial(path->custom_private);
	const SfxAggWanted *wanted = lsecond(path->custom_private);
	const IndexPath *child = linitial(path->custom_paths);

	(void) sfx_agg_note(child->indexinfo->indexoid, "answers");
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

	foreach_node(PathKey, key, path->path.pathkeys)
	{
		bool		found = false;

		foreach_node(EquivalenceMember, member, SfxClassMembers(key->pk_eclass, path->path.parent->relid))
		{
			Expr	   *expr = member->em_expr;

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

/* The same for rows of groups: where their groups differ, what comes after them does not matter. */
static List *
rows_order(const PlannerInfo *root, const IndexPath *path, const SfxAggQuestion *question)
{
	List	   *keys = groups_order(path, question);

	if (question->on && pathkeys_contained_in(root->distinct_pathkeys, keys) &&
		pathkeys_contained_in(root->distinct_pathkeys, root->sort_pathkeys))
		return root->sort_pathkeys;
	return keys;
}

CustomPath *
sfx_agg_node_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target,
				  const SfxAggQuestion *question, const SfxAggOffer *offer, List *having)
{
	CustomPath *path = makeNode(CustomPath);
	IndexPath  *child = make_child(root, offer->candidate, offer->cost - offer->filters);
	SfxAggWanted *wanted = palloc(sizeof(SfxAggWanted));
	Cost		cost = child->path.total_cost + offer->filters;
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
	path->path.pathkeys = question->again ? NIL :
		rows_order(root, &offer->candidate->path, question);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->custom_private = list_make2(having, wanted);
	path->methods = &path_methods;
	return path;
}

/*
 * Is most of what is asked for counted by pages above the leaves, or by the heads of blocks (Y8,
 * Y19)?  Then it takes one process next to no time.
 */
static bool
is_counted(const SfxAggOffer *offer)
{
	const IndexOptInfo *info = offer->candidate->path.indexinfo;
	const SfxAggWanted *w = &offer->wanted;
	double		a_leaf = info->rel->tuples / Max(info->pages, 1);

	return w->values == 0 && !w->conditions && info->rel->allvisfrac >= 1 &&
		offer->candidate->selectivity * info->rel->tuples / offer->groups > a_leaf;
}

/* Has the path ranges of a list, many of which are shorter than a portion? */
static bool
has_lists(const IndexPath *path)
{

	foreach_node(IndexClause, clause, path->indexclauses)
		foreach_node(RestrictInfo, rinfo, clause->indexquals)
		if (IsA(rinfo->clause, ScalarArrayOpExpr))
		return true;
	return false;
}

bool
sfx_agg_share_path(const SfxAggOffer *offer, CustomPath *path)
{
	const IndexOptInfo *info = offer->candidate->path.indexinfo;
	Path	   *child = linitial(path->custom_paths);
	int			workers = compute_parallel_worker(info->rel, -1,
												  ceil(offer->candidate->selectivity * info->pages),
												  max_parallel_workers_per_gather);
	double		shares = workers;
	Cost		setup = (SETUP_COSTS - 1) * parallel_setup_cost;

	if (workers < 1 || !path->path.parallel_safe || is_counted(offer) ||
		has_lists(&offer->candidate->path))
		return false;
	/* as core counts a leader, which has other things to do, too */
	if (parallel_leader_participation)
		shares += Max(1.0 - 0.3 * workers, 0);
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	path->path.rows = clamp_row_est(path->path.rows / shares);
	child->rows = clamp_row_est(child->rows / shares);
	path->path.total_cost *= 1 - offer->shared / offer->cost * (1 - 1 / shares);
	path->path.total_cost += setup;
	path->path.startup_cost = Min(path->path.startup_cost + setup, path->path.total_cost);
	return true;
}

/* What an index offers by a scan along that path.  False: nothing. */
static bool
find_offer(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question, const Candidate *c,
		   SfxAggOffer *offer)
{
	double		rows = clamp_row_est(c->selectivity * rel->tuples);
	List	   *conditions;
	Cost		filtered;

	if (c->root != root || c->path.path.parent != rel ||
		!find_conditions(rel, &c->path, &conditions) ||
		!sfx_agg_wanted(root, rel, question, &c->path, conditions, &offer->wanted))
		return false;
	offer->candidate = c;
	offer->groups = count_returned(root, question, offer->wanted.grouping.steps != NIL, rows);
	offer->filters = filters_cost(root, c, &offer->wanted, rows);
	offer->cost = compute_cost(root, rel, c, &offer->wanted, offer->groups, &offer->shared);
	filtered = offer->filters + conditions_cost(conditions, rows);
	offer->cost += filtered;
	offer->shared += filtered;
	(void) sfx_agg_note(c->path.indexinfo->indexoid, "can answer");
	return true;
}

List *
sfx_agg_offers(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question)
{
	List	   *offers = NIL;

	if (!sfx_agg_fits_table(root, rel))
		return NIL;
	foreach_ptr(Candidate, candidate, candidates)
	{
		SfxAggOffer *offer = palloc(sizeof(SfxAggOffer));

		if (find_offer(root, rel, question, candidate, offer))
			offers = lappend(offers, offer);
		else
			pfree(offer);
	}
	return offers;
}

SfxAggOffer *
sfx_agg_best_offer(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question)
{
	List	   *offers = sfx_agg_offers(root, rel, question);
	SfxAggOffer *best = NULL;

	foreach_ptr(SfxAggOffer, offer, offers)
	{
		if (best == NULL || offer->cost < best->cost)
			best = offer;
	}
	offers = list_delete_ptr(offers, best);
	list_free_deep(offers);
	return best;
}
