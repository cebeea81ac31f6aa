/*-------------------------------------------------------------------------
 * agg_offer.h - aggregates computed by the index: what a table's indexes offer, and for how much
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_OFFER_H
#define SURFIDX_AGG_OFFER_H

#include "surfidx.h"
#include "agg_want.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* At preload; settings before that. */
extern void sfx_agg_offer_define_gucs(void);
extern void sfx_agg_offer_init(void);

/*
 * An index's estimate is asked for: a path that may be the one to count by.  Called by
 * sfx_costestimate, whose results the others are.
 */
extern void sfx_agg_note_path(PlannerInfo *root, const IndexPath *path, Cost startup, Cost total,
							  Selectivity selectivity);

/* May there be any offer in this planner run? */
extern bool sfx_agg_may_offer(void);

/* An answer by one index. */
typedef struct SfxAggOffer
{
	const struct SfxAggCandidate *candidate;
	SfxAggWanted wanted;
	Cost		cost;
	double		groups;
} SfxAggOffer;

/* Can a node read the table?  It may have heirs. */
extern bool sfx_agg_fits_table(PlannerInfo *root, RelOptInfo *rel);

/*
 * The answers of one table's indexes (SfxAggOffer): of groups, which come in different orders, all;
 * else the cheapest.
 */
extern List *sfx_agg_offers(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question);

/* The cheapest one.  False: there is none. */
extern bool sfx_agg_best_offer(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question,
							   SfxAggOffer *best);

/* A node that gives it. */
extern CustomPath *sfx_agg_node_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target,
									 const SfxAggQuestion *question, const SfxAggOffer *offer,
									 List *having);

/* How many groups come of so many rows, before HAVING. */
extern double sfx_agg_count_groups(PlannerInfo *root, const SfxAggQuestion *question,
								   double rows);

#endif							/* SURFIDX_AGG_OFFER_H */
