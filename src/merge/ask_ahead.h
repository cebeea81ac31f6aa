/*-------------------------------------------------------------------------
 * ask_ahead.h - prefetch of the leaves that a merge is about to read
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ASK_AHEAD_H
#define SURFIDX_ASK_AHEAD_H

#include "group.h"
#include "source.h"
#include "stats.h"

/*
 * sfx_group_asked_before: note in a group that was just located which of the parent's children the
 * previous group has prefetched already.
 *
 * sfx_group_ask_ahead: the merge is about to read child number `child` of the parent.  Prefetch
 * those of the next maintenance_io_concurrency children (32 at most) into which entries of the
 * source fall; they may belong to the next group.  Counts them in group->asked and
 * group->reads_begun.
 */
extern void sfx_group_asked_before(SfxGroup *group, const SfxMergeStats *stats);
extern void sfx_group_ask_ahead(SfxGroup *group, SfxSource *src, int child);

#endif							/* SURFIDX_ASK_AHEAD_H */
