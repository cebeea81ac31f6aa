/*-------------------------------------------------------------------------
 * scankey_impl.h - what the files that make ranges of scan keys share
 *
 * Each condition on a column is an interval of that column's bytes (marker and value):
 *
 *	= v			[01 v, succ(01 v))			just the entries equal to v: values are self-delimiting
 *	> v			[succ(01 v), 02)			NULLs, below 01 or at 02, match no comparison
 *	>= v		[01 v, 02)
 *	< v			[01, 01 v)
 *	<= v		[01, succ(01 v))
 *	IS NULL		[m, m + 1)					m = the column's NULL marker
 *	NOT NULL	[01, 02)
 *
 * where succ(b) is the least byte string above everything that starts with b.  In a descending
 * column, whose value bytes are complemented, < and > are swapped.  Several conditions on a column
 * intersect their intervals as byte strings, so redundant and contradictory conditions are no
 * special cases.
 *
 * In the comparator key space values that are equal may differ in their bytes, so an interval's end
 * is the value followed by a mark that sorts below (BEFORE, for 01 v) or above (AFTER, for succ)
 * everything that is equal up to there, and column bytes are compared by sfx_order_cmp_column.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_SCANKEY_IMPL_H
#define SFX_SCANKEY_IMPL_H

#include "column.h"
#include "encode.h"
#include "order.h"
#include "scankey.h"

#include "access/stratnum.h"

/* The shape of one scan key. */
struct SfxQual
{
	int			keyno;			/* number of the scan key */
	int			col;			/* 0-based */
	int			flags;			/* sk_flags, without SK_ISNULL of a constant */
	StrategyNumber strategy;
	Oid			subtype;
	bool		is_test;		/* IS NULL or IS NOT NULL */
	bool		own_type;		/* the constant has the column's type */
	/* a row comparison; strategy and types are those that it implies for its first column */
	StrategyNumber row;			/* its own strategy; 0: this is none */
	int			upto;			/* key columns that a check of an entry reads */
	/* = ANY: the array's element type, as last seen */
	Oid			elemtype;
	int16		elmlen;
	bool		elmbyval;
	char		elmalign;
};

/* Longer bounds of intervals are left to operators. */
#define SFX_FILTER_BYTES	32

/* A condition that is checked for each entry. */
struct SfxScanFilter
{
	SfxQual    *qual;
	bool		exact;			/* the column's bytes tell: they are in the set, or in [lo, hi) */
	int			lolen;
	int			hilen;
	uint64		first_lo;		/* the first bytes of these as numbers */
	uint64		first_hi;
	uint8		lo[SFX_FILTER_BYTES];
	uint8		hi[SFX_FILTER_BYTES];
	bool		by_bytes;		/* = ANY, if all elements have bytes: a sorted set */
	SfxBytes   *set;
	Datum	   *elems;			/* other ANY conditions */
	bool	   *elem_isnull;
	int			n;
};

/* What the conditions on a column result in. */
typedef enum ColumnResult
{
	COL_EMPTY,					/* no value matches */
	COL_PINNED,					/* one value, appended to the prefix */
	COL_LIST,					/* a list of values */
	COL_RANGE,					/* tail_lo, tail_hi */
	COL_OPEN					/* no bounds, at most filters */
} ColumnResult;

/* What a constant results in. */
typedef enum ConstResult
{
	CONST_INTERVAL,
	CONST_NONE,					/* no value of the column matches */
	CONST_FILTER				/* bytes do not tell which values match */
} ConstResult;

/* A constant, converted to the column's type. */
typedef struct SfxConverted
{
	Datum		value;
	Datum		above;			/* the upper bound, if `near` */
	StrategyNumber strategy;
	bool		all;			/* every value that is not NULL matches */

	/*
	 * matches are within "strategy value" (for =: between value and above), and have to be checked
	 */
	bool		near;
} SfxConverted;

/* An interval of one column's bytes; its buffers have SFX_MAX_ENTRY + 1 bytes. */
typedef struct ByteRange
{
	uint8	   *lo;
	uint8	   *hi;
	int			lolen;
	int			hilen;			/* 0: not set so far */
} ByteRange;

/* The order in which lists are sorted and searched. */
typedef struct ElemOrder
{
	const SfxScanKeys *sk;
	int			col;
} ElemOrder;

/* Compare two byte strings of one column. */
static inline int
cmp_bytes(const SfxScanKeys *sk, int col, const uint8 *a, int alen, const uint8 *b, int blen)
{
	return sfx_order_cmp_column(sk->order, col, a, alen, b, blen);
}

static inline int
cmp_elem(const ElemOrder *eo, const SfxBytes *a, const SfxBytes *b)
{
	return cmp_bytes(eo->sk, eo->col, a->p, a->len, b->p, b->len);
}

static inline void
set_bytes(uint8 *to, int *tolen, const uint8 *from, int len)
{
	memcpy(to, from, len);
	*tolen = len;
}

