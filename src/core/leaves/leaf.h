/*-------------------------------------------------------------------------
 * leaf.h - the body of a leaf page: packed writer and bounded reader
 *
 * A leaf body is a header with the two fences, a directory of blocks and the blocks.  A block holds
 * up to SFX_BLOCK_KEYS distinct keys (each stored once) and SFX_BLOCK_ENTRIES entries, in three
 * streams: keys, posting-list lengths (absent if all are 1), TIDs; and a fourth for payloads if the
 * index has INCLUDE columns.  Blocks are self-contained, so each chooses its own codecs by size:
 *
 *	FIXED	all keys of the block have one length (at most 64 bytes after their common prefix):
 *			bits or bytes that are the same in all keys are dropped; of the others the first 64
 *			bits go to an integer block, the rest is raw (fixblock.h)
 *	STRING	front coding in groups of 16 keys, their rests raw or in HOPE code (strblock.h)
 *	BITS	keys are cut, most of them after the same bit: FIXED, and the further bits of
 *			those that need them (bitblock.h)
 *
 * A leaf names at most one dictionary, by a number that its index gave to it, and all functions
 * that look at keys between the fences need it: sfx_leaf_open says which, and the caller puts it
 * into l->dict.  Without it, or with another one, those functions return SFX_CORRUPT or wrong keys,
 * but stay within bounds.  Fences and separators are raw.
 *
 * The low fence is inclusive, the high fence exclusive (absent = plus infinity).  Every entry lies
 * between them.  What all keys between the fences must share (their common prefix) is stored once.
 *
 * In comparator order (an SfxOrder is given) fences tell nothing about the bytes of keys between
 * them: there is no common prefix, and key streams are STRING only.  All functions that compare
 * keys may be left by a longjmp out of the comparison then: readers have changed nothing but their
 * output by that time, and a packer must not be used any more.
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
 * Copy e to *to, with its key and payload in bytes, which has room for them and belongs to the
 * caller. Returns the bytes used.
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
 * Called for each finished page, in key order.  A negative return value stops the packer, which
 * then returns it.
 */
typedef int (*SfxLeafEmit) (void *ctx, const SfxLeafOut *out);

typedef struct SfxPacker SfxPacker;

/* Bytes of memory (8-byte aligned) that a packer needs. */
extern size_t sfx_packer_size(void);

/*
 * Start packing into page bodies of at most capacity bytes (4,096 to 32,000).  low is the low fence
 * of the first page; its bytes are copied.  mem has sfx_packer_size() bytes and is the packer,
 * which needs no end.  order (NULL: byte order) must outlive it.
 */
extern SfxPacker *sfx_packer_init(void *mem, uint32_t capacity, const SfxPos *low,
								  SfxLeafEmit emit, void *ctx, const SfxOrder *order);

/*
 * Add one entry, greater than the previous one by (key, TID) and not below low.  keylen + paylen <=
 * SFX_MAX_ENTRY.  Bytes are copied.  Pages are filled as full as they can be.  Returns SFX_OK, what
 * emit returned, or SFX_CORRUPT if the entry is not where it should be (in comparator order that is
 * noticed only within one key).  Never calls order->cmp; calls order->separate once for each block,
 * and a few times where a page ends.
 */
extern int sfx_packer_add(SfxPacker *p, const SfxEntry *e);

/* The same for a key that was cut: `loose` bits of its last byte are not known, and zero. */
extern int sfx_packer_add_cut(SfxPacker *p, const SfxEntry *e, unsigned loose);

struct SfxBlock;
/*
 * The same for entries [from, to) of a decoded block.  Bytes are copied.  codes: the block's,
 * or NULL.
 */
extern int sfx_packer_add_run(SfxPacker *p, const struct SfxBlock *b, int from, int to, const SfxCodes *codes);

/*
 * End: emit what is left; the last page's high fence is high (NULL = plus infinity; SFX_CORRUPT if
 * it is not above the last entry).  At least one page is emitted, an empty one if there were no
 * entries.
 */
extern int sfx_packer_finish(SfxPacker *p, const SfxPos *high);

/*
 * For experiments: encode the integers of keys with this codec (SfxIntCodec; 0: the best) wherever
 * it applies.
 */
extern void sfx_packer_set_codec(SfxPacker *p, int codec);

/*
 * Code with a dictionary what that makes smaller; pages name it by number (> 0).  Call before the
 * first entry.  After several calls each page is coded with one of these dictionaries: the last
 * one, unless another one codes some of the page's first keys in clearly fewer bytes.
 */
