/*-------------------------------------------------------------------------
 * scankey_impl.h - what the files that make ranges of scan keys share
 *
 * Each condition on a column is an interval of that column's bytes (marker and value):
 *
 *	= v			[01 v, succ(01 v))			the only entries between are those equal to v: values are self-delimiting
 *	> v			[succ(01 v), 02)			NULLs, which stand below 01 or at 02, match no comparison
 *	>= v		[01 v, 02)
 *	< v			[01, 01 v)
 *	<= v		[01, succ(01 v))
 *	IS NULL		[m, m + 1)					m = the column's NULL marker
 *	NOT NULL	[01, 02)
 *
 * where succ(b) is the least byte string above everything that starts with b.  In a descending
 * column, whose value bytes are complemented, < and > change places.  Several conditions on a
 * column intersect their intervals as byte strings, whatever they are: redundant and contradictory
 * ones need no care.
 *
 * In the comparator key space values that are equal may differ in their bytes, so an interval's end
 * is the value followed by a mark that stands below (BEFORE, for 01 v) or above (AFTER, for succ)
 * everything that is equal so far, and column bytes are compared by sfx_order_cmp_column.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_SCANKEY_IMPL_H
#define SFX_SCANKEY_IMPL_H

#include "surfidx.h"
#include "column.h"
#include "encode.h"
#include "order.h"
#include "scankey.h"

#include "access/stratnum.h"

/* The shape of one scan key. */
struct SfxQual
{
	int			keyno;			/* which scan key it is */
	int			col;			/* 0-based */
	int			flags;			/* sk_flags, without SK_ISNULL where that only tells of the
								 * constant */
	StrategyNumber strategy;
	Oid			subtype;
	bool		is_test;		/* IS NULL or IS NOT NULL */
	bool		own_type;		/* the constant is of the column's type */
	/* a row comparison: strategy and types are what it says of its first column */
	StrategyNumber row;			/* its own strategy; 0: it is none */
	int			upto;			/* key columns that a look at an entry needs */
	/* = ANY: the array's element type, as last seen */
	Oid			elemtype;
	int16		elmlen;
	bool		elmbyval;
	char		elmalign;
};

struct SfxScanFilter
{
	SfxQual    *qual;
	bool		by_bytes;		/* = ANY, all of whose elements have bytes: a sorted set */
	SfxBytes   *set;
	Datum	   *elems;			/* other ANY */
	bool	   *elem_isnull;
	int			n;
};

/* What the conditions on a column amount to. */
typedef enum ColumnResult
{
	COL_EMPTY,					/* nothing can match */
	COL_PINNED,					/* one value, appended to the prefix */
	COL_LIST,					/* a list of values */
	COL_RANGE,					/* tail_lo, tail_hi */
	COL_OPEN					/* no bounds, only filters if anything */
} ColumnResult;

/* What a constant amounts to. */
typedef enum ConstResult
{
	CONST_INTERVAL,
	CONST_NONE,					/* no value of the column matches */
	CONST_FILTER				/* no telling from the bytes */
} ConstResult;

/* A constant as one of the column's type. */
typedef struct SfxConverted
{
	Datum		value;
	Datum		above;			/* near */
	StrategyNumber strategy;
	bool		all;			/* every value that is not NULL matches */
	/* matches lie within "strategy value" (=: between value and above), and have to be looked at */
	bool		near;
} SfxConverted;

/* An interval of one column's bytes; its buffers have SFX_MAX_ENTRY bytes. */
typedef struct ByteRange
{
	uint8	   *lo;
	uint8	   *hi;
	int			lolen;
	int			hilen;			/* 0: nothing said so far */
} ByteRange;

/* What sorting and searching lists needs to know. */
typedef struct ElemOrder
{
	const SfxScanKeys *sk;
	int			col;
} ElemOrder;

/* Order of two pieces of one column's bytes. */
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

