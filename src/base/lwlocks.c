/*-------------------------------------------------------------------------
 * lwlocks.c - what this backend holds, for assertions
 *-------------------------------------------------------------------------
 */
#include "lwlocks.h"

#include "storage/lwlock.h"

bool
sfx_holds_no_lwlock(void)
{
	return !SfxHoldsLWLock();
}
