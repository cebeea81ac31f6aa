/* test_leaf.c - leaf pages: packing and reading against a sorted array */
#include "tap.h"
#include "orders.h"

#include "../cpu.h"
#include "../leaf.h"
#include "../leaf_format.h"

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
	void	   *mem = malloc(sfx_packer_size());
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, capacity, low ? low : &none, keep_page, NULL, order);
	int			r = SFX_OK;

	if (dict)
		sfx_packer_set_dict(p, dict, DICTNO);
	if (sampling)
		sfx_packer_set_sample(p, &sample);
	for (int i = 0; i < n && r == SFX_OK; i++)
		r = sfx_packer_add(p, &entry[i]);
	if (r == SFX_OK)
		r = sfx_packer_finish(p, high);
	if (r == SFX_OK && sfx_packer_pages(p) != npages)
		r = -100;
	free(mem);
	return r;
}

/* As a reader does it: the dictionary is given if the leaf names one. */
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

/* Pages against entries: everything comes back, fences form a chain, the verifier agrees. */
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

/* Entries < pos. */
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

/* A stored position, or one that was bent: truncated, extended, a byte changed, another TID. */
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

/* Entries [from, to) of block b, which begins with entry start, come out in parts as well. */
static bool
parts_agree(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int from, int to, int start, bool backward)
{
	int			limit = 1 + (int) (rnd(&seed) % 100);
	int			at = backward ? to : from;

	if (sfx_leaf_decode_limit(l, b, lo, hi, limit, backward, &blk) != SFX_OK)
		return false;
	for (;;)
	{
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
		if (sfx_leaf_decode_left(l, b, limit, backward, &blk) != SFX_OK)
			return false;
	}
}

/* find_block, find_block_before, decode with bounds: against ranks in the array. */
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
	}
	return NULL;
}

static uint64_t
table_tid(int i)
{
	return SFX_TID(i / 226, i % 226 + 1);
}

static uint64_t
random_tid(void)
{
	return SFX_TID(rnd(&seed) % 100000, rnd(&seed) % 200 + 1);
}

static void
put_int8(uint8_t *k, uint64_t v)
{
	v ^= UINT64_C(1) << 63;
	k[0] = 1;
	for (int i = 0; i < 8; i++)
		k[1 + i] = (uint8_t) (v >> (56 - 8 * i));
}

typedef enum Kind
{
	SERIAL, RANDOM, DUPS, UUID, TEXT, PATHS, COMPOSITE, MIXED, BINARY, PAYLOAD, WIDE,
	UUID4, SPARSE, HEADS, CASES, LONGKEYS, NKINDS
} Kind;

static const char *const kind_name[] = {
	"serial int8", "random int8", "duplicates", "uuid", "short text", "paths", "composite (int4, int4)",
	"text of one length", "any bytes", "payloads", "int8 and text",
	"uuid v4", "two words, few varying bits", "many keys with the same 64 bits", "words in large and small letters", "long keys"
};

static void
make_text(uint8_t *out, uint32_t len, int letters)
{
	for (uint32_t i = 0; i + 1 < len; i++)
		out[i] = (uint8_t) ('a' + rnd(&seed) % (uint64_t) letters);
	out[len - 1] = 0;
}

