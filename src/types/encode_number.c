/*-------------------------------------------------------------------------
 * encode_number.c - byte encodings of floats and numeric
 *
 *	float4, float8	big-endian; positive: sign bit flipped; negative: all bits.  Both zeros are
 *					80 00 ..., NaN is FF FF ...
 *					rest: of a zero: 00, of the negative one 01; of the usual NaN: 00, of another
 *					one 01 and its bytes
 *	numeric			see below
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "encode.h"
#include "encode_impl.h"
#include "number.h"

#include <float.h>
#include <math.h>

#include "utils/float.h"
#include "utils/numeric.h"

/* ------------------------------------------------------------------ float4, float8 */

typedef union FloatBits
{
	float4		f4;
	float8		f8;
	uint32		u4;
	uint64		u8;
} FloatBits;

/* A float's bits, at the upper end of 64 bits whatever its width. */
static inline uint64
bits_of(Datum value, int width)
{
	FloatBits	b;

	if (width == 8)
	{
		b.f8 = DatumGetFloat8(value);
		return b.u8;
	}
	b.f4 = DatumGetFloat4(value);
	return (uint64) b.u4 << 32;
}

/* The float with these bits. */
static Datum
float_of(uint64 bits, int width, char *out, int *outlen)
{
	FloatBits	b;

	*outlen = 0;
	if (width == 8)
	{
		b.u8 = bits;
#ifdef USE_FLOAT8_BYVAL
		return Float8GetDatum(b.f8);
#else
		memcpy(out, &b.f8, sizeof(float8));
		*outlen = sizeof(float8);
		return PointerGetDatum(out);
#endif
	}
	b.u4 = (uint32) (bits >> 32);
	return Float4GetDatum(b.f4);
}

/* The bits of the NaN that the server itself produces. */
static inline uint64
usual_nan(int width)
{
	return bits_of(width == 8 ? Float8GetDatum(get_float8_nan()) : Float4GetDatum(get_float4_nan()), width);
}

#define FLOAT_ZERO	SFX_SIGN64
#define FLOAT_NAN	(~UINT64CONST(0))	/* cut to the width */

static inline bool
is_nan_bits(uint64 bits, int width)
{
	uint64		infinity = width == 8 ? UINT64CONST(0x7FF0000000000000) : UINT64CONST(0x7F80000000000000);

	return (bits & ~SFX_SIGN64) > infinity;
}

/* The value's bytes as a number, at the upper end of 64 bits. */
static inline uint64
float_image(uint64 bits, int width)
{
	if (is_nan_bits(bits, width))
		return FLOAT_NAN << (64 - 8 * width);
	if ((bits & ~SFX_SIGN64) == 0)
		return FLOAT_ZERO;
	return bits & SFX_SIGN64 ? ~bits & FLOAT_NAN << (64 - 8 * width) : bits ^ SFX_SIGN64;
}

static inline int
encode_float(Datum value, int width, uint8 *buf, int maxlen)
{
	return sfx_put_be(float_image(bits_of(value, width), width) >> (64 - 8 * width), width, buf, maxlen);
}

static inline uint64
image_at(const uint8 *buf, int width)
{
	return sfx_get_be(buf, width) << (64 - 8 * width);
}

static inline Datum
decode_float(const uint8 *buf, int width, char *out, int *outlen)
{
	uint64		image = image_at(buf, width);

	if (image == FLOAT_NAN << (64 - 8 * width))
		return float_of(usual_nan(width), width, out, outlen);
	return float_of(image & SFX_SIGN64 ? image ^ SFX_SIGN64 : ~image & FLOAT_NAN << (64 - 8 * width), width, out, outlen);
}

