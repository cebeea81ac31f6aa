/*
 * Children per inner page and time of a find in a hot page, trie beside front coding.
 *
 *	cc -std=c11 -O2 -o bench_inner louds.c inner.c bench/bench_inner.c
 *	find / -xdev 2>/dev/null | LC_ALL=C sort > paths; ./bench_inner paths
 *
 * Keys are sorted and cut into leaves of equal entry counts; a separator is the shortest one at the cut, or the
 * shortest of all cuts within the last 5% of the leaf.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "../inner.h"

#define CAP		8144
#define NPROBE	16384	/* enough that branch prediction cannot learn them */

typedef struct Key
{
	uint8_t    *s;
	uint32_t	len;
} Key;

static Key *keys;
static int	nkeys,
			roomkeys;
static SfxChild *sep;
static int	nsep;
static uint64_t seed = 1;
static uint8_t body[CAP];
static volatile int sink;

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

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

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

/* Pages over all separators: mean children, and nanoseconds per find in the middle one. */
static void
measure(SfxInnerFormat f, void *scratch)
{
	int			pages = 0,
				middle = 0,
				middlen = 0;
	int			at = 0;
	double		build = now(),
				t[4] = {1e18, 1e18, 1e18, 1e18};
	static SfxPos probe[NPROBE];
	SfxInner	p;
	int			len;

	while (at < nsep)
	{
		int			lo = 1,
					hi = nsep - at < SFX_INNER_MAXCHILDREN ? nsep - at : SFX_INNER_MAXCHILDREN;

		while (lo < hi)
		{
			int			mid = (lo + hi + 1) / 2;

			if (sfx_inner_build_as(f, sep + at, mid, at + mid < nsep ? &sep[at + mid].low : NULL, body, CAP, scratch, NULL) > 0)
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
	len = sfx_inner_build_as(f, sep + middle, middlen, middle + middlen < nsep ? &sep[middle + middlen].low : NULL,
							 body, CAP, scratch, NULL);
	if (len < 0 || sfx_inner_open(&p, body, (uint32_t) len, NULL) < 0)
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
		probe[i] = pos(&keys[klo + (int) (rnd() % (uint64_t) (khi - klo))]);
		memcpy(copy + used, probe[i].key, probe[i].len);
		probe[i].key = copy + used;
		used += probe[i].len;
	}
	for (int round = 0; round < 20; round++)
	{
		double		t0 = now();

		for (int i = 0; i < NPROBE; i++)
			sink = sfx_inner_find(&p, &probe[i]);
		double		t1 = now();

		/* each probe depends on the answer before, as in a descent */
		int			r = 0;

		for (int i = 0; i < NPROBE; i++)
			r = sfx_inner_find(&p, &probe[i ^ (r < 0)]);
		sink = r;
		double		t2 = now();

		for (int i = 0; i < NPROBE; i++)
		{
			SfxInner	q;
			uint32_t	blk;
			uint64_t	count;

			sfx_inner_open(&q, body, (uint32_t) len, NULL);
			r = sfx_inner_find(&q, &probe[i ^ (r < 0)]);
			sfx_inner_child(&q, r, &blk, &count);
			sink = (int) (blk + (uint32_t) count);
		}
		double		t3 = now();

		t[0] = t1 - t0 < t[0] ? t1 - t0 : t[0];
		t[1] = t2 - t1 < t[1] ? t2 - t1 : t[1];
		t[2] = t3 - t2 < t[2] ? t3 - t2 : t[2];
	}
	free(copy);
	printf("  %-6s %6.0f children/page (%d bytes for %d), find %4.0f ns, dependent %4.0f ns, open+find+child %4.0f ns, fit+build %.2f ms\n",
		   f == SFX_INNER_TRIE ? "trie" : "front", (double) at / pages, len, middlen,
		   t[0] / NPROBE, t[1] / NPROBE, t[2] / NPROBE, build / 1e6);
}

static void
run(const char *name, int per)
{
	void	   *scratch = malloc(sfx_inner_scratch_size());

	qsort(keys, (size_t) nkeys, sizeof(Key), cmp_key);
	for (int moved = 0; moved < 2; moved++)
	{
		make_seps(per, moved ? per / 20 : 0);
		printf("%s, %d keys, %d leaves%s\n", name, nkeys, nsep, moved ? ", boundary may move 5%" : "");
		measure(SFX_INNER_FRONT, scratch);
		measure(SFX_INNER_TRIE, scratch);
	}
	free(scratch);
	for (int i = 0; i < nkeys; i++)
		free(keys[i].s);
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
	run("random int8", 950);
	emails(2000000);
	run("e-mails (made up)", 900);
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f))
		add(line, (uint32_t) strcspn(line, "\n") + 1);
	for (int i = 0; i < nkeys; i++)
		keys[i].s[keys[i].len - 1] = 0;
	run("file paths", 600);
	return 0;
}
