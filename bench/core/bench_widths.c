/*
 * bench_widths.c - codecs of sorted integers by the width of their differences and by block size
 *
 *	bench_widths [-n integers]		(bench/papers/integers.sh)
 *
 * As Lemire and Rupp measure (Upscaledb, 2017): sorted 32-bit integers whose differences are random
 * and have so many bits, in blocks of 128 and 256.  Lines of "block, codec, bits of a difference,
 * metric, value" with tabs: bits per integer; ns to encode and decode an integer, to get the one at
 * a place, to find one (lower bound), to add one to a block that is not full, and to sum up (per
 * integer).  "array" are the integers as they are.  Times are CPU times, the best of ROUNDS.
 *
 * Codecs here have no insert of their own, as no leaf has: a block is decoded and encoded anew.
 * "best" is what a leaf does: the smallest codec, chosen block by block.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cpu.h"
#include "intcodec.h"

#define ROUNDS	5
#define PROBES	20000

static uint64_t *value;
static uint8_t *packed;
static int *size;
static int	n,
			nblocks,
			block;
static size_t stride;
static volatile uint64_t sink;

/* The array beside the codecs: the integers themselves, of 32 bits. */
static uint32_t *plain;

#define BEST(t, items, ...) \
	for (int round = 0; round < ROUNDS; round++) \
	{ \
		double		start = now(), \
					ns; \
		__VA_ARGS__ \
		ns = (now() - start) / (items); \
		t = round == 0 || ns < t ? ns : t; \
	}

static void
tell(const char *codec, int width, const char *metric, double v)
{
	printf("%d\t%s\t%d\t%s\t%.4g\n", block, codec, width, metric, v);
}

static int
encode(int codec, const uint64_t *v, int count, uint8_t *out)
{
	return codec == 0 ? sfx_int_encode(v, count, out, stride) :
		sfx_int_encode_as((SfxIntCodec) codec, v, count, out, stride);
}

static void
measure_codec(const char *name, int codec, int width, const int *place)
{
	double		t[6] = {0},
				bytes = 0;
	uint64_t	out[SFX_INT_MAX + 1],
				sum = 0;
	SfxInt		open;
	bool		equal;

	for (int b = 0; b < nblocks; b++)
	{
		size[b] = encode(codec, value + b * block, block, packed + (size_t) b * stride);
		if (size[b] < 0)
			return;
		bytes += size[b];
	}
	BEST(t[0], (double) n, for (int b = 0; b < nblocks; b++) encode(codec, value + b * block,
		block, packed + (size_t) b * stride);)
	BEST(t[1], (double) n,
		 for (int b = 0; b < nblocks; b++)
		 {
			 sfx_int_decode(packed + (size_t) b * stride, (size_t) size[b], block, 0, block, out);
			 sum += out[b % block];
		 })
	BEST(t[2], PROBES,
		 for (int p = 0; p < PROBES; p++)
		 {
			 int		b = place[p] / block;

			 sfx_int_open(&open, packed + (size_t) b * stride, (size_t) size[b], block);
			 sfx_int_at(&open, place[p] % block, out);
			 sum += out[0];
		 })
	BEST(t[3], PROBES,
		 for (int p = 0; p < PROBES; p++)
		 {
			 int		b = place[p] / block;

			 sfx_int_open(&open, packed + (size_t) b * stride, (size_t) size[b], block);
			 sum += (uint64_t) sfx_int_search(&open, value[place[p]], &equal);
		 })
	/* a block with one missing gets it back */
	BEST(t[4], PROBES / 10,
		 for (int p = 0; p < PROBES / 10; p++)
		 {
			 int		b = place[p] / block,
						at = place[p] % block;
			 static uint8_t again[SFX_INT_BOUND(SFX_INT_MAX) + 8];

			 sfx_int_decode(packed + (size_t) b * stride, (size_t) size[b], block, 0, block - 1,
				out);
			 memmove(out + at + 1, out + at, 8 * (size_t) (block - 1 - at));
			 out[at] = value[place[p]];
			 sum += (uint64_t) encode(codec, out, block, again);
		 })
	BEST(t[5], (double) n,
		 for (int b = 0; b < nblocks; b++)
		 {
			 sfx_int_decode(packed + (size_t) b * stride, (size_t) size[b], block, 0, block, out);
			 for (int i = 0; i < block; i++)
				sum += out[i];
		 })
	sink = sum;
	tell(name, width, "bits an integer", 8 * bytes / n);
	tell(name, width, "encode, ns", t[0]);
	tell(name, width, "decode, ns", t[1]);
	tell(name, width, "get, ns", t[2]);
	tell(name, width, "find, ns", t[3]);
	tell(name, width, "insert, ns", t[4]);
	tell(name, width, "sum, ns", t[5]);
}

