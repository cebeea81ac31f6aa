/*-------------------------------------------------------------------------
 * estimate_conditions.c - which conditions of a query compare a column with constants
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "estimate.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_amop.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static bool
is_column(const SfxConditions *c, Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node && IsA(node, Var) && ((Var *) node)->varno == c->varno && ((Var *) node)->varattno == c->attno &&
		((Var *) node)->varlevelsup == 0;
}

bool
sfx_conditions_mentioned(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return is_column(context, node) || (((Var *) node)->varno == ((SfxConditions *) context)->varno && ((Var *) node)->varattno == 0);
	return expression_tree_walker(node, sfx_conditions_mentioned, context);
}

/*
 * Make "column operator value" a scan key of column c->col.  False: the operator is not of the
 * index's order.
 */
static bool
make_key(const SfxConditions *c, Oid op, Oid collation, Datum value, ScanKey key)
{
	Relation	index = c->o.index;
	HeapTuple	tup = SearchSysCache3(AMOPOPID, ObjectIdGetDatum(op), CharGetDatum(AMOP_SEARCH), ObjectIdGetDatum(index->rd_opfamily[c->col]));
	int			strategy;
	Oid			left,
				right;

	if (!HeapTupleIsValid(tup))
		return false;
	strategy = ((Form_pg_amop) GETSTRUCT(tup))->amopstrategy;
	left = ((Form_pg_amop) GETSTRUCT(tup))->amoplefttype;
	right = ((Form_pg_amop) GETSTRUCT(tup))->amoprighttype;
	ReleaseSysCache(tup);
	if (left != c->o.kd.col[c->col].type || (OidIsValid(collation) && collation != index->rd_indcollation[c->col]))
		return false;
	/* values of the column's type become bytes without the operator's help */
	if (right == left && c->o.order == NULL)
	{
		*key = (ScanKeyData) {0};
		key->sk_attno = c->col + 1;
		key->sk_strategy = strategy;
		key->sk_subtype = right;
		key->sk_collation = index->rd_indcollation[c->col];
		key->sk_argument = value;
	}
	else
		ScanKeyEntryInitialize(key, 0, c->col + 1, strategy, right, index->rd_indcollation[c->col], get_opcode(op), value);
	return true;
}

static bool
add_condition(SfxConditions *c, Oid op, Oid collation, Datum value)
{
	ScanKey		key = palloc(sizeof(ScanKeyData));

	if (!make_key(c, op, collation, value, key))
		return false;
	c->keys = lappend(c->keys, key);
	c->inequality |= key->sk_strategy != BTEqualStrategyNumber;
	return true;
}

/* Add a clause "column op constant", or the reverse.  False: it is something else. */
static bool
add_comparison(SfxConditions *c, OpExpr *clause)
{
	Node	   *left = get_leftop(clause);
	Node	   *right = get_rightop(clause);
	Oid			op = clause->opno;
	Node	   *other;

	if (list_length(clause->args) != 2)
		return false;
	if (!is_column(c, left))
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		op = get_commutator(op);
	}
	if (!is_column(c, left) || !OidIsValid(op) || sfx_conditions_mentioned(right, c))
		return false;
	/* as core does: take what is known at planning time */
	other = IsA(right, Const) ? right : estimate_expression_value(c->root, right);
	if (IsA(other, RelabelType))
		other = (Node *) ((RelabelType *) other)->arg;

	/*
	 * what is not known is estimated without statistics, and a comparison with NULL is never true
	 */
	if (!IsA(other, Const) || ((Const *) other)->constisnull)
	{
		c->compound = true;
		return true;
	}
	return add_condition(c, op, clause->inputcollid, ((Const *) other)->constvalue);
}

