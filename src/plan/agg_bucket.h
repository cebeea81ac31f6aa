/*-------------------------------------------------------------------------
 * agg_bucket.h - groups of neighbouring values: functions that ascend
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_BUCKET_H
#define SURFIDX_AGG_BUCKET_H

#include "surfidx.h"

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

/*
 * Is the expression a function of one column and of constants that ascends with the column, and
 * whose results, which are compared by this operator, are equal only if they are the same?  Then
 * its column, else NULL.
 */
extern Var *sfx_bucket_column(const Node *expr, Oid eqop);

/* About how many there are, by the column's statistics; -1: these do not tell. */
extern double sfx_bucket_number(PlannerInfo *root, const FuncExpr *expr, Var *column);

typedef struct SfxBucket SfxBucket;

/* To compute it.  Memory: the current context. */
extern SfxBucket *sfx_bucket_create(const FuncExpr *expr);

/* Of a value that is not NULL: passed by value, and not NULL. */
extern Datum sfx_bucket_of(SfxBucket *b, Datum value);

/*
 * The same for a row that may be dead, for which nothing may be thrown.  *fails: there is none; all
 * values below 0 without one are neighbours, and so are all others.
 */
extern Datum sfx_bucket_try(SfxBucket *b, Datum value, bool *fails);

#endif							/* SURFIDX_AGG_BUCKET_H */
