/*-------------------------------------------------------------------------
 * leaf_pages.h - what tests of leaves have in common: entries, pages packed from them, and readers
 * checked against the sorted array
 *
 * There is one of each: entries, pages, order and dictionary are those of the current case.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TEST_LEAF_PAGES_H
#define SFX_TEST_LEAF_PAGES_H

#include "tap.h"
#include "orders.h"

#include "cpu.h"
#include "fsst.h"
#include "block_copy.h"
#include "leaf.h"
#include "strblock.h"
#include "leaf_format.h"
#include "leaf_sum.h"

#define CAPACITY	8144
#define MAXN		60000
#define MAXPAGES	4000
#define ARENA		(64u << 20)

typedef struct Page
{
	uint8_t    *body;			/* allocated to the byte, so that ASan sees overreads */
	uint32_t	len;
	SfxPos		low,
				high;
	bool		high_inf;
	uint32_t	nentries;
	int			first;			/* entry number of the first entry */
} Page;

static SfxEntry entry[MAXN];
static int	n;
static uint8_t *arena;
static size_t used;
static Page page[MAXPAGES];
static int	npages;
static SfxBlock blk;
static uint64_t seed = 42;
static const SfxOrder *order;	/* NULL: byte order */
static SfxHope *dict;			/* NULL: pages are written without a dictionary */
static SfxRestSample sample;
static bool sampling;

/* Memory for a packer, full of small numbers, none of which may have an effect. */
static void *
packer_memory(void)
{
	size_t		n = sfx_packer_size() / sizeof(uint32_t) + 1;
	uint32_t   *mem = malloc(n * sizeof(uint32_t));

	for (size_t i = 0; i < n; i++)
		mem[i] = 3;
	return mem;
}

#define DICTNO	7

static uint8_t *
arena_get(size_t len)
{
	uint8_t    *p = arena + used;

	used += len;
	if (used > ARENA)
		abort();
	return p;
}

static SfxPos
copy_pos(const SfxPos *p)
{
	SfxPos		c = {arena_get(p->len), p->len, p->tid};

	if (p->len)
		memcpy((uint8_t *) c.key, p->key, p->len);
	return c;
}

static int
keep_page(void *ctx, const SfxLeafOut *o)
{
	Page	   *p = &page[npages];

	(void) ctx;
	if (npages == MAXPAGES)
		abort();
	p->body = malloc(o->len);
	memcpy(p->body, o->body, o->len);
	p->len = o->len;
	p->low = copy_pos(&o->low);
	p->high = copy_pos(&o->high);
	p->high_inf = o->high_inf;
	p->nentries = o->nentries;
	p->first = npages ? page[npages - 1].first + (int) page[npages - 1].nentries : 0;
	npages++;
	return 0;
}

static void
reset(void)
{
	for (int i = 0; i < npages; i++)
		free(page[i].body);
	npages = 0;
	n = 0;
	used = 0;
}

static uint8_t *
add(uint32_t keylen, uint64_t tid)
{
	SfxEntry   *e = &entry[n++];

	e->key = arena_get(keylen);
	e->keylen = keylen;
	e->tid = tid;
	e->payload = NULL;
	e->paylen = 0;
	return (uint8_t *) e->key;
}

static SfxPos
pos_of(const SfxEntry *e)
{
	return (SfxPos) {e->key, e->keylen, e->tid};
}

static int
cmp_entry(const void *a, const void *b)
{
	SfxPos		x = pos_of(a),
				y = pos_of(b);

	return sfx_order_cmp_pos(order, &x, &y);
}

static int
cmp_pos_entry(const SfxPos *pos, const SfxEntry *e)
{
	SfxPos		p = pos_of(e);

	return sfx_order_cmp_pos(order, pos, &p);
}

static void
sort_entries(void)
{
	int			m = 0;

	qsort(entry, (size_t) n, sizeof(SfxEntry), cmp_entry);
	for (int i = 0; i < n; i++)
		if (m == 0 || cmp_entry(&entry[m - 1], &entry[i]) != 0)
			entry[m++] = entry[i];
	n = m;
}

