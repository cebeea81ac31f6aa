/*-------------------------------------------------------------------------
 * merge_source.c - moving a frozen generation of the delta, or a run, into a tree, group by group
 *
 * One routine rewrites a group of neighboring leaves below one parent (rewrite.c).  It merges the
 * leaves' entries with those of the source that fall between the group's fences, drops those that
 * an SfxDeadAmong of the caller reports, packs the others, and replaces pages and parent in one
 * record (swap.c).  A merge calls this routine along the keys of a source, into an older run that
 * policy.c chooses.  VACUUM calls it without a source.  Rules M1 to M6 (src/README.md, "merge").
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "collate.h"
#include "dead_rows.h"
#include "dict_train.h"
#include "find.h"
#include "horizon.h"
#include "leaf.h"
#include "merge_impl.h"
#include "merge_lock.h"
#include "meta.h"
#include "policy.h"
#include "requests.h"
#include "rewrite.h"
#include "shrink.h"
#include "source.h"
#include "swap.h"
#include "yield.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define RUN_STEPS		16		/* groups of a run between two checks of the delta and of other
								 * indexes' requests */
#define DATABASE_STEPS	256		/* ... and between two checks of other databases' requests */
#define STUB_SHED		250		/* of 1,000 entries: if fewer replaced dead ones, the look for
								 * stubs was in vain, ... */
#define STUB_PAUSE		7		/* ... and so many merges make none */

bool
sfx_merge_take_lock(const Merge *m)
{
	if (m->manner == MERGE_POLITE && sfx_worker_is_in_the_way(m->index))
		return false;
	if (m->manner != MERGE_WAIT)
		return sfx_merge_trylock(m->index);
	sfx_merge_lock(m->index);
	return true;
}

/*
 * Number of the source in the metapage's list of generations or runs; -1: it is gone, or not to be
 * merged.
 */
static int
find_source(const Merge *m, const SfxMeta *meta)
{
	if (m->run == 0)
		return meta->ngens > 1 && meta->gens[meta->ngens - 1].gen == m->gen ? meta->ngens - 1 : -1;
	return meta->resume[SFX_RESUME_RUN].source == m->run ? sfx_meta_find_run(meta, m->run) : -1;
}

/* Resume at the saved position, if an earlier merge has begun with this source (M5). */
static void
set_start(Merge *m, const SfxMeta *meta)
{
	const SfxResume *r = &meta->resume[m->run != 0 ? SFX_RESUME_RUN : SFX_RESUME_GEN];
	SfxPos		pos = SFX_POS_FIRST;

	m->stats.horizon.xid = InvalidTransactionId;
	m->stats.horizon.catalog = false;
	m->stats.whole = true;
	if (r->source == (m->run != 0 ? m->run : m->gen))
	{
		m->stats.horizon.xid = r->horizon;
		m->stats.horizon.catalog = r->catalog;
		m->stats.whole = r->len == 0;
		pos.key = r->key;
		pos.len = r->len;
		pos.tid = r->tid;
	}
	sfx_pos_set(&m->from, &pos);
	m->started = true;
}

/*
 * Set m->log, which stays valid for the whole merge of the source: the log of a frozen generation
 * changes only in its flags (D8).
 */
static void
set_log(Merge *m, const SfxMeta *meta, int source)
{
	MemoryContext old = MemoryContextSwitchTo(m->source_cxt);

	m->log = m->run == 0 ? sfx_source_log(m->index, m->order, meta, source) : NULL;
	MemoryContextSwitchTo(old);
}

/*
 * May entries of the source go to run number t?  Only if that is older than the source, and is not
 * being emptied itself (M6).
 */
static bool
is_target(const Merge *m, const SfxMeta *meta, int source, int t)
{
	return t >= 0 && (m->run == 0 || t > source) && meta->resume[SFX_RESUME_RUN].source != meta->runs[t].id;
}

/*
 * Set m->target, a run, which is made if need be.  If an earlier merge has begun with the source,
 * its target is kept: the saved position may be too low (M5), and an entry above it that the target
 * has would come into two runs.
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

/*
 * Merge one group from m->from on.  False when the source had nothing left there; *seen: log
 * entries that the source had seen.  Merge lock held (asserted).
 */
