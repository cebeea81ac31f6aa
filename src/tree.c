/*-------------------------------------------------------------------------
 * tree.c - the static stage's B-link tree: finding a page by position, swapping a group of leaves
 *
 * Readers hold one page lock at a time and are positioned by key: they believe
 * a page only if it is of the expected kind, build, run and level and its fences hold their position (T1).  Beyond the high
 * fence they go right; anywhere else they begin again from the metapage.
 *
 * Writers hold the merge lock, so what they read stays true until they
 * write.  One record swaps a group of leaves together with their parent (T2): entries may move left
 * or right inside the group, pages may go.  If the parent splits, its own parent learns of the new pages in a
 * second record; until then they are reached by right links, and a crash in between is healed by whoever
 * writes there next (T3: separators may lag, but only to the left).
 *-------------------------------------------------------------------------
 */
#include "dict.h"
#include "filters.h"
#include "tree.h"

#include "miscadmin.h"
#include "utils/rel.h"

#define FIND_MAX_RESTARTS	100
#define JOIN_SPARSE			(SFX_BODY_CAPACITY / 4)	/* bytes of an inner page that is joined with a neighbour */
#define JOIN_MOST			(SFX_BODY_CAPACITY / 10 * 9)	/* ... and of the two */
#define MOVE_MAX			9		/* leaves that move in one record, with their left neighbours */
#define MAX_EDIT			(BLCKSZ / 2)	/* bytes of new children in a record, where an image would do */
#define FIND_MAX_MOVES		1000	/* to the right in one descent; damaged links may lead in circles */
#define FIND_CACHED_MOVES	4		/* the same where the descent began with a copy of the root */

static uint8 lowbuf[SFX_MAX_ENTRY];
static uint8 highbuf[SFX_MAX_ENTRY];

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
			   bool before, SfxProbe *probe)
{
	Buffer		buf = ReadBuffer(index, blkno);
	Page		page = BufferGetPage(buf);
	SfxFilter	f;
	int			may;

	SFX_STOP("filter chosen");
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	probe->asked = sfx_filter_page_open(index, order, meta->build_id, run, blkno, page, pos, before, &f);
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
	return sfx_probe_answered(probe);
}

/*
 * One try from the root.  Returns InvalidBuffer if a page was not what its
 * downlink promised, or if a filter on the way says no (probe may be NULL).  Opens *leaf if the target is one.  cached: a copy of the
 * root will do.
 */
static Buffer
find_once(Relation index, const SfxOrder *order, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos, bool before, int target,
		  SfxLeaf *leaf, bool cached, SfxProbe *probe)
{
	BlockNumber blkno = cached ? sfx_cache_descend(meta, order, pos, before) : InvalidBlockNumber;
	int			level = run->level;
	int			moves = 0;
	bool		offer = cached;

	cached = BlockNumberIsValid(blkno);
	if (cached)
		level--;
	else
		blkno = run->root;
	for (;;)
	{
		Buffer		buf = ReadBuffer(index, blkno);
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
			int			i = pos->key == NULL ? inner.nchildren - 1 :
				before ? sfx_inner_find_before(&inner, pos) : sfx_inner_find(&inner, pos);

			if (i < 0 || sfx_inner_child(&inner, i, &child, &count) < 0)
				sfx_corrupt(index, blkno, "inner page search");
			if (child < SFX_FIRST_BLKNO)
				sfx_corrupt(index, blkno, "downlink to a reserved block");
			if (offer && level == run->level)
				sfx_cache_offer(meta, &inner);
			if (probe && level == 1)
				filter = sfx_inner_filter(&inner, i);
			blkno = child;
			level--;
		}
		UnlockReleaseBuffer(buf);
		if (side > 0 && cached && moves == 0)
			sfx_cache_lagged(meta);
		if (side < 0 || (side > 0 && ++moves > (cached ? FIND_CACHED_MOVES : FIND_MAX_MOVES)))
			return InvalidBuffer;
		if (filter >= SFX_FIRST_BLKNO && filter_answers(index, order, meta, run->id, filter, pos, before, probe))
			return InvalidBuffer;
		CHECK_FOR_INTERRUPTS();
	}
}

