/*-------------------------------------------------------------------------
 * progress.c - surfidx_progress(): the merges, and changes of leaves to cut or whole ones, in
 * progress
 *
 * A backend that merges owns a slot during the merge, and writes its numbers there without a lock;
 * readers may combine numbers of different moments.  If all slots are taken, a merge is not shown.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "progress.h"
#include "shared_area.h"
#include "shared_use.h"
#include "sql_rows.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(surfidx_progress);

#define PROGRESS_SLOTS		64
#define PROGRESS_COLUMNS	(10 + SFX_INDEX_COLUMNS)

typedef struct ProgressShared
{
	LWLock		lock;			/* protects the ownership of slots */
	SfxProgress slot[PROGRESS_SLOTS];
} ProgressShared;

static ProgressShared *shared = NULL;
static SfxProgress unseen;		/* this backend's, if no slot is free */

const SfxSharedArea sfx_progress_area = {
	.name = "surfidx progress",.shared = (void **) &shared,.head = sizeof(ProgressShared),
	.tranche = "surfidx_progress"
};

SfxProgress *
sfx_progress_begin(Relation index)
{
	SfxProgress *p = &unseen;

	if (shared)
	{
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
		for (int i = 0; i < PROGRESS_SLOTS && p == &unseen; i++)
			if (shared->slot[i].pid == 0)
				p = &shared->slot[i];
		memset(p, 0, sizeof(*p));
		p->db = MyDatabaseId;
		p->index = RelationGetRelid(index);
		p->began = GetCurrentTimestamp();
		p->pid = MyProcPid;
		LWLockRelease(&shared->lock);
	}
	return p;
}

void
sfx_progress_end(SfxProgress *p)
{
	if (p == &unseen)
		return;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	p->pid = 0;
	LWLockRelease(&shared->lock);
}

void
sfx_progress_clean_up(int code, Datum progress)
{
	sfx_progress_end((SfxProgress *) DatumGetPointer(progress));
}

void
sfx_progress_use(SfxSharedUse *use)
{
	*use = (SfxSharedUse) {.what = "merges",.places = PROGRESS_SLOTS,.taken = -1,.evicted = -1};
	for (int i = 0; shared && i < PROGRESS_SLOTS; i++)
		use->used += shared->slot[i].pid != 0;
}

/* All merges of this database. */
Datum
surfidx_progress(PG_FUNCTION_ARGS)
{
	static const char *const phase[] = {
		"starting", "merging the delta", "merging a run", "sleeping", "cutting keys",
		"recovering keys"
	};
	ReturnSetInfo *rsinfo = sfx_many_rows(fcinfo, PROGRESS_COLUMNS);

	for (int i = 0; shared && i < PROGRESS_SLOTS; i++)
	{
		SfxProgress p;
		Datum		values[PROGRESS_COLUMNS];
		bool		nulls[PROGRESS_COLUMNS] = {0};
		int			n = 0;

		LWLockAcquire(&shared->lock, LW_SHARED);
		p = shared->slot[i];
		LWLockRelease(&shared->lock);
		if (p.pid == 0 || p.db != MyDatabaseId)
			continue;
		values[n++] = Int32GetDatum(p.pid);
		sfx_name_index(p.index, &values[n], &nulls[n]);
		n += SFX_INDEX_COLUMNS;
		values[n++] = CStringGetTextDatum(phase[p.phase]);
		nulls[n] = p.source == 0;
		values[n++] = Int64GetDatum((int64) p.source);
		nulls[n] = p.target == 0;
		values[n++] = Int64GetDatum((int64) p.target);
		values[n++] = Int64GetDatum((int64) p.done);
		values[n++] = Int64GetDatum((int64) p.total);
		values[n++] = Int64GetDatum((int64) p.groups);
		values[n++] = Int64GetDatum((int64) p.leaves);
		values[n++] = Int64GetDatum((int64) p.leaves * BLCKSZ);
		values[n++] = TimestampTzGetDatum(p.began);
		Assert(n == PROGRESS_COLUMNS);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
