/*
 * Inner pages: both formats against binary search over the separators, on ordinary and extreme
 * sets.
 */
#include "inner.h"
#include "louds.h"
#include "upper.h"
#include "orders.h"
#include "tap.h"

#define CAP		8144
#define MAXSET	3000
#define ARENA	(1 << 22)

static uint8_t	arena[ARENA];
static uint32_t used;
static SfxChild set[MAXSET];
static int		nset;
static SfxPos	probes[4 * MAXSET];
static int		nprobes;
static uint64_t	seed;
static uint64_t	scratch[1 << 18];
static uint8_t	body[CAP];
static const SfxOrder *order;	/* NULL: byte order */
static const char *const format_name[2] = {"front coding", "trie"};

static SfxPos
make(const void *s, uint32_t len, uint64_t tid)
{
	SfxPos		p = {.key = arena + used, .len = len, .tid = tid};

	if (used + len > ARENA)
		abort();
	if (len)
		memcpy(arena + used, s, len);
	used += len;
	return p;
}

/* The byte string for which a position stands. */
static uint32_t
flat(const SfxPos *p, uint8_t *out)
{
	if (p->len)
		memcpy(out, p->key, p->len);
	if (p->tid == 0)
		return p->len;
	sfx_put_tid(out + p->len, p->tid);
	return p->len + 6;
}

static int
cmp_flat(const void *x, const void *y)
{
	static uint8_t a[8192],
				b[8192];
	uint32_t	n,
				m;

	if (order)
		return sfx_order_cmp_pos(order, x, y);
	n = flat(x, a);
	m = flat(y, b);
	return sfx_cmp_bytes(a, n, b, m);
}

static void
add(const void *s, uint32_t len, uint64_t tid)
{
	if (nset < MAXSET)
	{
		set[nset].low = make(s, len, tid);
		set[nset].blkno = 0;
		set[nset++].count = 0;
	}
}

static int
cmp_child(const void *x, const void *y)
{
	return cmp_flat(&((const SfxChild *) x)->low, &((const SfxChild *) y)->low);
}

static void
start(uint64_t s)
{
	seed = s;
	used = 0;
	nset = 0;
	nprobes = 0;
}

/* Spans of children share filters, as long as their fences are short. */
static void
give_filters(void)
{
	uint32_t	filter = 0;

	for (int i = 0; i < nset; i++)
	{
		if (i == 0 || rnd(&seed) % 5 == 0 || (i > 2 && nset > 2000 && rnd(&seed) % 2000 == 0))
			filter = rnd(&seed) % 4 ? (uint32_t) rnd(&seed) | 1 : 0;
		set[i].filter = set[i].low.len < 200 && (i + 1 == nset || set[i + 1].low.len < 200) ? filter : 0;
	}
}

/*
 * Sort, drop equal ones, and set blocks (kind: 0 consecutive, 1 runs, 2 random), counts and perhaps
 * filters.
 */
static void
finish(int kind)
{
	int			n = 0;
	uint32_t	blk = (uint32_t) rnd(&seed) & 0xFFFFFF;

	qsort(set, (size_t) nset, sizeof(set[0]), cmp_child);
	for (int i = 0; i < nset; i++)
		if (n == 0 || cmp_child(&set[n - 1], &set[i]) != 0)
			set[n++] = set[i];
	nset = n;
	for (int i = 0; i < n; i++)
	{
		if (kind == 2 || (kind == 1 && rnd(&seed) % 50 == 0))
			blk = (uint32_t) rnd(&seed);
		set[i].blkno = blk++;
		set[i].count = kind == 2 ? rnd(&seed) >> (rnd(&seed) % 64) : 900 + rnd(&seed) % 60;
		if (rnd(&seed) % 200 == 0)
			set[i].count = rnd(&seed) % 3;
		set[i].filter = 0;
	}
	if (nset % 2 == 0)
		give_filters();
}

static void
probe(const uint8_t *s, uint32_t len, uint64_t tid)
{
	if (nprobes < (int) (sizeof(probes) / sizeof(probes[0])) && used + len < ARENA)
		probes[nprobes++] = make(s, len, tid);
}

