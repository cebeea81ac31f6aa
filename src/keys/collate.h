/*-------------------------------------------------------------------------
 * collate.h - two strings by a collation, at the least cost
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COLLATE_H
#define SURFIDX_COLLATE_H

#include "postgres.h"

/*
 * As text's comparison function says (below 0, 0, above 0).  A byte 00 stands behind each string, as
 * in keys, and none inside.  May throw.
 */
extern int	sfx_collate(Oid collation, const uint8 *a, int alen, const uint8 *b, int blen);

#endif							/* SURFIDX_COLLATE_H */