static inline int
rest_float(Datum value, int width, uint8 *buf, int maxlen)
{
	uint64		bits = bits_of(value, width);
	bool		nan = is_nan_bits(bits, width);

	if (!nan && (bits & ~SFX_SIGN64) != 0)
		return 0;
	if (maxlen < 1)
		return -1;
	buf[0] = bits == (nan ? usual_nan(width) : 0) ? 0 : 1;
	if (!nan || buf[0] == 0)
		return 1;
	return sfx_put_be(bits >> (64 - 8 * width), width, buf + 1, maxlen - 1) < 0 ? -1 : 1 + width;
}

static inline int
rest_length_float(const uint8 *buf, int width, const uint8 *rest, int avail)
{
	uint64		image = image_at(buf, width);
	bool		nan = image == FLOAT_NAN << (64 - 8 * width);
	int			n;

	if (!nan && image != FLOAT_ZERO)
		return 0;
	if (avail < 1 || rest[0] > 1)
		return -1;
	n = nan && rest[0] == 1 ? 1 + width : 1;
	return n <= avail ? n : -1;
}

static inline Datum
restore_float(const uint8 *buf, int width, const uint8 *rest, int restlen, char *out, int *outlen)
{
	if (restlen > 1)
		return float_of(image_at(rest + 1, width), width, out, outlen);
	if (restlen == 1 && rest[0] == 1)
		return float_of(SFX_SIGN64, width, out, outlen);
	return decode_float(buf, width, out, outlen);
}

#define FLOAT_FUNCTIONS(name, width) \
static int \
encode_##name(Datum value, uint8 *buf, int maxlen) \
{ \
	return encode_float(value, width, buf, maxlen); \
} \
static Datum \
decode_##name(const uint8 *buf, int len, char *out, int room, int *outlen) \
{ \
	return decode_float(buf, width, out, outlen); \
} \
static int \
rest_##name(Datum value, uint8 *buf, int maxlen) \
{ \
	return rest_float(value, width, buf, maxlen); \
} \
static int \
rest_length_##name(const uint8 *buf, int len, const uint8 *rest, int avail) \
{ \
	return rest_length_float(buf, width, rest, avail); \
} \
static Datum \
restore_##name(const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen) \
{ \
	return restore_float(buf, width, rest, restlen, out, outlen); \
}

FLOAT_FUNCTIONS(float4, 4)
FLOAT_FUNCTIONS(float8, 8)

/* A float8 constant between two float4 values comes right after the lower one. */
static int
bound_float4(Oid subtype, Datum value, Datum *own, Datum *above)
{
	float8		v;
	float4		f;

	if (subtype != FLOAT8OID)
		return SFX_BOUND_UNKNOWN;
	v = DatumGetFloat8(value);
	if (v > FLT_MAX && !isinf(v))
		f = FLT_MAX;			/* (float4) v might become infinite */
	else if (v < -FLT_MAX && !isinf(v))
		f = -get_float4_infinity();
	else
		f = (float4) v;
	if (!isnan(v) && (float8) f > v)
		f = nextafterf(f, -get_float4_infinity());
	*own = Float4GetDatum(f);
	return isnan(v) || (float8) f == v ? SFX_BOUND_EXACT : SFX_BOUND_AFTER;
}

static int
bound_float8(Oid subtype, Datum value, Datum *own, Datum *above)
{
	if (subtype != FLOAT4OID)
		return SFX_BOUND_UNKNOWN;
	*own = Float8GetDatum((float8) DatumGetFloat4(value));
	return SFX_BOUND_EXACT;
}

static const SfxEncoding enc_float4 = {
	.width = 4,.direct = SFX_DIRECT_FLOAT,.encode = encode_float4,.decode = decode_float4,.bound = bound_float4,
	.rest = rest_float4,.rest_length = rest_length_float4,.restore = restore_float4
};
static const SfxEncoding enc_float8 = {
	.width = 8,.direct = SFX_DIRECT_FLOAT,.encode = encode_float8,.decode = decode_float8,.bound = bound_float8,
	.rest = rest_float8,.rest_length = rest_length_float8,.restore = restore_float8
};

