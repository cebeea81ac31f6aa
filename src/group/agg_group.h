/*-------------------------------------------------------------------------
 * agg_group.h - the entries of an index scan, by groups of equal leading columns
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_GROUP_H
#define SURFIDX_AGG_GROUP_H

#include "agg_value.h"

typedef struct SfxGroups SfxGroups;

/*
 * Groups: entries that are equal in the leading `columns` of the index; 0: all entries are one
 * group.  With distinct a group consists of smaller groups of one column more, which COUNT_DISTINCT
 * counts where that column is not NULL.
 */
typedef struct SfxGrouping
{
	int			columns;
	bool		distinct;
	AttrNumber	stepped;		/* the table's column that is the last one of these, if entries
								 * between two of its steps are one group; else 0 */
	List	   *steps;			/* its steps: see agg_bucket.h */
	bool		again;			/* groups with equal outputs may come again */
} SfxGrouping;

/*
 * Entries of a group that are read before a leap to its end (agg_leap.c): as many as a descent
 * takes time for.
 */
#define SFX_LEAP_FIRST	512

/* Are these outputs decided by the ends of groups (Y18)? */
extern bool sfx_groups_may_leap(const SfxGrouping *grouping, const SfxAggOutput *outputs, int n);

/*
 * Begin to group the entries of a scan, which has the gate, for these outputs; the array has to
 * last.  exprs: what the expressions of outputs and condition were prepared with; NULL: there are
 * none.  condition: rows have to pass it; NULL: all do.  Memory: a context below the current one;
 * rows that are put off and groups that wait for them take about work_mem.
 */
extern SfxGroups *sfx_groups_begin(IndexScanDesc scan, SfxExprs *exprs,
								   SfxCondition *condition, const SfxGrouping *grouping, const SfxAggOutput *outputs, int n);

/*
 * The outputs of the next group with visible rows, in index order, valid until the next call;
 * without columns there always is one.  False: no group is left.
 */
extern bool sfx_groups_next(SfxGroups *g, Datum *values, bool *isnull);

/* The same for a group that is ready, at next to no cost.  False: call the other function. */
extern bool sfx_groups_next_of_one(SfxGroups *g, Datum *values, bool *isnull);

/*
 * Number of visible rows that pass the condition, of those that do not, and of rows looked at in
 * the table, since the last call.
 */
extern void sfx_groups_rows(SfxGroups *g, uint64 *visible, uint64 *refused, uint64 *fetched);

/* Free everything, and let go of pins. */
extern void sfx_groups_end(SfxGroups *g);

#endif							/* SURFIDX_AGG_GROUP_H */