#define SFX_PACKER_DICTS	4
extern void sfx_packer_add_dict(SfxPacker *p, const SfxHope *dict, uint32_t number);


/* May rests be packed (strblock.h)?  That is the default, unless a dictionary was asked for. */
extern void sfx_packer_set_packing(SfxPacker *p, bool packing);

/*
 * Cut keys of up to `most` bytes from the first entry on (byte order; a dictionary or sample given
 * before is forgotten, and none may follow): of a key only so much is stored as tells it from its
 * neighbours and from the fences.  Keys that come in may be cut already, if none of them is the
 * beginning of another one.
 */
extern void sfx_packer_cut_keys(SfxPacker *p, uint32_t most);

/* After that, before the first entry: the keys that come in are whole, so any list may be divided. */
extern void sfx_packer_keys_whole(SfxPacker *p);

/*
 * Put at most `most` entries on a page of cut keys, except for the entries of one key, which stay
 * together.  Call before the first entry.
 */
extern void sfx_packer_part(SfxPacker *p, uint32_t most);

/*
 * A sample of the rests that front coding leaves of keys, to train a dictionary with.  It is of
 * evenly spaced groups of keys: when it is full, every other group is dropped, and from then on
 * half as many are taken.
 */
#define SFX_SAMPLE_KEYS		16384
#define SFX_SAMPLE_BYTES	262144
typedef struct SfxRestSample
{
	uint32_t	nkeys;
	uint32_t	used;
	uint32_t	stride;			/* of so many groups one is taken: a power of two, 1 at first */
	uint32_t	seen;			/* groups */
	uint32_t	end[SFX_SAMPLE_KEYS];	/* rest i is bytes[end[i - 1] .. end[i]) */
	uint8_t		bytes[SFX_SAMPLE_BYTES];
} SfxRestSample;

extern void sfx_sample_init(SfxRestSample *s);
/* Make keys of the rests (room for SFX_SAMPLE_KEYS) that point into s; returns their number. */
extern uint32_t sfx_sample_keys(const SfxRestSample *s, SfxHopeKey *keys);
/* Sample what this packer writes from now on (NULL: stop). */
extern void sfx_packer_set_sample(SfxPacker *p, SfxRestSample *s);

/*
 * Bytes of the rests so far, of pages with the dictionary of that number (0: of all): before
 * coding, and as they are stored.
 */
extern void sfx_packer_rests(const SfxPacker *p, uint32_t number, uint64_t *raw, uint64_t *stored);

/* ---- reader ---- */

typedef struct SfxLeaf
{
	const uint8_t *body;
	uint32_t	len;
	uint32_t	nentries;
	int			nblocks;
	const SfxOrder *order;		/* NULL: byte order */
	uint32_t	dictno;			/* the dictionary that it names; 0: none */
	const SfxHope *dict;		/* filled in by the caller */
	bool		cut;			/* keys may be the beginnings of longer ones: see
								 * sfx_leaf_undecided */
	bool		bytewise;		/* set by the caller: keys in comparator order are probably in byte
								 * order as well */
	/* private: leaf_block.h */
	uint32_t	priv[12];
} SfxLeaf;

/*
 * Check the header and the directory; sets dictno, and dict to NULL.  SFX_OK or SFX_CORRUPT (also
 * if the body is in byte order and order is not NULL, or the other way round).  Nothing is copied:
 * body and order must outlive l.
 */
extern int sfx_leaf_open(SfxLeaf *l, const uint8_t *body, uint32_t len, const SfxOrder *order);

/*
 * The place of block b in the body: bytes [*begin, *end).  [0, *head) is what readers of any block
 * need besides.  All of that is inside the body, whatever the body holds.
 */
extern void sfx_leaf_place(const SfxLeaf *l, int b, uint32_t *head, uint32_t *begin, uint32_t *end);

/*
 * Copy the fences' keys to lowbuf and highbuf (SFX_MAX_ENTRY bytes each) and let low and high point
 * to them.
 */
extern int sfx_leaf_fences(const SfxLeaf *l, uint8_t *lowbuf, SfxPos *low,
						   uint8_t *highbuf, SfxPos *high, bool *high_inf);

/*
 * < 0: pos is below the low fence; 0: inside [low, high); > 0: at or above the high fence.  Copies
 * nothing, and takes two comparisons.  SFX_CORRUPT cannot happen after sfx_leaf_open.
 */
extern int sfx_leaf_cmp_fences(const SfxLeaf *l, const SfxPos *pos);

/*
 * Are these, with all their bytes, the leaf's fences (high NULL: it has no high one)?  False if
 * they share a prefix.
 */
