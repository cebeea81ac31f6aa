/*-------------------------------------------------------------------------
 * agg_bucket.h - groups of neighbouring values: functions that ascend
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_BUCKET_H
#define SURFIDX_AGG_BUCKET_H

#include "surfidx.h"
#include "column.h"

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

/* Which group.  The row may be dead, so what the function throws waits until it is given out. */
typedef struct SfxBucketed
{
	bool		null;			/* the one of NULLs */
	int			fails;			/* the one of values that the function refuses: -1 low, 1 high ones */
	Datum		value;			/* else its result; if it fails a column's value */
	int64		from;			/* Y20: the column's values of the group are [from, to), ... */
	int64		to;				/* ... microseconds; both 0: that is not known */
} SfxBucketed;

/* That of a key of keylen bytes, from the column's mark on. */
extern SfxBucketed sfx_bucketed(SfxBucket *b, const SfxColumn *col, Relation index,
								const uint8 *key, uint32 keylen);

/* Is such a key one of the group's? */
extern bool sfx_bucket_has(SfxBucket *b, const SfxColumn *col, Relation index,
						   const SfxBucketed *bucket, const uint8 *key, uint32 keylen);

/*
 * One group, if the keys before it are equal?  Low values that fail are neighbours, high ones too.
 */
static inline bool
sfx_bucketed_same(const SfxBucketed *a, const SfxBucketed *b)
{
	return (a->null == b->null || SFX_MUTANT("NULLs in any bucket")) && a->fails == b->fails && (a->fails != 0 || a->value == b->value);
}

/* Is it known by numbers where it begins and ends? */
static inline bool
sfx_bucket_has_range(const SfxBucketed *b)
{
	return b->from < b->to;
}

/*
 * Into to, which has room for SFX_BUCKET_END bytes: a key's part, from the column's mark on, above
 * all of the bucket's and not above any other one that comes behind them; key: of keylen bytes, is
 * one of the bucket's.  Its length; 0: it is not known.
 */
#define SFX_BUCKET_END	9
extern uint32 sfx_bucket_end(SfxBucket *b, const SfxColumn *col, Relation index,
							 const SfxBucketed *bucket, const uint8 *key, uint32 keylen,
							 uint8 *to);

/* The function's result, for a group of which a row is visible; throws what the function throws. */
extern Datum sfx_bucketed_value(SfxBucket *b, const SfxBucketed *bucket);

#endif							/* SURFIDX_AGG_BUCKET_H */
