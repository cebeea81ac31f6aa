/*-------------------------------------------------------------------------
 * rank.c - estimates of the number of entries below a position
 *
 * One page of each level is read: inner pages have the counts of the children to the left of the
 * position, and the leaf is searched.  Counts above level 1 may lag, so only their proportions on a
 * page are used: of the entries below this page, such a share is below the position.  The delta's
 * part is counted in its images, or computed from the position's place in them.
 *
 * The result is wrong by what merges have moved and inserters have added since the pages above
 * level 1 were last counted (sfx_tree_recount), and by entries that are in two stages while a merge
 * runs.
 *
 * Without leaves (sfx_rank_above_leaves) the position is interpolated between the fences of its
 * leaf, as if the leaf's keys were evenly spread.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "delta.h"
#include "dict.h"
#include "find.h"
#include "image.h"
#include "inner.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "rank.h"

#include <math.h>

/*
 * The state of a descent: a share `share` of all entries is below the current page, and a share
 * `width` is in it.
 */
typedef struct Descent
{
	double		share;
	double		width;
} Descent;

static void
narrow(Descent *d, int child, int nchildren, uint64 below, uint64 own, uint64 total)
{
	/* without counts all children are taken to be equal */
	d->share += d->width * (total > 0 ? (double) below / total : (double) child / nchildren);
	d->width *= total > 0 ? (double) own / total : 1.0 / nchildren;
}

/* Narrow d to the child of the page of that level that holds pos.  False: the run is gone. */
static bool
narrow_to_child(const SfxOpened *o, const SfxMeta *meta, uint32 run, const SfxPos *pos, int level, Descent *d)
{
	Buffer		buf = sfx_tree_find(SfxTreeOf(o->index, o->order, meta, run), pos, false, level);
	SfxInner	page;
	uint64		below,
				own,
				total;
	int			i = -1;

	if (!BufferIsValid(buf))
		return false;
	if (sfx_inner_open(&page, SfxPageBody(BufferGetPage(buf)), SfxPageBodyLen(BufferGetPage(buf)), o->order) >= 0)
		i = sfx_inner_find(&page, pos);
	if (i < 0 || sfx_inner_counts(&page, i, &below, &own, &total) < 0)
		sfx_corrupt(o->index, BufferGetBlockNumber(buf), "inner page");
	UnlockReleaseBuffer(buf);
	narrow(d, i, page.nchildren, below, own, total);
	return true;
}

/* Narrow d to the page of level `to` that holds pos.  False: the run is gone. */
static bool
narrow_to_level(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos, int to, Descent *d)
{
	for (int level = run->level; level > to; level--)
		if (!narrow_to_child(o, meta, run->id, pos, level, d))
			return false;
	return true;
}

int
sfx_ranks_in_leaf(const SfxOpened *o, const SfxMeta *meta, uint32 run, const SfxPos *pos, int n,
				  int *below, int *entries)
{
	SfxLeaf		leaf;
	int			found = 0;
	Buffer		buf = sfx_tree_find_leaf(SfxTreeOf(o->index, o->order, meta, run), pos, false,
										 &leaf);

	if (!BufferIsValid(buf))
		return 0;
	sfx_leaves_read++;
	sfx_dict_attach(o->index, BufferGetBlockNumber(buf), BufferGetPage(buf), &leaf, NULL);
	do
	{
		below[found] = sfx_leaf_count(&leaf, NULL, &pos[found]);
		if (below[found] < 0)
			sfx_corrupt(o->index, BufferGetBlockNumber(buf), "leaf block");
		found++;
	} while (found < n && pos[found].key != NULL && sfx_leaf_cmp_fences(&leaf, &pos[found]) == 0);
	*entries = leaf.nentries;
	UnlockReleaseBuffer(buf);
	return found;
}

/* ---- without leaves ---- */

/*
 * The low fences and entries of a child and its neighbors: [0] is the child before it, [1] the
 * child itself, [2] and [3] are those after it.
 */
typedef struct Around
{
	int			at;				/* the child's number */
	SfxPos		low[4];			/* key NULL: there is none, or it is the end of the order */
	uint64		count[4];
	uint8		bytes[4][SFX_MAX_ENTRY];
} Around;

#define ENOUGH	(-100)			/* ends sfx_inner_each; not an error code of core */

static void
set_low(Around *a, int i, const SfxPos *low)
{
	if (low->len == 0 || low->len > SFX_MAX_ENTRY)
		return;
	memcpy(a->bytes[i], low->key, low->len);
	a->low[i] = (SfxPos) {a->bytes[i], low->len, low->tid};
}

static int
collect(void *ctx, int i, const SfxChild *child)
{
	Around	   *a = ctx;
	int			k = i - a->at + 1;

	if (k > 3)
		return ENOUGH;
	if (k >= 0)
	{
		set_low(a, k, &child->low);
		a->count[k] = child->count;
	}
	return SFX_OK;
}

/* Eight bytes of a key, after the first `skip`, as a number. */
static double
number_behind(const SfxPos *pos, uint32 skip)
{
	uint8		b[8] = {0};

	if (pos->len > skip)
		memcpy(b, pos->key + skip, Min(pos->len - skip, 8));
	return (double) sfx_load_be64(b);
}

/*
 * Where pos is between keys a (0) and b (1), by linear interpolation; outside, below 0 or above 1.
 */
