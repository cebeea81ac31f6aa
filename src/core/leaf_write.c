/*-------------------------------------------------------------------------
 * leaf_write.c - packer: a stream of entries in, full leaf pages out (format in leaf.c)
 *
 * Entries gather in *pending* until it holds a full block and the next entry is known, for the high fence
 * (and the next block's separator) is made of both.  Then the block is
 * encoded and tried on the page: exactly, with the fences that the page would have.  If it fits, it is
 * committed.  If not, the page's last block is cut: by interpolation and bisection, the most entries
 * that fit; the page is emitted, the other entries stay pending for the next one.
 *
 * The page's shared prefix P is known only when the page is closed, but it only gets shorter as the high fence
 * moves up.  (In comparator order it is empty.)  So an encoded block keeps its prefix apart, without the bytes that P
 * had at the time;
 * the bytes that P gives back are found in the low fence.  The same goes for separators.
 *
 * Invariants: the committed blocks fit with the fence that follows them (pend.sep); at least one entry is
 * pending once any was added; a single entry fits on an empty page whatever the fences are.
 *-------------------------------------------------------------------------
 */
#include "leaf.h"

#include "fixblock.h"
#include "intcodec.h"
#include "leaf_format.h"
#include "strblock.h"
#include "tidcodec.h"

#define MAX_CAPACITY	32000
#define MAX_BLOCKS		(MAX_CAPACITY / 12)	/* slot 4, head 2, prefix length 1, TIDs 2 or more: at least 9 */
#define CODED_SHARE		4		/* coded keys may take so small a part of raw ones */
#define RAW_SIZE		(SFX_BLOCK_RAW + SFX_MAX_ENTRY + 16)
#define KNOWN_ROOM		MAX_CAPACITY	/* bytes of codes that come with keys; beyond that they are made again */

/* Entries that are not on the page yet.  Each distinct key is there once. */
typedef struct Pending
{
	int			nkeys;
	int			nent;
	uint32_t	seplen;			/* separator below the first entry: so much of its key, */
	uint64_t	septid;			/* and this TID */
	uint32_t	keyoff[SFX_BLOCK_KEYS + 1];
	uint16_t	lcp[SFX_BLOCK_KEYS];	/* shared with the key before; [0] unused */
	uint16_t	ends[SFX_BLOCK_KEYS];	/* exclusive end of the key's entries */
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	uint32_t	payoff[SFX_BLOCK_ENTRIES + 1];
	uint8_t		keys[RAW_SIZE];
	uint8_t		pay[RAW_SIZE];
	/* codes that the caller had, one behind the other */
	SfxKnownCodes known;
	uint32_t	codesused;
	uint8_t		codes[KNOWN_ROOM];
} Pending;

/* An encoded block, in pieces: head, prefix behind P, rest. */
typedef struct PackedBlock
{
	uint32_t	off;			/* in the page's scratch: separator, prefix, rest */
	uint32_t	restlen;
	uint32_t	prefixlen;		/* whole, P included */
	uint32_t	seplen;			/* whole, P included */
	uint32_t	from;			/* P when it was stored: scratch has the prefix and separator from there on */
	uint64_t	septid;
	uint8_t		head[3];
	uint8_t		headlen;
} PackedBlock;

/* A block just encoded, and the fence that would follow it. */
typedef struct Candidate
{
	int			nent;
	PackedBlock b;
	SfxPos		high;
	bool		high_inf;
	uint32_t	size;			/* of the whole page with it; only if it fits */
	uint32_t	rawrests,		/* bytes of its keys' rests: raw, as stored */
				rests;
	uint8_t		rest[MAX_CAPACITY];
} Candidate;

