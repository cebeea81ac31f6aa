/*-------------------------------------------------------------------------
 * sound.h - the inner layout of values of arrays, records, ranges and types like them (P2)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SOUND_H
#define SURFIDX_SOUND_H

/*
 * How the values of a type are laid out.  Comparison and output functions trust the counts and
 * lengths inside a value; so a value read from a page is checked against this before it is given to
 * them.
 */
typedef struct SfxStructure SfxStructure;

/*
 * The layout of a type, palloc'd with its parts; NULL if nothing inside its values could be wrong,
 * or nothing that we know of.
 */
extern const SfxStructure *sfx_structure_of(Oid type, int typlen);

/*
 * ERROR (INDEX_CORRUPTED) unless the value is laid out like that.  The value's own size lies within
 * memory of the caller's, and the caller has set an error context that names the index.  The value
 * is not changed; a compressed one is decompressed for the check.
 */
extern void sfx_structure_check(const SfxStructure *s, Datum value);

#endif							/* SURFIDX_SOUND_H */
