/*-------------------------------------------------------------------------
 * estimate.c - how many rows the planner expects of conditions on an indexed column
 *
 * Core estimates conditions one by one from what ANALYZE has sampled, before it asks any access method.  But the index can
 * count.  So while a table's size is estimated, core is shown statistics that are made for this very query: the constants that its
 * conditions compare the column with cut the index into intervals, inside of which no condition changes its answer; each
 * piece that is not empty is shown as one most common value, its first entry, with the piece's share of all entries.
 * Whatever condition core tries on these values, it adds up what the index has counted, for every operator of the family
 * and every type.
 *
 * Such statistics know nothing of other constants, of joins or of groups.  So they are only shown
 * - while the table's own size is not yet known (its rows are 0): joins, groups and costs come after that;
 * - if every condition on the column, wherever core may look for one at that time, is one that was understood;
 * - if one of them, or of those on a later column of the index, is an inequality: what an equality finds, ANALYZE tells
 *   well enough, and a lookup's planning should not take longer than the lookup;
 * - to users who may see the column in all rows, because they tell of it.
 *
 * A later column of an index is shown as it is spread where the columns before it have the values that the query wants of them: core
 * multiplies what it thinks of single conditions, and so gets the share of all together, however the columns depend on one another.
 *
 * Columns of no surfidx index, or of one behind others that are not fixed, and partial indexes are estimated as ever, and so is an
 * index with a damaged page (a WARNING says so).
 *-------------------------------------------------------------------------
 */
#include "bounds.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#define MAX_EDGES		64		/* positions at which conditions change their answers; more are left to ANALYZE */
#define COUNT_EXACTLY	2000	/* so many entries of the delta are counted one by one */

static bool range_estimates = true;
static get_relation_stats_hook_type prev_relation_stats = NULL;

/* ---- the conditions on a column ---- */

typedef struct Conditions
{
	PlannerInfo *root;
	Index		varno;
	AttrNumber	attno;
	int			col;			/* the index's column, from 0 */
	SfxOpened	o;				/* the index; heap is NULL */
	ScanKey		pin;			/* equalities on the columns before it */
	List	   *keys;			/* ScanKeys of the conditions */
	bool		inequality;		/* one of them, at least */
	bool		chained;		/* ... or on a later column that is shown together with this one */
	bool		strange;		/* a condition on the column that was not understood */
} Conditions;

static bool
is_column(const Conditions *c, Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node && IsA(node, Var) && ((Var *) node)->varno == c->varno && ((Var *) node)->varattno == c->attno &&
		((Var *) node)->varlevelsup == 0;
}

static bool
mentions_column(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return is_column(context, node) || (((Var *) node)->varno == ((Conditions *) context)->varno && ((Var *) node)->varattno == 0);
	return expression_tree_walker(node, mentions_column, context);
}

/* Column operator value as a scan key of column c->col. False: not one of the index's order. */
static bool
make_key(const Conditions *c, Oid op, Oid collation, Datum value, ScanKey key)
{
	Relation	index = c->o.index;
	int			strategy;
	Oid			left,
				right;

	if (!op_in_opfamily(op, index->rd_opfamily[c->col]))
		return false;
	get_op_opfamily_properties(op, index->rd_opfamily[c->col], false, &strategy, &left, &right);
	if (left != c->o.kd.col[c->col].type || (OidIsValid(collation) && collation != index->rd_indcollation[c->col]))
		return false;
	ScanKeyEntryInitialize(key, 0, c->col + 1, strategy, right, index->rd_indcollation[c->col], get_opcode(op), value);
	return true;
}

static bool
add_condition(Conditions *c, Oid op, Oid collation, Datum value)
{
	ScanKey		key = palloc(sizeof(ScanKeyData));

	if (!make_key(c, op, collation, value, key))
		return false;
	c->keys = lappend(c->keys, key);
	c->inequality |= key->sk_strategy != BTEqualStrategyNumber;
	return true;
}

/* column op constant, or the other way round.  False: something else. */
static bool
add_comparison(Conditions *c, OpExpr *clause)
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
	if (!is_column(c, left) || !OidIsValid(op) || mentions_column(right, c))
		return false;
	/* as core does: what is known at planning time */
	other = estimate_expression_value(c->root, right);
	if (IsA(other, RelabelType))
		other = (Node *) ((RelabelType *) other)->arg;
	/* what is not known is estimated without statistics, and a NULL is never true */
	if (!IsA(other, Const) || ((Const *) other)->constisnull)
		return true;
	return add_condition(c, op, clause->inputcollid, ((Const *) other)->constvalue);
}