struct SfxPacker
{
	uint32_t	capacity;
	int			pages;
	SfxLeafEmit emit;
	void	   *ctx;
	const SfxOrder *order;
	const SfxCodes *codes;		/* of the next entry's key; NULL: unknown */
	int			codeno;
	int			codec;			/* pinned for integers in keys; 0: none */
	uint32_t	dictno;			/* 0: no dictionary */
	bool		coded;			/* some committed block needs it */
	uint64_t	rawrests,		/* in pages and committed blocks */
				rests;
	SfxRestSample *sample;
	SfxPos		low;			/* low fence of the page under construction: points to lowkey */
	uint32_t	nentries;		/* in committed blocks */
	int			nblocks;
	uint32_t	used;			/* scratch bytes */
	uint32_t	lastent;		/* entries of the block committed last, ... */
	uint32_t	lastsize;		/* ... and its bytes; 0: there is none */
	uint8_t		lowkey[SFX_MAX_ENTRY];
	PackedBlock blocks[MAX_BLOCKS];
	Pending		pend;
	SfxCoder	coder;			/* of the block that the first pending key begins */
	Candidate	cand[2];		/* the best so far and the one being tried */
	int			best;
	uint8_t		scratch[2 * MAX_CAPACITY];
	uint8_t		body[MAX_CAPACITY];
};

size_t
sfx_packer_size(void)
{
	return sizeof(SfxPacker);
}

SfxPacker *
sfx_packer_init(void *mem, uint32_t capacity, const SfxPos *low, SfxLeafEmit emit, void *ctx,
				const SfxOrder *order)
{
	SfxPacker  *p = mem;

	p->capacity = capacity > MAX_CAPACITY ? MAX_CAPACITY : capacity;
	p->pages = 0;
	p->emit = emit;
	p->ctx = ctx;
	p->order = order;
	p->dictno = 0;
	p->coded = false;
	p->rawrests = p->rests = 0;
	p->sample = NULL;
	p->coder.dict = NULL;
	p->coder.n = 0;
	p->coder.cut = 0;
	if (low->len)
		memcpy(p->lowkey, low->key, low->len);
	p->low = (SfxPos) {p->lowkey, low->len, low->tid};
	p->nentries = 0;
	p->nblocks = 0;
	p->used = 0;
	p->lastent = p->lastsize = 0;
	p->best = 0;
	p->codec = 0;
	p->codes = NULL;
	p->pend.known.bytes = p->pend.codes;
	p->pend.codesused = 0;
	p->pend.nkeys = 0;
	p->pend.nent = 0;
	p->pend.keyoff[0] = 0;
	p->pend.payoff[0] = 0;
	return p;
}

int
sfx_packer_pages(const SfxPacker *p)
{
	return p->pages;
}

void
sfx_packer_set_codec(SfxPacker *p, int codec)
{
	p->codec = codec;
}

void
sfx_packer_set_dict(SfxPacker *p, const SfxHope *dict, uint32_t number)
{
	p->coder.dict = dict;
	p->dictno = number;
}

void
sfx_packer_set_sample(SfxPacker *p, SfxRestSample *s)
{
	p->sample = s;
}

void
sfx_packer_rests(const SfxPacker *p, uint64_t *raw, uint64_t *stored)
{
	*raw = p->rawrests;
	*stored = p->rests;
}

/* ---- the sample ---- */

void
sfx_sample_init(SfxRestSample *s)
{
	s->nkeys = s->used = s->seen = 0;
	s->stride = 1;
}

/* Keep every other run of GROUP_SAMPLE rests. */
static void
thin_sample(SfxRestSample *s)
{
	uint32_t	n = 0,
				used = 0;

	for (uint32_t i = 0; i < s->nkeys; i++)
	{
		uint32_t	from = i > 0 ? s->end[i - 1] : 0;
		uint32_t	len = s->end[i] - from;

		if (i / (SFX_STR_GROUP - 1) % 2)
			continue;
		/* end[n] lies below i, or is end[i] itself: from was read */
		memmove(s->bytes + used, s->bytes + from, len);
		used += len;
		if (n < i)
			s->end[n] = used;
		n++;
	}
	s->nkeys = n;
	s->used = used;
	s->stride *= 2;
}

