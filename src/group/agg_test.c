/*-------------------------------------------------------------------------
 * agg_test.c - clauses that the bytes of keys tell
 *
 * A comparison of a key column with a constant is a filter of a scan that has no ranges
 * (scankey.h), so no value is decoded and no function called for an entry.  x <> c is: not x = c,
 * and x IS NOT NULL.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_test.h"
#include "scankey.h"

#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

typedef enum Kind
{
	TEST_ALL,					/* AND of what follows */
	TEST_ANY,					/* OR */
	TEST_NOT,
	TEST_COLUMN
} Kind;

struct SfxTest
{
	Kind		kind;
	List	   *parts;			/* of others than COLUMN */
	ScanKeyData key;
	ExprState  *constant;		/* NULL: key has it, or needs none */
	uint32		round;			/* in which it was evaluated */
	bool		exact;			/* bytes tell */
	SfxScanKeys keys;
};

typedef struct Maker
{
	Relation	index;
	const SfxKeyDesc *kd;
	PlanState  *parent;
} Maker;

/* Keys [from, to) of a block, and for constants the context and the number of the scan. */
typedef struct Keys
{
	ExprContext *econtext;
	uint32		round;
	const SfxBlock *block;
	int			from;
	int			to;
} Keys;

/* ---- set-up ---- */

static SfxTest *
make_test(Kind kind, List *parts)
{
	SfxTest    *test = palloc0(sizeof(SfxTest));

	test->kind = kind;
	test->parts = parts;
	return test;
}

/* The key column that an expression is, from 0, or -1. */
static int
column_of(const Maker *m, Node *node)
{
	const Var  *var;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	var = (const Var *) node;
	if (!IsA(var, Var))
		return -1;
	for (int c = 0; c < m->kd->nkeys; c++)
		if (var->varno == INDEX_VAR ? var->varattno == c + 1 :
			m->index->rd_index->indkey.values[c] == var->varattno && index_can_return(m->index, c + 1))
			return c;
	return -1;
}

static SfxTest *
test_column(const Maker *m, int column, int flags, int strategy, Oid subtype, Oid operator,
			Node *value)
{
	SfxTest    *test = make_test(TEST_COLUMN, NIL);

	ScanKeyEntryInitialize(&test->key, flags, column + 1, strategy, subtype,
						   m->kd->col[column].collation, operator ? get_opcode(operator) : InvalidOid,
						   (Datum) 0);
	if (m->parent && value)
		test->constant = ExecInitExpr((Expr *) value, m->parent);
	sfx_scankeys_init(&test->keys, m->index, m->kd, NULL, 1);
	return test;
}

static SfxTest *
test_null(const Maker *m, int column, int flag)
{
	return column < 0 ? NULL :
		test_column(m, column, SK_ISNULL | flag, InvalidStrategy, InvalidOid, InvalidOid, NULL);
}

/*
 * The opposite of an equality.  It comes first, since core evaluates its constant for NULLs, too: one
 * that fails, or an empty list (x <> ALL '{}' is true for them), of which bytes do not tell.
 */
static SfxTest *
test_unequal(const Maker *m, int column, SfxTest * equal)
{
	return equal == NULL ? NULL :
		make_test(TEST_ALL, list_make2(make_test(TEST_NOT, list_make1(equal)),
									   test_null(m, column, SK_SEARCHNOTNULL)));
}

/*
 * A comparison by the class's operator.  Not if the time zone has a part in it.
 */
static SfxTest *
test_operator(const Maker *m, int column, int flags, Oid operator, Oid collation, Node *value)
{
	Oid			family = m->index->rd_opfamily[column];
	int			strategy;
	Oid			left;
	Oid			right;

	if (get_op_opfamily_strategy(operator, family) == 0 ||
		op_volatile(operator) != PROVOLATILE_IMMUTABLE ||
		collation != m->kd->col[column].collation || contain_var_clause(value))
		return NULL;
	get_op_opfamily_properties(operator, family, false, &strategy, &left, &right);
	if (left != m->index->rd_opcintype[column] || (flags != 0 && strategy != BTEqualStrategyNumber))
		return NULL;
	return test_column(m, column, flags, strategy, right, operator, value);
}

static SfxTest *
test_comparison(const Maker *m, const OpExpr *op)
{
	Node	   *value = llast(op->args);
	Oid			operator = op->opno;
	int			column = column_of(m, linitial(op->args));
	SfxTest    *test;

	if (list_length(op->args) != 2)
		return NULL;
	if (column < 0)
	{
		column = column_of(m, value);
		value = linitial(op->args);
		operator = get_commutator(operator);
	}
	if (column < 0 || !OidIsValid(operator))
		return NULL;
	test = test_operator(m, column, 0, operator, op->inputcollid, value);
	operator = test ? InvalidOid : get_negator(operator);
	if (!OidIsValid(operator) ||
		get_op_opfamily_strategy(operator, m->index->rd_opfamily[column]) != BTEqualStrategyNumber)
		return test;
	return test_unequal(m, column, test_operator(m, column, 0, operator, op->inputcollid, value));
}

