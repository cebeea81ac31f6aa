/*-------------------------------------------------------------------------
 * agg_partial.h - sums in the form in which core's partial aggregation passes them to its final
 * step
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_PARTIAL_H
#define SURFIDX_AGG_PARTIAL_H

#include "nodes/primnodes.h"

/* Is the node to return the aggregate's state, rather than its value? */
static inline bool
sfx_agg_is_partial(const Aggref *agg)
{
	return agg != NULL && agg->aggsplit != AGGSPLIT_SIMPLE;
}

/*
 * The state after n > 0 values whose sum is the numeric `sum` (Y13).  Memory: the current context.
 */
extern Datum sfx_partial_sum(const Aggref *agg, Datum sum, uint64 n);

/* The state before any value: what is passed on where there are no rows. */
extern Datum sfx_partial_none(const Aggref *agg, bool *isnull);

#endif							/* SURFIDX_AGG_PARTIAL_H */
