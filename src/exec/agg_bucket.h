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
 * Is the expression a function of one column and constants that ascends with the column, and are
 * its results the same if they are equal by this operator?  Then its column, else NULL.
 */
extern Var *sfx_bucket_column(const Node *expr, Oid eqop);

/* Number of buckets, about, by the column's statistics; -1: these do not tell. */
extern double sfx_bucket_number(PlannerInfo *root, const FuncExpr *expr, Var *column);

typedef struct SfxBucket SfxBucket;

/* Prepare calls of the function.  Memory: the current context. */
extern SfxBucket *sfx_bucket_create(const FuncExpr *expr);

/*
 * A bucket.  The row that it was computed from may be dead, so an error of the function is not
 * thrown before the bucket is given out (Y16).
 */
typedef struct SfxBucketed
{
	bool		null;			/* that of NULLs */
	int			fails;			/* that of values that the function refuses: -1 the low ones, 1 the
								 * high ones */
	Datum		value;			/* otherwise its result; if fails, a value of the column */
	int64		from;			/* Y16: it has the column's values [from, to), ... */
	int64		to;				/* ... in microseconds; both 0: unknown */
} SfxBucketed;

/* The bucket of a key of keylen bytes, from the column's marker on. */
extern SfxBucketed sfx_bucketed(SfxBucket *b, const SfxColumn *col, Relation index,
								const uint8 *key, uint32 keylen);

/* Does such a key belong to the bucket? */
extern bool sfx_bucket_has(SfxBucket *b, const SfxColumn *col, Relation index,
						   const SfxBucketed *bucket, const uint8 *key, uint32 keylen);

/*
 * Are these one bucket, if the keys before are equal?  The low values that fail are neighbours, and
 * so are the high ones.
 */
static inline bool
sfx_bucketed_same(const SfxBucketed *a, const SfxBucketed *b)
{
	return (a->null == b->null || SFX_MUTANT("NULLs in any bucket")) && a->fails == b->fails && (a->fails != 0 || a->value == b->value);
}

/* Is the bucket's range known in numbers? */
static inline bool
sfx_bucket_has_range(const SfxBucketed *b)
{
	return b->from < b->to;
}

/*
 * Write to `to` (SFX_BUCKET_END bytes) a part of a key, from the column's marker on, that is above
 * all keys of the bucket and not above any key after them.  key, of keylen bytes, is one of the
 * bucket's.  Returns its length; 0: unknown.
 */
#define SFX_BUCKET_END	9
extern uint32 sfx_bucket_end(SfxBucket *b, const SfxColumn *col, Relation index,
							 const SfxBucketed *bucket, const uint8 *key, uint32 keylen,
							 uint8 *to);

/* The function's result, for a bucket with a visible row; throws what the function throws. */
extern Datum sfx_bucketed_value(SfxBucket *b, const SfxBucketed *bucket);

#endif							/* SURFIDX_AGG_BUCKET_H */
