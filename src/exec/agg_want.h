/*-------------------------------------------------------------------------
 * agg_want.h - what a query wants of its rows' groups, and whether an index has it
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_WANT_H
#define SURFIDX_AGG_WANT_H

#include "surfidx.h"
#include "agg_group.h"

#include "nodes/pathnodes.h"

/* What a query asks for, whichever index answers. */
typedef struct SfxAggQuestion
{
	List	   *exprs;			/* aggregates and columns that outputs and HAVING need, each once */
	List	   *groups;			/* grouping expressions: Vars, one of them perhaps a bucket ... */
	List	   *operators;		/* ... and their equality operators */
	List	   *asked;			/* equality operators that core's nodes would call */
	Expr	   *bucket;			/* the bucket, or NULL: see agg_bucket.h */
	Var		   *bucketed;		/* its column */
} SfxAggQuestion;

/* What an index has to compute for that. */
typedef struct SfxAggWanted
{
	SfxGrouping grouping;
	List	   *asked;			/* the question's */
	List	   *exprs;			/* Aggrefs, Vars and the bucket, in the order of outputs */
	SfxAggOutput *outputs;
	int			values;			/* outputs that need a value of each row ... */
	int			slow;			/* ... and those of them that take it one by one */
} SfxAggWanted;

/*
 * Find out what a query over the table rel asks for: in the stage GROUP_AGG, with its extra, or
 * DISTINCT (NULL).  exprs: of its outputs and HAVING.  False: it asks for something that is never
 * answered.
 */
extern bool sfx_agg_ask(PlannerInfo *root, RelOptInfo *rel, List *exprs,
						const GroupPathExtraData *extra, SfxAggQuestion *question);

/* Can the index answer by a scan along this path, which is index-only?  True fills *wanted. */
extern bool sfx_agg_wanted(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question,
						   const IndexPath *path, SfxAggWanted *wanted);

#endif							/* SURFIDX_AGG_WANT_H */
