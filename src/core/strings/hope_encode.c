/*-------------------------------------------------------------------------
 * hope_encode.c - encoding of keys, of batches of keys, of ranges
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

/* Most symbols of a key at whose starts the encoding of the next key may resume. */
#define RESUME_POINTS	256

typedef struct Output
{
	uint8_t    *p,
			   *end;
	uint64_t	acc;			/* bits not yet written, left-aligned */
	unsigned	fill;			/* how many: 0..31 between codes */
} Output;

/* Where a symbol starts, in the source and in the encoded bits. */
typedef struct Point
{
	uint32_t	source;
	uint32_t	bit;
} Point;

typedef struct Trace
{
	const uint8_t *out;			/* start of the encoded key */
	int			n;
	Point		at[RESUME_POINTS];
} Trace;

static inline bool
put_code(Output *o, uint32_t word)
{
	o->acc |= (uint64_t) HOPE_CODE(word) << 32 >> o->fill;
	o->fill += HOPE_BITS(word);
	if (o->fill >= 32)
	{
		if (o->end - o->p < 4)
			return false;
		sfx_put32(o->p, hope_be32((uint32_t) (o->acc >> 32)));
		o->p += 4;
		o->acc <<= 32;
		o->fill -= 32;
	}
	return true;
}

/*
 * Write the last bits; the other bits of the last byte are the beginning of the end's code, zeros.
 */
static bool
put_end(Output *o)
{
	unsigned	nbytes = (o->fill + 7) / 8;

	if ((size_t) (o->end - o->p) < nbytes)
		return false;
	for (unsigned i = 0; i < nbytes; i++)
		*o->p++ = (uint8_t) (o->acc >> (56 - 8 * i));
	return true;
}

/*
 * Encode the symbols of key that start in [*i, stop), stop <= len; *i is where the next one
 * starts.  With a trace, record where symbols start.
 */
static inline bool
encode_run(const SfxHope *h, SfxHopeScheme scheme, const uint8_t *key, size_t *i, size_t stop, size_t len,
		   Output *out, Trace *trace)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	Output		o = *out;
	size_t		k = *i;

	while (k < stop)
	{
		uint32_t	word = code[hope_lookup(h, scheme, key + k, len - k)];

		if (trace && trace->n < RESUME_POINTS)
			trace->at[trace->n++] = (Point) {(uint32_t) k, (uint32_t) (8 * (o.p - trace->out)) + o.fill};
		if (!put_code(&o, word))
			return false;
		k += scheme == SFX_HOPE_SINGLE ? 1 : HOPE_SYMLEN(word);
	}
	*out = o;
	*i = k;
	return true;
}

/* One copy of the loop for each kind of lookup. */
static inline bool
encode_symbols(const SfxHope *h, const uint8_t *key, size_t *i, size_t stop, size_t len, Output *o, Trace *trace)
{
	switch (h->shape.scheme)
	{
		case SFX_HOPE_SINGLE:
			return encode_run(h, SFX_HOPE_SINGLE, key, i, stop, len, o, trace);
		case SFX_HOPE_DOUBLE:
			return encode_run(h, SFX_HOPE_DOUBLE, key, i, stop, len, o, trace);
		case SFX_HOPE_GRAM3:
		case SFX_HOPE_GRAM4:
			return encode_run(h, SFX_HOPE_GRAM3, key, i, stop, len, o, trace);
		default:
			return encode_run(h, SFX_HOPE_ALM, key, i, stop, len, o, trace);
	}
}

int
sfx_hope_encode(const SfxHope *h, const uint8_t *key, size_t len, uint8_t *out, size_t cap)
{
	Output		o = {out, out + cap, 0, 0};
	size_t		i = 0;

	if (hope_is_fsst(h))
		return sfx_fsst_encode((const Fsst *) h, key, len, out, cap);
	if (!encode_symbols(h, key, &i, len, len, &o, NULL) || !put_end(&o))
		return SFX_NOSPACE;
	return (int) (o.p - out);
}

/* ---- batches ---- */

/* Start with the first bits of an encoded key. */
static bool
copy_bits(Output *o, const uint8_t *from, uint32_t nbits)
{
	uint32_t	whole = nbits / 8;

	if ((size_t) (o->end - o->p) < whole)
		return false;
	memcpy(o->p, from, whole);
	o->p += whole;
	o->fill = nbits % 8;
	o->acc = o->fill > 0 ? (uint64_t) (from[whole] & (0xFF00 >> o->fill)) << 56 : 0;
	return true;
}