static int
pack(uint32_t capacity, const SfxPos *low, const SfxPos *high)
{
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, capacity, low ? low : &none, keep_page, NULL, order);
	int			r = SFX_OK;

	if (dict)
		sfx_packer_add_dict(p, dict, DICTNO);
	if (sampling)
		sfx_packer_set_sample(p, &sample);
	for (int i = 0; i < n && r == SFX_OK; i++)
		r = sfx_packer_add(p, &entry[i]);
	if (r == SFX_OK)
		r = sfx_packer_finish(p, high);
	free(mem);
	return r;
}

/* Opens a leaf as readers do: with the dictionary if the leaf names one. */
static int
open_leaf(SfxLeaf *l, const Page *p)
{
	int			r = sfx_leaf_open(l, p->body, p->len, order);

	if (r == SFX_OK && l->dictno != 0)
	{
		if (l->dictno != DICTNO || dict == NULL)
			return -100;
		l->dict = dict;
	}
	return r;
}

static bool
same_entry(const SfxBlock *b, int i, const SfxEntry *want)
{
	SfxEntry	e;

	sfx_block_entry(b, i, &e);
	return e.keylen == want->keylen && memcmp(e.key, want->key, e.keylen) == 0 && e.tid == want->tid &&
		e.paylen == want->paylen && (e.paylen == 0 || memcmp(e.payload, want->payload, e.paylen) == 0) &&
		(b->width == 0 || b->width == e.keylen);
}

/* Check pages against entries: all come back, fences form a chain, the verifier agrees. */
static const char *
check_pages(uint32_t capacity)
{
	int			at = 0;
	static uint8_t lowbuf[SFX_MAX_ENTRY],
				highbuf[SFX_MAX_ENTRY];

	for (int i = 0; i < npages; i++)
	{
		SfxLeaf		l;
		SfxPos		low,
					high;
		bool		inf;
		const char *why;
		uint64_t	tid[SFX_BLOCK_ENTRIES];
		SfxBlockInfo info;
		uint32_t	bytes = 0;

		if (page[i].len > capacity)
			return "page too long";
		if (sfx_leaf_verify(page[i].body, page[i].len, order, dict, &blk, &why) != SFX_OK)
			return why;
		if (open_leaf(&l, &page[i]) != SFX_OK || l.nentries != page[i].nentries)
			return "open";
		sfx_leaf_fences(&l, lowbuf, &low, highbuf, &high, &inf);
		if (sfx_order_cmp_pos(order, &low, &page[i].low) != 0 || inf != page[i].high_inf ||
			(!inf && sfx_order_cmp_pos(order, &high, &page[i].high) != 0))
			return "fences";
		if (inf != page[i].high_inf || (i > 0 && sfx_order_cmp_pos(order, &low, &page[i - 1].high) != 0))
			return "fences are no chain";
		if (sfx_leaf_cmp_fences(&l, &low) != 0 || (!inf && sfx_leaf_cmp_fences(&l, &high) <= 0))
			return "cmp_fences";
		for (int b = 0; b < l.nblocks; b++)
		{
			if (sfx_leaf_decode(&l, b, NULL, NULL, &blk) != SFX_OK || blk.first != 0 || blk.total != blk.nent)
				return "decode";
			if (sfx_leaf_tids(&l, b, tid) != blk.nent || memcmp(tid, blk.tid, 8 * (size_t) blk.nent) != 0)
				return "tids";
			if (sfx_leaf_block_info(&l, b, &info) != SFX_OK || info.nent != blk.nent || info.nkeys != blk.nkeys ||
				(blk.haspay ? info.payload < blk.payoff[blk.nent] : info.payload > 0) || (info.tidcodec == 0) != (blk.nent == 1))
				return "block info";
			bytes += info.head + info.keys + info.lists + info.tids + info.payload;
			for (int e = 0; e < blk.nent; e++, at++)
				if (at >= n || !same_entry(&blk, e, &entry[at]))
					return "an entry differs";
		}
		/* offset of the first block: leaf.c */
		if (bytes != page[i].len - sfx_get16(page[i].body + 14))
			return "bytes of blocks";
	}
	return at == n ? NULL : "entries are missing";
}

