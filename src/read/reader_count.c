/*-------------------------------------------------------------------------
 * reader_count.c - counting the rows of a range, stage by stage
 *
 * Who counts needs no order, and no keys to tell what stands in two stages, if nothing does (R9):
 * the delta's entries are taken from its image, and those of each run from its leaves, a coded
 * block at a time.  Where the whole table is all-visible (Y8) most leaves are not even read.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "compat.h"
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

#define DELTA_TIDS		1024	/* taken under one hold of an image's lock */

/* A leaf's entries cost about as much as a look at so much of the map. */
#define LEAF_MAP_BYTES	32768

/* A page above the leaves costs about as much as so many leaves whose entries are only counted. */
#if defined(USE_ASSERT_CHECKING) || defined(SFX_TEST)
#define PAGE_LEAVES		2		/* to have it tested */
#else
#define PAGE_LEAVES		64
#endif

/* R9: does each entry stand in one stage only? */
static bool
is_settled(const SfxMeta *meta)
{
	return meta->ngens == 1 && meta->resume[SFX_RESUME_RUN].source == 0;
}

/* ... and does it still? */
static bool
nothing_moved(const SfxMeta *before, const SfxMeta *now)
{
	return now->work.groups == before->work.groups || SFX_MUTANT("stages overlap");
}

/* ---- the delta ---- */

/* TIDs from cur on: how many, or -1 if the generation is gone.  *more: cur is behind them. */
static int
copy_tids(SfxReader *r, const SfxMeta *meta, uint64 *tid, bool *more)
{
	SfxImage   *img = sfx_image_acquire(r->index, r->order, meta, 0);
	const SfxNodeAlloc *a;
	const SfxDelta *d;
	SfxCursor	c;
	SfxEntry	e;
	int			n = 0;

	*more = false;
	if (img == NULL)
		return -1;
	d = sfx_image_delta(img, &a);
	for (bool have = sfx_delta_seek(d, a, &r->cur.pos, &c); have; have = sfx_delta_next(d, a, &c))
	{
		sfx_delta_get(d, a, &c, &e);
		if (beyond_range(r, &e))
			break;
		if (n == DELTA_TIDS)
		{
			set_cur(r, e.key, e.keylen, e.tid);
			*more = true;
			break;
		}
		tid[n++] = e.tid;
	}
	sfx_image_release(img);
	return n;
}

/* The entries of the range, added to *n.  False: the generation is gone. */
static bool
count_delta(SfxReader *r, const SfxMeta *meta, SfxVisibility *v, uint64 *n)
{
	uint64		tid[DELTA_TIDS];
	bool		more = meta->gens[0].first != InvalidBlockNumber;

	r->cur = r->lo;
	while (more)
	{
		int			now;

		CHECK_FOR_INTERRUPTS();
		now = copy_tids(r, meta, tid, &more);
		if (now < 0)
			return false;
		SFX_STOP("count has TIDs");
		sfx_visibility_add(v, tid, now);
		*n += now;
	}
	return true;
}

/* ---- a run ---- */

/*
 * Y8, for a leaf in buf that begins with cur, and is all in the range: its head tells.  stop moves to
 * its end.  False: it is not, and is still locked.
 */
static bool
count_whole_leaf(SfxReader *r, Buffer buf, SfxVisibility *v, uint64 *n)
{
	static uint8 fences[2][SFX_MAX_ENTRY];
	const SfxLeaf *leaf = &r->main.leaf;
	SfxPos		low;
	SfxPos		high;
	bool		inf;

	if (sfx_leaf_fences(leaf, fences[0], &low, fences[1], &high, &inf) < 0)
		sfx_corrupt(r->index, BufferGetBlockNumber(buf), "leaf fences");
	if (sfx_order_cmp_pos(r->order, &low, &r->cur.pos) != 0)
		return false;
	if (!r->hi.inf && (inf || sfx_order_cmp_pos(r->order, &high, &r->hi.pos) >= 0))
		return false;
	if (!inf)
		bound_set(&r->stop, r->bound_bytes[1 - r->curbuf], high.key, high.len, high.tid);
	r->final = inf;
	sfx_visibility_add_visible(v, leaf->nentries);
	*n += leaf->nentries;
	UnlockReleaseBuffer(buf);
	return true;
}

