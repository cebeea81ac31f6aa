/*-------------------------------------------------------------------------
 * agg_want.h - what a query wants of its rows' groups, and whether an index has it
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_WANT_H
#define SURFIDX_AGG_WANT_H

#include "surfidx.h"
#include "agg_group.h"

#include "nodes/pathnodes.h"

/* What is asked for, whichever index answers. */
typedef struct SfxAggQuestion
{
	List	   *exprs;			/* aggregates and columns that outputs and HAVING need, each once */
	List	   *groups;			/* what rows are grouped by: Vars, or one of them a bucket ... */
	List	   *operators;		/* ... and their equality operators; */
	List	   *asked;			/* those that core's nodes would call */
	Expr	   *bucket;			/* that one, or NULL: see agg_bucket.h */
	Var		   *bucketed;		/* its column */
} SfxAggQuestion;

/* And by this index. */
typedef struct SfxAggWanted
{
	SfxGrouping grouping;
	List	   *asked;			/* the question's */
	List	   *exprs;			/* Aggrefs, Vars and the bucket, in the order of outputs */
	SfxAggOutput *outputs;
	int			values;			/* outputs that take a value of each row to compute ... */
	int			slow;			/* ... and that one by one */
} SfxAggWanted;

/*
 * Of a query over the table rel: for the stage GROUP_AGG, whose extra is given, or DISTINCT.
 * False: it asks for something that is not answered.  exprs: of its outputs and HAVING.
 */
extern bool sfx_agg_ask(PlannerInfo *root, RelOptInfo *rel, List *exprs,
						const GroupPathExtraData *extra, SfxAggQuestion *question);

/* Does the index answer it by a scan along this path, which is index-only?  True fills *wanted. */
extern bool sfx_agg_wanted(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question,
						   const IndexPath *path, SfxAggWanted *wanted);

#endif							/* SURFIDX_AGG_WANT_H */