/* column op ANY (constant array) */
static bool
add_array(Conditions *c, ScalarArrayOpExpr *clause)
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

	if (!is_column(c, linitial(clause->args)) || mentions_column(lsecond(clause->args), c))
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
	if (n > MAX_EDGES / 2)
		return false;
	for (int i = 0; i < n; i++)
		if (!isnull[i] && !add_condition(c, clause->opno, clause->inputcollid, values[i]))
			return false;
	return true;
}

/* All that compares the column, however deep. */
static bool
find_conditions(Node *node, void *context)
{
	Conditions *c = context;
	bool		known = true;

	if (node == NULL || c->strange)
		return c->strange;
	if (IsA(node, RestrictInfo))
		return find_conditions((Node *) ((RestrictInfo *) node)->clause, context);
	if (IsA(node, List) || IsA(node, BoolExpr))
		return expression_tree_walker(node, find_conditions, context);
	if (!mentions_column(node, c))
		return false;
	if (IsA(node, OpExpr))
		known = add_comparison(c, (OpExpr *) node);
	else if (IsA(node, ScalarArrayOpExpr))
		known = add_array(c, (ScalarArrayOpExpr *) node);
	else
		known = IsA(node, NullTest) && is_column(c, (Node *) ((NullTest *) node)->arg);
	c->strange |= !known;
	return c->strange;
}

/* The equality with a constant that every row has to pass in column c->attno, as c->pin[c->col].  False: there is none. */
static bool
pin_column(Conditions *c, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		OpExpr	   *clause = (OpExpr *) lfirst_node(RestrictInfo, lc)->clause;
		ScanKey		key;
		List	   *found;

		if (!IsA(clause, OpExpr) || !mentions_column((Node *) clause, c) || !add_comparison(c, clause))
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

/* The columns before the one that is asked for.  False: one of them is not fixed. */
static bool
pin_columns(Conditions *c, RelOptInfo *rel, const IndexOptInfo *info, int ncols)
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
	return all;
}

/* Can the condition only be true for one value of what it compares?  Core marks those that it has found in the query itself. */
static bool
is_equality(const RestrictInfo *rinfo)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;

	if (rinfo->mergeopfamilies != NIL)
		return true;
	return IsA(op, OpExpr) && list_length(op->args) == 2 && op_mergejoinable(op->opno, exprType(linitial(op->args)));
}

/*
 * Every condition that may be estimated while the table's size is: its own, and what core takes out of an OR that joins it.
 */
static bool
collect_conditions(Conditions *c, RelOptInfo *rel)
{
	ListCell   *lc;

	(void) find_conditions((Node *) rel->baserestrictinfo, c);
	if (c->strange || (!c->inequality && !c->chained))
		return false;
	foreach(lc, rel->joininfo)
		if (lfirst_node(RestrictInfo, lc)->orclause)
			(void) find_conditions((Node *) lfirst(lc), c);
	return !c->strange;
}

/* ---- counting ---- */

typedef struct Edges
{
	int			n;
	SfxPos		pos[MAX_EDGES + 2];
} Edges;

static int
cmp_edges(const void *a, const void *b, void *order)
{
	return sfx_order_cmp_pos(order, a, b);
}

static void
add_edge(Edges *e, const SfxPos *pos)
{
	SfxPos	   *to = &e->pos[e->n++];
	uint8	   *bytes = palloc(pos->len + 1);

	memcpy(bytes, pos->key, pos->len);
	*to = *pos;
	to->key = bytes;
}

/* The range of the columns before ours, and of a condition on ours (NULL: none).  False: it is not one range. */
static bool
range_of_condition(const Conditions *c, ScanKey key, SfxRange *range)
{
	ScanKeyData keys[INDEX_MAX_KEYS];
	int			n = c->col;

	memcpy(keys, c->pin, sizeof(ScanKeyData) * n);
	if (key)
		keys[n++] = *key;
	return sfx_range_of_keys(&c->o, keys, n, range);
}

