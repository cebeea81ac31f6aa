/*-------------------------------------------------------------------------
 * intcodec.h - blocks of up to 256 unsigned 64-bit integers, compressed
 *
 * One block is self-contained: its first byte names the codec.  sfx_int_encode
 * chooses the smallest of the codecs that apply:
 *
 *	PLAIN	bytes as wide as the largest residual needs
 *	FOR		frame of reference: minimum + fixed-width bit-packed residuals
 *	LFOR	linear frame of reference: residuals of a line through the block (non-decreasing input)
 *	EF		Elias-Fano: unary high bits, packed low bits (non-decreasing input)
 *	DBP		delta + binary packing (non-decreasing input)
 *
 * Input may be in any order; EF, LFOR and DBP are only tried where it is non-decreasing.
 * All functions are bounded by (in, len) whatever the bytes are.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_INTCODEC_H
#define SFX_INTCODEC_H

#include "sfx.h"

#define SFX_INT_MAX		256		/* values in one block, at most */

/* Worst-case size of an encoded block of n values, in bytes. */
#define SFX_INT_BOUND(n)	(16 + 8 * (size_t) (n))

typedef enum SfxIntCodec
{
	SFX_INT_PLAIN = 1,
	SFX_INT_FOR = 2,
	SFX_INT_LFOR = 3,
	SFX_INT_EF = 4,
	SFX_INT_DBP = 5
} SfxIntCodec;

/* Encode v[0..n), 1 <= n <= 256, into out (cap bytes).  Returns the number of
 * bytes written, or SFX_NOSPACE.  out needs no alignment. */
extern int sfx_int_encode(const uint64_t *v, int n, uint8_t *out, size_t cap);

/* The same with one codec pinned; SFX_NOSPACE also where it does not apply. */
extern int sfx_int_encode_as(SfxIntCodec codec, const uint64_t *v, int n, uint8_t *out, size_t cap);

/* Length in bytes of the encoded block of n values that starts at in, at most len; or SFX_CORRUPT. */
extern int sfx_int_size(const uint8_t *in, size_t len, int n);

/* Decode v[from..to) of a block of n values into out[0..to-from).  SFX_OK or SFX_CORRUPT. */
extern int sfx_int_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out);

/* The value at i (0 <= i < n) into *v.  SFX_OK or SFX_CORRUPT. */
extern int sfx_int_get(const uint8_t *in, size_t len, int n, int i, uint64_t *v);

/* For a block whose values are non-decreasing: the smallest i with v[i] >= x, n if there is none,
 * or SFX_CORRUPT.  Works on the compressed bytes without decoding the block. */
extern int sfx_int_lower_bound(const uint8_t *in, size_t len, int n, uint64_t x);

#endif							/* SFX_INTCODEC_H */
