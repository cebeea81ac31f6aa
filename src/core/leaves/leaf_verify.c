/*-------------------------------------------------------------------------
 * leaf_verify.c - the invariants of a leaf, which take a full decode
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"

/* What the next block has to agree with; updated from block to block. */
typedef struct Check
{
	uint8_t		lastkey[SFX_MAX_ENTRY];
	SfxPos		last;			/* greatest entry so far */
	unsigned	loose;			/* bits of its last byte */
	bool		any;
	bool		disorder;		/* what was found depends on comparisons */
	uint64_t	nentries;
} Check;

/* Note that the finding depends on comparisons: in another order it would not be one. */
static const char *
disorder(Check *c, const char *why)
{
	c->disorder = true;
	return why;
}


/* Check entry i, at pos, of a leaf with cut keys against the previous one. */
static const char *
verify_cut(const SfxBlock *blk, int i, Check *c, const SfxPos *pos)
{
	unsigned	loose = sfx_block_loose(blk, i);
	bool		same = c->any && sfx_same_bytes(c->last.key, c->last.len, pos->key, pos->len);

	if (loose > 0 && (pos->len == 0 || (pos->key[pos->len - 1] & ((1u << loose) - 1)) != 0))
		return "bits of a cut key that are not stored are not zero";
	if (same && (loose != c->loose ||
				 (i > 0 && sfx_block_keyno(blk, i) != sfx_block_keyno(blk, i - 1))))
		return "a cut key is there twice";
	if (c->any && !same &&
		sfx_leaves_open(c->last.key, c->last.len, c->loose, pos->key, pos->len))
		return "a cut key does not tell itself from the next one";
	c->loose = loose;
	return NULL;
}

/* What is stored of the last cut key must tell it from the high fence. */
static const char *
verify_last_cut(const SfxLeaf *l, const SfxPos *last, unsigned loose)
{
	uint32_t	prefix = l->priv[PV_PREFIXLEN];

	if (l->cut && !(l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF) &&
		sfx_leaves_open(last->key + prefix, last->len - prefix, loose,
						l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN]))
		return "a cut key does not tell itself from the high fence";
	return NULL;
}

/*
 * Check block b, which is decoded into blk: its entries' sizes and order, and its separator against
 * the entries on both sides.  Returns NULL, or what is wrong; c moves on to the block's last entry.
 */
static const char *
verify_block(const SfxLeaf *l, int b, SfxBlock *blk, Check *c)
{
	uint8_t		beforekey[SFX_MAX_ENTRY];
	SfxPos		before = c->last;
	bool		any = c->any;
	SfxPos		sep;
	const char *why;

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
			return disorder(c, "entries are out of order");
		if (l->cut && (why = verify_cut(blk, i, c, &pos)) != NULL)
			return why;
		if (i == 0)
		{
			Target		t = make_target(l, &pos);
			SfxPos		rest = {t.key, t.len, t.tid};

			if (t.side != 0 || sfx_order_cmp_pos(l->order, &sep, &rest) > 0)
				return disorder(c, "a block's first entry is below its separator");
			if (c->any)
			{
				SfxPos		last = c->last;

				/* both have the page's prefix */
				last.key += l->priv[PV_PREFIXLEN];
				last.len -= l->priv[PV_PREFIXLEN];
				if (sfx_order_cmp_pos(l->order, &sep, &last) <= 0)
					return disorder(c, "a separator is not above the block before it");
			}
			else if (sep.len != 0 || sep.tid != 0)
				return "the first separator is not empty";
		}
		/* entries between the first and the last one need not be compared with the fences */
		if ((!c->any || (b == l->nblocks - 1 && i == blk->nent - 1)) && sfx_leaf_cmp_fences(l, &pos) != 0)
			return disorder(c, "an entry is outside of the fences");
		c->last = pos;
		c->any = true;
	}
	/* blk is about to be overwritten, and c->lastkey is the entry before it */
	if (any)
		before.key = memcpy(beforekey, c->lastkey, before.len);
	memcpy(c->lastkey, c->last.key, c->last.len);
	c->last.key = c->lastkey;
	c->nentries += (uint64_t) blk->nent;
	why = sfx_leaf_probe(l, b, blk, any ? &before : NULL);
	/* (neighbours may ascend although comparisons are no order) */
	return why && l->order ? disorder(c, why) : why;
}

/* Compare the fences with each other. */
static const char *
verify_fences(const SfxLeaf *l, Check *c)
{
	SfxPos		low = {l->body + l->priv[PV_LOW], l->priv[PV_LOWLEN], low_tid(l)};
	SfxPos		high = {l->body + l->priv[PV_HIGH], l->priv[PV_HIGHLEN], high_tid(l)};

	if (l->priv[PV_FLAGS] & SFX_LEAF_HIGH_INF)
		return NULL;
	if (sfx_order_cmp_pos(l->order, &low, &high) > 0)
		return disorder(c, "the low fence is above the high fence");
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

	c.any = c.disorder = false;
	c.loose = 0;
	c.nentries = 0;
	*why = NULL;
	if (sfx_leaf_open(&l, body, len, order) != SFX_OK)
	{
		*why = "the header is broken";
		return SFX_CORRUPT;
	}
	l.dict = l.dictno ? dict : NULL;
	*why = verify_fences(&l, &c);
	for (int b = 0; b < l.nblocks && *why == NULL; b++)
		*why = verify_block(&l, b, scratch, &c);
	if (*why == NULL && c.any)
		*why = verify_last_cut(&l, &c.last, c.loose);
	if (*why == NULL && c.nentries != l.nentries)
		*why = "the number of entries is wrong";
	if (*why == NULL)
		return SFX_OK;
	return order && c.disorder ? SFX_DISORDER : SFX_CORRUPT;
}
