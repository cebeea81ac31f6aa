/*-------------------------------------------------------------------------
 * merge.c - moving a frozen generation of the delta into the tree, group by group
 *
 * One routine rewrites a group of neighbouring leaves below one parent (rewrite.c): it merges the leaves' entries
 * with those of the source that fall between the group's fences, drops what a filter says is dead, packs the rest
 * and swaps the pages in one record together with the parent (swap.c).  A merge is this routine along the keys of a
 * source, which is the oldest frozen generation or a run, into a run older than that; which one, policy.c decides.
 * VACUUM is this routine with a filter and no source.  The rules are M1 to M8 (src/README.md, "merge").
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "carried.h"
#include "carry.h"
#include "column.h"
#include "dead_pointers.h"
#include "dead_rows.h"
#include "dict.h"
#include "drop.h"
#include "find.h"
#include "group.h"
#include "horizon.h"
#include "leaf.h"
#include "log.h"
#include "lwlocks.h"
#include "merge.h"
#include "merge_lock.h"
#include "meta.h"
#include "order.h"
#include "policy.h"
#include "pos.h"
#include "progress.h"
#include "rewrite.h"
#include "settings.h"
#include "source.h"
#include "stats.h"
#include "wal.h"
#include "yield.h"

#include "access/table.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define RUN_STEPS		16		/* groups of a run between two looks at the delta */
#define STUB_SHED		250		/* of 1,000 entries: so few taking dead ones' places, a look for
								 * stubs was in vain, ... */
#define STUB_PAUSE		7		/* ... and so many merges make none */

typedef enum MergeManner
{
	MERGE_WAIT,					/* wait for the merge lock */
	MERGE_TRY,					/* give up when it is busy */
	MERGE_POLITE				/* and when somebody waits for the index or the database */
} MergeManner;

/* Take the merge lock in that manner. */
static bool
take_lock(Relation index, MergeManner manner)
{
	if (manner == MERGE_POLITE && sfx_worker_is_in_the_way(index))
		return false;
	if (manner != MERGE_WAIT)
		return sfx_merge_trylock(index);
	sfx_merge_lock(index);
	return true;
}

/* ---- one generation or run ---- */

typedef struct Merge
{
	Relation	index;
	const SfxOrder *order;
	MergeManner manner;
	bool		full;			/* into the main tree, whatever it costs: ... */
	int			slice;			/* groups of a run, at most; 0: to its end */
	uint32		last_run;		/* ... all runs up to this one, not those that are made meanwhile;
								 * 0: those that are due */
	uint32		run;			/* the source: this run, or if 0 ... */
	uint32		gen;			/* ... this generation */
	uint32		target;			/* run; 0: not decided yet */
	bool		started;		/* from is where we are */
	SfxPosBuf	from;
	SfxMergeStats stats;
	SfxRestSample *sample;		/* NULL: keys have no rests worth one */
	SfxProgress *progress;
	uint64		noted;			/* of stats.taken */
	SfxStubs   *stubs;			/* read since the generation was frozen (X6); NULL: none */
	int			pause;			/* for the metapage's stub_pause, unless stubs were looked for in
								 * vain; -1: as it is */
	bool		looked;			/* all stubs were looked for */
	uint64		taken_before;	/* stats.taken and removed when the source was begun */
	uint64		removed_before;
	instr_time	began;			/* the step in hand */
	SfxKeptNode kept;
	uint64		usecs;			/* that steps took, not told by any record yet: the next one does,
								 * the last step's is the drop's */
} Merge;

/* A step ends. */
static void
stop_clock(Merge *m)
{
	instr_time	took;

	INSTR_TIME_SET_CURRENT(took);
	INSTR_TIME_SUBTRACT(took, m->began);
	m->usecs += INSTR_TIME_GET_MICROSEC(took);
}

/* Is the source still there, and to be merged?  Its place in the metapage's list, or -1. */
static int
find_source(const Merge *m, const SfxMeta *meta)
{
	if (m->run == 0)
		return meta->ngens > 1 && meta->gens[meta->ngens - 1].gen == m->gen ? meta->ngens - 1 : -1;
	return meta->resume[SFX_RESUME_RUN].source == m->run ? sfx_meta_find_run(meta, m->run) : -1;
}

