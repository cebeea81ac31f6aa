/*-------------------------------------------------------------------------
 * sound.c - checks that values have the layout that functions of their types rely on (P2)
 *
 * Comparison functions and the executor get a value as its datum, and trust what is inside: the
 * number of an array's elements, a jsonb's offsets.  Keys in ordered bytes pass through decoders
 * that check what they read, but raw values and INCLUDE columns are bytes copied from a page.  So
 * these are walked once here, with their lengths at hand, and an offset beyond the end is an error
 * and not a wild read.  The checks keep such functions inside the value; they do not ask whether
 * the value is plausible.
 *
 * They cover arrays, records, ranges and multiranges of anything, domains over them, and built-in
 * types with counts or offsets inside: numeric, bit, inet, name, jsonb, tsvector, tsquery.  Strings
 * need no check; types of other extensions are not known here.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "sound.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inet.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varbit.h"

/*
 * Checks a value of size bytes at p, which begins with a header of four bytes, if the type is a
 * varlena, and is aligned as the type demands.  False: it is damaged.
 */
typedef bool (*Look) (const SfxStructure *s, const char *p, Size size);

struct SfxStructure
{
	Oid			type;			/* the one that the datum's own header names, if it has one: not a
								 * domain over it */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Look		look;			/* NULL: any bytes of the right length are valid */
	Oid			element;		/* of an array: the type that the header names; may be a domain */
	int			nparts;			/* 1 (the element, or the bounds' type), or columns */
	const SfxStructure **part;
};

static bool array_is_sound(const SfxStructure *s, const char *p, Size size);
static bool record_is_sound(const SfxStructure *s, const char *p, Size size);
static bool range_is_sound(const SfxStructure *s, const char *p, Size size);
static bool multirange_is_sound(const SfxStructure *s, const char *p, Size size);

/* ---- of values inside other values ---- */

static inline bool
is_aligned(Size off, char typalign)
{
	return att_align_nominal(off, typalign) == off;
}

/*
 * Check an aligned copy, decompressed and with a header of four bytes, of a varlena that is stored
 * in size bytes at p.
 */
static bool
copy_is_sound(const SfxStructure *s, const char *p, Size size)
{
	char	   *stored = palloc(size);
	struct varlena *v;
	bool		sound;

	memcpy(stored, p, size);
	v = detoast_attr((struct varlena *) stored);
	sound = s->look(s, (char *) v, VARSIZE(v));
	if ((char *) v != stored)
		pfree(v);
	pfree(stored);
	return sound;
}

/*
 * Check the varlena that starts at p, avail bytes before the end; *size: its bytes, header
 * included.
 */
static bool
varlena_is_sound(const SfxStructure *s, const char *p, Size avail, bool aligned, Size *size)
{
	varattrib_4b head = {{0}};

	if (avail == 0)
		return false;
	if (VARATT_IS_1B(p))
	{
		*size = VARATT_IS_1B_E(p) ? 0 : VARSIZE_1B(p);
		return *size > 0 && *size <= avail && (s->look == NULL || copy_is_sound(s, p, *size));
	}
	if (avail < VARHDRSZ || !aligned)
		return false;
	memcpy(&head, p, VARHDRSZ);
	*size = VARSIZE_4B(&head);
	if (*size < (VARATT_IS_4B_C(&head) ? VARHDRSZ_COMPRESSED : VARHDRSZ) || *size > avail)
		return false;
	if (s->look == NULL)
		return true;
	if (VARATT_IS_4B_C(&head) || (uintptr_t) p % sizeof(int32) != 0)
		return copy_is_sound(s, p, *size);
	return s->look(s, p, *size);
}

/*
 * Check the value at *off of base, which has size bytes, and move *off after it.  pads: a varlena
 * may be unaligned, and then its first byte is not zero.
 */
