/*-------------------------------------------------------------------------
 * counters.c - what filters have been good for, index by index, since the server was started
 *
 * A table of a fixed size in shared memory.  An index gets a slot when a filter of it is first asked and keeps it; where none is free near its
 * hash value, its filters are not counted.  Readers count for themselves and add it up here when they have finished.
 */
#include "counters.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#define ACTIVITY_SLOTS	1024
#define ACTIVITY_PROBES	32

typedef struct ActivitySlot
{
	Oid			db;				/* invalid: nobody's; changes once, under the lock */
	Oid			index;
	pg_atomic_uint64 asked;
	pg_atomic_uint64 denied;
	pg_atomic_uint64 wrong;
} ActivitySlot;

typedef struct ActivityShared
{
	LWLock		lock;			/* of who owns which slot */
	ActivitySlot slot[ACTIVITY_SLOTS];
} ActivityShared;

SfxFilterCounts sfx_filter_counts;
static ActivityShared *shared = NULL;

Size
sfx_activity_shmem_size(void)
{
	return MAXALIGN(sizeof(ActivityShared));
}

void
sfx_activity_shmem_startup(void)
{
	bool		found;

	shared = ShmemInitStruct("surfidx activity", sfx_activity_shmem_size(), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(*shared));
		LWLockInitialize(&shared->lock, LWLockNewTrancheId());
		for (int i = 0; i < ACTIVITY_SLOTS; i++)
		{
			pg_atomic_init_u64(&shared->slot[i].asked, 0);
			pg_atomic_init_u64(&shared->slot[i].denied, 0);
			pg_atomic_init_u64(&shared->slot[i].wrong, 0);
		}
	}
	LWLockRegisterTranche(shared->lock.tranche, "surfidx_activity");
}

/* The slot of an index of this database, else a free one for it, else NULL.  The lock is held. */
static ActivitySlot *
find_slot(Oid index)
{
	uint32		h = hash_combine(murmurhash32(MyDatabaseId), murmurhash32(index));

	for (int i = 0; i < ACTIVITY_PROBES; i++)
	{
		ActivitySlot *s = &shared->slot[(h + i) % ACTIVITY_SLOTS];

		if (!OidIsValid(s->db) || (s->db == MyDatabaseId && s->index == index))
			return s;
	}
	return NULL;
}

/* The slot of the index; with make it gets one if there is room. */
static ActivitySlot *
get_slot(Oid index, bool make)
{
	ActivitySlot *s;

	LWLockAcquire(&shared->lock, LW_SHARED);
	s = find_slot(index);
	if (s && !OidIsValid(s->db) && make)
	{
		LWLockRelease(&shared->lock);
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
		s = find_slot(index);
		if (s)
		{
			s->db = MyDatabaseId;
			s->index = index;
		}
	}
	if (s && !OidIsValid(s->db))
		s = NULL;
	LWLockRelease(&shared->lock);
	return s;
}

void
sfx_activity_add(Relation index, SfxFilterCounts *counts)
{
	ActivitySlot *s = shared ? get_slot(RelationGetRelid(index), true) : NULL;

	if (s)
	{
		pg_atomic_fetch_add_u64(&s->asked, counts->asked);
		pg_atomic_fetch_add_u64(&s->denied, counts->denied);
		pg_atomic_fetch_add_u64(&s->wrong, counts->wrong);
	}
	sfx_filter_counts.asked += counts->asked;
	sfx_filter_counts.denied += counts->denied;
	sfx_filter_counts.wrong += counts->wrong;
	memset(counts, 0, sizeof(*counts));
}

void
sfx_activity_get(Oid index, SfxFilterCounts *counts)
{
	ActivitySlot *s = shared ? get_slot(index, false) : NULL;

	memset(counts, 0, sizeof(*counts));
	if (s == NULL)
		return;
	counts->asked = pg_atomic_read_u64(&s->asked);
	counts->denied = pg_atomic_read_u64(&s->denied);
	counts->wrong = pg_atomic_read_u64(&s->wrong);
}
