/*-------------------------------------------------------------------------
 * settled.h - is what the catalog says of a column older than the snapshot in use?
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SETTLED_H
#define SURFIDX_SETTLED_H

#include "surfidx.h"

/*
 * Was the column's catalog row, with its NOT NULL, written by a transaction that the active snapshot
 * sees?  A snapshot that is older may see rows that the declaration does not hold for (R11).  False
 * without an active snapshot.
 */
extern bool sfx_column_is_settled(Oid table, AttrNumber column);

#endif							/* SURFIDX_SETTLED_H */
