/*-------------------------------------------------------------------------
 * merge.c - moving a frozen generation of the delta into the tree, group by group
 *
 * One routine rewrites a group of neighbouring leaves below one parent: it merges the leaves' entries with those of
 * the image that fall between the group's fences, drops what a filter says is dead, packs the rest and swaps the pages in one record
 * together with the parent (tree.c).  A merge is this routine along the keys of the oldest frozen generation;
 * VACUUM is this routine with a filter and no generation.
 *
 * M1	The merge lock is held per group.  Nothing that was read before it was last taken is used.
 * M2	The image is acquired with the removal counter of a metapage read under the merge lock: entries that
 *		VACUUM had flagged before it came to the leaves are not in it.
 * M3	A group takes entries of the image until MERGE_PAGES pages are full; the rest stay for the next group. Every entry of
 *		the old leaves is written.
 * M4	A generation is dropped only by whoever walked it from its first to its last entry, when the image it
 *		came from had seen as many log entries as were sealed.
 * M5	A crash anywhere leaves a readable tree; the merge starts over and (key, TID) drops what was moved twice.
 *-------------------------------------------------------------------------
 */
#include "merge.h"
#include "rewrite.h"

#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define LOCK_FIELD_MERGE	1	/* objsubid of the merge lock */

PG_FUNCTION_INFO_V1(surfidx_merge);

typedef enum MergeManner
{
	MERGE_WAIT,					/* wait for the merge lock */
	MERGE_TRY,					/* give up when it is busy */
	MERGE_POLITE				/* and when somebody waits for the index or the database */
} MergeManner;

/*
 * Does somebody want this database for itself, to drop it or as a template?  They take its lock first and
 * then wait a few seconds for everybody connected to leave.
 */
bool
sfx_database_is_wanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, false);
	return false;
}

/* Take the merge lock in that manner. */
static bool
take_lock(Relation index, MergeManner manner)
{
	if (manner == MERGE_POLITE)
	{
		if (LockHasWaitersRelation(index, SFX_WORKER_LOCK) || sfx_database_is_wanted())
			return false;
		/* looking up what comparisons need takes a snapshot, which would hold back VACUUM until the merge ends */
		InvalidateCatalogSnapshot();
	}
	if (manner != MERGE_WAIT)
		return sfx_merge_trylock(index);
	sfx_merge_lock(index);
	return true;
}

/* ---- the merge lock ---- */

static void
merge_tag(LOCKTAG *tag, Relation index)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, RelationGetRelid(index), 0, LOCK_FIELD_MERGE);
}

