/*-------------------------------------------------------------------------
 * agg_exec.c - the plan node that computes aggregates by the index
 *
 * The node has an index-only scan as its child, which core has planned and set up: relations,
 * locks, scan keys with their parameters and arrays, EXPLAIN's lines.  But it does not ask the
 * child for rows.  It begins the child's index scan as the child would, and takes entries from
 * that, many at a time: TIDs alone where it has only to count visible rows (visible.c), else keys
 * as well (agg_group.c).
 *
 * Below a Gather several participants may share the entries, a portion at a time (parallel.c).  Of
 * each portion a node gives out all groups; those of other portions may be the same (Y13).
 *
 * Aggregates and grouping columns are the columns of the node's scan tuple, so HAVING and
 * expressions over them are computed by core.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_bucket.h"
#include "agg_exec.h"
#include "agg_expr.h"
#include "agg_group.h"
#include "agg_partial.h"
#include "catalog_rows.h"
#include "counters.h"
#include "index_only.h"
#include "scan.h"
#include "settings.h"
#include "settled.h"
#include "slot.h"
#include "visible.h"

#include "access/relscan.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

typedef struct SfxAggNode
{
	CustomScanState css;
	SfxGrouping grouping;
	int			noutputs;
	SfxAggOutput *outputs;		/* in the scan tuple's order */
	const List *equal;			/* equality functions by which core would tell groups apart */
	bool		counts;			/* the number of rows is all that is asked for */
	bool		done;			/* everything was given out */
	SfxExprs   *exprs;			/* of the outputs and the condition, or NULL */
	SfxCondition *condition;	/* of the child, beside those of its index; or NULL */
	SfxGroups  *groups;			/* unless `counts`; NULL: the scan, or a portion, has not begun */
	SfxParallelScan *portions;	/* shared with other participants, or NULL */
	bool		timed;			/* EXPLAIN ANALYZE: each call is timed as the child's */
} SfxAggNode;

/* ---- the plan ---- */

/*
 * The node's private list: a list of numbers, of the grouping and then four for each output; and the
 * equality functions of the grouping.
 */
enum
{
	PRIVATE_COLUMNS,
	PRIVATE_DISTINCT,
	PRIVATE_STEPPED,
	PRIVATE_AGAIN,
	PRIVATE_OUTPUTS
};

/*
 * Add the steps of the stepped column that an output has.  False: it uses all of the column, as a
 * zone's name has another meaning than at planning time (timezone_abbreviations; since 18 TimeZone,
 * too).
 */
static bool
add_steps(SfxGrouping *grouping, Node *expr)
{
	SfxSteps	found;

	(void) sfx_steps_find(expr, &found);
	foreach_ptr(SfxTimeStep, step, found.steps)
	{
		if (step->column->varattno == grouping->stepped)
			grouping->steps = lappend(grouping->steps, step);
	}
	foreach_node(Var, var, found.whole)
	{
		if (var->varattno == grouping->stepped)
			return false;
	}
	return true;
}

/*
 * Steps of some outputs only would lose groups.  Without steps each value of the column is one of
 * its own, which is right where groups are merged.
 */
static void
forget_steps(SfxGrouping *grouping)
{
	if (!grouping->again)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the name of a time zone has another meaning than when the query was planned"),
				 errhint("Plan it again: DISCARD PLANS, or a new session.")));
	grouping->steps = NIL;
}

static void
read_plan(SfxAggNode *node, const CustomScan *plan)
{
	const List *numbers = linitial(plan->custom_private);
	int			at = PRIVATE_OUTPUTS;
	bool		stepped = true;

	node->grouping.columns = list_nth_int(numbers, PRIVATE_COLUMNS);
	node->grouping.distinct = list_nth_int(numbers, PRIVATE_DISTINCT) != 0;
	node->equal = lsecond(plan->custom_private);
	node->grouping.stepped = (AttrNumber) list_nth_int(numbers, PRIVATE_STEPPED);
	node->grouping.again = list_nth_int(numbers, PRIVATE_AGAIN) != 0;
	node->outputs = palloc0(list_length(plan->custom_scan_tlist) * sizeof(SfxAggOutput));
	foreach_node(TargetEntry, target, plan->custom_scan_tlist)
	{
		SfxAggOutput *out = &node->outputs[node->noutputs++];
		Expr	   *expr = target->expr;

		out->kind = list_nth_int(numbers, at++);
		out->column = list_nth_int(numbers, at++);
		out->ordered = list_nth_int(numbers, at++) != 0;
		out->direction = list_nth_int(numbers, at++);
		out->aggref = IsA(expr, Aggref) ? (Aggref *) expr : NULL;
		out->expr = out->kind == SFX_AGG_FUNCTION ? expr : NULL;
		if (out->expr && node->grouping.stepped != 0)
			stepped &= add_steps(&node->grouping, (Node *) expr);
	}
	if (!stepped)
		forget_steps(&node->grouping);
}

