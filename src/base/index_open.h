/*-------------------------------------------------------------------------
 * index_open.h - opening the index that an SQL function was given
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_INDEX_OPEN_H
#define SURFIDX_INDEX_OPEN_H

/*
 * Open and lock the index that an SQL function was given.  ERROR (WRONG_OBJECT_TYPE and others)
 * unless it is a surfidx index that is ready, not a temporary one of another session, not
 * distributed by Citus, and has contents on this server.
 */
extern Relation sfx_open_index(Oid relid, LOCKMODE lockmode);

/*
 * The same with its table, in *heap, which is locked before the index, as everywhere; both with
 * AccessShareLock.  The caller asks whether the index has contents (sfx_require_contents).
 */
extern Relation sfx_open_with_table(Oid relid, Relation *heap);

/*
 * Is the table one of Citus's, whose rows are in other tables (shards)?  The catalog of Citus is
 * looked up by name, so it need not exist.
 */
extern bool sfx_is_distributed(Oid table);

/*
 * Is this an unlogged index on a standby, which has not even a file of it?  The second raises an
 * ERROR then.
 */
extern bool sfx_is_absent(Relation index);
extern void sfx_require_contents(Relation index);

#endif							/* SURFIDX_INDEX_OPEN_H */
