/*-------------------------------------------------------------------------
 * leaf_encode.c - the packer: pending entries are encoded as a block
 *-------------------------------------------------------------------------
 */
#include "leaf_packer.h"

#include "fixblock.h"
#include "intcodec.h"
#include "tidcodec.h"

#define CODED_SHARE		4		/* coded keys may take so small a part of raw ones */

/* What the first nkeys pending keys share. */
static uint32_t
common_prefix(const Pending *q, int nkeys, const SfxOrder *order)
{
	SfxPos		first = pending_key(q, 0);
	SfxPos		last = pending_key(q, nkeys - 1);
	uint32_t	len = first.len;

	if (order == NULL)
		return sfx_lcp(first.key, first.len, last.key, last.len);
	/* the keys in between are not between them as bytes are */
	for (int i = 1; i < nkeys; i++)
		len = q->lcp[i] < len ? q->lcp[i] : len;
	return len;
}

/* The key stream; sets the kind.  Bytes written or SFX_NOSPACE. */
static int
encode_keys(const SfxKeys *k, const SfxOrder *order, SfxCoder *coder, uint8_t *out, size_t cap, int *kind)
{
	uint32_t	width = k->off[1] - k->off[0];
	bool		fixed = order == NULL && width - k->skip <= SFX_FIX_MAXWIDTH;
	bool		rest;
	int			r,
				s;

	for (int i = 1; i < k->n && fixed; i++)
		fixed = k->off[i + 1] - k->off[i] == width;
	*kind = SFX_BLK_STRING;
	if (!fixed)
		return sfx_str_encode(k, coder, out, cap);
	r = sfx_fix_encode(k, out, cap, &rest);
	/* what is all in the integer block, nothing beats */
	if (rest && (r < 0 || sfx_str_estimate(k) / (coder->dict ? CODED_SHARE : 1) < (uint32_t) r))
	{
		s = sfx_str_encode(k, coder, out, cap);
		if (s >= 0 && (r < 0 || s < r))
			return s;
		if (r >= 0)
			r = sfx_fix_encode(k, out, cap, &rest);
	}
	*kind = SFX_BLK_FIXED;
	return r;
}

/* Ends of the posting lists but the last. */
static int
encode_ends(const uint16_t *ends, int nkeys, uint8_t *out, size_t cap)
{
	uint64_t	v[SFX_INT_MAX];

	if (nkeys < 2)
		return 0;
	for (int i = 0; i < nkeys - 1; i++)
		v[i] = (uint64_t) (ends[i] - (i + 1));
	return sfx_int_encode(v, nkeys - 1, out, cap);
}

static int
encode_tids(const uint64_t *tid, int nent, const uint16_t *ends, int nlists, uint8_t *out, size_t cap)
{
	if (nent > 1)
		return sfx_tid_encode(tid, nent, ends, nlists, out, cap);
	if (cap < 6)
		return SFX_NOSPACE;
	sfx_put_tid(out, tid[0]);
	return 6;
}

/* Payload ends (if there are several), then the payloads. */
static int
encode_payloads(const Pending *q, int nent, uint8_t *out, size_t cap)
{
	uint64_t	v[SFX_INT_MAX];
	uint8_t    *p = out;
	size_t		bytes = q->payoff[nent];

	for (int at = 0; nent > 1 && at < nent; at += SFX_INT_MAX)
	{
		int			n = nent - at < SFX_INT_MAX ? nent - at : SFX_INT_MAX;
		int			r;

		for (int i = 0; i < n; i++)
			v[i] = q->payoff[at + i + 1];
		r = sfx_int_encode(v, n, p, cap - (size_t) (p - out));
		if (r < 0)
			return r;
		p += r;
	}
	if (cap - (size_t) (p - out) < bytes)
		return SFX_NOSPACE;
	memcpy(p, q->pay, bytes);
	return (int) (p - out + (ptrdiff_t) bytes);
}

int
sfx_pack_block(SfxPacker *p, Candidate *c)
{
	const Pending *q = &p->pend;
	int			nkeys = key_of_entry(q, c->nent - 1) + 1;
	bool		dups = c->nent > nkeys;
	bool		haspay = q->payoff[c->nent] > 0;
	uint16_t	ends[SFX_BLOCK_KEYS];
	uint8_t    *out = c->rest;
	size_t		room = p->capacity;
	int			kind = SFX_BLK_ONE;
	int			r;

	c->rawrests = c->rests = 0;
	c->b.prefixlen = common_prefix(q, nkeys, p->order);
	c->b.seplen = q->seplen;
	c->b.septid = q->septid;
	if (nkeys > 1)
	{
		SfxKeys		k = {q->keys, q->keyoff, q->lcp, nkeys, c->b.prefixlen, p->codec, q->codesused > 0 ? &q->known : NULL};

		r = encode_keys(&k, p->order, &p->coder, out, room, &kind);
		if (r < 0)
			return SFX_NOSPACE;
		if (kind == SFX_BLK_STRING)
		{
			c->rawrests = p->coder.raw;
			c->rests = p->coder.stored;
		}
		out += r;
	}
	if (dups)
	{
		memcpy(ends, q->ends, (size_t) nkeys * sizeof(uint16_t));
		ends[nkeys - 1] = (uint16_t) c->nent;
		r = encode_ends(ends, nkeys, out, room - (size_t) (out - c->rest));
		if (r < 0)
			return SFX_NOSPACE;
		out += r;
	}
	r = encode_tids(q->tid, c->nent, dups ? ends : NULL, dups ? nkeys : c->nent, out,
					room - (size_t) (out - c->rest));
	if (r < 0)
		return SFX_NOSPACE;
	out += r;
	if (haspay)
	{
		r = encode_payloads(q, c->nent, out, room - (size_t) (out - c->rest));
		if (r < 0)
			return SFX_NOSPACE;
		out += r;
	}
	c->b.restlen = (uint32_t) (out - c->rest);
	c->b.headlen = 0;
	c->b.head[c->b.headlen++] = (uint8_t) (kind | (dups ? SFX_BLK_DUPS : 0) | (haspay ? SFX_BLK_PAYLOAD : 0) |
										   (dups && c->nent > 256 ? SFX_BLK_NENT_HI : 0));
	if (kind != SFX_BLK_ONE)
		c->b.head[c->b.headlen++] = (uint8_t) (nkeys - 1);
	if (dups)
		c->b.head[c->b.headlen++] = (uint8_t) (c->nent - 1);
	return SFX_OK;
}
