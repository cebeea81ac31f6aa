/*-------------------------------------------------------------------------
 * image_impl.h - the state of an image, for image.c (finding one, and the public functions),
 * image_slots.c (those in shared memory), image_local.c (private ones), image_nodes.c (memory) and
 * image_fill.c (how it gets its entries)
 *
 * The rules are I1 to I9 (src/README.md, "Images").
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IMAGE_IMPL_H
#define SURFIDX_IMAGE_IMPL_H

#include "delta.h"
#include "horizon.h"
#include "image.h"
#include "log.h"
#include "meta.h"

#include "storage/lwlock.h"

#define IMAGE_RESERVE		16	/* nodes in hand: more than any insert needs */

/* What tells one image from another (N3). */
typedef struct SfxImageKey
{
	SfxLocator	loc;
	uint32		gen;
	uint64		build_id;
	TransactionId database;		/* the transaction that wrote the row of the database: N3 */
} SfxImageKey;

/*
 * An image.  The shared ones are an array in shared memory; key, tree and cursor change only under
 * the exclusive lock (N3).  Members marked "any reader may write it" are advice: a lost update does
 * no harm.
 */
struct SfxImage
{
	LWLock		lock;			/* shared images only */
	bool		used;
	SfxImageKey key;
	int			next;			/* next slot of its chain (image_slots.c), -1: none; shared images
								 * only */
	bool		chained;		/* in the chain of its key, even if it is not used any more */
	uint64		removals;		/* the metapage's removal counter when dead flags were read: I1 */
	BlockNumber blkno;			/* cursor: page */
	uint32		seq;			/* number of that page in its generation: a damaged link cannot
								 * lead in circles */
	uint32		off;			/* cursor: bytes of its body that were applied */
	uint64		seen;			/* log entries up to the cursor, dead ones included */
	bool		unchanged;		/* some of them are SFX_LOG_UNCHANGED */
	uint64		killed;			/* entries that sfx_image_kill took out */
	SfxHorizon	horizon;		/* conflict horizon of those, for the record that drops the
								 * generation */
	SfxDelta	delta;
	pg_atomic_uint32 applier;	/* 1: some backend is about to apply the log's end: I9 */
	uint32		noticed;		/* bytes of the cursor's page at the last look (any reader may
								 * write it) */
	uint32		vain;			/* searches that found nothing since a filter was due, roughly (any
								 * reader may write it) */
	uint32		nreserve;		/* nodes in reserve: I7 */
	uint32		reserve[IMAGE_RESERVE];
	pg_atomic_uint64 last_used; /* by the clock of image_slots.c, or of image_local.c */
	TimestampTz grown;			/* when readers last found that the log had grown: the start of
								 * their statement */
	TimestampTz asked;			/* when a reader last asked for a merge (any reader may write it) */
	/* private images only */
	struct SfxLocalNodes *local;
	Oid			index;
	bool		suspect;		/* the relation has changed: its file may be another one */
};

/* Does the slot hold the image of that key?  Certain only under the slot's lock (N3). */
static inline bool
sfx_image_is(const SfxImage *img, const SfxImageKey *key)
{
	return img->used && img->key.gen == key->gen && img->key.build_id == key->build_id &&
		img->key.database == key->database &&
		SfxLocatorEquals(img->key.loc, key->loc);
}

/* ---- image_nodes.c ---- */

/*
 * The allocator that the image's tree is to be used with.  order: the index's; NULL also where no
 * keys are compared.
 */
extern SfxNodeAlloc sfx_image_nodes(SfxImage *img, const SfxOrder *order);

/*
 * Fill the reserve with as many nodes as the next insert may need (I7).  False: the pool is
 * exhausted.
 */
extern bool sfx_image_fill_reserve(SfxImage *img);

/* Give the reserve back to the pool.  To be called before an exclusive lock is released. */
extern void sfx_image_give_back(SfxImage *img);

