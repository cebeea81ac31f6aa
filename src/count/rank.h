/*-------------------------------------------------------------------------
 * rank.h - about how many entries lie below a position
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RANK_H
#define SURFIDX_RANK_H

#include "surfidx.h"
#include "meta.h"
#include "range.h"

/*
 * About how many entries of all runs lie below a position.  One page of each level of each run is
 * read.  pos->key NULL: the end.
 */
extern double sfx_rank(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos);

/*
 * Add to below[0..n) how many entries of the delta lie below each of pos[0..n), as sfx_delta_ranks
 * has it.  Images are brought up to date.
 */
extern void sfx_rank_in_delta(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos, int n, double *below);

/* Of one run. */
extern double sfx_rank_in_run(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos);

/*
 * Of the one leaf that pos[0] falls into, in entries, and how many it has; and of as many of the
 * next ones of n ascending positions as fall into it, too.  How many those are; 0: the run is gone.
 */
extern int	sfx_ranks_in_leaf(const SfxOpened *o, const SfxMeta *meta, uint32 run,
							  const SfxPos *pos, int n, int *below, int *entries);

/*
 * The rank in all runs from the pages above the leaves alone.  The main tree must have any.  Off by
 * up to the entries of the leaf that the position falls into in each run, by the counts above level
 * 1 that lag (README "Counts by block"), and by what a merge is moving.
 */
extern double sfx_rank_above_leaves(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos);

#endif							/* SURFIDX_RANK_H */
