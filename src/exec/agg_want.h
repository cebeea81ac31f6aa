/*-------------------------------------------------------------------------
 * agg_want.h - what a query wants of its rows' groups, and whether an index has it
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_WANT_H
#define SURFIDX_AGG_WANT_H

#include "agg_group.h"

/* What a query asks for, whichever index answers. */
typedef struct SfxAggQuestion
{
	List	   *exprs;			/* aggregates and columns that outputs and HAVING need, each once */
	List	   *groups;			/* grouping expressions: Vars, or functions of some ... */
	List	   *operators;		/* ... and their equality operators */
	List	   *asked;			/* equality operators that core's nodes would call */
	List	   *columns;		/* Vars by whose values rows are grouped, or functions of these */
	Var		   *stepped;		/* another one, of which only steps matter, or NULL */
	List	   *steps;			/* its steps: see agg_bucket.h */
	bool		again;			/* groups may come again, so they have to be merged by value */
	bool		on;				/* DISTINCT ON: a row of each group, ... */
	List	   *order;			/* ... the first by these SortGroupClauses, ... */
	List	   *ordered;		/* ... which are of these expressions */
} SfxAggQuestion;

/* What an index has to compute for that. */
typedef struct SfxAggWanted
{
	SfxGrouping grouping;
	List	   *asked;			/* the question's */
	List	   *exprs;			/* Aggrefs, Vars and functions, in the order of outputs */
	SfxAggOutput *outputs;
	int			values;			/* outputs that need a value of each row, ... */
	int			slow;			/* ... and those of them that take rows one by one */
	bool		in_order;		/* some take them in index order: no row can be put off (Y9) */
	bool		conditions;		/* each row has to pass some */
} SfxAggWanted;

/*
 * Why the planner's indexes answer or not: while `report` is set, by a function that asks, lines are
 * added to it, in its context.  index: an index, or 0: whichever.  Returns false.
 */
typedef struct SfxAggReport
{
	MemoryContext cxt;
	List	   *lines;			/* of String, each once */
} SfxAggReport;

extern SfxAggReport *sfx_agg_set_report(SfxAggReport *report);
extern bool sfx_agg_note(Oid index, const char *line);

/* The aggregates, grouping expressions and other columns of which expressions are made. */
extern List *sfx_agg_parts(List *exprs, List *groups);

/*
 * Find out what a query over the table rel asks for: in the stage GROUP_AGG, with its extra, or
 * DISTINCT (NULL).  exprs: of its outputs and HAVING.  False: it asks for something that is never
 * answered.
 */
extern bool sfx_agg_ask(PlannerInfo *root, RelOptInfo *rel, List *exprs,
						const GroupPathExtraData *extra, SfxAggQuestion *question);

/*
 * Can the index answer by a scan along this path, which is index-only, if each row has to pass
 * these conditions?  True fills *wanted.
 */
extern bool sfx_agg_wanted(PlannerInfo *root, RelOptInfo *rel, const SfxAggQuestion *question,
						   const IndexPath *path, List *conditions, SfxAggWanted *wanted);

#endif							/* SURFIDX_AGG_WANT_H */
