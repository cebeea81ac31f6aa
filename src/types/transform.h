/*-------------------------------------------------------------------------
 * transform.h - strings of a C library's collation as words that probably order as they do
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_TRANSFORM_H
#define SURFIDX_TRANSFORM_H

typedef struct SfxTransform SfxTransform;

#define SFX_TRANSFORM_WORDS	3

/*
 * Begin to transform strings of a collation; NULL: it is not a C library's.  Memory: the current
 * context.
 */
extern SfxTransform *sfx_transform_create(Oid collation);

/* Word number i (from 0) of a text's transform; 0 after its end. */
extern uint64 sfx_transform_word(SfxTransform *t, Datum value, int i);

/* Do the first words so far tell enough strings apart for what they cost? */
extern bool sfx_transform_pays(const SfxTransform *t);

#endif							/* SURFIDX_TRANSFORM_H */
