/*-------------------------------------------------------------------------
 * leaf_block.c - the streams of one block of a leaf (layout: leaf.c)
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"

#include "intcodec.h"
#include "tidcodec.h"

/* Parse the key stream, which begins at p. */
static int
open_stream(const SfxLeaf *l, const uint8_t *p, Block *k)
{
	size_t		bytes;
	int			r;

	if (k->kind == SFX_BLK_FIXED)
	{
		r = sfx_fix_open(&k->fix, p, (size_t) (k->end - p), k->nkeys);
		k->ends = k->fix.end;
		return r;
	}
	if (k->kind == SFX_BLK_BITS)
	{
		if (p == k->end || !l->cut)
			return SFX_CORRUPT;
		if (*p != SFX_BITS_STRINGS)
		{
			r = sfx_bitblock_open(&k->bits, p, (size_t) (k->end - p), k->nkeys);
			k->ends = k->bits.end;
			return r;
		}
		bytes = sfx_bits_bytes((size_t) k->nkeys, 3);
		k->loose = ++p;
		if (bytes > (size_t) (k->end - p))
			return SFX_CORRUPT;
		p += bytes;
		k->kind = SFX_BLK_STRING;
	}
	if (k->kind == SFX_BLK_STRING)
	{
		r = sfx_str_open(&k->str, p, (size_t) (k->end - p), k->nkeys, l->dict);
		k->ends = k->str.end;
		return r == SFX_OK && k->str.column && !l->cut ? SFX_CORRUPT : r;
	}
	k->ends = p;
	return SFX_OK;
}

int
sfx_leaf_open_block(const SfxLeaf *l, int b, Block *k)
{
	uint32_t	from,
				to;
	const uint8_t *p;
	int			flags;

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
	k->loose = NULL;
	k->nkeys = 1;
	if ((flags & ~SFX_BLK_FLAGS) || k->end - p < 3 ||
		(l->order && (k->kind == SFX_BLK_FIXED || k->kind == SFX_BLK_BITS)))
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
	return open_stream(l, p + k->prefixlen, k);
}

void
sfx_leaf_place(const SfxLeaf *l, int b, uint32_t *head, uint32_t *begin, uint32_t *end)
{
	*head = l->priv[PV_BLOCKS];
	*begin = sfx_get16(slot(l, b));
	*end = b + 1 < l->nblocks ? sfx_get16(slot(l, b + 1)) : l->len;
	if (*begin < *head || *end > l->len || *begin > *end)
	{
		*begin = *head;
		*end = l->len;
	}
}

/* See leaf_block.h. */
int
sfx_leaf_search_order(const SfxLeaf *l, const Block *k, int from, SfxSeek seek,
					  const SfxPos *pos, bool *equal)
{
	int			c;

	if (k->kind == SFX_BLK_STRING)
		return sfx_str_search_order(&k->str, k->prefix, k->prefixlen, from, seek,
									l->order, pos->key, pos->len, equal);
	c = from > 0 ? -1 : sfx_order_cmp(l->order, k->prefix, k->prefixlen, pos->key, pos->len);
	*equal = c == 0;
	return c < 0;
}

/*
 * Compare key i (after the block's prefix) with t, in a stream in which one key is quickly decoded.
 * False: it is broken.
 */
static bool
cmp_key(const Block *k, int i, const uint8_t *t, uint32_t len, int *c)
{
	uint8_t		key[SFX_FIX_MAXWIDTH + 64];
	uint32_t	off[2] = {0, (uint32_t) k->fix.width};
	uint32_t	width;
	uint8_t		loose;

	if (k->kind == SFX_BLK_FIXED ? sfx_fix_decode(&k->fix, i, i + 1, 0, key) != SFX_OK :
		sfx_bitblock_decode(&k->bits, i, i + 1, 0, key, sizeof(key), off, &loose, &width) != SFX_OK)
		return false;
	*c = sfx_cmp_bytes(key, off[1], t, len);
	return true;
}

/* Are i keys < t, and is the next one equal to t, or not, as the search says? */
static bool
ends_right(const Block *k, const uint8_t *t, uint32_t len, int i, bool equal)
{
	int			c;

	if (i < 0 || i > k->nkeys || (i > 0 && (!cmp_key(k, i - 1, t, len, &c) || c >= 0)))
		return false;
	return i == k->nkeys ? !equal : cmp_key(k, i, t, len, &c) && c >= 0 && equal == (c == 0);
}

/* See leaf_block.h. */
int
sfx_leaf_search(const Block *k, const Target *t, bool *equal)
{
	SfxStrPlace place;
	int			r = sfx_leaf_search_cut(k, t, &place);

	*equal = place.equal;
	return r;
}

int
sfx_leaf_search_cut(const Block *k, const Target *t, SfxStrPlace *place)
{
	int			r;
	const uint8_t *key = t->key;
	uint32_t	len = t->len;
	int			side = t->side;
	bool	   *equal = &place->equal;

	place->equal = place->begins = false;
	if (side == 0)
		side = strip(&key, &len, k->prefix, k->prefixlen);
	if (side != 0)
		return side < 0 ? 0 : k->nkeys;
	if (k->kind == SFX_BLK_STRING)
		return sfx_str_search(&k->str, key, len, place);
	if (k->kind == SFX_BLK_ONE)
	{
		place->equal = len == 0;
		place->begins = len > 0;
		place->len = 0;
		return len > 0;
	}
	r = k->kind == SFX_BLK_FIXED ? sfx_fix_search(&k->fix, key, len, equal) :
		sfx_bitblock_search(&k->bits, key, len, equal);
	return SFX_CHECKED && !ends_right(k, key, len, r, *equal) ? SFX_CORRUPT : r;
}

