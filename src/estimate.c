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
 * - if one of them is an inequality: what an equality finds, ANALYZE tells well enough, and a lookup's planning should
 *   not take longer than the lookup;
 * - to users who may see the column in all rows, because they tell of it.
 * Tables without a surfidx index that begins with the column, partial ones not counted, are estimated as ever.
 *-------------------------------------------------------------------------
 */
#include "bounds.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
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
	SfxOpened	o;				/* the index; heap is NULL */
	List	   *keys;			/* ScanKeys of the conditions */
	bool		inequality;		/* one of them, at least */
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

/* Column operator value. False: not one of the index's order. */
static bool
add_condition(Conditions *c, Oid op, Oid collation, Datum value)
{
	Relation	index = c->o.index;
	ScanKey		key;
	int			strategy;
	Oid			left,
				right;

	if (!op_in_opfamily(op, index->rd_opfamily[0]))
		return false;
	get_op_opfamily_properties(op, index->rd_opfamily[0], false, &strategy, &left, &right);
	if (left != c->o.kd.col[0].type || (OidIsValid(collation) && collation != index->rd_indcollation[0]))
		return false;
	key = palloc(sizeof(ScanKeyData));
	ScanKeyEntryInitialize(key, 0, 1, strategy, right, index->rd_indcollation[0], get_opcode(op), value);
	c->keys = lappend(c->keys, key);
	c->inequality |= strategy != BTEqualStrategyNumber;
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

/*
 * Every condition that may be estimated while the table's size is: its own, and what core takes out of an OR that joins it.
 */
static bool
collect_conditions(Conditions *c, RelOptInfo *rel)
{
	ListCell   *lc;

	(void) find_conditions((Node *) rel->baserestrictinfo, c);
	if (c->strange || !c->inequality)
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

/* The positions at which the conditions change their answers, ascending; the last one is the end.  False: too many, or not so simple. */
static bool
find_edges(Conditions *c, bool nulls, Edges *e)
{
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	SfxPos		end = {NULL, 0, 0};
	SfxRange   *range = palloc(sizeof(SfxRange));
	ListCell   *lc;
	int			n = 1;

	if (nulls)
	{
		ScanKey		key = palloc(sizeof(ScanKeyData));

		ScanKeyEntryInitialize(key, SK_ISNULL | SK_SEARCHNOTNULL, 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, 0);
		c->keys = lappend(c->keys, key);
	}
	if (2 * list_length(c->keys) + 1 > MAX_EDGES)
		return false;
	e->n = 0;
	add_edge(e, &start);
	foreach(lc, c->keys)
	{
		if (!sfx_range_of_keys(&c->o, lfirst(lc), 1, range))
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
	e->pos[n] = end;
	e->n = n + 1;
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
first_value(const SfxOpened *o, SfxReader *reader, const SfxPos *lo, const SfxPos *hi, char *arena, Piece *v)
{
	SfxEntry	e;
	const SfxColumn *col = &o->kd.col[0];

	sfx_reader_seek(reader, lo, hi);
	if (!sfx_reader_next(reader, ForwardScanDirection, &e))
		return false;
	sfx_key_decode(&o->kd, o->index, e.key, e.keylen, 1, &v->first, &v->isnull, arena);
	if (!v->isnull)
		v->first = datumCopy(v->first, col->typbyval, col->typlen);
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
measure(const SfxOpened *o, const Edges *e, Piece *piece)
{
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
		if (!first_value(o, reader, &e->pos[i], &e->pos[i + 1], arena, &v))
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

/* ---- what core is shown ---- */

/* A row of pg_statistic, from the one that ANALYZE made, if it did. */
static HeapTuple
form_statistics(const Conditions *c, Oid relid, bool inherited, const Piece *piece, int n)
{
	const SfxColumn *col = &c->o.kd.col[0];
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
		values[Anum_pg_statistic_staop1 - 1] = ObjectIdGetDatum(get_opfamily_member(c->o.index->rd_opfamily[0], col->type, col->type,
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

/* The smallest index of ours that begins with the column and has all rows. */
static IndexOptInfo *
find_index(RelOptInfo *rel, AttrNumber attno)
{
	IndexOptInfo *best = NULL;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);

		if ((void *) info->amcostestimate == (void *) sfx_costestimate && info->indexkeys[0] == attno && info->indpred == NIL &&
			!info->hypothetical && (best == NULL || info->pages < best->pages))
			best = info;
	}
	return best;
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
count_for(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, AttrNumber attno)
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
	c.o.index = index_open(info->indexoid, NoLock);
	sfx_keydesc_init(&c.o.kd, c.o.index);
	c.o.order = sfx_order_create(c.o.index, &c.o.kd, false);
	if (!(RecoveryInProgress() && c.o.index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED) &&
		collect_conditions(&c, rel) &&
		find_edges(&c, may_be_null(rte->relid, attno), edges) &&
		(n = measure(&c.o, edges, piece)) > 0)
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

/* What was found for one column last: core asks once for each condition.  Lives in the planner's memory, and is forgotten with it. */
typedef struct Shown
{
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
	if (shown == arg)
		shown = NULL;
}

static HeapTuple
show(PlannerInfo *root, RelOptInfo *rel, const IndexOptInfo *info, AttrNumber attno)
{
	MemoryContext old;
	Shown	   *s;

	if (shown && shown->root == root && shown->varno == rel->relid && shown->attno == attno)
		return shown->tuple;
	old = MemoryContextSwitchTo(root->planner_cxt);
	s = palloc0(sizeof(Shown));
	s->root = root;
	s->varno = rel->relid;
	s->attno = attno;
	s->tuple = count_for(root, rel, info, attno);
	s->gone.func = forget_shown;
	s->gone.arg = s;
	MemoryContextRegisterResetCallback(root->planner_cxt, &s->gone);
	MemoryContextSwitchTo(old);
	shown = s;
	return s->tuple;
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

static bool
estimate_relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	RelOptInfo *rel;
	IndexOptInfo *info;
	HeapTuple	tuple;

	if (prev_relation_stats && prev_relation_stats(root, rte, attnum, vardata))
		return true;
	if (!range_estimates || attnum <= 0 || rte->rtekind != RTE_RELATION || rte->inh)
		return false;
	rel = relation_of(root, rte);
	if (rel == NULL || rel->rows != 0 || !IS_SIMPLE_REL(rel) || rel->indexlist == NIL)
		return false;
	info = find_index(rel, attnum);
	if (info == NULL || !may_see(root, rel, attnum))
		return false;
	tuple = show(root, rel, info, attnum);
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
