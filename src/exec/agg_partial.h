/*-------------------------------------------------------------------------
 * agg_partial.h - sums as core passes them from partial aggregation to its end
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_PARTIAL_H
#define SURFIDX_AGG_PARTIAL_H

#include "surfidx.h"

#include "nodes/primnodes.h"

/* Is a node to give out the aggregate's state, not its value? */
static inline bool
sfx_agg_is_partial(const Aggref *agg)
{
	return agg != NULL && agg->aggsplit != AGGSPLIT_SIMPLE;
}

/* Is the state of a sum or an average, which this is, made here? */
extern bool sfx_partial_sum_is_known(const Aggref *agg);

/*
 * The state after n values, n > 0, whose sum is the numeric `sum`.  Memory: the current context.
 */
extern Datum sfx_partial_sum(const Aggref *agg, Datum sum, uint64 n);

/* The state before any: what of no rows is passed on. */
extern Datum sfx_partial_none(const Aggref *agg, bool *isnull);

#endif							/* SURFIDX_AGG_PARTIAL_H */