void
sfx_sample_add(SfxRestSample *s, const uint8_t *rest, uint32_t len)
{
	if (s->nkeys == SFX_SAMPLE_KEYS || s->used + len > SFX_SAMPLE_BYTES)
		return;
	if (len > 0)
		memcpy(s->bytes + s->used, rest, len);
	s->used += len;
	s->end[s->nkeys++] = s->used;
}

uint32_t
sfx_sample_keys(const SfxRestSample *s, SfxHopeKey *keys)
{
	for (uint32_t i = 0; i < s->nkeys; i++)
	{
		uint32_t	from = i > 0 ? s->end[i - 1] : 0;

		keys[i] = (SfxHopeKey) {s->bytes + from, s->end[i] - from};
	}
	return s->nkeys;
}

/* Sample a block of STRING keys about to be committed; cut: bytes that stand once for all keys at their ends. */
static void
sample_block(SfxRestSample *s, const Pending *q, int nkeys, uint32_t cut)
{
	for (int g = 0; g + SFX_STR_GROUP <= nkeys; g += SFX_STR_GROUP)
	{
		if (s->seen++ % s->stride != 0)
			continue;
		if (s->nkeys + SFX_STR_GROUP > SFX_SAMPLE_KEYS ||
			s->used + (q->keyoff[g + SFX_STR_GROUP] - q->keyoff[g]) > SFX_SAMPLE_BYTES)
			thin_sample(s);
		for (int i = g + 1; i < g + SFX_STR_GROUP; i++)
		{
			uint32_t	from = q->keyoff[i] + q->lcp[i];
			uint32_t	to = q->keyoff[i + 1] - cut;

			sfx_sample_add(s, q->keys + from, to > from ? to - from : 0);
		}
	}
}

/* ---- pending entries ---- */

static inline SfxPos
pending_key(const Pending *q, int k)
{
	return (SfxPos) {q->keys + q->keyoff[k], q->keyoff[k + 1] - q->keyoff[k], 0};
}

