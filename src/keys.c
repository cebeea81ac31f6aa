/*-------------------------------------------------------------------------
 * keys.c - index tuples to bytes and back
 *
 * The only place that knows how the columns of a row become the one byte string that everything
 * below works on, and how INCLUDE columns become a payload.  The formats are drawn in surfidx.h
 * (keys) and above sfx_payload_encode.
 *
 * Decoders treat bytes as hostile: every length is checked against what is left before it is used.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"

#include "access/detoast.h"
#include "access/tupmacs.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

/* What decoding a value may use of the arena beyond the bytes that it has in the key: headers, padding, a whole Name. */
#define VALUE_SLACK		(NAMEDATALEN + 16)

/* Values larger than this are not encoded just to tell how much too large they are. */
#define MEASURE_LIMIT	(64 * 1024)

StaticAssertDecl(SFX_MAX_RAW + SFX_MAX_ENTRY + INDEX_MAX_KEYS * (VALUE_SLACK + MAXIMUM_ALIGNOF) <= SFX_ARENA,
				 "a decoded key must fit the arena");

static void init_column(SfxColumn *col, Relation index, int attno);
static const SfxEncoding *column_encoding(Relation index, int attno);
static void check_raw_column(Relation index, int attno, Oid collation);
static bool is_string_type(Oid type);
static void check_pattern_class(Relation index, int attno, Oid collation);
static bool is_image_equal(Relation index, int attno, Oid collation);

/* ------------------------------------------------------------------ the description of an index's keys */

/* Bytes of every value of a column; 0 = varying. */
static inline int
column_width(const SfxColumn *col)
{
	if (col->raw)
		return col->typlen > 0 ? col->typlen : 0;
	return col->enc->width;
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
		kd->grows |= col->enc->grows;
	}
}

/* A column is raw where its class has no byte encoding, or the collation does not compare bytes. */
static void
init_column(SfxColumn *col, Relation index, int attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), attno);
	int16		option = index->rd_indoption[attno];

	col->enc = column_encoding(index, attno);
	col->type = index->rd_opcintype[attno];
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
	if (col->raw || col->enc->needs_c_collation)
		check_raw_column(index, attno, col->collation);
	if (OidIsValid(col->collation))
		check_pattern_class(index, attno, col->collation);
}

/* Is it of the string category, so that its data hardly ever has bytes 00 and 01?  A type keeps its category for life. */
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

/* A collatable column needs its collation; a raw one a comparison function that may run under a page lock. */
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
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of surfidx index \"%s\" has a comparison function that is not written in C",
						NameStr(att->attname), RelationGetRelationName(index)),
				 errdetail("Function %s would run while pages of the index are locked.", format_procedure_qualified(cmp->fn_oid)),
				 errhint("Use an operator class whose comparison function is of language C or internal, or a btree index.")));
}

/* As core for btree: the pattern classes compare bytes, but their = is the type's, which then has to mean equal bytes. */
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
 * Support function 4 says whether equal values have equal bytes.  It says so of bpchar, too; but where no length is
 * declared, values that differ in blanks at the end are equal and stored as they are.
 */
static bool
is_image_equal(Relation index, int attno, Oid collation)
{
	Oid			proc = index_getprocid(index, attno + 1, 4);

	return OidIsValid(proc) && index->rd_opcintype[attno] != BPCHAROID &&
		DatumGetBool(OidFunctionCall1Coll(proc, collation, ObjectIdGetDatum(index->rd_opcintype[attno])));
}

/* ------------------------------------------------------------------ encoding */

/*
 * Integers and their like (enc->direct) are by far the most frequent keys, so that they are written and read here
 * without a call: big-endian, with the sign bit flipped where there is a sign.
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
		col->typbyval;
}

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

/* The Datum as fetch_att would read it from a tuple: narrow values come back sign-extended. */
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
put_be16(uint8 *p, uint16 v)
{
	p[0] = (uint8) (v >> 8);
	p[1] = (uint8) v;
}

static inline void
complement(uint8 *p, int len)
{
	for (int i = 0; i < len; i++)
		p[i] = ~p[i];
}

/*
 * Raw values: datum bytes that only the comparison function understands.  Fixed width as they are.  cstring and string
 * data with 00 -> 01 01, 01 -> 01 02 and a final 00, as bytea: self-delimiting, and neighbours share what their strings
 * share.  Other varlena data, often full of zeros, behind its length: one byte below COUNT_LONG, else two, big-endian.
 *
 * A varlena may be squeezed, so that keys can have what btree's can: the compressed datum behind its header's length word,
 *
 *	counted		its length | SQUEEZED_COUNT in two bytes, big-endian, then the datum
 *	else		01 03, its length in two bytes, then the datum, in which nothing is escaped
 */
