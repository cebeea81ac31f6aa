/*-------------------------------------------------------------------------
 * image_nodes.c - the memory of images: a pool of nodes in shared memory, or chunks of a backend's
 * own
 *
 * An insert that splits nodes needs new ones at once, and must not fail half-way (I7).  So nodes
 * are taken into the image's reserve beforehand.  Most inserts split nothing and need none: a small
 * image has one node and no reserve, and a pool of 8,192 nodes has room for as many small images as
 * there are slots.
 *
 * The first four bytes of a free node are the number of the next free one, in both kinds of memory.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "delta.h"
#include "image_impl.h"
#include "settings.h"
#include "shared_area.h"

#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/memutils.h"

#define LOCAL_CHUNK			16	/* nodes per allocation */

/* The shared pool's head.  A spinlock will do: it covers one push or pop. */
typedef struct PoolShared
{
	slock_t		lock;
	uint32		nfree;
	uint32		free_head;
	uint32		nnodes;
} PoolShared;

/* The private nodes of one image. */
typedef struct SfxLocalNodes
{
	MemoryContext cxt;
	char	  **chunks;
	uint32		nchunks;
	uint32		maxchunks;
	uint32		free_head;
	uint32		nfree;
} SfxLocalNodes;

static PoolShared *shared = NULL;
static char *pool = NULL;		/* node n stands at pool + n * SFX_NODE_SIZE; there is no node 0,
								 * which is SFX_NODE_NULL */

/* ---- the shared pool ---- */

/* Number of nodes in the pool, by surfidx.delta_memory; node 0, which is not used, is counted. */
static uint32
pool_size(void)
{
	return Max(64, (uint32) ((Size) sfx_guc_delta_memory * 1024 / SFX_NODE_SIZE)) + 1;
}

static Size
area_size(void)
{
	return add_size(MAXALIGN(sizeof(PoolShared)),
					add_size(mul_size(pool_size(), SFX_NODE_SIZE), PG_CACHE_LINE_SIZE));
}

static char *
pool_node(uint32 ref)
{
	return pool + (Size) ref * SFX_NODE_SIZE;
}

static void
attach_area(bool made)
{
	pool = (char *) CACHELINEALIGN((char *) shared + MAXALIGN(sizeof(PoolShared)));
	if (!made)
		return;
	SpinLockInit(&shared->lock);
	shared->nnodes = pool_size();
	for (uint32 n = shared->nnodes - 1; n >= 1; n--)
	{
		*(uint32 *) pool_node(n) = shared->free_head;
		shared->free_head = n;
		shared->nfree++;
	}
}

const SfxSharedArea sfx_image_nodes_area = {
	.name = "surfidx image nodes",.shared = (void **) &shared,.head = sizeof(PoolShared),
	.size = area_size,.attach = attach_area
};

uint32
sfx_image_pool_nodes(void)
{
	return shared->nnodes;
}

uint32
sfx_image_pool_free(void)
{
	return shared->nfree;
}

/* Take a node from the pool; SFX_NODE_NULL: it is exhausted. */
static uint32
shared_pop(void)
{
	uint32		ref;

	SpinLockAcquire(&shared->lock);
	ref = shared->free_head;
	if (ref != SFX_NODE_NULL)
	{
		shared->free_head = *(uint32 *) pool_node(ref);
		shared->nfree--;
	}
	SpinLockRelease(&shared->lock);
	return ref;
}

static void
shared_push(uint32 ref)
{
	SpinLockAcquire(&shared->lock);
	*(uint32 *) pool_node(ref) = shared->free_head;
	shared->free_head = ref;
	shared->nfree++;
	SpinLockRelease(&shared->lock);
}

/* ---- private nodes ---- */

/* As SfxNodeAlloc.addr and .free; ctx is the image. */
static void *
local_addr(void *ctx, uint32_t ref)
{
	SfxLocalNodes *l = ((SfxImage *) ctx)->local;

	return l->chunks[ref / LOCAL_CHUNK] + (Size) (ref % LOCAL_CHUNK) * SFX_NODE_SIZE;
}

/* Take a private node; SFX_NODE_NULL: none is free (local_grow makes some). */
static uint32
local_take(SfxImage *img)
{
	SfxLocalNodes *l = img->local;
	uint32		ref = l->free_head;

	if (ref != SFX_NODE_NULL)
	{
		l->free_head = *(uint32 *) local_addr(img, ref);
		l->nfree--;
	}
	return ref;
}