/*
 * Probes around separators: the separator, shorter, longer, one byte up and down, other TIDs, and
 * random ones.
 */
static void
make_probes(int want)
{
	uint8_t		b[8192] = {0};

	nprobes = 0;
	probe(b, 0, 0);
	memset(b, 0xFF, 40);
	probe(b, 40, 0);
	memset(b, 0, 40);
	probe(b, 40, 0);
	while (nprobes < want)
	{
		const SfxPos *p = &set[rnd(&seed) % (uint64_t) nset].low;
		uint32_t	n = flat(p, b);
		uint32_t	at = n ? (uint32_t) (rnd(&seed) % n) : 0;

		switch (rnd(&seed) % 9)
		{
			case 0:
				probe(p->key, p->len, p->tid);
				break;
			case 1:
				probe(b, at, 0);
				break;
			case 2:
				b[n++] = (uint8_t) (rnd(&seed) % 3 - 1);
				probe(b, n, 0);
				break;
			case 3:
				b[at]++;
				probe(b, n, 0);
				break;
			case 4:
				b[at]--;
				probe(b, n, 0);
				break;
			case 5:
				probe(p->key, p->len, p->tid + 1);
				break;
			case 6:
				probe(p->key, p->len, p->tid ? p->tid - 1 : rnd(&seed) >> 16);
				break;
			case 7:
				b[at] = (uint8_t) rnd(&seed);
				probe(b, at + 1, rnd(&seed) % 2 ? rnd(&seed) >> 16 : 0);
				break;
			default:
				for (n = 0; n < rnd(&seed) % 12; n++)
					b[n] = (uint8_t) rnd(&seed);
				probe(b, n, 0);
		}
	}
}

