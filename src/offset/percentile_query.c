/*-------------------------------------------------------------------------
 * percentile_query.c - a query of percentiles, as one with OFFSET
 *
 *	SELECT percentile_disc(p) WITHIN GROUP (ORDER BY k), max(v) FROM t WHERE c
 *
 * is the same as
 *
 *	SELECT (SELECT percentile_disc(p) WITHIN GROUP (ORDER BY k) FROM
 *			(SELECT k FROM t WHERE c AND k IS NOT NULL ORDER BY k OFFSET place(p, n) LIMIT 1) place),
 *		others.max
 *	FROM (SELECT count(*) AS n FROM t WHERE c AND k IS NOT NULL) counted,
 *		(SELECT max(v) FROM t WHERE c) others
 *
 * and core's function, which gets one row, still says what is wrong with p.  percentile_cont gets
 * two rows, and in place of p how far it is between them.  An array of fractions becomes
 * ARRAY(SELECT (SELECT ... p ...) FROM unnest(array) p), or NULL where there is no row.  A fraction
 * that costs something is a subquery's column in the same way, so that it is computed once.  All
 * parts of a query have one snapshot, so they see the same rows.
 *
 * Places are computed as core's functions compute them, in the same doubles.  Values of other rows
 * are not converted, so one beyond the range of float8 raises no error.
 *
 * Core does not pull a subquery with OFFSET up into the query around it; OFFSET 0 is how ours stay
 * what they were with aggregates: computed once for each of their rows, also where a row is locked
 * and its conditions are checked again.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "percentile_query.h"

#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* The new query's tables. */
enum
{
	COUNTED = 1,
	OTHERS = 2
};

typedef struct Rewriting
{
	const Query *query;			/* as it was */
	const SfxPercentileOrder *order;
	ParamListInfo params;
	List	   *others;			/* target list: aggregates that are no percentiles */
	bool		refused;
} Rewriting;

/* ---- percentiles ---- */

/* The same percentile's function for one fraction; of other aggregates, their own. */
static Oid
single_function(const Aggref *agg)
{
	switch (agg->aggfnoid)
	{
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			return F_PERCENTILE_DISC_FLOAT8_ANYELEMENT;
		case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
			return F_PERCENTILE_CONT_FLOAT8_FLOAT8;
		case F_PERCENTILE_CONT__FLOAT8_INTERVAL:
			return F_PERCENTILE_CONT_FLOAT8_INTERVAL;
		default:
			return agg->aggfnoid;
	}
}

static bool
is_multiple(const Aggref *agg)
{
	return single_function(agg) != agg->aggfnoid;
}

static bool
is_discrete(const Aggref *agg)
{
	return single_function(agg) == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT;
}

bool
sfx_is_percentile(const Aggref *agg)
{
	Oid			function = single_function(agg);

	return function == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT ||
		function == F_PERCENTILE_CONT_FLOAT8_FLOAT8 ||
		function == F_PERCENTILE_CONT_FLOAT8_INTERVAL;
}

/*
 * May everyone execute the aggregate and what stands for it?  Plans are kept, and the user may be
 * another one when they run.
 */
static bool
may_execute(const Aggref *agg)
{
	const Oid	functions[] = {
		agg->aggfnoid, single_function(agg), F_UNNEST_ANYARRAY, F_COUNT_, F_INT8MI, F_INT8GT,
		F_FLOAT8MUL, F_FLOAT8MI, F_FLOAT8GE, F_FLOAT8LE, F_FLOAT8_INT8, F_INT8_FLOAT8,
		F_CEIL_FLOAT8, F_FLOOR_FLOAT8
	};

	for (int i = 0; i < lengthof(functions); i++)
		if (!SfxMayExecuteAs(functions[i], ACL_ID_PUBLIC))
			return false;
	return true;
}

/* Does a change of type keep the order, so that what ascends before it ascends after it? */
static bool
keeps_order(Oid function)
{
	switch (function)
	{
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
		case F_FLOAT8_FLOAT4:
		case F_FLOAT8_NUMERIC:
		case F_INTERVAL_TIME:
			return true;
		default:
			return false;
	}
}

