/*-------------------------------------------------------------------------
 * image_batch.h - entries of several log pages in key order, for an image (image.c)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BATCH_H
#define SURFIDX_BATCH_H

#include "surfidx.h"
#include "leaf.h"

typedef struct SfxBatch SfxBatch;

/* In the current context, about 2 MB for 64 pages of short entries; fewer pages, less. */
extern SfxBatch *sfx_batch_create(uint32 pages);
extern void sfx_batch_free(SfxBatch *batch);
extern void sfx_batch_clear(SfxBatch *batch);

/* Is there room for whatever one more page may hold? */
extern bool sfx_batch_has_room(const SfxBatch *batch);

/* Copy an entry. */
extern void sfx_batch_add(SfxBatch *batch, const SfxEntry *e);

/* Put them in order of (key, TID), as bytes are; their number. */
extern int	sfx_batch_sort(SfxBatch *batch);

/* Entry i after that; its bytes are the batch's. */
extern void sfx_batch_get(const SfxBatch *batch, int i, SfxEntry *e);

#endif							/* SURFIDX_BATCH_H */
