/*-------------------------------------------------------------------------
 * stats.c - what a merge or VACUUM has changed of a run, in its counts on the metapage
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "stats.h"
#include "meta.h"
#include "wal.h"

#include "miscadmin.h"


void
sfx_count_tree_stats(SfxRun *run, const SfxMergeStats *stats)
{
	run->entries = Max(0, (int64) run->entries + stats->entries);
	run->leaves = Max(1, (int64) run->leaves + stats->leaves);
	run->cut = Max(0, (int64) run->cut + stats->cut);
}

void
sfx_store_tree_stats(Relation index, uint32 run, const SfxMergeStats *stats)
{
	SfxMeta		meta;
	Buffer		buf;
	int			r;

	sfx_meta_lock(index, &meta, &buf);
	r = sfx_meta_find_run(&meta, run);
	if (r < 0)
	{
		UnlockReleaseBuffer(buf);
		return;
	}
	sfx_count_tree_stats(&meta.runs[r], stats);
	sfx_meta_change(index, buf, &meta, SFX_META_STATS, NULL);
}