/* The positions at which the conditions change their answers, ascending; the last one is the end.  False: too many, or not so simple. */
static bool
find_edges(Conditions *c, bool nulls, Edges *e)
{
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	SfxPos		end = {NULL, 0, 0};
	SfxRange   *range = palloc(sizeof(SfxRange));
	ListCell   *lc;
	bool		open = true;	/* to the index's end */
	int			n = 1;

	if (nulls)
	{
		ScanKey		key = palloc(sizeof(ScanKeyData));

		ScanKeyEntryInitialize(key, SK_ISNULL | SK_SEARCHNOTNULL, c->col + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, 0);
		c->keys = lappend(c->keys, key);
	}
	if (2 * list_length(c->keys) + 2 > MAX_EDGES)
		return false;
	e->n = 0;
	if (c->col > 0)
	{
		if (!range_of_condition(c, NULL, range) || range->empty)
			return false;
		start = range->lo;
		open = range->hi.key == NULL;
		if (!open)
			add_edge(e, &range->hi);
	}
	add_edge(e, &start);
	foreach(lc, c->keys)
	{
		if (!range_of_condition(c, lfirst(lc), range))
			return false;
		if (range->empty)
			continue;
		add_edge(e, &range->lo);
		if (range->hi.key)
			add_edge(e, &range->hi);
	}
	qsort_arg(e->pos, e->n, sizeof(SfxPos), cmp_edges, unconstify(SfxOrder *, c->o.order));
	for (int i = 1; i < e->n; i++)
		if (sfx_order_cmp_pos(c->o.order, &e->pos[i], &e->pos[n - 1]) != 0)
			e->pos[n++] = e->pos[i];
	/* where the values of the columns before end, so does what is asked for */
	if (open)
		e->pos[n++] = end;
	e->n = n;
	return true;
}

typedef struct Piece
{
	double		share;
	Datum		first;
	bool		isnull;
} Piece;

/* The column of the piece's first entry.  False: it is empty. */
static bool
first_value(const Conditions *c, SfxReader *reader, const SfxPos *lo, const SfxPos *hi, char *arena, Piece *v)
{
	const SfxOpened *o = &c->o;
	const SfxColumn *col = &o->kd.col[c->col];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	SfxEntry	e;

	sfx_reader_seek(reader, lo, hi);
	if (!sfx_reader_next(reader, ForwardScanDirection, &e))
		return false;
	sfx_key_decode(&o->kd, o->index, e.key, e.keylen, c->col + 1, values, isnull, arena);
	v->isnull = isnull[c->col];
	v->first = v->isnull ? (Datum) 0 : datumCopy(values[c->col], col->typbyval, col->typlen);
	return true;
}

/* Entries of the delta between two positions. */
static double
count_delta(const SfxOpened *o, const SfxMeta *meta, const SfxPos *lo, const SfxPos *hi, double about)
{
	SfxRange   *range;
	uint64		n = 0;

	if (about > COUNT_EXACTLY)
		return about;
	range = palloc(sizeof(SfxRange));
	range->lo = *lo;
	range->hi = *hi;
	for (int g = 0; g < meta->ngens; g++)
		(void) sfx_count_generation(o, meta, g, range, &n);
	pfree(range);
	return n;
}

/* How the entries are spread over the intervals.  The number of those that have any, the largest first; 0 if there is nothing. */
static int
measure(const Conditions *c, const Edges *e, Piece *piece)
{
	const SfxOpened *o = &c->o;
	SfxReader  *reader = sfx_reader_begin(o->index, o->order, false);
	char	   *arena = palloc(SFX_ARENA);
	SfxMeta		meta;
	SfxRank		below,
				next;
	double		total = 0;
	int			n = 0;

	sfx_meta_read(o->index, &meta);
	sfx_rank(o, &meta, &e->pos[0], &below);
	for (int i = 0; i + 1 < e->n; i++, below = next)
	{
		Piece	v;

		sfx_rank(o, &meta, &e->pos[i + 1], &next);
		if (!first_value(c, reader, &e->pos[i], &e->pos[i + 1], arena, &v))
			continue;
		v.share = Max(next.tree - below.tree, 0);
		if (next.delta_total > 0)
			v.share += count_delta(o, &meta, &e->pos[i], &e->pos[i + 1], next.delta - below.delta);
		v.share = Max(v.share, 1);
		total += v.share;
		/* core takes the first for the most common one */
		piece[n] = v;
		for (int j = n++; j > 0 && piece[j - 1].share < v.share; j--)
		{
			piece[j] = piece[j - 1];
			piece[j - 1] = v;
		}
	}
	sfx_reader_end(reader);
	for (int i = 0; i < n; i++)
		piece[i].share /= total;
	return n;
}