/* ---- the state ---- */

static void
check_function(Oid function, ObjectType type, Oid user)
{
	if (!SfxMayExecuteAs(function, user))
		aclcheck_error(ACLCHECK_NO_PRIV, type, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* The user may call the aggregate, and the aggregate's owner may call its functions; else ERROR. */
static void
check_aggregate(const Aggref *agg)
{
	FormData_pg_aggregate row;
	FormData_pg_proc function;
	Oid			last;

	check_function(agg->aggfnoid, OBJECT_AGGREGATE, GetUserId());
	sfx_row_must_get(AGGFNOID, agg->aggfnoid, &row, sizeof(row));
	sfx_row_must_get(PROCOID, agg->aggfnoid, &function, sizeof(function));
	last = !sfx_agg_is_partial(agg) ? row.aggfinalfn :
		agg->aggtranstype == INTERNALOID ? row.aggserialfn : InvalidOid;
	check_function(row.aggtransfn, OBJECT_FUNCTION, function.proowner);
	if (OidIsValid(last))
		check_function(last, OBJECT_FUNCTION, function.proowner);
}

/*
 * As core's nodes for aggregates and groups do: the user that runs the query must have the right to
 * call all its functions, also those that are not called here.
 */
static void
check_rights(const SfxAggNode *node)
{
	foreach_oid(oid, node->equal)
		check_function(oid, OBJECT_FUNCTION, GetUserId());
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].aggref)
			check_aggregate(node->outputs[i].aggref);
}

/* The arguments of an aggregate that its transition function takes. */
static List *
arguments_of(const Aggref *agg)
{
	List	   *exprs = NIL;

	foreach_node(TargetEntry, target, agg->args)
		if (list_length(exprs) < list_length(agg->aggargtypes))
		exprs = lappend(exprs, target->expr);
	return exprs;
}

/* ERROR if the user may not call the functions of outputs, as core finds out for EXPLAIN, too. */
static void
check_expressions(SfxAggNode *node)
{
	PlanState  *ps = &node->css.ss.ps;

	for (int i = 0; i < node->noutputs; i++)
	{
		const SfxAggOutput *out = &node->outputs[i];

		(void) ExecInitExpr(out->expr, ps);
		if (out->aggref)
		{
			(void) ExecInitExprList(arguments_of(out->aggref), ps);
			(void) ExecInitExpr(out->aggref->aggfilter, ps);
		}
	}
}

/* Prepare an output's expressions, if it has any. */
static void
prepare_output(SfxExprs *exprs, SfxAggOutput *out)
{
	if (out->kind == SFX_AGG_FUNCTION)
		out->prepared = sfx_expr_prepare(exprs, out->expr);
	if (sfx_agg_is_filtered(out))
		out->filter = sfx_condition_prepare(exprs, make_ands_implicit(out->aggref->aggfilter));
	if (sfx_agg_is_computed(out))
		out->args = sfx_arguments_prepare(exprs, arguments_of(out->aggref));
	if (out->kind == SFX_AGG_FED)
		out->fed = sfx_fed_create(out->aggref);
}

static void
prepare_expressions(SfxAggNode *node)
{
	IndexOnlyScanState *child = linitial_node(IndexOnlyScanState, node->css.custom_ps);

	for (int i = 0; i < node->noutputs; i++)
	{
		SfxAggOutput *out = &node->outputs[i];

		if (out->kind != SFX_AGG_FUNCTION && !sfx_agg_is_filtered(out) &&
			!sfx_agg_is_computed(out))
			continue;
		if (node->exprs == NULL)
			node->exprs = sfx_exprs_create(child);
		prepare_output(node->exprs, out);
	}
	if (child->ss.ps.qual == NULL)
		return;
	if (node->exprs == NULL)
		node->exprs = sfx_exprs_create(child);
	node->condition = sfx_condition_prepare(node->exprs, child->ss.ps.plan->qual);
	node->counts = false;
}

