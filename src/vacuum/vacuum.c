/*-------------------------------------------------------------------------
 * vacuum.c - ambulkdelete, amvacuumcleanup, and the interlock with index-only scans
 *
 * A bulk delete flags what is dead in the log, raises the removal counter, merges the delta where
 * that is due or as good as free, goes through the leaves, and waits for scans at the gate: V1 to
 * V6 (src/README.md, "VACUUM").
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "carried.h"
#include "column.h"
#include "dead_pointers.h"
#include "find.h"
#include "group.h"
#include "leaf.h"
#include "leaf_keys.h"
#include "log.h"
#include "log_entry.h"
#include "merge.h"
#include "merge_lock.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "policy.h"
#include "pos.h"
#include "rewrite.h"
#include "settings.h"
#include "stats.h"
#include "vacuum.h"
#include "vacuum_delta.h"
#include "wal.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define TRUNCATE_TRIES	20		/* of getting the index for ourselves */

typedef struct VacState
{
	Relation	index;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	IndexBulkDeleteCallback callback;
	void	   *arg;
	SfxStubs   *stubs;			/* what is dead (V5); NULL: the callback is asked about each */
	uint32		run;			/* the one that is being cleaned */
	double		kept;
	double		removed;
	bool		flags_seen;		/* the log has entries flagged dead, by us or by a VACUUM that did
								 * not get far */
	SfxMergeStats stats;
	BufferAccessStrategy strategy;
	SfxKeptNode kept_node;
	BlockNumber way_to;			/* comparator order: the parent for which ... */
	bool		way_ascends;	/* ... sfx_way_ascends was asked */
} VacState;

#ifdef USE_ASSERT_CHECKING
/* V5: whatever VACUUM takes for dead is a stub. */
static bool
stubs_have_all(VacState *vs, const uint64 *tids, int n, const uint16 *dead, int ndead)
{
	for (int i = 0, d = 0; i < n; i++)
	{
		ItemPointerData ptr;

		if (d < ndead && dead[d] == i)
		{
			d++;
			continue;
		}
		sfx_tid_pointer(vs->index, tids[i], &ptr);
		if (vs->callback(&ptr, vs->arg))
			return false;
	}
	return true;
}
#endif

/*
 * As an SfxDeadAmong.  V5: VACUUM bisects a list of all dead TIDs for an answer, which would be
 * most of what it costs to vacuum a dense leaf; the table's stubs are a bit for each.
 */
static int
dead_among(Relation index, const uint64 *tids, int n, uint16 *dead, void *arg)
{
	VacState   *vs = arg;
	int			found = 0;

	if (vs->stubs)
	{
		found = sfx_stubs_among(index, tids, n, dead, vs->stubs);
		Assert(stubs_have_all(vs, tids, n, dead, found));
		return found;
	}
	for (int i = 0; i < n; i++)
	{
		ItemPointerData ptr;

		sfx_tid_pointer(index, tids[i], &ptr);
		if (vs->callback(&ptr, vs->arg))
			dead[found++] = (uint16) i;
	}
	return found;
}

static bool
is_dead(VacState *vs, uint64 tid)
{
	uint16		dead;

	return dead_among(vs->index, &tid, 1, &dead, vs) > 0;
}

/* ---- the log ---- */

static void
flag_entries(VacState *vs, Buffer buf, const uint16 *offs, int n)
{
	START_CRIT_SECTION();
	sfx_log_page_flag(BufferGetPage(buf), offs, n);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(vs->index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) offs, n * sizeof(uint16));
		lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_FLAG);
		PageSetLSN(BufferGetPage(buf), lsn);
	}
	END_CRIT_SECTION();
}

/*
 * Page blkno, on which nothing is locked, is not what the chain of a generation leads to, or its
 * last one too early.  That is as it should be if the generation was merged meanwhile: it leaves
 * the list before its pages are given back.  Else entries that cannot be seen would keep TIDs that
 * go to new rows.
 */