/*
 * The same where damage is no error: who plans may have other ways to the rows.  In a subtransaction, which parallel workers cannot have on all
 * versions.
 */
static int
measure_if_sound(const Conditions *c, const Edges *e, Piece *piece)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile int n = 0;

	if (IsInParallelMode())
		return measure(c, e, piece);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		n = measure(c, e, piece);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (edata->sqlerrcode != ERRCODE_INDEX_CORRUPTED && edata->sqlerrcode != ERRCODE_DATA_CORRUPTED)
			ReThrowError(edata);
		ereport(WARNING,
				(errcode(edata->sqlerrcode),
				 errmsg("rows cannot be counted in index \"%s\": %s", RelationGetRelationName(c->o.index), edata->message),
				 errdetail("The planner takes the estimate of ANALYZE."),
				 edata->hint ? errhint("%s", edata->hint) : 0));
		n = 0;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return n;
}

/* ---- what core is shown ---- */

/* A row of pg_statistic, from the one that ANALYZE made, if it did. */
static HeapTuple
form_statistics(const Conditions *c, Oid relid, bool inherited, const Piece *piece, int n)
{
	const SfxColumn *col = &c->o.kd.col[c->col];
	Relation	catalog = table_open(StatisticRelationId, AccessShareLock);
	HeapTuple	old = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(c->attno), BoolGetDatum(inherited));
	Datum		values[Natts_pg_statistic] = {0};
	bool		isnull[Natts_pg_statistic] = {0};
	Datum	   *mcv = palloc(n * sizeof(Datum));
	Datum	   *numbers = palloc(n * sizeof(Datum));
	double		nulls = 0;
	int			m = 0;
	char		align;
	int16		len;
	bool		byval;
	HeapTuple	result;

	for (int i = 0; i < n; i++)
	{
		if (piece[i].isnull)
		{
			nulls += piece[i].share;
			continue;
		}
		mcv[m] = piece[i].first;
		numbers[m++] = Float4GetDatum(piece[i].share);
	}
	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(c->attno);
	values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(inherited);
	values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum(nulls);
	if (HeapTupleIsValid(old))
	{
		Form_pg_statistic s = (Form_pg_statistic) GETSTRUCT(old);

		values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(s->stawidth);
		values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum(s->stadistinct);
		ReleaseSysCache(old);
	}
	for (int k = 0; k < STATISTIC_NUM_SLOTS; k++)
	{
		isnull[Anum_pg_statistic_stanumbers1 - 1 + k] = true;
		isnull[Anum_pg_statistic_stavalues1 - 1 + k] = true;
	}
	if (m > 0)
	{
		get_typlenbyvalalign(col->type, &len, &byval, &align);
		values[Anum_pg_statistic_stakind1 - 1] = Int16GetDatum(STATISTIC_KIND_MCV);
		values[Anum_pg_statistic_staop1 - 1] = ObjectIdGetDatum(get_opfamily_member(c->o.index->rd_opfamily[c->col], col->type, col->type,
																				 BTEqualStrategyNumber));
		values[Anum_pg_statistic_stacoll1 - 1] = ObjectIdGetDatum(col->collation);
		values[Anum_pg_statistic_stanumbers1 - 1] = PointerGetDatum(construct_array(numbers, m, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
		values[Anum_pg_statistic_stavalues1 - 1] = PointerGetDatum(construct_array(mcv, m, col->type, len, byval, align));
		isnull[Anum_pg_statistic_stanumbers1 - 1] = isnull[Anum_pg_statistic_stavalues1 - 1] = false;
	}
	result = heap_form_tuple(RelationGetDescr(catalog), values, isnull);
	table_close(catalog, AccessShareLock);
	return result;
}

/* May the user see the column in all rows?  Of a partition or a child: in the table that the query names. */
static bool
may_see(PlannerInfo *root, RelOptInfo *rel, AttrNumber attno)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	Oid			user = SfxPlannedUser(rel, rte);

	if (rte->securityQuals != NIL)
		return false;
	if (pg_class_aclcheck(rte->relid, user, ACL_SELECT) == ACLCHECK_OK)
		return true;
	return pg_attribute_aclcheck(rte->relid, attno, user, ACL_SELECT) == ACLCHECK_OK;
}

