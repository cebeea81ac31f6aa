/*-------------------------------------------------------------------------
 * find.c - finding a page of a B-link tree by position
 *
 * Readers hold one page lock at a time and are positioned by key: they believe a page only if it is
 * of the expected kind, build, run and level and its fences hold their position (T1).  Beyond the
 * high fence they go right; anywhere else they begin again from the metapage.
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

#define FIND_MAX_MOVES		1000	/* moves to the right in one descent; damaged links may lead in
									 * circles */
#define FIND_CACHED_MOVES	4	/* the same where the descent began with a copy of the root */

/* A search for the page of a level that holds a position. */
typedef struct Descent
{
	const SfxTree *tree;
	const SfxRun *run;			/* as tree->meta has it */
	const SfxPos *pos;
	bool		before;			/* the position is just below pos */
	int			level;			/* of the page wanted */
	bool		cached;			/* the descent may begin with a copy of the root */
	SfxUpperPlace place;		/* between which separators of that copy pos is */
	SfxLeaf    *leaf;			/* receives the leaf opened, if the page is one */
	SfxFilterProbe *probe;		/* what a filter on the way is asked; NULL: none is */
	BlockNumber last;			/* the page looked at last */
	SfxMeta		fresh;			/* the metapage of a repeated try, ... */
	SfxTree		again;			/* ... and its tree */
	uint8		low[SFX_MAX_ENTRY]; /* the keys of fences */
	uint8		high[SFX_MAX_ENTRY];
} Descent;

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
sfx_leaf_copy(const SfxTree *t, BlockNumber blkno,
			  BufferAccessStrategy strategy, char *copy, SfxLeaf *leaf)
{
	Buffer		buf = sfx_read_linked(t->index, blkno, strategy);
	bool		valid;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	valid = sfx_tree_page_is(t->index, blkno, BufferGetPage(buf), t->meta, t->run, 0);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	if (!valid)
		sfx_corrupt(t->index, blkno, "a downlink leads to a page that is no leaf");
	if (sfx_leaf_open(leaf, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), t->order) < 0)
		sfx_corrupt(t->index, blkno, "leaf header or directory");
}

/* The side of a page with these fences, if what comes before the position is sought. */
static int
side_before(const Descent *d, const SfxPos *low, const SfxPos *high, bool inf)
{
	const SfxOrder *order = d->tree->order;

	if (!inf && (d->pos->key == NULL || sfx_order_cmp_pos(order, d->pos, high) > 0))
		return 1;
	return d->pos->key == NULL || sfx_order_cmp_pos(order, d->pos, low) > 0 ? 0 : -1;
}

/*
 * Where does the position lie?  0: on this page, which is locked; > 0: to its right; < 0: to its
 * left.  Opens *d->leaf.
 */
static int
leaf_side(Descent *d, Page page)
{
	const SfxTree *t = d->tree;
	SfxPos		low,
				high;
	bool		inf;

	if (sfx_leaf_open(d->leaf, SfxPageBody(page), SfxPageBodyLen(page), t->order) < 0)
		sfx_corrupt(t->index, d->last, "leaf header or directory");
	if (d->leaf->cut && t->run != SfxMetaMain(t->meta)->id)
		sfx_corrupt(t->index, d->last, "a leaf with cut keys outside of the main tree");
	if (SFX_MUTANT("no fences"))
		return 0;
	if (d->place.known)
	{
		d->leaf->bytewise = d->place.bytewise;

		/*
		 * B5: pos is between the copy's separators, and the page's fences are those, byte by byte
		 */
		if (sfx_leaf_fences_are(d->leaf, &d->place.low, d->place.last ? NULL : &d->place.high))
			return 0;
	}
	if (!d->before)
		return sfx_leaf_cmp_fences(d->leaf, d->pos);
	if (sfx_leaf_fences(d->leaf, d->low, &low, d->high, &high, &inf) < 0)
		sfx_corrupt(t->index, d->last, "leaf fences");
	return side_before(d, &low, &high, inf);
}

