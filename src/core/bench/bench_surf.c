/*
 * SuRF: bits per key, false positives of points and ranges, times of probes and of the build.
 *
 *	cc -std=c11 -O2 -o bench_surf surf*.c bench/bench_surf.c
 *	find / -xdev 2>/dev/null | LC_ALL=C sort -u > paths; ./bench_surf paths
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
#include <time.h>
#include "../surf_format.h"

#define ROUNDS	5
#define NPROBE	200000

typedef struct Key
{
	const uint8_t *s;
	uint32_t	len;
} Key;

static Key *all;
static size_t nall,
			room;
static Key *keys,
		   *absent;
static size_t nkeys,
			nabsent;
static uint8_t *absent_bytes;
static uint64_t seed;
static volatile uint64_t sink;

static uint64_t
rnd(void)
{
	uint64_t	z = (seed += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static void *
resize(void *ctx, void *old, size_t oldsize, size_t newsize)
{
	(void) ctx;
	(void) oldsize;
	if (newsize == 0)
	{
		free(old);
		return NULL;
	}
	return realloc(old, newsize);
}

static void
add(const void *s, uint32_t len)
{
	uint8_t    *p = malloc(len + 1);

	if (nall == room)
		all = realloc(all, (room = room ? 2 * room : 1024) * sizeof(Key));
	memcpy(p, s, len);
	all[nall++] = (Key) {p, len};
}

static int
cmp_key(const void *x, const void *y)
{
	const Key  *a = x,
			   *b = y;

	return sfx_cmp_bytes(a->s, a->len, b->s, b->len);
}

static void
shuffle(Key *k, size_t n)
{
	for (size_t i = n; i > 1; i--)
	{
		size_t		j = rnd() % i;
		Key			t = k[i - 1];

		k[i - 1] = k[j];
		k[j] = t;
	}
}

/* Copies of keys one behind the other, so that fetching a probe costs no cache miss. */
static uint8_t *
gather(Key *k, size_t n)
{
	size_t		sum = 0;
	uint8_t    *buf,
			   *p;

	for (size_t i = 0; i < n; i++)
		sum += k[i].len;
	p = buf = malloc(sum + 1);
	for (size_t i = 0; i < n; i++)
	{
		memcpy(p, k[i].s, k[i].len);
		k[i].s = p;
		p += k[i].len;
	}
	return buf;
}

/* Sort, drop duplicates, and set every tenth aside. */
static void
split(void)
{
	size_t		n = 0;

	qsort(all, nall, sizeof(Key), cmp_key);
	for (size_t i = 0; i < nall; i++)
		if (n == 0 || cmp_key(&all[n - 1], &all[i]) != 0)
			all[n++] = all[i];
		else
			free((void *) all[i].s);
	nall = n;
	keys = malloc((n + 1) * sizeof(Key));
	absent = malloc((n + 1) * sizeof(Key));
	nkeys = nabsent = 0;
	for (size_t i = 0; i < n; i++)
		if (rnd() % 10 == 0)
			absent[nabsent++] = all[i];
		else
			keys[nkeys++] = all[i];
	shuffle(absent, nabsent);
	absent_bytes = gather(absent, nabsent);
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
				tr = 1e18,
				tc = 1e18;
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
			n += (uint64_t) sfx_surf_lookup(s, present[i].s, present[i].len, NULL);
		tp = now() - t < tp ? now() - t : tp;
		lost += NPROBE - n;
		t = now();
		fp = 0;
		for (size_t i = 0; i < np; i++)
			fp += (size_t) sfx_surf_lookup(s, absent[i].s, absent[i].len, NULL);
		ta = now() - t < ta ? now() - t : ta;
		t = now();
		for (size_t i = 0; i < np; i++)
		{
			make_range(&absent[i], integers, buf, &lo, &hi);
			sum += (uint64_t) sfx_surf_lookup_range(s, &lo, &hi);
		}
		tr = now() - t < tr ? now() - t : tr;
		t = now();
		for (size_t i = 0; i < np / 10; i++)
		{
			const Key  *a = &present[i],
					   *b = &absent[i];
			bool		less = cmp_key(a, b) < 0;

			lo = (SfxSurfBound) {less ? a->s : b->s, less ? a->len : b->len, true};
			hi = (SfxSurfBound) {less ? b->s : a->s, less ? b->len : a->len, true};
			sfx_surf_count(s, &lo, &hi, &n);
			sum += n;
		}
		tc = now() - t < tc ? now() - t : tc;
		sink += sum;
	}
	for (size_t i = 0; i < np; i++)
	{
		make_range(&absent[i], integers, buf, &lo, &hi);
		if (range_empty(&lo, &hi))
		{
			empty++;
			rfp += sfx_surf_lookup_range(s, &lo, &hi) != 0;
		}
	}
	printf("  hash %2d real %2d: %6.2f bits/key; FPR point %8.4f%%, range %8.4f%% (of %zu); ns: present %.0f, absent %.0f, range %.0f, "
		   "count %.0f, build per key %.0f%s\n", s->hashbits, s->realbits, 8.0 * (double) s->size / (double) nkeys,
		   100.0 * (double) fp / (double) np, 100.0 * (double) rfp / (double) (empty ? empty : 1), empty, tp / NPROBE,
		   ta / (double) np, tr / (double) np, tc / (double) (np / 10), build / (double) nkeys, lost ? " LOST KEYS" : "");
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
		{"dense", s->dense, s->code}, {"edges", s->blocks, s->select}, {"select", s->select, s->haspath},
		{"haspath", s->haspath, s->ends}, {"ends", s->ends, s->kinds}, {"path numbers", s->kinds, s->starts},
		{"pool", s->starts, s->suffixes}
	};

	printf("  %u-bit labels, height %u, edges %.3f, nodes %.3f, paths %.3f, different %.4f per key, %zu dense nodes\n",
		   s->lwidth, s->height, (double) s->nedges / (double) nkeys, (double) s->nnodes / (double) nkeys,
		   (double) s->npaths / (double) nkeys, (double) s->ndict / (double) nkeys, (size_t) s->ndense);
	printf(" ");
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		printf(" %s %.2f", part[i].name, k * (double) (part[i].to - part[i].from));
	printf("\n");
}