static Buffer
find(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, bool before, int level,
	 SfxLeaf *leaf, bool cached, SfxProbe *probe)
{
	int			r = sfx_meta_find_run(meta, run);
	Buffer		buf = r < 0 ? InvalidBuffer : find_once(index, order, meta, &meta->runs[r], pos, before, level, leaf, cached, probe);
	SfxMeta		fresh;

	if (cached && !BufferIsValid(buf) && !(probe && sfx_probe_answered(probe)))
		sfx_cache_forget(meta);
	for (int tries = 0; !BufferIsValid(buf) && !(probe && sfx_probe_answered(probe)); tries++)
	{
		if (tries == FIND_MAX_RESTARTS)
			sfx_corrupt(index, SFX_META_BLKNO, "descents from the root do not find a page that holds a key");
		CHECK_FOR_INTERRUPTS();
		sfx_meta_read(index, &fresh);
		r = sfx_meta_find_run(&fresh, run);
		if (r < 0)
			return InvalidBuffer;
		/* the tree may have become lower since the caller looked, if he does not hold the merge lock; the root will do for him */
		level = Min(level, (int) fresh.runs[r].level);
		buf = find_once(index, order, &fresh, &fresh.runs[r], pos, before, level, leaf, false, probe);
	}
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
			   SfxLeaf *leaf, SfxProbe *probe)
{
	probe->asked = probe->absent = false;
	return find(index, order, meta, run, pos, before, 0, leaf, root_may_be_copy(meta, run), probe);
}

/* ---- the writer's side ---- */

SfxPos
sfx_pos_copy(const SfxPos *pos)
{
	SfxPos		copy = *pos;
	uint8	   *key = palloc(Max(pos->len, 1));

	if (pos->len > 0)
		memcpy(key, pos->key, pos->len);
	copy.key = key;
	return copy;
}

static int
collect_child(void *ctx, int i, const SfxChild *child)
{
	SfxNode    *node = ctx;

	node->children[i] = *child;
	node->children[i].low = sfx_pos_copy(&child->low);
	return SFX_OK;
}

/* Copy the inner page in buf, which is locked, and let it go. */
static void
load_page(Relation index, const SfxOrder *order, Buffer buf, SfxNode *node)
{
	Page		page = palloc(BLCKSZ);
	SfxInner	inner;
	SfxPos		low;

	memcpy(page, BufferGetPage(buf), BLCKSZ);
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
		load_page(index, order, buf, node);
	return BufferIsValid(buf);
}

void
sfx_tree_load(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, const SfxPos *pos, int level,
			  SfxNode *node)
{
	if (!sfx_tree_try_load(index, order, meta, run, pos, level, node))
		elog(ERROR, "surfidx: run %u of index \"%s\" vanished under the merge lock", run, RelationGetRelationName(index));
}

/* One page of a swap. */
typedef struct SwapPage
{
	Buffer		buf;			/* valid: allocated, already locked */
	BlockNumber blkno;
	SfxPageKind kind;
	int			level;
	BlockNumber right;
	const uint8_t *body;
	uint32		len;
	bool		link_only;		/* only its right link changes */
	char	   *edit;			/* what redo does to it, where it needs no image */
	Size		editlen;
} SwapPage;

typedef struct Swap
{
	Relation	index;
	const SfxOrder *order;
	SfxMeta    *meta;
	uint32		run;			/* its id */
	bool		new_root;
	bool		progress;		/* the metapage learns the run's statistics and the merge positions */
	bool		create;			/* ... and the run itself */
	int			level;
	SfxHorizon	horizon;
	bool		filters;		/* ... of node's children change, too */
	bool		keep_freed;		/* what is unlinked does not go to the free space map */
	int			n;
	SwapPage	page[SFX_GROUP_BLOCKS];
} Swap;

static SwapPage *
swap_add(Swap *s, BlockNumber blkno, SfxPageKind kind, int level, const uint8_t *body, uint32 len)
{
	SwapPage   *p;

	if (s->n >= SFX_GROUP_BLOCKS - 1)
		elog(ERROR, "surfidx: group of index \"%s\" is too large for one record",
			 RelationGetRelationName(s->index));
	p = &s->page[s->n++];
	p->buf = InvalidBuffer;
	p->blkno = blkno;
	p->kind = kind;
	p->level = level;
	p->right = InvalidBlockNumber;
	p->body = body;
	p->len = len;
	p->link_only = false;
	p->edit = NULL;
	p->editlen = 0;
	if (blkno == InvalidBlockNumber)
	{
		p->buf = sfx_page_alloc(s->index, s->meta);
		p->blkno = BufferGetBlockNumber(p->buf);
	}
	return p;
}

/* The children of a page that takes no more than take of c: it ends between two filters (F1). */
static int
end_at_filter(Relation index, const SfxChild *c, int take, int n)
{
	int			k = take;

	while (k < n && k > 0 && c[k].filter != 0 && c[k].filter == c[k - 1].filter)
		k--;
	if (k == 0)
		elog(ERROR, "surfidx: a filter of index \"%s\" covers more leaves than an inner page has room for",
			 RelationGetRelationName(index));
	return k;
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

		/* Two halves, unless the page grows at its right end: then it stays as full as it is. */
		if (halves && take < n && n - take < take)
			take = (n + 1) / 2;
		if (take > 0)
			take = end_at_filter(index, children, take, n);
		if (take > 0 && take != fit)
			*len = sfx_inner_build(children, take, &children[take].low, body, SFX_BODY_CAPACITY, scratch, order);
		if (take > 0 && *len >= 0)
			return take;
		/* with another high fence the same children may be longer */
		if (take < 2)
			elog(ERROR, "surfidx: an inner page of index \"%s\" cannot be built", RelationGetRelationName(index));
		limit = take - 1;
	}
}