/* Does every row have to have one value in a column? */
static bool
has_equality(RelOptInfo *rel, AttrNumber attno)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Conditions	c = {.varno = rel->relid, .attno = attno};

		if (attno > 0 && is_equality(rinfo) && mentions_column((Node *) rinfo->clause, &c))
			return true;
	}
	return false;
}

static bool
has_key_column(const IndexOptInfo *info, AttrNumber attno)
{
	for (int i = 0; i < info->nkeycolumns; i++)
		if (info->indexkeys[i] == attno)
			return true;
	return false;
}

static bool
has_inequality(RelOptInfo *rel, AttrNumber attno)
{
	Conditions	c = {.varno = rel->relid, .attno = attno};
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		if (attno > 0 && !is_equality(lfirst(lc)) && mentions_column((Node *) lfirst_node(RestrictInfo, lc)->clause, &c))
			return true;
	return false;
}

/* May a scan of an index be worth thinking of? */
static bool
may_be_scanned(RelOptInfo *rel, const IndexOptInfo *info)
{
	AttrNumber	attno = info->indexkeys[0];

	return attno == 0 || has_equality(rel, attno) || has_inequality(rel, attno);
}

/*
 * What is true of column number col where the ones before it are fixed must not be taken for the price of a scan that asks for that column without
 * those: do all indexes that have the column, and that conditions lead to, have those, too?
 */
static bool
go_together(RelOptInfo *rel, const IndexOptInfo *info, int col)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		const IndexOptInfo *other = lfirst_node(IndexOptInfo, lc);

		if (col == 0 || other == info || !has_key_column(other, info->indexkeys[col]) || !may_be_scanned(rel, other))
			continue;
		for (int i = 0; i < col; i++)
			if (!has_key_column(other, info->indexkeys[i]))
				return false;
	}
	return true;
}

/* One of ours that has all rows? */
static bool
tells_of_all(const IndexOptInfo *info)
{
	return (void *) info->amcostestimate == (void *) sfx_costestimate && info->indpred == NIL && !info->hypothetical;
}

/* How many of an index's columns can be shown together: the first ones, all fixed but the last, for which there is another condition.  0: less than two. */
static int
chain_length(RelOptInfo *rel, const IndexOptInfo *info)
{
	int			n = 0;

	while (n < info->nkeycolumns && has_equality(rel, info->indexkeys[n]) && go_together(rel, info, n))
		n++;
	return n > 0 && n < info->nkeycolumns && has_inequality(rel, info->indexkeys[n]) && go_together(rel, info, n) ? n + 1 : 0;
}

/*
 * The index that tells of a column: the one of which most columns can be shown together, if the column is one of them; else the smallest one that
 * begins with it.
 */
static IndexOptInfo *
find_index(RelOptInfo *rel, AttrNumber attno, int *col)
{
	IndexOptInfo *first = NULL;
	IndexOptInfo *chain = NULL;
	int			length = 0;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);
		int			n;

		if (!tells_of_all(info))
			continue;
		if (info->indexkeys[0] == attno && (first == NULL || info->pages < first->pages))
			first = info;
		n = info->nkeycolumns > 1 ? chain_length(rel, info) : 0;
		if (n > length || (n > 0 && n == length && info->pages < chain->pages))
		{
			chain = info;
			length = n;
		}
	}
	for (*col = 0; *col < length; ++*col)
		if (chain->indexkeys[*col] == attno)
			return chain;
	*col = 0;
	return first;
}

static bool
may_be_null(Oid relid, AttrNumber attno)
{
	HeapTuple	tup = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(attno));
	bool		result = true;

	if (HeapTupleIsValid(tup))
	{
		result = !((Form_pg_attribute) GETSTRUCT(tup))->attnotnull;
		ReleaseSysCache(tup);
	}
	return result;
}

