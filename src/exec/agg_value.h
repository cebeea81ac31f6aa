/*-------------------------------------------------------------------------
 * agg_value.h - what aggregates make of many entries: states, and values from states
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_VALUE_H
#define SURFIDX_AGG_VALUE_H

#include "surfidx.h"
#include "column.h"
#include "leaf.h"
#include "reader.h"

#include "nodes/primnodes.h"

typedef enum SfxAggKind
{
	SFX_AGG_GROUP,				/* no aggregate, but a column that rows are grouped by */
	SFX_AGG_BUCKET,				/* ... or what they are by a function of it: agg_group.h */
	SFX_AGG_COUNT_ROWS,
	SFX_AGG_COUNT_COLUMN,		/* not NULL */
	SFX_AGG_COUNT_DISTINCT,		/* groups within the group: agg_group.h */
	SFX_AGG_SUM,				/* of int2, int4, int8 or numeric, and so for AVG */
	SFX_AGG_AVG,
	SFX_AGG_LEAST				/* or the greatest: min and max, by their transition function */
} SfxAggKind;

/* What the planner says of an output. */
typedef struct SfxAggOutput
{
	SfxAggKind	kind;
	int			column;			/* of the index, from 0 on; of COUNT_ROWS none */

	/*
	 * Within a group the column's values come in the aggregate's order or the reverse one, NULLs
	 * at one end.
	 */
	bool		ordered;
	/* LEAST: 1 or -1 (max) if the class's order is the aggregate's, else 0 */
	int			direction;
	const Aggref *aggref;		/* NULL: GROUP, BUCKET */
} SfxAggOutput;

typedef struct SfxAggregates SfxAggregates;

/* An aggregate's state; all zero at first. */
typedef struct SfxAggState
{
	uint64		n;				/* entries that are not NULL */
	int64		high;			/* the sum, or an integer that is the least: its upper half ... */
	uint64		low;			/* ... and its lower half */
	int64		fraction;		/* the sum of numerics is this / 10^8 more, */
	int			scale;			/* ... to be shown with so many places, */
	Datum		value;			/* ... and those that do not fit; LEAST: the value */
	bool		have;			/* value is set */
} SfxAggState;

/*
 * n outputs over an index; the array stays the caller's and has to last.  Memory: the current
 * context, for as long as there are states, whose values are there.
 */
extern SfxAggregates *sfx_aggregates_create(Relation index, const SfxKeyDesc *kd,
											const SfxAggOutput *outputs, int n);

/*
 * Add entries [from, to) of a decoded block, which all belong to one group, to its n states.
 * Errors: damage.
 */
extern void sfx_aggregates_add(SfxAggregates *a, SfxAggState *states, const SfxBlock *block,
							   int from, int to);

/*
 * The same in two steps for the entries e of a leaf's coded block with lo <= e < hi (NULL: no
 * bound).  The first one sums them up: how many they are, SFX_NOT_CODED if an output needs them
 * decoded, or SFX_CORRUPT.  The second one adds that, if there were any.
 */
extern int	sfx_aggregates_sum_coded(SfxAggregates *a, const SfxLeaf *leaf, int b,
									 const SfxPos *lo, const SfxPos *hi);
extern void sfx_aggregates_add_coded(SfxAggregates *a, SfxAggState *states);

/*
 * The values of columns that rows are grouped by, out of a key of the group.  False: it has to be
 * decoded.
 */
extern bool sfx_aggregates_group(const SfxAggregates *a, const uint8 *key, uint32 keylen,
								 Datum *values, bool *isnull);

/*
 * All outputs of groups that are entries [from, to) of a decoded block, each one by itself, can be
 * taken from there; and those of output k, none of which is NULL: by-reference values are in the
 * current context.
 */
extern bool sfx_aggregates_have_ones(const SfxAggregates *a, const SfxBlock *block, int from,
									 int to);
extern void sfx_aggregates_ones(const SfxAggregates *a, int k, const SfxBlock *block, int from,
								int to, Datum *values);

/* Add what one group's states have to another's; COUNT_DISTINCT is the caller's. */
extern void sfx_aggregates_merge(SfxAggregates *a, SfxAggState *states, const SfxAggState *more);

/* States as at first. */
extern void sfx_aggregates_clear(SfxAggregates *a, SfxAggState *states);

/* Output i, which is not GROUP: by-reference values are the state's, or in the current context. */
extern Datum sfx_aggregates_value(SfxAggregates *a, int i, const SfxAggState *states, bool *isnull);

/* SUM and AVG: of numeric?  And are those the bytes that keys end with, and so read in place? */
extern bool sfx_aggregate_is_numeric(const Aggref *agg);
extern bool sfx_aggregate_ends_keys(const SfxKeyDesc *kd, int column);

/* Does any output need more of entries than how many they are? */
extern bool sfx_aggregates_need_keys(const SfxAggOutput *outputs, int n);

#endif							/* SURFIDX_AGG_VALUE_H */
