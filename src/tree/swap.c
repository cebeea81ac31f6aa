/*-------------------------------------------------------------------------
 * swap.c - changing the tree: groups of pages in one record, and downlinks to pages that have split
 *
 * Writers hold the merge lock, so what they have read stays true until they write.  One record
 * swaps a group of leaves together with their parent (T2): entries may move left or right inside
 * the group, and pages may be unlinked.  If the parent splits, its own parent learns of the new
 * pages in a second record.  Until then right links lead to them, and after a crash in between the
 * next writer there posts them (T3: separators may lag, but only to the left).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "filter_make.h"
#include "find.h"
#include "horizon.h"
#include "inner.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "page.h"
#include "swap.h"
#include "wal.h"

#include "miscadmin.h"
#include "utils/rel.h"

#define MAX_EDIT			(BLCKSZ / 2)	/* bytes of new children in a record, from which on an
											 * image of the page is logged instead */

SfxSwap *
sfx_swap_begin(const SfxTree *t, int level)
{
	SfxSwap    *s = palloc0(sizeof(SfxSwap));

	s->tree = *t;
	s->level = level;
	return s;
}

SfxSwapPage *
sfx_swap_add(SfxSwap *s, BlockNumber blkno, SfxPageKind kind, int level, const uint8_t *body, uint32 len)
{
	SfxSwapPage *p;

	if (s->n >= SFX_GROUP_BLOCKS - 1)
		elog(ERROR, "surfidx: group of index \"%s\" is too large for one record",
			 RelationGetRelationName(s->tree.index));
	p = &s->page[s->n++];
	*p = (SfxSwapPage) {.blkno = blkno,.kind = kind,.level = level,.right = InvalidBlockNumber};
	p->body = body;
	p->len = len;
	if (blkno == InvalidBlockNumber)
	{
		p->buf = sfx_page_alloc(s->tree.index, s->tree.meta);
		p->blkno = BufferGetBlockNumber(p->buf);
	}
	return p;
}

/* Of the first `take` of children c[0..n), as many as end between two filters (F1). */
static int
end_at_filter(Relation index, const SfxChild *c, int take, int n)
{
	int			k = take;

	while (k < n && k > 0 && c[k].filter != 0 && c[k].filter == c[k - 1].filter)
		k--;
	if (k == 0)
		sfx_corrupt(index, c[0].filter, "a filter over more leaves than an inner page has room for");
	return k;
}

/*
 * Any two children fit in a page, whatever their separators (SFX_MAX_ENTRY).  So what cannot be
 * built has two with the same separator, by damage or where the order of the entries does not hold
 * (K4).
 */
static void
cannot_be_built(Relation index, const SfxOrder *order, const SfxChild *children)
{
	sfx_out_of_order(index, order, children[0].blkno,
					 "this page and its right neighbour begin with the same key");
}

int
sfx_tree_first_page(Relation index, const SfxOrder *order, const SfxChild *children, int n, const SfxPos *high, bool halves,
					uint8 *body, void *scratch, int *len)
{
	int			limit = n;

	for (;;)
	{
		const SfxPos *end = limit < n ? &children[limit].low : high;
		int			fit = sfx_inner_fit(children, limit, end, body, SFX_BODY_CAPACITY, scratch, len, order);
		int			take = fit;

		/* two halves, unless the page grows at its right end: then it stays as full as it is */
		if (halves && take < n && n - take < take)
			take = (n + 1) / 2;
		if (take > 0)
			take = end_at_filter(index, children, take, n);
		if (take > 0 && take != fit)
			*len = sfx_inner_build(children, take, &children[take].low, body, SFX_BODY_CAPACITY, scratch, order);
		if (take > 0 && *len >= 0)
			return take;
		/* with another high fence the same children may take more bytes */
		if (take < 2)
			cannot_be_built(index, order, children);
		limit = take - 1;
	}
}

/*
 * Add to the swap the inner pages for children[0..n) of one level: the first goes to block blkno
 * (if valid), the others to new blocks.  They are linked from left to right, the last one to
 * `right`.  high: their high fence, NULL: infinity; at_end: the level grows at its right end.
 * Fills out[] with a child for each page; returns how many.
 */