/* Count rows where a column's values are counted and this snapshot sees no NULL (settled.h). */
static void
count_without_nulls(SfxAggNode *node)
{
	const IndexOnlyScanState *child = linitial_node(IndexOnlyScanState, node->css.custom_ps);
	const int16 *keys = child->ioss_RelationDesc->rd_index->indkey.values;

	for (int i = 0; i < node->noutputs; i++)
	{
		SfxAggOutput *out = &node->outputs[i];

		if (out->kind == SFX_AGG_COUNT_COLUMN && !sfx_agg_is_computed(out) &&
			sfx_column_has_no_nulls(child->ss.ss_currentRelation, keys[out->column],
									child->ss.ps.state->es_snapshot))
			out->kind = SFX_AGG_COUNT_ROWS;
	}
	node->counts = node->grouping.columns == 0 && !node->grouping.distinct &&
		!sfx_aggregates_need_keys(node->outputs, node->noutputs);
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	SfxAggNode *node = (SfxAggNode *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;

	read_plan(node, plan);
	check_rights(node);
	css->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate, eflags));
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
	{
		/* the index is not open */
		check_expressions(node);
		return;
	}
	count_without_nulls(node);
	prepare_expressions(node);
}

static void
end_groups(SfxAggNode *node)
{
	if (node->groups)
		sfx_groups_end(node->groups);
	node->groups = NULL;
}

static void
end_node(CustomScanState *css)
{
	end_groups((SfxAggNode *) css);
	ExecEndNode(linitial(css->custom_ps));
}

static void
rescan_node(CustomScanState *css)
{
	PlanState  *child = linitial(css->custom_ps);

	((SfxAggNode *) css)->done = false;
	end_groups((SfxAggNode *) css);
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	/* otherwise the child is rescanned when it is next executed */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static Size
portions_size(CustomScanState *css, ParallelContext *pcxt)
{
	return sfx_portions_size();
}

/* The leader, before workers run. */
static void
share_portions(CustomScanState *css, ParallelContext *pcxt, void *portions)
{
	sfx_initparallelscan(portions);
	((SfxAggNode *) css)->portions = portions;
}

static void
join_portions(CustomScanState *css, shm_toc *toc, void *portions)
{
	((SfxAggNode *) css)->portions = portions;
}

/*
 * Note leaves that were read, of all loops and workers.  Counters of the node that core does not
 * use here carry the numbers from workers to the leader's EXPLAIN.
 */
static void
count_leaves(CustomScanState *css, uint64 read, uint64 tidless)
{
	InstrCountTuples2(css, read - tidless);
	InstrCountFiltered2(css, tidless);
}

static void
explain_leaves(const PlanState *ps, ExplainState *es)
{
	double		with;
	double		without;

	if (!es->analyze || ps->instrument == NULL)
		return;
	/* other formats always have each number */
	if (es->format == EXPLAIN_FORMAT_TEXT && ps->instrument->nloops <= 0)
		return;
	with = ps->instrument->ntuples2;
	without = ps->instrument->nfiltered2;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Leaves Read",
							psprintf("with TIDs=%.0f without=%.0f", with, without), es);
	else
	{
		ExplainPropertyFloat("Leaves Read With TIDs", NULL, with, 0, es);
		ExplainPropertyFloat("Leaves Read Without TIDs", NULL, without, 0, es);
	}
}

/* Show what rows are grouped by, as core does, and leaves. */
static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	SfxAggNode *node = (SfxAggNode *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);
	bool		prefix = SfxExplainTables(es) > 1 || es->verbose;
	List	   *keys = NIL;

	for (int i = 0; i < node->noutputs; i++)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, plan->custom_scan_tlist, i);
		Var		   *var;

		if (node->outputs[i].kind != SFX_AGG_GROUP && node->outputs[i].kind != SFX_AGG_FUNCTION)
			continue;
		var = makeVarFromTargetEntry(INDEX_VAR, entry);
		keys = lappend(keys, deparse_expression((Node *) var, context, prefix, false));
	}
	if (keys != NIL)
		ExplainPropertyList("Group Key", keys, es);
	explain_leaves(&css->ss.ps, es);
}

/* ---- execution ---- */

/* Bring the scan's parameters up to date; before the child's time is taken, as for any node. */
static void
bring_parameters(PlanState *ps)
{
	IndexOnlyScanState *child = castNode(IndexOnlyScanState, ps);

	if (ps->chgParam != NULL || (child->ioss_NumRuntimeKeys != 0 && !child->ioss_RuntimeKeysReady))
		ExecReScan(ps);
}

