/*-------------------------------------------------------------------------
 * loop_ahead.c - reading ahead of the inner side of nested loops (R13)
 *
 * A nested loop looks up one key at a time, and each lookup waits for the page of its row.  The
 * outer side knows the next keys.  So when a plan is set up, the outer node of a nested loop whose
 * inner side begins with a scan of our index gets a function of ours in place of its own.  While
 * lookups read nothing, that function passes the outer rows through.  Where they read pages, it
 * fetches the next outer rows into a queue: one, two, four, ... up to surfidx.read_ahead.  It looks
 * up their keys, requests the pages of the rows found, and returns the queue's rows in their order.
 * It fetches more when half of the pages that are on their way have been visited.
 *
 * The plan remains core's, and so does all that is returned: the inner scan looks up each key by
 * itself.  The outer rows are those that the node's own function returns, some of them earlier.
 * That makes no difference where the outer side has no side effects (plan_effects.c), but that it
 * may raise an error some rows early, as in parallel workers.  Under a LIMIT no more rows are
 * fetched than it can still want.
 *
 * A rescan of the loop empties the queue: core calls the callbacks of the loop's expression context
 * before it rescans the two sides.  If much was fetched in vain, as where one row is enough, no row
 * is fetched early for some time.  The queue's context goes with the query's memory, and the list
 * of loops forgets the loop then.
 */
#include "surfidx.h"
#include "counters.h"
#include "heap_ahead.h"
#include "loop_ahead.h"
#include "page.h"
#include "plan_effects.h"
#include "scan.h"
#include "settings.h"

#include "access/visibilitymap.h"
#include "common/int.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"

/* The first outer rows of a loop are looked up as they come. */
#define FIRST_ROWS		2

/* Of each lookup, so many rows at most have their pages requested. */
#define ROWS_OF_LOOKUP	8

/* After so many lookups in a row that find no page to request, some rows pass without any. */
#define LOOKUPS_IN_VAIN	16

/* Reading ahead paid if so many rows were returned for each that a rescan finds in the queue. */
#define RETURNED_PER_LOST	4

/* The scan on the inner side that takes keys from the outer row. */
typedef struct InnerScan
{
	Relation	index;			/* NULL: there is none */
	Relation	heap;
	bool		index_only;
	ScanKey		keys;
	int			nkeys;
	IndexRuntimeKeyInfo *runtime;
	int			nruntime;
} InnerScan;

/*
 * Outer rows that were fetched and not returned yet, in a ring: the next one, and those with pages
 * on their way.  The one returned last keeps its slot besides.
 */
#define QUEUE_MAX	(SFX_AHEAD_MAX + 1)
#define QUEUE_SLOTS	(QUEUE_MAX + 1)

typedef struct Queue
{
	MemoryContext cxt;			/* of the slots and their rows */
	MemoryContext scratch;		/* empty between two calls */
	TupleTableSlot *slot[QUEUE_SLOTS];	/* NULL: not made yet */
	int			first;
	int			n;
	TupleTableSlot *taken;		/* the row returned last, or NULL */
	int			in_vain;		/* lookups in a row for which no page was requested */
	bool		ended;			/* the outer node has no more rows */
	bool		hooked;			/* a rescan of the loop will tell us ... */
	uint64		since;			/* ... since this row */
	int			column[INDEX_MAX_KEYS]; /* of the outer row, for each runtime key */
	SfxLocator	file;			/* of the index */
	SfxHeapAhead pages;
} Queue;

typedef struct LoopAhead
{
	struct LoopAhead *next;
	EState	   *estate;
	NestLoopState *loop;
	PlanState  *outer;
	ExecProcNodeMtd outer_row;	/* the outer node's own function */
	LimitState *limit;			/* above the loop: each row of the loop may be one of its rows */
	uint64		row;			/* number of the outer row returned last, over all rescans */
	int64		read;			/* sfx_pages_read() when it was returned */
	Queue	   *queue;			/* NULL: not needed yet */
} LoopAhead;

/* The loops of all running queries, those used last first. */
static LoopAhead *loops = NULL;

/* ---- which loops ---- */

/* The node that gives the inner side its first rows. */
static PlanState *
first_below(PlanState *ps)
{
	while (ps != NULL)
	{
		switch (nodeTag(ps))
		{
			case T_SubqueryScanState:
				ps = ((SubqueryScanState *) ps)->subplan;
				break;
			case T_LimitState:
			case T_MemoizeState:
			case T_AggState:
			case T_SortState:
			case T_UniqueState:
			case T_ResultState:
			case T_NestLoopState:
				ps = outerPlanState(ps);
				break;
			default:
				return ps;
		}
	}
	return NULL;
}

