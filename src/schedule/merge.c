/*-------------------------------------------------------------------------
 * merge.c - merges: which sources are merged, one after the other
 *
 * A source is the oldest frozen generation or a run; merge_source.c moves it into an older run,
 * group by group.  Rules M1 to M6 (src/README.md, "merge").
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "dict_train.h"
#include "log.h"
#include "merge.h"
#include "merge_impl.h"
#include "merge_lock.h"
#include "meta.h"
#include "order.h"
#include "policy.h"
#include "progress.h"
#include "settings.h"
#include "stats.h"
#include "wal.h"

#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/*
 * The oldest frozen generation's number; 0 if there is none, or if the merge lock is busy.  If none
 * is frozen, the active one is frozen, provided that its number is at most `last`.
 */
static uint32
next_generation(const Merge *m, uint32 last)
{
	SfxMeta		meta;

	sfx_meta_read(m->index, &meta);
	if (meta.ngens < 2)
	{
		if (meta.gens[0].gen > last || meta.gens[0].first == InvalidBlockNumber)
			return 0;
		if (!sfx_merge_take_lock(m))
			return 0;
		sfx_meta_read(m->index, &meta);
		if (meta.ngens < 2 && meta.gens[0].gen <= last)
		{
			(void) sfx_log_freeze(m->index, &meta);
			SFX_STOP("frozen");
		}
		sfx_merge_unlock(m->index);
	}
	return meta.ngens < 2 ? 0 : meta.gens[meta.ngens - 1].gen;
}

/* Merge every generation that exists now.  False: gave up. */
static bool
merge_generations(Merge *m)
{
	uint32		last;
	SfxMeta		meta;

	/* generations that are opened from now on are left to later merges */
	sfx_meta_read(m->index, &meta);
	last = meta.gens[0].gen - (m->frozen_only ? 1 : 0);
	m->run = 0;
	while ((m->gen = next_generation(m, last)) != 0 && m->gen <= last)
	{
		if (!sfx_merge_source(m) && m->manner != MERGE_WAIT)
			return false;
	}
	return true;
}

/*
 * The generation of which a part went into that run; 0: none.  The run becomes a source only after
 * the rest has followed, which otherwise would have to go elsewhere (M5).
 */
static uint32
half_merged_into(const SfxMeta *meta, const SfxRun *run)
{
	const SfxResume *r = &meta->resume[SFX_RESUME_GEN];

	return r->source != 0 && r->target == run->id && !SFX_MUTANT("resume into any run") ? r->source : 0;
}

/*
 * The id of the run that is being merged into an older one, or that is to be.  It is named in the
 * metapage, so that nothing goes into it from then on (M6).  0: none, or the lock is busy; if *gen
 * is not 0, that generation has to be merged first.
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
	if (!sfx_merge_take_lock(m))
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

/* Of merges by inserters: a worker would have come by now. */
static const char *const no_worker = "an insert found no worker";

/* Report a merge that took surfidx.log_merge_min_duration or longer in the server log. */
static void
log_merge(const Merge *m, TimestampTz began)
{
	TimestampTz now = GetCurrentTimestamp();
	char	   *schema;
	long		secs;
	int			usecs;

	if (sfx_guc_log_merge_min_duration < 0 || m->stats.groups == 0 ||
		!TimestampDifferenceExceeds(began, now, sfx_guc_log_merge_min_duration))
		return;
	TimestampDifference(began, now, &secs, &usecs);
	schema = get_namespace_name(RelationGetNamespace(m->index));
	ereport(LOG,
			(errmsg("merge of surfidx index \"%s.%s.%s\": " UINT64_FORMAT " entries came to " UINT64_FORMAT
					" leaves, " UINT64_FORMAT " removed; elapsed: %ld.%02d s; reason: %s",
					get_database_name(MyDatabaseId), schema ? schema : "?",
					RelationGetRelationName(m->index), m->stats.taken, m->stats.written,
					m->stats.removed, secs, usecs / 10000, m->why)));
}

/* Run the merge that *how describes; returns entries taken from sources. */
static uint64
merge_all(const Merge *how)
{
	Merge	   *m = palloc(sizeof(Merge));
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	TimestampTz began = GetCurrentTimestamp();
	uint64		merged;

	*m = *how;
	m->order = sfx_order_open(m->index, kd, true);
	if (m->full)
	{
		SfxMeta		meta;

		sfx_meta_read(m->index, &meta);
		m->last_run = meta.next_run - 1;
	}
	m->sample = sfx_dict_possible(m->index, kd) ? palloc(sizeof(SfxRestSample)) : NULL;
	sfx_kept_init(&m->kept);
	m->progress = sfx_progress_begin(m->index);
	PG_ENSURE_ERROR_CLEANUP(sfx_progress_clean_up, PointerGetDatum(m->progress));
	{
		bool		go_on = merge_generations(m) && m->runs;

		SFX_STOP("generations merged");
		while (go_on && ((m->run = next_run(m, &m->gen)) != 0 || m->gen != 0))
			go_on = sfx_merge_source(m) || m->manner == MERGE_WAIT;
	}
	PG_END_ENSURE_ERROR_CLEANUP(sfx_progress_clean_up, PointerGetDatum(m->progress));
	sfx_progress_end(m->progress);
	log_merge(m, began);
	merged = m->stats.taken;
	if (m->removed)
		*m->removed += m->stats.removed;
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
	Merge		how = {.index = index,.manner = MERGE_WAIT,.full = true,.runs = true};

	how.why = "surfidx_merge()";
	return merge_all(&how);
}

uint64
sfx_merge_delta(Relation index, bool runs)
{
	return merge_all(&(Merge) {.index = index,.manner = MERGE_TRY,.why = no_worker,.runs = runs});
}

uint64
sfx_merge_for_vacuum(Relation index, bool active, SfxDeadAmong dead, void *arg,
					 double *removed)
{
	Merge		how = {.index = index,.manner = MERGE_TRY,.runs = true,.frozen_only = !active};

	how.why = "VACUUM";
	how.among = dead;
	how.among_arg = arg;
	how.removed = removed;
	return merge_all(&how);
}

uint64
sfx_merge_run_slice(Relation index, int groups)
{
	Merge		how = {.index = index,.manner = MERGE_TRY,.runs = true,.slice = groups};

	how.why = no_worker;
	return merge_all(&how);
}

uint64
sfx_merge_politely(Relation index, const char *why)
{
	return merge_all(&(Merge) {.index = index,.manner = MERGE_POLITE,.why = why,.runs = true});
}
