/*-------------------------------------------------------------------------
 * encodings.c - order-preserving byte encodings of the built-in types (support function 7)
 *
 * One SfxEncoding per type, handed out by a SQL-callable function surfidx_enc_<name>(internal).
 * An encoding's contract stands at SfxEncoding in surfidx.h.  What each of them must give:
 *
 *	1. memcmp order of encoded values = order of the operator class.
 *	2. Equal values have equal bytes, and decode returns the very datum that was stored (index-only
 *	   scans show it).  Types with values that are equal but different (numeric, floats with their two
 *	   zeros, intervals) therefore have no encoding here.
 *	3. Self-delimiting: no encoded value is a proper prefix of another one.
 *
 * Forms:
 *	integers and their like		big-endian, sign bit flipped if there is a sign
 *	bool						00, 01
 *	uuid, macaddr, macaddr8		the bytes themselves
 *	text, name					the bytes, then 00 (which no text contains)
 *	bytea						00 -> 01 01, 01 -> 01 02, other bytes as they are, then 00
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/xid8.h"

#define SIGN16	0x8000
#define SIGN32	0x80000000
#define SIGN64	UINT64CONST(0x8000000000000000)

#define TEXT_END		0x00
#define BYTEA_END		0x00
#define BYTEA_ESCAPE	0x01	/* 00 and 01 follow as 01 and 02 */

static void
damaged_value(const char *type)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("surfidx index key holds bytes that are no value of type %s", type),
			 errhint("Please REINDEX the index.")));
}

/* ------------------------------------------------------------------ big-endian integers */

static inline int
put_be(uint64 v, int width, uint8 *buf, int maxlen)
{
	if (width > maxlen)
		return -1;
	for (int i = 0; i < width; i++)
		buf[i] = (uint8) (v >> (8 * (width - 1 - i)));
	return width;
}

static inline uint64
get_be(const uint8 *buf, int width)
{
	uint64		v = 0;

	for (int i = 0; i < width; i++)
		v = v << 8 | buf[i];
	return v;
}

/* An 8-byte value as a Datum, whether or not the server passes those by value. */
static inline Datum
return_int64(int64 v, char *out, int *outlen)
{
#ifdef USE_FLOAT8_BYVAL
	*outlen = 0;
	return Int64GetDatum(v);
#else
	memcpy(out, &v, sizeof(v));
	*outlen = sizeof(v);
	return PointerGetDatum(out);
#endif
}

static int
encode_int2(Datum value, uint8 *buf, int maxlen)
{
	return put_be((uint16) DatumGetInt16(value) ^ SIGN16, 2, buf, maxlen);
}

static Datum
decode_int2(const uint8 *buf, int len, char *out, int *outlen)
{
	*outlen = 0;
	return Int16GetDatum((int16) (get_be(buf, 2) ^ SIGN16));
}

static int
encode_int4(Datum value, uint8 *buf, int maxlen)
{
	return put_be((uint32) DatumGetInt32(value) ^ SIGN32, 4, buf, maxlen);
}

static Datum
decode_int4(const uint8 *buf, int len, char *out, int *outlen)
{
	*outlen = 0;
	return Int32GetDatum((int32) (get_be(buf, 4) ^ SIGN32));
}

static int
encode_int8(Datum value, uint8 *buf, int maxlen)
{
	return put_be((uint64) DatumGetInt64(value) ^ SIGN64, 8, buf, maxlen);
}

static Datum
decode_int8(const uint8 *buf, int len, char *out, int *outlen)
{
	return return_int64((int64) (get_be(buf, 8) ^ SIGN64), out, outlen);
}

static int
encode_uint4(Datum value, uint8 *buf, int maxlen)
{
	return put_be(DatumGetUInt32(value), 4, buf, maxlen);
}

static Datum
decode_uint4(const uint8 *buf, int len, char *out, int *outlen)
{
	*outlen = 0;
	return Int32GetDatum((int32) get_be(buf, 4));
}

static int
encode_uint8(Datum value, uint8 *buf, int maxlen)
{
	return put_be((uint64) DatumGetInt64(value), 8, buf, maxlen);
}

static Datum
decode_uint8(const uint8 *buf, int len, char *out, int *outlen)
{
	return return_int64((int64) get_be(buf, 8), out, outlen);
}