static bool
step_over(const SfxStructure *s, const char *base, Size *off, Size size, bool pads)
{
	const char *end;
	Size		len;

	if (!pads || s->typlen != -1 || (*off < size && base[*off] == 0))
		*off = att_align_nominal(*off, s->typalign);
	if (*off > size)
		return false;
	if (s->typlen == -1)
	{
		if (!varlena_is_sound(s, base + *off, size - *off, is_aligned(*off, s->typalign), &len))
			return false;
	}
	else if (s->typlen == -2)
	{
		end = memchr(base + *off, '\0', size - *off);
		if (end == NULL)
			return false;
		len = end - (base + *off) + 1;
	}
	else
	{
		len = s->typlen;
		if (len > size - *off || (s->look != NULL && !s->look(s, base + *off, len)))
			return false;
	}
	*off += len;
	return true;
}

/* ---- of built-in types ---- */

/* The number of digits follows from the size. */
static bool
numeric_is_sound(const SfxStructure *s, const char *p, Size size)
{
	uint16		head;

	if (size < VARHDRSZ + sizeof(head))
		return false;
	memcpy(&head, p + VARHDRSZ, sizeof(head));
	/* without this bit there is a second header word */
	return (head & 0x8000) != 0 || size >= VARHDRSZ + 2 * sizeof(head);
}

/*
 * There must be as many bytes as the bits need.  Unused bits of the last byte should be 0, but ">>"
 * before PostgreSQL 12 has left others, and pg_upgrade has kept such values.  The type's functions
 * work with them, but assert that they are 0.
 */
static bool
bits_are_sound(const SfxStructure *s, const char *p, Size size)
{
	const VarBit *b = (const VarBit *) p;

	if (size < VARBITHDRSZ + VARHDRSZ || b->bit_len < 0 || VARBITTOTALLEN((Size) b->bit_len) != size)
		return false;
#ifdef USE_ASSERT_CHECKING
	if (b->bit_len % BITS_PER_BYTE != 0 && ((uint8) p[size - 1] & (0xFF >> b->bit_len % BITS_PER_BYTE)) != 0)
		return false;
#endif
	return true;
}

static bool
inet_is_sound(const SfxStructure *s, const char *p, Size size)
{
	const inet_struct *i = (const inet_struct *) (p + VARHDRSZ);

	if (size < VARHDRSZ + offsetof(inet_struct, ipaddr) + 4)
		return false;
	if (i->family == PGSQL_AF_INET)
		return i->bits <= 32;
	return i->family == PGSQL_AF_INET6 && i->bits <= 128 && size >= VARHDRSZ + offsetof(inet_struct, ipaddr) + 16;
}

static bool
name_is_sound(const SfxStructure *s, const char *p, Size size)
{
	return memchr(p, '\0', size) != NULL;
}

/*
 * Check a jsonb container: entries with the end of their data, or its length, and then the data, in
 * which nested containers and numbers are aligned.
 */
static bool
container_is_sound(const char *p, Size size)
{
	static const SfxStructure number = {.type = NUMERICOID,.typlen = -1,.typalign = TYPALIGN_INT,.look = numeric_is_sound};
	const JsonbContainer *c = (const JsonbContainer *) p;
	uint64		n;
	const char *data;
	Size		avail;
	Size		start = 0;

	check_stack_depth();
	if (size < sizeof(uint32))
		return false;
	n = (uint64) JsonContainerSize(c) * (JsonContainerIsObject(c) ? 2 : 1);
	if (JsonContainerIsObject(c) == JsonContainerIsArray(c) || n > (size - sizeof(uint32)) / sizeof(JEntry) ||
		(JsonContainerIsScalar(c) && n != 1))
		return false;
	data = (const char *) &c->children[n];
	avail = size - (data - p);
	for (uint64 i = 0; i < n; i++)
	{
		JEntry		e = c->children[i];
		Size		end = JBE_HAS_OFF(e) ? JBE_OFFLENFLD(e) : start + JBE_OFFLENFLD(e);
		Size		aligned = INTALIGN(start);
		Size		len;

		if (end < start || end > avail || (e & JENTRY_TYPEMASK) > JENTRY_ISCONTAINER)
			return false;
		if (JBE_ISNUMERIC(e) && (aligned > end || !varlena_is_sound(&number, data + aligned, end - aligned, true, &len)))
			return false;
		if (JBE_ISCONTAINER(e) && (aligned > end || !container_is_sound(data + aligned, end - aligned)))
			return false;
		start = end;
	}
	return true;
}

