/*-------------------------------------------------------------------------
 * scankey.h - from scan keys to byte ranges and leftover filters
 *
 * The conditions of a scan become ranges and filters.
 *
 * Ranges are intervals [lo, hi) of key bytes, ascending and disjoint.  Leading columns with one
 * value (=, IS NULL) or a list of values (= ANY) make a prefix; the first other column may add a
 * lower and an upper bound, which row comparisons may split into pieces (R11).  Without lists and
 * pieces there is one range; with them there is one for each combination of list elements and each
 * piece, in index order, like the numbers of an odometer.
 *
 * Filters are conditions that the ranges do not guarantee: those on later columns, and those whose
 * constant has no byte form.  They are checked for each entry, so no scan needs a recheck: on the
 * bytes of its key (sfx_scankeys_pass) where these tell, else on its values (sfx_scankeys_check).
 *
 * The shape of the conditions (columns, strategies, types) is computed once; a scan that is
 * restarted with other constants reads only these again.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_SCANKEY_H
#define SFX_SCANKEY_H

#include "column.h"
#include "leaf.h"
#include "pos.h"

#include "access/skey.h"

typedef struct SfxQual SfxQual;
typedef struct SfxScanFilter SfxScanFilter;

typedef struct SfxBytes
{
	const uint8 *p;
	int			len;
} SfxBytes;

/* A part of the key order after the prefix: [lo, hi). */
typedef struct SfxRowPiece
{
	SfxBytes	lo;
	SfxBytes	hi;
} SfxRowPiece;

/* One = ANY list of the prefix: the bytes that a column may have, ascending and distinct. */
typedef struct SfxList
{
	SfxBytes   *elem;
	int			n;				/* at least 2 */
	int			cur;			/* the current element */
	int			at;				/* number of pinned bytes before it */
} SfxList;

/* Most prefixes and tails have no more than these. */
#define SFX_FEW_BYTES	64

/*
 * The conditions of a scan, and the ranges and filters made of them.  Owned by the scan; memory
 * that grows is in `parent` and its children.
 */
typedef struct SfxScanKeys
{
	Relation	index;
	const SfxKeyDesc *kd;
	const SfxOrder *order;
	MemoryContext parent;
	MemoryContext work;			/* of one preparation: lists, converted constants; made when it is
								 * first needed */
	MemoryContext eval;			/* of one check of the filters; made when it is first needed */

	/* the shape */
	int			nquals;
	SfxQual    *quals;			/* by column */
	bool		shaped;
	bool		closed;			/* the ranges have two ends: the first column is pinned, or bounded
								 * on both sides */

	/* the ranges */
	int			nlists;
	SfxList    *lists;			/* [kd->nkeys] */
	int			pinned_len;
	int			tail_lo_len;	/* 0: no lower bound beyond the prefix */
	int			tail_hi_len;	/* 0: no upper bound beyond the prefix */
	int			npieces;		/* of row comparisons, ascending, in place of tail_lo and tail_hi;
								 * 0: none */
	SfxRowPiece *pieces;
	int			piece;			/* the current piece */
	bool		one_key;		/* all columns are pinned, and equal keys have equal bytes: each
								 * range is one key */

	/*
	 * Leaps: leap_col is the first column after those that bound the ranges, if conditions bound
	 * it.  A scan seeks over entries whose value is outside of its interval, instead of checking
	 * each.
	 */
	int			leap_col;		/* -1: none */
	uint8	   *leap_lo;		/* the interval, in parent; SFX_MAX_ENTRY + 1 bytes each */
	uint8	   *leap_hi;
	int			leap_lolen;
	int			leap_hilen;
	uint8	   *leap_to;		/* target of the last leap: SFX_BOUND_MAX bytes */
	const SfxScanFilter *leap_list; /* its = ANY list; NULL: none */

	/* the filters */
	int			nfilters;
	int			inexact;		/* those that bytes do not tell, which sfx_scankeys_check checks */
	int			filter_upto;	/* key columns that these read */
	SfxScanFilter *filters;		/* [nquals], by column */

	/* the bytes: on the stack while conditions are worked out, then few, or more of them */
	uint8	   *pinned;			/* of the prefix, without the lists' elements */
	uint8	   *tail_lo;
	uint8	   *tail_hi;
	uint8	   *lo;				/* the current range's */
	uint8	   *hi;
	uint8	   *scratch;		/* while conditions are worked out */
	struct SfxKeyBytes *more;	/* in parent; NULL: not needed yet */
	uint8		few[3][SFX_FEW_BYTES];	/* pinned, tail_lo, tail_hi */
	uint8		few_lo[2 * SFX_FEW_BYTES + 8];
	uint8		few_hi[2 * SFX_FEW_BYTES + 8];
} SfxScanKeys;

