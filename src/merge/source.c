/*-------------------------------------------------------------------------
 * source.c - the entries that a merge takes: of a generation, from its image or log, or of a run,
 * from its leaves
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "delta.h"
#include "dict.h"
#include "find.h"
#include "image.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "pos.h"
#include "source.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define CHUNK_ENTRIES	512
#define CHUNK_BYTES		65536
#define FEW_PAGES	16			/* pages of log whose image is made quickly, or exists */
#define DEAD_SHARE	16			/* if one entry in so many is known to be dead, the image is used,
								 * which lacks them */

void
sfx_source_init(SfxSource *src, Relation index, const SfxOrder *order, const SfxMeta *meta,
				uint32 run, int g, SfxLogSorted *log)
{
	Assert(sfx_merge_lock_held(index));
	*src = (SfxSource)
	{
		.index = index,.order = order,.meta = meta,.run = run,.g = g,.log = log
	};
	src->seen = log ? sfx_log_sorted_seen(log) : 0;
	src->unchanged = log && sfx_log_sorted_unchanged(log);
	src->block = run != 0 ? palloc(sizeof(SfxBlock)) : NULL;
	if (log != NULL)
	{
		Assert(run == 0);
		sfx_log_sorted_begin(log, meta, g);
		return;
	}
	src->chunk = src->entry = palloc(sizeof(SfxEntry) * CHUNK_ENTRIES);
	src->bytes = palloc(CHUNK_BYTES + SFX_MAX_ENTRY);
}

/*
 * Not if readers have taken many entries out of the image (X1): a merge of the log would bring these
 * to the tree.
 */
SfxLogSorted *
sfx_source_log(Relation index, const SfxOrder *order, const SfxMeta *meta, int g)
{
	SfxLogSorted *log;

	if (order != NULL || meta->gens[g].pages < FEW_PAGES ||
		(log = sfx_log_sorted(index, order, meta, g)) == NULL)
		return NULL;
	if (sfx_image_known_dead(index, meta, g) <= sfx_log_sorted_seen(log) / DEAD_SHARE ||
		SFX_MUTANT("logs bring back the dead"))
		return log;
	sfx_log_sorted_free(log);
	return NULL;
}

static void
source_add(SfxSource *src, const SfxEntry *e)
{
	src->used += sfx_entry_copy(e, &src->entry[src->n++], src->bytes + src->used);
}

static void
chunk_clear(SfxSource *src)
{
	src->n = src->at = 0;
	src->used = 0;
	src->more = false;
}

static bool
chunk_is_full(const SfxSource *src)
{
	return src->n == CHUNK_ENTRIES || src->used >= CHUNK_BYTES;
}

/*
 * Find the first leaf block of a run that has entries >= pos, and decode it from there on into
 * src->block; false if there is none.  Payloads of the block are in *copy, a page.  *last: no other
 * block has greater entries.
 */
static bool
run_block(SfxSource *src, const SfxPos *pos, char *copy, bool *last)
{
	SfxPosBuf	at;
	uint8		lowbuf[SFX_MAX_ENTRY];
	uint8		highbuf[SFX_MAX_ENTRY];

	sfx_pos_set(&at, pos);
	for (;;)
	{
		Buffer		buf = sfx_tree_find(SfxTreeOf(src->index, src->order, src->meta, src->run),
										&at.pos, false, 0);
		BlockNumber blkno;
		SfxLeaf		leaf;
		SfxPos		low,
					high;
		bool		inf;
		int			b = 0;

		if (!BufferIsValid(buf))
			(void) sfx_meta_run(src->index, src->meta, src->run);
		blkno = BufferGetBlockNumber(buf);
		memcpy(copy, BufferGetPage(buf), BLCKSZ);
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		if (sfx_leaf_open(&leaf, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), src->order) < 0 ||
			sfx_leaf_fences(&leaf, lowbuf, &low, highbuf, &high, &inf) < 0 ||
			(leaf.nblocks > 0 && (b = sfx_leaf_find_block(&leaf, &at.pos)) < 0))
			sfx_corrupt(src->index, blkno, "leaf header or directory");
		sfx_dict_attach(src->index, blkno, (Page) copy, &leaf, NULL);
		for (b = leaf.nblocks > 0 ? b : 0; b < leaf.nblocks; b++)
		{
			if (sfx_leaf_decode(&leaf, b, &at.pos, NULL, src->block) < 0)
				sfx_corrupt(src->index, blkno, "leaf block");
			*last = inf && b + 1 == leaf.nblocks;
			if (src->block->nent > 0)
				return true;
		}
		if (inf)
			return false;
		sfx_pos_set(&at, &high);
	}
}