#define COUNT_LONG		0x80	/* bit 7 of the first byte: there is a second one */
#define SQUEEZED_COUNT	0x4000	/* with COUNT_LONG: what follows is compressed */
#define SQUEEZED_MARK	0x03	/* behind 01 */
#define SQUEEZED_HEAD	4

StaticAssertDecl(SFX_MAX_ENTRY < SQUEEZED_COUNT, "a length must leave the flag alone");

static int
put_counted(const uint8 *src, int n, uint8 *buf, int maxlen)
{
	int			head = n < COUNT_LONG ? 1 : 2;

	if (n > SFX_MAX_ENTRY || head + n > maxlen)
		return -1;
	if (head == 2)
		buf[0] = (uint8) (COUNT_LONG | n >> 8);
	buf[head - 1] = (uint8) n;
	memcpy(buf + head, src, n);
	return head + n;
}

/* The length of a counted value with its count; -1 if it does not lie within avail. */
static int
counted_length(const uint8 *p, int avail)
{
	int			len;

	if (avail < 2)
		return avail == 1 && p[0] == 0 ? 1 : -1;
	len = p[0] < COUNT_LONG ? 1 + p[0] : 2 + ((p[0] << 8 | p[1]) & (SQUEEZED_COUNT - 1));
	return len <= avail ? len : -1;
}

static inline bool
is_squeezed(const SfxColumn *col, const uint8 *p, int len)
{
	if (!col->raw || col->typlen != -1 || len < 2)
		return false;
	return col->counted ? (p[0] & 0xC0) == 0xC0 : p[0] == 0x01 && p[1] == SQUEEZED_MARK;
}

/* A compressed datum of n bytes behind its length word. */
static int
put_squeezed(const SfxColumn *col, const uint8 *src, int n, uint8 *buf, int maxlen)
{
	int			head = col->counted ? 2 : SQUEEZED_HEAD;

	if (n > SFX_MAX_ENTRY || head + n > maxlen)
		return -1;
	buf[0] = 0x01;
	buf[1] = SQUEEZED_MARK;
	put_be16(buf + head - 2, (uint16) (n | (col->counted ? COUNT_LONG << 8 | SQUEEZED_COUNT : 0)));
	memcpy(buf + head, src, n);
	return head + n;
}

static int
escape_bytes(const uint8 *src, int n, uint8 *buf, int maxlen)
{
	int			len = 0;

	for (int i = 0; i < n; i++)
	{
		if (len + (src[i] <= 0x01 ? 3 : 2) > maxlen)	/* with the end mark */
			return -1;
		if (src[i] <= 0x01)
		{
			buf[len++] = 0x01;
			buf[len++] = src[i] + 1;
		}
		else
			buf[len++] = src[i];
	}
	if (len + 1 > maxlen)
		return -1;
	buf[len++] = 0x00;
	return len;
}

static int
raw_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen)
{
	if (col->typlen > 0)
	{
		if (col->typlen > maxlen)
			return -1;
		if (col->typbyval)
		{
			union
			{
				char		bytes[sizeof(Datum)];
				Datum		align;
			}			byval;

			store_att_byval(byval.bytes, value, col->typlen);
			memcpy(buf, byval.bytes, col->typlen);
		}
		else
			memcpy(buf, DatumGetPointer(value), col->typlen);
		return col->typlen;
	}
	if (col->typlen == -2)
		return escape_bytes((uint8 *) DatumGetCString(value), strlen(DatumGetCString(value)), buf, maxlen);
	else
	{
		struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
		const uint8 *data = (uint8 *) VARDATA_ANY(v);
		int			len = VARSIZE_ANY_EXHDR(v);
		int			n = col->counted ? put_counted(data, len, buf, maxlen) : escape_bytes(data, len, buf, maxlen);

		if ((Pointer) v != DatumGetPointer(value))
			pfree(v);
		return n;
	}
}

/* As raw_put, compressing what can be compressed. */
static int
raw_squeeze(const SfxColumn *col, Form_pg_attribute att, Datum value, uint8 *buf, int maxlen)
{
	struct varlena *v;
	int			n;

	if (col->typlen != -1)
		return raw_put(col, value, buf, maxlen);
	v = sfx_storable_varlena(att, (struct varlena *) DatumGetPointer(value));
	if (VARATT_IS_COMPRESSED(v))
		n = put_squeezed(col, (uint8 *) v + VARHDRSZ, VARSIZE_ANY(v) - VARHDRSZ, buf, maxlen);
	else
		n = raw_put(col, PointerGetDatum(v), buf, maxlen);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return n;
}

