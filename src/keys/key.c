/*-------------------------------------------------------------------------
 * key.c - index tuples to bytes and back
 *
 * The only place that knows how the columns of a row become the one byte string that everything
 * below works on.  The formats are drawn in encode.h (keys) and in payload.c (INCLUDE columns).
 *
 * Decoders treat bytes as hostile: every length is checked against what is left before it is used.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "comparison.h"
#include "composite.h"
#include "damage.h"
#include "encode.h"
#include "key.h"
#include "pos.h"
#include "raw.h"
#include "sound.h"
#include "varlena.h"

#include "access/detoast.h"
#include "port/pg_bswap.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"

/*
 * Bytes of the arena that decoding a value may use beyond the value's bytes in the key: headers,
 * padding, a whole Name.
 */
#define VALUE_SLACK		(NAMEDATALEN + 16)

/* Larger values are not encoded just to tell how much too large they are. */
#define MEASURE_LIMIT	(64 * 1024)

StaticAssertDecl(SFX_MAX_ENTRY + INDEX_MAX_KEYS * (VALUE_SLACK + MAXIMUM_ALIGNOF) <= SFX_ARENA,
				 "a decoded key must fit the arena, compressed values aside");

/* ------------------------------------------------------------------ the description of an index's keys */

/* Bytes of every value of a column; 0: varying. */
static inline int
column_width(const SfxColumn *col)
{
	if (col->raw)
		return col->typlen > 0 ? col->typlen : 0;
	return col->enc->width;
}

/*
 * Is the type in the string category, so that its data hardly ever has bytes 00 and 01?  A type
 * keeps its category for life.
 */
static bool
is_string_type(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(getBaseType(type), &category, &preferred);
	return category == TYPCATEGORY_STRING;
}

/* The operator class's byte encoding; NULL if it has none. */
static const SfxEncoding *
column_encoding(Relation index, int attno)
{
	if (!OidIsValid(index_getprocid(index, attno + 1, SFX_ENCODING_PROC)))
		return NULL;
	return (const SfxEncoding *)
		DatumGetPointer(FunctionCall1(index_getprocinfo(index, attno + 1, SFX_ENCODING_PROC),
									  PointerGetDatum(NULL)));
}

/* ERROR: comparisons would call a function that may not run under page locks. */
static void
refuse_comparison(Relation index, int attno, Oid function)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("column \"%s\" of surfidx index \"%s\" has a comparison function that is not "
					"written in C", NameStr(TupleDescAttr(RelationGetDescr(index), attno)->attname),
					RelationGetRelationName(index)),
			 errdetail("Function %s would run while pages of the index are locked.",
					   format_procedure_qualified(function)),
			 errhint("Use an operator class whose comparison function is of language C or "
					 "internal, or a btree index.")));
}

/*
 * ERROR unless a collatable column has its collation, and the column a comparison function that may
 * run under page locks.
 */
static void
check_raw_column(Relation index, int attno, Oid collation)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), attno);
	FmgrInfo   *cmp = index_getprocinfo(index, attno + 1, 1);

	if (OidIsValid(att->attcollation) && !OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine the collation of column \"%s\" of surfidx index \"%s\"",
						NameStr(att->attname), RelationGetRelationName(index)),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
	if (!SfxFunctionIsC(cmp->fn_oid))
		refuse_comparison(index, attno, cmp->fn_oid);
}

void
sfx_key_check_inside(const SfxKeyDesc *kd, Relation index)
{
	for (int i = 0; i < kd->nkeys; i++)
	{
		Oid			foreign = !kd->col[i].raw ? InvalidOid :
		sfx_foreign_comparison(index_getprocid(index, i + 1, 1),
							   TupleDescAttr(RelationGetDescr(index), i)->atttypid);

		if (OidIsValid(foreign))
			refuse_comparison(index, i, foreign);
	}
}

/*
 * As core does for btree: the pattern classes compare bytes, but their = is the type's, which then
 * must mean equal bytes.
 */
