/*
 * bench_seeks.c - SuRF by the length of its suffixes: bits, false positives, times of point, open
 * and closed seeks, by one thread and by several
 *
 *	bench_seeks [-n entries] [-t threads]		(bench/papers/surf.sh)
 *
 * Lines of "set, series, x, metric, value" with tabs; series: base, hash, real, mixed (half of the
 * bits each), and Bloom; x: bits a key, or threads.  Keys: random int8; made-up e-mails, host
 * first.
 *
 * One key in ten is left out.  Points: half of them such absent keys, which tell the false
 * positives.  Open seeks: the first key not below an absent one.  Closed seeks: is there a key from
 * the absent one to 2^40 above it (int8), or to the same with its last byte raised (e-mails)?
 * Those that hold keys do not count as errors.  Mixed: half points, half closed seeks.  Times are
 * CPU times of a probe, the best of ROUNDS; of several threads each one's own, and the sum of their
 * rates by the clock.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>

#include "hash.h"
#include "keyset.h"
#include "made.h"
#include "../../src/core/test/resize.h"
#include "../../src/core/test/surf_iter.h"

#define ROUNDS	3
#define PROBES	100000

typedef struct Range
{
	Key			low,
				high;
	bool		empty;
} Range;

static const char *set;
static Key *point;				/* present and absent ones in turn */
static Range *range;
static volatile uint64_t sink;

static void
tell(const char *series, double x, const char *metric, double v)
{
	printf("%s\t%s\t%.4g\t%s\t%.5g\n", set, series, x, metric, v);
	fflush(stdout);
}

static bool
range_empty(const Range *r)
{
	size_t		a = 0,
				b = nkeys;

	while (a < b)
	{
		size_t		m = (a + b) / 2;

		if (cmp_key(&keys[m], &r->low) < 0)
			a = m + 1;
		else
			b = m;
	}
	return a == nkeys || cmp_key(&keys[a], &r->high) > 0;
}

static void
make_probes(bool integer_keys)
{
	point = malloc(PROBES * sizeof(Key));
	range = malloc(PROBES * sizeof(Range));
	for (size_t i = 0; i < PROBES; i++)
	{
		Key		   *low = &absent[i % nabsent];
		uint8_t    *high = malloc(low->len);

		point[i] = i % 2 ? *low : keys[rnd() % nkeys];
		memcpy(high, low->s, low->len);
		if (integer_keys)
			for (int j = 2; j >= 0 && ++high[j] == 0; j--)
				;
		else
			high[low->len - 2]++;	/* (the last one is the end's zero) */
		range[i] = (Range) {*low, {high, low->len}, false};
		range[i].empty = range_empty(&range[i]);
	}
	gather(point, PROBES);
}

/* ---- SuRF ---- */

static bool
seek_closed(const SfxSurf *s, const Range *r)
{
	SfxSurfBound low = {r->low.s, r->low.len, true},
				high = {r->high.s, r->high.len, true};

	return sfx_surf_lookup_range(s, &low, &high) == 1;
}

static double
time_points(const SfxSurf *s)
{
	uint64_t	found = 0;
	double		t = now();

	for (int i = 0; i < PROBES; i++)
		found += (uint64_t) sfx_surf_lookup(s, point[i].s, point[i].len);
	sink += found;
	return (now() - t) / PROBES;
}

static double
time_closed(const SfxSurf *s)
{
	uint64_t	found = 0;
	double		t = now();

	for (int i = 0; i < PROBES; i++)
		found += seek_closed(s, &range[i]);
	sink += found;
	return (now() - t) / PROBES;
}

static double
time_open(const SfxSurf *s)
{
	SfxSurfIter it;
	void	   *memory = malloc(sfx_surf_iter_size(s));
	bool		fp;
	double		t;

	sfx_surf_iter_init(&it, s, memory);
	t = now();
	for (int i = 0; i < PROBES; i++)
		sink += (uint64_t) sfx_surf_seek(&it, range[i].low.s, range[i].low.len, &fp);
	t = now() - t;
	free(memory);
	return t / PROBES;
}

static double
best_of(double (*f) (const SfxSurf *), const SfxSurf *s)
{
	double		best = f(s);

	for (int round = 1; round < ROUNDS; round++)
		best = fmin(best, f(s));
	return best;
}

static void
tell_errors(const char *series, double bits, double points, double ranges, double empty)
{
	tell(series, bits, "wrong points, %", 100 * points / (PROBES / 2));
	if (empty > 0)
	{
		tell(series, bits, "wrong closed seeks, %", 100 * ranges / empty);
		tell(series, bits, "wrong of both, %", 50 * (points / (PROBES / 2) + ranges / empty));
	}
}

static uint8_t *
make_surf(SfxSurf *s, unsigned hash, unsigned real, uint64_t *size)
{
	SfxSurfAlloc alloc = {NULL, resize};
	SfxSurfBuild b;
	uint8_t    *bytes;

	sfx_surf_build_init(&b, &alloc, hash, real);
	for (size_t i = 0; i < nkeys; i++)
		sfx_surf_add(&b, keys[i].s, keys[i].len);
	if (sfx_surf_size(&b, size) != SFX_OK || (bytes = malloc(*size)) == NULL ||
		sfx_surf_write(&b, bytes, *size) != SFX_OK ||
		sfx_surf_open(s, bytes, *size) != SFX_OK)
		exit(1);
	sfx_surf_build_free(&b);
	return bytes;
}

