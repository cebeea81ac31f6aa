/*-------------------------------------------------------------------------
 * bitblock.h - key stream of a BITS block: keys that are cut between two bits of a byte
 *
 * A stored key is a string of bits.  If it does not fill its last byte, the low bits of that byte
 * are *loose*: zero here, while in the whole key, which goes on after that byte, they may be
 * anything.  Most keys of a block end at the same bit after the block's prefix: up to there they
 * are a FIXED stream, in which the loose bits take no room.  Records name the other keys.  Longer
 * ones would be the same as a neighbour without their *further* bits; of shorter ones no more was
 * known.  If many keys are shorter, each key of the FIXED stream is ended by a bit that is 1, with
 * only zeros after it, and no record names a shorter one (W12).
 *
 *	0		loose bits of the keys in the FIXED stream, 0 to 7, and SFX_BITS_ENDED: of those
 *			with the bit that ends them; SFX_BITS_STRINGS: see below
 *	1		number of records
 *	...		records, 2 bytes each, in the order of the keys: number of the first key (bits 0-7),
 *			of keys - 1 (8-9), further bits of each (10-15); from SFX_BITS_LESS on
 *			1, 2, ... fewer than the others
 *	...		FIXED stream (fixblock.h) of at most 64 bits: keys ascend, but equal ones are allowed
 *	...		the further bits, packed (bits.h)
 *
 * Keys for which that form is not suitable have SFX_BITS_STRINGS:
 *
 *	0		SFX_BITS_STRINGS
 *	...		loose bits of each key: 3 bits each, packed
 *	...		STRING stream (strblock.h), loose bits zero
 *-------------------------------------------------------------------------
 */
#ifndef SFX_BITBLOCK_H
#define SFX_BITBLOCK_H

#include "bits.h"
#include "fixblock.h"
#include "block_format.h"

#define SFX_BITS_STRINGS	0x80
#define SFX_BITS_ENDED		0x40
#define SFX_BITS_LESS		48
#define SFX_BITS_FURTHER	(SFX_BITS_LESS - 1) /* most further bits of a key */
#define SFX_BITS_FEWER		(64 - SFX_BITS_LESS)	/* most bits that a key has fewer than the
													 * others */
#define SFX_BITS_MAXWIDTH	8	/* bytes of the FIXED stream's keys */

/* Most bytes that a key in the stream takes after the prefix. */
#define SFX_BITS_MAXREST	(SFX_BITS_MAXWIDTH + (SFX_BITS_FURTHER + 7) / 8)

typedef struct SfxBitBlock
{
	SfxFix		fix;
	int			n;
	unsigned	loose;
	bool		ended;			/* each key in the stream ends in a bit that is 1 */
	int			nrecords;
	const uint8_t *records;
	const uint8_t *further;
	const uint8_t *end;
} SfxBitBlock;

/* Parse a stream of n keys: SFX_OK or SFX_CORRUPT.  *b points into the stream. */
extern int sfx_bitblock_open(SfxBitBlock *b, const uint8_t *in, size_t len, int n);

/*
 * Returns the number of keys < t (bytes after the block's prefix), with loose bits zero, or
 * SFX_CORRUPT.  *equal: the next key has t's bytes.
 */
extern int sfx_bitblock_search(const SfxBitBlock *b, const uint8_t *t, uint32_t tlen, bool *equal);

/* Does record r name keys with further bits, [*from, *to)? */
extern bool sfx_bitblock_run(const SfxBitBlock *b, int r, int *from, int *to);

/*
 * Write keys [from, to) to out (cap bytes), one after the other, with their bounds and loose bits.
 * The first prelen bytes at out are the prefix.  *width: the length of all of them; 0: lengths
 * differ.  SFX_OK or SFX_CORRUPT.
 */
extern int sfx_bitblock_decode(const SfxBitBlock *b, int from, int to, uint32_t prelen,
							   uint8_t *out, uint32_t cap, uint32_t *off, uint8_t *loose,
							   uint32_t *width);

/*
 * What is known of a block's keys, and how much of it tells them apart: have[i] bits of key i are
 * known, of which the first need[i] have to be stored (need[i] <= have[i]).  Bits are counted after
 * the keys' first skip bytes.
 */
typedef struct SfxBitKeys
{
	const uint8_t *bytes;		/* key i is bytes[off[i] .. off[i + 1]) */
	const uint32_t *off;
	const uint32_t *have;
	const uint32_t *need;
	int			n;
	uint32_t	skip;
	int			codec;			/* as in SfxKeys */
} SfxBitKeys;

/*
 * Encode k into out.  Returns the bytes written, or SFX_NOSPACE, also if this form is not suitable
 * for the keys.  *plain: all keys end in the same bit, which is the last one of a byte, so what
 * follows the first two bytes is a FIXED stream of the keys.
 */
extern int sfx_bitblock_encode(const SfxBitKeys *k, uint8_t *out, size_t cap, bool *plain);

#endif							/* SFX_BITBLOCK_H */