/*
 * Begin the child's scan as the child does at its first row, or a portion of it; NULL: none is left.
 * What the planner was told must hold: the snapshot is an MVCC one.
 */
static IndexScanDesc
begin_scan(const SfxAggNode *node, PlanState *ps)
{
	IndexOnlyScanState *child = (IndexOnlyScanState *) ps;

	if (!IsA(ps, IndexOnlyScanState) || child->ioss_NumOrderByKeys > 0 ||
		!sfx_is_ours(child->ioss_RelationDesc->rd_indam) || !IsMVCCSnapshot(ps->state->es_snapshot))
		elog(ERROR, "an aggregate's scan is not as planned");
	sfx_index_only_begin(child);
	index_rescan(child->ioss_ScanDesc, child->ioss_ScanKeys, child->ioss_NumScanKeys,
				 child->ioss_OrderByKeys, 0);
	if (node->counts)
		sfx_scan_unread(child->ioss_ScanDesc);
	if (node->portions && !sfx_scan_take_portion(child->ioss_ScanDesc, node->portions))
		return NULL;
	return child->ioss_ScanDesc;
}

/* Count where stages have to be merged and ranges put together. */
static void
count_by_tids(IndexScanDesc scan, SfxVisibility *v)
{
	const uint64 *tid;
	int			n;

	while ((n = sfx_scan_tids(scan, &tid)) > 0)
	{
		SFX_STOP("count has TIDs");
		sfx_visibility_add(v, tid, n);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Count the scan's visible rows; *fetched becomes greater by the rows looked at in the table. */
static uint64
count_by_index(IndexScanDesc scan, uint64 *fetched)
{
	SfxVisibility *v = sfx_visibility_begin(scan);
	uint64		visible;
	uint64		now;

	SFX_STOP("count begun");
	if (!sfx_scan_count(scan, v))
		count_by_tids(scan, v);
	visible = sfx_visibility_count(v, &now);
	*fetched += now;
	sfx_visibility_end(v);
	return visible;
}

/* Fill the slot where only the number of rows is asked for. */
static bool
count_rows(SfxAggNode *node, PlanState *child, TupleTableSlot *slot)
{
	uint64		fetched = 0;
	uint64		n = 0;
	IndexScanDesc scan;

	while (!node->done && (scan = begin_scan(node, child)) != NULL)
	{
		n += count_by_index(scan, &fetched);
		node->done = node->portions == NULL;
	}
	node->done = true;
	for (int i = 0; i < node->noutputs; i++)
	{
		slot->tts_values[i] = Int64GetDatum((int64) n);
		slot->tts_isnull[i] = false;
	}
	if (child->instrument)
		InstrStopNode(child->instrument, (double) n);
	InstrCountTuples2(child, fetched);
	return true;
}

/* Begin to read groups.  False: no portion is left. */
static bool
begin_groups(SfxAggNode *node, PlanState *child)
{
	IndexScanDesc scan = begin_scan(node, child);

	if (scan == NULL)
		return false;
	node->groups = sfx_groups_begin(scan, node->exprs, node->condition, &node->grouping, node->outputs, node->noutputs);
	node->timed = child->instrument != NULL;
	SFX_STOP("groups begun");
	return true;
}

static bool
next_group(SfxAggNode *node, PlanState *child, TupleTableSlot *slot)
{
	uint64		visible = 0;
	uint64		refused = 0;
	uint64		fetched = 0;
	bool		found = false;

	node->done = node->groups == NULL && !begin_groups(node, child);
	if (!node->done)
	{
		found = sfx_groups_next(node->groups, slot->tts_values, slot->tts_isnull);
		node->done = !found && node->portions == NULL;
	}
	if (child->instrument)
	{
		if (node->groups)
			sfx_groups_rows(node->groups, &visible, &refused, &fetched);
		InstrCountFiltered1(child, refused);
		InstrStopNode(child->instrument, (double) visible);
		InstrCountTuples2(child, fetched);
	}
	return found;
}

/* Make a result row of the slot; NULL: HAVING refuses it. */
static inline TupleTableSlot *
make_row(CustomScanState *css, TupleTableSlot *slot)
{
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	if (!ExecQual(css->ss.ps.qual, econtext))
	{
		InstrCountFiltered1(css, 1);
		return NULL;
	}
	return css->ss.ps.ps_ProjInfo ? ExecProject(css->ss.ps.ps_ProjInfo) : slot;
}

/*
 * Compute the next row that passes HAVING; NULL: there is none.  The general way: a new group, or
 * rows to be counted.
 */
static pg_noinline TupleTableSlot *
exec_slowly(SfxAggNode *node)
{
	CustomScanState *css = &node->css;
	PlanState  *child = linitial(css->custom_ps);
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	TupleTableSlot *result;

	do
	{
		uint64		read = sfx_leaves_read;
		uint64		tidless = sfx_leaves_tidless;
		bool		found;

		ResetExprContext(css->ss.ps.ps_ExprContext);
		ExecClearTuple(slot);
		if (node->done)
			return NULL;
		if (node->groups == NULL)
			bring_parameters(child);
		/* EXPLAIN shows rows and heap fetches as the child's */
		if (child->instrument)
			InstrStartNode(child->instrument);
		found = node->counts ? count_rows(node, child, slot) : next_group(node, child, slot);
		count_leaves(css, sfx_leaves_read - read, sfx_leaves_tidless - tidless);
		if (!found)
		{
			/* other tables of a tree follow: let go of what is pinned (Y13) */
			if (!SFX_MUTANT("pins of tables before"))
				end_groups(node);
			result = NULL;
			continue;
		}
		ExecStoreVirtualTuple(slot);
		result = make_row(css, slot);
	} while (result == NULL);
	return result;
}

/* The short way is for groups that are ready, if they pass HAVING. */
static TupleTableSlot *
exec_node(CustomScanState *css)
{
	SfxAggNode *node = (SfxAggNode *) css;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	TupleTableSlot *result;

	if (node->groups == NULL || node->timed || TTS_SHOULDFREE(slot) ||
		!sfx_groups_next_of_one(node->groups, slot->tts_values, slot->tts_isnull))
		return exec_slowly(node);
	SfxSlotFilled(slot);
	if (css->ss.ps.qual == NULL && css->ss.ps.ps_ProjInfo == NULL)
		return slot;
	ResetExprContext(css->ss.ps.ps_ExprContext);
	result = make_row(css, slot);
	return result ? result : exec_slowly(node);
}

/* ---- making nodes ---- */

static const CustomExecMethods exec_methods = {
	.CustomName = "SurfidxAggregate",
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node,
	.ExplainCustomScan = explain_node,
	.EstimateDSMCustomScan = portions_size,
	.InitializeDSMCustomScan = share_portions,
	.ReInitializeDSMCustomScan = share_portions,
	.InitializeWorkerCustomScan = join_portions
};

static Node *
create_state(CustomScan *plan)
{
	SfxAggNode *node = (SfxAggNode *) newNode(sizeof(SfxAggNode), T_CustomScanState);

	node->css.methods = &exec_methods;
	return (Node *) node;
}

static const CustomScanMethods plan_methods = {
	.CustomName = "SurfidxAggregate",
	.CreateCustomScanState = create_state
};

static List *
equality_functions(const List *operators)
{
	List	   *functions = NIL;

	foreach_oid(oid, operators)
		functions = lappend_oid(functions, get_opcode(oid));
	return functions;
}

CustomScan *
sfx_agg_make_plan(Plan *child, const SfxAggWanted *wanted, List *tlist, List *having)
{
	CustomScan *plan = makeNode(CustomScan);
	List	   *numbers;
	AttrNumber	n = 1;

	plan->scan.plan.targetlist = tlist;
	plan->scan.plan.qual = having;
	plan->scan.scanrelid = 0;
	plan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	plan->custom_plans = list_make1(child);
	foreach_ptr(Expr, expr, wanted->exprs)
		plan->custom_scan_tlist = lappend(plan->custom_scan_tlist,
										  makeTargetEntry(expr, n++, NULL, false));
	numbers = list_make4_int(wanted->grouping.columns, wanted->grouping.distinct,
							 wanted->grouping.stepped, wanted->grouping.again);
	for (int i = 0; i < list_length(wanted->exprs); i++)
	{
		const SfxAggOutput *out = &wanted->outputs[i];

		numbers = lappend_int(numbers, out->kind);
		numbers = lappend_int(numbers, out->column);
		numbers = lappend_int(numbers, out->ordered);
		numbers = lappend_int(numbers, out->direction);
	}
	plan->custom_private = list_make2(numbers, equality_functions(wanted->asked));
	plan->methods = &plan_methods;
	return plan;
}

void
sfx_agg_exec_init(void)
{
	RegisterCustomScanMethods(&plan_methods);
}