static void
must_be_merged(Relation index, uint32 gen, BlockNumber blkno)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	for (int g = 0; g < meta.ngens; g++)
		if (meta.gens[g].gen == gen)
			sfx_corrupt(index, blkno, "log page is not one of its generation, or ends its chain");
}

/*
 * Flag what is dead on one log page, found on a copy of it. The page only grows in the meantime, so
 * offsets stay good as long as it is of the same generation.  Returns the next page, or
 * InvalidBlockNumber also if the generation is gone (its entries are in the tree then).
 */
static BlockNumber
vacuum_log_page(VacState *vs, const SfxMeta *meta, uint32 gen, uint32 seq, BlockNumber blkno)
{
	PGAlignedBlock copy;
	uint16		offs[BLCKSZ / SFX_LOG_MIN_ENTRY];
	int			n = 0;
	uint32		off = sizeof(SfxLogHeader);
	uint32		at = off;
	SfxEntry	e;
	bool		dead;
	Buffer		buf = ReadBufferExtended(vs->index, MAIN_FORKNUM, blkno, RBM_NORMAL, vs->strategy);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!sfx_log_page_is(vs->index, blkno, BufferGetPage(buf), meta->build_id, gen))
	{
		UnlockReleaseBuffer(buf);
		must_be_merged(vs->index, gen, blkno);
		return InvalidBlockNumber;
	}
	memcpy(copy.data, BufferGetPage(buf), BLCKSZ);
	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	/* a damaged link must not lead in circles */
	if (((SfxLogHeader *) SfxPageBody((Page) copy.data))->seq != seq)
		sfx_corrupt(vs->index, blkno, "log page out of sequence");

	while (sfx_log_parse(vs->index, blkno, (Page) copy.data, &off, &e, &dead))
	{
		if (dead)
			vs->flags_seen |= !SFX_MUTANT("only own flags count");
		else
		{
			if (is_dead(vs, e.tid))
				offs[n++] = at;
			else
				vs->kept += 1;
		}
		at = off;
	}
	if (n > 0)
	{
		bool		ours;

		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
		ours = sfx_log_page_is(vs->index, blkno, BufferGetPage(buf), meta->build_id, gen);
		if (ours)
		{
			flag_entries(vs, buf, offs, n);
			vs->flags_seen = true;
			vs->removed += n;
		}
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		if (!ours)
			must_be_merged(vs->index, gen, blkno);
	}
	ReleaseBuffer(buf);
	return SfxPageGetTail((Page) copy.data)->right;
}

/* Images made before are void, and snapshots that have expired notice (R6). */
static void
raise_removals(Relation index)
{
	SfxMeta		meta;
	Buffer		buf;

	sfx_meta_lock(index, &meta, &buf);
	meta.removals++;
	sfx_meta_change(index, buf, &meta, SFX_META_REMOVALS, NULL);
}

static void
vacuum_generation(VacState *vs, const SfxMeta *meta, const SfxGen *gen, bool delay)
{
	BlockNumber blkno = gen->first;

	for (uint32 seq = 0; blkno != InvalidBlockNumber; seq++)
	{
		BlockNumber next;

		if (delay)
			SfxVacuumDelay();
		else
			CHECK_FOR_INTERRUPTS();
		next = vacuum_log_page(vs, meta, gen->gen, seq, blkno);
		if (next == InvalidBlockNumber && seq + 1 < gen->pages)
			must_be_merged(vs->index, gen->gen, blkno);
		blkno = next;
	}
}

/*
 * Entries that are carried over go the other way, into a newer generation, behind our back: once
 * more those which may have such, while nobody carries anything. What is carried over from then on
 * comes from images that know the flags.
 */
static void
vacuum_carried(VacState *vs)
{
	SfxMeta		meta;
	double		kept = vs->kept;
	double		removed = vs->removed;

	/* what is carried over as of now comes from such images */
	sfx_meta_read(vs->index, &meta);
	if (meta.carried == 0)
		return;
	sfx_merge_lock(vs->index);
	sfx_meta_read(vs->index, &meta);
	for (int g = meta.ngens - 1; g >= 0; g--)
		if (sfx_carried(&meta, g) && !SFX_MUTANT("carried over behind VACUUM"))
			vacuum_generation(vs, &meta, &meta.gens[g], false);
	vs->kept = kept;
	if (vs->removed > removed)
		raise_removals(vs->index);
	sfx_merge_unlock(vs->index);
}

