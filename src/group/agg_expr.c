/*-------------------------------------------------------------------------
 * agg_expr.c - expressions over an index's columns
 *
 * They are evaluated as core does, on the slot of the index-only scan below the node: it has the
 * index's columns in their order, and its node has the expression context.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_expr.h"
#include "agg_test.h"
#include "key.h"
#include "like.h"
#include "payload.h"
#include "row_block.h"
#include "slot.h"

#include "access/stratnum.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

struct SfxExprs
{
	IndexOnlyScanState *scan;
	Relation	index;
	TupleTableSlot *slot;
	ExprContext *econtext;
	MemoryContext cxt;
	uint32		round;			/* number of the scan */
	uint32		nblock;			/* number of the block in hand */
	SfxRowsOfBlock *rows;		/* of entries [made_from, made_to) of the block in hand; NULL: not
								 * needed so far */
	int			made_from;
	int			made_to;
	bool		ready[SFX_BLOCK_ENTRIES];	/* of those, these */
	SfxKeyDesc	kd;
	PGAlignedBlock arena[SFX_ARENA / BLCKSZ];
	PGAlignedBlock payload_arena[SFX_ARENA / BLCKSZ];
};

struct SfxExpr
{
	ExprState  *state;
	int			column;
};

SfxExprs *
sfx_exprs_create(IndexOnlyScanState *scan)
{
	SfxExprs   *x = palloc(sizeof(SfxExprs));

	x->scan = scan;
	x->index = scan->ioss_RelationDesc;
	x->slot = scan->ss.ss_ScanTupleSlot;
	x->econtext = scan->ss.ps.ps_ExprContext;
	x->cxt = CurrentMemoryContext;
	x->round = x->nblock = 0;
	x->rows = NULL;
	x->made_from = x->made_to = 0;
	sfx_keydesc_init(&x->kd, x->index);
	ExecStoreAllNullTuple(x->slot);
	return x;
}

/* The index's column that returns the table's column; as the planner chose it (agg_want.c). */
static int
find_column(const SfxExprs *x, AttrNumber attno)
{
	const Form_pg_index form = x->index->rd_index;

	for (int c = 0; c < form->indnatts; c++)
		if (form->indkey.values[c] == attno && index_can_return(x->index, c + 1))
			return c;
	elog(ERROR, "index \"%s\" does not have column %d", RelationGetRelationName(x->index), attno);
}

/* What the mutator knows. */
typedef struct Mutation
{
	const SfxExprs *x;
	int			column;
} Mutation;

/* Have columns of the table replaced by those of the scan's tuple. */
static Node *
to_index_columns(Node *node, void *arg)
{
	Mutation   *m = arg;
	Var		   *var = (Var *) node;
	int			column;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && var->varno == INDEX_VAR)
		return node;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, to_index_columns, arg);
	column = find_column(m->x, var->varattno);
	if (m->column < 0)
		m->column = column;
	return (Node *) makeVar(INDEX_VAR, column + 1, var->vartype, var->vartypmod, var->varcollid, 0);
}

SfxExpr *
sfx_expr_prepare(SfxExprs *x, Expr *expr)
{
	SfxExpr    *e = palloc(sizeof(SfxExpr));
	Mutation	m = {x, -1};

	expr = (Expr *) to_index_columns((Node *) expr, &m);
	e->state = ExecInitExpr(expr, &x->scan->ss.ps);
	e->column = m.column;
	return e;
}

int
sfx_expr_column(const SfxExpr *expr)
{
	return expr->column;
}

void
sfx_exprs_set(SfxExprs *x, int column, Datum value, bool isnull)
{
	x->slot->tts_values[column] = value;
	x->slot->tts_isnull[column] = isnull;
}

Datum
sfx_expr_value(SfxExprs *x, const SfxExpr *expr, bool *isnull)
{
	x->econtext->ecxt_scantuple = SfxSlotFilled(x->slot);
	return ExecEvalExpr(expr->state, x->econtext, isnull);
}

/* ---- arguments of aggregates ---- */

typedef struct Argument
{
	ExprState  *state;			/* NULL: it is a column, or a constant */
	int			column;			/* of the index, from 0; -1: it is a constant */
	int16		typlen;
	NullableDatum constant;
} Argument;

struct SfxArguments
{
	bool		key;			/* key columns are used */
	bool		payload;		/* INCLUDE columns are used */
	bool		computed;		/* some argument is neither a column nor a constant */
	int			n;
	Argument	arg[FLEXIBLE_ARRAY_MEMBER];
};

