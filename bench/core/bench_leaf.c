/*
 * bench_leaf.c - leaf pages: bytes per entry; ns per entry to pack, decode and look up
 *
 *	find /usr > paths.txt
 *	cc -std=c11 -O2 -o bench_leaf bench/bench_leaf.c *.c -lm && ./bench_leaf && ./bench_leaf paths.txt
 *
 * Without arguments integers; with files, their lines, without a dictionary and with one of each
 * scheme (trained on the rests of keys themselves).
 *
 * Lookups go to the pages of one small set over and over (hot), or all over the index (cold: the
 * page's number is known, so the time is one page's).  Times are CPU times, in ns.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "cpu.h"
#include "leaf.h"

#define CAPACITY	8144
#define N			1000000
#define MAXPAGES	20000
#define LOOKUPS		400000

typedef struct Row
{
	uint32_t	off;
	uint32_t	len;
} Row;

static uint8_t *bytes;
static size_t used;
static Row *row;
static uint64_t *tid;
static int	n;

static uint8_t *pages;
static uint32_t pagelen[MAXPAGES];
static int	pagefirst[MAXPAGES + 1];
static int	npages;
static SfxBlock blk;
static SfxHope *dict;			/* NULL: none */
static SfxRestSample sample;
static bool sampling;

static int
keep(void *ctx, const SfxLeafOut *o)
{
	(void) ctx;
	if (npages == MAXPAGES)
		abort();
	memcpy(pages + (size_t) npages * 8192, o->body, o->len);
	pagelen[npages] = o->len;
	pagefirst[npages + 1] = pagefirst[npages] + (int) o->nentries;
	npages++;
	return 0;
}

static int
drop(void *ctx, const SfxLeafOut *o)
{
	*(uint64_t *) ctx += o->len;
	return 0;
}

static int
cmp_row(const void *a, const void *b)
{
	const Row  *x = a,
			   *y = b;

	return sfx_cmp_bytes(bytes + x->off, x->len, bytes + y->off, y->len);
}

static void
add(const void *key, uint32_t len)
{
	row[n++] = (Row) {(uint32_t) used, len};
	memcpy(bytes + used, key, len);
	used += len;
}

static void
add_int8(uint64_t v)
{
	uint8_t		k[9] = {1};

	v ^= UINT64_C(1) << 63;
	for (int i = 0; i < 8; i++)
		k[1 + i] = (uint8_t) (v >> (56 - 8 * i));
	add(k, 9);
}

static void
sort_rows(void)
{
	int			m = 0;
	size_t		at = 0;
	uint8_t    *sorted;

	qsort(row, (size_t) n, sizeof(Row), cmp_row);
	for (int i = 0; i < n; i++)
		if (m == 0 || cmp_row(&row[m - 1], &row[i]) != 0)
			row[m++] = row[i];
	n = m;

	/* a packer reads its keys in order */
	sorted = malloc(used + 1);
	for (int i = 0; i < n; i++)
	{
		memcpy(sorted + at, bytes + row[i].off, row[i].len);
		row[i].off = (uint32_t) at;
		at += row[i].len;
	}
	memcpy(bytes, sorted, at);
	free(sorted);
}

