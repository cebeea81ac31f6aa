/*-------------------------------------------------------------------------
 * rank.c - about how many entries lie below a position
 *
 * One page of each level tells it: the counts of the children to the left of the position, and in the leaf a search for it.  Counts above
 * level 1 may lag, so that what is taken from a page is a share: of the entries below it, so many lie below the
 * position.  The delta's share follows from the position's place in its image.
 *
 * Off by what merges have moved and inserters have added since the pages above level 1 were last counted (sfx_tree_recount), and
 * by what is in two stages while a merge runs.
 *-------------------------------------------------------------------------
 */
#include "bounds.h"
#include "dict.h"
#include "tree.h"

/* What is known of a descent: [share, share + width) of all entries lie in the interval of the page it has come to. */
typedef struct Descent
{
	double		share;
	double		width;
} Descent;

/* Narrow d to the child of the page of that level that holds pos.  False: the run is gone. */
static bool
narrow_to_child(const SfxOpened *o, const SfxMeta *meta, uint32 run, const SfxPos *pos, int level, Descent *d)
{
	Buffer		buf = sfx_tree_find(o->index, o->order, meta, run, pos, false, level);
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
	if (total == 0)
	{
		d->share += d->width * i / page.nchildren;
		d->width /= page.nchildren;
		return true;
	}
	d->share += d->width * below / total;
	d->width *= (double) own / total;
	return true;
}

/* The same within the leaf. */
static void
narrow_in_leaf(const SfxOpened *o, const SfxMeta *meta, uint32 run, const SfxPos *pos, Descent *d)
{
	SfxPos		start = {(const uint8_t *) "", 0, 0};
	SfxLeaf		leaf;
	Buffer		buf = sfx_tree_find_leaf(o->index, o->order, meta, run, pos, false, &leaf);
	int			below;

	if (!BufferIsValid(buf))
		return;
	sfx_dict_attach(o->index, BufferGetBlockNumber(buf), BufferGetPage(buf), &leaf, NULL);
	below = sfx_leaf_count(&leaf, &start, pos);
	if (below < 0)
		sfx_corrupt(o->index, BufferGetBlockNumber(buf), "leaf block");
	if (leaf.nentries > 0)
		d->share += d->width * below / leaf.nentries;
	UnlockReleaseBuffer(buf);
}

static double
rank_in_run(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos)
{
	Descent		d = {0, 1};

	for (int level = run->level; level > 0; level--)
		if (!narrow_to_child(o, meta, run->id, pos, level, &d))
			return 0;
	narrow_in_leaf(o, meta, run->id, pos, &d);
	return d.share * run->entries;
}

/* Adds a generation's share to *rank. */
static void
rank_in_image(const SfxOpened *o, const SfxMeta *meta, int g, const SfxPos *pos, SfxRank *rank)
{
	SfxImage   *img;
	const SfxNodeAlloc *a;
	const SfxDelta *d;

	if (meta->gens[g].first == InvalidBlockNumber || (img = sfx_image_acquire(o->index, o->order, meta, g)) == NULL)
		return;
	d = sfx_image_delta(img, &a);
	rank->delta += pos->key ? sfx_delta_below(d, a, pos) : d->nentries;
	rank->delta_total += d->nentries;
	sfx_image_release(img);
}

void
sfx_rank(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos, SfxRank *rank)
{
	rank->tree = rank->delta = rank->delta_total = 0;
	for (int g = 0; g < meta->ngens; g++)
		rank_in_image(o, meta, g, pos, rank);
	for (int r = 0; r < meta->nruns; r++)
	{
		if (pos->key == NULL)
			rank->tree += meta->runs[r].entries;
		else if (pos->len > 0)
			rank->tree += rank_in_run(o, meta, &meta->runs[r], pos);
	}
}