#define INNER_SCAN(node, prefix, rel, is_index_only) \
	((InnerScan) {(node)->prefix##_RelationDesc, rel, is_index_only, \
		(node)->prefix##_ScanKeys, (node)->prefix##_NumScanKeys, \
		(node)->prefix##_RuntimeKeys, (node)->prefix##_NumRuntimeKeys})

/* The scan of one of our indexes with which the inner side begins, if its keys come at run time. */
static InnerScan
inner_scan(const NestLoopState *loop)
{
	PlanState  *ps = first_below(innerPlanState(loop));
	InnerScan	s = {NULL};

	if (ps == NULL)
		return s;
	if (IsA(ps, IndexScanState))
		s = INNER_SCAN((IndexScanState *) ps, iss, ((ScanState *) ps)->ss_currentRelation, false);
	else if (IsA(ps, IndexOnlyScanState))
		s = INNER_SCAN((IndexOnlyScanState *) ps, ioss, ((ScanState *) ps)->ss_currentRelation,
					   true);
	else if (IsA(ps, BitmapHeapScanState) && IsA(outerPlanState(ps), BitmapIndexScanState))
		s = INNER_SCAN((BitmapIndexScanState *) outerPlanState(ps), biss,
					   ((ScanState *) ps)->ss_currentRelation, false);
	if (s.index == NULL || s.nruntime == 0 || !sfx_is_ours(s.index->rd_indam))
		s.index = NULL;
	return s;
}

/*
 * The column of the outer row from which a runtime key takes its value; 0: it is computed, or comes
 * from elsewhere.
 */
static int
outer_column(const NestLoop *loop, const IndexRuntimeKeyInfo * key)
{
	Expr	   *expr = key->key_expr->expr;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Param) || ((Param *) expr)->paramkind != PARAM_EXEC)
		return 0;
	foreach_node(NestLoopParam, param, loop->nestParams)
		if (param->paramno == ((Param *) expr)->paramid)
		return param->paramval->varattno;
	return 0;
}

/* Are all keys compared with constants and columns of the outer row?  Notes the columns. */
static bool
find_columns(const LoopAhead *a, const InnerScan *s, int *column)
{
	for (int i = 0; i < s->nkeys; i++)
		if (s->keys[i].sk_flags & (SK_ROW_HEADER | SK_ROW_MEMBER | SK_SEARCHARRAY))
			return false;
	if (s->nruntime > INDEX_MAX_KEYS)
		return false;
	for (int i = 0; i < s->nruntime; i++)
	{
		column[i] = outer_column((NestLoop *) a->loop->js.ps.plan, &s->runtime[i]);
		if (column[i] <= 0)
			return false;
	}
	return true;
}

/* ---- the queue ---- */

/* Row number i of the queue. */
static inline TupleTableSlot **
queue_slot(Queue *q, int i)
{
	return &q->slot[(q->first + i) % QUEUE_SLOTS];
}

/* As an ExprContextCallbackFunction: the loop is rescanned, or ends. */
static void
forget_queue(Datum loop)
{
	LoopAhead  *a = (LoopAhead *) DatumGetPointer(loop);
	Queue	   *q = a->queue;

	sfx_ahead_forget(&q->pages, a->row);
	sfx_count_ahead(&q->file, &q->pages);
	/* few rows are wanted between two rescans: more would be fetched in vain, again and again */
	if (a->row - q->since < RETURNED_PER_LOST * (uint64) q->n)
		sfx_ahead_rest(&q->pages, a->row);
	for (; q->n > 0; q->n--)
		ExecClearTuple(*queue_slot(q, q->n - 1));
	q->ended = q->hooked = false;
}

/* The outer node's own function again, for good. */
static void
leave_alone(LoopAhead *a)
{
	ExecSetExecProcNode(a->outer, a->outer_row);
}

/* The queue of a loop whose lookups read pages.  NULL: the loop is not to be read ahead of. */
static Queue *
begin_queue(LoopAhead *a)
{
	MemoryContext cxt = a->estate->es_query_cxt;
	InnerScan	s = inner_scan(a->loop);
	Queue	   *q = MemoryContextAllocZero(cxt, sizeof(Queue));

	sfx_ahead_begin(&q->pages, s.heap, false);
	if (q->pages.most == 0 || !find_columns(a, &s, q->column) || sfx_plan_has_effects(a->outer))
	{
		pfree(q);
		return NULL;
	}
	q->cxt = AllocSetContextCreate(cxt, "surfidx rows ahead", ALLOCSET_DEFAULT_SIZES);
	q->scratch = AllocSetContextCreate(q->cxt, "surfidx lookups ahead", ALLOCSET_DEFAULT_SIZES);
	q->file = SfxRelLocator(s.index);
	return q;
}

