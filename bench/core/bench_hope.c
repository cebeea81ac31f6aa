/*
 * bench_hope.c - HOPE: compression rates, times, sizes of dictionaries
 *
 *	bench_hope [-l intervals] [-n keys] [file]...		(make bench-core)
 *
 * Made-up e-mails (host-reversed), URLs and titles, and the lines of each file given.  Keys are sorted; one
 * in so many is in the sample, a tenth of all and at most SAMPLE bytes.  rate: bytes of source per
 * byte of code; bits: the same in bits, without what fills up the last byte (what the paper
 * reports).  random: rate on random bytes with the same dictionary.  enc, dec: CPU time in ns per source byte; build, open: ms; state: KB.  FSST
 * (fsst.h) stands in the last line of each set: whole bytes.  The mark was 4 ns per
 * source byte each way for Double.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fsst.h"
#include "made.h"

#define SAMPLE		1000000
#define ROUNDS		3

/* ---- keys ---- */

static SfxHopeKey *keys;
static uint32_t nkeys,
			most = 300000;
static uint8_t *text;
static size_t used,
			room;

static void
add(const char *s, size_t len)
{
	if (used + len > room || nkeys == most)
		return;
	memcpy(text + used, s, len);
	keys[nkeys++] = (SfxHopeKey) {text + used, (uint32_t) len};
	used += len;
}

static int
compare(const void *a, const void *b)
{
	const SfxHopeKey *x = a,
			   *y = b;

	return sfx_cmp_bytes(x->key, x->len, y->key, y->len);
}

static void
make(size_t (*one) (char *s))
{
	char		s[400];

	for (uint32_t i = 0; i < most; i++)
	{
		size_t		n = one(s);

		add(s, n);
	}
}

static void
read_lines(const char *file)
{
	FILE	   *f = fopen(file, "r");
	char		line[4096];
	uint32_t	lines = 0,
				step,
				i = 0;

	if (f == NULL)
	{
		perror(file);
		exit(1);
	}
	while (fgets(line, sizeof(line), f))
		lines++;
	step = lines / most + 1;
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (i++ % step == 0)
			add(line, strcspn(line, "\n"));
	fclose(f);
}

/* ---- measuring ---- */

static SfxHopeKey *
sample(uint32_t *n)
{
	uint32_t	step = used / SAMPLE < 10 ? 10 : (uint32_t) (used / SAMPLE) + 1;
	SfxHopeKey *s = malloc(sizeof(*s) * (nkeys / step + 1));

	*n = 0;
	for (uint32_t i = step / 2; i < nkeys; i += step)
		s[(*n)++] = keys[i];
	return s;
}

static double
bits_of(const SfxHope *h)
{
	uint32_t	n = sfx_hope_intervals(h);
	uint64_t   *uses;
	double		bits = 0;

	if (hope_is_fsst(h))
		return NAN;
	uses = calloc(n, 8);
	for (uint32_t i = 0; i < nkeys; i++)
		sfx_hope_count_uses(h, keys[i].key, keys[i].len, uses);
	for (uint32_t i = 0; i < n; i++)
		bits += (double) uses[i] * HOPE_BITS(HOPE_CTABLE(h, uint32_t, code)[i]);
	free(uses);
	return bits;
}

static double
random_rate(const SfxHope *h)
{
	uint8_t		in[1024],
				out[4096];
	double		n = 0;

	for (int k = 0; k < 64; k++)
	{
		for (int i = 0; i < 1024; i++)
			in[i] = (uint8_t) rnd();
		n += sfx_hope_encode(h, in, 1024, out, sizeof(out));
	}
	return 64 * 1024 / n;
}

static void
fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Best of some rounds, ns per source byte. */
#define BEST(t, body) \
	for (int round = 0; round < ROUNDS; round++) \
	{ \
		double		start = now(), \
					ns; \
		body \
		ns = (now() - start) / (double) used; \
		t = round == 0 || ns < t ? ns : t; \
	}