/* The value of any type of integer_ops; false if it is none of them. */
static bool
integer_value(Oid type, Datum value, int64 *v)
{
	switch (type)
	{
		case INT2OID:
			*v = DatumGetInt16(value);
			return true;
		case INT4OID:
			*v = DatumGetInt32(value);
			return true;
		case INT8OID:
			*v = DatumGetInt64(value);
			return true;
		default:
			return false;
	}
}

/* Where an integer stands among those of [min, max]. */
static SfxBoundKind
integer_bound(Oid subtype, Datum value, int64 min, int64 max, int64 *own)
{
	if (!integer_value(subtype, value, own))
		return SFX_BOUND_UNKNOWN;
	if (*own < min)
		return SFX_BOUND_BELOW_ALL;
	if (*own > max)
		return SFX_BOUND_ABOVE_ALL;
	return SFX_BOUND_EXACT;
}

static int
bound_int2(Oid subtype, Datum value, Datum *own)
{
	int64		v = 0;
	SfxBoundKind kind = integer_bound(OidIsValid(subtype) ? subtype : INT2OID, value, PG_INT16_MIN, PG_INT16_MAX, &v);

	*own = Int16GetDatum((int16) v);
	return kind;
}

static int
bound_int4(Oid subtype, Datum value, Datum *own)
{
	int64		v = 0;
	SfxBoundKind kind = integer_bound(OidIsValid(subtype) ? subtype : INT4OID, value, PG_INT32_MIN, PG_INT32_MAX, &v);

	*own = Int32GetDatum((int32) v);
	return kind;
}

static int
bound_int8(Oid subtype, Datum value, Datum *own)
{
	int64		v = 0;
	SfxBoundKind kind = integer_bound(OidIsValid(subtype) ? subtype : INT8OID, value, PG_INT64_MIN, PG_INT64_MAX, &v);

	*own = Int64GetDatum(v);
	return kind;
}

static const SfxEncoding enc_int2 = {
	.width = 2, .direct = SFX_DIRECT_SIGNED, .encode = encode_int2, .decode = decode_int2, .bound = bound_int2
};
static const SfxEncoding enc_int4 = {
	.width = 4, .direct = SFX_DIRECT_SIGNED, .encode = encode_int4, .decode = decode_int4, .bound = bound_int4
};
static const SfxEncoding enc_int8 = {
	.width = 8, .direct = SFX_DIRECT_SIGNED, .encode = encode_int8, .decode = decode_int8, .bound = bound_int8
};

/* oid */
static const SfxEncoding enc_uint4 = {
	.width = 4, .direct = SFX_DIRECT_UNSIGNED, .encode = encode_uint4, .decode = decode_uint4
};

/* pg_lsn, xid8 */
static const SfxEncoding enc_uint8 = {
	.width = 8, .direct = SFX_DIRECT_UNSIGNED, .encode = encode_uint8, .decode = decode_uint8
};

/* time: microseconds since midnight, never negative, but stored in an int64 */
static const SfxEncoding enc_time = {
	.width = 8, .direct = SFX_DIRECT_SIGNED, .encode = encode_int8, .decode = decode_int8
};

/* ------------------------------------------------------------------ single bytes */

static int
encode_bool(Datum value, uint8 *buf, int maxlen)
{
	return put_be(DatumGetBool(value) ? 1 : 0, 1, buf, maxlen);
}

static Datum
decode_bool(const uint8 *buf, int len, char *out, int *outlen)
{
	if (buf[0] > 1)
		damaged_value("boolean");
	*outlen = 0;
	return BoolGetDatum(buf[0] == 1);
}

static int
encode_char(Datum value, uint8 *buf, int maxlen)
{
	return put_be((uint8) DatumGetChar(value), 1, buf, maxlen);
}

static Datum
decode_char(const uint8 *buf, int len, char *out, int *outlen)
{
	*outlen = 0;
	return CharGetDatum((char) buf[0]);
}

static const SfxEncoding enc_bool = {
	.width = 1, .encode = encode_bool, .decode = decode_bool
};
static const SfxEncoding enc_char = {
	.width = 1, .direct = SFX_DIRECT_UNSIGNED, .encode = encode_char, .decode = decode_char
};

/* ------------------------------------------------------------------ fixed-width bytes by reference */

static inline int
put_bytes(const void *src, int n, uint8 *buf, int maxlen)
{
	if (n > maxlen)
		return -1;
	memcpy(buf, src, n);
	return n;
}