/* How many outer rows may be wanted? */
static int64
rows_wanted(const LoopAhead *a)
{
	const LimitState *limit = a->limit;
	int64		wanted;

	if (limit == NULL || limit->noCount ||
		pg_add_s64_overflow(limit->offset - limit->position, limit->count, &wanted))
		return PG_INT64_MAX;
	return Max(wanted, 0);
}

/* Outer rows to fetch now.  Into an empty queue two at least, as one is returned at once. */
static int
rows_to_fetch(LoopAhead *a)
{
	bool		reads = sfx_pages_read() != a->read;
	Queue	   *q = a->queue;
	int			n;

	if (a->row < FIRST_ROWS || (q == NULL && !reads))
		return 0;
	if (q == NULL && (q = a->queue = begin_queue(a)) == NULL)
	{
		leave_alone(a);
		return 0;
	}
	if (q->ended || (q->pages.window == 0 && !reads) || !sfx_ahead_due(&q->pages, a->row))
		return 0;
	n = (int) Min(q->pages.window + 1, rows_wanted(a)) - q->n;
	return n > (q->n == 0 ? 1 : 0) ? n : 0;
}

/* Append a copy of the row to the queue. */
static void
append_row(LoopAhead *a, TupleTableSlot *row)
{
	Queue	   *q = a->queue;
	TupleTableSlot **slot = queue_slot(q, q->n);

	if (*slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(q->cxt);

		*slot = SfxMakeSlot(row->tts_tupleDescriptor, row->tts_ops);
		/* core lets go of the row type with those of all slots */
		MemoryContextSwitchTo(a->estate->es_query_cxt);
		a->estate->es_tupleTable = lappend(a->estate->es_tupleTable, *slot);
		MemoryContextSwitchTo(old);
	}
	ExecCopySlot(*slot, row);
	/* no page stays pinned for it */
	ExecMaterializeSlot(*slot);
	q->n++;
}

/* Do the rows of the queue take less than work_mem? */
static bool
has_memory(const Queue *q)
{
	Size		most = (Size) work_mem * 1024;
	MemoryContextCounters memory = {0};

	if (MemoryContextMemAllocated(q->cxt, false) < most)
		return true;
	/* the next rows take the places of those that were returned */
	q->cxt->methods->stats(q->cxt, NULL, NULL, &memory, false);
	return memory.totalspace - memory.freespace < most;
}

/* Fetch up to n more rows of the outer node, or as many as work_mem holds. */
static void
fetch_rows(LoopAhead *a, int n)
{
	Queue	   *q = a->queue;

	Assert(q->n + n <= QUEUE_MAX);
	for (; n > 0 && has_memory(q); n--)
	{
		TupleTableSlot *row = a->outer_row(a->outer);

		if (TupIsNull(row))
		{
			q->ended = true;
			break;
		}
		append_row(a, row);
	}
}

/* The scan keys of the inner scan for a row of the queue. */
static void
fill_keys(const Queue *q, const InnerScan *s, TupleTableSlot *row, ScanKey keys)
{
	memcpy(keys, s->keys, s->nkeys * sizeof(ScanKeyData));
	for (int i = 0; i < s->nruntime; i++)
	{
		ScanKey		key = &keys[(ScanKey) s->runtime[i].scan_key - s->keys];
		bool		isnull;
		Datum		value = slot_getattr(row, q->column[i], &isnull);

		if (!isnull && s->runtime[i].key_toastable)
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		key->sk_argument = value;
		key->sk_flags = isnull ? key->sk_flags | SK_ISNULL : key->sk_flags & ~SK_ISNULL;
	}
}

