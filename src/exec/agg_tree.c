/*-------------------------------------------------------------------------
 * agg_tree.c - aggregates of several tables, or of groups that come again, from their states
 *
 * Of a partitioned table, or one with children, each table that is not excluded computes states of the aggregates: by a node of ours
 * where one of its indexes answers (agg_offer.c), else by core's partial aggregation of its rows.
 * Core's Append collects them, and its Finalize makes values of them (Y13).  The Append stands for
 * the parent, and each of these nodes for one of its children, so core can leave out those that
 * run-time parameters exclude.
 *
 * A table whose index may return a group more than once is a tree of one table.  So is one whose
 * index is shared by workers, which return groups more than once, too.
 *
 * What is asked for is translated from each parent to its children, whose columns may have other
 * numbers.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_offer.h"
#include "agg_tree.h"
#include "visible.h"

#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

/* in cpu_tuple_cost: for a group of a table that is looked up among the groups of all tables */
#define AGAIN_COST		6.0

/* A table of the tree: what is asked of it. */
typedef struct Level
{
	RelOptInfo *rel;
	PathTarget *target;			/* states, as its node returns them */
	PathTarget *input;			/* what core's own aggregation reads */
	SfxAggQuestion question;
} Level;

/* The whole tree. */
typedef struct Tree
{
	PlannerInfo *root;
	List	   *clauses;		/* grouping clauses */
	AggSplit	split;			/* of the tables' aggregates: states, or groups of DISTINCT */
	bool		can_hash;
	bool		parallel;		/* what is asked for may be computed by workers */
	AggClauseCosts costs;		/* of the aggregates of one table */
	bool		several;		/* there may be several tables */
	List	   *paths;			/* one for each table */
	Path	   *shared;			/* of the only table: several participants', or NULL */
	int			answered;		/* number of tables that an index answers for */
	bool		ordered;		/* all paths are ordered by the grouping columns */
	BlockNumber map_pages;		/* pages of the map that all our nodes pin if they run at once */
} Tree;

/* ---- states ---- */

/*
 * What the tables are asked for: grouping columns as they are, and for everything else the states
 * of its aggregates.
 */
static PathTarget *
make_states(PlannerInfo *root, const PathTarget *target, const GroupPathExtraData *extra)
{
	PathTarget *states = create_empty_pathtarget();
	List	   *groups = get_sortgrouplist_exprs(root->parse->groupClause, extra->targetList);
	List	   *others = list_copy((List *) extra->havingQual);
	ListCell   *lc;
	int			i = 0;

	foreach_ptr(Expr, expr, target->exprs)
	{
		Index		ref = get_pathtarget_sortgroupref(target, i++);

		if (ref != 0 && get_sortgroupref_clause_noerr(ref, root->parse->groupClause) != NULL)
			add_column_to_pathtarget(states, expr, ref);
		else
			others = lappend(others, expr);
	}
	add_new_columns_to_pathtarget(states, sfx_agg_parts(others, groups));
	foreach(lc, states->exprs)
	{
		if (IsA(lfirst(lc), Aggref))
		{
			Aggref	   *agg = makeNode(Aggref);

			*agg = *lfirst_node(Aggref, lc);
			mark_partial_aggref(agg, AGGSPLIT_INITIAL_SERIAL);
			lfirst(lc) = agg;
		}
	}
	return set_pathtarget_cost_width(root, states);
}

/* ---- tables ---- */

static PathTarget *
translate_target(PlannerInfo *root, PathTarget *target, AppendRelInfo *child)
{
	PathTarget *result = copy_pathtarget(target);

	result->exprs = (List *) adjust_appendrel_attrs(root, (Node *) target->exprs, 1, &child);
	return result;
}

static void
translate(PlannerInfo *root, const Level *parent, AppendRelInfo *info, Level *child)
{
	child->rel = find_base_rel(root, info->child_relid);
	child->target = translate_target(root, parent->target, info);
	child->input = translate_target(root, parent->input, info);
	child->question = parent->question;
	child->question.exprs = (List *)
		adjust_appendrel_attrs(root, (Node *) parent->question.exprs, 1, &info);
	child->question.groups = (List *)
		adjust_appendrel_attrs(root, (Node *) parent->question.groups, 1, &info);
	child->question.columns = (List *)
		adjust_appendrel_attrs(root, (Node *) parent->question.columns, 1, &info);
	child->question.stepped = (Var *)
		adjust_appendrel_attrs(root, (Node *) parent->question.stepped, 1, &info);
}

/*
 * Are all grouping columns labelled as such?  From 16 on those are not that a condition makes
 * constant.
 */
static bool
labels_all(const PathTarget *target, List *clauses)
{
	foreach_node(SortGroupClause, clause, clauses)
	{
		Index		ref = clause->tleSortGroupRef;
		int			i = 0;

		while (i < list_length(target->exprs) && get_pathtarget_sortgroupref(target, i) != ref)
			i++;
		if (i == list_length(target->exprs))
			return false;
	}
	return true;
}