/* ------------------------------------------------------------------ numeric
 *
 *	-infinity	0F			zero	80			infinity	F0			NaN		F8
 *	positive	weight of the first digit (base 10,000), then two bytes for each digit: twice the
 *				digit, plus one if another digit follows.  The first digit is not zero, nor is the
 *				last one; but where the weight is -1 to NUM_PAD_WEIGHT, all digits up to the first
 *				after the point are there: prices and numbers like them have bytes of one length,
 *				which blocks of integers take.
 *		weight	82 + 16 + w		-16 <= w <= WEIGHT_LAST
 *				81, w + 32768 in two bytes		below
 *				E0, w + 32768 in two bytes		above
 *	negative	the absolute value's bytes complemented
 *
 * rest		of a finite value: its display scale, 0 to 7F in one byte, else 80 + n / 256, n % 256
 *
 * The server's own format, which is that of stored data, and so cannot change:
 *
 *	header		bits 15, 14: 00 positive, 01 negative, 10 short,
 *				11 special (C000 NaN, D000 infinity, F000 -infinity)
 *	short		bit 13 negative, 12 to 7 display scale, 6 to 0 weight in two's complement; then
 *				digits
 *	long		bits 13 to 0 display scale, then the weight in 16 bits, then digits
 */

#define NUM_NEG_INF		0x0F
#define NUM_ZERO		0x80
#define NUM_INF			0xF0
#define NUM_NAN			0xF8
#define NUM_SMALL		0x81
#define NUM_WEIGHT_0	(0x82 + 16)
#define NUM_WEIGHT_LAST	(0xDF - NUM_WEIGHT_0)
#define NUM_LARGE		0xE0
#define NUM_BASE		10000
#define NUM_PAD_WEIGHT	3

#define HEAD_KIND		0xC000
#define HEAD_NEGATIVE	0x4000
#define HEAD_SHORT		0x8000
#define HEAD_SPECIAL	0xC000
#define HEAD_INF		0xD000
#define HEAD_NEG_INF	0xF000
#define SHORT_NEGATIVE	0x2000
#define SHORT_SCALE(h)	(((h) >> 7) & 0x3F)
#define SHORT_SCALE_MAX	0x3F
#define SHORT_WEIGHT_MAX	63
#define LONG_SCALE(h)	((h) & 0x3FFF)

/* A finite numeric, taken apart. */
typedef struct Parts
{
	bool		negative;
	int			scale;
	int			weight;
	int			ndigits;
	const uint8 *digits;		/* int16, perhaps unaligned */
} Parts;

static inline uint16
get_u16(const uint8 *p)
{
	uint16		v;

	memcpy(&v, p, 2);
	return v;
}

/* Take a numeric apart; returns its first header word.  Of special values *p is zeroed. */
static uint16
take_apart(const struct varlena *v, Parts *p)
{
	const uint8 *data = (const uint8 *) VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);
	uint16		head = get_u16(data);

	memset(p, 0, sizeof(*p));
	if ((head & HEAD_KIND) == HEAD_SPECIAL)
		return head;
	if ((head & HEAD_KIND) == HEAD_SHORT)
	{
		p->negative = (head & SHORT_NEGATIVE) != 0;
		p->scale = SHORT_SCALE(head);
		p->weight = (head & 0x3F) - (head & 0x40);
		p->digits = data + 2;
	}
	else
	{
		p->negative = (head & HEAD_KIND) == HEAD_NEGATIVE;
		p->scale = LONG_SCALE(head);
		p->weight = (int16) get_u16(data + 2);
		p->digits = data + 4;
	}
	p->ndigits = (data + len - p->digits) / 2;
	/* the server strips zeros at both ends, but nothing forces values to be stripped */
	while (p->ndigits > 0 && get_u16(p->digits + 2 * (p->ndigits - 1)) == 0)
		p->ndigits--;
	while (p->ndigits > 0 && get_u16(p->digits) == 0)
	{
		p->digits += 2;
		p->ndigits--;
		p->weight--;
	}
	return head;
}

