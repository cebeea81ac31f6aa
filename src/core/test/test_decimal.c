/*
 * Unit test of decimals: doubles that are d / 10^e, as images, and in integer blocks.  Whether a
 * double is a decimal is decided by strtod, which rounds to the nearest double.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "decimal.h"
#include "intcodec.h"
#include "tap.h"

static uint64_t seed = 42;

/* The double as which d / 10^e is read. */
static double
read_decimal(int64_t d, unsigned e)
{
	char		text[40];

	snprintf(text, sizeof(text), "%llde-%u", (long long) d, e);
	return strtod(text, NULL);
}

/* Any d; often near the limit, a power of two or of ten. */
static int64_t
some_d(void)
{
	int64_t		d = (int64_t) (rnd(&seed) >> (64 - SFX_DECIMAL_BITS));

	d >>= rnd(&seed) % SFX_DECIMAL_BITS;
	switch (rnd(&seed) % 6)
	{
		case 0:	d = SFX_DECIMAL_LIMIT - 1 - d % 100; break;
		case 1:	d = (INT64_C(1) << rnd(&seed) % SFX_DECIMAL_BITS) - d % 3; break;
		case 2:	d = (int64_t) sfx_decimal_power((unsigned) (rnd(&seed) % 16)) - d % 3; break;
	}
	return rnd(&seed) % 2 ? -d : d;
}

/* x is beside d's image: is it found to be a decimal, of a neighbour of d, or none? */
static bool
beside_is_right(uint64_t x, unsigned e, int64_t neighbour)
{
	int64_t		found;

	return !sfx_decimal_find(x, e, &found) ||
		(found == neighbour && sfx_decimal_image(found, e) == x);
}

/*
 * Quotients are the doubles that one reads, whichever way they are computed; d is found again from
 * them alone.
 */
static void
test_images(void)
{
	int			divide = 0,
				image = 0,
				find = 0,
				beside = 0,
				order = 0;

	for (int t = 0; t < 400000; t++)
	{
		unsigned	e = (unsigned) t % (SFX_DECIMAL_PLACES + 1);
		int64_t		d = some_d(),
					found;
		uint64_t	x = sfx_image_of_double(d ? read_decimal(d, e) : 0.0);

		divide += sfx_decimal_divide(d, e) != x;
		image += sfx_decimal_image(d, e) != x;
		find += !sfx_decimal_find(x, e, &found) || found != d;
		/* no other double is near enough to be mistaken for it */
		beside += !beside_is_right(x + 1, e, d + 1) || !beside_is_right(x - 1, e, d - 1);
		order += sfx_decimal_image(d + 1, e) <= x || sfx_decimal_image(d - 1, e) >= x;
	}
	ok(divide == 0, "by whole numbers: the double that is read (%d)", divide);
	ok(image == 0, "by the processor: the same (%d)", image);
	ok(find == 0, "d is found again (%d)", find);
	ok(beside == 0, "the doubles beside are other ones (%d)", beside);
	ok(order == 0, "the next d has a greater image, the one before a smaller one (%d)", order);
}

/* The least d with an image that is not below x is that of near(x) or the next one. */
static void
test_near(void)
{
	int			bad = 0;

	for (int t = 0; t < 400000; t++)
	{
		unsigned	e = (unsigned) t % (SFX_DECIMAL_PLACES + 1);
		uint64_t	off = t % 3 == 1 ? rnd(&seed) % 9 - 4 : rnd(&seed) >> (8 + rnd(&seed) % 56);
		uint64_t	x = t % 3 == 0 ? rnd(&seed) : sfx_decimal_image(some_d(), e) + off;
		int64_t		near = sfx_decimal_near(x, e),
					least = near + (sfx_decimal_image(near, e) < x);

		if (near >= SFX_DECIMAL_LIMIT)
			bad += sfx_decimal_image(SFX_DECIMAL_LIMIT - 1, e) >= x;
		else if (near <= -SFX_DECIMAL_LIMIT)
			bad += sfx_decimal_image(1 - SFX_DECIMAL_LIMIT, e) < x;
		else
			bad += sfx_decimal_image(least, e) < x || sfx_decimal_image(least - 1, e) >= x;
	}
	ok(bad == 0, "searches look at the right d (%d)", bad);
}

static void
test_no_decimals(void)
{
	static const double none[] = {
		1.0 / 3, 0.1 + 0.2, 3.141592653589793, 1e-16, 5e-324, DBL_MIN, DBL_MAX, 1e22,
		1125899906842624.0, 1e300, INFINITY, -INFINITY, NAN, -1.0 / 3, -1e300
	};
	static const double some[] = {
		0, 1, -1, 0.1, -0.1, 0.3, 1e-15, 123456789012345.0, 1125899906842623.0, 2.5, 1e15, 99.99,
		-0.000001
	};
	int			bad = 0;

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		bad += sfx_int_is_decimal(sfx_image_of_double(none[i]));
	/* the image that a negative zero would have if it were not stored as zero */
	bad += sfx_int_is_decimal(SFX_IMAGE_POSITIVE - 1);
	ok(bad == 0, "what has too many places, is too large, or no number at all, is no decimal");
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		bad += !sfx_int_is_decimal(sfx_image_of_double(some[i]));
	ok(bad == 0, "decimals are");
}