static bool
jsonb_is_sound(const SfxStructure *s, const char *p, Size size)
{
	return size >= VARHDRSZ && container_is_sound(p + VARHDRSZ, size - VARHDRSZ);
}

static bool
tsvector_is_sound(const SfxStructure *s, const char *p, Size size)
{
	TSVector	v = (TSVector) p;
	Size		avail;

	if (size < DATAHDRSIZE || v->size < 0 || (Size) v->size > (size - DATAHDRSIZE) / sizeof(WordEntry))
		return false;
	avail = p + size - STRPTR(v);
	for (int i = 0; i < v->size; i++)
	{
		const WordEntry *e = &ARRPTR(v)[i];
		Size		end = (Size) e->pos + e->len;

		if (end > avail)
			return false;
		if (!e->haspos)
			continue;
		end = SHORTALIGN(end) + sizeof(uint16);
		if (end > avail || end + POSDATALEN(v, e) * sizeof(WordEntryPos) > avail)
			return false;
	}
	return true;
}

/*
 * Check the part of a query that starts at item *at, and move *at after it: an operand, or an
 * operator followed by its right operand and then its left one.
 */
static bool
query_is_sound(TSQuery q, Size operands, int *at)
{
	const QueryItem *item = GETQUERY(q) + *at;
	int			start = *at;

	check_stack_depth();
	if (start >= q->size)
		return false;
	(*at)++;
	if (item->type == QI_VAL)
		return (Size) item->qoperand.distance + item->qoperand.length < operands &&
			GETOPERAND(q)[item->qoperand.distance + item->qoperand.length] == '\0';
	if (item->type != QI_OPR || item->qoperator.oper < OP_NOT || item->qoperator.oper > OP_COUNT ||
		!query_is_sound(q, operands, at))
		return false;
	return item->qoperator.oper == OP_NOT ||
		(item->qoperator.left == (uint32) (*at - start) && query_is_sound(q, operands, at));
}

static bool
tsquery_is_sound(const SfxStructure *s, const char *p, Size size)
{
	TSQuery		q = (TSQuery) p;
	int			at = 0;

	if (size < HDRSIZETQ || q->size < 0 || (Size) q->size > (size - HDRSIZETQ) / sizeof(QueryItem))
		return false;
	return q->size == 0 || (query_is_sound(q, p + size - GETOPERAND(q), &at) && at == q->size);
}

/* ---- of types ---- */

static SfxStructure *make_structure(Oid type);

static Look
look_of_base_type(Oid type)
{
	switch (type)
	{
		case NUMERICOID:
			return numeric_is_sound;
		case BITOID:
		case VARBITOID:
			return bits_are_sound;
		case INETOID:
		case CIDROID:
			return inet_is_sound;
		case NAMEOID:
			return name_is_sound;
		case JSONBOID:
			return jsonb_is_sound;
		case TSVECTOROID:
			return tsvector_is_sound;
		case TSQUERYOID:
			return tsquery_is_sound;
		default:
			return NULL;
	}
}

static void
set_part(SfxStructure *s, Oid type, Look look)
{
	s->look = look;
	s->nparts = 1;
	s->part = palloc(sizeof(*s->part));
	s->part[0] = make_structure(type);
}

/*
 * Describe the columns of a row type.  Dropped ones are included, since old values may have them.
 */
static void
set_columns(SfxStructure *s)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(s->type, -1);

	s->look = record_is_sound;
	s->nparts = desc->natts;
	s->part = palloc(sizeof(*s->part) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		SfxStructure *part;

		if (!att->attisdropped)
			part = make_structure(att->atttypid);
		else
		{
			part = palloc0(sizeof(*part));
			part->typlen = att->attlen;
			part->typbyval = att->attbyval;
			part->typalign = att->attalign;
		}
		s->part[i] = part;
	}
	ReleaseTupleDesc(desc);
}

