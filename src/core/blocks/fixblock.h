/*-------------------------------------------------------------------------
 * fixblock.h - key stream of a FIXED block: keys of one width
 *
 * The width counts from the end of the block's prefix.  Bits (in keys of up to 16 bytes) or bytes
 * (in wider ones) that are the same in all keys are stored once.  The others, in their order, make
 * a *core*; cores are in key order.  The first 64 bits of the cores are an integer block, the rest
 * is raw.
 *
 * Keys that end in a double, and share all bytes before it, may have images of decimals in the
 * integer block (SFX_INT_DECIMAL): then SFX_FIX_ALL is set.
 *
 *	0		width w, 1 to 64; SFX_FIX_ALL set: everything varies, the next three are absent
 *	1		bitmap, (w + 7) / 8 bytes: w <= 16: which bytes have constant bits; else: which bytes
 *			vary
 *	...		w <= 16: for each such byte, mask of its varying bits and value of the others
 *	...		w > 16: the bytes that do not vary
 *	...		integer block (intcodec.h) of the first min(64, all) bits of the cores
 *	...		the other bits: w <= 16: packed (bits.h), same width for each; else bytes, key after key
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FIXBLOCK_H
#define SFX_FIXBLOCK_H

#include "intcodec.h"
#include "block_format.h"

#define SFX_FIX_MAXWIDTH	64
#define SFX_FIX_MAXBITS		16	/* up to this width, single bits are dropped */
#define SFX_FIX_ALL			0x80

typedef struct SfxFix
{
	SfxInt		ints;			/* the first 64 bits of the cores */
	const uint8_t *rest;		/* the part of the cores that the integer block lacks */
	const uint8_t *end;			/* end of the stream */
	int			n;
	int			width;
	unsigned	nrest;			/* per key, in rest: bits (width <= 16) or bytes */
	/* width <= 16: the key as two big-endian words */
	bool		all;			/* every bit varies */
	uint64_t	vary[2];		/* varying bits */
	uint64_t	value[2];		/* the constant ones */
	unsigned	nbits[2];		/* popcounts of vary[] */
	/* width > 16 */
	uint64_t	mask;			/* bit i: byte i varies */
	const uint8_t *consts;
	int			nvary;
} SfxFix;

/*
 * Encode k (keys of one length) into out.  Returns the bytes written, or SFX_NOSPACE.  *rest: cores
 * are longer than the integer block's 64 bits.
 */
extern int sfx_fix_encode(const SfxKeys *k, uint8_t *out, size_t cap, bool *rest);

/* A lower bound of what sfx_fix_encode writes for k. */
extern uint32_t sfx_fix_least(const SfxKeys *k);

/* Parse a stream of n keys: SFX_OK or SFX_CORRUPT.  *f points into the stream. */
extern int sfx_fix_open(SfxFix *f, const uint8_t *in, size_t len, int n);

/*
 * Returns the number of keys < t (bytes after the block's prefix), or SFX_CORRUPT.  *equal: the
 * next key is t.
 */
extern int sfx_fix_search(const SfxFix *f, const uint8_t *t, uint32_t tlen, bool *equal);

/*
 * Write keys [from, to) to out, one after the other.  The first prelen bytes at out are the prefix.
 * out needs 16 bytes of room after the keys.  SFX_OK or SFX_CORRUPT.
 */
extern int sfx_fix_decode(const SfxFix *f, int from, int to, uint32_t prelen, uint8_t *out);

#endif							/* SFX_FIXBLOCK_H */
