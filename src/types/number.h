/*-------------------------------------------------------------------------
 * number.h - numerics of a usual size as integers, for sums
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_NUMBER_H
#define SURFIDX_NUMBER_H

/* A numeric as whole + fraction / 10^8, both of its sign: |whole| < 10^16, |fraction| < 10^8. */
#define SFX_NUMBER_PLACES	8
typedef struct SfxNumber
{
	int64		whole;
	int64		fraction;
	int			scale;			/* display scale */
} SfxNumber;

/* Convert a numeric.  False: it is larger or finer than that, or not finite. */
extern bool sfx_number_of_numeric(Datum value, SfxNumber *number);

/*
 * Convert a value's bytes in a key, complemented if desc, with the rest right after them; avail
 * bytes in all.  False also if they are damaged.
 */
extern bool sfx_number_of_bytes(const uint8 *p, int avail, bool desc, SfxNumber *number);

/*
 * Sum up n such values, at most SFX_NUMBERS_MOST, of avail bytes each, in key order, the next one
 * `step` bytes after each.  sum->scale: the greatest scale.  False: they have to be converted one
 * by one.
 */
#define SFX_NUMBERS_MOST	512
extern bool sfx_number_sum(const uint8 *p, int avail, int step, int n, bool desc, SfxNumber *sum);

#endif							/* SURFIDX_NUMBER_H */