/* The key of pending entry e. */
static int
key_of_entry(const Pending *q, int e)
{
	int			lo = 0,
				hi = q->nkeys - 1;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (q->ends[mid] > e)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* The separator below entry e.  (pending: the one before it is pending, too) */
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

/* Keep the code of the key that is about to be appended, if there is one. */
static void
append_code(Pending *q, const SfxCodes *c, int i)
{
	SfxKnownCodes *known = &q->known;

	known->start[q->nkeys] = SFX_NO_CODE;
	if (c == NULL || c->len[i] > KNOWN_ROOM - q->codesused)
		return;
	known->start[q->nkeys] = c->start[i];
	known->cut[q->nkeys] = (uint8_t) c->cut;
	known->len[q->nkeys] = c->len[i];
	known->off[q->nkeys] = q->codesused;
	memcpy(q->codes + q->codesused, c->code[i], c->len[i]);
	q->codesused += c->len[i];
}

/* Forget the codes of the first k keys; nkeys is that of those that stay. */
static void
drop_codes(Pending *q, int k)
{
	SfxKnownCodes *known = &q->known;
	uint32_t	used = 0;

	for (int i = 0; i < q->nkeys; i++)
	{
		known->start[i] = known->start[i + k];
		if (known->start[i] == SFX_NO_CODE)
			continue;
		known->cut[i] = known->cut[i + k];
		known->len[i] = known->len[i + k];
		memmove(q->codes + used, q->codes + known->off[i + k], known->len[i]);
		known->off[i] = used;
		used += known->len[i];
	}
	q->codesused = used;
}

static void
append_entry(Pending *q, const SfxEntry *e, bool newkey, uint32_t lcp, const SfxCodes *c, int codeno)
{
	if (newkey)
	{
		uint32_t	at = q->keyoff[q->nkeys];

		memcpy(q->keys + at, e->key, e->keylen);
		q->lcp[q->nkeys] = (uint16_t) lcp;
		append_code(q, c, codeno);
		q->nkeys++;
		q->keyoff[q->nkeys] = at + e->keylen;
	}
	q->tid[q->nent] = e->tid;
	if (e->paylen)
		memcpy(q->pay + q->payoff[q->nent], e->payload, e->paylen);
	q->payoff[q->nent + 1] = q->payoff[q->nent] + e->paylen;
	q->nent++;
	q->ends[q->nkeys - 1] = (uint16_t) q->nent;
}

/* Forget the first n entries; the separator above them becomes the one below the rest. */
static void
drop_pending(Pending *q, int n, const SfxPos *sep)
{
	int			k;
	uint32_t	base;

	if (n == q->nent)
	{
		q->nkeys = q->nent = 0;
		q->codesused = 0;
		return;
	}
	q->seplen = sep->len;
	q->septid = sep->tid;
	k = key_of_entry(q, n);
	base = q->keyoff[k];
	q->nkeys -= k;
	q->nent -= n;
	drop_codes(q, k);
	memmove(q->keys, q->keys + base, q->keyoff[k + q->nkeys] - base);
	for (int i = 0; i < q->nkeys; i++)
	{
		q->keyoff[i] = q->keyoff[i + k] - base;
		q->lcp[i] = q->lcp[i + k];
		q->ends[i] = (uint16_t) (q->ends[i + k] - n);
	}
	q->keyoff[q->nkeys] = q->keyoff[q->nkeys + k] - base;
	memmove(q->tid, q->tid + n, (size_t) q->nent * sizeof(uint64_t));
	base = q->payoff[n];
	memmove(q->pay, q->pay + base, q->payoff[n + q->nent] - base);
	for (int i = 0; i <= q->nent; i++)
		q->payoff[i] = q->payoff[i + n] - base;
}

/* ---- encoding a block ---- */

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

/* Encode the first c->nent pending entries into c.  SFX_OK or SFX_NOSPACE (too large for any page). */
static int
encode_block(SfxPacker *p, Candidate *c)
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

/* ---- the page ---- */

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

/* Length of the body with the committed blocks, and extra (if any). */
static uint32_t
page_size(const SfxPacker *p, const SfxPos *high, bool high_inf, const PackedBlock *extra)
{
	uint32_t	prefix = shared_prefix(p, high, high_inf);
	uint32_t	size = SFX_LEAF_HEADER + p->low.len + (p->low.tid ? 6 : 0) + (p->dictno ? 4 : 0);

	if (!high_inf)
		size += high->len - prefix + (high->tid ? 6 : 0);
	for (int i = 0; i < p->nblocks; i++)
		size += block_size(&p->blocks[i], i, prefix);
	if (extra)
		size += block_size(extra, p->nblocks, prefix);
	return size;
}

/*
 * Try the first n pending entries as the page's next block; above them comes last (NULL: they are not all, or
 * there is no fence), no fence if inf.  The candidate comes back with size 0 if it is too large to be encoded.
 */
static bool
try_block(SfxPacker *p, Candidate *c, int n, const SfxPos *above, bool inf)
{
	c->nent = n;
	c->size = 0;
	c->high_inf = inf && n == p->pend.nent;
	if (n < p->pend.nent)
		c->high = pending_separator(&p->pend, n, p->order);
	else if (!inf)
		c->high = *above;
	if (p->nblocks >= MAX_BLOCKS || encode_block(p, c) != SFX_OK)
		return false;
	c->size = page_size(p, &c->high, c->high_inf, &c->b);
	return c->size <= p->capacity;
}

/* Keep an encoded block on the page. */
static void
commit_block(SfxPacker *p, const Candidate *c)
{
	PackedBlock *b = &p->blocks[p->nblocks++];
	uint32_t	prefix = shared_prefix(p, &c->high, c->high_inf);
	bool		strings = (c->b.head[0] & SFX_BLK_KIND) == SFX_BLK_STRING;
	const uint8_t *key = p->pend.keys;	/* both prefix and separator are prefixes of the first key */
	uint32_t	n;

	*b = c->b;
	b->off = p->used;
	b->from = prefix;
	/* the longer of the two holds the other */
	n = (b->prefixlen > b->seplen || p->nblocks == 1 ? b->prefixlen : b->seplen) - prefix;
	memcpy(p->scratch + p->used, key + prefix, n);
	memcpy(p->scratch + p->used + n, c->rest, b->restlen);
	p->used += n + b->restlen;
	p->nentries += (uint32_t) c->nent;
	p->lastent = (uint32_t) c->nent;
	p->lastsize = block_size(b, p->nblocks - 1, prefix);
	p->coded |= strings && (c->rest[0] & SFX_STR_CODED);
	p->rawrests += c->rawrests;
	p->rests += c->rests;
	if (p->sample && strings)
		sample_block(p->sample, &p->pend, key_of_entry(&p->pend, c->nent - 1) + 1, (c->rest[0] & SFX_STR_LAST) != 0);
}

/* The first len bytes of block b's first key, without the first prefix ones, to out.  Those that
 * were not stored with it are the low fence's. */
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
						(p->coded ? SFX_LEAF_DICT : 0));
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

