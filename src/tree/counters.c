/*-------------------------------------------------------------------------
 * counters.c - what filters have been good for and what cut keys have cost, index by index, since
 * the server was started
 *
 * A table of a fixed size in shared memory, a hash table with open addressing.  The file of an
 * index gets a slot near its hash value when something of it is first counted, and keeps it until
 * the file dies (gone.h), or until the slot is needed for another one: then the least recently
 * counted of the slots probed goes (I8).  Readers count for themselves, and add their sums here
 * when they are done.
 *
 * A slot's file changes under the lock in exclusive mode; its counters are atomic, and are changed
 * under the lock in shared mode.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "gone.h"
#include "heap_ahead.h"
#include "shared_area.h"
#include "shared_use.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "utils/rel.h"

#define ACTIVITY_PROBES	32

/* What is counted of one file. */
typedef struct ActivitySlot
{
	bool		used;			/* changes with the file under the lock, in exclusive mode */
	SfxLocator	file;
	pg_atomic_uint64 last;		/* when it was last counted, by the table's clock */
	pg_atomic_uint64 count[SFX_COUNTS];
	uint8		hand[SFX_HAND_KEY]; /* start of the CLOCK's next pass; changed under the lock in
									 * exclusive mode */
	uint8		handlen;
} ActivitySlot;

/* The table. */
typedef struct ActivityShared
{
	LWLock		lock;
	pg_atomic_uint64 clock;		/* advances when another slot is counted than last time */
	uint64		taken;			/* slots given to files, so far */
	uint64		evicted;		/* slots taken from other files, so far */
	int			nslots;
	ActivitySlot slot[FLEXIBLE_ARRAY_MEMBER];
} ActivityShared;

SfxFilterCounts sfx_filter_counts;
SfxAheadCounts sfx_ahead_counts;
uint64		sfx_leaves_read = 0;
uint64		sfx_leaves_tidless = 0;
static ActivityShared *shared = NULL;

/* The i-th slot in which that file may be. */
static ActivitySlot *
probe(const SfxLocator *file, int i)
{
	uint32		h = hash_combine(murmurhash32(SfxLocatorDb(*file)),
								 murmurhash32(SfxLocatorNumber(*file)));

	return &shared->slot[(h + i) % shared->nslots];
}

/* The slot of a file; NULL: it has none.  The caller holds the lock. */
static ActivitySlot *
find_slot(const SfxLocator *file)
{
	Assert(LWLockHeldByMe(&shared->lock));
	for (int i = 0; i < ACTIVITY_PROBES; i++)
	{
		ActivitySlot *s = probe(file, i);

		if (s->used && SfxLocatorEquals(s->file, *file))
			return s;
	}
	return NULL;
}

/*
 * A slot for a file that has none: a free one, or that of the file least recently counted, among
 * the ACTIVITY_PROBES first.  The caller holds the lock exclusively.
 */
static ActivitySlot *
take_slot(const SfxLocator *file)
{
	ActivitySlot *best = probe(file, 0);

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	for (int i = 1; i < ACTIVITY_PROBES && best->used; i++)
	{
		ActivitySlot *s = probe(file, i);

		if (!s->used || pg_atomic_read_u64(&s->last) < pg_atomic_read_u64(&best->last))
			best = s;
	}
	shared->taken++;
	if (best->used)
		shared->evicted++;
	best->used = true;
	best->file = *file;
	for (int c = 0; c < SFX_COUNTS; c++)
		pg_atomic_write_u64(&best->count[c], 0);
	best->handlen = 0;
	return best;
}

/*
 * The slot of a file, made if need be, with the lock left held; NULL: there is no table,
 * and the lock is free.
 */
static ActivitySlot *
open_slot(const SfxLocator *file)
{
	ActivitySlot *s;

	if (shared == NULL)
		return NULL;
	LWLockAcquire(&shared->lock, LW_SHARED);
	s = find_slot(file);
	if (s == NULL)
	{
		LWLockRelease(&shared->lock);
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
		s = find_slot(file);
		if (s == NULL)
			s = take_slot(file);
	}
	if (pg_atomic_read_u64(&s->last) != pg_atomic_read_u64(&shared->clock))
		pg_atomic_write_u64(&s->last, pg_atomic_add_fetch_u64(&shared->clock, 1));
	return s;
}

/* See gone.h: free the slot of a file, or those of all files of a database. */
static void
forget_file(const SfxLocator *file)
{
	bool		all = SfxLocatorNumber(*file) == InvalidOid;

	LWLockAcquire(&shared->lock, LW_SHARED);
	if (!all && find_slot(file) == NULL)
	{
		LWLockRelease(&shared->lock);
		return;
	}
	LWLockRelease(&shared->lock);
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < (all ? shared->nslots : ACTIVITY_PROBES); i++)
	{
		ActivitySlot *s = all ? &shared->slot[i] : probe(file, i);

		if (SfxLocatorDb(s->file) == SfxLocatorDb(*file) &&
			(all || SfxLocatorEquals(s->file, *file)))
			s->used = false;
	}
	LWLockRelease(&shared->lock);
}

/* Add to a count of a file, or set it. */
static void
change_count(const SfxLocator *file, SfxCount which, uint64 n, bool add)
{
	ActivitySlot *s = open_slot(file);

	if (s == NULL)
		return;
	if (add)
		pg_atomic_fetch_add_u64(&s->count[which], n);
	else
		pg_atomic_write_u64(&s->count[which], n);
	LWLockRelease(&shared->lock);
}

