/*-------------------------------------------------------------------------
 * inner_write.c - writing the body of an inner page (see inner_format.h)
 *-------------------------------------------------------------------------
 */
#include "inner_format.h"

typedef struct Scratch
{
	SfxPos		keys[SFX_INNER_MAXCHILDREN];	/* separators without the prefix */
	uint64_t	num[SFX_INNER_MAXCHILDREN];
	uint8_t		cur[SFX_TRIE_MAXLEN];
	uint64_t	trie[];
} Scratch;

size_t
sfx_inner_scratch_size(void)
{
	return sizeof(Scratch) + sfx_trie_scratch_size();
}

static uint32_t
pos_bytes(const SfxPos *p)
{
	return p->len + (p->tid ? 6 : 0);
}

/* Copy the byte string of p, from byte `from` of its key on. */
static uint32_t
pos_copy(const SfxPos *p, uint32_t from, uint8_t *out)
{
	uint32_t	n = p->len - from;

	if (n > 0)
		memcpy(out, p->key + from, n);
	if (p->tid)
		sfx_put_tid(out + n, p->tid);
	return n + (p->tid ? 6 : 0);
}

int
sfx_inner_cmp_strings(const SfxPos *x, const SfxPos *y)
{
	uint32_t	i = sfx_lcp(x->key, x->len, y->key, y->len);
	SfxProbe	a,
				b;

	sfx_probe_init(&a, x);
	sfx_probe_init(&b, y);
	for (; i < a.total && i < b.total; i++)
		if (sfx_probe_byte(&a, i) != sfx_probe_byte(&b, i))
			return (int) sfx_probe_byte(&a, i) - (int) sfx_probe_byte(&b, i);
	return (a.total > b.total) - (a.total < b.total);
}

/* In comparator order: only the check that two positions differ costs no comparison. */
static int
check_neighbours(const SfxPos *x, const SfxPos *y, const SfxOrder *order)
{
	if (order)
		return x->tid == y->tid && sfx_same_bytes(x->key, x->len, y->key, y->len) ? 0 : -1;
	return sfx_inner_cmp_strings(x, y);
}

static int
check_input(const SfxChild *c, int n, const SfxPos *high, uint32_t prefix, const SfxOrder *order)
{
	for (int i = 0; i <= n; i++)
	{
		const SfxPos *p = i < n ? &c[i].low : high;

		if (p == NULL)
			break;
		if (p->len > SFX_MAX_ENTRY)
			return SFX_NOSPACE;
		if (p->tid > SFX_MAX_TID || p->len < prefix || sfx_memcmp(p->key, c[0].low.key, prefix) != 0)
			return SFX_CORRUPT;
		if (i > 0 && check_neighbours(&c[i - 1].low, p, order) >= 0)
			return SFX_CORRUPT;
	}
	return SFX_OK;
}

/* The cheapest way to write the blocks. */
typedef struct BlockPlan
{
	uint32_t	coding;
	uint32_t	width;
	uint32_t	base;
	uint32_t	nruns;
	uint32_t	bits;
} BlockPlan;

/* Consider a coding of m residuals between lo and hi, which takes `extra` bits more. */
static void
plan_blocks_try(BlockPlan *best, uint32_t coding, uint32_t m, uint32_t lo, uint32_t hi, uint32_t extra)
{
	for (int nobase = 0; nobase < 2; nobase++)
	{
		uint32_t	width = sfx_bitlen(nobase ? hi : hi - lo);
		uint32_t	bits = m * width + extra + (nobase || lo == 0 ? 0 : 32);

		if (bits < best->bits)
			*best = (BlockPlan) {coding, width, nobase ? 0 : lo, coding == BLOCKS_RUNS ? m : 0, bits};
	}
}

static void
plan_blocks(const SfxChild *c, int n, BlockPlan *best)
{
	uint32_t	lo[3],
				hi[3];
	uint32_t	nruns = 0;

	for (int i = 0; i < n; i++)
	{
		uint32_t	v[3] = {c[i].blkno, c[i].blkno - (uint32_t) i, c[i].blkno};
		bool		run = i == 0 || c[i].blkno != c[i - 1].blkno + 1;

		for (int k = 0; k < (run ? 3 : 2); k++)
		{
			lo[k] = i == 0 || v[k] < lo[k] ? v[k] : lo[k];
			hi[k] = i == 0 || v[k] > hi[k] ? v[k] : hi[k];
		}
		nruns += run;
	}
	best->bits = UINT32_MAX;
	plan_blocks_try(best, BLOCKS_FLAT, (uint32_t) n, lo[0], hi[0], 0);
	plan_blocks_try(best, BLOCKS_STEP, (uint32_t) n, lo[1], hi[1], 0);
	plan_blocks_try(best, BLOCKS_RUNS, nruns, lo[2], hi[2], 16 + nruns * sfx_bitlen((uint32_t) n - 1));
}

