/*-------------------------------------------------------------------------
 * comparison.h - which functions comparing two values comes to
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COMPARISON_H
#define SURFIDX_COMPARISON_H

#include "surfidx.h"

/*
 * The first function not written in C that comparing values of that type by cmp comes to: cmp
 * itself, or what it asks about elements, columns or bounds.  InvalidOid: there is none, so values
 * may be compared while pages are locked.  Reads catalogs.
 */
extern Oid	sfx_foreign_comparison(Oid cmp, Oid type);

#endif							/* SURFIDX_COMPARISON_H */