/* Fill the chunk from a run: with the entries of one block, as far as they fit. */
static bool
run_seek(SfxSource *src, const SfxPos *pos)
{
	PGAlignedBlock copy;
	bool		last;

	chunk_clear(src);
	if (!run_block(src, pos, copy.data, &last))
		return false;
	for (int i = 0; i < src->block->nent; i++)
	{
		SfxEntry	e;

		if (chunk_is_full(src))
		{
			last = false;
			break;
		}
		sfx_block_entry(src->block, i, &e);
		source_add(src, &e);
	}
	src->more = !last;
	return true;
}

/* Fill the chunk with the first of a generation's entries >= pos. */
static void
fill_chunk(SfxSource *src, const SfxPos *pos)
{
	SfxImage   *img = sfx_image_acquire(src->index, src->order, src->meta, src->g);
	SfxNodeAlloc a;
	const SfxDelta *d;
	SfxCursor	c;
	bool		have;

	if (img == NULL)
		/* the merge lock is held, so the generation is still listed, and the log is damaged */
		sfx_corrupt(src->index, src->meta->gens[src->g].first, "a page of the log that begins here is not one of its generation");
	d = sfx_image_delta(img, src->order, &a);
	src->seen = sfx_image_seen(img);
	src->unchanged = sfx_image_unchanged(img);
	(void) sfx_image_killed(img, &src->horizon);
	chunk_clear(src);
	have = sfx_delta_seek(d, &a, pos, &c);
	while (have)
	{
		SfxEntry	e;

		if (chunk_is_full(src))
		{
			src->more = true;
			break;
		}
		sfx_delta_get(d, &a, &c, &e);
		source_add(src, &e);
		have = sfx_delta_next(d, &a, &c);
	}
	sfx_image_release(img);
}

/* Do the chunk's entries ascend, and are they >= pos? */
static bool
chunk_ascends(const SfxSource *src, const SfxPos *pos)
{
	SfxPos		before = *pos;

	for (int i = 0; i < src->n; i++)
	{
		SfxPos		p = sfx_entry_pos(&src->entry[i]);
		int			cmp = sfx_order_cmp_pos(src->order, &before, &p);

		if (cmp > 0 || (cmp == 0 && i > 0))
			return false;
		before = p;
	}
	return true;
}

/* Fill the chunk; an image that was filled in another order (K4) is discarded and filled again. */
static bool
generation_seek(SfxSource *src, const SfxPos *pos)
{
	fill_chunk(src, pos);
	if (src->order == NULL || chunk_ascends(src, pos) || SFX_MUTANT("chunks in any order"))
		return src->n > 0;
	sfx_image_forget(src->index, src->meta, src->meta->gens[src->g].gen);
	fill_chunk(src, pos);
	if (!chunk_ascends(src, pos))
		sfx_out_of_order(src->index, src->order, src->meta->gens[src->g].first,
						 "comparisons do not put the delta in an order");
	return src->n > 0;
}

static bool
log_seek(SfxSource *src, const SfxPos *pos)
{
	src->at = 0;
	src->more = false;
	src->n = sfx_log_sorted_seek(src->log, src->index, src->meta, pos, &src->entry, &src->more);
	return src->n > 0;
}