static void
run(const char *name, bool integers)
{
	static const unsigned bits[][2] = {{0, 0}, {8, 0}, {0, 4}, {0, 8}, {4, 4}, {0, 16}, {0, 24}};

	split();
	printf("%s: %zu keys, %zu absent\n", name, nkeys, nabsent);
	for (size_t c = 0; c < sizeof(bits) / sizeof(bits[0]); c++)
	{
		SfxSurfAlloc alloc = {NULL, resize};
		SfxSurfBuild b;
		SfxSurf		s;
		uint64_t	size;
		uint8_t    *buf = NULL;
		double		best = 1e18;

		for (int round = 0; round < 3; round++)
		{
			double		t = now();

			free(buf);
			sfx_surf_build_init(&b, &alloc, bits[c][0], bits[c][1]);
			for (size_t i = 0; i < nkeys; i++)
				sfx_surf_add(&b, keys[i].s, keys[i].len);
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
	for (size_t i = 0; i < nall; i++)
		free((void *) all[i].s);
	free(keys);
	free(absent);
	free(absent_bytes);
	nall = 0;
}

static void
integers(size_t n)
{
	for (size_t i = 0; i < n + n / 9; i++)
	{
		uint64_t	v = rnd();

		add(&v, 8);
	}
}

static void
emails(size_t n)
{
	static const char *const first[] = {"james", "mary", "john", "patricia", "robert", "jennifer", "michael", "linda",
	"william", "elizabeth", "david", "barbara", "richard", "susan", "joseph", "jessica", "thomas", "sarah", "karen", "daniel", "lisa",
	"matthew", "anthony", "mark", "sandra", "steven", "kimberly", "paul", "emily", "andrew", "donna", "kevin", "brian",
	"laura", "jason", "helen", "ryan", "gary", "amy", "eric", "anna", "ruth", "scott", "frank"};
	static const char *const last[] = {"smith", "johnson", "williams", "brown", "jones", "garcia", "miller", "davis",
	"martinez", "lopez", "gonzalez", "wilson", "anderson", "taylor", "moore", "jackson", "lee", "perez", "thompson", "white", "harris",
	"clark", "lewis", "robinson", "walker", "young", "allen", "king", "wright", "torres", "nguyen", "hill", "flores",
	"green", "adams", "nelson", "baker", "hall", "rivera", "campbell", "mitchell", "carter", "roberts"};
	static const char *const syl[] = {"an", "ber", "ca", "dor", "el", "fra", "gi", "har", "is", "jo", "ka", "lin", "mar",
	"ne", "o", "pe", "qui", "ro", "sa", "tho", "u", "vi", "wil", "xa", "y", "zo"};
	static const char *const host[] = {"com.gmail", "com.yahoo", "com.hotmail", "com.aol", "de.gmx", "net.comcast", "com.msn"};
	static const char *const tld[] = {"com", "com", "com", "net", "org", "de", "co.uk", "edu", "fr", "it"};
	static const char sep[] = "._-";
	char		b[200];

	for (size_t i = 0; i < n + n / 9; i++)
	{
		int			k;

		if (rnd() % 10 < 6)
			k = sprintf(b, "%s@", host[rnd() % 7 * (rnd() % 7) / 6]);
		else
		{
			k = sprintf(b, "%s.", tld[rnd() % 10]);
			for (int j = 2 + (int) (rnd() % 2); j > 0; j--)
				k += sprintf(b + k, "%s", syl[rnd() % 26 * (rnd() % 26) / 25]);
			k += sprintf(b + k, "@");
		}
		switch (rnd() % 4)
		{
			case 0:
				k += sprintf(b + k, "%s%c%s", first[rnd() % 44], sep[rnd() % 3], last[rnd() % 43]);
				break;
			case 1:
				k += sprintf(b + k, "%c%s", (int) ('a' + rnd() % 26), last[rnd() % 43]);
				break;
			case 2:
				k += sprintf(b + k, "%s", first[rnd() % 44]);
				break;
			default:
				for (int j = 2 + (int) (rnd() % 3); j > 0; j--)
					k += sprintf(b + k, "%s", syl[rnd() % 26]);
		}
		if (rnd() % 4)
			k += sprintf(b + k, "%d", (int) (rnd() % (rnd() % 2 ? 100 : 10000)));
		add(b, (uint32_t) k);
	}
}

int
main(int argc, char **argv)
{
	char		line[4096];

	if (argc > 2 && strcmp(argv[1], "-n") == 0)
	{
		integers((size_t) atol(argv[2]));
		run("random int8", true);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "-e") == 0)
	{
		emails(2000000);
		for (size_t i = 0; i < nall; i++)
			printf("%.*s\n", (int) all[i].len, (const char *) all[i].s);
		return 0;
	}
	if (argc < 2)
	{
		integers(1000000);
		run("random int8", true);
		emails(2000000);
		run("e-mail-like", false);
	}
	for (int i = 1; i < argc; i++)
	{
		FILE	   *f = fopen(argv[i], "r");

		while (f != NULL && fgets(line, sizeof(line), f))
		{
			line[strcspn(line, "\n")] = '\0';
			add(line, (uint32_t) strlen(line));
		}
		if (f != NULL)
			fclose(f);
		run(argv[i], false);
	}
	return 0;
}