/* Number of digits to be written: trailing zeros are added up to the fraction's first digit. */
static inline int
padded_digits(const Parts *p)
{
	return p->weight < -1 || p->weight > NUM_PAD_WEIGHT ? p->ndigits : Max(p->ndigits, p->weight + 2);
}

/* Write a weight, in one byte or three; returns how many. */
static int
put_weight(int weight, uint8 *buf)
{
	if (weight >= NUM_SMALL + 1 - NUM_WEIGHT_0 && weight <= NUM_WEIGHT_LAST)
	{
		buf[0] = (uint8) (NUM_WEIGHT_0 + weight);
		return 1;
	}
	buf[0] = weight < 0 ? NUM_SMALL : NUM_LARGE;
	return 1 + sfx_put_be((uint16) weight ^ SFX_SIGN16, 2, buf + 1, 2);
}

/* The layout is described above.  Returns the length, or -1 if maxlen may be too small. */
static int
encode_numeric(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	Parts		p;
	uint16		head = take_apart(v, &p);
	int			ndigits = padded_digits(&p);
	uint8		weight[3];
	int			len = -1;

	if (maxlen >= put_weight(p.weight, weight) + 2 * ndigits)
	{
		len = 1;
		if ((head & HEAD_KIND) == HEAD_SPECIAL)
			buf[0] = head == HEAD_INF ? NUM_INF : head == HEAD_NEG_INF ? NUM_NEG_INF : NUM_NAN;
		else if (p.ndigits == 0)
			buf[0] = NUM_ZERO;
		else
		{
			len = put_weight(p.weight, buf);
			for (int i = 0; i < ndigits; i++)
			{
				int			digit = i < p.ndigits ? get_u16(p.digits + 2 * i) : 0;

				len += sfx_put_be((uint16) (2 * digit + (i < ndigits - 1)), 2, buf + len, 2);
			}
			for (int i = 0; p.negative && i < len; i++)
				buf[i] = ~buf[i];
		}
	}
	sfx_free_copy(v, value);
	return len;
}

static inline bool
is_finite_image(uint8 lead)
{
	return lead != NUM_NEG_INF && lead != NUM_INF && lead != NUM_NAN;
}

static int
length_numeric(const uint8 *buf, int avail, uint8 flip)
{
	uint8		lead = avail > 0 ? buf[0] ^ flip : 0;
	int			len;

	if (avail < 1)
		return -1;
	if (!is_finite_image(lead) || lead == NUM_ZERO)
		return 1;
	if (lead < NUM_ZERO)
	{
		flip = ~flip;
		lead = ~lead;
	}
	len = lead == NUM_SMALL || lead == NUM_LARGE ? 3 : 1;
	do
	{
		len += 2;
		if (len > avail)
			return -1;
	} while (((buf[len - 1] ^ flip) & 1) != 0);
	return len;
}

/* The smallest display scale that shows all digits.  last: the last digit, of base 10,000. */
static int
least_scale(int weight, int ndigits, const uint8 *last, uint8 flip)
{
	int			places = (ndigits - 1 - weight) * 4;
	int			digit = ((uint16) sfx_get_be(last, 2) ^ (flip ? 0xFFFF : 0)) >> 1;

	if (places <= 0)
		return 0;
	while (digit > 0 && digit % 10 == 0)
	{
		digit /= 10;
		places--;
	}
	return Max(places, 0);
}

