/*-------------------------------------------------------------------------
 * index_open.h - opening the index that an SQL function was given
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INDEX_OPEN_H
#define SURFIDX_INDEX_OPEN_H

#include "surfidx.h"

/*
 * Open an index that a function was given; ERROR (WRONG_OBJECT_TYPE and others) unless it is a
 * surfidx index that is ready and has contents on this server (none of a distributed table has).
 */
extern Relation sfx_open_index(Oid relid, LOCKMODE lockmode);

/*
 * The same with its table, which is locked before the index, as everywhere; both AccessShareLock.
 * Whether there are contents is the caller's to ask.
 */
extern Relation sfx_open_with_table(Oid relid, Relation *heap);

/*
 * Is the table one of Citus's, whose rows are in other tables (shards)?  Its catalog is looked up
 * by name, so that it need not be there.
 */
extern bool sfx_is_distributed(Oid table);

/* A standby has nothing of an unlogged index, not even its file.  The second is an ERROR then. */
extern bool sfx_is_absent(Relation index);
extern void sfx_require_contents(Relation index);

#endif							/* SURFIDX_INDEX_OPEN_H */