/* The statistics for a column's conditions; NULL: none but ANALYZE's. */
static HeapTuple
count_for(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, AttrNumber attno, int col)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "surfidx estimate", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	Conditions	c = {.root = root, .varno = rel->relid, .attno = attno};
	Edges	   *edges = palloc(sizeof(Edges));
	Piece	piece[MAX_EDGES + 1];
	HeapTuple	tuple = NULL;
	int			n;

	/* locked since the planner looked at it */
	c.pin = palloc(sizeof(ScanKeyData) * (col + 1));
	c.chained = chain_length(rel, info) > col + 1;
	c.o.index = index_open(info->indexoid, NoLock);
	sfx_keydesc_init(&c.o.kd, c.o.index);
	c.o.order = sfx_order_create(c.o.index, &c.o.kd, false);
	if (!(RecoveryInProgress() && c.o.index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED) &&
		pin_columns(&c, rel, info, col) && collect_conditions(&c, rel) &&
		find_edges(&c, may_be_null(rte->relid, attno), edges) &&
		(n = measure_if_sound(&c, edges, piece)) > 0)
	{
		tuple = form_statistics(&c, rte->relid, rte->inh, piece, n);
		MemoryContextSwitchTo(old);
		tuple = heap_copytuple(tuple);
	}
	MemoryContextSwitchTo(old);
	if (c.o.order)
		sfx_order_end(c.o.order);
	index_close(c.o.index, NoLock);
	MemoryContextDelete(work);
	return tuple;
}

/* ---- the hook ---- */

/* What was found for a column: core asks once for each condition.  Lives in the planner's memory, and is forgotten with it. */
typedef struct Shown
{
	struct Shown *next;
	PlannerInfo *root;
	Index		varno;
	AttrNumber	attno;
	HeapTuple	tuple;
	MemoryContextCallback gone;
} Shown;

static Shown *shown = NULL;

static void
forget_shown(void *arg)
{
	Shown	  **link = &shown;

	while (*link && *link != arg)
		link = &(*link)->next;
	if (*link)
		*link = (*link)->next;
}

static HeapTuple
show(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, AttrNumber attno, int col)
{
	MemoryContext old;
	Shown	   *s;

	for (s = shown; s; s = s->next)
		if (s->root == root && s->varno == rel->relid && s->attno == attno)
			return s->tuple;
	old = MemoryContextSwitchTo(root->planner_cxt);
	s = palloc0(sizeof(Shown));
	s->root = root;
	s->varno = rel->relid;
	s->attno = attno;
	s->tuple = count_for(root, rel, info, attno, col);
	s->gone.func = forget_shown;
	s->gone.arg = s;
	MemoryContextRegisterResetCallback(root->planner_cxt, &s->gone);
	MemoryContextSwitchTo(old);
	s->next = shown;
	return (shown = s)->tuple;
}

/* It goes with the planner's memory. */
static void
keep_statistics(HeapTuple tuple)
{
}

/* The relation of a range table entry.  Core's estimate for brin asks with a vardata of which nothing is set. */
static RelOptInfo *
relation_of(const PlannerInfo *root, const RangeTblEntry *rte)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
		if (root->simple_rte_array[i] == rte)
			return root->simple_rel_array[i];
	return NULL;
}

/* Is there a condition on the table that may be other than an equality?  Most lookups have none, and are done with here. */
static bool
any_inequality(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		if (!is_equality(lfirst_node(RestrictInfo, lc)))
			return true;
	return false;
}

/* May the user see the column, and those of the index before it, in all rows? */
static bool
may_see_all(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, int col)
{
	for (int i = 0; i <= col; i++)
		if (!may_see(root, rel, info->indexkeys[i]))
			return false;
	return true;
}

static bool
estimate_relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	RelOptInfo *rel;
	IndexOptInfo *info;
	HeapTuple	tuple;
	int			col = 0;

	if (prev_relation_stats && prev_relation_stats(root, rte, attnum, vardata))
		return true;
	if (!range_estimates || attnum <= 0 || rte->rtekind != RTE_RELATION || rte->inh)
		return false;
	rel = relation_of(root, rte);
	if (rel == NULL || rel->rows != 0 || !IS_SIMPLE_REL(rel) || rel->indexlist == NIL || !any_inequality(rel))
		return false;
	info = find_index(rel, attnum, &col);
	if (info == NULL || !may_see_all(root, rel, info, col))
		return false;
	tuple = show(root, rel, info, attnum, col);
	if (tuple == NULL)
		return false;
	vardata->statsTuple = tuple;
	vardata->freefunc = keep_statistics;
	vardata->acl_ok = true;
	return true;
}

void
sfx_estimate_define_gucs(void)
{
	DefineCustomBoolVariable("surfidx.range_estimates",
							 "Lets the planner count in surfidx indexes how many rows the conditions on a column find.",
							 "Where it is off, and for columns that no surfidx index begins with, ANALYZE's samples tell.",
							 &range_estimates,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

void
sfx_estimate_init(void)
{
	prev_relation_stats = get_relation_stats_hook;
	get_relation_stats_hook = estimate_relation_stats;
}