/* Request pages of the table for the queue's rows from number `from` on. */
static void
request_pages(LoopAhead *a, int from)
{
	Queue	   *q = a->queue;
	InnerScan	s = inner_scan(a->loop);
	MemoryContext old = MemoryContextSwitchTo(q->scratch);
	int			n = q->n - from;
	int			filled = 0;
	uint64	   *tid = palloc(n * ROWS_OF_LOOKUP * sizeof(uint64));
	int		   *found = palloc(n * sizeof(int));
	ScanKey		keys = palloc(n * s.nkeys * sizeof(ScanKeyData));
	uint64		asked = q->pages.asked;
	Buffer		map = InvalidBuffer;
	Size		most = MemoryContextMemAllocated(q->scratch, false) + (Size) work_mem * 1024;

	/* (the rows are within work_mem, but their keys may be compressed, or out of line) */
	while (filled < n && MemoryContextMemAllocated(q->scratch, false) < most)
	{
		fill_keys(q, &s, *queue_slot(q, from + filled), keys + filled * s.nkeys);
		filled++;
	}
	sfx_scan_lookups(s.index, s.heap, keys, s.nkeys, filled, tid, ROWS_OF_LOOKUP, found);
	for (int i = 0; i < filled; i++)
		for (int k = 0; k < found[i] && sfx_ahead_has_room(&q->pages); k++)
		{
			uint64		row = tid[i * ROWS_OF_LOOKUP + k];

			/* (the queue's first row has number a->row + 1) */
			if (!s.index_only || !VM_ALL_VISIBLE(s.heap, SFX_TID_BLOCK(row), &map))
				sfx_ahead_ask(&q->pages, a->row + 1 + from + i, row);
		}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
	q->in_vain = q->pages.asked == asked && sfx_ahead_has_room(&q->pages) ? q->in_vain + filled : 0;
	if (q->in_vain >= LOOKUPS_IN_VAIN)
	{
		sfx_ahead_rest(&q->pages, a->row);
		q->in_vain = 0;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(q->scratch);
}

/* ---- rows ---- */

/* The list's entry of an outer node; it becomes the list's first one. */
static inline LoopAhead *
find_loop(const PlanState *outer)
{
	LoopAhead **link = &loops;
	LoopAhead  *a;

	/* install() has put it there, and only the end of the query takes it out */
	while ((*link)->outer != outer)
	{
		link = &(*link)->next;
		Assert(*link != NULL);
	}
	a = *link;
	*link = a->next;
	a->next = loops;
	loops = a;
	return a;
}

/* Fetch n more rows, and request pages for those that are not looked up right now. */
static pg_noinline void
fetch_ahead(LoopAhead *a, int n)
{
	Queue	   *q = a->queue;
	int			from = Max(q->n, 1);

	if (!q->hooked)
	{
		/* a rescan may have made a subquery run again that had run when begin_queue asked */
		if (a->estate->es_subplanstates != NIL && sfx_plan_has_effects(a->outer))
		{
			leave_alone(a);
			return;
		}
		RegisterExprContextCallback(a->loop->js.ps.ps_ExprContext, forget_queue,
									PointerGetDatum(a));
		q->since = a->row;
	}
	q->hooked = true;
	fetch_rows(a, n);
	if (q->n > from)
		request_pages(a, from);
}

/* The queue's first row leaves it; NULL: the outer node has no more. */
static TupleTableSlot *
take_row(Queue *q)
{
	if (q->taken != NULL)
		ExecClearTuple(q->taken);
	q->taken = NULL;
	if (q->n == 0)
		return NULL;
	q->taken = *queue_slot(q, 0);
	q->first = (q->first + 1) % QUEUE_SLOTS;
	q->n--;
	return q->taken;
}

static TupleTableSlot *
exec_ahead(PlanState *ps)
{
	LoopAhead  *a = find_loop(ps);
	TupleTableSlot *slot;
	int			n = rows_to_fetch(a);

	Assert(ScanDirectionIsForward(ps->state->es_direction));
	if (n > 0)
		fetch_ahead(a, n);
	if (a->queue != NULL && (a->queue->n > 0 || a->queue->ended))
		slot = take_row(a->queue);
	else
		slot = a->outer_row(ps);
	a->row++;
	a->read = sfx_pages_read();
	return slot;
}

/* ---- when a plan is set up ---- */

/* As a MemoryContextCallbackFunction: the query's memory goes. */
static void
forget_loops(void *estate)
{
	LoopAhead **link = &loops;

	while (*link != NULL)
		if ((*link)->estate == estate)
			*link = (*link)->next;
		else
			link = &(*link)->next;
}

static void
install(NestLoopState *loop, LimitState *limit)
{
	EState	   *estate = loop->js.ps.state;
	LoopAhead  *a = MemoryContextAllocZero(estate->es_query_cxt, sizeof(LoopAhead));

	if (loops == NULL || loops->estate != estate)
	{
		MemoryContextCallback *end = MemoryContextAlloc(estate->es_query_cxt, sizeof(*end));

		*end = (MemoryContextCallback) {forget_loops, estate};
		MemoryContextRegisterResetCallback(estate->es_query_cxt, end);
	}
	a->estate = estate;
	a->loop = loop;
	a->limit = limit;
	a->outer = outerPlanState(loop);
	a->outer_row = a->outer->ExecProcNodeReal;
	a->next = loops;
	loops = a;
	ExecSetExecProcNode(a->outer, exec_ahead);
}

/* (the loop above comes to the front of the list, as it is asked first) */
void
sfx_loop_ahead_look(NestLoopState *loop, LimitState *limit)
{
	if (inner_scan(loop).index != NULL && outerPlanState(loop)->ExecProcNodeReal != exec_ahead)
		install(loop, limit);
}
