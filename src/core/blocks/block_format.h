/*-------------------------------------------------------------------------
 * block_format.h - what all blocks of a leaf have in common: their size, how lengths are stored,
 * and the keys that the key streams (fixblock.h, bitblock.h, strblock.h) are made of
 *-------------------------------------------------------------------------
 */
#ifndef SFX_BLOCK_FORMAT_H
#define SFX_BLOCK_FORMAT_H

#include "bits.h"

#define SFX_BLOCK_KEYS		256
#define SFX_BLOCK_ENTRIES	512
/*
 * A block is closed when its raw keys exceed this, so a decoded block always fits SFX_BLOCK_RAW +
 * SFX_MAX_ENTRY.
 */
#define SFX_BLOCK_RAW		65536

#define SFX_LEAF_MAXLEN			32767	/* of a leaf: offsets in its slots have 15 bits */

/* A length takes one byte below 224, else two (up to 8,415). */
#define SFX_LEN_ONE				224

static inline uint32_t
sfx_len_size(uint32_t v)
{
	return v < SFX_LEN_ONE ? 1 : 2;
}

static inline uint8_t *
sfx_len_put(uint8_t *p, uint32_t v)
{
	if (v < SFX_LEN_ONE)
		*p++ = (uint8_t) v;
	else
	{
		v -= SFX_LEN_ONE;
		*p++ = (uint8_t) (SFX_LEN_ONE + (v >> 8));
		*p++ = (uint8_t) v;
	}
	return p;
}

/* Read a length at *p, before end, and move *p after it.  False: the bytes end early. */
static inline bool
sfx_len_get(const uint8_t **p, const uint8_t *end, uint32_t *v)
{
	const uint8_t *q = *p;

	if (q >= end)
		return false;
	*v = *q++;
	if (*v >= SFX_LEN_ONE)
	{
		if (q >= end)
			return false;
		*v = SFX_LEN_ONE + ((*v - SFX_LEN_ONE) << 8) + *q++;
	}
	*p = q;
	return true;
}

/*
 * Copy n bytes in steps of 16.  dst must have 15 bytes of room after n, and src 15 readable ones;
 * the two may overlap only beyond n.
 */
static inline void
sfx_copy16(uint8_t *dst, const uint8_t *src, uint32_t n)
{
	uint32_t	i = 0;

	do
	{
		uint8_t		t[16];

		memcpy(t, src + i, 16);
		memcpy(dst + i, t, 16);
		i += 16;
	} while (i < n);
}

/* A mask of the high 8 * nbytes bits, nbytes = 0..8. */
static inline uint64_t
sfx_high_bytes(int nbytes)
{
	return nbytes == 0 ? 0 : UINT64_MAX << (64 - 8 * nbytes);
}

/*
 * The keys that a key stream is made of: key i is bytes[off[i]..off[i+1]).  Its first skip bytes
 * are the block's prefix and are stored elsewhere.  lcp[i] (i > 0) is the length that it shares
 * with key i-1.  15 bytes after the last key are readable.
 */
typedef struct SfxKeys
{
	const uint8_t *bytes;
	const uint32_t *off;
	const uint16_t *lcp;
	int			n;
	uint32_t	skip;
	int			codec;			/* the SfxIntCodec to use for integers if it applies; 0: the best */
	const struct SfxKnownCodes *known;	/* of these keys; NULL: none are known */
} SfxKeys;

/*
 * Codes that need not be made again: of key i's bytes from start[i] on, without the last cut[i]
 * ones.
 */
#define SFX_NO_CODE				UINT16_MAX	/* start: the code of key i is not known */
typedef struct SfxKnownCodes
{
	uint16_t	start[SFX_BLOCK_KEYS];
	uint8_t		cut[SFX_BLOCK_KEYS];
	uint16_t	len[SFX_BLOCK_KEYS];
	uint32_t	off[SFX_BLOCK_KEYS];	/* where its code begins in bytes */
	const uint8_t *bytes;
} SfxKnownCodes;

/*
 * The codes of a block's keys as they are in a page: a packer that packs the keys again with the
 * same dictionary copies a code if it begins at the same byte.
 */
typedef struct SfxCodes
{
	uint32_t	dictno;			/* the leaf's dictionary */
	int			n;				/* number of keys; 0: they are not coded */
	uint32_t	cut;			/* bytes at the end of each key that are not in the code */
	uint16_t	start[SFX_BLOCK_KEYS];	/* the key's first byte that is */
	uint16_t	len[SFX_BLOCK_KEYS];	/* of the code */
	const uint8_t *code[SFX_BLOCK_KEYS];	/* in the leaf's body */
} SfxCodes;

#endif							/* SFX_BLOCK_FORMAT_H */
