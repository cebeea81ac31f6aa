/*-------------------------------------------------------------------------
 * yield.c - background work gives way to sessions, and is throttled
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "policy.h"
#include "requests.h"
#include "settings.h"
#include "sleep.h"
#include "yield.h"

#include "catalog/pg_database.h"
#include "commands/vacuum.h"
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

void
sfx_worker_pay(Relation index, SfxProgress *p)
{
	SfxProgressPhase phase = p->phase;
	double		ms;
	double		limit;

	Assert(!SfxHoldsLWLock());
	if (sfx_guc_merge_cost_delay <= 0)
		return;
	/* all workers together may spend what the limit allows */
	limit = (double) sfx_guc_merge_cost_limit /
		(SFX_MUTANT("each worker pays for itself") ? 1 : Max(sfx_requests_workers(), 1));
	if (VacuumCostBalance < limit)
		return;
	ms = sfx_guc_merge_cost_delay * VacuumCostBalance / limit;
	ms = Min(ms, sfx_guc_merge_cost_delay * 4);
	VacuumCostBalance = 0;
	if (sfx_merge_need(index).late)
		return;
	SFX_STOP("worker sleeps");
	p->phase = SFX_PROGRESS_SLEEP;
	sfx_sleep(SFX_SLEEP_MERGE, Max((long) ms, 1));
	p->phase = phase;
}