static void
prepare_argument(SfxExprs *x, Argument *arg, Expr *expr)
{
	const Expr *plain = expr;

	memset(arg, 0, sizeof(*arg));
	arg->typlen = get_typlen(exprType((Node *) expr));
	arg->column = -1;
	while (IsA(plain, RelabelType))
		plain = ((const RelabelType *) plain)->arg;
	if (IsA(plain, Var))
		arg->column = ((const Var *) plain)->varattno - 1;
	else if (IsA(plain, Const))
	{
		arg->constant.value = ((const Const *) plain)->constvalue;
		arg->constant.isnull = ((const Const *) plain)->constisnull;
	}
	else
		arg->state = ExecInitExpr(expr, &x->scan->ss.ps);
}

SfxArguments *
sfx_arguments_prepare(SfxExprs *x, List *exprs)
{
	SfxArguments *args = palloc(offsetof(SfxArguments, arg) + list_length(exprs) * sizeof(Argument));

	args->key = args->payload = args->computed = false;
	args->n = 0;
	foreach_ptr(Node, node, exprs)
	{
		Mutation	m = {x, -1};
		Node	   *expr = to_index_columns(node, &m);

		foreach_node(Var, var, pull_var_clause(expr, 0))
		{
			bool		key = var->varattno <= x->kd.nkeys;

			args->key |= key;
			args->payload |= !key;
		}
		prepare_argument(x, &args->arg[args->n], (Expr *) expr);
		args->computed |= args->arg[args->n++].state != NULL;
	}
	return args;
}

bool
sfx_arguments_use_key(const SfxArguments *args)
{
	return args->key;
}

bool
sfx_arguments_use_payload(const SfxArguments *args)
{
	return args->payload;
}

/* Set all columns of the row; what was computed from another row is gone. */
static void
set_row(SfxExprs *x, const Datum *values, const bool *isnull)
{
	for (int c = 0; c < x->kd.natts; c++)
	{
		x->slot->tts_values[c] = values[c];
		x->slot->tts_isnull[c] = isnull[c];
	}
	x->econtext->ecxt_scantuple = SfxSlotFilled(x->slot);
	if (!x->econtext->ecxt_per_tuple_memory->isReset)
		ResetExprContext(x->econtext);
}

void
sfx_arguments_compute(SfxExprs *x, const SfxArguments *args, const Datum *values,
					  const bool *isnull, NullableDatum *arg)
{
	if (args->computed)
		set_row(x, values, isnull);
	for (int i = 0; i < args->n; i++)
	{
		const Argument *a = &args->arg[i];

		if (a->state)
		{
			arg[i].value = ExecEvalExprSwitchContext(a->state, x->econtext, &arg[i].isnull);
			/* of equal keys it is computed once, and passed on several times */
			arg[i].value = MakeExpandedObjectReadOnly(arg[i].value, arg[i].isnull, a->typlen);
		}
		else if (a->column >= 0)
		{
			arg[i].value = values[a->column];
			arg[i].isnull = isnull[a->column];
		}
		else
			arg[i] = a->constant;
	}
}

/* ---- conditions ---- */

/* clauses of a condition that are told apart */
#define CLAUSES_MOST	32

struct SfxCondition
{
	int			n;
	ExprState  *clause[CLAUSES_MOST];
	int			ntests;			/* the first of them, which the bytes of keys tell ... */
	SfxTest    *test[CLAUSES_MOST]; /* ... by these */
	uint32		told_of;		/* the block (SfxExprs.nblock) for whose keys ... */
	int			told_from;		/* ... [told_from, ... */
	int			told_to;		/* ... told_to) ... */
	bool		told[SFX_BLOCK_KEYS];	/* ... these tell whether the tests are true, ... */
	bool		exact;			/* ... if they can, ... */
	bool		dense;			/* ... and are, of more than a few */
	int			upto;			/* key columns that are used are before this one */
	bool		payload;		/* INCLUDE columns are used, too */
	bool		may_fail;

	/*
	 * All clauses compare columns with something that is the same for all rows: the last of these
	 * columns.  Else -1.
	 */
	int			compared;
};

/* Is it a constant, or as good as one, that cannot fail? */
static bool
is_plain_value(const Node *node)
{
	while (IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	return IsA(node, Const) || IsA(node, Param);
}

/*
 * The column that a clause compares, so that it is true from some value on, or up to it; or -1.  Not
 * of comparisons in which the time zone has a part: clocks are set.
 */
static int
compared_column(const SfxExprs *x, const OpExpr *op)
{
	const Var  *var;
	int			column;
	int			strategy;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 || !IsA(linitial(op->args), Var) ||
		contain_var_clause(lsecond(op->args)))
		return -1;
	var = linitial(op->args);
	column = var->varattno - 1;
	if (column >= x->kd.nkeys || op->inputcollid != x->kd.col[column].collation ||
		(column > 0 && x->kd.comparator))
		return -1;
	strategy = get_op_opfamily_strategy(op->opno, x->index->rd_opfamily[column]);
	return strategy != 0 && strategy != BTEqualStrategyNumber &&
		op_volatile(op->opno) == PROVOLATILE_IMMUTABLE ? column : -1;
}