static int
swap_inner(SfxSwap *s, BlockNumber blkno, int level, const SfxChild *children, int n, const SfxPos *high,
		   BlockNumber right, bool at_end, SfxChild *out)
{
	void	   *scratch = palloc(sfx_inner_scratch_size());
	int			made = 0;
	SfxSwapPage *prev = NULL;

	for (int at = 0; at < n;)
	{
		uint8	   *body = palloc(SFX_BODY_CAPACITY);
		int			len,
					take = n - at;
		uint64		count = 0;
		SfxSwapPage *p;

		len = sfx_inner_build(children + at, take, high, body, SFX_BODY_CAPACITY, scratch,
							  s->tree.order);
		if (len < 0)
			take = sfx_tree_first_page(s->tree.index, s->tree.order, children + at, take, high,
									   !at_end && made == 0, body, scratch, &len);
		p = sfx_swap_add(s, made == 0 ? blkno : InvalidBlockNumber, SFX_PAGE_INNER, level, body, len);
		p->right = right;
		if (prev)
			prev->right = p->blkno;
		prev = p;
		for (int i = at; i < at + take; i++)
			count += children[i].count;
		out[made].low = children[at].low;
		out[made].blkno = p->blkno;
		out[made].count = count;
		out[made].filter = 0;
		made++;
		at += take;
	}
	return made;
}

/*
 * Log the swap, whose pages are changed and locked, in one GROUP record, and set their LSNs.  Pages
 * made anew are logged as images, whatever full_page_writes says; of the others redo gets what
 * changes.
 */
static void
swap_log(SfxSwap *s, Buffer metabuf)
{
	SfxXlGroup	x = {.npages = s->n,.meta = BufferIsValid(metabuf),.new_root = s->new_root,.level = s->level,
	.catalog = s->horizon.catalog,.horizon = s->horizon.xid};
	XLogRecPtr	lsn;

	XLogBeginInsert();
	XLogRegisterData((char *) &x, sizeof(x));
	for (int i = 0; i < s->n; i++)
	{
		if (s->page[i].link_only)
		{
			XLogRegisterBuffer(i, s->page[i].buf, REGBUF_STANDARD);
			XLogRegisterBufData(i, (char *) &s->page[i].right, sizeof(BlockNumber));
		}
		else if (s->page[i].edit)
		{
			XLogRegisterBuffer(i, s->page[i].buf, REGBUF_STANDARD);
			XLogRegisterBufData(i, s->page[i].edit, s->page[i].editlen);
		}
		else
			XLogRegisterBuffer(i, s->page[i].buf, REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	}
	if (BufferIsValid(metabuf))
	{
		XLogRegisterBuffer(s->n, metabuf, REGBUF_STANDARD);
		XLogRegisterBufData(s->n, (char *) s->tree.meta, sizeof(SfxMeta));
	}
	lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_GROUP);
	for (int i = 0; i < s->n; i++)
		PageSetLSN(BufferGetPage(s->page[i].buf), lsn);
	if (BufferIsValid(metabuf))
		PageSetLSN(BufferGetPage(metabuf), lsn);
}

/* Put an empty run with that id at the head of the metapage's list. */
static void
add_run(SfxMeta *meta, uint32 id)
{
	memmove(&meta->runs[1], &meta->runs[0], meta->nruns * sizeof(SfxRun));
	memset(&meta->runs[0], 0, sizeof(SfxRun));
	meta->runs[0].id = id;
	meta->nruns++;
	meta->next_run = id + 1;
}

/* Count the swap as a group of a merge.  Memories and counts of this tree rely on it (T6). */
static void
count_work(SfxWork *work, const SfxSwap *s)
{
	work->groups++;
	for (int i = 0; i < s->n; i++)
		if (!s->page[i].link_only && s->page[i].kind != SFX_PAGE_DELETED)
		{
			work->pages++;
			work->leaves += s->page[i].kind == SFX_PAGE_LEAF;
		}
}

/*
 * Lock the metapage exclusively, and make *s->tree.meta what it is to become.  Other backends
 * change generations and counters without the merge lock, so these are taken from the page; the
 * run's entry, the positions of merges, the work done and what leaves were written with are ours.
 */