static void
make(Kind kind, int count)
{
	reset();
	for (int i = 0; i < count; i++)
	{
		uint64_t	r = rnd(&seed);
		char		buf[200];
		int			len;
		uint8_t    *k;

		switch (kind)
		{
			case SERIAL:
				put_int8(add(9, table_tid(i)), (uint64_t) i + 1000);
				break;
			case RANDOM:
				put_int8(add(9, random_tid()), r);
				break;
			case DUPS:
				put_int8(add(9, random_tid()), r % 7 == 0 ? r % 1000 : r % 3 == 0 ? r % 10 : 5);
				break;
			case UUID:
				k = add(17, random_tid());
				k[0] = 1;
				for (int j = 1; j < 17; j++)
					k[j] = (uint8_t) rnd(&seed);
				break;
			case TEXT:
				len = 2 + (int) (r % 12);
				make_text(add((uint32_t) len, random_tid()), (uint32_t) len, 4);
				break;
			case PATHS:
				len = snprintf(buf, sizeof(buf), "/usr/share/doc/package-%d/section%d/file-name-%d.txt",
							   (int) (r % 50), (int) (r >> 8 & 7), (int) (r >> 16 & 0xFFFF));
				memcpy(add((uint32_t) len + 1, random_tid()), buf, (size_t) len + 1);
				break;
			case COMPOSITE:
				k = add(10, random_tid());
				memcpy(k, "\001\200\000\000\000\001\200\000\000\000", 10);
				k[3] = (uint8_t) (r & 3);
				k[4] = (uint8_t) (r >> 8);
				k[8] = (uint8_t) (r >> 16);
				k[9] = (uint8_t) (r >> 24);
				break;
			case MIXED:
				k = add(30, random_tid());
				make_text(k, 30, 2);
				memset(k + 3, 'x', 9);
				break;
			case BINARY:
				len = (int) (r % 5);
				k = add((uint32_t) len, random_tid());
				for (int j = 0; j < len; j++)
					k[j] = (uint8_t) (rnd(&seed) % 3 * 127);
				break;
			case PAYLOAD:
				put_int8(add(9, random_tid()), r % 20000);
				entry[n - 1].paylen = (uint32_t) (r >> 40) % 20;
				entry[n - 1].payload = arena_get(entry[n - 1].paylen);
				for (uint32_t j = 0; j < entry[n - 1].paylen; j++)
					((uint8_t *) entry[n - 1].payload)[j] = (uint8_t) rnd(&seed);
				break;
			case WIDE:
				len = 1 + (int) (r % 30);
				k = add(9 + (uint32_t) len, random_tid());
				put_int8(k, r >> 50);
				make_text(k + 9, (uint32_t) len, 26);
				break;
			case UUID4:
				k = add(17, random_tid());
				k[0] = 1;
				for (int j = 1; j < 17; j++)
					k[j] = (uint8_t) rnd(&seed);
				k[7] = (k[7] & 0x0F) | 0x40;
				k[9] = (k[9] & 0x3F) | 0x80;
				break;
			case SPARSE:
				len = i < count / 2 ? 12 : 17;
				k = add((uint32_t) len, random_tid());
				memset(k, 0x5A, (size_t) len);
				k[0] = (uint8_t) len;
				k[2] ^= (uint8_t) (r & 0x0C);
				k[5] ^= (uint8_t) (r >> 8 & 0x91);
				k[7] ^= (uint8_t) (r >> 16 & 0xFF);
				k[9] ^= (uint8_t) (r >> 24 & 0x3C);
				k[len - 1] ^= (uint8_t) (r >> 32 & 0x42);
				break;
			case HEADS:
				len = r % 2 ? 17 : 24;
				k = add((uint32_t) len, random_tid());
				memset(k, (int) (r >> 8 & 1) * 255, (size_t) len);
				k[0] = (uint8_t) len;
				for (int j = 1; j < 9; j++)
					k[j] = (uint8_t) (k[j] ^ (r >> 16 & 1 ? 0 : 1 << (r >> 20 & 7)));
				for (int j = 9; j < len; j++)
					k[j] = (uint8_t) rnd(&seed);
				break;
			case CASES:
				len = 2 + (int) (r % 24);
				k = add((uint32_t) len, random_tid());
				make_text(k, (uint32_t) len, 8);
				for (int j = 0; j + 1 < len; j++)
					if (rnd(&seed) % 3 == 0)
						k[j] = (uint8_t) (k[j] - 'a' + 'A');
				break;
			default:
				len = r % 4 == 0 ? SFX_MAX_ENTRY : 1 + (int) (r % SFX_MAX_ENTRY);
				k = add((uint32_t) len, random_tid());
				make_text(k, (uint32_t) len, 2);
				if (r % 3 == 0 && len > 2500)
					memset(k, 'b', 2500);
				break;
		}
	}
	sort_entries();
}

