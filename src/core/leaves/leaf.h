/*-------------------------------------------------------------------------
 * leaf.h - the body of a leaf page: packed writer and bounded reader
 *
 * A leaf body is a header with the two fences, a directory of blocks and the blocks. A block holds
 * up to SFX_BLOCK_KEYS distinct keys (each stored once) and SFX_BLOCK_ENTRIES entries, in three
 * streams: keys, posting-list lengths (absent where all are 1), TIDs, and a fourth for payloads
 * where the index has INCLUDE columns.  Blocks are self-contained, so each picks its own codecs by
 * size:
 *
 *	FIXED	all keys of the block have one length (at most 64 bytes behind their common prefix): bits or bytes
 *			that are the same in all keys are dropped; of the others the first 64 bits go to an integer block,
 *			the rest is raw (fixblock.h)
 *	STRING	front coding in groups of 16 keys, what is left of them raw or in HOPE code (strblock.h)
 *	BITS	where keys are cut, most of them after the same bit: FIXED, and the further bits of
 *			those that need them (bitblock.h)
 *
 * A leaf names at most one dictionary, by a number that its index gave it, and needs it for all
 * that looks at keys between the fences: sfx_leaf_open says which, and the caller puts it into
 * l->dict.  Without it, or with another one, those functions return SFX_CORRUPT or wrong keys, but
 * stay within bounds.  Fences and separators are raw.
 *
 * The low fence is inclusive, the high fence exclusive (absent = plus infinity). Every entry lies
 * between them.  What all keys between the fences must share (their common prefix) is stored once.
 *
 * In comparator order (an SfxOrder is given) fences tell nothing about the bytes of keys between
 * them: there is no common prefix, and key streams are STRING only.  All functions that compare
 * keys may leave by longjmp then, out of the comparison; readers have changed nothing but their
 * output by that time, a packer is of no more use.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LEAF_H
#define SFX_LEAF_H

#include "block_format.h"
#include "cpu.h"
#include "hope.h"
#include "sfx.h"

typedef struct SfxEntry
{
	const uint8_t *key;
	uint32_t	keylen;
	uint32_t	paylen;
	const uint8_t *payload;
	uint64_t	tid;
} SfxEntry;

/*
 * Copy e to *to with its key and payload to bytes, which has room for them and stays the caller's.
 * The bytes used.
 */
static inline uint32_t
sfx_entry_copy(const SfxEntry *e, SfxEntry *to, uint8_t *bytes)
{
	*to = *e;
	memcpy(bytes, e->key, e->keylen);
	if (e->paylen > 0)
		memcpy(bytes + e->keylen, e->payload, e->paylen);
	to->key = bytes;
	to->payload = bytes + e->keylen;
	return e->keylen + e->paylen;
}

/* ---- writer: a stream of entries in, full pages out ---- */

/* One finished page body.  Pointers are valid during the call only. */
typedef struct SfxLeafOut
{
	const uint8_t *body;
	uint32_t	len;			/* <= capacity */
	SfxPos		low;			/* inclusive */
	SfxPos		high;			/* exclusive; meaningless if high_inf */
	bool		high_inf;
	uint32_t	nentries;
} SfxLeafOut;

/*
 * Called for each finished page in key order.  A negative return stops the packer, which then
 * returns it.
 */
typedef int (*SfxLeafEmit) (void *ctx, const SfxLeafOut *out);

typedef struct SfxPacker SfxPacker;

/* Bytes of memory (8-byte aligned) that a packer needs. */
extern size_t sfx_packer_size(void);

/*
 * Start packing into page bodies of at most capacity bytes (4,096 to 32,000). low is the low fence
 * of the first page; its bytes are copied.  order (NULL: byte order) must outlive the packer.
 */
extern SfxPacker *sfx_packer_init(void *mem, uint32_t capacity, const SfxPos *low,
								  SfxLeafEmit emit, void *ctx, const SfxOrder *order);