void
sfx_merge_lock(Relation index)
{
	LOCKTAG		tag;

	merge_tag(&tag, index);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

bool
sfx_merge_trylock(Relation index)
{
	LOCKTAG		tag;

	merge_tag(&tag, index);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

bool
sfx_merge_lock_held(Relation index)
{
	LOCKTAG		tag;

	merge_tag(&tag, index);
	return SfxLockHeldByMe(&tag, ExclusiveLock);
}

void
sfx_merge_unlock(Relation index)
{
	LOCKTAG		tag;

	merge_tag(&tag, index);
	LockRelease(&tag, ExclusiveLock, false);
}

/* ---- dropping a generation ---- */

static void
free_log_pages(Relation index, const SfxMeta *meta, const SfxGen *gen)
{
	BlockNumber blkno = gen->first;

	/* no longer than the metapage said: a damaged link cannot lead in circles */
	for (uint32 n = 0; n < gen->pages && blkno != InvalidBlockNumber; n++)
	{
		Buffer		buf = ReadBuffer(index, blkno);
		BlockNumber right;
		bool		ours;

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		ours = sfx_log_page_is(index, blkno, BufferGetPage(buf), meta->build_id, gen->gen);
		right = ours ? SfxPageGetTail(BufferGetPage(buf))->right : InvalidBlockNumber;
		UnlockReleaseBuffer(buf);
		if (!ours)
			break;
		sfx_page_release_free(index, blkno);
		blkno = right;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Take the oldest generation off the metapage's list (M4 has been checked) and give its pages back. Merge lock held. */
static void
drop_generation(Relation index, uint32 gen, const SfxMergeStats *stats)
{
	SfxMeta		meta;
	Buffer		metabuf;
	SfxGen		dropped;
	SfxRun	   *run;

	sfx_meta_lock(index, &meta, &metabuf);
	dropped = meta.gens[meta.ngens - 1];
	if (meta.ngens < 2 || dropped.gen != gen)
		elog(ERROR, "surfidx: generation %u of index \"%s\" is not the oldest frozen one",
			 gen, RelationGetRelationName(index));
	memset(&meta.gens[--meta.ngens], 0, sizeof(SfxGen));
	meta.merges++;
	run = SfxMetaMain(&meta);
	run->entries = Max(0, (int64) run->entries + stats->entries);
	run->leaves = Max(1, (int64) run->leaves + stats->leaves);

	START_CRIT_SECTION();
	sfx_meta_store(BufferGetPage(metabuf), &meta);
	MarkBufferDirty(metabuf);
	sfx_wal_meta(index, metabuf, &meta, SFX_META_DROP_GEN, &stats->horizon);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(metabuf);

	sfx_image_forget(index, &meta, gen);
	free_log_pages(index, &meta, &dropped);
	IndexFreeSpaceMapVacuum(index);
}

/* ---- one generation ---- */

/* Merge lock held. Merge one group from *from on; false when the generation had nothing left there. */
static bool
merge_step(Relation index, const SfxOrder *order, SfxMeta *meta, SfxPosBuf *from, SfxMergeStats *stats, uint64 *seen)
{
	SfxSource	src;
	SfxGroup	group;
	const SfxEntry *first;
	SfxPos		pos;

	sfx_source_init(&src, index, order, meta, meta->ngens - 1);
	if (!sfx_source_seek(&src, &from->pos))
	{
		*seen = src.seen;
		sfx_horizon_raise(&stats->horizon, &src.horizon);
		return false;
	}
	first = sfx_source_peek(&src);
	pos.key = first->key;
	pos.len = first->keylen;
	pos.tid = first->tid;
	sfx_group_locate(&group, index, order, meta, &pos);
	sfx_group_rewrite(&group, &src, NULL, NULL, stats);
	*seen = src.seen;
	sfx_horizon_raise(&stats->horizon, &src.horizon);
	if (group.resume_inf)
		return false;
	sfx_pos_set(from, &group.resume);
	return true;
}

/*
 * Merge the oldest frozen generation to its end.  False if it gave up, or if somebody else finished the
 * generation meanwhile.
 */
static bool
merge_generation(Relation index, const SfxOrder *order, uint32 gen, MergeManner manner, SfxMergeStats *stats)
{
	SfxPosBuf  *from = palloc(sizeof(SfxPosBuf));
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	MemoryContext stepcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx merge step",
												  ALLOCSET_DEFAULT_SIZES);
	bool		more = true;

	sfx_pos_set(from, &start);
	while (more)
	{
		SfxMeta		meta;
		MemoryContext old;
		uint64		seen = 0;

		CHECK_FOR_INTERRUPTS();
		if (!take_lock(index, manner))
			break;
		sfx_meta_read(index, &meta);
		if (meta.ngens < 2 || meta.gens[meta.ngens - 1].gen != gen)
		{
			sfx_merge_unlock(index);
			break;
		}
		old = MemoryContextSwitchTo(stepcxt);
		more = merge_step(index, order, &meta, from, stats, &seen);
		MemoryContextSwitchTo(old);
		MemoryContextReset(stepcxt);
		if (!more)
		{
			if (seen != meta.gens[meta.ngens - 1].sealed)
				ereport(ERROR,
						(errcode(ERRCODE_INDEX_CORRUPTED),
						 errmsg("index \"%s\" is damaged: generation %u of its delta log was sealed with "
								UINT64_FORMAT " entries but has " UINT64_FORMAT,
								RelationGetRelationName(index), gen, meta.gens[meta.ngens - 1].sealed, seen),
						 errhint("Please REINDEX it.")));
			drop_generation(index, gen, stats);
		}
		sfx_merge_unlock(index);
	}
	/* given up half-way: what was merged so far is in the leaves */
	if (more && stats->groups > 0)
		sfx_store_tree_stats(index, stats);
	MemoryContextDelete(stepcxt);
	pfree(from);
	return !more;
}

/*
 * The oldest frozen generation's number; 0 if there is none.  Freezes the active
 * one if nothing is frozen and its number is at most last.
 */
static uint32
next_generation(Relation index, MergeManner manner, uint32 last)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	if (meta.ngens < 2)
	{
		if (meta.gens[0].gen > last || meta.gens[0].first == InvalidBlockNumber)
			return 0;
		if (!take_lock(index, manner))
			return 0;
		sfx_meta_read(index, &meta);
		if (meta.ngens < 2 && meta.gens[0].gen <= last)
			(void) sfx_log_freeze(index, &meta);
		sfx_merge_unlock(index);
	}
	return meta.ngens < 2 ? 0 : meta.gens[meta.ngens - 1].gen;
}

static uint64
merge_all(Relation index, MergeManner manner)
{
	uint64		merged = 0;
	uint32		last;
	uint32		gen;
	SfxMeta		meta;
	SfxKeyDesc *kd = palloc(sizeof(SfxKeyDesc));
	const SfxOrder *order;

	sfx_keydesc_init(kd, index);
	order = sfx_order_create(index, kd, true);
	/* what is appended to later generations is not ours to wait for */
	sfx_meta_read(index, &meta);
	last = meta.gens[0].gen;
	while ((gen = next_generation(index, manner, last)) != 0 && gen <= last)
	{
		SfxMergeStats stats = {0};
		bool		done = merge_generation(index, order, gen, manner, &stats);

		merged += stats.taken;
		if (!done && manner != MERGE_WAIT)
			break;
	}
	sfx_order_end(order);
	pfree(kd);
	return merged;
}

uint64
sfx_merge_all(Relation index, bool wait)
{
	return merge_all(index, wait ? MERGE_WAIT : MERGE_TRY);
}

uint64
sfx_merge_politely(Relation index)
{
	return merge_all(index, MERGE_POLITE);
}

/* ---- SQL ---- */

/* Open an index for a function that takes its name; ERROR unless it is one of ours and ready. */
Relation
sfx_open_index(Oid relid, LOCKMODE lockmode)
{
	Relation	index = relation_open(relid, lockmode);

	if (index->rd_rel->relkind != RELKIND_INDEX || index->rd_indam == NULL ||
		index->rd_indam->ambuild != sfx_build)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a surfidx index", RelationGetRelationName(index)),
				 errhint("Give the name of an index made with CREATE INDEX ... USING surfidx; for a partitioned index, that of a partition's index.")));
	if (!index->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready: CREATE INDEX CONCURRENTLY has not finished building it, or has failed",
						RelationGetRelationName(index)),
				 errhint("Wait for it; or drop the index, or REINDEX it.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary index \"%s\" of another session", RelationGetRelationName(index))));
	sfx_require_preload(index);
	return index;
}

Datum
surfidx_merge(PG_FUNCTION_ARGS)
{
	Relation	index;
	uint64		merged;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is in progress"),
				 errhint("A standby receives its merges from the primary: run surfidx_merge() there.")));
	index = sfx_open_index(PG_GETARG_OID(0), RowExclusiveLock);
	if (!SfxMayMaintain(RelationGetRelid(index)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	merged = sfx_merge_all(index, true);
	relation_close(index, RowExclusiveLock);
	PG_RETURN_INT64((int64) merged);
}
