/*-------------------------------------------------------------------------
 * image_impl.h - an image's state: image.c (which one, and its face), image_slots.c (those in
 * shared memory), image_nodes.c (memory) and image_fill.c (how it gets its entries)
 *
 * The rules are I1 to I7 (src/README.md, "Images").
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IMAGE_IMPL_H
#define SURFIDX_IMAGE_IMPL_H

#include "surfidx.h"
#include "delta.h"
#include "horizon.h"
#include "image.h"
#include "log.h"
#include "meta.h"

#include "storage/lwlock.h"

#define IMAGE_RESERVE		16	/* nodes in hand: more than any insert needs */

typedef struct SfxImageKey
{
	SfxLocator	loc;
	uint32		gen;
	uint64		build_id;
	TransactionId database;		/* that made the row of the database: N3 */
} SfxImageKey;

struct SfxImage
{
	LWLock		lock;			/* shared images only */
	bool		used;
	SfxImageKey key;
	int			next;			/* of its chain (image_slots.c), -1: none; shared images only */
	bool		chained;		/* in the chain of its key, even if it is not used any more */
	uint64		removals;		/* I1 */
	BlockNumber blkno;			/* cursor: page */
	uint32		seq;			/* its number in the chain: a damaged link cannot lead in circles */
	uint32		off;			/* cursor: bytes of its body that were applied */
	uint64		seen;			/* log entries up to the cursor, dead ones too */
	bool		unchanged;		/* some of them are SFX_LOG_UNCHANGED */
	uint64		killed;			/* of those, taken out by sfx_image_kill */
	SfxHorizon	horizon;		/* ... for standbys, when the generation is dropped */
	SfxDelta	delta;
	pg_atomic_uint32 applier;	/* somebody is about to apply the log's end: I9 */
	uint32		noticed;		/* bytes of the cursor's page, when somebody last looked (any may
								 * write it: advice) */
	uint32		vain;			/* searches that found nothing since a filter was due, or about so
								 * many (any reader may write it) */
	uint32		nreserve;
	uint32		reserve[IMAGE_RESERVE];
	pg_atomic_uint64 last_used; /* by the clock of its table */
	TimestampTz grown;			/* when readers last found more in the log: the start of a
								 * statement */
	TimestampTz asked;			/* when one of them last asked for it to be merged (any may write
								 * it: advice) */
	/* private images only */
	struct SfxLocalNodes *local;
	Oid			index;
	bool		suspect;		/* the relation has changed: its file may be another one */
};

static inline bool
sfx_image_is(const SfxImage *img, const SfxImageKey *key)
{
	return img->used && img->key.gen == key->gen && img->key.build_id == key->build_id &&
		img->key.database == key->database &&
		SfxLocatorEquals(img->key.loc, key->loc);
}

/* ---- image_nodes.c ---- */

/* How the image's tree comes by its nodes; NULL as the order will do where no keys are compared. */
extern SfxNodeAlloc sfx_image_nodes(SfxImage *img, const SfxOrder *order);

/* I7, as far as the pool has nodes. */
extern bool sfx_image_fill_reserve(SfxImage *img);

/* What was reserved and not needed goes to others. */
extern void sfx_image_give_back(SfxImage *img);

/* Is there room for n more nodes beside the reserve? */
extern bool sfx_image_has_room(SfxImage *img, uint32 n);

/* Forget everything applied so far; the key stays. */
extern void sfx_image_clear(SfxImage *img);

/* Memory for a private image, which is zeroed; and its end. */
extern void sfx_image_begin_local(SfxImage *img);
extern void sfx_image_end_local(SfxImage *img);
extern Size sfx_image_local_bytes(const SfxImage *img);
extern uint32 sfx_image_pool_nodes(void);
extern uint32 sfx_image_pool_free(void);

/* ---- image_local.c ---- */

/* The private image of that key; NULL: there is none. */
extern SfxImage *sfx_image_local_find(const SfxImageKey *key);

/* A new one. */
extern SfxImage *sfx_image_local_make(Relation index, const SfxImageKey *key);
extern void sfx_image_local_forget(const SfxImageKey *key);

/* Give back those of a file that are of another build, or of generations that were dropped. */
extern void sfx_image_local_outdated(const SfxLocator *file, uint64 build_id, uint32 oldest_gen);

/* ---- image_slots.c ---- */

/* Is there shared memory for images? */
extern bool sfx_image_slots_exist(void);

/*
 * The slot of that key, its lock held in the given mode; NULL: there is none, or it came or moved
 * this moment.
 */
extern SfxImage *sfx_image_slot_find(const SfxImageKey *key, LWLockMode mode);

/*
 * The slot of that key, a new one if there is none, exclusively locked; NULL if all are busy.
 */
extern SfxImage *sfx_image_slot_make(const SfxImageKey *key);

/* Give back all memory of a slot, whose lock is held exclusively, and the slot. */
extern void sfx_image_slot_drop(SfxImage *img);

/* The image was used. */
extern void sfx_image_slot_touch(SfxImage *img);

/* I7. False: the pool is exhausted and nothing could be evicted. */
extern bool sfx_image_reserve(SfxImage *img);

/* Room for n more nodes beside the reserve, as far as it can be had by eviction. */
extern void sfx_image_make_room(SfxImage *img, uint32 n);

/* ---- image_fill.c ---- */

typedef enum
{
	CATCHUP_DONE,
	CATCHUP_GONE,				/* the generation was dropped */
	CATCHUP_MORE,				/* not finished: call again, after giving up the lock */
	CATCHUP_NOMEM
} CatchupResult;

/*
 * Apply log pages from the cursor on, some tens of them at most.  The image is ours alone.  May
 * throw: it is none the worse then.
 */
extern CatchupResult sfx_image_catch_up(Relation index, const SfxOrder *order, SfxImage *img,
										const SfxMeta *meta, int g);

/*
 * Who holds the image in shared mode, and is about to apply that copied end in exclusive mode,
 * looks its entries up: so that others wait for less (I9).  In byte order only.  ERROR if the copy
 * is damaged.
 */
extern void sfx_image_warm(Relation index, SfxImage *img, SfxLogEnd *end);

#endif							/* SURFIDX_IMAGE_IMPL_H */