static void
check_pattern_class(Relation index, int attno, Oid collation)
{
	Oid			cmp = index_getprocid(index, attno + 1, 1);

	if ((cmp == F_BTTEXT_PATTERN_CMP || cmp == F_BTBPCHAR_PATTERN_CMP) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for the pattern operator class of column \"%s\" of surfidx index \"%s\"",
						NameStr(TupleDescAttr(RelationGetDescr(index), attno)->attname), RelationGetRelationName(index)),
				 errhint("Use the type's default operator class, or a deterministic collation.")));
}

/*
 * Have equal values of the column equal bytes?  Support function 4 says so, also of bpchar; but
 * values of that with no declared length that differ in blanks at the end are equal, and stored as
 * they are.
 */
static bool
is_image_equal(Relation index, int attno, Oid collation)
{
	Oid			proc = index_getprocid(index, attno + 1, 4);

	return OidIsValid(proc) && index->rd_opcintype[attno] != BPCHAROID &&
		DatumGetBool(OidFunctionCall1Coll(proc, collation, ObjectIdGetDatum(index->rd_opcintype[attno])));
}

/* The layout against which values of a raw or INCLUDE column are checked, or NULL. */
static const SfxStructure *
column_structure(Relation index, int attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), attno);

	return sfx_structure_of(att->atttypid, att->attlen);
}

/*
 * Fill *col.  A column is raw if its class has no byte encoding, or its collation does not compare
 * by bytes.
 */
static void
init_column(SfxColumn *col, Relation index, int attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), attno);
	int16		option = index->rd_indoption[attno];

	col->enc = column_encoding(index, attno);
	col->type = index->rd_opcintype[attno];
	col->composite = sfx_composite_of_column(col->type, att->atttypid);
	col->collation = index->rd_indcollation[attno];
	col->typlen = att->attlen;
	col->typbyval = att->attbyval;
	col->desc = (option & INDOPTION_DESC) != 0;
	col->nulls_first = (option & INDOPTION_NULLS_FIRST) != 0;
	col->bound = col->enc ? col->enc->bound : NULL;
	if (col->enc && col->enc->needs_c_collation && OidIsValid(col->collation) && !SfxCollateIsC(col->collation))
		col->enc = NULL;
	col->raw = col->enc == NULL;
	col->counted = col->raw && col->typlen == -1 && !is_string_type(col->type);
	col->structure = col->raw ? column_structure(index, attno) : NULL;
	if (col->raw || col->enc->needs_c_collation)
		check_raw_column(index, attno, col->collation);
	if (OidIsValid(col->collation))
		check_pattern_class(index, attno, col->collation);
}

void
sfx_keydesc_init(SfxKeyDesc *kd, Relation index)
{
	kd->nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	kd->natts = IndexRelationGetNumberOfAttributes(index);
	kd->nrests = 0;
	kd->grows = false;
	kd->comparator = false;
	kd->image_equal = true;
	for (int i = 0; i < kd->nkeys; i++)
	{
		SfxColumn  *col = &kd->col[i];

		init_column(col, index, i);
		if (col->raw)
		{
			kd->comparator = true;
			kd->image_equal &= is_image_equal(index, i, col->collation);
			continue;
		}
		kd->nrests += col->enc->rest != NULL;
		kd->grows |= col->enc->room != NULL;
	}
	for (int i = kd->nkeys; i < kd->natts; i++)
		kd->col[i].structure = column_structure(index, i);
}

/* ------------------------------------------------------------------ encoding */

/*
 * Integers and types like them (enc->direct) are by far the most frequent keys.  They are written
 * and read here without a call: big-endian, with the sign bit flipped where there is a sign.
 */
static inline uint64
direct_flip(const SfxColumn *col)
{
	uint64		flip = col->enc->direct == SFX_DIRECT_SIGNED ? UINT64CONST(1) << (8 * col->enc->width - 1) : 0;

	return col->desc ? ~flip : flip;
}

static inline bool
is_direct(const SfxColumn *col)
{
	return !col->raw && (col->enc->direct == SFX_DIRECT_SIGNED || col->enc->direct == SFX_DIRECT_UNSIGNED) &&
		(col->typbyval || col->enc->encode == NULL);
}

