/*-------------------------------------------------------------------------
 * image.c - images: a generation of the delta log in key order, in memory (memtables): I1 to I9 of
 * src/README.md, "Images"
 *
 * An image is a cache of log pages and nothing more: dropping one loses no entry.  It lives in
 * shared memory (image_slots.c), in a fixed array of slots over a fixed pool of nodes
 * (image_nodes.c), both sized at server start.  Where no slot or no node is left, and for temporary
 * relations, the same structure is built in this backend's own memory (image_local.c).
 *
 * Standbys and crash recovery need nothing special: the first backend that needs an image fills it
 * from the replayed log pages (I1).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "compare.h"
#include "delta.h"
#include "horizon.h"
#include "image.h"
#include "image_impl.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "settings.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#define VAIN_SHARE			8	/* searches in vain before a filter is worth the walk: one for
								 * every so many entries */

/*
 * N3: the xmin of this database's row in pg_database, which tells one database from another with
 * the same OID.  A database may be dropped and made again with the same OID, from a template that
 * has the same files, and replay of that sends no invalidation; but another transaction has written
 * its row.  ALTER DATABASE writes the row as well: sessions from before and after it have images of
 * their own, which costs memory and nothing else.  Cached for the life of the backend.
 */
static TransactionId
database_made(void)
{
	static TransactionId made = InvalidTransactionId;
	HeapTuple	row;

	if (TransactionIdIsValid(made) || SFX_MUTANT("databases are their OIDs"))
		return made;
	row = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (HeapTupleIsValid(row))
	{
		made = HeapTupleHeaderGetRawXmin(row->t_data);
		ReleaseSysCache(row);
	}
	return made;
}

/* Make *key that of generation gen of that build of the index (N3).  Padding is zeroed. */
static void
make_key_of(SfxImageKey *key, Relation index, uint64 build_id, uint32 gen)
{
	memset(key, 0, sizeof(*key));
	key->loc = SfxRelLocator(index);
	key->gen = gen;
	key->build_id = build_id;
	key->database = database_made();
}

/* The same for generation meta->gens[g]. */
static void
make_key(SfxImageKey *key, Relation index, const SfxMeta *meta, int g)
{
	make_key_of(key, index, meta->build_id, meta->gens[g].gen);
}

/* ---- being current ---- */

/* What the log holds after an image's cursor. */
typedef enum
{
	BEHIND_NOTHING,
	BEHIND_FEW,					/* the rest of the cursor's page, which was copied: I9 */
	BEHIND_MORE,
	BEHIND_GONE					/* the generation was dropped */
} Behind;

/* Bytes after the cursor from which one of the backends that meet them applies them, ... */
#define END_TO_APPLY	(SFX_LOG_END_MAX / 2)

/* ... and microseconds without another entry after which it does so with fewer. */
#define STANDS_STILL	1000000

/*
 * The end of the log is long, or each lookup reads it again, and many readers may see that at once.
 * True for exactly one of them, which is to apply it; apply_log resets the flag.
 */
static inline bool
is_applier(SfxImage *img, const SfxLogEnd *end)
{
	return (end->len > END_TO_APPLY ||
			GetCurrentStatementStartTimestamp() - img->grown > STANDS_STILL) &&
		pg_atomic_exchange_u32(&img->applier, 1) == 0;
}

/*
 * What follows the cursor on its page?  The page is locked, the image at least in shared mode.
 * Notes when the log last grew (for sfx_image_idle).  With end not NULL a short rest of the page is
 * copied there: BEHIND_FEW.
 */
static Behind
behind_on_page(SfxImage *img, Page page, SfxLogEnd *end)
{
	uint32		len = SfxPageBodyLen(page);

	if (SfxPageGetTail(page)->right != InvalidBlockNumber)
		return BEHIND_MORE;
	if (len == img->off)
		return BEHIND_NOTHING;
	if (img->noticed != len)
	{
		img->noticed = len;
		img->grown = GetCurrentStatementStartTimestamp();
	}
	if (end == NULL || img->delta.nentries == 0 || len < img->off ||
		len - img->off > SFX_LOG_END_MAX)
		return BEHIND_MORE;
	sfx_log_copy_end(img->blkno, page, img->off, end);
	return BEHIND_FEW;
}

/*
 * What does the log hold after the cursor of an image, which the caller has locked?  One visit to
 * one page.  end: NULL, or room for a copy of a short end.
 *
 * The cursor's page answers for the whole log: while it belongs to the generation and has no right
 * link it is the last page (D2).  An image whose dead flags are older than the caller's metapage is
 * never good enough, whatever its cursor (I1).
 */
