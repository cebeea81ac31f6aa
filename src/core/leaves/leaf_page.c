/*-------------------------------------------------------------------------
 * leaf_page.c - the packer: puts blocks on a page, and emits pages
 *-------------------------------------------------------------------------
 */
#include "leaf_packer.h"

/* The separator below entry e, which follows another pending entry. */
static SfxPos
pending_separator(const Pending *q, int e, const SfxOrder *order)
{
	int			k = key_of_entry(q, e);
	SfxPos		s = pending_key(q, k);

	if (k == 0 || q->ends[k - 1] != e)
		s.tid = q->tid[e];
	else if (order)
	{
		SfxPos		before = pending_key(q, k - 1);

		s = sfx_order_separator(order, &before, &s);
	}
	else
		s.len = q->lcp[k] + 1u < s.len ? q->lcp[k] + 1u : s.len;
	return s;
}

/* Length of the prefix that the page shares with this high fence. */
static inline uint32_t
shared_prefix(const SfxPacker *p, const SfxPos *high, bool high_inf)
{
	return high_inf || p->order ? 0 : sfx_lcp(p->low.key, p->low.len, high->key, high->len);
}

/* Bytes that block b, number i of the page, takes with its slot and separator. */
static inline uint32_t
block_size(const PackedBlock *b, int i, uint32_t prefix)
{
	uint32_t	size = SFX_LEAF_SLOT + b->headlen + sfx_len_size(b->prefixlen - prefix) +
		b->prefixlen - prefix + b->restlen;

	if (i > 0)
		size += b->seplen - prefix + (b->septid ? 6 : 0);
	return size;
}

/*
 * Bytes that the committed blocks take with that shared prefix, which nearly always is the one of
 * the last call.
 */
static uint32_t
blocks_size(const SfxPacker *p, uint32_t prefix)
{
	uint32_t	size = 0;

	if (prefix == p->sumprefix)
		return p->sumsize;
	for (int i = 0; i < p->nblocks; i++)
		size += block_size(&p->blocks[i], i, prefix);
	return size;
}

uint32_t
sfx_pack_size(const SfxPacker *p, const SfxPos *high, bool high_inf, const PackedBlock *extra)
{
	uint32_t	prefix = shared_prefix(p, high, high_inf);
	uint32_t	size = SFX_LEAF_HEADER + p->low.len + (p->low.tid ? 6 : 0) + (p->dictno ? 4 : 0);

	if (!high_inf)
		size += high->len - prefix + (high->tid ? 6 : 0);
	size += blocks_size(p, prefix);
	if (extra)
		size += block_size(extra, p->nblocks, prefix);
	return size;
}

bool
sfx_pack_try(SfxPacker *p, Candidate *c, int n, const SfxPos *above, bool inf)
{
	c->nent = n;
	c->size = 0;
	c->high_inf = inf && n == p->pend.nent;
	if (n < p->pend.nent)
		c->high = pending_separator(&p->pend, n, p->order);
	else if (!inf)
		c->high = *above;
	if (p->nblocks >= MAX_BLOCKS || sfx_pack_block(p, c) != SFX_OK)
		return false;
	c->size = sfx_pack_size(p, &c->high, c->high_inf, &c->b);
	return c->size <= p->capacity;
}

void
sfx_pack_commit(SfxPacker *p, const Candidate *c)
{
	PackedBlock *b = &p->blocks[p->nblocks];
	uint32_t	prefix = shared_prefix(p, &c->high, c->high_inf);
	uint32_t	before = blocks_size(p, prefix);
	bool		strings = (c->b.head[0] & SFX_BLK_KIND) == SFX_BLK_STRING;
	const uint8_t *key = p->pend.keys;	/* both prefix and separator are prefixes of the first key */
	uint32_t	n;

	p->nblocks++;
	*b = c->b;
	b->off = p->used;
	b->from = prefix;
	/* the longer of the two contains the other */
	n = (b->prefixlen > b->seplen || p->nblocks == 1 ? b->prefixlen : b->seplen) - prefix;
	memcpy(p->scratch + p->used, key + prefix, n);
	memcpy(p->scratch + p->used + n, c->rest, b->restlen);
	p->used += n + b->restlen;
	p->nentries += (uint32_t) c->nent;
	p->lastent = (uint32_t) c->nent;
	p->lastsize = block_size(b, p->nblocks - 1, prefix);
	p->sumprefix = prefix;
	p->sumsize = before + p->lastsize;
	p->coded |= strings && (c->rest[0] & SFX_STR_CODED);
	p->dict[p->at].raw += c->rawrests;
	p->dict[p->at].stored += c->rests;
	if (p->sample && strings)
		sfx_sample_block(p->sample, &p->pend, key_of_entry(&p->pend, c->nent - 1) + 1, (c->rest[0] & SFX_STR_LAST) != 0);
}