/* Build a numeric at out: the header, then the digits found at `digits`.  Returns its size. */
static int
put_together(bool negative, int scale, int weight, int ndigits, const uint8 *digits, uint8 flip, char *out)
{
	uint8	   *start = (uint8 *) out + VARHDRSZ;
	uint8	   *o = start;
	uint16		head;

	if (ndigits == 0)
	{
		weight = 0;
		negative = false;
	}
	if (scale <= SHORT_SCALE_MAX && weight <= SHORT_WEIGHT_MAX && weight >= -SHORT_WEIGHT_MAX - 1)
		head = HEAD_SHORT | (negative ? SHORT_NEGATIVE : 0) | scale << 7 | (weight & 0x7F);
	else
		head = (negative ? HEAD_NEGATIVE : 0) | scale;
	memcpy(o, &head, 2);
	o += 2;
	if ((head & HEAD_KIND) != HEAD_SHORT)
	{
		int16		w = (int16) weight;

		memcpy(o, &w, 2);
		o += 2;
	}
	for (int i = 0; i < ndigits; i++, o += 2)
	{
		uint16		unit = (uint16) sfx_get_be(digits + 2 * i, 2) ^ (flip ? 0xFFFF : 0);
		int16		digit = unit >> 1;

		if (digit >= NUM_BASE)
			sfx_damaged_value("numeric");
		memcpy(o, &digit, 2);
	}
	SET_VARSIZE(out, o - (uint8 *) out);
	return o - (uint8 *) out;
}

/* Build an infinity or NaN at out. */
static Datum
special_numeric(uint8 lead, char *out, int *outlen)
{
	uint16		head = lead == NUM_INF ? HEAD_INF : lead == NUM_NEG_INF ? HEAD_NEG_INF : HEAD_SPECIAL;

	memcpy(out + VARHDRSZ, &head, 2);
	*outlen = VARHDRSZ + 2;
	SET_VARSIZE(out, *outlen);
	return PointerGetDatum(out);
}

/*
 * Build the numeric whose bytes are buf[0..len).  scale: display scale; < 0: the smallest one that
 * shows all digits.  Damage is an ERROR.
 */
static Datum
make_numeric(const uint8 *buf, int len, int scale, char *out, int *outlen)
{
	uint8		lead = buf[0];
	uint8		flip = lead < NUM_ZERO ? 0xFF : 0;
	int			weight;
	int			at = 1;
	int			ndigits;

	if (!is_finite_image(lead))
		return special_numeric(lead, out, outlen);
	lead ^= flip;
	weight = lead - NUM_WEIGHT_0;
	if (lead == NUM_SMALL || lead == NUM_LARGE)
	{
		if (len < 5)
			sfx_damaged_value("numeric");
		weight = (int16) (sfx_get_be(buf + 1, 2) ^ SFX_SIGN16 ^ (flip ? 0xFFFF : 0));
		at = 3;
	}
	else if (lead > NUM_LARGE)
		sfx_damaged_value("numeric");
	ndigits = lead == NUM_ZERO ? 0 : (len - at) / 2;
	if (lead != NUM_ZERO && ndigits < 1)
		sfx_damaged_value("numeric");
	while (ndigits > 0 && (((uint16) sfx_get_be(buf + at + 2 * (ndigits - 1), 2) ^ (flip ? 0xFFFF : 0)) >> 1) == 0)
		ndigits--;
	if (scale < 0)
		scale = ndigits == 0 ? 0 :
			Min(least_scale(weight, ndigits, buf + at + 2 * (ndigits - 1), flip), NUMERIC_MAX_DISPLAY_SCALE);
	*outlen = put_together(flip != 0, scale, weight, ndigits, buf + at, flip, out);
	return PointerGetDatum(out);
}

static Datum
decode_numeric(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	return make_numeric(buf, len, -1, out, outlen);
}

static int
rest_numeric(Datum value, uint8 *buf, int maxlen)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	Parts		p;
	uint16		head = take_apart(v, &p);
	int			len = 0;

	if ((head & HEAD_KIND) != HEAD_SPECIAL)
	{
		len = p.scale < 0x80 ? 1 : 2;
		if (len > maxlen)
			len = -1;
		else
		{
			if (len == 2)
				buf[0] = (uint8) (0x80 + p.scale / 256);
			buf[len - 1] = (uint8) p.scale;
		}
	}
	sfx_free_copy(v, value);
	return len;
}

