/*-------------------------------------------------------------------------
 * index_open.h - opening the index that an SQL function was given
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INDEX_OPEN_H
#define SURFIDX_INDEX_OPEN_H

#include "surfidx.h"

/* Open an index that a function was given; ERROR (WRONG_OBJECT_TYPE and others) unless it is a surfidx index that is ready. */
extern Relation sfx_open_index(Oid relid, LOCKMODE lockmode);

#endif							/* SURFIDX_INDEX_OPEN_H */
