/*-------------------------------------------------------------------------
 * agg_want.c - what a query wants of its rows' groups, and whether an index has it
 *
 * Groups are those of leading columns of an index whose equality is that of their bytes: the
 * columns of the GROUP BY in any order, and between them columns that have one value in the whole
 * scan.  Declined are columns where equal values may have different forms (numeric's scale),
 * nondeterministic collations, and operators that are not the class's.  Groups may be by functions
 * of such columns, too; and of the last column, by steps of functions of time (agg_bucket.c).
 *
 * An aggregate's argument is a column that the index returns in the type's own form, or computed
 * from such columns.  What the index cannot sum up or compare is passed to the aggregate's
 * functions (agg_fed.c), in index order, which may be the order that the aggregate asks for.
 *
 * DISTINCT ON takes the first of a group's rows in the order of the query, which has to be that of
 * the index's next columns, or its reverse.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_bucket.h"
#include "agg_partial.h"
#include "agg_test.h"
#include "agg_want.h"
#include "column.h"
#include "settled.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* ---- why not ---- */

static SfxAggReport *report = NULL;

SfxAggReport *
sfx_agg_set_report(SfxAggReport *r)
{
	SfxAggReport *before = report;

	report = r;
	return before;
}

bool
sfx_agg_note(Oid index, const char *line)
{
	MemoryContext old;
	char	   *said;

	if (report == NULL)
		return false;
	old = MemoryContextSwitchTo(report->cxt);
	said = OidIsValid(index) ? psprintf("index %s: %s", get_rel_name(index), line) : pstrdup(line);
	report->lines = list_append_unique(report->lines, makeString(said));
	MemoryContextSwitchTo(old);
	return false;
}

/* ---- what is asked for ---- */

/* The table's column that the expression is, apart from a change of type in name only; or NULL. */
static Var *
column_of(Node *expr, const RelOptInfo *rel)
{
	Var		   *var;

	while (expr && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	var = (Var *) expr;
	if (var == NULL || !IsA(var, Var) || var->varno != rel->relid || var->varlevelsup != 0 ||
		var->varattno <= 0)
		return NULL;
	return var;
}

/* Does an aggregate take its rows one by one, as the index may have them? */
static bool
is_plain(const Aggref *agg)
{
	return agg->agglevelsup == 0 && agg->aggkind == AGGKIND_NORMAL &&
		(agg->aggdistinct == NIL ||
		 (agg->aggfnoid == F_COUNT_ANY && agg->aggfilter == NULL && agg->aggorder == NIL));
}

/* Do groups by a function that ascends come once, if equal results are told by this operator? */
static bool
comes_once(const SfxSteps *found, Oid eqop)
{
	Oid			equal = get_opcode(eqop);

	return found->ascends &&
		(equal == F_TIMESTAMP_EQ || equal == F_TIMESTAMPTZ_EQ || equal == F_DATE_EQ);
}

/*
 * Note the columns that groups depend on.  Of one column steps are enough, if nothing needs it as a
 * whole.
 */
static bool
ask_columns(RelOptInfo *rel, const SfxSteps *found, SfxAggQuestion *q)
{

	q->columns = list_copy(found->whole);
	foreach_ptr(SfxTimeStep, step, found->steps)
	{
		if (list_member(q->columns, step->column))
			continue;
		if (q->stepped == NULL)
			q->stepped = step->column;
		if (equal(q->stepped, step->column))
			q->steps = lappend(q->steps, step);
		else
			q->columns = lappend(q->columns, step->column);
	}
	foreach_ptr(Node, column, q->columns)
	{
		if (column_of(column, rel) == NULL)
			return false;
	}
	return q->stepped == NULL || column_of((Node *) q->stepped, rel) != NULL;
}

static bool
ask_groups(RelOptInfo *rel, List *clauses, List *targets, SfxAggQuestion *q)
{
	SfxSteps	all = {0};
	int			functions = 0;

	foreach_node(SortGroupClause, clause, clauses)
	{
		Node	   *expr = get_sortgroupclause_expr(clause, targets);
		Oid			collation = exprCollation(expr);
		SfxSteps	found;

		if (!OidIsValid(clause->eqop) || !sfx_steps_find(expr, &found) ||
			(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
			return false;
		all.whole = list_union(all.whole, found.whole);
		all.steps = list_concat(all.steps, found.steps);
		q->groups = lappend(q->groups, expr);
		q->operators = lappend_oid(q->operators, clause->eqop);
		if (IsA(expr, Var))
			continue;
		q->again |= functions++ > 0 || !comes_once(&found, clause->eqop);
	}
	return ask_columns(rel, &all, q);
}

/*
 * Collect groups, aggregates, and what is neither: columns, and GROUPING(), which core's Agg
 * computes.
 */
typedef struct Parts
{
	List	   *groups;
	List	   *parts;
} Parts;

static bool
gather_parts(Node *node, Parts *p)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) || IsA(node, Var) || IsA(node, PlaceHolderVar) ||
		IsA(node, GroupingFunc) || list_member(p->groups, node))
	{
		p->parts = list_append_unique(p->parts, node);
		return false;
	}
	return expression_tree_walker(node, gather_parts, p);
}