static Datum
decode_bytes(const uint8 *buf, int len, char *out, int *outlen)
{
	memcpy(out, buf, len);
	*outlen = len;
	return PointerGetDatum(out);
}

static int
encode_uuid(Datum value, uint8 *buf, int maxlen)
{
	return put_bytes(DatumGetUUIDP(value)->data, UUID_LEN, buf, maxlen);
}

static int
encode_macaddr(Datum value, uint8 *buf, int maxlen)
{
	return put_bytes(DatumGetMacaddrP(value), sizeof(macaddr), buf, maxlen);
}

static int
encode_macaddr8(Datum value, uint8 *buf, int maxlen)
{
	return put_bytes(DatumGetMacaddr8P(value), sizeof(macaddr8), buf, maxlen);
}

StaticAssertDecl(sizeof(macaddr) == 6 && sizeof(macaddr8) == 8, "hardware addresses are plain bytes");

static const SfxEncoding enc_uuid = {
	.width = UUID_LEN, .direct = SFX_DIRECT_BYTES, .encode = encode_uuid, .decode = decode_bytes
};
static const SfxEncoding enc_macaddr = {
	.width = sizeof(macaddr), .direct = SFX_DIRECT_BYTES, .encode = encode_macaddr, .decode = decode_bytes
};
static const SfxEncoding enc_macaddr8 = {
	.width = sizeof(macaddr8), .direct = SFX_DIRECT_BYTES, .encode = encode_macaddr8, .decode = decode_bytes
};

/* ------------------------------------------------------------------ text, name, bytea: ended by 00 */

/* The end mark cannot occur inside an encoded value, so it is all that need be looked for. */
static int
length_terminated(const uint8 *buf, int avail, bool desc)
{
	uint8		mark = desc ? (uint8) ~TEXT_END : TEXT_END;
	const uint8 *end = avail > 0 ? memchr(buf, mark, avail) : NULL;

	return end ? (int) (end - buf) + 1 : -1;
}

/* n bytes of text and the end mark */
static int
put_terminated(const char *s, Size n, uint8 *buf, int maxlen)
{
	if (n >= (Size) Max(maxlen, 0))
		return -1;
	if (unlikely(memchr(s, TEXT_END, n) != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("text value contains a zero byte and cannot be stored in a surfidx index")));
	memcpy(buf, s, n);
	buf[n] = TEXT_END;
	return (int) n + 1;
}

/*
 * A varlena's bytes in memory, NULL if there are as many as maxlen (the end mark needs room as well).  What cannot fit is
 * not fetched: the size of a toasted value is in its pointer.
 */
static struct varlena *
fetch_bytes(Datum value, int maxlen)
{
	if (VARATT_IS_EXTENDED(DatumGetPointer(value)) &&
		(int64) toast_raw_datum_size(value) - VARHDRSZ >= maxlen)
		return NULL;
	return PG_DETOAST_DATUM_PACKED(value);
}

static inline void
free_bytes(struct varlena *t, Datum value)
{
	if ((Pointer) t != DatumGetPointer(value))
		pfree(t);
}

static int
encode_text(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = fetch_bytes(value, maxlen);
	int			n;

	if (t == NULL)
		return -1;
	n = put_terminated(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), buf, maxlen);
	free_bytes(t, value);
	return n;
}

static Datum
decode_text(const uint8 *buf, int len, char *out, int *outlen)
{
	if (len < 1 || memchr(buf, TEXT_END, len) != buf + len - 1)
		damaged_value("text");
	*outlen = VARHDRSZ + len - 1;
	SET_VARSIZE(out, *outlen);
	memcpy(VARDATA(out), buf, len - 1);
	return PointerGetDatum(out);
}

static int
bound_text(Oid subtype, Datum value, Datum *own)
{
	*own = value;
	if (!OidIsValid(subtype) || subtype == TEXTOID)
		return SFX_BOUND_EXACT;
	if (subtype != NAMEOID)
		return SFX_BOUND_UNKNOWN;
	*own = PointerGetDatum(cstring_to_text(NameStr(*DatumGetName(value))));
	return SFX_BOUND_EXACT;
}

static int
encode_name(Datum value, uint8 *buf, int maxlen)
{
	const char *s = NameStr(*DatumGetName(value));

	return put_terminated(s, strnlen(s, NAMEDATALEN - 1), buf, maxlen);
}

