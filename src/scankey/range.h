/*-------------------------------------------------------------------------
 * range.h - from the arguments of an SQL function to a range of an index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RANGE_H
#define SURFIDX_RANGE_H

#include "column.h"
#include "pos.h"

/* An argument of type "any". */
typedef struct SfxArg
{
	Datum		value;
	Oid			type;			/* UNKNOWNOID: a cstring */
	bool		isnull;
} SfxArg;

/* Argument argno of the current function call. */
extern SfxArg sfx_arg_get(FunctionCallInfo fcinfo, int argno);

/* A range [lo, hi), as sfx_reader_seek takes it, whose bytes are in lobuf and hibuf. */
typedef struct SfxRange
{
	bool		empty;			/* no key is in it; the other members are not set */
	SfxPos		lo;
	SfxPos		hi;
	uint8		lobuf[SFX_BOUND_MAX];
	uint8		hibuf[SFX_BOUND_MAX];
} SfxRange;

/* An index opened by a function that reads its entries. */
typedef struct SfxOpened
{
	Relation	heap;
	Relation	index;
	SfxKeyDesc	kd;
	const SfxOrder *order;
} SfxOpened;

/*
 * Open an index and its table with AccessShareLock, and append this backend's pending entries of it
 * (D7).  Errors, unless the index is a valid surfidx index that can be read here; the user may
 * SELECT all its columns (the table, if it has expressions or a predicate); and no row-level
 * security hides rows from the user.  Memory: from the current context.  sfx_close_after_look
 * releases both locks.
 */
extern void sfx_open_to_look(Oid relid, SfxOpened *o);
extern void sfx_close_after_look(SfxOpened *o);

/*
 * Set *range to the keys from low to high.  A NULL argument is an open end; a row bounds several
 * columns, and is compared as rows are.  If one end is given, keys whose first column is NULL are
 * not in the range.  Errors: a value does not fit its column, or the bounds are not a single range.
 */
extern void sfx_range_between(const SfxOpened *o, const SfxArg *low, bool low_inclusive,
							  const SfxArg *high, bool high_inclusive, SfxRange *range);

/*
 * Set *range to the one range of these conditions.  False: there are several, or filters; *range is
 * not set.
 */
extern bool sfx_range_of_keys(const SfxOpened *o, ScanKey keys, int n, SfxRange *range);

/*
 * Set *range to the keys whose first n columns have these values; NULL means that the column is
 * NULL. Errors as above.
 */
extern void sfx_range_equal(const SfxOpened *o, const SfxArg *values, int n, SfxRange *range);

/*
 * Of an SQL function (index, VARIADIC key "any"): sfx_open_to_look, and the range of the keys that
 * begin with these columns.  False, and nothing is open: the index or the array of columns is NULL.
 */
extern bool sfx_open_to_look_for(FunctionCallInfo fcinfo, SfxOpened *o, SfxRange *range);

#endif							/* SURFIDX_RANGE_H */
