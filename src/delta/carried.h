/*-------------------------------------------------------------------------
 * carried.h - entries of a generation that newer ones have, too (storage parameter merge_cold:
 * carry.c)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CARRIED_H
#define SURFIDX_CARRIED_H

#include "image.h"
#include "leaf.h"
#include "meta.h"

/* May generation meta->gens[g] have entries carried over from older ones (M7)? */
static inline bool
sfx_carried(const SfxMeta *meta, int g)
{
	return (meta->carried >> g & 1) != 0;
}

/* May a newer generation have entries carried over from meta->gens[g]? */
static inline bool
sfx_carried_from(const SfxMeta *meta, int g)
{
	return (meta->carried & ((1 << g) - 1)) != 0;
}

/*
 * Take out of entry[0..n), which are of generation meta->gens[g] and ascend, those that a newer
 * generation has as well.  How many are left, in place.  Merge lock held, meta read under it.
 */
extern int	sfx_carry_leave_out(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *entry, int n);

/*
 * The image of generation meta->gens[g], which is listed.  The caller holds the merge lock, and
 * releases the image (sfx_image_release).
 */
extern SfxImage *sfx_carried_image(Relation index, const SfxOrder *order, const SfxMeta *meta, int g);

#endif							/* SURFIDX_CARRIED_H */