static void
vacuum_log(VacState *vs)
{
	SfxMeta		meta;

	if (SfxSnapshotsExpire())
		raise_removals(vs->index);
	sfx_meta_read(vs->index, &meta);
	for (int g = meta.ngens - 1; g >= 0; g--)
		vacuum_generation(vs, &meta, &meta.gens[g], true);
	SFX_STOP("log flagged");

	/*
	 * Flags that an interrupted VACUUM left may be unknown to images: their counter was never
	 * raised.
	 */
	if (vs->flags_seen && !SFX_MUTANT("no removal counter"))
		raise_removals(vs->index);
	vacuum_carried(vs);
}

/* ---- the tree ---- */

/*
 * Has this leaf dead entries?  Asks until it finds one. *entries: how many it has, dead or not; the
 * bytes of its body are added to *used.
 */
static bool
leaf_has_dead(VacState *vs, const SfxMeta *meta, BlockNumber blkno, char *copy, uint64 *tids, uint32 *entries, uint32 *used)
{
	uint16		dead[SFX_BLOCK_ENTRIES];
	SfxLeaf		leaf;

	sfx_leaf_copy(SfxTreeOf(vs->index, vs->order, meta, vs->run), blkno, vs->strategy, copy, &leaf);
	*used += SfxPageBodyLen((Page) copy);
	*entries = leaf.nentries;
	for (int b = 0; b < leaf.nblocks; b++)
	{
		int			n = sfx_leaf_tids(&leaf, b, tids);

		if (n < 0)
			sfx_corrupt(vs->index, blkno, "leaf TIDs");
		if (dead_among(vs->index, tids, n, dead, vs) > 0)
			return true;
	}
	return false;
}

/* As an SfxLeafAsk: is there anything in this leaf of the main tree for us to remove? */
static bool
has_dead(const SfxMeta *meta, BlockNumber blkno, void *arg)
{
	VacState   *vs = arg;
	char	   *copy = palloc(BLCKSZ);
	uint64	   *tids = palloc(sizeof(uint64) * SFX_BLOCK_ENTRIES);
	uint32		entries,
				used = 0;
	bool		found;

	vs->run = SfxMetaMain(meta)->id;
	found = leaf_has_dead(vs, meta, blkno, copy, tids, &entries, &used);
	pfree(copy);
	pfree(tids);
	return found;
}

/*
 * V6: what is merged is merged now, so that leaves with dead entries and new ones are written once.
 * Entries of the log are counted in the leaves that they have come to.
 */
static void
vacuum_delta(VacState *vs)
{
	SfxMeta		meta;

	/* who builds an index CONCURRENTLY asks for TIDs, not for a merge */
	if (!vs->index->rd_index->indisvalid || SFX_MUTANT("leaves before the merge"))
		return;
	if (sfx_vacuum_merges(vs->index, vs->order, has_dead, vs) &&
		sfx_merge_for_vacuum(vs->index, true, dead_among, vs, &vs->removed) > 0)
		vs->kept = sfx_log_count(vs->index, &meta);
}

/*
 * Where a merge has taken away the fence at which VACUUM goes on, comparisons tell where that is.
 * In an index that is out of order (K4) they may lead past leaves.
 */
static void
must_know_the_way(VacState *vs, const SfxGroup *g, const SfxPos *pos)
{
	bool		ascended = vs->way_ascends;

	if (vs->order == NULL || !g->has_node ||
		(vs->kept_node.by_bytes && g->node.blkno == vs->way_to))
		return;
	vs->way_to = g->node.blkno;
	vs->way_ascends = sfx_way_ascends(&g->tree, pos);
	if (pos->len > 0 && !vs->kept_node.by_bytes && !(ascended && vs->way_ascends))
		sfx_out_of_order(vs->index, vs->order, g->node.blkno,
						 "VACUUM has lost its way beside a merge");
}

