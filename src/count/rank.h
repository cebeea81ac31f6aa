/*-------------------------------------------------------------------------
 * rank.h - estimates of the number of entries below a position
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RANK_H
#define SURFIDX_RANK_H

#include "meta.h"
#include "range.h"

/*
 * An estimate of the number of entries of all runs below a position (pos->key NULL: the end).
 * Reads one page of each level of each run.  The caller holds no lock; damage is an error.
 */
extern double sfx_rank(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos);

/*
 * Add to below[0..n) the number of the delta's entries below each of pos[0..n), estimated as by
 * sfx_delta_ranks.  Brings images up to date.
 */
extern void sfx_rank_in_delta(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos, int n, double *below);

/* The same as sfx_rank for one run; 0 if it is gone. */
extern double sfx_rank_in_run(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos);

/*
 * Of n ascending positions, take the first and those that follow in the same leaf of a run.
 * below[i]: the leaf's entries below pos[i]; *entries: those of the leaf.  Returns how many
 * positions were taken; 0: the run is gone.
 */
extern int	sfx_ranks_in_leaf(const SfxOpened *o, const SfxMeta *meta, uint32 run,
							  const SfxPos *pos, int n, int *below, int *entries);

/*
 * An estimate like sfx_rank that reads only pages above the leaves; the main tree must have some.
 * In each run it may be wrong by the entries of the leaf that holds the position, by counts above
 * level 1 that lag (src/README.md, "Counts by block"), and by entries that a merge is moving.
 */
extern double sfx_rank_above_leaves(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos);

#endif							/* SURFIDX_RANK_H */