/*
 * Add one entry, greater than the one before by (key, TID) and not below low. keylen + paylen <=
 * SFX_MAX_ENTRY. Bytes are copied.  Pages are filled as full as they can be.  Returns SFX_OK, what
 * emit returned, or SFX_CORRUPT if the entry is not where it should be (in comparator order that is
 * seen within one key only). Never calls order->cmp; order->separate once per block, and a few
 * times where a page ends.
 */
extern int sfx_packer_add(SfxPacker *p, const SfxEntry *e);

/* The same for a key that was cut: of its last byte so many bits are not known, and zero. */
extern int sfx_packer_add_cut(SfxPacker *p, const SfxEntry *e, unsigned loose);

struct SfxBlock;
/*
 * The same for entries [from, to) of a decoded block, one after the other.  Bytes are copied.
 * codes: the block's, if it was coded with the packer's dictionary; else NULL.
 */
extern int sfx_packer_add_run(SfxPacker *p, const struct SfxBlock *b, int from, int to, const SfxCodes *codes);

/*
 * End: everything left is emitted; the last page's high fence is high (NULL = plus infinity;
 * SFX_CORRUPT if it is not above the last entry).  At least one page is emitted, an empty one if
 * there were no entries.
 */
extern int sfx_packer_finish(SfxPacker *p, const SfxPos *high);

/* Pages emitted so far. */
extern int sfx_packer_pages(const SfxPacker *p);

/*
 * For experiments: encode the integers of keys with this codec (SfxIntCodec; 0: choose) wherever it
 * applies.
 */
extern void sfx_packer_set_codec(SfxPacker *p, int codec);

/*
 * Code with a dictionary, named number (> 0) in the pages, what gets smaller by it.  Call before
 * the first entry.
 */
extern void sfx_packer_set_dict(SfxPacker *p, const SfxHope *dict, uint32_t number);

/* May rests be packed (strblock.h), which is the default?  Not where a dictionary was asked for. */
extern void sfx_packer_set_packing(SfxPacker *p, bool packing);

/*
 * Cut keys of up to most bytes from the first entry on (byte order; a dictionary or sample given
 * before is forgotten, and none may follow): only as much of a key is stored as tells it from the
 * keys beside it and from the fences.  What comes in may be cut already, if none of it is the
 * beginning of another one.
 */
extern void sfx_packer_cut_keys(SfxPacker *p, uint32_t most);

/*
 * Not more than so many entries on a page of cut keys, but for those of one key, which are not
 * parted.  Before the first entry.
 */
extern void sfx_packer_part(SfxPacker *p, uint32_t most);

/*
 * A sample of what front coding leaves of keys, to train a dictionary with: of evenly spaced groups
 * of keys; when it is full, every other one is dropped, and from then on half as many are taken.
 */
#define SFX_SAMPLE_KEYS		16384
#define SFX_SAMPLE_BYTES	262144
typedef struct SfxRestSample
{
	uint32_t	nkeys;
	uint32_t	used;
	uint32_t	stride;			/* every so manieth group is taken: a power of two, 1 at first */
	uint32_t	seen;			/* groups */
	uint32_t	end[SFX_SAMPLE_KEYS];	/* rest i is bytes[end[i - 1] .. end[i]) */
	uint8_t		bytes[SFX_SAMPLE_BYTES];
} SfxRestSample;

extern void sfx_sample_init(SfxRestSample *s);
extern void sfx_sample_add(SfxRestSample *s, const uint8_t *rest, uint32_t len);
/* The rests as keys (room for SFX_SAMPLE_KEYS) that point into s; their number. */
extern uint32_t sfx_sample_keys(const SfxRestSample *s, SfxHopeKey *keys);
/* Sample what this packer writes from now on (NULL: do not). */
extern void sfx_packer_set_sample(SfxPacker *p, SfxRestSample *s);

