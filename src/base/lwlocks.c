/*-------------------------------------------------------------------------
 * lwlocks.c - which LWLocks this backend holds, for assertions
 *-------------------------------------------------------------------------
 */
#include "lwlocks.h"

#include "storage/lwlock.h"

bool
sfx_holds_no_lwlock(void)
{
	return !SfxHoldsLWLock();
}
