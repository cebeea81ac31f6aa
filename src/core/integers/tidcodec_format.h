/*-------------------------------------------------------------------------
 * tidcodec_format.h - what the encoder and the decoder of TID blocks share: the layouts
 *
 * Byte layouts; bit streams are those of bits.h.
 *
 *	PLAIN			byte 0		codec
 *					6 n			the TIDs, least byte first
 *
 *	RUNS			byte 0		codec; bit 3: the runs are those of the reversed block
 *					runs		see "runs" below; they end when n TIDs are there
 *
 *	PATCHED			byte 0		codec
 *					1			number of exceptions
 *					0, 1		if n > 256: how many of them are at places below 256
 *					places		where in the block they are, ascending: the low byte of each
 *					block		the exceptions, as a block of another codec
 *					block		the other TIDs, likewise; no lists in either
 *
 * The others number the TIDs: lin = (block - minblock) * radix + offset - minoffset,
 * where radix is the number of offsets between the least and the greatest one of
 * the block, so that no code is spent on offsets that no heap page has.
 *
 *	frame			byte 0		codec (bits 0-2), bytes of minblock, 0..4 (3-5), minoffset is 1 and
 *								not stored (6), radix - 1 takes one byte, not two (7)
 *					0..4		minblock
 *					0, 2		minoffset
 *					1, 2		radix - 1
 *
 *	FOR				frame
 *					1			bits per TID, 0..48
 *					stream		lin[i]
 *
 *	ZIGZAG			frame
 *					1			bytes of the least delta (bits 0-3), of a checkpoint (4-7)
 *					widths		bits per delta, a byte for each chunk of 64 TIDs
 *					delta		the least delta that is not between two chunks, zigzag
 *					checkpoints	lin[64 k], k = 0, 1, ...
 *					streams		chunk by chunk, from a byte boundary each:
 *								lin[i] - lin[i - 1] - least delta, except for the chunk's first
 *
 *	POSTING			frame
 *					1			bytes of range (bits 0-3); bit 4: the whole block is one list
 *					range		the greatest lin that the frame allows
 *					stream		list by list an Elias-Fano bitmap and its low bits; a list's layout
 *								follows from its length and range, so it needs no header
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TIDCODEC_FORMAT_H
#define SFX_TIDCODEC_FORMAT_H

#include "tidcodec.h"
#include "bits.h"

#define CHUNK			64		/* TIDs per ZIGZAG chunk */
#define MAX_CHUNKS		(SFX_TID_MAXN / CHUNK)
#define MAX_LIN_BITS	48
#define RUNS_REVERSED	0x08

typedef struct TidFrame
{
	uint64_t	base;			/* the TID that lin = 0 stands for */
	uint32_t	radix;			/* 1..65536 */
} TidFrame;

static inline bool
is_power_of_two(uint32_t x)
{
	return (x & (x - 1)) == 0;
}

static inline int
chunk_count(int n)
{
	return (n + CHUNK - 1) / CHUNK;
}

static inline int
chunk_values(int n, int k)
{
	return n - k * CHUNK < CHUNK ? n - k * CHUNK : CHUNK;
}

/* ---- RUNS ----
 *
 * A run is a stretch of TIDs that grow by one.  Its first byte says in bits 0-1 how it
 * follows the one before:
 *
 *	NEXT	it starts at offset 1 of the next heap block; bits 2-7 length (0: a varint follows)
 *	AGAIN	bits 2-7 + 1 runs of the previous run's length, each at offset 1 of the next block
 *	GAP		offsets of the same block are left out; bits 2-3 how many, 4-7 length (0: a varint follows, in
 *			this order)
 *	JUMP	bits 2-7 length (0: a varint follows); then varints: zigzag distance of the
 *			heap blocks, offset.  The first run is always one, from block 0.
 */
enum
{
	RUN_NEXT,
	RUN_AGAIN,
	RUN_GAP,
	RUN_JUMP
};

static inline uint64_t
zigzag(int64_t x)
{
	return (uint64_t) x << 1 ^ (uint64_t) (x < 0 ? -1 : 0);
}

static inline uint64_t
unzigzag(uint64_t x)
{
	return x >> 1 ^ (~(x & 1) + 1);
}

/* Low bits per TID of a list of n: log2(range / n), rounded down. */
static inline unsigned
list_low(uint64_t range, int n)
{
	unsigned	lr = sfx_bitlen(range),
				ln = sfx_bitlen((uint64_t) n);

	if (lr < ln)
		return 0;
	lr -= ln;
	return (uint64_t) n << lr <= range ? lr : lr > 0 ? lr - 1 : 0;
}

/* Number of bits of a list's bitmap, and of the list. */
static inline size_t
list_bitmap(uint64_t range, int n, unsigned low)
{
	return (size_t) n + (size_t) (range >> low);
}

static inline size_t
list_bits(uint64_t range, int n)
{
	unsigned	low = list_low(range, n);

	return list_bitmap(range, n, low) + (size_t) n * low;
}

static inline size_t
lists_bytes(uint64_t range, int n, const uint16_t *ends, int nlists)
{
	size_t		bits = 0;

	if (ends == NULL)
		bits = list_bits(range, n);
	else
		for (int l = 0, start = 0; l < nlists; start = ends[l++])
			bits += list_bits(range, ends[l] - start);
	return (bits + 7) / 8;
}

/*
 * Posting lists come from the page as well: each must have a TID, and the last one must end at n.
 */
static inline bool
sound_lists(int n, const uint16_t *ends, int nlists)
{
	int			start = 0;

	if (ends == NULL)
		return true;
	for (int l = 0; l < nlists; l++)
	{
		if (ends[l] <= start)
			return false;
		start = ends[l];
	}
	return start == n;
}

/* ---- PATCHED (tidcodec_patch.c) ---- */

#define MIN_WINDOW		256		/* steps up to a heap page are regular in any case */

/* A measure for steps, within a heap block and from block to block. */
static inline uint64_t
position(uint64_t tid)
{
	return (tid >> 16) * MIN_WINDOW + (tid & 0xFFFF);
}

static inline uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Is that step regular whatever the others are?  A block of such steps has no exceptions. */
static inline bool
sfx_tid_near(uint64_t a, uint64_t b)
{
	return distance(position(a), position(b)) <= MIN_WINDOW;
}

/* The same as sfx_tid_size and sfx_tid_decode; n, from and to were checked. */
extern int sfx_tid_patched_size(const uint8_t *in, size_t len, int n);
extern int sfx_tid_patched_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out);

/*
 * Returns the bytes written, at most limit; SFX_NOSPACE if that is not enough, or if there are no
 * exceptions that are worth it.
 */
extern int sfx_tid_patched_encode(const uint64_t *tid, int n, uint8_t *buf, size_t limit);

/* The same as sfx_tid_encode without lists, and without PATCHED. */
extern int sfx_tid_encode_simple(const uint64_t *tid, int n, uint8_t *out, size_t cap);

#endif							/* SFX_TIDCODEC_FORMAT_H */
