/*-------------------------------------------------------------------------
 * agg_value.h - aggregating many entries: states, and values from states
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_VALUE_H
#define SURFIDX_AGG_VALUE_H

#include "agg_expr.h"
#include "column.h"
#include "leaf.h"
#include "reader.h"

#include "nodes/primnodes.h"

typedef enum SfxAggKind
{
	SFX_AGG_GROUP,				/* no aggregate, but a grouping column */
	SFX_AGG_FUNCTION,			/* ... or an expression over such columns */
	SFX_AGG_ROW,				/* ... or a column of the group's first or last row (DISTINCT ON) */
	SFX_AGG_COUNT_ROWS,
	SFX_AGG_COUNT_COLUMN,		/* values that are not NULL */
	SFX_AGG_COUNT_DISTINCT,		/* groups within the group: agg_group.h */
	SFX_AGG_SUM,				/* of int2, int4, int8 or numeric, and so for AVG */
	SFX_AGG_AVG,
	SFX_AGG_LEAST,				/* or the greatest: min and max, by their transition function */
	SFX_AGG_FED					/* any other aggregate, by its functions: agg_fed.c */
} SfxAggKind;

/* An output, as the planner describes it. */
typedef struct SfxAggOutput
{
	SfxAggKind	kind;
	int			column;			/* of the index, from 0; -1: values are computed from columns;
								 * COUNT_ROWS has none */

	/*
	 * Within a group the column's values come in the aggregate's order or the reverse, NULLs at
	 * one end.
	 */
	bool		ordered;

	/*
	 * LEAST: 1 (min) or -1 (max) if the class's order is the aggregate's, else 0.  ROW: 1 (the
	 * first one) or -1 (the last one).
	 */
	int			direction;
	const Aggref *aggref;		/* NULL: GROUP, FUNCTION, ROW */
	SfxArguments *args;			/* column -1: how values are computed */
	Expr	   *expr;			/* FUNCTION: the expression, ... */
	SfxExpr    *prepared;		/* ... ready to be evaluated */
	SfxCondition *filter;		/* rows have to pass it; NULL: there is none */
	struct SfxFed *fed;			/* FED: the aggregate's functions */
	bool		tested;			/* the bytes of keys tell which do, for planning */
} SfxAggOutput;

/*
 * Look up an aggregate's functions, when the query begins, as core does: a cursor may be open when
 * they are replaced.
 */
extern struct SfxFed *sfx_fed_create(const Aggref *agg);

/* Are values of entries computed from columns? */
static inline bool
sfx_agg_is_computed(const SfxAggOutput *out)
{
	return out->column < 0;
}

/* Has the aggregate a FILTER? */
static inline bool
sfx_agg_is_filtered(const SfxAggOutput *out)
{
	return out->aggref && out->aggref->aggfilter;
}

typedef struct SfxAggregates SfxAggregates;

/* An aggregate's state; all zero at first. */
typedef struct SfxAggState
{
	uint64		n;				/* entries added that are not NULL */
	int64		high;			/* the sum, or the least integer: upper half ... */
	uint64		low;			/* ... and lower half */
	int64		fraction;		/* the sum of numerics is larger by this / 10^8, ... */
	int			scale;			/* ... and is shown with so many decimal places, ... */
	Datum		value;			/* ... and this is the sum of those that do not fit; LEAST: the
								 * value; ROW: the entry; FED: the state of its functions */
	bool		have;			/* value is set */
} SfxAggState;

/*
 * Prepare n outputs over an index; the array and the order are the caller's and have to last.
 * Memory: the current context, for as long as there are states, whose values stand there.
 */
extern SfxAggregates *sfx_aggregates_create(Relation index, const SfxKeyDesc *kd,
											const SfxOrder *order, SfxExprs *exprs,
											const SfxAggOutput *outputs, int n);

/*
 * Add entries [from, to) of a decoded block, which all belong to one group, to that group's n
 * states.  ERROR if they are damaged.
 */
extern void sfx_aggregates_add(SfxAggregates *a, SfxAggState *states, const SfxBlock *block,
							   int from, int to);

/*
 * The same in two steps for the entries e of a leaf's coded block with lo <= e < hi (NULL: no
 * bound).  The first sums them up, and returns their number, SFX_NOT_CODED if an output needs them
 * decoded, or SFX_CORRUPT.  The second adds the sums; it is called if there were any entries.
 */
extern int	sfx_aggregates_sum_coded(SfxAggregates *a, const SfxLeaf *leaf, int b,
									 const SfxPos *lo, const SfxPos *hi);
extern void sfx_aggregates_add_coded(SfxAggregates *a, SfxAggState *states);

/*
 * Take the values of grouping columns from a key of the group.  False: it has to be decoded, also
 * if there is a FUNCTION.
 */
extern bool sfx_aggregates_group(const SfxAggregates *a, const uint8 *key, uint32 keylen,
								 Datum *values, bool *isnull);

/*
 * have_ones: can all outputs be taken from entries [from, to) of a decoded block, each of which is
 * a group?  ones: take output k, none of which is NULL; by-reference values are in the current
 * context.
 */
extern bool sfx_aggregates_have_ones(const SfxAggregates *a, const SfxBlock *block, int from,
									 int to);
extern void sfx_aggregates_ones(const SfxAggregates *a, int k, const SfxBlock *block, int from,
								int to, Datum *values);

/* Do entries have to be added in index order? */
extern bool sfx_aggregates_need_order(const SfxAggOutput *outputs, int n);

/* Are there ROW outputs? */
extern bool sfx_aggregates_take_rows(const SfxAggregates *a);

/* The entry of the row that ROW outputs are of, without its TID; valid as long as the states. */
extern bool sfx_aggregates_row(const SfxAggregates *a, const SfxAggState *states, SfxEntry *e);

/*
 * Add a group's states to those of another group, if there is no FED; COUNT_DISTINCT is left to the
 * caller.
 */
extern void sfx_aggregates_merge(SfxAggregates *a, SfxAggState *states, const SfxAggState *more);

/* Reset states. */
extern void sfx_aggregates_clear(SfxAggregates *a, SfxAggState *states);

/*
 * The value of output i, which is an aggregate.  By-reference values are the state's, or in the
 * current context.
 */
extern Datum sfx_aggregates_value(SfxAggregates *a, int i, const SfxAggState *states, bool *isnull);

/* The aggregate's transition function. */
extern Oid	sfx_agg_transition(const Aggref *agg);

/*
 * Is this SUM or AVG of numeric?  And does the column stand at the end of keys, so that it can be
 * read in place?
 */
extern bool sfx_aggregate_is_numeric(const Aggref *agg);
extern bool sfx_aggregate_ends_keys(const SfxKeyDesc *kd, int column);

/* Does an output need more than the number of entries? */
extern bool sfx_aggregates_need_keys(const SfxAggOutput *outputs, int n);

#endif							/* SURFIDX_AGG_VALUE_H */
