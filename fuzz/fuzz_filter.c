/*
 * Fuzz target of filter.h.  The input is (a) a hostile filter page; (b) keys of 1 to 16 bytes,
 * whose filter must deny none of them; (c) the same filter with some bytes changed.
 */
#include <stdlib.h>
#include "../src/core/test/resize.h"
#include "filter.h"

#define MAXKEYS		512
#define CAPACITY	8144

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t body[CAPACITY];

/* Ask everything of len bytes that lie in memory of just that size. */
static void
ask_all(const uint8_t *bytes, size_t len, const uint8_t *data, size_t size)
{
	uint8_t    *copy = malloc(len + 1);
	SfxFilter	f;

	if (len > 0)
		memcpy(copy, bytes, len);
	if (sfx_filter_open(&f, copy, (uint32_t) len, NULL) == SFX_OK)
	{
		(void) sfx_filter_check(&f);
		for (size_t i = 0; i + 8 <= size && i < 64; i += 8)
		{
			SfxPos		lo = {data + i, data[i] % 8u, data[i + 1] % 2},
						hi = {data + i, 8, data[i + 2] % 2};

			(void) sfx_filter_cmp_fences(&f, &lo);
			(void) sfx_filter_key(&f, data + i, 8);
			(void) sfx_filter_range(&f, &lo, &hi);
			(void) sfx_filter_range(&f, &lo, NULL);
		}
	}
	free(copy);
}

static int
cmp_key(const void *x, const void *y)
{
	const SfxPos *a = x,
			   *b = y;

	return sfx_cmp_bytes(a->key, a->len, b->key, b->len);
}

static void
deny_none(const SfxPos *key, int n, int len)
{
	SfxFilter	f;

	if (sfx_filter_open(&f, body, (uint32_t) len, NULL) != SFX_OK || sfx_filter_check(&f) != NULL)
		abort();
	for (int i = 0; i < n; i++)
	{
		SfxPos		hi = {key[i].key, key[i].len, 1};

		if (sfx_filter_key(&f, key[i].key, key[i].len) != 1 || sfx_filter_range(&f, &key[i], &hi) != 1 ||
			sfx_filter_range(&f, &key[0], &hi) != 1 || sfx_filter_cmp_fences(&f, &key[i]) != 0)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const SfxSurfAlloc alloc = {.resize = resize};
	SfxPos		key[MAXKEYS];
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	SfxFilterSpec spec;
	SfxFilterBuild b;
	int			n = 0;
	int			len;
	size_t		at = 4;

	ask_all(data, size, data, size);
	if (size < 8)
		return 0;
	spec = (SfxFilterSpec) {.kind = data[0] % 2 ? SFX_FILTER_BLOOM : SFX_FILTER_SURF,.hashbits = data[1] % 33,.realbits = data[2] % 33};
	while (n < MAXKEYS && at < size)
	{
		uint32_t	k = 1 + data[at] % 16u;

		if (++at + k > size)
			break;
		key[n++] = (SfxPos) {data + at, k, 0};
		at += k;
	}
	qsort(key, (size_t) n, sizeof(key[0]), cmp_key);
	sfx_filter_build_init(&b, &spec, &alloc);
	for (int i = 0; i < n; i++)
		if (sfx_filter_add(&b, key[i].key, key[i].len) != SFX_OK)
			abort();
	len = sfx_filter_finish(&b, &low, NULL, NULL, body, CAPACITY);
	sfx_filter_build_free(&b);
	if (len == SFX_NOSPACE)
		return 0;
	if (len < 0)
		abort();
	deny_none(key, n, len);
	for (int i = 0; i < 8; i++)
		body[(size_t) (data[i] << 8 | data[size - 1 - (size_t) i]) % (size_t) len] ^= data[3];
	ask_all(body, (size_t) len, data, size);
	return 0;
}
