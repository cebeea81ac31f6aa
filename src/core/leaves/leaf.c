/*-------------------------------------------------------------------------
 * leaf.c - leaf page bodies: layout, fences, directory.  (Blocks: leaf_block.c; reading entries and
 * counting them: leaf_read.c)
 *
 * Body (integers little-endian, unaligned):
 *
 *	off  size
 *	0	 1		version (SFX_LEAF_VERSION)
 *	1	 1		flags: no high fence; low fence has a TID; high fence has a TID; comparator
 *				order; dictionary; keys are cut
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
 * are a TID).  Separator i is sfx_order_separator(last entry of block i-1, first entry of block i)
 * without the shared prefix; that of block 0 is empty (minus infinity).  All positions between the
 * fences begin with the shared prefix.  In comparator order the bytes of a key do not follow from
 * two others between which it is; so P is 0 then, and a block's prefix is what all of its keys
 * begin with.
 *
 * Block:
 *
 *	0	 1		flags: kind (ONE, FIXED, STRING, BITS), DUPS, PAYLOAD, bit 8 of (entries - 1)
 *	1	 1		keys - 1 (absent in ONE)
 *	..	 1		entries - 1, low 8 bits (if DUPS; else there are as many as keys)
 *	..	 1-2	length of the block's prefix after P, its bytes
 *	..	 ..		key stream (absent in ONE; fixblock.h, strblock.h, bitblock.h)
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
 * The directory is not checked as a whole when a page is opened (a page of serial keys has 150
 * blocks, a descent needs one); each access checks the slots that it uses.
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"

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
	l->cut = (flags & SFX_LEAF_CUT) != 0;
	l->bytewise = false;
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
	if (l->cut && order != NULL)
		return SFX_CORRUPT;
	at += flags & SFX_LEAF_LOW_TID ? 6 : 0;
	l->dict = NULL;
	l->dictno = 0;
	if (flags & SFX_LEAF_DICT)
	{
		/* the four bytes may be beyond the end */
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

/* There is no prefix: both fences' keys are stored whole. */
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
sfx_leaf_fences_are(const SfxLeaf *l, const SfxPos *low, const SfxPos *high)
{
	const uint8_t *p = l->body;

	if (l->priv[PV_PREFIXLEN] != 0 || low_tid(l) != low->tid ||
		!sfx_same_bytes(p + l->priv[PV_LOW], l->priv[PV_LOWLEN], low->key, low->len))
		return false;
	if (high == NULL || l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF)
		return high == NULL && l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF;
	return high_tid(l) == high->tid &&
		sfx_same_bytes(p + l->priv[PV_HIGH], l->priv[PV_HIGHLEN], high->key, high->len);
}

bool
sfx_leaf_high_has_tid(const SfxLeaf *l)
{
	return (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_TID) != 0;
}

bool
sfx_leaf_high_is(const SfxLeaf *l, const uint8_t *key, uint32_t len)
{
	return !(l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF) &&
		sfx_same_bytes(l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN], key, len);
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

/*
 * The first bytes of separator b as a word, to be compared with sfx_load_be(t->key, t->len).  False:
 * its slots are broken, or a word that begins there would end after the page.
 */
static inline bool
separator_word(const SfxLeaf *l, int b, uint64_t *word)
{
	const uint8_t *s = slot(l, b) + 2;
	uint32_t	start = sfx_get16(s);
	uint32_t	from = start & ~(uint32_t) SFX_SLOT_TID;
	uint32_t	to = b + 1 < l->nblocks ? sfx_get16(s + SFX_LEAF_SLOT) & ~(uint32_t) SFX_SLOT_TID :
		l->priv[PV_BLOCKS];
	uint32_t	tidlen = start & SFX_SLOT_TID ? 6 : 0;
	uint32_t	n = to - from - tidlen;

	if (from + 8 > l->len || from < l->priv[PV_SEPS] || to > l->priv[PV_BLOCKS] ||
		to < from + tidlen)
		return false;
	*word = sfx_load_be64(l->body + from);
	if (n < 8)
		*word &= ~(UINT64_MAX >> 8 * n);
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

/* The same as sfx_leaf_count_separators; bytewise: compare bytes in comparator order as well. */
static int
count_separators(const SfxLeaf *l, const Target *t, bool orequal, bool bytewise)
{
	SfxPos		pos = {t->key, t->len, t->tid};
	uint64_t	word;
	int			lo = 1,
				hi = l->nblocks;

	if (l->order && !bytewise)
		return count_separators_order(l, &pos, orequal);

	word = sfx_load_be(t->key, t->len);
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		SfxPos		sep;
		uint64_t	sepword;
		bool		less;

		/* most separators are short: if the words differ, they decide */
		if (separator_word(l, mid, &sepword) && sepword != word)
			less = sepword < word;
		else if (separator(l, mid, &sep))
			less = sfx_cmp_pos(&sep, &pos) < (orequal ? 1 : 0);
		else
			return SFX_CORRUPT;
		if (less)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int
sfx_leaf_count_separators(const SfxLeaf *l, const Target *t, bool orequal)
{
	return count_separators(l, t, orequal, false);
}

int
sfx_leaf_guess_block(const SfxLeaf *l, const Target *t)
{
	int			n = count_separators(l, t, true, true);

	return n < 0 ? n : n - 1;
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
	n = sfx_leaf_count_separators(l, &t, true);
	return n < 0 ? n : n - 1;
}
