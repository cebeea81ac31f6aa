/*-------------------------------------------------------------------------
 * pay.c - how fast background work goes
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "lwlocks.h"
#include "pay.h"
#include "policy.h"
#include "settings.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/latch.h"

void
sfx_worker_pay(Relation index, SfxProgress *p)
{
	SfxProgressPhase phase = p->phase;
	double		ms;

	Assert(sfx_holds_no_lwlock());
	if (sfx_guc_merge_cost_delay <= 0 || VacuumCostBalance < sfx_guc_merge_cost_limit)
		return;
	ms = sfx_guc_merge_cost_delay * VacuumCostBalance / sfx_guc_merge_cost_limit;
	ms = Min(ms, sfx_guc_merge_cost_delay * 4);
	VacuumCostBalance = 0;
	if (sfx_merge_is_late(index))
		return;
	p->phase = SFX_PROGRESS_SLEEP;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Max((long) ms, 1), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	p->phase = phase;
	CHECK_FOR_INTERRUPTS();
}