bool
sfx_percentile_order(const Aggref *agg, SfxPercentileOrder *order)
{
	const SortGroupClause *clause = linitial_node(SortGroupClause, agg->aggorder);
	Expr	   *expr = linitial_node(TargetEntry, agg->args)->expr;
	TypeCacheEntry *type;

	order->expr = expr;
	order->sortop = clause->sortop;
	order->eqop = get_equality_op_for_ordering_op(clause->sortop, &order->reverse);
	order->nulls_first = order->reverse;
	if (!IsA(expr, FuncExpr) || !keeps_order(((FuncExpr *) expr)->funcid))
		return OidIsValid(order->eqop);
	type = lookup_type_cache(exprType((Node *) expr), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	if (clause->sortop != (order->reverse ? type->gt_opr : type->lt_opr))
		return OidIsValid(order->eqop);
	order->expr = linitial(((FuncExpr *) expr)->args);
	type = lookup_type_cache(exprType((Node *) order->expr),
							 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR | TYPECACHE_EQ_OPR);
	order->sortop = order->reverse ? type->gt_opr : type->lt_opr;
	order->eqop = type->eq_opr;
	return OidIsValid(order->eqop) && OidIsValid(order->sortop);
}

/* ---- expressions ---- */

static Expr *
call1(Oid function, Oid type, void *arg)
{
	return (Expr *) makeFuncExpr(function, type, list_make1(arg), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static Expr *
call2(Oid function, Oid type, void *a, void *b)
{
	return (Expr *) makeFuncExpr(function, type, list_make2(a, b), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static Const *
int8_constant(int64 v)
{
	return makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(v), false,
					 FLOAT8PASSBYVAL);
}

static Const *
float8_constant(float8 v)
{
	return makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(v), false,
					 FLOAT8PASSBYVAL);
}

static Expr *
least_or_greatest(MinMaxOp op, Oid type, void *a, void *b)
{
	MinMaxExpr *m = makeNode(MinMaxExpr);

	m->minmaxtype = type;
	m->op = op;
	m->args = list_make2(a, b);
	m->location = -1;
	return (Expr *) m;
}

static Expr *
case_when(void *condition, void *result, void *otherwise)
{
	CaseExpr   *c = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = result;
	when->location = -1;
	c->casetype = exprType(result);
	c->casecollid = exprCollation(result);
	c->args = list_make1(when);
	c->defresult = otherwise;
	c->location = -1;
	return (Expr *) c;
}

/* An expression as the planner will see it; only to look at, since what it depends on is lost. */
static Node *
folded(const Rewriting *w, const Node *expr)
{
	PlannerInfo *root = makeNode(PlannerInfo);

	root->glob = makeNode(PlannerGlobal);
	root->glob->boundParams = w->params;
	return eval_const_expressions(root, copyObject((Node *) expr));
}

/* An expression that is moved so many query levels down. */
static void *
lowered(const void *expr, int levels)
{
	Node	   *copy = copyObject((Node *) expr);

	IncrementVarSublevelsUp(copy, levels, 1);
	return copy;
}

/* The number of rows, as seen so many levels below the new query. */
static Var *
number_of_rows(int levels)
{
	return makeVar(COUNTED, 1, INT8OID, -1, InvalidOid, levels);
}

/* fraction * n, or times the last row's place */
static Expr *
share(const Aggref *agg, void *fraction, int levels)
{
	Expr	   *n = (Expr *) number_of_rows(levels);

	if (!is_discrete(agg))
		n = call2(F_INT8MI, INT8OID, n, int8_constant(1));
	return call2(F_FLOAT8MUL, FLOAT8OID, fraction, call1(F_FLOAT8_INT8, FLOAT8OID, n));
}

/* The place of the first row that core's function needs; fractions that it refuses have one, too. */
static Expr *
place(const Aggref *agg, void *fraction, int levels)
{
	Expr	   *at;

	fraction = least_or_greatest(IS_LEAST, FLOAT8OID,
								 least_or_greatest(IS_GREATEST, FLOAT8OID, fraction,
												   float8_constant(0)), float8_constant(1));
	at = call1(is_discrete(agg) ? F_CEIL_FLOAT8 : F_FLOOR_FLOAT8, FLOAT8OID,
			   share(agg, fraction, levels));
	at = call1(F_INT8_FLOAT8, INT8OID, at);
	if (is_discrete(agg))
		at = call2(F_INT8MI, INT8OID, at, int8_constant(1));
	return least_or_greatest(IS_GREATEST, INT8OID, at, int8_constant(0));
}

/* Where percentile_cont's result is between two rows; fractions that it refuses as they are. */
static Expr *
between_rows(const Aggref *agg, const void *fraction, int levels)
{
	Expr	   *all = share(agg, copyObject((Node *) fraction), levels);
	Expr	   *valid = makeBoolExpr(AND_EXPR,
									 list_make2(call2(F_FLOAT8GE, BOOLOID,
													  copyObject((Node *) fraction), float8_constant(0)),
												call2(F_FLOAT8LE, BOOLOID,
													  copyObject((Node *) fraction), float8_constant(1))),
									 -1);

	return case_when(valid,
					 call2(F_FLOAT8MI, FLOAT8OID, all,
						   call1(F_FLOOR_FLOAT8, FLOAT8OID, copyObject(all))),
					 copyObject((Node *) fraction));
}

/* ---- queries ---- */

static Query *
new_query(void)
{
	Query	   *q = makeNode(Query);

	q->commandType = CMD_SELECT;
	q->canSetTag = true;
	q->jointree = makeFromExpr(NIL, NULL);
	return q;
}

/* The table's rows that meet the conditions, so many levels below the new query. */
static Query *
rows_query(const Rewriting *w, int levels)
{
	Query	   *q = new_query();

	q->rtable = w->query->rtable;
	SfxCopyPermissions(q, w->query);
	q->jointree = w->query->jointree;
	return lowered(q, levels);
}

/* The same, those with a value to order by. */
static Query *
values_query(const Rewriting *w, int levels)
{
	Query	   *q = rows_query(w, levels);
	NullTest   *test = makeNode(NullTest);

	test->arg = lowered(w->order->expr, levels);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	q->jointree->quals = make_and_qual(q->jointree->quals, (Node *) test);
	return q;
}

/* Add a subquery to FROM. */
static void
add_subquery(Query *q, Query *below, const char *name)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = below;
	rte->eref = makeAlias(name, NIL);
	foreach_node(TargetEntry, tle, below->targetList)
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(tle->resname));
	rte->inFromCl = true;
	q->rtable = lappend(q->rtable, rte);
	ref->rtindex = list_length(q->rtable);
	q->jointree->fromlist = lappend(q->jointree->fromlist, ref);
}

static SubLink *
sublink(SubLinkType type, Query *q)
{
	SubLink    *link = makeNode(SubLink);

	link->subLinkType = type;
	link->subselect = (Node *) q;
	link->location = -1;
	return link;
}

/* The rows that core's function needs, in order. */
static Query *
place_query(const Rewriting *w, const Aggref *agg, void *fraction, int levels)
{
	Query	   *q = values_query(w, levels);
	SortGroupClause *sort = makeNode(SortGroupClause);
	TargetEntry *column = makeTargetEntry(lowered(w->order->expr, levels), 1, "value", false);

	column->ressortgroupref = sort->tleSortGroupRef = 1;
	sort->sortop = w->order->sortop;
	sort->eqop = w->order->eqop;
	sort->nulls_first = w->order->nulls_first;
	SfxSetDescending(sort, w->order->reverse);
	q->targetList = list_make1(column);
	q->sortClause = list_make1(sort);
	q->limitOffset = (Node *) place(agg, fraction, levels);
	q->limitCount = (Node *) int8_constant(is_discrete(agg) ? 1 : 2);
	return q;
}

/* What the aggregate orders by, from the value that its order was told of. */
static Expr *
argument(const Rewriting *w, const Aggref *agg)
{
	Expr	   *expr = linitial_node(TargetEntry, agg->args)->expr;
	Node	   *value = (Node *) w->order->expr;
	Var		   *var = makeVar(1, 1, exprType(value), exprTypmod(value), exprCollation(value), 0);

	if (equal(expr, value))
		return (Expr *) var;
	return call1(((FuncExpr *) expr)->funcid, exprType((Node *) expr), var);
}

/* One percentile, so many levels below the new query; fraction: as seen there. */
static Query *
percentile_query(const Rewriting *w, const Aggref *agg, void *fraction, int levels)
{
	Query	   *q = new_query();
	Aggref	   *one = copyObject((Aggref *) agg);

	one->aggfnoid = single_function(agg);
	if (is_multiple(agg))
	{
		one->aggtype = get_element_type(agg->aggtype);
		one->aggargtypes = list_make2_oid(FLOAT8OID, lsecond_oid(agg->aggargtypes));
	}
	linitial_node(TargetEntry, one->args)->expr = argument(w, agg);
	one->aggdirectargs = list_make1(is_discrete(agg) ? fraction :
									(void *) between_rows(agg, fraction, levels));
	q->targetList = list_make1(makeTargetEntry((Expr *) one, 1, "percentile", false));
	q->hasAggs = true;
	add_subquery(q, place_query(w, agg, lowered(fraction, 1), levels + 1), "place");
	return q;
}

/* ---- several fractions ---- */

/* Is the expression a constant array of one dimension that begins at 1? */
static bool
is_plain_array(const Rewriting *w, Node *expr)
{
	const Const *c = (const Const *) folded(w, expr);
	ArrayType  *array;

	if (!IsA(c, Const) || c->constisnull)
		return false;
	array = DatumGetArrayTypeP(c->constvalue);
	return ARR_NDIM(array) == 0 || (ARR_NDIM(array) == 1 && ARR_LBOUND(array)[0] == 1);
}

/* The table of fractions. */
static RangeTblEntry *
unnested(void *array)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblFunction *f = makeNode(RangeTblFunction);
	FuncExpr   *unnest = (FuncExpr *) call1(F_UNNEST_ANYARRAY, FLOAT8OID, array);

	unnest->funcretset = true;
	f->funcexpr = (Node *) unnest;
	f->funccolcount = 1;
	rte->rtekind = RTE_FUNCTION;
	rte->functions = list_make1(f);
	rte->eref = makeAlias("fractions", list_make1(makeString("fraction")));
	rte->inFromCl = true;
	return rte;
}

