/*-------------------------------------------------------------------------
 * sleep.c - to sleep for some milliseconds, under a name
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "sleep.h"

#include "miscadmin.h"
#include "storage/latch.h"

/* They stand in docs/monitoring.md. */
static const char *const name[] = {
	[SFX_SLEEP_IDLE] = "SurfidxMergeIdle",
	[SFX_SLEEP_MERGE] = "SurfidxMergeDelay",
	[SFX_SLEEP_INSERT] = "SurfidxInsertDelay",
	[SFX_SLEEP_TRUNCATE] = "SurfidxTruncate",
	[SFX_SLEEP_CONVERT] = "SurfidxConvert"
};

void
sfx_sleep(SfxSleep what, long ms)
{
	static uint32 event[lengthof(name)];

	Assert(!SfxHoldsLWLock());
	if (event[what] == 0)
		event[what] = SfxWaitEvent(name[what]);
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, event[what]);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}
