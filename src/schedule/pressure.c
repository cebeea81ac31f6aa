/*-------------------------------------------------------------------------
 * pressure.c - what inserters do when a merge is due or overdue
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "merge.h"
#include "policy.h"
#include "pressure.h"
#include "requests.h"
#include "settings.h"
#include "sleep.h"
#include "subxact.h"

#include "access/xact.h"

#define SLICE_GROUPS	4		/* groups of a run that an inserter merges for each page that it
								 * fills: ten thousand leaves before it merges the delta, by
								 * default */
#define BRAKE_MS		10		/* pause for each page that an inserter fills */

/* Ask a worker for the merge that is due, or help with it, as far as the delta's size demands. */
static void
relieve(void *arg)
{
	Relation	index = arg;
	SfxMergeNeed need = sfx_merge_need(index);

	if (!need.worth_asking)
		return;
	if (sfx_request_shut_out(index))
	{
		if (sfx_merge_due(index))
			(void) sfx_merge_delta(index, true);
	}
	else if (sfx_guc_auto_merge)
	{
		/*
		 * a worker may be unable to start, if the server has no free process; a session that
		 * merges may be slow
		 */
		if (!sfx_request_merge(index, need.pressing) && !sfx_attempts_are_told())
		{
			if (need.late && sfx_merge_delta(index, false) > 0)
				return;
			if (need.run_overdue && sfx_merge_run_waits(index))
				(void) sfx_merge_run_slice(index, SLICE_GROUPS);
		}
		/* another backend merges and does not keep up: pause, to leave it time */
		if (need.too_late)
			sfx_sleep(SFX_SLEEP_INSERT, BRAKE_MS);
	}
}

/* The row is in the index already, so the merge must not fail the statement (M10). */
void
sfx_merge_pressure(Relation index)
{
	Assert(!SfxHoldsLWLock());
	if (IsInParallelMode())
		return;
	if (sfx_attempts_are_told())
		relieve(index);			/* M10 */
	else
		sfx_attempt_aside(index, "merge the delta of", relieve, index);
}
