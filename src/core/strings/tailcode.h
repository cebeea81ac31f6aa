/*-------------------------------------------------------------------------
 * tailcode.h - order-preserving compression of the bytes of long keys after the first ones
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TAILCODE_H
#define SFX_TAILCODE_H

#include "sfx.h"


/*
 * What the coder learns from the bytes that it has seen.  Only the tables stretch and squash
 * outlive a call.
 */
#define SFX_TAIL_ORDERS		3	/* contexts of 0 to 2 bytes */
#define SFX_TAIL_SLOTS		(1 << 14)
#define SFX_TAIL_MATCHES	(1 << 12)
#define SFX_TAIL_LENGTHS	16
typedef struct SfxTailModel
{
	int16_t		stretch[4096];	/* ln(p / (1 - p)), made by sfx_tail_init */
	int16_t		squash[4096];	/* its inverse, likewise */
	uint16_t	slot[SFX_TAIL_ORDERS][SFX_TAIL_SLOTS];
	int32_t		weight[SFX_TAIL_ORDERS];
	uint32_t	last[SFX_TAIL_MATCHES]; /* where the bytes with this hash ended the last time */
	uint16_t	less[SFX_TAIL_LENGTHS]; /* by the match's length: is the byte less than
										 * predicted; */
	uint16_t	greater[SFX_TAIL_LENGTHS];	/* if not, is it greater? */
} SfxTailModel;

/* To be called once for each model, before anything else. */
extern void sfx_tail_init(SfxTailModel *m);

/*
 * Code src[from..n) for a decoder that knows src[0..from).  Returns the length of the code at out,
 * SFX_NOSPACE if it has more than maxlen bytes.
 *
 * Strings that begin with the same from bytes, none of which is a prefix of another, have codes in
 * their order, and no code is a prefix of another one; also if codes are followed by other bytes.
 * The same bytes have the same code on every machine.
 */
extern int	sfx_tail_encode(SfxTailModel *m, const uint8_t *src, uint32_t from, uint32_t n, uint8_t *out, uint32_t maxlen);

/* The inverse: fills dst[from..n).  Any bytes are a code of some string. */
extern void sfx_tail_decode(SfxTailModel *m, const uint8_t *code, uint32_t len, uint8_t *dst, uint32_t from, uint32_t n);

#endif							/* SFX_TAILCODE_H */
