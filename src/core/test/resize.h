/*-------------------------------------------------------------------------
 * resize.h - the memory that tests, fuzz targets and benchmarks hand to the filters' builder
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TEST_RESIZE_H
#define SFX_TEST_RESIZE_H

#include <stdlib.h>

/* As SfxSurfAlloc wants it. */
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
