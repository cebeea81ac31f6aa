/*-------------------------------------------------------------------------
 * merge.h - the merge, its lock, its triggers and its worker
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_MERGE_H
#define SURFIDX_MERGE_H

#include "surfidx.h"
#include "merge_lock.h"
#include "meta.h"

/* Called when the log grew by a page, holding no lock: wakes the worker or helps where a merge is due (policy.c). */
extern void sfx_merge_pressure(Relation index);

/* A reader has met a delta to which nobody appends any more (sfx_image_idle); no lock held but pins: asks for a merge, if anybody can make one. */
extern void sfx_merge_idle(Relation index);

/* Is a merge due, or at least worth its cost?  The worker asks before it merges. */
extern bool sfx_merge_due(Relation index);

/* Has the delta reached its bounds?  Has it outgrown them? */
extern bool sfx_merge_delta_due(Relation index);
extern bool sfx_merge_is_late(Relation index);

/*
 * Where a merge goes (merge lock held).  The id of the run that generation meta->gens[g] is merged into; 0: a new one.
 * full: towards the main tree without regard to the cost.
 */
extern uint32 sfx_merge_gen_target(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, bool full);

/*
 * Will a merge of the oldest frozen generation go through most of the old leaves?  Not if it goes to a run; nor, of an index that is large, if the
 * keys keep together.  A guess from the metapage alone.
 */
extern bool sfx_merge_meets_old(Relation index, const SfxMeta *meta, bool full);

/* The id of the older run that run number r is merged into. */
extern uint32 sfx_merge_run_target(Relation index, const SfxMeta *meta, int r, bool full);

/* The number of a run that is to be merged into an older one; -1: none is due.  upto: runs with ids up to this one are due in any case. */
extern int	sfx_merge_run_due(Relation index, const SfxMeta *meta, uint32 upto);

/*
 * May the merge that is due leave behind what is read often (storage parameter merge_cold)?  And how many entries of generation meta->gens[g], at
 * most?  So few that the next merge is not due because of them.
 */
extern bool sfx_merge_may_carry(Relation index);
extern uint64 sfx_merge_carry_limit(Relation index, const SfxMeta *meta, int g);

/*
 * Freeze what there is and merge all of the delta and all runs into the main tree, group by group, taking the merge
 * lock per group.  Returns entries merged, those of runs included.
 */
extern uint64 sfx_merge_all(Relation index);

/* Merge the delta to where it costs least, and then, if asked, runs that are due; gives up as soon as the merge lock is busy. */
extern uint64 sfx_merge_delta(Relation index, bool runs);

/* Merge so many groups of a run that is due, if the merge lock is free: for inserters, where there is no worker. */
extern uint64 sfx_merge_run_slice(Relation index, int groups);

/* As sfx_merge_delta, and runs that are due, stopping as soon as somebody waits for the caller's SFX_WORKER_LOCK on the index. */
extern uint64 sfx_merge_politely(Relation index);

/* Ask for a background merge of this index (worker.c).  True if a worker is at it right now. */
extern bool sfx_worker_request(Relation index);

/*
 * Nobody but this session can merge the index: it is temporary, or our own transaction has made
 * it or holds a lock that keeps the worker out.
 */
extern bool sfx_worker_shut_out(Relation index);

/* Two rows of surfidx_shared_memory(). */
struct SfxSharedUse;
extern void sfx_worker_use(struct SfxSharedUse *use);
extern Size sfx_worker_shmem_size(void);
extern void sfx_worker_shmem_startup(void);
#endif							/* SURFIDX_MERGE_H */