/* Bytes of rests in the pages so far: before coding, and as they are stored. */
extern void sfx_packer_rests(const SfxPacker *p, uint64_t *raw, uint64_t *stored);

/* ---- reader ---- */

typedef struct SfxLeaf
{
	const uint8_t *body;
	uint32_t	len;
	uint32_t	nentries;
	int			nblocks;
	const SfxOrder *order;		/* NULL: byte order */
	uint32_t	dictno;			/* the dictionary that it names; 0: none */
	const SfxHope *dict;		/* for the caller to fill in */
	bool		cut;			/* keys may be the beginnings of longer ones: sfx_leaf_undecided */
	bool		bytewise;		/* for the caller to set: keys, in comparator order, are
								 * probably in that of bytes */
	/* private: leaf_block.h */
	uint32_t	priv[12];
} SfxLeaf;

/*
 * Check the header and directory; sets dictno, and dict to NULL.  SFX_OK or SFX_CORRUPT (also where
 * the body is in byte order and order is not NULL, or the other way round).  No copy: body and
 * order must outlive l.
 */
extern int sfx_leaf_open(SfxLeaf *l, const uint8_t *body, uint32_t len, const SfxOrder *order);

/*
 * Where block b stands in the body: bytes [*begin, *end); [0, *head) is what reading of any block
 * needs besides. All inside the body, whatever it holds.
 */
extern void sfx_leaf_place(const SfxLeaf *l, int b, uint32_t *head, uint32_t *begin, uint32_t *end);

/*
 * Copy the fences' keys to lowbuf and highbuf (SFX_MAX_ENTRY bytes each) and point low and high
 * there.
 */
extern int sfx_leaf_fences(const SfxLeaf *l, uint8_t *lowbuf, SfxPos *low,
						   uint8_t *highbuf, SfxPos *high, bool *high_inf);

/*
 * < 0: pos lies below the low fence; 0: inside [low, high); > 0: at or above the high fence.  No
 * copies; two comparisons. SFX_CORRUPT cannot happen after sfx_leaf_open.
 */
extern int sfx_leaf_cmp_fences(const SfxLeaf *l, const SfxPos *pos);

/*
 * Are these, with all their bytes, the leaf's fences (high NULL: it has no high one)?  Not where
 * they share a prefix.
 */
extern bool sfx_leaf_fences_are(const SfxLeaf *l, const SfxPos *low, const SfxPos *high);

/* Comparator order: is the high fence a position of that key? */
extern bool sfx_leaf_high_is(const SfxLeaf *l, const uint8_t *key, uint32_t len);

/*
 * Is pos, which is known not to lie below the low fence, not above the high one (it may be the high
 * one)?
 */
extern bool sfx_leaf_up_to_high(const SfxLeaf *l, const SfxPos *pos);

/* A decoded block.  The caller owns it and its buffers; reuse it for many blocks. */
typedef struct SfxBlock
{
	int			nent;			/* entries that came out */
	int			nkeys;			/* distinct keys that came out */
	int			first;			/* entry number inside the block of the first entry that came out */
	int			total;			/* entries in the block */
	uint32_t	width;			/* > 0: all keys have this length */
	bool		dups;			/* false: entry i has key i */
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	uint16_t	keyno[SFX_BLOCK_ENTRIES];	/* entry -> key; filled only if dups */
	uint32_t	keyoff[SFX_BLOCK_KEYS + 1]; /* key i is keys[keyoff[i] .. keyoff[i+1]); always filled */
	uint32_t	payoff[SFX_BLOCK_ENTRIES + 1];	/* payload i is payload[payoff[i]..payoff[i+1]); filled if haspay */
	bool		haspay;
	bool		keyless;		/* keys and payloads were not asked for: all entries show the empty key */
	bool		bits;			/* of a leaf with cut keys: loose is filled */
	bool		tidless;		/* TIDs were not asked for: tid has none */
	/*
	 * what a limit left out of the bounds: keys [left_from, left_to), the first one's TIDs from
	 * left_lo on, the last one's below left_hi
	 */
	int			left_from;
	int			left_to;
	uint64_t	left_lo;
	uint64_t	left_hi;
	const uint8_t *payload;		/* points into the leaf body */
	uint8_t		loose[SFX_BLOCK_KEYS];	/* bits of a key's last byte that are not stored */
	uint8_t		keys[SFX_BLOCK_RAW + SFX_MAX_ENTRY];
} SfxBlock;

