/*-------------------------------------------------------------------------
 * intcodec_bytes.h - the byte-wise codecs, as intcodec.c and intcodec_encode.c call them
 *-------------------------------------------------------------------------
 */
#ifndef SFX_INTCODEC_BYTES_H
#define SFX_INTCODEC_BYTES_H

#include "intcodec_format.h"

static inline bool
is_bytewise(SfxIntCodec codec)
{
	return codec == SFX_INT_VBYTE || codec == SFX_INT_VARINTGB || codec == SFX_INT_STREAMVBYTE;
}

/* The same as sfx_int_read and sfx_int_search, for arguments that were checked. */
extern int sfx_int_bytes_read(const SfxInt *b, int from, int to, uint64_t *out);
extern int sfx_int_bytes_search(const SfxInt *b, uint64_t x, bool *equal);

/*
 * Number of bytes that sorted v takes; SIZE_MAX if the codec does not apply (deltas above 32 bits,
 * except for VByte).
 */
extern size_t sfx_int_bytes_size(SfxIntCodec codec, const uint64_t *v, int n);

/* Encode v; the caller has made sure that there is room.  Returns the end of the block. */
extern uint8_t *sfx_int_bytes_encode(SfxIntCodec codec, const uint64_t *v, int n, uint8_t *out);

#endif							/* SFX_INTCODEC_BYTES_H */
