/*-------------------------------------------------------------------------
 * reader_count.c - the rows of a range, stage by stage: counted, or passed to a taker that sums
 * them up
 *
 * Neither needs an order, nor keys to recognize what stands in two stages, if nothing does (R9):
 * the delta's entries are taken from its image, and those of each run from its leaves, a coded
 * block at a time.  Where the whole table is all-visible (Y8) no TID is looked at, and a count does
 * not even read most leaves.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count_tree.h"
#include "counters.h"
#include "delta.h"
#include "filter.h"
#include "find.h"
#include "image.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "reader_impl.h"
#include "settings.h"
#include "visible.h"

#include "miscadmin.h"
#include "pgstat.h"

/* A leaf's entries cost about as much as a look at so much of the map. */
#define LEAF_MAP_BYTES	32768

/* A page above the leaves costs about as much as so many leaves whose entries are only counted. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define PAGE_LEAVES		2		/* to have it tested */
#else
#define PAGE_LEAVES		64
#endif

typedef struct Stages
{
	SfxReader  *r;
	const SfxMeta *before;		/* as the first look at the metapage found it, ... */
	SfxState	state;			/* ... with this state */
	SfxVisibility *v;
	const SfxTaker *taker;		/* NULL: rows are only counted, into v */
	uint64		n;				/* entries */
} Stages;

/* R9: has what was read of each stage since the state was taken each entry once? */
static bool
nothing_moved(const SfxState *state, const SfxMeta *now)
{
	return sfx_state_still_holds(state, now, SFX_STAGES_ARE_DISJOINT) ||
		SFX_MUTANT("stages overlap");
}

/* ---- the delta ---- */

/* One more entry of main's block.  False: it has no room. */
static bool
add_to_block(SfxReader *r, const SfxEntry *e, bool keys)
{
	SfxBlock   *block = r->main.block;
	uint8	   *payload = (uint8 *) r->main.page->data;
	int			n = block->nent;
	uint32		at = keys ? block->keyoff[n] : 0;
	uint32		payat = keys ? block->payoff[n] : 0;

	if (n == (keys ? SFX_BLOCK_KEYS : SFX_BLOCK_ENTRIES) || at > SFX_BLOCK_RAW ||
		payat + e->paylen > BLCKSZ)
		return false;
	block->tid[n] = e->tid;
	block->nent++;
	if (!keys)
		return true;
	memcpy(block->keys + at, e->key, e->keylen);
	if (e->paylen > 0)
		memcpy(payload + payat, e->payload, e->paylen);
	block->keyoff[n + 1] = at + e->keylen;
	block->payoff[n + 1] = payat + e->paylen;
	if (block->width != e->keylen)
		block->width = n == 0 ? e->keylen : 0;
	return true;
}

static void
clear_block(SfxReader *r)
{
	SfxBlock   *block = r->main.block;

	sfx_reader_take_page(r, &r->main);
	block->nent = block->first = 0;
	block->keyoff[0] = block->payoff[0] = 0;
	block->width = 0;
	block->dups = block->keyless = block->tidless = block->bits = false;
	block->left_from = block->left_to = 0;
	block->haspay = true;
	block->payload = (const uint8 *) r->main.page->data;
}

/*
 * Entries from cur on, into main's block, which no leaf needs meanwhile; without taker their TIDs
 * alone.  False: the generation is gone, or its image was in another order (K4), and goes.  *more:
 * cur stands after them.
 */
static bool
copy_entries(Stages *s, bool *more)
{
	SfxReader  *r = s->r;
	SfxImage   *img = sfx_image_acquire(r->index, r->order, s->before, 0);
	SfxNodeAlloc a;
	const SfxDelta *d;
	SfxCursor	c;
	SfxEntry	e;
	bool		misled = false;

	*more = false;
	clear_block(r);
	if (img == NULL)
		return false;
	d = sfx_image_delta(img, r->order, &a);
	for (bool have = sfx_delta_seek(d, &a, &r->win.cur.pos, &c); have;
		 have = sfx_delta_next(d, &a, &c))
	{
		sfx_delta_get(d, &a, &c, &e);
		if (beyond_range(r, &e))
			break;
		if (!add_to_block(r, &e, s->taker != NULL))
		{
			SfxPos		next = sfx_entry_pos(&e);

			misled = sfx_image_misleads(r->order, &r->win.cur.pos, &next);
			set_cur(r, e.key, e.keylen, e.tid);
			*more = true;
			break;
		}
	}
	sfx_image_release(img);
	if (misled)
	{
		sfx_image_forget(r->index, s->before, s->before->gens[0].gen);
		return false;
	}
	r->main.block->nkeys = r->main.block->total = r->main.block->nent;
	return true;
}