/*
 * Write the key of a column whose order is that of its big-endian bytes, after the flip of its sign
 * bit.
 */
static inline void
direct_put(const SfxColumn *col, Datum value, uint8 *buf)
{
	uint64		v = (uint64) value ^ direct_flip(col);

	switch (col->enc->width)
	{
		case 1:
			buf[0] = (uint8) v;
			break;
		case 2:
			{
				uint16		be = pg_hton16((uint16) v);

				memcpy(buf, &be, 2);
				break;
			}
		case 4:
			{
				uint32		be = pg_hton32((uint32) v);

				memcpy(buf, &be, 4);
				break;
			}
		default:
			{
				uint64		be = pg_hton64(v);

				memcpy(buf, &be, 8);
			}
	}
}

/* The Datum, as fetch_att would read it from a tuple: narrow values are sign-extended. */
static inline Datum
direct_get(const SfxColumn *col, const uint8 *buf)
{
	uint64		flip = direct_flip(col);

	switch (col->enc->width)
	{
		case 1:
			return CharGetDatum((char) (buf[0] ^ flip));
		case 2:
			{
				uint16		be;

				memcpy(&be, buf, 2);
				return Int16GetDatum((int16) (pg_ntoh16(be) ^ flip));
			}
		case 4:
			{
				uint32		be;

				memcpy(&be, buf, 4);
				return Int32GetDatum((int32) (pg_ntoh32(be) ^ flip));
			}
		default:
			{
				uint64		be;

				memcpy(&be, buf, 8);
				return (Datum) (pg_ntoh64(be) ^ flip);
			}
	}
}

static inline void
complement(uint8 *p, int len)
{
	for (int i = 0; i < len; i++)
		p[i] = ~p[i];
}

/*
 * Write the bytes of an encoded value: as they are if they are few, else compressed (longvalue.c).
 * Returns the length, -1 if there is no room.
 */
static int
encode_value(const SfxColumn *col, Datum value, uint8 *buf, int maxlen)
{
	int			n;

	if (col->enc->direct == SFX_DIRECT_BYTES)
	{
		Assert(col->enc->width <= maxlen);
		memcpy(buf, DatumGetPointer(value), col->enc->width);
		return col->enc->width;
	}
	n = col->enc->encode(value, buf, col->enc->width > 0 ? maxlen : Min(maxlen, SFX_LONG_PLAIN));
	if (unlikely(n < 0) && maxlen > SFX_LONG_PLAIN && col->enc->width == 0)
		n = sfx_long_put(col, value, buf, maxlen);
	return n;
}

/* See key.h. */
bool
sfx_column_encode(const SfxColumn *col, Datum value, bool isnull, uint8 *buf, int *len, int maxlen)
{
	uint8	   *p = buf + *len;
	int			room = maxlen - *len;
	int			n;

	if (room < 1 + (isnull ? 0 : column_width(col)))
		return false;
	if (isnull)
	{
		*p = col->nulls_first ? SFX_MARK_NULL_FIRST : SFX_MARK_NULL_LAST;
		*len += 1;
		return true;
	}
	*p++ = SFX_MARK_VALUE;
	if (is_direct(col))
	{
		direct_put(col, value, p);
		*len += 1 + col->enc->width;
		return true;
	}
	n = col->raw ? sfx_raw_put(col, value, p, room - 1) : encode_value(col, value, p, room - 1);
	if (n < 0)
		return false;
	Assert(n <= room - 1 && (column_width(col) == 0 || n == column_width(col)));
	if (col->desc && !col->raw)
		complement(p, n);
	*len += 1 + n;
	return true;
}

/* Append the rests of all columns.  False: there is no room. */
static bool
put_rests(const SfxKeyDesc *kd, const Datum *values, const bool *isnull, uint8 *buf, int *len, int maxlen)
{
	for (int i = 0; i < kd->nkeys; i++)
	{
		const SfxColumn *col = &kd->col[i];
		int			n;

		if (isnull[i] || col->raw || col->enc->rest == NULL)
			continue;
		n = col->enc->rest(values[i], buf + *len, maxlen - *len);
		if (n < 0)
			return false;
		Assert(n == 0 || buf[*len] < SFX_REST_LIMIT);
		*len += n;
	}
	return true;
}

