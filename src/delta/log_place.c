/*-------------------------------------------------------------------------
 * log_place.c - where in the file the pages of the log go
 *
 * A merge needs blocks for the leaves that it adds while the log's pages are still in use; when
 * those become free they should leave the file.  If the log came right after the tree, the new
 * leaves would come after the log, and all of them would have to move (shrink.c): 8 kB of WAL each,
 * a tenth of all that a merge of uuids writes.  So a log that has grown somewhat goes on after a
 * gap of free blocks, as many as its leaves are expected to take:
 *
 *		tree | log | gap | log				tree + new leaves | free
 *
 * Nothing depends on this: blocks of the gap are free ones like any other, listed in the free space
 * map, and a backend that wants one takes it.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "log.h"
#include "meta.h"
#include "settings.h"

#include "storage/freespace.h"
#include "utils/rel.h"

#define LEAVES_PER_LOG		0.6 /* pages of leaves that the entries of one log page take: 0.5
								 * (int8) to 0.8 (uuid) */
#define GAP_AT				8	/* the gap is made when the log has one of so many parts of the
								 * pages expected */
#define GAP_MIN				16	/* blocks; a smaller gap is not worth it */
#define INNER_SHARE			200 /* leaves of one inner page, or thereabouts */
#define LOOK_AHEAD			8	/* blocks tried after the log's last page */

/* What the file is used for, in blocks. */
typedef struct Layout
{
	BlockNumber room;			/* what the delta's entries will need in trees */
	BlockNumber taken;			/* what trees, logs and dictionaries take, roughly: filters are not
								 * counted */
	BlockNumber nblocks;
} Layout;

/* Fill *l, by the storage parameters and what the metapage counts; nothing is locked. */
static void
measure(Relation index, const SfxMeta *meta, Layout *l)
{
	double		ratio = sfx_opt_merge_ratio(index);
	double		log = (double) sfx_opt_delta_size(index) * 1024 / BLCKSZ;
	uint64		leaves = sfx_meta_leaves(meta);

	l->room = (BlockNumber) Min(log * LEAVES_PER_LOG, ratio * SfxMetaMain(meta)->leaves);
	/* entries that replace dead ones need no room */
	l->room -= (BlockNumber) ((uint64) l->room * Min(meta->shed, 1000) / 1000);
	l->taken = SFX_FIRST_BLKNO + leaves + leaves / INNER_SHARE + meta->nruns + sfx_meta_log_pages(meta);
	for (uint32 d = 0; d < meta->ndicts; d++)
		l->taken += meta->dict[d].len / BLCKSZ + 1;
	l->nblocks = RelationGetNumberOfBlocks(index);
}

/*
 * Extend the file to `end` blocks at least; from is its size so far.  The new blocks are free, and
 * in the free space map.
 */
static void
make_gap(Relation index, BlockNumber from, BlockNumber end)
{
	while (RelationGetNumberOfBlocks(index) < end)
	{
		Buffer		buf;
		BlockNumber blkno;

		CHECK_FOR_INTERRUPTS();
		buf = SfxExtendRelation(index);
		blkno = BufferGetBlockNumber(buf);
		UnlockReleaseBuffer(buf);
		sfx_page_release_free(index, blkno);
	}
	FreeSpaceMapVacuumRange(index, from, end);
}

/*
 * Claim the first free block of the LOOK_AHEAD ones from `from` on: exclusively locked;
 * InvalidBuffer if there is none.  The free space map is only a hint: sfx_page_claim decides (P3).
 */
static Buffer
claim_near(Relation index, const SfxMeta *meta, BlockNumber from, BlockNumber nblocks)
{
	for (BlockNumber blkno = from; blkno < Min(from + LOOK_AHEAD, nblocks); blkno++)
	{
		Buffer		buf;

		if (GetRecordedFreeSpace(index, blkno) < BLCKSZ / 2)
			continue;
		buf = sfx_page_claim(index, blkno, meta);
		if (BufferIsValid(buf))
			return buf;
	}
	return InvalidBuffer;
}

/*
 * See alloc.h: a new page for the log, exclusively locked.  The variable "behind" is the block
 * where the gap ends and the rest of the log begins.
 */
Buffer
sfx_page_alloc_log(Relation index, const SfxMeta *meta)
{
	const SfxGen *gen = &meta->gens[0];
	Layout		l;
	BlockNumber behind;
	uint32		gap_at;
	Buffer		buf;

	measure(index, meta, &l);
	if (l.room < GAP_MIN)
		return sfx_page_alloc(index, meta);
	behind = l.taken + l.room;
	gap_at = (uint32) (l.room / LEAVES_PER_LOG / GAP_AT);
	if (gen->pages == gap_at && l.nblocks < behind)
	{
		make_gap(index, l.nblocks, behind);
		l.nblocks = RelationGetNumberOfBlocks(index);
	}
	buf = claim_near(index, meta, gen->tail == InvalidBlockNumber || gen->pages == gap_at ? behind : gen->tail + 1, l.nblocks);
	if (BufferIsValid(buf))
		return buf;
	/* before the gap is made, or where the file is long enough, any free block will do */
	if (gen->pages < gap_at || l.nblocks > behind)
		return sfx_page_alloc(index, meta);
	return sfx_page_extend(index);
}