List *
sfx_agg_parts(List *exprs, List *groups)
{
	Parts		p = {groups, NIL};

	(void) gather_parts((Node *) exprs, &p);
	return p.parts;
}

/* Note which of a group's rows DISTINCT ON takes. */
static bool
ask_row(PlannerInfo *root, List *exprs, SfxAggQuestion *q)
{
	const Query *parse = root->parse;

	q->on = true;
	foreach_node(SortGroupClause, clause, parse->sortClause)
	{
		if (get_sortgroupref_clause_noerr(clause->tleSortGroupRef, parse->distinctClause))
			continue;
		q->order = lappend(q->order, clause);
		q->ordered = lappend(q->ordered, get_sortgroupclause_expr(clause, root->processed_tlist));
	}
	/* (in a subplan's plan it does not look for such functions) */
	return !q->again && !contain_volatile_functions((Node *) exprs) && !contain_subplans((Node *) exprs);
}

bool
sfx_agg_ask(PlannerInfo *root, RelOptInfo *rel, List *exprs, const GroupPathExtraData *extra,
			SfxAggQuestion *question)
{
	Query	   *parse = root->parse;
	List	   *clauses = extra ? parse->groupClause : parse->distinctClause;
	List	   *targets = extra ? extra->targetList : root->processed_tlist;

	memset(question, 0, sizeof(*question));
	if (!ask_groups(rel, clauses, targets, question))
		return sfx_agg_note(0, "groups are by something else than functions of the table's columns "
							"that are not volatile");
	if (extra == NULL && parse->hasDistinctOn && !ask_row(root, exprs, question))
		return sfx_agg_note(0, "DISTINCT ON is by groups that may come again, or its outputs are "
							"volatile or have subqueries");
	foreach_node(SortGroupClause, clause, extra ? SfxGroupClause(root) : SfxDistinctClause(root))
		question->asked = lappend_oid(question->asked, clause->eqop);
	question->exprs = sfx_agg_parts(exprs, question->groups);
	/* what steps there are is told by these */
	foreach_ptr(Node, group, question->groups)
	{
		if (!IsA(group, Var))
			question->exprs = list_append_unique(question->exprs, group);
	}
	foreach_ptr(Node, part, question->exprs)
	{
		if (IsA(part, Aggref) ? !is_plain((Aggref *) part) :
			!(question->on && column_of(part, rel)) && !list_member(question->groups, part))
			return sfx_agg_note(0, "an aggregate has DISTINCT or WITHIN GROUP, or an output is "
								"neither an aggregate nor a group");
	}
	/* groups are told apart even if no output shows them */
	return question->exprs != NIL || question->groups != NIL;
}

/* ---- what an index has ---- */

