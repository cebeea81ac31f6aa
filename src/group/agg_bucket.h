/*-------------------------------------------------------------------------
 * agg_bucket.h - groups by functions of time: their steps, and the groups of neighbours they make
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_BUCKET_H
#define SURFIDX_AGG_BUCKET_H

#include "agg_expr.h"
#include "column.h"

#include "datatype/timestamp.h"
#include "nodes/primnodes.h"
#include "pgtime.h"

/* ---- agg_step.c ---- */

/*
 * A function of a column that is constant between steps: it depends on the times' grain of width
 * microseconds, or of months, in the calendar of a zone (Y16).
 */
typedef struct SfxTimeStep
{
	Var		   *column;
	int64		width;			/* of grains that are all equally wide, ... */
	int64		origin;			/* ... one of which begins here ... */
	bool		from_origin;	/* ... (those before it may begin anywhere); ... */
	int			months;			/* ... or of the others, not 0, ... */
	int			first_month;	/* ... one of which begins with this month of year 0 */
	bool		session;		/* the calendar is that of the session's zone, ... */
	pg_tz	   *zone;			/* ... or of this one, ... */
	int64		offset;			/* ... or so many microseconds ahead of UTC */
	bool		by_settings;	/* what the zone's name means follows settings, which plans do not */
	bool		field;			/* the result is a number of the calendar */
	bool		ascends;		/* the result ascends with the column, all the time */
} SfxTimeStep;

/* What an expression uses of its columns. */
typedef struct SfxSteps
{
	List	   *whole;			/* Vars: all of it */
	List	   *steps;			/* SfxTimeStep: grains of the columns */
	bool		ascends;		/* it is a step that ascends, and nothing else */
} SfxSteps;

/*
 * Find what an expression uses.  False: it does not depend on columns, parameters of the statement
 * and constants alone.
 */
extern bool sfx_steps_find(Node *expr, SfxSteps *found);

/*
 * The range [*from, *to) of times around t of which the function has one value.  False: it is not
 * known.
 */
extern bool sfx_step_range(const SfxTimeStep *step, Timestamp t, Timestamp *from, Timestamp *to);

/* Number of steps between the column's values, about, by statistics; -1: these do not tell. */
extern double sfx_steps_number(PlannerInfo *root, Var *column, const List *steps);

/* ---- agg_bucket.c ---- */

typedef struct SfxBucketer SfxBucketer;

/*
 * Prepare to group by the steps (SfxTimeStep) of a column.  once: no bucket may come twice, so where
 * ranges are unknown, values of this expression are compared.  Memory: the current context.
 */
extern SfxBucketer *sfx_bucketer_create(const SfxColumn *col, Relation index, const List *steps,
										SfxExprs *exprs, SfxExpr *once);

/* A bucket: neighbours of which all functions have one value each. */
typedef struct SfxBucket
{
	bool		null;			/* that of NULLs */
	int64		at;				/* otherwise one of its values ... */
	int64		from;			/* ... and the range [from, to) of those that belong to it ... */
	int64		to;				/* ... as far as that is known; both 0: it is not */
} SfxBucket;

/* The bucket of a key of keylen bytes, from the column's marker on. */
extern SfxBucket sfx_bucket_of(SfxBucketer *b, const uint8 *key, uint32 keylen);

/* Does such a key belong to the bucket? */
extern bool sfx_bucket_has(SfxBucketer *b, const SfxBucket *bucket, const uint8 *key,
						   uint32 keylen);

/*
 * Write to `to` (SFX_BUCKET_END bytes) a part of a key, from the column's marker on, up to which
 * there is no key of another bucket after this one's.  Returns its length; 0: unknown.
 */
#define SFX_BUCKET_END	9
extern uint32 sfx_bucket_end(SfxBucketer *b, const SfxBucket *bucket, uint8 *to);

#endif							/* SURFIDX_AGG_BUCKET_H */