static const char *
order_name(void)
{
	static const char *const scheme[] = {"", "single", "double", "3grams", "4grams", "alm", "alm_improved"};
	static char name[80];

	name[0] = '\0';
	if (order)
		snprintf(name, sizeof(name), "%s: ", ((const TestOrder *) order)->name);
	if (dict)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s: ", scheme[sfx_hope_scheme(dict)]);
	return name;
}

/* Compares with the pages that are there already. */
static int
same_page(void *ctx, const SfxLeafOut *o)
{
	int		   *at = ctx;
	const Page *p = &page[(*at)++];

	return *at <= npages && p->len == o->len && memcmp(p->body, o->body, o->len) == 0 ? SFX_OK : -100;
}

/* Decoded blocks packed in runs, of random lengths, make the same pages again. */
static const char *
check_runs(uint32_t capacity)
{
	void	   *mem = malloc(sfx_packer_size());
	SfxPos		none = {NULL, 0, 0};
	static SfxCodes codes;
	int			at = 0;
	SfxPacker  *p = sfx_packer_init(mem, capacity, &none, same_page, &at, order);
	int			r = SFX_OK;

	if (dict)
		sfx_packer_set_dict(p, dict, DICTNO);
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
				r = sfx_packer_add_run(p, &blk, from, to, rnd(&seed) % 2 ? &codes : NULL);
				from = to;
			}
		}
	}
	if (r == SFX_OK)
		r = sfx_packer_finish(p, NULL);
	free(mem);
	return r == SFX_OK && at == npages ? NULL : "pages packed in runs differ";
}

/* A run that does not ascend, behind one that does: the packer says so and takes nothing of it. */
static void
test_run_order(void)
{
	void	   *mem = malloc(sfx_packer_size());
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, keep_page, NULL, NULL);
	int			r1,
				r2;

	reset();
	memset(&blk, 0, sizeof(blk));
	blk.nent = blk.nkeys = 20;
	blk.width = 9;
	for (uint32_t i = 0; i < 20; i++)
	{
		blk.keyoff[i + 1] = 9 * (i + 1);
		blk.keys[9 * i + 8] = (uint8_t) (i == 12 ? 3 : i);
		blk.tid[i] = SFX_TID(1, i + 1);
	}
	r1 = sfx_packer_add_run(p, &blk, 0, 12, NULL);
	r2 = sfx_packer_add_run(p, &blk, 12, 20, NULL);
	ok(r1 == SFX_OK && r2 == SFX_CORRUPT, "a run of entries out of order is refused");
	free(mem);
}

static void
test_kinds(void)
{
	static const uint32_t caps[] = {CAPACITY, 32000, 4096};

	for (int kind = 0; kind < NKINDS; kind++)
	{
		const char *err = NULL;
		int			r = 0;
		size_t		bytes = 0;
		int			count = 0;
		int			most = kind == LONGKEYS ? 300 : order ? 4000 : kind == TEXT || kind == SERIAL ? 40000 : 12000;

		for (int c = 0; c < 3 && !err; c++)
		{
			/* the smallest capacity cannot hold three of the largest entries */
			if (kind == LONGKEYS && c == 2)
				continue;
			make(kind, c == 0 ? most : most / 4);
			r = pack(caps[c], NULL, NULL);
			if (r != SFX_OK)
				err = "packer";
			else if ((err = check_pages(caps[c])) == NULL)
				err = check_search(c == 0 ? 3000 : 1000);
			if (!err)
				err = check_runs(caps[c]);
			for (int i = 0; i < npages && c == 0; i++)
				bytes += page[i].len;
			count += c == 0 ? n : 0;
		}
		ok(err == NULL, "%s%s: %.2f bytes per entry%s%s", order_name(), kind_name[kind], (double) bytes / count,
		   err ? ": " : "", err ? err : "");
	}
}

/* Small numbers of entries, where blocks have one key or one entry. */
static void
test_small(void)
{
	const char *err = NULL;

	for (int kind = 0; kind < NKINDS && !err; kind++)
		for (int count = 1; count < 40 && !err; count += order ? 5 : 1)
		{
			make(kind, count);
			if (pack(CAPACITY, NULL, NULL) != SFX_OK)
				err = "packer";
			else if ((err = check_pages(CAPACITY)) == NULL)
				err = check_search(60);
		}
	ok(err == NULL, "%s1 to 39 entries of every kind%s%s", order_name(), err ? ": " : "", err ? err : "");
}

