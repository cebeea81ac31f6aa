/*-------------------------------------------------------------------------
 * leaf_exact.c - one key in a leaf in comparator order, found by its bytes
 *
 * Product codes, digests, addresses: in a linguistic order most text is almost in the order of its
 * bytes.  So a key is looked for as in byte order, which costs no comparison.  If a key is found,
 * it is the right one, wherever it is; if not, two comparisons with the neighbours prove that it is
 * absent (B5).
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"

/* Is t between keys i - 1 and i of the block?  False also if that cannot be told. */
static bool
stands_between(const SfxLeaf *l, const Block *k, const Target *t, int i)
{
	uint8_t		keys[5 * SFX_MAX_ENTRY];	/* two keys, and the room that decoding needs */
	uint32_t	off[3];

	if (i < 1 || i >= k->nkeys || k->kind != SFX_BLK_STRING)
		return false;
	if (k->prefixlen > 0)
		memcpy(keys, k->prefix, k->prefixlen);
	return sfx_str_decode(&k->str, i - 1, i + 1, k->prefixlen, keys, sizeof(keys), off,
						  l->body + l->len) == SFX_OK &&
		sfx_order_cmp(l->order, keys + off[0], off[1] - off[0], t->key, t->len) < 0 &&
		sfx_order_cmp(l->order, keys + off[1], off[2] - off[1], t->key, t->len) > 0;
}

/* May entries of the first key of block b be in the previous block? */
static bool
may_begin_before(const SfxLeaf *l, int b)
{
	SfxPos		sep;

	return b > 0 && (!separator(l, b, &sep) || sep.tid != 0);
}

SfxExact
sfx_leaf_find_exact(const SfxLeaf *l, const uint8_t *key, uint32_t len, uint64_t tid,
					SfxBlock *out, int *b)
{
	Target		t = {0, key, len, 0};
	SfxKeyRange r = {.lo = 0,.hi = tid,.key = key,.keylen = len};
	Block		k;
	bool		equal;
	int			i;

	if (l->order == NULL || l->nblocks == 0)
		return SFX_EXACT_UNDECIDED;
	*b = sfx_leaf_guess_block(l, &t);
	if (*b < 0 || sfx_leaf_open_block(l, *b, &k) != SFX_OK)
		return SFX_EXACT_CORRUPT;
	i = sfx_leaf_search(&k, &t, &equal);
	if (i < 0)
		return SFX_EXACT_CORRUPT;
	out->left_from = out->left_to = 0;
	if (!equal)
	{
		if (!stands_between(l, &k, &t, i))
			return SFX_EXACT_UNDECIDED;
		sfx_leaf_empty_block(&k, out);
		return SFX_EXACT_ABSENT;
	}
	if (i == 0 && may_begin_before(l, *b))
		return SFX_EXACT_UNDECIDED;
	r.from = i;
	r.to = i + 1;
	return sfx_leaf_decode_range(l, &k, &r, out) == SFX_OK ? SFX_EXACT_FOUND : SFX_EXACT_CORRUPT;
}
