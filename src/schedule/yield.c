/*-------------------------------------------------------------------------
 * yield.c - when background work gives way to sessions
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "yield.h"

#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

/*
 * DROP DATABASE and CREATE DATABASE ... TEMPLATE take the database's lock first, and then wait a
 * few seconds for all connections to end.  So a lock that is not available tells that such a
 * statement waits for us.
 */
bool
sfx_database_is_wanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, false);
	return false;
}

bool
sfx_worker_is_in_the_way(Relation index)
{
	if (LockHasWaitersRelation(index, SFX_WORKER_LOCK) || sfx_database_is_wanted())
		return true;

	/*
	 * comparison functions look up catalogs with a snapshot, which would hold back VACUUM's
	 * horizon until the merge ends
	 */
	InvalidateCatalogSnapshot();
	return false;
}