static inline bool
is_equal_array(const SfxQual *q)
{
	return (q->flags & SK_SEARCHARRAY) && q->strategy == BTEqualStrategyNumber;
}

/* The two ends of all keys that begin with b: changes b in place, and returns the new length. */
static inline int
end_below(const SfxScanKeys *sk, uint8 *b, int len)
{
	if (sk->kd->comparator && len > 0)
		b[len++] = SFX_MARK_BEFORE;
	return len;
}

static inline int
end_above(const SfxScanKeys *sk, uint8 *b, int len)
{
	if (!sk->kd->comparator)
		return sfx_successor(b, len);
	if (len > 0)
		b[len++] = SFX_MARK_AFTER;
	return len;
}

/*
 * Append a column's bytes to a bound.  A bound longer than any key is truncated.  No stored key is
 * a proper prefix of a bound made of whole columns, so a key is on the same side of the truncated
 * bound as of the whole one.  In comparator order the bound stays whole, since a comparison
 * function reads it.
 */
static inline int
append_cut(const SfxScanKeys *sk, uint8 *buf, int len, const uint8 *tail, int tail_len)
{
	int			n = sk->kd->comparator ? tail_len : Min(tail_len, SFX_MAX_ENTRY - len);

	memcpy(buf + len, tail, n);
	return len + n;
}

/* ---- constants (scankey_constant.c) ---- */

/*
 * Convert "column strategy value" to a condition with a constant of the column's type, which is
 * true of the same values of the column, or, with c->near, of some more.
 */
extern ConstResult sfx_convert_constant(const SfxColumn *col, const SfxQual *q, Datum value,
										SfxConverted *c);

/* ---- intervals of one column (scankey_interval.c) ---- */

/* The interval of all values except NULL; and that of an IS [NOT] NULL condition. */
extern void sfx_interval_all(const SfxScanKeys *sk, ByteRange *iv);
extern void sfx_interval_null_test(const SfxScanKeys *sk, const SfxQual *q, ByteRange *iv);

/*
 * An interval that has all values that match the condition with this constant; *near: others may be
 * in it as well, so entries have to be checked.  Uses sk->scratch and, for near constants, the
 * current context.
 */
extern ConstResult sfx_interval_constant(SfxScanKeys *sk, const SfxQual *q, Datum value, ByteRange *iv, bool *near);

/* Reduce a to its intersection with b. */
extern void sfx_interval_intersect(const SfxScanKeys *sk, int col, ByteRange *a, const ByteRange *b);

/*
 * The result of the n conditions on a column: a part of the prefix, a list, or bounds after the
 * prefix; and filters.
 */
extern ColumnResult sfx_interval_column(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n);

/* ---- pieces (scankey_pieces.c) ---- */

/*
 * Split the tail into the pieces in which the row comparisons among the n conditions on its column
 * may be true; one that is not true of all that is in them becomes a filter.
 * False: no piece is left.  Only after COL_RANGE, in the work context, which owns the pieces.
 */
extern bool sfx_pieces_tail(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n);

/* ---- arrays (scankey_interval.c, too) ---- */

/*
 * Split the array of a scan key into *elems and *isnull, palloc'd; returns the number of elements.
 */
extern int	sfx_array_open(SfxQual *q, const ScanKeyData *key, Datum **elems, bool **isnull);

/*
 * The column bytes of all elements of an = ANY, sorted and distinct, palloc'd; returns their
 * number, or -1 if an element has no byte form.
 */
extern int	sfx_array_equal_set(SfxScanKeys *sk, SfxQual *q, const ScanKeyData *key, SfxBytes **set);

/* Where b is in the sorted set, or would be. */
extern int	sfx_array_find(const ElemOrder *eo, const SfxBytes *set, int n, const SfxBytes *b,
						   bool *found);

static inline bool
sfx_array_has(const ElemOrder *eo, const SfxBytes *set, int n, const SfxBytes *b)
{
	bool		found;

	(void) sfx_array_find(eo, set, n, b, &found);
	return found;
}

/* ---- filters (scankey_filter.c) ---- */

/* Add the condition to the filters. */
extern void sfx_scanfilter_add(SfxScanKeys *sk, SfxQual *q);

/* The same, unless it is one already. */
extern void sfx_scanfilter_once(SfxScanKeys *sk, SfxQual *q);

/*
 * Read the constants of filters.  False: one of them is an empty array, so no row matches.  Uses
 * sk->lo, sk->hi and sk->scratch.
 */
extern bool sfx_scanfilter_fill(SfxScanKeys *sk, ScanKey keys);

/*
 * The conditions from quals[from] on are filters: compute the interval of the first column among
 * them, for leaps.  False: it is empty.
 */
extern bool sfx_leap_prepare(SfxScanKeys *sk, ScanKey keys, int from);

#endif							/* SFX_SCANKEY_IMPL_H */
