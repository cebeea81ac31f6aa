/*-------------------------------------------------------------------------
 * filter.c - the body of a filter page
 *
 * Byte offsets:
 *
 *	off	size	what
 *	0	1	kind
 *	1	1	bit 0 no high fence; bit 1 comparator order
 *	2	2	bytes of the low fence
 *	4	2	bytes of the high fence
 *	6	2	zero
 *	8	4	distinct keys
 *	12	6	TID of the low fence, big-endian
 *	18	6	TID of the high fence
 *	24	.	low fence, high fence
 *	.	.	BLOOM: the bits, up to the body's end; SURF: see surf_format.h
 *-------------------------------------------------------------------------
 */
#include "filter.h"
#include "surf_format.h"

#define HEADER			24
#define FLAG_INF		1
#define FLAG_ORDER		2
#define BLOOM_PROBES	7			/* 10 bits * ln 2 */
#define BLOOM_MINBITS	64

/* ---- reading ---- */

int
sfx_filter_open(SfxFilter *f, const uint8_t *body, uint32_t len, const SfxOrder *order)
{
	uint32_t	lowlen,
				highlen,
				at;

	if (len < HEADER || body[0] < SFX_FILTER_BLOOM || body[0] > SFX_FILTER_SURF || body[1] > (FLAG_INF | FLAG_ORDER))
		return SFX_CORRUPT;
	f->kind = body[0];
	f->order = order;
	f->high_inf = body[1] & FLAG_INF;
	lowlen = sfx_get16(body + 2);
	highlen = sfx_get16(body + 4);
	f->nkeys = sfx_get32(body + 8);
	at = HEADER + lowlen + highlen;
	if (at > len || lowlen > SFX_MAX_ENTRY || highlen > SFX_MAX_ENTRY || (order != NULL) != ((body[1] & FLAG_ORDER) != 0) ||
		(f->high_inf && highlen > 0) || (order && f->kind == SFX_FILTER_SURF))
		return SFX_CORRUPT;
	f->low = (SfxPos) {body + HEADER, lowlen, sfx_get_tid(body + 12)};
	f->high = (SfxPos) {body + HEADER + lowlen, highlen, sfx_get_tid(body + 18)};
	if (f->kind == SFX_FILTER_SURF)
		return sfx_surf_open(&f->surf, body + at, len - at);
	f->bits = body + at;
	f->nbits = (len - at) * 8;
	return f->nbits >= BLOOM_MINBITS ? SFX_OK : SFX_CORRUPT;
}

int
sfx_filter_cmp_fences(const SfxFilter *f, const SfxPos *pos)
{
	if (sfx_order_cmp_pos(f->order, &f->low, pos) > 0)
		return -1;
	return f->high_inf || sfx_order_cmp_pos(f->order, &f->high, pos) > 0 ? 0 : 1;
}

/* The bit of probe i: two halves of a hash make all of them (Kirsch and Mitzenmacher). */
static inline uint32_t
bloom_bit(uint64_t hash, unsigned i, uint32_t nbits)
{
	uint32_t	h = (uint32_t) hash + i * ((uint32_t) (hash >> 32) | 1);

	return (uint32_t) ((uint64_t) h * nbits >> 32);
}

int
sfx_filter_key(const SfxFilter *f, const uint8_t *key, uint32_t len)
{
	uint64_t	hash;

	if (f->kind == SFX_FILTER_SURF)
		return sfx_surf_lookup(&f->surf, key, len);
	hash = sfx_hash_key(key, len);
	for (unsigned i = 0; i < BLOOM_PROBES; i++)
	{
		uint32_t	bit = bloom_bit(hash, i, f->nbits);

		if (!(f->bits[bit >> 3] >> (bit & 7) & 1))
			return 0;
	}
	return 1;
}

int
sfx_filter_range(const SfxFilter *f, const SfxPos *lo, const SfxPos *hi)
{
	SfxSurfBound low,
				high;

	if (f->kind != SFX_FILTER_SURF)
		return 1;
	/*
	 * only entries of lo's key with TIDs below lo's are too many; hi's key is in the range if its
	 * TID is
	 */
	low = (SfxSurfBound) {lo->key, lo->len, true};
	if (hi == NULL)
		return sfx_surf_lookup_range(&f->surf, &low, NULL);
	high = (SfxSurfBound) {hi->key, hi->len, hi->tid != 0};
	return sfx_surf_lookup_range(&f->surf, &low, &high);
}

const char *
sfx_filter_check(const SfxFilter *f)
{
	if (!f->high_inf && sfx_order_cmp_pos(f->order, &f->low, &f->high) >= 0)
		return "the fences of the filter do not ascend";
	if (f->kind != SFX_FILTER_SURF)
		return NULL;
	if (f->surf.nkeys != f->nkeys)
		return "the filter has another number of keys";
	return sfx_surf_check(&f->surf);
}

