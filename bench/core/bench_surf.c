/*
 * SuRF: bits per key, false positives of points and ranges, times of probes and of the build.
 *
 *	cc -std=c11 -O2 -o bench_surf surf*.c hope*.c bench/bench_surf.c
 *	find / -xdev 2>/dev/null | LC_ALL=C sort -u > paths; ./bench_surf paths
 *	./bench_surf -c paths				also over HOPE's codes
 *	./bench_surf -n 5000000				random int8 only, so many
 *	./bench_surf -e > emails			print the e-mail-like keys
 *
 * Every tenth key is left out and serves as an absent key of the same kind.  A range begins at an absent key; int8:
 * 2^40 wide (empty nearly always), text: up to that key with its last byte raised.  Ranges that are not empty do not count.
 * Times are CPU times, the best of ROUNDS.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include "../../src/core/test/resize.h"
#include "hope.h"
#include "keyset.h"
#include "surf_format.h"

#define ROUNDS	5
#define NPROBE	200000
#define PAGEKEYS	2500

static volatile uint64_t sink;

/* The dictionary through which all keys and bounds go on their way to the filter; NULL: none. */
static const SfxHope *code;
static size_t code_size;

/* A key or bound as the filter knows it; buf: room for its code. */
static SfxSurfBound
coded(const uint8_t *key, uint32_t len, uint8_t *buf, size_t cap)
{
	if (code == NULL)
		return (SfxSurfBound) {key, len, true};
	return (SfxSurfBound) {buf, (uint32_t) sfx_hope_encode(code, key, len, buf, cap), true};
}

static int
lookup(const SfxSurf *s, const Key *k)
{
	static uint8_t buf[65536];
	SfxSurfBound b = coded(k->s, k->len, buf, sizeof(buf));

	return sfx_surf_lookup(s, b.key, b.len);
}

static int
lookup_range(const SfxSurf *s, const SfxSurfBound *lo, const SfxSurfBound *hi)
{
	static uint8_t lobuf[65536],
				hibuf[65536];
	SfxSurfBound l = coded(lo->key, lo->len, lobuf, sizeof(lobuf)),
				h = coded(hi->key, hi->len, hibuf, sizeof(hibuf));

	return sfx_surf_lookup_range(s, &l, &h);
}

static bool
range_empty(const SfxSurfBound *lo, const SfxSurfBound *hi)
{
	size_t		a = 0,
				b = nkeys;

	while (a < b)
	{
		size_t		m = (a + b) / 2;

		if (sfx_cmp_bytes(keys[m].s, keys[m].len, lo->key, lo->len) < 0)
			a = m + 1;
		else
			b = m;
	}
	return a == nkeys || sfx_cmp_bytes(keys[a].s, keys[a].len, hi->key, hi->len) > 0;
}

static void
make_range(const Key *k, bool integers, uint8_t *buf, SfxSurfBound *lo, SfxSurfBound *hi)
{
	*lo = (SfxSurfBound) {k->s, k->len, true};
	memcpy(buf, k->s, k->len);
	if (integers)
	{
		for (int j = 2; j >= 0 && ++buf[j] == 0; j--)
			;
	}
	else
		buf[k->len - 1]++;
	*hi = (SfxSurfBound) {buf, k->len, true};
}