static bool
out_blocks(const SfxChild *c, int n, const BlockPlan *plan, SfxOut *o)
{
	uint32_t	m = plan->coding == BLOCKS_RUNS ? plan->nruns : (uint32_t) n;
	uint32_t	iwidth = sfx_bitlen((uint32_t) n - 1);
	uint8_t    *starts = sfx_out(o, plan->coding == BLOCKS_RUNS ? sfx_bytes_of((uint64_t) m * iwidth) : 0);
	uint8_t    *p = sfx_out(o, sfx_bytes_of((uint64_t) m * plan->width));
	uint32_t	k = 0;

	if (p == NULL || starts == NULL)
		return false;
	for (int i = 0; i < n; i++)
	{
		uint32_t	v = c[i].blkno - (plan->coding == BLOCKS_STEP ? (uint32_t) i : 0);

		if (plan->coding == BLOCKS_RUNS && i > 0 && c[i].blkno == c[i - 1].blkno + 1)
			continue;
		if (plan->coding == BLOCKS_RUNS)
			sfx_packed_set(starts, iwidth, k, (uint32_t) i);
		sfx_packed_set(p, plan->width, k++, v - plan->base);
	}
	return true;
}

/*
 * Counts: a frame of reference around most of them, the others separately (the last leaf of a build
 * has fewer entries).
 */
typedef struct CountPlan
{
	uint64_t	base;
	uint32_t	basesize;
	uint32_t	width;
	uint32_t	nexc;
	uint32_t	excsize;
	uint64_t	bits;
} CountPlan;

/*
 * If the counts of a page are close together, as those of full leaves are, they need not be sorted.
 */
#define CLOSE_COUNTS	1024

/*
 * Find the densest window of `window` consecutive values, given how many values are below each one
 * (less the least, up to range + 1).  Returns how many values it has; *first: the first one that
 * occurs.
 */
static int
densest(const uint16_t *below, uint32_t range, uint64_t window, uint32_t *first)
{
	int			many = 0;

	for (uint32_t v = 0; v <= range; v++)
	{
		uint32_t	end = window > range - v ? range + 1 : v + (uint32_t) window;

		if (below[v + 1] > below[v] && below[end] - below[v] > many)
		{
			many = below[end] - below[v];
			*first = v;
		}
	}
	return many;
}

