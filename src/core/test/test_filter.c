/*
 * Filter bodies: no stored key or range is denied, fences are read back, most absent keys are
 * denied, damaged bytes do no harm.
 */
#include "resize.h"
#include "tap.h"
#include "orders.h"
#include "filter.h"

#define N		4000
#define CAP		8144

static uint64_t seed = 11;
static uint8_t body[CAP];

static const SfxSurfAlloc alloc = {.resize = resize};

static void
key_of(uint64_t x, uint8_t *k)
{
	for (int i = 0; i < 8; i++)
		k[i] = (uint8_t) (x >> (56 - 8 * i));
}

/* Keys 0, step, 2 * step ...; each twice. */
static int
build(const SfxFilterSpec *spec, int n, uint64_t step, const SfxPos *high, const SfxOrder *order)
{
	SfxFilterBuild b;
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	int			rc = SFX_OK;

	sfx_filter_build_init(&b, spec, &alloc);
	for (int i = 0; i < 2 * n && rc == SFX_OK; i++)
	{
		uint8_t		k[8];

		key_of((uint64_t) (i / 2) * step, k);
		rc = sfx_filter_add(&b, k, 8);
	}
	if (rc == SFX_OK)
		rc = sfx_filter_finish(&b, &low, high, order, body, CAP);
	sfx_filter_build_free(&b);
	return rc;
}

static void
test_answers(const SfxFilterSpec *spec, const char *name)
{
	uint64_t	step = UINT64_C(0x4000000000321);
	uint8_t		hk[8];
	SfxPos		high = {hk, 8, 77};
	SfxFilter	f;
	int			len,
				lost = 0,
				points = 0,
				ranges = 0,
				passed = 0,
				rpassed = 0;

	key_of((uint64_t) (N - 1) * step, hk);
	len = build(spec, N, step, &high, NULL);
	ok(len > 0 && sfx_filter_open(&f, body, (uint32_t) len, NULL) == SFX_OK && f.kind == spec->kind && f.nkeys == N &&
	   sfx_filter_check(&f) == NULL, "%s: %d keys in %d bytes", name, N, len);
	ok(f.low.len == 0 && !f.high_inf && f.high.len == 8 && memcmp(f.high.key, hk, 8) == 0 && f.high.tid == 77 &&
	   sfx_filter_cmp_fences(&f, &f.low) == 0 && sfx_filter_cmp_fences(&f, &high) > 0, "%s: fences", name);
	for (int i = 0; i < N; i++)
	{
		uint8_t		a[8],
					b[8];
		SfxPos		lo = {a, 8, 5},
					hi = {b, 8, 0};

		key_of((uint64_t) i * step, a);
		key_of((uint64_t) i * step + 1, b);
		lost += sfx_filter_key(&f, a, 8) != 1 || sfx_filter_range(&f, &lo, &hi) != 1 || sfx_filter_range(&f, &lo, NULL) != 1;
		lo.tid = 0;
		hi = (SfxPos) {a, 8, 9};
		lost += sfx_filter_range(&f, &lo, &hi) != 1;
		points++;
		key_of((uint64_t) i * step + 1 + rnd(&seed) % (step - 1), a);
		passed += sfx_filter_key(&f, a, 8) != 0;
		if (i + 1 < N)
		{
			uint64_t	from = (uint64_t) i * step + 1 + rnd(&seed) % (step / 2);

			key_of(from, a);
			key_of(from + rnd(&seed) % (step / 2), b);
			lo = (SfxPos) {a, 8, 0};
			hi = (SfxPos) {b, 8, 0};
			rpassed += sfx_filter_range(&f, &lo, &hi) != 0;
			ranges++;
		}
	}
	ok(lost == 0, "%s: no key is denied, lost %d", name, lost);
	ok(passed * 20 < points, "%s: %d of %d absent keys pass", name, passed, points);
	ok(spec->kind == SFX_FILTER_BLOOM ? rpassed == ranges : rpassed * 2 < ranges, "%s: %d of %d empty ranges pass", name, rpassed,
	   ranges);
}

static void
test_hostile(const SfxFilterSpec *spec, const char *name)
{
	uint8_t		copy[CAP];
	int			len = build(spec, 500, 12345678901, NULL, NULL);
	int			opened = 0;

	memcpy(copy, body, sizeof(copy));
	for (int t = 0; t < 20000; t++)
	{
		SfxFilter	f;
		uint32_t	cut = rnd(&seed) % 3 ? (uint32_t) len : (uint32_t) (rnd(&seed) % (uint64_t) len);
		uint8_t    *exact = malloc(cut + 1);
		uint8_t		k[8];
		SfxPos		lo = {k, 8, 0};

		memcpy(exact, copy, cut);
		for (uint64_t i = rnd(&seed) % 4; i > 0 && cut > 0; i--)
			exact[rnd(&seed) % (rnd(&seed) % 2 ? cut : cut < 64 ? cut : 64)] = (uint8_t) rnd(&seed);
		key_of(rnd(&seed) % 5000 * 1234567890, k);
		if (sfx_filter_open(&f, exact, cut, NULL) == SFX_OK)
		{
			opened++;
			sfx_filter_key(&f, k, 8);
			sfx_filter_range(&f, &lo, NULL);
			sfx_filter_cmp_fences(&f, &lo);
			sfx_filter_check(&f);
		}
		free(exact);
	}
	ok(opened > 0, "%s: %d damaged filters opened", name, opened);
}

int
main(void)
{
	SfxFilterSpec bloom = {.kind = SFX_FILTER_BLOOM};
	SfxFilterSpec surf = {.kind = SFX_FILTER_SURF,.hashbits = 0,.realbits = 4};
	SfxFilterSpec mixed = {.kind = SFX_FILTER_SURF,.hashbits = 2,.realbits = 2};
	SfxFilter	f;
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	SfxFilterBuild b;
	int			len;

	test_answers(&bloom, "bloom");
	test_answers(&surf, "surf");
	test_answers(&mixed, "mixed");
	test_hostile(&bloom, "bloom");
	test_hostile(&surf, "surf");
	ok(build(&bloom, 20000, 3, NULL, NULL) == SFX_NOSPACE && build(&surf, 40000, UINT64_C(0x123456789ABC), NULL, NULL) == SFX_NOSPACE,
	   "too many keys for a page");
	len = build(&bloom, 10, 3, NULL, (const SfxOrder *) &orders[0]);
	ok(len > 0 && sfx_filter_open(&f, body, (uint32_t) len, NULL) == SFX_CORRUPT &&
	   sfx_filter_open(&f, body, (uint32_t) len, (const SfxOrder *) &orders[0]) == SFX_OK, "a filter knows its order of positions");
	for (int k = SFX_FILTER_BLOOM; k <= SFX_FILTER_SURF; k++)
	{
		SfxFilterSpec spec = {.kind = (SfxFilterKind) k};

		sfx_filter_build_init(&b, &spec, &alloc);
		len = sfx_filter_finish(&b, &low, NULL, NULL, body, CAP);
		sfx_filter_build_free(&b);
		ok(len > 0 && sfx_filter_open(&f, body, (uint32_t) len, NULL) == SFX_OK && f.nkeys == 0 &&
		   sfx_filter_key(&f, (const uint8_t *) "a", 1) == 0, "no keys at all, kind %d", k);
	}
	return done_testing();
}