/* Emit the committed blocks as a page with this high fence, which is then the low fence of the next page. */
static int
close_page(SfxPacker *p, const SfxPos *high, bool high_inf)
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

/* ---- filling pages ---- */

/* How many pending entries the page has room for, if they take what those of the block before took; all, if nothing speaks against it. */
static int
expected_fit(const SfxPacker *p, uint32_t least)
{
	uint64_t	room = least < p->capacity ? p->capacity - least : 0;
	uint64_t	n = p->lastsize > 0 ? room * p->lastent / p->lastsize : UINT64_MAX;

	return n >= (uint64_t) p->pend.nent ? p->pend.nent : n > 0 ? (int) n : 1;
}

/*
 * The most pending entries that fit on the page as its next block: first as many as are expected to, then by interpolation between a number
 * that fits (good) and one that does not (bad).  above: what would follow them all.  The best candidate is left
 * in p->cand[p->best]; returns its entries (0: not even one fits).
 */
static int
fit_block(SfxPacker *p, const SfxPos *above, bool inf)
{
	SfxPos		here = {p->pend.keys, p->pend.seplen, p->pend.septid};
	uint32_t	least = p->nblocks ? page_size(p, &here, false, NULL) : SFX_LEAF_HEADER + p->low.len;
	uint32_t	goodsize = least,
				badsize = 0;	/* 0: not known */
	int			good = 0,
				bad = p->pend.nent + 1;
	int			n = expected_fit(p, least);

	for (int tries = 0;; tries++)
	{
		Candidate  *c = &p->cand[!p->best];
		uint64_t	room;

		if (try_block(p, c, n, above, inf))
		{
			good = n;
			goodsize = c->size;
			p->best = !p->best;
			/* another entry of the usual size has no room: to prove it would take one or two tries more */
			if (n == p->pend.nent || p->capacity - goodsize < (goodsize - least) / (uint32_t) n)
				return good;
		}
		else
		{
			bad = n;
			badsize = c->size;
		}
		if (bad - good <= 1)
			return good;
		room = goodsize < p->capacity ? p->capacity - goodsize : 0;
		if (bad > p->pend.nent && goodsize > least)
			n = good + (int) (room * (uint64_t) good / (goodsize - least) & INT32_MAX);
		else if (badsize > goodsize && tries < 6)
			n = good + (int) ((uint64_t) (bad - good) * room / (badsize - goodsize));
		else
			n = (good + bad) / 2;
		n = n <= good ? good + 1 : n >= bad ? bad - 1 : n;
	}
}