static inline bool
is_encoded_varlena(const SfxColumn *col)
{
	return !col->raw && col->typlen == -1;
}

/*
 * Do the encoded values fit a row of an index-only scan, beside raw values and INCLUDE columns,
 * perhaps after compression?  The answer must not depend on the table's settings; nor does the
 * compression in row.c.
 */
static bool
row_fits(const SfxKeyDesc *kd, const Datum *values, const bool *isnull)
{
	Size		room = SFX_MAX_ROW_DATA - (kd->comparator || kd->natts > kd->nkeys ? SFX_MAX_ENTRY : 0);
	Size		total = 0;
	Size		packed = 0;

	for (int i = 0; i < kd->nkeys; i++)
		if (!isnull[i] && is_encoded_varlena(&kd->col[i]))
			total += toast_raw_datum_size(values[i]);
	if (total <= room)
		return true;
	for (int i = 0; i < kd->nkeys && packed <= room; i++)
	{
		struct varlena *v;

		if (isnull[i] || !is_encoded_varlena(&kd->col[i]))
			continue;
		v = sfx_row_varlena(PG_DETOAST_DATUM_PACKED(values[i]));
		packed += VARSIZE_ANY(v) + MAXIMUM_ALIGNOF;
	}
	return packed <= room;
}

/*
 * The size that a value would have, marker included, for the message that the key is too large.
 * Exact up to a size that is cheap to encode, beyond it the number of raw bytes.
 */
static int64
measure_column(const SfxColumn *col, Datum value)
{
	Size		raw = col->typlen == -1 ? toast_raw_datum_size(value) - VARHDRSZ : NAMEDATALEN;
	Size		room = 3 * raw + 64;	/* no encoding more than doubles a value's bytes */
	uint8	   *buf;
	int			len;

	if (column_width(col) > 0)
		return 1 + column_width(col);
	if (raw > MEASURE_LIMIT)
		return 1 + raw;
	buf = palloc(room);
	len = col->raw ? sfx_raw_put(col, value, buf, (int) room) : encode_value(col, value, buf, (int) room);
	pfree(buf);
	return 1 + (len < 0 ? (int64) raw : len);
}

static int64
measure_key(const SfxKeyDesc *kd, const Datum *values, const bool *isnull)
{
	int64		total = 0;

	for (int i = 0; i < kd->nkeys; i++)
		total += isnull[i] ? 1 : measure_column(&kd->col[i], values[i]);
	return total;
}

/*
 * Write all columns, and their rests.  squeeze: raw values are compressed where possible.  Returns
 * the length, -1 if there is no room.
 */
static int
put_columns(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull, bool squeeze, uint8 *buf, int maxlen)
{
	int			len = 0;

	for (int i = 0; i < kd->nkeys; i++)
	{
		if (squeeze && kd->col[i].raw && !isnull[i])
		{
			Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), i);
			int			n = (maxlen - len < 2 ? -1 :
							 sfx_raw_squeeze(&kd->col[i], att, values[i], buf + len + 1, maxlen - len - 1));

			if (n < 0)
				return -1;
			buf[len] = SFX_MARK_VALUE;
			len += 1 + n;
		}
		else if (!sfx_column_encode(&kd->col[i], values[i], isnull[i], buf, &len, maxlen))
			return -1;
	}
	if (kd->nrests > 0 && !put_rests(kd, values, isnull, buf, &len, maxlen))
		return -1;
	return len;
}

int
sfx_key_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull, uint8 *buf)
{
	bool		can_squeeze = kd->comparator;
	int			maxlen = can_squeeze && kd->natts > kd->nkeys ? SFX_MAX_ENTRY / 2 : SFX_MAX_ENTRY;
	int			len = put_columns(kd, index, values, isnull, false, buf, maxlen);

	if (len < 0 && can_squeeze)
		len = put_columns(kd, index, values, isnull, true, buf, SFX_MAX_ENTRY);
	if (len < 0)
		sfx_entry_too_large(index, measure_key(kd, values, isnull));
	if (sfx_key_may_be_long(kd, len) && !row_fits(kd, values, isnull))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("values are too long for surfidx index \"%s\"", RelationGetRelationName(index)),
				 errdetail("The index's entry would have %d bytes, but rows of index-only scans could not hold the values.", len)));
	return len;
}