StaticAssertDecl(0x80 + 0x3FFF / 256 < SFX_REST_LIMIT, "a rest must not look like an end mark");

static int
rest_length_numeric(const uint8 *buf, int len, const uint8 *rest, int avail)
{
	int			n;

	if (!is_finite_image(buf[0]))
		return 0;
	n = avail > 0 && rest[0] >= 0x80 ? 2 : 1;
	return n <= avail ? n : -1;
}

static Datum
restore_numeric(const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen)
{
	int			scale = restlen == 0 ? 0 : restlen == 1 ? rest[0] : (rest[0] - 0x80) * 256 + rest[1];

	if (scale > 0x3FFF)
		sfx_damaged_value("numeric");
	return make_numeric(buf, len, scale, out, outlen);
}

/* SfxEncoding.take: finite values of a usual size, without their scale, which take_rest adds. */
static int
take_numeric(const uint8 *buf, int avail, uint8 flip, char *out)
{
	uint8		lead = buf[0] ^ flip;
	bool		negative = lead < NUM_ZERO;
	uint16		digit_flip = (flip != 0) != negative ? 0xFFFF : 0;
	int			weight = (negative ? (uint8) ~lead : lead) - NUM_WEIGHT_0;
	uint8	   *digits = (uint8 *) out + VARHDRSZ + 2;
	uint16		head = HEAD_SHORT | (negative ? SHORT_NEGATIVE : 0) | (weight & 0x7F);
	uint16		unit;
	int			at = 1;
	int			stripped = 0;

	if (lead == NUM_ZERO)
		head = HEAD_SHORT;
	else if (weight < -16 || weight > SHORT_WEIGHT_MAX)
		return 0;
	else
		do
		{
			int16		digit;

			if (avail - at < 2)
				return 0;
			unit = (uint16) sfx_get_be(buf + at, 2) ^ digit_flip;
			digit = unit >> 1;
			if (digit >= NUM_BASE)
				return 0;
			memcpy(digits + at - 1, &digit, 2);
			at += 2;
			if (digit != 0)
				stripped = at - 1;
		} while ((unit & 1) != 0);
	if (stripped == 0 && lead != NUM_ZERO)
		return 0;
	memcpy(out + VARHDRSZ, &head, 2);
	SET_VARSIZE(out, VARHDRSZ + 2 + stripped);
	return at;
}

static int
take_rest_numeric(const uint8 *rest, int avail, char *out)
{
	uint16		head;

	if (avail < 1 || rest[0] > SHORT_SCALE_MAX)
		return -1;
	memcpy(&head, out + VARHDRSZ, 2);
	head |= rest[0] << 7;
	memcpy(out + VARHDRSZ, &head, 2);
	return 1;
}

StaticAssertDecl(NUM_WEIGHT_LAST > SHORT_WEIGHT_MAX, "values that are not finite are not taken");

static const SfxEncoding enc_numeric = {
	.encode = encode_numeric,.decode = decode_numeric,.length = length_numeric,
	.rest = rest_numeric,.rest_length = rest_length_numeric,.restore = restore_numeric,
	.take = take_numeric,.take_rest = take_rest_numeric
};

/* ---- as integers ---- */

/* Add one digit of base 10,000, whose place is 10,000^weight.  False: there is no room for it. */
static inline bool
add_digit(SfxNumber *number, int weight, int digit)
{
	static const int64 place[] = {1, 10000, 100000000, INT64CONST(1000000000000)};

	if (weight > 3 || weight < -2)
		return digit == 0;
	if (weight >= 0)
		number->whole += digit * place[weight];
	else
		number->fraction += digit * place[2 + weight];
	return true;
}

