/*-------------------------------------------------------------------------
 * image.c - images: a generation of the delta log in key order, in memory: I1 to I7 (src/README.md, "Images")
 *
 * An image is a cache of log pages and nothing more.  It lives in shared memory, in a fixed array of
 * slots over a fixed pool of nodes, both sized at server start; where there is no slot or no
 * node left, and for temporary relations, the same structure is built in this backend's own memory.
 *
 * Standbys and crash recovery need nothing special: whoever needs an image fills it from replayed pages.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "delta.h"
#include "horizon.h"
#include "image.h"
#include "image_impl.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "page.h"
#include "settings.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#define IMAGE_SLOTS			256
#define IMAGE_PROBES		8
#define LOCAL_IMAGES		8
#define LOCAL_CHUNK			64	/* nodes per allocation */
#define VAIN_SHARE			8	/* searches in vain before a filter is worth the walk: one for so many entries */

typedef struct SfxImageShared
{
	LWLock		directory;
	slock_t		pool_lock;
	uint32		nfree;
	uint32		free_head;
	uint32		nnodes;
	pg_atomic_uint64 clock;
	SfxImage	slots[IMAGE_SLOTS];
} SfxImageShared;

typedef struct SfxLocalNodes
{
	MemoryContext cxt;
	char	  **chunks;
	uint32		nchunks;
	uint32		free_head;
	uint32		nfree;
} SfxLocalNodes;

static SfxImageShared *shared = NULL;
static char *pool = NULL;		/* node n at pool + n * SFX_NODE_SIZE; node 0 is not used */
static SfxImage local_images[LOCAL_IMAGES];
static int	next_local = 0;
SfxNodeAlloc sfx_image_nodes;
static bool image_is_shared;

/* ---- shared memory ---- */

static uint32
pool_nodes(void)
{
	return Max(64, (uint32) ((Size) sfx_guc_delta_memory * 1024 / SFX_NODE_SIZE)) + 1;
}

Size
sfx_image_shmem_size(void)
{
	return add_size(MAXALIGN(sizeof(SfxImageShared)),
					add_size(mul_size(pool_nodes(), SFX_NODE_SIZE), PG_CACHE_LINE_SIZE));
}

static char *
pool_node(uint32 ref)
{
	return pool + (Size) ref * SFX_NODE_SIZE;
}

void
sfx_image_shmem_startup(void)
{
	bool		found;
	char	   *base = ShmemInitStruct("surfidx images", sfx_image_shmem_size(), &found);

	shared = (SfxImageShared *) base;
	pool = (char *) CACHELINEALIGN(base + MAXALIGN(sizeof(SfxImageShared)));
	if (!found)
	{
		int			tranche = LWLockNewTrancheId();

		memset(shared, 0, sizeof(*shared));
		LWLockInitialize(&shared->directory, tranche);
		SpinLockInit(&shared->pool_lock);
		pg_atomic_init_u64(&shared->clock, 1);
		for (int i = 0; i < IMAGE_SLOTS; i++)
		{
			LWLockInitialize(&shared->slots[i].lock, tranche);
			pg_atomic_init_u64(&shared->slots[i].last_used, 0);
		}
		shared->nnodes = pool_nodes();
		for (uint32 n = shared->nnodes - 1; n >= 1; n--)
		{
			*(uint32 *) pool_node(n) = shared->free_head;
			shared->free_head = n;
			shared->nfree++;
		}
	}
	LWLockRegisterTranche(shared->directory.tranche, "surfidx_image");
}

/* ---- nodes ---- */

static uint32
shared_pop(void)
{
	uint32		ref;

	SpinLockAcquire(&shared->pool_lock);
	ref = shared->free_head;
	if (ref != SFX_NODE_NULL)
	{
		shared->free_head = *(uint32 *) pool_node(ref);
		shared->nfree--;
	}
	SpinLockRelease(&shared->pool_lock);
	return ref;
}

static void
shared_push(uint32 ref)
{
	SpinLockAcquire(&shared->pool_lock);
	*(uint32 *) pool_node(ref) = shared->free_head;
	shared->free_head = ref;
	shared->nfree++;
	SpinLockRelease(&shared->pool_lock);
}

static void *
local_addr(void *ctx, uint32_t ref)
{
	SfxLocalNodes *l = ((SfxImage *) ctx)->local;

	return l->chunks[ref / LOCAL_CHUNK] + (Size) (ref % LOCAL_CHUNK) * SFX_NODE_SIZE;
}

