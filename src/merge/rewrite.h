/*-------------------------------------------------------------------------
 * rewrite.h - rewriting a group of neighbouring leaves, with or without new entries
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_REWRITE_H
#define SURFIDX_REWRITE_H

#include "surfidx.h"
#include "dead_rows.h"
#include "group.h"
#include "source.h"
#include "stats.h"
#include "find.h"
#include "horizon.h"
#include "leaf.h"
#include "meta.h"
#include "pos.h"

/*
 * Rewrite the group with the entries of src (may be NULL) and without those whose TID the filter
 * (may be NULL) reports.  With src the group may grow.  Its record has the new counts of the run
 * (M16).  Sets resume.  All memory is palloc'd in the current context and left there.
 */
extern void sfx_group_rewrite(SfxGroup *group, SfxSource *src, SfxDeadAmong filter, void *arg,
							  SfxMergeStats *stats);

#endif							/* SURFIDX_REWRITE_H */
