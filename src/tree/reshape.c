/*-------------------------------------------------------------------------
 * reshape.c - keeping inner levels in shape: counts that lag, pages that have become sparse, roots
 * with one child
 *
 * All of it changes the tree, under the merge lock.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "inner.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "shrink.h"
#include "swap.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define JOIN_SPARSE			(SFX_BODY_CAPACITY / 4) /* bytes of an inner page, up to which it is
													 * joined with a neighbour */
#define JOIN_MOST			(SFX_BODY_CAPACITY / 10 * 9)	/* bytes of the two together, at most */
#define COUNT_LAG			512 /* counts may lag by one part of so many: estimates need no better
								 * ones */

/* The number of entries below inner page blkno of that level, as the page itself counts. */
static uint64
page_total(const SfxTree *t, BlockNumber blkno, int level)
{
	Buffer		buf = sfx_read_linked(t->index, blkno, NULL);
	SfxInner	page;
	uint64		below,
				own,
				total;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!sfx_tree_page_is(t->index, blkno, BufferGetPage(buf), t->meta, t->run, level) ||
		sfx_inner_open(&page, SfxPageBody(BufferGetPage(buf)), SfxPageBodyLen(BufferGetPage(buf)),
					   t->order) < 0 ||
		sfx_inner_counts(&page, 0, &below, &own, &total) < 0)
		sfx_corrupt(t->index, blkno, "inner page that a downlink leads to");
	UnlockReleaseBuffer(buf);
	return total;
}

/*
 * Correct the counts of the page of that level that holds pos; *pos becomes its high fence.  False:
 * it was the last page.
 */
static bool
recount_page(const SfxTree *t, int level, SfxPosBuf *pos)
{
	SfxNode		node;
	SfxChild   *is;
	int			from = -1,
				to = 0;

	sfx_tree_load(t, &pos->pos, level, &node);
	is = palloc(sizeof(SfxChild) * node.nchildren);
	memcpy(is, node.children, sizeof(SfxChild) * node.nchildren);
	for (int i = 0; i < node.nchildren; i++)
	{
		uint64		was = is[i].count;

		is[i].count = page_total(t, is[i].blkno, level - 1);
		if (Max(was, is[i].count) - Min(was, is[i].count) <= is[i].count / COUNT_LAG)
			continue;
		from = from < 0 ? i : from;
		to = i + 1;
	}
	if (!node.high_inf)
		sfx_pos_set(pos, &node.high);
	if (to > 0)
	{
		SfxSwap    *s = sfx_swap_begin(t, level);

		sfx_swap_finish(s, &node, sfx_swap_parent(s, &node, from, to, is + from, to - from));
	}
	return !node.high_inf;
}

/* Correct the counts of all pages of a level, by those of the level below. */
static void
recount_level(const SfxTree *t, int level)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx recount",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SfxPosBuf	pos;

	sfx_pos_set(&pos, &SFX_POS_FIRST);
	while (recount_page(t, level, &pos))
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(cxt);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

void
sfx_tree_recount(const SfxTree *t)
{
	Assert(sfx_merge_lock_held(t->index));
	for (int level = 2; level <= sfx_meta_run(t->index, t->meta, t->run)->level; level++)
		recount_level(t, level);
}

bool
sfx_tree_join(const SfxTree *t, SfxNode *node)
{
	uint8	   *body = palloc(SFX_BODY_CAPACITY);
	SfxNode		parent,
				next;
	SfxChild	joined;
	SfxChild   *all;
	SfxSwapPage *p;
	SfxSwap    *s;
	int			c,
				len,
				nmade;

	Assert(sfx_merge_lock_held(t->index));
	if (node->high_inf || node->blkno == sfx_meta_run(t->index, t->meta, t->run)->root)
		return false;
	c = sfx_swap_find_parent(t, node->level, &node->children[0].low, node->blkno, &parent);
	if (c < 0 || c + 1 >= parent.nchildren)
		return false;
	sfx_tree_load(t, &node->high, node->level, &next);

	/*
	 * Not if the join would not pay, or would soon be split again.  A page between the two that
	 * the parent does not know yet will be posted first.
	 */
	if ((node->len > JOIN_SPARSE && next.len > JOIN_SPARSE) || node->len + next.len > JOIN_MOST ||
		parent.children[c + 1].blkno != next.blkno || node->right != next.blkno)
		return false;
	all = palloc(sizeof(SfxChild) * (node->nchildren + next.nchildren));
	memcpy(all, node->children, sizeof(SfxChild) * node->nchildren);
	memcpy(all + node->nchildren, next.children, sizeof(SfxChild) * next.nchildren);
	len = sfx_inner_build(all, node->nchildren + next.nchildren, next.high_inf ? NULL : &next.high, body, SFX_BODY_CAPACITY,
						  palloc(sfx_inner_scratch_size()), t->order);
	if (len < 0)
		return false;
	s = sfx_swap_begin(t, node->level);
	joined = parent.children[c];
	joined.count += parent.children[c + 1].count;
	nmade = sfx_swap_parent(s, &parent, c, c + 2, &joined, 1);
	p = sfx_swap_add(s, node->blkno, SFX_PAGE_INNER, node->level, body, len);
	p->right = next.right;
	sfx_swap_add(s, next.blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	sfx_swap_finish(s, &parent, nmade);
	return true;
}

bool
sfx_tree_lower(const SfxTree *t)
{
	SfxRun	   *run = sfx_meta_run(t->index, t->meta, t->run);
	SfxNode		root;
	SfxSwap    *s;

	Assert(sfx_merge_lock_held(t->index));
	if (run->level < 2)
		return false;
	sfx_tree_load(t, &SFX_POS_FIRST, run->level, &root);
	if (root.nchildren > 1 || !root.high_inf)
		return false;
	s = sfx_swap_begin(t, run->level);
	sfx_swap_add(s, root.blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	run->root = root.children[0].blkno;
	run->level--;
	s->new_root = true;
	sfx_swap_execute(s);
	return true;
}