static Datum
decode_name(const uint8 *buf, int len, char *out, int *outlen)
{
	if (len < 1 || len > NAMEDATALEN || memchr(buf, TEXT_END, len) != buf + len - 1)
		damaged_value("name");
	memset(out, 0, NAMEDATALEN);
	memcpy(out, buf, len);
	*outlen = NAMEDATALEN;
	return PointerGetDatum(out);
}

/* A text too long for a name follows the name made of its first bytes at once: that name's successors differ earlier. */
static int
bound_name(Oid subtype, Datum value, Datum *own)
{
	struct varlena *t;
	char	   *name;
	Size		len;

	*own = value;
	if (!OidIsValid(subtype) || subtype == NAMEOID)
		return SFX_BOUND_EXACT;
	if (subtype != TEXTOID)
		return SFX_BOUND_UNKNOWN;
	t = PG_DETOAST_DATUM_PACKED(value);
	len = VARSIZE_ANY_EXHDR(t);
	name = palloc0(NAMEDATALEN);
	memcpy(name, VARDATA_ANY(t), Min(len, NAMEDATALEN - 1));
	*own = NameGetDatum((Name) name);
	return len < NAMEDATALEN ? SFX_BOUND_EXACT : SFX_BOUND_AFTER;
}

/*
 * Append bytes with those that the end mark needs escaped; the length, or -1 if they do not fit with the end mark.
 */
static int
put_escaped(const uint8 *s, Size n, uint8 *buf, int maxlen)
{
	int			len = 0;

	for (const uint8 *end = s + n; s < end; s++)
	{
		int			need = *s > BYTEA_ESCAPE ? 1 : 2;

		if (len + need >= maxlen)
			return -1;
		if (need == 2)
			buf[len++] = BYTEA_ESCAPE;
		buf[len++] = need == 2 ? *s + 1 : *s;
	}
	if (len >= maxlen)
		return -1;
	buf[len++] = BYTEA_END;
	return len;
}

static int
encode_bytea(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = fetch_bytes(value, maxlen);
	int			n;

	if (t == NULL)
		return -1;
	n = put_escaped((const uint8 *) VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), buf, maxlen);
	free_bytes(t, value);
	return n;
}

static Datum
decode_bytea(const uint8 *buf, int len, char *out, int *outlen)
{
	uint8	   *data = (uint8 *) VARDATA(out);
	int			n = 0;
	int			i = 0;

	while (i < len - 1)
	{
		uint8		c = buf[i++];

		if (c == BYTEA_END)
			damaged_value("bytea");
		if (c == BYTEA_ESCAPE)
		{
			/* at the latest the end mark stands at len - 1, so that i is inside */
			c = buf[i++] - 1;
			if (c > BYTEA_ESCAPE)
				damaged_value("bytea");
		}
		data[n++] = c;
	}
	if (i != len - 1 || buf[i] != BYTEA_END)
		damaged_value("bytea");
	*outlen = VARHDRSZ + n;
	SET_VARSIZE(out, *outlen);
	return PointerGetDatum(out);
}

static const SfxEncoding enc_text = {
	.direct = SFX_DIRECT_TEXT, .encode = encode_text, .decode = decode_text, .length = length_terminated, .bound = bound_text,
	.needs_c_collation = true
};
static const SfxEncoding enc_name = {
	.encode = encode_name, .decode = decode_name, .length = length_terminated, .bound = bound_name,
	.needs_c_collation = true
};
static const SfxEncoding enc_bytea = {
	.encode = encode_bytea, .decode = decode_bytea, .length = length_terminated
};

/* ------------------------------------------------------------------ date, timestamp, timestamptz
 *
 * Days and microseconds since 2000-01-01; the infinities are the extreme integers, so that they sort as they
 * should.  A date and a timestamp compare as the date's midnight; where one side has a time zone the
 * session's TimeZone setting decides, so that no bound can be given.
 */

/* The first day that has no timestamp, as a date. */
#define DATE_PAST_TIMESTAMPS	(TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)

static SfxBoundKind
date_from_timestamp(Timestamp ts, DateADT *date)
{
	int64		days = ts / USECS_PER_DAY;

	if (TIMESTAMP_IS_NOBEGIN(ts))
		DATE_NOBEGIN(*date);
	else if (TIMESTAMP_IS_NOEND(ts))
		DATE_NOEND(*date);
	else
	{
		if (ts % USECS_PER_DAY < 0)
			days--;
		*date = (DateADT) days;
		return ts == days * USECS_PER_DAY ? SFX_BOUND_EXACT : SFX_BOUND_AFTER;
	}
	return SFX_BOUND_EXACT;
}