/* An index that may answer. */
typedef struct Search
{
	PlannerInfo *root;
	RelOptInfo *rel;
	const IndexOptInfo *info;
	const IndexPath *path;
	Relation	table;
	Relation	index;
	SfxKeyDesc	kd;
} Search;

/* Does the index's column return the table's column? */
static bool
returns(const Search *s, int column, const Var *var)
{
	return s->info->indexkeys[column] == var->varattno && s->info->canreturn[column];
}

/* The index's column that returns the table's column; -1: none. */
static int
find_column(const Search *s, const Var *var)
{
	for (int c = 0; c < s->info->ncolumns; c++)
		if (returns(s, c, var))
			return c;
	return -1;
}

/* Does the index return values in this type's form? */
static bool
same_form(const Search *s, int column, Oid type)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(s->index), column);
	int16		len;
	bool		byval;

	get_typlenbyval(type, &len, &byval);
	return att->attlen == len && att->attbyval == byval;
}

/* Can an expression over columns be evaluated for an entry of the index? */
static bool
has_columns(const Search *s, Node *expr)
{

	foreach_ptr(Node, node, pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS))
	{
		const Var  *var = column_of(node, s->rel);
		int			column = var ? find_column(s, var) : -1;

		if (column < 0 || !same_form(s, column, var->vartype))
			return false;
	}
	return true;
}

/*
 * Has the column one value in all entries of the scan?  Not if the time zone has a part in the
 * comparison: where clocks are set forward, two local times are the same moment.
 */
static bool
is_pinned(const Search *s, int column)
{
	foreach_node(IndexClause, clause, s->path->indexclauses)
	{
		if (clause->indexcol != column || clause->lossy)
			continue;
		foreach_node(RestrictInfo, rinfo, clause->indexquals)
		{
			OpExpr	   *op = (OpExpr *) rinfo->clause;

			if (IsA(op, OpExpr) &&
				get_op_opfamily_strategy(op->opno, s->info->opfamily[column]) ==
				BTEqualStrategyNumber && op_volatile(op->opno) == PROVOLATILE_IMMUTABLE)
				return true;
		}
	}
	return false;
}

/* Have entries that are equal in the column equal bytes there, and equal values? */
static bool
tells_groups(const Search *s, int column, bool pinned)
{
	const SfxColumn *col = &s->kd.col[column];

	if (OidIsValid(col->collation) && !get_collation_isdeterministic(col->collation))
		return false;
	if (col->raw)
		return s->kd.image_equal;
	return pinned || col->enc->rest == NULL;
}

/* Does an expression that rows are grouped by need the column's very value? */
static bool
is_used(const Search *s, const SfxAggQuestion *q, int column)
{

	foreach_ptr(Var, var, q->columns)
	{
		if (IsA(var, Var) && returns(s, column, var))
			return !list_member(q->groups, var) && same_form(s, column, var->vartype);
	}
	return false;
}

/* Is the column a grouping column, by its class's equality? */
static bool
is_grouped(const Search *s, const SfxAggQuestion *q, int column)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, q->groups, lc2, q->operators)
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || !returns(s, column, var))
			continue;
		return get_op_opfamily_strategy(lfirst_oid(lc2), s->info->opfamily[column]) ==
			BTEqualStrategyNumber && same_form(s, column, var->vartype) &&
			(!OidIsValid(var->varcollid) || get_collation_isdeterministic(var->varcollid));
	}
	return false;
}

/* Is the table's column also one of the index's columns before this one? */
static bool
is_repeated(const Search *s, int column)
{
	for (int c = 0; c < column; c++)
		if (s->info->indexkeys[c] == s->info->indexkeys[column] && s->info->canreturn[c])
			return true;
	return false;
}

/* Do its values stand in keys as numbers? */
static bool
is_number(const Search *s, int column)
{
	const SfxColumn *col = &s->kd.col[column];

	return column < s->info->nkeycolumns && !col->raw && col->enc->direct == SFX_DIRECT_SIGNED;
}