/* The delta's entries.  False: the generation is gone. */
static bool
count_delta(Stages *s)
{
	SfxReader  *r = s->r;
	const SfxBlock *block = r->main.block;
	bool		more = s->before->gens[0].first != InvalidBlockNumber;

	r->win.cur = r->range.lo;
	while (more)
	{
		CHECK_FOR_INTERRUPTS();
		if (!copy_entries(s, &more))
			return false;
		SFX_STOP("count has TIDs");
		s->n += block->nent;
		if (s->taker == NULL)
			sfx_visibility_add(s->v, block->tid, block->nent);
		else if (block->nent > 0)
			s->taker->decoded(s->taker->arg, block, false);
	}
	return true;
}

/* ---- a run ---- */

/*
 * Y8, for a leaf in buf that begins with cur, and is all in the range: its head tells.  stop moves
 * to its end.  False: it is not, and is still locked.
 */
static bool
count_whole_leaf(Stages *s, Buffer buf)
{
	SfxReader  *r = s->r;
	static uint8 fences[2][SFX_MAX_ENTRY];
	const SfxLeaf *leaf = &r->main.leaf;
	SfxPos		low;
	SfxPos		high;
	bool		inf;

	if (sfx_leaf_fences(leaf, fences[0], &low, fences[1], &high, &inf) < 0)
		sfx_corrupt(r->index, BufferGetBlockNumber(buf), "leaf fences");
	if (sfx_order_cmp_pos(r->order, &low, &r->win.cur.pos) != 0)
		return false;
	if (!r->range.hi.inf && (inf || sfx_order_cmp_pos(r->order, &high, &r->range.hi.pos) >= 0))
		return false;
	if (!inf)
		bound_set(r, &r->win.stop, &r->room.win[1 - r->win.curbuf], high.key, high.len, high.tid);
	r->win.final = inf;
	sfx_visibility_add_visible(s->v, leaf->nentries);
	s->n += leaf->nentries;
	UnlockReleaseBuffer(buf);
	return true;
}

/* What main's copied leaf has between cur and stop; Y8: all of it is visible. */
static void
count_entries(Stages *s)
{
	SfxReader  *r = s->r;
	const SfxPos *stop = r->main.whole || r->win.stop.inf ? NULL : &r->win.stop.pos;
	int			now = sfx_leaf_count(&r->main.leaf, &r->win.cur.pos, stop);

	if (now < 0)
		sfx_corrupt(r->index, r->main.leafblk, "leaf block");
	sfx_visibility_add_visible(s->v, now);
	s->n += now;
}

/* Block b of the same leaf for the taker: as it is, or decoded. */
static int
feed_block(Stages *s, int b, const SfxPos *lo, const SfxPos *hi, bool visible)
{
	SfxReader  *r = s->r;
	SfxBlock   *block = r->main.block;
	const SfxTaker *taker = s->taker;
	int			now = taker->coded(taker->arg, &r->main.leaf, b, lo, hi, visible);

	if (now != SFX_NOT_CODED)
		return now;
	if ((visible ? sfx_leaf_decode_tidless : sfx_leaf_decode) (&r->main.leaf, b, lo, hi, block) < 0)
		return SFX_CORRUPT;
	if (block->nent > 0)
		taker->decoded(taker->arg, block, visible);
	return block->nent;
}

/* The leaf's blocks [b, end), those between cur and stop, one by one. */
static void
count_blocks(Stages *s, int b, int end, bool visible)
{
	SfxReader  *r = s->r;
	const SfxLeaf *leaf = &r->main.leaf;
	const SfxPos *stop = r->main.whole || r->win.stop.inf ? NULL : &r->win.stop.pos;

	for (const SfxPos *lo = &r->win.cur.pos; b < end; b++, lo = NULL)
	{
		int			now = (s->taker ? feed_block(s, b, lo, stop, visible) :
						   sfx_visibility_add_block(s->v, leaf, b, lo, stop));

		if (now < 0)
			sfx_corrupt(r->index, r->main.leafblk, "leaf block");
		s->n += now;
	}
}

/*
 * What the leaf in buf, which is locked, has between cur and stop: it is copied as far as that
 * takes, and let go.
 */
