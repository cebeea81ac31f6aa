/*-------------------------------------------------------------------------
 * vacuum.c - ambulkdelete, amvacuumcleanup, and the interlock with index-only scans
 *
 * A bulk delete flags dead entries of the log, raises the removal counter, merges the delta if that
 * is due or nearly free, visits the leaves, and waits for scans at the gate: V1 to V6
 * (src/README.md, "VACUUM").
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
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
#include "shrink.h"
#include "stats.h"
#include "vacuum.h"
#include "vacuum_delta.h"
#include "wal.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define TRUNCATE_TRIES	20		/* to get the AccessExclusiveLock for truncation */

/* The state of one bulk delete of an index. */
typedef struct VacState
{
	Relation	index;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	IndexBulkDeleteCallback callback;
	void	   *arg;
	SfxStubs   *stubs;			/* the dead rows (V5); NULL: ask the callback */
	uint32		run;			/* the run that is being cleaned */
	double		kept;
	double		removed;
	bool		flags_seen;		/* the log has flagged entries, from this VACUUM or from one that
								 * was interrupted */
	bool		due;			/* a merge was, before the log was flagged: that looks like a log
								 * that has just been begun (policy.c) */
	SfxMergeStats stats;
	BufferAccessStrategy strategy;
	SfxKeptNode kept_node;
	BlockNumber way_to;			/* comparator order: the parent for which ... */
	bool		way_ascends;	/* ... this is the result of sfx_way_ascends */
} VacState;

#ifdef USE_ASSERT_CHECKING
/* V5: every row that VACUUM takes for dead is a stub. */
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
		sfx_tid_pointer(vs->index, SFX_MAX_OFFSET, tids[i], &ptr);
		if (vs->callback(&ptr, vs->arg))
			return false;
	}
	return true;
}
#endif

/*
 * An SfxDeadAmong.  VACUUM's callback searches a list of all dead TIDs, which would take most of
 * the time that a dense leaf takes; the table's stubs need the test of one bit (V5).
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

		sfx_tid_pointer(index, SFX_MAX_OFFSET, tids[i], &ptr);
		if (vs->callback(&ptr, vs->arg))
			dead[found++] = (uint16) i;
	}
	return found;
}

/* ---- the log ---- */