static int
cmp_tid(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static void
make_tids(int order)
{
	for (int i = 0; i < n; i++)
		tid[i] = SFX_TID(i / 185, i % 185 + 1);
	for (int i = n - 1; i > 0 && order; i--)
	{
		int			j = (int) (rnd() % (uint64_t) (i + 1));
		uint64_t	t = tid[i];

		tid[i] = tid[j];
		tid[j] = t;
	}
	/* a key's TIDs stand in order */
	for (int i = 0, j; i < n; i = j)
	{
		for (j = i + 1; j < n && cmp_row(&row[i], &row[j]) == 0; j++)
			;
		if (j > i + 1)
			qsort(tid + i, (size_t) (j - i), sizeof(uint64_t), cmp_tid);
	}
}

static void
pack_all(SfxLeafEmit emit, void *ctx)
{
	static void *mem;
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	SfxPacker  *p;

	if (!mem)
		mem = malloc(sfx_packer_size());
	p = sfx_packer_init(mem, CAPACITY, &low, emit, ctx, NULL);
	if (dict)
		sfx_packer_add_dict(p, dict, 1);
	if (sampling)
		sfx_packer_set_sample(p, &sample);
	for (int i = 0; i < n; i++)
	{
		SfxEntry	e = {bytes + row[i].off, row[i].len, 0, NULL, tid[i]};

		if (sfx_packer_add(p, &e) != SFX_OK)
			abort();
	}
	if (sfx_packer_finish(p, NULL) != SFX_OK)
		abort();
}

static double
time_decode(void)
{
	double		t = now();
	uint64_t	sum = 0;

	for (int i = 0; i < npages; i++)
	{
		SfxLeaf		l;

		sfx_leaf_open(&l, pages + (size_t) i * 8192, pagelen[i], NULL);
		l.dict = dict;
		for (int b = 0; b < l.nblocks; b++)
		{
			sfx_leaf_decode(&l, b, NULL, NULL, &blk);
			sum += (uint64_t) blk.nent;
		}
	}
	if (sum != (uint64_t) n)
		abort();
	return (now() - t) / n;
}

static double
time_tids(void)
{
	double		t = now();
	uint64_t	buf[SFX_BLOCK_ENTRIES];

	for (int i = 0; i < npages; i++)
	{
		SfxLeaf		l;

		sfx_leaf_open(&l, pages + (size_t) i * 8192, pagelen[i], NULL);
		l.dict = dict;
		for (int b = 0; b < l.nblocks; b++)
			sfx_leaf_tids(&l, b, buf);
	}
	return (now() - t) / n;
}

/* Lookups in pages [0, limit), of some keys over and over: the keys should be in the cache. */
static double
time_lookup(int limit, int some)
{
	static Row	r[LOOKUPS];
	static int	where[LOOKUPS];
	static uint64_t want[LOOKUPS];
	static uint8_t key[LOOKUPS / 8 * 400];
	size_t		at = 0;
	double		t;

	for (int i = 0; i < some; i++)
	{
		int			p = (int) (rnd() % (uint64_t) limit);
		int			e = pagefirst[p] + (int) (rnd() % (uint64_t) (pagefirst[p + 1] - pagefirst[p]));

		where[i] = p;
		want[i] = tid[e];
		r[i] = (Row) {(uint32_t) at, row[e].len};
		if (at + row[e].len > sizeof(key))
			abort();
		memcpy(key + at, bytes + row[e].off, row[e].len);
		at += row[e].len;
	}
	t = now();
	for (int i = 0, k = 0; i < LOOKUPS; i++, k = k + 1 < some ? k + 1 : 0)
	{
		SfxLeaf		l;
		SfxPos		lo = {key + r[k].off, r[k].len, want[k]};
		SfxPos		hi = {key + r[k].off, r[k].len, UINT64_MAX};

		if (sfx_leaf_open(&l, pages + (size_t) where[k] * 8192, pagelen[where[k]], NULL) != SFX_OK)
			abort();
		l.dict = dict;
		if (sfx_leaf_decode(&l, sfx_leaf_find_block(&l, &lo), &lo, &hi, &blk) != SFX_OK ||
			blk.nent < 1 || blk.tid[0] != want[k])
			abort();
	}
	return (now() - t) / LOOKUPS;
}

static void
run(const char *name)
{
	for (int order = 0; order < 2; order++)
	{
		uint64_t	len = 0;
		double		t,
					pack = 1e9;

		make_tids(order);
		npages = 0;
		pagefirst[0] = 0;
		pack_all(keep, NULL);
		for (int r = 0; r < 2; r++)
		{
			len = 0;
			t = now();
			pack_all(drop, &len);
			t = (now() - t) / n;
			pack = t < pack ? t : pack;
		}
		time_decode();
		printf("%-12s %-6s %8d entries %6d pages  %6.3f B/entry (%6.3f with page headers)  pack %5.1f  decode %5.2f  tids %5.2f  "
			   "lookup hot %5.0f  cold %5.0f ns\n", name, order ? "random" : "table", n, npages,
			   (double) len / n, npages * 8192.0 / n, pack, time_decode(), time_tids(), time_lookup(npages < 4 ? npages : 4, 4000),
			   time_lookup(npages, LOOKUPS / 8));
		fflush(stdout);
	}
}

static void
forget_rows(void)
{
	n = 0;
	used = 0;
}

static void
train(SfxHopeScheme scheme, uint32_t limit)
{
	static SfxHopeKey keys[SFX_SAMPLE_KEYS];
	size_t		cap = SFX_HOPE_DICT_BOUND(scheme, limit);
	uint8_t    *out = malloc(cap);
	size_t		size = sfx_hope_build_size(scheme, limit, sample.used);
	void	   *scratch = malloc(size);
	double		t = now();
	int			len = sfx_hope_build(scheme, limit, keys, sfx_sample_keys(&sample, keys), scratch, size, out, cap);

	if (len < 0)
		abort();
	t = now() - t;
	free(scratch);
	size = sfx_hope_state_size(out, (size_t) len);
	dict = malloc(size);
	if (sfx_hope_open(dict, size, out, (size_t) len) != SFX_OK)
		abort();
	printf("dictionary of %d bytes from %u bytes in %.1f ms\n", len, sample.used, t / 1e6);
	free(out);
}

static void
run_schemes(void)
{
	static const char *const name[] = {"single", "double", "3grams", "4grams", "alm", "alm_improved", "fsst"};
	uint64_t	len = 0;

	run("raw");
	sfx_sample_init(&sample);
	sampling = true;
	pack_all(drop, &len);
	sampling = false;
	for (int s = 0; s < SFX_FSST; s++)
	{
		train((SfxHopeScheme) (s + 1), s < 4 ? 16384 : 4096);
		run(name[s]);
		free(dict);
		dict = NULL;
	}
}

static void
read_paths(const char *file)
{
	static char line[8192];
	FILE	   *f = fopen(file, "r");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f) && n < N)
	{
		uint32_t	len = (uint32_t) strcspn(line, "\n");

		line[len] = 0;
		if (len > 0 && len < SFX_MAX_ENTRY)
			add(line, len + 1);
	}
	fclose(f);
	sort_rows();
}