/*
 * Merge lock held.  Clean one group of leaves at pos, and make it fewer if it is sparse; false when
 * it was the last.
 */
static bool
vacuum_group(VacState *vs, SfxMeta *meta, SfxPosBuf *pos)
{
	SfxGroup	g;
	char	   *copy = palloc(BLCKSZ);
	uint64	   *tids = palloc(sizeof(uint64) * SFX_BLOCK_ENTRIES);
	uint32		entries[SFX_GROUP_LEAVES];
	uint64		removed = vs->stats.removed;
	uint32		used = 0;
	int			first = -1,
				last = -1,
				start,
				end;
	SfxPos		high;

	Assert(sfx_merge_lock_held(vs->index));
	sfx_group_locate(&g, SfxTreeOf(vs->index, vs->order, meta, vs->run), &pos->pos, &vs->kept_node);
	must_know_the_way(vs, &g, &pos->pos);
	start = g.from;
	end = g.has_node ? Min(start + SFX_GROUP_LEAVES, g.node.nchildren) : 1;
	for (int i = start; i < end; i++)
		if (leaf_has_dead(vs, meta, sfx_group_leaf(&g, i), copy, tids, &entries[i - start], &used))
		{
			if (first < 0)
				first = i;
			last = i;
		}
	/* what earlier deletions left half empty, or empty: a queue's old end would stay for ever */
	if (end - start > 1 && used <= (uint32) (end - start) * SFX_BODY_CAPACITY / 2)
	{
		first = start;
		last = end - 1;
	}
	g.to = end;
	if (first >= 0)
	{
		g.from = first;
		g.to = last + 1;
		sfx_group_rewrite(&g, NULL, dead_among, vs, &vs->stats);
		/* a group that does not fit one record is rewritten in pieces: go on behind this one */
		if (g.to > last)
			g.to = end;
	}
	for (int i = start; i < g.to; i++)
		vs->kept += entries[i - start];
	vs->kept -= vs->stats.removed - removed;
	if (!sfx_group_high(&g, &high))
		return false;
	sfx_pos_set(pos, &high);
	return true;
}

/*
 * Where the order of entries does not hold (K4), comparisons may lead back.  A walk of more groups
 * than the file has pages, merges beside it aside, comes round; TIDs that it does not reach must
 * not be given away.
 */
static void
must_come_to_an_end(VacState *vs, uint64 groups)
{
	if (vs->order && groups > 1000 + 4 * (uint64) RelationGetNumberOfBlocks(vs->index))
		sfx_out_of_order(vs->index, vs->order, SFX_META_BLKNO,
						 "VACUUM comes to the same leaves again and again");
}

/* A mutant of M16: merge lock held, the run has been seen to its end. */
static void
count_late(VacState *vs)
{
	SfxMeta		meta;
	Buffer		buf;

	Assert(sfx_merge_lock_held(vs->index));
	sfx_meta_lock(vs->index, &meta, &buf);
	sfx_count_tree_stats(sfx_meta_run(vs->index, &meta, vs->run), &vs->stats);
	sfx_meta_change(vs->index, buf, &meta, SFX_META_STATS, NULL);
}

/* Clean the run vs->run from end to end, if it is still there. */
static void
vacuum_run(VacState *vs)
{
	uint64		groups = 0;
	SfxPosBuf  *pos = palloc(sizeof(SfxPosBuf));
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx vacuum group", ALLOCSET_DEFAULT_SIZES);
	bool		more = true;

	sfx_pos_set(pos, &start);
	sfx_kept_init(&vs->kept_node);
	vs->stats.late = SFX_MUTANT("counts at the end");
	while (more)
	{
		SfxMeta		meta;
		MemoryContext old;

		SfxVacuumDelay();
		SFX_STOP("vacuum group");
		if (++groups % 1024 == 0)
			must_come_to_an_end(vs, groups);
		sfx_merge_lock(vs->index);
		old = MemoryContextSwitchTo(cxt);
		sfx_meta_read(vs->index, &meta);
		/* a run that is gone was merged into one that is still to come */
		more = sfx_meta_find_run(&meta, vs->run) >= 0 && vacuum_group(vs, &meta, pos);
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
		if (!more && vs->stats.late)
			count_late(vs);
		sfx_merge_unlock(vs->index);
	}
	vs->removed += vs->stats.removed;
	memset(&vs->stats, 0, sizeof(vs->stats));
	sfx_kept_end(&vs->kept_node);
	MemoryContextDelete(cxt);
	pfree(pos);
}

