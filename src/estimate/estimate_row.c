/*-------------------------------------------------------------------------
 * estimate_row.c - a row of pg_statistic that says how a column's entries are distributed over
 * intervals
 *
 * It is put together by hand: of its 31 attributes 21 are in FormData_pg_statistic, and forming a
 * tuple of all of them value by value takes longer than finding out what to say.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "estimate.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/tupmacs.h"
#include "catalog/pg_statistic.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* The attributes after the fixed ones, and the size of these. */
#define FIXED_ATTS	(Anum_pg_statistic_stanumbers1 - 1)
#define FIXED_SIZE	(offsetof(FormData_pg_statistic, stacoll5) + sizeof(Oid))

/* A zeroed row of fixed attributes, with room for more after them. */
static HeapTuple
make_row(Size more, MemoryContext cxt)
{
	Size		hoff = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(Natts_pg_statistic));
	Size		len = hoff + FIXED_SIZE + more;
	HeapTuple	tup = MemoryContextAllocZero(cxt, HEAPTUPLESIZE + len);

	tup->t_len = len;
	ItemPointerSetInvalid(&tup->t_self);
	tup->t_tableOid = InvalidOid;
	tup->t_data = (HeapTupleHeader) ((char *) tup + HEAPTUPLESIZE);
	HeapTupleHeaderSetDatumLength(tup->t_data, len);
	ItemPointerSetInvalid(&tup->t_data->t_ctid);
	HeapTupleHeaderSetNatts(tup->t_data, Natts_pg_statistic);
	tup->t_data->t_hoff = hoff;
	tup->t_data->t_infomask = HEAP_HASNULL;
	for (int i = 0; i < FIXED_ATTS; i++)
		tup->t_data->t_bits[i >> 3] |= 1 << (i & 7);
	return tup;
}

/*
 * Add an array of n elements of one dimension, which are to follow its header, as attribute attnum
 * at offset `at`.  Returns where the elements go.
 */
static char *
add_array(HeapTuple tup, int attnum, Size at, Oid type, int n, Size size)
{
	ArrayType  *array = (ArrayType *) ((char *) GETSTRUCT(tup) + at);

	SET_VARSIZE(array, ARR_OVERHEAD_NONULLS(1) + size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = type;
	ARR_DIMS(array)[0] = n;
	ARR_LBOUND(array)[0] = 1;
	tup->t_data->t_bits[(attnum - 1) >> 3] |= 1 << ((attnum - 1) & 7);
	tup->t_data->t_infomask |= HEAP_HASVARWIDTH;
	return ARR_DATA_PTR(array);
}

/* How values are laid out in an array. */
typedef struct Layout
{
	int16		len;
	bool		byval;
	char		align;
} Layout;

static Layout
layout_of(const SfxConditions *c, const SfxColumn *col)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(c->o.index), c->col);
	Layout		l = {att->attlen, att->attbyval, att->attalign};

	if (att->atttypid != col->type)
		get_typlenbyvalalign(col->type, &l.len, &l.byval, &l.align);
	return l;
}

/* The offset of the next value of an array, at or after `at`; *end: where it ends. */
static Size
place(const Layout *l, Size at, Datum value, Size *end)
{
	at = att_align_nominal(at, l->align);
	*end = l->len > 0 ? at + l->len : at + (l->len == -1 ? VARSIZE_ANY(DatumGetPointer(value)) : strlen(DatumGetCString(value)) + 1);
	return at;
}

/* The family's equality operator; cached for statements that are planned again and again. */
static Oid
equality(Oid family, Oid type)
{
	static Oid	last_family,
				last_type,
				last;

	if (last_family != family || last_type != type)
	{
		last = get_opfamily_member(family, type, type, BTEqualStrategyNumber);
		last_family = family;
		last_type = type;
	}
	return last;
}

/* Add the values and their frequencies. */
static void
add_values(HeapTuple tup, const SfxColumn *col, const Layout *l, const SfxPiece *piece, int n, int m, Size numbers, Size values, Size size)
{
	float4	   *number = (float4 *) add_array(tup, Anum_pg_statistic_stanumbers1, numbers, FLOAT4OID, m, m * sizeof(float4));
	char	   *data = add_array(tup, Anum_pg_statistic_stavalues1, values, col->type, m, size);
	Size		end = 0;

	for (int i = 0; i < n; i++)
	{
		Size		at;

		if (piece[i].isnull)
			continue;
		*number++ = piece[i].share;
		at = place(l, end, piece[i].first, &end);
		if (l->byval)
			store_att_byval(data + at, piece[i].first, l->len);
		else
			memcpy(data + at, DatumGetPointer(piece[i].first), end - at);
	}
}

HeapTuple
sfx_statistics_form(const SfxConditions *c, Oid relid, bool inherited, SfxPiece *piece, int n, MemoryContext cxt)
{
	const SfxColumn *col = &c->o.kd.col[c->col];
	HeapTuple	old = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(c->attno), BoolGetDatum(inherited));
	Layout		l = layout_of(c, col);
	HeapTuple	tup;
	Form_pg_statistic s;
	double		nulls = 0;
	Size		numbers = INTALIGN(FIXED_SIZE);
	Size		values;
	Size		size = 0;
	int			m = 0;

	for (int i = 0; i < n; i++)
	{
		if (piece[i].isnull)
		{
			nulls += piece[i].share;
			continue;
		}
		/* a constant can be any datum: detoast it */
		if (l.len == -1)
			piece[i].first = PointerGetDatum(PG_DETOAST_DATUM(piece[i].first));
		(void) place(&l, size, piece[i].first, &size);
		m++;
	}
	size = att_align_nominal(size, l.align);
	values = DOUBLEALIGN(numbers + ARR_OVERHEAD_NONULLS(1) + m * sizeof(float4));
	tup = make_row(m > 0 ? values + ARR_OVERHEAD_NONULLS(1) + size - FIXED_SIZE : 0, cxt);
	s = (Form_pg_statistic) GETSTRUCT(tup);
	s->starelid = relid;
	s->staattnum = c->attno;
	s->stainherit = inherited;
	s->stanullfrac = nulls;
	if (HeapTupleIsValid(old))
	{
		s->stawidth = ((Form_pg_statistic) GETSTRUCT(old))->stawidth;
		s->stadistinct = ((Form_pg_statistic) GETSTRUCT(old))->stadistinct;
		ReleaseSysCache(old);
	}
	if (m > 0)
	{
		s->stakind1 = STATISTIC_KIND_MCV;
		s->staop1 = equality(c->o.index->rd_opfamily[c->col], col->type);
		s->stacoll1 = col->collation;
		add_values(tup, col, &l, piece, n, m, numbers, values, size);
	}
	return tup;
}
