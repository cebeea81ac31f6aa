/*-------------------------------------------------------------------------
 * subxact.c - what may fail without the statement's failing: in a subtransaction of its own
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "subxact.h"

#include "access/xact.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

static ErrorData *
attempt(void (*work) (void *arg), void *arg, volatile bool keep)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile edata = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		work(arg);
		if (keep)
			ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		keep = false;
	}
	PG_END_TRY();
	if (!keep)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return edata;
}

ErrorData *
sfx_attempt(void (*work) (void *arg), void *arg)
{
	return attempt(work, arg, true);
}

/* What the command tells of itself, which a rollback ends. */
typedef struct Progress
{
	ProgressCommandType command;
	Oid			target;
	int64		param[PGSTAT_NUM_PROGRESS_PARAM];
} Progress;

static void
restore_progress(const Progress *p)
{
	int			index[PGSTAT_NUM_PROGRESS_PARAM];

	if (p->command == PROGRESS_COMMAND_INVALID)
		return;
	for (int i = 0; i < PGSTAT_NUM_PROGRESS_PARAM; i++)
		index[i] = i;
	pgstat_progress_start_command(p->command, p->target);
	pgstat_progress_update_multi_param(PGSTAT_NUM_PROGRESS_PARAM, index, p->param);
}

void
sfx_undone(void (*work) (void *arg), void *arg)
{
	Progress	progress;
	ErrorData  *edata;

	progress.command = MyBEEntry->st_progress_command;
	progress.target = MyBEEntry->st_progress_command_target;
	memcpy(progress.param, (const int64 *) MyBEEntry->st_progress_param, sizeof(progress.param));
	edata = attempt(work, arg, false);
	if (edata)
		ReThrowError(edata);
	restore_progress(&progress);
}
