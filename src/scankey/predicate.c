/*-------------------------------------------------------------------------
 * predicate.c - SERIALIZABLE: what transactions have read of an index, by ranges of keys
 *
 * A *reader* is what one process of one transaction has read of one index: up to MAX_RANGES ranges
 * of keys.  Core's lock manager knows it as a predicate lock on "page" number n of the index, n
 * being the reader's number here; no page of the file is meant.  An inserter asks core about each
 * reader of the index with a range that has its key (S1 to S3).
 *
 * Core decides how long a lock matters.  A reader without a lock has no owner any more, and its
 * place is free.
 *
 * Bounds of more than RANGE_BYTES are widened: in byte order to what they begin with, else to the
 * end of the index.  A reader with more ranges than fit joins those two of its ranges that are
 * nearest to one another.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "pos.h"
#include "predicate.h"
#include "shared_area.h"

#include <math.h>

#include "access/relation.h"
#include "access/twophase.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/predicate.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define RANGE_BYTES		56
#define MAX_RANGES		32		/* of a reader: core locks the whole relation about there */
#define RANGES_PER_READER 4		/* how many ranges there are for each reader that there can be */
#define BUCKETS			256		/* of indexes */
#define SWEEP			8		/* readers looked at for each new one: have they an owner? */
#define SWEEP_IN_NEED	64		/* ... if there is no room left */
#define NONE			PG_UINT32_MAX

/* Positions [lo, hi). */
typedef struct KeyRange
{
	uint64		lotid;
	uint64		hitid;
	uint32		next;			/* of the free ones */
	bool		open;			/* its scan may still give some of it back */
	bool		hi_inf;
	uint8		lolen;			/* 0: the range begins where the index does */
	uint8		hilen;
	uint8		lo[RANGE_BYTES];
	uint8		hi[RANGE_BYTES];
} KeyRange;

typedef struct KeyReader
{
	uint64		serial;			/* 0: free */
	Oid			db;
	Oid			index;
	uint32		next;			/* in its bucket, or of the free ones */
	int			nranges;
	uint32		range[MAX_RANGES];	/* by their low ends */
} KeyReader;

typedef struct PredicateShared
{
	LWLock		lock;			/* of everything here */
	uint64		last_serial;
	uint32		hand;			/* of the sweep */
	uint32		free_reader;
	uint32		free_range;
	uint32		bucket[BUCKETS];
	KeyReader	reader[FLEXIBLE_ARRAY_MEMBER];
} PredicateShared;

/* What this process knows of its reader of an index, in this transaction. */
typedef struct OwnReader
{
	Oid			index;			/* hash key */
	bool		done;			/* the whole index is locked, or nothing is to be */
	uint32		reader;
	uint64		serial;			/* 0: there is none yet */
} OwnReader;

static PredicateShared *shared = NULL;
static KeyRange *ranges;		/* after the readers, in memory */
static HTAB *own = NULL;		/* of this transaction; NULL: nothing was read */

/* ------------------------------------------------------------------ shared memory */

/* As many ranges as core has predicate locks. */
static uint32
range_count(void)
{
	return (uint32) max_predicate_locks_per_xact * (MaxBackends + max_prepared_xacts);
}

static uint32
reader_count(void)
{
	return range_count() / RANGES_PER_READER;
}

static Size
readers_size(void)
{
	return MAXALIGN(add_size(offsetof(PredicateShared, reader),
							 mul_size(reader_count(), sizeof(KeyReader))));
}

static Size
area_size(void)
{
	return add_size(readers_size(), mul_size(range_count(), sizeof(KeyRange)));
}