static void
note_column(const SfxExprs *x, SfxCondition *c, const Var *var)
{
	if (var->varattno > x->kd.nkeys)
		c->payload = true;
	else
		c->upto = Max(c->upto, var->varattno);
}

bool
sfx_condition_may_fail(const SfxCondition *c)
{
	return c->may_fail;
}

SfxCondition *
sfx_condition_prepare(SfxExprs *x, List *clauses)
{
	SfxCondition *c = palloc0(sizeof(SfxCondition));

	c->may_fail = contain_leaked_vars((Node *) clauses);
	if (list_length(clauses) > CLAUSES_MOST)
		clauses = list_make1(make_ands_explicit(clauses));
	foreach_ptr(Node, node, clauses)
	{
		Mutation	m = {x, -1};
		Node	   *clause = to_index_columns(node, &m);
		int			column = compared_column(x, (OpExpr *) clause);
		ListCell   *lc2;

		/* all clauses would be evaluated, and core stops at one that is not true */
		if (column >= 0 && list_length(clauses) > 1 &&
			!is_plain_value(lsecond(((OpExpr *) clause)->args)))
			column = -1;

		foreach(lc2, pull_var_clause(clause, 0))
			note_column(x, c, lfirst(lc2));
		if (c->compared >= 0)
			c->compared = column < 0 ? -1 : Max(c->compared, column);
		c->test[c->n] = c->ntests < c->n ? NULL :
			sfx_test_prepare(x->index, &x->kd, clause, &x->scan->ss.ps);
		c->ntests += c->test[c->n] != NULL;
		c->clause[c->n] = ExecInitExpr((Expr *) clause, &x->scan->ss.ps);
		sfx_like_quicken(c->clause[c->n++]);
	}
	return c;
}

/* Decode the columns of an entry that the condition uses. */
static void
decode_row(SfxExprs *x, const SfxCondition *c, const SfxEntry *e)
{
	TupleTableSlot *slot = x->slot;

	/* only a whole key has the rests */
	if (c->upto > 0)
		sfx_key_decode(&x->kd, x->index, e->key, e->keylen, x->kd.nrests > 0 ? x->kd.nkeys : c->upto,
					   slot->tts_values, slot->tts_isnull, x->arena->data);
	if (c->payload)
		sfx_payload_decode(&x->kd, x->index, e->payload, e->paylen, slot->tts_values,
						   slot->tts_isnull, x->payload_arena->data);
}

void
sfx_exprs_begin(SfxExprs *x)
{
	if (x)
		x->round++;
}

void
sfx_exprs_forget(SfxExprs *x)
{
	if (x == NULL)
		return;
	x->made_from = x->made_to = 0;
	x->nblock++;
}

/* Make rows of entries [from, to), among which the next ones are. */
static void
make_rows(SfxExprs *x, const SfxBlock *block, int from, int to)
{
	if (x->rows == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(x->cxt);

		x->rows = sfx_rows_of_block_begin(x->index, &x->kd);
		MemoryContextSwitchTo(old);
	}
	memset(x->ready + from, true, to - from);
	sfx_rows_of_block_make(x->rows, block, from, to - from, x->ready);
	x->made_from = from;
	x->made_to = to;
}

/* Let the slot have the columns of entry i that the condition uses. */
static void
take_row(SfxExprs *x, const SfxCondition *c, const SfxBlock *block, int i)
{
	MemoryContext old;
	SfxEntry	e;

	if (i >= x->made_from && i < x->made_to && x->ready[i])
	{
		set_row(x, sfx_rows_of_block_values(x->rows) + i * x->kd.natts,
				sfx_rows_of_block_nulls(x->rows) + i * x->kd.natts);
		return;
	}
	sfx_block_entry(block, i, &e);
	ResetExprContext(x->econtext);
	x->econtext->ecxt_scantuple = SfxSlotFilled(x->slot);
	/* long values are palloced */
	old = MemoryContextSwitchTo(x->econtext->ecxt_per_tuple_memory);
	decode_row(x, c, &e);
	MemoryContextSwitchTo(old);
}

/* Is the clause true for the row in the slot? */
static inline bool
is_true(SfxExprs *x, ExprState *clause)
{
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(clause, x->econtext, &isnull);

	return !isnull && DatumGetBool(value);
}

/* Which comparisons are true for an entry; *null: the compared column is NULL. */
static uint32
evaluate(SfxExprs *x, const SfxCondition *c, const SfxBlock *block, int i, bool *null)
{
	uint32		bits = 0;

	take_row(x, c, block, i);
	for (int k = 0; k < c->n; k++)
		bits |= (uint32) is_true(x, c->clause[k]) << k;
	*null = x->slot->tts_isnull[c->compared];
	return bits;
}