static void
probe(const SfxSurf *s, bool integers, double build)
{
	size_t		np = nabsent < NPROBE ? nabsent : NPROBE,
				fp = 0,
				rfp = 0,
				empty = 0,
				lost = 0;
	double		tp = 1e18,
				ta = 1e18,
				tr = 1e18;
	static uint8_t buf[65536];
	SfxSurfBound lo,
				hi;
	Key		   *present = malloc(NPROBE * sizeof(Key));
	uint8_t    *bytes;

	for (size_t i = 0; i < NPROBE; i++)
		present[i] = keys[rnd() % nkeys];
	bytes = gather(present, NPROBE);
	for (int round = 0; round < ROUNDS; round++)
	{
		double		t = now();
		uint64_t	n = 0,
					sum = 0;

		for (size_t i = 0; i < NPROBE; i++)
			n += (uint64_t) lookup(s, &present[i]);
		tp = now() - t < tp ? now() - t : tp;
		lost += NPROBE - n;
		t = now();
		fp = 0;
		for (size_t i = 0; i < np; i++)
			fp += (size_t) lookup(s, &absent[i]);
		ta = now() - t < ta ? now() - t : ta;
		t = now();
		for (size_t i = 0; i < np; i++)
		{
			make_range(&absent[i], integers, buf, &lo, &hi);
			sum += (uint64_t) lookup_range(s, &lo, &hi);
		}
		tr = now() - t < tr ? now() - t : tr;
		sink += sum;
	}
	for (size_t i = 0; i < np; i++)
	{
		make_range(&absent[i], integers, buf, &lo, &hi);
		if (range_empty(&lo, &hi))
		{
			empty++;
			rfp += lookup_range(s, &lo, &hi) != 0;
		}
	}
	printf("  hash %2d real %2d: %6.2f bits/key; FPR point %8.4f%%, range %8.4f%% (of %zu); ns: present %.0f, absent %.0f, range %.0f, "
		   "build per key %.0f%s\n", s->hashbits, s->realbits, 8.0 * (double) (s->size + code_size) / (double) nkeys,
		   100.0 * (double) fp / (double) np, 100.0 * (double) rfp / (double) (empty ? empty : 1), empty, tp / NPROBE,
		   ta / (double) np, tr / (double) np, build / (double) nkeys, lost ? " LOST KEYS" : "");
	fflush(stdout);
	free(bytes);
	free(present);
}

static void
describe(const SfxSurf *s)
{
	double		k = 8.0 / (double) nkeys;
	const struct
	{
		const char *name;
		const uint8_t *from,
				   *to;
	}			part[] = {
		{"dense", s->dense, s->code}, {"edges", s->blocks, s->buckets}, {"buckets", s->buckets, s->select}, {"select", s->select, s->haspath},
		{"haspath", s->haspath, s->ends}, {"ends", s->ends, s->once}, {"path numbers", s->once, s->starts},
		{"pool", s->starts, s->suffixes}
	};

	printf("  %u-bit labels in %u buckets, height %u, edges %.3f, nodes %.3f, paths %.3f, different %.4f per key, %zu dense nodes\n",
		   s->lwidth, 1u << s->bshift, s->height, (double) s->nedges / (double) nkeys, (double) s->nnodes / (double) nkeys,
		   (double) s->npaths / (double) nkeys, (double) s->ndict / (double) nkeys, (size_t) s->ndense);
	printf(" ");
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		printf(" %s %.2f", part[i].name, k * (double) (part[i].to - part[i].from));
	printf("\n");
}

/*
 * What the paper's LOUDS-DS takes: a node for each byte of each cut key, a byte's end of key where one key continues another; per sparse edge
 * 8 bits of label and two more, rank samples of 32 bits per 512 and select samples of 32 per 64 nodes; per dense node 513 bits and samples
 * per 64; the dense part at most 1/64 of the sparse one.
 */
static double
textbook_bits(const Key *key, size_t n)
{
	static uint64_t edges[65536],
				inner[65536];
	double		all = 0,
				sparse,
				dense = 0,
				best;
	uint32_t	lcp = 0,
				height = 0;

	memset(edges, 0, sizeof(edges));
	memset(inner, 0, sizeof(inner));
	inner[0] = 1;
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	next = i + 1 < n ? sfx_lcp(key[i].s, key[i].len, key[i + 1].s, key[i + 1].len) : 0,
					cut = (lcp > next ? lcp : next) + 1;

		height = cut > height ? cut : height;
		for (uint32_t d = lcp; d < cut; d++)
			edges[d]++;
		for (uint32_t d = lcp + 1; d < cut; d++)
			inner[d]++;
		lcp = next;
	}
	for (uint32_t d = 0; d < height; d++)
		all += (double) edges[d] * (10 + 2 * 32 / 512.0) + (double) inner[d] * 0.5;
	best = sparse = all;
	for (uint32_t d = 0; d < height; d++)
	{
		dense += (double) inner[d] * 513 * 1.25;
		sparse -= (double) edges[d] * (10 + 2 * 32 / 512.0) + (double) inner[d] * 0.5;
		if (dense * 64 <= sparse || dense + sparse < best)
			best = dense + sparse;
	}
	return best;
}