/* The reference: largest i with sep(i) <= (strict: <) p, else 0. */
static int
reference(int n, const SfxPos *p, bool strict)
{
	int			lo = 0,
				hi = n;

	while (hi - lo > 1)
	{
		int			mid = (lo + hi) / 2;
		int			c = cmp_flat(&set[mid].low, p);

		if (c < 0 || (c == 0 && !strict))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int
same_pos(const SfxPos *x, const SfxPos *y)
{
	return x->len == y->len && x->tid == y->tid && (x->len == 0 || memcmp(x->key, y->key, x->len) == 0);
}

typedef struct Count
{
	int			seen;
	int			bad;
	int			stop;
} Count;

static int
check_child(void *ctx, int i, const SfxChild *c)
{
	Count	   *k = ctx;

	if (i != k->seen++ || !same_pos(&c->low, &set[i].low) || c->blkno != set[i].blkno || c->count != set[i].count ||
		c->filter != set[i].filter)
		k->bad++;
	return i == k->stop ? -77 : 0;
}

static int	most_calls;			/* most comparisons of one find, less those that bisection needs */

/* Is find(pos) correct, and with how many comparisons? */
static bool
find_is(const SfxInner *p, const SfxPos *pos, bool strict, int want)
{
	int			least = 0;
	int			got;

	order_calls = 0;
	got = strict ? sfx_inner_find_before(p, pos) : sfx_inner_find(p, pos);
	while (1 << least < p->nchildren)
		least++;
	if ((int) order_calls - least > most_calls)
		most_calls = (int) order_calls - least;
	return got == want;
}

/* Does a pass over children [from, to) end where their counts say? */
static bool
pass_is(const SfxInner *p, int from, int to, uint64_t most)
{
	uint64_t	want = 0,
				sum;
	int			i = from;

	for (; i < to && set[i].count <= most - want; i++)
		want += set[i].count;
	return sfx_inner_pass(p, from, to, most, &sum) == i && sum == want;
}

/* Is that between separators i and i + 1 of n? */
static bool
is_place(const SfxUpperPlace *place, int i, int n)
{
	static const SfxPos none = {(const uint8_t *) "", 0, 0};

	if (order == NULL)
		return !place->known;
	return place->known && place->last == (i == n - 1) &&
		same_pos(&place->low, i > 0 ? &set[i].low : &none) &&
		same_pos(&place->high, i < n - 1 ? &set[i + 1].low : &none);
}

/*
 * Errors of a decoded copy of the pages (NULL: made without pages) with the first n children of the
 * set.  It has positions, not their byte strings.
 */
static int
check_upper(const SfxInner *p, int npages, int n)
{
	SfxPos		infinity = {NULL, 0, 0};
	SfxUpperPlace place;
	int64_t		size = p ? sfx_upper_size(p, npages) : sfx_upper_size_of(set, n);
	void	   *mem = size > 0 ? malloc((size_t) size) : NULL;
	SfxUpper   *u = mem == NULL ? NULL : p ? sfx_upper_build(mem, p, npages) : sfx_upper_build_of(mem, set, n, order);
	int			bad = 0;

	if (u == NULL || sfx_upper_children(u) != n)
		bad = 1000;
	for (int strict = 0; u && strict < 2; strict++)
		for (int i = 0; i < nprobes + n; i++)
		{
			const SfxPos *pos = i < nprobes ? &probes[i] : &set[i - nprobes].low;
			int			lo = 0,
						hi = n;

			while (hi - lo > 1)
			{
				int			mid = (lo + hi) / 2;
				int			c = sfx_order_cmp_pos(order, &set[mid].low, pos);

				if (c < 0 || (c == 0 && !strict))
					lo = mid;
				else
					hi = mid;
			}
			bad += sfx_upper_find(u, order, pos, strict, &place) != set[lo].blkno ||
				!is_place(&place, lo, n);
		}
	if (u)
		bad += sfx_upper_find(u, order, &infinity, true, NULL) != set[n - 1].blkno;
	free(mem);
	return bad;
}

/* The first n children of the set in up to three pages, decoded into one copy. */
static int
check_neighbours(int n)
{
	static uint8_t bodies[3][CAP];
	SfxInner	p[3];
	int			npages = n < 3 ? n : 3;

	for (int i = 0; i < npages; i++)
	{
		int			from = n * i / npages;
		int			to = n * (i + 1) / npages;
		int			len = sfx_inner_build(&set[from], to - from, to < n ? &set[to].low : NULL, bodies[i], CAP, scratch, order);

		/* a set that does not fit belongs to another test */
		if (len < 0)
			return 0;
		if (sfx_inner_open(&p[i], bodies[i], (uint32_t) len, order) < 0)
			return 1;
	}
	return check_upper(p, npages, n);
}

/* Errors of a page with the first n children of the set. */
static int
check_page(const uint8_t *page, int len, int n, const SfxPos *high)
{
	SfxInner	p;
	SfxPos		lo,
				hi;
	uint8_t		lob[SFX_MAX_ENTRY],
				hib[SFX_MAX_ENTRY];
	bool		inf;
	int			bad = 0;
	uint64_t	left = 0,
				all = 0,
				below,
				own,
				total;
	Count		k = {.stop = -1};
	const char *why = NULL;
	uint8_t    *copy = malloc((size_t) len);	/* so that ASan sees an overrun */

	memcpy(copy, page, (size_t) len);
	if (sfx_inner_open(&p, copy, (uint32_t) len, order) != SFX_OK || p.nchildren != n)
		return 1000000;
	if (sfx_inner_fences(&p, lob, &lo, hib, &hi, &inf) != SFX_OK || !same_pos(&lo, &set[0].low) || inf != (high == NULL))
		bad++;
	if (high && !same_pos(&hi, high))
		bad++;
	for (int i = 0; i < nprobes; i++)
	{
		int			c = sfx_order_cmp_pos(order, &probes[i], &set[0].low) < 0 ? -1 :
			high && sfx_order_cmp_pos(order, &probes[i], high) >= 0;
		int			d = sfx_inner_cmp_fences(&p, &probes[i]);

		bad += !find_is(&p, &probes[i], false, reference(n, &probes[i], false));
		bad += !find_is(&p, &probes[i], true, reference(n, &probes[i], true));
		bad += (d > 0) - (d < 0) != c;
	}
	for (int i = 0; i < n; i++)
		all += set[i].count;
	for (int i = 0; i < n; i++)
	{
		uint32_t	blk;
		uint64_t	count;

		if (i % 16 == 0 || i == n - 1)
			bad += sfx_inner_counts(&p, i, &below, &own, &total) != SFX_OK || below != left || own != set[i].count || total != all;
		bad += !pass_is(&p, i, n, i % 16 == 0 ? total : set[i].count + i % 7);
		bad += !pass_is(&p, i / 2, i, left / 3);
		left += set[i].count;
		bad += sfx_inner_child(&p, i, &blk, &count) != SFX_OK || blk != set[i].blkno || count != set[i].count ||
			sfx_inner_filter(&p, i) != set[i].filter;
		bad += !find_is(&p, &set[i].low, false, i);
		bad += !find_is(&p, &set[i].low, true, i ? i - 1 : 0);
	}
	bad += sfx_inner_each(&p, check_child, &k) != SFX_OK || k.seen != n || k.bad != 0;
	bad += check_upper(&p, 1, n) + check_upper(NULL, 0, n) + check_neighbours(n);
	k = (Count) {.stop = n / 2};
	bad += sfx_inner_each(&p, check_child, &k) != -77 || k.seen != n / 2 + 1;
	/* the last check of all: only for self-delimiting keys, as the index has them */
	if (sfx_inner_verify(copy, (uint32_t) len, order, scratch, &why) != SFX_OK)
	{
		printf("# verify: %s\n", why);
		bad++;
	}
	free(copy);
	return bad;
}

static const char *
order_name(void)
{
	static char name[40];

	name[0] = '\0';
	if (order)
		snprintf(name, sizeof(name), "%s: ", ((const TestOrder *) order)->name);
	return name;
}

/* Build and check the set in all formats, with and without a high fence. */
static void
check_set(const char *name)
{
	int			n = 0,
				len = 0;

	make_probes(order ? 1000 : 3000);
	n = sfx_inner_fit(set, nset, NULL, body, CAP, scratch, &len, order);
	ok(n >= (nset < 2 ? nset : 2) && check_page(body, len, n, n < nset ? &set[n].low : NULL) == 0,
	   "%s%s: %d of %d children fit and are right", order_name(), name, n, nset);
	for (int f = 0; f < (order ? 1 : 2); f++)
	{
		int			m = n,
					bad = 0,
					built = 0;

		for (; m > 0; m = m > 40 ? m / 3 : m - 1 - m / 8)
			for (int inf = 0; inf < 2; inf++)
			{
				const SfxPos *high = inf || m >= nset ? NULL : &set[m].low;

				if ((len = sfx_inner_build_as((SfxInnerFormat) f, set, m, high, body, CAP, scratch, order)) >= 0)
				{
					bad += check_page(body, len, m, high);
					built++;
				}
			}
		ok(bad == 0 && (built > 0 || n < 3), "%s%s: %s, %d pages, %d errors", order_name(), name, format_name[f], built,
		   bad);
	}
}

/* ---- sets ---- */

static void
set_random_bytes(uint32_t maxlen, uint32_t alphabet, int n)
{
	uint8_t		b[64];

	for (int i = 0; i < n; i++)
	{
		uint32_t	len = 1 + (uint32_t) (rnd(&seed) % maxlen);

		for (uint32_t j = 0; j < len; j++)
		{
			uint32_t	x = (uint32_t) (rnd(&seed) % alphabet);

			b[j] = (uint8_t) (alphabet == 4 ? (x == 0 ? 0 : x == 1 ? 0xFF : x == 2 ? 1 : 0xFE) : x);
		}
		add(b, len, 0);
	}
}

static void
set_ints(int n)
{
	for (int i = 0; i < n; i++)
	{
		uint8_t		b[8];
		uint64_t	v = rnd(&seed);

		for (int j = 0; j < 8; j++)
			b[j] = (uint8_t) (v >> (56 - 8 * j));
		add(b, 3 + (v % 50 == 0), 0);
	}
}

static void
set_paths(int n)
{
	static const char *const part[] = {"usr", "share", "lib", "doc", "python3", "include", "x86_64", "src", "a", "main"};
	char		b[400];

	for (int i = 0; i < n; i++)
	{
		int			k = sprintf(b, "/home/someone/with/a/long/prefix");

		for (int d = 2 + (int) (rnd(&seed) % 8); d > 0; d--)
			k += sprintf(b + k, "/%s", part[rnd(&seed) % 10]);
		k += sprintf(b + k, "/file%d.c", (int) (rnd(&seed) % 1000));
		add(b, (uint32_t) k, 0);
	}
}

/* a, aa, aaa, ...: each a prefix of the next, then a few that leave the chain */
static void
set_chain(uint32_t n, uint8_t byte)
{
	uint8_t		b[4000];

	memset(b, byte, sizeof(b));
	for (uint32_t i = 1; i <= n; i++)
		add(b, i, 0);
	for (uint32_t i = 7; i < n; i += 31)
	{
		b[i] = (uint8_t) (byte + 1);
		add(b, i + 1, 0);
		b[i] = (uint8_t) (byte - 1);
		add(b, i + 3, 0);
		b[i] = byte;
	}
}

/* Keys of one length, many with a TID, as separators inside one key's posting list are. */
static void
set_tids(int n, int all)
{
	for (int i = 0; i < n; i++)
	{
		uint8_t		b[4] = {7, (uint8_t) (rnd(&seed) % 3), (uint8_t) (rnd(&seed) % 2 * 255), (uint8_t) rnd(&seed)};

		if (all)
			add("same", 4, 1 + rnd(&seed) % (all == 1 ? 100000 : SFX_MAX_TID));
		else if (i % 20 == 0)
			add(b, 4, 0);
		else
			add("\7\1\0\5", 4, 1 + rnd(&seed) % 1000000);
	}
	if (all == 2)
		add("same", 4, SFX_MAX_TID);
}

/* Wide nodes after many narrow ones, which makes them sparse, with few children far apart. */
static void
set_wide(void)
{
	uint8_t		b[5] = {0};

	for (int i = 0; i < 40; i++)
		for (int j = 0; j < 2; j++)
		{
			b[0] = (uint8_t) (5 * i);
			b[1] = (uint8_t) (100 * j);
			add(b, 2, 0);
			if (i < 36)
				continue;
			for (int k = 0; k < 256; k++)
			{
				b[2] = (uint8_t) k;
				add(b, 3, 0);
				b[3] = 'x';
				if (k == 2 + i || k == 200 - i || k == 255)
					add(b, 4, 0);
			}
		}
}

static void
test_sets(void)
{
	start(1);
	add("", 0, 0);
	finish(0);
	check_set("one child");
	start(2);
	add("", 0, 0);
	set_ints(2999);
	finish(0);
	check_set("integers");
	start(3);
	add("", 0, 0);
	set_paths(1000);
	finish(1);
	check_set("paths");
	start(4);
	set_random_bytes(6, 256, 1500);
	finish(2);
	check_set("random bytes, random blocks");
	start(5);
	set_random_bytes(9, 4, 2500);
	finish(1);
	check_set("bytes 00, 01, FE, FF");
	start(6);
	set_random_bytes(2, 256, 2999);
	finish(0);
	check_set("dense short strings");
	start(7);
	set_chain(700, 'a');
	finish(0);
	check_set("prefix chain");
	start(8);
	set_chain(2600, 0);
	finish(0);
	check_set("prefix chain of zeros");
	start(9);
	set_chain(500, 0xFF);
	finish(0);
	check_set("prefix chain of FF");
	start(10);
	set_tids(2000, 0);
	finish(0);
	check_set("some with TIDs");
	start(11);
	set_tids(2000, 1);
	finish(0);
	check_set("one key, many TIDs");
	start(12);
	set_tids(2000, 2);
	finish(0);
	check_set("one key, TIDs of all sizes");
	start(13);
	for (int i = 0; i < 256; i++)
	{
		uint8_t		b[2] = {(uint8_t) i, 0};

		add(b, 1, 0);
	}
	finish(0);
	check_set("all bytes");
	start(14);
	set_wide();
	finish(0);
	check_set("wide sparse nodes");
}

/* Few and many small random sets: every shape of trie. */
static void
test_small(void)
{
	int			bad = 0,
				pages = 0;

	for (int round = 0; round < (order ? 1000 : 3000); round++)
	{
		start((uint64_t) round + 1000);
		set_random_bytes(1 + (uint32_t) round % 7, round % 3 ? 4 : 2, 1 + round % 23);
		if (round % 2)
			set[rnd(&seed) % (uint64_t) nset].low.tid = rnd(&seed) >> 16 | 1;
		finish(round % 3);
		make_probes(40);
		for (int f = 0; f < (order ? 1 : 2); f++)
			for (int m = nset - 1; m <= nset; m++)
			{
				const SfxPos *high = m < nset ? &set[m].low : NULL;
				int			len = m < 1 ? -1 : sfx_inner_build_as((SfxInnerFormat) f, set, m, high, body, CAP, scratch, order);

				/*
				 * A key with a TID that is a prefix of another one is not a stored key: fences
				 * cannot be compared.
				 */
				if (len >= 0)
				{
					SfxInner	p;

					pages++;
					if (sfx_inner_open(&p, body, (uint32_t) len, order) != SFX_OK)
						bad++;
					else
						for (int i = 0; i < nprobes; i++)
							bad += sfx_inner_find(&p, &probes[i]) != reference(m, &probes[i], false) ||
								sfx_inner_find_before(&p, &probes[i]) != reference(m, &probes[i], true);
				}
			}
	}
	ok(bad == 0, "%ssmall sets: %d pages, %d errors", order_name(), pages, bad);
}

/* Two fences and a separator of the largest size fit, whatever the children are. */
static void
test_largest(void)
{
	static uint8_t k[4][SFX_MAX_ENTRY];
	int			len = 0;
	int			n;

	start(77);
	for (int i = 0; i < 4; i++)
	{
		for (int j = 0; j < SFX_MAX_ENTRY; j++)
			k[i][j] = (uint8_t) rnd(&seed);
		k[i][0] = (uint8_t) (50 * i + 1);
		set[nset].low = (SfxPos) {k[i], SFX_MAX_ENTRY, SFX_MAX_TID - (uint64_t) i};
		set[nset].blkno = i == 1 ? 0 : UINT32_MAX - 1;
		set[nset++].count = i == 1 ? UINT64_MAX : 0;
	}
	qsort(set, (size_t) nset, sizeof(set[0]), cmp_child);
	n = sfx_inner_fit(set, 4, NULL, body, CAP, scratch, &len, order);
	make_probes(100);
	ok(n == 2 && check_page(body, len, n, &set[2].low) == 0, "%stwo children of the largest size: %d bytes", order_name(), len);
	n = sfx_inner_fit(set, 1, NULL, body, CAP, scratch, &len, order);
	ok(n == 1 && check_page(body, len, n, NULL) == 0, "%sone of the largest size: %d bytes", order_name(), len);
	set[1].low.len++;
	ok(sfx_inner_build(set, 2, NULL, body, CAP, scratch, order) == SFX_NOSPACE, "%stoo long a key is refused", order_name());
	set[1].low = set[0].low;
	ok(sfx_inner_build(set, 2, NULL, body, CAP, scratch, order) == SFX_CORRUPT,
	   "%sequal separators are refused", order_name());
	ok(sfx_inner_build(set, 0, NULL, body, CAP, scratch, order) == SFX_NOSPACE, "%sno children are refused", order_name());
	start(78);
	add("", 0, 0);
	set_ints(2000);
	finish(0);
	n = sfx_inner_fit(set, nset, NULL, body, CAP, scratch, &len, order);
	n = sfx_inner_build(set, n, n < nset ? &set[n].low : NULL, body, (uint32_t) len - 1, scratch, order);
	ok(n == SFX_NOSPACE, "%sa byte too few is refused", order_name());
}

/* Every truncation and every changed byte: an error or an answer in range; verify never crashes. */
static int
in_range(const uint8_t *page, uint32_t len, int *caught)
{
	uint8_t    *copy = malloc(len ? len : 1);
	SfxInner	p;
	const char *why;
	int			bad = 0;

	memcpy(copy, page, len);
	if (sfx_inner_open(&p, copy, len, order) == SFX_OK)
		for (int i = 0; i < 20; i++)
		{
			int			r = sfx_inner_find(&p, &probes[i]);

			bad += r != SFX_CORRUPT && (r < 0 || r >= p.nchildren);
		}
	*caught += sfx_inner_verify(copy, len, order, scratch, &why) < 0;
	free(copy);
	return bad;
}

static void
test_damage(void)
{
	for (int f = 0; f < (order ? 1 : 2); f++)
	{
		int			len,
					bad = 0,
					caught = 0,
					tries = 0;
		static uint8_t copy[CAP];

		start(99);
		set_paths(120);
		finish(1);
		make_probes(20);
		len = sfx_inner_build_as((SfxInnerFormat) f, set, nset, NULL, body, CAP, scratch, order);
		for (int i = 0; i < len; i++)
		{
			bad += in_range(body, (uint32_t) i, &tries);
			memcpy(copy, body, (size_t) len);
			copy[i] ^= (uint8_t) (1 + rnd(&seed) % 255);
			bad += in_range(copy, (uint32_t) len, &caught);
		}
		ok(bad == 0, "%s%s: damaged bytes stay in bounds, verify caught %d of %d changes, %d of %d truncations",
		   order_name(), format_name[f], caught, len, tries, len);
	}
}

static void
test_words(void)
{
	uint64_t	s = 5;
	int			bad = 0;

	for (int i = 0; i < 20000; i++)
	{
		uint64_t	x = rnd(&s) & (i % 3 ? rnd(&s) : ~UINT64_C(0));
		uint32_t	k = 0;

		if (i == 0)
			x = ~UINT64_C(0);
		if (i == 1)
			x = UINT64_C(1) << 63;
		for (uint32_t b = 0; b < 64; b++)
			if (x >> b & 1)
				bad += sfx_select(x, k++) != b;
		bad += sfx_popcount(x) != k;
	}
	ok(bad == 0, "select and popcount inside words");
}

/*
 * Labels at the end of a buffer, where no vector can be loaded, and farther from it; and some that
 * do not ascend.
 */
static void
test_labels(void)
{
	uint64_t	s = 6;
	int			bad = 0,
				beyond = 0;

	for (int i = 0; i < 3000; i++)
	{
		uint32_t	off = (uint32_t) (rnd(&s) % 20),
					room = (uint32_t) (rnd(&s) % 20),
					n = 0;
		uint32_t	dense = i % 3 ? 2 + (uint32_t) (rnd(&s) % 60) : 1;
		uint8_t    *p = malloc(off + 256 + room);	/* the sanitizer watches its end */
		SfxBuf		b = {.p = p, .len = off + 256 + room};

		for (uint32_t c = 0; c < 256; c++)
			if (rnd(&s) % dense == 0)
				p[off + n++] = (uint8_t) c;
		b.len = off + n + room;
		p = realloc(p, b.len ? b.len : 1);
		b.p = p;
		for (uint32_t j = 0; j < room; j++)
			p[off + n + j] = (uint8_t) rnd(&s);
		for (uint32_t c = 0, want = 0; c < 256; c++)
		{
			want += want < n && p[off + want] == c;
			bad += sfx_labels_upto(b, off, n, c) != want;
			beyond += sfx_labels_upto(b, off, n + room + (c & 31), c) > n + room + (c & 31);
		}
		for (uint32_t j = 0; j < n; j++)
			p[off + j] = (uint8_t) rnd(&s);
		for (uint32_t c = 0; c < 256; c++)
			beyond += sfx_labels_upto(b, off, n, c) > n;
		free(p);
	}
	ok(bad == 0, "labels are counted, whatever is behind them");
	ok(beyond == 0, "labels that do not ascend are counted within bounds");
}

/*
 * Words in large and small letters, some of them with a TID: in comparator order a position is not
 * a byte string.
 */
static void
set_words(int n)
{
	char		b[40];

	for (int i = 0; i < n; i++)
	{
		int			len = 1 + (int) (rnd(&seed) % 20);

		for (int j = 0; j < len; j++)
			b[j] = (char) ((rnd(&seed) % 3 ? 'a' : 'A') + rnd(&seed) % 6);
		add(b, (uint32_t) len, rnd(&seed) % 5 ? 0 : rnd(&seed) % 3 ? 1 + rnd(&seed) % 300 : SFX_MAX_TID);
	}
}

static void
test_order(const TestOrder *o)
{
	const char *why;
	const SfxOrder *other = &orders[o->kind == ORDER_REVERSED ? ORDER_LENGTH : ORDER_REVERSED].base;
	SfxInner	p;
	int			n,
				len = 0;

	order = &o->base;
	most_calls = -100;
	start(20);
	add("", 0, 0);
	set_words(1500);
	finish(0);
	check_set("words");
	start(21);
	add("", 0, 0);
	set_ints(1500);
	finish(1);
	check_set("integers");
	start(22);
	add("", 0, 0);
	set_paths(800);
	finish(2);
	check_set("paths");
	start(23);
	set_random_bytes(9, 4, 1500);
	finish(1);
	check_set("bytes 00, 01, FE, FF");
	start(24);
	set_chain(2000, 'a');
	finish(0);
	check_set("prefix chain");
	start(25);
	set_tids(1500, 0);
	finish(0);
	check_set("some with TIDs");
	start(26);
	set_tids(1500, 2);
	finish(0);
	check_set("one key, TIDs of all sizes");
	ok(most_calls <= 1, "%sa find takes log2(children) %+d comparisons", order_name(), most_calls);
	test_small();
	test_largest();
	test_damage();

	start(27);
	add("", 0, 0);
	set_words(1000);
	finish(0);
	order_calls = 0;
	n = sfx_inner_fit(set, nset, NULL, body, CAP, scratch, &len, order);
	ok(n > 100 && order_calls == 0 &&
	   sfx_inner_build_as(SFX_INNER_TRIE, set, 5, NULL, body, CAP, scratch, order) == SFX_NOSPACE,
	   "%sa page is built without comparisons, and never as a trie", order_name());
	len = sfx_inner_build(set, n, n < nset ? &set[n].low : NULL, body, CAP, scratch, order);
	ok(len > 0 && sfx_inner_verify(body, (uint32_t) len, order, scratch, &why) == SFX_OK &&
	   sfx_inner_open(&p, body, (uint32_t) len, NULL) == SFX_CORRUPT &&
	   sfx_inner_verify(body, (uint32_t) len, NULL, scratch, &why) == SFX_CORRUPT, "%sa page is refused in byte order",
	   order_name());
	n = sfx_inner_verify(body, (uint32_t) len, other, scratch, &why);
	ok(n == SFX_DISORDER, "%sthe verifier sees that the order is another one: %s", order_name(), why);
	order = NULL;
	start(28);
	set_paths(100);
	finish(0);
	len = sfx_inner_build(set, nset, NULL, body, CAP, scratch, NULL);
	ok(sfx_inner_open(&p, body, (uint32_t) len, &o->base) == SFX_CORRUPT, "%s: a page in byte order is refused", o->name);
}

int
main(void)
{
	if (sfx_inner_scratch_size() > sizeof(scratch))
		abort();
	test_words();
	test_labels();
	test_sets();
	test_small();
	test_largest();
	test_damage();
	for (int i = 0; i < NORDERS; i++)
		test_order(&orders[i]);
	return done_testing();
}
