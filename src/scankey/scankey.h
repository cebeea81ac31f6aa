/*-------------------------------------------------------------------------
 * scankey.h - from scan keys to byte ranges and leftover filters
 *
 * The conditions of a scan become
 *
 *	ranges	[lo, hi) of key bytes, ascending and disjoint.  Leading columns that are pinned to one value (=, IS NULL)
 *			or to a list of values (= ANY) make a prefix; the first column that is not may add a lower and an
 *			upper bound, which row comparisons may take apart into pieces (R11).  Without lists and
 *			pieces there is one range; with them there is one for each combination of list elements
 *			and each piece, walked like an odometer in index order.
 *	filters	what the ranges do not guarantee: conditions on later columns and those whose constant has no
 *			byte form.  They are checked on the values of each entry, so that no scan needs a recheck.
 *
 * The shape of the conditions (columns, strategies, types) is looked at once; only the constants
 * are read again when a scan is restarted with others.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_SCANKEY_H
#define SFX_SCANKEY_H

#include "surfidx.h"
#include "column.h"
#include "pos.h"

#include "access/skey.h"

typedef struct SfxQual SfxQual;
typedef struct SfxScanFilter SfxScanFilter;

typedef struct SfxBytes
{
	const uint8 *p;
	int			len;
} SfxBytes;

/* A part of the order behind the prefix: [lo, hi). */
typedef struct SfxRowPiece
{
	SfxBytes	lo;
	SfxBytes	hi;
} SfxRowPiece;

/* One = ANY list of the prefix: the bytes that a column may have, ascending, without duplicates. */
typedef struct SfxList
{
	SfxBytes   *elem;
	int			n;				/* at least 2 */
	int			cur;			/* the odometer's wheel */
	int			at;				/* how many of the pinned bytes stand before it */
} SfxList;

typedef struct SfxScanKeys
{
	Relation	index;
	const SfxKeyDesc *kd;
	const SfxOrder *order;
	MemoryContext parent;
	MemoryContext work;			/* of one preparation: lists, converted constants; made when needed */
	MemoryContext eval;			/* of one check of the filters; made when needed */

	/* the shape */
	int			nquals;
	SfxQual    *quals;			/* by column */
	bool		shaped;
	bool		closed;			/* the ranges have two ends: a pinned column, or bounds on both
								 * sides */

	/* the ranges */
	int			nlists;
	SfxList    *lists;			/* [kd->nkeys] */
	int			pinned_len;
	int			tail_lo_len;	/* 0: no lower bound beyond the prefix */
	int			tail_hi_len;	/* 0: no upper bound beyond the prefix */
	int			npieces;		/* of row comparisons, ascending, in place of tail_lo and tail_hi;
								 * 0: there are none */
	SfxRowPiece *pieces;
	int			piece;			/* the odometer's innermost wheel */
	bool		one_key;		/* all columns are pinned, and equal keys have equal bytes: a range
								 * is one key */

	/*
	 * leaping: the first column behind those that bound the ranges that has an interval of its
	 * own.  Entries outside of it are left out by seeking, not by looking at each.
	 */
	int			leap_col;		/* -1: none */
	uint8	   *leap_lo;		/* the interval, in parent; SFX_MAX_ENTRY + 1 bytes each */
	uint8	   *leap_hi;
	int			leap_lolen;
	int			leap_hilen;
	uint8	   *leap_to;		/* where the last leap went: SFX_BOUND_MAX bytes */
	const SfxScanFilter *leap_list; /* its = ANY list; NULL: none */

	/* the filters */
	int			nfilters;
	int			filter_upto;	/* key columns that they need */
	SfxScanFilter *filters;		/* [nquals] */

	uint8		pinned[SFX_MAX_ENTRY];	/* bytes of the prefix, without those of the lists */
	uint8		tail_lo[SFX_MAX_ENTRY + 1];
	uint8		tail_hi[SFX_MAX_ENTRY + 1];
	uint8		lo[SFX_BOUND_MAX];
	uint8		hi[SFX_BOUND_MAX];
	uint8		scratch[SFX_MAX_ENTRY];
} SfxScanKeys;

/* Start with no conditions; nkeys scan keys at most will come.  Memory: the current context. */
extern void sfx_scankeys_init(SfxScanKeys *sk, Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int nkeys);

/* Work the conditions out.  False: they contradict one another, there are no rows.  keys must stay as they are until the
 * next preparation. */
extern bool sfx_scankeys_prepare(SfxScanKeys *sk, ScanKey keys, int nkeys);

/* Turn the odometer to the first range in that direction. */
extern void sfx_scankeys_rewind(SfxScanKeys *sk, ScanDirection dir);

/* To the next range in that direction; false, and nothing moved, if there is none. */
extern bool sfx_scankeys_advance(SfxScanKeys *sk, ScanDirection dir);

/* Is there one range? */
static inline bool
sfx_scankeys_single(const SfxScanKeys *sk)
{
	return sk->nlists == 0 && sk->npieces <= 1;
}

/* Do the scan's ranges follow from a row comparison, of which each is true of some rows only? */
static inline bool
sfx_scankeys_in_pieces(const SfxScanKeys *sk)
{
	return sk->npieces > 1;
}

/* The bounds of the present range, pointing into *sk; as sfx_reader_seek takes them. */
extern void sfx_scankeys_bounds(SfxScanKeys *sk, SfxPos *lo, SfxPos *hi);

/* Do the values of the first filter_upto columns pass the filters? */
extern bool sfx_scankeys_check(SfxScanKeys *sk, ScanKey keys, const Datum *values, const bool *isnull);

/*
 * The nearest position in that direction, seen from this stored key, at which the leap column may have a value that it is asked for; its bytes are
 * *sk's, valid until the next call.  False: the column's value is one of those, or there is no such column.
 */
extern bool sfx_scankeys_leap(SfxScanKeys *sk, const uint8 *key, int len, ScanDirection dir, SfxPos *pos);

extern void sfx_scankeys_end(SfxScanKeys *sk);

#endif							/* SFX_SCANKEY_H */
