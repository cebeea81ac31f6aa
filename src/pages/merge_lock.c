/*-------------------------------------------------------------------------
 * merge_lock.c - the merge lock: its holder is the single writer of an index's trees
 *
 * A heavyweight lock, so that waits for it can be cancelled, take part in deadlock detection, and
 * end with the transaction.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "merge_lock.h"

#include "miscadmin.h"
#include "utils/rel.h"

#define LOCK_FIELD_MERGE	1	/* objsubid of the merge lock */

static void
merge_tag(LOCKTAG *tag, Relation index)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, RelationGetRelid(index), 0, LOCK_FIELD_MERGE);
}

void
sfx_merge_lock(Relation index)
{
	LOCKTAG		tag;

	Assert(!SfxHoldsLWLock());
	merge_tag(&tag, index);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

bool
sfx_merge_trylock(Relation index)
{
	LOCKTAG		tag;

	Assert(!SfxHoldsLWLock());
	merge_tag(&tag, index);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

bool
sfx_merge_lock_held(Relation index)
{
	LOCKTAG		tag;

	merge_tag(&tag, index);
	return SfxLockHeldByMe(&tag, ExclusiveLock);
}

void
sfx_merge_unlock_with_page(Relation index)
{
	LOCKTAG		tag;

	merge_tag(&tag, index);
	LockRelease(&tag, ExclusiveLock, false);
}

void
sfx_merge_unlock(Relation index)
{
	Assert(!SfxHoldsLWLock());
	sfx_merge_unlock_with_page(index);
}
