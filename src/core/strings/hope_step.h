/*-------------------------------------------------------------------------
 * hope_step.h - decoding, window by window: for hope_decode.c and for functions that decode many
 * short strings in a row
 *
 * A window is the next 57 bits or more of the input, left-aligned in a word, zeros after the
 * input's end.  Zeros are the end's code in every dictionary, and no other code is, so a string
 * ends where the window is all zeros; the number of bits taken then tells whether the input ended
 * there, too.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_HOPE_STEP_H
#define SFX_HOPE_STEP_H

#include "hope_format.h"

/* Bits of a window that count at any position; and bits after which a code may begin in it. */
#define HOPE_WINDOW_BITS	57
#define HOPE_WINDOW_STOP	(HOPE_WINDOW_BITS - SFX_HOPE_MAXBITS)
/*
 * Most bytes that may be written for one window, whether they count or not: a symbol for each bit,
 * and a copy's excess.
 */
#define HOPE_WINDOW_ROOM	(SFX_HOPE_MAXSYM * 66)

/* The window at that bit of the input; readable (>= len) bytes at in may be loaded. */
static inline uint64_t
hope_window(const uint8_t *in, size_t len, size_t readable, size_t bit)
{
	size_t		at = bit >> 3,
				left = len - at;
	uint64_t	x;

	if (at >= len)
		return 0;
	x = readable - at >= 8 ? sfx_load_be64(in + at) : sfx_load_be(in + at, left < 8 ? left : 7);
	if (left < 8)
		x &= UINT64_MAX << (64 - 8 * left);
	return x << (bit & 7);
}

/* Find the interval of a code that no table holds, among those that begin with its first bits. */
static inline uint32_t
hope_search_code(const SfxHope *h, uint64_t e, uint64_t acc)
{
	const uint32_t *code = HOPE_CTABLE(h, uint32_t, code),
			   *p = code + HOPE_LOW(e);
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

/* The tables' result for the next code, or codes. */
typedef struct HopeStep
{
	const uint8_t *symbol;		/* a symbol of more bytes than a word has; NULL: the bytes are in
								 * word */
	uint64_t	word;
	unsigned	nbytes;			/* 0: the end's code */
	unsigned	bits;			/* of the input */
} HopeStep;

/*
 * The step of the window acc, if the tables have only entry e for its first code, where a search
 * begins.
 */
extern HopeStep sfx_hope_step_search(const SfxHope *h, uint64_t e, uint64_t acc);

/* The next step of the window acc. */
static inline HopeStep
hope_step(const SfxHope *h, const uint64_t *table, uint64_t acc)
{
	uint64_t	e = table[acc >> (64 - HOPE_DECODE_BITS)];
	unsigned	bits = 0;

	if (e & HOPE_SPECIAL)
	{
		if (HOPE_KIND(e) == HOPE_KIND_SECOND)
		{
			e = HOPE_CTABLE(h, uint64_t, second)[HOPE_LOW(e) + (acc << HOPE_DECODE_BITS >> (64 - HOPE_SECOND_BITS))];
			bits = HOPE_DECODE_BITS;
		}
		if (e & HOPE_SPECIAL)
		{
			if (HOPE_KIND(e) == HOPE_KIND_LONG)
				return (HopeStep) {HOPE_CTABLE(h, uint8_t, bytes) + HOPE_LOW(e), 0, (uint32_t) (e >> 28) & 63,
					bits + (unsigned) (e >> 60)};
			return sfx_hope_step_search(h, e, acc);
		}
	}
	return (HopeStep) {NULL, e, HOPE_NBYTES(e), bits + (unsigned) (e >> 60)};
}

/*
 * Decode all codes that begin at bits [0, stop] of the window acc, which is not 0; out has
 * HOPE_WINDOW_ROOM bytes.  The bits taken are added to *bit.  Returns the new end of out, NULL if
 * there is an end's code before the end.
 */
static inline uint8_t *
hope_decode_window(const SfxHope *h, const uint64_t *table, uint64_t acc, unsigned stop, size_t *bit, uint8_t *out)
{
	unsigned	n = 0;

	do
	{
		HopeStep	s = hope_step(h, table, acc);

		if (s.symbol)
			memcpy(out, s.symbol, SFX_HOPE_MAXSYM);
		else if (s.nbytes > 0)
			sfx_store64(out, s.word);
		else
			return NULL;
		out += s.nbytes;
		n += s.bits;
		acc <<= s.bits;
	} while (acc != 0 && n <= stop);
	*bit += n;
	return out;
}

/* Was all input read except for the last, unfinished byte? */
static inline bool
hope_ends_well(size_t bit, size_t len)
{
	return bit <= 8 * len && 8 * len - bit < 8;
}

#endif							/* SFX_HOPE_STEP_H */