static void
count_some(Stages *s, Buffer buf, bool all_visible)
{
	SfxReader  *r = s->r;
	int			first;
	int			end;

	/* to count entries takes the heads of all blocks */
	if (all_visible && s->taker == NULL)
	{
		sfx_reader_keep_leaf(r, &r->main, buf);
		SFX_STOP("count has TIDs");
		count_entries(s);
		return;
	}
	sfx_reader_keep_blocks(r, &r->main, buf, &first, &end);
	SFX_STOP("count has TIDs");
	count_blocks(s, first, end, all_visible);
}

/*
 * Main's leaf, which has cut keys: does it tell which of its entries are in the range?  If not, the
 * range has to be read through the union, which finds bounds among cut keys; a taker needs whole
 * keys, which it gets there.
 */
static bool
is_decided(Stages *s, BlockNumber blkno)
{
	SfxReader  *r = s->r;
	const SfxLeaf *leaf = &r->main.leaf;
	int			undecided = 0;

	if (s->taker)
		return false;
	undecided = sfx_leaf_undecided(leaf, &r->win.cur.pos, r->main.block);
	if (undecided == 0 && !r->range.hi.inf)
		undecided = sfx_leaf_undecided(leaf, &r->range.hi.pos, r->main.block);
	if (undecided < 0)
		sfx_corrupt(r->index, blkno, "leaf block");
	return undecided == 0;
}

/*
 * The leaf that holds cur, of this run, which the reader's share for main is used for.  False:
 * something has moved, or cut keys do not tell.  Its page is locked until it is counted or copied,
 * and no longer.
 */
static bool
count_leaf(Stages *s, const SfxRun *run, bool all_visible)
{
	SfxReader  *r = s->r;
	SfxMeta		meta;
	Buffer		buf;
	BlockNumber right;

	/* R1: the TIDs of leaves before this one are tested, so the gate may change */
	sfx_reader_meta(r, &meta);
	r->kept.valid = false;
	buf = sfx_tree_find_leaf(SfxTreeOf(r->index, r->order, &meta, run->id), &r->win.cur.pos, false,
							 &r->main.leaf);
	if (!BufferIsValid(buf))
		return false;
	if (r->main.leaf.cut && !is_decided(s, BufferGetBlockNumber(buf)))
	{
		UnlockReleaseBuffer(buf);
		return false;
	}
	sfx_leaves_read++;
	sfx_leaves_tidless += all_visible;
	r->win.stop = r->range.hi;
	r->win.final = true;
	right = SfxPageGetTail(BufferGetPage(buf))->right;
	if (!all_visible || s->taker || !count_whole_leaf(s, buf))
		count_some(s, buf, all_visible);
	test_for_old_snapshot(r);
	if (!r->win.final && run == SfxMetaMain(s->before))
		sfx_reader_ask_ahead(r, &meta, right);
	return nothing_moved(&s->state, &meta);
}

/* Y8: all from cur on.  False: cut keys do not tell where the range ends. */
static bool
count_above_leaves(Stages *s, const SfxRun *run)
{
	SfxReader  *r = s->r;
	bool		exact;
	uint64		now;

	SFX_STOP("count above leaves");
	now = sfx_count_tree(r->index, r->order, s->before, run, &r->win.cur.pos, &r->range.hi.pos,
						 &exact);
	if (!exact)
		return false;
	sfx_visibility_add_visible(s->v, now);
	s->n += now;
	return true;
}

static bool
count_leaves(Stages *s, const SfxRun *run)
{
	SfxReader  *r = s->r;
	Size		worth_a_look = sfx_visibility_map_bytes(s->v) / LEAF_MAP_BYTES + 1;
	bool		all_visible = false;

	r->win.cur = r->range.lo;
	for (Size leaves = 1;
		 s->taker || !all_visible || leaves <= worth_a_look + PAGE_LEAVES; leaves++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!count_leaf(s, run, all_visible))
			return false;
		if (r->win.final)
			return true;
		cur_from_stop(r);
		if (leaves == worth_a_look)
		{
			all_visible = sfx_visibility_of_all(s->v);
			SFX_STOP("map looked at");
		}
	}
	return count_above_leaves(s, run);
}

/* ---- all of them ---- */

static bool
count_stages(Stages *s)
{
	if (!count_delta(s))
		return false;
	SFX_STOP("delta counted for itself");
	for (int i = 0; i < s->before->nruns; i++)
		if (!count_leaves(s, &s->before->runs[i]))
			return false;
	return true;
}

