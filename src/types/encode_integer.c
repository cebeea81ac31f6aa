/*-------------------------------------------------------------------------
 * encode_integer.c - order-preserving byte encodings (support function 7): integers, and other
 * types as simple
 *
 * One SfxEncoding per type, returned by a SQL-callable function surfidx_enc_<name>(internal).  The
 * contract of an encoding stands at SfxEncoding in encode.h.  Each of them ensures:
 *
 * 1. memcmp order of encoded values = order of the operator class; equal values have equal bytes.
 * 2. Self-delimiting: no encoded value is a proper prefix of another one.
 * 3. decode, or restore where equal values can be different, returns the very value that was stored
 *    (index-only scans show it).
 *
 * Forms:
 *	integers and their like		big-endian, sign bit flipped if there is a sign	here
 *	bool						00, 01											here
 *	uuid, macaddr, macaddr8		the bytes themselves							here
 *	tid							block and offset, big-endian					here
 *	oidvector					number of elements, elements					here
 *	text, bytea, bits and kin													encode_text.c
 *	dates and times																encode_time.c
 *	floats, numeric																encode_number.c
 *	inet, cidr																	encode_net.c
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "encode.h"
#include "encode_impl.h"

#include "utils/inet.h"
#include "utils/uuid.h"

void
sfx_damaged_value(const char *type)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("surfidx index key holds bytes that are no value of type %s", type),
			 errhint("Please REINDEX the index.")));
}

/* ------------------------------------------------------------------ big-endian integers */

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

int
sfx_encode_int8(Datum value, uint8 *buf, int maxlen)
{
	return sfx_put_be((uint64) DatumGetInt64(value) ^ SFX_SIGN64, 8, buf, maxlen);
}

Datum
sfx_decode_int8(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	return return_int64((int64) (sfx_get_be(buf, 8) ^ SFX_SIGN64), out, outlen);
}

static int
encode_uint8(Datum value, uint8 *buf, int maxlen)
{
	return sfx_put_be((uint64) DatumGetInt64(value), 8, buf, maxlen);
}

static Datum
decode_uint8(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	return return_int64((int64) sfx_get_be(buf, 8), out, outlen);
}

/* The value of any type of integer_ops.  False: type is none of them. */
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

/* Where an integer constant stands among the integers of [min, max]. */
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

#define INTEGER_BOUND(name, min, max, MakeDatum) \
static int \
bound_##name(Oid subtype, Datum value, Datum *own, Datum *above) \
{ \
	int64		v = 0; \
	SfxBoundKind kind = integer_bound(subtype, value, min, max, &v); \
 \
	*own = MakeDatum(v); \
	return kind; \
}

INTEGER_BOUND(int2, PG_INT16_MIN, PG_INT16_MAX, Int16GetDatum)
INTEGER_BOUND(int4, PG_INT32_MIN, PG_INT32_MAX, Int32GetDatum)
INTEGER_BOUND(int8, PG_INT64_MIN, PG_INT64_MAX, Int64GetDatum)

static const SfxEncoding enc_int2 = {
	.width = 2,.direct = SFX_DIRECT_SIGNED,.bound = bound_int2
};
static const SfxEncoding enc_int4 = {
	.width = 4,.direct = SFX_DIRECT_SIGNED,.bound = bound_int4
};
static const SfxEncoding enc_int8 = {
	.width = 8,.direct = SFX_DIRECT_SIGNED,.encode = sfx_encode_int8,.decode = sfx_decode_int8,.bound = bound_int8
};

/* money: an int8, in cents or the locale's unit */
static const SfxEncoding enc_money = {
	.width = 8,.direct = SFX_DIRECT_SIGNED,.encode = sfx_encode_int8,.decode = sfx_decode_int8
};

/* oid */
static const SfxEncoding enc_uint4 = {
	.width = 4,.direct = SFX_DIRECT_UNSIGNED
};

/* pg_lsn, xid8, oid8 */
static const SfxEncoding enc_uint8 = {
	.width = 8,.direct = SFX_DIRECT_UNSIGNED,.encode = encode_uint8,.decode = decode_uint8
};

/* ------------------------------------------------------------------ single bytes */

static int
encode_bool(Datum value, uint8 *buf, int maxlen)
{
	return sfx_put_be(DatumGetBool(value) ? 1 : 0, 1, buf, maxlen);
}

static Datum
decode_bool(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	if (buf[0] > 1)
		sfx_damaged_value("boolean");
	*outlen = 0;
	return BoolGetDatum(buf[0] == 1);
}

static const SfxEncoding enc_bool = {
	.width = 1,.encode = encode_bool,.decode = decode_bool
};
static const SfxEncoding enc_char = {
	.width = 1,.direct = SFX_DIRECT_UNSIGNED
};

/* ------------------------------------------------------------------ fixed-width bytes by reference */

StaticAssertDecl(sizeof(macaddr) == 6 && sizeof(macaddr8) == 8, "hardware addresses are plain bytes");

static const SfxEncoding enc_uuid = {
	.width = UUID_LEN,.direct = SFX_DIRECT_BYTES
};
static const SfxEncoding enc_macaddr = {
	.width = sizeof(macaddr),.direct = SFX_DIRECT_BYTES
};
static const SfxEncoding enc_macaddr8 = {
	.width = sizeof(macaddr8),.direct = SFX_DIRECT_BYTES
};