/* Where to begin: where whoever merged this source before us has come. */
static void
set_start(Merge *m, const SfxMeta *meta)
{
	const SfxResume *r = &meta->resume[m->run != 0 ? SFX_RESUME_RUN : SFX_RESUME_GEN];
	SfxPos		pos = {(const uint8_t *) "", 0, 0};

	m->stats.horizon.xid = InvalidTransactionId;
	m->stats.horizon.catalog = false;
	if (r->source == (m->run != 0 ? m->run : m->gen))
	{
		m->stats.horizon.xid = r->horizon;
		m->stats.horizon.catalog = r->catalog;
		pos.key = r->key;
		pos.len = r->len;
		pos.tid = r->tid;
	}
	sfx_pos_set(&m->from, &pos);
	m->started = true;
}

/* May entries of the source go to run number t?  Into an older one than the source, and into none that is being emptied. */
static bool
is_target(const Merge *m, const SfxMeta *meta, int source, int t)
{
	return t >= 0 && (m->run == 0 || t > source) && meta->resume[SFX_RESUME_RUN].source != meta->runs[t].id;
}

/*
 * Decide on a target, or make one: where whoever merged this source before us went, or an entry above the position, which may be too low
 * (M5), would come to stand in two runs.
 */
static void
set_target(Merge *m, SfxMeta *meta, int source)
{
	const SfxResume *r = &meta->resume[m->run != 0 ? SFX_RESUME_RUN : SFX_RESUME_GEN];

	if (r->source == (m->run != 0 ? m->run : m->gen) && r->target != 0 && !SFX_MUTANT("resume into any run"))
		m->target = r->target;
	if (m->target != 0 && is_target(m, meta, source, sfx_meta_find_run(meta, m->target)))
		return;
	m->target = m->run != 0 ? sfx_merge_run_target(m->index, meta, source, m->full) :
		sfx_merge_gen_target(m->index, m->order, meta, source, m->full);
	if (m->target == 0)
		m->target = sfx_tree_create(m->index, m->order, meta);
}

/* ---- how fast ---- */

/*
 * A worker pays for the pages that it reads and writes as VACUUM does, and sleeps when the limit is reached; but not while the
 * delta is so far beyond its bound that inserters would have to help.  No lock is held.
 */
static void
pay(Merge *m)
{
	double		ms;

	Assert(sfx_holds_no_lwlock());
	if (m->manner != MERGE_POLITE || sfx_guc_merge_cost_delay <= 0 || VacuumCostBalance < sfx_guc_merge_cost_limit)
		return;
	ms = Min(sfx_guc_merge_cost_delay * VacuumCostBalance / sfx_guc_merge_cost_limit, sfx_guc_merge_cost_delay * 4);
	VacuumCostBalance = 0;
	if (sfx_merge_is_late(m->index))
		return;
	m->progress->phase = SFX_PROGRESS_SLEEP;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Max((long) ms, 1), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Merge lock held. Merge one group from m->from on; false when the source had nothing left there. */
static bool
merge_step(Merge *m, SfxMeta *meta, int source, uint64 *seen)
{
	SfxSource	src;
	SfxGroup	group;
	const SfxEntry *first;
	SfxPos		pos;

	Assert(sfx_merge_lock_held(m->index));
	sfx_source_init(&src, m->index, m->order, meta, m->run, source);
	if (!sfx_source_seek(&src, &m->from.pos))
	{
		*seen = src.seen;
		sfx_horizon_raise(&m->stats.horizon, &src.horizon);
		return false;
	}
	first = sfx_source_peek(&src);
	pos.key = first->key;
	pos.len = first->keylen;
	pos.tid = first->tid;
	sfx_group_locate(&group, SfxTreeOf(m->index, m->order, meta, m->target), &pos, &m->kept);
	sfx_group_join_left(&group, &m->stats);
	if (sfx_versions_wanted(m->index, src.unchanged))
		group.heap = sfx_dead_open_heap(m->index);
	meta->work.usecs += m->usecs;
	m->usecs = 0;
	sfx_group_rewrite(&group, &src, m->stubs ? sfx_stubs_have : NULL, m->stubs, &m->stats);
	if (group.heap)
		table_close(group.heap, AccessShareLock);
	*seen = src.seen;
	sfx_horizon_raise(&m->stats.horizon, &src.horizon);
	if (group.resume_inf)
		return false;
	sfx_pos_set(&m->from, &group.resume);
	return true;
}

static void
note_progress(Merge *m, const SfxMeta *meta, int source)
{
	SfxProgress *p = m->progress;

	p->phase = m->run != 0 ? SFX_PROGRESS_RUN : SFX_PROGRESS_DELTA;
	p->source = m->run != 0 ? m->run : m->gen;
	p->target = m->target;
	p->total = m->run != 0 ? meta->runs[source].entries : meta->gens[source].sealed;
	p->done += m->stats.taken - m->noted;
	m->noted = m->stats.taken;
	p->groups = m->stats.groups;
	p->leaves = m->stats.written;
}

/* Of 1,000 entries that the source brought, how many took the place of dead ones?  -1: nobody looked for these. */
static int
share_shed(const Merge *m)
{
	uint64		taken = m->stats.taken - m->taken_before;
	uint64		removed = m->stats.removed - m->removed_before;

	if (m->manner == MERGE_TRY || taken == 0)
		return -1;
	return (int) (Min(removed, taken) * 1000 / taken);
}

static int
next_pause(const Merge *m, int shed)
{
	return m->looked && shed >= 0 && shed < STUB_SHED ? STUB_PAUSE : m->pause;
}

/* The source has been walked to its end (M4). Merge lock held. */
static void
finish_source(Merge *m, const SfxMeta *meta, int source, uint64 seen)
{
	int			shed = share_shed(m);

	Assert(sfx_merge_lock_held(m->index));
	if (m->run != 0)
	{
		sfx_run_drop(m->index, m->order, m->run, m->usecs);
		m->usecs = 0;
		return;
	}
	if (seen != meta->gens[source].sealed)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is damaged: generation %u of its delta log was sealed with "
						UINT64_FORMAT " entries but has " UINT64_FORMAT,
						RelationGetRelationName(m->index), m->gen, meta->gens[source].sealed, seen),
				 errhint("Please REINDEX it.")));
	sfx_generation_drop(m->index, m->gen, &m->stats.horizon, m->usecs, shed, next_pause(m, shed));
	m->usecs = 0;
}

