/*-------------------------------------------------------------------------
 * decimal.h - doubles that are decimals: d / 10^e, |d| < 2^50, e <= 15 (B6)
 *
 * An *image* is a double's bits in an order that numbers have: of positive ones the sign bit is
 * flipped, of negative ones all bits are.  So the image of -x is the complement of x's.
 *
 * All that is needed of the processor is IEEE 754: a division and a multiplication of doubles,
 * rounded to the nearest.  10^e is a double, and so is d.  Rounding does not change an order, so
 * images of decimals of one e are in the order of their d, and two different d, which are more than
 * 2^-50 of their value apart, are not rounded to one double.
 *
 * For any x below 2^51 / 10^e, sfx_decimal_near gives a d with |d - x * 10^e| < 1: the product has
 * an error of 1/8 at most, one half is added, which has an error of 1/8 at most, and all digits
 * after the point are dropped.  If x is a decimal d / 10^e, rounded, then product and sum have
 * errors of 3/8 at most, so the result is that d.  Therefore no other d needs to be looked at:
 * near(x) tells whether x is a decimal, and the least d / 10^e that is not below x is the one of
 * near(x) or the next.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_DECIMAL_H
#define SFX_DECIMAL_H

#include <float.h>

#include "bits.h"

#ifdef __FAST_MATH__
#error "divisions have to be those of IEEE 754: compile without -ffast-math"
#endif

#define SFX_DECIMAL_BITS	50			/* |d| < 2^50 */
#define SFX_DECIMAL_LIMIT	(INT64_C(1) << SFX_DECIMAL_BITS)
#define SFX_DECIMAL_PLACES	15			/* greatest e */

#define SFX_IMAGE_POSITIVE	(UINT64_C(1) << 63)

/* 10^e */
static inline double
sfx_decimal_power(unsigned e)
{
	static const double power[SFX_DECIMAL_PLACES + 1] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
	};

	return power[e & 15];
}

static inline uint64_t
sfx_image_of_double(double x)
{
	uint64_t	bits;

	memcpy(&bits, &x, 8);
	return bits >> 63 ? ~bits : bits | SFX_IMAGE_POSITIVE;
}

static inline double
sfx_double_of_image(uint64_t image)
{
	uint64_t	bits = image >> 63 ? image ^ SFX_IMAGE_POSITIVE : ~image;
	double		x;

	memcpy(&x, &bits, 8);
	return x;
}

/*
 * The image of d / 10^e, computed with whole numbers only, for |d| < 2^52: 54 bits of the quotient,
 * the last of which is rounded.
 */
static inline uint64_t
sfx_decimal_divide(int64_t d, unsigned e)
{
	uint64_t	n = d < 0 ? (uint64_t) -d : (uint64_t) d,
				by = (uint64_t) sfx_decimal_power(e),
				q = 0,
				bits;
	int			exponent = 1023 + 53;

	if (n == 0)
		return SFX_IMAGE_POSITIVE;
	/* by <= n < 2 * by, so that the quotient's first bit is the one before the point */
	for (; n < by; exponent--)
		n <<= 1;
	for (; n >= by << 1; exponent++)
		by <<= 1;
	for (int i = 0; i < 54; i++, n <<= 1)
	{
		q = q << 1 | (n >= by);
		n -= n >= by ? by : 0;
	}
	/* half way between two doubles: take the even one */
	q = (q >> 1) + (q & 1 & ((q >> 1) | (n != 0)));
	if (q >> 53)
	{
		q >>= 1;
		exponent++;
	}
	bits = (uint64_t) (exponent - 53) << 52 | (q & sfx_mask(52));
	return d < 0 ? ~(bits | SFX_IMAGE_POSITIVE) : bits | SFX_IMAGE_POSITIVE;
}

/* The image of d / 10^e, |d| < 2^52. */
static inline uint64_t
sfx_decimal_image(int64_t d, unsigned e)
{
#if FLT_EVAL_METHOD == 0
	return sfx_image_of_double((double) d / sfx_decimal_power(e));
#else
	/* x87 rounds a quotient twice */
	return sfx_decimal_divide(d, e);
#endif
}

/*
 * The d that is near the double of this image, see above.  Beyond 2^51, and for infinities and
 * NaNs: 2^51, or -2^51 if the image is that of a negative number.
 */
static inline int64_t
sfx_decimal_near(uint64_t image, unsigned e)
{
	double		y = sfx_double_of_image(image) * sfx_decimal_power(e),
				most = (double) (2 * SFX_DECIMAL_LIMIT);

	if (y < most && y > -most)
		return (int64_t) (y < 0 ? y - 0.5 : y + 0.5);
	return image >> 63 ? 2 * SFX_DECIMAL_LIMIT : -2 * SFX_DECIMAL_LIMIT;
}

/* Is the double of this image d / 10^e for some d?  If so, sets *d. */
static inline bool
sfx_decimal_find(uint64_t image, unsigned e, int64_t *d)
{
	*d = sfx_decimal_near(image, e);
	return *d < SFX_DECIMAL_LIMIT && *d > -SFX_DECIMAL_LIMIT && sfx_decimal_image(*d, e) == image;
}

#endif							/* SFX_DECIMAL_H */
