/*
 * Children per inner page and time of a find in a hot and in a cold page: trie, front coding, and
 * an array of 8-byte prefixes.
 *
 *	make bench-core, or bench_inner [file of paths, a line each]
 *
 * The array is not a format of the index: it is what a trie has to be held against. It has the
 * first eight bytes after the page's common prefix of each separator, in order, and two bytes each
 * for where the rest is; a search bisects without a branch down to a window that vector
 * instructions compare at once.  Child blocks and counts are not in it, so that its fan-out is a
 * little too good.
 *
 * A cold page is one of 32,768 copies of the hot one, each probe in another one that depends on the
 * answer before.
 *
 * Keys are sorted and cut into leaves of equal entry counts; a separator is the shortest one at the
 * cut, or the shortest of all cuts within the last 5% of the leaf.
 *
 * Texts also in HOPE's codes, by a dictionary trained on whole keys: separators between codes, and
 * each sought key coded before it is looked for.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"
#include "hope.h"
#include "inner.h"

#define CAP		8144
#define NPROBE	16384	/* enough that branch prediction cannot learn them */

typedef struct Key
{
	uint8_t    *s;
	uint32_t	len;
	uint8_t    *raw;			/* before it was coded */
	uint32_t	rawlen;
} Key;

static SfxHope *hope;			/* keys are coded by it; NULL: they are not */
static Key *keys;
static int	nkeys,
			roomkeys;
static SfxChild *sep;
static int	nsep;
static _Alignas(64) uint8_t body[CAP];
static volatile int sink;

static void
add(const void *s, uint32_t len)
{
	if (nkeys == roomkeys)
	{
		roomkeys = roomkeys ? 2 * roomkeys : 1024;
		keys = realloc(keys, (size_t) roomkeys * sizeof(Key));
	}
	keys[nkeys].s = malloc(len + 1);
	memcpy(keys[nkeys].s, s, len);
	keys[nkeys++].len = len;
}

static int
cmp_key(const void *x, const void *y)
{
	const Key  *a = x,
			   *b = y;

	return sfx_cmp_bytes(a->s, a->len, b->s, b->len);
}

static SfxPos
pos(const Key *k)
{
	return (SfxPos) {.key = k->s, .len = k->len, .tid = 0};
}

static void
add_sep(SfxPos low)
{
	sep[nsep].low = low;
	sep[nsep].blkno = 1000 + (uint32_t) nsep;
	sep[nsep].count = 0;
	nsep++;
}

/* Cut the sorted keys into leaves of per entries, moving the cut by up to slack entries. */
static void
make_seps(int per, int slack)
{
	int			at = 0;

	sep = realloc(sep, (size_t) (nkeys / (per - slack) + 2) * sizeof(SfxChild));
	nsep = 0;
	add_sep((SfxPos) {.key = keys[0].s, .len = 0, .tid = 0});
	for (;;)
	{
		SfxPos		best = {0};
		int			end = at + per,
					bestat = 0;

		if (end >= nkeys)
			break;
		for (int i = end; i >= end - slack; i--)
		{
			SfxPos		l = pos(&keys[i - 1]),
						r = pos(&keys[i]);
			SfxPos		s = sfx_separator(&l, &r);

			if (bestat == 0 || s.len < best.len)
			{
				best = s;
				bestat = i;
			}
		}
		sep[nsep - 1].count = (uint64_t) (bestat - at);
		add_sep(best);
		at = bestat;
	}
	sep[nsep - 1].count = (uint64_t) (nkeys - at);
}

/* ---- the array of prefixes ---- */

#define WINDOW		16			/* prefixes compared at once */

typedef struct Array
{
	int			n;
	uint32_t	common;			/* bytes that all separators but the first share */
	uint16_t	rest[];			/* where the rests are, n + 1 of them; then n prefixes, 8-byte aligned; then the rests */
} Array;

static inline uint64_t *
prefixes(const Array *a)
{
	return (uint64_t *) (((uintptr_t) (a->rest + a->n + 1) + 7) & ~(uintptr_t) 7);
}

