/* Unit test of intcodec: every codec against the array it was given. */
#include <string.h>

#include "intblock.h"
#include "cpu.h"
#include "intcodec.h"
#include "tap.h"

#define NKINDS 17

static const char *const codec_name[SFX_INT_CODECS] = {"any", "PLAIN", "FOR", "LFOR", "EF", "DBP", "PDBP", "VBYTE", "VARINTGB",
	"STREAMVBYTE"};

/* Fill v with n values of one kind; true if they are sorted. */
static bool
make(int kind, int n, uint64_t *seed, uint64_t *v)
{
	uint64_t	x = rnd(seed) >> (rnd(seed) % 64);
	uint64_t	step = rnd(seed) >> (8 + rnd(seed) % 56);

	for (int i = 0; i < n; i++)
	{
		uint64_t	r = rnd(seed);

		switch (kind)
		{
			case 0:	v[i] = 0; break;
			case 1:	v[i] = UINT64_MAX; break;
			case 2:	v[i] = x; break;
			case 3:	v[i] = r; break;	/* any order */
			case 4:	v[i] = r % 1000; break;
			case 5:	v[i] = r; break;	/* sorted below */
			case 6:	v[i] = r % 1000; break;
			case 7:	v[i] = 1000000 + (uint64_t) i; break;
			case 8:	v[i] = step * (uint64_t) i; break;
			case 9:	v[i] = x += 1 + (r & 1); break;
			case 10: v[i] = x += r % 64 == 0 ? 1 << 20 : 1; break;
			case 11: v[i] = step * (uint64_t) i + (r & 15); break;
			case 12: v[i] = i == n - 1 ? UINT64_MAX : 7; break;
			case 13: v[i] = i == 0 ? 0 : UINT64_MAX; break;
			case 14: v[i] = i < n / 2 ? (uint64_t) i : UINT64_MAX - (uint64_t) (n - i); break;
			case 15: v[i] = x += r % 3 == 0; break;	/* many equal ones */
			default: v[i] = i % 100 == 99 ? x += r >> 40 : (x += 1000 + r % 4); break;
		}
	}
	if (kind == 3 || kind == 4)
		return n == 1;
	qsort(v, (size_t) n, sizeof(*v), cmp64);
	return true;
}

static int
reference_lower_bound(const uint64_t *v, int n, uint64_t x)
{
	int			i = 0;

	while (i < n && v[i] < x)
		i++;
	return i;
}

/* All that decoders return for one block; the block's bytes are at the very end of their buffer. */
static bool
check_block(const uint64_t *v, int n, bool sorted, const uint8_t *enc, int size, uint64_t *seed)
{
	uint8_t    *b = malloc((size_t) size);
	uint64_t	out[SFX_INT_MAX + 1];
	uint64_t	x;
	bool		good;

	memcpy(b, enc, (size_t) size);
	good = sfx_int_size(b, (size_t) size, n) == size &&
		sfx_int_decode(b, (size_t) size, n, 0, n, out) == SFX_OK && memcmp(out, v, 8 * (size_t) n) == 0;
	for (int len = 0; len < size && good; len += 1 + len / 8)
		good = sfx_int_size(b, (size_t) len, n) == SFX_CORRUPT &&
			sfx_int_decode(b, (size_t) len, n, 0, n, out) == SFX_CORRUPT;
	for (int t = 0; t < 8 && good; t++)
	{
		int			from = (int) (rnd(seed) % (uint64_t) (n + 1)),
					to = from + (int) (rnd(seed) % (uint64_t) (n - from + 1));

		out[to - from] = 12345;
		good = sfx_int_decode(b, (size_t) size, n, from, to, out) == SFX_OK &&
			memcmp(out, v + from, 8 * (size_t) (to - from)) == 0 && out[to - from] == 12345;
	}
	for (int i = 0; i < n && good; i++)
	{
		good = int_get(b, (size_t) size, n, i, &x) == SFX_OK && x == v[i];
		for (int d = -1; d <= 1 && good && sorted; d++)
			good = int_lower_bound(b, (size_t) size, n, v[i] + (uint64_t) d) ==
				reference_lower_bound(v, n, v[i] + (uint64_t) d);
	}
	for (int t = 0; t < 40 && good && sorted; t++)
	{
		x = t == 0 ? 0 : t == 1 ? UINT64_MAX : t < 20 ? rnd(seed) >> (rnd(seed) % 64) :
			v[0] + rnd(seed) % ((v[n - 1] - v[0]) | 1);
		good = int_lower_bound(b, (size_t) size, n, x) == reference_lower_bound(v, n, x);
	}
	good = good && int_get(b, (size_t) size, n, n, &x) == SFX_CORRUPT &&
		int_get(b, (size_t) size, n, -1, &x) == SFX_CORRUPT &&
		sfx_int_decode(b, (size_t) size, n, 0, n + 1, out) == SFX_CORRUPT &&
		sfx_int_decode(b, (size_t) size, n, 1, 0, out) == SFX_CORRUPT;
	free(b);
	return good;
}