static Buffer
lock_meta(SfxSwap *s)
{
	const SfxTree *t = &s->tree;
	Buffer		buf;
	SfxMeta		meta;

	sfx_meta_lock(t->index, &meta, &buf);
	memcpy(meta.resume, t->meta->resume, sizeof(meta.resume));
	meta.work = t->meta->work;
	memcpy(meta.dict, t->meta->dict, sizeof(meta.dict));
	if (s->works)
		count_work(&meta.work, s);
	if (s->create)
		add_run(&meta, t->run);
	*sfx_meta_run(t->index, &meta, t->run) = *sfx_meta_run(t->index, t->meta, t->run);
	if (s->new_root)
		meta.epoch++;
	*t->meta = meta;
	return buf;
}

void
sfx_swap_execute(SfxSwap *s)
{
	Buffer		metabuf = InvalidBuffer;
	SfxFreed	freed = {0};

	Assert(sfx_merge_lock_held(s->tree.index));
	/* a damaged page that leads to one block twice must not make us wait for our own lock */
	for (int i = 1; i < s->n; i++)
		for (int j = 0; j < i; j++)
			if (s->page[i].blkno == s->page[j].blkno)
				sfx_corrupt(s->tree.index, s->page[i].blkno,
							"two links of the tree lead to this page");
	XLogEnsureRecordSpace(SFX_GROUP_BLOCKS - 1, 20);
	SFX_STOP("swap");
	for (int i = 0; i < s->n; i++)
		if (!BufferIsValid(s->page[i].buf))
		{
			s->page[i].buf = sfx_read_linked(s->tree.index, s->page[i].blkno, NULL);
			LockBuffer(s->page[i].buf, BUFFER_LOCK_EXCLUSIVE);
		}
	if (s->new_root || s->counts)
		metabuf = lock_meta(s);

	START_CRIT_SECTION();
	for (int i = 0; i < s->n; i++)
	{
		SfxSwapPage *p = &s->page[i];
		Page		page = BufferGetPage(p->buf);

		if (!p->link_only)
		{
			/* XLogInsert goes by the page's old LSN to decide on an image */
			XLogRecPtr	lsn = PageGetLSN(page);

			sfx_page_init(page, p->kind, s->tree.meta->build_id, s->tree.run, p->level);
			sfx_page_set_body(page, p->body, p->len);
			PageSetLSN(page, lsn);
		}
		SfxPageGetTail(page)->right = p->right;
		MarkBufferDirty(p->buf);
	}
	if (BufferIsValid(metabuf))
	{
		sfx_meta_store(BufferGetPage(metabuf), s->tree.meta);
		MarkBufferDirty(metabuf);
	}
	if (RelationNeedsWAL(s->tree.index))
		swap_log(s, metabuf);
	END_CRIT_SECTION();

	if (BufferIsValid(metabuf))
		UnlockReleaseBuffer(metabuf);
	for (int i = s->n - 1; i >= 0; i--)
		UnlockReleaseBuffer(s->page[i].buf);
	SFX_STOP("unlinked");
	for (int i = 0; i < s->n && !s->keep_freed; i++)
		if (s->page[i].kind == SFX_PAGE_DELETED)
			sfx_freed_add(&freed, s->tree.index, s->page[i].blkno);
	sfx_freed_end(&freed, s->tree.index);
}

/*
 * Put a root over pages[0..n) of the level below, in new blocks: several levels, if separators are
 * huge.  Sets the run's root and level in the swap's metapage.
 */
static void
swap_root(SfxSwap *s, int level, SfxChild *pages, int n)
{
	SfxRun	   *run = sfx_meta_run(s->tree.index, s->tree.meta, s->tree.run);

	while (n > 1)
	{
		SfxChild   *above = palloc(sizeof(SfxChild) * n);

		n = swap_inner(s, InvalidBlockNumber, level, pages, n, NULL, InvalidBlockNumber, true, above);
		pages = above;
		run->root = pages[0].blkno;
		run->level = level;
		s->new_root = true;
		level++;
	}
}

