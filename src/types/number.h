/*-------------------------------------------------------------------------
 * number.h - numerics of a usual size as integers, for who sums them up
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_NUMBER_H
#define SURFIDX_NUMBER_H

#include "surfidx.h"

/* whole + fraction / 10^8, both of its sign.  |whole| < 10^16, |fraction| < 10^8. */
#define SFX_NUMBER_PLACES	8
typedef struct SfxNumber
{
	int64		whole;
	int64		fraction;
	int			scale;			/* display scale */
} SfxNumber;

/* False: it is larger, finer, or not finite. */
extern bool sfx_number_of_numeric(Datum value, SfxNumber *number);

/*
 * The same of a value's bytes in a key, complemented if desc, with the rest right behind them;
 * avail bytes in all.  False, too, where they are damaged.
 */
extern bool sfx_number_of_bytes(const uint8 *p, int avail, bool desc, SfxNumber *number);

/*
 * The sum of n such values, at most SFX_NUMBERS_MOST, of avail bytes each, in order, step bytes
 * from one to the next; scale: the greatest one.  False: they have to be taken one by one.
 */
#define SFX_NUMBERS_MOST	512
extern bool sfx_number_sum(const uint8 *p, int avail, int step, int n, bool desc, SfxNumber *sum);

#endif							/* SURFIDX_NUMBER_H */