/* Closed ranges are asked of filters first, where there are any, which is the union's to do. */
static bool
has_filters(const SfxReader *r)
{
	SfxFilterSpec spec;

	sfx_opt_filter(r->index, &spec);
	return r->filter.ask && spec.kind != SFX_FILTER_NONE;
}

bool
sfx_reader_feed(SfxReader *r, SfxVisibility *v, const SfxTaker *taker)
{
	SfxMeta		before;
	SfxMeta		after;
	Stages		s = {.r = r,.before = &before,.v = v,.taker = taker};

	Assert(r->range.anchor == ANCHOR_RANGE && !r->win.active);
	/* a lookup is shorter in the ordinary way */
	if (r->range.point || has_filters(r))
		return false;
	r->range.dir = ForwardScanDirection;
	r->kept.valid = false;
	sfx_reader_take_block(r, &r->main);
	sfx_reader_meta(r, &before);
	s.state = sfx_state_take(&before);
	if (s.state.moving || (taker && SfxMetaMain(&before)->cut > 0) || !count_stages(&s))
		return false;
	sfx_meta_reread(r->index, &after, &r->gate.metabuf);
	test_for_old_snapshot(r);
	if (!nothing_moved(&s.state, &after))
		return false;
	r->range.anchor = ANCHOR_END;
	pgstat_count_index_tuples(r->index, s.n);
	return true;
}

/* ---- a part of what is read in order ---- */

bool
sfx_reader_at_leaf_end(SfxReader *r)
{
	const LeafCursor *s = &r->main;

	if (!r->win.active || r->win.final || !s->tidless || !forward(r) ||
		r->stretch.at != r->stretch.end)
		return false;
	close_stretch(r);
	return s->at >= s->block->nent && !sfx_block_left(s->block) &&
		(!s->have_page || s->blockno + 1 >= s->leaf.nblocks);
}

int
sfx_reader_count_blocks(SfxReader *r, const SfxPos *end)
{
	LeafCursor *s = &r->main;
	int			to;
	int			n;

	if (!r->win.active || !s->tidless || !s->have_page || !forward(r) ||
		r->stretch.at != r->stretch.end)
		return 0;
	close_stretch(r);
	if (s->at < s->block->nent || sfx_block_left(s->block))
		return 0;
	if (!s->whole && !r->win.stop.inf && sfx_order_cmp_pos(r->order, &r->win.stop.pos, end) < 0 &&
		!SFX_MUTANT("blocks beyond the range"))
		end = &r->win.stop.pos;
	to = sfx_leaf_find_block(&s->leaf, end);
	n = to < 0 ? to : sfx_leaf_count_blocks(&s->leaf, s->blockno + 1, to);
	if (n < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	s->blockno = Max(s->blockno, to - 1);
	return n;
}

/* Y19: are a range's entries those of the main tree alone, all of visible rows? */
static bool
main_has_all(const SfxReader *r, const SfxMeta *meta)
{
	return !sfx_state_take(meta).moving && meta->nruns == 1 && SfxMetaMain(meta)->cut == 0 &&
		(meta->gens[0].first == InvalidBlockNumber || SFX_MUTANT("counted beside a delta")) &&
		sfx_reader_is_vouched(r, meta);
}

bool
sfx_reader_count_on(SfxReader *r, const SfxPos *end, uint64 *n)
{
	const SfxPos *hi = end;
	SfxMeta		before;
	SfxMeta		after;
	SfxState	state;
	bool		exact;

	Assert(r->win.active && !r->win.final && r->main.tidless && r->stretched == NULL && forward(r));
	if (!r->range.hi.inf && sfx_order_cmp_pos(r->order, &r->range.hi.pos, end) < 0)
		hi = &r->range.hi.pos;
	if (sfx_order_cmp_pos(r->order, &r->win.stop.pos, hi) >= 0)
		return false;
	/* (no TID is looked at, so whatever gate is held will do) */
	sfx_meta_reread(r->index, &before, &r->gate.metabuf);
	if (!main_has_all(r, &before))
		return false;
	SFX_STOP("group counted on");
	*n = sfx_count_tree(r->index, r->order, &before, SfxMetaMain(&before), &r->win.stop.pos, hi,
						&exact);
	sfx_meta_reread(r->index, &after, &r->gate.metabuf);
	test_for_old_snapshot(r);
	state = sfx_state_take(&before);
	return exact && nothing_moved(&state, &after);
}

bool
sfx_reader_count(SfxReader *r, SfxVisibility *v)
{
	Assert(r->want.tids_only);
	if (sfx_reader_feed(r, v, NULL))
		return true;
	sfx_visibility_forget(v);
	return false;
}