static void
attach_area(bool made)
{
	ranges = (KeyRange *) ((char *) shared + readers_size());
	if (made)
	{
		shared->free_reader = shared->free_range = NONE;
		for (int i = 0; i < BUCKETS; i++)
			shared->bucket[i] = NONE;
		for (uint32 i = reader_count(); i-- > 0;)
		{
			shared->reader[i].serial = 0;
			shared->reader[i].next = shared->free_reader;
			shared->free_reader = i;
		}
		for (uint32 i = range_count(); i-- > 0;)
		{
			ranges[i].next = shared->free_range;
			shared->free_range = i;
		}
	}
}

const SfxSharedArea sfx_predicate_area = {
	.name = "surfidx predicate locks",.shared = (void **) &shared,.head = offsetof(PredicateShared, reader),
	.size = area_size,.tranche = "surfidx_predicate",.attach = attach_area
};

/* ------------------------------------------------------------------ bounds */

static inline SfxPos
low_pos(const KeyRange *r)
{
	return (SfxPos) {r->lo, r->lolen, r->lotid};
}

static inline SfxPos
high_pos(const KeyRange *r)
{
	return (SfxPos) {r->hi, r->hilen, r->hitid};
}

static int
cmp_low(const SfxOrder *order, const KeyRange *a, const KeyRange *b)
{
	SfxPos		pa = low_pos(a);
	SfxPos		pb = low_pos(b);

	return sfx_order_cmp_pos(order, &pa, &pb);
}

static int
cmp_high(const SfxOrder *order, const KeyRange *a, const KeyRange *b)
{
	SfxPos		pa = high_pos(a);
	SfxPos		pb = high_pos(b);

	if (a->hi_inf || b->hi_inf)
		return a->hi_inf - b->hi_inf;
	return sfx_order_cmp_pos(order, &pa, &pb);
}

/* Does a begin before b ends, or there? */
static bool
begins_before_end(const SfxOrder *order, const KeyRange *a, const KeyRange *b)
{
	SfxPos		pa = low_pos(a);
	SfxPos		pb = high_pos(b);

	return b->hi_inf || sfx_order_cmp_pos(order, &pa, &pb) <= 0;
}

/* ... or touch one another? */
static bool
overlap(const SfxOrder *order, const KeyRange *a, const KeyRange *b)
{
	return begins_before_end(order, a, b) && begins_before_end(order, b, a);
}

static bool
range_has(const SfxOrder *order, const KeyRange *r, const SfxPos *pos)
{
	SfxPos		lo = low_pos(r);
	SfxPos		hi = high_pos(r);

	return sfx_order_cmp_pos(order, &lo, pos) <= 0 &&
		(r->hi_inf || sfx_order_cmp_pos(order, pos, &hi) < 0);
}

static void
set_low(KeyRange *r, const SfxOrder *order, const SfxPos *lo)
{
	r->lolen = lo->len;
	r->lotid = lo->tid;
	if (lo->len > RANGE_BYTES)
	{
		/* what it begins with stands before it */
		r->lolen = order ? 0 : RANGE_BYTES;
		r->lotid = 0;
	}
	if (r->lolen > 0)
		memcpy(r->lo, lo->key, r->lolen);
}

static void
set_high(KeyRange *r, const SfxOrder *order, const SfxPos *hi)
{
	r->hi_inf = hi->key == NULL || (hi->len > RANGE_BYTES && order);
	r->hilen = r->hi_inf ? 0 : Min(hi->len, RANGE_BYTES);
	r->hitid = hi->tid;
	if (r->hilen > 0)
		memcpy(r->hi, hi->key, r->hilen);
	if (r->hi_inf || hi->len <= RANGE_BYTES)
		return;
	/* the least string above all that begin so */
	r->hitid = 0;
	r->hilen = sfx_successor(r->hi, r->hilen);
	r->hi_inf = r->hilen == 0;
}