/* SFX_NODE_NULL: there is none at hand. */
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

static uint32_t
image_alloc(void *ctx)
{
	SfxImage   *img = ctx;

	if (img->nreserve > 0)
		return img->reserve[--img->nreserve];
	return image_is_shared ? shared_pop() : local_take(img);
}

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

static void
local_free(void *ctx, uint32_t ref)
{
	SfxLocalNodes *l = ((SfxImage *) ctx)->local;

	*(uint32 *) local_addr(ctx, ref) = l->free_head;
	l->free_head = ref;
	l->nfree++;
}

static void
set_alloc(SfxImage *img, bool is_shared)
{
	image_is_shared = is_shared;
	sfx_image_nodes.ctx = img;
	sfx_image_nodes.alloc = image_alloc;
	sfx_image_nodes.available = image_available;
	sfx_image_nodes.free = is_shared ? shared_free : local_free;
	sfx_image_nodes.addr = is_shared ? shared_addr : local_addr;
}

/* Private memory for 64 more nodes. May throw; nothing is changed then. */
static void
local_grow(SfxImage *img)
{
	SfxLocalNodes *l = img->local;
	char	   *chunk = MemoryContextAlloc(l->cxt, (Size) LOCAL_CHUNK * SFX_NODE_SIZE);
	uint32		base = l->nchunks * LOCAL_CHUNK;

	if (l->chunks == NULL)
		l->chunks = MemoryContextAlloc(l->cxt, sizeof(char *));
	else
		l->chunks = repalloc(l->chunks, sizeof(char *) * (l->nchunks + 1));
	l->chunks[l->nchunks++] = chunk;
	for (uint32 n = base + LOCAL_CHUNK - 1; n >= Max(base, 1); n--)
		local_free(img, n);
}

static bool evict_one(void);

bool
sfx_image_reserve(SfxImage *img)
{
	while (img->nreserve < IMAGE_RESERVE)
	{
		uint32		ref;

		if (!image_is_shared)
		{
			if (img->local->nfree == 0)
				local_grow(img);
			ref = local_take(img);
		}
		else
		{
			ref = shared_pop();
			if (ref == SFX_NODE_NULL)
			{
				if (!evict_one())
					return false;
				continue;
			}
		}
		img->reserve[img->nreserve++] = ref;
	}
	return true;
}

/* ---- life of a slot ---- */