/*
 * Make b the least byte string above everything that starts with it; the new length, 0 if there is
 * none.
 */
static inline int
successor(uint8 *b, int len)
{
	while (len > 0 && b[len - 1] == 0xFF)
		len--;
	if (len > 0)
		b[len - 1]++;
	return len;
}

/* The two ends of everything that starts with b, b included: in place, the new length. */
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
		return successor(b, len);
	if (len > 0)
		b[len++] = SFX_MARK_AFTER;
	return len;
}

/*
 * A bound longer than any key is cut: a stored key is never a proper prefix of a bound made of
 * whole columns, so it stands on the same side of the cut bound as of the whole one.  (Not so where
 * a comparison function has to read the bound: there it stays whole.)
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
 * Put "strategy value" so that it says the same of every value of the column, with a value of the
 * column's type, or nearly the same.
 */
extern ConstResult sfx_convert_constant(const SfxColumn *col, const SfxQual *q, Datum value,
										SfxConverted *c);

/* ---- intervals of one column (scankey_interval.c) ---- */

/* The interval of all values that are not NULL. */
extern void sfx_interval_all(const SfxScanKeys *sk, ByteRange *iv);
extern void sfx_interval_null_test(const SfxScanKeys *sk, const SfxQual *q, ByteRange *iv);

/*
 * The interval of column bytes within which all values lie that match the qual with this constant;
 * *near: others may lie there as well.
 */
extern ConstResult sfx_interval_constant(SfxScanKeys *sk, const SfxQual *q, Datum value, ByteRange *iv, bool *near);

/* Narrow a to what it has in common with b. */
extern void sfx_interval_intersect(const SfxScanKeys *sk, int col, ByteRange *a, const ByteRange *b);

/*
 * What the n conditions on a column amount to: a part of the prefix, a list, bounds behind it,
 * filters.
 */
extern ColumnResult sfx_interval_column(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n);

/* ---- row comparisons (scankey_row.c) ---- */

/* Narrow tail_lo and tail_hi, as the first column's interval has set them.  False: it is empty. */
extern bool sfx_row_narrow(SfxScanKeys *sk, const ScanKeyData *header);

/* ---- pieces (scankey_pieces.c) ---- */

/*
 * Narrow the tail by the row comparisons among the n conditions on its column, and take it apart
 * into the pieces in which they are true; those of which that is not known become filters.  False:
 * none is left.  For COL_RANGE, in the work context, which owns the pieces.
 */
extern bool sfx_pieces_tail(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n);

/* ---- arrays (scankey_interval.c, too) ---- */

/* Take the array of a scan key apart, in the work context. */
extern int	sfx_array_open(SfxQual *q, const ScanKeyData *key, Datum **elems, bool **isnull);

/*
 * The column bytes of all elements of a = ANY, sorted and without duplicates; the number of them,
 * or -1 if some element has no byte form.
 */
extern int	sfx_array_equal_set(SfxScanKeys *sk, SfxQual *q, const ScanKeyData *key, SfxBytes **set);

/* Is an equal one in the sorted set? */
extern bool sfx_array_has(const ElemOrder *eo, const SfxBytes *set, int n, const SfxBytes *b);

/* ---- what intervals do not guarantee (scankey_filter.c) ---- */

extern void sfx_scanfilter_add(SfxScanKeys *sk, SfxQual *q);

/* The same, if it is none yet. */
extern void sfx_scanfilter_once(SfxScanKeys *sk, SfxQual *q);

/* Open the filters' arrays.  False: one of them matches nothing. */
extern bool sfx_scanfilter_fill(SfxScanKeys *sk, ScanKey keys);

/*
 * Conditions from quals[from] on are left to the filters: take the first column's interval.  False:
 * it is empty.
 */
extern bool sfx_leap_prepare(SfxScanKeys *sk, ScanKey keys, int from);

#endif							/* SFX_SCANKEY_IMPL_H */
