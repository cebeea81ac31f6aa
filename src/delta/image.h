/*-------------------------------------------------------------------------
 * image.h - images: one generation of the delta in key order, in memory (memtables)
 *
 * Callers address an image by the index, a metapage that they have read, and a number g in its list
 * of generations.  Rules: I1 to I9 of src/README.md.
 *
 * A shared image is locked by an LWLock from sfx_image_acquire to sfx_image_release.  In between
 * the caller copies out what it needs: it reads no buffer and locks no other image (I2).  The
 * functions that say "no image held" take that lock themselves.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_IMAGE_H
#define SURFIDX_IMAGE_H

#include "delta.h"
#include "horizon.h"
#include "leaf.h"
#include "log_watch.h"
#include "meta.h"
#include "shared_area.h"

typedef struct SfxImage SfxImage;

/*
 * Lock the image of generation meta->gens[g] in shared mode.  It is complete up to the log's end of
 * now, with dead flags not older than meta->removals (I1).  NULL: the generation was dropped; the
 * caller reads the metapage again.  No image held.
 *
 * Between this and sfx_image_release: no buffer access, and no error but those of comparison
 * functions; entries are copied out, no pointer into the image survives (I2).
 */
extern SfxImage *sfx_image_acquire(Relation index, const SfxOrder *order, const SfxMeta *meta, int g);

/*
 * The same, except that a short end of the log may be missing from the image: *end is a copy of
 * those entries, in log order, flagged ones included, in which the caller looks as well (I9).
 */
struct SfxLogEnd;
extern SfxImage *sfx_image_acquire_but_end(Relation index, const SfxOrder *order,
										   const SfxMeta *meta, int g, struct SfxLogEnd *end);

/* The image's tree, and in *nodes the way to its nodes.  Valid while the image is held. */
extern const SfxDelta *sfx_image_delta(SfxImage *img, const SfxOrder *order, SfxNodeAlloc *nodes);

/*
 * True: the image certainly has no entry of the key with that hash (sfx_hash_key), by its filter.
 * False: it may have one, or there is no filter.  The image is held.
 */
extern bool sfx_image_absent(SfxImage *img, uint64 hash);

/*
 * To be called when a search for one key found nothing, with the image held.  True: a filter is due
 * and would pay; the caller calls sfx_image_grow_filter after it has released the image.
 */
extern bool sfx_image_wants_filter(SfxImage *img);

/*
 * Make a filter for the image of generation meta->gens[g], or a larger one, if that is still due.
 * No image held.  Failure for want of memory is silent: searches go on without.
 */
extern void sfx_image_grow_filter(Relation index, const SfxMeta *meta, int g);

/* Log entries up to the image's cursor, dead ones included.  The image is held. */
extern uint64 sfx_image_seen(const SfxImage *img);
extern void sfx_image_release(SfxImage *img);

/*
 * The place in the log up to which the image holds entries.  The image is held, and has log pages.
 */
extern SfxLogPlace sfx_image_place(const SfxImage *img);

/* Is an image in shared memory held?  For assertions. */
extern bool sfx_image_held(void);

/*
 * sfx_image_idle: has nothing been appended for surfidx.idle_flush, as far as this statement can
 * tell without asking the clock?  The image is held.  True at most once in that time: the caller
 * releases the image and asks for a merge.
 *
 * sfx_delta_is_idle: the worker's question, by the clock and by a look at the log.  No image held.
 */
extern bool sfx_image_idle(SfxImage *img);
extern bool sfx_delta_is_idle(Relation index, const SfxMeta *meta);

/* Has the image seen entries of UPDATEs that changed no key (SFX_LOG_UNCHANGED)?  It is held. */
extern bool sfx_image_unchanged(const SfxImage *img);

/*
 * For estimates: sfx_delta_ranks over generation meta->gens[g].  Reads no page, and throws nothing
 * except from the order's comparison functions.  False, and below is all 0: there is no image in
 * shared memory, or the log has grown by a page since the image was brought up to date.  No image
 * held.
 */
extern bool sfx_image_glance(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, const SfxPos *pos, int n, double *below);

/*
 * Has the image of generation meta->gens[g] reached the last page of its log, with all dead flags,
 * as of meta?  Reads no page.  False: there is no image, or it has not.  No image held.
 */
extern bool sfx_image_reaches_tail(Relation index, const SfxMeta *meta, int g);

/*
 * How many entries in the log of generation meta->gens[g] are known to be dead: VACUUM has flagged
 * them, or readers have taken them out of the image (X1).  0 where there is no image.  Reads no
 * page.  No image held.
 */
extern uint64 sfx_image_known_dead(Relation index, const SfxMeta *meta, int g);

/*
 * How many entries sfx_image_kill has taken out; *horizon is raised to theirs (X1).  The image is
 * held.
 */
extern uint64 sfx_image_killed(const SfxImage *img, SfxHorizon *horizon);

/*
 * Flag entries of the image of generation gen as dead (X1): entries[0..n), which were copied from
 * it when it had seen `seen` entries of the log, and have been found dead since.  Returns how many
 * this call has flagged, and moves those to the front of entries; -1: the image has seen more by
 * now, or is gone, and nothing was changed.  Takes the image's lock in shared mode.  No image held.
 */
extern int	sfx_image_flag_dead(Relation index, const SfxOrder *order, uint64 build_id,
								uint32 gen, uint64 seen, SfxEntry **entries, int n);

/*
 * Take entries out of the image of generation meta->gens[g] that the heap has confirmed to be dead
 * to all snapshots (X1).  Of entries[0..n) those go whose TID is in dead[0..ndead), which ascends.
 * horizon: the conflict horizon of their rows.  The caller pins the gate.  No image held.
 */
extern void sfx_image_kill(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *const *entries, int n,
						   const uint64 *dead, int ndead, const SfxHorizon *horizon);

/*
 * The generation was dropped: free its image's memory now rather than when room is needed.  No
 * image held.
 */
extern void sfx_image_forget(Relation index, const SfxMeta *meta, uint32 gen);

/*
 * K4: a caller walks through an image in pieces; one piece began at from, the next is to begin at
 * next.  True: next does not lie after from, so the image was filled in another order than that of
 * now, and the caller forgets it once it is released.  A sound image never gives true.
 */
static inline bool
sfx_image_misleads(const SfxOrder *order, const SfxPos *from, const SfxPos *next)
{
	return order != NULL && sfx_order_cmp_pos(order, next, from) <= 0 &&
		!SFX_MUTANT("walks go back");
}

/* Forget that image and raise the error of K4: for a statement that cannot begin again. */
pg_noreturn extern pg_attribute_cold void sfx_image_misled(Relation index, const SfxOrder *order,
														   const SfxMeta *meta,
														   uint32 gen);

/* The file was dropped, truncated or rewritten: free the memory of all its images (gone.h). */
extern void sfx_image_forget_file(const SfxLocator *file);

/* Fill two rows of surfidx_shared_memory(): slots, and nodes. */
struct SfxSharedUse;
extern void sfx_image_use(struct SfxSharedUse *use);

extern const SfxSharedArea sfx_image_nodes_area;
extern const SfxSharedArea sfx_image_slots_area;
extern void sfx_image_init(void);

#endif							/* SURFIDX_IMAGE_H */
