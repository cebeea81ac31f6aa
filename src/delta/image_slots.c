/*-------------------------------------------------------------------------
 * image_slots.c - images in shared memory: a slot for each, found by the index's file
 *
 * Slots stand in chains, one for each hash value of a file.  A slot gets into a chain, or moves to
 * another one, only when it gets a new key, under the directory lock.  A backend that looks for an
 * image walks a chain without a lock, and compares the key again under the slot's lock (N3).  If
 * chains change during that walk it may miss the image; but before it makes one it looks again,
 * under the directory lock.
 *
 * An image ends with its generation (sfx_image_forget), and with its file (gone.h).  Where there is
 * no free slot, or no free node, a victim is evicted: the least recently used of the next VICTIMS
 * slots in turn, whatever their hash value.  So no two indexes evict each other for ever, and
 * unused images go first, or soon (I8).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "delta.h"
#include "gone.h"
#include "image.h"
#include "image_impl.h"
#include "shared_area.h"
#include "shared_use.h"

#include "common/hashfn.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#define VICTIMS		64
#define LUCK		3			/* looks in excess of one round: victims may be locked */

/* The head of the area; the chains and the slots follow it. */
typedef struct SlotsShared
{
	LWLock		directory;
	int			nslots;			/* the number of chains, too */
	pg_atomic_uint64 clock;		/* advances when another image is used than last time */
	pg_atomic_uint32 hand;		/* the slot from which the next search for a victim starts */
	pg_atomic_uint64 taken;		/* slots given to a key, so far */
	pg_atomic_uint64 evicted;	/* images evicted for want of room, so far */
} SlotsShared;

static SlotsShared *shared = NULL;
static volatile int *chain;		/* first slot of each chain, -1: none */
static SfxImage *slots;

/* Where the slots begin in the area: after its head and the chains. */
static Size
slots_at(void)
{
	return MAXALIGN(sizeof(SlotsShared)) + MAXALIGN(sizeof(int) * sfx_shared_places());
}

static Size
area_size(void)
{
	return add_size(slots_at(), mul_size(sizeof(SfxImage), sfx_shared_places()));
}

/* Attach the area in this process; made: this process has created it, and initializes it. */
static void
attach_area(bool made)
{
	char	   *base = (char *) shared;

	chain = (volatile int *) (base + MAXALIGN(sizeof(SlotsShared)));
	slots = (SfxImage *) (base + slots_at());
	if (made)
	{
		memset(base + sizeof(SlotsShared), 0, area_size() - sizeof(SlotsShared));
		shared->nslots = sfx_shared_places();
		pg_atomic_init_u64(&shared->clock, 1);
		pg_atomic_init_u32(&shared->hand, 0);
		pg_atomic_init_u64(&shared->taken, 0);
		pg_atomic_init_u64(&shared->evicted, 0);
		for (int i = 0; i < shared->nslots; i++)
		{
			chain[i] = -1;
			LWLockInitialize(&slots[i].lock, shared->directory.tranche);
			pg_atomic_init_u64(&slots[i].last_used, 0);
			pg_atomic_init_u32(&slots[i].applier, 0);
		}
	}
	sfx_gone_tell(sfx_image_forget_file);
}

const SfxSharedArea sfx_image_slots_area = {
	.name = "surfidx images",.shared = (void **) &shared,.head = sizeof(SlotsShared),
	.size = area_size,.tranche = "surfidx_image",.attach = attach_area
};

bool
sfx_image_slots_exist(void)
{
	return shared != NULL;
}

/* ---- chains ---- */

static inline int
chain_of(const SfxLocator *file)
{
	uint32		h = hash_combine(murmurhash32(SfxLocatorNumber(*file)),
								 murmurhash32(SfxLocatorDb(*file)));

	return h % shared->nslots;
}

/*
 * The number of the slot that seems to have that key; -1: none was seen.  Without a lock the answer
 * is a hint either way; under the directory lock no chain changes, and -1 is certain.
 */
