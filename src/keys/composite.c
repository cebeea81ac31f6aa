/*-------------------------------------------------------------------------
 * composite.c - rows as values of a column's composite type
 *
 * The operators of composite types take rows of any type, and compare them column by column:
 * ROW(1, 'x') is of type record.  A key has values of its column's type alone (P2), so a row that
 * somebody looks for becomes one before it is made into bytes.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "composite.h"

#include "access/htup_details.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

Oid
sfx_composite_of_column(Oid opcintype, Oid type)
{
	return opcintype == RECORDOID ? getBaseType(type) : InvalidOid;
}

static inline int
skip_dropped(TupleDesc desc, int i)
{
	while (i < desc->natts && TupleDescAttr(desc, i)->attisdropped)
		i++;
	return i;
}

/*
 * Takes the columns of from, in order, for those of to, NULL for dropped ones.  False: core would
 * not compare these with those, or in another way than two values of type to.
 */
static bool
take_columns(TupleDesc from, const Datum *value, const bool *isnull, TupleDesc to, Datum *own,
			 bool *own_isnull)
{
	int			i = skip_dropped(from, 0);
	int			j = skip_dropped(to, 0);

	memset(own_isnull, true, to->natts * sizeof(bool));
	for (; i < from->natts && j < to->natts;
		 i = skip_dropped(from, i + 1), j = skip_dropped(to, j + 1))
	{
		if (TupleDescAttr(from, i)->atttypid != TupleDescAttr(to, j)->atttypid ||
			TupleDescAttr(from, i)->attcollation != TupleDescAttr(to, j)->attcollation)
			return false;
		own[j] = value[i];
		own_isnull[j] = isnull[i];
	}
	return i == from->natts && j == to->natts;
}

/* The columns of a row, palloced, with room for more others; the type is to be released. */
static TupleDesc
columns_of(HeapTupleHeader head, int more, Datum **value, bool **isnull)
{
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(head),.t_data = head};
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(head),
											  HeapTupleHeaderGetTypMod(head));

	*value = palloc0((desc->natts + more + 1) * sizeof(Datum));
	*isnull = palloc0((desc->natts + more + 1) * sizeof(bool));
	ItemPointerSetInvalid(&tuple.t_self);
	heap_deform_tuple(&tuple, desc, *value, *isnull);
	return desc;
}

bool
sfx_composite_from(Oid type, Datum row, Datum *own)
{
	HeapTupleHeader head = DatumGetHeapTupleHeader(row);
	TupleDesc	from;
	TupleDesc	to;
	Datum	   *value;
	bool	   *isnull;
	bool		fits;

	*own = row;
	if (HeapTupleHeaderGetTypeId(head) == type)
		return true;
	to = lookup_rowtype_tupdesc(type, -1);
	from = columns_of(head, to->natts, &value, &isnull);
	fits = take_columns(from, value, isnull, to, value + from->natts, isnull + from->natts);
	if (fits)
		*own = heap_copy_tuple_as_datum(heap_form_tuple(to, value + from->natts,
														isnull + from->natts), to);
	ReleaseTupleDesc(from);
	ReleaseTupleDesc(to);
	return fits;
}

Node *
sfx_composite_expr(Datum row, Oid type)
{
	TupleDesc	to = lookup_rowtype_tupdesc(type, -1);
	Datum	   *value;
	bool	   *isnull;
	RowExpr    *expr = makeNode(RowExpr);
	bool		fits;
	int			i,
				j;
	TupleDesc	from = columns_of(DatumGetHeapTupleHeader(row), 0, &value, &isnull);

	expr->row_typeid = RECORDOID;
	expr->row_format = COERCE_IMPLICIT_CAST;
	expr->location = -1;
	for (i = skip_dropped(from, 0), j = skip_dropped(to, 0); i < from->natts && j < to->natts;
		 i = skip_dropped(from, i + 1), j = skip_dropped(to, j + 1))
	{
		Form_pg_attribute a = TupleDescAttr(from, i);
		Oid			wanted = TupleDescAttr(to, j)->atttypid;

		if (!can_coerce_type(1, &a->atttypid, &wanted, COERCION_IMPLICIT))
			break;
		expr->args = lappend(expr->args, makeConst(a->atttypid, a->atttypmod, a->attcollation,
												   a->attlen, value[i], isnull[i], a->attbyval));
	}
	fits = i == from->natts && j == to->natts;
	ReleaseTupleDesc(from);
	ReleaseTupleDesc(to);
	return fits ? (Node *) expr : NULL;
}
