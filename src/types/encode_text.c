/*-------------------------------------------------------------------------
 * encode_text.c - byte encodings of text and of strings of bytes and bits
 *
 *	text, name		the bytes, then 00 (which no text contains)
 *	char(n)			as text, without the blanks at the end; rest: their number
 *	bytea			zeros_put, then 00
 *	bit, varbit		as bytea, then the number of bits in the last byte (0 if there is none)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "encode.h"
#include "encode_impl.h"

#include "access/detoast.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#define TEXT_END		0x00
#define BYTES_END		0x00

/* ------------------------------------------------------------------ text, name: ended by 00 */

/* SfxEncoding.length: an encoded value contains no end mark, so the first one found ends it. */
static int
length_terminated(const uint8 *buf, int avail, uint8 flip)
{
	const uint8 *end = avail > 0 ? memchr(buf, TEXT_END ^ flip, avail) : NULL;

	return end ? (int) (end - buf) + 1 : -1;
}

/* Write n bytes of text and the end mark; returns the length, -1 if they do not fit. */
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
 * A varlena, in memory; NULL if it has maxlen bytes or more (the end mark needs room as well).  A
 * value that cannot fit is not fetched: the size of a toasted value is in its pointer.
 */
static struct varlena *
fetch_bytes(Datum value, int maxlen)
{
	if (VARATT_IS_EXTENDED(DatumGetPointer(value)) &&
		(int64) toast_raw_datum_size(value) - VARHDRSZ >= maxlen)
		return NULL;
	return PG_DETOAST_DATUM_PACKED(value);
}

static int
encode_text(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = fetch_bytes(value, maxlen);
	int			n;

	if (t == NULL)
		return -1;
	n = put_terminated(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), buf, maxlen);
	sfx_free_copy(t, value);
	return n;
}

static Datum
decode_text(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	if (len < 1 || memchr(buf, TEXT_END, len) != buf + len - 1)
		sfx_damaged_value("text");
	*outlen = VARHDRSZ + len - 1;
	SET_VARSIZE(out, *outlen);
	memcpy(VARDATA(out), buf, len - 1);
	return PointerGetDatum(out);
}