/* Were the keys of entries [from, to) tested? */
static inline bool
is_tested(const SfxExprs *x, const SfxCondition *c, const SfxBlock *block, int from, int to)
{
	return c->told_of == x->nblock && sfx_block_keyno(block, from) >= c->told_from &&
		sfx_block_keyno(block, to - 1) < c->told_to;
}

/* Have them tested.  False: their bytes do not tell. */
static bool
test_keys(SfxExprs *x, SfxCondition *c, const SfxBlock *block, int from, int to)
{
	int			n = 0;

	if (is_tested(x, c, block, from, to))
		return c->exact;
	from = sfx_block_keyno(block, from);
	to = sfx_block_keyno(block, to - 1) + 1;
	memset(c->told + from, true, to - from);
	c->exact = true;
	for (int k = 0; k < c->ntests && c->exact; k++)
		c->exact = sfx_test_keys(c->test[k], x->econtext, x->round, block, from, to, c->told);
	c->told_of = x->nblock;
	c->told_from = from;
	c->told_to = to;
	for (int k = from; k < to; k++)
		n += c->told[k];
	c->dense = n > (to - from) / 4;
	return c->exact;
}

/* Are all clauses true?  Those after one that is not are left out, as core does. */
static bool
passes(SfxExprs *x, const SfxCondition *c, const SfxBlock *block, int i)
{
	int			k = 0;

	if (c->exact)
	{
		if (!c->told[sfx_block_keyno(block, i)])
			return false;
		k = c->ntests;
	}
	if (k < c->n)
		take_row(x, c, block, i);
	while (k < c->n && is_true(x, c->clause[k]))
		k++;
	return k == c->n;
}

/* Have two entries the same key columns before this one? */
static bool
begin_alike(const SfxExprs *x, const SfxBlock *block, int i, int k, int columns)
{
	SfxEntry	a;
	SfxEntry	b;
	const uint8 *p;

	sfx_block_entry(block, i, &a);
	sfx_block_entry(block, k, &b);
	p = a.key;
	for (int c = 0; c < columns; c++)
		p += sfx_column_length(&x->kd.col[c], x->index, p, (int) (a.key + a.keylen - p));
	return b.keylen >= (uint32) (p - a.key) && memcmp(a.key, b.key, p - a.key) == 0;
}

/* Does entry i have the key of the entry before it, and does the condition use nothing else? */
static bool
repeats(const SfxCondition *c, const SfxBlock *block, int i)
{
	return !c->payload && sfx_block_keyno(block, i) == sfx_block_keyno(block, i - 1);
}

/* Do all clauses compare a column that ascends from one entry to the other? */
static bool
ascends(const SfxExprs *x, const SfxCondition *c, const SfxBlock *block, int from, int to)
{
	return c->compared >= 0 && to - from > 1 && !is_tested(x, c, block, from, to) &&
		begin_alike(x, block, from, to - 1, c->compared);
}

int
sfx_condition_count(SfxExprs *x, SfxCondition *c, const SfxBlock *block, int from, int to)
{
	int			n = 0;

	if (c->ntests < c->n || ascends(x, c, block, from, to) || !test_keys(x, c, block, from, to))
		return -1;
	for (int i = from; i < to; i++)
		n += c->told[sfx_block_keyno(block, i)];
	return n;
}

/*
 * sfx_condition_run for comparisons of a column that ascends: NULLs are at one end, so if none of the ends is
 * NULL, each clause changes once at most.  Returns `from` if the first one is NULL.
 */
static int
run_ascending(SfxExprs *x, const SfxCondition *c, const SfxBlock *block, int from, int to, bool *pass)
{
	uint32		all = c->n == 32 ? PG_UINT32_MAX : ((uint32) 1 << c->n) - 1;
	bool		null;
	bool		other;
	uint32		bits = evaluate(x, c, block, from, &null);

	if (null)
		return from;
	*pass = bits == all;
	for (int end = to; end - from > 1; end = from + (end - from) / 2)
		if (evaluate(x, c, block, end - 1, &other) == bits && !other)
			return end;
	return from + 1;
}

int
sfx_condition_run(SfxExprs *x, SfxCondition *c, const SfxBlock *block, int from, int to,
				  bool *pass)
{
	int			end = from;
	bool		by_ends = ascends(x, c, block, from, to) &&
	(end = run_ascending(x, c, block, from, to, pass)) > from;

	if (!by_ends)
	{
		if ((!test_keys(x, c, block, from, to) || (c->ntests < c->n && c->dense)) &&
			to - from > 1 && (from < x->made_from || to > x->made_to))
			make_rows(x, block, from, to);
		*pass = passes(x, c, block, end++);
	}
	while (end < to && (repeats(c, block, end) ||
						(!by_ends && passes(x, c, block, end) == *pass)))
		end++;
	return end;
}