int
main(int argc, char **argv)
{
	sfx_cpu_init();
	bytes = malloc((size_t) N * 200);
	row = malloc((size_t) N * sizeof(Row));
	tid = malloc((size_t) N * sizeof(uint64_t));
	pages = malloc((size_t) MAXPAGES * 8192);
	for (int i = 1; i < argc; i++)
	{
		printf("%s\n", argv[i]);
		read_paths(argv[i]);
		run_schemes();
		forget_rows();
	}
	if (argc > 1)
		return 0;
	for (int i = 0; i < N; i++)
		add_int8((uint64_t) i + 1);
	run("serial");
	forget_rows();
	for (int i = 0; i < N; i++)
		add_int8(rnd());
	sort_rows();
	run("random int8");
	forget_rows();
	for (int i = 0; i < N; i++)
		add_int8((uint64_t) i / 3 * 1000);
	run("3 per key");
	forget_rows();
	for (int i = 0; i < N; i++)
		add_int8((uint64_t) i / 100 * 1000);
	run("100 per key");
	forget_rows();
	for (int i = 0; i < N; i++)
	{
		uint64_t	a = rnd(),
					b = rnd();
		uint8_t		k[17] = {1};

		memcpy(k + 1, &a, 8);
		memcpy(k + 9, &b, 8);
		k[7] = (k[7] & 15) | 0x40;
		k[9] = (k[9] & 63) | 0x80;
		add(k, 17);
	}
	sort_rows();
	run("uuid");
	forget_rows();
	return 0;
}