/* ------------------------------------------------------------------ tid */

#define TID_WIDTH	6

static int
encode_tid(Datum value, uint8 *buf, int maxlen)
{
	ItemPointer p = (ItemPointer) DatumGetPointer(value);

	return sfx_put_be((uint64) ItemPointerGetBlockNumberNoCheck(p) << 16 | ItemPointerGetOffsetNumberNoCheck(p),
					  TID_WIDTH, buf, maxlen);
}

static Datum
decode_tid(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	uint64		v = sfx_get_be(buf, TID_WIDTH);

	ItemPointerSet((ItemPointer) out, (BlockNumber) (v >> 16), (OffsetNumber) v);
	*outlen = sizeof(ItemPointerData);
	return PointerGetDatum(out);
}

static const SfxEncoding enc_tid = {
	.width = TID_WIDTH,.encode = encode_tid,.decode = decode_tid
};

/*
 * ---- oidvector ----
 *
 * The number of elements, which decides first in its order, and the elements, each big-endian in
 * four bytes.
 *
 *	rest	00 if the subscripts begin with 0, as they normally do
 *			01 and the first subscript in four bytes otherwise
 */

#define OIDS_HEAD	offsetof(oidvector, values)

static int
encode_oidvector(Datum value, uint8 *buf, int maxlen)
{
	oidvector  *v = (oidvector *) PG_DETOAST_DATUM(value);
	int			n = v->dim1;
	int			len = sfx_put_be((uint32) n, 4, buf, maxlen);

	if (len < 0 || n > (maxlen - len) / 4)
		len = -1;
	for (int i = 0; len > 0 && i < n; i++)
		len += sfx_put_be(v->values[i], 4, buf + len, 4);
	sfx_free_copy(v, value);
	return len;
}

static int
length_oidvector(const uint8 *buf, int avail, uint8 flip)
{
	uint32		n = avail < 4 ? UINT32_MAX : (uint32) sfx_get_be(buf, 4) ^ (flip ? 0xFFFFFFFF : 0);

	return n <= (uint32) (avail - 4) / 4 ? 4 + 4 * (int) n : -1;
}

static Datum
decode_oidvector(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	oidvector  *v = (oidvector *) out;
	int			n = (len - 4) / 4;

	if (len < 4 || len % 4 != 0 || sfx_get_be(buf, 4) != n)
		sfx_damaged_value("oidvector");
	*outlen = OIDS_HEAD + n * sizeof(Oid);
	SET_VARSIZE(v, *outlen);
	v->ndim = 1;
	v->dataoffset = 0;
	v->elemtype = OIDOID;
	v->dim1 = n;
	v->lbound1 = 0;
	for (int i = 0; i < n; i++)
		v->values[i] = (Oid) sfx_get_be(buf + 4 + 4 * i, 4);
	return PointerGetDatum(v);
}

static int
rest_oidvector(Datum value, uint8 *buf, int maxlen)
{
	oidvector  *v = (oidvector *) PG_DETOAST_DATUM(value);
	uint32		first = (uint32) v->lbound1;

	sfx_free_copy(v, value);
	return first == 0 ? sfx_put_be(0, 1, buf, maxlen) : sfx_put_be((uint64) 1 << 32 | first, 5, buf, maxlen);
}

static int
rest_length_oidvector(const uint8 *buf, int len, const uint8 *rest, int avail)
{
	int			n = avail > 0 && rest[0] == 1 ? 5 : 1;

	return n <= avail && rest[0] <= 1 ? n : -1;
}

static Datum
restore_oidvector(const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen)
{
	Datum		value = decode_oidvector(buf, len, out, room, outlen);

	if (restlen == 5)
		((oidvector *) out)->lbound1 = (int32) sfx_get_be(rest + 1, 4);
	return value;
}

static const SfxEncoding enc_oidvector = {
	.encode = encode_oidvector,.decode = decode_oidvector,.length = length_oidvector,
	.rest = rest_oidvector,.rest_length = rest_length_oidvector,.restore = restore_oidvector
};

/* ------------------------------------------------------------------ the support functions */

SFX_SUPPORT_FUNCTION(int2, enc_int2);
SFX_SUPPORT_FUNCTION(int4, enc_int4);
SFX_SUPPORT_FUNCTION(int8, enc_int8);
SFX_SUPPORT_FUNCTION(money, enc_money);
SFX_SUPPORT_FUNCTION(oid, enc_uint4);
SFX_SUPPORT_FUNCTION(pg_lsn, enc_uint8);
SFX_SUPPORT_FUNCTION(xid8, enc_uint8);
SFX_SUPPORT_FUNCTION(bool, enc_bool);
SFX_SUPPORT_FUNCTION(char, enc_char);
SFX_SUPPORT_FUNCTION(uuid, enc_uuid);
SFX_SUPPORT_FUNCTION(macaddr, enc_macaddr);
SFX_SUPPORT_FUNCTION(macaddr8, enc_macaddr8);
SFX_SUPPORT_FUNCTION(tid, enc_tid);
SFX_SUPPORT_FUNCTION(oidvector, enc_oidvector);
