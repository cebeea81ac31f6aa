/*-------------------------------------------------------------------------
 * leaf_probe.c - do searches in a leaf find the keys that are stored there?  (For the verifier.)
 *
 * A search works on what is stored, not on keys: on numbers without the bits that all keys of the
 * block share, on rests, on codes.  So from the order of keys it does not follow that a search ends
 * at the right one.  Blocks are searched for some of their own keys, and for keys beside them; the
 * keys on both sides of the place where the search ends tell whether it is right.
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"

/*
 * Of each leaf one block is searched, for every STEP-th key or beside it, and of a few keys for all
 * and beside them.  (So the verifier takes less than a tenth longer.)
 */
#define STEP		16
#define STEP_DEAR	64			/* if a search decodes, or comparisons are expensive */
#define FEW			32

/* A block, and all of its entries. */
typedef struct Probe
{
	const SfxLeaf *l;
	const Block *k;
	const SfxBlock *blk;
	int			b;
} Probe;

static inline const uint8_t *
key_of(const Probe *p, int i, uint32_t *len)
{
	*len = p->blk->keyoff[i + 1] - p->blk->keyoff[i];
	return p->blk->keys + p->blk->keyoff[i];
}

/* Does a search for the key t, given in the place of a stored key, end where it should? */
static bool
ends_right(const Probe *p, const uint8_t *t, uint32_t tlen)
{
	uint32_t	prefix = p->l->priv[PV_PREFIXLEN];
	Target		target = {0, t + prefix, tlen - prefix, 0};
	bool		equal;
	int			r = sfx_leaf_search(p->k, &target, &equal);
	int			c = 1;
	const uint8_t *key;
	uint32_t	len;

	if (r < 0 || r > p->k->nkeys)
		return false;
	if (r > 0)
	{
		key = key_of(p, r - 1, &len);
		if (sfx_cmp_bytes(key, len, t, tlen) >= 0)
			return false;
	}
	if (r < p->k->nkeys)
	{
		key = key_of(p, r, &len);
		c = sfx_cmp_bytes(key, len, t, tlen);
	}
	return c >= 0 && equal == (c == 0);
}

/* Does a search for key i find it, with its entries? */
static bool
finds_itself(const Probe *p, int i)
{
	SfxPos		pos = {.tid = 0};
	int			first = i;
	bool		equal;
	int			r;

	pos.key = key_of(p, i, &pos.len);
	if (!p->blk->dups && p->l->order == NULL)
		return ends_right(p, pos.key, pos.len);
	if (!p->blk->dups)
	{
		r = sfx_leaf_find_lo(p->l, p->k, SFX_SEEK_PLACE, &pos, &equal);
		return r == i && equal &&
			sfx_leaf_find_lo(p->l, p->k, SFX_SEEK_EXACT, &pos, &equal) == i && equal;
	}
	/* (key numbers ascend, and each key has an entry) */
	while (p->blk->keyno[first] < i)
		first++;
	pos.tid = p->blk->tid[first];
	r = sfx_leaf_rank(p->l, p->b, &pos, &equal);
	return r == first && equal;
}

/*
 * Is a key that begins with all that is stored of key i undecided, beside that key?  *out is
 * filled.
 */
static bool
leaves_open(const Probe *p, int i, SfxBlock *out)
{
	uint8_t		t[SFX_MAX_ENTRY + 1];
	uint32_t	len;
	const uint8_t *key = key_of(p, i, &len);
	SfxPos		pos = {t, len + 1, 0};
	SfxEntry	found;

	memcpy(t, key, len);
	t[len] = 0x55;
	if (sfx_leaf_find_cut(p->l, &pos, out) != SFX_CUT_UNDECIDED)
		return false;
	sfx_block_entry(out, 0, &found);
	return sfx_same_bytes(found.key, found.keylen, t, len);
}

/* Search beside key i, in one of several ways. */
static bool
finds_beside(const Probe *p, int i, unsigned way)
{
	uint8_t		t[SFX_MAX_ENTRY + 1];
	uint32_t	prefix = p->l->priv[PV_PREFIXLEN] + p->k->prefixlen;
	uint32_t	len,
				at;
	const uint8_t *key = key_of(p, i, &len);
	uint8_t		bit = (uint8_t) (0x80 >> way / 5 % 8);

	memcpy(t, key, len);
	t[len] = way & 2 ? 0 : 0xFF;
	/* another bit of the key's own ones, and something, nothing or all of the bytes after it */
	if (len == prefix || way % 5 == 4)
		return ends_right(p, t, len + 1);
	at = prefix + way / 40 % (len - prefix);
	if (way % 5 == 3)
		return ends_right(p, t, at);
	t[at] ^= bit;
	if (way % 5 == 1)
	{
		t[at] &= (uint8_t) -bit;
		memset(t + at + 1, 0, len - at - 1);
	}
	else if (way % 5 == 2)
	{
		t[at] |= (uint8_t) (bit - 1);
		memset(t + at + 1, 0xFF, len - at - 1);
	}
	return ends_right(p, t, len);
}