/* The same for an inner page; opens *inner. */
static int
inner_side(Descent *d, Page page, SfxInner *inner)
{
	const SfxTree *t = d->tree;
	SfxPos		low,
				high;
	bool		inf;

	if (sfx_inner_open(inner, SfxPageBody(page), SfxPageBodyLen(page), t->order) < 0)
		sfx_corrupt(t->index, d->last, "inner page header");
	if (!d->before)
		return sfx_inner_cmp_fences(inner, d->pos);
	if (sfx_inner_fences(inner, d->low, &low, d->high, &high, &inf) < 0)
		sfx_corrupt(t->index, d->last, "inner page fences");
	return side_before(d, &low, &high, inf);
}

/*
 * Ask the filter in block blkno for the probe's range.  True: the leaf need not be read.  Locks the
 * filter's page for that; no other page is locked.  The page may have become something else since
 * the parent named it: then it says nothing (F3).
 */
static bool
filter_answers(const Descent *d, BlockNumber blkno)
{
	const SfxTree *t = d->tree;
	SfxFilterProbe *probe = d->probe;
	Buffer		buf = sfx_read_linked(t->index, blkno, NULL);
	Page		page = BufferGetPage(buf);
	SfxFilter	f;
	int			may;

	SFX_STOP("filter chosen");
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	probe->asked = sfx_filter_page_open(t->index, t->order, t->meta->build_id, t->run, blkno, page,
										d->pos, d->before, &f);
	/* a Bloom filter tells nothing of a range */
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
			sfx_corrupt(t->index, blkno, "filter");
		probe->absent = may == 0;
		probe->fence_inf = !d->before && f.high_inf;
		probe->fence = d->before ? f.low : f.high;
		if (probe->absent && probe->fence.len > 0)
			memcpy(probe->fence_buf, probe->fence.key, probe->fence.len);
		probe->fence.key = probe->fence_buf;
	}
	UnlockReleaseBuffer(buf);
	return sfx_filter_answered(probe);
}

/* Has a filter on the way made the leaf unnecessary? */
static inline bool
answered(const Descent *d)
{
	return d->probe && sfx_filter_answered(d->probe);
}

/*
 * The child of an inner page that the position falls into; *filter (may be NULL): the block of the
 * filter over it, 0: none.
 */
static BlockNumber
next_child(const Descent *d, const SfxInner *inner, BlockNumber *filter)
{
	const SfxPos *pos = d->pos;
	uint64_t	count;
	uint32_t	child;
	int			i = (pos->key == NULL ? inner->nchildren - 1 :
					 d->before ? sfx_inner_find_before(inner, pos) : sfx_inner_find(inner, pos));

	if (i < 0 || sfx_inner_child(inner, i, &child, &count) < 0)
		sfx_corrupt(d->tree->index, d->last, "inner page search");
	if (child < SFX_FIRST_BLKNO)
		sfx_corrupt(d->tree->index, d->last, "downlink to a reserved block");
	if (filter)
		*filter = sfx_inner_filter(inner, i);
	return child;
}

/*
 * One try from the root, or from a copy of it, down to the level wanted.  The page, share-locked.
 * InvalidBuffer: a page was not what its link promised, or a filter on the way has answered.  Each
 * page is unlocked before the next one is locked; what changes in between T1 allows for.
 */
