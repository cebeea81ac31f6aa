/*-------------------------------------------------------------------------
 * agg_group.h - the entries of an index scan, by groups of equal leading columns
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_GROUP_H
#define SURFIDX_AGG_GROUP_H

#include "surfidx.h"
#include "agg_value.h"

#include "access/genam.h"

typedef struct SfxGroups SfxGroups;

/*
 * A group is made of entries that are equal in the leading `columns` of the index, 0: all there
 * are.  With distinct it is made of smaller groups of one column more, which COUNT_DISTINCT counts
 * where that column is not NULL.
 */
typedef struct SfxGrouping
{
	int			columns;
	bool		distinct;
	const FuncExpr *bucket;		/* not NULL: of the last column, entries with one result of this */
} SfxGrouping;

/*
 * Entries of a group that are read before a leap to its end (agg_leap.c): a descent takes about as
 * long.
 */
#define SFX_LEAP_FIRST	512

/* Do the ends of such groups decide these outputs (Y18)? */
extern bool sfx_groups_may_leap(const SfxGrouping *grouping, const SfxAggOutput *outputs, int n);

/*
 * Groups of a scan, which has the gate, over `outputs`, which have to last.  Memory: a context
 * below the current one; rows that are put off and groups that wait for them take about work_mem.
 */
extern SfxGroups *sfx_groups_begin(IndexScanDesc scan, const SfxGrouping *grouping,
								   const SfxAggOutput *outputs, int n);

/*
 * The next group of which rows are visible, in index order; without columns there is one always.
 * Its outputs, valid until the next call.  False: there is none any more.
 */
extern bool sfx_groups_next(SfxGroups *g, Datum *values, bool *isnull);

/* The same if it is one that is ready, which costs next to nothing.  False: ask the other one. */
extern bool sfx_groups_next_of_one(SfxGroups *g, Datum *values, bool *isnull);

/* Visible rows, and rows looked at in the table, since the last call. */
extern void sfx_groups_rows(SfxGroups *g, uint64 *visible, uint64 *fetched);

extern void sfx_groups_end(SfxGroups *g);

#endif							/* SURFIDX_AGG_GROUP_H */
