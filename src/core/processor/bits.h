/*-------------------------------------------------------------------------
 * bits.h - bit streams, and counting and selecting bits in a word
 *
 * A bit stream is a byte string; bit b is bit (b & 7) of byte (b >> 3), on every byte order.
 * Readers take *avail*, the number of bytes that may be read from p on: it is at least the stream's
 * length, and if it is greater the reader need not handle the stream's tail separately.  The caller
 * has checked that the stream itself fits into avail.
 *
 * Scalar and portable: without -mpopcnt a compiler turns __builtin_popcountll into a call, so the
 * counts below are made within the word.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_BITS_H
#define SFX_BITS_H

#include "sfx.h"

#define SFX_BYTES_01	UINT64_C(0x0101010101010101)
#define SFX_BYTES_7F	UINT64_C(0x7F7F7F7F7F7F7F7F)
#define SFX_BYTES_80	UINT64_C(0x8080808080808080)

/* Values up to this width are read with one 8-byte load, at any bit. */
#define SFX_ONE_LOAD	57

/* ---- words ---- */

static inline uint64_t
sfx_le64(uint64_t x)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(x);
#else
	return x;
#endif
}

/* The 8 bytes at p as a little-endian number. */
static inline uint64_t
sfx_load64(const uint8_t *p)
{
	uint64_t	x;

	memcpy(&x, p, 8);
	return sfx_le64(x);
}

static inline void
sfx_store64(uint8_t *p, uint64_t x)
{
	x = sfx_le64(x);
	memcpy(p, &x, 8);
}

/* The first nbytes (0..8) at p as a little-endian number. */
static inline uint64_t
sfx_load_bytes(const uint8_t *p, size_t nbytes)
{
	uint64_t	x = 0;

	for (size_t i = 0; i < nbytes; i++)
		x |= (uint64_t) p[i] << (8 * i);
	return x;
}

/* The first n bytes at p (8, if there are more) as a big-endian number, zeros after them. */
static inline uint64_t
sfx_load_be(const uint8_t *p, size_t n)
{
	uint64_t	v = 0;

	if (n >= 8)
		return sfx_load_be64(p);
	if (n >= 4)
		/* (bytes that both have are the same) */
		return (uint64_t) sfx_be32(sfx_get32(p)) << 32 | (uint64_t) sfx_be32(sfx_get32(p + n - 4)) << (64 - 8 * n);
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t) p[i] << (56 - 8 * i);
	return v;
}

static inline void
sfx_store_bytes(uint8_t *p, uint64_t x, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		p[i] = (uint8_t) (x >> (8 * i));
}

/* The same as sfx_load64, with zeros in place of the bytes beyond avail. */
static inline uint64_t
sfx_load64_avail(const uint8_t *p, size_t avail)
{
	return avail >= 8 ? sfx_load64(p) : sfx_load_bytes(p, avail);
}

/* Number of bits, and of bytes, that x needs; 0 for 0. */
static inline unsigned
sfx_bitlen(uint64_t x)
{
	return x == 0 ? 0 : 64 - (unsigned) __builtin_clzll(x);
}

static inline unsigned
sfx_bytelen(uint64_t x)
{
	return (sfx_bitlen(x) + 7) / 8;
}

/* The low w bits set, w = 0..64. */
static inline uint64_t
sfx_mask(unsigned w)
{
	return w == 0 ? 0 : ~UINT64_C(0) >> (64 - w);
}

/* Byte k of the result: the number of ones in bytes 0..k of x. */
static inline uint64_t
sfx_byte_ranks(uint64_t x)
{
	x -= (x >> 1) & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return x * SFX_BYTES_01;
}

static inline unsigned
sfx_popcount(uint64_t x)
{
#if defined(__POPCNT__) || defined(__aarch64__)
	return (unsigned) __builtin_popcountll(x);
#else
	return (unsigned) (sfx_byte_ranks(x) >> 56);
#endif
}

/* The number of bytes of s that are <= k; those of s and k are at most 127, and s ascends. */
static inline unsigned
sfx_bytes_le(uint64_t s, unsigned k)
{
	uint64_t	ge = ((k * SFX_BYTES_01 | SFX_BYTES_80) - s) & SFX_BYTES_80;

	return (unsigned) (((ge >> 7) * SFX_BYTES_01) >> 56);
}

/*
 * The position of the one number k (from 0) of x, which has more than k ones (Vigna, WEA 2008,
 * section 3).  ranks: sfx_byte_ranks(x).
 */
static inline unsigned
sfx_select_in(uint64_t x, uint64_t ranks, unsigned k)
{
	unsigned	byte = 8 * (sfx_bytes_le(ranks, k) & 7);
	uint64_t	b = (x >> byte) & 0xFF;

	k -= (unsigned) (((ranks << 8) >> byte) & 0xFF);
	b = (b * SFX_BYTES_01) & UINT64_C(0x8040201008040201);
	b = ((b + SFX_BYTES_7F) & SFX_BYTES_80) >> 7;
	return byte + sfx_bytes_le(b * SFX_BYTES_01, k);
}

static inline unsigned
sfx_select(uint64_t x, unsigned k)
{
	return sfx_select_in(x, sfx_byte_ranks(x), k);
}

/* ---- reading a stream ---- */

/* Bits [bit, bit + w) of the stream, w = 0..64. */
static inline uint64_t
sfx_bits_get(const uint8_t *p, size_t avail, size_t bit, unsigned w)
{
	size_t		byte = bit >> 3;
	unsigned	shift = bit & 7;
	uint64_t	x = sfx_load64_avail(p + byte, avail - byte) >> shift;

	if (shift + w > 64)
		x |= (uint64_t) p[byte + 8] << (64 - shift);
	return x & sfx_mask(w);
}