int
sfx_swap_parent(SfxSwap *s, SfxNode *node, int from, int to, const SfxChild *repl, int n)
{
	int			total = node->nchildren - (to - from) + n;
	SfxChild   *all = palloc(sizeof(SfxChild) * total);
	SfxChild   *made = palloc(sizeof(SfxChild) * total);
	SfxSwapPage *page = &s->page[s->n];
	int			nmade;

	memcpy(all, node->children, sizeof(SfxChild) * from);
	memcpy(all + from, repl, sizeof(SfxChild) * n);
	memcpy(all + from + n, node->children + to, sizeof(SfxChild) * (node->nchildren - to));
	nmade = swap_inner(s, node->blkno, node->level, all, total, node->high_inf ? NULL : &node->high,
					   node->right, to == node->nchildren && node->high_inf, made);
	if (nmade == 1 && s->tree.order == NULL && !s->filters)
		page->edit = sfx_edit_encode(from, to, repl, n, &page->editlen);
	if (page->editlen > MAX_EDIT)
		page->edit = NULL;
	if (nmade > 1 && node->blkno == sfx_meta_run(s->tree.index, s->tree.meta, s->tree.run)->root)
		swap_root(s, node->level + 1, made, nmade);
	return nmade;
}

/*
 * Add the planned filters' pages to the swap, and name them in the children that they cover: node's
 * own, and the new ones, repl[0..n).  Filters that the plan does not replace are unlinked (F2).
 */
static void
swap_filters(SfxSwap *s, SfxNode *node, int from, int to, const SfxFilterPlan *plan, SfxChild *repl, int n)
{
	if (SFX_MUTANT("filters stay"))
	{
		for (int i = 0; node && i < n; i++)
			repl[i].filter = node->children[Min(from + i, to - 1)].filter;
		return;
	}
	for (int i = plan->first; node && i < plan->end; i++)
		node->children[i].filter = 0;
	for (int f = 0; f < plan->n; f++)
	{
		const SfxFilterPage *fp = &plan->page[f];
		SfxSwapPage *p = sfx_swap_add(s, f < plan->nold ? plan->old[f] : InvalidBlockNumber, SFX_PAGE_FILTER, 0, fp->body, fp->len);

		for (int i = plan->first + fp->first; i < plan->first + fp->first + fp->n; i++)
		{
			if (i < from)
				node->children[i].filter = p->blkno;
			else if (i < from + n)
				repl[i - from].filter = p->blkno;
			else
				node->children[i - n + (to - from)].filter = p->blkno;
		}
	}
	for (int f = plan->n; f < plan->nold; f++)
		sfx_swap_add(s, plan->old[f], SFX_PAGE_DELETED, 0, NULL, 0);
}

/*
 * Add the new leaves to the swap.  They go to the blocks of the old ones, children [from, to), and
 * those for which there is none to new blocks; old ones that are left over are unlinked.
 * repl[0..n) becomes the parent's children for them.  right: the leaf after them.
 */
static void
add_leaves(SfxSwap *s, const SfxNode *node, int from, int to, const SfxNewLeaf *leaves, int n,
		   BlockNumber right, SfxChild *repl)
{
	SfxSwapPage *before = NULL;
	int			nold = to - from;

	for (int i = 0; i < n; i++)
	{
		BlockNumber old = InvalidBlockNumber;
		SfxSwapPage *page;

		if (node && i < nold)
			old = node->children[from + i].blkno;
		else if (node == NULL && i == 0)
			old = sfx_meta_run(s->tree.index, s->tree.meta, s->tree.run)->root;
		page = sfx_swap_add(s, old, SFX_PAGE_LEAF, 0, leaves[i].body, leaves[i].len);
		page->right = right;
		if (before)
			before->right = page->blkno;
		before = page;
		repl[i].low = leaves[i].low;
		repl[i].blkno = page->blkno;
		repl[i].count = leaves[i].nentries;
		repl[i].filter = 0;
	}
	for (int i = n; node && i < nold; i++)
		sfx_swap_add(s, node->children[from + i].blkno, SFX_PAGE_DELETED, 0, NULL, 0);
}