static int
bound_text(Oid subtype, Datum value, Datum *own, Datum *above)
{
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
decode_name(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	if (len < 1 || len > NAMEDATALEN || memchr(buf, TEXT_END, len) != buf + len - 1)
		sfx_damaged_value("name");
	memset(out, 0, NAMEDATALEN);
	memcpy(out, buf, len);
	*outlen = NAMEDATALEN;
	return PointerGetDatum(out);
}

/*
 * A text too long for a name comes right after the name made of its first bytes: the next greater
 * name differs in these.
 */
static int
bound_name(Oid subtype, Datum value, Datum *own, Datum *above)
{
	struct varlena *t;
	char	   *name;
	Size		len;

	if (subtype != TEXTOID)
		return SFX_BOUND_UNKNOWN;
	t = PG_DETOAST_DATUM_PACKED(value);
	len = VARSIZE_ANY_EXHDR(t);
	name = palloc0(NAMEDATALEN);
	memcpy(name, VARDATA_ANY(t), Min(len, NAMEDATALEN - 1));
	*own = NameGetDatum((Name) name);
	return len < NAMEDATALEN ? SFX_BOUND_EXACT : SFX_BOUND_AFTER;
}

static const SfxEncoding enc_text = {
	.direct = SFX_DIRECT_TEXT,.encode = encode_text,.decode = decode_text,.length = length_terminated,.bound = bound_text,
	.needs_c_collation = true
};
static const SfxEncoding enc_name = {
	.encode = encode_name,.decode = decode_name,.length = length_terminated,.bound = bound_name,
	.needs_c_collation = true
};

/* text_pattern_ops: bytes in any collation */
static const SfxEncoding enc_text_pattern = {
	.direct = SFX_DIRECT_TEXT,.encode = encode_text,.decode = decode_text,.length = length_terminated
};

/*
 * ---- char(n) ----
 *
 *	rest	0 to 7F						that many blanks
 *			80 + n / 65536, n % 65536	n blanks: the second part in two bytes, big-endian
 */

#define BLANKS_LONG		0x80
#define BLANKS_MAX		((SFX_REST_LIMIT - BLANKS_LONG) * 65536 - 1)

/* Length of the value without the blanks at its end. */
static int
true_length(const struct varlena *t)
{
	const char *s = VARDATA_ANY(t);
	int			n = VARSIZE_ANY_EXHDR(t);

	while (n > 0 && s[n - 1] == ' ')
		n--;
	return n;
}

static int
encode_bpchar(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = PG_DETOAST_DATUM_PACKED(value);
	int			n = put_terminated(VARDATA_ANY(t), true_length(t), buf, maxlen);

	sfx_free_copy(t, value);
	return n;
}

static int
rest_bpchar(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = PG_DETOAST_DATUM_PACKED(value);
	int			blanks = VARSIZE_ANY_EXHDR(t) - true_length(t);

	sfx_free_copy(t, value);
	if (blanks > BLANKS_MAX)
		return -1;
	if (blanks < BLANKS_LONG)
		return sfx_put_be(blanks, 1, buf, maxlen);
	return sfx_put_be((BLANKS_LONG << 16) + blanks, 3, buf, maxlen);
}

static int
rest_length_bpchar(const uint8 *buf, int len, const uint8 *rest, int avail)
{
	int			n = avail > 0 && rest[0] >= BLANKS_LONG ? 3 : 1;

	return n <= avail ? n : -1;
}

static inline int
blanks_of(const uint8 *rest, int restlen)
{
	return restlen == 3 ? (int) sfx_get_be(rest, 3) - (BLANKS_LONG << 16) : restlen == 1 ? rest[0] : 0;
}

static int64
room_bpchar(const uint8 *buf, int len, const uint8 *rest, int restlen)
{
	return VARHDRSZ + (int64) len + blanks_of(rest, restlen);
}

static Datum
restore_bpchar(const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen)
{
	int			blanks = blanks_of(rest, restlen);

	(void) decode_text(buf, len, out, room, outlen);
	if (blanks > room - *outlen)
		sfx_damaged_value("character");
	memset(out + *outlen, ' ', blanks);
	*outlen += blanks;
	SET_VARSIZE(out, *outlen);
	return PointerGetDatum(out);
}

static const SfxEncoding enc_bpchar = {
	.encode = encode_bpchar,.decode = decode_text,.length = length_terminated,
	.rest = rest_bpchar,.rest_length = rest_length_bpchar,.restore = restore_bpchar,
	.room = room_bpchar,.needs_c_collation = true
};
static const SfxEncoding enc_bpchar_pattern = {
	.encode = encode_bpchar,.decode = decode_text,.length = length_terminated,
	.rest = rest_bpchar,.rest_length = rest_length_bpchar,.restore = restore_bpchar,
	.room = room_bpchar
};

/*
 * ---- bytea ----
 *
 * Bytes 02 to FF stand for themselves.  00 is the end mark, so a run of zeros becomes 01 and one
 * byte:
 *
 *	01 to 7E	that many zeros, at the string's end
 *	7F			126 zeros, the next two bytes tell of more; at the string's end
 *	80			126 zeros, the next two bytes tell of more; another byte follows the run
 *	81 to FE	FE: one zero, FD: two, ... 81: 126; another byte follows
 *	FF			no zeros, but the byte 01
 *
 * The order is that of the strings: where one has more zeros than the other, it is greater if the
 * other one ends there, and smaller if that goes on with another byte.  So all runs at an end stand
 * below all others, the former ascending and the latter descending with their length.
 */

#define ZEROS_ESCAPE	0x01
#define ZEROS_MAX		0x7E	/* the longest run of one escape */
#define ZEROS_INSIDE	0xFF	/* less the number of zeros: a run before another byte */
#define ZEROS_ONE		0xFF	/* no run, but the byte 01 */

/* Write a run of n zeros; returns the bytes written, -1 if there is no room. */
static int
put_zeros(int n, bool at_end, uint8 *buf, int maxlen)
{
	int			len = 0;

	while (n > 0)
	{
		int			code = Min(n, ZEROS_MAX + 1);

		if (len + 2 > maxlen)
			return -1;
		buf[len++] = ZEROS_ESCAPE;
		buf[len++] = (uint8) (at_end ? code : ZEROS_INSIDE - code);
		n -= Min(code, ZEROS_MAX);
	}
	return len;
}

/* Write the bytes and the end mark; returns the length, -1 if they do not fit. */
static int
put_bytes_ended(const uint8 *s, int n, uint8 *buf, int maxlen)
{
	int			len = 0;

	for (int i = 0; i < n;)
	{
		int			run = 0;
		int			k;

		while (i + run < n && s[i + run] == 0)
			run++;
		if (run > 0)
		{
			if ((k = put_zeros(run, i + run == n, buf + len, maxlen - len)) < 0)
				return -1;
			len += k;
			i += run;
			continue;
		}
		if (len + (s[i] == ZEROS_ESCAPE ? 2 : 1) > maxlen)
			return -1;
		buf[len++] = s[i];
		if (s[i++] == ZEROS_ESCAPE)
			buf[len++] = ZEROS_ONE;
	}
	if (len >= maxlen)
		return -1;
	buf[len++] = BYTES_END;
	return len;
}

/*
 * Read what put_bytes_ended wrote: the bytes at buf, complemented with flip, which end within
 * avail.  *n bytes are put at out.  Returns the bytes of buf that they take, end mark included; -1
 * if out would need more than room, or buf is not what put_bytes_ended writes.
 */
static inline int
take_bytes_ended(const uint8 *buf, int avail, uint8 flip, uint8 *out, int room, int *n)
{
	int			i = 0;

	*n = 0;
	while (i < avail)
	{
		uint8		c = buf[i++] ^ flip;
		int			run;

		if (likely(c > ZEROS_ESCAPE))
		{
			if (*n >= room)
				return -1;
			out[(*n)++] = c;
			continue;
		}
		if (c == BYTES_END)
			return i;
		c = i < avail ? buf[i++] ^ flip : BYTES_END;
		run = c == ZEROS_ONE ? 0 : Min(c <= ZEROS_MAX + 1 ? c : ZEROS_INSIDE - c, ZEROS_MAX);
		if (c == BYTES_END || *n + Max(run, 1) > room)
			return -1;
		if (c == ZEROS_ONE)
			out[(*n)++] = ZEROS_ESCAPE;
		memset(out + *n, 0, run);
		*n += run;
	}
	return -1;
}

/*
 * SfxEncoding.room: the bytes that take_bytes_ended makes of buf, at most, with the headers of both
 * types.
 */
static int64
room_bytes(const uint8 *buf, int len, const uint8 *rest, int restlen)
{
	int64		n = VARHDRSZ + VARBITHDRSZ + len;

	for (const uint8 *p = buf; (p = memchr(p, ZEROS_ESCAPE, buf + len - p)) != NULL; p++)
		n += ZEROS_MAX;
	return n;
}

/*
 * A varlena, in memory; its runs of zeros may take little room.  NULL if it is too long even so:
 * such a value is not fetched.
 */
static struct varlena *
fetch_raw(Datum value)
{
	if (VARATT_IS_EXTENDED(DatumGetPointer(value)) &&
		(int64) toast_raw_datum_size(value) - VARHDRSZ > SFX_LONG_MAX)
		return NULL;
	return PG_DETOAST_DATUM_PACKED(value);
}

static int
encode_bytea(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = fetch_raw(value);
	int			n;

	if (t == NULL)
		return -1;
	n = put_bytes_ended((const uint8 *) VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), buf, maxlen);
	sfx_free_copy(t, value);
	return n;
}

