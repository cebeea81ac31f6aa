/*-------------------------------------------------------------------------
 * image.h - images: the delta in order, in memory
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IMAGE_H
#define SURFIDX_IMAGE_H

#include "surfidx.h"
#include "delta.h"
#include "horizon.h"
#include "leaf.h"
#include "log_watch.h"
#include "meta.h"
#include "shared_area.h"

typedef struct SfxImage SfxImage;

/*
 * Lock the image of generation meta->gens[g] for reading, complete up to the log's end now, with
 * dead flags not older than meta->removals.  NULL: the generation is gone; read the metapage again.
 * Between acquire and release: no buffer access, no error that is not FATAL-safe; only copying out.
 */
extern SfxImage *sfx_image_acquire(Relation index, const SfxOrder *order, const SfxMeta *meta, int g);

/*
 * The same, but for the last few entries of the log: *end is a copy of them, which the caller looks
 * into for himself, flagged ones too (I9).
 */
struct SfxLogEnd;
extern SfxImage *sfx_image_acquire_but_end(Relation index, const SfxOrder *order,
										   const SfxMeta *meta, int g, struct SfxLogEnd *end);

/* Its tree, and how to get at the nodes of that. */
extern const SfxDelta *sfx_image_delta(SfxImage *img, const SfxOrder *order, SfxNodeAlloc *nodes);

/* The image has certainly no entry of the key with that hash (sfx_hash_key): its filter says so. */
extern bool sfx_image_absent(SfxImage *img, uint64 hash);

/*
 * A search for a key found nothing.  True: a filter is due, and would pay; the caller asks for it
 * once he has released the image.
 */
extern bool sfx_image_wants_filter(SfxImage *img);

/*
 * Make a filter for the image of generation meta->gens[g], or a larger one, if it is due (no image
 * held).
 */
extern void sfx_image_grow_filter(Relation index, const SfxMeta *meta, int g);

/* Log entries that went into it, dead ones included. */
extern uint64 sfx_image_seen(const SfxImage *img);
extern void sfx_image_release(SfxImage *img);

/* Where its log goes on behind what it holds (it is held; it has pages). */
extern SfxLogPlace sfx_image_place(const SfxImage *img);

/* Is an image in shared memory held?  For assertions. */
extern bool sfx_image_held(void);

/*
 * Has nobody appended for surfidx.idle_flush, as far as this statement can tell without asking the
 * clock?  True once in that time: the caller, once he has released the image, asks for a merge.
 * The worker looks more closely (no image held).
 */
extern bool sfx_image_idle(SfxImage *img);
extern bool sfx_delta_is_idle(Relation index, const SfxMeta *meta);

/* Are there entries of UPDATEs that changed no key? */
extern bool sfx_image_unchanged(const SfxImage *img);

/*
 * For estimates, as sfx_delta_ranks of generation meta->gens[g].  No page is read, and no error
 * thrown but by the order's functions.  False: there is no image in shared memory, or the log has
 * gone on by a page since it was looked at.
 */
extern bool sfx_image_glance(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, const SfxPos *pos, int n, double *below);

/*
 * Has the image of generation meta->gens[g] come to the last page of its log, with all flags, as of
 * meta?  No page is read.  False: there is none, or it has not.
 */
extern bool sfx_image_reaches_tail(Relation index, const SfxMeta *meta, int g);

/*
 * So many entries in the log of generation meta->gens[g] are known to be dead: VACUUM has flagged
 * them, or they were taken out of the image.  0 where there is no image.  No page is read.
 */
extern uint64 sfx_image_known_dead(Relation index, const SfxMeta *meta, int g);

/* Entries taken out by sfx_image_kill; *horizon is raised to theirs. */
extern uint64 sfx_image_killed(const SfxImage *img, SfxHorizon *horizon);

/*
 * Take entries out of the image of generation meta->gens[g] that the heap has confirmed to be dead
 * to everybody.  entries[i] counts if its TID is in dead[0..ndead), ascending.  The caller holds no
 * image and pins the gate (README "Dead entries").
 */
extern void sfx_image_kill(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *const *entries, int n,
						   const uint64 *dead, int ndead, const SfxHorizon *horizon);

/* The generation was dropped: free its image's memory now rather than when room is needed. */
extern void sfx_image_forget(Relation index, const SfxMeta *meta, uint32 gen);

/*
 * K4: who has walked through an image from from on, in pieces, goes on from next.  True: that is
 * not ahead, so the image is in another order than that of now, and has to be forgotten once it is
 * let go.  Nobody else may see false in an image that is sound.
 */
static inline bool
sfx_image_misleads(const SfxOrder *order, const SfxPos *from, const SfxPos *next)
{
	return order != NULL && sfx_order_cmp_pos(order, next, from) <= 0 &&
		!SFX_MUTANT("walks go back");
}

/* ... and the end of a statement that cannot begin again. */
pg_noreturn extern void sfx_image_misled(Relation index, const SfxOrder *order, const SfxMeta *meta,
										 uint32 gen);

/* The file has died, or begins anew: free the memory of all its images. */
extern void sfx_image_forget_file(const SfxLocator *file);

/* Two rows of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_image_use(struct SfxSharedUse *use);

extern const SfxSharedArea sfx_image_nodes_area;
extern const SfxSharedArea sfx_image_slots_area;
extern void sfx_image_init(void);

#endif							/* SURFIDX_IMAGE_H */
