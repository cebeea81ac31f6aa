/*-------------------------------------------------------------------------
 * check_tree.c - the verifier: leaves and inner pages, level by level from the root down, beside
 * the level above
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "dict.h"
#include "filter.h"
#include "find.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "recover.h"
#include "pos.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* The level above, read in step with the level that is checked. */
typedef struct Parents
{
	int			level;
	BlockNumber right;
	int			n;
	int			at;
	SfxChild   *children;
	MemoryContext cxt;
	/* the filter over the current leaf */
	BlockNumber filterblk;		/* 0: there is none */
	SfxFilter	filter;
	PGAlignedBlock filterpage;
} Parents;

/*
 * Make the first child of inner page blkno the next downlink.  The page was verified with its own
 * level.
 */
static void
load_parent(SfxCheck *cs, Parents *ps, BlockNumber blkno)
{
	SfxPageTail *tail = sfx_check_copy(cs, blkno);
	MemoryContext old;
	SfxInner	inner;

	if (tail == NULL || tail->kind != SFX_PAGE_INNER || tail->level != ps->level ||
		sfx_inner_open(&inner, SfxPageBody(cs->page.data), SfxPageBodyLen(cs->page.data), cs->order) < 0)
		sfx_broken(cs, blkno, "not an inner page of level %d", ps->level);
	MemoryContextReset(ps->cxt);
	old = MemoryContextSwitchTo(ps->cxt);
	ps->right = tail->right;
	ps->n = inner.nchildren;
	ps->at = 0;
	ps->children = palloc(sizeof(SfxChild) * inner.nchildren);
	if (sfx_inner_each(&inner, sfx_child_copy, ps->children) < 0)
		sfx_broken(cs, blkno, "inner page separators");
	MemoryContextSwitchTo(old);
}

/* The next downlink; NULL at the end of the level above. */
static const SfxChild *
next_downlink(SfxCheck *cs, Parents *ps)
{
	while (ps->at == ps->n)
	{
		if (ps->right == InvalidBlockNumber)
			return NULL;
		load_parent(cs, ps, ps->right);
	}
	return &ps->children[ps->at];
}

/*
 * Compare page blkno, with that low fence, with the next downlink.  A page without one is the
 * result of a split of its parent that was not posted yet (T3): right links lead to it, and only
 * inner pages can be so.
 */
static void
check_downlink(SfxCheck *cs, Parents *ps, int level, BlockNumber blkno, const SfxPos *low, uint64 count)
{
	const SfxChild *c = next_downlink(cs, ps);

	if (c == NULL || c->blkno != blkno)
	{
		if (level == 0)
			sfx_broken(cs, blkno, "leaf without a downlink; the next one leads to block %u", c ? c->blkno : 0);
		if (c && sfx_order_cmp_pos(cs->order, low, &c->low) >= 0)
			sfx_disordered(cs, blkno, "the level above leads to another page before this one");
		cs->unposted++;
		return;
	}
	if (sfx_order_cmp_pos(cs->order, low, &c->low) != 0)
		sfx_broken(cs, blkno, "low fence differs from the downlink's separator");
	if (level == 0 && c->count != count)
		sfx_broken(cs, blkno, "the downlink counts " UINT64_FORMAT " entries, the leaf has " UINT64_FORMAT, c->count, count);
	ps->at++;
}

/* ---- filters ---- */

/* Open the filter over the next leaf, if another filter begins there. */
static void
load_filter(SfxCheck *cs, Parents *ps, uint32 run, BlockNumber leafblk)
{
	const SfxChild *c = next_downlink(cs, ps);
	BlockNumber blkno = c && c->blkno == leafblk ? c->filter : 0;
	SfxPageTail *tail;
	const char *why;

	/* F1: where a parent begins, a filter begins */
	if (blkno == ps->filterblk && blkno != 0 && ps->at == 0)
		sfx_broken(cs, blkno, "children of two inner pages name this filter");
	if (blkno == ps->filterblk)
		return;
	if (ps->filterblk != 0 && (ps->filter.high_inf || c == NULL || sfx_order_cmp_pos(cs->order, &ps->filter.high, &c->low) != 0))
		sfx_broken(cs, ps->filterblk, "the filter ends elsewhere than the last leaf under it");
	ps->filterblk = blkno;
	if (blkno == 0)
		return;
	sfx_check_own(cs, leafblk, blkno);
	tail = sfx_check_copy(cs, blkno);
	if (tail == NULL || tail->kind != SFX_PAGE_FILTER || tail->build_id != cs->meta.build_id ||
		tail->owner != run)
		sfx_broken(cs, blkno, "not a filter of run %u", run);
	memcpy(ps->filterpage.data, cs->page.data, BLCKSZ);
	if (sfx_filter_open(&ps->filter, SfxPageBody((Page) ps->filterpage.data), SfxPageBodyLen((Page) ps->filterpage.data), cs->order) < 0)
		sfx_broken(cs, blkno, "filter header");
	if ((why = sfx_filter_check(&ps->filter)) != NULL)
		sfx_broken(cs, blkno, "%s", why);
	if (sfx_order_cmp_pos(cs->order, &ps->filter.low, &c->low) != 0)
		sfx_broken(cs, blkno, "the filter begins elsewhere than the first leaf under it");
}

