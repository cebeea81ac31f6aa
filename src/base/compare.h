/*-------------------------------------------------------------------------
 * compare.h - comparisons for qsort and bsearch
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COMPARE_H
#define SURFIDX_COMPARE_H

static inline int
sfx_cmp_u64(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

#endif							/* SURFIDX_COMPARE_H */