/* The value at buf, as take_bytes_ended reads it, at out, whose data has `room` bytes. */
static inline int
read_bytea(const uint8 *buf, int avail, uint8 flip, char *out, int room)
{
	int			n;
	int			len = take_bytes_ended(buf, avail, flip, (uint8 *) out + VARHDRSZ, room, &n);

	SET_VARSIZE(out, VARHDRSZ + n);
	return len;
}

static Datum
decode_bytea(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	if (read_bytea(buf, len, 0, out, room - VARHDRSZ) != len)
		sfx_damaged_value("bytea");
	*outlen = VARSIZE(out);
	return PointerGetDatum(out);
}

static int
take_bytea(const uint8 *buf, int avail, uint8 flip, char *out)
{
	return Max(read_bytea(buf, avail, flip, out, avail), 0);
}

static const SfxEncoding enc_bytea = {
	.encode = encode_bytea,.decode = decode_bytea,.length = length_terminated,.room = room_bytes,
	.take = take_bytea
};

/* ------------------------------------------------------------------ bit, varbit */

static int
encode_bit(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *t = fetch_raw(value);
	VarBit	   *v;
	int			bytes;
	int			n;

	if (t == NULL)
		return -1;
	v = DatumGetVarBitP(PointerGetDatum(t));
	bytes = VARBITBYTES(v);
	n = put_bytes_ended(VARBITS(v), bytes, buf, maxlen - 1);
	if (n >= 0)
		buf[n++] = (uint8) (VARBITLEN(v) - Max(bytes - 1, 0) * BITS_PER_BYTE);
	sfx_free_copy(v, PointerGetDatum(t));
	sfx_free_copy(t, value);
	return n;
}