/* Widen a to have b as well. */
static void
unite(const SfxOrder *order, KeyRange *a, const KeyRange *b)
{
	bool		low = cmp_low(order, b, a) < 0;
	bool		high = cmp_high(order, b, a) > 0;

	if (low)
	{
		a->lotid = b->lotid;
		a->lolen = b->lolen;
		memcpy(a->lo, b->lo, b->lolen);
	}
	if (high)
	{
		a->hitid = b->hitid;
		a->hi_inf = b->hi_inf;
		a->hilen = b->hilen;
		memcpy(a->hi, b->hi, b->hilen);
	}
}

/* Eight bytes from number i on, as a number. */
static uint64
word_at(const uint8 *bytes, int len, int i)
{
	uint64		w = 0;

	for (int k = 0; k < 8; k++)
		w = w << 8 | (i + k < len ? bytes[i + k] : 0);
	return w;
}

/*
 * How far b, which begins after a, is from it, keys being fractions: a guess where bytes are not
 * in order.
 */
static double
distance(const SfxOrder *order, const KeyRange *a, const KeyRange *b)
{
	int			i = 0;
	uint64		wa,
				wb;

	if (begins_before_end(order, b, a))
		return 0;
	while (i < a->hilen && i < b->lolen && a->hi[i] == b->lo[i])
		i++;
	wa = word_at(a->hi, a->hilen, i);
	wb = word_at(b->lo, b->lolen, i);
	return ldexp((double) (wb > wa ? wb - wa : wa - wb), -8 * i);
}

/* ------------------------------------------------------------------ readers: under the lock */

static uint32 *
bucket_of(Oid db, Oid index)
{
	return &shared->bucket[hash_combine(murmurhash32(db), murmurhash32(index)) % BUCKETS];
}

static void
free_range(uint32 n)
{
	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	ranges[n].next = shared->free_range;
	shared->free_range = n;
}

static void
free_reader(KeyReader *r)
{
	uint32		n = r - shared->reader;
	uint32	   *at = bucket_of(r->db, r->index);

	Assert(LWLockHeldByMeInMode(&shared->lock, LW_EXCLUSIVE));
	for (int i = 0; i < r->nranges; i++)
		free_range(r->range[i]);
	while (*at != n)
		at = &shared->reader[*at].next;
	*at = r->next;
	r->serial = 0;
	r->next = shared->free_reader;
	shared->free_reader = n;
}

/* Free up to n readers whose locks core has let go.  Their indexes may be another database's. */
static void
sweep(uint32 n)
{
	RelationData other;

	memset(&other, 0, sizeof(other));
	for (n = Min(n, reader_count()); n > 0; n--)
	{
		KeyReader  *r = &shared->reader[shared->hand];

		/* all that core looks at to name a lock */
		SfxRelDatabase(&other) = r->db;
		other.rd_id = r->index;
		if (r->serial != 0 && !PageIsPredicateLocked(&other, shared->hand))
			free_reader(r);
		shared->hand = (shared->hand + 1) % reader_count();
	}
}

/* Lock the whole index, and so nothing else any more. */
static void
lock_whole(Relation index, Snapshot snapshot, OwnReader *o)
{
	PredicateLockRelation(index, snapshot);
	o->done = true;
}

/* A reader for this transaction; NULL: none is needed any more. */
static KeyReader *
make_reader(Relation index, Snapshot snapshot, OwnReader *o)
{
	uint32	   *bucket = bucket_of(MyDatabaseId, RelationGetRelid(index));
	uint32		n;
	KeyReader  *r;

	sweep(SWEEP);
	if (shared->free_reader == NONE)
		sweep(SWEEP_IN_NEED);
	n = shared->free_reader;
	if (n == NONE)
	{
		lock_whole(index, snapshot, o);
		return NULL;
	}
	r = &shared->reader[n];
	shared->free_reader = r->next;
	r->serial = ++shared->last_serial;
	r->db = MyDatabaseId;
	r->index = RelationGetRelid(index);
	r->nranges = 0;
	r->next = *bucket;
	*bucket = n;
	PredicateLockPage(index, n, snapshot);
	if (!PageIsPredicateLocked(index, n))
	{
		/* nothing to be serialized here, or it has the whole index already; both stay so */
		free_reader(r);
		o->done = true;
		return NULL;
	}
	o->reader = n;
	o->serial = r->serial;
	return r;
}

