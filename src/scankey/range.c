/*-------------------------------------------------------------------------
 * range.c - from the arguments of an SQL function to a range of an index
 *
 * A bound of k columns (x1, ..., xk) is the end of a range of scan conditions: positions with
 * columns >= (x1, ..., xk) begin where those with column 1 = x1, ..., column k >= xk begin.  So
 * scankey.c makes the bytes, for every type and in both key spaces, and an argument of another type
 * of the operator family is compared as in a query.  In descending columns the two ends are
 * swapped.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "composite.h"
#include "index_open.h"
#include "order.h"
#include "pending.h"
#include "range.h"
#include "scankey.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/typcache.h"

/* ---- opening ---- */

/*
 * A count of entries reveals rows.  So the user needs the right to SELECT, and row-level security
 * must not hide any row from the user.
 */
static void
check_rights(Relation heap, Relation index)
{
	bool		whole = (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) ||
						 !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL));
	Oid			relid = RelationGetRelid(heap);

	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot look into index \"%s\" because table \"%s\" has row-level security",
						RelationGetRelationName(index), RelationGetRelationName(heap)),
				 errhint("The index knows of rows that policies hide; ask the table in a query.")));
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	for (int i = 0; !whole && i < index->rd_index->indnkeyatts; i++)
		whole = pg_attribute_aclcheck(relid, index->rd_index->indkey.values[i], GetUserId(), ACL_SELECT) != ACLCHECK_OK;
	if (whole)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, RelationGetRelationName(heap));
}

void
sfx_open_to_look(Oid relid, SfxOpened *o)
{
	o->index = sfx_open_with_table(relid, &o->heap);
	if (!SFX_MUTANT("looks miss what waits"))
		sfx_pending_flush_index(o->index);
	check_rights(o->heap, o->index);
	if (!o->index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid: it may lack entries", RelationGetRelationName(o->index)),
				 errhint("REINDEX it.")));
	sfx_require_contents(o->index);
	o->order = sfx_order_open(o->index, &o->kd, false);
}

void
sfx_close_after_look(SfxOpened *o)
{
	sfx_order_end(o->order);
	relation_close(o->index, AccessShareLock);
	table_close(o->heap, AccessShareLock);
}

/* ---- arguments ---- */

SfxArg
sfx_arg_get(FunctionCallInfo fcinfo, int argno)
{
	SfxArg		a;

	a.isnull = PG_ARGISNULL(argno);
	a.value = a.isnull ? (Datum) 0 : PG_GETARG_DATUM(argno);
	a.type = get_fn_expr_argtype(fcinfo->flinfo, argno);
	if (!OidIsValid(a.type))
		a.type = UNKNOWNOID;
	return a;
}

static Datum
cast_value(const SfxArg *arg, Node *cast)
{
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = CreateExprContext(estate);
	ExprState  *state = ExecPrepareExpr((Expr *) cast, estate);
	bool		isnull;
	Datum		value = ExecEvalExpr(state, econtext, &isnull);
	int16		len;
	bool		byval;

	get_typlenbyval(exprType(cast), &len, &byval);
	value = isnull ? (Datum) 0 : datumCopy(value, byval, len);
	FreeExecutorState(estate);
	return value;
}

static void
refuse_type(const SfxOpened *o, int col, Oid type)
{
	const char *wanted = format_type_be(TupleDescAttr(RelationGetDescr(o->index), col)->atttypid);

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a value of type %s cannot be compared with column %d of index \"%s\", which is of type %s",
					format_type_be(type), col + 1, RelationGetRelationName(o->index), wanted),
			 errhint("Cast it to %s.", wanted)));
}

/*
 * Convert arg to a constant that index column col (0-based) can be compared with.  Returns its
 * value; *subtype: its type, as the operator family knows it.
 */