/* The length of a value of varying width with its count or end mark; -1 if it does not lie within avail. */
static int
raw_length(const SfxColumn *col, const uint8 *p, int avail)
{
	const uint8 *end;

	if (col->counted)
		return counted_length(p, avail);
	if (is_squeezed(col, p, avail))
	{
		int			len = avail < SQUEEZED_HEAD ? -1 : SQUEEZED_HEAD + (p[2] << 8 | p[3]);

		return len <= avail ? len : -1;
	}
	end = avail > 0 ? memchr(p, 0x00, avail) : NULL;
	return end == NULL ? -1 : (int) (end - p) + 1;
}

int
sfx_plain_string(const SfxColumn *col, const uint8 *p, int len)
{
	if (!col->raw || col->typlen != -1 || col->counted || memchr(p, 0x01, len) != NULL)
		return -1;
	return len - 1;
}

/* The inverse of raw_put; len as raw_length or the type says. Returns bytes of arena used. */
static int
raw_get(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena)
{
	char	   *start = col->typlen == -1 ? arena + VARHDRSZ : arena;
	char	   *out = start;

	if (col->typlen > 0)
	{
		memcpy(arena, p, len);
		*value = fetch_att(arena, col->typbyval, col->typlen);
		return col->typbyval ? 0 : len;
	}
	if (is_squeezed(col, p, len))
	{
		int			head = col->counted ? 2 : SQUEEZED_HEAD;

		if (len - head < (int) (VARHDRSZ_COMPRESSED - VARHDRSZ))
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("surfidx index key holds a damaged compressed value"),
					 errhint("Please REINDEX the index.")));
		memcpy(start, p + head, len - head);
		SET_VARSIZE_COMPRESSED(arena, VARHDRSZ + len - head);
		*value = PointerGetDatum(arena);
		return VARHDRSZ + len - head;
	}
	if (col->counted)
	{
		int			head = p[0] < COUNT_LONG ? 1 : 2;

		memcpy(start, p + head, len - head);
		SET_VARSIZE(arena, VARHDRSZ + len - head);
		*value = PointerGetDatum(arena);
		return VARHDRSZ + len - head;
	}
	while (len > 1)
	{
		const uint8 *escape = memchr(p, 0x01, len - 1);
		int			n = escape ? (int) (escape - p) : len - 1;

		memcpy(out, p, n);
		out += n;
		p += n;
		len -= n;
		if (len > 1)
		{
			*out++ = len > 2 ? p[1] - 1 : p[0];
			p += Min(2, len - 1);
			len -= Min(2, len - 1);
		}
	}
	if (col->typlen == -2)
		*out++ = '\0';
	else
		SET_VARSIZE(arena, out - arena);
	*value = PointerGetDatum(arena);
	return out - arena;
}

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
	n = col->raw ? raw_put(col, value, p, room - 1) : col->enc->encode(value, p, room - 1);
	if (n < 0)
		return false;
	Assert(n <= room - 1 && (column_width(col) == 0 || n == column_width(col)));
	if (col->desc && !col->raw)
		complement(p, n);
	*len += 1 + n;
	return true;
}

/* The rests of all columns, behind their values. */
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

/* Is what the values take unencoded little enough for a row of an index-only scan? */
static bool
raw_size_fits(const SfxKeyDesc *kd, const Datum *values, const bool *isnull)
{
	Size		total = 0;

	for (int i = 0; i < kd->nkeys; i++)
		if (!isnull[i] && kd->col[i].typlen == -1)
			total += toast_raw_datum_size(values[i]);
	return total <= SFX_MAX_RAW;
}

/*
 * The size that a value would have had, marker included, for the message that says that the key is too large.
 * Exact up to a size that is cheap to encode, and at least the number of raw bytes beyond.
 */
static int64
measure_column(const SfxColumn *col, Datum value)
{
	Size		raw = col->typlen == -1 ? toast_raw_datum_size(value) - VARHDRSZ : NAMEDATALEN;
	Size		room = 2 * raw + VALUE_SLACK;	/* no encoding more than doubles a value's bytes */
	uint8	   *buf;
	int			len;

	if (column_width(col) > 0)
		return 1 + column_width(col);
	if (raw > MEASURE_LIMIT)
		return 1 + raw;
	buf = palloc(room);
	len = col->raw ? raw_put(col, value, buf, (int) room) : col->enc->encode(value, buf, (int) room);
	pfree(buf);
	return 1 + Max(len, (int) raw);
}

static int64
measure_key(const SfxKeyDesc *kd, const Datum *values, const bool *isnull)
{
	int64		total = 0;

	for (int i = 0; i < kd->nkeys; i++)
		total += isnull[i] ? 1 : measure_column(&kd->col[i], values[i]);
	return total;
}