static SfxStructure *
make_structure(Oid type)
{
	SfxStructure *s = palloc0(sizeof(*s));

	check_stack_depth();
	s->type = getBaseType(type);
	get_typlenbyvalalign(s->type, &s->typlen, &s->typbyval, &s->typalign);
	switch (get_typtype(s->type))
	{
		case TYPTYPE_COMPOSITE:
			set_columns(s);
			break;
		case TYPTYPE_RANGE:
			set_part(s, get_range_subtype(s->type), range_is_sound);
			break;
		case TYPTYPE_MULTIRANGE:
			set_part(s, get_range_subtype(get_multirange_range(s->type)), multirange_is_sound);
			break;
		default:
			s->element = get_element_type(s->type);
			if (OidIsValid(s->element))
				set_part(s, s->element, array_is_sound);
			else
				s->look = look_of_base_type(s->type);
	}
	return s;
}

const SfxStructure *
sfx_structure_of(Oid type, int typlen)
{
	SfxStructure *s;

	/* most columns have these types, and each scan calls this */
	if (type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == BYTEAOID || (typlen != -1 && typlen != NAMEDATALEN))
		return NULL;
	s = make_structure(type);
	if (s->look != NULL)
		return s;
	pfree(s);
	return NULL;
}

/*
 * Check a value whose header names another type than the column's.  A cast without a function
 * leaves the element type in an array's header unchanged, and a range's type in its own; damage may
 * put any type there.  The type's functions will believe the header, so the bytes are checked
 * against the type that it names.  column: a type to which there must be such a cast, or
 * InvalidOid.
 */
static bool
is_sound_as(Oid type, Oid column, Look look, const char *p, Size size)
{
	MemoryContext old;
	MemoryContext context;
	SfxStructure *s;
	Oid			function;
	bool		sound;

	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)) || !get_typisdefined(type))
		return false;
	if (OidIsValid(column) && find_coercion_pathway(column, type, COERCION_EXPLICIT, &function) !=
		COERCION_PATH_RELABELTYPE)
		return false;
	context = AllocSetContextCreate(CurrentMemoryContext, "surfidx structure", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	if (look == array_is_sound)
	{
		/* an array's header names the type of its elements only */
		s = palloc0(sizeof(*s));
		s->type = s->element = type;
		set_part(s, type, look);
	}
	else
		s = make_structure(type);
	sound = s->look == look && s->type == type && look(s, p, size);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return sound;
}

/* ---- of values that have parts ---- */

static bool
elements_are_sound(const SfxStructure *element, const char *p, Size off, Size size, uint64 n, const uint8 *bitmap)
{
	/* elements of fixed length without inner layout, the most frequent case, need no walk */
	if (n == 0 || (bitmap == NULL && element->typlen > 0 && element->look == NULL))
		return n == 0 || (n - 1) * att_align_nominal(element->typlen, element->typalign) + element->typlen <= size - off;
	for (uint64 i = 0; i < n; i++)
		if ((bitmap == NULL || (bitmap[i / 8] & (1 << (i % 8))) != 0) && !step_over(element, p, &off, size, false))
			return false;
	return true;
}

static bool
array_is_sound(const SfxStructure *s, const char *p, Size size)
{
	const ArrayType *a = (const ArrayType *) p;
	uint64		n = 1;
	Size		off;

	if (size < sizeof(ArrayType) || a->ndim < 0 || a->ndim > MAXDIM || size < ARR_OVERHEAD_NONULLS(a->ndim))
		return false;
	if (a->elemtype != s->element)
		return is_sound_as(a->elemtype, InvalidOid, array_is_sound, p, size);
	if (a->ndim == 0)
		return true;
	for (int i = 0; i < a->ndim; i++)
	{
		/* an element takes at least one bit, that of a NULL */
		if (ARR_DIMS(a)[i] < 0 || (n *= ARR_DIMS(a)[i]) > 8 * (uint64) size)
			return false;
	}
	if (!ARR_HASNULL(a))
		return elements_are_sound(s->part[0], p, ARR_OVERHEAD_NONULLS(a->ndim), size, n, NULL);
	off = a->dataoffset;
	if (a->dataoffset < 0 || off < ARR_OVERHEAD_WITHNULLS(a->ndim, n) || off > size || off != MAXALIGN(off))
		return false;
	return elements_are_sound(s->part[0], p, off, size, n, ARR_NULLBITMAP(a));
}