/* Between two batches of the table's pages: nobody is helped by what is left out of leaves if it has to wait for it, or if inserters do. */
static bool
may_go_on(void *arg)
{
	Merge	   *m = arg;

	if (m->manner != MERGE_POLITE || SFX_MUTANT("all stubs first"))
		return true;
	if (sfx_worker_is_in_the_way(m->index) || sfx_merge_is_late(m->index))
		return false;
	pay(m);
	m->progress->phase = SFX_PROGRESS_DELTA;
	return true;
}

/*
 * Is there hope that leaves get rid of stubs?  Not where the old ones, which have the entries of dead rows, are left alone: for a run nobody looks, and where
 * keys come to one end (updated_at) only one merge in eight, to see whether that is still so.
 */
static bool
looks_for_stubs(Merge *m, const SfxMeta *meta)
{
	if (SFX_MUTANT("stubs for nothing"))
		return meta->ngens > 1;
	if (!sfx_merge_meets_old(m->index, meta, m->full))
		return false;
	if (meta->stub_pause == 0)
		return true;
	m->pause = meta->stub_pause - 1;
	return false;
}

/*
 * Look what is dead in the table, if that is worth it.  Not for a run: while it is being merged newer generations may come into the same
 * tree, with rows that have got TIDs of stubs.  Inserters who help have no time, and VACUUM comes with stubs of its own.
 */
static void
collect_stubs(Merge *m)
{
	SfxMeta		meta;

	m->taken_before = m->stats.taken;
	m->removed_before = m->stats.removed;
	m->pause = -1;
	m->looked = false;
	if (m->run != 0 || m->manner == MERGE_TRY || m->stubs != NULL)
		return;
	sfx_meta_read(m->index, &meta);
	if (looks_for_stubs(m, &meta))
		m->stubs = sfx_stubs_collect(m->index, &meta, may_go_on, m, &m->looked);
	SFX_STOP("stubs collected");
}

/* Of the rests of keys that this merge writes, for sfx_dict_review. */
static void
start_sample(Merge *m)
{
	m->stats.rests = m->stats.stored = 0;
	m->stats.sample = m->sample;
	if (m->sample)
		sfx_sample_init(m->sample);
}

/*
 * Merge the source to its end.  False if it gave up, or if somebody else finished it meanwhile.  A run gives way to a
 * delta that has become due, if nobody waits for the end of it all.
 */
