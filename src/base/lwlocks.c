/*-------------------------------------------------------------------------
 * lwlocks.c - what this backend holds, for assertions
 *-------------------------------------------------------------------------
 */
#include "lwlocks.h"

#include "storage/lwlock.h"

static void
note_held(LWLock *lock, LWLockMode mode, void *any)
{
	*(bool *) any = true;
}

bool
sfx_holds_no_lwlock(void)
{
	bool		any = false;

	ForEachLWLockHeldByMe(note_held, &any);
	return !any;
}