/* = ANY and <> ALL. */
static SfxTest *
test_list(const Maker *m, const ScalarArrayOpExpr *op)
{
	Oid			operator = op->useOr ? op->opno : get_negator(op->opno);
	int			column = column_of(m, linitial(op->args));
	SfxTest    *test;

	if (column < 0 || !OidIsValid(operator))
		return NULL;
	test = test_operator(m, column, SK_SEARCHARRAY, operator, op->inputcollid, llast(op->args));
	return op->useOr ? test : test_unequal(m, column, test);
}

static SfxTest *
test_boolean(const Maker *m, Node *node, bool wanted)
{
	int			column = column_of(m, node);
	SfxTest    *test;

	if (column < 0 || m->index->rd_opcintype[column] != BOOLOID ||
		get_op_opfamily_strategy(BooleanEqualOperator, m->index->rd_opfamily[column]) !=
		BTEqualStrategyNumber)
		return NULL;
	test = test_column(m, column, 0, BTEqualStrategyNumber, BOOLOID, BooleanEqualOperator, NULL);
	test->key.sk_argument = BoolGetDatum(wanted);
	return test;
}

static SfxTest *
make(const Maker *m, Node *clause)
{
	BoolExpr   *b = (BoolExpr *) clause;
	List	   *parts = NIL;

	check_stack_depth();
	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return test_comparison(m, (OpExpr *) clause);
		case T_ScalarArrayOpExpr:
			return test_list(m, (ScalarArrayOpExpr *) clause);
		case T_NullTest:
			return ((NullTest *) clause)->argisrow ? NULL :
				test_null(m, column_of(m, (Node *) ((NullTest *) clause)->arg),
						  ((NullTest *) clause)->nulltesttype == IS_NULL ? SK_SEARCHNULL :
						  SK_SEARCHNOTNULL);
		case T_BoolExpr:
			if (b->boolop == NOT_EXPR)
				return test_boolean(m, linitial(b->args), false);
			break;
		default:
			return test_boolean(m, clause, true);
	}
	foreach_ptr(Node, arg, b->args)
	{
		SfxTest    *part = make(m, arg);

		if (part == NULL)
			return NULL;
		parts = lappend(parts, part);
	}
	return make_test(b->boolop == AND_EXPR ? TEST_ALL : TEST_ANY, parts);
}

SfxTest *
sfx_test_prepare(Relation index, const SfxKeyDesc *kd, Node *clause, PlanState *parent)
{
	Maker		m = {index, kd, parent};

	/* in comparator order bytes do not tell */
	return kd->comparator ? NULL : make(&m, clause);
}

/* ---- tests ---- */

/* Do bytes tell, with the constant of this round?  (Of a NULL, or in a list, they do not.) */
static bool
is_exact(SfxTest * test, ExprContext *econtext)
{
	bool		isnull;

	if (test->constant)
	{
		test->key.sk_argument = ExecEvalExprSwitchContext(test->constant, econtext, &isnull);
		if (isnull || ((test->key.sk_flags & SK_SEARCHARRAY) &&
					   array_contains_nulls(DatumGetArrayTypeP(test->key.sk_argument))))
			return false;
	}
	return sfx_scankeys_prepare_filters(&test->keys, &test->key, 1) && test->keys.inexact == 0;
}

static bool
test_keys_of_column(SfxTest * test, const Keys *keys, bool *told)
{
	/* constants are evaluated if core would */
	if (memchr(told + keys->from, 1, keys->to - keys->from) == NULL)
		return true;
	if (test->round != keys->round)
		test->exact = is_exact(test, keys->econtext);
	test->round = keys->round;
	if (test->exact)
		sfx_scankeys_pass_keys(&test->keys, keys->block, keys->from, keys->to, told);
	return test->exact;
}

/* As sfx_test_keys. */
static bool
test_keys(SfxTest * test, const Keys *keys, bool *told)
{
	bool		some[SFX_BLOCK_KEYS];	/* of keys for which no part before was true: for which
										 * this is */
	bool		any[SFX_BLOCK_KEYS];

	if (test->kind == TEST_COLUMN)
		return test_keys_of_column(test, keys, told);
	memset(any, false, sizeof(any));
	foreach_ptr(SfxTest, part, test->parts)
	{
		if (test->kind == TEST_ALL)
		{
			if (!test_keys(part, keys, told))
				return false;
			continue;
		}
		for (int k = keys->from; k < keys->to; k++)
			some[k] = told[k] & !any[k];
		if (!test_keys(part, keys, some))
			return false;
		for (int k = keys->from; k < keys->to; k++)
			any[k] |= some[k];
	}
	for (int k = keys->from; k < keys->to && test->kind != TEST_ALL; k++)
		told[k] &= any[k] == (test->kind == TEST_ANY);
	return true;
}

bool
sfx_test_keys(SfxTest * test, ExprContext *econtext, uint32 round, const SfxBlock *block, int from,
			  int to, bool *told)
{
	Keys		keys = {econtext, round, block, from, to};

	return test_keys(test, &keys, told);
}
