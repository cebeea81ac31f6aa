/*-------------------------------------------------------------------------
 * leaf.c - reader of leaf page bodies
 *
 * Body (integers little-endian, unaligned):
 *
 *	off  size
 *	0	 1		version (SFX_LEAF_VERSION)
 *	1	 1		flags: no high fence; low fence has a TID; high fence has a TID; comparator order; dictionary
 *	2	 2		number of blocks
 *	4	 4		number of entries
 *	8	 2		length P of the prefix that both fences share (0 if there is no high fence, or in comparator order)
 *	10	 2		length of the low fence's key
 *	12	 2		length of the high fence's key
 *	14	 2		offset of the first block
 *	16	 6		TID of the low fence, if flagged (big-endian, as all single TIDs)
 *	..	 4		number of the dictionary, if flagged
 *	..	 6		TID of the high fence, if flagged
 *	..	 P		shared prefix
 *	..	 ..		rest of the low fence's key, rest of the high fence's key
 *	..	 4 * n	directory: a slot per block
 *	..	 ..		separators, in block order
 *	..	 ..		blocks, to the end of the body
 *
 * Slot: 2 bytes offset of the block, 2 bytes offset of its separator (bit 15: its last six bytes
 * are a TID).  Separator i is sfx_order_separator(last entry of block i-1, first entry of block i) without
 * the shared prefix; that of block 0 is empty (minus infinity).  All positions between the fences
 * start with the shared prefix, or the page would not hold them.  In comparator order nothing follows for
 * the bytes of a key from two others between which it lies, so that P is 0 and a block's prefix is what each of its keys has.
 *
 * Block:
 *
 *	0	 1		flags: kind (ONE, FIXED, STRING), DUPS, PAYLOAD, bit 8 of (entries - 1)
 *	1	 1		keys - 1 (absent in ONE)
 *	..	 1		entries - 1, low 8 bits (if DUPS; else there are as many as keys)
 *	..	 1-2	length of the block's prefix behind P, its bytes
 *	..	 ..		key stream (absent in ONE; fixblock.h, strblock.h)
 *	..	 ..		integer block of keys - 1 values: end of key i's posting list less i + 1
 *				(if DUPS and not ONE; the last end is the number of entries)
 *	..	 ..		TIDs: 6 bytes if there is one entry, else a TID block (tidcodec.h)
 *	..	 ..		if PAYLOAD and more than one entry: ends of the payloads, one or two
 *				integer blocks of up to SFX_INT_MAX
 *	..	 ..		if PAYLOAD: payload bytes, to the end of the block
 *
 * A page with two fences of SFX_MAX_ENTRY bytes and a TID each and one such entry takes
 * 16 + 12 + 4 (dictionary) + 3 * 2696 + 4 (slot) + 3 (block head) + 6 = 8,133 bytes.
 *
 * The directory is not checked as a whole when a page is opened (a page of serial keys has 150 blocks,
 * a descent wants one); each access checks the slots that it uses.
 *-------------------------------------------------------------------------
 */
#include "leaf.h"

#include "fixblock.h"
#include "intcodec.h"
#include "leaf_format.h"
#include "strblock.h"
#include "tidcodec.h"

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
	const uint8_t *prefix;		/* behind the page's */
	uint32_t	prefixlen;
	const uint8_t *ends;		/* stream of posting-list ends; behind the keys */
	SfxFix		fix;
	SfxStr		str;
} Block;

/* The streams behind the keys. */
typedef struct Lists
{
	const uint16_t *endsarg;	/* what the TID codec gets: NULL if it does not need the ends */
	int			nlists;
	const uint8_t *tids;
	uint16_t	ends[SFX_BLOCK_KEYS];	/* if dups: filled as far as asked for */
} Lists;

/* A position with the page's prefix taken off. */
typedef struct Target
{
	int			side;			/* < 0: below all positions with that prefix, > 0: above; 0: inside */
	const uint8_t *key;
	uint32_t	len;
	uint64_t	tid;
} Target;

/* Take a prefix off *key: 0; or < 0 (> 0) if the key sorts before (after) all strings that have it. */
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

/* ---- the page ---- */

