/*-------------------------------------------------------------------------
 * resize.h - the memory that tests, fuzz targets and benchmarks give to the filters' builder
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TEST_RESIZE_H
#define SFX_TEST_RESIZE_H

#include <stdlib.h>

/* The function that SfxSurfAlloc needs. */
static inline void *
resize(void *ctx, void *old, size_t oldsize, size_t newsize)
{
	(void) ctx;
	(void) oldsize;
	if (newsize == 0)
	{
		free(old);
		return NULL;
	}
	return realloc(old, newsize);
}

#endif							/* SFX_TEST_RESIZE_H */