/*
 * Write the first len bytes of block b's first key, without the first prefix ones, to out.  Bytes
 * that were not stored with the block are the low fence's.
 */
static uint8_t *
put_key_part(const SfxPacker *p, const PackedBlock *b, uint32_t prefix, uint32_t len, uint8_t *out)
{
	uint32_t	n = b->from - prefix;

	memcpy(out, p->low.key + prefix, n);
	memcpy(out + n, p->scratch + b->off, len - b->from);
	return out + (len - prefix);
}

static uint8_t *
put_block(const SfxPacker *p, int i, uint32_t prefix, uint8_t *out)
{
	const PackedBlock *b = &p->blocks[i];
	uint32_t	stored = (b->prefixlen > b->seplen || i == 0 ? b->prefixlen : b->seplen) - b->from;

	memcpy(out, b->head, b->headlen);
	out = sfx_len_put(out + b->headlen, b->prefixlen - prefix);
	out = put_key_part(p, b, prefix, b->prefixlen, out);
	memcpy(out, p->scratch + b->off + stored, b->restlen);
	return out + b->restlen;
}

static uint8_t *
put_fences(SfxPacker *p, const SfxPos *high, bool high_inf, uint32_t prefix)
{
	uint8_t    *out = p->body;

	out[0] = SFX_LEAF_VERSION;
	out[1] = (uint8_t) ((high_inf ? SFX_LEAF_HIGH_INF : 0) | (p->low.tid ? SFX_LEAF_LOW_TID : 0) |
						(!high_inf && high->tid ? SFX_LEAF_HIGH_TID : 0) | (p->order ? SFX_LEAF_ORDER : 0) |
						(p->coded ? SFX_LEAF_DICT : 0) | (p->cutmost ? SFX_LEAF_CUT : 0));
	sfx_put16(out + 2, (uint16_t) p->nblocks);
	sfx_put32(out + 4, p->nentries);
	sfx_put16(out + 8, (uint16_t) prefix);
	sfx_put16(out + 10, (uint16_t) p->low.len);
	sfx_put16(out + 12, (uint16_t) (high_inf ? 0 : high->len));
	out += SFX_LEAF_HEADER;
	if (p->low.tid)
	{
		sfx_put_tid(out, p->low.tid);
		out += 6;
	}
	if (p->coded)
	{
		sfx_put32(out, p->dictno);
		out += 4;
	}
	if (!high_inf && high->tid)
	{
		sfx_put_tid(out, high->tid);
		out += 6;
	}
	memcpy(out, p->low.key, p->low.len);
	out += p->low.len;
	if (!high_inf)
	{
		memcpy(out, high->key + prefix, high->len - prefix);
		out += high->len - prefix;
	}
	return out;
}

int
sfx_pack_close(SfxPacker *p, const SfxPos *high, bool high_inf)
{
	uint32_t	prefix = shared_prefix(p, high, high_inf);
	uint8_t    *dir = put_fences(p, high, high_inf, prefix);
	uint8_t    *out = dir + SFX_LEAF_SLOT * p->nblocks;
	SfxLeafOut	page;
	int			r;

	for (int i = 0; i < p->nblocks; i++)
	{
		const PackedBlock *b = &p->blocks[i];
		uint32_t	at = (uint32_t) (out - p->body);

		sfx_put16(dir + SFX_LEAF_SLOT * i + 2, (uint16_t) (at | (i > 0 && b->septid ? SFX_SLOT_TID : 0)));
		if (i == 0)
			continue;
		out = put_key_part(p, b, prefix, b->seplen, out);
		if (b->septid)
		{
			sfx_put_tid(out, b->septid);
			out += 6;
		}
	}
	sfx_put16(p->body + 14, (uint16_t) (out - p->body));
	for (int i = 0; i < p->nblocks; i++)
	{
		sfx_put16(dir + SFX_LEAF_SLOT * i, (uint16_t) (out - p->body));
		out = put_block(p, i, prefix, out);
	}
	page.body = p->body;
	page.len = (uint32_t) (out - p->body);
	page.low = p->low;
	page.high = high_inf ? (SfxPos) {NULL, 0, 0} : *high;
	page.high_inf = high_inf;
	page.nentries = p->nentries;
	r = p->emit(p->ctx, &page);
	p->pages++;
	p->nblocks = 0;
	p->nentries = 0;
	p->used = 0;
	p->sumsize = 0;
	p->coded = false;
	if (r < 0)
		return r;
	if (!high_inf)
	{
		memmove(p->lowkey, high->key, high->len);
		p->low.len = high->len;
		p->low.tid = high->tid;
	}
	return SFX_OK;
}
