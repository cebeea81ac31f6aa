/*-------------------------------------------------------------------------
 * offset_path.c - what OFFSET costs where the index passes over its rows
 *
 * Core takes the rows of OFFSET to cost what the scan's other rows cost, and prefers a sort where
 * there are many.  So the same Limit path is offered once more at the price of passing over them
 * (offset.c), path by path below an Append.  A price that turns out wrong costs time, and nothing else.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_offer.h"
#include "cost.h"
#include "offset_path.h"
#include "visible.h"

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "utils/guc.h"

/* To pass over a row whose entry is read, in cpu_tuple_cost; and over all by ranks, in pages. */
#define PASS_COST		0.05
#define RANK_PAGES		4

/* Fewer rows are left to core, of a table without pages. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define OFFSET_WORTH	2		/* to have it tested */
#else
#define OFFSET_WORTH	64
#endif

static bool offset_by_rank = true;
static create_upper_paths_hook_type prev_upper_paths = NULL;

bool
sfx_offset_wanted(void)
{
	return offset_by_rank;
}

void
sfx_offset_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.offset_by_rank",
							 "Lets scans of surfidx indexes pass over the rows of OFFSET.",
							 NULL, &offset_by_rank, true, PGC_USERSET, 0, NULL, NULL, NULL);
}

int64
sfx_offset_worth(BlockNumber blocks)
{
	return OFFSET_WORTH + blocks / sfx_visibility_blocks();
}

/* The path that core would put the Limit node right above. */
static const Path *
bare_path(const Path *path)
{
	return IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp ?
		((const ProjectionPath *) path)->subpath : path;
}

/* These two as in offset.c, of a plan to come; path: what makes its outputs. */

static bool
may_pass_scan(PlannerInfo *root, const Path *path)
{
	const IndexPath *index = (const IndexPath *) bare_path(path);

	return IsA(index, IndexPath) &&
		sfx_is_our_info(index->indexinfo) &&
		index->indexorderbys == NIL && index->path.param_info == NULL &&
		!index->path.parallel_aware && !index->indexinfo->hypothetical &&
		sfx_agg_fits_table(root, index->path.parent) &&
		sfx_agg_answers_all(index->path.parent, index) &&
		!contain_subplans((Node *) path->pathtarget->exprs) &&
		!contain_volatile_functions((Node *) path->pathtarget->exprs);
}

static bool
may_pass(PlannerInfo *root, const Path *path)
{
	const AppendPath *append = (const AppendPath *) bare_path(path);

	if (!IsA(append, AppendPath))
		return may_pass_scan(root, path);
	if (append->path.parallel_aware)
		return false;
	foreach_ptr(Path, below, append->subpaths)
	{
		if (may_pass(root, below))
			return true;
	}
	return false;
}

static Cost
cost_to_fetch(const Path *path, double rows)
{
	return path->startup_cost +
		(path->total_cost - path->startup_cost) * Min(rows / Max(path->rows, 1), 1);
}

static Cost
cost_to_pass_index(const IndexPath *index, double rows)
{
	const RelOptInfo *rel = index->path.parent;
	double		share = Min(rows / Max(rel->tuples, 1), 1);

	/* ranks from the end are worth it for more rows than there are leaves (reader_pass.c) */
	if (rel->allvisfrac >= 1 &&
		(index->indexscandir != BackwardScanDirection || rows >= index->indexinfo->pages))
		return RANK_PAGES * random_page_cost;
	return sfx_agg_heap_cost(rel, rows) + rows * PASS_COST * cpu_tuple_cost +
		share * index->indexinfo->pages * seq_page_cost;
}

static Cost
cost_to_pass(PlannerInfo *root, const Path *path, double rows)
{
	const Path *bare = bare_path(path);
	Cost		cost = 0;

	if (!may_pass(root, path))
		return cost_to_fetch(path, rows);
	if (IsA(bare, IndexPath))
		return rows < sfx_offset_worth(bare->parent->pages) ? cost_to_fetch(path, rows) :
			path->startup_cost + cost_to_pass_index((const IndexPath *) bare, rows);
	foreach_ptr(const Path, one, ((const AppendPath *) bare)->subpaths)
	{
		double		of_one = Min(rows, one->rows);

		cost += cost_to_pass(root, one, of_one);
		rows -= of_one;
		if (rows <= 0)
			break;
	}
	return cost;
}

static void
offer_path(PlannerInfo *root, RelOptInfo *output, Path *path, const FinalPathExtraData * extra)
{
	const Query *parse = root->parse;
	double		offset = extra->offset_est > 0 ? (double) extra->offset_est : path->rows * 0.10;
	LimitPath  *limit;
	Cost		startup;

	if (!may_pass(root, path))
		return;
	startup = cost_to_pass(root, path, Min(offset, path->rows));
	limit = create_limit_path(root, output, path, parse->limitOffset, parse->limitCount,
							  parse->limitOption, extra->offset_est, extra->count_est);
	if (startup >= limit->path.startup_cost)
		return;
	limit->path.startup_cost = startup;
	limit->path.total_cost = startup + (path->total_cost - path->startup_cost) *
		Min(limit->path.rows / Max(path->rows, 1), 1);
	add_path(output, &limit->path);
}

/* The hook for upper paths. */
static void
offset_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output,
			 void *extra)
{
	const		FinalPathExtraData *final = extra;

	if (prev_upper_paths)
		prev_upper_paths(root, stage, input, output, extra);
	if (stage != UPPERREL_FINAL || !offset_by_rank || !final->limit_needed ||
		root->parse->limitOffset == NULL || root->parse->rowMarks != NIL ||
		root->parse->commandType != CMD_SELECT)
		return;
	foreach_ptr(Path, path, input->pathlist)
		offer_path(root, output, path, final);
}

void
sfx_offset_path_init(void)
{
	prev_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = offset_paths;
}