/*
 * V1 for the static stage: the runs, newest first, then the main tree.  The list is read under the
 * merge lock: what a merge step writes from then on comes from an image that knows the flags, or
 * from a run that is on the list before its target.
 */
static void
vacuum_trees(VacState *vs)
{
	SfxMeta		meta;

	sfx_merge_lock(vs->index);
	sfx_meta_read(vs->index, &meta);
	sfx_merge_unlock(vs->index);
	for (int r = 0; r < meta.nruns; r++)
	{
		vs->run = meta.runs[r].id;
		vacuum_run(vs);
	}
}

/* ---- the gate (V3) ---- */

/* Wait until nobody pins gate page n, here and, through the record, on standbys. */
static void
wait_for_gate(Relation index, uint32 n)
{
	Buffer		buf = ReadBuffer(index, SFX_GATE_BLKNO(n));

	if (SFX_MUTANT("no gate"))
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	else
		LockBufferForCleanup(buf);
	START_CRIT_SECTION();
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
		lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_GATE);
		PageSetLSN(BufferGetPage(buf), lsn);
	}
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buf);
}

/* Make the other gate current; the number of the one that was. */
static uint32
flip_gate(Relation index)
{
	SfxMeta		meta;
	Buffer		metabuf;
	uint32		old;

	sfx_meta_lock(index, &meta, &metabuf);
	old = meta.gate;
	meta.gate = 1 - old;
	sfx_meta_change(index, metabuf, &meta, SFX_META_GATE, NULL);
	return old;
}

/*
 * Nobody new pins the gate that is not current, but a VACUUM that was interrupted behind its flip
 * may have left scans there for which it did not wait: so that gate first, or the flip would make
 * it current again with them inside.
 */
static void
pass_gate(Relation index)
{
	SfxMeta		meta;

	sfx_meta_read(index, &meta);
	if (SFX_MUTANT("gate under merge lock"))
		sfx_merge_lock(index);
	if (!SFX_MUTANT("one gate"))
		wait_for_gate(index, 1 - meta.gate);
	meta.gate = flip_gate(index);
	SFX_STOP("gate flipped");
	wait_for_gate(index, meta.gate);
}

/* ---- the AM's functions ---- */

static SfxStubs *
collect_stubs(VacState *vs)
{
	SfxMeta		meta;
	double		entries = 0;

	sfx_meta_read(vs->index, &meta);
	for (int r = 0; r < meta.nruns; r++)
		entries += meta.runs[r].entries;
	return sfx_stubs_of_vacuum(vs->index, vs->strategy, entries);
}

IndexBulkDeleteResult *
sfx_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *state)
{
	VacState	vs = {0};

	sfx_require_preload(info->index);
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	vs.index = info->index;
	vs.order = sfx_order_open(info->index, &vs.kd, true);
	vs.callback = callback;
	vs.arg = state;
	vs.strategy = info->strategy;
	vs.stubs = collect_stubs(&vs);

	if (SFX_MUTANT("tree before log"))
	{
		vacuum_trees(&vs);
		SFX_STOP("stage vacuumed");
	}
	vacuum_log(&vs);
	if (!SFX_MUTANT("tree before log"))
	{
		SFX_STOP("stage vacuumed");
		vacuum_delta(&vs);
		vacuum_trees(&vs);
	}
	SFX_STOP("tree vacuumed");

	/*
	 * Even if nothing was left to remove: a VACUUM before us may have been interrupted between its
	 * removals and the gate.
	 */
	pass_gate(info->index);
	sfx_stubs_free(vs.stubs);
	sfx_order_end(vs.order);
	stats->tuples_removed += vs.removed;
	stats->num_index_tuples = vs.kept;
	stats->estimated_count = false;
	return stats;
}

