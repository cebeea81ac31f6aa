/*-------------------------------------------------------------------------
 * percentile_query.h - a query of percentiles, as one with OFFSET
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PERCENTILE_QUERY_H
#define SURFIDX_PERCENTILE_QUERY_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"

/* Is the aggregate percentile_disc or percentile_cont? */
extern bool sfx_is_percentile(const Aggref *agg);

/*
 * What a query's percentiles order by; as an index may have it, so without a change of type that
 * keeps the order.
 */
typedef struct SfxPercentileOrder
{
	Expr	   *expr;
	Oid			sortop;
	Oid			eqop;
	bool		reverse;		/* sortop is "greater than" */
	bool		nulls_first;	/* the caller's choice: there are no NULLs */
} SfxPercentileOrder;

/* Find that out.  False: there is no such order. */
extern bool sfx_percentile_order(const Aggref *agg, SfxPercentileOrder *order);

/*
 * The same query with OFFSET; NULL: there is none.  REQUIRES: `query` has one table, aggregates of
 * that, one of which at least is a percentile, no HAVING, and all percentiles have this order.  Its
 * nodes are copied.
 */
extern Query *sfx_percentile_query(const Query *query, const SfxPercentileOrder *order,
								   ParamListInfo params);

#endif							/* SURFIDX_PERCENTILE_QUERY_H */