/* Is it the column with steps, and do its values stand in keys as numbers? */
static bool
is_stepped(const Search *s, const SfxAggQuestion *q, int column)
{
	return q->stepped && IsA(q->stepped, Var) && returns(s, column, q->stepped) &&
		is_number(s, column) && s->kd.col[column].typbyval &&
		s->info->opcintype[column] == q->stepped->vartype;
}

/*
 * How many leading columns make the query's groups, all of whose columns are among them; -1: none
 * do.  Where groups may come again, the column with steps need not be the last: then each of its
 * values is a step.  *stepped: it is.
 */
static int
leading_columns(const Search *s, const SfxAggQuestion *q, bool *stepped)
{
	int			left = list_length(q->columns) + (q->stepped != NULL);

	for (int c = 0; c < s->info->nkeycolumns; c++)
	{
		bool		grouped;

		if (left == 0)
			return c;
		/* the columns after it do not ascend within a bucket */
		*stepped = left == 1 && is_stepped(s, q, c) && !is_repeated(s, c);
		if (*stepped)
			return c + 1;
		grouped = is_grouped(s, q, c) || is_used(s, q, c) || (q->again && is_stepped(s, q, c));
		if (!tells_groups(s, c, !grouped) || (!grouped && !is_pinned(s, c)))
			return -1;
		left -= grouped && !is_repeated(s, c);
	}
	return left == 0 ? s->info->nkeycolumns : -1;
}

/* ---- rows of groups ---- */

/* Does a query sort by the order of the index's column, up or down?  Its strategy, or 0. */
static int
strategy_of(const Search *s, int column, const SortGroupClause *clause, const Expr *expr)
{
	int			strategy = get_op_opfamily_strategy(clause->sortop, s->info->opfamily[column]);

	if ((strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber) ||
		exprCollation((Node *) expr) != s->info->indexcollations[column])
		return 0;
	return strategy;
}

/*
 * How does the index order rows by its column, beside how a query does: 1: alike, -1: the other way
 * round, 0: otherwise?
 */
static int
direction_of(const Search *s, int column, const SortGroupClause *clause, const Expr *expr)
{
	int			strategy = strategy_of(s, column, clause, expr);
	int16		option = s->index->rd_indoption[column];
	bool		alike = (strategy == BTGreaterStrategyNumber) == ((option & INDOPTION_DESC) != 0);
	bool		nulls = clause->nulls_first == ((option & INDOPTION_NULLS_FIRST) != 0);

	if (strategy == 0 || (nulls != alike &&
						  !sfx_column_has_no_nulls(s->table, s->info->indexkeys[column], NULL)))
		return 0;
	return alike ? 1 : -1;
}

/* Are all values of the index's column equal, by what the query sorts them by? */
static bool
is_constant_order(const Search *s, int column, const SortGroupClause *clause, const Expr *expr)
{
	return is_pinned(s, column) && strategy_of(s, column, clause, expr) != 0;
}

/*
 * Are a group's entries, which are ordered from this column on, in that order (1), in the reverse
 * (-1), or in another one (0)?
 */
static int
order_of_group(const Search *s, const SfxAggQuestion *q, int column, List *order, List *ordered)
{
	int			taken = 0;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, order, lc2, ordered)
	{
		const Var  *var = column_of(lfirst(lc2), s->rel);
		int			direction;

		while (column < s->info->nkeycolumns && is_pinned(s, column))
			column++;
		if (var == NULL)
			return 0;
		if (list_member(q->columns, var) ||
			is_constant_order(s, find_column(s, var), lfirst(lc), lfirst(lc2)))
			continue;
		if (column == s->info->nkeycolumns || s->info->indexkeys[column] != var->varattno)
			return 0;
		direction = direction_of(s, column, lfirst(lc), lfirst(lc2));
		if (direction == 0 || direction == -taken)
			return 0;
		taken = direction;
		column++;
	}
	return taken == 0 ? 1 : taken;
}

