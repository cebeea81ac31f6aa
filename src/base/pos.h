/*-------------------------------------------------------------------------
 * pos.h - positions with bytes of their own
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_POS_H
#define SURFIDX_POS_H

#include "leaf.h"

/* Bytes of a scan's bound, at most: a prefix, one more value, an end mark. */
#define SFX_BOUND_MAX	(2 * SFX_MAX_ENTRY + 8)

/* A position, with room for its key. */
typedef struct SfxPosBuf
{
	SfxPos		pos;
	uint8		bytes[SFX_MAX_ENTRY + 8];
} SfxPosBuf;

/* The same, with room for a bound. */
typedef struct SfxBoundBuf
{
	SfxPos		pos;
	uint8		bytes[SFX_BOUND_MAX];
} SfxBoundBuf;

/* Copy a position that is no end of the order (key NULL); it may be buf's own. */
static inline void
sfx_bound_set(SfxBoundBuf *buf, const SfxPos *pos)
{
	Assert(pos->len <= SFX_BOUND_MAX);
	if (pos->len > 0)
		memmove(buf->bytes, pos->key, pos->len);
	buf->pos = (SfxPos) {buf->bytes, pos->len, pos->tid};
}

/* Copy a position into *buf; it may be buf's own. */
extern void sfx_pos_set(SfxPosBuf *buf, const SfxPos *pos);

/* Copy a position, its key palloc'd in the current context. */
extern SfxPos sfx_pos_copy(const SfxPos *pos);

/*
 * Change b to the least byte string above all that begin with it; returns its length, 0 if there is
 * none.
 */
static inline int
sfx_successor(uint8 *b, int len)
{
	while (len > 0 && b[len - 1] == 0xFF)
		len--;
	if (len > 0)
		b[len - 1]++;
	return len;
}

/* The position of an entry; its key is the entry's. */
static inline SfxPos
sfx_entry_pos(const SfxEntry *e)
{
	return (SfxPos) {e->key, e->keylen, e->tid};
}

/* Are the two positions the same, byte for byte? */
static inline bool
sfx_same_pos(const SfxPos *a, const SfxPos *b)
{
	return a->tid == b->tid && sfx_same_bytes(a->key, a->len, b->key, b->len);
}

#endif							/* SURFIDX_POS_H */
