/*-------------------------------------------------------------------------
 * stats.c - adding what a merge or VACUUM has changed to a run's counts on the metapage
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "stats.h"
#include "meta.h"

void
sfx_count_tree_stats(SfxRun *run, const SfxMergeStats *stats)
{
	run->entries = Max(0, (int64) run->entries + stats->entries);
	run->leaves = Max(1, (int64) run->leaves + stats->leaves);
	run->cut = Max(0, (int64) run->cut + stats->cut);
}
