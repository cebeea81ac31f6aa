/*-------------------------------------------------------------------------
 * pay.c - how fast background work goes
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "lwlocks.h"
#include "pay.h"
#include "policy.h"
#include "requests.h"
#include "settings.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/latch.h"

void
sfx_worker_pay(Relation index, SfxProgress *p)
{
	SfxProgressPhase phase = p->phase;
	double		ms;
	double		limit;

	Assert(sfx_holds_no_lwlock());
	if (sfx_guc_merge_cost_delay <= 0)
		return;
	/* all workers together take what one may */
	limit = (double) sfx_guc_merge_cost_limit /
		(SFX_MUTANT("each worker pays for itself") ? 1 : Max(sfx_requests_workers(), 1));
	if (VacuumCostBalance < limit)
		return;
	ms = sfx_guc_merge_cost_delay * VacuumCostBalance / limit;
	ms = Min(ms, sfx_guc_merge_cost_delay * 4);
	VacuumCostBalance = 0;
	if (sfx_merge_is_late(index))
		return;
	SFX_STOP("worker sleeps");
	p->phase = SFX_PROGRESS_SLEEP;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Max((long) ms, 1), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	p->phase = phase;
	CHECK_FOR_INTERRUPTS();
}