/*
 * Search around keys that are equal in all but their further bits, up to key i: a key above them in
 * a bit that the block's keys share is after all of them, and one below is before.
 */
static bool
finds_around_run(const Probe *p, int i)
{
	const SfxFix *f = &p->k->bits.fix;
	uint32_t	prefix = p->l->priv[PV_PREFIXLEN] + p->k->prefixlen;
	uint64_t	shared = ~f->vary[0] & (UINT64_MAX << (64 - 8 * f->width + (int) p->k->bits.loose));
	uint8_t		t[SFX_MAX_ENTRY + 8];
	uint32_t	len;
	const uint8_t *key = key_of(p, i, &len);
	uint64_t	head = sfx_load_be(key + prefix, (uint32_t) f->width);

	memcpy(t, key, prefix);
	for (; shared != 0; shared &= shared - 1)
	{
		uint64_t	bit = shared & -shared;

		sfx_store_be64(t + prefix, head ^ bit);
		if (!ends_right(p, t, prefix + (uint32_t) f->width))
			return false;
	}
	return true;
}

static const char *
probe_runs(const Probe *p)
{
	int			from,
				to;

	if (p->k->kind != SFX_BLK_BITS)
		return NULL;
	for (int r = 0; r < p->k->bits.nrecords; r++)
		if (sfx_bitblock_run(&p->k->bits, r, &from, &to) && !finds_around_run(p, to - 1))
			return "a search beside keys that are nearly the same ends elsewhere";
	return NULL;
}

/* Search for the borders of the block: its first entry, and the last one of the previous block. */
static const char *
probe_borders(const Probe *p, const SfxPos *before)
{
	SfxPos		first = {.tid = p->blk->tid[0]};

	first.key = key_of(p, 0, &first.len);
	if (sfx_leaf_find_block(p->l, &first) != p->b ||
		(before != NULL && sfx_leaf_find_block(p->l, before) != p->b - 1))
		return "a search for the first entry of a block, or the last one, finds another block";
	if (sfx_leaf_find_block_before(p->l, &first) != (p->b > 0 ? p->b - 1 : p->l->nblocks))
		return "a search for what stands before a block finds another one";
	return NULL;
}

/* Search for some of the keys, and beside them. */
static const char *
probe_keys(const Probe *p, unsigned way)
{
	int			n = p->blk->nkeys;
	int			step = p->l->order || p->k->kind == SFX_BLK_STRING ? STEP_DEAR : STEP;

	if (!finds_itself(p, 0) || !finds_itself(p, n - 1))
		return "a search does not find a key";
	if (n <= FEW && p->l->order == NULL)
		step = 1;
	for (int i = (int) (way % (unsigned) step); i < n; i += step, way += 7)
	{
		bool		beside = p->l->order == NULL && (n <= FEW || way & 1);

		if ((n <= FEW || !beside) && !finds_itself(p, i))
			return "a search does not find a key";
		if (beside && !finds_beside(p, i, way))
			return "a search beside a key ends elsewhere";
	}
	return NULL;
}

const char *
sfx_leaf_probe(const SfxLeaf *l, int b, SfxBlock *blk, const SfxPos *before)
{
	Block		k;
	Probe		p = {l, &k, blk, b};
	/* (which keys, and how, differs from block to block) */
	unsigned	way = 31 * (unsigned) b + (unsigned) blk->nkeys + l->nentries;
	const char *why;

	if (blk->nent == 0 || (uint32_t) b != l->nentries % (uint32_t) l->nblocks)
		return NULL;
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK)
		return "a block cannot be decoded";
	if ((why = probe_borders(&p, before)) != NULL || (why = probe_runs(&p)) != NULL ||
		(why = probe_keys(&p, way)) != NULL)
		return why;
	return l->cut && !leaves_open(&p, (int) (way % (unsigned) blk->nkeys), blk) ?
		"a key that begins as a cut one does is not found to be undecided" : NULL;
}