static void
test_empty(void)
{
	SfxPos		low = {(const uint8_t *) "abcX", 4, 7},
				high = {(const uint8_t *) "abcY", 4, 9},
				pos = {(const uint8_t *) "abcXX", 5, 0},
				below = {(const uint8_t *) "abcX", 4, 6};
	SfxLeaf		l;
	const char *err;

	reset();
	ok(pack(CAPACITY, &low, &high) == SFX_OK && npages == 1 && (err = check_pages(CAPACITY)) == NULL,
	   "no entries: one empty page");
	open_leaf(&l, &page[0]);
	ok(l.nblocks == 0 && sfx_leaf_find_block(&l, &pos) == 0 && sfx_leaf_find_block_before(&l, &pos) == 0,
	   "no block is found there");
	ok(sfx_leaf_cmp_fences(&l, &pos) == 0 && sfx_leaf_cmp_fences(&l, &below) < 0 &&
	   sfx_leaf_cmp_fences(&l, &low) == 0 && sfx_leaf_cmp_fences(&l, &high) > 0, "its fences hold");
	ok(page[0].len == 16 + 12 + 3 + 1 + 1, "the fences' common prefix is stored once");
}

/* One key's posting list over many pages; its neighbours around it. */
static void
test_posting(void)
{
	const char *err;
	SfxPos		high = {(const uint8_t *) "m", 1, 0};

	/* above them all in any order */
	if (order && ((const TestOrder *) order)->kind == ORDER_REVERSED)
		high.key = (const uint8_t *) "a";
	if (order && ((const TestOrder *) order)->kind == ORDER_LENGTH)
		high = (SfxPos) {(const uint8_t *) "abcde", 5, 0};
	if (order && ((const TestOrder *) order)->kind == ORDER_COLUMNS)
		high = (SfxPos) {(const uint8_t *) "\004abcd", 5, 0};
	reset();
	for (int i = 0; i < (order ? 20000 : 50000); i++)
		memcpy(add(4, random_tid()), i % 500 == 0 ? "key" : i % 501 == 0 ? "kez" : "kex", 4);
	sort_entries();
	err = pack(CAPACITY, NULL, &high) != SFX_OK ? "packer" : check_pages(CAPACITY);
	if (!err)
		err = check_search(3000);
	ok(!err && npages > (order ? 2 : 5), "%sone key over %d pages%s%s", order_name(), npages, err ? ": " : "", err ? err : "");
}

/* Three items of the largest size; both fences have TIDs. */
static void
test_largest(void)
{
	static uint8_t lowkey[SFX_MAX_ENTRY],
				highkey[SFX_MAX_ENTRY];
	SfxPos		low = {lowkey, SFX_MAX_ENTRY, SFX_MAX_TID},
				high = {highkey, SFX_MAX_ENTRY, SFX_MAX_TID};
	const char *err = NULL;
	int			r;

	bool		down = order && ((const TestOrder *) order)->kind != ORDER_NOCASE &&
		((const TestOrder *) order)->kind != ORDER_BYTES;

	memset(lowkey, down ? 200 : 1, sizeof(lowkey));
	memset(highkey, down ? 1 : 200, sizeof(highkey));
	reset();
	memset(add(SFX_MAX_ENTRY, SFX_MAX_TID), 100, SFX_MAX_ENTRY);
	r = pack(CAPACITY, &low, &high);
	ok(r == SFX_OK && npages == 1 && (err = check_pages(CAPACITY)) == NULL,
	   "%stwo largest fences and the largest entry: %u bytes", order_name(), npages ? page[0].len : 0);

	reset();
	for (int i = 0; i < 60; i++)
		memset(add(SFX_MAX_ENTRY, SFX_MAX_TID - 50 + (uint64_t) (i % 30)), down ? 101 - i / 30 : 100 + i / 30, SFX_MAX_ENTRY);
	r = pack(CAPACITY, &low, &high);
	ok(r == SFX_OK && (err = check_pages(CAPACITY)) == NULL, "two largest keys with 30 TIDs each: %d pages", npages);

	reset();
	for (int i = 0; i < 20; i++)
	{
		put_int8(add(9, 1), (uint64_t) (down && ((const TestOrder *) order)->kind != ORDER_COLUMNS ? 20 - i : i));
		entry[i].paylen = SFX_MAX_ENTRY - 9;
		entry[i].payload = arena_get(SFX_MAX_ENTRY);
		memset((uint8_t *) entry[i].payload, i, SFX_MAX_ENTRY);
	}
	r = pack(CAPACITY, NULL, NULL);
	ok(r == SFX_OK && (err = check_pages(CAPACITY)) == NULL, "largest payloads: %d pages", npages);
}