static KeyReader *
own_reader(const OwnReader *o)
{
	KeyReader  *r = &shared->reader[o->reader];

	return o->serial != 0 && r->serial == o->serial ? r : NULL;
}

/* Is k part of one of the ranges?  An open one counts if the caller asks for it. */
static bool
covered(const SfxOrder *order, const KeyReader *r, const KeyRange *k, bool open_ones)
{
	for (int i = 0; i < r->nranges; i++)
	{
		const KeyRange *have = &ranges[r->range[i]];

		/* an open one may become smaller */
		if (have->open && !open_ones && !SFX_MUTANT("covered by an open range"))
			continue;
		if (cmp_low(order, have, k) <= 0 && cmp_high(order, have, k) >= 0)
			return true;
	}
	return false;
}

static void
remove_at(KeyReader *r, int at)
{
	free_range(r->range[at]);
	r->nranges--;
	memmove(&r->range[at], &r->range[at + 1], (r->nranges - at) * sizeof(uint32));
}

/*
 * Join the two neighbours that are nearest, none of them open, of r's ranges and k, which belongs
 * at number place.  *joined: k was one of them.  False: there are no two.
 */
static bool
join_nearest(const SfxOrder *order, KeyReader *r, const KeyRange *k, int place, bool *joined)
{
	double		least = -1;
	int			best = -1;		/* range best and its successor, k counting as number place */

	for (int i = 0; i < r->nranges; i++)
	{
		const KeyRange *a = i == place ? k : &ranges[r->range[i - (i > place)]];
		const KeyRange *b = i + 1 == place ? k : &ranges[r->range[i + 1 - (i + 1 > place)]];
		double		d;

		if (a->open || b->open)
			continue;
		d = distance(order, a, b);
		if (best < 0 || d < least)
		{
			best = i;
			least = d;
		}
	}
	if (best < 0)
		return false;
	*joined = best == place || best + 1 == place;
	if (*joined)
		unite(order, &ranges[r->range[best]], k);	/* k's neighbour, on either side */
	else
	{
		int			a = best - (best > place);

		unite(order, &ranges[r->range[a]], &ranges[r->range[a + 1]]);
		remove_at(r, a + 1);
	}
	return true;
}

/*
 * Let r have k; *at: its number among all ranges, if it has one of its own.  False: there is no
 * room.
 */
static bool
add_range(const SfxOrder *order, KeyReader *r, const KeyRange *k, uint32 *at)
{
	int			place = 0;
	uint32		n;

	*at = NONE;
	for (int i = 0; i < r->nranges; i++)
	{
		KeyRange   *have = &ranges[r->range[i]];

		if (cmp_low(order, have, k) < 0)
			place = i + 1;
		if (!k->open && !have->open && overlap(order, have, k))
		{
			unite(order, have, k);
			return true;
		}
	}
	if (r->nranges == MAX_RANGES || shared->free_range == NONE)
	{
		bool		joined;

		if (!join_nearest(order, r, k, place, &joined))
			return false;
		if (joined)
			return true;
		/* the place has moved if what was before it has */
		for (place = 0; place < r->nranges && cmp_low(order, &ranges[r->range[place]], k) < 0;)
			place++;
	}
	n = shared->free_range;
	shared->free_range = ranges[n].next;
	ranges[n] = *k;
	memmove(&r->range[place + 1], &r->range[place], (r->nranges - place) * sizeof(uint32));
	r->range[place] = n;
	r->nranges++;
	*at = n;
	return true;
}

/* ------------------------------------------------------------------ this transaction */

/*
 * The table of readers is lost in a crash, a prepared transaction is not: what it has read of
 * indexes becomes the whole of them.
 */
