/*-------------------------------------------------------------------------
 * agg_exec.c - the plan node that computes aggregates by the index
 *
 * The node has an index-only scan as its child, which core has planned and set up: relations,
 * locks, scan keys with their parameters and arrays, EXPLAIN's lines.  It does not ask the child
 * for rows, though.  It begins the child's index scan as the child would, takes TIDs from it many
 * at a time, and counts those whose rows are visible (visible.c).
 *
 * The count's aggregates are the columns of the node's scan tuple, so that HAVING and what is
 * computed from aggregates are core's.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_exec.h"
#include "compat.h"
#include "scan.h"
#include "settings.h"
#include "unread_columns.h"
#include "visible.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"

typedef struct SfxAggNode
{
	CustomScanState css;
	bool		done;
} SfxAggNode;

static Node *create_state(CustomScan *plan);
static void begin_node(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_node(CustomScanState *css);
static void end_node(CustomScanState *css);
static void rescan_node(CustomScanState *css);

static const CustomScanMethods plan_methods = {
	.CustomName = "SurfidxAggregate",
	.CreateCustomScanState = create_state
};

static const CustomExecMethods exec_methods = {
	.CustomName = "SurfidxAggregate",
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node
};

void
sfx_agg_exec_init(void)
{
	RegisterCustomScanMethods(&plan_methods);
}

/* ---- the plan ---- */

CustomScan *
sfx_agg_make_plan(Plan *child, List *aggrefs, List *tlist, List *having)
{
	CustomScan *plan = makeNode(CustomScan);
	AttrNumber	n = 1;
	ListCell   *lc;

	plan->scan.plan.targetlist = tlist;
	plan->scan.plan.qual = having;
	plan->scan.scanrelid = 0;
	plan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	plan->custom_plans = list_make1(child);
	foreach(lc, aggrefs)
		plan->custom_scan_tlist = lappend(plan->custom_scan_tlist,
											makeTargetEntry(lfirst(lc), n++, NULL, false));
	plan->methods = &plan_methods;
	return plan;
}

/* ---- the state ---- */

static Node *
create_state(CustomScan *plan)
{
	SfxAggNode *node = (SfxAggNode *) newNode(sizeof(SfxAggNode), T_CustomScanState);

	node->css.methods = &exec_methods;
	return (Node *) node;
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;

	css->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate, eflags));
}

static void
end_node(CustomScanState *css)
{
	ExecEndNode(linitial(css->custom_ps));
}

static void
rescan_node(CustomScanState *css)
{
	PlanState  *child = linitial(css->custom_ps);

	((SfxAggNode *) css)->done = false;
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	/* else the node itself comes to it */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

/* ---- counting ---- */

/* The child's scan, begun as the child itself does it at its first row. */
static IndexScanDesc
begin_scan(IndexOnlyScanState *child)
{
	if (child->ss.ps.chgParam != NULL ||
		(child->ioss_NumRuntimeKeys != 0 && !child->ioss_RuntimeKeysReady))
		ExecReScan((PlanState *) child);
	child->ioss_OrderByKeys = sfx_unread_keys();
	if (child->ioss_ScanDesc == NULL)
	{
		child->ioss_ScanDesc = SfxIndexBeginScan(child);
		/* an index-only scan holds the gate (Y2) */
		child->ioss_ScanDesc->xs_want_itup = !SFX_MUTANT("count without a gate");
		child->ioss_VMBuffer = InvalidBuffer;
	}
	index_rescan(child->ioss_ScanDesc, child->ioss_ScanKeys, child->ioss_NumScanKeys,
				 child->ioss_OrderByKeys, 0);
	return child->ioss_ScanDesc;
}

/* Where stages have to be merged, and ranges be put together. */
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

/* *fetched: rows looked at in the table. */
static uint64
count_by_index(IndexOnlyScanState *child, uint64 *fetched)
{
	Relation	heap = child->ss.ss_currentRelation;
	IndexScanDesc scan = begin_scan(child);
	SfxVisibility *v = sfx_visibility_begin(child->ioss_RelationDesc, heap, scan->xs_snapshot);
	uint64		visible;

	SFX_STOP("count begun");
	if (!sfx_scan_count(scan, v))
		count_by_tids(scan, v);
	visible = sfx_visibility_count(v, fetched);
	sfx_visibility_end(v);
	return visible;
}

/*
 * Where the child has something to ask of its rows after all, or reads them backward: rows are
 * counted as they come.
 */
static uint64
count_rows(PlanState *child)
{
	uint64		n = 0;

	for (; !TupIsNull(ExecProcNode(child)); n++)
		CHECK_FOR_INTERRUPTS();
	return n;
}

/* EXPLAIN shows rows and heap fetches as the child's. */
static uint64
count_child(PlanState *ps)
{
	IndexOnlyScanState *child = (IndexOnlyScanState *) ps;
	uint64		fetched;
	uint64		n;

	if (!IsA(ps, IndexOnlyScanState) || ps->qual != NULL || child->ioss_NumOrderByKeys > 0 ||
		!sfx_is_ours(child->ioss_RelationDesc->rd_indam) || !IsMVCCSnapshot(ps->state->es_snapshot))
		return count_rows(ps);
	if (ps->instrument)
		InstrStartNode(ps->instrument);
	n = count_by_index(child, &fetched);
	if (ps->instrument)
	{
		InstrStopNode(ps->instrument, (double) n);
		InstrCountTuples2(ps, fetched);
	}
	return n;
}

static TupleTableSlot *
exec_node(CustomScanState *css)
{
	SfxAggNode *node = (SfxAggNode *) css;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	uint64		n;

	if (node->done)
		return NULL;
	n = count_child(linitial(css->custom_ps));
	node->done = true;
	ResetExprContext(econtext);
	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		slot->tts_values[i] = Int64GetDatum((int64) n);
		slot->tts_isnull[i] = false;
	}
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	if (!ExecQual(css->ss.ps.qual, econtext))
	{
		InstrCountFiltered1(css, 1);
		return NULL;
	}
	return css->ss.ps.ps_ProjInfo ? ExecProject(css->ss.ps.ps_ProjInfo) : slot;
}
