/*-------------------------------------------------------------------------
 * leaf_format.h - constants of the leaf body, shared by those who read it (leaf_block.h) and
 * leaf_write.c (packer)
 *
 * The byte-offset tables stand at the top of leaf.c.  Private to those and to the key streams
 * (strblock.c, fixblock.c).
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LEAF_FORMAT_H
#define SFX_LEAF_FORMAT_H

#include "leaf.h"
#include "sfx.h"

#define SFX_LEAF_VERSION		1
#define SFX_LEAF_HEADER			16
#define SFX_LEAF_SLOT			4	/* bytes of a directory slot */
#define SFX_LEAF_MAXLEN			32767	/* slot offsets have 15 bits */

/* header flags */
#define SFX_LEAF_HIGH_INF		0x01
#define SFX_LEAF_LOW_TID		0x02
#define SFX_LEAF_HIGH_TID		0x04
#define SFX_LEAF_ORDER			0x08	/* comparator order */
#define SFX_LEAF_DICT			0x10	/* some block's keys are coded with a dictionary */
#define SFX_LEAF_CUT			0x20	/* a key may be the beginning of a longer one */
#define SFX_LEAF_FLAGS			0x3F

#define SFX_SLOT_TID			0x8000	/* in a slot's separator offset: the last six bytes are a TID */

/* block flags */
#define SFX_BLK_KIND			0x03
#define SFX_BLK_ONE				0	/* a single key: it is the block's prefix */
#define SFX_BLK_FIXED			1
#define SFX_BLK_STRING			2
#define SFX_BLK_BITS			3	/* in leaves with cut keys: they end between two bits */
#define SFX_BLK_DUPS			0x04	/* some key has several TIDs */
#define SFX_BLK_PAYLOAD			0x08
#define SFX_BLK_NENT_HI			0x10	/* bit 8 of (entries - 1) */
#define SFX_BLK_FLAGS			0x1F

/* the most bytes a block's flags, counts and prefix length take */
#define SFX_BLK_MAXHEAD			5

/*
 * Lengths: one byte below 224, else two (up to 8,415).
 */
#define SFX_LEN_ONE				224
#define SFX_LEN_MAX				(SFX_LEN_ONE + 31 * 256 + 255)

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

/* Read a length at *p (before end) and move *p on; false if the bytes end early. */
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
 * Copies in steps of 16 bytes.  dst must have 15 bytes of room behind n, src 15 readable ones;
 * they may overlap only beyond n.
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

/* The high 8 * nbytes bits, nbytes = 0..8. */
static inline uint64_t
sfx_high_bytes(int nbytes)
{
	return nbytes == 0 ? 0 : UINT64_MAX << (64 - 8 * nbytes);
}

/* The first n bytes at p (8, if there are more) as a big-endian number, zeros behind them. */
static inline uint64_t
sfx_load_be(const uint8_t *p, uint32_t n)
{
	uint64_t	v = 0;

	if (n >= 8)
		return sfx_load_be64(p);
	for (uint32_t i = 0; i < n; i++)
		v |= (uint64_t) p[i] << (56 - 8 * i);
	return v;
}

/*
 * The keys a key stream is made of: key i is bytes[off[i]..off[i+1]); its first skip bytes are the
 * block's prefix and stored elsewhere.  lcp[i] (i > 0) is the length it shares with key i-1.  15
 * bytes behind the last key are readable.
 */
typedef struct SfxKeys
{
	const uint8_t *bytes;
	const uint32_t *off;
	const uint16_t *lcp;
	int			n;
	uint32_t	skip;
	int			codec;			/* SfxIntCodec to be used for integers where it applies; 0: the best */
	const struct SfxKnownCodes *known;	/* of these keys; NULL: of none */
} SfxKeys;

/*
 * Codes that need not be made again: key i's bytes from start[i] on, without the last cut[i] ones.
 */
#define SFX_NO_CODE				UINT16_MAX	/* start: key i has none */
typedef struct SfxKnownCodes
{
	uint16_t	start[SFX_BLOCK_KEYS];
	uint8_t		cut[SFX_BLOCK_KEYS];
	uint16_t	len[SFX_BLOCK_KEYS];
	uint32_t	off[SFX_BLOCK_KEYS];	/* where it stands */
	const uint8_t *bytes;
} SfxKnownCodes;

#endif							/* SFX_LEAF_FORMAT_H */