/*
 * Initialize *sk without conditions, for at most nkeys scan keys.  Memory: from the current
 * context.  kd and order must outlive *sk.
 */
extern void sfx_scankeys_init(SfxScanKeys *sk, Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int nkeys);

/*
 * Compute ranges and filters of the conditions.  False: they contradict each other, and no row
 * matches.  keys must not change until the next preparation.  Calls comparison and input functions,
 * so no page is locked.
 */
extern bool sfx_scankeys_prepare(SfxScanKeys *sk, ScanKey keys, int nkeys);

/* The same, where all conditions are filters, and there are no ranges. */
extern bool sfx_scankeys_prepare_filters(SfxScanKeys *sk, ScanKey keys, int nkeys);

/* Go to the first range in that direction. */
extern void sfx_scankeys_rewind(SfxScanKeys *sk, ScanDirection dir);

/* Go to the next range in that direction; false, and no move, if there is none. */
extern bool sfx_scankeys_advance(SfxScanKeys *sk, ScanDirection dir);

/* Is there one range at most? */
static inline bool
sfx_scankeys_single(const SfxScanKeys *sk)
{
	return sk->nlists == 0 && sk->npieces <= 1;
}

/* Are the scan's ranges pieces of a row comparison, each of which is true of some rows only? */
static inline bool
sfx_scankeys_in_pieces(const SfxScanKeys *sk)
{
	return sk->npieces > 1;
}

/*
 * Stand on the range that the other one stands on.  False: they do not have the same lists and
 * pieces, though prepared from the same keys, since the time zone has been set between.
 */
extern bool sfx_scankeys_stand_as(SfxScanKeys *sk, const SfxScanKeys *other);

/*
 * The bounds of the current range, as sfx_reader_seek takes them; their bytes belong to *sk, and
 * are valid until its next change.
 */
extern void sfx_scankeys_bounds(SfxScanKeys *sk, SfxPos *lo, SfxPos *hi);

/*
 * Does a stored key pass the filters, as far as its bytes tell?  If so, the inexact ones are left,
 * if there are any.  Calls no function of the operator class.
 */
extern bool sfx_scankeys_pass(const SfxScanKeys *sk, const uint8 *key, int len);

/* The same for keys [from, to) of a decoded block: those that do not are unset in pass. */
extern void sfx_scankeys_pass_keys(const SfxScanKeys *sk, const SfxBlock *block, int from, int to,
								   bool *pass);

/*
 * Do the values of the first filter_upto columns pass the inexact filters?  keys: as in the last
 * preparation.
 */
extern bool sfx_scankeys_check(SfxScanKeys *sk, ScanKey keys, const Datum *values, const bool *isnull);

/*
 * From a stored key, find the nearest position in that direction at which the leap column may have
 * a value that the conditions allow; its bytes belong to *sk, and are valid until the next call.
 * False: the key's own value is allowed, or there is no leap column or no such position.
 */
extern bool sfx_scankeys_leap(SfxScanKeys *sk, const uint8 *key, int len, ScanDirection dir, SfxPos *pos);

/* Free what *sk owns, but not *sk itself. */
extern void sfx_scankeys_end(SfxScanKeys *sk);

#endif							/* SFX_SCANKEY_H */
