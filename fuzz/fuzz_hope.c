/*
 * Fuzz target of hope.  Odd first byte: the rest is tried as a dictionary, and what is accepted
 * must encode in order and decode what it encoded.  Even: keys are cut out of the rest, a
 * dictionary is made from them and damaged in one place.  In both cases hostile bytes are decoded.
 */
#include <stdlib.h>

#include "fsst.h"

#define CHECK(cond) do { if (!(cond)) abort(); } while (0)
#define MAXKEYS		200
#define LIMIT		SFX_HOPE_MIN_LIMIT
#define MAXLEN		512

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cut into keys: the length of each stands before it. */
static uint32_t
cut(const uint8_t *p, size_t size, SfxHopeKey *keys)
{
	uint32_t	n = 0;

	for (size_t i = 0; i < size && n < MAXKEYS; n++)
	{
		uint32_t	len = p[i++] % 64;

		if (len > size - i)
			len = (uint32_t) (size - i);
		keys[n] = (SfxHopeKey) {p + i, len};
		i += len;
	}
	return n;
}

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

/* The code of k against the string t. */
static void
check_compare(const SfxHope *h, const uint8_t *code, size_t len, const SfxHopeKey *k, const SfxHopeKey *t)
{
	size_t		lcp;
	int			side;

	CHECK(sfx_hope_compare(h, code, len, len, t->key, t->len, 0, &lcp, &side) == SFX_OK);
	CHECK(lcp == sfx_lcp(k->key, k->len, t->key, t->len));
	CHECK(sign(side) == (lcp == k->len ? 0 : sign(sfx_cmp_bytes(k->key, k->len, t->key, t->len))));
}

static void
check_keys(const SfxHope *h, const SfxHopeKey *keys, uint32_t n)
{
	static uint8_t out[2][MAXLEN];
	uint8_t		back[MAXLEN];
	int			len[2] = {0, 0};

	for (uint32_t i = 0; i < n; i++)
	{
		const SfxHopeKey *k = &keys[i];
		uint8_t    *o = out[i % 2];
		int			m = len[i % 2] = sfx_hope_encode(h, k->key, k->len, o, MAXLEN);

		CHECK(m >= 0);
		CHECK(sfx_hope_decode(h, o, (size_t) m, back, k->len) == (int) k->len);
		CHECK(memcmp(back, k->key, k->len) == 0);
		check_compare(h, o, (size_t) m, k, i > 0 ? &k[-1] : k);
		if (i > 0 && !hope_is_fsst(h))
			CHECK(sign(sfx_cmp_bytes(k[-1].key, k[-1].len, k->key, k->len)) ==
				  sign(sfx_cmp_bytes(out[1 - i % 2], (size_t) len[1 - i % 2], o, (size_t) m)));
	}
}

static void
decode_hostile(const SfxHope *h, const uint8_t *p, size_t size)
{
	uint8_t		out[MAXLEN];
	size_t		cap = size > 0 ? p[0] * 2 : 0;
	int			r = sfx_hope_decode(h, p, size, out, cap);
	size_t		lcp;
	int			side;

	sfx_hope_compare(h, p, size, size, p, size / 2, size / 4, &lcp, &side);
	/* in parts, with readable bytes after them: the same as in a buffer of its own */
	if (size > 1)
	{
		uint8_t		other[MAXLEN];
		int			half = sfx_hope_decode(h, p, size / 2, other, cap);
		int			within = sfx_hope_decode_within(h, p, size / 2, size, out, cap);

		CHECK(half == within && (half < 0 || memcmp(other, out, (size_t) half) == 0));
		r = sfx_hope_decode(h, p, size, out, cap);
	}

	CHECK(r >= SFX_NOSPACE && r <= (int) cap);
}

/* Try a dictionary. */
static void
check_dict(const uint8_t *dict, size_t len, bool good, const SfxHopeKey *keys, uint32_t n, const uint8_t *hostile, size_t size)
{
	size_t		need = sfx_hope_state_size(dict, len);
	SfxHope    *h;

	CHECK(need > 0 || !good);
	CHECK(need <= 16 << 20);
	if (need == 0)
		return;
	h = malloc(need);
	if (sfx_hope_open(h, need, dict, len) == SFX_OK)
	{
		check_keys(h, keys, n);
		decode_hostile(h, hostile, size);
	}
	else
		CHECK(!good);
	free(h);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t dict[SFX_HOPE_DICT_BOUND(SFX_HOPE_DOUBLE, 0) + SFX_HOPE_DICT_BOUND(SFX_HOPE_ALM, LIMIT)];
	SfxHopeKey	keys[MAXKEYS];
	SfxHopeScheme scheme;
	uint32_t	n;
	size_t		need;
	void	   *scratch;
	int			len;

	if (size < 4)
		return 0;
	if (data[0] & 1)
	{
		uint8_t    *copy = malloc(size - 1);

		memcpy(copy, data + 1, size - 1);
		check_dict(copy, size - 1, false, keys, cut(data, size, keys), data, size);
		free(copy);
		return 0;
	}
	scheme = (SfxHopeScheme) (1 + (data[0] >> 1) % SFX_HOPE_NSCHEMES);
	if (scheme == SFX_HOPE_DOUBLE && data[0] > 16)
		scheme = SFX_HOPE_ALM_IMPROVED; /* 65,793 codes take long */
	if (data[0] >= 216)
		scheme = SFX_FSST;
	n = cut(data + 4, size - 4, keys);
	need = sfx_hope_build_size(scheme, LIMIT, size);
	scratch = malloc(need);
	len = sfx_hope_build(scheme, LIMIT, keys, n / 2, scratch, need, dict, sizeof(dict));
	CHECK(len > 0 && (size_t) len <= SFX_HOPE_DICT_BOUND(scheme, LIMIT));
	free(scratch);
	check_dict(dict, (size_t) len, true, keys, n, data, size);
	dict[(data[1] | (size_t) data[2] << 8) % (size_t) len] ^= data[3];
	check_dict(dict, (size_t) len, false, keys, n, data, size);
	return 0;
}