/* The first column that orders the entries of a group. */
static int
first_within_group(const SfxAggWanted *w)
{
	return w->grouping.columns - (w->grouping.steps != NIL ? 1 : 0);
}

/* Describe an output that is a column: of all rows of a group, or of the row that is taken. */
static bool
find_column_output(const Search *s, const SfxAggQuestion *q, const Var *var, SfxAggWanted *w,
				   SfxAggOutput *out)
{
	out->kind = SFX_AGG_GROUP;
	out->column = find_column(s, var);
	if (!q->on || list_member(q->groups, var))
		return out->column >= 0 && out->column < w->grouping.columns;
	out->kind = SFX_AGG_ROW;
	out->direction = order_of_group(s, q, first_within_group(w), q->order, q->ordered);
	if (out->direction == 0)
		return sfx_agg_note(s->info->indexoid,
							"DISTINCT ON takes rows in an order that is not that of its columns");
	/* the last row is looked for from the group's end */
	w->values += out->direction < 0;
	return has_columns(s, (Node *) var);
}

/* ---- aggregates by an index ---- */

/* Is it COUNT(DISTINCT) of the column right after the grouping columns? */
static bool
wants_distinct(const Search *s, const Aggref *agg, SfxAggWanted *w, SfxAggOutput *out)
{
	SortGroupClause *clause = linitial_node(SortGroupClause, agg->aggdistinct);

	if (w->grouping.steps != NIL || list_length(agg->aggdistinct) != 1 ||
		out->column != w->grouping.columns || out->column >= s->info->nkeycolumns ||
		!tells_groups(s, out->column, false))
		return false;
	if (get_op_opfamily_strategy(clause->eqop, s->info->opfamily[out->column]) !=
		BTEqualStrategyNumber)
		return false;
	if (OidIsValid(agg->inputcollid) && !get_collation_isdeterministic(agg->inputcollid))
		return false;
	out->kind = SFX_AGG_COUNT_DISTINCT;
	w->grouping.distinct = true;
	return true;
}

/* Is it like min and max: a strict function of two values whose state is one of them? */
static bool
is_least(const Search *s, const Aggref *agg, SfxAggOutput *out)
{
	HeapTuple	tup = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(agg->aggfnoid));
	Form_pg_aggregate form;
	bool		column = out->column >= 0 && out->column < s->info->nkeycolumns;
	bool		least;
	bool		initial;
	int			strategy;

	if (!HeapTupleIsValid(tup))
		return false;
	form = (Form_pg_aggregate) GETSTRUCT(tup);
	(void) SysCacheGetAttr(AGGFNOID, tup, Anum_pg_aggregate_agginitval, &initial);
	least = OidIsValid(form->aggsortop) && !OidIsValid(form->aggfinalfn) && initial &&
		form->aggnumdirectargs == 0 && form->aggtranstype != INTERNALOID &&
		func_strict(form->aggtransfn) && func_volatile(form->aggtransfn) != PROVOLATILE_VOLATILE;
	strategy = form->aggsortop != InvalidOid && column ?
		get_op_opfamily_strategy(form->aggsortop, s->info->opfamily[out->column]) : 0;
	ReleaseSysCache(tup);
	if (!least)
		return false;
	if (column && agg->inputcollid == s->kd.col[out->column].collation)
		out->direction = strategy == BTLessStrategyNumber ? 1 :
			strategy == BTGreaterStrategyNumber ? -1 : 0;
	out->kind = SFX_AGG_LEAST;
	return true;
}

/*
 * Is it sum() or avg() of values of this type, which can be summed up?  Sets out->kind.
 */
