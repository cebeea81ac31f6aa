/*-------------------------------------------------------------------------
 * strcolumn.h - key stream of a STRING block of cut keys: a column of shared lengths (W11)
 *
 * A cut key ends one byte after the longer of what it shares with its two neighbours.  So the
 * shared lengths alone determine the length of each key, with exceptions: keys that had other
 * neighbours once, keys that are not cut, and the last key, whose next neighbour is in the next
 * block.  A key's rest is what follows the part that it shares with the previous key: the rests are
 * stored one after the other, in the bits that number their symbols.  There are no groups and no
 * heads; a search goes through the column and decodes the few rests that begin where the previous
 * key and the probe part.
 *
 * All lengths count from the end of the block's prefix.
 *
 *	0		SFX_STR_COLUMN
 *	1		bits of a shared length (0 to 6); 16 * bits of a symbol (1 to 6, or 8:
 *			rests are bytes)
 *	2		the least shared length
 *	3		number of shared lengths that are greater than their bits say
 *	4		number of keys that are longer than the rule says
 *	5		number of symbols in all rests (2 bytes)
 *	7		unless rests are bytes: the least symbol; bytes of a bitmap; the bitmap, in which
 *			the symbols' bits are set, counted from the least one
 *	...		what keys 1, 2, ... share with the previous one, without the least, packed
 *	...		for each of the former: number of the key, what is to be added (1 byte each)
 *	...		for each of the latter: number of the key (1 byte), what is to be added (2 bytes)
 *	...		the rests, packed
 *
 * What key 0 shares with the key before it, and the last key with the next, counts as 0.  The keys
 * of exceptions ascend.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_STRCOLUMN_H
#define SFX_STRCOLUMN_H

#include "cpu.h"
#include "block_format.h"

#define SFX_STR_COLUMN		0x10	/* the first byte: no flags of strblock.h */
#define SFX_COLUMN_HEAD		7
#define SFX_COLUMN_SHARED	192		/* a shared length is less: a byte holds one, together with its
									 * bits */
#define SFX_COLUMN_SYMBOLS	8192	/* most symbols of all rests */
#define SFX_COLUMN_SLACK	64		/* readers of lengths or symbols may go that far beyond them */

typedef struct SfxStrCol
{
	const uint8_t *shared;		/* packed */
	const uint8_t *over;		/* greater ones */
	const uint8_t *longer;		/* longer keys */
	const uint8_t *rests;
	const uint8_t *end;			/* of the stream */
	int			n;
	int			nover;
	int			nlonger;
	uint32_t	nsymbols;		/* of all rests */
	unsigned	least;
	unsigned	bits;			/* of a shared length */
	SfxSymbols	symbols;		/* bits 8: rests are bytes, and the table is not filled */
} SfxStrCol;

/* What a search finds out beside the number of keys that are less. */
typedef struct SfxStrPlace
{
	bool		equal;			/* the next key is the probe */
	bool		begins;			/* the last of them is the beginning of the probe, ... */
	uint32_t	len;			/* ... and has that length */
} SfxStrPlace;

/*
 * Encode k into out; no key may be the beginning of another one.  Returns the bytes written, or
 * SFX_NOSPACE, also if this form is not suitable for the keys.  *surely: no form of strblock.h is
 * smaller.
 */
extern int sfx_strcol_encode(const SfxKeys *k, uint8_t *out, size_t cap, bool *surely);

/* Parse a stream of n keys: SFX_OK or SFX_CORRUPT.  *c points into the stream. */
extern int sfx_strcol_open(SfxStrCol *c, const uint8_t *in, size_t len, int n);

/* Returns the number of keys < t (bytes after the block's prefix) in byte order, or SFX_CORRUPT. */
extern int sfx_strcol_search(const SfxStrCol *c, const uint8_t *t, uint32_t tlen,
							 SfxStrPlace *place);

/* Write keys [from, to), from < to, to out, as sfx_str_decode does.  SFX_OK or SFX_CORRUPT. */
extern int sfx_strcol_decode(const SfxStrCol *c, int from, int to, uint32_t prelen, uint8_t *out,
							 uint32_t cap, uint32_t *off);

#endif							/* SFX_STRCOLUMN_H */
