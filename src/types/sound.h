/*-------------------------------------------------------------------------
 * sound.h - what stands inside values of arrays, records, ranges and their like
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STRUCTURE_H
#define SURFIDX_STRUCTURE_H

#include "postgres.h"

/*
 * How a type's values are laid out.  Comparison and output functions believe the counts and lengths
 * inside a value; one that was read from a page is held against this before it is given to any of
 * them.
 */
typedef struct SfxStructure SfxStructure;

/*
 * Of that type, palloced with its parts; NULL if there is nothing inside that could lie, or nothing
 * that we know of.
 */
extern const SfxStructure *sfx_structure_of(Oid type, int typlen);

/*
 * ERROR (INDEX_CORRUPTED) unless the value, whose own size lies within memory that is the caller's,
 * is laid out like that; the caller has an error context that names the index.  The value is not
 * changed; a compressed one is looked at decompressed.
 */
extern void sfx_structure_check(const SfxStructure *s, Datum value);

#endif							/* SURFIDX_STRUCTURE_H */
