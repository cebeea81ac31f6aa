/*-------------------------------------------------------------------------
 * range.h - from the arguments of an SQL function to a range of an index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BOUNDS_H
#define SURFIDX_BOUNDS_H

#include "surfidx.h"
#include "column.h"
#include "pos.h"

/* An argument of type "any". */
typedef struct SfxArg
{
	Datum		value;
	Oid			type;			/* UNKNOWNOID: a cstring */
	bool		isnull;
} SfxArg;

/* Argument argno of the function called. */
extern SfxArg sfx_arg_get(FunctionCallInfo fcinfo, int argno);

/* A range [lo, hi) with its own bytes, as sfx_reader_seek takes it. */
typedef struct SfxRange
{
	bool		empty;			/* nothing can be in it; the rest is not set */
	SfxPos		lo;
	SfxPos		hi;
	uint8		lobuf[SFX_BOUND_MAX];
	uint8		hibuf[SFX_BOUND_MAX];
} SfxRange;

/* An index opened for somebody who wants to know what is in it. */
typedef struct SfxOpened
{
	Relation	heap;
	Relation	index;
	SfxKeyDesc	kd;
	const SfxOrder *order;
} SfxOpened;

/*
 * Open an index and its table with AccessShareLock; what waits of it is appended (D7).  ERROR
 * unless the index is a valid surfidx index that can be read here, the user may SELECT all its
 * columns (the table, where it has expressions or a predicate), and no row-level security hides
 * rows from the user.  Memory: the current context.
 */
extern void sfx_open_to_look(Oid relid, SfxOpened *o);
extern void sfx_close_after_look(SfxOpened *o);

/*
 * The keys from low to high.  A NULL argument is an open end; a row gives several columns, which
 * compare as rows do.  With one end given, keys whose first column is NULL are not in the range.
 * ERROR where a value does not fit its column.
 */
extern void sfx_range_between(const SfxOpened *o, const SfxArg *low, bool low_inclusive,
							  const SfxArg *high, bool high_inclusive, SfxRange *range);

/* The one range of these conditions.  False: they are not so simple, nothing is set. */
extern bool sfx_range_of_keys(const SfxOpened *o, ScanKey keys, int n, SfxRange *range);

/* The keys whose first n columns are these; NULL means that the column is NULL. */
extern void sfx_range_equal(const SfxOpened *o, const SfxArg *values, int n, SfxRange *range);

#endif							/* SURFIDX_BOUNDS_H */