static bool
merge_source(Merge *m)
{
	MemoryContext stepcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx merge step",
												  ALLOCSET_DEFAULT_SIZES);
	bool		more = true;

	m->started = false;
	m->target = 0;
	start_sample(m);
	m->progress->done = m->progress->total = 0;
	collect_stubs(m);
	for (int n = 0; more; n++)
	{
		SfxMeta		meta;
		MemoryContext old;
		uint64		seen = 0;
		int			source;

		CHECK_FOR_INTERRUPTS();
		if (m->run != 0 && m->slice > 0 && n == m->slice)
			break;
		if (m->run != 0 && !m->full && n % RUN_STEPS == 0 && n > 0 && sfx_merge_delta_due(m->index))
			break;
		if (SFX_MUTANT("metapage before merge lock"))
			sfx_meta_read(m->index, &meta);
		SFX_STOP("merge lock");
		if (!take_lock(m->index, m->manner))
			break;
		if (!SFX_MUTANT("metapage before merge lock"))
			sfx_meta_read(m->index, &meta);
		source = find_source(m, &meta);
		if (source < 0)
		{
			sfx_merge_unlock(m->index);
			break;
		}
		INSTR_TIME_SET_CURRENT(m->began);
		old = MemoryContextSwitchTo(stepcxt);
		if (!m->started)
			set_start(m, &meta);
		set_target(m, &meta, source);
		/* a run that was made for it has moved the others */
		source = find_source(m, &meta);
		more = merge_step(m, &meta, source, &seen);
		note_progress(m, &meta, source);
		sfx_dict_review(m->index, &meta, &m->stats, !more);
		if (!more)
			sfx_tree_recount(SfxTreeOf(m->index, m->order, &meta, m->target));
		MemoryContextSwitchTo(old);
		MemoryContextReset(stepcxt);
		stop_clock(m);
		if (!more)
			finish_source(m, &meta, source, seen);
		sfx_merge_unlock(m->index);
		SFX_STOP("group merged");
		pay(m);
	}
	MemoryContextDelete(stepcxt);
	elog(DEBUG1, "surfidx: index \"%s\": " UINT64_FORMAT " groups wrote " UINT64_FORMAT " leaves, asked for " UINT64_FORMAT " ahead and began to read " UINT64_FORMAT " of them",
		 RelationGetRelationName(m->index), m->stats.groups, m->stats.written, m->stats.asked, m->stats.reads_begun);
	if (!SFX_MUTANT("stubs for the next generation"))
	{
		sfx_stubs_free(m->stubs);
		m->stubs = NULL;
	}
	return !more;
}

/*
 * Before the first group of a generation: put into the active one once more what of it is read often, if it was frozen for that. The lock is taken
 * per piece, and nothing is remembered but the position.
 */
static void
carry_over(Merge *m)
{
	SfxCarry   *c;
	bool		more = m->manner == MERGE_POLITE && !m->full && sfx_opt_merge_cold(m->index);

	if (!more)
		return;
	c = sfx_carry_begin(m->index, m->order);
	while (more)
	{
		SfxMeta		meta;
		int			source;

		CHECK_FOR_INTERRUPTS();
		if (!take_lock(m->index, m->manner))
			break;
		sfx_meta_read(m->index, &meta);
		source = find_source(m, &meta);
		more = source > 0 && sfx_carried(&meta, 0) && meta.resume[SFX_RESUME_GEN].source != m->gen &&
			sfx_carry_step(c, &meta, source);
		sfx_merge_unlock(m->index);
		SFX_STOP("carried over");
	}
	sfx_carry_end(c);
}

/*
 * The oldest frozen generation's number; 0 if there is none.  Freezes the active
 * one if nothing is frozen and its number is at most last.
 */
static uint32
next_generation(Relation index, MergeManner manner, uint32 last)
{
	SfxMeta		meta;
	bool		carry = manner == MERGE_POLITE && sfx_merge_may_carry(index);

	sfx_meta_read(index, &meta);
	if (meta.ngens < 2)
	{
		if (meta.gens[0].gen > last || meta.gens[0].first == InvalidBlockNumber)
			return 0;
		if (!take_lock(index, manner))
			return 0;
		sfx_meta_read(index, &meta);
		if (meta.ngens < 2 && meta.gens[0].gen <= last)
		{
			(void) sfx_log_freeze(index, carry, &meta);
			SFX_STOP("frozen");
		}
		sfx_merge_unlock(index);
	}
	return meta.ngens < 2 ? 0 : meta.gens[meta.ngens - 1].gen;
}

