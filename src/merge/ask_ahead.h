/*-------------------------------------------------------------------------
 * ask_ahead.h - leaves that a merge will read, asked for before it comes to them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ASK_AHEAD_H
#define SURFIDX_ASK_AHEAD_H

#include "surfidx.h"
#include "group.h"
#include "source.h"
#include "stats.h"

/*
 * Child number child of the parent is the next one to be read: ask for those behind it,
 * maintenance_io_concurrency of them, that the source falls into.  They may be the next group's.
 */
extern void sfx_group_asked_before(SfxGroup *group, const SfxMergeStats *stats);
extern void sfx_group_ask_ahead(SfxGroup *group, SfxSource *src, int child);

#endif							/* SURFIDX_ASK_AHEAD_H */