static void
run_codes(bool integers, const unsigned (*bits)[2], size_t n)
{
	for (size_t c = 0; c < n; c++)
	{
		SfxSurfAlloc alloc = {NULL, resize};
		SfxSurfBuild b;
		SfxSurf		s;
		uint64_t	size;
		uint8_t    *buf = NULL;
		static uint8_t kbuf[65536];
		double		best = 1e18;

		for (int round = 0; round < 3; round++)
		{
			double		t = now();

			free(buf);
			sfx_surf_build_init(&b, &alloc, bits[c][0], bits[c][1]);
			for (size_t i = 0; i < nkeys; i++)
			{
				SfxSurfBound k = coded(keys[i].s, keys[i].len, kbuf, sizeof(kbuf));

				sfx_surf_add(&b, k.key, k.len);
			}
			if (sfx_surf_size(&b, &size) != SFX_OK)
				exit(1);
			buf = malloc(size);
			if (sfx_surf_write(&b, buf, size) != SFX_OK)
				exit(1);
			best = now() - t < best ? now() - t : best;
			sfx_surf_build_free(&b);
		}
		if (sfx_surf_open(&s, buf, size) != SFX_OK || sfx_surf_check(&s) != NULL)
			exit(2);
		if (c == 0)
			describe(&s);
		probe(&s, integers, best);
		free(buf);
	}
}

/*
 * Filters as an index has them: a page of about PAGEKEYS neighbours each, without suffixes and with
 * four real bits.
 */
static void
run_pages(void)
{
	for (unsigned real = 0; real <= 4; real += 4)
	{
		uint64_t	sum = 0;
		double		textbook = 0,
					t = now();

		for (size_t from = 0; from < nkeys; from += PAGEKEYS)
		{
			SfxSurfAlloc alloc = {NULL, resize};
			SfxSurfBuild b;
			uint64_t	size;
			size_t		n = nkeys - from < PAGEKEYS ? nkeys - from : PAGEKEYS;

			sfx_surf_build_init(&b, &alloc, 0, real);
			for (size_t i = from; i < from + n; i++)
				sfx_surf_add(&b, keys[i].s, keys[i].len);
			if (sfx_surf_size(&b, &size) != SFX_OK)
				exit(1);
			sfx_surf_build_free(&b);
			sum += size;
		}
		t = now() - t;
		for (size_t from = 0; from < nkeys; from += PAGEKEYS)
			textbook += textbook_bits(keys + from, nkeys - from < PAGEKEYS ? nkeys - from : PAGEKEYS);
		printf("  filters of %d keys, real %u: %.2f bits/key, planned in %.0f ns per key; the textbook structure: %.2f and suffixes\n", PAGEKEYS, real,
			   8.0 * (double) sum / (double) nkeys, t / (double) nkeys, textbook / (double) nkeys);
	}
}

/*
 * The same filters over keys encoded with a dictionary of that scheme, made from every hundredth
 * key.
 */
