/*-------------------------------------------------------------------------
 * leaf_block.h - what the files that read leaves share (layout: leaf.c)
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LEAF_BLOCK_H
#define SFX_LEAF_BLOCK_H

#include "bitblock.h"
#include "contract.h"
#include "fixblock.h"
#include "leaf.h"
#include "leaf_format.h"
#include "strblock.h"

/* What SfxLeaf.priv holds. */
enum
{
	PV_FLAGS,
	PV_PREFIX,					/* offset and length of the shared prefix */
	PV_PREFIXLEN,
	PV_LOW,						/* offset and length of the low fence's rest */
	PV_LOWLEN,
	PV_HIGH,
	PV_HIGHLEN,
	PV_DIR,						/* offset of the directory, of what follows it, of the first block */
	PV_SEPS,
	PV_BLOCKS
};

/* A block, parsed. */
typedef struct Block
{
	const uint8_t *end;
	int			kind;
	int			nkeys;
	int			nent;
	bool		dups;
	bool		haspay;
	const uint8_t *prefix;		/* the part that follows the page's prefix */
	uint32_t	prefixlen;
	const uint8_t *ends;		/* stream of posting-list ends; after the keys */
	const uint8_t *loose;		/* STRING: loose bits of each key, packed; NULL: there are none */
	SfxFix		fix;
	SfxStr		str;
	SfxBitBlock		bits;
} Block;

/* The streams after the keys. */
typedef struct Lists
{
	const uint16_t *endsarg;	/* what the TID codec gets: NULL if it does not need the ends */
	int			nlists;
	const uint8_t *tids;
	uint16_t	ends[SFX_BLOCK_KEYS];	/* if dups: filled as far as asked for */
} Lists;

/*
 * A range of a block's keys, and which TIDs of the first and last key's posting lists it excludes.
 */
typedef struct SfxKeyRange
{
	int			from,
				to;				/* keys */
	uint64_t	lo;				/* TIDs of key from below lo do not belong to the range */
	uint64_t	hi;				/* nor do those of key to-1 at or above hi */
	const uint8_t *key;			/* if the range is one key that equals a bound, that bound's key */
	uint32_t	keylen;
} SfxKeyRange;

/* A position with the page's prefix taken off. */
typedef struct Target
{
	int			side;			/* < 0: below all positions with that prefix, > 0: above; 0: inside */
	const uint8_t *key;
	uint32_t	len;
	uint64_t	tid;
} Target;

/*
 * Take a prefix off *key.  Returns 0; or < 0 (> 0) if the key sorts before (after) all strings that
 * begin with the prefix.
 */
static inline int
strip(const uint8_t **key, uint32_t *len, const uint8_t *prefix, uint32_t prefixlen)
{
	int			c;

	if (prefixlen == 0)
		return 0;
	c = sfx_cmp_bytes(*key, *len < prefixlen ? *len : prefixlen, prefix, *len < prefixlen ? *len : prefixlen);
	if (c != 0)
		return c;
	if (*len < prefixlen)
		return -1;
	*key += prefixlen;
	*len -= prefixlen;
	return 0;
}

static inline Target
make_target(const SfxLeaf *l, const SfxPos *pos)
{
	Target		t = {0, pos->key, pos->len, pos->tid};

	t.side = strip(&t.key, &t.len, l->body + l->priv[PV_PREFIX], l->priv[PV_PREFIXLEN]);
	return t;
}

static inline uint64_t
low_tid(const SfxLeaf *l)
{
	return l->priv[PV_FLAGS] & SFX_LEAF_LOW_TID ? sfx_get_tid(l->body + SFX_LEAF_HEADER) : 0;
}

static inline uint64_t
high_tid(const SfxLeaf *l)
{
	return l->priv[PV_FLAGS] & SFX_LEAF_HIGH_TID ? sfx_get_tid(l->body + l->priv[PV_PREFIX] - 6) : 0;
}

static inline const uint8_t *
slot(const SfxLeaf *l, int b)
{
	return l->body + l->priv[PV_DIR] + SFX_LEAF_SLOT * (uint32_t) b;
}