/* Make n images in order; returns how many of their last bytes differ. */
static unsigned
make_images(int kind, int n, uint64_t *image)
{
	unsigned	e = (unsigned) (rnd(&seed) % (SFX_DECIMAL_PLACES + 1));
	int64_t		first = some_d() / 2,
				step = 1 + (int64_t) (rnd(&seed) % (kind % 4 == 0 ? 3 : 100000));
	uint64_t	all = 0;

	for (int i = 0; i < n; i++)
	{
		int64_t		d = first + (int64_t) (rnd(&seed) % (uint64_t) (step * n));

		if (kind % 4 == 1)
			d = some_d();
		/* with several numbers of places, and some several times */
		if (kind % 4 == 2)
			d -= d % (int64_t) sfx_decimal_power((unsigned) (rnd(&seed) % 8));
		if (kind % 4 == 3 && i % 3)
			image[i] = image[i - 1];
		else
			image[i] = sfx_decimal_image(d % SFX_DECIMAL_LIMIT, e);
	}
	qsort(image, (size_t) n, 8, cmp64);
	for (int i = 1; i < n; i++)
		all |= image[i] ^ image[0];
	return all == 0 ? 1 + (unsigned) (rnd(&seed) % 8) : (sfx_bitlen(all) + 7) / 8;
}

/* Does a search return the number of values of v below x, and is equality found? */
static bool
search_is_right(const SfxInt *b, const uint64_t *v, int n, uint64_t x)
{
	bool		equal;
	int			i = 0;

	while (i < n && v[i] < x)
		i++;
	return sfx_int_search(b, x, &equal) == i && equal == (i < n && v[i] == x);
}

static bool
check_block(const uint64_t *v, int n, const uint8_t *enc, int size, uint64_t low)
{
	uint8_t    *b = malloc((size_t) size);
	uint64_t	out[SFX_INT_MAX + 1],
				x;
	SfxInt		open;
	bool		good;

	memcpy(b, enc, (size_t) size);
	good = sfx_int_open(&open, b, (size_t) size, n) == size && open.decimal &&
		sfx_int_read(&open, 0, n, out) == SFX_OK && memcmp(out, v, 8 * (size_t) n) == 0;
	for (int len = 0; len < size && good; len += 1 + len / 8)
		good = sfx_int_size(b, (size_t) len, n) == SFX_CORRUPT;
	for (int t = 0; t < 8 && good; t++)
	{
		int			from = (int) (rnd(&seed) % (uint64_t) (n + 1)),
					to = from + (int) (rnd(&seed) % (uint64_t) (n - from + 1));

		out[to - from] = 12345;
		good = sfx_int_read(&open, from, to, out) == SFX_OK &&
			memcmp(out, v + from, 8 * (size_t) (to - from)) == 0 && out[to - from] == 12345;
	}
	for (int i = 0; i < n && good; i++)
	{
		good = sfx_int_at(&open, i, &x) == SFX_OK && x == v[i];
		for (int d = -1; d <= 1; d++)
			good = good && search_is_right(&open, v, n, v[i] + (uint64_t) d);
		if (i > 0)
			good = good && search_is_right(&open, v, n, v[i - 1] + (v[i] - v[i - 1]) / 2);
	}
	good = good && search_is_right(&open, v, n, 0) && search_is_right(&open, v, n, low) &&
		search_is_right(&open, v, n, UINT64_MAX);
	for (int t = 0; t < 20 && good; t++)
		good = search_is_right(&open, v, n, rnd(&seed) & low);
	free(b);
	return good;
}