static Behind
look_behind(Relation index, SfxImage *img, const SfxMeta *meta, int g, SfxLogEnd *end)
{
	Buffer		buf;
	Behind		behind = BEHIND_GONE;

	if (img->removals < meta->removals)
		return BEHIND_MORE;
	if (img->blkno == InvalidBlockNumber)
		return meta->gens[g].first == InvalidBlockNumber ? BEHIND_NOTHING : BEHIND_MORE;
	buf = sfx_read_page(index, img->blkno);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (sfx_log_page_is(index, img->blkno, BufferGetPage(buf), meta->build_id, meta->gens[g].gen))
		behind = behind_on_page(img, BufferGetPage(buf), end);
	UnlockReleaseBuffer(buf);
	return behind;
}

/*
 * The private image of that key, made if there is none, and brought up to date; NULL: the
 * generation was dropped.  Needs no lock.
 */
static SfxImage *
acquire_local(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
			  const SfxImageKey *key)
{
	SfxImage   *img = sfx_image_local_find(key);
	CatchupResult r;

	if (img == NULL)
		img = sfx_image_local_make(index, key);
	do
	{
		CHECK_FOR_INTERRUPTS();
		r = sfx_image_catch_up(index, order, img, meta, g);
	} while (r == CATCHUP_MORE);
	if (r == CATCHUP_GONE)
		return NULL;
	return img;
}

/* ---- the public face ---- */

/*
 * Bring an image, which is held exclusively, up to date.  On CATCHUP_NOMEM and CATCHUP_GONE its
 * slot is dropped.  The reserve goes back to the pool in any case (I7).
 */
static CatchupResult
apply_log(Relation index, const SfxOrder *order, SfxImage *img, const SfxMeta *meta, int g)
{
	uint64		seen = img->seen;
	CatchupResult r = sfx_image_catch_up(index, order, img, meta, g);

	if (img->seen != seen)
		img->grown = GetCurrentStatementStartTimestamp();
	pg_atomic_write_u32(&img->applier, 0);
	sfx_image_give_back(img);
	if (r == CATCHUP_NOMEM || r == CATCHUP_GONE)
		sfx_image_slot_drop(img);
	return r;
}

/*
 * An image that holds what the log held when we were called, locked in shared mode; the rest of its
 * log, if that is short, may be left to *end (I9).  NULL: see *r.
 *
 * Each turn looks at the log under the shared lock.  If entries are missing it lets go, takes the
 * lock exclusively, applies them, and looks again, since LWLocks cannot be downgraded.
 *
 * `need` is how far our own catching up came.  What others append after that is not waited for,
 * since a reader beside busy inserters would never be done: their entries are not visible to our
 * snapshot.  `found` is how far the image was before we waited for its exclusive lock: if another
 * backend has applied entries meanwhile we look once more under the shared lock, since that may be
 * enough.
 */
static SfxImage *
acquire_shared(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
			   const SfxImageKey *key, SfxLogEnd *end, CatchupResult *r)
{
	uint64		need = PG_UINT64_MAX;
	bool		waited = false;

	*r = CATCHUP_DONE;
	for (;;)
	{
		SfxImage   *img;
		uint64		found = PG_UINT64_MAX;

		/* before the lock: while an LWLock is held, interrupts are held off */
		CHECK_FOR_INTERRUPTS();
		img = sfx_image_slot_find(key, LW_SHARED);
		if (img != NULL)
		{
			Behind		behind = BEHIND_NOTHING;

			if (img->seen < need || img->removals < meta->removals)
				behind = look_behind(index, img, meta, g, end);
			if (behind == BEHIND_NOTHING || (behind == BEHIND_FEW && !is_applier(img, end)))
				return img;
			if (behind == BEHIND_FEW && order == NULL)
				sfx_image_warm(index, img, end);
			if (end)
				end->len = 0;
			found = img->seen;
			LWLockRelease(&img->lock);
			if (behind == BEHIND_GONE)
			{
				*r = CATCHUP_GONE;
				return NULL;
			}
			SFX_STOP("log to apply");
			img = sfx_image_slot_find(key, LW_EXCLUSIVE);
		}
		if (img == NULL)
			img = sfx_image_slot_make(key);
		if (img == NULL)
		{
			*r = CATCHUP_NOMEM;
			return NULL;
		}
		if (img->seen > found && !waited)
		{
			waited = true;
			LWLockRelease(&img->lock);
			continue;
		}
		*r = apply_log(index, order, img, meta, g);
		if (*r == CATCHUP_DONE)
			need = img->seen;
		LWLockRelease(&img->lock);
		if (*r == CATCHUP_NOMEM || *r == CATCHUP_GONE)
			return NULL;
	}
}