/*
 * Standbys are told of an AccessExclusiveLock under the number of a subtransaction (shrink.c),
 * and there are none while other indexes of the table are vacuumed by parallel workers (who do
 * not touch this one).
 */
static bool
may_lock_alone(void)
{
	return !IsInParallelMode() || !XLogStandbyInfoActive();
}

/*
 * What entries have left behind: blocks and dictionaries that nobody uses, sparse inner pages, and
 * the end of the file, unless the table's vacuum_truncate says no.
 */
static void
tidy_up(IndexVacuumInfo *info, bool had_bulkdelete, IndexBulkDeleteResult *stats)
{
	Relation	index = info->index;
	Relation	heap = table_open(index->rd_index->indrelid, AccessShareLock);
	BlockNumber nblocks;
	SfxKeyDesc	kd;
	const SfxOrder *order;

	order = sfx_order_open(index, &kd, true);
	stats->pages_free = sfx_reclaim_blocks(index, order, info->strategy);
	if (had_bulkdelete)
	{
		SfxMeta		meta;

		sfx_reclaim_dicts(index, order, info->strategy);
		sfx_shrink_inner(index, order);

		/*
		 * both gave blocks back behind sfx_reclaim_blocks: the map's upper pages do not know of
		 * them yet
		 */
		IndexFreeSpaceMapVacuum(index);
		sfx_merge_lock(index);
		sfx_meta_read(index, &meta);
		sfx_tree_recount(SfxTreeOf(index, order, &meta, SfxMetaMain(&meta)->id));
		sfx_merge_unlock(index);
	}
	nblocks = RelationGetNumberOfBlocks(index);
	if (SfxMayTruncate(heap) && may_lock_alone())
		sfx_shrink_file(index, order, info->strategy, TRUNCATE_TRIES);
	stats->num_pages = RelationGetNumberOfBlocks(index);
	/* what was cut off is not free any more */
	stats->pages_free -= Min(stats->pages_free, nblocks - Min(nblocks, stats->num_pages));
	sfx_order_end(order);
	table_close(heap, AccessShareLock);
}

static bool
vacuum_goes_on(Relation index, SfxProgress *p)
{
	SfxVacuumDelay();
	return true;
}

/* Leaves as the storage parameters want them.  Were there others? */
static bool
change_leaf_keys(Relation index)
{
	static const SfxLeafManner how = {vacuum_goes_on, true};
	SfxKeyDesc	kd;
	const SfxOrder *order = sfx_order_open(index, &kd, true);
	bool		changed = sfx_change_leaf_keys(index, order, &how) > 0;

	sfx_order_end(order);
	return changed;
}

/* Behind a bulk delete, which has merged what it would: what has become due in the meantime. */
static void
merge_rest(Relation index, bool had_bulkdelete)
{
	bool		merges;

	if (had_bulkdelete)
		merges = sfx_merge_due(index);
	else
	{
		SfxKeyDesc	kd;
		const SfxOrder *order = sfx_order_open(index, &kd, true);

		merges = sfx_vacuum_merges(index, order, NULL, NULL);
		sfx_order_end(order);
	}
	(void) sfx_merge_for_vacuum(index, merges, NULL, NULL, NULL);
}

IndexBulkDeleteResult *
sfx_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	bool		had_bulkdelete = stats != NULL;

	if (info->analyze_only)
		return stats;
	sfx_require_preload(info->index);
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	SFX_STOP("vacuum cleanup");
	merge_rest(info->index, had_bulkdelete);
	tidy_up(info, change_leaf_keys(info->index) || had_bulkdelete, stats);
	if (!had_bulkdelete)
	{
		SfxMeta		meta;

		stats->num_index_tuples = sfx_log_count(info->index, &meta);
		for (int r = 0; r < meta.nruns; r++)
			stats->num_index_tuples += meta.runs[r].entries;
		stats->estimated_count = true;
	}
	return stats;
}