static double
place_between(const SfxPos *pos, const SfxPos *a, const SfxPos *b)
{
	uint32		skip = sfx_lcp(a->key, a->len, b->key, b->len);
	double		from = number_behind(a, skip),
				to = number_behind(b, skip);

	if (to <= from)
		return 0.5;				/* one key, whose entries differ in their TIDs */
	if (sfx_lcp(pos->key, pos->len, a->key, a->len) < skip)
		return sfx_cmp_bytes(pos->key, pos->len, a->key, a->len) < 0 ? -HUGE_VAL : HUGE_VAL;
	return (number_behind(pos, skip) - from) / (to - from);
}

/*
 * The share of a leaf's entries below pos.  A tree's first leaf has no low fence and its last leaf
 * no high one: their keys are taken to be as dense as those of the neighboring leaf.
 */
static double
share_between_fences(const SfxOpened *o, const Around *a, const SfxPos *pos)
{
	double		own = Max(a->count[1], 1),
				share = 0.5;

	/* raw keys in comparator order cannot be interpolated */
	if (o->order != NULL)
		return share;
	if (a->low[1].key && a->low[2].key)
		share = place_between(pos, &a->low[1], &a->low[2]);
	else if (a->low[2].key && a->low[3].key)
		share = 1 + place_between(pos, &a->low[2], &a->low[3]) * a->count[2] / own;
	else if (a->low[0].key && a->low[1].key)
		share = (place_between(pos, &a->low[0], &a->low[1]) - 1) * a->count[0] / own;
	return Min(Max(share, 0), 1);
}

/* Like narrow_to_child on level 1, and then into the leaf by interpolation between its fences. */
static void
narrow_by_fences(const SfxOpened *o, const SfxMeta *meta, uint32 run, const SfxPos *pos, Descent *d)
{
	Buffer		buf = sfx_tree_find(SfxTreeOf(o->index, o->order, meta, run), pos, false, 1);
	BlockNumber blkno;
	char	   *copy;
	uint8	   *fences;
	Around	   *a;
	SfxInner	page;
	SfxPos		low,
				high;
	bool		inf;
	uint64		below,
				own,
				total;

	if (!BufferIsValid(buf))
		return;
	blkno = BufferGetBlockNumber(buf);
	copy = palloc(BLCKSZ);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	fences = palloc(2 * SFX_MAX_ENTRY);
	a = palloc0(sizeof(Around));
	if (sfx_inner_open(&page, SfxPageBody((Page) copy), SfxPageBodyLen((Page) copy), o->order) < 0 ||
		sfx_inner_fences(&page, fences, &low, fences + SFX_MAX_ENTRY, &high, &inf) < 0 ||
		(a->at = sfx_inner_find(&page, pos)) < 0 || sfx_inner_counts(&page, a->at, &below, &own, &total) < 0)
		sfx_corrupt(o->index, blkno, "inner page");
	/* the page's high fence ends its last child */
	if (!inf && a->at + 2 >= page.nchildren)
		set_low(a, page.nchildren - a->at + 1, &high);
	if (sfx_inner_each(&page, collect, a) == SFX_CORRUPT)
		sfx_corrupt(o->index, blkno, "inner page separators");
	narrow(d, a->at, page.nchildren, below, own, total);
	d->share += d->width * share_between_fences(o, a, pos);
	pfree(a);
	pfree(fences);
	pfree(copy);
}

static double
share_in_run(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos)
{
	Descent		d = {0, 1};

	if (!narrow_to_level(o, meta, run, pos, 1, &d))
		return 0;
	narrow_by_fences(o, meta, run->id, pos, &d);
	return d.share;
}

double
sfx_rank_above_leaves(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos)
{
	double		of_main = 0,
				rank = 0;

	/*
	 * begin with the main tree, whose share is used for runs of one leaf, which have no inner page
	 */
	for (int r = meta->nruns - 1; r >= 0; r--)
	{
		const SfxRun *run = &meta->runs[r];
		double		share = of_main;

		if (pos->key == NULL || pos->len == 0)
			share = pos->key == NULL ? 1 : 0;
		else if (run->level > 0)
			share = share_in_run(o, meta, run, pos);
		if (r == meta->nruns - 1)
			of_main = share;
		rank += share * run->entries;
	}
	return rank;
}

/* ---- with leaves, and the delta ---- */

double
sfx_rank_in_run(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos)
{
	Descent		d = {0, 1};
	int			below,
				entries;

	if (!narrow_to_level(o, meta, run, pos, 0, &d) || sfx_ranks_in_leaf(o, meta, run->id, pos, 1, &below, &entries) == 0)
		return 0;
	if (entries > 0)
		d.share += d.width * below / entries;
	return d.share * run->entries;
}

double
sfx_rank(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos)
{
	double		rank = 0;

	for (int r = 0; r < meta->nruns; r++)
	{
		if (pos->key == NULL)
			rank += meta->runs[r].entries;
		else if (pos->len > 0)
			rank += sfx_rank_in_run(o, meta, &meta->runs[r], pos);
	}
	return rank;
}

void
sfx_rank_in_delta(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos, int n, double *below)
{
	double	   *part = palloc(n * sizeof(double));

	for (int g = 0; g < meta->ngens; g++)
	{
		SfxImage   *img;
		SfxNodeAlloc a;
		const SfxDelta *d;

		if (meta->gens[g].first == InvalidBlockNumber || (img = sfx_image_acquire(o->index, o->order, meta, g)) == NULL)
			continue;
		d = sfx_image_delta(img, o->order, &a);
		sfx_delta_ranks(d, &a, pos, n, part);
		sfx_image_release(img);
		for (int i = 0; i < n; i++)
			below[i] += part[i];
	}
	pfree(part);
}