/*
 * Flag entries of a log page, which is exclusively locked, at body offsets offs[0..n), with a FLAG
 * record.
 */
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
 * The page at blkno is not the one to which the generation's chain leads, or ends the chain too
 * early.  That is right if the generation was merged meanwhile: it leaves the metapage's list
 * before its pages are freed.  If it is still listed, the log is damaged: VACUUM cannot reach
 * entries whose TIDs will go to new rows.  No page is locked.
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
 * Flag the dead entries of one log page.  They are found on a copy of the page; an appender may add
 * entries meanwhile, but offsets stay valid as long as the page is of the same generation.  Returns
 * the next page; InvalidBlockNumber at the end, and if the generation has been merged, whose
 * entries are in a tree then.
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
	Buffer		buf = sfx_read_linked(vs->index, blkno, vs->strategy);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!sfx_log_page_is(vs->index, blkno, BufferGetPage(buf), meta->build_id, gen))
	{
		UnlockReleaseBuffer(buf);
		must_be_merged(vs->index, gen, blkno);
		return InvalidBlockNumber;
	}
	memcpy(copy.data, BufferGetPage(buf), BLCKSZ);
	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	/* a damaged link must not cause an endless loop */
	if (((SfxLogHeader *) SfxPageBody((Page) copy.data))->seq != seq)
		sfx_corrupt(vs->index, blkno, "log page out of sequence");

	while (sfx_log_parse(vs->index, blkno, (Page) copy.data, &off, &e, &dead))
	{
		if (dead)
			vs->flags_seen |= !SFX_MUTANT("only own flags count");
		else
		{
			uint16		which;

			if (dead_among(vs->index, &e.tid, 1, &which, vs) > 0)
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

/*
 * Raise the removal counter: from now on readers refuse images made before (I1), and expired
 * snapshots are noticed (R6).
 */
static void
raise_removals(Relation index)
{
	SfxMeta		meta;
	Buffer		buf;

	sfx_meta_lock(index, &meta, &buf);
	meta.removals++;
	sfx_meta_change(index, buf, &meta, SFX_META_REMOVALS, NULL);
}

/* Flag the dead entries of a generation's log. */
static void
vacuum_generation(VacState *vs, const SfxMeta *meta, const SfxGen *gen)
{
	BlockNumber blkno = gen->first;

	for (uint32 seq = 0; blkno != InvalidBlockNumber; seq++)
	{
		BlockNumber next;

		SfxVacuumDelay();
		next = vacuum_log_page(vs, meta, gen->gen, seq, blkno);
		if (next == InvalidBlockNumber && seq + 1 < gen->pages)
			must_be_merged(vs->index, gen->gen, blkno);
		blkno = next;
	}
}

/*
 * Flag the dead entries of all generations, the oldest first, and raise the removal counter (V1,
 * V2).
 */
static void
vacuum_log(VacState *vs)
{
	SfxMeta		meta;

	if (SfxSnapshotsExpire())
		raise_removals(vs->index);
	sfx_meta_read(vs->index, &meta);
	for (int g = meta.ngens - 1; g >= 0; g--)
		vacuum_generation(vs, &meta, &meta.gens[g]);
	SFX_STOP("log flagged");

	/*
	 * flags that an interrupted VACUUM left may be unknown to images, since it has not raised the
	 * counter
	 */
	if (vs->flags_seen && !SFX_MUTANT("no removal counter"))
		raise_removals(vs->index);
}

/* ---- the tree ---- */

/*
 * Has this leaf dead entries?  Stops at the first block with one.  *entries: entries of the leaf,
 * dead ones included; the length of its body is added to *used.  copy, tids: scratch for a page and
 * a block's TIDs.
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

/* An SfxLeafAsk: has this leaf of the main tree entries that this VACUUM removes? */
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
 * Merge the delta now if it is to be merged at all, so that a leaf with new and dead entries is
 * written once (V6).  Entries that come from the log are counted in their leaves.
 */
static void
vacuum_delta(VacState *vs)
{
	SfxMeta		meta;

	/* CREATE INDEX CONCURRENTLY wants TIDs, not a merge */
	if (!vs->index->rd_index->indisvalid || SFX_MUTANT("leaves before the merge"))
		return;
	if ((vs->due || sfx_vacuum_merges(vs->index, vs->order, has_dead, vs)) &&
		sfx_merge_for_vacuum(vs->index, true, dead_among, vs, &vs->removed) > 0)
		vs->kept = sfx_log_count(vs->index, &meta);
}

/*
 * Stop if VACUUM may have missed leaves.  If a merge has removed the fence at which VACUUM
 * continues, comparisons lead to the place; in an index that is out of order (K4) they may lead
 * past leaves.
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
 * Clean up to SFX_GROUP_LEAVES leaves from *pos on, and pack them into fewer if they are sparse;
 * *pos becomes the end of these.  False: they were the last ones.  Merge lock held (asserted).
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

	/*
	 * leaves that earlier deletions left sparse or empty are joined, or a queue's old end would
	 * stay
	 */
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
		/* a group that does not fit in one record is rewritten in part: continue after that part */
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
 * In an index that is out of order (K4) comparisons may lead back to earlier leaves.  If VACUUM
 * visits more groups than the file has pages, with allowance for merges meanwhile, it goes round in
 * a circle, and must not finish: TIDs in leaves that it does not reach would be reused.
 */
static void
must_come_to_an_end(VacState *vs, uint64 groups)
{
	if (vs->order && groups > 1000 + 4 * (uint64) RelationGetNumberOfBlocks(vs->index))
		sfx_out_of_order(vs->index, vs->order, SFX_META_BLKNO,
						 "VACUUM comes to the same leaves again and again");
}

/*
 * For a mutant of M16: count the changes only at the end of the run.  Merge lock held (asserted).
 */
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

/* Clean run vs->run from first to last leaf, or until it is gone. */
static void
vacuum_run(VacState *vs)
{
	uint64		groups = 0;
	SfxPosBuf  *pos = palloc(sizeof(SfxPosBuf));
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx vacuum group", ALLOCSET_DEFAULT_SIZES);
	bool		more = true;

	sfx_pos_set(pos, &SFX_POS_FIRST);
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
		/* a run that is gone was merged into an older one, which is visited later */
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
 * V1 for trees: clean the runs, newest first, then the main tree.  The list of runs is read under
 * the merge lock.  Each later step of a merge takes its entries from an image that knows the flags,
 * or from a run that the list has before the target.
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

/* Wait until no scan pins gate page n; the record makes redo on standbys wait likewise. */
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

/* Make the other gate current; returns the number of the one that was. */
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
 * Wait for all scans that copied entries before this VACUUM's removals (V3).  New scans pin the
 * current gate only.  But if an earlier VACUUM was interrupted after its flip, scans for which it
 * has not waited may pin the other gate.  So this one waits for the other gate first, since the
 * flip makes it current again.
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

/*
 * The table's stubs (V5), if collecting them is cheaper than asking VACUUM about each entry; else
 * NULL.
 */
static SfxStubs *
collect_stubs(VacState *vs)
{
	SfxMeta		meta;

	sfx_meta_read(vs->index, &meta);
	return sfx_stubs_of_vacuum(vs->index, vs->strategy, sfx_meta_entries(&meta));
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
	vs.due = info->index->rd_index->indisvalid && sfx_merge_need(info->index).due;

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
	 * also if no entry was removed: an earlier VACUUM may have been interrupted between its
	 * removals and the gate
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
 * May VACUUM truncate the file?  Standbys learn of the AccessExclusiveLock by the number of a
 * subtransaction (shrink.c), which cannot be assigned in parallel mode, while parallel workers
 * vacuum other indexes of the table.
 */
static bool
may_lock_alone(void)
{
	return !IsInParallelMode() || !XLogStandbyInfoActive();
}

/*
 * Free what no entry uses any more: blocks and dictionaries, sparse inner pages, and the end of the
 * file, unless the table's vacuum_truncate is off.
 */
static void
tidy_up(IndexVacuumInfo *info, const SfxOrder *order, bool had_bulkdelete,
		IndexBulkDeleteResult *stats)
{
	Relation	index = info->index;
	Relation	heap = table_open(index->rd_index->indrelid, AccessShareLock);
	BlockNumber nblocks;

	stats->pages_free = sfx_reclaim_blocks(index, order, info->strategy);
	if (had_bulkdelete)
	{
		SfxMeta		meta;

		sfx_reclaim_dicts(index, order, info->strategy);
		sfx_shrink_inner(index, order);

		/*
		 * both freed blocks after sfx_reclaim_blocks, so the free space map's upper pages do not
		 * know of them
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
	/* free pages that were cut off are not counted */
	stats->pages_free -= Min(stats->pages_free, nblocks - Min(nblocks, stats->num_pages));
	table_close(heap, AccessShareLock);
}

/* SfxLeafManner.go_on: leaves are changed to the end, with VACUUM's cost delay. */
static bool
vacuum_goes_on(Relation index, SfxProgress *p)
{
	SfxVacuumDelay();
	return true;
}

/*
 * Merge what is due.  After a bulk delete, which has decided for itself, only what has become due
 * meanwhile; otherwise a delta that is nearly free to merge as well (V6).
 */
static void
merge_rest(Relation index, const SfxOrder *order, bool had_bulkdelete)
{
	bool		merges = had_bulkdelete ? sfx_merge_due(index) != NULL :
	sfx_vacuum_merges(index, order, NULL, NULL);

	(void) sfx_merge_for_vacuum(index, merges, NULL, NULL, NULL);
}

IndexBulkDeleteResult *
sfx_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	static const SfxLeafManner how = {vacuum_goes_on, true};
	bool		had_bulkdelete = stats != NULL;
	bool		changed;
	SfxKeyDesc	kd;
	const SfxOrder *order;

	if (info->analyze_only)
		return stats;
	sfx_require_preload(info->index);
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	SFX_STOP("vacuum cleanup");
	order = sfx_order_open(info->index, &kd, true);
	merge_rest(info->index, order, had_bulkdelete);
	/* make leaves cut or whole, as the storage parameters ask */
	changed = sfx_change_leaf_keys(info->index, order, &how) > 0;
	tidy_up(info, order, changed || had_bulkdelete, stats);
	sfx_order_end(order);
	if (!had_bulkdelete)
	{
		SfxMeta		meta;

		stats->num_index_tuples = sfx_log_count(info->index, &meta);
		stats->num_index_tuples += sfx_meta_entries(&meta);
		stats->estimated_count = true;
	}
	return stats;
}