void
sfx_tree_swap(const SfxTree *t, SfxNode *node, int from, int to,
			  const SfxNewLeaf *leaves, int n, bool works, const SfxHorizon *horizon,
			  const SfxFilterPlan *filters)
{
	SfxFilterPlan none;
	SfxSwap    *s = sfx_swap_begin(t, 0);
	SfxChild   *repl = palloc(sizeof(SfxChild) * n);
	SfxSwapPage leafpages[SFX_GROUP_BLOCKS];
	SfxSwap		leafswap = {.tree = *t};
	BlockNumber right = InvalidBlockNumber;
	SfxPos		nodelow = {0};
	int			nmade = 1;

	Assert(sfx_merge_lock_held(t->index));
	Assert(n >= 1 && n <= SFX_SWAP_MAX);
	s->counts = true;
	s->works = works;
	s->horizon = *horizon;
	if (node)
	{
		Buffer		buf = sfx_read_linked(t->index, node->children[to - 1].blkno, NULL);

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		right = SfxPageGetTail(BufferGetPage(buf))->right;
		UnlockReleaseBuffer(buf);
		nodelow = node->children[0].low;
	}

	/* leaves first, to know their blocks; but their locks come after the parent's */
	add_leaves(&leafswap, node, from, to, leaves, n, right, repl);
	/* F2: no filter over one of the leaves stays as it is */
	if (filters == NULL)
	{
		sfx_filters_touched(node, from, to, &none);
		filters = &none;
	}
	swap_filters(&leafswap, node, from, to, filters, repl, n);
	s->filters = filters->n > 0 || filters->nold > 0;
	memcpy(leafpages, leafswap.page, sizeof(SfxSwapPage) * leafswap.n);

	if (node)
		nmade = sfx_swap_parent(s, node, from, to, repl, n);
	else
		swap_root(s, 1, repl, n);
	for (int i = 0; i < leafswap.n; i++)
	{
		if (s->n >= SFX_GROUP_BLOCKS - 1)
			elog(ERROR, "surfidx: group of index \"%s\" is too large for one record",
				 RelationGetRelationName(t->index));
		s->page[s->n++] = leafpages[i];
	}
	sfx_swap_execute(s);
	if (node && node->kept && nmade == 1)
		sfx_kept_replace(node->kept, from, to, repl, n, s->page[0].body, s->page[0].len);
	else if (node && node->kept)
		sfx_kept_forget(node->kept);
	SFX_STOP("group swapped");
	if (nmade > 1 && !s->new_root)
	{
		SFX_STOP("parent split");
		sfx_tree_post(t, 1, &nodelow);
	}
}

/* The body of an empty leaf. */
typedef struct EmptyLeaf
{
	uint32		len;
	uint8		body[SFX_BODY_CAPACITY];
} EmptyLeaf;

/* As the packer's output function: keeps the leaf. */
static int
keep_empty_leaf(void *ctx, const SfxLeafOut *out)
{
	EmptyLeaf  *l = ctx;

	l->len = out->len;
	memcpy(l->body, out->body, out->len);
	return SFX_OK;
}

uint32
sfx_tree_create(Relation index, const SfxOrder *order, SfxMeta *meta)
{
	SfxMeta    *with_run = palloc(sizeof(SfxMeta));
	EmptyLeaf  *leaf = palloc(sizeof(EmptyLeaf));
	uint32		id = meta->next_run;
	SfxSwap    *s = sfx_swap_begin(SfxTreeOf(index, order, meta, id), 0);

	Assert(sfx_merge_lock_held(index));
	Assert(meta->nruns < SFX_MAX_RUNS);
	(void) sfx_packer_finish(sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &SFX_POS_FIRST, keep_empty_leaf, leaf, order),
							 NULL);
	s->counts = s->create = true;
	/* the page is allocated by the old metapage, in which the run's number is not in use */
	(void) sfx_swap_add(s, InvalidBlockNumber, SFX_PAGE_LEAF, 0, leaf->body, leaf->len);
	*with_run = *meta;
	add_run(with_run, id);
	with_run->runs[0].root = s->page[0].blkno;
	with_run->runs[0].leaves = 1;
	s->tree.meta = with_run;
	sfx_swap_execute(s);
	*meta = *with_run;
	return id;
}

