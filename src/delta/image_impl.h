/*-------------------------------------------------------------------------
 * image_impl.h - an image's state: image.c (where it lives) and image_fill.c (how it gets its entries)
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
#include "meta.h"

#include "storage/lwlock.h"

#define IMAGE_RESERVE		16	/* nodes in hand before an entry is applied: more than any insert needs */

typedef struct SfxImageKey
{
	SfxLocator	loc;
	uint32		gen;
	uint64		build_id;
} SfxImageKey;

struct SfxImage
{
	LWLock		lock;			/* shared images only */
	bool		used;
	SfxImageKey key;
	uint64		removals;		/* I1 */
	BlockNumber blkno;			/* cursor: page */
	uint32		seq;			/* its number in the chain: a damaged link cannot lead in circles */
	uint32		off;			/* cursor: bytes of its body that were applied */
	uint64		seen;			/* log entries up to the cursor, dead ones too */
	bool		unchanged;		/* some of them are SFX_LOG_UNCHANGED */
	uint64		killed;			/* of those, taken out by sfx_image_kill */
	SfxHorizon	horizon;		/* ... for standbys, when the generation is dropped */
	SfxDelta	delta;
	uint32		vain;			/* searches that found nothing since a filter was due, or about so many (any reader may write it) */
	uint32		nreserve;
	uint32		reserve[IMAGE_RESERVE];
	pg_atomic_uint64 last_used;
	TimestampTz grown;			/* when readers last found more in the log: the start of a statement */
	TimestampTz asked;			/* when one of them last asked for it to be merged (any may write it: advice) */
	/* private images only */
	struct SfxLocalNodes *local;
};

extern SfxNodeAlloc sfx_image_nodes;	/* of the image held right now: one at a time */

/* I7. False: the pool is exhausted and nothing could be evicted. */
extern bool sfx_image_reserve(SfxImage *img);

/* Forget everything applied so far; the key stays. */
extern void sfx_image_clear(SfxImage *img);

typedef enum
{
	CATCHUP_DONE,
	CATCHUP_GONE,				/* the generation was dropped */
	CATCHUP_MORE,				/* not finished: call again, after giving up the lock */
	CATCHUP_NOMEM
} CatchupResult;

/* Apply log pages from the cursor on, some tens of them at most.  The image is ours alone.  May throw: it is none the worse then. */
extern CatchupResult sfx_image_catch_up(Relation index, SfxImage *img, const SfxMeta *meta, int g);

extern Size sfx_image_shmem_size(void);
extern void sfx_image_shmem_startup(void);

#endif							/* SURFIDX_IMAGE_IMPL_H */