bool
sfx_bound_encode(const SfxKeyDesc *kd, Relation index, int attno, Datum value, uint8 *buf, int *len, int maxlen)
{
	const SfxColumn *col = &kd->col[attno];
	int			n;

	if (sfx_column_encode(col, value, false, buf, len, maxlen))
		return true;
	if (!col->raw || maxlen - *len < 2)
		return false;
	n = sfx_raw_squeeze(col, TupleDescAttr(RelationGetDescr(index), attno), value, buf + *len + 1, maxlen - *len - 1);
	if (n < 0)
		return false;
	buf[*len] = SFX_MARK_VALUE;
	*len += 1 + n;
	return true;
}

/* ------------------------------------------------------------------ decoding */

/* Error context: an encoding's decode function does not know the index. */
void
sfx_key_error_context(void *arg)
{
	errcontext("reading a key of surfidx index \"%s\"", RelationGetRelationName((Relation) arg));
}

/* Read a column's marker: true for NULL.  ERROR if it is none of this column's. */
static inline bool
read_marker(const SfxColumn *col, Relation index, uint8 marker)
{
	if (likely(marker == SFX_MARK_VALUE))
		return false;
	if (marker != (col->nulls_first ? SFX_MARK_NULL_FIRST : SFX_MARK_NULL_LAST))
		sfx_entry_damaged(index, "unknown marker byte");
	return true;
}

/*
 * The length of the value that starts at p, avail bytes before the key's end.  ERROR if it does not
 * end within these.
 */
static inline int
value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail)
{
	int			len = column_width(col);

	if (len == 0)
	{
		if (col->raw)
			len = sfx_raw_length(col, p, avail);
		else
		{
			len = col->enc->length(p, Min(avail, SFX_LONG_PLAIN), col->desc ? 0xFF : 0);
			if (unlikely(len < 0) && avail > SFX_LONG_PLAIN)
				len = sfx_long_length(p, avail, col->desc);
		}
	}
	if (unlikely(len < 0 || len > avail))
		sfx_entry_damaged(index, "a value runs beyond its key");
	return len;
}

/*
 * The value's bytes as they were encoded; *len becomes their number.  The result is p itself; or,
 * if they are complemented, a copy that is valid until the next call; or, if they are compressed,
 * palloc'd.
 */
static const uint8 *
encoded_bytes(const SfxColumn *col, const uint8 *p, int *len)
{
	static uint8 copy[SFX_MAX_ENTRY];

	if (col->desc)
	{
		for (int i = 0; i < *len; i++)
			copy[i] = ~p[i];
		p = copy;
	}
	if (unlikely(*len > SFX_LONG_PLAIN) && col->enc->width == 0)
		p = sfx_long_get(p, *len, len);
	return p;
}

/*
 * Where to decode a value to: the arena, or palloc'd memory if that is too small; *room: its size.
 */
static char *
decode_room(const SfxColumn *col, const uint8 *p, int len, const uint8 *rest, int restlen, char *arena, int *room)
{
	int64		need = len + VALUE_SLACK;

	if (col->enc->room)
		need = Max(need, col->enc->room(p, len, rest, restlen));
	if (likely(need <= *room))
		return arena;
	if (need > MaxAllocSize)
		sfx_long_damaged();
	*room = (int) need;
	return palloc(need);
}

/* The value of these bytes, made at out; *used: bytes of that. */
static inline Datum
value_of(const SfxColumn *col, const uint8 *p, int len, char *out, int room, int *used)
{
	if (col->enc->direct != SFX_DIRECT_BYTES)
		return col->enc->decode(p, len, out, room, used);
	memcpy(out, p, len);
	*used = len;
	return PointerGetDatum(out);
}

