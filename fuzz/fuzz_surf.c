/*
 * Fuzz target of surf.h.  The input is (a) a hostile filter; (b) a set of keys, whose filter must
 * miss none of them; (c) the same filter with some bytes changed.
 */
#include <stdlib.h>
#include "../src/core/test/resize.h"
#include "../src/core/test/surf_iter.h"

#define MAXKEYS	2048

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Key
{
	const uint8_t *s;
	uint32_t	len;
} Key;

static Key	keys[MAXKEYS];
static uint8_t made[MAXKEYS][64];

static int
cmp_key(const void *x, const void *y)
{
	const Key  *a = x,
			   *b = y;

	return sfx_cmp_bytes(a->s, a->len, b->s, b->len);
}

/* Ask everything. */
static void
probe_all(const uint8_t *filter, size_t len, const uint8_t *data, size_t size)
{
	SfxSurf		s;
	SfxSurfIter it;
	void	   *mem;
	bool		fp;

	if (sfx_surf_open(&s, filter, len) != SFX_OK)
		return;
	if (sfx_surf_iter_size(&s) > 4 << 20)
		abort();
	mem = malloc(sfx_surf_iter_size(&s));
	sfx_surf_iter_init(&it, &s, mem);
	sfx_surf_check(&s);
	for (size_t i = 0; i < size && i < 60; i += 1 + i / 8)
	{
		uint32_t	n = (uint32_t) (size - i) % 24;
		SfxSurfBound lo = {data + i, n, i & 1},
					hi = {data + i / 2, n / 2, i & 2};

		sfx_surf_lookup(&s, lo.key, lo.len);
		sfx_surf_lookup_range(&s, &lo, &hi);
		sfx_surf_lookup_range(&s, &lo, NULL);
		if (sfx_surf_seek(&it, lo.key, lo.len, &fp) == 1)
			sfx_surf_iter_cmp(&it, hi.key, hi.len);
		for (int k = 0; k < 4; k++)
			sfx_surf_next(&it);
		sfx_surf_seek(&it, hi.key, hi.len, &fp);
		for (int k = 0; k < 4; k++)
			sfx_surf_prev(&it);
	}
	sfx_surf_seek_last(&it);
	free(mem);
}

/* All keys must be found, and every range between two of them. */
static void
check_keys(const uint8_t *filter, size_t len, int n)
{
	SfxSurf		s;
	SfxSurfIter it;
	void	   *mem;
	bool		fp;

	if (sfx_surf_open(&s, filter, len) != SFX_OK || s.nkeys != (uint64_t) n || sfx_surf_check(&s) != NULL)
		abort();
	mem = malloc(sfx_surf_iter_size(&s));
	sfx_surf_iter_init(&it, &s, mem);
	for (int i = 0; i < n; i++)
	{
		int			j = i + (i * 7) % (n - i);
		SfxSurfBound lo = {keys[i].s, keys[i].len, true},
					hi = {keys[j].s, keys[j].len, true};

		if (sfx_surf_lookup(&s, lo.key, lo.len) != 1 || sfx_surf_lookup_range(&s, &lo, &hi) != 1)
			abort();
		if (sfx_surf_seek(&it, lo.key, lo.len, &fp) != 1 || sfx_surf_iter_cmp(&it, lo.key, lo.len) != 0 ||
			sfx_surf_next(&it) != (i + 1 < n))
			abort();
	}
	free(mem);
}

/*
 * Many keys out of few bytes, each of some slices of the input: enough that digits and symbols pay.
 */
static int
make_keys(const uint8_t *data, size_t size)
{
	uint32_t	x = data[3] * 2654435761u + 1;
	int			n = 64 + data[4] * 2;

	for (int i = 0; i < n; i++)
	{
		uint32_t	len = 0;

		for (int k = 0; k < 5; k++)
		{
			uint32_t	from,
						m;

			x = x * 1664525u + 1013904223u;
			from = (x >> 8) % (uint32_t) size;
			m = (x >> 24) % 12;
			m = m < size - from ? m : (uint32_t) (size - from);
			memcpy(made[i] + len, data + from, m);
			len += m;
		}
		keys[i] = (Key) {made[i], len};
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SfxSurfAlloc alloc = {NULL, resize};
	SfxSurfBuild b;
	uint64_t	flen;
	uint8_t    *filter,
			   *exactly;
	int			n = 0,
				distinct = 0;
	size_t		at = 4;

	probe_all(data, size, data, size);
	if (size < 8)
		return 0;
	if (data[0] & 4)
		n = make_keys(data, size);
	while (at < size && n < 512)
	{
		uint32_t	len = data[at++] % (data[0] & 1 ? 6 : 40);

		if (len > size - at)
			len = (uint32_t) (size - at);
		keys[n++] = (Key) {data + at, len};
		/* overlapping keys share prefixes */
		at += data[0] & 2 ? len / 2 : len;
	}
	qsort(keys, (size_t) n, sizeof(Key), cmp_key);
	for (int i = 0; i < n; i++)
		if (i == 0 || cmp_key(&keys[distinct - 1], &keys[i]) != 0)
			keys[distinct++] = keys[i];
	sfx_surf_build_init(&b, &alloc, data[1] % 33, data[2] % 33);
	for (int i = 0; i < distinct; i++)
		if (sfx_surf_add(&b, keys[i].s, keys[i].len) != SFX_OK)
			abort();
	if (sfx_surf_size(&b, &flen) != SFX_OK)
		abort();
	filter = malloc(flen);
	if (sfx_surf_write(&b, filter, flen) != SFX_OK)
		abort();
	sfx_surf_build_free(&b);
	check_keys(filter, flen, distinct);
	for (size_t i = 3; i + 2 < size && i < 40; i += 3)
		filter[(data[i] | data[i + 1] << 8) % (i % 2 ? flen : 128)] ^= data[i + 2];
	exactly = malloc(flen);
	memcpy(exactly, filter, flen);
	free(filter);
	probe_all(exactly, flen, data, size);
	free(exactly);
	return 0;
}