static void
run_surf(const char *series, unsigned hash, unsigned real)
{
	SfxSurf		s;
	uint64_t	size;
	double		start = now(),
				points = 0,
				ranges = 0,
				empty = 0,
				bits;
	uint8_t    *bytes = make_surf(&s, hash, real, &size);

	bits = 8.0 * (double) size / (double) nkeys;
	tell(series, bits, "build, ns a key", (now() - start) / (double) nkeys);
	for (int i = 0; i < PROBES; i++)
	{
		points += i % 2 && sfx_surf_lookup(&s, point[i].s, point[i].len) == 1;
		empty += range[i].empty;
		ranges += range[i].empty && seek_closed(&s, &range[i]);
	}
	tell_errors(series, bits, points, ranges, empty);
	tell(series, bits, "point, ns", best_of(time_points, &s));
	tell(series, bits, "open seek, ns", best_of(time_open, &s));
	tell(series, bits, "closed seek, ns", best_of(time_closed, &s));
	free(bytes);
}

/* ---- a Bloom filter beside it: so many bits a key, ln 2 times as many probes ---- */

static void
run_bloom(int bits)
{
	uint64_t	m = (uint64_t) bits * nkeys;
	uint64_t   *map = calloc(m / 64 + 1, 8);
	int			probes = (int) (bits * 0.693 + 0.5);
	double		wrong = 0,
				best = 1e18;

	for (size_t i = 0; i < nkeys; i++)
	{
		uint64_t	h = sfx_hash_key(keys[i].s, keys[i].len),
					step = sfx_hash_mix(h) | 1;

		for (int p = 0; p < probes; p++, h += step)
			map[h % m / 64] |= UINT64_C(1) << h % m % 64;
	}
	for (int round = 0; round < ROUNDS; round++)
	{
		double		t = now();

		wrong = 0;
		for (int i = 0; i < PROBES; i++)
		{
			uint64_t	h = sfx_hash_key(point[i].s, point[i].len),
						step = sfx_hash_mix(h) | 1;
			int			p = 0;

			for (; p < probes; p++, h += step)
				if (!(map[h % m / 64] >> h % m % 64 & 1))
					break;
			wrong += i % 2 && p == probes;
		}
		best = fmin(best, now() - t);
	}
	tell_errors("Bloom", bits, wrong, 0, 0);
	tell("Bloom", bits, "point, ns", best / PROBES);
	free(map);
}

/* ---- threads ---- */

typedef struct Thread
{
	const SfxSurf *s;
	pthread_t	id;
	double		cpu[2],			/* ns a probe */
				clock[2];
	uint64_t	sum;
} Thread;

static double
clock_of(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static void *
work(void *arg)
{
	Thread	   *t = arg;

	for (int closed = 0; closed < 2; closed++)
	{
		double		cpu = clock_of(CLOCK_THREAD_CPUTIME_ID),
					start = clock_of(CLOCK_MONOTONIC);

		for (int round = 0; round < ROUNDS; round++)
			for (int i = 0; i < PROBES; i++)
				t->sum += closed ? (uint64_t) seek_closed(t->s, &range[i]) :
					(uint64_t) sfx_surf_lookup(t->s, point[i].s, point[i].len);
		t->cpu[closed] = (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu) / PROBES / ROUNDS;
		t->clock[closed] = (clock_of(CLOCK_MONOTONIC) - start) / PROBES / ROUNDS;
	}
	return NULL;
}

static void
run_threads(int most)
{
	SfxSurf		s;
	uint64_t	size;
	uint8_t    *bytes = make_surf(&s, 0, 4, &size);

	for (int n = 1; n <= most; n *= 2)
	{
		Thread	   *t = calloc((size_t) n, sizeof(*t));
		double		cpu[2] = {0},
					rate[2] = {0};

		for (int i = 0; i < n; i++)
		{
			t[i].s = &s;
			if (pthread_create(&t[i].id, NULL, work, &t[i]) != 0)
				exit(1);
		}
		for (int i = 0; i < n; i++)
		{
			pthread_join(t[i].id, NULL);
			sink += t[i].sum;
			for (int c = 0; c < 2; c++)
			{
				cpu[c] += t[i].cpu[c] / n;
				rate[c] += 1e3 / t[i].clock[c];
			}
		}
		tell("point", n, "by threads: CPU, ns", cpu[0]);
		tell("closed seek", n, "by threads: CPU, ns", cpu[1]);
		tell("point", n, "by threads: million a second", rate[0]);
		tell("closed seek", n, "by threads: million a second", rate[1]);
		free(t);
	}
	free(bytes);
}

static void
run(const char *name, bool integer_keys, size_t n, int threads)
{
	set = name;
	seed = 7;
	for (size_t i = 0; i < n + n / 9; i++)
	{
		char		s[401];

		add(s, (uint32_t) made_key(s, integer_keys));
	}
	split();
	make_probes(integer_keys);
	run_surf("base", 0, 0);
	for (unsigned bits = 2; bits <= 8; bits += 2)
	{
		run_surf("hash", bits, 0);
		run_surf("real", 0, bits);
		run_surf("mixed", bits / 2, bits / 2);
	}
	for (int bits = 8; bits <= 20; bits += 2)
		run_bloom(bits);
	run_threads(threads);
}

int
main(int argc, char **argv)
{
	size_t		n = 1000000;
	int			threads = 4;

	for (int i = 1; i + 1 < argc; i += 2)
		if (strcmp(argv[i], "-n") == 0)
			n = (size_t) atol(argv[i + 1]);
		else if (strcmp(argv[i], "-t") == 0)
			threads = atoi(argv[i + 1]);
	run("int8", true, n, threads);
	run("e-mails", false, n, threads);
	return 0;
}