/* ---- posting downlinks ---- */

/*
 * List the pages of one level from blkno on, rightwards, up to the one whose high fence is end
 * (NULL: infinity), as children of the level above: at most max.  Returns how many.
 */
static int
walk_level(const SfxTree *t, BlockNumber blkno, int level,
		   const SfxPos *end, SfxChild *out, int max)
{
	int			n = 0;

	while (n < max)
	{
		Buffer		buf = sfx_read_linked(t->index, blkno, NULL);
		SfxNode		node;

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		if (!sfx_tree_page_is(t->index, blkno, BufferGetPage(buf), t->meta, t->run, level))
			sfx_corrupt(t->index, blkno, "page of the tree's right chain is of another kind");
		sfx_tree_load_page(t->index, t->order, buf, &node);
		out[n].low = node.children[0].low;
		out[n].blkno = blkno;
		out[n].count = 0;
		out[n].filter = 0;
		for (int i = 0; i < node.nchildren; i++)
			out[n].count += node.children[i].count;
		n++;
		/* by bytes, too: the next page has a downlink, whatever comparisons say (K4) */
		if (node.high_inf || (end && (sfx_same_pos(&node.high, end) ||
									  sfx_order_cmp_pos(t->order, &node.high, end) >= 0)))
			break;
		blkno = node.right;
		CHECK_FOR_INTERRUPTS();
	}
	return n;
}

void
sfx_tree_post(const SfxTree *t, int level, const SfxPos *pos)
{
	Assert(sfx_merge_lock_held(t->index));
	while (level < sfx_meta_run(t->index, t->meta, t->run)->level)
	{
		SfxSwap    *s;
		SfxChild   *chain = palloc(sizeof(SfxChild) * SFX_GROUP_BLOCKS);
		SfxNode		parent;
		const SfxPos *end;
		int			c,
					n;

		sfx_tree_load(t, pos, level + 1, &parent);
		c = parent.nchildren - 1;
		while (c > 0 && sfx_order_cmp_pos(t->order, &parent.children[c].low, pos) > 0)
			c--;
		end = c + 1 < parent.nchildren ? &parent.children[c + 1].low : parent.high_inf ? NULL : &parent.high;
		n = walk_level(t, parent.children[c].blkno, level, end, chain, SFX_GROUP_BLOCKS);
		if (n == 1)
			return;
		s = sfx_swap_begin(t, level + 1);
		if (sfx_swap_parent(s, &parent, c, c + 1, chain, n) == 1)
		{
			sfx_swap_execute(s);
			return;
		}
		sfx_swap_execute(s);
		SFX_STOP("parent split");
		level++;
	}
}

void
sfx_swap_finish(SfxSwap *s, const SfxNode *parent, int nmade)
{
	sfx_swap_execute(s);
	if (nmade > 1 && !s->new_root)
		sfx_tree_post(&s->tree, parent->level, &parent->children[0].low);
}

/* Do comparisons lead to that page?  Where the order has changed they may lead elsewhere (K4). */
static bool
leads_to(const SfxTree *t, int level, const SfxPos *low, BlockNumber blkno)
{
	Buffer		buf = sfx_tree_find(t, low, false, level);
	bool		found = BufferGetBlockNumber(buf) == blkno;

	UnlockReleaseBuffer(buf);
	return found;
}

int
sfx_swap_find_parent(const SfxTree *t, int level, const SfxPos *low, BlockNumber blkno,
					 SfxNode *parent)
{
	for (int tries = 0; tries < 2; tries++)
	{
		sfx_tree_load(t, low, level + 1, parent);
		for (int i = 0; i < parent->nchildren; i++)
			if (parent->children[i].blkno == blkno)
				return i;
		if (SFX_MUTANT("no healing") || (t->order && !leads_to(t, level, low, blkno)))
			break;
		sfx_tree_post(t, level, low);
	}
	if (t->order == NULL)
		sfx_corrupt(t->index, blkno, "page of the tree without a downlink");
	return -1;
}