/* Decode a value that is not direct; returns the bytes of the arena that it used. */
static int
decode_value(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena, int room)
{
	int			used = 0;
	char	   *out;

	if (col->raw)
	{
		used = MAXALIGN(sfx_raw_get(col, p, len, value, arena));
		if (col->structure && !SFX_MUTANT("believe raw values"))
			sfx_structure_check(col->structure, *value);
		return used;
	}
	p = encoded_bytes(col, p, &len);
	out = decode_room(col, p, len, NULL, 0, arena, &room);
	*value = value_of(col, p, len, out, room, &used);
	Assert(used >= 0 && used <= room);
	return out == arena ? MAXALIGN(used) : 0;
}

/*
 * The same for a value with a rest, which starts at `rest` and ends within avail; *restlen: its
 * length.
 */
static int
restore_value(const SfxColumn *col, Relation index, const uint8 *p, int len, const uint8 *rest, int avail, int *restlen,
			  Datum *value, char *arena, int room)
{
	int			used = 0;
	char	   *out;

	p = encoded_bytes(col, p, &len);
	*restlen = col->enc->rest_length(p, len, rest, avail);
	if (*restlen < 0)
		sfx_entry_damaged(index, "what restores a value runs beyond its key");
	out = decode_room(col, p, len, rest, *restlen, arena, &room);
	*value = col->enc->restore(p, len, rest, *restlen, out, room, &used);
	Assert(used >= 0 && used <= room);
	return out == arena ? MAXALIGN(used) : 0;
}

int
sfx_value_make(const SfxColumn *col, Relation index, const uint8 *p, int len,
			   const uint8 *rest, int avail, int *restlen, Datum *value, char *arena, int room)
{
	int			used = 0;

	*restlen = 0;
	if (len > SFX_LONG_PLAIN || room < len + VALUE_SLACK)
		return -1;
	if (is_direct(col))
	{
		*value = direct_get(col, p);
		return 0;
	}
	if (col->raw)
		return decode_value(col, p, len, value, arena, room);
	p = encoded_bytes(col, p, &len);
	if (col->enc->rest)
	{
		*restlen = col->enc->rest_length(p, len, rest, avail);
		if (*restlen < 0)
			sfx_entry_damaged(index, "what restores a value runs beyond its key");
	}
	if (col->enc->room && col->enc->room(p, len, rest, *restlen) > room)
		return -1;
	*value = col->enc->rest ? col->enc->restore(p, len, rest, *restlen, arena, room, &used) :
		value_of(col, p, len, arena, room, &used);
	Assert(used >= 0 && used <= room);
	return MAXALIGN(used);
}

int
sfx_value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail)
{
	return value_length(col, index, p, avail);
}

int
sfx_key_place(const SfxKeyDesc *kd, int column)
{
	int			at = 0;

	for (int c = 0; c < column; c++)
	{
		if (kd->col[c].raw || kd->col[c].enc->width == 0)
			return -1;
		at += 1 + kd->col[c].enc->width;
	}
	return at;
}

int
sfx_column_length(const SfxColumn *col, Relation index, const uint8 *p, int avail)
{
	if (avail < 1)
		sfx_entry_damaged(index, "a key ends before its last column");
	return read_marker(col, index, *p) ? 1 : 1 + value_length(col, index, p + 1, avail - 1);
}

int
sfx_value_decode(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena)
{
	if (is_direct(col))
	{
		*value = direct_get(col, p);
		return 0;
	}
	return decode_value(col, p, len, value, arena, SFX_ARENA);
}

bool
sfx_key_is_squeezed(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len)
{
	const uint8 *p = key;
	const uint8 *end = key + len;

	for (int i = 0; i < kd->nkeys && kd->comparator && p < end; i++)
	{
		const SfxColumn *col = &kd->col[i];
		int			n;

		if (read_marker(col, index, *p++))
			continue;
		n = value_length(col, index, p, end - p);
		if (sfx_raw_is_squeezed(col, p, n))
			return true;
		p += n;
	}
	return false;
}

