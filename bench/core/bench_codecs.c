/*
 * Sizes and times of the integer and TID codecs.
 *
 *	bench_codecs [level]		(make bench-core)
 *
 * level (scalar, popcnt, avx2, avx512): use the kernels of this level, not the processor's best.
 * Blocks of 256 out of what 10 M entries would have: enough of them that they are not all in the
 * first-level cache, so a time is that of a block in the second-level cache.  Times are the best of
 * several rounds.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "cpu.h"
#include "intcodec.h"
#include "tidcodec.h"

#define NBLOCKS		100
#define N			256
#define ROUNDS		9
#define PROBES		20000
#define TOTAL		10000000.0

static volatile uint64_t sink;

static double
uniform(void)
{
	return ((double) (rnd() >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t values[NBLOCKS][N];
static uint8_t encoded[NBLOCKS][SFX_INT_BOUND(N) + 8];
static int	sizes[NBLOCKS];
static int	probe_block[PROBES],
			probe_at[PROBES];

typedef enum Op
{
	ENCODE, DECODE, FIND, GET, NOPS
} Op;

/* Keep the best of several rounds' ns per item. */
#define BEST(best, nitems, body) \
	for (int round = 0; round < ROUNDS; round++) \
	{ \
		double		start = now(), \
					ns; \
		body \
		ns = (now() - start) / (nitems); \
		if (round == 0 || ns < best) \
			best = ns; \
	}

static void
bench_ints(const char *set, int codec)
{
	static const char *const name[] = {"best", "PLAIN", "FOR", "LFOR", "EF", "DBP", "PDBP", "VBYTE", "VARINTGB",
	"SVBYTE"};
	double		t[NOPS] = {0};
	uint64_t	out[N],
				sum = 0;
	double		bytes = 0;
	int			won[SFX_INT_CODECS] = {0};
	SfxInt		open;
	bool		equal;

	BEST(t[ENCODE], NBLOCKS * N,
		 for (int b = 0; b < NBLOCKS; b++)
			sizes[b] = codec == 0 ? sfx_int_encode(values[b], N, encoded[b], SFX_INT_BOUND(N)) :
				sfx_int_encode_as((SfxIntCodec) codec, values[b], N, encoded[b], SFX_INT_BOUND(N));
	)
	for (int b = 0; b < NBLOCKS; b++)
	{
		if (sizes[b] < 0)
			return;
		bytes += sizes[b];
		won[SFX_INT_CODEC(encoded[b][0])]++;
	}
	BEST(t[DECODE], NBLOCKS * N,
		 for (int b = 0; b < NBLOCKS; b++)
		 {
			 sfx_int_decode(encoded[b], (size_t) sizes[b], N, 0, N, out);
			 sum += out[b % N];
		 }
	)
	BEST(t[FIND], PROBES,
		 for (int p = 0; p < PROBES; p++)
		 {
			 sfx_int_open(&open, encoded[probe_block[p]], (size_t) sizes[probe_block[p]], N);
			 sum += (uint64_t) sfx_int_search(&open, values[probe_block[p]][probe_at[p]], &equal);
		 }
	)
	BEST(t[GET], PROBES,
		 for (int p = 0; p < PROBES; p++)
		 {
			 sfx_int_open(&open, encoded[probe_block[p]], (size_t) sizes[probe_block[p]], N);
			 sfx_int_at(&open, probe_at[p], out);
			 sum += out[0];
		 }
	)
	sink = sum;
	printf("%-12s %-8s %7.3f  encode %5.2f  decode %5.2f  find %6.1f  get %6.1f", set, name[codec],
		   bytes / (NBLOCKS * N), t[ENCODE], t[DECODE], t[FIND], t[GET]);
	for (int c = 1; c < SFX_INT_CODECS && codec == 0; c++)
		if (won[c] > 0)
			printf("  %s %d%%", name[c], won[c] * 100 / NBLOCKS);
	printf("\n");
}