/* Eight bytes of a key from byte at on, as a number. */
static inline uint64_t
prefix8(const uint8_t *key, uint32_t len, uint32_t at)
{
	uint64_t	x = 0;

	for (uint32_t i = at; i < at + 8; i++)
		x = x << 8 | (i < len ? key[i] : 0);
	return x;
}

static int
array_build(const SfxChild *c, int n, uint8_t *out)
{
	Array	   *a = (Array *) out;
	uint64_t   *pre;
	uint32_t	used;
	const SfxPos *first = &c[n > 1].low,
			   *last = &c[n - 1].low;

	if (sizeof(Array) + 10 * (size_t) n + 10 > CAP)
		return SFX_NOSPACE;
	a->n = n;
	for (a->common = 0; a->common < first->len && a->common < last->len && first->key[a->common] == last->key[a->common]; a->common++)
		;
	pre = prefixes(a);
	used = (uint32_t) ((uint8_t *) (pre + n) - out);
	for (int i = 0; i < n; i++)
	{
		/* what all separators share is in the place of the first rest, which is never compared */
		const SfxPos *s = i > 0 ? &c[i].low : &(SfxPos) {first->key, a->common, 0};
		uint32_t	from = i == 0 ? 0 : a->common + 8 < s->len ? a->common + 8 : s->len;

		if (used + s->len - from > CAP)
			return SFX_NOSPACE;
		pre[i] = i > 0 ? prefix8(s->key, s->len, a->common) : 0;
		a->rest[i] = (uint16_t) used;
		memcpy(out + used, s->key + from, s->len - from);
		used += s->len - from;
	}
	a->rest[n] = (uint16_t) used;
	return (int) used;
}

/* pre[0..WINDOW) <= x: how many. */
static inline int
count_upto(const uint64_t *pre, uint64_t x)
{
	int			n = 0;

	for (int i = 0; i < WINDOW; i++)
		n += pre[i] <= x;
	return n;
}

__attribute__((target_clones("avx512f", "avx2", "default")))
static int
array_find(const uint8_t *page, const SfxPos *k)
{
	const Array *a = (const Array *) page;
	const uint64_t *pre = prefixes(a);
	uint64_t	x = prefix8(k->key, k->len, a->common);
	const uint64_t *base = pre;
	int			n = a->n,
				i,
				c = memcmp(k->key, page + a->rest[0], k->len < a->common ? k->len : a->common);

	if (c != 0 || k->len < a->common)
		return c > 0 ? n - 1 : 0;
	while (n > 2 * WINDOW)
	{
		int			half = n / 2;

		base = base[half - 1] <= x ? base + half : base;
		n -= half;
	}
	i = (int) (base - pre);
	for (; n >= WINDOW; n -= WINDOW, i += WINDOW)
	{
		int			m = count_upto(pre + i, x);

		if (m < WINDOW)
		{
			i += m;
			n = 0;
			break;
		}
	}
	for (; n > 0 && pre[i] <= x; n--)
		i++;
	/* equal prefixes are decided by the rests */
	for (i--; i > 0 && pre[i] == x; i--)
	{
		uint32_t	at = a->common + 8 < k->len ? a->common + 8 : k->len;

		if (sfx_cmp_bytes(page + a->rest[i], (uint32_t) a->rest[i + 1] - a->rest[i], k->key + at, k->len - at) <= 0)
			break;
	}
	return i < 0 ? 0 : i;
}

/* ---- measuring ---- */

#define COPIES		32768

typedef enum Format
{
	FRONT,
	TRIE,
	ARRAY,
	FORMATS
} Format;

static const char *const format_name[] = {"front coding", "trie", "8-byte prefixes"};

static int
build_page(Format f, const SfxChild *c, int n, const SfxPos *high, uint8_t *out, void *scratch)
{
	return f == ARRAY ? array_build(c, n, out) :
		sfx_inner_build_as(f == TRIE ? SFX_INNER_TRIE : SFX_INNER_FRONT, c, n, high, out, CAP, scratch, NULL);
}