/* The percentile of each fraction in a query's table, in a subquery of the new query. */
static Query *
of_each_fraction(const Rewriting *w, const Aggref *agg, Query *q)
{
	Query	   *one = percentile_query(w, agg, makeVar(1, 1, FLOAT8OID, -1, InvalidOid, 1), 2);

	q->targetList = list_make1(makeTargetEntry((Expr *) sublink(EXPR_SUBLINK, one), 1, "percentile",
											   false));
	q->hasSubLinks = true;
	return q;
}

/* The percentiles of several fractions. */
static Expr *
percentiles(Rewriting *w, const Aggref *agg)
{
	Node	   *array = linitial(agg->aggdirectargs);
	RangeTblRef *ref = makeNode(RangeTblRef);
	Query	   *q = new_query();
	SubLink    *all;

	w->refused |= !is_plain_array(w, array);
	if (w->refused)
		return NULL;
	ref->rtindex = 1;
	q->rtable = list_make1(unnested(lowered(array, 1)));
	q->jointree->fromlist = list_make1(ref);
	all = sublink(ARRAY_SUBLINK, of_each_fraction(w, agg, q));
	w->refused |= exprType((Node *) all) != agg->aggtype;
	return case_when(call2(F_INT8GT, BOOLOID, number_of_rows(0), int8_constant(0)), all,
					 makeNullConst(agg->aggtype, -1, agg->aggcollid));
}