/* See image.h. */
SfxImage *
sfx_image_acquire_but_end(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
						  SfxLogEnd *end)
{
	SfxImageKey key;
	SfxImage   *img;
	CatchupResult r;

	if (end)
		end->len = 0;
	make_key(&key, index, meta, g);
	sfx_image_local_outdated(&key.loc, meta->build_id, SfxMetaOldestGen(meta));
	/* an image that would take more than half of the pool is not even tried there */
	if (!sfx_image_slots_exist() || RelationUsesLocalBuffers(index) ||
		meta->gens[g].pages > sfx_image_pool_nodes() / 4)
		return acquire_local(index, order, meta, g, &key);
	img = acquire_shared(index, order, meta, g, &key, end, &r);
	if (img != NULL)
		sfx_image_slot_touch(img);
	else if (r == CATCHUP_NOMEM)
		return acquire_local(index, order, meta, g, &key);
	return img;
}

SfxImage *
sfx_image_acquire(Relation index, const SfxOrder *order, const SfxMeta *meta, int g)
{
	return sfx_image_acquire_but_end(index, order, meta, g, NULL);
}

/* See image.h.  The image counts as known only if its cursor stands on the log's last page. */
bool
sfx_image_glance(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, const SfxPos *pos, int n, double *below)
{
	SfxImageKey key;
	SfxImage   *img;
	bool		known;

	memset(below, 0, n * sizeof(double));
	if (meta->gens[g].first == InvalidBlockNumber)
		return true;
	if (!sfx_image_slots_exist() || RelationUsesLocalBuffers(index))
		return false;
	make_key(&key, index, meta, g);
	if ((img = sfx_image_slot_find(&key, LW_SHARED)) == NULL)
		return false;
	known = img->blkno == meta->gens[g].tail;
	if (known)
	{
		SfxNodeAlloc nodes = sfx_image_nodes(img, order);

		sfx_delta_ranks(&img->delta, &nodes, pos, n, below);
	}
	LWLockRelease(&img->lock);
	return known;
}

const SfxDelta *
sfx_image_delta(SfxImage *img, const SfxOrder *order, SfxNodeAlloc *nodes)
{
	*nodes = sfx_image_nodes(img, order);
	return &img->delta;
}

bool
sfx_image_absent(SfxImage *img, uint64 hash)
{
	SfxNodeAlloc nodes = sfx_image_nodes(img, NULL);

	return sfx_delta_absent(&img->delta, &nodes, hash);
}

/* Making a filter takes some 15 ns for an entry, a search in vain ten times that. */
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