/* Nanoseconds for a find in a cold page. */
static double
measure_cold(Format f, const uint8_t *page, int len, const SfxPos *probe)
{
	static uint8_t *copies = NULL;
	double		best = 1e18;

	if (copies == NULL)
		copies = aligned_alloc(8192, (size_t) COPIES * 8192);
	for (int i = 0; i < COPIES; i++)
		memcpy(copies + (size_t) i * 8192, page, (size_t) len);
	for (int round = 0; round < 3; round++)
	{
		double		t0 = now();
		int			r = 0;

		for (int i = 0; i < NPROBE; i++)
		{
			const uint8_t *at = copies + ((uint64_t) i * 7919 + (uint64_t) round * 11 + (r < 0)) % COPIES * 8192;

			if (f == ARRAY)
				r = array_find(at, &probe[i]);
			else
			{
				SfxInner	q;

				if (sfx_inner_open(&q, at, (uint32_t) len, NULL) < 0)
					abort();
				r = sfx_inner_find(&q, &probe[i]);
			}
		}
		sink = r;
		t0 = now() - t0;
		best = t0 < best ? t0 : best;
	}
	return best / NPROBE;
}

/* Pages over all separators: mean children, and nanoseconds per find in the middle one. */
static void
measure(Format f, void *scratch)
{
	int			pages = 0,
				middle = 0,
				middlen = 0;
	int			at = 0;
	double		build = now(),
				hot = 1e18;
	static SfxPos probe[NPROBE];
	static SfxPos raw[NPROBE];
	static uint8_t fences[CAP];
	double		coding = 1e18;
	SfxInner	p;
	int			len;

	while (at < nsep)
	{
		int			lo = 1,
					hi = nsep - at < SFX_INNER_MAXCHILDREN ? nsep - at : SFX_INNER_MAXCHILDREN;

		while (lo < hi)
		{
			int			mid = (lo + hi + 1) / 2;

			if (build_page(f, sep + at, mid, at + mid < nsep ? &sep[at + mid].low : NULL, body, scratch) > 0)
				lo = mid;
			else
				hi = mid - 1;
		}
		if (pages == 0 || (at < nsep / 2 && at + lo < nsep))
		{
			middle = at;
			middlen = lo;
		}
		pages++;
		at += lo;
		if (at >= nsep && pages > 1)
		{
			pages--;			/* the last page is not full */
			at -= lo;
			break;
		}
	}
	build = (now() - build) / pages;
	/* the fences of a page of ours tell which probes to take */
	len = sfx_inner_build(sep + middle, 1, middle + middlen < nsep ? &sep[middle + middlen].low : NULL, fences, CAP, scratch, NULL);
	if (len < 0 || sfx_inner_open(&p, fences, (uint32_t) len, NULL) < 0)
		abort();
	len = build_page(f, sep + middle, middlen, middle + middlen < nsep ? &sep[middle + middlen].low : NULL, body, scratch);
	if (len < 0)
		abort();
	/* probes: stored keys below the page, in random order */
	int			klo = 0,
				khi = 0,
				a = 0,
				b = nkeys;

	while (a < b)
	{
		SfxPos		k = pos(&keys[(a + b) / 2]);

		if (sfx_cmp_pos(&k, &sep[middle].low) < 0)
			a = (a + b) / 2 + 1;
		else
			b = (a + b) / 2;
	}
	klo = a;
	for (khi = klo; khi < nkeys; khi++)
	{
		SfxPos		k = pos(&keys[khi]);

		if (sfx_inner_cmp_fences(&p, &k) > 0)
			break;
	}
	/* copied, so that fetching the probes costs next to nothing */
	uint8_t    *copy = malloc((size_t) NPROBE * 4096);
	uint32_t	used = 0;

	for (int i = 0; i < NPROBE; i++)
	{
		const Key  *k = &keys[klo + (int) (rnd() % (uint64_t) (khi - klo))];

		probe[i] = pos(k);
		memcpy(copy + used, probe[i].key, probe[i].len);
		probe[i].key = copy + used;
		used += probe[i].len;
		if (hope)
		{
			raw[i] = (SfxPos) {.key = copy + used, .len = k->rawlen, .tid = 0};
			memcpy(copy + used, k->raw, k->rawlen);
			used += k->rawlen;
		}
	}
	if (f != ARRAY && sfx_inner_open(&p, body, (uint32_t) len, NULL) < 0)
		abort();
	for (int i = 0; i < NPROBE; i++)
	{
		/* the largest separator that is not larger than the probe */
		int			r = f == ARRAY ? array_find(body, &probe[i]) : sfx_inner_find(&p, &probe[i]);

		if (r < 0 || r >= middlen || (r > 0 && sfx_cmp_pos(&sep[middle + r].low, &probe[i]) > 0) ||
			(r + 1 < middlen && sfx_cmp_pos(&sep[middle + r + 1].low, &probe[i]) <= 0))
			abort();
	}
	for (int round = 0; round < 20; round++)
	{
		double		t0 = now();
		int			r = 0;

		/* each probe depends on the answer before, as in a descent */
		for (int i = 0; i < NPROBE; i++)
		{
			const SfxPos *k = &probe[i ^ (r < 0)];
			SfxInner	q;
			uint32_t	blk = 0;
			uint64_t	count = 0;

			if (f == ARRAY)
				r = array_find(body, k);
			else
			{
				sfx_inner_open(&q, body, (uint32_t) len, NULL);
				r = sfx_inner_find(&q, k);
				sfx_inner_child(&q, r, &blk, &count);
			}
			sink = (int) (blk + (uint32_t) count);
		}
		t0 = now() - t0;
		hot = t0 < hot ? t0 : hot;
	}
	for (int round = 0; hope && round < 20; round++)
	{
		double		t0 = now();
		int			r = 0;

		for (int i = 0; i < NPROBE; i++)
		{
			const SfxPos *k = &raw[i ^ (r < 0)];
			uint8_t		code[4096];

			r = sfx_hope_encode(hope, k->key, k->len, code, sizeof(code));
			sink = r + code[0];
		}
		t0 = now() - t0;
		coding = t0 < coding ? t0 : coding;
	}
	printf("  %-15s %6.0f children a page; hot %4.0f ns, cold %4.0f ns; fit and build %.2f ms", format_name[f],
		   (double) at / pages, hot / NPROBE, measure_cold(f, body, len, probe), build / 1e6);
	if (hope)
		printf("; coding the sought key %.0f ns", coding / NPROBE);
	printf("\n");
	free(copy);
}