/* A high fence so long that the entries that fit before it is known do not fit with it. */
static void
test_long_high(void)
{
	static uint8_t highkey[SFX_MAX_ENTRY];
	SfxPos		high = {highkey, SFX_MAX_ENTRY, 5};
	const char *err = NULL;

	memset(highkey, 0xFF, sizeof(highkey));
	for (int count = 850; count < 1100 && !err; count += 9)
	{
		make(RANDOM, count);
		err = pack(CAPACITY, NULL, &high) != SFX_OK ? "packer" : check_pages(CAPACITY);
	}
	ok(!err, "a longest high fence on the last page%s%s", err ? ": " : "", err ? err : "");
}

static void
test_full(void)
{
	double		least = 1;

	make(RANDOM, 20000);
	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i + 1 < npages; i++)
		least = (double) page[i].len / CAPACITY < least ? (double) page[i].len / CAPACITY : least;
	ok(least > 0.995, "random int8 pages are full: the emptiest has %.2f%%", 100 * least);
	make(PATHS, 20000);
	pack(CAPACITY, NULL, NULL);
	least = 1;
	for (int i = 0; i + 1 < npages; i++)
		least = (double) page[i].len / CAPACITY < least ? (double) page[i].len / CAPACITY : least;
	ok(least > 0.99, "path pages are full: the emptiest has %.2f%%", 100 * least);
	make(SERIAL, 40000);
	pack(CAPACITY, NULL, NULL);
	ok(page[0].len > CAPACITY * 99 / 100 ? (double) page[0].len / page[0].nentries <= 0.25 : true,
	   "serial keys in table order: %u entries in %u bytes", page[0].nentries, page[0].len);
}

static int
refuse(void *ctx, const SfxLeafOut *o)
{
	(void) o;
	return --*(int *) ctx < 0 ? -77 : 0;
}

static void
test_stop(void)
{
	int			left = 3;
	int			r = 0;
	void	   *mem = malloc(sfx_packer_size());
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, refuse, &left, NULL);

	make(RANDOM, 20000);
	for (int i = 0; i < n && r == 0; i++)
		r = sfx_packer_add(p, &entry[i]);
	ok(r == -77, "what emit returns stops the packer");
	free(mem);
}

/* Broken bytes: no crash (the fuzzer does this thoroughly), and a result either way. */
static void
test_broken(void)
{
	int			found = 0,
				calls = 0;

	for (int kind = 0; kind < NKINDS; kind++)
	{
		make(kind, order ? 1500 : 3000);
		pack(CAPACITY, NULL, NULL);
		for (int t = 0; t < (order ? 60 : 300); t++)
		{
			Page	   *p = &page[rnd(&seed) % (uint64_t) npages];
			uint32_t	at = (uint32_t) (rnd(&seed) % (t % 2 ? p->len : 64));
			uint8_t		old = p->body[at < p->len ? at : 0];
			const char *why;

			if (at >= p->len)
				continue;
			p->body[at] ^= (uint8_t) (1 + rnd(&seed) % 255);
			found += sfx_leaf_verify(p->body, p->len, order, dict, &blk, &why) == SFX_CORRUPT;
			found += sfx_leaf_verify(p->body, at, order, dict, &blk, &why) == SFX_CORRUPT;
			calls += 2;
			p->body[at] = old;
		}
	}
	ok(found > calls / 2, "%schanged and cut pages: the verifier finds %d of %d", order_name(), found, calls);
}

