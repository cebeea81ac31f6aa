/*-------------------------------------------------------------------------
 * count_column.h - count(column) as count(*) of rows whose column is not NULL
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COUNT_COLUMN_H
#define SURFIDX_COUNT_COLUMN_H

#include "nodes/parsenodes.h"

/*
 * Change, in place, each SELECT of the query, at any level, that has no aggregates but count(column)
 * of one column with which an index of ours begins.  The caller is about to plan the query, so
 * its tables are locked.
 */
extern void sfx_count_rows_of_columns(Query *query);

/* The one table that the query is of, without row-level security and TABLESAMPLE, or NULL. */
extern RangeTblEntry *sfx_only_table(const Query *q);

#endif							/* SURFIDX_COUNT_COLUMN_H */