/* Shell sort: short, in place, no worse than n^1.5. */
static void
sort_numbers(uint64_t *v, int n)
{
	int			gap = 1;

	while (gap < n / 3)
		gap = 3 * gap + 1;
	for (; gap > 0; gap /= 3)
		for (int i = gap; i < n; i++)
		{
			uint64_t	x = v[i];
			int			j = i;

			for (; j >= gap && v[j - gap] > x; j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
}

static void
plan_counts_try(CountPlan *best, int n, uint64_t base, uint32_t width, uint32_t nexc, uint32_t excsize)
{
	uint32_t	basesize = sfx_bytes_of(sfx_bitlen(base));
	uint64_t	bits = (uint64_t) n * width + 8 * basesize + (nexc ? 16 + nexc * (16 + 8 * excsize) : 0);

	if (nexc <= MAXEXCEPTIONS && bits < best->bits)
		*best = (CountPlan) {base, basesize, width, nexc, excsize, bits};
}

/* The same by counting, for values of at most CLOSE_COUNTS above the least. */
static void
plan_close_counts(const SfxChild *c, int n, uint64_t min, uint32_t range, uint32_t excsize, CountPlan *best)
{
	uint16_t	below[CLOSE_COUNTS + 2] = {0};

	for (int i = 0; i < n; i++)
		below[c[i].count - min + 1]++;
	for (uint32_t v = 0; v <= range; v++)
		below[v + 1] += below[v];
	for (uint32_t w = 1; w < sfx_bitlen(range); w++)
	{
		uint32_t	first = 0;
		int			many = densest(below, range, (UINT64_C(1) << w) - 1, &first);

		plan_counts_try(best, n, min + first, w, (uint32_t) (n - many), excsize);
	}
}

static void
plan_spread_counts(const SfxChild *c, int n, uint64_t *num, uint32_t full, uint32_t excsize, CountPlan *best)
{
	for (int i = 0; i < n; i++)
		num[i] = c[i].count;
	sort_numbers(num, n);
	for (uint32_t w = 1; w < full; w++)
	{
		int			from = 0,
					to = 0,
					many = 0;
		uint64_t	base = 0;

		/* the densest window of 2^w - 1 values */
		for (; from < n && n - from > many; from++)
		{
			while (to < n && num[to] - num[from] < (UINT64_C(1) << w) - 1)
				to++;
			if (to - from > many)
			{
				many = to - from;
				base = num[from];
			}
		}
		plan_counts_try(best, n, base, w, (uint32_t) (n - many), excsize);
	}
}

static void
plan_counts(const SfxChild *c, int n, uint64_t *num, CountPlan *best)
{
	uint64_t	min = c[0].count,
				max = min;
	uint32_t	full,
				excsize;

	for (int i = 1; i < n; i++)
	{
		min = c[i].count < min ? c[i].count : min;
		max = c[i].count > max ? c[i].count : max;
	}
	full = sfx_bitlen(max - min);
	excsize = sfx_bytes_of(sfx_bitlen(max));
	best->bits = UINT64_MAX;
	plan_counts_try(best, n, min, full, 0, 0);
	plan_counts_try(best, n, 0, sfx_bitlen(max), 0, 0);
	if (max - min <= CLOSE_COUNTS)
		plan_close_counts(c, n, min, (uint32_t) (max - min), excsize, best);
	else
		plan_spread_counts(c, n, num, full, excsize, best);
}

static bool
is_exception(const CountPlan *plan, uint64_t count)
{
	return plan->nexc > 0 && count - plan->base >= (UINT64_C(1) << plan->width) - 1;
}

static bool
out_counts(const SfxChild *c, int n, const CountPlan *plan, SfxOut *o)
{
	uint8_t    *p = sfx_out(o, sfx_bytes_of((uint64_t) n * plan->width));
	uint8_t    *x = sfx_out(o, plan->nexc * (2 + plan->excsize));

	if (x == NULL || p == NULL)
		return false;
	for (int i = 0; i < n; i++)
	{
		uint64_t	v = c[i].count - plan->base;

		if (is_exception(plan, c[i].count))
		{
			v = (UINT64_C(1) << plan->width) - 1;
			sfx_put16(x, (uint16_t) i);
			sfx_packed_set(x + 2, 8 * plan->excsize, 0, c[i].count);
			x += 2 + plan->excsize;
		}
		sfx_packed_set(p, plan->width, (uint32_t) i, v);
	}
	return true;
}

static uint32_t
put_varint(uint8_t *p, uint32_t v)
{
	uint32_t	n = 0;

	while (v >= 128)
	{
		p[n++] = (uint8_t) (v | 128);
		v >>= 7;
	}
	p[n++] = (uint8_t) v;
	return n;
}

/* Write one string in front coding: `shared` bytes are those of the previous one. */
static bool
out_front_string(SfxOut *o, const SfxPos *key, bool first, uint32_t shared)
{
	uint8_t		head[8];
	uint32_t	n = 0;
	uint32_t	len = pos_bytes(key) - shared;
	SfxProbe	q;
	uint8_t    *p;

	if (first)
		n = put_varint(head, len);
	else
	{
		head[n++] = (uint8_t) ((shared < 15 ? shared : 15) << 4 | (len < 15 ? len : 15));
		if (shared >= 15)
			n += put_varint(head + n, shared - 15);
		if (len >= 15)
			n += put_varint(head + n, len - 15);
	}
	if ((p = sfx_out(o, n + len)) == NULL)
		return false;
	memcpy(p, head, n);
	sfx_probe_init(&q, key);
	for (uint32_t i = 0; i < len; i++)
		p[n + i] = (uint8_t) sfx_probe_byte(&q, shared + i);
	return true;
}

/* Write the separators in front coding (layout: inner_format.h).  SFX_OK or SFX_NOSPACE. */
static int
out_front(const SfxPos *keys, uint32_t n, SfxOut *o)
{
	uint32_t	nblocks = (n + FRONT_BLOCK - 1) / FRONT_BLOCK;
	uint32_t	at = o->len;
	uint32_t	start;

	if (n == 0)
		return SFX_OK;
	if (sfx_out(o, 2 * (nblocks - 1)) == NULL)
		return SFX_NOSPACE;
	start = o->len;
	for (uint32_t i = 0; i < n; i++)
	{
		bool		first = i % FRONT_BLOCK == 0;
		uint32_t	shared = 0;

		if (first && i > 0)
			sfx_put16(o->p + at + 2 * (i / FRONT_BLOCK - 1), (uint16_t) (o->len - start));
		if (!first)
		{
			SfxProbe	a,
						b;

			sfx_probe_init(&a, &keys[i - 1]);
			sfx_probe_init(&b, &keys[i]);
			shared = sfx_lcp(a.key, a.len, b.key, b.len);
			while (shared < a.total && shared < b.total && sfx_probe_byte(&a, shared) == sfx_probe_byte(&b, shared))
				shared++;
		}
		if (!out_front_string(o, &keys[i], first, shared))
			return SFX_NOSPACE;
	}
	return SFX_OK;
}

static uint32_t
plan_tids(const SfxChild *c, int n)
{
	int			k = 0;

	for (int i = 1; i < n; i++)
		k += c[i].low.tid != 0;
	return k == 0 ? TIDS_NONE : k == n - 1 ? TIDS_ALL : TIDS_SOME;
}

/* Number of children from first on that share its filter. */
static int
filter_span(const SfxChild *c, int n, int first)
{
	int			k = 1;

	while (first + k < n && k < SFX_INNER_MAXFILTERED && c[first + k].filter == c[first].filter)
		k++;
	return k;
}

static bool
out_filters(const SfxChild *c, int n, SfxOut *o)
{
	uint32_t	at = o->len;
	uint32_t	k = 0;
	uint8_t    *p = sfx_out(o, 2);

	if (p == NULL)
		return false;
	for (int i = 0; i < n;)
	{
		int			span = filter_span(c, n, i);

		if (c[i].filter != 0)
		{
			if ((p = sfx_out(o, FILTER_SIZE)) == NULL)
				return false;
			sfx_put16(p, (uint16_t) i);
			p[2] = (uint8_t) span;
			sfx_put32(p + 3, c[i].filter);
			k++;
		}
		i += span;
	}
	sfx_put16(o->p + at, (uint16_t) k);
	return true;
}

static bool
has_filters(const SfxChild *c, int n)
{
	for (int i = 0; i < n; i++)
		if (c[i].filter != 0)
			return true;
	return false;
}

/* Write everything before the separators. */
static int
out_head(const SfxChild *c, int n, const SfxPos *high, uint32_t prefix, SfxOut *o, Scratch *w, const SfxOrder *order)
{
	BlockPlan	bp;
	CountPlan	cp;
	uint32_t	tids = plan_tids(c, n);
	uint32_t	highlen = high ? pos_bytes(high) - prefix : 0;
	bool		filters = has_filters(c, n);
	uint8_t    *p;

	plan_blocks(c, n, &bp);
	plan_counts(c, n, w->num, &cp);
	if ((p = sfx_out(o, HEADER)) == NULL)
		return SFX_NOSPACE;
	sfx_put16(p, (uint16_t) ((uint32_t) n | (high ? 0 : 0x8000)));
	sfx_put16(p + 2, (uint16_t) (pos_bytes(&c[0].low) | (c[0].low.tid ? 0x1000 : 0) |
								 (high && high->tid ? 0x2000 : 0) | tids << 14));
	sfx_put16(p + 4, (uint16_t) (highlen | bp.coding << 12 | (order ? 0x4000 : 0) | (filters ? 0x8000 : 0)));
	sfx_put16(p + 6, (uint16_t) (prefix | cp.basesize << 12));
	p[8] = (uint8_t) (bp.width | (bp.base ? 0x80 : 0));
	p[9] = (uint8_t) (cp.width | (cp.nexc ? 0x80 : 0));
	if (bp.base && (p = sfx_out(o, 4)) != NULL)
		sfx_packed_set(p, 32, 0, bp.base);
	if ((p = sfx_out(o, cp.basesize)) != NULL)
		sfx_packed_set(p, 8 * cp.basesize, 0, cp.base);
	if (bp.coding == BLOCKS_RUNS && (p = sfx_out(o, 2)) != NULL)
		sfx_put16(p, (uint16_t) bp.nruns);
	if (cp.nexc && (p = sfx_out(o, 2)) != NULL)
	{
		p[0] = (uint8_t) cp.nexc;
		p[1] = (uint8_t) cp.excsize;
	}
	if ((p = sfx_out(o, pos_bytes(&c[0].low))) != NULL)
		pos_copy(&c[0].low, 0, p);
	if ((p = sfx_out(o, highlen)) != NULL && high)
		pos_copy(high, prefix, p);
	if (!out_blocks(c, n, &bp, o) || !out_counts(c, n, &cp, o))
		return SFX_NOSPACE;
	if (tids == TIDS_SOME && (p = sfx_out(o, sfx_bytes_of((uint64_t) n - 1))) != NULL)
		for (int i = 1; i < n; i++)
			sfx_packed_set(p, 1, (uint32_t) i - 1, c[i].low.tid != 0);
	if (filters && !out_filters(c, n, o))
		return SFX_NOSPACE;
	return o->len <= o->cap ? SFX_OK : SFX_NOSPACE;
}

int
sfx_inner_build_as(SfxInnerFormat format, const SfxChild *children, int n, const SfxPos *high,
				   uint8_t *body, uint32_t capacity, void *scratch, const SfxOrder *order)
{
	Scratch    *w = scratch;
	SfxOut		o = {.p = body, .len = 0, .cap = capacity};
	uint32_t	prefix = 0;
	uint32_t	head;
	int			rc;

	if (n < 1 || n > SFX_INNER_MAXCHILDREN || capacity > UINT16_MAX || (format == SFX_INNER_TRIE && (n < 3 || order)))
		return SFX_NOSPACE;
	if (high && order == NULL)
		prefix = sfx_lcp(children[0].low.key, children[0].low.len, high->key, high->len);
	if ((rc = check_input(children, n, high, prefix, order)) < 0 ||
		(rc = out_head(children, n, high, prefix, &o, w, order)) < 0)
		return rc;
	for (int i = 1; i < n; i++)
	{
		w->keys[i - 1] = children[i].low;
		if (prefix)
			w->keys[i - 1].key += prefix;
		w->keys[i - 1].len -= prefix;
	}
	head = o.len;
	rc = SFX_NOSPACE;
	if (n >= 3 && format != SFX_INNER_FRONT && order == NULL)
	{
		rc = sfx_trie_build(w->keys, (uint32_t) n - 1, &o, w->trie);
		if (rc == SFX_OK)
			body[1] |= 0x40;
	}
	if (rc != SFX_OK && format != SFX_INNER_TRIE)
	{
		o.len = head;
		rc = out_front(w->keys, (uint32_t) n - 1, &o);
	}
	return rc < 0 ? rc : (int) o.len;
}

int
sfx_inner_build(const SfxChild *children, int n, const SfxPos *high,
				uint8_t *body, uint32_t capacity, void *scratch, const SfxOrder *order)
{
	return sfx_inner_build_as(SFX_INNER_ANY, children, n, high, body, capacity, scratch, order);
}

static int
build_first(const SfxChild *c, int k, int n, const SfxPos *high, uint8_t *body, uint32_t capacity, void *scratch,
			const SfxOrder *order)
{
	return sfx_inner_build(c, k, k < n ? &c[k].low : high, body, capacity, scratch, order);
}

int
sfx_inner_fit(const SfxChild *children, int n, const SfxPos *high, uint8_t *body,
			  uint32_t capacity, void *scratch, int *len, const SfxOrder *order)
{
	int			max = n < SFX_INNER_MAXCHILDREN ? n : SFX_INNER_MAXCHILDREN;
	int			least = n < 2 ? 1 : 2;
	int			good = 0,
				bad = max + 1;
	int			step = SFX_INNER_STEP;
	int			rc;

	/* gallop, then bisect */
	while (bad - good > 1)
	{
		int			k = good + (bad - good) / 2;

		if (bad > max)
			k = max - good > step ? good + step : max;
		if (k < least)
			k = least;
		if (k >= bad)
			break;
		rc = build_first(children, k, n, high, body, capacity, scratch, order);
		if (rc == SFX_CORRUPT)
			return rc;
		if (rc >= 0)
			good = k;
		else
			bad = k;
		step *= 2;
	}
	if (good == 0)
		return SFX_NOSPACE;
	rc = build_first(children, good, n, high, body, capacity, scratch, order);
	if (rc < 0)
		return rc;
	*len = rc;
	return good;
}
