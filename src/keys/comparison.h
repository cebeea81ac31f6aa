/*-------------------------------------------------------------------------
 * comparison.h - which functions a comparison of two values calls
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COMPARISON_H
#define SURFIDX_COMPARISON_H

/*
 * The first function not written in C that comparing values of that type by cmp calls: cmp itself,
 * or a comparison of elements, columns or bounds.  InvalidOid: there is none, so values may be
 * compared while pages are locked.  Reads catalogs.
 */
extern Oid	sfx_foreign_comparison(Oid cmp, Oid type);

#endif							/* SURFIDX_COMPARISON_H */