/* All formats, with the keys as they are. */
static void
run_formats(const char *name, int per, void *scratch)
{
	for (int moved = 0; moved < (hope ? 1 : 2); moved++)
	{
		make_seps(per, moved ? per / 20 : 0);
		printf("%s, %d keys, %d leaves%s\n", name, nkeys, nsep, moved ? ", boundary may move 5%" : "");
		for (Format f = 0; f < FORMATS; f++)
			measure(f, scratch);
	}
}

/* Code the keys by that scheme, trained on some of them. */
static void
code_keys(SfxHopeScheme scheme, uint32_t limit)
{
	enum {SAMPLE = 16384};
	SfxHopeKey *sample = malloc(SAMPLE * sizeof(SfxHopeKey));
	size_t		bytes = 0,
				cap = SFX_HOPE_DICT_BOUND(scheme, limit),
				size;
	uint32_t	n = 0;
	uint8_t    *dict = malloc(cap);
	void	   *scratch;
	uint8_t		code[8192];
	int			len;

	for (int i = 0; i < nkeys && n < SAMPLE; i += nkeys / SAMPLE + 1)
	{
		sample[n++] = (SfxHopeKey) {keys[i].raw, keys[i].rawlen};
		bytes += keys[i].rawlen;
	}
	size = sfx_hope_build_size(scheme, limit, bytes);
	scratch = malloc(size);
	len = sfx_hope_build(scheme, limit, sample, n, scratch, size, dict, cap);
	free(hope);
	hope = len < 0 ? NULL : aligned_alloc(64, (sfx_hope_state_size(dict, (size_t) len) + 63) & ~(size_t) 63);
	if (hope == NULL || sfx_hope_open(hope, sfx_hope_state_size(dict, (size_t) len), dict, (size_t) len) < 0)
		abort();
	for (int i = 0; i < nkeys; i++)
	{
		len = sfx_hope_encode(hope, keys[i].raw, keys[i].rawlen, code, sizeof(code));
		if (len < 0)
			abort();
		if (keys[i].s != keys[i].raw)
			free(keys[i].s);
		keys[i].s = malloc((size_t) len + 1);
		memcpy(keys[i].s, code, (size_t) len);
		keys[i].len = (uint32_t) len;
	}
	free(scratch);
	free(dict);
	free(sample);
}

