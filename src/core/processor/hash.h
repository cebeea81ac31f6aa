/*-------------------------------------------------------------------------
 * hash.h - hashes of keys, for filters: in pages and in memory
 *-------------------------------------------------------------------------
 */
#ifndef SFX_HASH_H
#define SFX_HASH_H

#include "bits.h"

static inline uint64_t
sfx_hash_mix(uint64_t h)
{
	h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
	return h ^ h >> 32;
}

/* Multiplies in words of 8 bytes each.  Pages contain the result: it is part of the format. */
static inline uint64_t
sfx_hash_key(const uint8_t *key, uint32_t len)
{
	uint64_t	h = (len + 1) * UINT64_C(0x9E3779B97F4A7C15);

	for (; len >= 8; key += 8, len -= 8)
		h = sfx_hash_mix(h ^ sfx_load64(key)) + len;
	if (len > 0)
		h = sfx_hash_mix(h ^ sfx_load_bytes(key, len));
	return sfx_hash_mix(h) * UINT64_C(0x9E3779B97F4A7C15);
}

#endif							/* SFX_HASH_H */
