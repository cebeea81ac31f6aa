/*-------------------------------------------------------------------------
 * yield.c - when background work gives way
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "yield.h"

#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

/*
 * Does somebody want this database for itself, to drop it or as a template?  They take its lock
 * first and then wait a few seconds for everybody connected to leave.
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
	 * looking up what comparisons need takes a snapshot, which would hold back VACUUM until the
	 * merge ends
	 */
	InvalidateCatalogSnapshot();
	return false;
}
