/*-------------------------------------------------------------------------
 * find.c - the static stage's B-link tree: finding a page by position
 *
 * Readers hold one page lock at a time and are positioned by key: they believe
 * a page only if it is of the expected kind, build, run and level and its fences hold their position (T1).  Beyond the high
 * fence they go right; anywhere else they begin again from the metapage.
 *
 * Writers (swap.c) hold the merge lock, and copy pages here before they change them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "filter.h"
#include "filter_page.h"
#include "find.h"
#include "image.h"
#include "inner.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "retry.h"

#include "miscadmin.h"
#include "utils/rel.h"

#define FIND_MAX_MOVES		1000	/* to the right in one descent; damaged links may lead in
									 * circles */
#define FIND_CACHED_MOVES	4	/* the same where the descent began with a copy of the root */

static uint8 lowbuf[SFX_MAX_ENTRY];
static uint8 highbuf[SFX_MAX_ENTRY];
static BlockNumber lost_at;		/* the page at which the last descent that led nowhere ended */

bool
sfx_tree_page_is(Relation index, BlockNumber blkno, Page page, const SfxMeta *meta, uint32 run, int level)
{
	SfxPageTail *tail;

	if (!sfx_page_check(index, blkno, page))
		return false;
	tail = SfxPageGetTail(page);
	return tail->kind == (level > 0 ? SFX_PAGE_INNER : SFX_PAGE_LEAF) &&
		tail->level == level && tail->build_id == meta->build_id &&
		tail->owner == run;
}

void
sfx_leaf_copy(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, BlockNumber blkno,
			  BufferAccessStrategy strategy, char *copy, SfxLeaf *leaf)
{
	Buffer		buf = ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
	bool		valid;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	valid = sfx_tree_page_is(index, blkno, BufferGetPage(buf), meta, run, 0);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	if (!valid)
		sfx_corrupt(index, blkno, "a downlink leads to a page that is no leaf");
	if (sfx_leaf_open(leaf, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), order) < 0)
		sfx_corrupt(index, blkno, "leaf header or directory");
}

