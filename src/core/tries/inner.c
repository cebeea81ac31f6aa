/*-------------------------------------------------------------------------
 * inner.c - reading the body of an inner page: fences, children, search (see inner_format.h)
 *-------------------------------------------------------------------------
 */
#include "bits.h"
#include "inner_format.h"
#include "cpu.h"

/* ---- reader ---- */

static inline uint32_t
take(uint32_t *off, uint32_t n)
{
	uint32_t	at = *off;

	*off += n;
	return at;
}

/* Read the header's fields, and check them against each other. */
static int
open_head(View *v, SfxBuf b, int n)
{
	uint32_t	w0 = sfx_ld16(b, 0),
				w1 = sfx_ld16(b, 2),
				w2 = sfx_ld16(b, 4),
				w3 = sfx_ld16(b, 6),
				w4 = sfx_ld8(b, 8),
				w5 = sfx_ld8(b, 9);
	uint32_t	lowkey,
				off = HEADER;
	uint64_t	cbase;

	v->nsep = (uint32_t) n - 1;
	v->flags = (w0 & 0x4000 ? F_TRIE : 0) | (w0 & 0x8000 ? F_HIGHINF : 0) |
		(w1 & 0x1000 ? F_LOWTID : 0) | (w1 & 0x2000 ? F_HIGHTID : 0) | (w2 & 0x4000 ? F_ORDER : 0) |
		(w2 & 0x8000 ? F_FILTERS : 0);
	v->lowlen = w1 & 0xFFF;
	v->tids = w1 >> 14;
	v->highlen = w2 & 0xFFF;
	v->bcoding = (w2 >> 12) & 3;
	v->prefix = w3 & 0xFFF;
	v->bwidth = w4 & 0x7F;
	v->cwidth = w5 & 0x7F;
	if (v->flags & F_ORDER && (v->flags & F_TRIE || v->prefix > 0))
		return SFX_CORRUPT;
	lowkey = v->lowlen - (v->flags & F_LOWTID ? 6 : 0);
	if (v->bwidth > 32 || v->cwidth > 64 || v->bcoding > BLOCKS_RUNS || v->tids > TIDS_SOME || w3 >> 12 > 8)
		return SFX_CORRUPT;
	if (lowkey > SFX_MAX_ENTRY || v->prefix > lowkey)
		return SFX_CORRUPT;
	if (v->flags & F_HIGHINF ? v->highlen != 0 || v->prefix != 0 || v->flags & F_HIGHTID
		: v->highlen < (v->flags & F_HIGHTID ? 6 : 0) ||
		v->prefix + v->highlen - (v->flags & F_HIGHTID ? 6 : 0) > SFX_MAX_ENTRY)
		return SFX_CORRUPT;
	v->bbase = w4 & 0x80 ? (uint32_t) sfx_ld64(b, take(&off, 4)) : 0;
	cbase = w3 >> 12 ? sfx_packed_get(b, off, 8 * (w3 >> 12), 0) : 0;
	off += w3 >> 12;
	v->cbase = (uint32_t) cbase;
	v->cbasehi = (uint32_t) (cbase >> 32);
	v->nruns = v->bcoding == BLOCKS_RUNS ? sfx_ld16(b, take(&off, 2)) : 0;
	v->nexc = w5 & 0x80 ? sfx_ld8(b, take(&off, 1)) : 0;
	v->excsize = w5 & 0x80 ? sfx_ld8(b, take(&off, 1)) : 0;
	v->low = off;
	if (v->excsize > 8 || (v->bcoding == BLOCKS_RUNS && (v->nruns < 1 || v->nruns > (uint32_t) n)) ||
		(w5 & 0x80 && v->cwidth > 63))
		return SFX_CORRUPT;
	return SFX_OK;
}

static uint64_t
tid_at(SfxBuf b, uint32_t off)
{
	return off + 6 <= b.len ? sfx_get_tid(b.p + off) : 0;
}

