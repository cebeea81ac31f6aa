/*-------------------------------------------------------------------------
 * fixblock.h - key stream of a FIXED block: keys of one width
 *
 * The width counts from behind the block's prefix.
 *
 *	0			width w, 1 to 64; SFX_FIX_ALL set: all bytes vary and the mask is absent
 *	1			mask, (w + 7) / 8 bytes: bit i set = byte i varies (little-endian bits)
 *	...			the bytes that do not vary, in order
 *	...			integer block (intcodec.h): the first 8 varying bytes, big-endian
 *	...			the further varying bytes, key after key
 *
 * The bytes that do not vary are the same in all keys, so the order of the varying ones is key order.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FIXBLOCK_H
#define SFX_FIXBLOCK_H

#include "leaf_format.h"

#define SFX_FIX_MAXWIDTH	64
#define SFX_FIX_ALL			0x80

typedef struct SfxFix
{
	const uint8_t *consts;		/* the bytes that do not vary */
	const uint8_t *ints;
	const uint8_t *rest;		/* varying bytes behind the eighth */
	const uint8_t *end;			/* end of the stream */
	uint64_t	mask;
	int			n;
	int			width;
	int			nvary;			/* varying bytes */
	int			nint;			/* of these in the integer block */
} SfxFix;

/* Encode k (all of one length) into out.  Bytes written, or SFX_NOSPACE.  *nvary comes back. */
extern int sfx_fix_encode(const SfxKeys *k, uint8_t *out, size_t cap, int *nvary);

/* Parse a stream of n keys.  SFX_OK or SFX_CORRUPT. */
extern int sfx_fix_open(SfxFix *f, const uint8_t *in, size_t len, int n);

/* The number of keys < t (bytes behind the block's prefix); *equal: the key there is t.  Or SFX_CORRUPT. */
extern int sfx_fix_search(const SfxFix *f, const uint8_t *t, uint32_t tlen, bool *equal);

/*
 * Materialise keys [from, to) at out, one after the other.  The first prelen bytes at out are
 * the prefix.  out needs 16 bytes of room behind the keys.
 */
extern int sfx_fix_decode(const SfxFix *f, int from, int to, uint32_t prelen, uint8_t *out);

#endif							/* SFX_FIXBLOCK_H */