static Buffer
find_once(Descent *d)
{
	const SfxTree *t = d->tree;
	const SfxRun *run = d->run;
	int			levels = 0;
	BlockNumber blkno = InvalidBlockNumber;
	bool		cached;
	int			level;
	int			moves = 0;

	d->place.known = false;
	if (d->cached)
		blkno = sfx_cache_descend(t->index, t->meta, t->order, d->pos, d->before, &levels,
								  &d->place);
	cached = BlockNumberIsValid(blkno);
	if (!cached)
		blkno = run->root;
	level = cached ? (int) run->level - levels : (int) run->level;
	for (;;)
	{
		Buffer		buf = sfx_read_page(t->index, d->last = blkno);
		Page		page = BufferGetPage(buf);
		SfxInner	inner;
		BlockNumber filter = 0;
		int			side;

		if (level == 0)
			SFX_STOP("leaf chosen");
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		if (!sfx_tree_page_is(t->index, blkno, page, t->meta, t->run, level))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
		d->place.known &= level == 0;
		side = level > 0 ? inner_side(d, page, &inner) : leaf_side(d, page);
		if (side == 0 && level == d->level)
			return buf;
		if (side > 0)
		{
			blkno = SfxPageGetTail(page)->right;
			if (blkno == InvalidBlockNumber)
				sfx_corrupt(t->index, d->last, "no right neighbour beyond a finite high fence");
		}
		else if (side == 0)
		{
			blkno = next_child(d, &inner, d->probe && level == 1 ? &filter : NULL);
			if (d->cached && level == run->level)
				sfx_cache_offer(t->index, t->meta, &inner);
			level--;
		}
		UnlockReleaseBuffer(buf);
		if (side > 0 && cached && moves == 0)
			sfx_cache_lagged(t->index, t->meta);
		if (side < 0 || (side > 0 && ++moves > (cached ? FIND_CACHED_MOVES : FIND_MAX_MOVES)))
			return InvalidBuffer;
		if (filter >= SFX_FIRST_BLKNO && filter_answers(d, filter))
			return InvalidBuffer;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Offer the level below the root for the copy of the root, if it is few pages.  They are read one
 * by one, so they may be of different moments; the copy's links may then be outdated, as any copy's
 * may.
 */
static void
copy_below_root(const SfxTree *t)
{
	const SfxRun *run = SfxMetaMain(t->meta);
	int			level = run->level - 1;
	SfxInner	inner[SFX_CACHE_BELOW];
	char	   *copies = palloc(BLCKSZ * SFX_CACHE_BELOW);
	Descent		d = {.tree = t,.run = run,.pos = &SFX_POS_FIRST,.level = level,.cached = true};
	Buffer		buf = find_once(&d);
	int			n = 0;

	while (BufferIsValid(buf))
	{
		BlockNumber blkno = BufferGetBlockNumber(buf);
		Page		copy = copies + BLCKSZ * n;
		bool		useful = (n < SFX_CACHE_BELOW &&
							  sfx_tree_page_is(t->index, blkno, BufferGetPage(buf), t->meta,
											   run->id, level));

		if (useful)
			memcpy(copy, BufferGetPage(buf), BLCKSZ);
		UnlockReleaseBuffer(buf);
		if (!useful)
			break;
		if (sfx_inner_open(&inner[n], SfxPageBody(copy), SfxPageBodyLen(copy), t->order) < 0)
			sfx_corrupt(t->index, blkno, "inner page header");
		if (sfx_inner_has_filters(&inner[n++]))
			break;
		if (SfxPageGetTail(copy)->right == InvalidBlockNumber)
		{
			sfx_cache_offer_below(t->index, t->meta, inner, n);
			break;
		}
		buf = sfx_read_page(t->index, SfxPageGetTail(copy)->right);
		LockBuffer(buf, BUFFER_LOCK_SHARE);
	}
	pfree(copies);
}

/*
 * Descend until the page is found, a filter has answered, or the run is gone.  The first try goes
 * by the caller's metapage, and perhaps by a copy of the root, the others by a fresh metapage (T1).
 */
static Buffer
find(Descent *d)
{
	const SfxTree *t = d->tree;
	SfxRetry	retry = {.index = t->index};
	int			r = sfx_meta_find_run(t->meta, t->run);
	Buffer		buf = InvalidBuffer;

	/* I2 */
	Assert(!sfx_image_held());
	if (d->cached && sfx_cache_wants_below(t->index, t->meta))
		copy_below_root(t);
	if (r >= 0)
	{
		d->run = &t->meta->runs[r];
		buf = find_once(d);
	}
	if (d->cached && !BufferIsValid(buf) && !answered(d))
		sfx_cache_forget(t->index, t->meta);
	while (!BufferIsValid(buf) && !answered(d))
	{
		/* T4 */
		if (!sfx_retry(&retry))
			sfx_out_of_order(t->index, t->order, d->last,
							 "a descent ends here, where the key sought is not");
		sfx_meta_read(t->index, &d->fresh);
		r = sfx_meta_find_run(&d->fresh, t->run);
		if (r < 0)
			break;
		d->again = *t;
		d->again.meta = &d->fresh;

		/*
		 * The tree may have become lower since the caller read the metapage, unless the caller
		 * holds the merge lock.  The root will do then.
		 */
		d->level = Min(d->level, (int) d->fresh.runs[r].level);
		d->tree = &d->again;
		d->run = &d->fresh.runs[r];
		d->cached = false;
		buf = find_once(d);
	}
	sfx_retry_end(&retry);
	return buf;
}

/* The leaf that holds pos, share-locked and opened. */
static Buffer
find_leaf(const SfxTree *t, const SfxPos *pos, bool before, SfxLeaf *leaf, SfxFilterProbe *probe)
{
	Descent		d;

	d.tree = t;
	d.pos = pos;
	d.before = before;
	d.level = 0;
	/* of the main tree's root alone: other runs come and go */
	d.cached = t->run == SfxMetaMain(t->meta)->id && SfxMetaMain(t->meta)->level > 0;
	d.leaf = leaf;
	d.probe = probe;
	return find(&d);
}

Buffer
sfx_tree_find(const SfxTree *t, const SfxPos *pos, bool before, int level)
{
	SfxLeaf		leaf;
	Descent		d;

	d.tree = t;
	d.pos = pos;
	d.before = before;
	d.level = level;
	d.cached = false;
	d.leaf = &leaf;
	d.probe = NULL;
	return find(&d);
}

Buffer
sfx_tree_find_leaf(const SfxTree *t, const SfxPos *pos, bool before,
				   SfxLeaf *leaf)
{
	return find_leaf(t, pos, before, leaf, NULL);
}

Buffer
sfx_tree_probe(const SfxTree *t, const SfxPos *pos, bool before,
			   SfxLeaf *leaf, SfxFilterProbe *probe)
{
	probe->asked = probe->absent = probe->keys_only = false;
	return find_leaf(t, pos, before, leaf, probe);
}

int
sfx_tree_leaves_from(const SfxTree *t, const SfxPos *pos, bool before,
					 BlockNumber *blkno, int n)
{
	Buffer		buf = sfx_tree_find(t, pos, before, 1);
	Page		page;
	SfxInner	inner;
	int			got = 0;

	if (!BufferIsValid(buf))
		return 0;
	page = BufferGetPage(buf);
	if (SfxPageGetTail(page)->level == 1)
	{
		int			i;

		if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), t->order) < 0)
			sfx_corrupt(t->index, BufferGetBlockNumber(buf), "inner page header");
		i = before ? sfx_inner_find_before(&inner, pos) : sfx_inner_find(&inner, pos);
		for (; got < n && i >= 0 && i < inner.nchildren; i += before ? -1 : 1)
		{
			uint64_t	count;
			uint32_t	child;

			if (sfx_inner_child(&inner, i, &child, &count) < 0)
				sfx_corrupt(t->index, BufferGetBlockNumber(buf), "inner page search");
			blkno[got++] = child;
		}
	}
	UnlockReleaseBuffer(buf);
	return got;
}