static bool
record_is_sound(const SfxStructure *s, const char *p, Size size)
{
	HeapTupleHeader h = (HeapTupleHeader) p;
	int			natts;
	bool		nulls;
	Size		off;

	if (size < SizeofHeapTupleHeader)
		return false;
	if (HeapTupleHeaderGetTypeId(h) != s->type)
		return is_sound_as(HeapTupleHeaderGetTypeId(h), InvalidOid, record_is_sound, p, size);
	natts = HeapTupleHeaderGetNatts(h);
	nulls = (h->t_infomask & HEAP_HASNULL) != 0;
	off = h->t_hoff;

	/*
	 * the type modifier is ignored: for a named row type it is part of a version, since the minor
	 * releases after 15.18
	 */
	if (off > size || off != MAXALIGN(off) ||
		off < SizeofHeapTupleHeader + (nulls ? BITMAPLEN(natts) : 0))
		return false;
	for (int i = 0; i < Min(natts, s->nparts); i++)
		if ((!nulls || !att_isnull(i, h->t_bits)) && !step_over(s->part[i], p, &off, size, true))
			return false;
	return true;
}

/*
 * Check the bounds that the flags announce, from *off of p on.  A NULL bound is refused:
 * comparisons would read it as if it existed.
 */
static bool
bounds_are_sound(const SfxStructure *bound, const char *p, Size *off, Size size, uint8 flags)
{
	return (flags & (RANGE_LB_NULL | RANGE_UB_NULL)) == 0 && (!RANGE_HAS_LBOUND(flags) || step_over(bound, p, off, size, true)) &&
		(!RANGE_HAS_UBOUND(flags) || step_over(bound, p, off, size, true));
}

static bool
range_is_sound(const SfxStructure *s, const char *p, Size size)
{
	Size		off = sizeof(RangeType);
	Oid			type;

	if (size < sizeof(RangeType) + 1)
		return false;
	/* core's functions take two of different types for an error of the server's */
	type = ((const RangeType *) p)->rangetypid;
	if (type != s->type)
		return is_sound_as(type, s->type, range_is_sound, p, size);
	return bounds_are_sound(s->part[0], p, &off, size - 1, (uint8) p[size - 1]);
}

/*
 * A multirange's header is followed by the end of each range's bounds except the last one's (or,
 * without this bit, by their length), by the flags of all ranges, and by the bounds.
 */
#define MULTIRANGE_END		0x80000000

static bool
multirange_is_sound(const SfxStructure *s, const char *p, Size size)
{
	const MultirangeType *m = (const MultirangeType *) p;
	const uint32 *item = (const uint32 *) (p + sizeof(MultirangeType));
	const uint8 *flags;
	Size		start;
	uint64		at = 0;

	if (size < sizeof(MultirangeType))
		return false;
	if (m->multirangetypid != s->type)
		return is_sound_as(m->multirangetypid, s->type, multirange_is_sound, p, size);
	if (m->rangeCount == 0)
		return true;
	if (m->rangeCount > size / (sizeof(uint32) + 1))
		return false;
	flags = (const uint8 *) (item + (m->rangeCount - 1));
	start = att_align_nominal((const char *) (flags + m->rangeCount) - p, s->part[0]->typalign);
	for (uint32 i = 0; i < m->rangeCount; i++)
	{
		Size		off = start + at;

		/* code that copies bounds would find unaligned ones at other offsets */
		if (off > size || !is_aligned(off, s->part[0]->typalign) || (flags[i] & RANGE_EMPTY) != 0 ||
			!bounds_are_sound(s->part[0], p, &off, size, flags[i]))
			return false;
		if (i + 1 < m->rangeCount)
			at = (item[i] & MULTIRANGE_END ? 0 : at) + (item[i] & ~MULTIRANGE_END);
	}
	return true;
}

void
sfx_structure_check(const SfxStructure *s, Datum value)
{
	const char *p = DatumGetPointer(value);
	bool		sound;

	if (s->typlen > 0)
		sound = s->look(s, p, s->typlen);
	else if (VARATT_IS_EXTENDED(p))
		sound = !VARATT_IS_EXTERNAL(p) && copy_is_sound(s, p, VARSIZE_ANY(p));
	else
		sound = s->look(s, p, VARSIZE(p));
	if (!sound)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("surfidx index holds a damaged value of type %s", format_type_be(s->type)),
				 errhint("Please REINDEX the index.")));
}
