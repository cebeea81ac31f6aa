/*-------------------------------------------------------------------------
 * retry.c - repeating searches that concurrent changes have outrun (retry.h)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "merge_lock.h"
#include "retry.h"

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "miscadmin.h"
#include "utils/rel.h"

#define TRIES			5		/* tries before the merge lock is taken */
#define TRIES_STANDBY	100		/* tries in all */

XLogRecPtr
sfx_replayed(void)
{
	return GetXLogReplayRecPtr(NULL);
}

/*
 * See retry.h.  GetXLogReplayRecPtr says where the last record ends that was replayed,
 * GetCurrentReplayRecPtr where the last record ends whose replay was begun: if the two are equal,
 * no record was even in part replayed in between.  RecoveryInProgress is asked last: if this still
 * is a standby, no other process has written until now.
 */
bool
sfx_replay_stood_still(XLogRecPtr since)
{
	return GetCurrentReplayRecPtr(NULL) == since && RecoveryInProgress();
}

/* ERROR: replay outruns this reader. */
static void
give_up(Relation index)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("index \"%s\" changes faster on this standby than it can be read",
					RelationGetRelationName(index)),
			 errdetail("Replay went on during each of %d tries.", TRIES_STANDBY),
			 errhint("Run the statement again. If it keeps failing, pause replay with "
					 "pg_wal_replay_pause() and look at the index with surfidx_check().")));
}

bool
sfx_retry(SfxRetry *r)
{
	Assert(!SfxHoldsLWLock() || sfx_merge_lock_held(r->index));
	CHECK_FOR_INTERRUPTS();
	if (r->quiet || (r->recovery && sfx_replay_stood_still(r->replayed)))
		return false;
	r->tries++;
	r->recovery = RecoveryInProgress();
	if (r->recovery)
	{
		if (r->tries > TRIES_STANDBY)
			give_up(r->index);
		r->replayed = sfx_replayed();
		return true;
	}
	r->quiet = sfx_merge_lock_held(r->index);
	if (!r->quiet && r->tries > TRIES)
	{
		SFX_STOP("outrun");
		sfx_merge_lock(r->index);
		r->quiet = r->locked = true;
	}
	return true;
}

void
sfx_retry_end(SfxRetry *r)
{
	if (r->locked)
		sfx_merge_unlock_with_page(r->index);
	r->locked = false;
}