static void
lock_what_was_read(void)
{
	HASH_SEQ_STATUS seq;
	OwnReader  *o;

	hash_seq_init(&seq, own);
	while ((o = hash_seq_search(&seq)) != NULL)
	{
		Relation	index = try_relation_open(o->index, AccessShareLock);

		if (index == NULL)
			continue;
		PredicateLockRelation(index, GetTransactionSnapshot());
		relation_close(index, AccessShareLock);
	}
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	if (own == NULL || event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PARALLEL_PRE_COMMIT)
		return;
	if (event == XACT_EVENT_PRE_PREPARE)
	{
		if (!SFX_MUTANT("prepared as it is"))
			lock_what_was_read();
	}
	else
		own = NULL;				/* its memory is the transaction's */
}

static OwnReader *
own_entry(Relation index)
{
	static bool registered = false;
	Oid			relid = RelationGetRelid(index);
	OwnReader  *o;
	bool		found;

	if (!registered)
		RegisterXactCallback(at_transaction_event, NULL);
	registered = true;
	if (own == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(OwnReader);
		ctl.hcxt = TopTransactionContext;
		own = hash_create("surfidx indexes read", 16, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	o = hash_search(own, &relid, HASH_ENTER, &found);
	if (!found)
	{
		o->done = false;
		o->reader = 0;
		o->serial = 0;
	}
	return o;
}

/* ------------------------------------------------------------------ the public face */

/*
 * Workers of a parallel scan keep tables of their own, which the leader does not see when it
 * prepares.
 */
void
sfx_predicate_begin(Relation index)
{
	if (!IsParallelWorker())
		(void) own_entry(index);
}

void
sfx_predicate_read(Relation index, const SfxOrder *order, Snapshot snapshot,
				   const SfxPos *lo, const SfxPos *hi, SfxKeyLock *open)
{
	OwnReader  *o;
	KeyReader  *r;
	KeyRange	k;
	uint32		at;
	bool		have;

	Assert(open == NULL || open->serial == 0);
	if (!sfx_predicate_wanted(snapshot) || SFX_MUTANT("reads without locks"))
		return;
	o = own_entry(index);
	if (o->done)
		return;
	memset(&k, 0, sizeof(k));
	k.open = open != NULL;
	set_low(&k, order, lo);
	set_high(&k, order, hi);

	/* often it was read before */
	LWLockAcquire(&shared->lock, LW_SHARED);
	r = own_reader(o);
	have = r && covered(order, r, &k, false);
	LWLockRelease(&shared->lock);
	if (have)
		return;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (shared->free_range == NONE)
		sweep(SWEEP_IN_NEED);
	r = own_reader(o);
	if (r == NULL)
		r = make_reader(index, snapshot, o);
	if (r && !add_range(order, r, &k, &at))
		lock_whole(index, snapshot, o);
	else if (r && open && at != NONE)
	{
		open->serial = r->serial;
		open->reader = o->reader;
		open->range = at;
	}
	LWLockRelease(&shared->lock);
}

#ifdef USE_ASSERT_CHECKING
bool
sfx_predicate_told(Relation index, const SfxOrder *order, Snapshot snapshot,
				   const SfxPos *lo, const SfxPos *hi)
{
	OwnReader  *o;
	KeyReader  *r;
	KeyRange	k;
	bool		told;

	if (!sfx_predicate_wanted(snapshot) ||
		SFX_MUTANT("reads without locks") || SFX_MUTANT("lock behind the read"))
		return true;
	o = own_entry(index);
	if (o->done)
		return true;
	memset(&k, 0, sizeof(k));
	set_low(&k, order, lo);
	set_high(&k, order, hi);
	LWLockAcquire(&shared->lock, LW_SHARED);
	/* core may have let go of its lock, for good */
	r = own_reader(o);
	told = r == NULL || covered(order, r, &k, true);
	LWLockRelease(&shared->lock);
	return told;
}
#endif

/* What was read of range k, which is all of it but for what lies beyond the key of an entry. */
static void
cut_range(KeyRange *k, const SfxOrder *order, const SfxEntry *upto, bool backward)
{
	/* with all TIDs: entries of the same key, too, belong to what was looked at */
	SfxPos		pos = {upto->key, upto->keylen, backward ? 0 : SFX_MAX_TID + 1};

	if (backward)
		set_low(k, order, &pos);
	else
		set_high(k, order, &pos);
}

/*
 * Range number `at` of r, which was open, is k now, and may be joined with others.  Comparisons
 * may throw: they come before each change, so that nothing is lost.
 */
static void
close_at(const SfxOrder *order, KeyReader *r, int at, const KeyRange *k)
{
	uint32		n = r->range[at];
	int			place = 0;

	for (int i = 0; i < r->nranges; i++)
	{
		KeyRange   *have = &ranges[r->range[i]];

		if (i == at)
			continue;
		if (cmp_low(order, have, k) < 0)
			place++;
		if (!have->open && overlap(order, have, k))
		{
			unite(order, have, k);
			remove_at(r, at);
			return;
		}
	}
	memmove(&r->range[at], &r->range[at + 1], (r->nranges - at - 1) * sizeof(uint32));
	memmove(&r->range[place + 1], &r->range[place], (r->nranges - place - 1) * sizeof(uint32));
	r->range[place] = n;
	ranges[n] = *k;
}

void
sfx_predicate_close(Relation index, const SfxOrder *order, SfxKeyLock *open,
					const SfxEntry *upto, bool backward)
{
	uint64		serial = open->serial;
	KeyReader  *r = &shared->reader[open->reader];

	if (serial == 0)
		return;
	open->serial = 0;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; r->serial == serial && i < r->nranges; i++)
	{
		KeyRange	k = ranges[r->range[i]];
		KeyRange	cut;

		if (r->range[i] != open->range)
			continue;
		Assert(k.open);
		k.open = false;
		cut = k;
		if (upto)
			cut_range(&cut, order, upto, backward);
		/* a bound that had to be widened does not let it grow */
		if (cmp_low(order, &cut, &k) < 0 || cmp_high(order, &cut, &k) > 0)
			cut = k;
		close_at(order, r, i, &cut);
		break;
	}
	LWLockRelease(&shared->lock);
}

void
sfx_predicate_write(Relation index, const SfxOrder *order, const SfxEntry *e)
{
	Oid			relid = RelationGetRelid(index);
	uint32	   *hit = NULL;
	int			nhits = 0;
	int			room = 0;
	SfxPos		pos = {e->key, e->keylen, e->tid};

	if (likely(!IsolationIsSerializable()) || SFX_MUTANT("writes without a look"))
		return;
	LWLockAcquire(&shared->lock, LW_SHARED);
	for (uint32 n = *bucket_of(MyDatabaseId, relid); n != NONE; n = shared->reader[n].next)
	{
		const KeyReader *r = &shared->reader[n];
		bool		has = false;

		if (r->index != relid || r->db != MyDatabaseId)
			continue;
		for (int i = 0; i < r->nranges && !has; i++)
			has = range_has(order, &ranges[r->range[i]], &pos);
		if (!has)
			continue;
		if (nhits == room)
		{
			room = Max(32, room * 2);
			hit = hit ? repalloc(hit, room * sizeof(uint32)) : palloc(room * sizeof(uint32));
		}
		hit[nhits++] = n;
	}
	LWLockRelease(&shared->lock);
	/* Whole indexes last: a reader may go over to one meanwhile. */
	for (int i = 0; i < nhits; i++)
		CheckForSerializableConflictIn(index, NULL, hit[i]);
	CheckForSerializableConflictIn(index, NULL, InvalidBlockNumber);
	if (hit)
		pfree(hit);
}