static int
lower_bound(const uint32_t *a, int count, uint32_t x)
{
	const uint32_t *base = a;

	for (; count > 1; count -= count / 2)
		base = base[count / 2 - 1] < x ? base + count / 2 : base;
	return (int) (base - a) + (*base < x);
}

static void
measure_array(int width, const int *place)
{
	double		t[4] = {0};
	uint64_t	sum = 0;
	uint32_t	out[SFX_INT_MAX + 1];

	BEST(t[0], PROBES, for (int p = 0; p < PROBES; p++) sum += plain[place[p]];)
	BEST(t[1], PROBES,
		 for (int p = 0; p < PROBES; p++)
			sum += (uint64_t) lower_bound(plain + place[p] / block * block, block, plain[place[p]]);
		)
	BEST(t[2], PROBES / 10,
		 for (int p = 0; p < PROBES / 10; p++)
		 {
			 int		at = place[p] % block;

			 memcpy(out, plain + place[p] / block * block, 4 * (size_t) (block - 1));
			 memmove(out + at + 1, out + at, 4 * (size_t) (block - 1 - at));
			 out[at] = plain[place[p]];
			 sum += out[p % block];
		 })
	BEST(t[3], (double) n, for (int i = 0; i < n; i++) sum += plain[i];)
	sink = sum;
	tell("array", width, "bits an integer", 32);
	tell("array", width, "get, ns", t[0]);
	tell("array", width, "find, ns", t[1]);
	tell("array", width, "insert, ns", t[2]);
	tell("array", width, "sum, ns", t[3]);
}

static void
run(int width)
{
	static const char *const name[] = {"best", "PLAIN", "FOR", "LFOR", "EF", "DBP", "PDBP",
		"VBYTE", "VARINTGB", "SVBYTE"};
	static int	place[PROBES];
	uint64_t	x = 0;

	for (int i = 0; i < n; i++)
	{
		/* the numbers stay within 32 bits: a block begins anew where they would not */
		uint64_t	gap = (UINT64_C(1) << (width - 1)) + rnd() % (UINT64_C(1) << (width - 1));

		x = i % block == 0 && x > UINT32_MAX - ((uint64_t) block << width) ? 1 : x + gap;
		value[i] = x;
		plain[i] = (uint32_t) x;
	}
	for (int p = 0; p < PROBES; p++)
		place[p] = (int) (rnd() % (uint64_t) n);
	measure_array(width, place);
	for (int codec = 0; codec < 10; codec++)
		if (codec != SFX_INT_PLAIN)
			measure_codec(name[codec], codec, width, place);
}

int
main(int argc, char **argv)
{
	static const int widths[] = {1, 2, 4, 6, 8, 10, 12, 16, 20, 23};

	sfx_cpu_init();
	n = argc > 2 && strcmp(argv[1], "-n") == 0 ? atoi(argv[2]) : 100000;
	n = n / 256 * 256;
	if (n < 256)
		return 1;
	stride = SFX_INT_BOUND(SFX_INT_MAX) + 8;
	value = malloc(8 * (size_t) n);
	plain = malloc(4 * (size_t) n);
	packed = malloc(stride * (size_t) (n / 128));
	size = malloc(sizeof(int) * (size_t) (n / 128));
	for (block = 128; block <= 256; block *= 2)
	{
		nblocks = n / block;
		for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++)
			run(widths[w]);
	}
	return 0;
}
