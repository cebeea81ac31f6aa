/*-------------------------------------------------------------------------
 * shmem.c - shared memory of all modules that have some: asked for while preloading, set up at server start
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "counters.h"
#include "image.h"
#include "meta.h"
#include "predicate.h"
#include "progress.h"
#include "requests.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

static shmem_request_hook_type prev_request_hook = NULL;
static shmem_startup_hook_type prev_startup_hook = NULL;

static void
request_shmem(void)
{
	if (prev_request_hook)
		prev_request_hook();
	RequestAddinShmemSpace(sfx_image_shmem_size());
	RequestAddinShmemSpace(sfx_requests_shmem_size());
	RequestAddinShmemSpace(sfx_progress_shmem_size());
	RequestAddinShmemSpace(sfx_activity_shmem_size());
	RequestAddinShmemSpace(sfx_meta_shmem_size());
	RequestAddinShmemSpace(sfx_predicate_shmem_size());
	RequestAddinShmemSpace(sfx_stop_shmem_size());
}

static void
startup_shmem(void)
{
	if (prev_startup_hook)
		prev_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	sfx_image_shmem_startup();
	sfx_requests_shmem_startup();
	sfx_progress_shmem_startup();
	sfx_activity_shmem_startup();
	sfx_meta_shmem_startup();
	sfx_predicate_shmem_startup();
	sfx_stop_shmem_startup();
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