/* Every generation that there is now.  False: gave up. */
static bool
merge_generations(Merge *m)
{
	uint32		last;
	SfxMeta		meta;

	/* what is appended to later generations is not ours to wait for */
	sfx_meta_read(m->index, &meta);
	last = meta.gens[0].gen;
	m->run = 0;
	while ((m->gen = next_generation(m->index, m->manner, last)) != 0 && m->gen <= last)
	{
		carry_over(m);
		if (!merge_source(m) && m->manner != MERGE_WAIT)
			return false;
	}
	return true;
}

/* The generation of which a part went into that run; 0: none.  Until the rest has followed it cannot be a source, or the rest would go elsewhere. */
static uint32
half_merged_into(const SfxMeta *meta, const SfxRun *run)
{
	const SfxResume *r = &meta->resume[SFX_RESUME_GEN];

	return r->source != 0 && r->target == run->id && !SFX_MUTANT("resume into any run") ? r->source : 0;
}

/*
 * The run that is being merged into an older one, or that should be: its id, noted in the metapage, so that nothing else
 * goes into it any more.  0: none, or the lock is busy; with *gen not 0: this generation has to be merged first.
 */
static uint32
next_run(Merge *m, uint32 *gen)
{
	SfxMeta		meta;
	Buffer		metabuf;
	int			r;
	uint32		id = 0;

	*gen = 0;
	sfx_meta_read(m->index, &meta);
	if (meta.resume[SFX_RESUME_RUN].source != 0)
		return meta.resume[SFX_RESUME_RUN].source;
	if (sfx_merge_run_due(m->index, &meta, m->last_run) < 0)
		return 0;
	SFX_STOP("run due");
	if (!take_lock(m->index, m->manner))
		return 0;
	sfx_meta_lock(m->index, &meta, &metabuf);
	id = meta.resume[SFX_RESUME_RUN].source;
	if (id == 0 && (r = sfx_merge_run_due(m->index, &meta, m->last_run)) >= 0 &&
		(*gen = half_merged_into(&meta, &meta.runs[r])) == 0)
	{
		id = meta.resume[SFX_RESUME_RUN].source = meta.runs[r].id;
		sfx_meta_change(m->index, metabuf, &meta, SFX_META_MERGE_RUN, NULL);
	}
	else
		UnlockReleaseBuffer(metabuf);
	sfx_merge_unlock(m->index);
	return id;
}

static void
merge_runs(Merge *m)
{
	while ((m->run = next_run(m, &m->gen)) != 0 || m->gen != 0)
		if (!merge_source(m) && m->manner != MERGE_WAIT)
			break;
}

static void
end_progress(int code, Datum arg)
{
	sfx_progress_end((SfxProgress *) DatumGetPointer(arg));
}

/* full: into the main tree, and all runs, too.  runs: those that are due.  slice > 0: only a run that is due, and so many groups of it. */
static uint64
merge_all(Relation index, MergeManner manner, bool full, bool runs, int slice)
{
	Merge	   *m = palloc0(sizeof(Merge));
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	uint64		merged;

	m->index = index;
	m->order = sfx_order_open(index, kd, true);
	m->manner = manner;
	m->full = full;
	m->slice = slice;
	if (full)
	{
		SfxMeta		meta;

		sfx_meta_read(index, &meta);
		m->last_run = meta.next_run - 1;
	}
	m->sample = sfx_dict_possible(index, kd) ? palloc(sizeof(SfxRestSample)) : NULL;
	sfx_kept_init(&m->kept);
	m->progress = sfx_progress_begin(index);
	PG_ENSURE_ERROR_CLEANUP(end_progress, PointerGetDatum(m->progress));
	{
		bool		all = merge_generations(m);

		SFX_STOP("generations merged");
		if (all && runs)
			merge_runs(m);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_progress, PointerGetDatum(m->progress));
	sfx_progress_end(m->progress);
	merged = m->stats.taken;
	sfx_kept_end(&m->kept);
	sfx_order_end(m->order);
	if (m->sample)
		pfree(m->sample);
	pfree(kd);
	pfree(m);
	return merged;
}

uint64
sfx_merge_all(Relation index)
{
	return merge_all(index, MERGE_WAIT, true, true, 0);
}

uint64
sfx_merge_delta(Relation index, bool runs)
{
	return merge_all(index, MERGE_TRY, false, runs, 0);
}

uint64
sfx_merge_run_slice(Relation index, int groups)
{
	return merge_all(index, MERGE_TRY, false, true, groups);
}

uint64
sfx_merge_politely(Relation index)
{
	return merge_all(index, MERGE_POLITE, false, true, 0);
}
