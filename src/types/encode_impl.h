/*-------------------------------------------------------------------------
 * encode_impl.h - what the encode*.c files share: big-endian integers, errors, support functions
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ENCODE_IMPL_H
#define SURFIDX_ENCODE_IMPL_H

#include "varlena.h"

#define SFX_SIGN16	0x8000
#define SFX_SIGN32	0x80000000
#define SFX_SIGN64	UINT64CONST(0x8000000000000000)

/* ERROR: stored bytes are no value of that type. */
pg_noreturn extern pg_attribute_cold void sfx_damaged_value(const char *type);

/* Write the low `width` bytes of v, big-endian; returns width, or -1 if there is no room. */
static inline int
sfx_put_be(uint64 v, int width, uint8 *buf, int maxlen)
{
	if (width > maxlen)
		return -1;
	for (int i = 0; i < width; i++)
		buf[i] = (uint8) (v >> (8 * (width - 1 - i)));
	return width;
}

/* Read `width` bytes, big-endian. */
static inline uint64
sfx_get_be(const uint8 *buf, int width)
{
	uint64		v = 0;

	for (int i = 0; i < width; i++)
		v = v << 8 | buf[i];
	return v;
}

/* int8, which also serves types that are stored as that. */
extern int	sfx_encode_int8(Datum value, uint8 *buf, int maxlen);
extern Datum sfx_decode_int8(const uint8 *buf, int len, char *out, int room, int *outlen);

/* Defines surfidx_enc_<name>(internal), which returns the encoding. */
#define SFX_SUPPORT_FUNCTION(name, encoding) \
	PG_FUNCTION_INFO_V1(surfidx_enc_##name); \
	Datum \
	surfidx_enc_##name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_POINTER(&(encoding)); \
	} \
	extern Datum surfidx_enc_##name(PG_FUNCTION_ARGS)

#endif							/* SURFIDX_ENCODE_IMPL_H */
