/*-------------------------------------------------------------------------
 * hope_encode.c - encoding of keys
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

typedef struct Output
{
	uint8_t    *p,
			   *end;
	uint64_t	acc;			/* bits not yet written, left-aligned */
	unsigned	fill;			/* how many: 0..31 between codes */
} Output;

static inline bool
put_code(Output *o, uint32_t word)
{
	o->acc |= (uint64_t) HOPE_CODE(word) << 32 >> o->fill;
	o->fill += HOPE_BITS(word);
	if (o->fill >= 32)
	{
		if (o->end - o->p < 4)
			return false;
		sfx_put32(o->p, sfx_be32((uint32_t) (o->acc >> 32)));
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

/* Encode a key. */
static inline bool
encode_key(const SfxHope *h, SfxHopeScheme scheme, const uint8_t *key, size_t len, Output *out)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code);
	Output		o = *out;

	for (size_t i = 0; i < len;)
	{
		uint32_t	word = code[hope_lookup(h, scheme, key + i, len - i)];

		if (!put_code(&o, word))
			return false;
		i += scheme == SFX_HOPE_SINGLE ? 1 : HOPE_SYMLEN(word);
	}
	*out = o;
	return put_end(out);
}

/* One copy of the loop for each kind of lookup. */
static inline bool
encode_symbols(const SfxHope *h, const uint8_t *key, size_t len, Output *o)
{
	switch (h->shape.scheme)
	{
		case SFX_HOPE_SINGLE:
			return encode_key(h, SFX_HOPE_SINGLE, key, len, o);
		case SFX_HOPE_DOUBLE:
			return encode_key(h, SFX_HOPE_DOUBLE, key, len, o);
		case SFX_HOPE_GRAM3:
		case SFX_HOPE_GRAM4:
			return encode_key(h, SFX_HOPE_GRAM3, key, len, o);
		default:
			return encode_key(h, SFX_HOPE_ALM, key, len, o);
	}
}

int
sfx_hope_encode(const SfxHope *h, const uint8_t *key, size_t len, uint8_t *out, size_t cap)
{
	Output		o = {out, out + cap, 0, 0};

	if (hope_is_fsst(h))
		return sfx_fsst_encode((const Fsst *) h, key, len, out, cap);
	return encode_symbols(h, key, len, &o) ? (int) (o.p - out) : SFX_NOSPACE;
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
