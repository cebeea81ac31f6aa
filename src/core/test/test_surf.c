/*
 * SuRF against a sorted array: what the filter must answer follows from every key's cut (after the
 * deeper common prefix with its neighbours) and suffix, so all answers are compared exactly, and no
 * stored key or range may be missed.
 */
#include "resize.h"
#include "tap.h"
#include "surf_iter.h"

#define MAXKEYS	6000

typedef struct Key
{
	uint8_t    *s;
	uint32_t	len;
	uint32_t	cut;			/* model: bytes kept */
	bool		complete;
} Key;

static Key	keys[MAXKEYS];
static int	nkeys;
static uint64_t seed = 7;
static uint64_t memory_used;

static void
add_key(const void *s, size_t len)
{
	if (nkeys == MAXKEYS)
		return;
	keys[nkeys].s = malloc(len + 1);
	if (len > 0)
		memcpy(keys[nkeys].s, s, len);
	keys[nkeys++].len = (uint32_t) len;
}

static void
clear_keys(void)
{
	for (int i = 0; i < nkeys; i++)
		free(keys[i].s);
	nkeys = 0;
}

static int
cmp_key(const void *x, const void *y)
{
	const Key  *a = x,
			   *b = y;

	return sfx_cmp_bytes(a->s, a->len, b->s, b->len);
}

static void
sort_keys(void)
{
	int			n = 0;

	qsort(keys, (size_t) nkeys, sizeof(Key), cmp_key);
	for (int i = 0; i < nkeys; i++)
	{
		if (n > 0 && cmp_key(&keys[n - 1], &keys[i]) == 0)
			free(keys[i].s);
		else
			keys[n++] = keys[i];
	}
	nkeys = n;
	for (int i = 0; i < nkeys; i++)
	{
		uint32_t	l = i > 0 ? sfx_lcp(keys[i].s, keys[i].len, keys[i - 1].s, keys[i - 1].len) : 0,
					r = i + 1 < n ? sfx_lcp(keys[i].s, keys[i].len, keys[i + 1].s, keys[i + 1].len) : 0;

		keys[i].complete = (i + 1 < n && r == keys[i].len) || keys[i].len == 0;
		keys[i].cut = keys[i].complete ? keys[i].len : (l > r ? l : r) + 1;
	}
}

/* The current filter: its real bits depend on all keys. */
static const SfxSurf *asked;

/* Compare stored key i with q, as far as the filter can: < 0, 0 (cannot tell, or equal), > 0. */
static int
model_cmp(int i, const uint8_t *q, uint32_t len)
{
	const Key  *k = &keys[i];
	uint32_t	a,
				b;

	if (k->complete)
		return sfx_cmp_bytes(k->s, k->len, q, len);
	if (len < k->cut || memcmp(k->s, q, k->cut) != 0)
		return sfx_cmp_bytes(k->s, k->cut, q, len);
	a = surf_real(asked, k->s, k->len, k->cut);
	b = surf_real(asked, q, len, k->cut);
	return (a > b) - (a < b);
}

typedef struct Tally
{
	int			points,
				ranges,
				seeks,
				walks,
				others;
} Tally;

static int
model_point(const uint8_t *q, uint32_t len)
{
	for (int i = 0; i < nkeys; i++)
	{
		const Key  *k = &keys[i];

		if (k->complete)
		{
			if (sfx_cmp_bytes(k->s, k->len, q, len) == 0)
				return 1;
		}
		else if (len >= k->cut && memcmp(k->s, q, k->cut) == 0 &&
				 surf_suffix(asked, k->s, k->len, k->cut) ==
				 surf_suffix(asked, q, len, k->cut))
			return 1;
	}
	return 0;
}