void
sfx_image_clear(SfxImage *img)
{
	sfx_delta_free(&img->delta, &sfx_image_nodes);
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

/* Give back all memory of a shared slot, whose lock we hold exclusively. */
static void
slot_drop(SfxImage *img)
{
	SfxNodeAlloc saved = sfx_image_nodes;
	bool		saved_shared = image_is_shared;

	set_alloc(img, true);
	sfx_image_clear(img);
	while (img->nreserve > 0)
		shared_push(img->reserve[--img->nreserve]);
	img->used = false;
	sfx_image_nodes = saved;
	image_is_shared = saved_shared;
}

/* Free the memory of the image that was not used for the longest time and that nobody holds. */
static bool
evict_one(void)
{
	uint64		oldest = PG_UINT64_MAX;
	SfxImage   *victim = NULL;

	for (int i = 0; i < IMAGE_SLOTS; i++)
	{
		SfxImage   *s = &shared->slots[i];
		uint64		t = pg_atomic_read_u64(&s->last_used);

		if (s->used && t < oldest && !LWLockHeldByMe(&s->lock))
		{
			oldest = t;
			victim = s;
		}
	}
	if (victim == NULL || !LWLockConditionalAcquire(&victim->lock, LW_EXCLUSIVE))
		return false;
	if (victim->used)
		slot_drop(victim);
	LWLockRelease(&victim->lock);
	return true;
}

static void
make_key(SfxImageKey *key, Relation index, const SfxMeta *meta, int g)
{
	memset(key, 0, sizeof(*key));
	key->loc = SfxRelLocator(index);
	key->gen = meta->gens[g].gen;
	key->build_id = meta->build_id;
}

static bool
key_matches(const SfxImage *img, const SfxImageKey *key)
{
	return img->used && img->key.gen == key->gen && img->key.build_id == key->build_id &&
		SfxLocatorEquals(img->key.loc, key->loc);
}

static uint32
key_home(const SfxImageKey *key)
{
	uint64		h = key->build_id ^ ((uint64) key->gen * UINT64CONST(0x9E3779B97F4A7C15));

	return (uint32) ((h ^ (h >> 29)) % IMAGE_SLOTS);
}

/* The slot of that key, its lock held in the given mode; NULL if there is none. */
static SfxImage *
slot_find(const SfxImageKey *key, LWLockMode mode)
{
	uint32		home = key_home(key);

	for (int i = 0; i < IMAGE_PROBES; i++)
	{
		SfxImage   *s = &shared->slots[(home + i) % IMAGE_SLOTS];

		if (!key_matches(s, key))
			continue;			/* a glance without the lock: confirmed below */
		LWLockAcquire(&s->lock, mode);
		if (key_matches(s, key))
			return s;
		LWLockRelease(&s->lock);
	}
	return NULL;
}

/* A slot for a new key, exclusively locked; NULL if all its places are busy. */
static SfxImage *
slot_create(const SfxImageKey *key)
{
	uint32		home = key_home(key);
	SfxImage   *found = NULL;

	LWLockAcquire(&shared->directory, LW_EXCLUSIVE);
	found = slot_find(key, LW_EXCLUSIVE);
	for (int pass = 0; pass < 2 && found == NULL; pass++)
		for (int i = 0; i < IMAGE_PROBES && found == NULL; i++)
		{
			SfxImage   *s = &shared->slots[(home + i) % IMAGE_SLOTS];

			if ((pass == 0 && s->used) || LWLockHeldByMe(&s->lock) ||
				!LWLockConditionalAcquire(&s->lock, LW_EXCLUSIVE))
				continue;
			if (s->used)
				slot_drop(s);
			s->key = *key;
			s->used = true;
			s->removals = 0;
			set_alloc(s, true);
			sfx_image_clear(s);
			found = s;
		}
	LWLockRelease(&shared->directory);
	return found;
}

/* ---- being current ---- */

/* Is there nothing in the log behind the cursor?  One page visit. */
static bool
is_current(Relation index, SfxImage *img, const SfxMeta *meta, int g, bool *gone)
{
	Buffer		buf;
	Page		page;
	bool		current;

	*gone = false;
	if (img->removals < meta->removals)
		return false;
	if (img->blkno == InvalidBlockNumber)
		return meta->gens[g].first == InvalidBlockNumber;
	buf = sfx_read_page(index, img->blkno);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	if (!sfx_log_page_is(index, img->blkno, page, meta->build_id, meta->gens[g].gen))
	{
		*gone = true;
		current = false;
	}
	else
		current = SfxPageBodyLen(page) == img->off && SfxPageGetTail(page)->right == InvalidBlockNumber;
	UnlockReleaseBuffer(buf);
	return current;
}

/* ---- private images ---- */

static SfxImage *
local_image(const SfxImageKey *key)
{
	SfxImage   *img;

	for (int i = 0; i < LOCAL_IMAGES; i++)
		if (key_matches(&local_images[i], key))
			return &local_images[i];
	img = &local_images[next_local];
	next_local = (next_local + 1) % LOCAL_IMAGES;
	if (img->local)
		MemoryContextDelete(img->local->cxt);
	memset(img, 0, sizeof(*img));
	{
		MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "surfidx image", ALLOCSET_DEFAULT_SIZES);

		img->local = MemoryContextAllocZero(cxt, sizeof(SfxLocalNodes));
		img->local->cxt = cxt;
	}
	img->key = *key;
	img->used = true;
	img->blkno = InvalidBlockNumber;
	return img;
}

static SfxImage *
acquire_local(Relation index, const SfxMeta *meta, int g, const SfxImageKey *key)
{
	SfxImage   *img = local_image(key);
	CatchupResult r;

	set_alloc(img, false);
	do
	{
		CHECK_FOR_INTERRUPTS();
		r = sfx_image_catch_up(index, img, meta, g);
	} while (r == CATCHUP_MORE);
	if (r == CATCHUP_GONE)
		return NULL;
	return img;
}

/* ---- the public face ---- */

/*
 * The image must hold what the log held when we were called.  `need` is how far our own catching up came:
 * what others append after that is none of our business, or a reader could run behind inserters for ever.
 */