static void
measure(const char *set, const SfxHope *h, const char *name, int dictlen, size_t size, double build, double opened)
{
	size_t		cap = used * 2 + 65536,
				total = 0;
	uint8_t    *out = malloc(cap),
				back[8192];
	uint32_t   *end = malloc(4 * (size_t) (nkeys + 1));
	double		enc = 0,
				dec = 0;

	BEST(enc,
		 total = 0;
		 for (uint32_t i = 0; i < nkeys; i++)
		 {
			int			r = sfx_hope_encode(h, keys[i].key, keys[i].len, out + total, cap - total);

			total += (size_t) r;
			end[i] = (uint32_t) total;
		 })
	BEST(dec,
		 for (uint32_t i = 0; i < nkeys; i++)
		 {
			uint32_t	from = i ? end[i - 1] : 0;

			if (sfx_hope_decode(h, out + from, end[i] - from, back, sizeof(back)) != (int) keys[i].len)
				fail("decoding");
			if (round == 0 && memcmp(back, keys[i].key, keys[i].len) != 0)
				fail("decoded key");
			if (round == 0 && i > 0 && !hope_is_fsst(h) && compare(keys + i - 1, keys + i) < 0)
			{
				uint32_t	prev = i > 1 ? end[i - 2] : 0;

				if (sfx_cmp_bytes(out + prev, from - prev, out + from, end[i] - from) >= 0)
					fail("order");
			}
		 })
	printf("%-8s %-8s %6.3f %6.3f %7.2f %7.2f %6.2f %8d %8u %6zu %7.1f %6.2f\n", set, name, (double) used / (double) total,
		   8 * (double) used / bits_of(h), random_rate(h), enc, dec, dictlen, sfx_hope_intervals(h), size / 1024,
		   build / 1e6, opened / 1e6);
	free(out);
	free(end);
}

/* Sort them in memory, too: times are those of codes, not of the memory's latency. */
static void
sort_keys(void)
{
	uint8_t    *sorted = malloc(room + 8);
	size_t		at = 0;

	qsort(keys, nkeys, sizeof(*keys), compare);
	for (uint32_t i = 0; i < nkeys; i++)
	{
		memcpy(sorted + at, keys[i].key, keys[i].len);
		keys[i].key = sorted + at;
		at += keys[i].len;
	}
	free(text);
	text = sorted;
}

static void
run(const char *set, uint32_t limit)
{
	static const char *const name[] = {"", "Single", "Double", "3-Grams", "4-Grams", "ALM", "ALM-Imp", "FSST"};
	uint32_t	ns;
	SfxHopeKey *s;

	sort_keys();
	s = sample(&ns);
	for (int scheme = 1; scheme <= SFX_FSST; scheme++)
	{
		size_t		cap = SFX_HOPE_DICT_BOUND(scheme, limit),
					size = sfx_hope_build_size((SfxHopeScheme) scheme, limit, 2 * SAMPLE);
		uint8_t    *dict = malloc(cap);
		void	   *scratch = malloc(size);
		SfxHope    *h;
		double		start = now(),
					build;
		int			len = sfx_hope_build((SfxHopeScheme) scheme, limit, s, ns, scratch, size, dict, cap);

		build = now() - start;
		free(scratch);
		if (len < 0)
			fail("building");
		h = malloc(sfx_hope_state_size(dict, (size_t) len));
		start = now();
		if (sfx_hope_open(h, sfx_hope_state_size(dict, (size_t) len), dict, (size_t) len) < 0)
			fail("opening");
		measure(set, h, name[scheme], len, sfx_hope_state_size(dict, (size_t) len), build, now() - start);
		free(h);
		free(dict);
	}
	free(s);
	nkeys = 0;
	used = 0;
}

int
main(int argc, char **argv)
{
	uint32_t	limit = 65536;
	int			i = 1;

	for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
		if (argv[i][1] == 'l')
			limit = (uint32_t) atol(argv[i + 1]);
		else
			most = (uint32_t) atol(argv[i + 1]);
	room = (size_t) most * 256;
	text = malloc(room + 8);
	keys = malloc(sizeof(*keys) * most);
	printf("%-8s %-8s %6s %6s %7s %7s %6s %8s %8s %6s %7s %6s\n", "set", "scheme", "rate", "bits", "random", "enc",
		   "dec", "stored", "interv", "state", "build", "open");
	make(made_email);
	run("e-mails", limit);
	make(made_url);
	run("URLs", limit);
	make(made_title);
	run("titles", limit);
	for (; i < argc; i++)
	{
		const char *base = strrchr(argv[i], '/');

		read_lines(argv[i]);
		run(base ? base + 1 : argv[i], limit);
	}
	return 0;
}