/* A probe near a stored key: the key itself, cut, lengthened, or with a byte changed; or noise. */
static uint32_t
make_probe(uint8_t *q)
{
	uint32_t	len = 0;

	if (nkeys > 0 && rnd(&seed) % 8 != 0)
	{
		const Key  *k = &keys[rnd(&seed) % (uint64_t) nkeys];

		memcpy(q, k->s, k->len);
		len = k->len;
		switch (rnd(&seed) % 6)
		{
			case 0:
				len = len > 0 ? (uint32_t) (rnd(&seed) % len) : 0;
				break;
			case 1:
				for (int j = 1 + (int) (rnd(&seed) % 3); j > 0; j--)
					q[len++] = rnd(&seed) % 2 ? (uint8_t) rnd(&seed) : rnd(&seed) % 2 ? 0 : 0xFF;
				break;
			case 2:
			case 3:
				if (len > 0)
					q[rnd(&seed) % len] += rnd(&seed) % 2 ? 1 : (uint8_t) rnd(&seed);
				break;
			case 4:
				if (len > 0)
					q[k->cut > 0 ? k->cut - 1 : 0] += 1;
				break;
			default:
				break;
		}
		return len;
	}
	for (len = 0; len < rnd(&seed) % 9; len++)
		q[len] = (uint8_t) rnd(&seed);
	return len;
}

static uint8_t *filter;
static uint64_t filter_size;
static unsigned flags_seen;

static int
build(unsigned hashbits, unsigned realbits)
{
	SfxSurfAlloc alloc = {.ctx = NULL, .resize = resize};
	SfxSurfBuild b;
	int			r = SFX_OK;

	memory_used = 0;
	sfx_surf_build_init(&b, &alloc, hashbits, realbits);
	for (int i = 0; i < nkeys && r == SFX_OK; i++)
	{
		r = sfx_surf_add(&b, keys[i].s, keys[i].len);
		if (i % 3 == 0 && r == SFX_OK)
			r = sfx_surf_add(&b, keys[i].s, keys[i].len);
	}
	if (r == SFX_OK)
		r = sfx_surf_size(&b, &filter_size);
	filter = malloc(filter_size);
	if (r == SFX_OK && filter_size > 0 && sfx_surf_write(&b, filter, filter_size - 1) != SFX_NOSPACE)
		r = SFX_CORRUPT;
	if (r == SFX_OK)
		r = sfx_surf_write(&b, filter, filter_size);
	sfx_surf_build_free(&b);
	return memory_used == 0 ? r : SFX_NOMEM;
}

static void
check_probe(const SfxSurf *s, SfxSurfIter *it, Tally *t)
{
	static uint8_t lo[40000],
				hi[40000];
	SfxSurfBound low = {lo, make_probe(lo), rnd(&seed) % 2},
				high = {hi, make_probe(hi), rnd(&seed) % 2};
	const SfxSurfBound *pl = rnd(&seed) % 16 ? &low : NULL,
			   *ph = rnd(&seed) % 16 ? &high : NULL;
	int			model = 0;
	int			first = -1;
	bool		fp,
				fpmodel = false;
	int			r = sfx_surf_lookup(s, lo, low.len),
				m = model_point(lo, low.len);

	t->points += r != m;
	/* a short range: the high bound is the low one with a tail */
	if (ph != NULL && rnd(&seed) % 3 == 0)
	{
		memcpy(hi, lo, low.len);
		high.len = low.len;
		if (high.len > 0 && rnd(&seed) % 2)
			hi[high.len - 1] += 1;
		else
			hi[high.len++] = (uint8_t) rnd(&seed);
	}
	for (int i = 0; i < nkeys; i++)
	{
		int			a = pl ? model_cmp(i, lo, low.len) : 1,
					b = ph ? model_cmp(i, hi, high.len) : -1;
		bool		void_range = false;

		if (pl && ph)
		{
			int			c = sfx_cmp_bytes(lo, low.len, hi, high.len);

			void_range = c > 0 || (c == 0 && !(low.inclusive && high.inclusive));
		}
		if (keys[i].complete && a == 0 && !low.inclusive)
			a = -1;
		if (keys[i].complete && b == 0 && !high.inclusive)
			b = 1;
		model += a >= 0 && b <= 0 && !void_range;
		if (first < 0)
		{
			int			c = model_cmp(i, lo, low.len);

			if (c >= 0)
			{
				first = i;
				fpmodel = c == 0 && !keys[i].complete;
			}
		}
	}
	t->ranges += sfx_surf_lookup_range(s, pl, ph) != (model > 0);
	r = sfx_surf_seek(it, lo, low.len, &fp);
	if (r != (first >= 0))
		t->seeks++;
	else if (r == 1)
		t->seeks += it->len != keys[first].cut || memcmp(it->key, keys[first].s, it->len) != 0 || fp != fpmodel ||
			it->complete != keys[first].complete;
	/* next and previous of its current key */
	if (r == 1 && first >= 0)
	{
		r = rnd(&seed) % 2 ? sfx_surf_next(it) : (first -= 2, sfx_surf_prev(it));
		first++;
		t->walks += r != (first >= 0 && first < nkeys) ||
			(r == 1 && (it->len != keys[first].cut || memcmp(it->key, keys[first].s, it->len) != 0));
	}
}