/* Check that the filter does not deny an entry under it. */
static void
check_filter(SfxCheck *cs, Parents *ps, const SfxEntry *e)
{
	SfxPos		lo = {e->key, e->keylen, e->tid};
	SfxPos		hi = {e->key, e->keylen, e->tid + 1};

	if (sfx_filter_key(&ps->filter, e->key, e->keylen) != 1 || sfx_filter_range(&ps->filter, &lo, &hi) != 1)
		sfx_broken(cs, ps->filterblk, "the filter denies a key that a leaf under it has");
}

/*
 * Check the entries of a leaf with cut keys.  Their order, and that they can be told apart, was
 * checked before; if rows are asked for, each key is compared with the table's.  (A standby that
 * gives TIDs to other rows meanwhile repeats the check.)
 */
static void
check_cut_block(SfxCheck *cs, BlockNumber blkno, SfxRecovery *rc)
{
	uint8		key[SFX_MAX_ENTRY];
	SfxBlock   *block = cs->block;

	for (int i = 0, end; i < block->nent; i = end)
	{
		SfxEntry	e;
		int			len = -1;

		end = sfx_block_end_of_key(block, i);
		if (rc)
			sfx_recovery_ahead(rc, block, i);
		if (rc)
			len = sfx_recover_key(rc, blkno, block, i, end, key);
		for (int j = i; j < end; j++)
		{
			sfx_block_entry(block, j, &e);
			if (len < 0)
			{
				sfx_check_cut_entry(cs, blkno, &e);
				continue;
			}
			e.key = key;
			e.keylen = len;
			sfx_check_entry(cs, blkno, &e, false);
		}
	}
	if (rc)
		sfx_recovery_rest(rc);
}

static void
check_cut_leaf(SfxCheck *cs, const Parents *ps, BlockNumber blkno, const SfxLeaf *leaf)
{
	SfxRecovery *rc = NULL;

	if (ps && ps->filterblk != 0)
		sfx_broken(cs, blkno, "a filter over a leaf with cut keys");
	if (cs->rows || cs->filter)
		rc = sfx_recovery_begin(cs->index, cs->heap);
	for (int b = 0; b < leaf->nblocks; b++)
	{
		CHECK_FOR_INTERRUPTS();
		if (sfx_leaf_decode(leaf, b, NULL, NULL, cs->block) < 0)
			sfx_broken(cs, blkno, "leaf block %d cannot be decoded", b);
		check_cut_block(cs, blkno, rc);
	}
	if (rc)
		sfx_recovery_end(rc, SFX_COUNT_READ);
}

static void
check_leaf_entries(SfxCheck *cs, Parents *ps, BlockNumber blkno, const SfxLeaf *leaf)
{
	for (int b = 0; b < leaf->nblocks; b++)
	{
		CHECK_FOR_INTERRUPTS();
		if (sfx_leaf_decode(leaf, b, NULL, NULL, cs->block) < 0)
			sfx_broken(cs, blkno, "leaf block %d cannot be decoded", b);
		for (int i = 0; i < cs->block->nent; i++)
		{
			SfxEntry	e;

			sfx_block_entry(cs->block, i, &e);
			sfx_check_entry(cs, blkno, &e, false);
			if (ps && ps->filterblk != 0)
				check_filter(cs, ps, &e);
		}
	}
}

/* What was found about one page of the tree. */
typedef struct TreePage
{
	SfxPos		low;
	SfxPos		high;
	bool		high_inf;
	BlockNumber right;
	BlockNumber first_child;
	uint64		count;			/* leaf: entries */
	uint8		lowbuf[SFX_MAX_ENTRY + 8];
	uint8		highbuf[SFX_MAX_ENTRY + 8];
} TreePage;

static void
check_leaf(SfxCheck *cs, Parents *ps, BlockNumber blkno, uint32 run, TreePage *tp)
{
	const uint8 *body = SfxPageBody(cs->page.data);
	uint32		len = SfxPageBodyLen(cs->page.data);
	const char *why = NULL;
	SfxLeaf		leaf;
	int			rc;

	if (sfx_leaf_open(&leaf, body, len, cs->order) < 0)
		sfx_broken(cs, blkno, "leaf header or directory");
	sfx_dict_attach(cs->index, blkno, cs->page.data, &leaf, NULL);
	rc = sfx_leaf_verify(body, len, cs->order, leaf.dict, cs->block, &why);
	if (rc == SFX_DISORDER)
		sfx_disordered(cs, blkno, why);
	if (rc < 0)
		sfx_broken(cs, blkno, "leaf: %s", why ? why : "header or directory");
	if (sfx_leaf_fences(&leaf, tp->lowbuf, &tp->low, tp->highbuf, &tp->high, &tp->high_inf) < 0)
		sfx_broken(cs, blkno, "leaf fences");
	tp->count = leaf.nentries;
	if (leaf.cut && run != SfxMetaMain(&cs->meta)->id)
		sfx_broken(cs, blkno, "a leaf with cut keys outside of the main tree");
	if (leaf.cut)
		check_cut_leaf(cs, ps, blkno, &leaf);
	else
		check_leaf_entries(cs, ps, blkno, &leaf);
}

