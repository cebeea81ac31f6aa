/*-------------------------------------------------------------------------
 * intcodec.h - blocks of up to 256 unsigned 64-bit integers, compressed
 *
 * A block is self-contained: its first byte names the codec.  sfx_int_encode chooses by size among
 * the codecs that apply; PLAIN always does, and each returns exactly what was encoded (B1):
 *
 *	PLAIN	bytes, as wide as the largest residual needs
 *	FOR		frame of reference: minimum + fixed-width bit-packed residuals
 *	LFOR	linear frame of reference: residuals of a line through the block (non-decreasing input)
 *	EF		Elias-Fano: unary high bits, packed low bits (non-decreasing input)
 *	DBP		delta + binary packing (non-decreasing input)
 *	PDBP	the same, patched: large deltas are exceptions; with a width of 0, run-length coding
 *			(non-decreasing input)
 *	VBYTE, VARINTGB, STREAMVBYTE	deltas of whole bytes (non-decreasing input; the last two:
 *			below 2^32).  At best a little smaller than PDBP, and slower to search than all others:
 *			only if asked for
 *	DECIMAL	images of doubles that are decimals, as whole numbers d in a block of another codec
 *			(made by sfx_int_encode_decimals only)
 *
 * Of the forms within 3 % of the smallest it takes the fastest to search: LFOR, EF, FOR and PLAIN,
 * DBP, PDBP.  Input may be in any order; codecs for non-decreasing input are tried only with such.
 * All functions stay within (in, len), whatever the bytes are.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_INTCODEC_H
#define SFX_INTCODEC_H

#include "cpu.h"
#include "sfx.h"

#define SFX_INT_MAX		256		/* most values of a block */

/* Worst-case size of an encoded block of n values, in bytes. */
#define SFX_INT_BOUND(n)	(16 + 8 * (size_t) (n))

typedef enum SfxIntCodec
{
	SFX_INT_PLAIN = 1,
	SFX_INT_FOR = 2,
	SFX_INT_LFOR = 3,
	SFX_INT_EF = 4,
	SFX_INT_DBP = 5,
	SFX_INT_PDBP = 6,
	SFX_INT_VBYTE = 7,
	SFX_INT_VARINTGB = 8,
	SFX_INT_STREAMVBYTE = 9,
	SFX_INT_DECIMAL = 10,
	SFX_INT_CODECS
} SfxIntCodec;

/* The codec that a block's first byte names. */
#define SFX_INT_CODEC(byte)	((SfxIntCodec) (((byte) & 7) | ((byte) & 0x80) >> 4))

/*
 * Encode v[0..n), 1 <= n <= 256, into out (cap bytes).  Returns the number of bytes written, or
 * SFX_NOSPACE.  out needs no alignment.
 */
extern int sfx_int_encode(const uint64_t *v, int n, uint8_t *out, size_t cap);

/* The same with one codec; SFX_NOSPACE also if it does not apply. */
extern int sfx_int_encode_as(SfxIntCodec codec, const uint64_t *v, int n, uint8_t *out, size_t cap);

/*
 * Is the double of this image a decimal?  Call this for the first image of a block before
 * sfx_int_encode_decimals: it is cheap, and images of something else than doubles mostly are no
 * decimals.
 */
extern bool sfx_int_is_decimal(uint64_t image);

/*
 * Encode the last nbytes (1..8) bytes of each of n images of doubles (decimal.h), whose other bytes
 * are the same in all of them.  Returns the bytes written, or SFX_NOSPACE, also if some double is
 * not a decimal.
 */
extern int sfx_int_encode_decimals(const uint64_t *image, int n, unsigned nbytes,
								   uint8_t *out, size_t cap);

/*
 * An opened block, with its header checked: all parts are inside the bytes that it was opened with,
 * which must outlive it.  The fields belong to the codecs.
 */
typedef struct SfxInt
{
	SfxIntCodec codec;			/* DECIMAL: codec of the block of d */
	int			n;
	unsigned	width;			/* bits per value of the stream (EF: low bits) */
	unsigned	frac;			/* LFOR: slope, 1/256ths */
	uint64_t	base;
	uint64_t	step;			/* LFOR: slope, whole part; DBP: least delta */
	const uint8_t *p;			/* the stream; DBP: chunk 0's */
	size_t		avail;			/* readable bytes from p on */
	size_t		size;			/* of the whole block */
	const uint8_t *map;			/* EF: bitmap; DBP, bytewise: checkpoints */
	unsigned	mapbytes;		/* EF: its length; DBP, bytewise: bytes per checkpoint */
	const uint8_t *widths;		/* DBP: bits per delta of each chunk */
	int			npatches;		/* PDBP: exceptions; DBP: 0 */
	unsigned	highbytes;		/* PDBP: bytes of an exception's high part */
	const uint8_t *patches;		/* PDBP: their places, then their high parts */
	size_t		streambytes;	/* VBYTE, VARINTGB, STREAMVBYTE: length of the streams */
	bool		decimal;		/* DECIMAL; the other fields are those of the block of d */
	SfxDecimals decimals;
} SfxInt;

/*
 * Open the block of n values that starts at in.  Returns its length in bytes, at most len; or
 * SFX_CORRUPT.
 */
extern int sfx_int_open(SfxInt *b, const uint8_t *in, size_t len, int n);

/* Set *v to the value at i (0 <= i < n).  SFX_OK or SFX_CORRUPT. */
extern int sfx_int_at(const SfxInt *b, int i, uint64_t *v);

/*
 * For a block whose values do not descend: returns the smallest i with v[i] >= x, n if there is
 * none, or SFX_CORRUPT; *equal: v[i] == x.  Works on the compressed bytes without decoding the
 * block.
 */
extern int sfx_int_search(const SfxInt *b, uint64_t x, bool *equal);

/* Decode v[from..to) into out[0..to-from).  SFX_OK or SFX_CORRUPT. */
extern int sfx_int_read(const SfxInt *b, int from, int to, uint64_t *out);

/* Shorthands: open, and return the length; open, and read. */
extern int sfx_int_size(const uint8_t *in, size_t len, int n);
extern int sfx_int_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out);

#endif							/* SFX_INTCODEC_H */