/* Add a clause "column op ANY (constant array)".  False: it is something else. */
static bool
add_array(SfxConditions *c, ScalarArrayOpExpr *clause)
{
	Node	   *other;
	Const	   *array;
	Oid			type;
	int16		len;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *isnull;
	int			n;

	if (!is_column(c, linitial(clause->args)) || sfx_conditions_mentioned(lsecond(clause->args), c))
		return false;
	other = estimate_expression_value(c->root, lsecond(clause->args));
	if (!IsA(other, Const))
		return false;
	array = (Const *) other;
	if (array->constisnull)
		return true;
	type = get_base_element_type(array->consttype);
	if (!OidIsValid(type))
		return false;
	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, len, byval, align, &values, &isnull, &n);
	if (n > SFX_MAX_EDGES / 2)
		return false;
	for (int i = 0; i < n; i++)
		if (!isnull[i] && !add_condition(c, clause->opno, clause->inputcollid, values[i]))
			return false;
	return true;
}

/*
 * An expression walker: add all comparisons of the column, however deep; stops at one that is not
 * understood.
 */
static bool
find_conditions(Node *node, void *context)
{
	SfxConditions *c = context;
	bool		known = true;

	if (node == NULL || c->strange)
		return c->strange;
	if (IsA(node, RestrictInfo))
		return find_conditions((Node *) ((RestrictInfo *) node)->clause, context);
	if (IsA(node, List))
		return expression_tree_walker(node, find_conditions, context);
	if (IsA(node, BoolExpr))
	{
		c->compound = true;
		return expression_tree_walker(node, find_conditions, context);
	}
	if (!sfx_conditions_mentioned(node, c))
		return false;
	c->compound |= !IsA(node, OpExpr);
	if (IsA(node, OpExpr))
		known = add_comparison(c, (OpExpr *) node);
	else if (IsA(node, ScalarArrayOpExpr))
		known = add_array(c, (ScalarArrayOpExpr *) node);
	else
		known = IsA(node, NullTest) && is_column(c, (Node *) ((NullTest *) node)->arg);
	c->strange |= !known;
	return c->strange;
}

/*
 * Find the equality with a constant that every row has to pass in column c->attno, as
 * c->pin[c->col].  False: there is none.
 */
static bool
pin_column(SfxConditions *c, RelOptInfo *rel)
{
	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
	{
		OpExpr	   *clause = (OpExpr *) rinfo->clause;
		ScanKey		key;
		List	   *found;

		if (!IsA(clause, OpExpr) || !sfx_conditions_mentioned((Node *) clause, c) || !add_comparison(c, clause))
			continue;
		found = c->keys;
		c->keys = NIL;
		if (found == NIL)
			continue;
		key = linitial(found);
		if (key->sk_strategy != BTEqualStrategyNumber)
			continue;
		c->pin[c->col] = *key;
		return true;
	}
	return false;
}

bool
sfx_conditions_pin(SfxConditions *c, RelOptInfo *rel, const IndexOptInfo *info, int ncols)
{
	AttrNumber	attno = c->attno;
	bool		all = true;

	for (c->col = 0; all && c->col < ncols; c->col++)
	{
		c->attno = info->indexkeys[c->col];
		all = c->attno > 0 && pin_column(c, rel);
	}
	c->attno = attno;
	c->col = ncols;
	c->inequality = false;
	c->compound = false;
	return all;
}

bool
sfx_is_equality(const void *clause)
{
	const OpExpr *op = clause;

	if (IsA(clause, RestrictInfo))
	{
		if (((const RestrictInfo *) clause)->mergeopfamilies != NIL)
			return true;
		op = (const OpExpr *) ((const RestrictInfo *) clause)->clause;
	}
	return IsA(op, OpExpr) && list_length(op->args) == 2 &&
		op_mergejoinable(op->opno, exprType(linitial(op->args)));
}

bool
sfx_conditions_collect(SfxConditions *c, RelOptInfo *rel)
{

	(void) find_conditions((Node *) rel->baserestrictinfo, c);
	if (c->strange || (!c->inequality && !c->chained))
		return false;
	foreach_node(RestrictInfo, rinfo, rel->joininfo)
	{
		if (!rinfo->orclause)
			continue;
		c->compound = true;
		(void) find_conditions((Node *) rinfo, c);
	}
	return !c->strange;
}