static Datum
fit_column(const SfxOpened *o, int col, const SfxArg *arg, Oid *subtype)
{
	Oid			coltype = TupleDescAttr(RelationGetDescr(o->index), col)->atttypid;
	Oid			opcintype = o->kd.col[col].type;
	Oid			composite = o->kd.col[col].composite;
	Node	   *node;
	Datum		value;
	int16		len;
	bool		byval;

	*subtype = opcintype;
	if (arg->type == UNKNOWNOID)
	{
		Oid			input;
		Oid			param;

		getTypeInputInfo(coltype, &input, &param);
		return OidInputFunctionCall(input, DatumGetCString(arg->value), param, -1);
	}
	if (OidIsValid(composite) && type_is_rowtype(arg->type) &&
		sfx_composite_from(composite, arg->value, &value))
		return value;
	if (arg->type == coltype || (arg->type == opcintype && !OidIsValid(composite)))
		return arg->value;
	get_typlenbyval(arg->type, &len, &byval);
	node = (Node *) makeConst(arg->type, -1, get_typcollation(arg->type), len, arg->value, false, byval);
	if (arg->type == RECORDOID && OidIsValid(composite))
	{
		node = sfx_composite_expr(arg->value, composite);
		if (node == NULL)
			refuse_type(o, col, arg->type);
	}
	node = coerce_to_target_type(NULL, node, arg->type, coltype, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (node)
		return cast_value(arg, node);
	if (OidIsValid(get_opfamily_member(o->index->rd_opfamily[col], opcintype, arg->type, BTEqualStrategyNumber)))
	{
		*subtype = arg->type;
		return arg->value;
	}
	refuse_type(o, col, arg->type);
	return (Datum) 0;			/* not reached */
}

static void
make_key(const SfxOpened *o, int col, StrategyNumber strategy, const SfxArg *arg, ScanKey key)
{
	Oid			subtype;
	Datum		value;
	Oid			op;

	if (arg == NULL)			/* IS NOT NULL */
	{
		ScanKeyEntryInitialize(key, SK_ISNULL | SK_SEARCHNOTNULL, col + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, 0);
		return;
	}
	if (arg->isnull)
	{
		ScanKeyEntryInitialize(key, SK_ISNULL | SK_SEARCHNULL, col + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, 0);
		return;
	}
	value = fit_column(o, col, arg, &subtype);
	op = get_opfamily_member(o->index->rd_opfamily[col], o->kd.col[col].type, subtype, strategy);
	if (!OidIsValid(op))
		elog(ERROR, "surfidx: operator %d of column %d of index \"%s\" is missing", strategy, col + 1,
			 RelationGetRelationName(o->index));
	ScanKeyEntryInitialize(key, 0, col + 1, strategy, subtype, o->index->rd_indcollation[col], get_opcode(op), value);
}

/* Copy an end of a range, with its bytes in buf. */
static void
set_end(SfxPos *end, uint8 *buf, const SfxPos *from)
{
	*end = *from;
	if (from->key)
		end->key = memcpy(buf, from->key, from->len);
}

bool
sfx_range_of_keys(const SfxOpened *o, ScanKey keys, int n, SfxRange *range)
{
	SfxScanKeys keybuf;			/* some 25 kB, for which palloc would call malloc */
	SfxScanKeys *sk = &keybuf;
	bool		single;
	SfxPos		lo,
				hi;

	sfx_scankeys_init(sk, o->index, &o->kd, o->order, n);
	range->empty = !sfx_scankeys_prepare(sk, keys, n);
	single = range->empty || (sk->nfilters == 0 && sfx_scankeys_single(sk));
	if (single && !range->empty)
	{
		sfx_scankeys_rewind(sk, ForwardScanDirection);
		sfx_scankeys_bounds(sk, &lo, &hi);
		set_end(&range->lo, range->lobuf, &lo);
		set_end(&range->hi, range->hibuf, &hi);
	}
	sfx_scankeys_end(sk);
	return single;
}

static void
range_of_keys(const SfxOpened *o, ScanKey keys, int n, SfxRange *range)
{
	if (!sfx_range_of_keys(o, keys, n, range))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the bounds are no single range of index \"%s\"", RelationGetRelationName(o->index)),
				 errhint("Cast the values to the types of the index's columns.")));
}

/* ---- rows ---- */

/*
 * Write the columns of a bound, a row's or the one value, to col; returns their number.  Memory:
 * the current context.
 */
static int
split_columns(const SfxOpened *o, const SfxArg *arg, SfxArg *col)
{
	HeapTupleHeader row;
	HeapTupleData tuple;
	TupleDesc	desc;
	int			n;

	if (!type_is_rowtype(arg->type) || type_is_rowtype(TupleDescAttr(RelationGetDescr(o->index), 0)->atttypid))
	{
		col[0] = *arg;
		return 1;
	}
	row = DatumGetHeapTupleHeader(arg->value);
	desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
	n = desc->natts;
	if (n > o->kd.nkeys || n < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a bound has %d columns, index \"%s\" has %d", n, RelationGetRelationName(o->index), o->kd.nkeys)));
	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	for (int i = 0; i < n; i++)
	{
		col[i].type = TupleDescAttr(desc, i)->atttypid;
		col[i].value = heap_getattr(&tuple, i + 1, desc, &col[i].isnull);
		if (col[i].isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column %d of a bound is NULL", i + 1),
					 errhint("Give a shorter row, or NULL as the whole bound for an open end.")));
		if (o->kd.col[i].desc != o->kd.col[0].desc)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("index \"%s\" has ascending and descending columns, in which a row is no bound of a range",
							RelationGetRelationName(o->index)),
					 errhint("Bound the first column only.")));
	}
	return n;
}

