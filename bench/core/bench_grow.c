/*
 * Cut leaves while an index grows: rows that merges and lookups of absent keys visit, and bytes.
 *
 *	make bench-core, or bench_grow [keys, 1000000] [percent of growth between two merges, 10]
 *
 * Random keys of 64 bits come to those that are there, in merges that each rewrite all leaves.  Of
 * the old keys a merge knows what the leaves have; of one that a new key begins with it learns the
 * row's key, which is a visit.  Then as many come as go, at the same size.
 *
 * By line: keys; bytes of keys per entry; rows visited per merged row since the line before, and
 * since the beginning; of 100 absent keys those for which a row is visited, as
 * arithmetic of what is stored.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "bits.h"
#include "leaf.h"

#define CAP		8144

static uint64_t *key;			/* whole, in order, */
static uint8_t *bits;			/* so many of which are stored */
static uint64_t *tid;
static int	n;
static int	at;					/* of pages read so far */
static uint64_t keybytes;
static SfxBlock blk;
static double visits,
			merged;

/* What the page has of the keys from at on. */
static int
read_page(void *ctx, const SfxLeafOut *out)
{
	SfxLeaf		l;

	(void) ctx;
	if (sfx_leaf_open(&l, out->body, out->len, NULL) != SFX_OK)
		abort();
	for (int b = 0; b < l.nblocks; b++)
	{
		SfxBlockInfo info;

		if (sfx_leaf_decode(&l, b, NULL, NULL, &blk) != SFX_OK ||
			sfx_leaf_block_info(&l, b, &info) != SFX_OK)
			abort();
		keybytes += info.keys;
		for (int i = 0; i < blk.nent; i++, at++)
		{
			SfxEntry	e;

			sfx_block_entry(&blk, i, &e);
			bits[at] = (uint8_t) (8 * e.keylen - sfx_block_loose(&blk, i));
			if (e.tid != tid[at])
				abort();
		}
	}
	return SFX_OK;
}

/* All leaves anew. */
static void
pack(void)
{
	static void *mem;
	SfxPos		low = {NULL, 0, 0};
	SfxPacker  *p;

	if (mem == NULL)
		mem = malloc(sfx_packer_size());
	p = sfx_packer_init(mem, CAP, &low, read_page, NULL, NULL);
	sfx_packer_cut_keys(p, 1000);
	at = 0;
	keybytes = 0;
	for (int i = 0; i < n; i++)
	{
		uint8_t		bytes[8];
		uint32_t	len = (bits[i] + 7u) / 8;
		SfxEntry	e = {bytes, len, 0, NULL, tid[i]};

		sfx_store_be64(bytes, bits[i] < 64 ? key[i] & ~(UINT64_MAX >> bits[i]) : key[i]);
		if (sfx_packer_add_cut(p, &e, 8 * len - bits[i]) != SFX_OK)
			abort();
	}
	if (sfx_packer_finish(p, NULL) != SFX_OK || at != n)
		abort();
}

static int
cmp_key(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Does the key begin with what is stored of key i? */
static inline bool
begins(int i, uint64_t k)
{
	return bits[i] < 64 && ((k ^ key[i]) & ~(UINT64_MAX >> bits[i])) == 0;
}

/* m keys come. */
static void
merge(int m)
{
	uint64_t   *fresh = malloc((size_t) m * sizeof(uint64_t));
	int			to = n + m;

	for (int i = 0; i < m; i++)
		fresh[i] = rnd();
	qsort(fresh, (size_t) m, sizeof(uint64_t), cmp_key);
	for (int i = n - 1, j = m - 1; j >= 0;)
	{
		/* from the end on, so that there is room */
		if (i >= 0 && begins(i, fresh[j]))
		{
			bits[i] = 64;
			visits++;
		}
		if (i >= 0 && key[i] > fresh[j])
		{
			to--;
			key[to] = key[i];
			bits[to] = bits[i];
			tid[to] = tid[i];
			i--;
			continue;
		}
		to--;
		key[to] = fresh[j--];
		bits[to] = 64;
		tid[to] = SFX_TID(rnd() % 100000, 1 + rnd() % 200);
	}
	n += m;
	merged += m;
	free(fresh);
	pack();
}

/* m keys go, any. */
static void
drop(int m)
{
	int			left = 0,
				todo = m;

	for (int i = 0; i < n; i++)
	{
		if (rnd() % (uint64_t) (n - i) < (uint64_t) todo)
		{
			todo--;
			continue;
		}
		key[left] = key[i];
		bits[left] = bits[i];
		tid[left++] = tid[i];
	}
	n = left;
}

static void
line(const char *what)
{
	static double lastvisits,
				lastmerged;
	double		open = 0;

	for (int i = 0; i < n; i++)
		open += ldexp(1, -bits[i]);
	if (what)
		printf("%-24s %9d %6.3f %7.4f %7.4f %7.2f\n", what, n, (double) keybytes / n,
			   merged > lastmerged ? (visits - lastvisits) / (merged - lastmerged) : 0,
			   merged > 0 ? visits / merged : 0, 100 * open);
	lastvisits = visits;
	lastmerged = merged;
}

/* From first to last keys. */
static void
grow(const char *what, int first, int last, double by)
{
	double		next = first * 2;

	visits = merged = n = 0;
	merge(first);
	merged = visits = 0;
	line(NULL);
	line("as built");
	while (n < last)
	{
		int			m = (int) (n * by) + 1;

		merge(n + m > last ? last - n : m);
		if (n >= next || n == last)
		{
			line(what);
			next = n * 2;
		}
	}
}

int
main(int argc, char **argv)
{
	int			most = argc > 1 ? atoi(argv[1]) : 1000000;
	double		by = argc > 2 ? atof(argv[2]) / 100 : 0.1;

	sfx_cpu_init();
	key = malloc((size_t) most * 2 * sizeof(uint64_t));
	tid = malloc((size_t) most * 2 * sizeof(uint64_t));
	bits = malloc((size_t) most * 2);
	grow("grown from an eighth", most / 8, most, by);
	grow("grown from a 64th", most / 64, most, by);
	grow("grown from a thousand", 1000, most, by);
	grow("as built", most, most, by);
	for (int turn = 1; turn <= 40; turn++)
	{
		int			m = most / 10;

		drop(m);
		merge(m);
		if (turn % 10 == 0)
			line("a tenth goes and comes");
	}
	return 0;
}