extern bool sfx_leaf_fences_are(const SfxLeaf *l, const SfxPos *low, const SfxPos *high);

/* Does the high fence have a TID?  Else no two positions of one key stand on both sides of it. */
extern bool sfx_leaf_high_has_tid(const SfxLeaf *l);

/* Comparator order: is the high fence a position of that key? */
extern bool sfx_leaf_high_is(const SfxLeaf *l, const uint8_t *key, uint32_t len);

/* Is pos, which is known not to be below the low fence, at or below the high fence? */
extern bool sfx_leaf_up_to_high(const SfxLeaf *l, const SfxPos *pos);

/* A decoded block.  The caller owns it and its buffers, and can reuse it for many blocks. */
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
	bool		keyless;		/* keys and payloads were not asked for: all entries have the empty
								 * key */
	bool		bits;			/* of a leaf with cut keys: loose is filled */
	bool		tidless;		/* TIDs were not asked for: tid is not filled */
	/*
	 * What a limit left over of the range: keys [left_from, left_to), the TIDs of the first one
	 * from left_lo on, those of the last one below left_hi.
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
 * Returns the number of the block in which the first entry >= pos is, nblocks if there is none, or
 * SFX_CORRUPT.  (The block may turn out to have smaller entries only: then the next block's first
 * entry is the one.)
 */
extern int sfx_leaf_find_block(const SfxLeaf *l, const SfxPos *pos);

/*
 * Comparator order, and a leaf that holds (key, 0): decode all entries of that key with TIDs below
 * tid into out, if they are found where they are if keys are in byte order (B5).  Comparisons with
 * both neighbours prove that the key is absent.  *b: the block that the answer is from.
 */
typedef enum SfxExact
{
	SFX_EXACT_CORRUPT = -1,
	SFX_EXACT_UNDECIDED,		/* search in the usual way */
	SFX_EXACT_FOUND,
	SFX_EXACT_ABSENT			/* out is empty, and no other block has any such entry */
} SfxExact;
extern SfxExact sfx_leaf_find_exact(const SfxLeaf *l, const uint8_t *key, uint32_t len,
									uint64_t tid, SfxBlock *out, int *b);

/*
 * Returns the number of the block in which the last entry < pos is; l->nblocks if no entry is < pos
 * (0 for a leaf without blocks); or SFX_CORRUPT.
 */
extern int sfx_leaf_find_block_before(const SfxLeaf *l, const SfxPos *pos);

/*
 * Decode the entries e of block b with lo <= e < hi (NULL: no bound) into out.  May decode less
 * than all bytes of the block: a point lookup touches a handful.  In comparator order a bound
 * outside of the block costs one comparison (hi: unless it is the last block), one inside up to 9,
 * and a bound with the same key as the other one none.  Returns SFX_OK or SFX_CORRUPT.
 */
extern int sfx_leaf_decode(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out);

/*
 * The same for a caller that may not need all of it.  If keys are front-coded, only about the first
 * `limit` entries are decoded, in whole groups of keys, or about the last ones if backward.  If
 * they are not, that is done only if limit is at most SFX_FEW_KEYS and there are more than limit
 * keys.  sfx_block_left tells whether any are left; then sfx_leaf_decode_left decodes the next ones
 * of block b, or all that are left if limit is 0, into the same out.
 */
#define SFX_FEW_KEYS	16
extern int sfx_leaf_decode_limit(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int limit, bool backward, SfxBlock *out);
extern int sfx_leaf_decode_left(const SfxLeaf *l, int b, int limit, bool backward, SfxBlock *out);

/*
 * The same as sfx_leaf_decode for a caller that needs TIDs only: keys and payloads are left out
 * (out->keyless), unless all entries have one key, and it is a bound's.  sfx_leaf_add_keys adds the
 * keys of block b; the entries and their places stay as they are, and payloads stay out.
 */
extern int sfx_leaf_decode_keyless(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out);
extern int sfx_leaf_add_keys(const SfxLeaf *l, int b, SfxBlock *out);

/*
 * The same as sfx_leaf_decode for a caller that needs no TIDs: they are left out (out->tidless),
 * unless a bound divides the entries of one key by them.
 */
extern int sfx_leaf_decode_tidless(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi,
								   SfxBlock *out);

/*
 * For counting rows: write to hidden the TIDs, of the entries of block b with lo <= e < hi (NULL:
 * no bound), whose heap block is not all-visible, as sfx_tid_hidden does.  hidden has room for
 * SFX_BLOCK_ENTRIES + SFX_HIDDEN_SLACK.  Returns how many, or SFX_CORRUPT; *n: number of the
 * entries.
 */
