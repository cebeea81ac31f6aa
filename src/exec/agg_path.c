/*-------------------------------------------------------------------------
 * agg_path.c - aggregates computed by the index: offering them to the planner
 *
 * The hook offers what the table's indexes can do (agg_offer.c), or the indexes of its partitions
 * or children (agg_tree.c); that has to beat core's plans by its cost.
 *
 * Declined, so that core's plan remains: anything but aggregates or DISTINCT of one table's rows;
 * row marks; grouping sets.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_exec.h"
#include "agg_offer.h"
#include "agg_path.h"
#include "agg_tree.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"

static create_upper_paths_hook_type prev_upper_paths = NULL;

/* Is the query of a kind that can be answered? */
static bool
fits_query(const PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input)
{
	const Query *parse = root->parse;

	if (parse->rowMarks != NIL)
		return sfx_agg_note(0, "rows are locked");
	if (stage == UPPERREL_DISTINCT ? parse->hasTargetSRFs :
		parse->groupingSets != NIL)
		return sfx_agg_note(0, "grouping sets, or functions that return sets");
	return (IS_SIMPLE_REL(input) && input->rtekind == RTE_RELATION && !IS_DUMMY_REL(input)) ||
		sfx_agg_note(0, "rows are not those of one table");
}

/* Offer the aggregates of one table, which may be a partition (if it is all that is read). */
static void
offer_table(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, PathTarget *target,
			GroupPathExtraData *extra)
{
	List	   *having = extra ? (List *) extra->havingQual : NIL;
	List	   *exprs = list_concat(list_copy(target->exprs), having);
	SfxAggQuestion question;
	Cost		least = 0;

	if (!sfx_agg_ask(root, input, exprs, extra, &question))
		return;
	foreach_ptr(SfxAggOffer, offer, question.again ? NIL : sfx_agg_offers(root, input, &question))
	{
		Path	   *path = (Path *) sfx_agg_node_path(root, output, target, &question, offer,
													  having);

		if (least == 0 || path->total_cost < least)
			least = path->total_cost;
		add_path(output, path);
	}
	/* workers are not begun for less */
	if (question.again || (extra && output->consider_parallel && least > parallel_setup_cost &&
						   max_parallel_workers_per_gather > 0))
		sfx_agg_offer_tree(root, input, output, target, extra);
}

/* The hook for upper paths. */
static void
aggregate_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				RelOptInfo *output, void *extra)
{
	PathTarget *target;

	if (prev_upper_paths)
		prev_upper_paths(root, stage, input, output, extra);
	if ((stage != UPPERREL_GROUP_AGG && stage != UPPERREL_DISTINCT) ||
		!fits_query(root, stage, input) || !sfx_agg_may_offer())
		return;
	target = stage == UPPERREL_DISTINCT ? root->upper_targets[stage] : output->reltarget;
	if (stage == UPPERREL_DISTINCT)
		extra = NULL;
	if (planner_rt_fetch(input->relid, root)->inh)
		sfx_agg_offer_tree(root, input, output, target, extra);
	else
		offer_table(root, input, output, target, extra);
}

void
sfx_agg_init(void)
{
	sfx_agg_exec_init();
	sfx_agg_offer_init();
	prev_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = aggregate_paths;
}
