/*-------------------------------------------------------------------------
 * bitblock.h - key stream of a BITS block: keys that are cut between two bits of a byte
 *
 * A stored key is a string of bits; of the last byte, where it does not fill it, the low bits are
 * *loose*: zero here, anything in the whole key, which goes on behind that byte.  Most keys of a
 * block end at the same bit, behind the block's prefix: so far they are a FIXED stream, in which
 * the loose bits take nothing.  Records name the others.  Those that are longer are the keys that
 * would be the same without their *further* bits; those that are shorter were not known so far.
 * Where many are, each key of the FIXED stream is ended by a bit that is 1, behind which there are
 * only zeros, and no record is of a shorter one (W12).
 *
 *	0			loose bits of the keys in the FIXED stream, 0 to 7, and SFX_BITS_ENDED: of those
 *				with the bit that ends them; SFX_BITS_STRINGS: see below
 *	1			number of records
 *	...			records, 2 bytes each, in the order of the keys: number of the first key (bits 0-7),
 *				of keys - 1 (8-9), further bits of each (10-15); from SFX_BITS_LESS on
 *				1, 2, ... fewer than the others
 *	...			FIXED stream (fixblock.h) of at most 64 bits: descends nowhere, but has equal keys
 *	...			the further bits, packed (bits.h)
 *
 * With SFX_BITS_STRINGS, for what does not suit that:
 *
 *	0			SFX_BITS_STRINGS
 *	...			loose bits of each key: 3 bits each, packed
 *	...			STRING stream (strblock.h), loose bits zero
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
#define SFX_BITS_FURTHER	(SFX_BITS_LESS - 1) /* at most so many further bits */
#define SFX_BITS_FEWER		(64 - SFX_BITS_LESS)
#define SFX_BITS_MAXWIDTH	8	/* bytes of the FIXED stream's keys */

/* Bytes that a key in the stream takes behind the prefix, at most. */
#define SFX_BITS_MAXREST	(SFX_BITS_MAXWIDTH + (SFX_BITS_FURTHER + 7) / 8)

typedef struct SfxBitBlock
{
	SfxFix		fix;
	int			n;
	unsigned	loose;
	bool		ended;			/* each key ends in a bit of the stream that is 1 */
	int			nrecords;
	const uint8_t *records;
	const uint8_t *further;
	const uint8_t *end;
} SfxBitBlock;

/* Parse a stream of n keys.  SFX_OK or SFX_CORRUPT. */
extern int sfx_bitblock_open(SfxBitBlock *b, const uint8_t *in, size_t len, int n);

/*
 * The number of keys < t (bytes behind the block's prefix), loose bits being zero; *equal: the key
 * there has t's bytes.  Or SFX_CORRUPT.
 */
extern int sfx_bitblock_search(const SfxBitBlock *b, const uint8_t *t, uint32_t tlen, bool *equal);

/* Does record r name keys with further bits, [*from, *to)? */
extern bool sfx_bitblock_run(const SfxBitBlock *b, int r, int *from, int *to);

/*
 * Materialise keys [from, to) at out (cap bytes), one after the other, with their bounds and loose
 * bits.  The first prelen bytes at out are the prefix.  *width: the length of all; 0: they differ.
 */
extern int sfx_bitblock_decode(const SfxBitBlock *b, int from, int to, uint32_t prelen,
							   uint8_t *out, uint32_t cap, uint32_t *off, uint8_t *loose,
							   uint32_t *width);

/*
 * What is known of a block's keys, and how much of it tells them apart: have[i] bits of key i, of
 * which the first need[i] have to be stored (not more than there are).  All of them behind the
 * keys' first skip bytes.
 */
typedef struct SfxBitKeys
{
	const uint8_t *bytes;		/* key i is bytes[off[i] .. off[i + 1]) */
	const uint32_t *off;
	const uint32_t *have;
	const uint32_t *need;
	int			n;
	uint32_t	skip;
	int			codec;			/* of SfxKeys */
} SfxBitKeys;

/*
 * Encode k into out.  Bytes written; SFX_NOSPACE where it does not suit these keys.  *plain: all
 * keys end in the same bit, and that with a byte: what stands behind the first two bytes is a FIXED
 * stream of them.
 */
extern int sfx_bitblock_encode(const SfxBitKeys *k, uint8_t *out, size_t cap, bool *plain);

#endif							/* SFX_BITBLOCK_H */