/*
 * The number of the block in which the first entry >= pos stands, nblocks if there is none; or
 * SFX_CORRUPT. (The block may turn out to hold only smaller ones: then the next block's first entry
 * is the one.)
 */
extern int sfx_leaf_find_block(const SfxLeaf *l, const SfxPos *pos);

/*
 * Comparator order, and a leaf that holds (key, 0): all entries of that key with TIDs below tid,
 * into out, found where it stands if keys are in the order of their bytes (B5).  That they are not
 * there is proved by comparisons with both neighbours.  *b: the block that the answer is from.
 */
typedef enum SfxExact
{
	SFX_EXACT_CORRUPT = -1,
	SFX_EXACT_UNDECIDED,		/* search as ever */
	SFX_EXACT_FOUND,
	SFX_EXACT_ABSENT			/* out is empty, and no other block has any */
} SfxExact;
extern SfxExact sfx_leaf_find_exact(const SfxLeaf *l, const uint8_t *key, uint32_t len,
									uint64_t tid, SfxBlock *out, int *b);

/*
 * The number of the block in which the last entry < pos stands; l->nblocks if no entry is < pos (0
 * for a leaf without blocks); SFX_CORRUPT.
 */
extern int sfx_leaf_find_block_before(const SfxLeaf *l, const SfxPos *pos);

/*
 * Decode the entries e of block b with lo <= e < hi (NULL: no bound) into out.  May decode fewer
 * bytes than the block has: a point lookup touches a handful. In comparator order a bound that lies
 * outside of the block costs one comparison (hi: if it is not the last block), one inside up to 9,
 * and one whose key is the other's none. Returns SFX_OK or SFX_CORRUPT.
 */
extern int sfx_leaf_decode(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out);

/*
 * The same for who may not want all of it: where keys are front-coded, of more than limit entries
 * (and a group's of keys) only the first limit or so come out, backward the last ones; where they
 * are not, if limit is at most SFX_FEW_KEYS, of more than limit keys.  sfx_block_left tells whether
 * any are left; sfx_leaf_decode_left decodes the next ones of block b into the out that the last
 * call for it filled, all that are left if limit is 0.
 */
#define SFX_FEW_KEYS	16
extern int sfx_leaf_decode_limit(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int limit, bool backward, SfxBlock *out);
extern int sfx_leaf_decode_left(const SfxLeaf *l, int b, int limit, bool backward, SfxBlock *out);

/*
 * The same as sfx_leaf_decode for who needs TIDs only: keys and payloads are left out
 * (out->keyless), except where all that comes out has one key, and that a bound's.
 * sfx_leaf_add_keys puts in the keys of block b, whose entries stay what and where they are; their
 * payloads stay out.
 */
extern int sfx_leaf_decode_keyless(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out);
extern int sfx_leaf_add_keys(const SfxLeaf *l, int b, SfxBlock *out);

/*
 * The same as sfx_leaf_decode for who needs no TIDs: they are left out (out->tidless), except where
 * a bound cuts the entries of one key by them.
 */
extern int sfx_leaf_decode_tidless(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi,
								   SfxBlock *out);

/*
 * For who counts rows: of the entries of block b with lo <= e < hi (NULL: no bound) the TIDs whose
 * heap block is not all-visible, as sfx_tid_hidden has it, into hidden, which has room for
 * SFX_BLOCK_ENTRIES + SFX_HIDDEN_SLACK; how many, or SFX_CORRUPT.  *n: how many entries there are.
 */