static void
run_hope(const char *name, SfxHopeScheme scheme, const unsigned (*bits)[2], size_t n)
{
	uint32_t	limit = 65536,
				nsample = 0;
	SfxHopeKey *sample = malloc((nkeys / 100 + 1) * sizeof(SfxHopeKey));
	size_t		bytes = 0,
				plain = 0,
				enc = 0;
	uint8_t    *dict = malloc(SFX_HOPE_DICT_BOUND(scheme, limit));
	static uint8_t kbuf[65536];
	void	   *scratch,
			   *state;
	double		t = now();
	int			len;

	for (size_t i = 0; i < nkeys; i += 100)
	{
		sample[nsample++] = (SfxHopeKey) {keys[i].s, keys[i].len};
		bytes += keys[i].len;
	}
	scratch = malloc(sfx_hope_build_size(scheme, limit, bytes));
	len = sfx_hope_build(scheme, limit, sample, nsample, scratch, sfx_hope_build_size(scheme, limit, bytes), dict,
						 SFX_HOPE_DICT_BOUND(scheme, limit));
	if (len < 0)
		exit(3);
	code_size = (size_t) len;
	state = malloc(sfx_hope_state_size(dict, code_size));
	if (sfx_hope_open(state, sfx_hope_state_size(dict, code_size), dict, code_size) != SFX_OK)
		exit(3);
	code = state;
	t = now() - t;
	for (size_t i = 0; i < nkeys; i += 7)
	{
		plain += keys[i].len;
		enc += coded(keys[i].s, keys[i].len, kbuf, sizeof(kbuf)).len;
	}
	printf(" behind HOPE %s: keys of %.0f%%, a dictionary of %zu bytes (%.2f bits/key), made in %.2f s\n", name,
		   100.0 * (double) enc / (double) plain, code_size, 8.0 * (double) code_size / (double) nkeys, t / 1e9);
	run_codes(false, bits, n);
	code = NULL;
	code_size = 0;
	free(state);
	free(scratch);
	free(dict);
	free(sample);
}

static void
run(const char *name, bool integers, bool codes)
{
	static const unsigned bits[][2] = {{0, 0}, {8, 0}, {0, 4}, {0, 8}, {4, 4}, {0, 16}, {0, 24}, {1, 0}, {1, 4}, {1, 8}};
	static const unsigned less[][2] = {{0, 0}, {8, 0}, {0, 4}, {0, 6}, {0, 8}, {0, 10}, {0, 12}, {1, 0}};

	split();
	printf("%s: %zu keys, %zu absent; the textbook structure: %.2f bits/key and suffixes\n", name, nkeys, nabsent,
		   textbook_bits(keys, nkeys) / (double) nkeys);
	run_pages();
	run_codes(integers, bits, sizeof(bits) / sizeof(bits[0]));
	if (codes)
	{
		run_hope("Single-Char", SFX_HOPE_SINGLE, less, sizeof(less) / sizeof(less[0]));
		run_hope("3-Grams", SFX_HOPE_GRAM3, less, sizeof(less) / sizeof(less[0]));
		run_hope("ALM improved", SFX_HOPE_ALM_IMPROVED, less, sizeof(less) / sizeof(less[0]));
	}
	free(keys);
	free(key_bytes);
	free(absent);
	free(absent_bytes);
}

int
main(int argc, char **argv)
{
	char		line[4096];
	bool		codes = argc > 1 && strcmp(argv[1], "-c") == 0;

	if (argc > 2 && strcmp(argv[1], "-n") == 0)
	{
		integers((size_t) atol(argv[2]));
		run("random int8", true, false);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "-e") == 0)
	{
		emails(2000000);
		for (size_t i = 0; i < nall; i++)
			printf("%.*s\n", (int) all[i].len, (const char *) all[i].s);
		return 0;
	}
	if (argc < 2 + codes)
	{
		integers(1000000);
		run("random int8", true, false);
		emails(2000000);
		run("e-mail-like", false, codes);
	}
	for (int i = 1 + codes; i < argc; i++)
	{
		FILE	   *f = fopen(argv[i], "r");

		while (f != NULL && fgets(line, sizeof(line), f))
		{
			line[strcspn(line, "\n")] = '\0';
			add(line, (uint32_t) strlen(line));
		}
		if (f != NULL)
			fclose(f);
		run(argv[i], false, codes);
	}
	return 0;
}