/*
 * Write inner pages for children[0..n) of one level: the first into block blkno (if valid), the rest into new
 * ones, linked, the last one's right link being right.  Fills out[] with one SfxChild per page; returns their number.
 */
static int
swap_inner(Swap *s, BlockNumber blkno, int level, const SfxChild *children, int n, const SfxPos *high,
		   BlockNumber right, bool at_end, SfxChild *out)
{
	void	   *scratch = palloc(sfx_inner_scratch_size());
	int			made = 0;
	SwapPage   *prev = NULL;

	for (int at = 0; at < n;)
	{
		uint8	   *body = palloc(SFX_BODY_CAPACITY);
		int			len,
					take = n - at;
		uint64		count = 0;
		SwapPage   *p;

		len = sfx_inner_build(children + at, take, high, body, SFX_BODY_CAPACITY, scratch, s->order);
		if (len < 0)
			take = sfx_tree_first_page(s->index, s->order, children + at, take, high, !at_end && made == 0, body, scratch, &len);
		p = swap_add(s, made == 0 ? blkno : InvalidBlockNumber, SFX_PAGE_INNER, level, body, len);
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

static void
swap_log(Swap *s, Buffer metabuf)
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
		XLogRegisterBufData(s->n, (char *) s->meta, sizeof(SfxMeta));
	}
	lsn = XLogInsert(SFX_RMGR_ID, XLOG_SFX_GROUP);
	for (int i = 0; i < s->n; i++)
		PageSetLSN(BufferGetPage(s->page[i].buf), lsn);
	if (BufferIsValid(metabuf))
		PageSetLSN(BufferGetPage(metabuf), lsn);
}

/* Put an empty slot for a run at the head of the list. */
static void
add_run(SfxMeta *meta, uint32 id)
{
	memmove(&meta->runs[1], &meta->runs[0], meta->nruns * sizeof(SfxRun));
	memset(&meta->runs[0], 0, sizeof(SfxRun));
	meta->runs[0].id = id;
	meta->nruns++;
	meta->next_run = id + 1;
}

/* A group of a merge. */
static void
count_work(SfxWork *work, const Swap *s)
{
	work->groups++;
	for (int i = 0; i < s->n; i++)
		if (!s->page[i].link_only && s->page[i].kind != SFX_PAGE_DELETED)
		{
			work->pages++;
			work->leaves += s->page[i].kind == SFX_PAGE_LEAF;
		}
}

/* Lock everything in order (pages are listed inner first, then leaves left to right), write, log. */
static void
swap_execute(Swap *s)
{
	Buffer		metabuf = InvalidBuffer;
	SfxMeta		meta;

	/* A damaged page that leads to one block twice must not make us wait for our own lock. */
	for (int i = 1; i < s->n; i++)
		for (int j = 0; j < i; j++)
			if (s->page[i].blkno == s->page[j].blkno)
				sfx_corrupt(s->index, s->page[i].blkno, "two links of the tree lead to this page");
	XLogEnsureRecordSpace(SFX_GROUP_BLOCKS - 1, 20);
	SFX_STOP("swap");
	for (int i = 0; i < s->n; i++)
		if (!BufferIsValid(s->page[i].buf))
		{
			s->page[i].buf = ReadBuffer(s->index, s->page[i].blkno);
			LockBuffer(s->page[i].buf, BUFFER_LOCK_EXCLUSIVE);
		}
	if (s->new_root || s->progress)
	{
		/* Others change generations and counters: take the page's, add our own. */
		sfx_meta_lock(s->index, &meta, &metabuf);
		memcpy(meta.resume, s->meta->resume, sizeof(meta.resume));
		meta.work = s->meta->work;
		if (s->progress && !s->create)
			count_work(&meta.work, s);
		if (s->create)
			add_run(&meta, s->run);
		*sfx_meta_run(s->index, &meta, s->run) = *sfx_meta_run(s->index, s->meta, s->run);
		if (s->new_root)
			meta.epoch++;
		*s->meta = meta;
	}

	START_CRIT_SECTION();
	for (int i = 0; i < s->n; i++)
	{
		SwapPage   *p = &s->page[i];
		Page		page = BufferGetPage(p->buf);

		if (!p->link_only)
		{
			/* by its LSN the log knows whether the page needs an image */
			XLogRecPtr	lsn = PageGetLSN(page);

			sfx_page_init(page, p->kind, s->meta->build_id, s->run, p->level);
			sfx_page_set_body(page, p->body, p->len);
			PageSetLSN(page, lsn);
		}
		SfxPageGetTail(page)->right = p->right;
		MarkBufferDirty(p->buf);
	}
	if (BufferIsValid(metabuf))
	{
		sfx_meta_store(BufferGetPage(metabuf), s->meta);
		MarkBufferDirty(metabuf);
	}
	if (RelationNeedsWAL(s->index))
		swap_log(s, metabuf);
	END_CRIT_SECTION();

	if (BufferIsValid(metabuf))
		UnlockReleaseBuffer(metabuf);
	for (int i = s->n - 1; i >= 0; i--)
		UnlockReleaseBuffer(s->page[i].buf);
	SFX_STOP("unlinked");
	for (int i = 0; i < s->n && !s->keep_freed; i++)
		if (s->page[i].kind == SFX_PAGE_DELETED)
			sfx_page_release_free(s->index, s->page[i].blkno);
}