static bool
is_sum(const Aggref *agg, Oid argument, SfxAggOutput *out)
{
	static const struct
	{
		Oid			type;
		Oid			sum;
		Oid			avg;
	}			known[] = {
		{INT2OID, F_SUM_INT2, F_AVG_INT2},
		{INT4OID, F_SUM_INT4, F_AVG_INT4},
		{INT8OID, F_SUM_INT8, F_AVG_INT8},
		{NUMERICOID, F_SUM_NUMERIC, F_AVG_NUMERIC}
	};

	for (int i = 0; i < lengthof(known); i++)
	{
		if (agg->aggfnoid != known[i].sum && agg->aggfnoid != known[i].avg)
			continue;
		out->kind = agg->aggfnoid == known[i].sum ? SFX_AGG_SUM : SFX_AGG_AVG;
		return getBaseType(argument) == known[i].type;
	}
	return false;
}

/* Can the rows that an aggregate's FILTER lets through be told by the index, and by what? */
static bool
is_filter(const Search *s, const Aggref *agg, SfxAggOutput *out)
{
	SfxSteps	unused;

	out->tested = true;
	foreach_ptr(Node, clause, make_ands_implicit(agg->aggfilter))
		out->tested &= sfx_test_prepare(s->index, &s->kd, clause, NULL) != NULL;
	return sfx_steps_find((Node *) agg->aggfilter, &unused) &&
		has_columns(s, (Node *) agg->aggfilter);
}

/* ---- aggregates of what is computed ---- */

/* Is it count() of a constant that is not NULL? */
static bool
counts_rows(const Aggref *agg)
{
	const Const *arg = (const Const *) linitial_node(TargetEntry, agg->args)->expr;

	return IsA(arg, Const) && !arg->constisnull;
}

/* Does the aggregate take its rows in any order, or in that of the index? */
static bool
is_in_order(const Search *s, const SfxAggQuestion *q, const SfxAggWanted *w, const Aggref *agg)
{
	List	   *ordered = NIL;

	foreach_node(SortGroupClause, clause, agg->aggorder)
		ordered = lappend(ordered, get_sortgroupclause_expr(clause, agg->args));
	return order_of_group(s, q, first_within_group(w), agg->aggorder, ordered) == 1;
}

/*
 * How the index computes an aggregate of values that are computed from its columns, or, if its
 * functions are not volatile, any aggregate.  False: it cannot.
 */
static bool
find_computed(const Search *s, const SfxAggQuestion *q, const Aggref *agg, SfxAggWanted *w,
			  SfxAggOutput *out)
{
	Node	   *args = (Node *) agg->args;
	bool		plain = list_length(agg->args) == 1 && agg->aggorder == NIL;
	Oid			type = plain ? linitial_oid(agg->aggargtypes) : InvalidOid;

	out->column = -1;
	out->ordered = false;
	if (agg->aggdistinct != NIL || contain_volatile_functions(args) || contain_subplans(args) ||
		!has_columns(s, args))
		return false;
	w->values++;
	w->slow++;
	if (plain && agg->aggfnoid == F_COUNT_ANY)
		out->kind = SFX_AGG_COUNT_COLUMN;
	else if (!(plain && is_sum(agg, type, out)) &&
			 !(plain && type == agg->aggtranstype && is_least(s, agg, out)))
	{
		out->kind = SFX_AGG_FED;
		w->in_order = true;
		return func_volatile(sfx_agg_transition(agg)) != PROVOLATILE_VOLATILE &&
			is_in_order(s, q, w, agg);
	}
	return true;
}

/* ---- aggregates ---- */