/* As read_bytea. */
static inline int
read_bit(const uint8 *buf, int avail, uint8 flip, char *out, int room)
{
	VarBit	   *v = (VarBit *) out;
	int			n;
	int			len = take_bytes_ended(buf, avail, flip, VARBITS(v), room, &n);
	int			last;

	if (len < 0 || len >= avail)
		return -1;
	last = buf[len] ^ flip;
	if (last > BITS_PER_BYTE || (last == 0) != (n == 0))
		return -1;
	VARBITLEN(v) = Max(n - 1, 0) * BITS_PER_BYTE + last;
	SET_VARSIZE(v, VARHDRSZ + VARBITHDRSZ + n);
	return len + 1;
}

static Datum
decode_bit(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	if (read_bit(buf, len, 0, out, room - VARHDRSZ - VARBITHDRSZ) != len)
		sfx_damaged_value("bit varying");
	*outlen = VARSIZE(out);
	return PointerGetDatum(out);
}

static int
length_bit(const uint8 *buf, int avail, uint8 flip)
{
	int			n = length_terminated(buf, avail, flip);

	return n >= 0 && n < avail ? n + 1 : -1;
}

static int
take_bit(const uint8 *buf, int avail, uint8 flip, char *out)
{
	return Max(read_bit(buf, avail, flip, out, avail), 0);
}

static const SfxEncoding enc_bit = {
	.encode = encode_bit,.decode = decode_bit,.length = length_bit,.room = room_bytes,
	.take = take_bit
};

/* ------------------------------------------------------------------ the support functions */

SFX_SUPPORT_FUNCTION(text, enc_text);
SFX_SUPPORT_FUNCTION(text_pattern, enc_text_pattern);
SFX_SUPPORT_FUNCTION(name, enc_name);
SFX_SUPPORT_FUNCTION(bpchar, enc_bpchar);
SFX_SUPPORT_FUNCTION(bpchar_pattern, enc_bpchar_pattern);
SFX_SUPPORT_FUNCTION(bytea, enc_bytea);
SFX_SUPPORT_FUNCTION(bit, enc_bit);
