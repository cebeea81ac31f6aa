/*-------------------------------------------------------------------------
 * agg_offer.h - aggregates computed by the index: what a table's indexes offer, and at what cost
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_OFFER_H
#define SURFIDX_AGG_OFFER_H

#include "agg_want.h"

/* Define the setting; and, at preload, install the hook. */
extern void sfx_agg_offer_define_gucs(void);
extern void sfx_agg_offer_init(void);

/*
 * Note a path whose estimate is asked for, as one to aggregate by.  Called by sfx_costestimate,
 * with its results.
 */
extern void sfx_agg_note_path(PlannerInfo *root, const IndexPath *path, Cost startup, Cost total,
							  Selectivity selectivity);

/* May there be an offer in this planner run? */
extern bool sfx_agg_may_offer(void);

/* An offer: the answer of one index. */
typedef struct SfxAggOffer
{
	const struct SfxAggCandidate *candidate;
	SfxAggWanted wanted;
	Cost		cost;
	Cost		filters;		/* the part of it that FILTERs take, ... */
	Cost		shared;			/* ... and that several participants share */
	double		groups;
} SfxAggOffer;

/* Can a node read the table, or its children? */
extern bool sfx_agg_fits_table(PlannerInfo *root, RelOptInfo *rel);

/* Does the index answer all conditions on the table? */
extern bool sfx_agg_answers_all(RelOptInfo *rel, const IndexPath *path);

/* Cost of the table's pages for rows on pages that are not all-visible, visited in order. */
extern Cost sfx_agg_heap_cost(const RelOptInfo *rel, double rows);

/* The offers of a table's indexes (SfxAggOffer), whose groups may come in different orders. */
extern List *sfx_agg_offers(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question);

/* The cheapest offer, or NULL.  The caller frees it: a table may have thousands of partitions. */
extern SfxAggOffer *sfx_agg_best_offer(PlannerInfo *root, RelOptInfo *rel,
									   const SfxAggQuestion *question);

/* Make a path for a node by that offer. */
extern CustomPath *sfx_agg_node_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target,
									 const SfxAggQuestion *question, const SfxAggOffer *offer,
									 List *having);

/*
 * Make a path by that offer one of several participants.  False: it is not worth it, or not to be
 * run by workers.
 */
extern bool sfx_agg_share_path(const SfxAggOffer *offer, CustomPath *path);

/* Number of groups of that many rows with different values, before HAVING. */
extern double sfx_agg_count_groups(PlannerInfo *root, const SfxAggQuestion *question,
								   double rows);

#endif							/* SURFIDX_AGG_OFFER_H */
