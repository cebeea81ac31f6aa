/*-------------------------------------------------------------------------
 * image_batch.h - entries of several log pages in key order, for an image (image.c)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IMAGE_BATCH_H
#define SURFIDX_IMAGE_BATCH_H

#include "leaf.h"

typedef struct SfxBatch SfxBatch;

/*
 * An empty batch for that many pages of usual entries: about 2 MB for 64 pages.  Memory: the
 * current context.
 */
extern SfxBatch *sfx_batch_create(uint32 pages);
extern void sfx_batch_free(SfxBatch *batch);

/* Is there room for all that one more page may hold, however short its entries? */
extern bool sfx_batch_has_room(const SfxBatch *batch);

/* Add a copy of *e.  The caller has asked sfx_batch_has_room since the last page. */
extern void sfx_batch_add(SfxBatch *batch, const SfxEntry *e);

/* Sort the entries by (key, TID), in byte order; their number.  Nothing is added after that. */
extern int	sfx_batch_sort(SfxBatch *batch);

/* Entry i in that order; its pointers are valid until the batch is cleared or freed. */
extern void sfx_batch_get(const SfxBatch *batch, int i, SfxEntry *e);

#endif							/* SURFIDX_IMAGE_BATCH_H */
