/*-------------------------------------------------------------------------
 * parent_copy.c - the parent of a group of leaves, kept for the next group
 *
 * A merge changes one parent some hundred times before it comes to the next one, and decoding the
 * parent's thousands of separators would take a fifth of the time of each group.  What was read
 * before the merge lock was last taken may not be used (M1).  So the page is read again, and all of
 * it is compared: where its bytes are those that the node was made of, the node is as good.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "find.h"
#include "inner.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"

#include "utils/memutils.h"

#define FOLLOW_PAGES	8		/* after a split the parent sought is not far to the right */

void
sfx_kept_init(SfxKeptNode *kept)
{
	kept->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx parent", ALLOCSET_DEFAULT_SIZES);
	kept->valid = false;
	kept->outdated = NULL;
	kept->node.run = 0;
	kept->by_bytes = false;
	kept->page = palloc(BLCKSZ);
}

void
sfx_kept_end(SfxKeptNode *kept)
{
	MemoryContextDelete(kept->cxt);
	pfree(kept->page);
}

/* Is the page, which is locked, as it was when the node was made of it?  Its LSN may differ. */
static bool
is_same(const SfxKeptNode *kept, BlockNumber blkno, Page page)
{
	if (SFX_MUTANT("parent kept unseen"))
		return kept->valid && kept->node.blkno == blkno;
	return kept->valid && kept->node.blkno == blkno && SfxPageBodyLen(page) == kept->node.len &&
		memcmp(SfxPageGetTail(page), SfxPageGetTail((Page) kept->page), sizeof(SfxPageTail)) == 0 &&
		memcmp(SfxPageBody(page), SfxPageBody((Page) kept->page), kept->node.len) == 0;
}

/* As an SfxChildFn: ends where the position *ctx is a child's low fence. */
static int
is_low_fence(void *ctx, int i, const SfxChild *child)
{
	return sfx_same_pos(&child->low, ctx) ? SFX_NOSPACE : SFX_OK;
}

/* Has the page, a parent of leaves, a child whose low fence is pos, byte by byte? */
static bool
has_child_at(const SfxTree *t, Page page, const SfxPos *pos)
{
	SfxInner	inner;

	return sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), t->order) == SFX_OK &&
		sfx_inner_each(&inner, is_low_fence, (void *) pos) == SFX_NOSPACE;
}

/*
 * Where a walk by fences goes on at pos: on the parent that was kept, or on one to the right of it.
 * By bytes, so that the walk misses no leaf, and ends, whatever comparisons say (K4).  The page,
 * share-locked; InvalidBuffer: none of them has such a child, or the order is that of bytes.
 */
static Buffer
find_by_bytes(const SfxKeptNode *kept, const SfxTree *t, const SfxPos *pos)
{
	BlockNumber blkno = kept->node.blkno;

	if (t->order == NULL || kept->node.run != t->run)
		return InvalidBuffer;
	for (int n = 0; n < FOLLOW_PAGES && BlockNumberIsValid(blkno); n++)
	{
		Buffer		buf = sfx_read_page(t->index, blkno);
		Page		page = BufferGetPage(buf);
		bool		is_parent;

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		is_parent = sfx_tree_page_is(t->index, blkno, page, t->meta, t->run, 1);
		if (is_parent && has_child_at(t, page, pos))
			return buf;
		blkno = is_parent ? SfxPageGetTail(page)->right : InvalidBlockNumber;
		UnlockReleaseBuffer(buf);
	}
	return InvalidBuffer;
}

/* Do the node's fences ascend, by comparisons? */
static bool
fences_ascend(const SfxOrder *order, const SfxNode *node)
{
	for (int i = 1; i < node->nchildren; i++)
		if (sfx_order_cmp_pos(order, &node->children[i - 1].low, &node->children[i].low) >= 0)
			return false;
	return node->high_inf ||
		sfx_order_cmp_pos(order, &node->children[node->nchildren - 1].low, &node->high) < 0;
}

bool
sfx_way_ascends(const SfxTree *t, const SfxPos *pos)
{
	Assert(sfx_merge_lock_held(t->index));
	for (int level = sfx_meta_run(t->index, t->meta, t->run)->level; level > 0; level--)
	{
		SfxNode		node;

		sfx_tree_load(t, pos, level, &node);
		if (!fences_ascend(t->order, &node))
			return false;
	}
	return true;
}

bool
sfx_kept_load(SfxKeptNode *kept, const SfxTree *t, const SfxPos *pos, SfxNode *node)
{
	Buffer		buf = find_by_bytes(kept, t, pos);
	bool		same;

	kept->by_bytes = BufferIsValid(buf);
	if (!kept->by_bytes)
		buf = sfx_tree_find(t, pos, false, 1);
	if (!BufferIsValid(buf))
		(void) sfx_meta_run(t->index, t->meta, t->run);
	same = is_same(kept, BufferGetBlockNumber(buf), BufferGetPage(buf));
	if (same)
		UnlockReleaseBuffer(buf);
	else
	{
		MemoryContext old;

		kept->valid = false;
		kept->outdated = NULL;
		MemoryContextReset(kept->cxt);
		memcpy(kept->page, BufferGetPage(buf), BLCKSZ);
		old = MemoryContextSwitchTo(kept->cxt);
		sfx_tree_load_page(t->index, t->order, buf, &kept->node);
		MemoryContextSwitchTo(old);
		kept->node.kept = kept;
		kept->valid = true;
	}
	*node = kept->node;
	return same;
}

void
sfx_kept_replace(SfxKeptNode *kept, int from, int to, const SfxChild *repl, int n, const uint8 *body, uint32 len)
{
	SfxNode    *node = &kept->node;
	int			behind = node->nchildren - to;
	MemoryContext old = MemoryContextSwitchTo(kept->cxt);
	SfxChild   *all = palloc(sizeof(SfxChild) * (from + n + behind));

	memcpy(all, node->children, sizeof(SfxChild) * from);
	for (int i = 0; i < n; i++)
	{
		all[from + i] = repl[i];
		all[from + i].low = sfx_pos_copy(&repl[i].low);
	}
	memcpy(all + from + n, node->children + to, sizeof(SfxChild) * behind);
	MemoryContextSwitchTo(old);
	/* the caller's copy of the node may be looked at until the next call */
	if (kept->outdated)
		pfree(kept->outdated);
	kept->outdated = node->children;
	node->children = all;
	node->nchildren = from + n + behind;
	node->len = len;
	sfx_page_set_body((Page) kept->page, body, len);
}

void
sfx_kept_forget(SfxKeptNode *kept)
{
	kept->valid = false;
}