static void
test_blocks(void)
{
	uint64_t	image[SFX_INT_MAX],
				v[SFX_INT_MAX];
	uint8_t		enc[SFX_INT_BOUND(SFX_INT_MAX) + 16];
	int			bad = 0,
				refused = 0,
				bounded = 0,
				taken = 0;

	for (int t = 0; t < 3000; t++)
	{
		int			n = 1 + (int) (rnd(&seed) % SFX_INT_MAX);
		unsigned	nbytes = make_images(t, n, image);
		uint64_t	low = sfx_mask(8 * nbytes);
		int			size = sfx_int_encode_decimals(image, n, nbytes, enc, sizeof(enc)),
					at = (int) (rnd(&seed) % (uint64_t) n);

		/* those with many places may have no room for the others' places */
		if (size == SFX_NOSPACE)
			continue;
		taken++;
		for (int i = 0; i < n; i++)
			v[i] = image[i] & low;
		bad += SFX_INT_CODEC(enc[0]) != SFX_INT_DECIMAL || !check_block(v, n, enc, size, low);
		bounded += sfx_int_encode_decimals(image, n, nbytes, enc, (size_t) size - 1) >= size;
		/* one that is not a decimal */
		image[at] = sfx_image_of_double(1.0 / 3);
		refused += sfx_int_encode_decimals(image, n, 8, enc, sizeof(enc)) != SFX_NOSPACE;
	}
	ok(bad == 0 && taken > 2000, "blocks: what is in them, searches (%d of %d)", bad, taken);
	ok(bounded == 0, "blocks: less room (%d)", bounded);
	ok(refused == 0, "blocks: one is no decimal (%d)", refused);
}

/* A whole block, of so many bytes, is decoded. */
static int
decode_all(const uint8_t *enc, int size)
{
	uint64_t	out[SFX_INT_MAX];

	return sfx_int_decode(enc, (size_t) size, SFX_INT_MAX, 0, SFX_INT_MAX, out);
}

/* A damaged header is refused, or the decoded values are found to be wrong. */
static void
test_headers(void)
{
	uint64_t	image[SFX_INT_MAX];
	uint8_t		enc[SFX_INT_BOUND(SFX_INT_MAX) + 16];
	int			size;

	for (int i = 0; i < SFX_INT_MAX; i++)
		image[i] = sfx_decimal_image(1234500 + i, 2);
	size = sfx_int_encode_decimals(image, SFX_INT_MAX, 6, enc, sizeof(enc));
	ok(size > 0 && decode_all(enc, size) == SFX_OK, "prices");
	enc[1] ^= 1;
	ok(decode_all(enc, size) == SFX_CORRUPT, "other places");
	enc[1] ^= 1 | 0x10;
	ok(sfx_int_size(enc, (size_t) size, SFX_INT_MAX) == SFX_CORRUPT, "bits that are not used");
	enc[1] ^= 0x10 | 0x80;
	ok(decode_all(enc, size) == SFX_CORRUPT, "other signs");
	enc[1] ^= 0x80;
	enc[2] ^= 1;
	ok(decode_all(enc, size) == SFX_CORRUPT, "other high bytes");
	enc[2] ^= 1;
	enc[0] = (uint8_t) (enc[0] | 8 << 3);
	ok(sfx_int_size(enc, (size_t) size, SFX_INT_MAX) == SFX_CORRUPT, "eight high bytes and more");

	/* a block of decimals in a block of decimals */
	memmove(enc + 2, enc, (size_t) size);
	size = sfx_int_encode_decimals(image, SFX_INT_MAX, 6, enc + 2, sizeof(enc) - 2);
	enc[0] = enc[2] & 0x87;
	enc[1] = 2;
	ok(decode_all(enc, size + 2) == SFX_CORRUPT, "a block of decimals in one");
}

/* Random bytes. */
static void
test_damage(void)
{
	uint64_t	image[SFX_INT_MAX],
				out[SFX_INT_MAX],
				x = 0;
	uint8_t		enc[SFX_INT_BOUND(SFX_INT_MAX) + 16];
	bool		equal,
				good = true;

	for (int t = 0; t < 20000; t++)
	{
		int			n = 1 + (int) (rnd(&seed) % SFX_INT_MAX),
					size;
		uint8_t    *b;
		SfxInt		open;

		size = sfx_int_encode_decimals(image, n, make_images(t, n, image), enc, sizeof(enc));
		if (size < 0)
			continue;
		b = malloc((size_t) size);
		memcpy(b, enc, (size_t) size);
		for (int f = 0; f < 3; f++)
		{
			uint64_t	where = rnd(&seed) % (f == 0 && size > 8 ? 8 : (uint64_t) size);

			b[where] ^= (uint8_t) (1 << rnd(&seed) % 8);
		}
		if (sfx_int_open(&open, b, (size_t) size, n) > 0)
		{
			int			i = sfx_int_search(&open, image[n / 2], &equal);

			good = good && i >= SFX_CORRUPT && i <= n;
			sfx_int_read(&open, n / 3, n, out);
			sfx_int_at(&open, n / 2, &x);
		}
		free(b);
	}
	ok(good, "damaged blocks give bounded results");
}

int
main(void)
{
	test_images();
	test_near();
	test_no_decimals();
	for (int level = 0; level < SFX_CPU_LEVELS; level++)
	{
		if (!sfx_cpu_pin((SfxCpuLevel) level))
			break;
		test_blocks();
		test_headers();
		test_damage();
	}
	return done_testing();
}
