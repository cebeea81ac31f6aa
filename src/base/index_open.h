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
 * The same with AccessShareLock; but NULL if the index is gone, or being dropped, as may happen in
 * a query over all indexes.  SQL functions return NULL then, as core's for sizes do.
 * sfx_open_if_there opens any relation, and raises no errors but core's.
 */
extern Relation sfx_open_index_if_there(Oid relid);
extern Relation sfx_open_if_there(Oid relid);

/*
 * Lock the table of an index of any access method, *heap, and open the index, both with
 * AccessShareLock; NULL, and nothing locked, if the index is gone.  For functions that show an
 * index's definition, since core's lock the table.  What is no index is opened, too (*heap:
 * InvalidOid).  sfx_close_before_table releases both.
 */
extern Relation sfx_open_after_table(Oid relid, Oid *heap);
extern void sfx_close_before_table(Relation index, Oid heap);

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