static SfxImage *
acquire_shared(Relation index, const SfxMeta *meta, int g, const SfxImageKey *key, CatchupResult *r)
{
	uint64		need = PG_UINT64_MAX;

	*r = CATCHUP_DONE;
	for (;;)
	{
		SfxImage   *img;
		bool		gone = false;
		uint64		seen;

		/* before the lock: under it, interrupts are held off */
		CHECK_FOR_INTERRUPTS();
		img = slot_find(key, LW_SHARED);
		if (img != NULL)
		{
			set_alloc(img, true);
			if ((img->seen >= need && img->removals >= meta->removals) ||
				is_current(index, img, meta, g, &gone))
				return img;
			LWLockRelease(&img->lock);
			if (gone)
			{
				*r = CATCHUP_GONE;
				return NULL;
			}
			img = slot_find(key, LW_EXCLUSIVE);
		}
		if (img == NULL)
			img = slot_create(key);
		if (img == NULL)
		{
			*r = CATCHUP_NOMEM;
			return NULL;
		}
		set_alloc(img, true);
		seen = img->seen;
		*r = sfx_image_catch_up(index, img, meta, g);
		if (img->seen != seen)
			img->grown = GetCurrentStatementStartTimestamp();
		if (*r == CATCHUP_DONE)
			need = img->seen;
		else if (*r != CATCHUP_MORE)
			slot_drop(img);
		LWLockRelease(&img->lock);
		if (*r == CATCHUP_NOMEM || *r == CATCHUP_GONE)
			return NULL;
	}
}

/* Give back private images of generations of this index that were merged since. */
static void
drop_stale_locals(Relation index, const SfxMeta *meta)
{
	for (int i = 0; i < LOCAL_IMAGES; i++)
	{
		SfxImage   *img = &local_images[i];

		if (img->used && SfxLocatorEquals(img->key.loc, SfxRelLocator(index)) &&
			(img->key.build_id != meta->build_id || img->key.gen < SfxMetaOldestGen(meta)))
		{
			MemoryContextDelete(img->local->cxt);
			memset(img, 0, sizeof(*img));
		}
	}
}

/* The clock goes on where another image was used last: who looks into the same one again and again writes nothing that others read. */
static void
note_use(SfxImage *img)
{
	if (pg_atomic_read_u64(&img->last_used) != pg_atomic_read_u64(&shared->clock))
		pg_atomic_write_u64(&img->last_used, pg_atomic_add_fetch_u64(&shared->clock, 1));
}

SfxImage *
sfx_image_acquire(Relation index, const SfxOrder *order, const SfxMeta *meta, int g)
{
	SfxImageKey key;
	SfxImage   *img;
	CatchupResult r;

	make_key(&key, index, meta, g);
	drop_stale_locals(index, meta);
	sfx_image_nodes.order = order;
	/* An image that would need more than half of the pool is not even tried there. */
	if (shared == NULL || RelationUsesLocalBuffers(index) || meta->gens[g].pages > shared->nnodes / 4)
		return acquire_local(index, meta, g, &key);
	img = acquire_shared(index, meta, g, &key, &r);
	if (img != NULL)
		note_use(img);
	else if (r == CATCHUP_NOMEM)
		return acquire_local(index, meta, g, &key);
	return img;
}

bool
sfx_image_glance(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, const SfxPos *pos, int n, double *below)
{
	SfxImageKey key;
	SfxImage   *img;
	bool		known;

	memset(below, 0, n * sizeof(double));
	if (meta->gens[g].first == InvalidBlockNumber)
		return true;
	if (shared == NULL || RelationUsesLocalBuffers(index))
		return false;
	make_key(&key, index, meta, g);
	if ((img = slot_find(&key, LW_SHARED)) == NULL)
		return false;
	known = img->blkno == meta->gens[g].tail;
	if (known)
	{
		sfx_image_nodes.order = order;
		set_alloc(img, true);
		sfx_delta_ranks(&img->delta, &sfx_image_nodes, pos, n, below);
	}
	LWLockRelease(&img->lock);
	return known;
}

const SfxDelta *
sfx_image_delta(SfxImage *img, const SfxNodeAlloc **alloc)
{
	*alloc = &sfx_image_nodes;
	return &img->delta;
}

bool
sfx_image_absent(const SfxImage *img, uint64 hash)
{
	return sfx_delta_absent(&img->delta, &sfx_image_nodes, hash);
}

/* Making a filter takes some 15 ns an entry, a search in vain ten times that. */
bool
sfx_image_wants_filter(SfxImage *img)
{
	return sfx_delta_filter_due(&img->delta) && ++img->vain > img->delta.nentries / VAIN_SHARE;
}

uint64
sfx_image_seen(const SfxImage *img)
{
	return img->seen;
}

bool
sfx_image_unchanged(const SfxImage *img)
{
	return img->unchanged;
}