/* Dates reach further than timestamps: one beyond them lies between the last timestamp and infinity. */
static SfxBoundKind
timestamp_from_date(DateADT date, Timestamp *ts)
{
	if (DATE_IS_NOBEGIN(date))
		TIMESTAMP_NOBEGIN(*ts);
	else if (DATE_IS_NOEND(date))
		TIMESTAMP_NOEND(*ts);
	else if (date >= DATE_PAST_TIMESTAMPS)
	{
		*ts = END_TIMESTAMP - 1;
		return SFX_BOUND_AFTER;
	}
	else
		*ts = date * USECS_PER_DAY;
	return SFX_BOUND_EXACT;
}

static int
bound_date(Oid subtype, Datum value, Datum *own)
{
	DateADT		date;
	SfxBoundKind kind;

	*own = value;
	if (!OidIsValid(subtype) || subtype == DATEOID)
		return SFX_BOUND_EXACT;
	if (subtype != TIMESTAMPOID)
		return SFX_BOUND_UNKNOWN;
	kind = date_from_timestamp(DatumGetTimestamp(value), &date);
	*own = DateADTGetDatum(date);
	return kind;
}

static int
bound_timestamp(Oid subtype, Datum value, Datum *own)
{
	Timestamp	ts;
	SfxBoundKind kind;

	*own = value;
	if (!OidIsValid(subtype) || subtype == TIMESTAMPOID)
		return SFX_BOUND_EXACT;
	if (subtype != DATEOID)
		return SFX_BOUND_UNKNOWN;
	kind = timestamp_from_date(DatumGetDateADT(value), &ts);
	*own = TimestampGetDatum(ts);
	return kind;
}

static int
bound_timestamptz(Oid subtype, Datum value, Datum *own)
{
	*own = value;
	return !OidIsValid(subtype) || subtype == TIMESTAMPTZOID ? SFX_BOUND_EXACT : SFX_BOUND_UNKNOWN;
}

static const SfxEncoding enc_date = {
	.width = 4, .direct = SFX_DIRECT_SIGNED, .encode = encode_int4, .decode = decode_int4, .bound = bound_date
};
static const SfxEncoding enc_timestamp = {
	.width = 8, .direct = SFX_DIRECT_SIGNED, .encode = encode_int8, .decode = decode_int8, .bound = bound_timestamp
};
static const SfxEncoding enc_timestamptz = {
	.width = 8, .direct = SFX_DIRECT_SIGNED, .encode = encode_int8, .decode = decode_int8, .bound = bound_timestamptz
};

/* ------------------------------------------------------------------ the support functions */

#define SUPPORT_FUNCTION(name, encoding) \
	PG_FUNCTION_INFO_V1(surfidx_enc_##name); \
	Datum \
	surfidx_enc_##name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_POINTER(&(encoding)); \
	} \
	extern Datum surfidx_enc_##name(PG_FUNCTION_ARGS)

SUPPORT_FUNCTION(int2, enc_int2);
SUPPORT_FUNCTION(int4, enc_int4);
SUPPORT_FUNCTION(int8, enc_int8);
SUPPORT_FUNCTION(oid, enc_uint4);
SUPPORT_FUNCTION(pg_lsn, enc_uint8);
SUPPORT_FUNCTION(xid8, enc_uint8);
SUPPORT_FUNCTION(bool, enc_bool);
SUPPORT_FUNCTION(char, enc_char);
SUPPORT_FUNCTION(uuid, enc_uuid);
SUPPORT_FUNCTION(macaddr, enc_macaddr);
SUPPORT_FUNCTION(macaddr8, enc_macaddr8);
SUPPORT_FUNCTION(text, enc_text);
SUPPORT_FUNCTION(name, enc_name);
SUPPORT_FUNCTION(bytea, enc_bytea);
SUPPORT_FUNCTION(date, enc_date);
SUPPORT_FUNCTION(time, enc_time);
SUPPORT_FUNCTION(timestamp, enc_timestamp);
SUPPORT_FUNCTION(timestamptz, enc_timestamptz);
