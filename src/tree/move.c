/*-------------------------------------------------------------------------
 * move.c - moving pages of the tree to other blocks, so that the end of the file can be given back
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "dict.h"
#include "filter.h"
#include "find.h"
#include "inner.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "shrink.h"
#include "swap.h"

#define MOVE_MAX			9	/* leaves that move in one record */
#define MOVE_BLOCKS			3	/* for each: the old block, the new one, and the left neighbour */
#define MOVE_ABOVE			3	/* the parent, split in two, and the metapage */

/*
 * The block of the page to the left of blkno, which begins at low, in *left; InvalidBlockNumber for
 * the leftmost page.  False: comparisons lead to another page (K4), so blkno cannot move.  In byte
 * order that is damage.
 */
static bool
left_neighbour(const SfxTree *t, int level, const SfxPos *low, BlockNumber blkno, BlockNumber *left)
{
	Buffer		buf;
	bool		found;

	*left = InvalidBlockNumber;
	if (low->len == 0 && low->tid == 0)
		return true;
	buf = sfx_tree_find(t, low, true, level);
	*left = BufferGetBlockNumber(buf);
	found = SfxPageGetTail(BufferGetPage(buf))->right == blkno;
	UnlockReleaseBuffer(buf);
	if (!found && t->order == NULL)
		sfx_corrupt(t->index, *left, "right link does not lead to the page that follows");
	return found || SFX_MUTANT("any left neighbour");
}

/* The low fence of a copied page of the tree, palloc'd. */
static SfxPos
page_low(Relation index, const SfxOrder *order, BlockNumber blkno, Page page, int level)
{
	uint8		lowbuf[SFX_MAX_ENTRY];
	uint8		highbuf[SFX_MAX_ENTRY];
	SfxPos		low,
				high;
	SfxLeaf		leaf;
	SfxInner	inner;
	bool		inf;
	bool		ok;

	if (level > 0)
		ok = sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) >= 0 &&
			sfx_inner_fences(&inner, lowbuf, &low, highbuf, &high, &inf) >= 0;
	else
		ok = sfx_leaf_open(&leaf, SfxPageBody(page), SfxPageBodyLen(page), order) >= 0 &&
			sfx_leaf_fences(&leaf, lowbuf, &low, highbuf, &high, &inf) >= 0;
	if (!ok)
		sfx_corrupt(index, blkno, "header or fences");
	return sfx_pos_copy(&low);
}