int
sfx_leaf_open(SfxLeaf *l, const uint8_t *body, uint32_t len, const SfxOrder *order)
{
	uint32_t	flags,
				prefixlen,
				lowlen,
				highlen,
				at = SFX_LEAF_HEADER;

	if (len < SFX_LEAF_HEADER || len > SFX_LEAF_MAXLEN || body[0] != SFX_LEAF_VERSION)
		return SFX_CORRUPT;
	flags = body[1];
	l->body = body;
	l->len = len;
	l->order = order;
	l->nblocks = sfx_get16(body + 2);
	l->nentries = sfx_get32(body + 4);
	prefixlen = sfx_get16(body + 8);
	lowlen = sfx_get16(body + 10);
	highlen = sfx_get16(body + 12);
	if ((flags & ~SFX_LEAF_FLAGS) || lowlen > SFX_MAX_ENTRY || highlen > SFX_MAX_ENTRY)
		return SFX_CORRUPT;
	if (flags & SFX_LEAF_HIGH_INF
		? (highlen != 0 || prefixlen != 0 || (flags & SFX_LEAF_HIGH_TID))
		: (prefixlen > lowlen || prefixlen > highlen))
		return SFX_CORRUPT;
	if (flags & SFX_LEAF_ORDER ? order == NULL || prefixlen != 0 : order != NULL)
		return SFX_CORRUPT;
	at += flags & SFX_LEAF_LOW_TID ? 6 : 0;
	l->dict = NULL;
	l->dictno = 0;
	if (flags & SFX_LEAF_DICT)
	{
		/* the four bytes may lie behind the end */
		if (at + 4 > len)
			return SFX_CORRUPT;
		l->dictno = sfx_get32(body + at);
		if (l->dictno == 0)
			return SFX_CORRUPT;
		at += 4;
	}
	at += flags & SFX_LEAF_HIGH_TID ? 6 : 0;
	l->priv[PV_FLAGS] = flags;
	l->priv[PV_PREFIX] = at;
	l->priv[PV_PREFIXLEN] = prefixlen;
	at += prefixlen;
	l->priv[PV_LOW] = at;
	l->priv[PV_LOWLEN] = lowlen - prefixlen;
	at += lowlen - prefixlen;
	l->priv[PV_HIGH] = at;
	l->priv[PV_HIGHLEN] = highlen - prefixlen;
	at += highlen - prefixlen;
	l->priv[PV_DIR] = at;
	at += SFX_LEAF_SLOT * (uint32_t) l->nblocks;
	l->priv[PV_SEPS] = at;
	l->priv[PV_BLOCKS] = sfx_get16(body + 14);
	if (at > l->priv[PV_BLOCKS] || l->priv[PV_BLOCKS] > len)
		return SFX_CORRUPT;
	return SFX_OK;
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

int
sfx_leaf_fences(const SfxLeaf *l, uint8_t *lowbuf, SfxPos *low,
				uint8_t *highbuf, SfxPos *high, bool *high_inf)
{
	uint32_t	prefixlen = l->priv[PV_PREFIXLEN];

	memcpy(lowbuf, l->body + l->priv[PV_PREFIX], prefixlen);
	memcpy(lowbuf + prefixlen, l->body + l->priv[PV_LOW], l->priv[PV_LOWLEN]);
	low->key = lowbuf;
	low->len = prefixlen + l->priv[PV_LOWLEN];
	low->tid = low_tid(l);
	memcpy(highbuf, l->body + l->priv[PV_PREFIX], prefixlen);
	memcpy(highbuf + prefixlen, l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN]);
	high->key = highbuf;
	high->len = prefixlen + l->priv[PV_HIGHLEN];
	high->tid = high_tid(l);
	*high_inf = (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF) != 0;
	return SFX_OK;
}

/* There is no prefix: both fences' keys stand whole. */
static int
cmp_fences_order(const SfxLeaf *l, const SfxPos *pos)
{
	SfxPos		fence = {l->body + l->priv[PV_LOW], l->priv[PV_LOWLEN], low_tid(l)};

	if (sfx_order_cmp_pos(l->order, &fence, pos) > 0)
		return -1;
	if (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF)
		return 0;
	fence = (SfxPos) {l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN], high_tid(l)};
	return sfx_order_cmp_pos(l->order, &fence, pos) <= 0;
}

bool
sfx_leaf_up_to_high(const SfxLeaf *l, const SfxPos *pos)
{
	SfxPos		fence = {l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN], 0};

	if (l->order == NULL)
		return sfx_leaf_cmp_fences(l, pos) <= 0;
	if (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF)
		return true;
	fence.tid = high_tid(l);
	return sfx_order_cmp_pos(l->order, &fence, pos) >= 0;
}

int
sfx_leaf_cmp_fences(const SfxLeaf *l, const SfxPos *pos)
{
	Target		t;
	int			c;

	if (l->order)
		return cmp_fences_order(l, pos);
	t = make_target(l, pos);
	if (t.side != 0)
		return t.side < 0 ? -1 : 1;
	c = sfx_cmp_bytes(t.key, t.len, l->body + l->priv[PV_LOW], l->priv[PV_LOWLEN]);
	if (c < 0 || (c == 0 && t.tid < low_tid(l)))
		return -1;
	if (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF)
		return 0;
	c = sfx_cmp_bytes(t.key, t.len, l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN]);
	if (c < 0 || (c == 0 && t.tid < high_tid(l)))
		return 0;
	return 1;
}

/* ---- the directory ---- */

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

/*
 * The first bytes of separator b as a word to be compared with sfx_load_be(t->key, t->len), without a look at more than the
 * two slots that bound it.  False if they are broken.
 */
static inline bool
separator_word(const SfxLeaf *l, int b, uint64_t *word)
{
	const uint8_t *s = slot(l, b) + 2;
	uint32_t	from = sfx_get16(s) & ~(uint32_t) SFX_SLOT_TID;
	uint32_t	to = b + 1 < l->nblocks ? sfx_get16(s + SFX_LEAF_SLOT) & ~(uint32_t) SFX_SLOT_TID : l->priv[PV_BLOCKS];
	uint32_t	tidlen = sfx_get16(s) & SFX_SLOT_TID ? 6 : 0;

	if (from < l->priv[PV_SEPS] || to > l->priv[PV_BLOCKS] || to < from + tidlen)
		return false;
	to -= from + tidlen;
	if (l->len - from >= 8)
		*word = sfx_load_be64(l->body + from) & (to < 8 ? ~(UINT64_MAX >> 8 * to) : UINT64_MAX);
	else
		*word = sfx_load_be(l->body + from, to);
	return true;
}

