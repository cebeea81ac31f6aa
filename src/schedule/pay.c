/*-------------------------------------------------------------------------
 * pay.c - throttling background work
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "pay.h"
#include "policy.h"
#include "requests.h"
#include "settings.h"
#include "sleep.h"

#include "commands/vacuum.h"
#include "miscadmin.h"

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
	if (sfx_merge_is_late(index))
		return;
	SFX_STOP("worker sleeps");
	p->phase = SFX_PROGRESS_SLEEP;
	sfx_sleep(SFX_SLEEP_MERGE, Max((long) ms, 1));
	p->phase = phase;
}