/* What a lookup costs: fences, directory, block. */
static void
test_comparisons(void)
{
	int			most = 0,
				over = 0,
				lookups = 0;
	uint64_t	sum = 0;
	uint64_t	scan;

	make(CASES, 12000);
	pack(CAPACITY, NULL, NULL);
	for (int t = 0; t < 5000; t++)
	{
		const SfxEntry *e = &entry[rnd(&seed) % (uint64_t) n];
		SfxPos		lo = pos_of(e),
					hi = {e->key, e->keylen, UINT64_MAX};
		const Page *p = page;
		SfxLeaf		l;
		int			calls,
					bound = 4;

		while (p->first + (int) p->nentries <= e - entry)
			p++;
		for (uint32_t m = p->nentries; m > 1; m = (m + 1) / 2)
			bound++;
		order_calls = 0;
		open_leaf(&l, p);
		if (sfx_leaf_cmp_fences(&l, &lo) != 0 ||
			sfx_leaf_decode(&l, sfx_leaf_find_block(&l, &lo), &lo, &hi, &blk) != SFX_OK || blk.tid[0] != e->tid)
			abort();
		calls = (int) order_calls;
		sum += order_calls;
		most = calls > most ? calls : most;
		over += calls > bound;
		lookups++;
	}
	ok(over == 0, "%spoint lookup in a leaf of %u: %.2f comparisons, at most %d", order_name(), page[0].nentries,
	   (double) sum / lookups, most);

	/* a scan that gives its bounds to every block */
	order_calls = 0;
	for (int i = 0; i < npages; i++)
	{
		SfxPos		lo = pos_of(&entry[0]);
		SfxPos		hi = pos_of(&entry[n - 1]);
		SfxLeaf		l;

		open_leaf(&l, &page[i]);
		for (int b = 0; b < l.nblocks; b++)
			sfx_leaf_decode(&l, b, &lo, &hi, &blk);
		lookups = l.nblocks;
	}
	scan = order_calls;
	ok(scan < (uint64_t) (npages * 20), "%slong scan: %.1f comparisons per leaf of %d blocks", order_name(),
	   (double) scan / npages, lookups);
}

/* A body is read with the kind of order that it was written with, or not at all. */
static void
test_other_order(void)
{
	const SfxOrder *other = order ? NULL : &orders[0].base;
	SfxLeaf		l;
	const char *why;
	int			r;

	make(CASES, 3000);
	pack(CAPACITY, NULL, NULL);
	ok(sfx_leaf_open(&l, page[0].body, page[0].len, other) == SFX_CORRUPT &&
	   sfx_leaf_verify(page[0].body, page[0].len, other, dict, &blk, &why) == SFX_CORRUPT,
	   "%sa page is refused in %s", order_name(), other ? "comparator order" : "byte order");
	if (order == NULL)
		return;
	other = &orders[((const TestOrder *) order)->kind == ORDER_REVERSED ? ORDER_LENGTH : ORDER_REVERSED].base;
	r = sfx_leaf_verify(page[0].body, page[0].len, other, dict, &blk, &why);
	ok(r == SFX_CORRUPT, "%sthe verifier sees that the order is another one: %s", order_name(), why);
}

/* Decode with the at-th comparison failing: did it come to that? */
static bool
decode_failing(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, uint64_t at)
{
	order_calls = 0;
	order_fail_at = at;
	if (setjmp(order_failed) != 0)
		return true;
	sfx_leaf_decode(l, b, lo, hi, &blk);
	order_fail_at = 0;
	return false;
}

/* A comparison that fails leaves readers to be used again. */
static void
test_failing(void)
{
	SfxPos		lo,
				hi;
	SfxLeaf		l;
	int			failed = 0;
	const char *err;

	make(CASES, 3000);
	pack(CAPACITY, NULL, NULL);
	lo = pos_of(&entry[n / 3]);
	hi = pos_of(&entry[n / 2]);
	open_leaf(&l, &page[npages / 3]);
	for (uint64_t at = 1; at < 30; at++)
		for (int b = 0; b < l.nblocks; b++)
			failed += decode_failing(&l, b, &lo, &hi, at);
	err = check_search(500);
	ok(failed > 0 && err == NULL, "%sread again after %d failed comparisons%s%s", order_name(), failed,
	   err ? ": " : "", err ? err : "");
}