/* All columns, raw ones squeezed if that is said; the length, or -1 if there is no room. */
static int
put_columns(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull, bool squeeze, uint8 *buf, int maxlen)
{
	int			len = 0;

	for (int i = 0; i < kd->nkeys; i++)
	{
		if (squeeze && kd->col[i].raw && !isnull[i])
		{
			int			n = maxlen - len < 2 ? -1 :
				raw_squeeze(&kd->col[i], TupleDescAttr(RelationGetDescr(index), i), values[i], buf + len + 1, maxlen - len - 1);

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
	if (len < 0 || (kd->grows && !raw_size_fits(kd, values, isnull)))
		sfx_entry_too_large(index, measure_key(kd, values, isnull));
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
	n = raw_squeeze(col, TupleDescAttr(RelationGetDescr(index), attno), value, buf + *len + 1, maxlen - *len - 1);
	if (n < 0)
		return false;
	buf[*len] = SFX_MARK_VALUE;
	*len += 1 + n;
	return true;
}

void
sfx_entry_too_large(Relation index, int64 size)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("index row requires %lld bytes, maximum is %d in surfidx index \"%s\"",
					(long long) size, SFX_MAX_ENTRY, RelationGetRelationName(index)),
			 errhint("Values larger than this cannot be indexed.\n"
					 "Consider an index on a hash or on a prefix of the value, or fewer INCLUDE columns.")));
}

/* ------------------------------------------------------------------ decoding */

void
sfx_entry_damaged(Relation index, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("surfidx index \"%s\" contains a damaged entry: %s", RelationGetRelationName(index), what),
			 errhint("Please REINDEX it.")));
}

/* Errors thrown by an encoding's decode function do not know the index. */
static void
decode_error_context(void *arg)
{
	errcontext("reading a key of surfidx index \"%s\"", RelationGetRelationName((Relation) arg));
}

/* The marker byte of a column: is the value NULL? */
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
 * The length of the value that starts at p, avail bytes before the key's end; never larger than avail.
 */
static inline int
value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail)
{
	int			len = column_width(col);

	if (len == 0)
		len = col->raw ? raw_length(col, p, avail) : col->enc->length(p, avail, col->desc);
	if (unlikely(len < 0 || len > avail))
		sfx_entry_damaged(index, "a value runs beyond its key");
	return len;
}

/* The value's bytes as they were encoded: p itself or, where they are complemented, a copy that is good until the next call. */
static inline const uint8 *
upright(const SfxColumn *col, const uint8 *p, int len)
{
	static uint8 copy[SFX_MAX_ENTRY];

	if (likely(!col->desc))
		return p;
	for (int i = 0; i < len; i++)
		copy[i] = ~p[i];
	return copy;
}

/* One value that needs a call; returns the bytes of the arena that it took. */
static int
decode_value(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena, int room)
{
	int			used = 0;

	if (col->raw)
		return MAXALIGN(raw_get(col, p, len, value, arena));
	*value = col->enc->decode(upright(col, p, len), len, arena, room, &used);
	Assert(used >= 0 && used <= room);
	return MAXALIGN(used);
}

/* The length of the rest at rest, within avail, of the value at p. */
static int
rest_length(const SfxColumn *col, Relation index, const uint8 *p, int len, const uint8 *rest, int avail)
{
	int			n = col->enc->rest_length(upright(col, p, len), len, rest, avail);

	if (n < 0)
		sfx_entry_damaged(index, "what restores a value runs beyond its key");
	return n;
}

/* As decode_value, with the rest. */
static int
restore_value(const SfxColumn *col, const uint8 *p, int len, const uint8 *rest, int restlen, Datum *value, char *arena,
			  int room)
{
	int			used = 0;

	*value = col->enc->restore(upright(col, p, len), len, rest, restlen, arena, room, &used);
	Assert(used >= 0 && used <= room);
	return MAXALIGN(used);
}

int
sfx_value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail)
{
	return value_length(col, index, p, avail);
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
		if (is_squeezed(col, p, n))
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
		/* one key (K1), all TIDs: the same bytes at both ends are looked for once */
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
	/* the least byte string above all that start with key */
	while (hi->len > 0 && hibuf[hi->len - 1] == 0xFF)
		hi->len--;
	if (hi->len == 0)
		hi->key = NULL;
	else
		hibuf[hi->len - 1]++;
}

/* A column whose value has to wait for its rest. */
typedef struct Waiting
{
	int			col;
	int			len;
	const uint8 *p;
} Waiting;

/* The values of columns with rests, which begin at p; returns where they end. */
static const uint8 *
decode_rests(const SfxKeyDesc *kd, Relation index, const Waiting *w, int n, const uint8 *p, const uint8 *end, Datum *values,
			 char *arena, int room)
{
	for (int i = 0; i < n; i++, w++)
	{
		const SfxColumn *col = &kd->col[w->col];
		int			len = rest_length(col, index, w->p, w->len, p, end - p);
		int			used = restore_value(col, w->p, w->len, p, len, &values[w->col], arena, room);

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
	errcallback.callback = decode_error_context;
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