static void
check_walk(SfxSurfIter *it, Tally *t)
{
	bool		fp;
	int			i = 0,
				r = sfx_surf_seek(it, NULL, 0, &fp);

	for (; r == 1 && i < nkeys; i++, r = sfx_surf_next(it))
	{
		t->walks += it->len != keys[i].cut || memcmp(it->key, keys[i].s, it->len) != 0 ||
			it->complete != keys[i].complete;
		if (!keys[i].complete)
			t->walks += ((uint64_t) it->hash << it->s->realbits | it->real) !=
				surf_suffix(it->s, keys[i].s, keys[i].len, keys[i].cut);
	}
	t->walks += r != 0 || i != nkeys;
	for (r = sfx_surf_seek_last(it), i = nkeys - 1; r == 1 && i >= 0; i--, r = sfx_surf_prev(it))
		t->walks += it->len != keys[i].cut || memcmp(it->key, keys[i].s, it->len) != 0;
	t->walks += r != 0 || i != -1;
}

static void
check_set(const char *name, int probes)
{
	static const int bits[][2] = {{0, 0}, {8, 0}, {0, 8}, {5, 7}, {32, 32}, {0, 3}, {1, 31}};
	Tally		t = {0};
	int			missed = 0,
				damaged = 0;
	uint64_t	base = 0;
	const char *why = NULL;

	sort_keys();
	for (int c = 0; c < 7; c++)
	{
		SfxSurf		s;
		SfxSurfIter it;
		void	   *mem;

		if (build((unsigned) bits[c][0], (unsigned) bits[c][1]) != SFX_OK ||
			sfx_surf_open(&s, filter, filter_size) != SFX_OK || s.nkeys != (uint64_t) nkeys)
		{
			damaged++;
			free(filter);
			continue;
		}
		asked = &s;
		flags_seen |= s.flags | (s.npaths > 0 ? 32 : s.nnodes > 1 ? 64 : 0) | (s.nonce > 0 ? 128 : 0);
		if (c == 0)
			base = filter_size;
		if (sfx_surf_check(&s) != NULL)
			why = sfx_surf_check(&s);
		mem = malloc(sfx_surf_iter_size(&s) + 1);
		sfx_surf_iter_init(&it, &s, mem);
		for (int i = 0; i < nkeys; i++)
		{
			SfxSurfBound b = {keys[i].s, keys[i].len, true};

			missed += sfx_surf_lookup(&s, keys[i].s, keys[i].len) != 1;
			missed += sfx_surf_lookup_range(&s, &b, &b) != 1;
		}
		check_walk(&it, &t);
		for (int i = 0; i < probes; i++)
			check_probe(&s, &it, &t);
		free(mem);
		free(filter);
	}
	ok(damaged == 0 && why == NULL, "%s: %d keys, %.1f bits per key: builds, opens, checks (%s)", name, nkeys,
	   nkeys > 0 ? 8.0 * (double) base / nkeys : 0.0, why ? why : "fine");
	ok(missed == 0, "%s: no stored key is missed", name);
	ok(t.points == 0 && t.ranges == 0, "%s: points and ranges as the cuts say (%d, %d)", name, t.points, t.ranges);
	ok(t.seeks == 0 && t.walks == 0, "%s: the iterator meets every cut key (%d, %d)", name, t.seeks, t.walks);
	clear_keys();
}