static void
test_orders(void)
{
	for (int i = 0; i < NORDERS; i++)
	{
		order = &orders[i].base;
		test_kinds();
		test_small();
		test_posting();
		test_largest();
		test_broken();
		test_comparisons();
		test_other_order();
		test_failing();
	}
}

/* ---- dictionaries ---- */

/* A dictionary made from what front coding leaves of text and paths. */
static void
train(SfxHopeScheme scheme)
{
	static SfxHopeKey keys[SFX_SAMPLE_KEYS];
	size_t		cap = SFX_HOPE_DICT_BOUND(scheme, 4096);
	uint8_t    *bytes = malloc(cap);
	size_t		size;
	void	   *scratch;
	int			len;

	sfx_sample_init(&sample);
	sampling = true;
	make(PATHS, 12000);
	pack(CAPACITY, NULL, NULL);
	make(CASES, 4000);
	pack(CAPACITY, NULL, NULL);
	sampling = false;
	size = sfx_hope_build_size(scheme, 4096, sample.used);
	scratch = malloc(size);
	len = sfx_hope_build(scheme, 4096, keys, sfx_sample_keys(&sample, keys), scratch, size, bytes, cap);
	if (len < 0)
		abort();
	free(scratch);
	size = sfx_hope_state_size(bytes, (size_t) len);
	dict = malloc(size);
	if (sfx_hope_open(dict, size, bytes, (size_t) len) != SFX_OK)
		abort();
	free(bytes);
}

static size_t
packed_size(void)
{
	size_t		bytes = 0;

	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i < npages; i++)
		bytes += page[i].len;
	return bytes;
}

/* Paths get smaller by it; what does not is written as without one, and does not name it. */
static void
test_gain(void)
{
	SfxHope    *d = dict;
	size_t		with,
				without;
	int			named = 0;
	SfxLeaf		l;

	make(PATHS, 12000);
	with = packed_size();
	make(PATHS, 12000);
	dict = NULL;
	without = packed_size();
	dict = d;
	ok(with < without, "%spaths take %zu bytes, %zu without", order_name(), with, without);
	make(UUID, 3000);
	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i < npages; i++)
		named += open_leaf(&l, &page[i]) != SFX_OK || l.dictno != 0;
	ok(named == 0, "%spages of uuids name no dictionary", order_name());
}

/* Pack entries [0, n) again, of which pages [0, old) have every other one, with the codes that stand there. */
static void
pack_with_codes(int old)
{
	void	   *mem = malloc(sfx_packer_size());
	SfxPos		none = {NULL, 0, 0};
	SfxPacker  *p = sfx_packer_init(mem, CAPACITY, &none, keep_page, NULL, order);
	static SfxCodes codes;
	int			at = 0;

	sfx_packer_set_dict(p, dict, DICTNO);
	for (int i = 0; i < old; i++)
	{
		SfxLeaf		l;

		open_leaf(&l, &page[i]);
		for (int b = 0; b < l.nblocks; b++)
		{
			if (sfx_leaf_decode(&l, b, NULL, NULL, &blk) != SFX_OK || sfx_leaf_codes(&l, b, &codes) != SFX_OK)
				abort();
			for (int e = 0; e < blk.nent; e++)
			{
				sfx_packer_add_run(p, &blk, e, e + 1, &codes);
				at++;
				if (at < n)
					sfx_packer_add(p, &entry[at++]);
			}
		}
	}
	sfx_packer_finish(p, NULL);
	free(mem);
}