extern int sfx_leaf_hidden(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi,
						   const SfxVisMap *map, uint64_t *hidden, int *n);

/* The codes of all keys of block b.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_codes(const SfxLeaf *l, int b, SfxCodes *c);

/*
 * What a leaf whose keys are cut says of pos's key: that nothing stored may be it, that one stored
 * key is, or that one is its beginning: out has that one and its entries.  (Where loose bits are
 * zero the bytes may be the same, and one the beginning of the other yet.)
 */
typedef enum SfxCutSide
{
	SFX_CUT_NONE,
	SFX_CUT_EQUAL,
	SFX_CUT_UNDECIDED,
	SFX_CUT_CORRUPT
} SfxCutSide;

extern SfxCutSide sfx_leaf_find_cut(const SfxLeaf *l, const SfxPos *pos, SfxBlock *out);

/*
 * Of a leaf whose keys are cut: is there one that is the beginning of pos's key, so that the leaf
 * does not tell on which side of pos it belongs?  1: out has this one key and its entries, 0: there
 * is none; or SFX_CORRUPT.
 */
extern int sfx_leaf_undecided(const SfxLeaf *l, const SfxPos *pos, SfxBlock *out);

static inline bool
sfx_block_left(const SfxBlock *b)
{
	return b->left_from < b->left_to;
}

/*
 * TIDs alone of block b, in entry order, into out[SFX_BLOCK_ENTRIES]; the number of them, or
 * SFX_CORRUPT. (VACUUM)
 */
extern int sfx_leaf_tids(const SfxLeaf *l, int b, uint64_t *out);

/*
 * The number of entries e of the leaf with lo <= e < hi (NULL: no bound); or SFX_CORRUPT.  Nothing
 * is decoded but what a bound falls on: heads of blocks, one search per bound, and the TIDs of a
 * key that equals a bound.
 */
extern int sfx_leaf_count(const SfxLeaf *l, const SfxPos *lo, const SfxPos *hi);

/* The number of entries of blocks [from, to), by their heads alone; or SFX_CORRUPT. */
extern int sfx_leaf_count_blocks(const SfxLeaf *l, int from, int to);

/*
 * The number of entries of block b that are < pos; *equal: the next one in the block is pos itself.
 * Or SFX_CORRUPT.
 */
extern int sfx_leaf_rank(const SfxLeaf *l, int b, const SfxPos *pos, bool *equal);

/* How the keys of a block are stored. */
typedef enum SfxKeyCodec
{
	SFX_KEYS_ONE = 0,			/* a single key: it is the block's prefix */
	/*
	 * 1 to 9: keys of one width, their first 64 varying bits in an integer block of that
	 * SfxIntCodec
	 */
	SFX_KEYS_FRONT = 10,		/* front coding */
	SFX_KEYS_HOPE = 11,			/* the same, the rests coded with a dictionary */
	SFX_KEYS_PACKED = 12,		/* ... packed in the bits that number their symbols */
	SFX_KEYS_BITS = 13,			/* cut between two bits (bitblock.h) */
	SFX_KEYS_COLUMN = 14,		/* cut, with a column of shared lengths (strcolumn.h) */
	SFX_KEYS_ENDED = 15,		/* cut between two bits, at one that is 1 */
	SFX_KEYS_DECIMAL = 16,		/* of one width, in an integer block of decimals */
	SFX_KEYS_CODECS
} SfxKeyCodec;

/*
 * What a block consists of.  The bytes add up to those of the block, its directory slot and
 * separator aside.
 */
typedef struct SfxBlockInfo
{
	int			nkeys;
	int			nent;
	SfxKeyCodec keycodec;
	int			tidcodec;		/* SfxTidCodec; 0: a single TID as it is */
	uint32_t	head;			/* bytes: flags and counts */
	uint32_t	keys;			/* prefix and key stream */
	uint32_t	lists;			/* lengths of posting lists */
	uint32_t	tids;
	uint32_t	payload;		/* with where each ends */
} SfxBlockInfo;

