/*-------------------------------------------------------------------------
 * strblock.h - key stream of a STRING block: front-coded keys
 *
 * Keys count from behind the block's prefix.  Where all of them end in the same byte
 * (the terminator of text), that byte is stored once.  Groups of SFX_STR_GROUP keys; the first of a group is
 * stored whole (restart point), each other as the length it shares with the one before and the rest.
 *
 *	0			flags: SFX_STR_LAST, SFX_STR_NARROW
 *	1			the common last byte, if SFX_STR_LAST
 *	...			group lengths: narrow: the smallest (2 bytes), then the excess of each (1 byte);
 *				else the end of each group, counted from the first one's start (2 bytes)
 *	...			groups
 *
 * A group:
 *
 *	0			length of the restart key (leaf_format.h), its bytes
 *	...			shared length that all other keys of the group have at least (absent in a group of one)
 *	...			each other key: a byte with two nibbles, shared length above that minimum and length of
 *				the rest; a nibble of 15 is followed by a length to be added; the rest
 *-------------------------------------------------------------------------
 */
#ifndef SFX_STRBLOCK_H
#define SFX_STRBLOCK_H

#include "leaf_format.h"

#define SFX_STR_GROUP		16
#define SFX_STR_MAXGROUPS	16
#define SFX_STR_LAST		0x01
#define SFX_STR_NARROW		0x02
#define SFX_STR_FLAGS		0x03

typedef struct SfxStr
{
	const uint8_t *groups;
	const uint8_t *end;			/* end of the stream */
	int			n;
	int			ngroups;
	int			last;			/* common last byte, or -1 */
	uint16_t	goff[SFX_STR_MAXGROUPS + 1];	/* group g is groups[goff[g]..goff[g+1]) */
} SfxStr;

/* A lower bound of what sfx_str_encode would write, at little cost. */
extern uint32_t sfx_str_estimate(const SfxKeys *k);

/* Encode k into out.  Bytes written, or SFX_NOSPACE. */
extern int sfx_str_encode(const SfxKeys *k, uint8_t *out, size_t cap);

/* Parse a stream of n keys.  SFX_OK or SFX_CORRUPT. */
extern int sfx_str_open(SfxStr *s, const uint8_t *in, size_t len, int n);

/* The number of keys < t (bytes behind the block's prefix); *equal: the key there is t.  Or SFX_CORRUPT. */
extern int sfx_str_search(const SfxStr *s, const uint8_t *t, uint32_t tlen, bool *equal);

/*
 * Materialise keys [from, to) at out (cap bytes), one after the other; off[0..to-from] are their bounds.
 * The first prelen bytes at out are the prefix of all keys.
 * bodyend: bytes up to there may be read (not used) behind the stream.
 */
extern int sfx_str_decode(const SfxStr *s, int from, int to, uint32_t prelen, uint8_t *out, uint32_t cap,
						  uint32_t *off, const uint8_t *bodyend);

#endif							/* SFX_STRBLOCK_H */
