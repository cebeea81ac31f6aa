/*-------------------------------------------------------------------------
 * ask_ahead.c - prefetch of the leaves that a merge is about to read
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "ask_ahead.h"
#include "delta.h"
#include "group.h"
#include "image.h"
#include "leaf.h"
#include "pos.h"
#include "source.h"
#include "stats.h"

#include "utils/rel.h"
#include "utils/spccache.h"

#define AHEAD_MAX		32

/*
 * The first entry of the source from *pos on: of the image, if there is one, else of the chunk at
 * hand.  False: none is known.
 */
static bool
next_from(const SfxSource *src, const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxEntry *e)
{
	SfxCursor	c;

	if (d != NULL)
	{
		if (!sfx_delta_seek(d, a, pos, &c))
			return false;
		sfx_delta_get(d, a, &c, e);
		return true;
	}
	for (int i = src->at; i < src->n; i++)
	{
		SfxPos		at = sfx_entry_pos(&src->entry[i]);

		if (sfx_order_cmp_pos(src->order, &at, pos) >= 0)
		{
			*e = src->entry[i];
			return true;
		}
	}
	return false;
}

/*
 * Into which of the parent's children [from, to) do entries of the source fall?  For a generation
 * all entries are considered, under its image's lock; for a run only those of the chunk at hand.
 */
static void
falls_into(SfxSource *src, const SfxGroup *group, int from, int to, bool *wanted)
{
	SfxImage   *img = src->run == 0 ? sfx_image_acquire(src->index, src->order, src->meta, src->g) : NULL;
	SfxNodeAlloc a;
	const SfxDelta *d = img ? sfx_image_delta(img, src->order, &a) : NULL;
	SfxEntry	e;
	bool		have = true;

	for (int i = from; i < to; i++)
	{
		SfxPos		high;

		have = have && next_from(src, d, &a, &group->node.children[i].low, &e);
		wanted[i - from] = have;
		if (have && sfx_group_child_high(group, i, &high))
		{
			SfxPos		at = sfx_entry_pos(&e);

			wanted[i - from] = sfx_order_cmp_pos(src->order, &at, &high) < 0;
		}
	}
	if (img)
		sfx_image_release(img);
}

/*
 * The previous group has prefetched its parent's children up to stats->asked_last.  That leaf is to
 * the right of the previous group, so the rewrite has not moved it, and it is found by its block
 * number.
 */
void
sfx_group_asked_before(SfxGroup *g, const SfxMergeStats *stats)
{
	if (!g->has_node)
		return;
	for (int i = g->from; i < Min(g->from + AHEAD_MAX + 1, g->node.nchildren); i++)
		if (g->node.children[i].blkno == stats->asked_last)
			g->asked_to = i + 1;
}

void
sfx_group_ask_ahead(SfxGroup *g, SfxSource *src, int child)
{
	Oid			space = g->tree.index->rd_rel->reltablespace;
	int			window = Min(get_tablespace_maintenance_io_concurrency(space), AHEAD_MAX);
	int			from = Max(g->asked_to, child + 1);
	int			to;
	bool		wanted[AHEAD_MAX];
	BlockNumber end;

	/* prefetch half a window at a time, so that the source is not searched at every leaf */
	if (!g->has_node || window == 0 || from - child > (window + 1) / 2)
		return;
	to = Min(child + 1 + window, g->node.nchildren);
	if (from >= to)
		return;
	falls_into(src, g, from, to, wanted);
	for (int i = from; i < to; i++)
		if (wanted[i - from] && sfx_has_block(g->tree.index, g->node.children[i].blkno, &end))
		{
			g->asked++;
			g->reads_begun += PrefetchBuffer(g->tree.index, MAIN_FORKNUM,
											 g->node.children[i].blkno).initiated_io;
		}
	g->asked_to = to;
}
