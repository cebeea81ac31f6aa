/*-------------------------------------------------------------------------
 * agg_path.c - aggregates computed by the index: when the planner is offered them
 *
 * Which conditions an index answers is core's to say: in the index-only paths that it makes for the
 * table.  It may drop such a path before the hook for aggregates runs, because another one is
 * cheaper for reading rows.  So each is noted when its estimate is asked for, by planner run; the
 * hook looks the table's up and offers a node over the cheapest (agg_exec.c), which has to beat
 * core's plans by its cost.
 *
 * What is declined keeps core's plan: whatever is not a count of all rows of one table; conditions
 * that the index does not answer alone; row-level security; row marks; groups.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_exec.h"
#include "agg_path.h"
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
#include "utils/fmgroids.h"
#include "utils/guc.h"

/* Of cpu_tuple_cost, for an entry that is decoded and tested. */
#define COUNT_COST		0.08

typedef struct Candidate
{
	PlannerInfo *root;
	IndexPath	path;			/* as it was: core may free it */
	Cost		startup;		/* the access method's estimate */
	Cost		total;
	Selectivity selectivity;
} Candidate;

static bool aggregates = true;

/*
 * Of the planner run that goes on; runs can be nested (functions are inlined and folded meanwhile).
 */
static bool planning = false;
static List *candidates = NIL;

static planner_hook_type prev_planner = NULL;
static create_upper_paths_hook_type prev_upper_paths = NULL;

void
sfx_agg_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.aggregates",
							 "Lets surfidx indexes compute count(*) without handing out rows.",
							 NULL, &aggregates, true, PGC_USERSET, 0, NULL, NULL, NULL);
}

/* ---- paths noted ---- */