static void
random_bytes(int n, unsigned maxlen, const char *letters, unsigned nletters)
{
	uint8_t		b[300];

	for (int i = 0; i < n; i++)
	{
		unsigned	len = (unsigned) (rnd(&seed) % (maxlen + 1));

		for (unsigned j = 0; j < len; j++)
			b[j] = nletters == 0 ? (uint8_t) rnd(&seed) : (uint8_t) letters[rnd(&seed) % nletters];
		add_key(b, len);
	}
}

static void
text_keys(int n)
{
	static const char *const word[] = {"usr", "share", "doc", "locale", "LC_MESSAGES", "lib", "python3", "copyright",
	"changelog.gz", "x86_64-linux-gnu", "include", "README", "a", "b", "zoneinfo", "Europe"};
	char		b[200];

	for (int i = 0; i < n; i++)
	{
		int			k = 0;

		for (int j = 2 + (int) (rnd(&seed) % 5); j > 0; j--)
			k += sprintf(b + k, "/%s", word[rnd(&seed) % 16]);
		if (rnd(&seed) % 2)
			k += sprintf(b + k, "%d", (int) (rnd(&seed) % 500));
		add_key(b, (size_t) k + rnd(&seed) % 2);
	}
}

static void
adversarial(void)
{
	static uint8_t b[20000];

	check_set("no keys", 50);
	add_key("", 0);
	check_set("the empty key", 100);
	add_key("abc", 3);
	check_set("one key", 100);
	add_key("", 0);
	add_key("\0", 1);
	add_key("\0\0", 2);
	check_set("zeros", 100);
	memset(b, 0xFF, sizeof(b));
	for (unsigned i = 0; i < 300; i++)
		add_key(b, i);
	check_set("a chain of prefixes of 0xFF", 200);
	for (unsigned i = 0; i < 300; i++)
	{
		b[i] = 'a';
		add_key(b, i + 1);
		b[i] = 0xFF;
	}
	check_set("'a' behind runs of 0xFF", 200);
	for (unsigned i = 0; i < 256; i++)
	{
		b[0] = (uint8_t) i;
		add_key(b, 1);
	}
	check_set("all single bytes", 300);
	memset(b, 'x', sizeof(b));
	for (unsigned i = 0; i < 40; i++)
	{
		b[3000] = (uint8_t) rnd(&seed);
		b[9000] = (uint8_t) rnd(&seed);
		add_key(b, 9001 + (unsigned) (rnd(&seed) % 100));
	}
	check_set("long shared prefixes", 100);
	add_key(b, SFX_SURF_MAXLEN);
	b[SFX_SURF_MAXLEN - 1]++;
	add_key(b, SFX_SURF_MAXLEN);
	check_set("two longest keys", 50);
	for (unsigned i = 1; i < 400; i++)
	{
		memset(b, (int) ('a' + i % 2), i);
		b[i] = 'z';
		add_key(b, i + 1);
		memset(b + i + 1, 'p', i % 290);
		b[i + 1 + i % 290] = 'q';
		add_key(b, i + 2 + i % 290);
	}
	check_set("paths of all lengths", 150);
}