/* Move a filter's page; the leaves under it name the new block.  target is released. */
static bool
move_filter(const SfxTree *t, BlockNumber blkno, Page page, Buffer target)
{
	SfxNode		parent;
	SfxFilter	f;
	SfxSwapPage *to;
	SfxSwap    *s;
	int			nmade;
	bool		named = false;

	if (sfx_filter_open(&f, SfxPageBody(page), SfxPageBodyLen(page), t->order) < 0)
		sfx_corrupt(t->index, blkno, "filter header");
	if (sfx_meta_run(t->index, t->meta, t->run)->level < 1)
		sfx_corrupt(t->index, blkno, "filter over a leaf that has no parent");
	sfx_tree_load(t, &f.low, 1, &parent);
	for (int i = 0; i < parent.nchildren; i++)
		named |= parent.children[i].filter == blkno;
	if (!named)
		sfx_corrupt(t->index, blkno, "filter that no leaf names");
	s = sfx_swap_begin(t, 0);
	s->filters = true;
	s->keep_freed = true;
	for (int i = 0; i < parent.nchildren; i++)
		if (parent.children[i].filter == blkno)
			parent.children[i].filter = BufferGetBlockNumber(target);
	nmade = sfx_swap_parent(s, &parent, 0, 0, parent.children, 0);
	sfx_swap_add(s, blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	to = sfx_swap_add(s, BufferGetBlockNumber(target), SFX_PAGE_FILTER, 0, SfxPageBody(page), SfxPageBodyLen(page));
	to->buf = target;
	sfx_swap_finish(s, &parent, nmade);
	return true;
}

/* Copy a page of that level of the run.  False: it is none. */
static bool
copy_page(const SfxTree *t, int level, BlockNumber blkno, Page copy)
{
	Buffer		buf = sfx_read_linked(t->index, blkno, NULL);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	return sfx_tree_page_is(t->index, blkno, copy, t->meta, t->run, level);
}

/* Add to the swap that the copied page moves from block blkno to target, which is locked. */
static SfxSwapPage *
swap_move(SfxSwap *s, BlockNumber blkno, Page page, Buffer target)
{
	SfxPageTail *tail = SfxPageGetTail(page);
	SfxSwapPage *to;

	if (!SFX_MUTANT("moved pages stay"))
		sfx_swap_add(s, blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	to = sfx_swap_add(s, BufferGetBlockNumber(target), tail->kind, tail->level, SfxPageBody(page), SfxPageBodyLen(page));
	to->buf = target;
	to->right = tail->right;
	return to;
}

/*
 * Add to the swap that the page in block left, of the same kind and level as `page`, gets another
 * right link.
 */
static void
swap_link(SfxSwap *s, BlockNumber left, Page page, BlockNumber right)
{
	SfxSwapPage *p;

	if (SFX_MUTANT("left neighbours keep their links"))
		return;
	p = sfx_swap_add(s, left, SfxPageGetTail(page)->kind, SfxPageGetTail(page)->level, NULL, 0);

	p->link_only = true;
	p->right = right;
}

/* Leaves of one parent that move together, in one record. */
typedef struct Movers
{
	BlockNumber left;			/* of the parent's first child, if that moves; else not set */
	int			n;
	int			child[MOVE_MAX];	/* ascending */
	Page		page[MOVE_MAX]; /* copies */
	Buffer		target[MOVE_MAX];	/* locked */
} Movers;

/*
 * Collect child c, and some of its siblings beyond the file's new end, while free blocks last; all
 * of them move.  Most are to its left, because blocks are emptied from the file's end on, and a
 * merge has filled them from left to right.
 */
static void
collect_movers(const SfxTree *t, const SfxNode *parent, int c, Page page, Buffer target,
			   const SfxTargets *targets, Movers *m)
{
	int			i = c;
	int			most = Min(MOVE_MAX, (sfx_record_blocks() - MOVE_ABOVE) / MOVE_BLOCKS);
	int			left = most - 1;

	for (int l = c - 1; l >= 0 && left > 0; l--)
		if (parent->children[l].blkno >= targets->end)
		{
			i = l;
			left--;
		}
	for (m->n = 0; i < parent->nchildren && m->n < most; i++)
	{
		Page		copy = page;
		Buffer		buf = target;

		if (i != c)
		{
			if (parent->children[i].blkno < targets->end)
				continue;
			copy = palloc(BLCKSZ);
			if (!copy_page(t, 0, parent->children[i].blkno, copy))
				sfx_corrupt(t->index, parent->children[i].blkno,
							"downlink to a page that is no leaf");
			buf = targets->claim(targets->arg, t->meta);
			if (!BufferIsValid(buf))
				continue;
		}
		m->child[m->n] = i;
		m->page[m->n] = copy;
		m->target[m->n++] = buf;
	}
}

/*
 * Move leaves in one record.  Most parents have several that move, and the parent is the most
 * expensive part of the record.
 */
static void
move_leaves(const SfxTree *t, SfxNode *parent, const Movers *m)
{
	SfxSwap    *s = sfx_swap_begin(t, 0);
	int			first = m->child[0];
	int			n = m->child[m->n - 1] + 1 - first;
	SfxChild   *repl = palloc(sizeof(SfxChild) * n);
	SfxSwapPage *prev = NULL;
	int			nmade;

	s->keep_freed = true;
	memcpy(repl, parent->children + first, sizeof(SfxChild) * n);
	for (int k = 0; k < m->n; k++)
		repl[m->child[k] - first].blkno = BufferGetBlockNumber(m->target[k]);
	nmade = sfx_swap_parent(s, parent, first, first + n, repl, n);
	for (int k = 0; k < m->n; k++)
	{
		int			i = m->child[k];

		/*
		 * The left neighbour has just moved itself, or is a child of the same parent, or of the
		 * parent before.
		 */
		if (k > 0 && m->child[k - 1] == i - 1)
			prev->right = BufferGetBlockNumber(m->target[k]);
		else if (i > 0)
			swap_link(s, parent->children[i - 1].blkno, m->page[k], BufferGetBlockNumber(m->target[k]));
		else if (BlockNumberIsValid(m->left))
			swap_link(s, m->left, m->page[k], BufferGetBlockNumber(m->target[k]));
		prev = swap_move(s, parent->children[i].blkno, m->page[k], m->target[k]);
	}
	sfx_swap_finish(s, parent, nmade);
}

/* Move an inner page, or a root (parent NULL).  left: its left neighbour, if there is one. */
static void
move_page(const SfxTree *t, BlockNumber blkno, Page page, Buffer target, SfxNode *parent, int c,
		  BlockNumber left)
{
	SfxPageTail *tail = SfxPageGetTail(page);
	SfxSwap    *s = sfx_swap_begin(t, tail->level);
	int			nmade = 1;

	s->keep_freed = true;
	if (parent == NULL)
	{
		sfx_meta_run(t->index, t->meta, t->run)->root = BufferGetBlockNumber(target);
		s->new_root = true;
	}
	else
	{
		SfxChild	repl = parent->children[c];

		repl.blkno = BufferGetBlockNumber(target);
		nmade = sfx_swap_parent(s, parent, c, c + 1, &repl, 1);
		if (BlockNumberIsValid(left))
			swap_link(s, left, page, BufferGetBlockNumber(target));
	}
	swap_move(s, blkno, page, target);
	sfx_swap_finish(s, parent, nmade);
}

/* See find.h.  The page's kind decides which parents and links change. */
bool
sfx_tree_move(Relation index, const SfxOrder *order, SfxMeta *meta, BlockNumber blkno, Buffer target, const SfxTargets *targets)
{
	Page		page = palloc(BLCKSZ);
	Buffer		buf = sfx_read_linked(index, blkno, NULL);
	SfxPageTail *tail;
	SfxTree		t = {index, order, meta, 0};
	SfxNode		parent;
	SfxPos		low;
	Movers		movers;
	BlockNumber left = InvalidBlockNumber;
	int			c;

	Assert(sfx_merge_lock_held(index));
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	tail = SfxPageGetTail(page);
	t.run = tail->owner;
	if (sfx_page_check(index, blkno, page) && tail->kind == SFX_PAGE_DICT)
		return sfx_dict_move(index, blkno, target);
	if (sfx_page_check(index, blkno, page) && tail->kind == SFX_PAGE_FILTER && tail->build_id == meta->build_id &&
		sfx_meta_find_run(meta, tail->owner) >= 0)
		return move_filter(&t, blkno, page, target);
	if (!sfx_page_check(index, blkno, page) || sfx_meta_find_run(meta, tail->owner) < 0 ||
		!sfx_tree_page_is(index, blkno, page, meta, tail->owner, tail->level))
	{
		UnlockReleaseBuffer(target);
		return false;
	}
	low = page_low(index, order, blkno, page, tail->level);
	if (blkno == sfx_meta_run(index, meta, tail->owner)->root)
	{
		move_page(&t, blkno, page, target, NULL, 0, InvalidBlockNumber);
		return true;
	}
	c = sfx_swap_find_parent(&t, tail->level, &low, blkno, &parent);
	if (c < 0 || (tail->level > 0 && !left_neighbour(&t, tail->level, &low, blkno, &left)))
	{
		UnlockReleaseBuffer(target);
		return false;
	}
	if (tail->level > 0)
	{
		move_page(&t, blkno, page, target, &parent, c, left);
		return true;
	}
	collect_movers(&t, &parent, c, page, target, targets, &movers);
	if (movers.child[0] == 0 &&
		!left_neighbour(&t, 0, &parent.children[0].low, parent.children[0].blkno, &movers.left))
	{
		for (int k = 0; k < movers.n; k++)
			UnlockReleaseBuffer(movers.target[k]);
		return false;
	}
	move_leaves(&t, &parent, &movers);
	return true;
}