/* Codes that are taken from pages make the same pages as codes that are made. */
static void
test_codes(void)
{
	static SfxEntry all[MAXN];
	int			nall,
				old,
				made,
				differ;

	make(PATHS, 12000);
	memcpy(all, entry, sizeof(SfxEntry) * (size_t) n);
	nall = n;
	for (n = 0; 2 * n < nall; n++)
		entry[n] = all[2 * n];
	pack(CAPACITY, NULL, NULL);
	old = npages;
	memcpy(entry, all, sizeof(SfxEntry) * (size_t) nall);
	n = nall;
	pack(CAPACITY, NULL, NULL);
	made = npages;
	pack_with_codes(old);
	differ = npages - made != made - old;
	for (int i = old; i < made && !differ; i++)
		differ = page[i].len != page[i + made - old].len || memcmp(page[i].body, page[i + made - old].body, page[i].len) != 0;
	ok(!differ, "%spages packed with codes of other pages are those packed without", order_name());
}

/* Without its dictionary, or with another one, a leaf gives errors or wrong keys, but TIDs all the same. */
static void
test_wrong_dict(void)
{
	SfxHope    *right = dict;
	SfxHope    *wrong;
	SfxLeaf		l;
	SfxPos		lo;
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	const char *why;
	int			missing = 0,
				found = 0;

	train(sfx_hope_scheme(right) == SFX_HOPE_SINGLE ? SFX_HOPE_DOUBLE : SFX_HOPE_SINGLE);
	wrong = dict;
	dict = right;
	make(PATHS, 6000);
	pack(CAPACITY, NULL, NULL);
	for (int i = 0; i < npages; i++)
	{
		lo = pos_of(&entry[page[i].first]);
		sfx_leaf_open(&l, page[i].body, page[i].len, NULL);
		missing += l.dictno != DICTNO || sfx_leaf_tids(&l, 0, tid) < 1 ||
			sfx_leaf_decode(&l, 0, NULL, NULL, &blk) != SFX_CORRUPT || sfx_leaf_decode(&l, 0, &lo, NULL, &blk) != SFX_CORRUPT;
		found += sfx_leaf_verify(page[i].body, page[i].len, NULL, wrong, &blk, &why) == SFX_CORRUPT;
	}
	ok(missing == 0, "%swithout the dictionary keys are corrupt and TIDs are not", order_name());
	ok(found == npages, "%sthe verifier refuses pages read with another dictionary", order_name());
	free(wrong);
}

/* What the sample holds stays evenly spread when it overflows. */
static void
test_sample(void)
{
	static SfxHopeKey keys[SFX_SAMPLE_KEYS];
	uint32_t	nkeys;

	sfx_sample_init(&sample);
	sampling = true;
	for (int i = 0; i < 4; i++)
	{
		make(PATHS, 40000);
		pack(CAPACITY, NULL, NULL);
	}
	sampling = false;
	nkeys = sfx_sample_keys(&sample, keys);
	ok(sample.stride > 1 && nkeys >= SFX_SAMPLE_KEYS / 2 - 16 && nkeys <= SFX_SAMPLE_KEYS &&
	   keys[nkeys - 1].key + keys[nkeys - 1].len == sample.bytes + sample.used,
	   "a sample of %u rests, every group of %u", nkeys, sample.stride);
}

static void
test_dicts(void)
{
	test_sample();
	for (int scheme = 1; scheme <= SFX_FSST; scheme++)
	{
		order = NULL;
		train((SfxHopeScheme) scheme);
		test_gain();
		test_codes();
		test_kinds();
		test_small();
		test_broken();
		test_wrong_dict();
		if (scheme == SFX_HOPE_DOUBLE || scheme == SFX_HOPE_ALM_IMPROVED || scheme == SFX_FSST)
		{
			order = &orders[scheme % NORDERS].base;
			test_codes();
			test_kinds();
			test_small();
			test_broken();
		}
		free(dict);
		dict = NULL;
	}
	order = NULL;
}

int
main(void)
{
	sfx_cpu_init();
	arena = malloc(ARENA);
	test_empty();
	test_kinds();
	test_small();
	test_posting();
	test_largest();
	test_long_high();
	test_full();
	test_stop();
	test_broken();
	test_run_order();
	test_other_order();
	test_orders();
	order = NULL;
	test_dicts();
	reset();
	free(arena);
	return done_testing();
}