/* Core's own states of a table for which no index answers.  NULL: it cannot make any. */
static Path *
aggregate_rows(const Tree *tree, const Level *level)
{
	PlannerInfo *root = tree->root;
	Path	   *path = level->rel->cheapest_total_path;
	double		groups = 1;

	if (path == NULL || path->param_info != NULL || (tree->clauses != NIL && !tree->can_hash) ||
		!labels_all(level->input, tree->clauses))
		return NULL;
	if (tree->clauses != NIL)
		groups = sfx_agg_count_groups(root, &level->question, path->rows);
	path = (Path *) create_projection_path(root, level->rel, path, level->input);
	return (Path *) create_agg_path(root, level->rel, path, level->target,
									tree->clauses != NIL ? AGG_HASHED : AGG_PLAIN, tree->split,
									tree->clauses, NIL, &tree->costs, groups);
}

/* The same as its index's path, for several participants.  NULL: it is one process's. */
static Path *
share(const Tree *tree, const Level *level, const SfxAggOffer *offer)
{
	CustomPath *path = sfx_agg_node_path(tree->root, level->rel, level->target, &level->question,
										 offer, NIL);

	return sfx_agg_share_path(offer, path) ? &path->path : NULL;
}

static bool
add_table(Tree *tree, const Level *level)
{
	PlannerInfo *root = tree->root;
	SfxAggOffer *offer = sfx_agg_best_offer(root, level->rel, &level->question);
	Path	   *path;

	if (offer)
	{
		path = (Path *) sfx_agg_node_path(root, level->rel, level->target, &level->question,
										  offer, NIL);
		tree->answered++;
		tree->map_pages += 1 + level->rel->pages / sfx_visibility_blocks();
		if (tree->parallel && !tree->several)
			tree->shared = share(tree, level, offer);
		pfree(offer);
	}
	else
		path = tree->several ? aggregate_rows(tree, level) : NULL;
	if (path == NULL)
		return false;
	/* its rel knows nothing of aggregates */
	path->parallel_safe &= tree->parallel;
	tree->ordered &= !level->question.again &&
		pathkeys_contained_in(root->group_pathkeys, path->pathkeys);
	tree->paths = lappend(tree->paths, path);
	return true;
}

/* Add all tables below one.  False: for some table there is no way to its states. */
static bool
add_tables(Tree *tree, const Level *parent)
{
	PlannerInfo *root = tree->root;

	check_stack_depth();
	foreach_node(AppendRelInfo, info, root->append_rel_list)
	{
		Level		child;

		if (info->parent_relid != parent->rel->relid ||
			root->simple_rel_array[info->child_relid] == NULL)
			continue;
		translate(root, parent, info, &child);
		if (IS_DUMMY_REL(child.rel))
			continue;
		if (planner_rt_fetch(info->child_relid, root)->inh ? !add_tables(tree, &child) :
			!add_table(tree, &child))
			return false;
	}
	return true;
}

/* ---- paths over all tables ---- */

static Path *
append(const Tree *tree, const Level *top)
{
	AppendPath *path;

	if (!tree->several)
		return linitial(tree->paths);
	path = SfxCreateAppendPath(tree->root, top->rel, tree->paths, 0, false);

	path->path.pathtarget = top->target;
	return &path->path;
}

/*
 * The same, gathered from workers, which share the only table's index, or of which each takes table
 * by table.  NULL: impossible.
 */
static Path *
gather(const Tree *tree, const Level *top)
{
	PlannerInfo *root = tree->root;
	int			tables = list_length(tree->paths);
	int			workers = Min(max_parallel_workers_per_gather, tables);
	AppendPath *path;
	double		rows;

	if (tree->shared)
	{
		rows = tree->shared->rows * tree->shared->parallel_workers;
		return (Path *) create_gather_path(root, top->rel, tree->shared, top->target, NULL, &rows);
	}
	if (!tree->parallel || !top->rel->consider_parallel || !enable_parallel_append ||
		tables < 2 || workers < 1)
		return NULL;
	foreach_ptr(Path, sub, tree->paths)
	{
		if (!sub->parallel_safe)
			return NULL;
	}
	path = SfxCreateAppendPath(root, top->rel, list_copy(tree->paths), workers, true);
	path->path.pathtarget = top->target;
	rows = path->path.rows * workers;
	return (Path *) create_gather_path(root, top->rel, &path->path, top->target, NULL, &rows);
}

static Path *
append_in_order(const Tree *tree, const Level *top)
{
	MergeAppendPath *path;
	double		rows;

	if (tree->shared)
	{
		rows = tree->shared->rows * tree->shared->parallel_workers;
		return (Path *) create_gather_merge_path(tree->root, top->rel, tree->shared, top->target,
												 tree->root->group_pathkeys, NULL, &rows);
	}
	path = SfxCreateMergeAppendPath(tree->root, top->rel, tree->paths,
									tree->root->group_pathkeys);
	path->path.pathtarget = top->target;
	return &path->path;
}