/* One codec (0: any) over all kinds and sizes. */
static void
test_codec(int codec)
{
	static const int sizes[] = {1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 100, 127, 128, 129, 192, 193, 200, 255, 256};
	uint64_t	seed = 42 + (uint64_t) codec;
	uint64_t	v[SFX_INT_MAX];
	uint8_t		enc[SFX_INT_BOUND(SFX_INT_MAX) + 64],
				other[sizeof(enc)];
	int			bad_kind = -1,
				bad_n = 0,
				blocks = 0;
	bool		smallest = true,
				bounded = true;

	for (int kind = 0; kind < NKINDS; kind++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes) && bad_kind < 0; s++)
			for (int round = 0; round < 4 && bad_kind < 0; round++)
			{
				int			n = sizes[s],
							size;
				bool		sorted = make(kind, n, &seed, v);
				size_t		cap = SFX_INT_BOUND(n);

				memset(enc, 0xA5, sizeof(enc));
				size = codec == 0 ? sfx_int_encode(v, n, enc, cap) :
					sfx_int_encode_as((SfxIntCodec) codec, v, n, enc, cap);
				if (size == SFX_NOSPACE && codec != 0)
					continue;
				blocks++;
				bounded &= size > 0 && (size_t) size <= cap && enc[size] == 0xA5;
				if (!check_block(v, n, sorted, enc, size, &seed) || (codec && (int) SFX_INT_CODEC(enc[0]) != codec))
				{
					bad_kind = kind;
					bad_n = n;
				}
				bounded &= (codec == 0 ? sfx_int_encode(v, n, other, (size_t) size - 1) :
							sfx_int_encode_as((SfxIntCodec) codec, v, n, other, (size_t) size - 1)) < (codec == 0 ? size : 0);
				for (int c = 1; c <= SFX_INT_DBP && codec == 0; c++)
				{
					int			o = sfx_int_encode_as((SfxIntCodec) c, v, n, other, cap);

					smallest &= o < 0 || size <= o + o * 3 / 100;
				}
			}
	ok(bad_kind < 0 && blocks > 0, "%s: round trips (kind %d, n %d; %d blocks)", codec_name[codec], bad_kind, bad_n, blocks);
	ok(bounded, "%s: stays within its bound, and says so when it cannot", codec_name[codec]);
	if (codec == 0)
		ok(smallest, "the choice is the smallest, or within 3 %% of it");
}