/*
 * Set *range to the range that a bound, a row's columns or one value, ends: at its low end, if
 * `low`, else at its high end (by value).  False: no key lies on this side of the bound.
 */
static bool
range_end(const SfxOpened *o, const SfxArg *bound, bool low, bool inclusive, SfxRange *range)
{
	ScanKeyData keys[INDEX_MAX_KEYS];
	SfxArg		col[INDEX_MAX_KEYS];

	for (int n = split_columns(o, bound, col); n > 0; n--)
	{
		for (int i = 0; i < n - 1; i++)
			make_key(o, i, BTEqualStrategyNumber, &col[i], &keys[i]);
		make_key(o, n - 1, low ? (inclusive ? BTGreaterEqualStrategyNumber : BTGreaterStrategyNumber) :
				 inclusive ? BTLessEqualStrategyNumber : BTLessStrategyNumber, &col[n - 1], &keys[n - 1]);
		range_of_keys(o, keys, n, range);
		if (!range->empty)
			return true;
		/* no key with these leading columns is on this side: the range ends where they end */
		inclusive = false;
	}
	return false;
}

void
sfx_range_between(const SfxOpened *o, const SfxArg *low, bool low_inclusive,
				  const SfxArg *high, bool high_inclusive, SfxRange *range)
{
	SfxRange   *end = palloc(sizeof(SfxRange));
	bool		swap = o->kd.col[0].desc;
	const SfxArg *first = swap ? high : low;
	const SfxArg *last = swap ? low : high;

	range->empty = false;
	if (low->isnull && high->isnull)
	{
		range->lo = (SfxPos) {range->lobuf, 0, 0};
		range->hi = SFX_POS_END;
		pfree(end);
		return;
	}
	if (first->isnull || last->isnull)
	{
		ScanKeyData key;

		make_key(o, 0, InvalidStrategy, NULL, &key);
		range_of_keys(o, &key, 1, range);
	}
	if (!range->empty && !last->isnull)
	{
		range->empty = !range_end(o, last, swap, swap ? low_inclusive : high_inclusive, end);
		if (!range->empty)
			set_end(&range->hi, range->hibuf, &end->hi);
	}
	if (!range->empty && !first->isnull)
	{
		range->empty = !range_end(o, first, !swap, swap ? high_inclusive : low_inclusive, end);
		if (!range->empty)
			set_end(&range->lo, range->lobuf, &end->lo);
	}
	if (!range->empty && range->hi.key && sfx_order_cmp_pos(o->order, &range->lo, &range->hi) >= 0)
		range->empty = true;
	pfree(end);
}

bool
sfx_open_to_look_for(FunctionCallInfo fcinfo, SfxOpened *o, SfxRange *range)
{
	SfxArg		col[INDEX_MAX_KEYS];
	Datum	   *values;
	bool	   *nulls;
	Oid		   *types;
	int			n;

	if (PG_ARGISNULL(0))
		return false;
	n = extract_variadic_args(fcinfo, 1, false, &values, &types, &nulls);
	if (n < 0)
		return false;
	sfx_open_to_look(PG_GETARG_OID(0), o);
	for (int i = 0; i < n && i < INDEX_MAX_KEYS; i++)
	{
		col[i].value = values[i];
		col[i].isnull = nulls[i];
		col[i].type = OidIsValid(types[i]) ? types[i] : UNKNOWNOID;
	}
	sfx_range_equal(o, col, n, range);
	return true;
}

void
sfx_range_equal(const SfxOpened *o, const SfxArg *values, int n, SfxRange *range)
{
	ScanKeyData keys[INDEX_MAX_KEYS];

	if (n < 1 || n > o->kd.nkeys)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d columns are given, index \"%s\" has %d", n, RelationGetRelationName(o->index), o->kd.nkeys)));
	for (int i = 0; i < n; i++)
		make_key(o, i, BTEqualStrategyNumber, &values[i], &keys[i]);
	range_of_keys(o, keys, n, range);
}