extern int sfx_leaf_hidden(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi,
						   const SfxVisMap *map, uint64_t *hidden, int *n);

/* The codes of all keys of block b, which point into the leaf.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_codes(const SfxLeaf *l, int b, SfxCodes *c);

/*
 * What a leaf with cut keys tells about pos's key: that no stored key can be it, that one stored
 * key is it, or that one is its beginning.  In the latter two cases out has that key and its
 * entries.  (Since loose bits are zero, the bytes may be the same although one key is the beginning
 * of the other.)
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
 * In a leaf with cut keys: is a stored key the beginning of pos's key, so that the leaf does not
 * tell on which side of pos it is?  1: yes, and out has this key and its entries; 0: no; or
 * SFX_CORRUPT.
 */
extern int sfx_leaf_undecided(const SfxLeaf *l, const SfxPos *pos, SfxBlock *out);

static inline bool
sfx_block_left(const SfxBlock *b)
{
	return b->left_from < b->left_to;
}

/*
 * Write only the TIDs of block b, in entry order, to out[SFX_BLOCK_ENTRIES].  Returns their number,
 * or SFX_CORRUPT.  (For VACUUM.)
 */
extern int sfx_leaf_tids(const SfxLeaf *l, int b, uint64_t *out);

/*
 * Returns the number of entries e of the leaf with lo <= e < hi (NULL: no bound), or SFX_CORRUPT.
 * Only what a bound falls on is decoded: heads of blocks, one search for each bound, and the TIDs
 * of a key that equals a bound.
 */
extern int sfx_leaf_count(const SfxLeaf *l, const SfxPos *lo, const SfxPos *hi);

/* Returns the number of entries of blocks [from, to), which their heads tell, or SFX_CORRUPT. */
extern int sfx_leaf_count_blocks(const SfxLeaf *l, int from, int to);

/*
 * Returns the number of entries of block b that are < pos, or SFX_CORRUPT; *equal: the next entry
 * in the block is pos itself.
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
 * The parts of a block.  Their bytes add up to the block's, without its directory slot and
 * separator.
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
	uint32_t	payload;		/* with the ends of each */
} SfxBlockInfo;

/* Fill *info; needs no dictionary.  SFX_OK or SFX_CORRUPT. */
extern int sfx_leaf_block_info(const SfxLeaf *l, int b, SfxBlockInfo *info);

/*
 * Check every invariant of the body, which takes a full decode: order, fences, counts, key lengths.
 * SFX_OK; or SFX_CORRUPT, with *why (a static string) naming the broken invariant; or SFX_DISORDER
 * if that depends on comparisons.  dict: the dictionary that the leaf names.  For surfidx_check.
 */
extern int sfx_leaf_verify(const uint8_t *body, uint32_t len, const SfxOrder *order, const SfxHope *dict,
						   SfxBlock *scratch, const char **why);

/* The number of the key of entry i of a decoded block that has keys. */
static inline int
sfx_block_keyno(const SfxBlock *b, int i)
{
	return b->dups ? b->keyno[i] : i;
}

/*
 * Number of bits of the last byte of entry i's key that are not stored.  (0 if keys are not cut.)
 */
static inline unsigned
sfx_block_loose(const SfxBlock *b, int i)
{
	return b->bits ? b->loose[sfx_block_keyno(b, i)] : 0;
}

/* Does a key begin with what is stored of one, whose last byte has `loose` loose bits? */
static inline bool
sfx_begins(const uint8_t *stored, uint32_t storedlen, unsigned loose, const uint8_t *key,
		   uint32_t len)
{
	if (loose == 0)
		return storedlen <= len && memcmp(stored, key, storedlen) == 0;
	return storedlen <= len && memcmp(stored, key, storedlen - 1) == 0 &&
		(stored[storedlen - 1] ^ key[storedlen - 1]) >> loose == 0;
}

/* The same, and is it open whether the stored key is this one, and on which side of it it is? */
static inline bool
sfx_leaves_open(const uint8_t *stored, uint32_t storedlen, unsigned loose, const uint8_t *key,
				uint32_t len)
{
	return (loose > 0 || storedlen < len) && sfx_begins(stored, storedlen, loose, key, len);
}

/* The end of the run of entries, in a decoded block, that have entry i's key. */
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
 * Remove n entries, whose places ascend, from a decoded block of keys of 8 to 16 bytes, all
 * different, whole and without payloads.  False: it is not such a block, and nothing was done.
 */
extern bool sfx_block_drop(SfxBlock *b, const uint16_t *places, int n);

/* Make a block of one entry.  The key is copied, the payload stays where it is. */
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