/* How the index computes an aggregate of one of its columns.  False: not in a way of its own. */
static bool
find_aggregate_of(const Search *s, const Aggref *agg, const Var *var, SfxAggWanted *w,
				  SfxAggOutput *out)
{
	out->column = find_column(s, var);
	if (out->column < 0)
		return false;
	out->ordered = out->column < s->info->nkeycolumns && out->column <= first_within_group(w);
	if (agg->aggdistinct != NIL)
		return wants_distinct(s, agg, w, out);
	if (agg->aggfnoid == F_COUNT_ANY)
	{
		out->kind = SFX_AGG_COUNT_COLUMN;
		w->values += !SfxColumnIsNotNull(s->table, var->varattno);
		return true;
	}
	if (!same_form(s, out->column, var->vartype))
		return false;
	if (is_sum(agg, var->vartype, out))
		w->slow += sfx_aggregate_is_numeric(agg) ? !sfx_aggregate_ends_keys(&s->kd, out->column) :
			out->column >= s->info->nkeycolumns;
	else if (same_form(s, out->column, agg->aggtranstype) && is_least(s, agg, out))
		w->slow += out->direction == 0 || !(out->ordered || is_number(s, out->column));
	else
		return false;
	w->values++;
	return true;
}

/* How the index computes an aggregate.  False: it cannot. */
static bool
find_aggregate(const Search *s, const SfxAggQuestion *q, const Aggref *agg, SfxAggWanted *w,
			   SfxAggOutput *out)
{
	Var		   *var = NULL;

	out->aggref = agg;
	out->kind = SFX_AGG_COUNT_ROWS;
	if (agg->aggfilter && !is_filter(s, agg, out))
		return false;
	w->values += agg->aggfilter != NULL;
	if (agg->aggfnoid == F_COUNT_)
		return true;
	if (list_length(agg->args) == 1 && agg->aggorder == NIL)
		var = column_of((Node *) linitial_node(TargetEntry, agg->args)->expr, s->rel);
	if (agg->aggfnoid == F_COUNT_ANY && agg->aggdistinct == NIL && counts_rows(agg))
		return true;
	return (var && find_aggregate_of(s, agg, var, w, out)) || find_computed(s, q, agg, w, out);
}

/*
 * Find out how the index computes each of the question's expressions.  False: one of them it
 * cannot.
 */
static bool
find_outputs(const Search *s, const SfxAggQuestion *q, SfxAggWanted *w)
{
	SfxAggOutput *out;
	bool		stepped = false;

	w->grouping.columns = leading_columns(s, q, &stepped);
	if (stepped)
	{
		w->grouping.stepped = q->stepped->varattno;
		w->grouping.steps = q->steps;
	}
	w->grouping.again = q->again;
	if (w->grouping.columns < 0)
		return sfx_agg_note(s->info->indexoid,
							"its leading columns are not those of the groups, or have equal "
							"values that look different");
	w->asked = q->asked;
	w->exprs = q->exprs;
	w->outputs = out = palloc0(list_length(q->exprs) * sizeof(SfxAggOutput));
	foreach_ptr(Expr, expr, q->exprs)
	{
		if (IsA(expr, Aggref))
		{
			if (!find_aggregate(s, q, (Aggref *) expr, w, out))
				return sfx_agg_note(s->info->indexoid,
									psprintf("%s() is not computed from its columns",
											 get_func_name(((Aggref *) expr)->aggfnoid)));
		}
		else if (!IsA(expr, Var))
			out->kind = SFX_AGG_FUNCTION;
		else if (!find_column_output(s, q, (Var *) expr, w, out))
			return false;
		out++;
	}
	/* whose groups consist of smaller ones: states of functions are not put together */
	return !(w->in_order && w->grouping.distinct) ||
		sfx_agg_note(s->info->indexoid,
					 "count(DISTINCT) beside aggregates that take rows one by one");
}

bool
sfx_agg_wanted(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question,
			   const IndexPath *path, List *conditions, SfxAggWanted *wanted)
{
	Search		s = {0};
	bool		found;

	memset(wanted, 0, sizeof(*wanted));
	s.root = root;
	s.rel = rel;
	s.info = path->indexinfo;
	s.path = path;
	s.table = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	s.index = index_open(s.info->indexoid, NoLock);
	sfx_keydesc_init(&s.kd, s.index);
	wanted->conditions = conditions != NIL;
	found = has_columns(&s, (Node *) conditions) && find_outputs(&s, question, wanted);
	index_close(s.index, NoLock);
	table_close(s.table, NoLock);
	return found;
}