/* Number of entries < pos. */
static int
rank(const SfxPos *pos)
{
	int			lo = 0,
				hi = n;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		SfxPos		m = pos_of(&entry[mid]);

		if (sfx_order_cmp_pos(order, &m, pos) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A stored position, or one that was changed: truncated, extended, another byte, another TID. */
static void
random_pos(uint8_t *buf, SfxPos *pos, int near)
{
	uint64_t	r = rnd(&seed);
	int			i = near + (int) (r % 40) - 20;
	const SfxEntry *e;

	if (near < 0 || i < 0 || i >= n)
		i = (int) (r % (uint64_t) n);
	e = &entry[i];
	memcpy(buf, e->key, e->keylen);
	*pos = (SfxPos) {buf, e->keylen, e->tid};
	r >>= 32;
	switch (r % 8)
	{
		case 0:
			pos->len = (uint32_t) (rnd(&seed) % (pos->len + 1));
			break;
		case 1:
			if (pos->len < SFX_MAX_ENTRY)
				buf[pos->len++] = (uint8_t) (rnd(&seed) % 3);
			break;
		case 2:
			if (pos->len)
				buf[rnd(&seed) % pos->len] = (uint8_t) rnd(&seed);
			break;
		case 3:
			if (pos->len)
				buf[pos->len - 1 - rnd(&seed) % (pos->len < 4 ? pos->len : 4)] += (uint8_t) (rnd(&seed) % 3 - 1);
			break;
		default:
			break;
	}
	switch (r >> 8 & 7)
	{
		case 0:
			pos->tid = 0;
			break;
		case 1:
			pos->tid++;
			break;
		case 2:
			pos->tid = UINT64_MAX;
			break;
		case 3:
			pos->tid = rnd(&seed) & SFX_MAX_TID;
			break;
		default:
			break;
	}
}

/* Copied to a smaller one and back, a block is as it was, and more of it can be decoded. */
static void
through_copy(void)
{
	static uint64_t few[SFX_BLOCK_SIZE(8192) / 8 + 1];
	uint32_t	room = (uint32_t) (rnd(&seed) % 8192);

	if (!sfx_block_copy(&blk, (SfxBlock *) few, room))
		return;
	memset(&blk, 0xAB, sizeof(blk));
	if (!sfx_block_copy((SfxBlock *) few, &blk, sizeof(blk.keys)))
		abort();
}

/* Are entries [from, to) of block b, which begins with entry start, also decoded in parts? */
static bool
parts_agree(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int from, int to, int start, bool backward)
{
	int			limit = 1 + (int) (rnd(&seed) % 100);
	int			at = backward ? to : from;

	if (sfx_leaf_decode_limit(l, b, lo, hi, limit, backward, &blk) != SFX_OK)
		return false;
	for (;;)
	{
		through_copy();
		if (backward)
			at -= blk.nent;
		if (at < from || (blk.nent && blk.first != at - start))
			return from >= to && blk.nent == 0;
		for (int i = 0; i < blk.nent; i++)
			if (!same_entry(&blk, i, &entry[at + i]))
				return false;
		if (!backward)
			at += blk.nent;
		if (!sfx_block_left(&blk))
			return from >= to || at == (backward ? from : to);
		/* what was asked for, unless the bounds exclude some, and at most a group of keys more */
		if ((lo == NULL && hi == NULL && blk.nent < limit) || blk.nkeys >= limit + SFX_STR_GROUP)
			return false;
		if (sfx_leaf_decode_left(l, b, limit, backward, &blk) != SFX_OK)
			return false;
	}
}

/*
 * Are entries [from, to) of block b, which begins with entry start, decoded without their keys, and
 * are keys added later?
 */
static bool
keyless_agrees(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int from, int to, int start)
{
	if (sfx_leaf_decode_keyless(l, b, lo, hi, &blk) != SFX_OK || blk.nent != (to > from ? to - from : 0) || sfx_block_left(&blk))
		return false;
	if (blk.nent > 0 && (blk.first != from - start || (blk.keyless && blk.haspay)))
		return false;
	for (int i = 0; i < blk.nent; i++)
	{
		SfxEntry	e;

		sfx_block_entry(&blk, i, &e);
		if (e.tid != entry[from + i].tid || (blk.keyless && (e.keylen > 0 || e.paylen > 0)))
			return false;
	}
	if (sfx_leaf_add_keys(l, b, &blk) != SFX_OK || blk.keyless || blk.nent != (to > from ? to - from : 0))
		return false;
	for (int i = 0; i < blk.nent; i++)
	{
		SfxEntry	want = entry[from + i];

		if (!blk.haspay)
			want.paylen = 0;
		if (!same_entry(&blk, i, &want))
			return false;
	}
	return true;
}

/* Blocks that were decoded without TIDs. */
static int	without_tids;

/* The same without TIDs, which are decoded nevertheless if a bound divides a posting list. */
static bool
tidless_agrees(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int from, int to,
			   int start)
{
	if (sfx_leaf_decode_tidless(l, b, lo, hi, &blk) != SFX_OK ||
		blk.nent != (to > from ? to - from : 0) || sfx_block_left(&blk))
		return false;
	if (blk.nent > 0 && (blk.first != from - start || blk.keyless))
		return false;
	for (int i = 0; i < blk.nent; i++)
	{
		if (blk.tidless)
			blk.tid[i] = entry[from + i].tid;
		if (!same_entry(&blk, i, &entry[from + i]))
			return false;
	}
	without_tids += blk.tidless;
	return true;
}

/*
 * Are those of entries [from, to) of block b found, in their order, whose heap block is not
 * all-visible?
 */
static bool
hidden_agrees(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int from, int to)
{
	static uint64_t map_seed = 7;
	static uint8_t bits[64];
	const uint8_t *map_page = bits;
	SfxVisMap	map = {&map_page, 1, 4 * sizeof(bits)};
	uint64_t	hidden[SFX_BLOCK_ENTRIES + SFX_HIDDEN_SLACK];
	int			n,
				found,
				k = 0;

	for (size_t i = 0; i < sizeof(bits); i++)
		bits[i] = (uint8_t) (rnd(&map_seed) | rnd(&map_seed));
	found = sfx_leaf_hidden(l, b, lo, hi, &map, hidden, &n);
	if (found < 0 || n != (to > from ? to - from : 0))
		return false;
	for (int i = from; i < to; i++)
	{
		uint64_t	block = entry[i].tid >> 16;

		if (block < map.blocks && (bits[block / 4] >> block % 4 * 2 & 1))
			continue;
		if (k == found || hidden[k++] != entry[i].tid)
			return false;
	}
	return k == found;
}

/* A number at some place of entry i's key. */
static uint64_t
number_at(int i, const SfxPlace *place)
{
	uint64_t	v = 0;

	for (uint32_t k = 0; k < place->width; k++)
		v = v << 8 | entry[i].key[place->at + k];
	return v;
}

/* Ranges whose numbers were summed up in coded form: short ones, longer ones, with duplicates. */
static int	summed_few,
			summed_many,
			summed_dups;

/*
 * Are the numbers at some place of the keys of entries [from, to) of block b summed up correctly,
 * if the block has that form?
 */
static bool
sum_agrees(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int from, int to)
{
	static uint64_t place_seed = 11;
	int			i = from < n ? from : 0,
				want = (int) (rnd(&place_seed) % 8),
				r;
	uint32_t	len = entry[i].keylen;
	SfxPlace	place = {len, 0, 1 + (uint32_t) (rnd(&place_seed) % 8), 0};
	SfxSum		sum,
				good = {0};
	bool		dups = false;

	/* most often the last bytes */
	if (len > place.width)
		place.at = rnd(&place_seed) % 2 ? len - place.width :
			1 + (uint32_t) (rnd(&place_seed) % (len - place.width));
	if (place.at > 0)
		place.mark = entry[i].key[place.at - 1];
	r = sfx_leaf_sum(l, b, lo, hi, &place, want, &sum);
	if (r <= 0)
		return r == 0;
	for (i = from; i < to; i++)
	{
		uint64_t	v = place.at > 0 ? number_at(i, &place) : 0;

		if (entry[i].keylen != len || (place.at > 0 && entry[i].key[place.at - 1] != place.mark))
			return false;
		dups |= i > from && sfx_cmp_bytes(entry[i].key, len, entry[i - 1].key, len) == 0;
		good.low += v & UINT32_MAX;
		good.high += v >> 32;
		if (i == from || (want & SFX_WANT_BOUNDS && v < good.least))
			good.least = v;
		if (i == from || !(want & SFX_WANT_BOUNDS) || v > good.most)
			good.most = v;
	}
	if (sum.n != (to > from ? to - from : 0))
		return false;
	if (place.at == 0 || sum.n == 0)
		return true;
	if (want & SFX_WANT_SUM && (sum.low != good.low || sum.high != good.high))
		return false;
	if (want & SFX_WANT_SUM)
		*(dups ? &summed_dups : sum.n > 16 ? &summed_many : &summed_few) += 1;
	return !(want & (SFX_WANT_ENDS | SFX_WANT_BOUNDS)) ||
		(sum.least == good.least && sum.most == good.most);
}

static int	exact_found,		/* results of searches by bytes */
			exact_absent;

/*
 * B5: a search by bytes finds all entries of at's key in its block, and none is in an earlier one.
 */
static bool
exact_is_right(const SfxLeaf *l, const int *start, const SfxPos *at)
{
	SfxPos		lo = {at->key, at->len, 0};
	SfxPos		hi = {at->key, at->len, UINT64_MAX};
	SfxExact	r = sfx_leaf_find_exact(l, at->key, at->len, UINT64_MAX, &blk, (int[1]) {0});
	int			b,
				end;

	if (order == NULL || at->len == 0 || sfx_leaf_cmp_fences(l, &lo) != 0)
		return order != NULL || r == SFX_EXACT_UNDECIDED;
	r = sfx_leaf_find_exact(l, at->key, at->len, UINT64_MAX, &blk, &b);
	exact_found += r == SFX_EXACT_FOUND;
	exact_absent += r == SFX_EXACT_ABSENT;
	if (r != SFX_EXACT_FOUND)
		return r == SFX_EXACT_UNDECIDED ||
			(r == SFX_EXACT_ABSENT && rank(&lo) == rank(&hi) && blk.nent == 0);
	end = rank(&hi) < start[b + 1] ? rank(&hi) : start[b + 1];
	return blk.nent > 0 && blk.nent == end - rank(&lo) && blk.first == rank(&lo) - start[b];
}

/* Check find_block, find_block_before, and decode with bounds, against ranks in the array. */
static const char *
check_search(int rounds)
{
	static uint8_t lobuf[SFX_MAX_ENTRY + 1],
				hibuf[SFX_MAX_ENTRY + 1];

	for (int t = 0; t < rounds; t++)
	{
		SfxPos		lo,
					hi;
		SfxLeaf		l;
		const Page *p;
		int			start[4096];
		int			rlo,
					rhi,
					b,
					want,
					i = 0;
		const SfxPos *plo = &lo,
				   *phi = &hi;

		random_pos(lobuf, &lo, -1);
		rlo = rank(&lo);
		if (rnd(&seed) % 4 == 0)
		{
			memcpy(hibuf, lobuf, lo.len);
			hi = (SfxPos) {hibuf, lo.len, UINT64_MAX - rnd(&seed) % 2};
		}
		else
			random_pos(hibuf, &hi, rlo);
		rhi = rank(&hi);
		p = &page[rnd(&seed) % (uint64_t) npages];
		if (t % 4)
			for (p = page; p + 1 < page + npages && p->first + (int) p->nentries <= rlo; p++)
				;
		if (t % 16 == 15)
		{
			plo = NULL;
			rlo = 0;
		}
		if (t % 32 > 29)
		{
			phi = NULL;
			rhi = n;
		}
		if (open_leaf(&l, p) != SFX_OK)
			return "open";
		start[0] = p->first;
		for (b = 0; b < l.nblocks; b++)
		{
			uint64_t	tid[SFX_BLOCK_ENTRIES];

			start[b + 1] = start[b] + sfx_leaf_tids(&l, b, tid);
		}

		/* find_block */
		want = rank(&lo);
		b = sfx_leaf_find_block(&l, &lo);
		if (b < 0 || b > l.nblocks)
			return "find_block: range";
		if (b < l.nblocks ? (want < start[b] && b > 0) || (want > start[b + 1] && b + 1 < l.nblocks)
			: want < start[l.nblocks])
			return "find_block";

		if (!exact_is_right(&l, start, &lo))
			return "find_exact";

		/* find_block_before */
		b = sfx_leaf_find_block_before(&l, &lo);
		if (b < 0 || b > l.nblocks)
			return "find_block_before: range";
		if (b == l.nblocks ? want > p->first && l.nblocks > 0 : want <= start[b] ||
			(b + 1 < l.nblocks && want > start[b + 1]))
			return "find_block_before";

		/* count */
		{
			int			from = rlo < p->first ? p->first : rlo,
						end = p->first + (int) p->nentries,
						to = rhi < end ? rhi : end;

			if (sfx_leaf_count(&l, plo, phi) != (to > from ? to - from : 0))
				return "count";
		}

		/* decode */
		if (l.nblocks == 0)
			continue;
		b = (int) (rnd(&seed) % (uint64_t) l.nblocks);
		{
			bool		equal,
						there = want >= start[b] && want < start[b + 1] && cmp_pos_entry(&lo, &entry[want]) == 0;
			int			to = want < start[b] ? start[b] : want > start[b + 1] ? start[b + 1] : want;

			if (sfx_leaf_rank(&l, b, &lo, &equal) != to - start[b] || equal != there)
				return "rank";
		}
		if (t % 8)
			for (b = 0; b + 1 < l.nblocks && start[b + 1] <= rlo; b++)
				;
		if (sfx_leaf_decode(&l, b, plo, phi, &blk) != SFX_OK)
			return "decode";
		rlo = rlo < start[b] ? start[b] : rlo;
		rhi = rhi > start[b + 1] ? start[b + 1] : rhi;
		if (blk.total != start[b + 1] - start[b])
			return "decode: total";
		if (blk.nent != (rhi > rlo ? rhi - rlo : 0))
			return "decode: number of entries";
		if (blk.nent && blk.first != rlo - start[b])
			return "decode: first";
		for (i = 0; i < blk.nent; i++)
			if (!same_entry(&blk, i, &entry[rlo + i]))
				return "decode: an entry differs";
		if (blk.nent && blk.nkeys != (blk.dups ? blk.keyno[blk.nent - 1] + 1 : blk.nent))
			return "decode: number of keys";
		if (!parts_agree(&l, b, plo, phi, rlo, rhi, start[b], t % 2))
			return "decode in parts";
		if (!keyless_agrees(&l, b, plo, phi, rlo, rhi, start[b]))
			return "decode without keys";
		if (!tidless_agrees(&l, b, plo, phi, rlo, rhi, start[b]))
			return "decode without TIDs";
		if (!sum_agrees(&l, b, plo, phi, rlo, rhi))
			return "numbers of keys";
		if (!hidden_agrees(&l, b, plo, phi, rlo, rhi))
			return "hidden";
	}
	return NULL;
}

/* Pages that are packed again, compared with those that exist. */
typedef struct Again
{
	int			pages;
	uint32_t	entries;
	size_t		bytes;
	bool		exact;			/* they must be the same */
} Again;

static int
same_page(void *ctx, const SfxLeafOut *o)
{
	Again	   *a = ctx;
	const Page *p = &page[a->pages++];

	a->entries += o->nentries;
	a->bytes += o->len;
	return !a->exact || (a->pages <= npages && p->len == o->len && memcmp(p->body, o->body, o->len) == 0) ? SFX_OK : -100;
}

static size_t
page_bytes(void)
{
	size_t		bytes = 0;

	for (int i = 0; i < npages; i++)
		bytes += page[i].len;
	return bytes;
}

/*
 * Are all pages except the last one full, up to `but` bytes?  If the packer uses a field that
 * nothing has set, its pages are sound, and only their size shows it.
 */
static bool
are_full(uint32_t capacity, uint32_t but)
{
	for (int i = 0; i < npages - 1; i++)
		if (page[i].len + but < capacity)
			return false;
	return true;
}

/* Bytes that may be free on a page: the longest entry and what it adds to blocks and fences. */
static uint32_t
room_for_one(void)
{
	uint32_t	most = 0;

	for (int i = 0; i < n; i++)
		if (entry[i].keylen + entry[i].paylen > most)
			most = entry[i].keylen + entry[i].paylen;
	return 4 * most + 256;
}

/*
 * FSST keeps as much as it can of a code that was made for another rest of the key: then pages are
 * not the same, but nearly as small.
 */
static bool
nearly_as_small(size_t bytes, size_t other)
{
	return bytes <= other + other / 50 + 64;
}

/* Add entries [from, to) of blk to the packer one by one, as entries without known codes. */
static int
add_singly(SfxPacker *p, int from, int to)
{
	int			r = SFX_OK;

	for (int i = from; i < to && r == SFX_OK; i++)
	{
		SfxEntry	e;

		sfx_block_entry(&blk, i, &e);
		r = sfx_packer_add_cut(p, &e, sfx_block_loose(&blk, i));
	}
	return r;
}

/*
 * Decoded blocks that are packed again, in runs of random lengths or entry by entry, make the same
 * pages.
 */
static const char *
check_runs(uint32_t capacity)
{
	void	   *mem = packer_memory();
	SfxPos		none = {NULL, 0, 0};
	static SfxCodes codes;
	Again		again = {.exact = dict == NULL || !hope_is_fsst(dict)};
	SfxPacker  *p = sfx_packer_init(mem, capacity, &none, same_page, &again, order);
	int			r = SFX_OK;

	if (dict)
		sfx_packer_add_dict(p, dict, DICTNO);
	for (int i = 0; i < npages && r == SFX_OK; i++)
	{
		SfxLeaf		l;

		r = open_leaf(&l, &page[i]);
		for (int b = 0; r == SFX_OK && b < l.nblocks; b++)
		{
			r = sfx_leaf_decode(&l, b, NULL, NULL, &blk);
			codes.n = 0;
			if (r == SFX_OK && dict && l.dictno != 0)
				r = sfx_leaf_codes(&l, b, &codes);
			for (int from = 0; r == SFX_OK && from < blk.nent;)
			{
				int			to = from + 1 + (int) (rnd(&seed) % 40);

				to = to < blk.nent ? to : blk.nent;
				r = rnd(&seed) % 4 == 0 ? add_singly(p, from, to) :
					sfx_packer_add_run(p, &blk, from, to, rnd(&seed) % 2 ? &codes : NULL);
				from = to;
			}
		}
	}
	if (r == SFX_OK)
		r = sfx_packer_finish(p, NULL);
	free(mem);
	return r == SFX_OK && again.entries == (uint32_t) n && nearly_as_small(again.bytes, page_bytes()) ? NULL : "pages packed in runs differ";
}

#endif							/* SFX_TEST_LEAF_PAGES_H */
