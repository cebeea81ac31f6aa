/*-------------------------------------------------------------------------
 * convert_slots.c - how many workers of conversions there are, of all databases
 *
 * One goes on in a database and the others wait in turn, each in a place of max_worker_processes
 * that parallel queries and other workers would have: so there may be a third of them.  A place is
 * its caller's until the worker has a process, and then that process's.  Whoever looks for one
 * takes those of processes that are gone, so that nobody has to give one back.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "convert.h"
#include "shared_area.h"

#include <signal.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/lwlock.h"

#define MOST_SLOTS		64

typedef struct ConvertShared
{
	LWLock		lock;
	pid_t		pid[MOST_SLOTS];	/* 0: free */
} ConvertShared;

static ConvertShared *shared = NULL;

static Size
area_size(void)
{
	return MAXALIGN(sizeof(ConvertShared));
}

static void
attach_area(void *area, bool made)
{
	shared = area;
	if (made)
	{
		memset(shared, 0, sizeof(*shared));
		LWLockInitialize(&shared->lock, SfxNewTranche("surfidx_conversions"));
	}
	SfxNameTranche(shared->lock.tranche, "surfidx_conversions");
}

const SfxSharedArea sfx_convert_area = {"surfidx conversions", area_size, attach_area};

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