bool
sfx_source_seek(SfxSource *src, const SfxPos *pos)
{
	if (src->log)
		return log_seek(src, pos);
	return src->run != 0 ? run_seek(src, pos) : generation_seek(src, pos);
}

const SfxEntry *
sfx_source_peek(SfxSource *src)
{
	return src->at < src->n ? &src->entry[src->at] : NULL;
}

void
sfx_source_advance(SfxSource *src)
{
	if (++src->at == src->n && src->more)
	{
		SfxPosBuf	next;
		SfxEntry   *last = &src->entry[src->n - 1];
		SfxPos		p = {last->key, last->keylen, last->tid + 1};

		sfx_pos_set(&next, &p);
		(void) sfx_source_seek(src, &next.pos);
	}
}

/*
 * Replace *pos by the position of the first entry >= *pos of generation meta->gens[g], or by one
 * not far before it.  log: as from sfx_source_log.  *n: number of entries of the generation.  False
 * if there is none, or if the image is found to be in another order (K4) and is discarded.
 */
static bool
generation_next(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
				SfxLogSorted *log, SfxPosBuf *pos, uint64 *n)
{
	SfxImage   *img;
	SfxNodeAlloc a;
	const SfxDelta *d;
	SfxCursor	c;
	bool		found;
	bool		misled = false;

	if (log)
	{
		SfxPos		next;

		*n = sfx_log_sorted_live(log);
		found = sfx_log_sorted_next(log, index, meta, &pos->pos, &next);
		if (found)
			sfx_pos_set(pos, &next);
		return found;
	}
	img = sfx_image_acquire(index, order, meta, g);
	if (img == NULL)
		return false;
	d = sfx_image_delta(img, order, &a);
	*n = d->nentries;
	found = sfx_delta_seek(d, &a, &pos->pos, &c);
	if (found)
	{
		SfxEntry	e;
		SfxPos		at;

		sfx_delta_get(d, &a, &c, &e);
		at = sfx_entry_pos(&e);
		misled = !sfx_same_pos(&at, &pos->pos) && sfx_image_misleads(order, &pos->pos, &at);
		sfx_pos_set(pos, &at);
	}
	sfx_image_release(img);
	if (misled)
		sfx_image_forget(index, meta, meta->gens[g].gen);
	return found && !misled;
}

uint64
sfx_leaves_touched(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
				   SfxLeafVisit visit, void *arg)
{
	SfxPosBuf  *pos = palloc(sizeof(SfxPosBuf));
	SfxLogSorted *log = sfx_source_log(index, order, meta, g);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx leaves touched",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SfxNode		node = {0};
	uint64		n = 0;
	int			child = 0;

	Assert(sfx_merge_lock_held(index));
	sfx_pos_set(pos, &SFX_POS_FIRST);
	while (generation_next(index, order, meta, g, log, pos, &n) && SfxMetaMain(meta)->level > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (child == node.nchildren ||
			(!node.high_inf && sfx_order_cmp_pos(order, &node.high, &pos->pos) <= 0))
		{
			MemoryContextReset(cxt);
			sfx_tree_load(SfxTreeOf(index, order, meta, SfxMetaMain(meta)->id), &pos->pos, 1,
						  &node);
			child = 0;
		}
		while (child + 1 < node.nchildren &&
			   sfx_order_cmp_pos(order, &node.children[child + 1].low, &pos->pos) <= 0)
			child++;
		if (!visit(&node.children[child], n, arg))
			break;

		/*
		 * continue at the next leaf; if it has another parent, its low fence is the high fence of
		 * this parent
		 */
		if (++child < node.nchildren)
			sfx_pos_set(pos, &node.children[child].low);
		else if (node.high_inf)
			break;
		else
			sfx_pos_set(pos, &node.high);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	sfx_log_sorted_free(log);
	pfree(pos);
	return n;
}