/* Needs no dictionary.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_block_info(const SfxLeaf *l, int b, SfxBlockInfo *info);

/*
 * Every invariant of the body that costs a full decode: order, fences, counts, key lengths.
 * SFX_OK, or SFX_CORRUPT with *why naming the broken invariant (a static string); SFX_DISORDER if
 * that is one of comparator order alone.  dict: the one that the leaf names.  For surfidx_check.
 */
extern int sfx_leaf_verify(const uint8_t *body, uint32_t len, const SfxOrder *order, const SfxHope *dict,
						   SfxBlock *scratch, const char **why);

/* The number of the key of entry i of a decoded block that has keys. */
static inline int
sfx_block_keyno(const SfxBlock *b, int i)
{
	return b->dups ? b->keyno[i] : i;
}

/* So many bits of the last byte of entry i's key are not stored.  (0 where keys are not cut.) */
static inline unsigned
sfx_block_loose(const SfxBlock *b, int i)
{
	return b->bits ? b->loose[sfx_block_keyno(b, i)] : 0;
}

/* Does a whole key begin with what is stored of one, whose last byte has so many loose bits? */
static inline bool
sfx_begins(const uint8_t *stored, uint32_t storedlen, unsigned loose, const uint8_t *key,
		   uint32_t len)
{
	if (loose == 0)
		return storedlen <= len && memcmp(stored, key, storedlen) == 0;
	return storedlen <= len && memcmp(stored, key, storedlen - 1) == 0 &&
		(stored[storedlen - 1] ^ key[storedlen - 1]) >> loose == 0;
}

/* ... and does what is stored leave open whether it is this key, and on which side of it it is? */
static inline bool
sfx_leaves_open(const uint8_t *stored, uint32_t storedlen, unsigned loose, const uint8_t *key,
				uint32_t len)
{
	return (loose > 0 || storedlen < len) && sfx_begins(stored, storedlen, loose, key, len);
}

/* Behind the last entry of a decoded block that has entry i's key. */
static inline int
sfx_block_end_of_key(const SfxBlock *b, int i)
{
	int			k = sfx_block_keyno(b, i);

	do
		i++;
	while (i < b->nent && sfx_block_keyno(b, i) == k);
	return i;
}

/* Entry i of a decoded block. */
static inline void
sfx_block_entry(const SfxBlock *b, int i, SfxEntry *e)
{
	int			k = b->keyless ? 0 : sfx_block_keyno(b, i);

	e->key = b->keys + b->keyoff[k];
	e->keylen = b->keyoff[k + 1] - b->keyoff[k];
	e->tid = b->tid[i];
	e->payload = b->haspay ? b->payload + b->payoff[i] : NULL;
	e->paylen = b->haspay ? b->payoff[i + 1] - b->payoff[i] : 0;
}

/*
 * Take n entries, whose places ascend, out of a decoded block of keys of 8 to 16 bytes, all
 * different, whole and without payloads.  False, and nothing done: it is not one of these.
 */
extern bool sfx_block_drop(SfxBlock *b, const uint16_t *places, int n);

/* A block of one entry.  Its key is copied, its payload stays where it is. */
static inline void
sfx_block_of_entry(SfxBlock *b, const SfxEntry *e)
{
	b->nent = b->nkeys = b->total = 1;
	b->first = 0;
	b->width = e->keylen;
	b->dups = b->keyless = b->tidless = b->bits = false;
	b->left_from = b->left_to = 0;
	b->tid[0] = e->tid;
	b->keyoff[0] = 0;
	b->keyoff[1] = e->keylen;
	memcpy(b->keys, e->key, e->keylen);
	b->haspay = e->payload != NULL;
	b->payload = e->payload;
	b->payoff[0] = 0;
	b->payoff[1] = e->paylen;
}

#endif							/* SFX_LEAF_H */