int
sfx_key_equal_len(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len)
{
	const uint8 *p = key;
	const uint8 *end = key + len;

	if (kd->nrests == 0)
		return len;
	for (int i = 0; i < kd->nkeys; i++)
	{
		const SfxColumn *col = &kd->col[i];

		if (unlikely(p >= end))
			sfx_entry_damaged(index, "a key ends before its last column");
		if (!read_marker(col, index, *p++))
			p += value_length(col, index, p, end - p);
	}
	return p - key;
}

void
sfx_key_range(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, uint8 *lobuf, SfxPos *lo, uint8 *hibuf,
			  SfxPos *hi)
{
	if (kd->image_equal && kd->nrests == 0 && !sfx_key_is_squeezed(kd, index, key, len))
	{
		/*
		 * one key (K1) with all TIDs: with the same bytes at both ends the search takes the short
		 * way (B3)
		 */
		memcpy(lobuf, key, len);
		lo->key = hi->key = lobuf;
		lo->len = hi->len = len;
		lo->tid = 0;
		hi->tid = SFX_MAX_TID;
		return;
	}
	len = sfx_key_equal_len(kd, index, key, len);
	memcpy(lobuf, key, len);
	memcpy(hibuf, key, len);
	lo->key = lobuf;
	hi->key = hibuf;
	lo->tid = hi->tid = 0;
	lo->len = hi->len = len;
	if (kd->comparator)
	{
		lobuf[lo->len++] = SFX_MARK_BEFORE;
		hibuf[hi->len++] = SFX_MARK_AFTER;
		return;
	}
	/* the least byte string above all that begin with the key */
	hi->len = sfx_successor(hibuf, hi->len);
	if (hi->len == 0)
		hi->key = NULL;
}

/* A column's value that is decoded once its rest is known. */
typedef struct Waiting
{
	int			col;
	int			len;
	const uint8 *p;
} Waiting;

/* Decode the values that were waiting; their rests begin at p.  Returns where the rests end. */
static const uint8 *
decode_rests(const SfxKeyDesc *kd, Relation index, const Waiting *w, int n, const uint8 *p, const uint8 *end, Datum *values,
			 char *arena, int room)
{
	for (int i = 0; i < n; i++, w++)
	{
		const SfxColumn *col = &kd->col[w->col];
		int			len;
		int			used = restore_value(col, index, w->p, w->len, p, end - p, &len, &values[w->col], arena, room);

		arena += used;
		room -= used;
		p += len;
	}
	return p;
}

void
sfx_key_decode(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, int upto,
			   Datum *values, bool *isnull, char *arena)
{
	const uint8 *p = key;
	const uint8 *end = key + len;
	char	   *start = arena;
	bool		restore = kd->nrests > 0 && upto == kd->nkeys;
	Waiting		waiting[INDEX_MAX_KEYS];
	int			nwaiting = 0;
	ErrorContextCallback errcallback;

	if (unlikely(len < 0 || len > SFX_MAX_ENTRY))
		sfx_entry_damaged(index, "a key is too long");
	errcallback.callback = sfx_key_error_context;
	errcallback.arg = index;
	errcallback.previous = error_context_stack;
	for (int i = 0; i < upto; i++)
	{
		const SfxColumn *col = &kd->col[i];
		int			n;

		if (unlikely(p >= end))
			sfx_entry_damaged(index, "a key ends before its last column");
		isnull[i] = read_marker(col, index, *p++);
		if (isnull[i])
		{
			values[i] = (Datum) 0;
			continue;
		}
		n = value_length(col, index, p, end - p);
		if (is_direct(col))
			values[i] = direct_get(col, p);
		else if (restore && !col->raw && col->enc->rest)
			waiting[nwaiting++] = (Waiting) {i, n, p};
		else
		{
			error_context_stack = &errcallback;
			arena += decode_value(col, p, n, &values[i], arena, SFX_ARENA - (arena - start));
			error_context_stack = errcallback.previous;
		}
		p += n;
	}
	if (nwaiting > 0)
	{
		error_context_stack = &errcallback;
		p = decode_rests(kd, index, waiting, nwaiting, p, end, values, arena, SFX_ARENA - (arena - start));
		error_context_stack = errcallback.previous;
	}
	if (unlikely(upto == kd->nkeys && p != end))
		sfx_entry_damaged(index, "a key is longer than its columns");
}
