/*-------------------------------------------------------------------------
 * convert_slots.c - the number of workers of conversions, in all databases
 *
 * In a database one worker goes on and the others wait in turn, each in a slot of
 * max_worker_processes that parallel queries and other workers would use: so there may be a third
 * of these.  A place belongs to the caller until the worker has a process, and then to that
 * process.  A backend that looks for a place also takes those of processes that are gone, so no
 * process has to give its place back.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "convert.h"
#include "shared_area.h"

#include <signal.h>

#include "miscadmin.h"
#include "storage/lwlock.h"

#define MOST_SLOTS		64

typedef struct ConvertShared
{
	LWLock		lock;
	pid_t		pid[MOST_SLOTS];	/* the process that has the place; 0: free */
} ConvertShared;

static ConvertShared *shared = NULL;

const SfxSharedArea sfx_convert_area = {
	.name = "surfidx conversions",.shared = (void **) &shared,.head = sizeof(ConvertShared),
	.tranche = "surfidx_conversions"
};

int
sfx_convert_places(void)
{
	return Min((max_worker_processes + 2) / 3, MOST_SLOTS);
}

int
sfx_convert_take_place(void)
{
	int			found = -1;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < sfx_convert_places() && found < 0; i++)
	{
		if (shared->pid[i] == 0 || kill(shared->pid[i], 0) != 0)
			found = i;
	}
	if (found >= 0)
		shared->pid[found] = MyProcPid;
	LWLockRelease(&shared->lock);
	return found;
}

void
sfx_convert_give_place(int place, pid_t worker)
{
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->pid[place] = worker;
	LWLockRelease(&shared->lock);
}