/* Put a root over pages[0..n) of the level below, in new blocks.  May need several levels when keys are huge. */
static void
swap_root(Swap *s, int level, SfxChild *pages, int n)
{
	SfxRun	   *run = sfx_meta_run(s->index, s->meta, s->run);

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

/* Replace node's children [from, to) by repl[0..n): the node's page or pages, and a new root if it was the root. */
static int
swap_parent(Swap *s, SfxNode *node, int from, int to, const SfxChild *repl, int n)
{
	int			total = node->nchildren - (to - from) + n;
	SfxChild   *all = palloc(sizeof(SfxChild) * total);
	SfxChild   *made = palloc(sizeof(SfxChild) * total);
	SwapPage   *page = &s->page[s->n];
	int			nmade;

	memcpy(all, node->children, sizeof(SfxChild) * from);
	memcpy(all + from, repl, sizeof(SfxChild) * n);
	memcpy(all + from + n, node->children + to, sizeof(SfxChild) * (node->nchildren - to));
	nmade = swap_inner(s, node->blkno, node->level, all, total, node->high_inf ? NULL : &node->high,
					   node->right, to == node->nchildren && node->high_inf, made);
	if (nmade == 1 && s->order == NULL && !s->filters)
		page->edit = sfx_edit_encode(from, to, repl, n, &page->editlen);
	if (page->editlen > MAX_EDIT)
		page->edit = NULL;
	if (nmade > 1 && node->blkno == sfx_meta_run(s->index, s->meta, s->run)->root)
		swap_root(s, node->level + 1, made, nmade);
	return nmade;
}

/* The filters' pages; what leads to them goes to node's children and to the new ones. */
static void
swap_filters(Swap *s, SfxNode *node, int from, int to, const SfxFilterPlan *plan, SfxChild *repl, int n)
{
	for (int i = plan->first; node && i < plan->end; i++)
		node->children[i].filter = 0;
	for (int f = 0; f < plan->n; f++)
	{
		const SfxFilterPage *fp = &plan->page[f];
		SwapPage   *p = swap_add(s, f < plan->nold ? plan->old[f] : InvalidBlockNumber, SFX_PAGE_FILTER, 0, fp->body, fp->len);

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
		swap_add(s, plan->old[f], SFX_PAGE_DELETED, 0, NULL, 0);
}

void
sfx_tree_swap(Relation index, const SfxOrder *order, SfxMeta *meta, uint32 run, SfxNode *node, int from, int to,
			  const SfxNewLeaf *leaves, int n, bool progress, const SfxHorizon *horizon,
			  const SfxFilterPlan *filters)
{
	SfxFilterPlan none;
	Swap	   *s = palloc0(sizeof(Swap));
	SfxChild   *repl = palloc(sizeof(SfxChild) * n);
	SwapPage   *lp[SFX_GROUP_BLOCKS];
	SwapPage	leafpages[SFX_GROUP_BLOCKS];
	Swap		leafswap = {.index = index,.meta = meta,.run = run};
	BlockNumber right = InvalidBlockNumber;
	SfxPos		nodelow = {0};
	int			nold = to - from;
	int			nmade = 1;

	Assert(n >= 1 && n <= SFX_SWAP_MAX);
	s->index = index;
	s->order = order;
	s->meta = meta;
	s->run = run;
	s->progress = progress;
	s->horizon = *horizon;
	if (node)
	{
		Buffer		buf = ReadBuffer(index, node->children[to - 1].blkno);

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		right = SfxPageGetTail(BufferGetPage(buf))->right;
		UnlockReleaseBuffer(buf);
		nodelow = node->children[0].low;
	}

	/* Leaves first, to know their blocks; they are locked after the parent. */
	for (int i = 0; i < n; i++)
	{
		BlockNumber old = node == NULL ? (i == 0 ? sfx_meta_run(index, meta, run)->root : InvalidBlockNumber) :
			i < nold ? node->children[from + i].blkno : InvalidBlockNumber;

		lp[i] = swap_add(&leafswap, old, SFX_PAGE_LEAF, 0, leaves[i].body, leaves[i].len);
		lp[i]->right = right;
		if (i > 0)
			lp[i - 1]->right = lp[i]->blkno;
		repl[i].low = leaves[i].low;
		repl[i].blkno = lp[i]->blkno;
		repl[i].count = leaves[i].nentries;
		repl[i].filter = 0;
	}
	for (int i = n; node && i < nold; i++)
		swap_add(&leafswap, node->children[from + i].blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	/* F2: no filter over one of these leaves stays as it is */
	if (filters == NULL)
	{
		sfx_filters_touched(node, from, to, &none);
		filters = &none;
	}
	swap_filters(&leafswap, node, from, to, filters, repl, n);
	s->filters = filters->n > 0 || filters->nold > 0;
	memcpy(leafpages, leafswap.page, sizeof(SwapPage) * leafswap.n);

	if (node)
		nmade = swap_parent(s, node, from, to, repl, n);
	else
		swap_root(s, 1, repl, n);
	for (int i = 0; i < leafswap.n; i++)
	{
		if (s->n >= SFX_GROUP_BLOCKS - 1)
			elog(ERROR, "surfidx: group of index \"%s\" is too large for one record",
				 RelationGetRelationName(index));
		s->page[s->n++] = leafpages[i];
	}
	swap_execute(s);
	SFX_STOP("group swapped");
	if (nmade > 1 && !s->new_root)
	{
		SFX_STOP("parent split");
		sfx_tree_post(index, order, meta, run, 1, &nodelow);
	}
}

typedef struct EmptyLeaf
{
	uint32		len;
	uint8		body[SFX_BODY_CAPACITY];
} EmptyLeaf;

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
	Swap	   *s = palloc0(sizeof(Swap));
	SfxMeta    *with_run = palloc(sizeof(SfxMeta));
	EmptyLeaf  *leaf = palloc(sizeof(EmptyLeaf));
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	uint32		id = meta->next_run;

	Assert(meta->nruns < SFX_MAX_RUNS);
	(void) sfx_packer_finish(sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &low, keep_empty_leaf, leaf, order),
							 NULL);
	s->index = index;
	s->order = order;
	s->meta = meta;
	s->run = id;
	s->progress = s->create = true;
	/* the page is found with the list as it was: its run's number is not in use there */
	(void) swap_add(s, InvalidBlockNumber, SFX_PAGE_LEAF, 0, leaf->body, leaf->len);
	*with_run = *meta;
	add_run(with_run, id);
	with_run->runs[0].root = s->page[0].blkno;
	with_run->runs[0].leaves = 1;
	s->meta = with_run;
	swap_execute(s);
	*meta = *with_run;
	return id;
}

/* ---- posting downlinks ---- */

/* The pages of one level from blkno on, up to the one whose high fence is end (NULL: infinity). */
static int
walk_level(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, BlockNumber blkno, int level,
		   const SfxPos *end, SfxChild *out, int max)
{
	int			n = 0;

	while (n < max)
	{
		Buffer		buf = ReadBuffer(index, blkno);
		SfxNode		node;

		LockBuffer(buf, BUFFER_LOCK_SHARE);
		if (!sfx_tree_page_is(index, blkno, BufferGetPage(buf), meta, run, level))
			sfx_corrupt(index, blkno, "page of the tree's right chain is of another kind");
		load_page(index, order, buf, &node);
		out[n].low = node.children[0].low;
		out[n].blkno = blkno;
		out[n].count = 0;
		out[n].filter = 0;
		for (int i = 0; i < node.nchildren; i++)
			out[n].count += node.children[i].count;
		n++;
		if (node.high_inf || (end && sfx_order_cmp_pos(order, &node.high, end) >= 0))
			break;
		blkno = node.right;
		CHECK_FOR_INTERRUPTS();
	}
	return n;
}

void
sfx_tree_post(Relation index, const SfxOrder *order, SfxMeta *meta, uint32 run, int level, const SfxPos *pos)
{
	while (level < sfx_meta_run(index, meta, run)->level)
	{
		Swap	   *s = palloc0(sizeof(Swap));
		SfxChild   *chain = palloc(sizeof(SfxChild) * SFX_GROUP_BLOCKS);
		SfxNode		parent;
		const SfxPos *end;
		int			c,
					n;

		sfx_tree_load(index, order, meta, run, pos, level + 1, &parent);
		for (c = parent.nchildren - 1; c > 0 && sfx_order_cmp_pos(order, &parent.children[c].low, pos) > 0; c--)
			;
		end = c + 1 < parent.nchildren ? &parent.children[c + 1].low : parent.high_inf ? NULL : &parent.high;
		n = walk_level(index, order, meta, run, parent.children[c].blkno, level, end, chain, SFX_GROUP_BLOCKS);
		if (n == 1)
			return;
		s->index = index;
		s->order = order;
		s->meta = meta;
		s->run = run;
		s->level = level + 1;
		if (swap_parent(s, &parent, c, c + 1, chain, n) == 1)
		{
			swap_execute(s);
			return;
		}
		swap_execute(s);
		SFX_STOP("parent split");
		level++;
	}
}

/* ---- moving, joining, lowering ---- */

static Swap *
swap_begin(Relation index, const SfxOrder *order, SfxMeta *meta, uint32 run, int level)
{
	Swap	   *s = palloc0(sizeof(Swap));

	s->index = index;
	s->order = order;
	s->meta = meta;
	s->run = run;
	s->level = level;
	return s;
}

/* Write it; and if the node above has become several pages, tell the node above that. */
static void
swap_finish(Swap *s, const SfxNode *parent, int nmade)
{
	swap_execute(s);
	if (nmade > 1 && !s->new_root)
		sfx_tree_post(s->index, s->order, s->meta, s->run, parent->level, &parent->children[0].low);
}

/* The page one level above that leads to block blkno, which begins at low, and the number of the child; -1 if there is none. */
static int
find_parent(Relation index, const SfxOrder *order, SfxMeta *meta, uint32 run, int level, const SfxPos *low, BlockNumber blkno, SfxNode *parent)
{
	for (int tries = 0; tries < 2; tries++)
	{
		sfx_tree_load(index, order, meta, run, low, level + 1, parent);
		for (int i = 0; i < parent->nchildren; i++)
			if (parent->children[i].blkno == blkno)
				return i;
		if (SFX_MUTANT("no healing"))
			return -1;
		sfx_tree_post(index, order, meta, run, level, low);
	}
	return -1;
}

/* The page to the left of the one that begins at low; not for the leftmost. */
static BlockNumber
left_neighbour(Relation index, const SfxOrder *order, const SfxMeta *meta, uint32 run, int level, const SfxPos *low)
{
	Buffer		buf = sfx_tree_find(index, order, meta, run, low, true, level);
	BlockNumber blkno = BufferGetBlockNumber(buf);

	UnlockReleaseBuffer(buf);
	return blkno;
}

/* The low fence of a copied tree page, in lowbuf. */
static SfxPos
page_low(Relation index, const SfxOrder *order, BlockNumber blkno, Page page, int level)
{
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
	return low;
}

/* The same for a filter: the leaves under it name it anew. */
static bool
move_filter(Relation index, const SfxOrder *order, SfxMeta *meta, BlockNumber blkno, Page page, Buffer target)
{
	uint32		run = SfxPageGetTail(page)->owner;
	SfxNode		parent;
	SfxFilter	f;
	SwapPage   *to;
	Swap	   *s;
	int			nmade;
	bool		named = false;

	if (sfx_filter_open(&f, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		sfx_corrupt(index, blkno, "filter header");
	if (sfx_meta_run(index, meta, run)->level < 1)
		sfx_corrupt(index, blkno, "filter over a leaf that has no parent");
	sfx_tree_load(index, order, meta, run, &f.low, 1, &parent);
	for (int i = 0; i < parent.nchildren; i++)
		named |= parent.children[i].filter == blkno;
	if (!named)
		sfx_corrupt(index, blkno, "filter that no leaf names");
	s = swap_begin(index, order, meta, run, 0);
	s->filters = true;
	s->keep_freed = true;
	for (int i = 0; i < parent.nchildren; i++)
		if (parent.children[i].filter == blkno)
			parent.children[i].filter = BufferGetBlockNumber(target);
	nmade = swap_parent(s, &parent, 0, 0, parent.children, 0);
	swap_add(s, blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	to = swap_add(s, BufferGetBlockNumber(target), SFX_PAGE_FILTER, 0, SfxPageBody(page), SfxPageBodyLen(page));
	to->buf = target;
	swap_finish(s, &parent, nmade);
	return true;
}

/* Copy a page of that level of a run; false: it is none. */
static bool
copy_page(Relation index, const SfxMeta *meta, uint32 run, int level, BlockNumber blkno, Page copy)
{
	Buffer		buf = ReadBuffer(index, blkno);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	return sfx_tree_page_is(index, blkno, copy, meta, run, level);
}

/* The page in hand goes from one block to another. */
static SwapPage *
swap_move(Swap *s, BlockNumber blkno, Page page, Buffer target)
{
	SfxPageTail *tail = SfxPageGetTail(page);
	SwapPage   *to;

	swap_add(s, blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	to = swap_add(s, BufferGetBlockNumber(target), tail->kind, tail->level, SfxPageBody(page), SfxPageBodyLen(page));
	to->buf = target;
	to->right = tail->right;
	return to;
}

static void
swap_link(Swap *s, BlockNumber left, Page page, BlockNumber right)
{
	SwapPage   *p = swap_add(s, left, SfxPageGetTail(page)->kind, SfxPageGetTail(page)->level, NULL, 0);

	p->link_only = true;
	p->right = right;
}

/* Leaves of one parent that move together. */
typedef struct Movers
{
	int			n;
	int			child[MOVE_MAX];	/* ascending */
	Page		page[MOVE_MAX];
	Buffer		target[MOVE_MAX];
} Movers;

/*
 * Child c and, while targets last, some of those near by that lie behind the file's new end, too: to its left, most of them, because blocks are
 * emptied from the file's end on, and a merge has filled them from left to right.
 */
static void
collect_movers(Relation index, const SfxMeta *meta, const SfxNode *parent, int c, Page page, Buffer target, const SfxTargets *targets,
			   Movers *m)
{
	int			i = c;
	int			left = MOVE_MAX - 1;

	for (int l = c - 1; l >= 0 && left > 0; l--)
		if (parent->children[l].blkno >= targets->end)
		{
			i = l;
			left--;
		}
	for (m->n = 0; i < parent->nchildren && m->n < MOVE_MAX; i++)
	{
		Page		copy = page;
		Buffer		buf = target;

		if (i != c)
		{
			if (parent->children[i].blkno < targets->end)
				continue;
			copy = palloc(BLCKSZ);
			if (!copy_page(index, meta, parent->run, 0, parent->children[i].blkno, copy))
				sfx_corrupt(index, parent->children[i].blkno, "downlink to a page that is no leaf");
			buf = targets->claim(targets->arg, meta);
			if (!BufferIsValid(buf))
				continue;
		}
		m->child[m->n] = i;
		m->page[m->n] = copy;
		m->target[m->n++] = buf;
	}
}

/* Move leaves in one record: there are some of most parents', and the parent is the most expensive part of it. */
static void
move_leaves(Relation index, const SfxOrder *order, SfxMeta *meta, SfxNode *parent, const Movers *m)
{
	Swap	   *s = swap_begin(index, order, meta, parent->run, 0);
	int			first = m->child[0];
	int			n = m->child[m->n - 1] + 1 - first;
	SfxChild   *repl = palloc(sizeof(SfxChild) * n);
	const SfxPos *low = &parent->children[0].low;
	SwapPage   *prev = NULL;
	int			nmade;

	s->keep_freed = true;
	memcpy(repl, parent->children + first, sizeof(SfxChild) * n);
	for (int k = 0; k < m->n; k++)
		repl[m->child[k] - first].blkno = BufferGetBlockNumber(m->target[k]);
	nmade = swap_parent(s, parent, first, first + n, repl, n);
	for (int k = 0; k < m->n; k++)
	{
		int			i = m->child[k];

		/* the left neighbour: it has just moved itself, or lies below the same parent, or below the one before */
		if (k > 0 && m->child[k - 1] == i - 1)
			prev->right = BufferGetBlockNumber(m->target[k]);
		else if (i > 0)
			swap_link(s, parent->children[i - 1].blkno, m->page[k], BufferGetBlockNumber(m->target[k]));
		else if (low->len > 0 || low->tid > 0)
			swap_link(s, left_neighbour(index, order, meta, parent->run, 0, low), m->page[k], BufferGetBlockNumber(m->target[k]));
		prev = swap_move(s, parent->children[i].blkno, m->page[k], m->target[k]);
	}
	swap_finish(s, parent, nmade);
}

/* Move an inner page or a root.  low: its low fence, copied. */
static void
move_page(Relation index, const SfxOrder *order, SfxMeta *meta, BlockNumber blkno, Page page, Buffer target, SfxNode *parent, int c,
		  const SfxPos *low)
{
	SfxPageTail *tail = SfxPageGetTail(page);
	Swap	   *s = swap_begin(index, order, meta, tail->owner, tail->level);
	int			nmade = 1;

	s->keep_freed = true;
	if (parent == NULL)
	{
		sfx_meta_run(index, meta, tail->owner)->root = BufferGetBlockNumber(target);
		s->new_root = true;
	}
	else
	{
		SfxChild	repl = parent->children[c];

		repl.blkno = BufferGetBlockNumber(target);
		nmade = swap_parent(s, parent, c, c + 1, &repl, 1);
		if (low->len > 0 || low->tid > 0)
			swap_link(s, left_neighbour(index, order, meta, tail->owner, tail->level, low), page, BufferGetBlockNumber(target));
	}
	swap_move(s, blkno, page, target);
	swap_finish(s, parent, nmade);
}

bool
sfx_tree_move(Relation index, const SfxOrder *order, SfxMeta *meta, BlockNumber blkno, Buffer target, const SfxTargets *targets)
{
	Page		page = palloc(BLCKSZ);
	Buffer		buf = ReadBuffer(index, blkno);
	SfxPageTail *tail;
	SfxNode		parent;
	SfxPos		low;
	Movers		movers;
	int			c;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	tail = SfxPageGetTail(page);
	if (sfx_page_check(index, blkno, page) && tail->kind == SFX_PAGE_DICT)
		return sfx_dict_move(index, blkno, target);
	if (sfx_page_check(index, blkno, page) && tail->kind == SFX_PAGE_FILTER && tail->build_id == meta->build_id &&
		sfx_meta_find_run(meta, tail->owner) >= 0)
		return move_filter(index, order, meta, blkno, page, target);
	if (!sfx_page_check(index, blkno, page) || sfx_meta_find_run(meta, tail->owner) < 0 ||
		!sfx_tree_page_is(index, blkno, page, meta, tail->owner, tail->level))
	{
		UnlockReleaseBuffer(target);
		return false;
	}
	low = page_low(index, order, blkno, page, tail->level);
	low = sfx_pos_copy(&low);
	if (blkno == sfx_meta_run(index, meta, tail->owner)->root)
	{
		move_page(index, order, meta, blkno, page, target, NULL, 0, &low);
		return true;
	}
	c = find_parent(index, order, meta, tail->owner, tail->level, &low, blkno, &parent);
	if (c < 0)
		sfx_corrupt(index, blkno, "page of the tree without a downlink");
	if (tail->level > 0)
	{
		move_page(index, order, meta, blkno, page, target, &parent, c, &low);
		return true;
	}
	collect_movers(index, meta, &parent, c, page, target, targets, &movers);
	move_leaves(index, order, meta, &parent, &movers);
	return true;
}

bool
sfx_tree_join(Relation index, const SfxOrder *order, SfxMeta *meta, SfxNode *node)
{
	uint8	   *body = palloc(SFX_BODY_CAPACITY);
	SfxNode		parent,
				next;
	SfxChild	joined;
	SfxChild   *all;
	SwapPage   *p;
	Swap	   *s;
	int			c,
				len,
				nmade;

	if (node->high_inf || node->blkno == sfx_meta_run(index, meta, node->run)->root)
		return false;
	c = find_parent(index, order, meta, node->run, node->level, &node->children[0].low, node->blkno, &parent);
	if (c < 0)
		sfx_corrupt(index, node->blkno, "page of the tree without a downlink");
	if (c + 1 >= parent.nchildren)
		return false;
	sfx_tree_load(index, order, meta, node->run, &node->high, node->level, &next);
	/* not worth it, or soon to be split again; a page between the two of which the parent does not know will be posted first */
	if ((node->len > JOIN_SPARSE && next.len > JOIN_SPARSE) || node->len + next.len > JOIN_MOST ||
		parent.children[c + 1].blkno != next.blkno)
		return false;
	all = palloc(sizeof(SfxChild) * (node->nchildren + next.nchildren));
	memcpy(all, node->children, sizeof(SfxChild) * node->nchildren);
	memcpy(all + node->nchildren, next.children, sizeof(SfxChild) * next.nchildren);
	len = sfx_inner_build(all, node->nchildren + next.nchildren, next.high_inf ? NULL : &next.high, body, SFX_BODY_CAPACITY,
						  palloc(sfx_inner_scratch_size()), order);
	if (len < 0)
		return false;
	s = swap_begin(index, order, meta, node->run, node->level);
	joined = parent.children[c];
	joined.count += parent.children[c + 1].count;
	nmade = swap_parent(s, &parent, c, c + 2, &joined, 1);
	p = swap_add(s, node->blkno, SFX_PAGE_INNER, node->level, body, len);
	p->right = next.right;
	swap_add(s, next.blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	swap_finish(s, &parent, nmade);
	return true;
}

bool
sfx_tree_lower(Relation index, const SfxOrder *order, SfxMeta *meta, uint32 id)
{
	SfxRun	   *run = sfx_meta_run(index, meta, id);
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	SfxNode		root;
	Swap	   *s;

	if (run->level < 2)
		return false;
	sfx_tree_load(index, order, meta, id, &low, run->level, &root);
	if (root.nchildren > 1 || !root.high_inf)
		return false;
	s = swap_begin(index, order, meta, id, run->level);
	swap_add(s, root.blkno, SFX_PAGE_DELETED, 0, NULL, 0);
	run->root = root.children[0].blkno;
	run->level--;
	s->new_root = true;
	swap_execute(s);
	return true;
}
