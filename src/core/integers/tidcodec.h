/*-------------------------------------------------------------------------
 * tidcodec.h - blocks of TIDs, compressed
 *
 * TIDs (uint64_t, heap block << 16 | offset) in entry order: sorted inside one key's posting list,
 * in any order across keys.  The first byte names the codec; the smallest form is taken:
 *
 *	RUNS	runs of consecutive offsets inside a heap block, and of heap blocks that follow one
 *			another (an index in table order costs a few bytes per heap page); forward or
 *			backward; taken without a look at the others if it costs at most a bit per TID
 *	FOR		frame of reference over (block, offset), as one number of the smallest bit width
 *	ZIGZAG	signed deltas of that number less the smallest, bit-packed (almost in order)
 *	POSTING	Elias-Fano per posting list (needs the list ends), or over a block that is sorted
 *			as a whole
 *	PATCHED	two of these, the regular TIDs and the exceptions (in order except for some)
 *	PLAIN	6 bytes each
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TIDCODEC_H
#define SFX_TIDCODEC_H

#include "sfx.h"

#define SFX_TID_MAXN	512		/* most TIDs of a block */
#define SFX_TID_BOUND(n)	(16 + 6 * (size_t) (n))

typedef enum SfxTidCodec
{
	SFX_TID_PLAIN = 1,
	SFX_TID_RUNS = 2,
	SFX_TID_FOR = 3,
	SFX_TID_ZIGZAG = 4,
	SFX_TID_POSTING = 5,
	SFX_TID_PATCHED = 6,
	SFX_TID_CODECS
} SfxTidCodec;

/*
 * Encode tid[0..n), 1 <= n <= 512.  ends[0..nlists) are the exclusive ends of the posting lists
 * (ends[nlists-1] == n); NULL if each TID is a list of its own.  Returns the bytes written, or
 * SFX_NOSPACE; the bytes of out after them, up to cap, may be overwritten, too.  _as: with that
 * codec.
 */
extern int sfx_tid_encode(const uint64_t *tid, int n, const uint16_t *ends, int nlists,
						  uint8_t *out, size_t cap);
extern int sfx_tid_encode_as(SfxTidCodec codec, const uint64_t *tid, int n, const uint16_t *ends, int nlists,
							 uint8_t *out, size_t cap);

/* Returns the length in bytes of the encoded block that starts at in; or SFX_CORRUPT. */
extern int sfx_tid_size(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists);

/*
 * Decode tid[from..to) into out[0..to-from); ends as given to the encoder.  SFX_OK or SFX_CORRUPT.
 * Every decoded TID is <= SFX_MAX_TID.
 */
extern int sfx_tid_decode(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists,
						  int from, int to, uint64_t *out);

#endif							/* SFX_TIDCODEC_H */