/*
 * Move pending entries to pages.  above: the fence that would follow them all (inf: none).  If they all fit on
 * the page they are committed; else one page is closed.  Either way some entries may be left.
 */
static int
flush_pending(SfxPacker *p, const SfxPos *above, bool inf)
{
	int			n = fit_block(p, above, inf);
	const Candidate *c = &p->cand[p->best];
	SfxPos		high;
	int			r;

	if (n > 0)
	{
		commit_block(p, c);
		high = c->high;
	}
	else if (p->nblocks == 0)
		return SFX_NOSPACE;		/* the caller broke the limit on entries or capacity */
	else
		high = (SfxPos) {p->pend.keys, p->pend.seplen, p->pend.septid};
	if (n == p->pend.nent)
	{
		drop_pending(&p->pend, n, NULL);
		p->coder.n = 0;
		return SFX_OK;
	}
	r = close_page(p, &high, false);
	if (n > 0)
	{
		drop_pending(&p->pend, n, &high);
		p->coder.n = 0;
	}
	return r;
}

/*
 * Is the entry where the contract wants it, given what it shares with the last key?  Damaged pages bring others about, and the page's prefix
 * would not be theirs.  (Comparator order has none, and to compare is expensive there.)
 */
static bool
in_order(const SfxPacker *p, const SfxEntry *e, bool newkey, uint32_t lcp)
{
	const Pending *q = &p->pend;
	SfxPos		pos = {e->key, e->keylen, e->tid};
	SfxPos		last;

	if (q->nent > 0 && !newkey)
		return e->tid > q->tid[q->nent - 1];
	if (p->order)
		return true;
	if (q->nent == 0)
		return sfx_cmp_pos(&p->low, &pos) <= 0;
	last = pending_key(q, q->nkeys - 1);
	return lcp < e->keylen && (lcp == last.len || last.key[lcp] < e->key[lcp]);
}

int
sfx_packer_add(SfxPacker *p, const SfxEntry *e)
{
	Pending    *q = &p->pend;
	SfxPos		sep = {e->key, e->keylen, e->tid};
	bool		sepdone = p->order == NULL;
	bool		newkey = true;
	uint32_t	lcp = 0;
	int			r;

	if (q->nent > 0)
	{
		SfxPos		last = pending_key(q, q->nkeys - 1);

		lcp = sfx_lcp(last.key, last.len, e->key, e->keylen);
		newkey = lcp < e->keylen || lcp < last.len;
		if (lcp < e->keylen && p->order == NULL)
			sep = (SfxPos) {e->key, lcp + 1, 0};
	}
	else if (p->pages == 0 && p->nblocks == 0)
	{
		/* the first entry of all: no separator is needed below it */
		q->seplen = 0;
		q->septid = 0;
	}
	if (!in_order(p, e, newkey, lcp))
		return SFX_CORRUPT;
	while (q->nent > 0 &&
		   (q->nent == SFX_BLOCK_ENTRIES || (newkey && q->nkeys == SFX_BLOCK_KEYS) ||
			q->keyoff[q->nkeys] + e->keylen > SFX_BLOCK_RAW || q->payoff[q->nent] + e->paylen > SFX_BLOCK_RAW))
	{
		if (!sepdone)
		{
			SfxPos		last = pending_key(q, q->nkeys - 1);

			sep = sfx_order_separator(p->order, &last, &sep);
			sepdone = true;
		}
		r = flush_pending(p, &sep, false);
		if (r < 0)
			return r;
		if (q->nent == 0)
		{
			q->seplen = sep.len;
			q->septid = sep.tid;
			newkey = true;
		}
	}
	append_entry(q, e, newkey, lcp, p->codes, p->codeno);
	return SFX_OK;
}