static void
run(const char *name, int per, bool text)
{
	static const struct
	{
		SfxHopeScheme scheme;
		const char *name;
		uint32_t	limit;
	}			schemes[] = {{SFX_HOPE_SINGLE, "single", 0}, {SFX_HOPE_DOUBLE, "double", 0}, {SFX_HOPE_ALM_IMPROVED, "words", 4096}};
	void	   *scratch = malloc(sfx_inner_scratch_size());

	qsort(keys, (size_t) nkeys, sizeof(Key), cmp_key);
	run_formats(name, per, scratch);
	for (int i = 0; i < nkeys; i++)
	{
		keys[i].raw = keys[i].s;
		keys[i].rawlen = keys[i].len;
	}
	for (int i = 0; text && i < 3; i++)
	{
		char		coded[100];

		code_keys(schemes[i].scheme, schemes[i].limit);
		snprintf(coded, sizeof(coded), "%s, coded by %s", name, schemes[i].name);
		run_formats(coded, per, scratch);
	}
	free(hope);
	hope = NULL;
	free(scratch);
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].s != keys[i].raw)
			free(keys[i].s);
		free(keys[i].raw);
	}
	nkeys = 0;
}

static void
emails(int n)
{
	static const char *const host[] = {"com.gmail@", "com.yahoo@", "com.hotmail@", "de.web@", "org.example@",
	"net.comcast@", "com.aol@", "de.gmx@", "com.outlook@", "edu.university@"};
	static const char *const syl[] = {"an", "ber", "ca", "dor", "el", "fra", "gi", "har", "is", "jo", "ka", "lin", "mar",
	"ne", "o", "pe", "qui", "ro", "sa", "tho", "u", "vi", "wil", "xa", "y", "zo"};
	char		b[100];

	for (int i = 0; i < n; i++)
	{
		int			k = sprintf(b, "%s", host[rnd() % 4 * (rnd() % 3) % 10]);

		for (int j = 2 + (int) (rnd() % 3); j > 0; j--)
			k += sprintf(b + k, "%s", syl[rnd() % 26]);
		if (rnd() % 2)
			k += sprintf(b + k, ".%s%s", syl[rnd() % 26], syl[rnd() % 26]);
		if (rnd() % 2)
			k += sprintf(b + k, "%d", (int) (rnd() % 2000));
		add(b, (uint32_t) k + 1);
	}
}

int
main(int argc, char **argv)
{
	char		line[4096];
	FILE	   *f = argc > 1 ? fopen(argv[1], "r") : NULL;

	for (int i = 0; i < 4000000; i++)
	{
		uint64_t	v = rnd();
		uint8_t		b[8];

		for (int j = 0; j < 8; j++)
			b[j] = (uint8_t) (v >> (56 - 8 * j));
		add(b, 8);
	}
	run("random int8", 950, false);
	for (int i = 0; i < 4000000; i++)
	{
		uint64_t	v[2] = {rnd(), rnd()};

		add(v, 16);
	}
	run("uuid", 450, false);
	emails(2000000);
	run("e-mails (made up)", 900, true);
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f))
		add(line, (uint32_t) strcspn(line, "\n") + 1);
	for (int i = 0; i < nkeys; i++)
		keys[i].s[keys[i].len - 1] = 0;
	run("file paths", 600, true);
	return 0;
}