static bool
merge_step(Merge *m, SfxMeta *meta, int source, uint64 *seen)
{
	SfxSource	src;
	SfxGroup	group;
	const SfxEntry *first;
	SfxPos		pos;

	Assert(sfx_merge_lock_held(m->index));
	sfx_source_init(&src, m->index, m->order, meta, m->run, source, m->log);
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
	if (m->among)
		sfx_group_rewrite(&group, &src, m->among, m->among_arg, &m->stats);
	else
		sfx_group_rewrite(&group, &src, m->stubs ? sfx_stubs_among : NULL, m->stubs, &m->stats);
	if (group.heap)
		table_close(group.heap, AccessShareLock);
	*seen = src.seen;
	sfx_horizon_raise(&m->stats.horizon, &src.horizon);
	if (group.resume_inf)
		return false;
	/* each step has to move on, or the merge would not end */
	if (sfx_order_cmp_pos(m->order, &group.resume, &m->from.pos) <= 0)
		sfx_out_of_order(m->index, m->order, sfx_group_leaf(&group, group.from),
						 "a merge would go on where it was before");
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

/*
 * Of 1,000 entries that the source brought, how many replaced dead ones?  -1: this merge does not
 * look for dead ones, or has taken no entries.
 */
static int
share_shed(const Merge *m)
{
	uint64		taken = m->stats.taken - m->taken_before;
	uint64		removed = m->stats.removed - m->removed_before;

	if (m->manner == MERGE_TRY || taken == 0)
		return -1;
	return (int) (Min(removed, taken) * 1000 / taken);
}

/*
 * The new stub_pause of the metapage, after a merge in which so many of 1,000 entries replaced dead
 * ones.
 */
static int
next_pause(const Merge *m, int shed)
{
	return m->looked && shed >= 0 && shed < STUB_SHED ? STUB_PAUSE : m->pause;
}

/*
 * The source has been walked to its end: drop it, if a generation's log had as many entries as were
 * sealed (M4).  Merge lock held (asserted).
 */
static void
finish_source(Merge *m, const SfxMeta *meta, int source, uint64 seen)
{
	int			shed = share_shed(m);

	Assert(sfx_merge_lock_held(m->index));
	if (m->run != 0)
	{
		sfx_run_drop(m->index, m->run, m->usecs, &m->dropped);
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
	sfx_generation_drop(m->index, m->gen, &m->stats.horizon, m->usecs, shed, next_pause(m, shed),
						&m->dropped);
	m->usecs = 0;
}

/*
 * May the collection of stubs continue with the next batch of heap pages?  A worker stops it if
 * another session waits for the index or the database, or if the delta is so large that inserters
 * would have to merge: no dead entry is worth such a wait.
 */
static bool
may_go_on(void *arg)
{
	Merge	   *m = arg;

	if (m->manner != MERGE_POLITE || SFX_MUTANT("all stubs first"))
		return true;
	if (sfx_worker_is_in_the_way(m->index) || sfx_merge_need(m->index).late)
		return false;
	sfx_worker_pay(m->index, m->progress);
	m->progress->phase = SFX_PROGRESS_DELTA;
	return true;
}

/*
 * May the merge rewrite leaves with entries of stubs?  Such entries are in old leaves, most of
 * which a merge into a run leaves alone; and so does one of ascending keys (updated_at), so after a
 * look in vain STUB_PAUSE merges make none.
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
 * Collect stubs of the table, if that is worth it (X6).  Not for a run: between its groups another
 * backend may merge a newer generation into the same tree, with entries of rows that have got TIDs
 * of stubs, and the merge would drop these entries.  Inserters that help have no time, and VACUUM
 * has stubs of its own.
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

/* Begin a sample of the rests that this merge writes, for sfx_dict_review. */
static void
start_sample(Merge *m)
{
	m->stats.rests = m->stats.stored = m->stats.promised = 0;
	m->stats.reviews = 0;
	m->stats.sample = m->sample;
	if (m->sample)
		sfx_sample_init(m->sample);
}

/* Does a run give way to other work, after n of its groups were merged? */
static bool
gives_way(const Merge *m, int n)
{
	if (m->run == 0 || n == 0)
		return false;
	if (n == m->slice)
		return true;
	return !m->full && n % RUN_STEPS == 0 &&
		(sfx_merge_need(m->index).due ||
		 (m->manner == MERGE_POLITE && sfx_requests_wait(n % DATABASE_STEPS == 0)));
}

typedef enum
{
	STEP_MORE,
	STEP_LAST,					/* the source was walked to its end, and dropped */
	STEP_GONE					/* another backend has merged the source */
} StepResult;

/* Merge one group, with all that belongs to it under the merge lock, which is held. */
static StepResult
locked_step(Merge *m, SfxMeta *meta)
{
	int			source = find_source(m, meta);
	instr_time	began;
	instr_time	took;
	uint64		seen = 0;
	bool		more;

	if (source < 0)
		return STEP_GONE;
	INSTR_TIME_SET_CURRENT(began);
	if (!m->started)
	{
		set_start(m, meta);
		set_log(m, meta, source);
	}
	set_target(m, meta, source);
	/* the list of runs has shifted if a target was made */
	source = find_source(m, meta);
	more = merge_step(m, meta, source, &seen);
	note_progress(m, meta, source);
	sfx_dict_review(m->index, meta, &m->stats, !more);
	if (!more)
		sfx_tree_recount(SfxTreeOf(m->index, m->order, meta, m->target));
	INSTR_TIME_SET_CURRENT(took);
	INSTR_TIME_SUBTRACT(took, began);
	m->usecs += INSTR_TIME_GET_MICROSEC(took);
	if (!more)
		finish_source(m, meta, source, seen);
	return more ? STEP_MORE : STEP_LAST;
}

/*
 * One step: take the merge lock, merge a group, release the lock, free the pages of a dropped
 * source and pay for the work.  False: the source is finished, or the merge gives up.
 */
static bool
next_step(Merge *m, MemoryContext cxt, StepResult *result)
{
	MemoryContext old;
	SfxMeta		meta;

	if (SFX_MUTANT("metapage before merge lock"))
		sfx_meta_read(m->index, &meta);
	SFX_STOP("merge lock");
	if (!sfx_merge_take_lock(m))
		return false;
	if (!SFX_MUTANT("metapage before merge lock"))
		sfx_meta_read(m->index, &meta);
	old = MemoryContextSwitchTo(cxt);
	*result = locked_step(m, &meta);
	MemoryContextSwitchTo(old);
	MemoryContextReset(cxt);
	if (SFX_MUTANT("given back under the lock"))
		sfx_dropped_free(m->index, m->order, &m->dropped);
	sfx_merge_unlock(m->index);
	sfx_dropped_free(m->index, m->order, &m->dropped);
	if (*result == STEP_GONE)
		return false;
	SFX_STOP("group merged");
	if (m->manner == MERGE_POLITE)
		sfx_worker_pay(m->index, m->progress);
	return *result == STEP_MORE;
}

/* The source is merged, or left to other backends. */
static void
end_source(Merge *m)
{
	elog(DEBUG1, "surfidx: index \"%s\": " UINT64_FORMAT " groups wrote " UINT64_FORMAT
		 " leaves, asked for " UINT64_FORMAT " ahead and began to read " UINT64_FORMAT
		 " of them, compared " UINT64_FORMAT " times by collations",
		 RelationGetRelationName(m->index), m->stats.groups, m->stats.written, m->stats.asked,
		 m->stats.reads_begun, sfx_collations() - m->collations);
	if (SFX_MUTANT("stubs for the next generation"))
		return;
	sfx_stubs_free(m->stubs);
	m->stubs = NULL;
}

bool
sfx_merge_source(Merge *m)
{
	MemoryContext stepcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx merge step",
												  ALLOCSET_DEFAULT_SIZES);
	StepResult	result = STEP_MORE;

	m->started = false;
	m->collations = sfx_collations();
	m->source_cxt = CurrentMemoryContext;
	m->log = NULL;
	m->target = 0;
	start_sample(m);
	m->progress->done = m->progress->total = 0;
	collect_stubs(m);
	for (int n = 0; !gives_way(m, n); n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!next_step(m, stepcxt, &result))
			break;
	}
	MemoryContextDelete(stepcxt);
	sfx_log_sorted_free(m->log);
	end_source(m);
	return result == STEP_LAST;
}
