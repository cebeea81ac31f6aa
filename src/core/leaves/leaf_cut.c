/*-------------------------------------------------------------------------
 * leaf_cut.c - cut keys: how much of a key the packer stores, and what a reader cannot tell from it
 *
 * The table has the whole keys.  Of a key that is cut, a leaf stores only the first bits, as many
 * as distinguish it from the keys on both sides and from both fences (README, W1).  So no stored
 * key is the beginning of another one, stored keys have the order of the whole ones, and separators
 * are those of the whole keys, except for loose bits.  A position is undecided beside at most one
 * stored key: the one that is its own beginning.
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"
#include "leaf_packer.h"

/* ---- writing ---- */

/* Does the list of the last entry to be encoded continue after the block? */
static bool
list_goes_on(const Candidate *c, const SfxPos *key)
{
	return !c->high_inf && c->high.tid != 0 && c->high.len == key->len &&
		memcmp(c->high.key, key->key, key->len) == 0;
}

/*
 * The number of first bits that distinguish a key from another string, with which it shares so many
 * bytes; if one begins with the other, all bits of the shorter one and one more.
 */
static uint32_t
bits_apart(const SfxPos *key, const uint8_t *other, uint32_t otherlen, uint32_t shared)
{
	uint32_t	differ;

	if (shared >= key->len || shared >= otherlen)
		return 8 * shared + 1;
	differ = (uint32_t) key->key[shared] ^ other[shared];
	return 8 * shared + (uint32_t) __builtin_clz(differ) - 24 + 1;
}

/*
 * The bits that distinguish pending key i from the key or fence below it; UINT32_MAX: it stays
 * whole.
 */
static uint32_t
need_below(const SfxPacker *p, int i, const SfxPos *key)
{
	const Pending *q = &p->pend;
	const uint16_t *shared = q->lcp;
	SfxPos		before;

	if (i > 0)
	{
		before = pending_key(q, i - 1);
		return bits_apart(key, before.key, before.len, shared[i]);
	}
	/* the list of a key continues from the previous block */
	if (q->septid != 0)
		return UINT32_MAX;
	/* the separator is one byte longer than what is shared, and so is a fence made of it */
	if (q->seplen > 0)
		return 8 * q->seplen;
	return p->nblocks > 0 ? 1 : bits_apart(key, p->low.key, p->low.len,
										   sfx_lcp(key->key, key->len, p->low.key, p->low.len));
}

/* The same for what is above it: the next pending key, or what follows the block. */
static uint32_t
need_above(const SfxPacker *p, const Candidate *c, int i, int nkeys, const SfxPos *key)
{
	const Pending *q = &p->pend;
	const uint16_t *shared = q->lcp;
	SfxPos		next;

	if (i < nkeys - 1)
	{
		next = pending_key(q, i + 1);
		return bits_apart(key, next.key, next.len, shared[i + 1]);
	}
	if (list_goes_on(c, key))
		return UINT32_MAX;
	return c->high_inf ? 1 : bits_apart(key, c->high.key, c->high.len,
										sfx_lcp(key->key, key->len, c->high.key, c->high.len));
}

void
sfx_cut_block(SfxPacker *p, const Candidate *c, int nkeys)
{
	const Pending *q = &p->pend;
	uint32_t	at = 0;

	p->cutoff[0] = 0;
	p->anyloose = false;
	p->coder.raw = p->coder.stored = 0;
	for (int i = 0; i < nkeys; i++)
	{
		SfxPos		key = pending_key(q, i);
		uint32_t	have = 8 * key.len - q->loose[i];
		uint32_t	below = need_below(p, i, &key);
		uint32_t	above = need_above(p, c, i, nkeys, &key);
		uint32_t	need = below > above ? below : above;
		uint32_t	len;

		if (need > have || key.len > p->cutmost)
			need = have;
		len = (need + 7) / 8;
		p->need[i] = need;
		p->have[i] = have;
		p->cutloose[i] = len == key.len ? q->loose[i] : 0;
		p->anyloose |= p->cutloose[i] > 0;
		memcpy(p->cutkeys + at, key.key, len);
		at += len;
		p->cutoff[i + 1] = at;
	}
	/* rests differ from those of other numbers of keys, since the last key may be stored longer */
	sfx_coder_restart(&p->coder);
}

