/*-------------------------------------------------------------------------
 * leaf_encode.c - the packer: encodes pending entries as a block
 *-------------------------------------------------------------------------
 */
#include "leaf_packer.h"

#include "bitblock.h"
#include "fixblock.h"
#include "intcodec.h"
#include "tidcodec.h"

#define CODED_SHARE		4		/* coded keys may take one part of so many of the raw ones */
#define PACKED_SHARE	2		/* packed keys usually take that */

/*
 * Length of what the first nkeys pending keys share.  (Cut keys share what they shared when they
 * were whole.)
 */
static uint32_t
common_prefix(const SfxPacker *p, int nkeys)
{
	const Pending *q = &p->pend;
	const SfxOrder *order = p->order;
	SfxPos		first = pending_key(q, 0);
	SfxPos		last = pending_key(q, nkeys - 1);
	uint32_t	len = first.len;

	/* (a single key with loose bits has a stream of its own, for its last byte) */
	if (p->cutmost && nkeys == 1)
		return p->cutoff[1] - (p->anyloose ? 1 : 0);

	if (order == NULL)
		return sfx_lcp(first.key, first.len, last.key, last.len);
	/* bytes of the keys in between need not be between those of the first and the last */
	for (int i = 1; i < nkeys; i++)
		len = q->lcp[i] < len ? q->lcp[i] : len;
	return len;
}

/* Encode the key stream; sets the kind.  Returns the bytes written, or SFX_NOSPACE. */
static int
encode_keys(const SfxKeys *k, const SfxOrder *order, SfxCoder *coder, uint8_t *out, size_t cap, int *kind)
{
	uint32_t	width = k->off[1] - k->off[0];
	bool		fixed = order == NULL && width - k->skip <= SFX_FIX_MAXWIDTH;
	uint32_t	share = coder->dict ? CODED_SHARE : 1;
	uint32_t	least,
				packed;
	bool		rest;
	int			r,
				s;

	for (int i = 1; i < k->n && fixed; i++)
		fixed = k->off[i + 1] - k->off[i] == width;
	*kind = SFX_BLK_STRING;
	if (!fixed)
		return sfx_str_encode(k, coder, out, cap);
	/*
	 * a form that cannot win need not be tried; these rests may be packed like the previous block's
	 */
	least = sfx_fix_least(k);
	packed = coder->packing && coder->nsymbols <= SFX_SYMBOLS && share < PACKED_SHARE ?
		PACKED_SHARE : share;
	if (least > 0 && sfx_str_estimate(k) / packed < least)
	{
		s = sfx_str_encode(k, coder, out, cap);
		if (s >= 0 && (uint32_t) s < least)
			return s;
	}
	r = sfx_fix_encode(k, out, cap, &rest);
	/* nothing beats keys that are completely in the integer block */
	if (rest && (r < 0 || sfx_str_estimate(k) / share < (uint32_t) r))
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

/*
 * Encode cut keys as strings: with a column of shared lengths, or in the usual form if that is
 * smaller.
 */
static int
encode_cut_strings(SfxPacker *p, const SfxKeys *k, uint8_t *out, size_t cap)
{
	bool		surely;
	int			r = sfx_strcol_encode(k, out, cap, &surely);
	int			s = surely ? SFX_NOSPACE : sfx_str_encode(k, &p->coder, p->body, cap);

	if (s < 0 || (r >= 0 && r <= s))
		return r;
	memcpy(out, p->body, (size_t) s);
	return s;
}

/* Do all keys have one length? */
static bool
is_even(const SfxKeys *k)
{
	int			i = 1;

	while (i < k->n && k->off[i + 1] - k->off[i] == k->off[1] - k->off[0])
		i++;
	return i == k->n;
}

/* Encode keys that are cut between bytes: each as short as possible, or all of one length. */
static int
encode_cut_bytes(SfxPacker *p, SfxKeys *k, uint8_t *out, size_t cap, int *kind)
{
	bool		rest;
	int			r,
				even;

	k->bytes = p->cutkeys;
	k->off = p->cutoff;
	k->known = NULL;
	*kind = SFX_BLK_STRING;
	r = encode_cut_strings(p, k, out, cap);
	if ((!is_even(k) && !sfx_cut_evenly(p, k->n)) || k->off[1] - k->skip > SFX_FIX_MAXWIDTH)
		return r;
	even = sfx_fix_encode(k, p->body, cap, &rest);
	if (even < 0 || (r >= 0 && even >= r))
		return r;
	memcpy(out, p->body, (size_t) even);
	*kind = SFX_BLK_FIXED;
	return even;
}

/* The same for keys that had loose bits before; these are in a column of their own. */
static int
encode_loose_strings(SfxPacker *p, SfxKeys *k, uint8_t *out, size_t cap, int *kind)
{
	SfxBitWriter w;
	uint8_t    *at;
	int			r;

	*kind = SFX_BLK_BITS;
	if (cap < 1 + 3 * SFX_BLOCK_KEYS / 8 + 8)
		return SFX_NOSPACE;
	*out = SFX_BITS_STRINGS;
	sfx_bits_start(&w, out + 1);
	for (int i = 0; i < k->n; i++)
		sfx_bits_put(&w, p->cutloose[i], 3);
	at = sfx_bits_end(&w);
	k->bytes = p->cutkeys;
	k->off = p->cutoff;
	k->known = NULL;
	r = encode_cut_strings(p, k, at, cap - (size_t) (at - out));
	return r < 0 ? r : r + (int) (at - out);
}

/*
 * Encode the key stream of cut keys: cut between bits if that is small; else between bytes, if that
 * is smaller.
 */
static int
encode_cut_keys(SfxPacker *p, SfxKeys *k, uint8_t *out, size_t cap, int *kind)
{
	uint32_t	need[SFX_BLOCK_KEYS],
				have[SFX_BLOCK_KEYS];
	SfxBitKeys	bits = {p->pend.keys, p->pend.keyoff, have, need, k->n, k->skip, k->codec};
	bool		plain;
	int			r,
				s;

	for (int i = 0; i < k->n; i++)
	{
		have[i] = p->have[i] - 8 * k->skip;
		need[i] = p->need[i] - 8 * k->skip;
	}
	r = sfx_bitblock_encode(&bits, p->scratch_keys, cap, &plain);
	if (r < 0 || r > 2 * k->n)
	{
		s = p->anyloose ? encode_loose_strings(p, k, out, cap, kind) :
			encode_cut_bytes(p, k, out, cap, kind);
		if (s >= 0 && (r < 0 || s <= r))
			return s;
		if (r < 0)
			return r;
	}
	*kind = plain ? SFX_BLK_FIXED : SFX_BLK_BITS;
	r -= plain ? 2 : 0;
	memcpy(out, p->scratch_keys + (plain ? 2 : 0), (size_t) r);
	return r;
}

/* Encode the ends of the posting lists, without the last one. */
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

/* Encode payload ends (if there are several payloads), then the payloads. */
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
	if (p->cutmost)
		sfx_cut_block(p, c, nkeys);
	c->b.prefixlen = common_prefix(p, nkeys);
	c->b.seplen = q->seplen;
	c->b.septid = q->septid;
	if (nkeys > 1 || (p->cutmost && p->anyloose))
	{
		SfxKeys		k = {q->keys, q->keyoff, q->lcp, nkeys, c->b.prefixlen, p->codec, q->codesused > 0 ? &q->known : NULL};

		r = p->cutmost ? encode_cut_keys(p, &k, out, room, &kind) :
			encode_keys(&k, p->order, &p->coder, out, room, &kind);
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
