/*-------------------------------------------------------------------------
 * reader_ahead.c - asking for leaves before a range scan comes to them
 *
 * A leaf names its right neighbor.  The leaves after that, and all that a backward scan comes to,
 * are named in the parent, which is visited once for each window of effective_io_concurrency
 * leaves. Forward, the right neighbor tells first whether leaves have to be read: an index in
 * memory needs no prefetching.  Where no leaf of a window had to be read, the next windows are
 * skipped.
 *
 * No read stream: that keeps the pages pinned that it was told of, in their order, and a merge that
 * moves entries would make them the wrong ones.  A page that was prefetched and is not needed costs
 * nothing else.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "find.h"
#include "meta.h"
#include "reader_impl.h"

#include "utils/spccache.h"

#define WINDOW_MAX		32
#define IDLE_WINDOWS	8		/* are skipped after one whose leaves were all in memory */

/*
 * Ask for the leaves of the window that begins where the step in hand stops.  How many leaves the
 * scan comes to before the next window.
 */
static int
ask_window(SfxReader *r, const SfxMeta *meta, int window)
{
	BlockNumber leaf[WINDOW_MAX];
	BlockNumber end = RelationGetNumberOfBlocks(r->index);
	SfxTree    *main = SfxTreeOf(r->index, r->order, meta, SfxMetaMain(meta)->id);
	int			n = sfx_tree_leaves_from(main, &r->win.stop.pos, !forward(r), leaf, window);
	bool		reads = false;

	for (int i = 0; i < n; i++)
		if (leaf[i] >= SFX_FIRST_BLKNO && leaf[i] < end)
			reads |= PrefetchBuffer(r->index, MAIN_FORKNUM, leaf[i]).initiated_io;
	return Max(reads ? n : n * IDLE_WINDOWS, 1);
}

void
sfx_reader_ask_ahead(SfxReader *r, const SfxMeta *meta, BlockNumber right)
{
	int			window;
	bool		reads = true;

	Assert(!SfxHoldsLWLock());
	/* a caller that wants few rows of a range finds them in its first block, more often than not */
	if (r->ahead.went_on == 0)
		r->ahead.right = right;
	else if (BlockNumberIsValid(right))
		reads = sfx_prefetch_page(r->index, right);
	if (r->ahead.leaves > 0)
	{
		r->ahead.leaves--;
		return;
	}
	/* a caller that goes on once may want no more */
	if (++r->ahead.went_on < 2 || SfxMetaMain(meta)->level == 0 || !reads)
		return;
	window = Min(get_tablespace_io_concurrency(r->index->rd_rel->reltablespace), WINDOW_MAX);
	if (window > 1 || (window == 1 && !forward(r)))
		r->ahead.leaves = ask_window(r, meta, window) - 1;
	else
		r->ahead.leaves = WINDOW_MAX;
}