int
sfx_inner_open(SfxInner *p, const uint8_t *body, uint32_t len, const SfxOrder *order)
{
	View	   *v = (View *) p->priv;
	SfxBuf		b = {body, len};
	uint32_t	off;
	uint32_t	n;

	if (len < HEADER || len > UINT16_MAX)
		return SFX_CORRUPT;
	p->body = body;
	p->len = len;
	p->order = order;
	n = sfx_ld16(b, 0) & 0x3FFF;
	p->nchildren = (int) n;
	if (n < 1 || n > SFX_INNER_MAXCHILDREN || open_head(v, b, (int) n) < 0 ||
		(order != NULL) != ((v->flags & F_ORDER) != 0))
		return SFX_CORRUPT;
	off = v->low;
	off += v->lowlen;
	v->high = take(&off, v->highlen);
	v->blocks = off;
	if (v->bcoding == BLOCKS_RUNS)
		off += sfx_bytes_of((uint64_t) v->nruns * sfx_bitlen(n - 1)) + sfx_bytes_of((uint64_t) v->nruns * v->bwidth);
	else
		off += sfx_bytes_of((uint64_t) n * v->bwidth);
	v->counts = take(&off, sfx_bytes_of((uint64_t) n * v->cwidth));
	v->exc = take(&off, v->nexc * (2 + v->excsize));
	v->tidbits = take(&off, v->tids == TIDS_SOME ? sfx_bytes_of(v->nsep) : 0);
	v->nfilters = v->flags & F_FILTERS ? sfx_ld16(b, take(&off, 2)) : 0;
	v->filters = take(&off, v->nfilters * FILTER_SIZE);
	v->front = v->data = off;
	if (off > len)
		return SFX_CORRUPT;
	if ((v->flags & F_LOWTID && tid_at(b, v->low + v->lowlen - 6) == 0) ||
		(v->flags & F_HIGHTID && tid_at(b, v->high + v->highlen - 6) == 0))
		return SFX_CORRUPT;
	if (v->flags & F_TRIE)
		return sfx_trie_open(&v->trie, b, off, v->nsep);
	if (v->nsep > 0)
		v->data += 2 * ((v->nsep + FRONT_BLOCK - 1) / FRONT_BLOCK - 1);
	return v->data <= len ? SFX_OK : SFX_CORRUPT;
}

/* ---- fences ---- */

int
sfx_inner_fences(const SfxInner *p, uint8_t *lowbuf, SfxPos *low,
				 uint8_t *highbuf, SfxPos *high, bool *high_inf)
{
	const View *v = view(p);

	low->key = lowbuf;
	low->len = v->lowlen - (v->flags & F_LOWTID ? 6 : 0);
	low->tid = v->flags & F_LOWTID ? tid_at(buf(p), v->low + low->len) : 0;
	memcpy(lowbuf, p->body + v->low, low->len);
	high->key = highbuf;
	high->len = 0;
	high->tid = 0;
	*high_inf = v->flags & F_HIGHINF;
	if (!*high_inf)
	{
		uint32_t	rest = v->highlen - (v->flags & F_HIGHTID ? 6 : 0);

		high->len = v->prefix + rest;
		high->tid = v->flags & F_HIGHTID ? tid_at(buf(p), v->high + rest) : 0;
		memcpy(highbuf, lowbuf, v->prefix);
		memcpy(highbuf + v->prefix, p->body + v->high, rest);
	}
	return SFX_OK;
}