static void
sets(void)
{
	uint8_t		b[8];

	random_bytes(3000, 4, NULL, 0);
	check_set("random bytes", 250);
	random_bytes(2000, 12, "\0\377", 2);
	check_set("0x00 and 0xFF", 250);
	random_bytes(2000, 7, "\376\377\0\1", 4);
	check_set("bytes at the borders", 250);
	random_bytes(3000, 9, "abcdefghijklmnopqrstuvwxyz", 26);
	check_set("letters", 250);
	text_keys(6000);
	check_set("text", 250);
	for (int i = 0; i < 1200; i++)
	{
		uint8_t		t[100];

		/* two keys that part after a long path of words, with a rare byte now and then */
		for (unsigned j = 0, r = 0; j < 60; j++)
		{
			r = j % 6 == 0 ? (unsigned) rnd(&seed) : r;
			t[j] = rnd(&seed) % 50 == 0 ? (uint8_t) rnd(&seed) : (uint8_t) ("sharelibdocument"[r % 11 + j % 6]);
		}
		t[60] = 'a';
		add_key(t, 61);
		t[60] = 'b';
		add_key(t, 61 + i % 3);
	}
	check_set("long different paths", 250);
	for (int i = 0; i < 4000; i++)
	{
		uint64_t	v = rnd(&seed);

		memcpy(b, &v, 8);
		add_key(b, 8);
	}
	check_set("random int8", 250);
	for (int i = 0; i < 4000; i++)
	{
		for (int j = 0; j < 8; j++)
			b[j] = (uint8_t) ((uint64_t) i * 3 >> (56 - 8 * j));
		add_key(b, 8);
	}
	check_set("serial int8", 250);
}

/* ---- how often answers are wrong ---- */

#define STRANGERS	100000

static size_t
an_int8(uint8_t *b)
{
	uint64_t	v = rnd(&seed);

	memcpy(b, &v, 8);
	return 8;
}

static size_t
an_email(uint8_t *b)
{
	static const char *const host[] = {"com.gmail", "com.yahoo", "de.gmx", "net.comcast", "org.example", "edu.cmu.cs", "fr.orange", "com.msn"};
	static const char *const name[] = {"anna", "bernd", "carla", "dora", "emil", "frank", "gerda", "hans", "ida", "jakob", "karl", "lina", "max", "nora",
	"otto", "paula"};

	return (size_t) sprintf((char *) b, "%s@%s%c%s%d", host[rnd(&seed) % 8], name[rnd(&seed) % 16], "._-"[rnd(&seed) % 3], name[rnd(&seed) % 16],
							(int) (rnd(&seed) % 2000));
}

/*
 * The share of absent keys of that kind, in percent, for which a filter with that many hash and
 * real bits says yes.
 */
static double
percent_wrong(size_t (*make) (uint8_t *), unsigned hashbits, unsigned realbits)
{
	uint8_t		b[100];
	SfxSurf		s;
	int			absent = 0,
				wrong = 0;

	for (int i = 0; i < MAXKEYS; i++)
		add_key(b, make(b));
	sort_keys();
	if (build(hashbits, realbits) != SFX_OK || sfx_surf_open(&s, filter, filter_size) != SFX_OK)
		return 100;
	for (int i = 0; i < STRANGERS; i++)
	{
		Key			k = {.s = b, .len = (uint32_t) make(b)};

		if (bsearch(&k, keys, (size_t) nkeys, sizeof(Key), cmp_key) != NULL)
			continue;
		absent++;
		wrong += sfx_surf_lookup(&s, b, k.len) != 0;
	}
	free(filter);
	clear_keys();
	return 100.0 * wrong / absent;
}

/*
 * The published implementation has errors of 0.085 and 0.20 % with eight hash bits; each bit halves
 * the errors without, as bits of random numbers do.
 */
static void
rates(void)
{
	double		int8 = percent_wrong(an_int8, 0, 0),
				email = percent_wrong(an_email, 0, 0),
				r;

	r = percent_wrong(an_int8, 8, 0);
	ok(r <= 0.085, "random int8, 8 hash bits: %.3f%% of absent keys are taken for stored (without: %.1f%%)", r, int8);
	r = percent_wrong(an_email, 8, 0);
	ok(r <= 0.2, "e-mails, 8 hash bits: %.3f%% (without: %.1f%%)", r, email);
	r = percent_wrong(an_email, 1, 0);
	ok(r > 0.4 * email && r < 0.6 * email, "e-mails, 1 hash bit: %.1f%%", r);
	r = percent_wrong(an_int8, 0, 4);
	ok(r < 0.1 * int8, "random int8, 4 real bits: %.2f%%", r);
	r = percent_wrong(an_email, 0, 8);
	ok(r < 0.9 * email, "e-mails, 8 real bits: %.1f%%", r);
}

/* Errors of the builder, of an exhausted allocator, and of cut or changed bytes. */
static size_t budget;