/*
 * Charge for looking up the tables' groups once more: each is a visit to a place in memory, for
 * which core has no cost.  This leaves groups of two or three rows to core.
 */
static void
charge_again(Path *path, AggStrategy strategy, double states)
{
	Cost		cost = AGAIN_COST * cpu_tuple_cost * states;

	if (strategy == AGG_HASHED)
		path->startup_cost += cost;
	path->total_cost += cost;
}

/* Offer values, computed from the states that a path returns. */
static void
finalize(const Tree *tree, const Level *top, RelOptInfo *output, GroupPathExtraData *extra,
		 AggStrategy strategy, Path *states)
{
	PlannerInfo *root = tree->root;
	List	   *having = (List *) extra->havingQual;
	double		groups = sfx_agg_count_groups(root, &top->question, top->rel->rows);
	AggClauseCosts costs = {0};
	Path	   *path;

	get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
	if (strategy == AGG_SORTED && !root->parse->hasAggs)
		path = (Path *) create_group_path(root, output, states, tree->clauses, having, groups);
	else
		path = (Path *) create_agg_path(root, output, states, output->reltarget, strategy,
										AGGSPLIT_FINAL_DESERIAL, tree->clauses, having, &costs,
										groups);
	if (tree->clauses != NIL)
		charge_again(path, strategy, states->rows);
	add_path(output, path);
}

static void
offer_values(const Tree *tree, const Level *top, RelOptInfo *output, GroupPathExtraData *extra)
{
	PlannerInfo *root = tree->root;
	bool		grouped = tree->clauses != NIL;
	bool		alone = tree->several || top->question.again;
	AggStrategy strategy = grouped ? AGG_HASHED : AGG_PLAIN;

	if (!grouped || tree->can_hash)
	{
		Path	   *gathered = gather(tree, top);

		if (alone)
			finalize(tree, top, output, extra, strategy, append(tree, top));
		if (gathered)
			finalize(tree, top, output, extra, strategy, gathered);
	}
	if (grouped && tree->ordered && (alone || (tree->shared && root->group_pathkeys != NIL)) &&
		(extra->flags & GROUPING_CAN_USE_SORT) != 0 &&
		(tree->map_pages <= (BlockNumber) sfx_visibility_max_pages() ||
		 SFX_MUTANT("pins side by side")))
		finalize(tree, top, output, extra, AGG_SORTED, append_in_order(tree, top));
}

static void
offer_distinct(const Tree *tree, const Level *top, RelOptInfo *output)
{
	PlannerInfo *root = tree->root;
	double		groups = sfx_agg_count_groups(root, &top->question, top->rel->rows);
	Path	   *states = append(tree, top);
	Path	   *path = (Path *) create_agg_path(root, output, states, top->target, AGG_HASHED,
												AGGSPLIT_SIMPLE, tree->clauses, NIL, NULL, groups);

	charge_again(path, AGG_HASHED, states->rows);
	add_path(output, path);
}

void
sfx_agg_offer_tree(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, PathTarget *target,
				   GroupPathExtraData *extra)
{
	Tree		tree = {0};
	Level		top = {0};

	tree.root = root;
	tree.ordered = true;
	tree.parallel = output->consider_parallel;
	top.rel = input;
	top.input = input->reltarget;
	tree.several = planner_rt_fetch(input->relid, root)->inh;
	if (!sfx_agg_fits_table(root, input))
		return;
	if (extra)
	{
		if ((extra->flags & GROUPING_CAN_PARTIAL_AGG) == 0)
			return;
		tree.clauses = root->parse->groupClause;
		tree.split = AGGSPLIT_INITIAL_SERIAL;
		tree.can_hash = (extra->flags & GROUPING_CAN_USE_HASH) != 0;
		get_agg_clause_costs(root, tree.split, &tree.costs);
		top.target = make_states(root, target, extra);
	}
	else
	{
		tree.clauses = root->parse->distinctClause;
		tree.split = AGGSPLIT_SIMPLE;
		tree.can_hash = grouping_is_hashable(tree.clauses);
		if (!tree.can_hash)
			return;
		top.target = target;
	}
	if (!labels_all(top.target, tree.clauses) ||
		!sfx_agg_ask(root, input, top.target->exprs, extra, &top.question))
		return;
	if (top.question.on)
	{
		(void) sfx_agg_note(0, "DISTINCT ON of several tables");
		return;
	}
	if (!(tree.several ? add_tables(&tree, &top) : add_table(&tree, &top)) || tree.answered == 0)
		return;
	if (extra)
		offer_values(&tree, &top, output, extra);
	else
		offer_distinct(&tree, &top, output);
}