/* The size of one block of 256, and the codec chosen. */
static void
test_sizes(void)
{
	uint64_t	v[256];
	uint64_t	seed = 7,
				x = 0;
	uint8_t		enc[SFX_INT_BOUND(256)];
	int			size,
				sum = 0;

	for (int i = 0; i < 256; i++)
		v[i] = 5000000 + (uint64_t) i;
	size = sfx_int_encode(v, 256, enc, sizeof(enc));
	ok(size <= 8 && (enc[0] & 7) == SFX_INT_LFOR, "serial keys: %d bytes", size);

	/* gaps as in 10 million random keys of 64 bits */
	for (int b = 0; b < 50; b++)
	{
		for (int i = 0; i < 256; i++)
		{
			double		u = (double) (rnd(&seed) >> 11) / 9007199254740992.0,
						gap = 0;

			while (u > 0.0625 && gap < 40)
			{
				u *= 0.939413;		/* exp(-1/16) */
				gap += 0.0625;
			}
			gap += (double) (rnd(&seed) >> 11) / 9007199254740992.0 * 0.0625;
			v[i] = x += (uint64_t) (gap * 1844674407370.0);
		}
		sum += sfx_int_encode(v, 256, enc, sizeof(enc));
	}
	ok(sum <= 50 * 256 * 5.5, "random keys: %.2f bytes each", sum / (50 * 256.0));
	/* (customer, time): a few rows each */
	sum = 0;
	for (int b = 0; b < 50; b++)
	{
		for (int i = 0; i < 256; i++)
			v[i] = x += rnd(&seed) % 20 == 0 ? rnd(&seed) >> 20 : rnd(&seed) % 1000;
		sum += size = sfx_int_encode(v, 256, enc, sizeof(enc));
		if (size < 0 || SFX_INT_CODEC(enc[0]) != SFX_INT_PDBP)
			sum += 10000;
		x >>= 8;
	}
	ok(sum <= 50 * 256 * 1.75, "clusters: %.2f bytes each", sum / (50 * 256.0));
	for (int i = 0; i < 256; i++)
		v[i] = (uint64_t) (i / 50);
	size = sfx_int_encode(v, 256, enc, sizeof(enc));
	ok(size <= 24 && SFX_INT_CODEC(enc[0]) == SFX_INT_PDBP, "five steps: %d bytes", size);
	ok(sfx_int_encode(v, 0, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_int_encode(v, 257, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_int_encode_as(SFX_INT_DECIMAL, v, 256, enc, sizeof(enc)) == SFX_NOSPACE &&
	   sfx_int_encode_as(SFX_INT_CODECS, v, 256, enc, sizeof(enc)) == SFX_NOSPACE, "bad arguments are refused");
}

/*
 * Damaged blocks: results stay in range, and nothing outside the buffer is touched (run it with
 * ASan).
 */
static void
test_damage(void)
{
	uint64_t	seed = 99;
	uint64_t	v[256],
				out[256],
				x;
	uint8_t		enc[SFX_INT_BOUND(256)];
	bool		good = true;

	for (int t = 0; t < 20000; t++)
	{
		int			n = 1 + (int) (rnd(&seed) % 256),
					size,
					lb;
		uint8_t    *b;

		make((int) (rnd(&seed) % NKINDS), n, &seed, v);
		size = sfx_int_encode_as((SfxIntCodec) (1 + rnd(&seed) % (SFX_INT_CODECS - 1)), v, n, enc, sizeof(enc));
		if (size < 0)
			continue;
		b = damaged_copy(enc, size, &seed);
		lb = int_lower_bound(b, (size_t) size, n, v[n / 2]);
		good &= lb >= SFX_CORRUPT && lb <= n;
		good &= sfx_int_size(b, (size_t) size, n) <= size;
		sfx_int_decode(b, (size_t) size, n, n / 3, n, out);
		int_get(b, (size_t) size, n, n / 2, &x);
		free(b);
	}
	ok(good, "damaged blocks give bounded results");
}

int
main(void)
{
	/* every level of kernels (test_cpu.c compares them one by one) */
	for (int level = 0; level < SFX_CPU_LEVELS; level++)
	{
		if (!sfx_cpu_pin((SfxCpuLevel) level))
			break;
		for (int codec = 0; codec < SFX_INT_CODECS; codec++)
			if (codec != SFX_INT_DECIMAL)
				test_codec(codec);
		test_damage();
	}
	test_sizes();
	return done_testing();
}