/* See leaf_block.h. */
int
sfx_leaf_find_lo(const SfxLeaf *l, const Block *k, SfxSeek seek, const SfxPos *lo, bool *equal)
{
	Target		t;

	if (l->order)
		return sfx_leaf_search_order(l, k, 0, seek, lo, equal);
	t = make_target(l, lo);
	return sfx_leaf_search(k, &t, equal);
}

/*
 * Does the TID codec need the ends of the posting lists?  (The low three bits of the first byte are
 * the codec's number.)
 */
static inline bool
tids_need_ends(const Block *k, const uint8_t *tids)
{
	return tids < k->end && k->nent > 1 && (*tids & 7) == SFX_TID_POSTING;
}

/* See leaf_block.h. */
int
sfx_leaf_open_lists(const Block *k, int from, int to, Lists *s)
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

int
sfx_leaf_decode_tids(const Block *k, const Lists *s, int from, int to, uint64_t *out)
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

/* See leaf_block.h. */
const uint8_t *
sfx_leaf_tids_end(const Block *k, const Lists *s)
{
	size_t		len = (size_t) (k->end - s->tids);
	int			r = k->nent > 1 ? sfx_tid_size(s->tids, len, k->nent, s->endsarg, s->nlists) : 6;

	return r < 0 || (size_t) r > len ? NULL : s->tids + r;
}

/* See leaf_block.h. */
int
sfx_leaf_decode_payloads(const Block *k, const Lists *s, int from, int to, SfxBlock *out)
{
	const uint8_t *p = sfx_leaf_tids_end(k, s);
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
		if (v[i] < prev || v[i] > most || v[i] - prev > SFX_MAX_ENTRY)
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

	if (sfx_leaf_open_block(l, b, &k) != SFX_OK || sfx_leaf_open_lists(&k, 0, 0, &s) != SFX_OK || (end = sfx_leaf_tids_end(&k, &s)) == NULL)
		return SFX_CORRUPT;
	info->nkeys = k.nkeys;
	info->nent = k.nent;
	if (k.kind == SFX_BLK_ONE)
		info->keycodec = SFX_KEYS_ONE;
	else if (k.kind == SFX_BLK_FIXED)
		info->keycodec = k.fix.ints.decimal ? SFX_KEYS_DECIMAL : (SfxKeyCodec) k.fix.ints.codec;
	else if (k.kind == SFX_BLK_BITS)
		info->keycodec = k.bits.ended ? SFX_KEYS_ENDED : SFX_KEYS_BITS;
	else
		info->keycodec = k.str.column ? SFX_KEYS_COLUMN : k.str.coded ? SFX_KEYS_HOPE : k.str.packed ? SFX_KEYS_PACKED : SFX_KEYS_FRONT;
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

	if (sfx_leaf_open_block(l, b, &k) != SFX_OK || sfx_leaf_open_lists(&k, 0, 0, &s) != SFX_OK ||
		sfx_leaf_decode_tids(&k, &s, 0, k.nent, out) != SFX_OK)
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

/* Are the lengths of n decoded keys, of which some bits may be loose, such as writers give them? */
static int
check_loose(const SfxBlock *b, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint32_t	len = b->keyoff[i + 1] - b->keyoff[i];

		if (len > SFX_MAX_ENTRY || (len == 0 && b->loose[i] > 0))
			return SFX_CORRUPT;
	}
	return SFX_OK;
}

/* See leaf_block.h. */
int
sfx_leaf_decode_keys(const SfxLeaf *l, const Block *k, int from, int to, SfxBlock *out)
{
	uint32_t	p = l->priv[PV_PREFIXLEN];
	uint32_t	prefixlen = p + k->prefixlen;
	int			n = to - from;

	memcpy(out->keys, l->body + l->priv[PV_PREFIX], p);
	memcpy(out->keys + p, k->prefix, k->prefixlen);
	out->width = prefixlen;
	out->bits = k->kind == SFX_BLK_BITS || k->loose != NULL;
	if (k->kind == SFX_BLK_BITS)
		return sfx_bitblock_decode(&k->bits, from, to, prefixlen, out->keys, sizeof(out->keys),
								   out->keyoff, out->loose, &out->width) == SFX_OK ?
			check_loose(out, n) : SFX_CORRUPT;
	if (k->kind == SFX_BLK_STRING)
	{
		int			r;

		out->width = 0;
		for (int i = from; k->loose && i < to; i++)
			out->loose[i - from] = (uint8_t) sfx_bits_get(k->loose, (size_t) (k->end - k->loose),
														  3 * (size_t) i, 3);
		r = sfx_str_decode(&k->str, from, to, prefixlen, out->keys, sizeof(out->keys), out->keyoff,
						   l->body + l->len);
		return r == SFX_OK && k->loose ? check_loose(out, n) : r;
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

int
sfx_leaf_codes(const SfxLeaf *l, int b, SfxCodes *c)
{
	Block		k;

	c->dictno = l->dictno;
	c->n = 0;
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	return k.kind == SFX_BLK_STRING ? sfx_str_codes(&k.str, l->priv[PV_PREFIXLEN] + k.prefixlen, c) : SFX_OK;
}