/*
 * How many of n values of width w (<= SFX_ONE_LOAD, > 0), from bit on, may be read with an 8-byte
 * load?
 */
static inline int
sfx_bits_loadable(size_t avail, size_t bit, unsigned w, int n)
{
	size_t		k;

	if (avail < 8 || bit > (avail - 8) * 8 + 7)
		return 0;
	k = ((avail - 8) * 8 + 7 - bit) / w + 1;
	return k < (size_t) n ? (int) k : n;
}

/* out[i] = base + value i of the n values of width w that start at bit. */
static inline void
sfx_bits_unpack(const uint8_t *p, size_t avail, size_t bit, unsigned w, int n,
				uint64_t base, uint64_t *out)
{
	int			i = 0;

	if (w == 0)
	{
		for (; i < n; i++)
			out[i] = base;
		return;
	}
	if (w <= SFX_ONE_LOAD)
	{
		int			fast = sfx_bits_loadable(avail, bit, w, n);
		uint64_t	mask = sfx_mask(w);

		for (; i < fast; i++, bit += w)
			out[i] = base + ((sfx_load64(p + (bit >> 3)) >> (bit & 7)) & mask);
	}
	for (; i < n; i++, bit += w)
		out[i] = base + sfx_bits_get(p, avail, bit, w);
}

/* The sum of the n values of width w (0..64) at the start of the stream. */
static inline uint64_t
sfx_bits_sum(const uint8_t *p, size_t avail, unsigned w, int n)
{
	uint64_t	sum = 0,
				mask = sfx_mask(w);
	size_t		bit = 0;
	int			i = 0;

	if (w == 0)
		return 0;
	if (w <= SFX_ONE_LOAD)
		for (int fast = sfx_bits_loadable(avail, 0, w, n); i < fast; i++, bit += w)
			sum += (sfx_load64(p + (bit >> 3)) >> (bit & 7)) & mask;
	for (; i < n; i++, bit += w)
		sum += sfx_bits_get(p, avail, bit, w);
	return sum;
}

/* ---- writing a stream ---- */

typedef struct SfxBitWriter
{
	uint8_t    *p;				/* where the next full word goes */
	uint64_t	acc;			/* bits not yet written */
	unsigned	fill;			/* how many: 0..63 */
} SfxBitWriter;

static inline void
sfx_bits_start(SfxBitWriter *b, uint8_t *p)
{
	b->p = p;
	b->acc = 0;
	b->fill = 0;
}

/* Append x, which has no bits above its lowest w (0..64) ones. */
static inline void
sfx_bits_put(SfxBitWriter *b, uint64_t x, unsigned w)
{
	b->acc |= x << b->fill;
	b->fill += w;
	if (b->fill >= 64)
	{
		sfx_store64(b->p, b->acc);
		b->p += 8;
		b->fill -= 64;
		b->acc = b->fill > 0 ? x >> (w - b->fill) : 0;
	}
}

/* Write the last bits, padded with zeros to a whole byte.  Returns the end of the stream. */
static inline uint8_t *
sfx_bits_end(SfxBitWriter *b)
{
	size_t		nbytes = (b->fill + 7) / 8;

	sfx_store_bytes(b->p, b->acc, nbytes);
	return b->p + nbytes;
}

/* Number of bytes that n values of width w take. */
static inline size_t
sfx_bits_bytes(size_t n, unsigned w)
{
	return (n * w + 7) / 8;
}

/* Write v[i] - base for n values, each of width w.  Returns the end of the stream. */
static inline uint8_t *
sfx_bits_pack(uint8_t *p, const uint64_t *v, int n, uint64_t base, unsigned w)
{
	SfxBitWriter b;

	sfx_bits_start(&b, p);
	for (int i = 0; i < n; i++)
		sfx_bits_put(&b, v[i] - base, w);
	return sfx_bits_end(&b);
}

/* ---- masks ---- */

/* The runs of ones in a mask, lowest first, for gathering and scattering its bits. */
typedef struct SfxRuns
{
	int			n;
	uint8_t		shift[32];
	uint8_t		len[32];
} SfxRuns;

static inline void
sfx_runs_find(uint64_t mask, SfxRuns *r)
{
	unsigned	at = 0;

	r->n = 0;
	while (mask)
	{
		unsigned	s = (unsigned) __builtin_ctzll(mask);
		unsigned	len;

		mask >>= s;
		len = mask == UINT64_MAX ? 64 : (unsigned) __builtin_ctzll(~mask);
		r->shift[r->n] = (uint8_t) (at + s);
		r->len[r->n++] = (uint8_t) len;
		at += s + len;
		mask = len == 64 ? 0 : mask >> len;
	}
}

/* The bits of x where mask has ones, in their order (PEXT). */
static inline uint64_t
sfx_gather(const SfxRuns *r, uint64_t x)
{
	uint64_t	v = 0;
	unsigned	at = 0;

	for (int i = 0; i < r->n; i++)
	{
		v |= ((x >> r->shift[i]) & sfx_mask(r->len[i])) << at;
		at += r->len[i];
	}
	return v;
}

/* The low bits of v, in their order, where mask has ones (PDEP). */
static inline uint64_t
sfx_deposit(const SfxRuns *r, uint64_t v)
{
	uint64_t	x = 0;

	for (int i = 0; i < r->n; i++)
	{
		x |= (v & sfx_mask(r->len[i])) << r->shift[i];
		v = r->len[i] == 64 ? 0 : v >> r->len[i];
	}
	return x;
}

#endif							/* SFX_BITS_H */