static int
look_up(const SfxImageKey *key)
{
	int			i = chain[chain_of(&key->loc)];

	/*
	 * a slot that moves to another chain during this walk could lead us in circles: count the
	 * steps
	 */
	for (int n = 0; i >= 0 && n < shared->nslots; n++, i = *(volatile int *) &slots[i].next)
		if (sfx_image_is(&slots[i], key))
			return i;
	return -1;
}

/*
 * Give slot i to that key, and move it to the key's chain.  Directory lock and the slot's are held
 * exclusively.  A backend that stands on the slot in its walk goes on in the new chain, and misses
 * the rest of its own.  The barrier makes sure that the chain leads to the slot only after its key
 * and link are there.
 */
static void
rechain(int i, const SfxImageKey *key)
{
	SfxImage   *s = &slots[i];

	Assert(LWLockHeldByMeInMode(&shared->directory, LW_EXCLUSIVE));
	Assert(LWLockHeldByMeInMode(&s->lock, LW_EXCLUSIVE));
	if (s->chained)
	{
		int			c = chain_of(&s->key.loc);

		if (chain[c] == i)
			chain[c] = s->next;
		else
		{
			int			before = chain[c];

			while (slots[before].next != i)
				before = slots[before].next;
			slots[before].next = s->next;
		}
	}
	s->key = *key;
	s->next = chain[chain_of(&key->loc)];
	s->chained = true;
	pg_write_barrier();
	chain[chain_of(&key->loc)] = i;
}

SfxImage *
sfx_image_slot_find(const SfxImageKey *key, LWLockMode mode)
{
	int			i = look_up(key);

	/* I2: a backend that waits for an image's lock holds no other one */
	Assert(!sfx_image_held());
	if (i < 0)
		return NULL;
	LWLockAcquire(&slots[i].lock, mode);
	if (sfx_image_is(&slots[i], key))
		return &slots[i];
	LWLockRelease(&slots[i].lock);
	return NULL;
}

bool
sfx_image_held(void)
{
	return shared && LWLockAnyHeldByMe(&slots[0].lock, shared->nslots, sizeof(SfxImage));
}

/* ---- victims ---- */

void
sfx_image_slot_drop(SfxImage *img)
{
	Assert(LWLockHeldByMeInMode(&img->lock, LW_EXCLUSIVE));
	sfx_image_clear(img);
	sfx_image_give_back(img);
	img->used = false;
}

/*
 * Advance the hand by VICTIMS slots and choose one of them: a free one if take_free, else the least
 * recently used that this backend does not hold.  -1: none.  Takes no lock: the caller looks again.
 */
static int
next_victim(bool take_free)
{
	uint32		from = pg_atomic_fetch_add_u32(&shared->hand, Min(VICTIMS, shared->nslots));
	uint64		oldest = PG_UINT64_MAX;
	int			victim = -1;

	for (uint32 n = 0; n < Min(VICTIMS, shared->nslots); n++)
	{
		int			i = (from + n) % shared->nslots;
		uint64		t = pg_atomic_read_u64(&slots[i].last_used);

		if (!slots[i].used && take_free)
			return i;
		if (slots[i].used && t < oldest && !LWLockHeldByMe(&slots[i].lock))
		{
			oldest = t;
			victim = i;
		}
	}
	return victim;
}

/*
 * A slot that is free, or was made free by eviction, its lock held exclusively; -1: others hold the
 * locks of all candidates.  Never waits: the caller may hold the lock of another image (I2).
 */
static int
free_slot(bool take_free)
{
	for (int n = 0; n < shared->nslots + LUCK * VICTIMS; n += VICTIMS)
	{
		int			i = next_victim(take_free);

		if (i < 0 || !LWLockConditionalAcquire(&slots[i].lock, LW_EXCLUSIVE))
			continue;
		if (slots[i].used)
		{
			sfx_image_slot_drop(&slots[i]);
			pg_atomic_fetch_add_u64(&shared->evicted, 1);
		}
		return i;
	}
	return -1;
}

/*
 * Evict the least recently used image of the next slots in turn that no other backend holds.
 * False: there is none.
 */
