/*-------------------------------------------------------------------------
 * intblock.h - single questions to a freshly opened block of integers
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TEST_INTBLOCK_H
#define SFX_TEST_INTBLOCK_H

#include "intcodec.h"

static inline int
int_get(const uint8_t *in, size_t len, int n, int i, uint64_t *v)
{
	SfxInt		b;

	return sfx_int_open(&b, in, len, n) < 0 ? SFX_CORRUPT : sfx_int_at(&b, i, v);
}

static inline int
int_lower_bound(const uint8_t *in, size_t len, int n, uint64_t x)
{
	SfxInt		b;
	bool		equal;

	return sfx_int_open(&b, in, len, n) < 0 ? SFX_CORRUPT : sfx_int_search(&b, x, &equal);
}

#endif							/* SFX_TEST_INTBLOCK_H */