bool
sfx_cut_evenly(SfxPacker *p, int nkeys)
{
	const Pending *q = &p->pend;
	uint32_t	most = 0,
				least = UINT32_MAX,
				known = UINT32_MAX;

	for (int i = 0; i < nkeys; i++)
	{
		uint32_t	len = p->cutoff[i + 1] - p->cutoff[i];
		uint32_t	whole = p->have[i] / 8;

		most = len > most ? len : most;
		least = len < least ? len : least;
		known = whole < known ? whole : known;
	}
	if (least == most || known < most)
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		memcpy(p->cutkeys + (uint32_t) i * most, pending_key(q, i).key, most);
		p->cutoff[i + 1] = (uint32_t) (i + 1) * most;
	}
	return true;
}

/* ---- reading ---- */

/* The stored key is the first len bytes of pos: make it the one key of out. */
static void
take_beginning(const SfxPos *pos, uint32_t len, SfxBlock *out)
{
	memcpy(out->keys, pos->key, len);
	out->width = len;
	out->bits = false;
	out->keyoff[0] = 0;
	out->keyoff[1] = len;
}

SfxCutSide
sfx_leaf_find_cut(const SfxLeaf *l, const SfxPos *pos, SfxBlock *out)
{
	SfxPos		start = {pos->key, pos->len, 0};
	Target		t = make_target(l, &start);
	SfxStrPlace place;
	Block		k;
	int			b,
				n;

	if (!l->cut || t.side != 0 || l->nblocks == 0)
		return SFX_CUT_NONE;
	b = sfx_leaf_count_separators(l, &t, true) - 1;
	if (b < 0 || sfx_leaf_open_block(l, b, &k) != SFX_OK)
		return SFX_CUT_CORRUPT;
	n = sfx_leaf_search_cut(&k, &t, &place);
	if (n < 0)
		return SFX_CUT_CORRUPT;
	if (place.equal && k.kind != SFX_BLK_BITS && k.loose == NULL)
		return SFX_CUT_EQUAL;
	n += place.equal;
	if (n == 0 || (sfx_leaf_search_tells(&k) && !place.begins))
		return SFX_CUT_NONE;
	if (sfx_leaf_search_tells(&k))
	{
		take_beginning(pos, l->priv[PV_PREFIXLEN] + k.prefixlen + place.len, out);
		return sfx_leaf_decode_entries(l, &k, n - 1, out) != SFX_OK || out->nent == 0 ?
			SFX_CUT_CORRUPT : SFX_CUT_UNDECIDED;
	}
	/* most absent keys are decided by the preceding stored key, without its TIDs */
	if (sfx_leaf_decode_keys(l, &k, n - 1, n, out) != SFX_OK)
		return SFX_CUT_CORRUPT;
	if (!sfx_leaves_open(out->keys + out->keyoff[0], out->keyoff[1] - out->keyoff[0],
						 out->bits ? out->loose[0] : 0, pos->key, pos->len))
		return place.equal ? SFX_CUT_EQUAL : SFX_CUT_NONE;
	if (sfx_leaf_decode_entries(l, &k, n - 1, out) != SFX_OK || out->nent == 0)
		return SFX_CUT_CORRUPT;
	return SFX_CUT_UNDECIDED;
}

int
sfx_leaf_undecided(const SfxLeaf *l, const SfxPos *pos, SfxBlock *out)
{
	SfxCutSide	side = sfx_leaf_find_cut(l, pos, out);

	return side == SFX_CUT_CORRUPT ? SFX_CORRUPT : side == SFX_CUT_UNDECIDED;
}
