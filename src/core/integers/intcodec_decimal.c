/*-------------------------------------------------------------------------
 * intcodec_decimal.c - encoding images of doubles that are decimals as whole numbers
 *
 * Most doubles in tables are decimals of few places: prices, coordinates, measurements.  As binary
 * fractions they have 53 bits each, as whole numbers the digits that they have (ALP: Afroozeh,
 * Kuffo, Boncz, SIGMOD 2023).  Layout: intcodec_format.h.
 *-------------------------------------------------------------------------
 */
#include "decimal.h"
#include "intcodec_format.h"

/*
 * Can the double be a decimal, by its exponent?  Most images of something else than doubles cannot.
 */
static inline bool
may_be_decimal(uint64_t image)
{
	unsigned	exponent = (unsigned) ((image >> 63 ? image : ~image) >> 52 & 0x7FF);

	return image == SFX_IMAGE_POSITIVE ||
		(exponent >= 1023 - 50 && exponent < 1023 + SFX_DECIMAL_BITS);
}

/*
 * Find the least e >= *places with which the double is a decimal, and its d.  Decimals of fewer
 * places have the others' e, too, as long as there is room for d.
 */
static bool
find_places(uint64_t image, unsigned *places, int64_t *d)
{
	if (!may_be_decimal(image))
		return false;
	while (!sfx_decimal_find(image, *places, d))
		if (*d >= SFX_DECIMAL_LIMIT || *d <= -SFX_DECIMAL_LIMIT || ++*places > SFX_DECIMAL_PLACES)
			return false;
	return true;
}

/* Scale d[0..n), which had fewer places, to `more` places.  False: there is no room for d. */
static bool
add_places(int64_t *d, int n, unsigned more)
{
	for (; more > 0; more--)
		for (int i = 0; i < n; i++)
		{
			d[i] *= 10;
			if (d[i] >= SFX_DECIMAL_LIMIT || d[i] <= -SFX_DECIMAL_LIMIT)
				return false;
		}
	return true;
}

bool
sfx_int_is_decimal(uint64_t image)
{
	unsigned	places = 0;
	int64_t		d;

	return find_places(image, &places, &d);
}

int
sfx_int_encode_decimals(const uint64_t *image, int n, unsigned nbytes,
						uint8_t *out, size_t cap)
{
	int64_t		d[SFX_INT_MAX];
	uint64_t	v[SFX_INT_MAX];
	unsigned	nb = 8 - nbytes,
				places = 0,
				before;
	int64_t		bias = 0;
	int			r;

	if (n < 1 || n > SFX_INT_MAX || cap < 2 + nb)
		return SFX_NOSPACE;
	for (int i = 0; i < n; i++)
	{
		before = places;
		if (!find_places(image[i], &places, &d[i]) || !add_places(d, i, places - before))
			return SFX_NOSPACE;
		bias = d[i] < 0 ? SFX_DECIMAL_LIMIT : bias;
	}
	for (int i = 0; i < n; i++)
		v[i] = (uint64_t) (d[i] + bias);
	r = sfx_int_encode(v, n, out + 2 + nb, cap - 2 - nb);
	if (r < 0)
		return r;
	out[0] = codec_byte(SFX_INT_DECIMAL, nb);
	out[1] = (uint8_t) (places | (bias ? DECIMAL_BIASED : 0));
	if (nb > 0)
		sfx_store_bytes(out + 2, image[0] >> (64 - 8 * nb), nb);
	return r + 2 + (int) nb;
}