/* Where does pos lie?  0: on this page, > 0: to its right, < 0: to its left.  Opens *leaf. */
static int
leaf_side(Relation index, const SfxOrder *order, BlockNumber blkno, Page page, const SfxPos *pos, bool before,
		  SfxLeaf *leaf)
{
	SfxPos		low,
				high;
	bool		inf;

	if (sfx_leaf_open(leaf, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		sfx_corrupt(index, blkno, "leaf header or directory");
	if (SFX_MUTANT("no fences"))
		return 0;
	if (!before)
		return sfx_leaf_cmp_fences(leaf, pos);
	if (sfx_leaf_fences(leaf, lowbuf, &low, highbuf, &high, &inf) < 0)
		sfx_corrupt(index, blkno, "leaf fences");
	if (!inf && (pos->key == NULL || sfx_order_cmp_pos(order, pos, &high) > 0))
		return 1;
	return pos->key == NULL || sfx_order_cmp_pos(order, pos, &low) > 0 ? 0 : -1;
}

static int
inner_side(Relation index, const SfxOrder *order, BlockNumber blkno, const SfxInner *inner, const SfxPos *pos, bool before)
{
	SfxPos		low,
				high;
	bool		inf;

	if (!before)
		return sfx_inner_cmp_fences(inner, pos);
	if (sfx_inner_fences(inner, lowbuf, &low, highbuf, &high, &inf) < 0)
		sfx_corrupt(index, blkno, "inner page fences");
	if (!inf && (pos->key == NULL || sfx_order_cmp_pos(order, pos, &high) > 0))
		return 1;
	return pos->key == NULL || sfx_order_cmp_pos(order, pos, &low) > 0 ? 0 : -1;
}

/* Ask the filter in block blkno for the range of *probe, pos being between its fences.  True: no need for the leaf. */
static bool
filter_answers(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, BlockNumber blkno, const SfxPos *pos,
			   bool before, SfxFilterProbe *probe)
{
	Buffer		buf = ReadBuffer(index, blkno);
	Page		page = BufferGetPage(buf);
	SfxFilter	f;
	int			may;

	SFX_STOP("filter chosen");
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	probe->asked = sfx_filter_page_open(index, order, meta->build_id, run, blkno, page, pos, before, &f);
	/* hashes tell nothing of a range */
	if (probe->asked && probe->key == NULL && f.kind != SFX_FILTER_SURF)
	{
		probe->asked = false;
		probe->keys_only = true;
	}
	if (probe->asked)
	{
		may = probe->key ? sfx_filter_key(&f, probe->key, probe->keylen) :
			sfx_filter_range(&f, probe->lo, probe->hi);
		if (may < 0)
			sfx_corrupt(index, blkno, "filter");
		probe->absent = may == 0;
		probe->fence_inf = !before && f.high_inf;
		probe->fence = before ? f.low : f.high;
		if (probe->absent && probe->fence.len > 0)
			memcpy(probe->fence_buf, probe->fence.key, probe->fence.len);
		probe->fence.key = probe->fence_buf;
	}
	UnlockReleaseBuffer(buf);
	return sfx_filter_answered(probe);
}

/*
 * One try from the root.  Returns InvalidBuffer if a page was not what its
 * downlink promised, or if a filter on the way says no (probe may be NULL).  Opens *leaf if the target is one.  cached: a copy of the
 * root will do.
 */
static Buffer
find_once(Relation index, const SfxOrder *order, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos, bool before, int target,
		  SfxLeaf *leaf, bool cached, SfxFilterProbe *probe)
{
	int			levels = 0;
	BlockNumber blkno = cached ? sfx_cache_descend(index, meta, order, pos, before, &levels) : InvalidBlockNumber;
	int			level = run->level;
	int			moves = 0;
	bool		offer = cached;

	cached = BlockNumberIsValid(blkno);
	if (cached)
		level -= levels;
	else
		blkno = run->root;
	for (;;)
	{
		Buffer		buf = sfx_read_page(index, lost_at = blkno);
		Page		page = BufferGetPage(buf);
		SfxInner	inner;
		BlockNumber filter = 0;
		int			side;

		if (level == 0)
			SFX_STOP("leaf chosen");
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		if (!sfx_tree_page_is(index, blkno, page, meta, run->id, level))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
		if (level > 0)
		{
			if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
				sfx_corrupt(index, blkno, "inner page header");
			side = inner_side(index, order, blkno, &inner, pos, before);
		}
		else
			side = leaf_side(index, order, blkno, page, pos, before, leaf);
		if (side == 0 && level == target)
			return buf;
		if (side > 0)
		{
			blkno = SfxPageGetTail(page)->right;
			if (blkno == InvalidBlockNumber)
				sfx_corrupt(index, BufferGetBlockNumber(buf), "no right neighbour beyond a finite high fence");
		}
		else if (side == 0)
		{
			uint64_t	count;
			uint32_t	child;
			int			i = (pos->key == NULL ? inner.nchildren - 1 :
							 before ? sfx_inner_find_before(&inner, pos) : sfx_inner_find(&inner, pos));

			if (i < 0 || sfx_inner_child(&inner, i, &child, &count) < 0)
				sfx_corrupt(index, blkno, "inner page search");
			if (child < SFX_FIRST_BLKNO)
				sfx_corrupt(index, blkno, "downlink to a reserved block");
			if (offer && level == run->level)
				sfx_cache_offer(index, meta, &inner);
			if (probe && level == 1)
				filter = sfx_inner_filter(&inner, i);
			blkno = child;
			level--;
		}
		UnlockReleaseBuffer(buf);
		if (side > 0 && cached && moves == 0)
			sfx_cache_lagged(index, meta);
		if (side < 0 || (side > 0 && ++moves > (cached ? FIND_CACHED_MOVES : FIND_MAX_MOVES)))
			return InvalidBuffer;
		if (filter >= SFX_FIRST_BLKNO && filter_answers(index, order, meta, run->id, filter, pos, before, probe))
			return InvalidBuffer;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Offer the level below the root for the copy of the root, if it is few pages.  They are read one by one, so that they may be of different moments: then links
 * lag, or lead back, as those of any copy may.
 */
static void
copy_below_root(Relation index, const SfxOrder *order, const SfxMeta *meta)
{
	const SfxRun *run = SfxMetaMain(meta);
	SfxPos		first = {(const uint8 *) "", 0, 0};
	SfxInner	inner[SFX_CACHE_BELOW];
	char	   *copies = palloc(BLCKSZ * SFX_CACHE_BELOW);
	Buffer		buf = find_once(index, order, meta, run, &first, false, run->level - 1, NULL, true, NULL);
	int			n = 0;

	while (BufferIsValid(buf))
	{
		BlockNumber blkno = BufferGetBlockNumber(buf);
		Page		copy = copies + BLCKSZ * n;
		bool		useful = n < SFX_CACHE_BELOW && sfx_tree_page_is(index, blkno, BufferGetPage(buf), meta, run->id, run->level - 1);

		if (useful)
			memcpy(copy, BufferGetPage(buf), BLCKSZ);
		UnlockReleaseBuffer(buf);
		if (!useful)
			break;
		if (sfx_inner_open(&inner[n], SfxPageBody(copy), SfxPageBodyLen(copy), order) < 0)
			sfx_corrupt(index, blkno, "inner page header");
		if (sfx_inner_has_filters(&inner[n++]))
			break;
		if (SfxPageGetTail(copy)->right == InvalidBlockNumber)
		{
			sfx_cache_offer_below(index, meta, inner, n);
			break;
		}
		buf = sfx_read_page(index, SfxPageGetTail(copy)->right);
		LockBuffer(buf, BUFFER_LOCK_SHARE);
	}
	pfree(copies);
}

static Buffer
find(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, bool before, int level,
	 SfxLeaf *leaf, bool cached, SfxFilterProbe *probe)
{
	int			r = sfx_meta_find_run(meta, run);
	SfxRetry	retry = {.index = index};
	Buffer		buf;
	SfxMeta		fresh;

	/* I6 */
	Assert(!sfx_image_held());
	if (cached && sfx_cache_wants_below(index, meta))
		copy_below_root(index, order, meta);
	buf = r < 0 ? InvalidBuffer : find_once(index, order, meta, &meta->runs[r], pos, before, level, leaf, cached, probe);
	if (cached && !BufferIsValid(buf) && !(probe && sfx_filter_answered(probe)))
		sfx_cache_forget(index, meta);
	while (!BufferIsValid(buf) && !(probe && sfx_filter_answered(probe)))
	{
		/* T4 */
		if (!sfx_retry(&retry))
			sfx_corrupt(index, lost_at, "a descent ends here, where the key sought is not");
		sfx_meta_read(index, &fresh);
		r = sfx_meta_find_run(&fresh, run);
		if (r < 0)
			break;

		/*
		 * the tree may have become lower since the caller looked, if he does not hold the merge
		 * lock; the root will do for him
		 */
		level = Min(level, (int) fresh.runs[r].level);
		buf = find_once(index, order, &fresh, &fresh.runs[r], pos, before, level, leaf, false, probe);
	}
	sfx_retry_end(&retry);
	return buf;
}

Buffer
sfx_tree_find(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, bool before, int level)
{
	SfxLeaf		leaf;

	return find(index, order, meta, run, pos, before, level, &leaf, false, NULL);
}

/* The main tree's root only: other runs come and go. */
static inline bool
root_may_be_copy(const SfxMeta *meta, uint32 run)
{
	return run == SfxMetaMain(meta)->id && SfxMetaMain(meta)->level > 0;
}

Buffer
sfx_tree_find_leaf(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, bool before,
				   SfxLeaf *leaf)
{
	return find(index, order, meta, run, pos, before, 0, leaf, root_may_be_copy(meta, run), NULL);
}

Buffer
sfx_tree_probe(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, bool before,
			   SfxLeaf *leaf, SfxFilterProbe *probe)
{
	probe->asked = probe->absent = probe->keys_only = false;
	return find(index, order, meta, run, pos, before, 0, leaf, root_may_be_copy(meta, run), probe);
}

int
sfx_tree_leaves_from(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, bool before,
					 BlockNumber *blkno, int n)
{
	Buffer		buf = sfx_tree_find(index, order, meta, run, pos, before, 1);
	Page		page;
	SfxInner	inner;
	int			got = 0;

	if (!BufferIsValid(buf))
		return 0;
	page = BufferGetPage(buf);
	if (SfxPageGetTail(page)->level == 1)
	{
		int			i;

		if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
			sfx_corrupt(index, BufferGetBlockNumber(buf), "inner page header");
		i = before ? sfx_inner_find_before(&inner, pos) : sfx_inner_find(&inner, pos);
		for (; got < n && i >= 0 && i < inner.nchildren; i += before ? -1 : 1)
		{
			uint64_t	count;
			uint32_t	child;

			if (sfx_inner_child(&inner, i, &child, &count) < 0)
				sfx_corrupt(index, BufferGetBlockNumber(buf), "inner page search");
			blkno[got++] = child;
		}
	}
	UnlockReleaseBuffer(buf);
	return got;
}

/* ---- the writer's side ---- */

static int
collect_child(void *ctx, int i, const SfxChild *child)
{
	SfxNode    *node = ctx;

	node->children[i] = *child;
	node->children[i].low = sfx_pos_copy(&child->low);
	return SFX_OK;
}

/* Copy the inner page in buf, which is locked, and let it go. */
void
sfx_tree_load_page(Relation index, const SfxOrder *order, Buffer buf, SfxNode *node)
{
	Page		page = palloc(BLCKSZ);
	SfxInner	inner;
	SfxPos		low;

	memcpy(page, BufferGetPage(buf), BLCKSZ);
	node->kept = NULL;
	node->blkno = BufferGetBlockNumber(buf);
	node->run = SfxPageGetTail(page)->owner;
	UnlockReleaseBuffer(buf);
	node->right = SfxPageGetTail(page)->right;
	node->level = SfxPageGetTail(page)->level;
	node->len = SfxPageBodyLen(page);
	if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) < 0 ||
		sfx_inner_fences(&inner, lowbuf, &low, highbuf, &node->high, &node->high_inf) < 0)
		sfx_corrupt(index, node->blkno, "inner page header");
	if (!node->high_inf)
		node->high = sfx_pos_copy(&node->high);
	node->nchildren = inner.nchildren;
	node->children = palloc(sizeof(SfxChild) * inner.nchildren);
	if (sfx_inner_each(&inner, collect_child, node) < 0)
		sfx_corrupt(index, node->blkno, "inner page separators");
}

bool
sfx_tree_try_load(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, int level,
				  SfxNode *node)
{
	Buffer		buf = sfx_tree_find(index, order, meta, run, pos, false, level);

	if (BufferIsValid(buf))
		sfx_tree_load_page(index, order, buf, node);
	return BufferIsValid(buf);
}

void
sfx_tree_load(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, int level,
			  SfxNode *node)
{
	Assert(sfx_merge_lock_held(index));
	if (!sfx_tree_try_load(index, order, meta, run, pos, level, node))
		elog(ERROR, "surfidx: run %u of index \"%s\" vanished under the merge lock", run, RelationGetRelationName(index));
}