/* Are n nodes free beside the reserve?  A private image makes them so. */
extern bool sfx_image_has_room(SfxImage *img, uint32 n);

/* Free all nodes, and forget all that was applied, the filter included; the key stays. */
extern void sfx_image_clear(SfxImage *img);

/*
 * Give a zeroed image private memory, in a context of its own below TopMemoryContext; free that,
 * and zero the image.
 */
extern void sfx_image_begin_local(SfxImage *img);
extern void sfx_image_end_local(SfxImage *img);

/* Bytes of nodes that a private image has allocated. */
extern Size sfx_image_local_bytes(const SfxImage *img);

/*
 * Nodes of the shared pool: how many there are (the unused node 0 included), and how many are free,
 * read without a lock.
 */
extern uint32 sfx_image_pool_nodes(void);
extern uint32 sfx_image_pool_free(void);

/* ---- image_local.c ---- */

/* The private image of that key; NULL: there is none. */
extern SfxImage *sfx_image_local_find(const SfxImageKey *key);

/* A new one, empty; the least recently used ones go where there are too many. */
extern SfxImage *sfx_image_local_make(Relation index, const SfxImageKey *key);

/* Free that one, if it is there. */
extern void sfx_image_local_forget(const SfxImageKey *key);

/* Free those of a file that belong to another build, or to generations older than oldest_gen. */
extern void sfx_image_local_outdated(const SfxLocator *file, uint64 build_id, uint32 oldest_gen);

/* ---- image_slots.c ---- */

/* Is there shared memory for images? */
extern bool sfx_image_slots_exist(void);

/*
 * The slot of that key, its lock held in the given mode.  NULL: there is none, or it was given to
 * that key, or moved to another chain, during the look.  No slot's lock may be held (I2).
 */
extern SfxImage *sfx_image_slot_find(const SfxImageKey *key, LWLockMode mode);

/*
 * The slot of that key, an empty one if there was none, exclusively locked.  NULL: all slots are
 * locked by others.  No slot's lock may be held.
 */
extern SfxImage *sfx_image_slot_make(const SfxImageKey *key);

/* Free a slot with all its memory.  Its lock is held exclusively, and stays so. */
extern void sfx_image_slot_drop(SfxImage *img);

/* Note that the image was used, for the choice of victims.  Needs no exclusive lock. */
extern void sfx_image_slot_touch(SfxImage *img);

/*
 * sfx_image_fill_reserve, evicting other images where the pool is exhausted.  False: nothing could
 * be evicted.  img is locked exclusively.
 */
extern bool sfx_image_reserve(SfxImage *img);

/* Free n nodes beside the reserve, as far as eviction can.  img is locked exclusively. */
extern void sfx_image_make_room(SfxImage *img, uint32 n);

/* ---- image_fill.c ---- */

typedef enum
{
	CATCHUP_DONE,
	CATCHUP_GONE,				/* the generation was dropped */
	CATCHUP_MORE,				/* not finished: release the lock, and call again */
	CATCHUP_NOMEM				/* the pool is exhausted: the image is incomplete */
} CatchupResult;

/*
 * Apply log pages from the cursor on, some tens of them at most.  The caller holds the image
 * exclusively.  An image with outdated dead flags is emptied first, and filled anew (I1).  May
 * throw: the cursor then stands where it stood, or after a part of the entries, and the image is
 * sound.
 */
extern CatchupResult sfx_image_catch_up(Relation index, const SfxOrder *order, SfxImage *img,
										const SfxMeta *meta, int g);

/*
 * The caller holds the image in shared mode, and is about to apply *end under the exclusive lock.
 * Look those entries up, so that their nodes are in the processor's caches and the exclusive hold
 * is short (I9).  Byte order only.  ERROR if the copy is damaged.
 */
extern void sfx_image_warm(Relation index, SfxImage *img, SfxLogEnd *end);

#endif							/* SURFIDX_IMAGE_IMPL_H */