static void
local_free(void *ctx, uint32_t ref)
{
	SfxLocalNodes *l = ((SfxImage *) ctx)->local;

	*(uint32 *) local_addr(ctx, ref) = l->free_head;
	l->free_head = ref;
	l->nfree++;
}

/* Allocate LOCAL_CHUNK more private nodes.  May throw; then nothing is changed. */
static void
local_grow(SfxImage *img)
{
	SfxLocalNodes *l = img->local;
	uint32		base = l->nchunks * LOCAL_CHUNK;

	if (l->nchunks == l->maxchunks)
	{
		uint32		max = Max(8, 2 * l->maxchunks);

		if (l->chunks == NULL)
			l->chunks = MemoryContextAlloc(l->cxt, max * sizeof(char *));
		else
			l->chunks = repalloc(l->chunks, max * sizeof(char *));
		l->maxchunks = max;
	}
	l->chunks[l->nchunks] = MemoryContextAlloc(l->cxt, (Size) LOCAL_CHUNK * SFX_NODE_SIZE);
	l->nchunks++;
	for (uint32 n = base + LOCAL_CHUNK - 1; n >= Max(base, 1); n--)
		local_free(img, n);
}

void
sfx_image_begin_local(SfxImage *img)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "surfidx image",
											  ALLOCSET_DEFAULT_SIZES);

	img->local = MemoryContextAllocZero(cxt, sizeof(SfxLocalNodes));
	img->local->cxt = cxt;
}

void
sfx_image_end_local(SfxImage *img)
{
	if (img->local)
		MemoryContextDelete(img->local->cxt);
	memset(img, 0, sizeof(*img));
}

Size
sfx_image_local_bytes(const SfxImage *img)
{
	return (Size) img->local->nchunks * LOCAL_CHUNK * SFX_NODE_SIZE;
}

/* ---- the allocator of the image's tree ---- */

/* SfxNodeAlloc.alloc: from the reserve while there is one, so that available() holds. */
static uint32_t
image_alloc(void *ctx)
{
	SfxImage   *img = ctx;

	if (img->nreserve > 0)
		return img->reserve[--img->nreserve];
	return img->local ? local_take(img) : shared_pop();
}

/*
 * SfxNodeAlloc.available: the reserve alone is certain, since others take from the pool meanwhile.
 */
static uint32_t
image_available(void *ctx)
{
	return ((SfxImage *) ctx)->nreserve;
}

static void
shared_free(void *ctx, uint32_t ref)
{
	shared_push(ref);
}

static void *
shared_addr(void *ctx, uint32_t ref)
{
	return pool_node(ref);
}

SfxNodeAlloc
sfx_image_nodes(SfxImage *img, const SfxOrder *order)
{
	return (SfxNodeAlloc)
	{
		.ctx = img,
			.alloc = image_alloc,
			.available = image_available,
			.free = img->local ? local_free : shared_free,
			.addr = img->local ? local_addr : shared_addr,
			.order = order
	};
}

bool
sfx_image_fill_reserve(SfxImage *img)
{
	while (img->nreserve < Min(img->delta.height + 2, IMAGE_RESERVE))
	{
		uint32		ref;

		if (img->local && img->local->nfree == 0)
			local_grow(img);
		ref = img->local ? local_take(img) : shared_pop();
		if (ref == SFX_NODE_NULL)
			return false;
		img->reserve[img->nreserve++] = ref;
	}
	return true;
}

void
sfx_image_give_back(SfxImage *img)
{
	while (img->nreserve > 0)
	{
		if (img->local)
			local_free(img, img->reserve[--img->nreserve]);
		else
			shared_push(img->reserve[--img->nreserve]);
	}
}

bool
sfx_image_has_room(SfxImage *img, uint32 n)
{
	while (img->local && img->local->nfree < n)
		local_grow(img);
	return img->local || shared->nfree >= n;
}

void
sfx_image_clear(SfxImage *img)
{
	SfxNodeAlloc nodes = sfx_image_nodes(img, NULL);

	sfx_delta_free(&img->delta, &nodes);
	img->blkno = InvalidBlockNumber;
	img->seq = 0;
	img->off = 0;
	img->seen = 0;
	img->unchanged = false;
	img->vain = 0;
	img->killed = 0;
	img->horizon.xid = InvalidTransactionId;
	img->horizon.catalog = false;
}