static void
check_inner(SfxCheck *cs, BlockNumber blkno, TreePage *tp)
{
	const uint8 *body = SfxPageBody(cs->page.data);
	uint32		len = SfxPageBodyLen(cs->page.data);
	const char *why = NULL;
	SfxInner	inner;
	uint32_t	child;
	uint64_t	count;
	int			rc = sfx_inner_verify(body, len, cs->order, cs->scratch, &why);

	if (rc == SFX_DISORDER)
		sfx_disordered(cs, blkno, why);
	if (rc < 0 || sfx_inner_open(&inner, body, len, cs->order) < 0)
		sfx_broken(cs, blkno, "inner page: %s", why ? why : "header");
	if (sfx_inner_fences(&inner, tp->lowbuf, &tp->low, tp->highbuf, &tp->high, &tp->high_inf) < 0 ||
		sfx_inner_child(&inner, 0, &child, &count) < 0)
		sfx_broken(cs, blkno, "inner page fences");
	tp->first_child = child;
	tp->count = 0;
}

static void
check_tree_page(SfxCheck *cs, Parents *ps, BlockNumber blkno, uint32 run, int level, TreePage *tp)
{
	SfxPageTail *tail;

	if (ps && level == 0)
		load_filter(cs, ps, run, blkno);
	tail = sfx_check_copy(cs, blkno);
	if (tail == NULL || !sfx_tree_page_is(cs->index, blkno, cs->page.data, &cs->meta, run, level))
		sfx_broken(cs, blkno, "not a page of level %d of run %u", level, run);
	tp->right = tail->right;
	if (level > 0)
		check_inner(cs, blkno, tp);
	else
		check_leaf(cs, ps, blkno, run, tp);
	if ((tp->right == InvalidBlockNumber) != tp->high_inf)
		sfx_broken(cs, blkno, "%s", tp->high_inf ? "right neighbour of a page that ends at plus infinity" :
				   "no right neighbour beyond a finite high fence");
	if (!tp->high_inf && sfx_order_cmp_pos(cs->order, &tp->low, &tp->high) >= 0)
		sfx_disordered(cs, blkno, "low fence is not below the high fence");
}

/* Check one level from its leftmost page on; returns the leftmost page of the level below. */
static BlockNumber
check_level(SfxCheck *cs, uint32 run, int level, BlockNumber first, Parents *ps)
{
	TreePage   *tp = palloc(sizeof(TreePage));
	TreePage   *prev = palloc(sizeof(TreePage));
	BlockNumber from = SFX_META_BLKNO;
	BlockNumber below = InvalidBlockNumber;

	for (BlockNumber blkno = first; blkno != InvalidBlockNumber;)
	{
		TreePage   *t;

		sfx_check_own(cs, from, blkno);
		check_tree_page(cs, ps, blkno, run, level, tp);
		if (blkno == first)
		{
			below = tp->first_child;
			if (tp->low.len != 0 || tp->low.tid != 0)
				sfx_broken(cs, blkno, "the first page of level %d does not begin at minus infinity", level);
		}
		else if (sfx_order_cmp_pos(cs->order, &prev->high, &tp->low) != 0)
			sfx_broken(cs, blkno, "low fence differs from the high fence of block %u to its left", from);
		if (ps)
			check_downlink(cs, ps, level, blkno, &tp->low, tp->count);
		else if (blkno != first)
			sfx_broken(cs, first, "the root has a right neighbour");
		from = blkno;
		blkno = tp->right;
		t = prev;
		prev = tp;
		tp = t;
	}
	if (ps && next_downlink(cs, ps) != NULL)
		sfx_broken(cs, next_downlink(cs, ps)->blkno, "page with a downlink that level %d does not lead to", level);
	if (level == 0 && ps && ps->filterblk != 0 && !ps->filter.high_inf)
		sfx_broken(cs, ps->filterblk, "the filter over the last leaf has a high fence");
	pfree(tp);
	pfree(prev);
	return below;
}

static void
check_tree(SfxCheck *cs, const SfxRun *run)
{
	BlockNumber first = run->root;
	BlockNumber above = InvalidBlockNumber;
	Parents		ps = {0};

	ps.cxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx check", ALLOCSET_DEFAULT_SIZES);
	for (int level = run->level; level >= 0; level--)
	{
		BlockNumber below;

		if (above != InvalidBlockNumber)
		{
			ps.level = level + 1;
			load_parent(cs, &ps, above);
			SFX_STOP("parents read");
		}
		below = check_level(cs, run->id, level, first, above != InvalidBlockNumber ? &ps : NULL);
		above = first;
		first = below;
	}
	MemoryContextDelete(ps.cxt);
}

void
sfx_check_trees(SfxCheck *cs)
{
	for (int r = 0; r < cs->meta.nruns; r++)
	{
		cs->moving = cs->meta.resume[SFX_RESUME_RUN].source == cs->meta.runs[r].id;
		check_tree(cs, &cs->meta.runs[r]);
	}
}
