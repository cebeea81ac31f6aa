/*-------------------------------------------------------------------------
 * shmem.c - the shared memory areas of all modules: requested while preloading, set up at server
 * start
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "convert.h"
#include "counters.h"
#include "heat.h"
#include "image.h"
#include "meta.h"
#include "predicate.h"
#include "progress.h"
#include "requests.h"
#include "shared_area.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

static const SfxSharedArea *const areas[] = {
	&sfx_image_nodes_area,
	&sfx_image_slots_area,
	&sfx_requests_area,
	&sfx_progress_area,
	&sfx_activity_area,
	&sfx_heat_area,
	&sfx_meta_area,
	&sfx_predicate_area,
	&sfx_convert_area,
	SFX_STOP_AREA				/* of test builds; else NULL */
};

static shmem_request_hook_type prev_request_hook = NULL;
static shmem_startup_hook_type prev_startup_hook = NULL;

static Size
size_of(const SfxSharedArea *a)
{
	return a->size ? a->size() : a->head;
}

static void
request_shmem(void)
{
	if (prev_request_hook)
		prev_request_hook();
	for (int i = 0; i < lengthof(areas); i++)
		if (areas[i])
			RequestAddinShmemSpace(MAXALIGN(size_of(areas[i])));
}

static void
attach(const SfxSharedArea *a)
{
	bool		found;
	LWLock	   *lock = *a->shared = ShmemInitStruct(a->name, size_of(a), &found);

	if (!found)
		memset(*a->shared, 0, a->head);
	if (!found && a->tranche)
		LWLockInitialize(lock, SfxNewTranche(a->tranche));
	if (a->tranche)
		SfxNameTranche(lock->tranche, a->tranche);
	if (a->attach)
		a->attach(!found);
}

static void
startup_shmem(void)
{
	if (prev_startup_hook)
		prev_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (int i = 0; i < lengthof(areas); i++)
		if (areas[i])
			attach(areas[i]);
	LWLockRelease(AddinShmemInitLock);
}

void
sfx_shmem_init(void)
{
	prev_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
	prev_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shmem;
}
