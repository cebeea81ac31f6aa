/*-------------------------------------------------------------------------
 * rewrite.h - rewriting a group of neighboring leaves, with or without new entries
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_REWRITE_H
#define SURFIDX_REWRITE_H

#include "dead_rows.h"
#include "group.h"
#include "source.h"
#include "stats.h"

/*
 * Rewrite the group with the entries of src (may be NULL), which stands at its first entry for the
 * group, and without those that `among` (may be NULL, called with arg) reports as dead.  With src
 * the group may grow to both sides.  Its record has the run's new counts (M16) and, with src, how
 * far the source is merged (M5).  Sets group->resume and group->resume_inf; adds to *stats.  Merge
 * lock held (asserted), from locating the group on.  Memory is palloc'd in the current context and
 * left there.  Errors: the table of cut leaves is locked (W3); damage; and elog if a leaf fits in
 * no record, which T5 excludes.
 */
extern void sfx_group_rewrite(SfxGroup *group, SfxSource *src, SfxDeadAmong among, void *arg,
							  SfxMergeStats *stats);

#endif							/* SURFIDX_REWRITE_H */