static inline void
give_sign(SfxNumber *number, bool negative)
{
	number->whole = negative ? -number->whole : number->whole;
	number->fraction = negative ? -number->fraction : number->fraction;
}

bool
sfx_number_of_numeric(Datum value, SfxNumber *number)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	Parts		p;
	bool		fits = (take_apart(v, &p) & HEAD_KIND) != HEAD_SPECIAL;

	number->whole = number->fraction = 0;
	number->scale = p.scale;
	for (int i = 0; i < p.ndigits && fits; i++)
		fits = add_digit(number, p.weight - i, get_u16(p.digits + 2 * i));
	give_sign(number, p.negative);
	sfx_free_copy(v, value);
	return fits;
}

bool
sfx_number_of_bytes(const uint8 *p, int avail, bool desc, SfxNumber *number)
{
	const uint8 *end = p + avail;
	uint8		lead = *p++ ^ (desc ? 0xFF : 0);
	bool		negative = lead < NUM_ZERO;
	uint16		flip = desc != negative ? 0xFFFF : 0;
	int			weight = (negative ? (uint8) ~lead : lead) - NUM_WEIGHT_0;
	uint16		unit = lead != NUM_ZERO;

	number->whole = number->fraction = 0;
	/* special values have other weights, too */
	if (lead != NUM_ZERO && (weight < -2 || weight > 3))
		return false;
	for (; (unit & 1) != 0; weight--, p += 2)
	{
		if (end - p < 2)
			return false;
		unit = (uint16) sfx_get_be(p, 2) ^ flip;
		if (unit >> 1 >= NUM_BASE || !add_digit(number, weight, unit >> 1))
			return false;
	}
	give_sign(number, negative);
	/* the rest follows: a scale of one byte */
	if (p >= end || *p >= 0x80)
		return false;
	number->scale = *p;
	return true;
}

StaticAssertDecl(SFX_NUMBERS_MOST * 2 * NUM_BASE < PG_INT32_MAX, "digits of one place have a sum");

bool
sfx_number_sum(const uint8 *p, int avail, int step, int n, bool desc, SfxNumber *sum)
{
	const uint8 *last = p + (n - 1) * step;
	uint8		lead = *p ^ (desc ? 0xFF : 0);
	bool		negative = lead < NUM_ZERO;
	uint16		flip = desc != negative ? 0xFFFF : 0;
	int			weight = (negative ? (uint8) ~lead : lead) - NUM_WEIGHT_0;
	int			ndigits = avail / 2 - 1;
	uint8		scale = 0;

	/*
	 * keys ascend: if the first and the last begin with one weight all do, and so with a one-byte
	 * scale
	 */
	if (*last != *p || avail % 2 != 0 || ndigits < 1 || weight > 3 || weight - ndigits < -3)
		return false;
	sum->whole = sum->fraction = 0;
	for (int d = 0; d < ndigits; d++)
	{
		const uint8 *at = p + 1 + 2 * d;
		uint32		more = d < ndigits - 1;
		uint32		total = 0;
		uint32		most = 0;
		uint32		wrong = 0;

		for (int i = 0; i < n; i++, at += step)
		{
			uint32		unit = (uint16) sfx_get_be(at, 2) ^ flip;

			total += unit >> 1;
			most = Max(most, unit);
			wrong |= (unit & 1) ^ more;
		}
		if (wrong || most >> 1 >= NUM_BASE || !add_digit(sum, weight - d, total))
			return false;
	}
	for (int i = 0; i < n; i++)
		scale = Max(scale, p[i * step + avail - 1]);
	sum->scale = scale;
	give_sign(sum, negative);
	return scale < 0x80;
}

/* ------------------------------------------------------------------ the support functions */

SFX_SUPPORT_FUNCTION(float4, enc_float4);
SFX_SUPPORT_FUNCTION(float8, enc_float8);
SFX_SUPPORT_FUNCTION(numeric, enc_numeric);