static inline int
cmp_tid(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* There is no prefix: both fences' keys are stored whole. */
static int
cmp_fences_order(const SfxInner *p, const SfxPos *pos)
{
	const View *v = view(p);
	SfxPos		fence = {p->body + v->low, v->lowlen, 0};

	if (v->flags & F_LOWTID)
		fence.tid = sfx_get_tid(fence.key + (fence.len -= 6));
	if (sfx_order_cmp_pos(p->order, &fence, pos) > 0)
		return -1;
	if (v->flags & F_HIGHINF)
		return 0;
	fence = (SfxPos) {p->body + v->high, v->highlen, 0};
	if (v->flags & F_HIGHTID)
		fence.tid = sfx_get_tid(fence.key + (fence.len -= 6));
	return sfx_order_cmp_pos(p->order, &fence, pos) <= 0;
}

int
sfx_inner_cmp_fences(const SfxInner *p, const SfxPos *pos)
{
	const View *v = view(p);
	const uint8_t *low = p->body + v->low;
	const uint8_t *high = p->body + v->high;
	uint32_t	len = v->lowlen - (v->flags & F_LOWTID ? 6 : 0);
	int			c;

	if (p->order)
		return cmp_fences_order(p, pos);
	c = sfx_cmp_bytes(pos->key, pos->len, low, len);
	if (c == 0)
		c = cmp_tid(pos->tid, v->flags & F_LOWTID ? sfx_get_tid(low + len) : 0);
	if (c < 0)
		return -1;
	if (v->flags & F_HIGHINF)
		return 0;
	/* not below the low fence: so pos has the prefix, or is above all positions that have it */
	if (pos->len < v->prefix || sfx_memcmp(pos->key, low, v->prefix) != 0)
		return 1;
	len = v->highlen - (v->flags & F_HIGHTID ? 6 : 0);
	c = sfx_cmp_bytes(v->prefix ? pos->key + v->prefix : pos->key, pos->len - v->prefix, high, len);
	if (c == 0)
		c = cmp_tid(pos->tid, v->flags & F_HIGHTID ? sfx_get_tid(high + len) : 0);
	return c >= 0 ? 1 : 0;
}

bool
sfx_inner_has_filters(const SfxInner *p)
{
	return view(p)->nfilters > 0;
}

uint32_t
sfx_inner_filter(const SfxInner *p, int i)
{
	const View *v = view(p);
	uint32_t	lo = 0,
				hi = v->nfilters;
	const uint8_t *f;

	/* the last record that begins at i or before */
	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;

		if (sfx_get16(p->body + v->filters + mid * FILTER_SIZE) <= (uint32_t) i)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return 0;
	f = p->body + v->filters + (lo - 1) * FILTER_SIZE;
	return (uint32_t) i - sfx_get16(f) < f[2] ? sfx_get32(f + 3) : 0;
}

/* ---- search ---- */

static int
find(const SfxInner *p, const SfxPos *pos, bool strict)
{
	const View *v = view(p);
	SfxBuf		b = buf(p);
	SfxProbe	q;
	uint32_t	same;

	if (p->order)
		return sfx_front_rank_order(v, b, p->order, pos, strict);
	sfx_probe_init(&q, pos);
	if (v->prefix > 0)
	{
		int			c = sfx_probe_cmp(&q, 0, b.p + v->low, v->prefix, &same);

		if (c != 0)
			return c < 0 ? 0 : (int) v->nsep;
	}
	return v->flags & F_TRIE ? sfx_trie_rank(&v->trie, b, &q, v->prefix, strict)
		: sfx_front_rank(v, b, &q, v->prefix, strict);
}

int
sfx_inner_find(const SfxInner *p, const SfxPos *pos)
{
	return find(p, pos, false);
}

int
sfx_inner_find_before(const SfxInner *p, const SfxPos *pos)
{
	return find(p, pos, true);
}

/* ---- children ---- */

/* The block of child i in a page of runs: the last run that begins at or before i has it. */
static bool
child_run(const View *v, SfxBuf b, uint32_t i, uint32_t *blkno)
{
	uint32_t	iwidth = sfx_bitlen(v->nsep);
	uint32_t	lo = 0,
				hi = v->nruns;
	uint32_t	start;

	while (hi - lo > 1)
	{
		uint32_t	mid = (lo + hi) / 2;

		if (sfx_packed_get(b, v->blocks, iwidth, mid) <= i)
			lo = mid;
		else
			hi = mid;
	}
	start = (uint32_t) sfx_packed_get(b, v->blocks, iwidth, lo);
	*blkno = v->bbase + i - start +
		(uint32_t) sfx_packed_get(b, v->blocks + sfx_bytes_of((uint64_t) v->nruns * iwidth), v->bwidth, lo);
	return start <= i;
}

static bool
child_exception(const View *v, SfxBuf b, uint32_t i, uint64_t *count)
{
	uint32_t	lo = 0,
				hi = v->nexc;

	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;
		uint32_t	at = v->exc + mid * (2 + v->excsize);
		uint32_t	x = sfx_ld16(b, at);

		if (x == i)
		{
			*count = sfx_packed_get(b, at + 2, 8 * v->excsize, 0);
			return true;
		}
		if (x < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* The number of entries below child i. */
static inline int
child_count(const View *v, SfxBuf b, uint32_t i, uint64_t *count)
{
	uint64_t	c = sfx_packed_get(b, v->counts, v->cwidth, i);

	if (v->nexc > 0 && c == sfx_mask(v->cwidth))
		return child_exception(v, b, i, count) ? SFX_OK : SFX_CORRUPT;
	*count = c + ((uint64_t) v->cbasehi << 32 | v->cbase);
	return SFX_OK;
}

/* Four at a time: the processor adds them in parallel. */
static uint64_t
sum_of(const uint64_t *c, int n)
{
	uint64_t	s[4] = {0};
	int			k = 0;

	for (; k + 4 <= n; k += 4)
		for (int j = 0; j < 4; j++)
			s[j] += c[k + j];
	for (; k < n; k++)
		s[0] += c[k];
	return s[0] + s[1] + s[2] + s[3];
}

#define COUNTS_AT_ONCE	256

/* Decode the counts of n children from child `from` on. */
static bool
load_counts(const View *v, SfxBuf b, uint32_t from, int n, uint64_t *c)
{
	uint64_t	base = (uint64_t) v->cbasehi << 32 | v->cbase;
	uint64_t	marked = base + sfx_mask(v->cwidth);

	sfx_kernels->unpack(b.p + v->counts, b.len - v->counts, (size_t) from * v->cwidth, v->cwidth, n, base, c);
	for (int k = 0; v->nexc > 0 && k < n; k++)
		if (c[k] == marked && !child_exception(v, b, from + (uint32_t) k, &c[k]))
			return false;
	return true;
}

static inline int
at_once(uint32_t from, uint32_t to)
{
	return to - from < COUNTS_AT_ONCE ? (int) (to - from) : COUNTS_AT_ONCE;
}

/* The sum of the counts of children [from, to). */
static int
sum_counts(const View *v, SfxBuf b, uint32_t from, uint32_t to, uint64_t *sum)
{
	uint64_t	c[COUNTS_AT_ONCE];

	*sum = 0;
	for (; from < to; from += COUNTS_AT_ONCE)
	{
		int			n = at_once(from, to);

		if (!load_counts(v, b, from, n, c))
			return SFX_CORRUPT;
		*sum += sum_of(c, n);
	}
	return SFX_OK;
}

int
sfx_inner_pass(const SfxInner *p, int from, int to, uint64_t most, uint64_t *sum)
{
	const View *v = view(p);
	uint64_t	c[COUNTS_AT_ONCE];

	*sum = 0;
	if (from < 0 || to > p->nchildren)
		return SFX_CORRUPT;
	for (; from < to; from += COUNTS_AT_ONCE)
	{
		int			n = at_once((uint32_t) from, (uint32_t) to);

		if (!load_counts(v, buf(p), (uint32_t) from, n, c))
			return SFX_CORRUPT;
		for (int k = 0; k < n; k++)
		{
			if (c[k] > most - *sum)
				return from + k;
			*sum += c[k];
		}
	}
	return to;
}

int
sfx_inner_counts(const SfxInner *p, int i, uint64_t *below, uint64_t *own, uint64_t *total)
{
	const View *v = view(p);
	SfxBuf		b = buf(p);

	if (i < 0 || i >= p->nchildren || child_count(v, b, (uint32_t) i, own) < 0 || sum_counts(v, b, 0, (uint32_t) i, below) < 0 ||
		sum_counts(v, b, (uint32_t) i + 1, (uint32_t) p->nchildren, total) < 0)
		return SFX_CORRUPT;
	*total += *below + *own;
	return SFX_OK;
}

int
sfx_inner_child(const SfxInner *p, int i, uint32_t *blkno, uint64_t *count)
{
	const View *v = view(p);
	SfxBuf		b = buf(p);

	if (i < 0 || i >= p->nchildren)
		return SFX_CORRUPT;
	if (v->bcoding == BLOCKS_RUNS)
	{
		if (!child_run(v, b, (uint32_t) i, blkno))
			return SFX_CORRUPT;
	}
	else
		*blkno = v->bbase + (uint32_t) sfx_packed_get(b, v->blocks, v->bwidth, (uint32_t) i) +
			(v->bcoding == BLOCKS_STEP ? (uint32_t) i : 0);
	return child_count(v, b, (uint32_t) i, count);
}

typedef struct Each
{
	const SfxInner *p;
	SfxChildFn	f;
	void	   *ctx;
} Each;

/* Called for separator i, which leads to child i + 1. */
static int
each_separator(void *ctx, uint32_t i, const uint8_t *s, uint32_t len)
{
	Each	   *e = ctx;
	SfxChild	c;
	int			rc;

	if (!split_separator(view(e->p), buf(e->p), i, s, len, &c.low))
		return SFX_CORRUPT;
	if ((rc = sfx_inner_child(e->p, (int) i + 1, &c.blkno, &c.count)) < 0)
		return rc;
	c.filter = sfx_inner_filter(e->p, (int) i + 1);
	return e->f(e->ctx, (int) i + 1, &c);
}

int
sfx_inner_each(const SfxInner *p, SfxChildFn f, void *ctx)
{
	const View *v = view(p);
	uint8_t		s[SFX_MAX_ENTRY + SFX_TRIE_MAXLEN];
	Each		e = {.p = p, .f = f, .ctx = ctx};
	SfxChild	c;
	int			rc;

	memcpy(s, p->body + v->low, v->lowlen);
	c.low.key = s;
	c.low.len = v->lowlen - (v->flags & F_LOWTID ? 6 : 0);
	c.low.tid = v->flags & F_LOWTID ? sfx_get_tid(s + c.low.len) : 0;
	if ((rc = sfx_inner_child(p, 0, &c.blkno, &c.count)) < 0)
		return rc;
	c.filter = sfx_inner_filter(p, 0);
	if ((rc = f(ctx, 0, &c)) < 0)
		return rc;
	return v->flags & F_TRIE ? sfx_trie_each(&v->trie, buf(p), s, v->prefix, each_separator, &e)
		: sfx_front_each(v, buf(p), s, each_separator, &e);
}

/* ---- verification ---- */

typedef struct Verify
{
	const SfxInner *p;
	uint8_t    *prevbuf;
	SfxPos		prev;
	const char *why;
} Verify;

static int
verify_fail(Verify *w, const char *why)
{
	w->why = why;
	return SFX_CORRUPT;
}

/*
 * Bisection finds its way if separators ascend: in comparator order nothing else needs to be
 * compared.
 */
static int
verify_child_order(Verify *w, int i, const SfxChild *c)
{
	if (i > 0 && sfx_order_cmp_pos(w->p->order, &w->prev, &c->low) >= 0)
		w->why = "the separators do not ascend";
	else if (i == w->p->nchildren - 1 && sfx_inner_cmp_fences(w->p, &c->low) != 0)
		w->why = "a separator lies outside the fences";
	else
		return SFX_OK;
	return SFX_DISORDER;
}

static int
verify_child_bytes(Verify *w, int i, const SfxChild *c)
{
	if (i > 0 && (sfx_cmp_pos(&w->prev, &c->low) >= 0 || sfx_inner_cmp_strings(&w->prev, &c->low) >= 0))
		return verify_fail(w, "the separators do not ascend");
	if (sfx_inner_cmp_fences(w->p, &c->low) != 0)
		return verify_fail(w, "a separator lies outside the fences");
	if (sfx_inner_find(w->p, &c->low) != i)
		return verify_fail(w, "a separator does not lead to its child");
	if (sfx_inner_find_before(w->p, &c->low) != (i > 0 ? i - 1 : 0))
		return verify_fail(w, "the position before a separator does not lead to the child before");
	return SFX_OK;
}

static int
verify_child(void *ctx, int i, const SfxChild *c)
{
	Verify	   *w = ctx;
	int			rc = w->p->order ? verify_child_order(w, i, c) : verify_child_bytes(w, i, c);

	if (rc < 0)
		return rc;
	if (c->low.len > 0)
		memcpy(w->prevbuf, c->low.key, c->low.len);
	w->prev = c->low;
	w->prev.key = w->prevbuf;
	return SFX_OK;
}

/* Do the filters' records ascend, and does each have children and a block of its own? */
static bool
verify_filters(const SfxInner *p)
{
	const View *v = view(p);
	uint32_t	end = 0;

	for (uint32_t k = 0; k < v->nfilters; k++)
	{
		const uint8_t *f = p->body + v->filters + k * FILTER_SIZE;

		if (sfx_get16(f) < end || f[2] == 0 || sfx_get32(f + 3) == 0)
			return false;
		end = sfx_get16(f) + f[2];
	}
	return end <= (uint32_t) p->nchildren && (v->nfilters > 0) == ((v->flags & F_FILTERS) != 0);
}

int
sfx_inner_verify(const uint8_t *body, uint32_t len, const SfxOrder *order, void *scratch, const char **why)
{
	SfxInner	p;
	Verify		w = {.p = &p, .prevbuf = scratch, .why = "a separator or child cannot be decoded"};
	int			rc = sfx_inner_open(&p, body, len, order);

	if (rc < 0)
	{
		*why = "the header of the inner page is damaged";
		return rc;
	}
	if (!verify_filters(&p))
	{
		*why = "the filters of the inner page are out of order";
		return SFX_CORRUPT;
	}
	if (view(&p)->flags & F_TRIE && (*why = sfx_trie_check(&view(&p)->trie, buf(&p))) != NULL)
		return SFX_CORRUPT;
	rc = sfx_inner_each(&p, verify_child, &w);
	*why = rc < 0 ? w.why : NULL;
	return rc;
}