/*
 * A key shares its first bytes with the traced one: copy the codes of the symbols that were chosen
 * by shared bytes only; *source is where to go on.
 */
static bool
resume(const SfxHope *h, uint32_t shared, Trace *trace, Output *o, size_t *source)
{
	const uint8_t *from = trace->out;
	int			k = 0,
				hi = trace->n;

	/*
	 * the first symbol that depended on bytes after them; or the last one, if what follows was not
	 * traced
	 */
	while (k < hi)
	{
		int			mid = (k + hi) / 2;

		if (trace->at[mid].source + h->shape.lookahead > shared)
			hi = mid;
		else
			k = mid + 1;
	}
	if (k == trace->n && k > 0)
		k--;
	trace->out = o->p;
	trace->n = k;
	*source = k > 0 ? trace->at[k].source : 0;
	return k == 0 || copy_bits(o, from, trace->at[k].bit);
}

int
sfx_hope_encode_batch(const SfxHope *h, const SfxHopeKey *keys, uint32_t n,
					  uint8_t *out, size_t cap, uint32_t *end)
{
	Trace		trace;
	uint8_t    *p = out;

	if (hope_is_fsst(h))
		return SFX_NOSPACE;
	trace.n = 0;
	trace.out = out;
	for (uint32_t i = 0; i < n; i++)
	{
		Output		o = {p, out + cap, 0, 0};
		uint32_t	shared = i == 0 ? 0 : sfx_lcp(keys[i - 1].key, keys[i - 1].len, keys[i].key, keys[i].len);
		size_t		source;

		if (!resume(h, shared, &trace, &o, &source) ||
			!encode_symbols(h, keys[i].key, &source, keys[i].len, keys[i].len, &o, &trace) ||
			!put_end(&o))
			return SFX_NOSPACE;
		p = o.p;
		end[i] = (uint32_t) (p - out);
	}
	return (int) (p - out);
}

/* ---- ranges ---- */

int
sfx_hope_encode_prefix(const SfxHope *h, const uint8_t *prefix, size_t len,
					   uint8_t *out, size_t cap, uint32_t end[2])
{
	Output		o = {out, out + cap, 0, 0};
	uint8_t		tail[SFX_HOPE_MAXSYM];
	size_t		look = h->shape.lookahead,
				raised = len,
				i = 0,
				j = 0;
	uint32_t	bits;

	if (hope_is_fsst(h))
		return SFX_NOSPACE;

	/*
	 * The upper bound is the first string after all that begin with prefix: the last byte that can
	 * be raised is, and the bytes after it are dropped.  Symbols that do not depend on that byte
	 * have the same codes in both.
	 */
	while (raised > 0 && prefix[raised - 1] == 0xFF)
		raised--;
	if (raised > look && !encode_symbols(h, prefix, &i, raised - look, len, &o, NULL))
		return SFX_NOSPACE;
	bits = (uint32_t) (8 * (o.p - out)) + o.fill;
	if (raised > 0)
	{
		memcpy(tail, prefix + i, raised - i);
		tail[raised - 1 - i]++;
	}
	raised -= raised > 0 ? i : 0;

	if (!encode_symbols(h, prefix, &i, len, len, &o, NULL) || !put_end(&o))
		return SFX_NOSPACE;
	end[0] = end[1] = (uint32_t) (o.p - out);
	if (raised == 0)
		return (int) end[1];
	if (!copy_bits(&o, out, bits) || !encode_symbols(h, tail, &j, raised, raised, &o, NULL) || !put_end(&o))
		return SFX_NOSPACE;
	end[1] = (uint32_t) (o.p - out);
	return (int) end[1];
}

/* ---- counting ---- */

void
sfx_hope_count_uses(const SfxHope *h, const uint8_t *key, size_t len, uint64_t *uses)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);

	if (hope_is_fsst(h))
		return;					/* it has no intervals */
	for (size_t i = 0; i < len;)
	{
		uint32_t	interval = hope_lookup(h, h->shape.scheme, key + i, len - i);

		uses[interval]++;
		i += HOPE_SYMLEN(code[interval]);
	}
}
