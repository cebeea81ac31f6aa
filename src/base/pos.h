/*-------------------------------------------------------------------------
 * pos.h - positions with bytes of their own
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_POS_H
#define SURFIDX_POS_H

#include "surfidx.h"
#include "leaf.h"

/* Bytes of a scan's bound, at most: a prefix, one more value, an end mark. */
#define SFX_BOUND_MAX	(2 * SFX_MAX_ENTRY + 8)

/* A position with its own bytes. */
typedef struct SfxPosBuf
{
	SfxPos		pos;
	uint8		bytes[SFX_MAX_ENTRY + 8];
} SfxPosBuf;

extern void sfx_pos_set(SfxPosBuf *buf, const SfxPos *pos);

/* palloced */
extern SfxPos sfx_pos_copy(const SfxPos *pos);

static inline SfxPos
sfx_entry_pos(const SfxEntry *e)
{
	return (SfxPos)
	{
		e->key, e->keylen, e->tid
	};
}

/* The same position, byte for byte? */
static inline bool
sfx_same_pos(const SfxPos *a, const SfxPos *b)
{
	return a->tid == b->tid && sfx_same_bytes(a->key, a->len, b->key, b->len);
}

#endif							/* SURFIDX_POS_H */