static void *
poor(void *ctx, void *old, size_t oldsize, size_t newsize)
{
	if (newsize > oldsize && budget-- == 0)
	{
		budget = 0;
		return NULL;
	}
	return resize(ctx, old, oldsize, newsize);
}

static int
poor_build(size_t allowed)
{
	SfxSurfAlloc alloc = {.ctx = NULL, .resize = poor};
	SfxSurfBuild b;
	uint64_t	size = 0;
	int			r = SFX_OK;

	budget = allowed;
	sfx_surf_build_init(&b, &alloc, 8, 8);
	for (int i = 0; i < nkeys && r == SFX_OK; i++)
		r = sfx_surf_add(&b, keys[i].s, keys[i].len);
	if (r == SFX_OK)
		r = sfx_surf_size(&b, &size);
	if (r == SFX_OK)
	{
		filter = malloc(size);
		r = sfx_surf_write(&b, filter, size);
		free(filter);
	}
	sfx_surf_build_free(&b);
	return r;
}

static void
errors(void)
{
	SfxSurfAlloc alloc = {.ctx = NULL, .resize = resize};
	SfxSurfBuild b;
	SfxSurf		s;
	int			failed = 0,
				step = 0;
	uint64_t	sum = 0;

	sfx_surf_build_init(&b, &alloc, 0, 0);
	ok(sfx_surf_add(&b, (const uint8_t *) "b", 1) == SFX_OK && sfx_surf_add(&b, (const uint8_t *) "a", 1) == SFX_CORRUPT &&
	   sfx_surf_add(&b, (const uint8_t *) "c", 1) == SFX_CORRUPT, "keys out of order are refused");
	sfx_surf_build_free(&b);
	text_keys(1500);
	sort_keys();
	memory_used = 0;
	while (poor_build((size_t) step) == SFX_NOMEM)
		step++;
	ok(step > 10 && poor_build((size_t) step) == SFX_OK && memory_used == 0,
	   "every allocation may fail, and none is left behind (%d)", step);
	build(4, 12);
	for (uint64_t len = 0; len < filter_size; len += 1 + len / 16)
		failed += sfx_surf_open(&s, filter, len) != SFX_CORRUPT;
	ok(failed == 0 && sfx_surf_open(&s, filter, filter_size) == SFX_OK, "a filter cut short is refused");
	/* changed bytes: any answer, and an end */
	for (int round = 0; round < 400; round++)
	{
		uint8_t    *copy = malloc(filter_size);

		memcpy(copy, filter, filter_size);
		for (int k = 0; k < 20; k++)
			copy[round < 200 && k < 2 ? rnd(&seed) % 128 : rnd(&seed) % filter_size] = (uint8_t) rnd(&seed);
		if (sfx_surf_open(&s, copy, filter_size) == SFX_OK)
		{
			void	   *mem = malloc(sfx_surf_iter_size(&s));
			SfxSurfIter it;
			bool		fp;

			sfx_surf_iter_init(&it, &s, mem);
			sum += sfx_surf_check(&s) != NULL;
			for (int i = 0; i < nkeys; i += 37)
			{
				SfxSurfBound lo = {keys[i].s, keys[i].len, true},
							hi = {keys[(i * 7) % nkeys].s, keys[(i * 7) % nkeys].len, true};

				sum += (uint64_t) sfx_surf_lookup(&s, keys[i].s, keys[i].len);
				sum += (uint64_t) sfx_surf_lookup_range(&s, &lo, &hi);
				sum += (uint64_t) sfx_surf_seek(&it, keys[i].s, keys[i].len, &fp);
				for (int k = 0; k < 5; k++)
					sum += (uint64_t) sfx_surf_next(&it);
			}
			free(mem);
		}
		free(copy);
	}
	ok(sum != 1, "changed bytes lead to bounded answers");
	free(filter);
	clear_keys();
}

int
main(void)
{
	adversarial();
	sets();
	ok(flags_seen == 255, "all variants of the format were met (%u)", flags_seen);
	rates();
	errors();
	return done_testing();
}