SfxLogPlace
sfx_image_place(const SfxImage *img)
{
	return (SfxLogPlace)
	{
		img->key.build_id, img->key.gen, img->blkno,
			Max(img->off, sizeof(SfxLogHeader))
	};
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

/* The transaction's statement start serves as the clock: this runs in lookups. */
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

/*
 * For the worker: by the clock.  A short end of the log may stay unapplied for long (I9), so
 * img->grown alone would not do; look_behind notices whether the log has grown.
 */
bool
sfx_delta_is_idle(Relation index, const SfxMeta *meta)
{
	SfxImageKey key;
	SfxImage   *img;
	SfxLogEnd	end;
	Behind		behind;
	bool		idle;

	if (sfx_guc_idle_flush < 0 || !sfx_image_slots_exist() ||
		meta->gens[0].first == InvalidBlockNumber)
		return false;
	make_key(&key, index, meta, 0);
	if ((img = sfx_image_slot_find(&key, LW_SHARED)) == NULL)
		return false;
	behind = look_behind(index, img, meta, 0, &end);
	idle = (behind == BEHIND_NOTHING || behind == BEHIND_FEW) &&
		TimestampDifferenceExceeds(img->grown, GetCurrentTimestamp(), sfx_guc_idle_flush * 1000);
	LWLockRelease(&img->lock);
	return idle;
}

/*
 * The image of that generation: a shared one locked in that mode, or a private one, which needs no
 * lock; NULL if there is none.  sfx_image_release lets go of either.
 */
static SfxImage *
find_of(Relation index, uint64 build_id, uint32 gen, LWLockMode mode)
{
	SfxImageKey key;
	SfxImage   *img;

	make_key_of(&key, index, build_id, gen);
	if (sfx_image_slots_exist() && !RelationUsesLocalBuffers(index) &&
		(img = sfx_image_slot_find(&key, mode)) != NULL)
		return img;
	return sfx_image_local_find(&key);
}

static SfxImage *
find_existing(Relation index, const SfxMeta *meta, int g, LWLockMode mode)
{
	return find_of(index, meta->build_id, meta->gens[g].gen, mode);
}

bool
sfx_image_reaches_tail(Relation index, const SfxMeta *meta, int g)
{
	SfxImage   *img = find_existing(index, meta, g, LW_SHARED);
	bool		reaches;

	if (img == NULL)
		return false;
	/* an image that has not read all flags has to be made anew (I1) */
	reaches = img->removals >= meta->removals && img->blkno == meta->gens[g].tail;
	sfx_image_release(img);
	return reaches;
}

uint64
sfx_image_known_dead(Relation index, const SfxMeta *meta, int g)
{
	SfxImage   *img = find_existing(index, meta, g, LW_SHARED);
	uint64		dead;

	if (img == NULL)
		return 0;
	/* every entry seen came into the tree, except those flagged by then and those killed since */
	dead = img->seen - img->delta.nentries;
	sfx_image_release(img);
	return dead;
}

/*
 * See image.h.  It is looked at again whether a filter is due: the caller has let go of the image
 * in between, and another reader may have made one.
 */
void
sfx_image_grow_filter(Relation index, const SfxMeta *meta, int g)
{
	SfxImage   *img = find_existing(index, meta, g, LW_EXCLUSIVE);

	if (img == NULL)
		return;
	img->vain = 0;
	/* another backend may have been first */
	if (sfx_delta_filter_due(&img->delta))
	{
		SfxNodeAlloc nodes = sfx_image_nodes(img, NULL);

		sfx_image_make_room(img, sfx_delta_filter_nodes(&img->delta));
		/* where memory is short there is no filter, and searches go on without */
		(void) sfx_delta_filter_grow(&img->delta, &nodes);
	}
	sfx_image_release(img);
}

/*
 * See image.h.  A row that got one of these TIDs later has its entry later in the log, so that
 * entry is applied after this, and no flag is left on it.
 */
int
sfx_image_flag_dead(Relation index, const SfxOrder *order, uint64 build_id, uint32 gen,
					uint64 seen, SfxEntry **entries, int n)
{
	SfxImage   *img = find_of(index, build_id, gen, LW_SHARED);
	SfxNodeAlloc nodes;
	int			flagged = 0;

	if (img == NULL)
		return -1;
	nodes = sfx_image_nodes(img, order);
	if (img->seen != seen && !SFX_MUTANT("flags on what came later"))
		flagged = -1;
	for (int i = 0; i < n && flagged >= 0; i++)
	{
		SfxPos		pos = sfx_entry_pos(entries[i]);
		SfxCursor	c;
		SfxEntry	e;

		if (!sfx_delta_seek(&img->delta, &nodes, &pos, &c))
			continue;
		sfx_delta_get(&img->delta, &nodes, &c, &e);
		if (e.tid == pos.tid && sfx_same_bytes(e.key, e.keylen, pos.key, pos.len) &&
			sfx_delta_set_dead(&img->delta, &nodes, &c))
			entries[flagged++] = entries[i];
	}
	sfx_image_release(img);
	return flagged;
}

/* See image.h.  The caller holds no image. */
void
sfx_image_kill(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *const *entries, int n,
			   const uint64 *dead, int ndead, const SfxHorizon *horizon)
{
	SfxImage   *img = find_existing(index, meta, g, LW_EXCLUSIVE);
	SfxNodeAlloc nodes;

	if (img == NULL)
		return;
	nodes = sfx_image_nodes(img, order);
	/* first, since a comparison may throw after some entries are gone */
	sfx_horizon_raise(&img->horizon, horizon);
	for (int i = 0; i < n; i++)
	{
		SfxPos		pos = {entries[i]->key, entries[i]->keylen, entries[i]->tid};

		if (bsearch(&pos.tid, dead, ndead, sizeof(uint64), sfx_cmp_u64) != NULL &&
			sfx_delta_remove(&img->delta, &nodes, &pos) > 0)
			img->killed++;
	}
	sfx_image_release(img);
}

/* Let go of an image, shared or private. */
void
sfx_image_release(SfxImage *img)
{
	if (img->local == NULL)
		LWLockRelease(&img->lock);
}

/* The generation was dropped: its image's memory is free at once, not only when room is needed. */
void
sfx_image_forget(Relation index, const SfxMeta *meta, uint32 gen)
{
	SfxImageKey key;
	SfxImage   *img;

	make_key_of(&key, index, meta->build_id, gen);
	sfx_image_local_forget(&key);
	if (!sfx_image_slots_exist() || (img = sfx_image_slot_find(&key, LW_EXCLUSIVE)) == NULL)
		return;
	sfx_image_slot_drop(img);
	LWLockRelease(&img->lock);
}

void
sfx_image_misled(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 gen)
{
	sfx_image_forget(index, meta, gen);
	sfx_out_of_order(index, order, SFX_META_BLKNO, "the delta has been put in another order");
}
