/*-------------------------------------------------------------------------
 * leaf_sum.h - numbers in the keys of a coded block: their sum, the least and the greatest
 *
 * The integers of a FIXED block differ from the numbers by a constant and by bits at fixed places,
 * so no key is put together, and no TID is looked at.  (Lemire, Rupp: "Upscaledb", 2017, sum up
 * compressed blocks in the same way.)
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LEAF_SUM_H
#define SFX_LEAF_SUM_H

#include "leaf.h"

/*
 * The place of a number in keys of one length: unsigned, big-endian, after a byte that is the same
 * in all keys.
 */
typedef struct SfxPlace
{
	uint32_t	keylen;
	uint32_t	at;				/* > 0; 0: there is no number, entries are only counted */
	uint32_t	width;			/* bytes, 1 to 8 */
	uint8_t		mark;			/* the byte before it */
} SfxPlace;

/* What the caller needs of the numbers. */
#define SFX_WANT_SUM	0x1
#define SFX_WANT_ENDS	0x2		/* the first and the last one, as least and most */
#define SFX_WANT_BOUNDS	0x4		/* the least and the greatest */

typedef struct SfxSum
{
	int			n;				/* entries */
	uint64_t	low;			/* the sum is low + 2^32 high: neither overflows */
	uint64_t	high;
	uint64_t	least;
	uint64_t	most;
} SfxSum;

/*
 * Sum up the numbers of the entries e of block b with lo <= e < hi (NULL: no bound), each as often
 * as it has entries.  1: *sum has what was asked for, ends and bounds if there are entries; 0: the
 * block has another form; or SFX_CORRUPT.
 */
extern int sfx_leaf_sum(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi,
						const SfxPlace *place, int want, SfxSum *sum);

#endif							/* SFX_LEAF_SUM_H */