/* ---- building ---- */

void
sfx_filter_build_init(SfxFilterBuild *b, const SfxFilterSpec *spec, const SfxSurfAlloc *alloc)
{
	memset(b, 0, sizeof(*b));
	b->spec = *spec;
	b->alloc = *alloc;
	sfx_surf_build_init(&b->surf, alloc, spec->hashbits, spec->realbits);
}

static int
add_hash(SfxFilterBuild *b, uint64_t hash)
{
	/* equal keys are adjacent */
	if (b->nkeys > 0 && hash == b->last)
		return SFX_OK;
	if (b->hashes.len + 8 > b->hashes.cap)
	{
		size_t		cap = b->hashes.cap ? 2 * b->hashes.cap : 8192;
		uint8_t    *p = b->alloc.resize(b->alloc.ctx, b->hashes.p, b->hashes.cap, cap);

		if (p == NULL)
			return SFX_NOMEM;
		b->hashes.p = p;
		b->hashes.cap = cap;
	}
	sfx_put64(b->hashes.p + b->hashes.len, hash);
	b->hashes.len += 8;
	b->nkeys++;
	b->last = hash;
	return SFX_OK;
}

int
sfx_filter_add(SfxFilterBuild *b, const uint8_t *key, uint32_t len)
{
	if (b->error == SFX_OK)
		b->error = b->spec.kind == SFX_FILTER_SURF ? sfx_surf_add(&b->surf, key, len) :
			add_hash(b, sfx_hash_key(key, len));
	return b->error;
}

static int
write_bloom(const SfxFilterBuild *b, uint8_t *p, uint32_t room)
{
	uint64_t	want = ((uint64_t) b->nkeys * SFX_BLOOM_BITS + 7) / 8;
	uint32_t	bytes = want < BLOOM_MINBITS / 8 ? BLOOM_MINBITS / 8 : want > room ? room : (uint32_t) want;

	if (want > room || bytes > room)
		return SFX_NOSPACE;
	memset(p, 0, bytes);
	for (size_t k = 0; k < b->hashes.len; k += 8)
		for (unsigned i = 0; i < BLOOM_PROBES; i++)
		{
			uint32_t	bit = bloom_bit(sfx_get64(b->hashes.p + k), i, bytes * 8);

			p[bit >> 3] |= (uint8_t) (1 << (bit & 7));
		}
	return (int) bytes;
}

static int
write_surf(SfxFilterBuild *b, uint8_t *p, uint32_t room)
{
	uint64_t	size;
	int			rc = sfx_surf_size(&b->surf, &size);

	if (rc < 0)
		return rc;
	if (size > room)
		return SFX_NOSPACE;
	b->nkeys = (uint32_t) b->surf.nkeys;
	rc = sfx_surf_write(&b->surf, p, size);
	return rc < 0 ? rc : (int) size;
}

int
sfx_filter_finish(SfxFilterBuild *b, const SfxPos *low, const SfxPos *high, const SfxOrder *order,
				  uint8_t *body, uint32_t capacity)
{
	uint32_t	highlen = high ? high->len : 0;
	uint32_t	at = HEADER + low->len + highlen;
	int			n;

	if (b->error != SFX_OK)
		return b->error;
	if (at > capacity)
		return SFX_NOSPACE;
	n = b->spec.kind == SFX_FILTER_SURF ? write_surf(b, body + at, capacity - at) : write_bloom(b, body + at, capacity - at);
	if (n < 0)
		return n;
	memset(body, 0, HEADER);
	body[0] = (uint8_t) b->spec.kind;
	body[1] = (uint8_t) ((high ? 0 : FLAG_INF) | (order ? FLAG_ORDER : 0));
	sfx_put16(body + 2, (uint16_t) low->len);
	sfx_put16(body + 4, (uint16_t) highlen);
	sfx_put32(body + 8, b->nkeys);
	sfx_put_tid(body + 12, low->tid);
	if (low->len > 0)
		memcpy(body + HEADER, low->key, low->len);
	if (high)
	{
		sfx_put_tid(body + 18, high->tid);
		if (highlen > 0)
			memcpy(body + HEADER + low->len, high->key, highlen);
	}
	return (int) at + n;
}

void
sfx_filter_build_free(SfxFilterBuild *b)
{
	sfx_surf_build_free(&b->surf);
	if (b->hashes.p)
		b->alloc.resize(b->alloc.ctx, b->hashes.p, b->hashes.cap, 0);
	b->hashes.p = NULL;
}