static bool
evict(void)
{
	int			i = free_slot(false);

	if (i >= 0)
		LWLockRelease(&slots[i].lock);
	return i >= 0;
}

bool
sfx_image_reserve(SfxImage *img)
{
	while (!sfx_image_fill_reserve(img))
		if (!evict())
			return false;
	return true;
}

void
sfx_image_make_room(SfxImage *img, uint32 n)
{
	while (!sfx_image_has_room(img, n) && evict())
		;
}

SfxImage *
sfx_image_slot_make(const SfxImageKey *key)
{
	SfxImage   *img;
	int			i;

	/*
	 * without the directory lock: this waits for the slot's lock, and its holder may want the
	 * directory lock in order to evict another image
	 */
	while ((img = sfx_image_slot_find(key, LW_EXCLUSIVE)) == NULL)
	{
		LWLockAcquire(&shared->directory, LW_EXCLUSIVE);
		if (look_up(key) >= 0)
		{
			LWLockRelease(&shared->directory);
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		if ((i = free_slot(true)) >= 0)
		{
			img = &slots[i];
			rechain(i, key);
			img->used = true;
			img->removals = 0;
			img->grown = img->asked = 0;
			sfx_image_clear(img);
			pg_atomic_fetch_add_u64(&shared->taken, 1);
			sfx_image_slot_touch(img);
		}
		LWLockRelease(&shared->directory);
		return img;
	}
	return img;
}

/*
 * The clock advances only when another image was used last.  A backend that uses the same image
 * again and again thus writes no cache line that others read.
 */
void
sfx_image_slot_touch(SfxImage *img)
{
	if (pg_atomic_read_u64(&img->last_used) != pg_atomic_read_u64(&shared->clock))
		pg_atomic_write_u64(&img->last_used, pg_atomic_add_fetch_u64(&shared->clock, 1));
}

/* ---- the end of files ---- */

/* Is this the image of a file, or, with InvalidOid for its number, of any file of its database? */
static bool
is_of_file(const SfxImage *s, const SfxLocator *file)
{
	return s->used && SfxLocatorDb(s->key.loc) == SfxLocatorDb(*file) &&
		(SfxLocatorNumber(*file) == InvalidOid || SfxLocatorEquals(s->key.loc, *file));
}

/* Free slot i if it is. */
static void
forget_slot(int i, const SfxLocator *file)
{
	if (!is_of_file(&slots[i], file))
		return;					/* asked again under the lock */
	LWLockAcquire(&slots[i].lock, LW_EXCLUSIVE);
	if (is_of_file(&slots[i], file))
		sfx_image_slot_drop(&slots[i]);
	LWLockRelease(&slots[i].lock);
}

void
sfx_image_forget_file(const SfxLocator *file)
{
	if (shared == NULL || SFX_MUTANT("images outlive their files"))
		return;
	/* the shared lock keeps all chains as they are */
	LWLockAcquire(&shared->directory, LW_SHARED);
	if (SfxLocatorNumber(*file) == InvalidOid)
		for (int i = 0; i < shared->nslots; i++)
			forget_slot(i, file);
	else
		for (int i = chain[chain_of(file)]; i >= 0; i = slots[i].next)
			forget_slot(i, file);
	LWLockRelease(&shared->directory);
}

/* ---- how much is in use ---- */

void
sfx_image_use(SfxSharedUse *use)
{
	use[0] = (SfxSharedUse) {.what = "images"};
	use[1] = (SfxSharedUse) {.what = "image nodes",.taken = -1,.evicted = -1};
	if (shared == NULL)
		return;
	use[0].places = shared->nslots;
	for (int i = 0; i < shared->nslots; i++)
		use[0].used += slots[i].used;
	use[0].taken = pg_atomic_read_u64(&shared->taken);
	use[0].evicted = pg_atomic_read_u64(&shared->evicted);
	use[1].places = sfx_image_pool_nodes() - 1;
	use[1].used = use[1].places - sfx_image_pool_free();
}