/* The percentile of one. */
static Expr *
percentile(const Rewriting *w, const Aggref *agg)
{
	Node	   *fraction = linitial(agg->aggdirectargs);
	Node	   *constant = folded(w, fraction);
	Query	   *q = new_query();
	Query	   *column = new_query();

	if (IsA(constant, Const) || IsA(constant, Param))
		return (Expr *) sublink(EXPR_SUBLINK, percentile_query(w, agg, lowered(fraction, 1), 1));
	column->targetList = list_make1(makeTargetEntry(lowered(fraction, 2), 1, "fraction", false));
	column->limitOffset = (Node *) int8_constant(0);
	add_subquery(q, column, "fractions");
	return (Expr *) sublink(EXPR_SUBLINK, of_each_fraction(w, agg, q));
}

/* ---- the whole query ---- */

/* Another aggregate: a column of OTHERS. */
static Expr *
other_aggregate(Rewriting *w, const Aggref *agg)
{
	TargetEntry *entry = tlist_member((Expr *) agg, w->others);

	if (entry == NULL)
	{
		entry = makeTargetEntry((Expr *) agg, list_length(w->others) + 1, "aggregate", false);
		w->others = lappend(w->others, entry);
	}
	return (Expr *) makeVarFromTargetEntry(OTHERS, entry);
}

static Node *
without_aggregates(Node *node, void *context)
{
	Rewriting  *w = context;
	Aggref	   *agg = (Aggref *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, without_aggregates, context);
	if (!sfx_is_percentile(agg))
		return (Node *) other_aggregate(w, agg);
	w->refused |= !may_execute(agg);
	return (Node *) (is_multiple(agg) ? percentiles(w, agg) : percentile(w, agg));
}

static Query *
count_query(const Rewriting *w)
{
	Query	   *q = values_query(w, 1);
	Aggref	   *count = makeNode(Aggref);

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggstar = true;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = count->aggtransno = -1;
	count->location = -1;
	q->targetList = list_make1(makeTargetEntry((Expr *) count, 1, "count", false));
	q->hasAggs = true;
	return q;
}

Query *
sfx_percentile_query(const Query *query, const SfxPercentileOrder *order, ParamListInfo params)
{
	Rewriting	w = {query, order, params, NIL, false};
	Query	   *q = copyObject((Query *) query);

	q->targetList = (List *) without_aggregates((Node *) q->targetList, &w);
	if (w.refused)
		return NULL;
	q->hasAggs = false;
	q->hasSubLinks = true;
	if (q->limitOffset == NULL && q->limitCount == NULL)
		q->limitOffset = (Node *) int8_constant(0);
	q->rtable = NIL;
	SfxForgetPermissions(q);
	q->jointree = makeFromExpr(NIL, NULL);
	add_subquery(q, count_query(&w), "counted");
	if (w.others != NIL)
	{
		Query	   *others = rows_query(&w, 1);

		others->targetList = lowered(w.others, 1);
		others->hasAggs = true;
		add_subquery(q, others, "others");
	}
	return q;
}