/* Separator of block b, without the page's prefix.  False if the slots are broken. */
static inline bool
separator(const SfxLeaf *l, int b, SfxPos *sep)
{
	uint32_t	from = sfx_get16(slot(l, b) + 2);
	uint32_t	to = b + 1 < l->nblocks ? sfx_get16(slot(l, b + 1) + 2) & ~(uint32_t) SFX_SLOT_TID
		: l->priv[PV_BLOCKS];
	bool		hastid = (from & SFX_SLOT_TID) != 0;

	from &= ~(uint32_t) SFX_SLOT_TID;
	if (from < l->priv[PV_SEPS] || to > l->priv[PV_BLOCKS] || to < from + (hastid ? 6 : 0))
		return false;
	sep->key = l->body + from;
	sep->len = to - from - (hastid ? 6 : 0);
	sep->tid = hastid ? sfx_get_tid(l->body + to - 6) : 0;
	return true;
}

/* Parse the head of block b, up to its key stream's end.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_open_block(const SfxLeaf *l, int b, Block *k);
/*
 * Returns the number of keys in the block that are < t, or SFX_CORRUPT; *equal: the next one is t
 * itself.  (Byte order.)
 */
extern int sfx_leaf_search(const Block *k, const Target *t, bool *equal);
/* The same.  place says whether t begins with the previous key, if sfx_leaf_search_tells. */
extern int sfx_leaf_search_cut(const Block *k, const Target *t, SfxStrPlace *place);
static inline bool
sfx_leaf_search_tells(const Block *k)
{
	return k->loose == NULL &&
		(k->kind == SFX_BLK_ONE || (k->kind == SFX_BLK_STRING && sfx_str_tells(&k->str)));
}
/* The same in comparator order; the first from keys are known to be smaller. */
extern int sfx_leaf_search_order(const SfxLeaf *l, const Block *k, int from, SfxSeek seek,
								 const SfxPos *pos, bool *equal);
/*
 * Returns the number of keys in the block that are < lo, or SFX_CORRUPT, in either order; seek is
 * for comparator order.
 */
extern int sfx_leaf_find_lo(const SfxLeaf *l, const Block *k, SfxSeek seek, const SfxPos *lo,
							bool *equal);
/*
 * Find the TIDs, and the ends of the posting lists: at least those of keys [from - 1, to).  A point
 * lookup needs two of them, and most TID codecs need none.  SFX_OK or SFX_CORRUPT.
 */
extern int sfx_leaf_open_lists(const Block *k, int from, int to, Lists *s);
/* The end of the TIDs; NULL if it is outside of the block. */
extern const uint8_t *sfx_leaf_tids_end(const Block *k, const Lists *s);
/* Write the TIDs of entries [from, to) to out.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_decode_tids(const Block *k, const Lists *s, int from, int to, uint64_t *out);
/* Find the part of block b between lo and hi (NULL: no bound).  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_find_range(const SfxLeaf *l, int b, const Block *k, const SfxPos *lo,
							   const SfxPos *hi, SfxKeyRange *r);
/* Decode the range's entries.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_decode_range(const SfxLeaf *l, const Block *k, SfxKeyRange *r, SfxBlock *out);
/* Make out empty, with nothing left of block k. */
extern void sfx_leaf_empty_block(const Block *k, SfxBlock *out);
/* Decode the entries of that key, which out has decoded already (sfx_leaf_decode_keys). */
extern int sfx_leaf_decode_entries(const SfxLeaf *l, const Block *k, int key, SfxBlock *out);
/* Find the bounds of the payloads [from, to), counted from the start of the payload bytes. */
extern int sfx_leaf_decode_payloads(const Block *k, const Lists *s, int from, int to, SfxBlock *out);
/* Write keys [from, to), from < to, with their prefixes, to out. */
extern int sfx_leaf_decode_keys(const SfxLeaf *l, const Block *k, int from, int to, SfxBlock *out);
/*
 * Returns the number of blocks whose separator is < t (orequal: <= t), at least 1, since the first
 * one's is minus infinity; or SFX_CORRUPT.
 */
extern int sfx_leaf_count_separators(const SfxLeaf *l, const Target *t, bool orequal);
/*
 * Returns the block in which t is if keys are in byte order, also in comparator order (B5); or
 * SFX_CORRUPT.  The leaf has blocks.
 */
extern int sfx_leaf_guess_block(const SfxLeaf *l, const Target *t);
/*
 * Do searches end in the right place in block b, all of which is decoded in blk?  before: the last
 * entry of the previous block, NULL for the first block.  Returns NULL, or what is wrong.  blk is
 * overwritten.
 */
extern const char *sfx_leaf_probe(const SfxLeaf *l, int b, SfxBlock *blk, const SfxPos *before);

#endif							/* SFX_LEAF_BLOCK_H */