void
sfx_agg_note_path(PlannerInfo *root, const IndexPath *path, Cost startup, Cost total,
				  Selectivity selectivity)
{
	Candidate  *c;

	if (!planning || !aggregates || !root->parse->hasAggs ||
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

static PlannedStmt *
note_planner(Query *parse, const char *query_string, int cursorOptions, ParamListInfo params)
{
	List	   *outer = candidates;
	bool		outer_planning = planning;
	PlannedStmt *result;

	candidates = NIL;
	planning = true;
	PG_TRY();
	{
		result = prev_planner ? prev_planner(parse, query_string, cursorOptions, params) :
			standard_planner(parse, query_string, cursorOptions, params);
	}
	PG_FINALLY();
	{
		candidates = outer;
		planning = outer_planning;
	}
	PG_END_TRY();
	return result;
}

/* ---- what is asked for ---- */

/* Does it count all rows of the table?  count(column) does where the column is never NULL. */
static bool
counts_rows(PlannerInfo *root, RelOptInfo *rel, const Aggref *agg)
{
	Var		   *var;

	if (agg->aggfilter != NULL || agg->aggdistinct != NIL || agg->aggorder != NIL ||
		agg->agglevelsup != 0)
		return false;
	if (agg->aggfnoid == F_COUNT_)
		return true;
	if (agg->aggfnoid != F_COUNT_ANY)
		return false;
	var = (Var *) linitial_node(TargetEntry, agg->args)->expr;
	return IsA(var, Var) && var->varno == rel->relid && var->varlevelsup == 0 &&
		SfxColumnIsNotNull(planner_rt_fetch(rel->relid, root), rel, var->varattno);
}

/*
 * The aggregates of the output and of HAVING, each once, if all count rows and nothing else is
 * wanted; else NIL.
 */
static List *
wanted_counts(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, List *having)
{
	List	   *exprs = list_concat(list_copy(output->reltarget->exprs), having);
	List	   *parts = pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
									  PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
	List	   *aggs = NIL;
	ListCell   *lc;

	foreach(lc, parts)
	{
		if (!IsA(lfirst(lc), Aggref) || !counts_rows(root, input, lfirst(lc)))
			return NIL;
		aggs = list_append_unique(aggs, lfirst(lc));
	}
	return aggs;
}

/* Is the query of a kind that is answered? */
static bool
fits(PlannerInfo *root, RelOptInfo *input)
{
	Query	   *parse = root->parse;
	RangeTblEntry *rte;

	if (!aggregates || !enable_indexscan || !parse->hasAggs || parse->groupClause != NIL ||
		parse->groupingSets != NIL || parse->rowMarks != NIL)
		return false;
	if (input->reloptkind != RELOPT_BASEREL || input->rtekind != RTE_RELATION ||
		IS_DUMMY_REL(input))
		return false;
	rte = planner_rt_fetch(input->relid, root);
	if (rte->inh || rte->tablesample != NULL || rte->securityQuals != NIL)
		return false;
	/* more of the map than may stay pinned: see visible.c */
	return input->pages / sfx_visibility_blocks() < (BlockNumber) sfx_visibility_max_pages();
}

/* Does the index answer all conditions on the table? */
static bool
answers_all(RelOptInfo *rel, const IndexPath *path)
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

/* Pages of the table that rows on pages not all-visible take, visited in order. */
static Cost
heap_cost(const RelOptInfo *rel, double rows)
{
	double		pages = Max((double) rel->pages, 1);
	double		hidden = 1 - rel->allvisfrac;
	double		visited = Min(2 * pages * rows / (2 * pages + rows), pages) * hidden;
	double		nearer = (random_page_cost - seq_page_cost) * sqrt(visited / pages);

	return visited * (random_page_cost - nearer) + rows * hidden * cpu_tuple_cost;
}

/* The access method's estimate without what it takes for rows, and what a count takes. */
static Cost
count_cost(const RelOptInfo *rel, const Candidate *c)
{
	double		rows = clamp_row_est(c->selectivity * rel->tuples);
	double		pages = c->total - c->startup -
		rows * (cpu_index_tuple_cost + list_length(c->path.indexclauses) * cpu_operator_cost);

	return c->startup + Max(pages, 0) + rows * COUNT_COST * cpu_tuple_cost + heap_cost(rel, rows);
}

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *custom_plans)
{
	List	   *having = linitial(path->custom_private);
	List	   *aggrefs = lsecond(path->custom_private);

	return (Plan *) sfx_agg_make_plan(linitial(custom_plans), aggrefs, tlist, having);
}

static const CustomPathMethods path_methods = {
	.CustomName = "SurfidxAggregate",
	.PlanCustomPath = make_plan
};

/*
 * The index-only scan for core, at core's price; what is shown of it is what it costs without
 * handing out rows, if that is less.
 */
static IndexPath *
make_child(PlannerInfo *root, RelOptInfo *input, const Candidate *c, Cost cost)
{
	IndexPath  *child = makeNode(IndexPath);

	*child = c->path;
	child->path.pathkeys = NIL;
	planning = false;
	cost_index(child, root, 1.0, false);
	planning = true;
	child->path.startup_cost = c->startup;
	child->path.total_cost = Min(child->path.total_cost, cost);
	return child;
}

static void
offer(RelOptInfo *output, IndexPath *child, List *having, List *aggrefs)
{
	CustomPath *path = makeNode(CustomPath);
	Cost		cost = child->path.total_cost;
	QualCost	quals;

	cost_qual_eval(&quals, having, NULL);
	path->path.pathtype = T_CustomScan;
	path->path.parent = output;
	path->path.pathtarget = output->reltarget;
	path->path.rows = 1;
	path->path.startup_cost = cost + quals.startup + quals.per_tuple +
		output->reltarget->cost.startup;
	path->path.total_cost = path->path.startup_cost + output->reltarget->cost.per_tuple +
		cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->custom_private = list_make2(having, aggrefs);
	path->methods = &path_methods;
	add_path(output, &path->path);
}

static void
aggregate_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				RelOptInfo *output, void *extra)
{
	const Candidate *best = NULL;
	Cost		best_cost = 0;
	List	   *having;
	List	   *aggrefs;
	ListCell   *lc;

	if (prev_upper_paths)
		prev_upper_paths(root, stage, input, output, extra);
	if (stage != UPPERREL_GROUP_AGG || candidates == NIL || !fits(root, input))
		return;
	having = (List *) ((GroupPathExtraData *) extra)->havingQual;
	aggrefs = wanted_counts(root, input, output, having);
	if (aggrefs == NIL)
		return;
	foreach(lc, candidates)
	{
		const Candidate *c = lfirst(lc);
		Cost		cost;

		if (c->root != root || c->path.path.parent != input || !answers_all(input, &c->path))
			continue;
		cost = count_cost(input, c);
		if (best == NULL || cost < best_cost)
		{
			best = c;
			best_cost = cost;
		}
	}
	if (best)
		offer(output, make_child(root, input, best, best_cost), having, aggrefs);
}

void
sfx_agg_init(void)
{
	sfx_agg_exec_init();
	prev_planner = planner_hook;
	planner_hook = note_planner;
	prev_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = aggregate_paths;
}