bool
sfx_tree_leaf_fences(const SfxTree *t, BlockNumber blkno, uint8 *lowbuf, SfxPos *low,
					 uint8 *highbuf, SfxPos *high, bool *inf)
{
	Buffer		buf = sfx_read_linked(t->index, blkno, NULL);
	Page		page = BufferGetPage(buf);
	SfxLeaf		leaf;
	bool		valid;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	valid = sfx_tree_page_is(t->index, blkno, page, t->meta, t->run, 0);
	if (valid &&
		(sfx_leaf_open(&leaf, SfxPageBody(page), SfxPageBodyLen(page), t->order) < 0 ||
		 sfx_leaf_fences(&leaf, lowbuf, low, highbuf, high, inf) < 0))
		sfx_corrupt(t->index, blkno, "leaf header or directory");
	UnlockReleaseBuffer(buf);
	return valid;
}

/* ---- copies for writers ---- */

int
sfx_child_copy(void *children, int i, const SfxChild *child)
{
	SfxChild   *copy = (SfxChild *) children + i;

	*copy = *child;
	copy->low = sfx_pos_copy(&child->low);
	return SFX_OK;
}

/* See find.h.  The page is copied as a whole and unlocked before it is decoded. */
void
sfx_tree_load_page(Relation index, const SfxOrder *order, Buffer buf, SfxNode *node)
{
	Page		page = palloc(BLCKSZ);
	SfxInner	inner;
	SfxPos		low;
	uint8	   *lowbuf = palloc(2 * SFX_MAX_ENTRY);

	memcpy(page, BufferGetPage(buf), BLCKSZ);
	node->kept = NULL;
	node->blkno = BufferGetBlockNumber(buf);
	node->run = SfxPageGetTail(page)->owner;
	UnlockReleaseBuffer(buf);
	node->right = SfxPageGetTail(page)->right;
	node->level = SfxPageGetTail(page)->level;
	node->len = SfxPageBodyLen(page);
	if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), order) < 0 ||
		sfx_inner_fences(&inner, lowbuf, &low, lowbuf + SFX_MAX_ENTRY, &node->high,
						 &node->high_inf) < 0)
		sfx_corrupt(index, node->blkno, "inner page header");
	if (!node->high_inf)
		node->high = sfx_pos_copy(&node->high);
	node->nchildren = inner.nchildren;
	node->children = palloc(sizeof(SfxChild) * inner.nchildren);
	if (sfx_inner_each(&inner, sfx_child_copy, node->children) < 0)
		sfx_corrupt(index, node->blkno, "inner page separators");
}

