/*-------------------------------------------------------------------------
 * hope_decode.c - decoding by a table over the next bits (layout: hope_format.h)
 *
 * Behind the last byte the input goes on with zeros, as far as the decoder is concerned.  Zeros are the
 * end's code in every dictionary, so each input comes to an end, and what was read then tells whether it was the right
 * one.
 *-------------------------------------------------------------------------
 */
#include "hope_format.h"

#define TABLE_SIZE	(1u << HOPE_DECODE_BITS)

/* ---- the table ---- */

static uint64_t
special(uint64_t kind, uint64_t bits, uint64_t low)
{
	return HOPE_SPECIAL | bits << 60 | kind << 57 | low;
}

/* For each value of the next 12 bits, the interval with that code or the first one whose code starts so. */
static void
fill_first(const SfxHope *h, uint32_t *first)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	uint32_t	v = 0;

	for (uint32_t i = 0; i < h->shape.nintervals; i++)
	{
		uint32_t	from = HOPE_CODE(code[i]) >> (32 - HOPE_DECODE_BITS),
					bits = HOPE_BITS(code[i]),
					to = from + (bits < HOPE_DECODE_BITS ? 1u << (HOPE_DECODE_BITS - bits) : 1);

		for (v = v < from ? from : v; v < to; v++)
			first[v] = i;
	}
}

/* The bytes of the codes within the 12 bits v, of which the first one is whole and short enough. */
static uint64_t
several(const SfxHope *h, const uint32_t *first, uint32_t v)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	uint8_t		bytes[8] = {0};
	uint32_t	used = 0,
				nbytes = 0;

	for (;;)
	{
		uint32_t	i = first[(v << used) & (TABLE_SIZE - 1)],
					len = HOPE_SYMLEN(code[i]);
		uint8_t		buf[SFX_HOPE_MAXSYM];

		if (i == HOPE_END || used + HOPE_BITS(code[i]) > HOPE_DECODE_BITS || nbytes + len > HOPE_DECODE_BYTES)
			break;
		memcpy(bytes + nbytes, sfx_hope_symbol(h, i, buf), len);
		nbytes += len;
		used += HOPE_BITS(code[i]);
	}
	return sfx_load64(bytes) | (uint64_t) nbytes << 57 | (uint64_t) used << 60;
}

void
sfx_hope_fill_decode(SfxHope *h)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	uint64_t   *table = HOPE_TABLE(h, uint64_t, decode);
	uint32_t	first[TABLE_SIZE + 1];

	fill_first(h, first);
	first[TABLE_SIZE] = h->shape.nintervals;
	for (uint32_t v = 0; v < TABLE_SIZE; v++)
	{
		uint32_t	i = first[v],
					bits = HOPE_BITS(code[i]);

		if (bits > HOPE_DECODE_BITS)
			table[v] = special(HOPE_KIND_SEARCH, 0, (uint64_t) (first[v + 1] - i) << 28 | i);
		else if (i == HOPE_END)
			table[v] = special(HOPE_KIND_END, 0, 0);
		else if (HOPE_SYMLEN(code[i]) > HOPE_DECODE_BYTES)
			table[v] = special(HOPE_KIND_LONG, bits, i);
		else
			table[v] = several(h, first, v);
	}
}

/* ---- decoding ---- */

typedef struct Input
{
	const uint8_t *in;
	size_t		len;
	size_t		readable;		/* bytes that may be loaded, at least len */
	size_t		at;				/* next byte to load; may be beyond len */
	uint64_t	acc;			/* loaded bits, left-aligned */
	unsigned	fill;			/* how many of them count */
} Input;

typedef struct Target
{
	uint8_t    *out;
	size_t		cap;
	size_t		n;
} Target;

/* At least 56 bits: two codes, or more. */
static inline void
refill(Input *s)
{
	size_t		left = s->at < s->len ? s->len - s->at : 0;
	uint64_t	x = 0;

	if (left > 0 && s->readable - s->at >= 8)
	{
		x = hope_load_be64(s->in + s->at);
		if (left < 8)
			x &= UINT64_MAX << (64 - 8 * left);
	}
	else if (left > 0)
		x = hope_load_be_part(s->in + s->at, left);
	s->acc |= x >> s->fill;
	s->at += (63 - s->fill) >> 3;
	s->fill |= 56;
}

static inline void
consume(Input *s, unsigned bits)
{
	s->acc <<= bits;
	s->fill -= bits;
}

static bool
put_slowly(Target *t, const uint8_t *p, size_t n)
{
	if (n > t->cap - t->n)
		return false;
	memcpy(t->out + t->n, p, n);
	t->n += n;
	return true;
}

/* The interval of a code of more than 12 bits, among those that start with the next 12 bits. */
static inline uint32_t
search_code(const SfxHope *h, uint64_t e, uint64_t acc)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code),
			   *p = code + (e & 0xFFFFFFF);
	uint32_t	n = (uint32_t) (e >> 28) & 0xFFFFFFF,
				x = (uint32_t) (acc >> 32) | HOPE_BELOW_CODE;

	while (n > 1)
	{
		uint32_t	half = n / 2;

		p = p[half] <= x ? p + half : p;
		n -= half;
	}
	return (uint32_t) (p - code);
}