static int
count_separators_order(const SfxLeaf *l, const SfxPos *pos, bool orequal)
{
	int			lo = 1,
				hi = l->nblocks;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		SfxPos		sep;
		int			c;

		if (!separator(l, mid, &sep))
			return SFX_CORRUPT;
		c = sfx_order_cmp_pos(l->order, &sep, pos);
		if (c < 0 || (c == 0 && orequal))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The number of blocks whose separator is < t (orequal: <= t), at least 1: the first one's is minus infinity. */
static int
count_separators(const SfxLeaf *l, const Target *t, bool orequal)
{
	SfxPos		pos = {t->key, t->len, t->tid};
	uint64_t	word = sfx_load_be(t->key, t->len);
	int			lo = 1,
				hi = l->nblocks;

	if (l->order)
		return count_separators_order(l, &pos, orequal);

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		SfxPos		sep;
		uint64_t	sepword;
		int			c;

		/* most separators are short: where the words differ, they decide */
		if (!separator_word(l, mid, &sepword))
			return SFX_CORRUPT;
		if (sepword != word)
			c = sepword < word ? -1 : 1;
		else if (separator(l, mid, &sep))
			c = sfx_cmp_pos(&sep, &pos);
		else
			return SFX_CORRUPT;
		if (c < 0 || (c == 0 && orequal))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int
sfx_leaf_find_block(const SfxLeaf *l, const SfxPos *pos)
{
	Target		t = make_target(l, pos);
	int			n;

	if (t.side > 0)
		return l->nblocks;
	if (t.side < 0 || l->nblocks == 0)
		return 0;
	n = count_separators(l, &t, true);
	return n < 0 ? n : n - 1;
}

/* ---- a block ---- */

static int
open_block(const SfxLeaf *l, int b, Block *k)
{
	uint32_t	from,
				to;
	const uint8_t *p;
	int			flags;
	int			r;

	if (b < 0 || b >= l->nblocks)
		return SFX_CORRUPT;
	from = sfx_get16(slot(l, b));
	to = b + 1 < l->nblocks ? sfx_get16(slot(l, b + 1)) : l->len;
	if (from < l->priv[PV_BLOCKS] || to > l->len || from >= to)
		return SFX_CORRUPT;
	p = l->body + from;
	k->end = l->body + to;
	flags = *p++;
	k->kind = flags & SFX_BLK_KIND;
	k->dups = (flags & SFX_BLK_DUPS) != 0;
	k->haspay = (flags & SFX_BLK_PAYLOAD) != 0;
	k->nkeys = 1;
	if ((flags & ~SFX_BLK_FLAGS) || k->kind > SFX_BLK_STRING || k->end - p < 3 ||
		(l->order && k->kind == SFX_BLK_FIXED))
		return SFX_CORRUPT;
	if (k->kind != SFX_BLK_ONE)
		k->nkeys = 1 + *p++;
	k->nent = k->nkeys;
	if (k->dups)
		k->nent = 1 + *p++ + (flags & SFX_BLK_NENT_HI ? 256 : 0);
	else if (flags & SFX_BLK_NENT_HI)
		return SFX_CORRUPT;
	if (k->nent < k->nkeys || !sfx_len_get(&p, k->end, &k->prefixlen) ||
		(ptrdiff_t) k->prefixlen > k->end - p ||
		l->priv[PV_PREFIXLEN] + k->prefixlen > SFX_MAX_ENTRY)
		return SFX_CORRUPT;
	k->prefix = p;
	p += k->prefixlen;
	if (k->kind == SFX_BLK_FIXED)
	{
		r = sfx_fix_open(&k->fix, p, (size_t) (k->end - p), k->nkeys);
		p = k->fix.end;
	}
	else if (k->kind == SFX_BLK_STRING)
	{
		r = sfx_str_open(&k->str, p, (size_t) (k->end - p), k->nkeys, l->dict);
		p = k->str.end;
	}
	else
		r = SFX_OK;
	k->ends = p;
	return r;
}

/* The same for pos; the first from keys are known to be smaller. */
static int
search_keys_order(const SfxLeaf *l, const Block *k, int from, bool near, const SfxPos *pos, bool *equal)
{
	int			c;

	if (k->kind == SFX_BLK_STRING)
		return sfx_str_search_order(&k->str, k->prefix, k->prefixlen, from, near, l->order, pos->key, pos->len, equal);
	c = from > 0 ? -1 : sfx_order_cmp(l->order, k->prefix, k->prefixlen, pos->key, pos->len);
	*equal = c == 0;
	return c < 0;
}

/* The number of keys in the block that are < t; *equal: the next one is t itself.  Or SFX_CORRUPT.  (byte order) */
static int
search_keys(const Block *k, const Target *t, bool *equal)
{
	const uint8_t *key = t->key;
	uint32_t	len = t->len;
	int			side = t->side;

	*equal = false;
	if (side == 0)
		side = strip(&key, &len, k->prefix, k->prefixlen);
	if (side != 0)
		return side < 0 ? 0 : k->nkeys;
	if (k->kind == SFX_BLK_FIXED)
		return sfx_fix_search(&k->fix, key, len, equal);
	if (k->kind == SFX_BLK_STRING)
		return sfx_str_search(&k->str, key, len, equal);
	*equal = len == 0;
	return len > 0;
}

/* Does the TID codec need the ends of the posting lists?  (The low three bits of the first byte are the codec's number.) */
static inline bool
tids_need_ends(const Block *k, const uint8_t *tids)
{
	return tids < k->end && k->nent > 1 && (*tids & 7) == SFX_TID_POSTING;
}

/*
 * Where the TIDs stand, and the ends of the posting lists: at least those of keys [from - 1, to).
 * A point lookup wants two of them, and most TID codecs none.
 */
static int
open_lists(const Block *k, int from, int to, Lists *s)
{
	uint64_t	v[SFX_INT_MAX];
	int			n = k->nkeys - 1;
	uint64_t	prev = 0;
	uint64_t	most = (uint64_t) (k->nent - k->nkeys);
	size_t		len = (size_t) (k->end - k->ends);
	int			r;

	s->tids = k->ends;
	s->endsarg = NULL;
	s->nlists = k->nent;
	if (!k->dups)
		return SFX_OK;
	s->ends[n] = (uint16_t) k->nent;
	if (n > 0)
	{
		r = sfx_int_size(k->ends, len, n);
		if (r < 0 || (size_t) r > len)
			return SFX_CORRUPT;
		s->tids += r;
	}
	if (tids_need_ends(k, s->tids))
	{
		s->endsarg = s->ends;
		s->nlists = k->nkeys;
		from = 0;
		to = n;
	}
	from = from > 0 ? from - 1 : 0;
	to = to < n ? to : n;
	if (from >= to)
		return SFX_OK;
	if (sfx_int_decode(k->ends, len, n, from, to, v) != SFX_OK)
		return SFX_CORRUPT;
	for (int i = from; i < to; i++)
	{
		if (v[i - from] < prev || v[i - from] > most)
			return SFX_CORRUPT;
		prev = v[i - from];
		s->ends[i] = (uint16_t) (prev + (uint64_t) i + 1);
	}
	return SFX_OK;
}

static int
decode_tids(const Block *k, const Lists *s, int from, int to, uint64_t *out)
{
	size_t		len = (size_t) (k->end - s->tids);

	if (from >= to)
		return SFX_OK;
	if (k->nent > 1)
		return sfx_tid_decode(s->tids, len, k->nent, s->endsarg, s->nlists, from, to, out);
	if (len < 6)
		return SFX_CORRUPT;
	out[0] = sfx_get_tid(s->tids);
	return SFX_OK;
}

/* Where the TIDs end; NULL if they are broken. */
static const uint8_t *
tids_end(const Block *k, const Lists *s)
{
	size_t		len = (size_t) (k->end - s->tids);
	int			r = k->nent > 1 ? sfx_tid_size(s->tids, len, k->nent, s->endsarg, s->nlists) : 6;

	return r < 0 || (size_t) r > len ? NULL : s->tids + r;
}

/* Bounds of the payloads [from, to), counted from the start of the payload bytes. */
static int
decode_payloads(const Block *k, const Lists *s, int from, int to, SfxBlock *out)
{
	const uint8_t *p = tids_end(k, s);
	uint64_t	v[SFX_BLOCK_ENTRIES];
	uint64_t	prev = 0;
	uint64_t	most;

	if (p == NULL)
		return SFX_CORRUPT;
	for (int at = 0; k->nent > 1 && at < k->nent; at += SFX_INT_MAX)
	{
		int			n = k->nent - at < SFX_INT_MAX ? k->nent - at : SFX_INT_MAX;
		int			r = sfx_int_size(p, (size_t) (k->end - p), n);

		if (r < 0 || r > k->end - p ||
			sfx_int_decode(p, (size_t) (k->end - p), n, 0, n, v + at) != SFX_OK)
			return SFX_CORRUPT;
		p += r;
	}
	most = (uint64_t) (k->end - p);
	if (k->nent == 1)
		v[0] = most;
	out->payload = p;
	for (int i = 0; i < to; i++)
	{
		if (v[i] < prev || v[i] > most)
			return SFX_CORRUPT;
		if (i >= from)
		{
			out->payoff[i - from] = (uint32_t) prev;
			out->payoff[i - from + 1] = (uint32_t) v[i];
		}
		prev = v[i];
	}
	return SFX_OK;
}

int
sfx_leaf_block_info(const SfxLeaf *l, int b, SfxBlockInfo *info)
{
	Block		k;
	Lists		s;
	const uint8_t *end;

	if (open_block(l, b, &k) != SFX_OK || open_lists(&k, 0, 0, &s) != SFX_OK || (end = tids_end(&k, &s)) == NULL)
		return SFX_CORRUPT;
	info->nkeys = k.nkeys;
	info->nent = k.nent;
	info->keycodec = k.kind == SFX_BLK_ONE ? SFX_KEYS_ONE :
		k.kind == SFX_BLK_FIXED ? (SfxKeyCodec) k.fix.ints.codec : k.str.coded ? SFX_KEYS_HOPE : SFX_KEYS_FRONT;
	info->tidcodec = k.nent > 1 ? *s.tids & 7 : 0;
	info->head = (uint32_t) (k.prefix - (l->body + sfx_get16(slot(l, b))));
	info->keys = (uint32_t) (k.ends - k.prefix);
	info->lists = (uint32_t) (s.tids - k.ends);
	info->tids = (uint32_t) (end - s.tids);
	info->payload = (uint32_t) (k.end - end);
	return SFX_OK;
}

int
sfx_leaf_tids(const SfxLeaf *l, int b, uint64_t *out)
{
	Block		k;
	Lists		s;

	if (open_block(l, b, &k) != SFX_OK || open_lists(&k, 0, 0, &s) != SFX_OK ||
		decode_tids(&k, &s, 0, k.nent, out) != SFX_OK)
		return SFX_CORRUPT;
	return k.nent;
}

/* Multiples of width, two at a time. */
static inline void
fill_keyoff(int n, uint32_t width, uint32_t *keyoff)
{
	uint32_t	two[2] = {0, width};

	for (int i = 0; i + 2 <= n; i += 2)
	{
		memcpy(keyoff + i, two, sizeof(two));
		two[0] += 2 * width;
		two[1] += 2 * width;
	}
	keyoff[n - n % 2] = (uint32_t) (n - n % 2) * width;
	keyoff[n] = (uint32_t) n * width;
}

/* Materialise keys [from, to), from < to, with their prefixes. */
static int
decode_keys(const SfxLeaf *l, const Block *k, int from, int to, SfxBlock *out)
{
	uint32_t	p = l->priv[PV_PREFIXLEN];
	uint32_t	prefixlen = p + k->prefixlen;
	int			n = to - from;

	memcpy(out->keys, l->body + l->priv[PV_PREFIX], p);
	memcpy(out->keys + p, k->prefix, k->prefixlen);
	out->width = prefixlen;
	if (k->kind == SFX_BLK_STRING)
	{
		out->width = 0;
		return sfx_str_decode(&k->str, from, to, prefixlen, out->keys, sizeof(out->keys), out->keyoff,
							  l->body + l->len);
	}
	if (k->kind == SFX_BLK_FIXED)
	{
		out->width += (uint32_t) k->fix.width;
		if (out->width > SFX_MAX_ENTRY || (uint64_t) out->width * (uint32_t) n + 16 > sizeof(out->keys) ||
			sfx_fix_decode(&k->fix, from, to, prefixlen, out->keys) != SFX_OK)
			return SFX_CORRUPT;
	}
	fill_keyoff(n, out->width, out->keyoff);
	return SFX_OK;
}

/* ---- ranges ---- */

/* A range of a block's keys, and what of the first and last key's posting lists has to go. */
typedef struct Range
{
	int			from,
				to;				/* keys */
	uint64_t	lo;				/* TIDs of key from below lo do not belong to the range */
	uint64_t	hi;				/* nor do those of key to-1 at or above hi */
	const uint8_t *key;			/* if the range is one key that equals a bound, that bound's key */
	uint32_t	keylen;
} Range;

/* The number of keys in block b that are < lo. */
static int
find_lo(const SfxLeaf *l, const Block *k, const SfxPos *lo, bool *equal)
{
	Target		t;

	if (l->order)
		return search_keys_order(l, k, 0, false, lo, equal);
	t = make_target(l, lo);
	return search_keys(k, &t, equal);
}

/* The number of keys in block b that are < hi; the first from keys are < lo. */
static int
find_hi(const SfxLeaf *l, int b, const Block *k, int from, const SfxPos *hi, bool *equal)
{
	Target		t;
	SfxPos		sep;

	if (l->order == NULL)
	{
		t = make_target(l, hi);
		return search_keys(k, &t, equal);
	}
	/* in most blocks of a long scan, one comparison is enough */
	*equal = false;
	if (b + 1 < l->nblocks)
	{
		if (!separator(l, b + 1, &sep))
			return SFX_CORRUPT;
		if (sfx_order_cmp_pos(l->order, &sep, hi) <= 0)
			return k->nkeys;
	}
	return search_keys_order(l, k, from, true, hi, equal);
}

static int
find_range(const SfxLeaf *l, int b, const Block *k, const SfxPos *lo, const SfxPos *hi, Range *r)
{
	bool		eqlo = false,
				eqhi = false;

	r->from = 0;
	r->to = k->nkeys;
	r->lo = 0;
	r->hi = UINT64_MAX;
	r->key = NULL;
	r->keylen = 0;
	if (lo)
	{
		r->from = find_lo(l, k, lo, &eqlo);
		if (r->from < 0)
			return SFX_CORRUPT;
		if (eqlo)
			r->lo = lo->tid;
	}
	if (hi)
	{
		/* a point lookup has the same key on both sides */
		if (lo && lo->len == hi->len &&
			(lo->key == hi->key || sfx_cmp_bytes(lo->key, lo->len, hi->key, hi->len) == 0))
		{
			r->to = r->from;
			eqhi = eqlo;
		}
		else
		{
			r->to = find_hi(l, b, k, r->from, hi, &eqhi);
			if (r->to < 0)
				return SFX_CORRUPT;
		}
		if (eqhi && hi->tid > 0)
		{
			r->to++;
			r->hi = hi->tid;
		}
	}
	if (r->to == r->from + 1 && (eqlo || r->hi != UINT64_MAX))
	{
		r->key = eqlo ? lo->key : hi->key;
		r->keylen = eqlo ? lo->len : hi->len;
	}
	return SFX_OK;
}

/* Nothing of the block lies in the range; the next entry would be number first. */
static int
empty_block(const Block *k, int first, SfxBlock *out)
{
	out->nent = 0;
	out->nkeys = 0;
	out->first = first;
	out->total = k->nent;
	out->width = 0;
	out->dups = false;
	out->haspay = false;
	out->keyoff[0] = 0;
	return SFX_OK;
}

/* Entry -> key, for entries [first, first + n), counted from key from on. */
static void
fill_keyno(const Lists *s, int from, int first, int n, uint16_t *keyno)
{
	int			k = from;

	for (int i = 0; i < n;)
	{
		int			stop = s->ends[k] - first;

		if (stop > n)
			stop = n;
		while (i < stop)
			keyno[i++] = (uint16_t) (k - from);
		k++;
	}
}

/*
 * Decode the TIDs of keys [r->from, r->to) and cut off what the bounds exclude.  *first: number of
 * the first entry that is left.  Returns how many are left, or SFX_CORRUPT.
 */
static int
decode_range_tids(const Block *k, const Lists *s, const Range *r, uint64_t *tid, int *first)
{
	int			from = r->from,
				to = r->to;
	int			cut = 0;
	int			n;

	if (k->dups)
	{
		from = r->from > 0 ? s->ends[r->from - 1] : 0;
		to = s->ends[r->to - 1];
	}
	if (decode_tids(k, s, from, to, tid) != SFX_OK)
		return SFX_CORRUPT;
	n = to - from;
	if (r->hi != UINT64_MAX)
	{
		int			start = r->to - 1;	/* first entry of the last key */

		if (k->dups)
			start = r->to > 1 ? s->ends[r->to - 2] : 0;
		while (n > start - from && tid[n - 1] >= r->hi)
			n--;
	}
	if (r->lo > 0)
	{
		int			stop = (k->dups ? s->ends[r->from] : r->from + 1) - from;

		if (stop > n)
			stop = n;
		while (cut < stop && tid[cut] < r->lo)
			cut++;
		if (cut > 0)
			memmove(tid, tid + cut, (size_t) (n - cut) * sizeof(uint64_t));
	}
	*first = from + cut;
	return n - cut;
}

/* Decode what the range has. */
static int
decode_range(const SfxLeaf *l, const Block *k, Range *r, SfxBlock *out)
{
	Lists		s;
	int			n;
	int			first;
	int			fromkey,
				tokey;

	if (open_lists(k, r->from, r->to > r->from ? r->to : r->from, &s) != SFX_OK)
		return SFX_CORRUPT;
	if (r->from >= r->to)
		return empty_block(k, !k->dups ? r->from : r->from > 0 ? s.ends[r->from - 1] : 0, out);
	n = decode_range_tids(k, &s, r, out->tid, &first);
	if (n <= 0)
		return n < 0 ? n : empty_block(k, first, out);

	/* the cut may have taken all of the first or the last key's entries */
	fromkey = r->from;
	tokey = r->to;
	if (k->dups)
	{
		if (s.ends[fromkey] <= first)
			fromkey++;
		if (tokey > 1 && s.ends[tokey - 2] >= first + n)
			tokey--;
	}
	else
	{
		fromkey = first;
		tokey = first + n;
	}
	out->nent = n;
	out->nkeys = tokey - fromkey;
	out->first = first;
	out->total = k->nent;
	out->dups = k->dups;
	out->haspay = k->haspay;
	if (r->key != NULL && r->keylen <= SFX_MAX_ENTRY)
	{
		memcpy(out->keys, r->key, r->keylen);
		out->width = r->keylen;
		out->keyoff[0] = 0;
		out->keyoff[1] = r->keylen;
	}
	else if (decode_keys(l, k, fromkey, tokey, out) != SFX_OK)
		return SFX_CORRUPT;
	if (k->dups)
		fill_keyno(&s, fromkey, first, n, out->keyno);
	if (k->haspay)
		return decode_payloads(k, &s, first, first + n, out);
	return SFX_OK;
}

/* Leave what exceeds limit keys (0: nothing) of the range for later, whole groups of a front-coded block. */
static void
limit_range(const Block *k, Range *r, int limit, bool backward, SfxBlock *out)
{
	out->left_from = out->left_to = r->to;
	out->left_lo = r->lo;
	out->left_hi = r->hi;
	if (limit <= 0 || k->kind != SFX_BLK_STRING || r->to - r->from < limit + SFX_STR_GROUP)
		return;
	if (backward)
	{
		out->left_from = r->from;
		out->left_to = r->from = (r->to - limit) / SFX_STR_GROUP * SFX_STR_GROUP;
		out->left_hi = UINT64_MAX;
		r->lo = 0;
		return;
	}
	out->left_from = (r->from + limit + SFX_STR_GROUP - 1) / SFX_STR_GROUP * SFX_STR_GROUP;
	out->left_lo = 0;
	r->to = out->left_from;
	r->hi = UINT64_MAX;
}

int
sfx_leaf_decode_limit(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int limit, bool backward, SfxBlock *out)
{
	Block		k;
	Range		r;

	if (open_block(l, b, &k) != SFX_OK || find_range(l, b, &k, lo, hi, &r) != SFX_OK)
		return SFX_CORRUPT;
	limit_range(&k, &r, limit, backward, out);
	return decode_range(l, &k, &r, out);
}

int
sfx_leaf_decode(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out)
{
	return sfx_leaf_decode_limit(l, b, lo, hi, 0, false, out);
}

int
sfx_leaf_decode_left(const SfxLeaf *l, int b, int limit, bool backward, SfxBlock *out)
{
	Block		k;
	Range		r = {out->left_from, out->left_to, out->left_lo, out->left_hi, NULL, 0};

	if (open_block(l, b, &k) != SFX_OK || r.to > k.nkeys)
		return SFX_CORRUPT;
	limit_range(&k, &r, limit, backward, out);
	return decode_range(l, &k, &r, out);
}

int
sfx_leaf_codes(const SfxLeaf *l, int b, SfxCodes *c)
{
	Block		k;

	c->n = 0;
	if (open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	return k.kind == SFX_BLK_STRING ? sfx_str_codes(&k.str, l->priv[PV_PREFIXLEN] + k.prefixlen, c) : SFX_OK;
}

/* Is a block's first key < t (1) or not (0)?  *equal: it is t itself.  Or SFX_CORRUPT. */
static int
search_first_key(const SfxLeaf *l, const Block *k, const SfxPos *pos, bool *equal)
{
	uint8_t		key[SFX_MAX_ENTRY + 64];
	uint32_t	off[2] = {0, k->prefixlen};
	int			c;

	if (k->prefixlen > 0)
		memcpy(key, k->prefix, k->prefixlen);
	if (k->kind == SFX_BLK_STRING &&
		sfx_str_decode(&k->str, 0, 1, k->prefixlen, key, sizeof(key), off, l->body + l->len) != SFX_OK)
		return SFX_CORRUPT;
	c = sfx_order_cmp(l->order, key, off[1], pos->key, pos->len);
	*equal = c == 0;
	return c < 0;
}

int
sfx_leaf_find_block_before(const SfxLeaf *l, const SfxPos *pos)
{
	Target		t = make_target(l, pos);
	Block		k;
	Lists		s;
	bool		equal;
	uint64_t	tid;
	int			b,
				n;

	if (t.side < 0 || l->nblocks == 0)
		return l->nblocks;
	if (t.side > 0)
		return l->nblocks - 1;
	b = count_separators(l, &t, false);
	if (b < 0)
		return b;
	b--;
	/* the separator is < pos, but is the block's first entry? */
	if (open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	n = l->order ? search_first_key(l, &k, pos, &equal) : search_keys(&k, &t, &equal);
	if (n < 0)
		return SFX_CORRUPT;
	if (n > 0)
		return b;
	if (equal)
	{
		if (open_lists(&k, 0, 0, &s) != SFX_OK || decode_tids(&k, &s, 0, 1, &tid) != SFX_OK)
			return SFX_CORRUPT;
		if (tid < t.tid)
			return b;
	}
	return b > 0 ? b - 1 : l->nblocks;
}

/* ---- counting ---- */

/* Entries in block b, by its head alone; or SFX_CORRUPT. */
static int
block_entries(const SfxLeaf *l, int b)
{
	uint32_t	at = sfx_get16(slot(l, b));
	const uint8_t *p = l->body + at;
	int			one;

	if (at < l->priv[PV_BLOCKS] || at + 3 > l->len)
		return SFX_CORRUPT;
	one = (*p & SFX_BLK_KIND) == SFX_BLK_ONE;
	if (*p & SFX_BLK_DUPS)
		return 1 + p[2 - one] + (*p & SFX_BLK_NENT_HI ? 256 : 0);
	return one ? 1 : 1 + p[1];
}

/* Entries of block b that are < pos. */
static int
block_count(const SfxLeaf *l, int b, const SfxPos *pos)
{
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	Block		k;
	Lists		s;
	bool		equal;
	int			key,
				from,
				to,
				less = 0;

	if (open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	key = find_lo(l, &k, pos, &equal);
	if (key < 0 || open_lists(&k, key, key + 1 < k.nkeys ? key + 1 : k.nkeys, &s) != SFX_OK)
		return SFX_CORRUPT;
	from = !k.dups ? key : key > 0 ? s.ends[key - 1] : 0;
	if (!equal || pos->tid == 0 || key == k.nkeys)
		return from;
	to = k.dups ? s.ends[key] : from + 1;
	if (to < from || decode_tids(&k, &s, from, to, tid) != SFX_OK)
		return SFX_CORRUPT;
	while (less < to - from && tid[less] < pos->tid)
		less++;
	return from + less;
}

/* Entries of the leaf that are < pos (NULL: all). */
static int
count_below(const SfxLeaf *l, const SfxPos *pos)
{
	int			b = pos ? sfx_leaf_find_block(l, pos) : l->nblocks,
				n = 0,
				r;

	for (int i = 0; i < b; i++)
	{
		r = block_entries(l, i);
		if (r < 0)
			return SFX_CORRUPT;
		n += r;
	}
	if (b < 0 || b == l->nblocks)
		return b < 0 ? SFX_CORRUPT : n;
	r = block_count(l, b, pos);
	return r < 0 ? SFX_CORRUPT : n + r;
}

int
sfx_leaf_count(const SfxLeaf *l, const SfxPos *lo, const SfxPos *hi)
{
	int			below = lo ? count_below(l, lo) : 0,
				all = count_below(l, hi);

	if (below < 0 || all < 0)
		return SFX_CORRUPT;
	return all > below ? all - below : 0;
}

/* ---- verification ---- */

/* What a block has to agree with; goes along from block to block. */
typedef struct Check
{
	uint8_t		lastkey[SFX_MAX_ENTRY];
	SfxPos		last;			/* greatest entry so far */
	bool		any;
	uint64_t	nentries;
} Check;

static const char *
verify_block(const SfxLeaf *l, int b, SfxBlock *blk, Check *c)
{
	SfxPos		sep;

	if (!separator(l, b, &sep))
		return "separator offsets are out of order";
	if (sfx_leaf_decode(l, b, NULL, NULL, blk) != SFX_OK)
		return "a block cannot be decoded";
	for (int i = 0; i < blk->nent; i++)
	{
		SfxEntry	e;
		SfxPos		pos;

		sfx_block_entry(blk, i, &e);
		pos = (SfxPos) {e.key, e.keylen, e.tid};
		if (e.keylen + e.paylen > SFX_MAX_ENTRY)
			return "an entry is too large";
		if (e.tid > SFX_MAX_TID)
			return "a TID is out of range";
		if (c->any && sfx_order_cmp_pos(l->order, &c->last, &pos) >= 0)
			return "entries are out of order";
		if (i == 0)
		{
			Target		t = make_target(l, &pos);
			SfxPos		rest = {t.key, t.len, t.tid};

			if (t.side != 0 || sfx_order_cmp_pos(l->order, &sep, &rest) > 0)
				return "a block's first entry is below its separator";
			if (c->any)
			{
				SfxPos		before = c->last;

				/* both have the page's prefix */
				before.key += l->priv[PV_PREFIXLEN];
				before.len -= l->priv[PV_PREFIXLEN];
				if (sfx_order_cmp_pos(l->order, &sep, &before) <= 0)
					return "a separator is not above the block before it";
			}
			else if (sep.len != 0 || sep.tid != 0)
				return "the first separator is not empty";
		}
		/* what lies between the first and the last entry need not be compared with the fences */
		if ((!c->any || (b == l->nblocks - 1 && i == blk->nent - 1)) && sfx_leaf_cmp_fences(l, &pos) != 0)
			return "an entry is outside of the fences";
		c->last = pos;
		c->any = true;
	}
	/* blk is about to be overwritten */
	memcpy(c->lastkey, c->last.key, c->last.len);
	c->last.key = c->lastkey;
	c->nentries += (uint64_t) blk->nent;
	return NULL;
}

/* The fences against each other. */
static const char *
verify_fences(const SfxLeaf *l)
{
	SfxPos		low = {l->body + l->priv[PV_LOW], l->priv[PV_LOWLEN], low_tid(l)};
	SfxPos		high = {l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN], high_tid(l)};

	if (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF)
		return NULL;
	if (sfx_order_cmp_pos(l->order, &low, &high) > 0)
		return "the low fence is above the high fence";
	if (l->order == NULL && low.len && high.len && low.key[0] == high.key[0])
		return "the fences share more than the prefix that is stored";
	return NULL;
}

int
sfx_leaf_verify(const uint8_t *body, uint32_t len, const SfxOrder *order, const SfxHope *dict,
				SfxBlock *scratch, const char **why)
{
	SfxLeaf		l;
	Check		c;

	c.any = false;
	c.nentries = 0;
	*why = NULL;
	if (sfx_leaf_open(&l, body, len, order) != SFX_OK)
	{
		*why = "the header is broken";
		return SFX_CORRUPT;
	}
	l.dict = l.dictno ? dict : NULL;
	*why = verify_fences(&l);
	for (int b = 0; b < l.nblocks && *why == NULL; b++)
		*why = verify_block(&l, b, scratch, &c);
	if (*why == NULL && c.nentries != l.nentries)
		*why = "the number of entries is wrong";
	return *why ? SFX_CORRUPT : SFX_OK;
}