bool
sfx_tree_try_load(const SfxTree *t, const SfxPos *pos, int level,
				  SfxNode *node)
{
	Buffer		buf = sfx_tree_find(t, pos, false, level);

	if (BufferIsValid(buf))
		sfx_tree_load_page(t->index, t->order, buf, node);
	return BufferIsValid(buf);
}

void
sfx_tree_load(const SfxTree *t, const SfxPos *pos, int level,
			  SfxNode *node)
{
	Assert(sfx_merge_lock_held(t->index));
	if (!sfx_tree_try_load(t, pos, level, node))
		sfx_corrupt(t->index, SFX_META_BLKNO, psprintf("run %u is not listed", t->run));
}

bool
sfx_tree_children(const SfxTree *t, int level, SfxChildVisit visit, void *arg)
{
	SfxPosBuf  *pos = palloc(sizeof(SfxPosBuf));
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx downlinks",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	bool		more = sfx_meta_run(t->index, t->meta, t->run)->level >= level;
	bool		there = true;

	Assert(level > 0);
	sfx_pos_set(pos, &SFX_POS_FIRST);
	while (more)
	{
		SfxNode		node;

		CHECK_FOR_INTERRUPTS();
		there = sfx_tree_try_load(t, &pos->pos, level, &node) && node.level == level;
		for (int i = 0; there && i < node.nchildren; i++)
			visit(t, &node.children[i], arg);
		more = there && !node.high_inf;
		if (more)
			sfx_pos_set(pos, &node.high);
		MemoryContextReset(cxt);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	pfree(pos);
	return there;
}
