/*-------------------------------------------------------------------------
 * intcodec_format.h - what the encoder and the decoder of integer blocks share: the layouts
 *
 * Byte layouts.  "base" is the low nb bytes of a number, which are all that it needs; bit
 * streams are those of bits.h.  All arithmetic is modulo 2^64, so a decoder needs no check against
 * overflow.
 *
 *	every codec		byte 0		codec (bits 0-2, and bit 7 as bit 3), nb (bits 3-6)
 *
 *	PLAIN			byte 1		bytes per value, 0..8
 *					nb			base, the minimum
 *					n * width	v[i] - base
 *
 *	FOR				byte 1		bits per value, 0..64
 *					nb			base, the minimum
 *					stream		v[i] - base
 *
 *	LFOR			byte 1		bits per value; bit 7: the slope has a fraction
 *					byte 2		bytes of the slope's whole part, 0..8
 *					nb			base, such that the smallest residual is 0
 *					whole, frac	slope: line(i) = whole * i + frac * i / 256
 *					stream		v[i] - base - line(i)
 *
 *	EF				byte 1		low bits per value, 0..63
 *					byte 2		bytes of the bitmap
 *					nb			base, the first value
 *					bitmap		bit ((v[i] - base) >> low) + i is set
 *					stream		the low bits of v[i] - base
 *
 *	DBP				byte 1		bytes of the least delta (bits 0-3), of a checkpoint (4-7)
 *					widths		bits per delta, a byte for each chunk of 64 values
 *					nb			base, the first value
 *					delta		the least delta that is not between two chunks
 *					checkpoints	v[64 k] - base, k = 1, 2, ...
 *					streams		chunk by chunk, from a byte boundary each:
 *								v[i] - v[i - 1] - least delta, except for the chunk's first
 *
 *	PDBP			as DBP, with		after the widths
 *					1, 1		number of exceptions, bytes of the high part of one, 1..8
 *								and after the checkpoints
 *					places		a byte for each exception, ascending: its i
 *					high parts	what is above the chunk's width of v[i] - v[i - 1] - least delta
 *					streams		the rest of it
 *
 *	VBYTE			byte 1		bytes of a checkpoint
 *	VARINTGB		byte 2-3	bytes of the streams
 *	STREAMVBYTE		nb			base, the first value
 *					checkpoints	v[64 k] - base, and where chunk k starts in the streams
 *								(2 bytes), k = 1, 2, ...
 *					streams		chunk by chunk v[i] - v[i - 1], except for the chunk's first.
 *								VBYTE: seven bits in a byte, least first, bit 7: there is more.
 *								The others: 1 to 4 bytes; a control byte has the lengths - 1 of
 *								four values (bits 0-1 the first), in front of the four, or of
 *								the whole chunk
 *
 *	DECIMAL			byte 0		nb is of the high bytes, 0..7
 *					byte 1		e (bits 0-3); bit 7: biased; bits 4-6: zero
 *					nb			the first bytes of all images, the least significant of them first
 *					block		of another codec: d (biased: d + 2^50), where v[i] are
 *								the last 8 - nb bytes of the image of d / 10^e (decimal.h)
 *
 * Exceptions (patches) take few large deltas out of the way of many small ones; with a width of 0
 * they are a run-length code. Delta packing has to sum up what stands before a value; the
 * checkpoints bound that to one chunk, and keep a jump between chunks from widening the deltas.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_INTCODEC_FORMAT_H
#define SFX_INTCODEC_FORMAT_H

#include "intcodec.h"
#include "bits.h"

#define CHUNK			64		/* values per DBP chunk */
#define MAX_CHUNKS		(SFX_INT_MAX / CHUNK)
#define MAX_EF_BITMAP	255		/* bytes */

#define DECIMAL_BIASED	0x80	/* byte 1 */
#define DECIMAL_PLACES	0x0F

/* Byte 0. */
static inline uint8_t
codec_byte(SfxIntCodec codec, unsigned nb)
{
	return (uint8_t) (((unsigned) codec & 7) | nb << 3 | ((unsigned) codec & 8) << 4);
}

static inline int
chunk_values(int n, int k)
{
	return n - k * CHUNK < CHUNK ? n - k * CHUNK : CHUNK;
}

static inline int
chunk_count(int n)
{
	return (n + CHUNK - 1) / CHUNK;
}

static inline uint64_t
line(uint64_t whole, unsigned frac, int i)
{
	return whole * (uint64_t) i + ((uint64_t) frac * (uint64_t) i >> 8);
}

#endif							/* SFX_INTCODEC_FORMAT_H */
