/*-------------------------------------------------------------------------
 * range.h - from the arguments of an SQL function to a range of an index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BOUNDS_H
#define SURFIDX_BOUNDS_H

#include "surfidx.h"
#include "column.h"
#include "meta.h"
#include "reader.h"

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

/* ---- rank.c, count.c: how many entries ---- */

/*
 * About how many entries of all runs lie below a position.  One page of each level of each run is
 * read.  pos->key NULL: the end.
 */
extern double sfx_rank(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos);

/*
 * Add to below[0..n) how many entries of the delta lie below each of pos[0..n), as sfx_delta_ranks
 * has it.  Images are brought up to date.
 */
extern void sfx_rank_in_delta(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos, int n, double *below);

/* Of one run. */
extern double sfx_rank_in_run(const SfxOpened *o, const SfxMeta *meta, const SfxRun *run, const SfxPos *pos);

/*
 * Of the one leaf that pos[0] falls into, in entries, and how many it has; and of as many of the
 * next ones of n ascending positions as fall into it, too.  How many those are; 0: the run is gone.
 */
extern int	sfx_ranks_in_leaf(const SfxOpened *o, const SfxMeta *meta, uint32 run,
							  const SfxPos *pos, int n, int *below, int *entries);

/*
 * The rank in all runs from the pages above the leaves alone.  The main tree must have any.  Off by
 * up to the entries of the leaf that the position falls into in each run, by the counts above level
 * 1 that lag (README "Counting"), and by what a merge is moving.
 */
extern double sfx_rank_above_leaves(const SfxOpened *o, const SfxMeta *meta, const SfxPos *pos);

/*
 * Add to *n the entries of generation meta->gens[g] in the range, counted one by one.  False: the
 * generation is gone.
 */
extern bool sfx_count_generation(const SfxOpened *o, const SfxMeta *meta, int g, const SfxRange *range, uint64 *n);

#endif							/* SURFIDX_BOUNDS_H */
