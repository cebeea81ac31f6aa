/*-------------------------------------------------------------------------
 * inner.c - the body of an inner page: fences, children, separators
 *
 * Byte offsets:
 *
 *	off	size	what
 *	0	2	bits 0-13 children; bit 14 the separators are a trie; bit 15 no high fence
 *	2	2	bits 0-11 bytes of the low fence; bit 12 it has a TID; bit 13 the high fence has one;
 *			bits 14-15 separators with a TID: 0 none, 1 all, 2 see their bits
 *	4	2	bits 0-11 bytes of the high fence behind the common prefix; bits 12-13 coding of the blocks;
 *			bit 14 comparator order; bit 15 there are filters
 *	6	2	bits 0-11 bytes of the common prefix; bits 12-15 bytes of the counts' base
 *	8	1	bits 0-6 width of a block; bit 7 blocks have a base
 *	9	1	bits 0-6 width of a count; bit 7 some counts are exceptions
 *	10	0, 4	base of the blocks
 *		0..8	base of the counts
 *		0, 2	runs of blocks
 *		0, 2	exceptions (1 byte), bytes of one (1 byte)
 *		low fence, its TID behind it (6 bytes, big-endian)
 *		high fence without the common prefix, its TID behind it
 *		blocks		FLAT: child - base, packed; STEP: child - number - base, packed;
 *					RUNS: first children of the runs, packed, then their blocks - base, packed
 *		counts		count - base, packed; all ones: see the exceptions
 *		exceptions	2 bytes child, then the count; ascending
 *		bits		which separators have a TID
 *		filters		2 bytes their number, then for each one 2 bytes first child, 1 byte children, 4 bytes block; ascending
 *		separators	without the common prefix
 *
 * The header is this frugal because two fences and a separator of the largest size must leave room for it: they take
 * 3 * (2,696 + 6) of 8,144 bytes, two children take 24 at most, a separator's length 2, the header 10.
 *
 * Separators as a trie: see louds.c.  Separators in front coding: 2-byte offsets of blocks 1.., then blocks of
 * FRONT_BLOCK strings.  The first of a block: its length as a varint, its bytes.  The others: a byte with the number of
 * bytes shared with the one before (high nibble) and of bytes of its own (low nibble), where 15 means
 * that a varint with the rest follows; its own bytes.
 *
 * Comparator order: front coding always, and the common prefix is empty.  The bytes of a separator's TID are
 * coded with its key's, and taken off again before keys are compared.
 *-------------------------------------------------------------------------
 */
#include "inner.h"
#include "cpu.h"
#include "frontrun.h"
#include "louds.h"

#define HEADER			10
#define FRONT_BLOCK		16
#define MAXEXCEPTIONS	255
#define FILTER_SIZE		7			/* bytes of a filter's record */

enum { BLOCKS_FLAT, BLOCKS_STEP, BLOCKS_RUNS };
enum { TIDS_NONE, TIDS_ALL, TIDS_SOME };

/* What sfx_inner_open found; lies in SfxInner.priv.  Offsets are from the start of the body. */
typedef struct View
{
	uint32_t	nsep;
	uint32_t	flags;			/* F_ bits */
	uint32_t	low;
	uint32_t	lowlen;
	uint32_t	high;
	uint32_t	highlen;
	uint32_t	prefix;
	uint32_t	bcoding;
	uint32_t	blocks;
	uint32_t	bwidth;
	uint32_t	bbase;
	uint32_t	nruns;
	uint32_t	counts;
	uint32_t	cwidth;
	uint32_t	cbase;			/* low half; the other one follows */
	uint32_t	cbasehi;
	uint32_t	exc;
	uint32_t	nexc;
	uint32_t	excsize;		/* bytes of a count there */
	uint32_t	tids;
	uint32_t	tidbits;
	uint32_t	filters;		/* their records */
	uint32_t	nfilters;
	uint32_t	front;			/* front coding: block offsets */
	uint32_t	data;			/* blocks */
	SfxTrie		trie;
} View;

#define F_TRIE		1
#define F_HIGHINF	2
#define F_LOWTID	4
#define F_HIGHTID	8
#define F_ORDER		16
#define F_FILTERS	32

_Static_assert(sizeof(View) <= sizeof(((SfxInner *) 0)->priv), "SfxInner.priv is too small");

static inline const View *
view(const SfxInner *p)
{
	return (const View *) p->priv;
}

static inline SfxBuf
buf(const SfxInner *p)
{
	return (SfxBuf) {p->body, p->len};
}

/* ---- builder ---- */