void
sfx_activity_add(Relation index, SfxCount which, uint64 n)
{
	change_count(&SfxRelLocator(index), which, n, true);
}

void
sfx_activity_set(Relation index, SfxCount which, uint64 value)
{
	change_count(&SfxRelLocator(index), which, value, false);
}

void
sfx_activity_add_filters(Relation index, SfxFilterCounts *counts)
{
	ActivitySlot *s = open_slot(&SfxRelLocator(index));

	if (s)
	{
		pg_atomic_fetch_add_u64(&s->count[SFX_COUNT_ASKED], counts->asked);
		pg_atomic_fetch_add_u64(&s->count[SFX_COUNT_DENIED], counts->denied);
		pg_atomic_fetch_add_u64(&s->count[SFX_COUNT_WRONG], counts->wrong);
		LWLockRelease(&shared->lock);
	}
	sfx_filter_counts.asked += counts->asked;
	sfx_filter_counts.denied += counts->denied;
	sfx_filter_counts.wrong += counts->wrong;
	memset(counts, 0, sizeof(*counts));
}

void
sfx_count_ahead(const SfxLocator *file, SfxHeapAhead *ahead)
{
	Assert(ahead->vain <= ahead->asked);
	if (ahead->asked == 0)
		return;
	change_count(file, SFX_COUNT_AHEAD, ahead->asked, true);
	change_count(file, SFX_COUNT_IN_VAIN, ahead->vain, true);
	sfx_ahead_counts.pages += ahead->asked;
	sfx_ahead_counts.in_vain += ahead->vain;
	ahead->asked = ahead->vain = 0;
}

void
sfx_activity_get(Relation index, uint64 *counts)
{
	ActivitySlot *s;

	memset(counts, 0, SFX_COUNTS * sizeof(uint64));
	if (shared == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_SHARED);
	if ((s = find_slot(&SfxRelLocator(index))) != NULL)
		for (int c = 0; c < SFX_COUNTS; c++)
			counts[c] = pg_atomic_read_u64(&s->count[c]);
	LWLockRelease(&shared->lock);
}

/* The slot of a database is that of a file without a number, so it dies with the database. */
uint64
sfx_database_get(SfxCount which)
{
	SfxLocator	db = SfxLocatorOfDatabase(MyDatabaseId);
	ActivitySlot *s = open_slot(&db);	/* as used last, so that no file takes its slot */
	uint64		value;

	if (s == NULL)
		return 0;
	value = pg_atomic_read_u64(&s->count[which]);
	LWLockRelease(&shared->lock);
	return value;
}

void
sfx_database_set(SfxCount which, uint64 value)
{
	SfxLocator	db = SfxLocatorOfDatabase(MyDatabaseId);

	change_count(&db, which, value, false);
}

int
sfx_activity_hand(Relation index, uint8 *key)
{
	ActivitySlot *s;
	int			len = 0;

	if (shared == NULL)
		return 0;
	LWLockAcquire(&shared->lock, LW_SHARED);
	if ((s = find_slot(&SfxRelLocator(index))) != NULL)
	{
		len = s->handlen;
		memcpy(key, s->hand, len);
	}
	LWLockRelease(&shared->lock);
	return len;
}

void
sfx_activity_set_hand(Relation index, const uint8 *key, int len)
{
	ActivitySlot *s;

	/* makes the slot, unless there is one */
	sfx_activity_add(index, SFX_COUNT_CUT, 0);
	if (shared == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if ((s = find_slot(&SfxRelLocator(index))) != NULL)
	{
		s->handlen = Min(len, SFX_HAND_KEY);
		memcpy(s->hand, key, s->handlen);
	}
	LWLockRelease(&shared->lock);
}

void
sfx_activity_use(SfxSharedUse *use)
{
	*use = (SfxSharedUse) {.what = "counters"};
	if (shared == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_SHARED);
	use->places = shared->nslots;
	for (int i = 0; i < shared->nslots; i++)
		use->used += shared->slot[i].used;
	use->taken = shared->taken;
	use->evicted = shared->evicted;
	LWLockRelease(&shared->lock);
}

/* ---- the area ---- */

static Size
area_size(void)
{
	return add_size(offsetof(ActivityShared, slot),
					mul_size(sizeof(ActivitySlot), sfx_shared_places()));
}

static void
attach_area(bool made)
{
	if (made)
	{
		memset(shared->slot, 0, area_size() - offsetof(ActivityShared, slot));
		pg_atomic_init_u64(&shared->clock, 1);
		shared->nslots = sfx_shared_places();
		for (int i = 0; i < shared->nslots; i++)
		{
			pg_atomic_init_u64(&shared->slot[i].last, 0);
			for (int c = 0; c < SFX_COUNTS; c++)
				pg_atomic_init_u64(&shared->slot[i].count[c], 0);
		}
	}
	sfx_gone_tell(forget_file);
}

const SfxSharedArea sfx_activity_area = {
	.name = "surfidx activity",.shared = (void **) &shared,.head = sizeof(ActivityShared),
	.size = area_size,.tranche = "surfidx_activity",.attach = attach_area
};
