/*-------------------------------------------------------------------------
 * transform.h - strings of a C library's collation as words that probably order as they do
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_TRANSFORM_H
#define SURFIDX_TRANSFORM_H

#include "postgres.h"

typedef struct SfxTransform SfxTransform;

#define SFX_TRANSFORM_WORDS	3

/* NULL: none for this collation.  In the current memory context. */
extern SfxTransform *sfx_transform_create(Oid collation);

/* Word number i of a text. */
extern uint64 sfx_transform_word(SfxTransform *t, Datum value, int i);

/* Do first words tell enough for what they cost? */
extern bool sfx_transform_pays(const SfxTransform *t);

#endif							/* SURFIDX_TRANSFORM_H */