typedef struct Scratch
{
	SfxPos		keys[SFX_INNER_MAXCHILDREN];	/* separators without the prefix */
	uint64_t	num[SFX_INNER_MAXCHILDREN];
	uint8_t		prev[SFX_TRIE_MAXLEN];
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

/* Copy the byte string of p from byte `from` of its key on. */
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

/* Order as byte strings. */
static int
cmp_strings(const SfxPos *x, const SfxPos *y)
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

/* In comparator order: whether two positions are the same one is all that costs nothing. */
static int
check_neighbours(const SfxPos *x, const SfxPos *y, const SfxOrder *order)
{
	if (order)
		return x->tid == y->tid && sfx_same_bytes(x->key, x->len, y->key, y->len) ? 0 : -1;
	return cmp_strings(x, y);
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

/* How to write the blocks, the cheapest way. */
typedef struct BlockPlan
{
	uint32_t	coding;
	uint32_t	width;
	uint32_t	base;
	uint32_t	nruns;
	uint32_t	bits;
} BlockPlan;

/* Consider a coding of m residuals between lo and hi, at a cost of extra bits. */
static void
plan_blocks_try(BlockPlan *best, uint32_t coding, uint32_t m, uint32_t lo, uint32_t hi, uint32_t extra)
{
	for (int nobase = 0; nobase < 2; nobase++)
	{
		uint32_t	width = sfx_width(nobase ? hi : hi - lo);
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
	plan_blocks_try(best, BLOCKS_RUNS, nruns, lo[2], hi[2], 16 + nruns * sfx_width((uint32_t) n - 1));
}

static bool
out_blocks(const SfxChild *c, int n, const BlockPlan *plan, SfxOut *o)
{
	uint32_t	m = plan->coding == BLOCKS_RUNS ? plan->nruns : (uint32_t) n;
	uint32_t	iwidth = sfx_width((uint32_t) n - 1);
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

/* Counts: a frame of reference around most of them, the others aside (the last leaf of a build is emptier). */
typedef struct CountPlan
{
	uint64_t	base;
	uint32_t	basesize;
	uint32_t	width;
	uint32_t	nexc;
	uint32_t	excsize;
	uint64_t	bits;
} CountPlan;

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
	uint32_t	basesize = sfx_bytes_of(sfx_width(base));
	uint64_t	bits = (uint64_t) n * width + 8 * basesize + (nexc ? 16 + nexc * (16 + 8 * excsize) : 0);

	if (nexc <= MAXEXCEPTIONS && bits < best->bits)
		*best = (CountPlan) {base, basesize, width, nexc, excsize, bits};
}

static void
plan_counts(const SfxChild *c, int n, uint64_t *num, CountPlan *best)
{
	uint32_t	full;
	uint32_t	excsize;

	for (int i = 0; i < n; i++)
		num[i] = c[i].count;
	sort_numbers(num, n);
	full = sfx_width(num[n - 1] - num[0]);
	excsize = sfx_bytes_of(sfx_width(num[n - 1]));
	best->bits = UINT64_MAX;
	plan_counts_try(best, n, num[0], full, 0, 0);
	plan_counts_try(best, n, 0, sfx_width(num[n - 1]), 0, 0);
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

/* One string in front coding: `shared` bytes are those of the one before. */
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

/* The children from first on that share its filter. */
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

/* Everything before the separators. */
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
	int			step = 256;
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

/* ---- reader ---- */

static inline uint32_t
take(uint32_t *off, uint32_t n)
{
	uint32_t	at = *off;

	*off += n;
	return at;
}

/* The header's fields, and what they say about each other. */
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
		off += sfx_bytes_of((uint64_t) v->nruns * sfx_width(n - 1)) + sfx_bytes_of((uint64_t) v->nruns * v->bwidth);
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

/* There is no prefix: both fences' keys stand whole. */
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
	/* not below the low fence: so it has the prefix, or lies above all that has it */
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

	/* the last one that begins at i or before */
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

/* ---- front coding ---- */

/* Advance *at over a varint of up to 3 bytes. */
static inline uint32_t
get_varint(SfxBuf b, uint32_t *at)
{
	uint32_t	x = 0;

	for (uint32_t sh = 0; sh < 21; sh += 7)
	{
		uint32_t	c = sfx_ld8(b, (*at)++);

		x |= (c & 127) << sh;
		if (c < 128)
			break;
	}
	return x;
}

/* Parse the string at *at: bytes shared with the one before, length and offset of its own. */
static inline bool
front_string(SfxBuf b, uint32_t *at, bool first, uint32_t *shared, uint32_t *off, uint32_t *len)
{
	*shared = 0;
	if (first)
		*len = get_varint(b, at);
	else
	{
		uint32_t	c = sfx_ld8(b, (*at)++);

		*shared = c >> 4;
		*len = c & 15;
		if (*shared == 15)
			*shared += get_varint(b, at);
		if (*len == 15)
			*len += get_varint(b, at);
	}
	*off = *at;
	*at += *len;
	return *at <= b.len;
}

static inline uint32_t
front_block(const View *v, SfxBuf b, uint32_t blk)
{
	return v->data + (blk ? sfx_ld16(b, v->front + 2 * (blk - 1)) : 0);
}

/* How many separators are <= q from its byte d on (strict: < q). */
static int
front_rank(const View *v, SfxBuf b, const SfxProbe *q, uint32_t d, bool strict)
{
	uint32_t	lo = 0,
				hi = (v->nsep + FRONT_BLOCK - 1) / FRONT_BLOCK;
	uint32_t	at,
				shared,
				off,
				len,
				same,
				m = 0;
	uint32_t	i;

	/* the last block whose first string is <= q; the first block may be taken though its is not */
	while (hi - lo > 1)
	{
		uint32_t	mid = (lo + hi) / 2;

		at = front_block(v, b, mid);
		if (!front_string(b, &at, true, &shared, &off, &len))
			return SFX_CORRUPT;
		if (sfx_probe_cmp(q, d, b.p + off, len, &same) < 0)
			hi = mid;
		else
			lo = mid;
	}
	if (v->nsep == 0)
		return 0;
	/* m: bytes the string before has in common with q, which is greater */
	at = front_block(v, b, lo);
	for (i = lo * FRONT_BLOCK; i < v->nsep && i < (lo + 1) * FRONT_BLOCK; i++)
	{
		bool		first = i == lo * FRONT_BLOCK;
		int			c;

		if (!front_string(b, &at, first, &shared, &off, &len))
			return SFX_CORRUPT;
		if (shared > m)
			continue;			/* differs from q where the one before did */
		if (shared < m)
			break;				/* greater than the one before where that was equal to q */
		c = sfx_probe_cmp(q, d + m, b.p + off, len, &same);
		m += same;
		if (c < 0 || (strict && c == 0 && d + m == q->total))
			break;
	}
	return (int) i;
}

/* Take string s of separator i apart; false if it cannot be one. */
static inline bool
split_separator(const View *v, SfxBuf b, uint32_t i, const uint8_t *s, uint32_t len, SfxPos *sep)
{
	*sep = (SfxPos) {s, len, 0};
	if (v->tids == TIDS_ALL || (v->tids == TIDS_SOME && sfx_bit(b, v->tidbits, i)))
	{
		if (len < 6)
			return false;
		sep->len -= 6;
		sep->tid = sfx_get_tid(s + sep->len);
		if (sep->tid == 0)
			return false;
	}
	return sep->len <= SFX_MAX_ENTRY;
}

/* Parse block blk of front-coded strings. */
static bool
parse_front_block(const View *v, SfxBuf b, uint32_t blk, SfxRun *run)
{
	uint32_t	at = front_block(v, b, blk);
	uint32_t	shared,
				off,
				len;

	run->n = 0;
	for (uint32_t i = blk * FRONT_BLOCK; i < v->nsep && run->n < FRONT_BLOCK; i++)
		if (!front_string(b, &at, run->n == 0, &shared, &off, &len) ||
			!sfx_run_add(run, shared, b.p + off, len, SFX_TRIE_MAXLEN))
			return false;
	return true;
}

/* How many separators are <= pos (strict: < pos), in comparator order. */
static int
front_rank_order(const View *v, SfxBuf b, const SfxOrder *o, const SfxPos *pos, bool strict)
{
	uint32_t	lo = 0,
				hi = (v->nsep + FRONT_BLOCK - 1) / FRONT_BLOCK;
	uint8_t		s[SFX_TRIE_MAXLEN];
	SfxRun		run;
	SfxPos		sep;
	int			first,
				i,
				end,
				c;

	/* the last block whose first string is <= pos; the first block may be taken though its is not */
	while (hi - lo > 1)
	{
		uint32_t	mid = (lo + hi) / 2;
		uint32_t	at = front_block(v, b, mid),
					shared,
					off,
					len;

		if (!front_string(b, &at, true, &shared, &off, &len) ||
			!split_separator(v, b, mid * FRONT_BLOCK, b.p + off, len, &sep))
			return SFX_CORRUPT;
		c = sfx_order_cmp_pos(o, &sep, pos);
		if (c < 0 || (c == 0 && !strict))
			lo = mid;
		else
			hi = mid;
	}
	if (v->nsep == 0)
		return 0;
	if (!parse_front_block(v, b, lo, &run))
		return SFX_CORRUPT;
	first = (int) lo * FRONT_BLOCK;
	i = lo > 0 ? 1 : 0;
	end = run.n;
	while (i < end)
	{
		int			mid = (i + end) / 2;
		uint32_t	len = sfx_run_string(&run, mid, s);

		if (!split_separator(v, b, (uint32_t) (first + mid), s, len, &sep))
			return SFX_CORRUPT;
		c = sfx_order_cmp_pos(o, &sep, pos);
		if (c < 0 || (c == 0 && !strict))
			i = mid + 1;
		else
			end = mid;
	}
	return first + i;
}

static int
front_each(const View *v, SfxBuf b, uint8_t *out, SfxTrieFn f, void *ctx)
{
	uint32_t	at = 0,
				prev = 0;

	for (uint32_t i = 0; i < v->nsep; i++)
	{
		bool		first = i % FRONT_BLOCK == 0;
		uint32_t	shared,
					off,
					len;
		int			rc;

		if (first)
		{
			/* blocks follow one another */
			if (i > 0 && at != front_block(v, b, i / FRONT_BLOCK))
				return SFX_CORRUPT;
			at = front_block(v, b, i / FRONT_BLOCK);
		}
		if (!front_string(b, &at, first, &shared, &off, &len) || shared > prev || shared + len > SFX_TRIE_MAXLEN)
			return SFX_CORRUPT;
		memcpy(out + v->prefix + shared, b.p + off, len);
		prev = shared + len;
		if ((rc = f(ctx, i, out, v->prefix + prev)) < 0)
			return rc;
	}
	return SFX_OK;
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
		return front_rank_order(v, b, p->order, pos, strict);
	sfx_probe_init(&q, pos);
	if (v->prefix > 0)
	{
		int			c = sfx_probe_cmp(&q, 0, b.p + v->low, v->prefix, &same);

		if (c != 0)
			return c < 0 ? 0 : (int) v->nsep;
	}
	return v->flags & F_TRIE ? sfx_trie_rank(&v->trie, b, &q, v->prefix, strict)
		: front_rank(v, b, &q, v->prefix, strict);
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

/* A run's block for child i: the last run that begins at or before it. */
static bool
child_run(const View *v, SfxBuf b, uint32_t i, uint32_t *blkno)
{
	uint32_t	iwidth = sfx_width(v->nsep);
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

/* The entry count of child i. */
static inline int
child_count(const View *v, SfxBuf b, uint32_t i, uint64_t *count)
{
	uint64_t	c = sfx_packed_get(b, v->counts, v->cwidth, i);

	if (v->nexc > 0 && c == (UINT64_C(1) << v->cwidth) - 1)
		return child_exception(v, b, i, count) ? SFX_OK : SFX_CORRUPT;
	*count = c + ((uint64_t) v->cbasehi << 32 | v->cbase);
	return SFX_OK;
}

/* The sum of the counts of children [from, to). */
static int
sum_counts(const View *v, SfxBuf b, uint32_t from, uint32_t to, uint64_t *sum)
{
	uint64_t	c[256];
	uint64_t	base = (uint64_t) v->cbasehi << 32 | v->cbase;
	uint64_t	marked = base + ((UINT64_C(1) << v->cwidth) - 1);

	*sum = 0;
	for (; from < to; from += 256)
	{
		int			n = to - from < 256 ? (int) (to - from) : 256;

		sfx_kernels->unpack(b.p + v->counts, b.len - v->counts, (size_t) from * v->cwidth, v->cwidth, n, base, c);
		for (int k = 0; k < n; k++)
		{
			if (v->nexc > 0 && c[k] == marked && !child_exception(v, b, from + (uint32_t) k, &c[k]))
				return SFX_CORRUPT;
			*sum += c[k];
		}
	}
	return SFX_OK;
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

/* Separator i leads to child i + 1. */
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
		: front_each(v, buf(p), s, each_separator, &e);
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

/* Bisection finds its way in what ascends: in comparator order that is all there is to compare. */
static int
verify_child_order(Verify *w, int i, const SfxChild *c)
{
	if (i > 0 && sfx_order_cmp_pos(w->p->order, &w->prev, &c->low) >= 0)
		return verify_fail(w, "the separators do not ascend");
	if (i == w->p->nchildren - 1 && sfx_inner_cmp_fences(w->p, &c->low) != 0)
		return verify_fail(w, "a separator lies outside the fences");
	return SFX_OK;
}

static int
verify_child_bytes(Verify *w, int i, const SfxChild *c)
{
	if (i > 0 && (sfx_cmp_pos(&w->prev, &c->low) >= 0 || cmp_strings(&w->prev, &c->low) >= 0))
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

/* Do the filters' records ascend, each with children and a block of its own? */
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
	Scratch    *s = scratch;
	Verify		w = {.p = &p, .prevbuf = s->prev, .why = "a separator or child cannot be decoded"};
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