/* What main's copied leaf has between cur and stop; Y8: all of it is visible. */
static void
count_entries(SfxReader *r, SfxVisibility *v, uint64 *n)
{
	Share	   *s = &r->main;
	const SfxPos *stop = s->whole || r->stop.inf ? NULL : &r->stop.pos;
	int			now = sfx_leaf_count(&s->leaf, &r->cur.pos, stop);

	if (now < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	sfx_visibility_add_visible(v, now);
	*n += now;
}

/* The same of what may be hidden. */
static void
count_blocks(SfxReader *r, SfxVisibility *v, uint64 *n)
{
	Share	   *s = &r->main;
	const SfxPos *stop = s->whole || r->stop.inf ? NULL : &r->stop.pos;
	int			b = sfx_leaf_find_block(&s->leaf, &r->cur.pos);
	int			last = stop ? sfx_leaf_find_block(&s->leaf, stop) : s->leaf.nblocks;

	if (b < 0 || last < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf directory");
	for (const SfxPos *lo = &r->cur.pos; b <= Min(last, s->leaf.nblocks - 1); b++, lo = NULL)
	{
		int			now = sfx_visibility_add_block(v, &s->leaf, b, lo, stop);

		if (now < 0)
			sfx_corrupt(r->index, s->leafblk, "leaf block");
		*n += now;
	}
}

/*
 * The leaf that holds cur, of this run, which the reader's share for main is used for.  False:
 * something has moved.
 */
static bool
count_leaf(SfxReader *r, const SfxMeta *before, const SfxRun *run, bool all_visible,
		   SfxVisibility *v, uint64 *n)
{
	Share	   *s = &r->main;
	SfxMeta		meta;
	Buffer		buf;
	BlockNumber right;

	/* R1: the TIDs of leaves before this one are tested, so the gate may change */
	sfx_reader_meta(r, &meta);
	r->copied = false;
	buf = sfx_tree_find_leaf(SfxTreeOf(r->index, r->order, &meta, run->id), &r->cur.pos, false,
							 &s->leaf);
	if (!BufferIsValid(buf))
		return false;
	sfx_leaves_read++;
	r->stop = r->hi;
	r->final = true;
	right = SfxPageGetTail(BufferGetPage(buf))->right;
	if (!all_visible || !count_whole_leaf(r, buf, v, n))
	{
		sfx_reader_keep_leaf(r, s, buf);
		SFX_STOP("count has TIDs");
		(all_visible ? count_entries : count_blocks) (r, v, n);
	}
	SfxTestForOldSnapshot(r->snapshot, r->index, BufferGetPage(r->metabuf));
	if (!r->final && run == SfxMetaMain(before))
		sfx_reader_ask_ahead(r, &meta, right);
	return nothing_moved(before, &meta);
}

/* Y8: all from cur on. */
static void
count_above_leaves(SfxReader *r, const SfxMeta *before, const SfxRun *run, SfxVisibility *v,
				   uint64 *n)
{
	uint64		now;

	SFX_STOP("count above leaves");
	now = sfx_count_tree(r->index, r->order, before, run, &r->cur.pos, &r->hi.pos);
	sfx_visibility_add_visible(v, now);
	*n += now;
}

static bool
count_leaves(SfxReader *r, const SfxMeta *before, const SfxRun *run, SfxVisibility *v, uint64 *n)
{
	Size		worth_a_look = sfx_visibility_map_bytes(v) / LEAF_MAP_BYTES + 1;
	bool		all_visible = false;

	r->cur = r->lo;
	for (Size leaves = 1; !all_visible || leaves <= worth_a_look + PAGE_LEAVES; leaves++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!count_leaf(r, before, run, all_visible, v, n))
			return false;
		if (r->final)
			return true;
		cur_from_stop(r);
		if (leaves == worth_a_look)
			all_visible = sfx_visibility_of_all(v);
	}
	count_above_leaves(r, before, run, v, n);
	return true;
}

/* ---- all of them ---- */

static bool
count_stages(SfxReader *r, const SfxMeta *before, SfxVisibility *v, uint64 *n)
{
	if (!count_delta(r, before, v, n))
		return false;
	SFX_STOP("delta counted for itself");
	for (int i = 0; i < before->nruns; i++)
		if (!count_leaves(r, before, &before->runs[i], v, n))
			return false;
	return true;
}

/* Closed ranges are asked of filters first, where there are any, which is the union's to do. */
static bool
has_filters(const SfxReader *r)
{
	SfxFilterSpec spec;

	sfx_opt_filter(r->index, &spec);
	return r->ask && spec.kind != SFX_FILTER_NONE;
}

bool
sfx_reader_count(SfxReader *r, SfxVisibility *v)
{
	SfxMeta		before;
	SfxMeta		after;
	uint64		n = 0;

	Assert(r->anchor == ANCHOR_RANGE && !r->active && r->tids_only);
	/* a lookup is shorter in the ordinary way */
	if (r->point || has_filters(r))
		return false;
	r->dir = ForwardScanDirection;
	sfx_reader_meta(r, &before);
	if (!is_settled(&before) || !count_stages(r, &before, v, &n))
	{
		sfx_visibility_forget(v);
		return false;
	}
	sfx_meta_reread(r->index, &after, &r->metabuf);
	SfxTestForOldSnapshot(r->snapshot, r->index, BufferGetPage(r->metabuf));
	if (!nothing_moved(&before, &after))
	{
		sfx_visibility_forget(v);
		return false;
	}
	r->anchor = ANCHOR_END;
	pgstat_count_index_tuples(r->index, n);
	return true;
}