uint64
sfx_image_killed(const SfxImage *img, SfxHorizon *horizon)
{
	sfx_horizon_raise(horizon, &img->horizon);
	return img->killed;
}

bool
sfx_image_idle(SfxImage *img)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	if (sfx_guc_idle_flush < 0 || img->local || img->delta.nentries == 0 ||
		!TimestampDifferenceExceeds(Max(img->grown, img->asked), now, sfx_guc_idle_flush * 1000))
		return false;
	img->asked = now;
	return true;
}

bool
sfx_delta_is_idle(Relation index, const SfxMeta *meta)
{
	SfxImageKey key;
	SfxImage   *img;
	bool		gone = false;
	bool		idle;

	if (sfx_guc_idle_flush < 0 || shared == NULL || meta->gens[0].first == InvalidBlockNumber)
		return false;
	make_key(&key, index, meta, 0);
	if ((img = slot_find(&key, LW_SHARED)) == NULL)
		return false;
	idle = is_current(index, img, meta, 0, &gone) &&
		TimestampDifferenceExceeds(img->grown, GetCurrentTimestamp(), sfx_guc_idle_flush * 1000);
	LWLockRelease(&img->lock);
	return idle;
}

/* The image of that generation for a change, exclusively locked where that means something; NULL if there is none. */
static SfxImage *
find_for_change(Relation index, const SfxMeta *meta, int g)
{
	SfxImageKey key;
	SfxImage   *img;

	make_key(&key, index, meta, g);
	if (shared != NULL && !RelationUsesLocalBuffers(index) && (img = slot_find(&key, LW_EXCLUSIVE)) != NULL)
	{
		set_alloc(img, true);
		return img;
	}
	for (int i = 0; i < LOCAL_IMAGES; i++)
		if (key_matches(&local_images[i], &key))
		{
			set_alloc(&local_images[i], false);
			return &local_images[i];
		}
	return NULL;
}

/* Room for n more nodes beside the reserve, as far as it can be had. */
static void
make_room(SfxImage *img, uint32 n)
{
	if (image_is_shared)
	{
		while (shared->nfree < n && evict_one())
			;
		return;
	}
	while (img->local->nfree < n)
		local_grow(img);
}

void
sfx_image_grow_filter(Relation index, const SfxMeta *meta, int g)
{
	SfxImage   *img = find_for_change(index, meta, g);

	if (img == NULL)
		return;
	img->vain = 0;
	/* somebody else may have come first */
	if (sfx_delta_filter_due(&img->delta))
	{
		make_room(img, sfx_delta_filter_nodes(&img->delta));
		/* without it searches take the longer way */
		(void) sfx_delta_filter_grow(&img->delta, &sfx_image_nodes);
	}
	sfx_image_release(img);
}

static int
cmp_u64(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

void
sfx_image_kill(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *const *entries, int n,
			   const uint64 *dead, int ndead, const SfxHorizon *horizon)
{
	SfxImage   *img = find_for_change(index, meta, g);

	if (img == NULL)
		return;
	sfx_image_nodes.order = order;
	/* first, since a comparison may throw in the midst of it */
	sfx_horizon_raise(&img->horizon, horizon);
	for (int i = 0; i < n; i++)
	{
		SfxPos		pos = {entries[i]->key, entries[i]->keylen, entries[i]->tid};

		if (bsearch(&pos.tid, dead, ndead, sizeof(uint64), cmp_u64) != NULL &&
			sfx_delta_remove(&img->delta, &sfx_image_nodes, &pos) > 0)
			img->killed++;
	}
	sfx_image_release(img);
}

void
sfx_image_release(SfxImage *img)
{
	if (img->local == NULL)
		LWLockRelease(&img->lock);
}

/* The generation was dropped: its image's memory may go now rather than when room is needed. */
void
sfx_image_forget(Relation index, const SfxMeta *meta, uint32 gen)
{
	SfxImageKey key;
	SfxImage   *img;

	memset(&key, 0, sizeof(key));
	key.loc = SfxRelLocator(index);
	key.gen = gen;
	key.build_id = meta->build_id;
	for (int i = 0; i < LOCAL_IMAGES; i++)
		if (key_matches(&local_images[i], &key))
		{
			MemoryContextDelete(local_images[i].local->cxt);
			memset(&local_images[i], 0, sizeof(SfxImage));
		}
	if (shared == NULL || (img = slot_find(&key, LW_EXCLUSIVE)) == NULL)
		return;
	slot_drop(img);
	LWLockRelease(&img->lock);
}
