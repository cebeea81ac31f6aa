/*-------------------------------------------------------------------------
 * parent_copy.c - the parent of a group of leaves, kept for the next group
 *
 * A merge changes one parent some hundred times before it comes to the next one, and decoding its thousands of separators would take a
 * fifth of the time of each group.  What was read before the merge lock was last taken may not be used (M1): so the page is read
 * again and compared, all of it.  Where its bytes are those of which the node was made, so is the node.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "inner.h"
#include "meta.h"
#include "page.h"
#include "pos.h"

#include "utils/memutils.h"

void
sfx_kept_init(SfxKeptNode *kept)
{
	kept->cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx parent", ALLOCSET_DEFAULT_SIZES);
	kept->valid = false;
	kept->outdated = NULL;
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

bool
sfx_kept_load(SfxKeptNode *kept, const SfxTree *t, const SfxPos *pos, SfxNode *node)
{
	Buffer		buf = sfx_tree_find(t, pos, false, 1);
	bool		same;

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
	/* whoever has a copy of the node may look at its children until the next call */
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