/* What two keys of w >= 8 bytes share, if a < b; w if not. */
static inline uint32_t
ascending_lcp(const uint8_t *a, const uint8_t *b, uint32_t w)
{
	for (uint32_t at = 0; at < w;)
	{
		uint64_t	x = sfx_load_be64(a + at),
					y = sfx_load_be64(b + at);

		if (x != y)
			return x < y ? at + (uint32_t) __builtin_clzll(x ^ y) / 8 : w;
		/* the last word may overlap the one before */
		at = at + 8 < w && at + 16 > w ? w - 8 : at + 8;
	}
	return w;
}

/*
 * Append entries [from, to) of b, as long as they go to the block that pends and are of the common kind: keys of its last one's
 * width, all different, no payload.  Returns how many.
 */
static int
append_run(SfxPacker *p, const SfxBlock *b, int from, int to)
{
	Pending    *q = &p->pend;
	uint32_t	w = b->width;
	const uint8_t *last;
	uint32_t	at;
	int			n = to - from,
				i;

	if (w < 8 || b->dups || b->haspay || p->order || q->nent == 0 || pending_key(q, q->nkeys - 1).len != w)
		return 0;
	at = q->keyoff[q->nkeys];
	n = n < SFX_BLOCK_KEYS - q->nkeys ? n : SFX_BLOCK_KEYS - q->nkeys;
	n = n < SFX_BLOCK_ENTRIES - q->nent ? n : SFX_BLOCK_ENTRIES - q->nent;
	n = at >= SFX_BLOCK_RAW ? 0 : n < (int) ((SFX_BLOCK_RAW - at) / w) ? n : (int) ((SFX_BLOCK_RAW - at) / w);
	last = q->keys + q->keyoff[q->nkeys - 1];
	for (i = 0; i < n; i++)
	{
		const uint8_t *key = b->keys + b->keyoff[from + i];
		uint32_t	lcp = ascending_lcp(last, key, w);

		if (lcp == w)
			break;
		q->lcp[q->nkeys + i] = (uint16_t) lcp;
		q->keyoff[q->nkeys + i + 1] = at + (uint32_t) (i + 1) * w;
		q->ends[q->nkeys + i] = (uint16_t) (q->nent + i + 1);
		q->payoff[q->nent + i + 1] = q->payoff[q->nent];
		q->known.start[q->nkeys + i] = SFX_NO_CODE;
		last = key;
	}
	memcpy(q->keys + at, b->keys + b->keyoff[from], (size_t) i * w);
	memcpy(q->tid + q->nent, b->tid + from, (size_t) i * sizeof(uint64_t));
	q->nkeys += i;
	q->nent += i;
	return i;
}

int
sfx_packer_add_run(SfxPacker *p, const SfxBlock *b, int from, int to, const SfxCodes *codes)
{
	while (from < to)
	{
		int			n = append_run(p, b, from, to);

		if (n == 0)
		{
			SfxEntry	e;
			int			r;

			sfx_block_entry(b, from, &e);
			p->codes = codes && codes->n > 0 && p->coder.dict ? codes : NULL;
			p->codeno = b->dups ? b->keyno[from] : from;
			r = sfx_packer_add(p, &e);
			p->codes = NULL;
			if (r < 0)
				return r;
			n = 1;
		}
		from += n;
	}
	return SFX_OK;
}

int
sfx_packer_finish(SfxPacker *p, const SfxPos *high)
{
	if (high && p->order == NULL && p->pend.nent > 0)
	{
		SfxPos		last = pending_key(&p->pend, p->pend.nkeys - 1);

		last.tid = p->pend.tid[p->pend.nent - 1];
		if (sfx_cmp_pos(&last, high) >= 0)
			return SFX_CORRUPT;
	}
	while (p->pend.nent > 0)
	{
		int			r = flush_pending(p, high, high == NULL);

		if (r < 0)
			return r;
	}
	return close_page(p, high, high == NULL);
}