static int
cmp64(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static void
int_set(const char *set)
{
	uint64_t	x = 1000000;

	for (int b = 0; b < NBLOCKS; b++)
	{
		for (int i = 0; i < N; i++)
		{
			double		gap = -log(uniform());

			if (strcmp(set, "random") == 0)
				x += (uint64_t) (gap * (18446744073709551616.0 / TOTAL));
			else if (strcmp(set, "timestamps") == 0)
				x += (uint64_t) (gap * 3e6) + 1;	/* one in 3 s, in microseconds */
			else if (strcmp(set, "serial") == 0)
				x++;
			else if (strcmp(set, "half gone") == 0)
				x += 1 + (rnd() & 1);
			else if (strcmp(set, "jitter") == 0)
				x += 60000000 + rnd() % 1000;
			else if (strcmp(set, "clusters") == 0)	/* 20 or so near each other, then far away: (customer, time) */
				x += rnd() % 20 == 0 ? rnd() >> 20 : rnd() % 1000;
			else if (strcmp(set, "few steps") == 0) /* ends of posting lists, most of one TID */
				x += rnd() % 50 == 0 ? rnd() % 20 : 0;
			else if (strcmp(set, "pairs") == 0)
				x = rnd() % 5 == 0 ? ((x >> 8) + 1) << 8 : x + 1;
			else
				x = rnd() >> 24;
			values[b][i] = x;
		}
	}
	if (strcmp(set, "unsorted") == 0)
		for (int b = 0; b < NBLOCKS; b++)
			if (b % 2)
				qsort(values[b], N, 8, cmp64);
	for (int codec = 0; codec < SFX_INT_CODECS; codec++)
		bench_ints(set, codec);
}

static void
bench_tids(const char *set, int codec, const uint16_t *ends, int nlists)
{
	static const char *const name[] = {"best", "PLAIN", "RUNS", "FOR", "ZIGZAG", "POSTING", "PATCHED"};
	double		t[NOPS] = {0};
	uint64_t	out[N],
				sum = 0;
	double		bytes = 0;
	int			won[SFX_TID_CODECS] = {0};

	BEST(t[ENCODE], NBLOCKS * N,
		 for (int b = 0; b < NBLOCKS; b++)
			sizes[b] = codec == 0 ? sfx_tid_encode(values[b], N, ends, nlists, encoded[b], SFX_TID_BOUND(N)) :
				sfx_tid_encode_as((SfxTidCodec) codec, values[b], N, ends, nlists, encoded[b], SFX_TID_BOUND(N));
	)
	for (int b = 0; b < NBLOCKS; b++)
	{
		if (sizes[b] < 0)
			return;
		bytes += sizes[b];
		won[encoded[b][0] & 7]++;
	}
	BEST(t[DECODE], NBLOCKS * N,
		 for (int b = 0; b < NBLOCKS; b++)
		 {
			 sfx_tid_decode(encoded[b], (size_t) sizes[b], N, ends, nlists, 0, N, out);
			 sum += out[b % N];
		 }
	)
	BEST(t[GET], PROBES,
		 for (int p = 0; p < PROBES; p++)
		 {
			 sfx_tid_decode(encoded[probe_block[p]], (size_t) sizes[probe_block[p]], N, ends, nlists,
							probe_at[p], probe_at[p] + 1, out);
			 sum += out[0];
		 }
	)
	sink = sum;
	printf("%-12s %-7s %6.3f  encode %5.2f  decode %5.2f  get %6.1f", set, name[codec],
		   bytes / (NBLOCKS * N), t[ENCODE], t[DECODE], t[GET]);
	for (int c = 1; c < SFX_TID_CODECS && codec == 0; c++)
		if (won[c] > 0)
			printf("  %s %d%%", name[c], won[c] * 100 / NBLOCKS);
	printf("\n");
}

static void
tid_set(const char *set, uint64_t rows)
{
	uint16_t	ends[3] = {100, 200, 256};
	bool		lists = strcmp(set, "lists of 100") == 0;
	uint64_t	row = 3000000;

	for (int b = 0; b < NBLOCKS; b++)
	{
		for (int i = 0; i < N; i++)
		{
			uint64_t	r = row++;

			if (strcmp(set, "random") == 0 || lists)
				r = rnd() % 10000000;
			else if (strcmp(set, "2% outliers") == 0 && rnd() % 50 == 0)
				r = rnd() % 10000000;
			else if (strcmp(set, "backward") == 0)
				r = 10000000 - r;
			else if (strcmp(set, "within 1000") == 0)
				r += rnd() % 1000;
			else if (strcmp(set, "within 10") == 0)
				r += rnd() % 10;
			else if (strcmp(set, "10, 2% out") == 0)
				r = rnd() % 50 == 0 ? rnd() % 10000000 : r + rnd() % 10;
			else if (strcmp(set, "one in 5") == 0)
				r = row += rnd() % 9;
			else if (strcmp(set, "2% dead") == 0 && rnd() % 50 == 0)
				r = row++;
			values[b][i] = SFX_TID(r / rows, r % rows + 1);
		}
		for (int l = 0; l < 3 && lists; l++)
			qsort(values[b] + 100 * l, l < 2 ? 100 : 56, 8, cmp64);
	}
	for (int codec = 0; codec < SFX_TID_CODECS; codec++)
		bench_tids(set, codec, lists ? ends : NULL, lists ? 3 : 0);
}

int
main(int argc, char **argv)
{
	static const char *const ints[] = {"random", "timestamps", "serial", "half gone", "jitter", "clusters", "few steps",
		"pairs", "unsorted"};
	static const char *const tids[] = {"random", "lists of 100", "table order", "2% dead", "2% outliers", "backward",
		"within 1000", "within 10", "10, 2% out", "one in 5"};

	sfx_cpu_init();
	for (int l = 0; l < SFX_CPU_LEVELS && argc > 1; l++)
		if (strcmp(argv[1], sfx_cpu_name((SfxCpuLevel) l)) == 0 && !sfx_cpu_pin((SfxCpuLevel) l))
			return 1;
	printf("kernels: %s\n", sfx_cpu_name(sfx_cpu_level()));
	for (int p = 0; p < PROBES; p++)
	{
		probe_block[p] = (int) (rnd() % NBLOCKS);
		probe_at[p] = (int) (rnd() % N);
	}
	printf("integers: bytes per value; ns per value to encode and decode, ns per find and get\n");
	for (size_t s = 0; s < sizeof(ints) / sizeof(*ints); s++)
		int_set(ints[s]);
	printf("TIDs, 226 rows per heap page: the same\n");
	for (size_t s = 0; s < sizeof(tids) / sizeof(*tids); s++)
		tid_set(tids[s], 226);
	printf("TIDs, 8 rows per heap page\n");
	tid_set("table order", 8);
	tid_set("2% dead", 8);
	return 0;
}