/* A code that is not in the table as bytes.  SFX_OK, SFX_NOSPACE; 1 at the end. */
static int
decode_special(const SfxHope *h, Input *s, uint64_t e, Target *t)
{
	uint32_t	kind = (uint32_t) (e >> 57) & 7,
				i,
				word;
	uint8_t		buf[SFX_HOPE_MAXSYM];

	if (kind == HOPE_KIND_END)
		return 1;
	i = kind == HOPE_KIND_LONG ? (uint32_t) (e & 0xFFFFFFF) : search_code(h, e, s->acc);
	if (i == HOPE_END)
		return 1;
	word = HOPE_CTABLE(h, uint32_t, code)[i];
	consume(s, HOPE_BITS(word));
	return put_slowly(t, sfx_hope_symbol(h, i, buf), HOPE_SYMLEN(word)) ? SFX_OK : SFX_NOSPACE;
}

static inline int
decode_one(const SfxHope *h, const uint64_t *table, Input *s, Target *t)
{
	uint64_t	e = table[s->acc >> (64 - HOPE_DECODE_BITS)];
	unsigned	nbytes = (e >> 57) & 7;

	if (e & HOPE_SPECIAL)
		return decode_special(h, s, e, t);
	consume(s, (unsigned) (e >> 60));
	if (t->cap - t->n >= 8)
	{
		sfx_store64(t->out + t->n, e);
		t->n += nbytes;
		return SFX_OK;
	}
	else
	{
		uint8_t		bytes[8];

		sfx_store64(bytes, e);
		return put_slowly(t, bytes, nbytes) ? SFX_OK : SFX_NOSPACE;
	}
}

/* What was read before the end must be all but the last, unfinished byte. */
static inline bool
ends_well(const Input *s)
{
	size_t		bits = 8 * s->at - s->fill;

	return bits <= 8 * s->len && 8 * s->len - bits < 8;
}

int
sfx_hope_decode_within(const SfxHope *h, const uint8_t *in, size_t len, size_t readable, uint8_t *out, size_t cap)
{
	const uint64_t *table = HOPE_CTABLE(h, uint64_t, decode);
	Input		s = {in, len, readable, 0, 0, 0};
	Target		t = {out, cap, 0};
	int			r;

	do
	{
		refill(&s);
		r = decode_one(h, table, &s, &t);
		if (r == SFX_OK)
			r = decode_one(h, table, &s, &t);
	} while (r == SFX_OK);
	if (r < 0)
		return r;
	return ends_well(&s) ? (int) t.n : SFX_CORRUPT;
}

int
sfx_hope_decode(const SfxHope *h, const uint8_t *in, size_t len, uint8_t *out, size_t cap)
{
	return sfx_hope_decode_within(h, in, len, len, out, cap);
}

/* ---- comparing ---- */

/* The next symbols' bytes, at least one, in *e or at *p; their number, 0 at the end. */
static inline uint32_t
next_bytes(const SfxHope *h, const uint64_t *table, Input *s, uint64_t *e, const uint8_t **p, uint8_t *buf)
{
	uint32_t	i,
				word;

	*e = table[s->acc >> (64 - HOPE_DECODE_BITS)];
	*p = NULL;
	if (!(*e & HOPE_SPECIAL))
	{
		consume(s, (unsigned) (*e >> 60));
		return (uint32_t) (*e >> 57) & 7;
	}
	if (((*e >> 57) & 7) == HOPE_KIND_END)
		return 0;
	i = ((*e >> 57) & 7) == HOPE_KIND_LONG ? (uint32_t) (*e & 0xFFFFFFF) : search_code(h, *e, s->acc);
	if (i == HOPE_END)
		return 0;
	word = HOPE_CTABLE(h, uint32_t, code)[i];
	consume(s, HOPE_BITS(word));
	*p = sfx_hope_symbol(h, i, buf);
	return HOPE_SYMLEN(word);
}

/* The bytes t[at..tlen) as far as they fit into a little-endian word, zeros behind them. */
static inline uint64_t
load_rest(const uint8_t *t, size_t tlen, size_t at)
{
	size_t		left = tlen - at;

	if (left >= 8)
		return sfx_load64(t + at);
	if (left == 0)
		return 0;
	if (tlen >= 8)
		return sfx_load64(t + tlen - 8) >> (64 - 8 * left);
	return sfx_load_bytes(t + at, (unsigned) left);
}

int
sfx_hope_compare(const SfxHope *h, const uint8_t *in, size_t len, size_t readable,
				 const uint8_t *t, size_t tlen, size_t at, size_t *lcp, int *side)
{
	const uint64_t *table = HOPE_CTABLE(h, uint64_t, decode);
	Input		s = {in, len, readable, 0, 0, 0};
	uint8_t		buf[SFX_HOPE_MAXSYM];

	for (;;)
	{
		uint64_t	e;
		const uint8_t *p;
		size_t		n,
					i = 0,
					left = tlen - at;

		if (s.fill < 32)
			refill(&s);
		n = next_bytes(h, table, &s, &e, &p, buf);
		if (n == 0)
			break;
		if (p == NULL)
		{
			/* at most seven bytes, with no others above them but the number: most comparisons end here */
			uint64_t	x = (e ^ load_rest(t, tlen, at)) | UINT64_C(1) << (8 * n);

			i = (size_t) __builtin_ctzll(x) / 8;
			i = i < left ? i : left;
			at += i;
			if (i < n)
			{
				*lcp = at;
				*side = i == left ? 1 : (int) (e >> (8 * i) & 0xFF) - (int) t[at];
				return SFX_OK;
			}
			continue;
		}
		while (i < n && i < left && p[i] == t[at + i])
			i++;
		at += i;
		if (i < n)
		{
			*lcp = at;
			*side = i == left ? 1 : (int) p[i] - (int) t[at];
			return SFX_OK;
		}
	}
	*lcp = at;
	*side = 0;
	return ends_well(&s) ? SFX_OK : SFX_CORRUPT;
}
