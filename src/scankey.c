/*-------------------------------------------------------------------------
 * scankey.c - from scan keys to byte ranges and leftover filters
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
 * where succ(b) is the least byte string above everything that starts with b.  In a descending column, whose value
 * bytes are complemented, < and > change places.  Several conditions on a column intersect their
 * intervals as byte strings, whatever they are: redundant and contradictory ones need no care.
 *
 * In the comparator key space values that are equal may differ in their bytes, so an interval's end is the value
 * followed by a mark that stands below (BEFORE, for 01 v) or above (AFTER, for succ) everything that is equal so far,
 * and column bytes are compared by sfx_order_cmp_column.
 *-------------------------------------------------------------------------
 */
#include "scankey.h"

#include "access/stratnum.h"
#include "access/genam.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* The shape of one scan key. */
struct SfxQual
{
	int			keyno;			/* which scan key it is */
	int			col;			/* 0-based */
	int			flags;			/* sk_flags, without SK_ISNULL where that only tells of the constant */
	StrategyNumber strategy;
	Oid			subtype;
	bool		is_test;		/* IS NULL or IS NOT NULL */
	bool		own_type;		/* the constant is of the column's type */
	/* = ANY: the array's element type, as last seen */
	Oid			elemtype;
	int16		elmlen;
	bool		elmbyval;
	char		elmalign;
};

struct SfxFilter
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

/* An interval of one column's bytes; its buffers have SFX_MAX_ENTRY bytes. */
typedef struct ByteRange
{
	uint8	   *lo;
	uint8	   *hi;
	int			lolen;
	int			hilen;			/* 0: nothing said so far */
} ByteRange;

static bool same_shape(const SfxScanKeys *sk, ScanKey keys, int nkeys);
static void take_shape(SfxScanKeys *sk, ScanKey keys, int nkeys);
static ColumnResult bound_column(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n);
static void intersect(const SfxScanKeys *sk, int col, ByteRange *a, const ByteRange *b);
static void add_filter(SfxScanKeys *sk, SfxQual *q);
static bool fill_filters(SfxScanKeys *sk, ScanKey keys);
static bool prepare_leap(SfxScanKeys *sk, ScanKey keys, int from);

/* ------------------------------------------------------------------ the public face */

void
sfx_scankeys_init(SfxScanKeys *sk, Relation index, const SfxKeyDesc *kd, const SfxOrder *order, int nkeys)
{
	sk->index = index;
	sk->kd = kd;
	sk->order = order;
	sk->parent = CurrentMemoryContext;
	sk->work = NULL;
	sk->eval = NULL;
	sk->nquals = nkeys;
	sk->shaped = false;
	sk->nlists = 0;
	sk->nfilters = 0;
	sk->pinned_len = sk->tail_lo_len = sk->tail_hi_len = 0;
	sk->quals = nkeys > 0 ? palloc0(nkeys * sizeof(SfxQual)) : NULL;
	sk->leap_col = -1;
	sk->leap_lo = sk->leap_hi = NULL;
	sk->filters = nkeys > 0 ? palloc0(nkeys * sizeof(SfxFilter)) : NULL;
	sk->lists = nkeys > 0 ? palloc0(kd->nkeys * sizeof(SfxList)) : NULL;
}

void
sfx_scankeys_end(SfxScanKeys *sk)
{
	if (sk->work)
		MemoryContextDelete(sk->work);
	if (sk->eval)
		MemoryContextDelete(sk->eval);
	if (sk->quals)
	{
		pfree(sk->quals);
		pfree(sk->filters);
		pfree(sk->lists);
	}
	if (sk->leap_lo)
	{
		pfree(sk->leap_lo);
		pfree(sk->leap_hi);
		pfree(sk->leap_to);
	}
}

/* Do conditions bound the first column from below and from above?  (Then all ranges have two ends.) */
static bool
bounds_both_sides(const SfxScanKeys *sk)
{
	bool		below = false;
	bool		above = false;

	for (int i = 0; i < sk->nquals && sk->quals[i].col == 0; i++)
	{
		const SfxQual *q = &sk->quals[i];

		if (q->is_test && !(q->flags & SK_SEARCHNULL))
			continue;
		below |= q->is_test || q->strategy >= BTEqualStrategyNumber;
		above |= q->is_test || q->strategy <= BTEqualStrategyNumber;
	}
	return below && above;
}

bool
sfx_scankeys_prepare(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	MemoryContext old = CurrentMemoryContext;
	bool		result = true;
	int			q = 0;

	Assert(nkeys <= sk->nquals || !sk->shaped);

	sk->nlists = 0;
	sk->nfilters = 0;
	sk->filter_upto = 0;
	sk->leap_col = -1;
	sk->pinned_len = sk->tail_lo_len = sk->tail_hi_len = 0;

	/* An operator with a NULL constant matches nothing. */
	for (int i = 0; i < nkeys; i++)
		if ((keys[i].sk_flags & SK_ISNULL) && !(keys[i].sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)))
			return false;

	if (!sk->shaped || !same_shape(sk, keys, nkeys))
		take_shape(sk, keys, nkeys);
	if (sk->work)
	{
		MemoryContextReset(sk->work);
		MemoryContextSwitchTo(sk->work);
	}

	sk->one_key = sk->kd->image_equal && sk->kd->nrests == 0;
	for (int col = 0; col < sk->kd->nkeys; col++)
	{
		ColumnResult r;
		int			n = 0;

		while (q + n < sk->nquals && sk->quals[q + n].col == col)
			n++;
		r = n > 0 ? bound_column(sk, keys, sk->quals + q, n) : COL_OPEN;
		q += n;
		if (r == COL_EMPTY)
			result = false;
		if (r != COL_PINNED && r != COL_LIST)
		{
			sk->one_key = false;
			break;
		}
	}
	sk->closed = bounds_both_sides(sk);
	if (result)
	{
		int			later = q;

		for (; q < sk->nquals; q++)
			add_filter(sk, &sk->quals[q]);
		result = fill_filters(sk, keys) && prepare_leap(sk, keys, later);
	}
	MemoryContextSwitchTo(old);
	return result;
}

void
sfx_scankeys_rewind(SfxScanKeys *sk, ScanDirection dir)
{
	for (int i = 0; i < sk->nlists; i++)
		sk->lists[i].cur = ScanDirectionIsForward(dir) ? 0 : sk->lists[i].n - 1;
}

bool
sfx_scankeys_advance(SfxScanKeys *sk, ScanDirection dir)
{
	int			step = ScanDirectionIsForward(dir) ? 1 : -1;

	for (int i = sk->nlists - 1; i >= 0; i--)
	{
		SfxList    *l = &sk->lists[i];

		if (l->cur + step < 0 || l->cur + step >= l->n)
			continue;
		l->cur += step;
		for (int j = i + 1; j < sk->nlists; j++)
			sk->lists[j].cur = step > 0 ? 0 : sk->lists[j].n - 1;
		return true;
	}
	return false;
}

/*
 * Make b the least byte string above everything that starts with it; the new length, 0 if there is none.
 */
static int
successor(uint8 *b, int len)
{
	while (len > 0 && b[len - 1] == 0xFF)
		len--;
	if (len > 0)
		b[len - 1]++;
	return len;
}

/* The two ends of everything that starts with b, b included: in place, the new length. */
static int
end_below(const SfxScanKeys *sk, uint8 *b, int len)
{
	if (sk->kd->comparator && len > 0)
		b[len++] = SFX_MARK_BEFORE;
	return len;
}

static int
end_above(const SfxScanKeys *sk, uint8 *b, int len)
{
	if (!sk->kd->comparator)
		return successor(b, len);
	if (len > 0)
		b[len++] = SFX_MARK_AFTER;
	return len;
}

/* Order of two pieces of one column's bytes. */
static inline int
cmp_bytes(const SfxScanKeys *sk, int col, const uint8 *a, int alen, const uint8 *b, int blen)
{
	return sfx_order_cmp_column(sk->order, col, a, alen, b, blen);
}

/* The prefix of the present range into out; its length, or -1 if no key can be so long. */
static int
compose_prefix(const SfxScanKeys *sk, uint8 *out)
{
	int			len = 0;
	int			from = 0;

	for (int i = 0; i < sk->nlists; i++)
	{
		const SfxList *l = &sk->lists[i];
		const SfxBytes *e = &l->elem[l->cur];
		int			fixed = l->at - from;

		if (len + fixed + e->len > SFX_MAX_ENTRY)
			return -1;
		memcpy(out + len, sk->pinned + from, fixed);
		memcpy(out + len + fixed, e->p, e->len);
		len += fixed + e->len;
		from = l->at;
	}
	if (len + sk->pinned_len - from > SFX_MAX_ENTRY)
		return -1;
	memcpy(out + len, sk->pinned + from, sk->pinned_len - from);
	return len + sk->pinned_len - from;
}

/*
 * A bound longer than any key is cut: a stored key is never a proper prefix of a bound made of whole columns,
 * so it stands on the same side of the cut bound as of the whole one.  (Not so where a comparison function has to read
 * the bound: there it stays whole.)
 */
static int
append_cut(const SfxScanKeys *sk, uint8 *buf, int len, const uint8 *tail, int tail_len)
{
	int			n = sk->kd->comparator ? tail_len : Min(tail_len, SFX_MAX_ENTRY - len);

	memcpy(buf + len, tail, n);
	return len + n;
}

/* May keys that are equal to the one in lo be stored squeezed, and so with other bytes? */
static inline bool
may_be_squeezed(const SfxScanKeys *sk, int len)
{
	return sk->kd->comparator && (len > SFX_MAX_ENTRY / 2 || sfx_key_is_squeezed(sk->kd, sk->index, sk->lo, len));
}

void
sfx_scankeys_bounds(SfxScanKeys *sk, SfxPos *lo, SfxPos *hi)
{
	int			len = compose_prefix(sk, sk->lo);

	lo->tid = hi->tid = 0;
	lo->key = sk->lo;
	hi->key = sk->hi;
	if (len < 0)
	{
		/* an empty range */
		sk->lo[0] = sk->hi[0] = 0xFF;
		lo->len = hi->len = 1;
		return;
	}
	if (sk->one_key && !may_be_squeezed(sk, len))
	{
		/* all TIDs of one key: the same bytes at both ends are looked for once */
		lo->len = hi->len = len;
		hi->key = sk->lo;
		hi->tid = SFX_MAX_TID;
		return;
	}
	memcpy(sk->hi, sk->lo, len);
	if (sk->tail_lo_len > 0)
		lo->len = append_cut(sk, sk->lo, len, sk->tail_lo, sk->tail_lo_len);
	else
		lo->len = end_below(sk, sk->lo, len);
	if (sk->tail_hi_len > 0)
		hi->len = append_cut(sk, sk->hi, len, sk->tail_hi, sk->tail_hi_len);
	else
		hi->len = end_above(sk, sk->hi, len);
	if (hi->len == 0)
		hi->key = NULL;
}

/* ------------------------------------------------------------------ the shape */

/* sk_flags as far as they belong to the shape. */
static inline int
shape_flags(const ScanKeyData *key)
{
	if (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL))
		return key->sk_flags;
	return key->sk_flags & ~SK_ISNULL;
}

static bool
same_shape(const SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	if (nkeys != sk->nquals)
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		const SfxQual *q = &sk->quals[i];
		const ScanKeyData *key = &keys[q->keyno];

		if (key->sk_attno != q->col + 1 || key->sk_strategy != q->strategy ||
			shape_flags(key) != q->flags || key->sk_subtype != q->subtype)
			return false;
	}
	return true;
}

/* Does this condition need memory while it is prepared? */
static bool
needs_work_memory(const SfxKeyDesc *kd, const SfxQual *q)
{
	return (q->flags & SK_SEARCHARRAY) || (!q->is_test && !(q->own_type && kd->col[q->col].typbyval));
}

static void
take_shape(SfxScanKeys *sk, ScanKey keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
	{
		const ScanKeyData *key = &keys[i];
		SfxQual		q;
		int			at = i;

		if ((key->sk_flags & (SK_ROW_HEADER | SK_ROW_MEMBER | SK_ORDER_BY)) ||
			key->sk_attno < 1 || key->sk_attno > sk->kd->nkeys)
			elog(ERROR, "unsupported scan key for surfidx index \"%s\"", RelationGetRelationName(sk->index));

		memset(&q, 0, sizeof(q));
		q.keyno = i;
		q.col = key->sk_attno - 1;
		q.flags = shape_flags(key);
		q.strategy = key->sk_strategy;
		q.subtype = key->sk_subtype;
		q.is_test = (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)) != 0;
		q.own_type = q.subtype == InvalidOid || q.subtype == sk->kd->col[q.col].type;
		if (!q.is_test && (q.strategy < BTLessStrategyNumber || q.strategy > BTGreaterStrategyNumber))
			elog(ERROR, "unsupported strategy %d for surfidx index \"%s\"", q.strategy,
				 RelationGetRelationName(sk->index));
		if (sk->work == NULL && needs_work_memory(sk->kd, &q))
			sk->work = AllocSetContextCreate(sk->parent, "surfidx scan keys", ALLOCSET_SMALL_SIZES);

		/* by column, otherwise as they came */
		for (; at > 0 && sk->quals[at - 1].col > q.col; at--)
			sk->quals[at] = sk->quals[at - 1];
		sk->quals[at] = q;
	}
	sk->nquals = nkeys;
	sk->shaped = true;
}

/* ------------------------------------------------------------------ conditions to intervals */

/* What qsort's comparison needs to know. */
typedef struct ElemOrder
{
	const SfxScanKeys *sk;
	int			col;
} ElemOrder;

static inline int
cmp_elem(const ElemOrder *eo, const SfxBytes *a, const SfxBytes *b)
{
	return cmp_bytes(eo->sk, eo->col, a->p, a->len, b->p, b->len);
}

static void
set_bytes(uint8 *to, int *tolen, const uint8 *from, int len)
{
	memcpy(to, from, len);
	*tolen = len;
}

/* The interval of all values that are not NULL. */
static void
all_values(const SfxScanKeys *sk, ByteRange *iv)
{
	iv->lo[0] = SFX_MARK_VALUE;
	iv->hi[0] = SFX_MARK_VALUE + 1;
	iv->lolen = 1;
	/* A NULL is such a marker, too: where equal keys are put in the order of their bytes, a bound must not tie with it. */
	iv->hilen = end_below(sk, iv->hi, 1);
}

static void
null_test_interval(const SfxScanKeys *sk, const SfxQual *q, ByteRange *iv)
{
	if (q->flags & SK_SEARCHNOTNULL)
	{
		all_values(sk, iv);
		return;
	}
	iv->lo[0] = iv->hi[0] = sk->kd->col[q->col].nulls_first ? SFX_MARK_NULL_FIRST : SFX_MARK_NULL_LAST;
	iv->lolen = end_below(sk, iv->lo, 1);
	iv->hilen = end_above(sk, iv->hi, 1);
}

/* A constant as one of the column's type. */
typedef struct Converted
{
	Datum		value;
	Datum		above;			/* near */
	StrategyNumber strategy;
	bool		all;			/* every value that is not NULL matches */
	bool		near;			/* matches lie within "strategy value" (=: between value and above), and have to be looked at */
} Converted;

/*
 * Put "strategy value" so that it says the same of every value of the column, with a value of the column's type, or
 * nearly the same.
 */
static ConstResult
convert_constant(const SfxColumn *col, const SfxQual *q, Datum value, Converted *c)
{
	bool		upward = q->strategy == BTGreaterStrategyNumber || q->strategy == BTGreaterEqualStrategyNumber;

	c->value = value;
	c->strategy = q->strategy;
	c->all = c->near = false;
	if (q->own_type)
		return CONST_INTERVAL;
	if (col->bound == NULL)
		return CONST_FILTER;
	switch ((SfxBoundKind) col->bound(q->subtype, value, &c->value, &c->above))
	{
		case SFX_BOUND_EXACT:
			return CONST_INTERVAL;
		case SFX_BOUND_AFTER:
			/* a name cut short: after it in the order of bytes only */
			if (col->raw)
				return CONST_FILTER;
			if (q->strategy == BTEqualStrategyNumber)
				return CONST_NONE;
			c->strategy = upward ? BTGreaterStrategyNumber : BTLessEqualStrategyNumber;
			return CONST_INTERVAL;
		case SFX_BOUND_NEAR:
			c->near = true;
			if (q->strategy == BTEqualStrategyNumber)
				return CONST_INTERVAL;
			c->strategy = upward ? BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
			if (!upward)
				c->value = c->above;
			return CONST_INTERVAL;
		case SFX_BOUND_BELOW_ALL:
			c->all = upward;
			return upward ? CONST_INTERVAL : CONST_NONE;
		case SFX_BOUND_ABOVE_ALL:
			if (upward || q->strategy == BTEqualStrategyNumber)
				return CONST_NONE;
			c->all = true;
			return CONST_INTERVAL;
		case SFX_BOUND_UNKNOWN:
			break;
	}
	return CONST_FILTER;
}

/*
 * What = amounts to with a value that is larger than any key: nothing is equal to it, unless values of other lengths can be (text in
 * some collations), or an equal one was compressed in another way.
 */
static ConstResult
equal_to_too_large(const SfxScanKeys *sk)
{
	return sk->kd->comparator ? CONST_FILTER : CONST_NONE;
}

/* The interval of column bytes that "column <strategy> value" describes, the value being of the column's type. */
static ConstResult
own_interval(SfxScanKeys *sk, const SfxColumn *col, StrategyNumber strategy, Datum value, ByteRange *iv)
{
	uint8	   *b = sk->scratch;
	int			len = 0;

	all_values(sk, iv);
	if (!sfx_bound_encode(sk->kd, sk->index, col - sk->kd->col, value, b, &len, SFX_MAX_ENTRY))
		return strategy == BTEqualStrategyNumber ? equal_to_too_large(sk) : CONST_FILTER;
	if (col->desc)
		strategy = BTMaxStrategyNumber + 1 - strategy;

	if (strategy == BTGreaterEqualStrategyNumber || strategy == BTEqualStrategyNumber)
	{
		set_bytes(iv->lo, &iv->lolen, b, len);
		iv->lolen = end_below(sk, iv->lo, len);
	}
	if (strategy == BTLessStrategyNumber)
	{
		set_bytes(iv->hi, &iv->hilen, b, len);
		iv->hilen = end_below(sk, iv->hi, len);
	}
	if (strategy == BTLessEqualStrategyNumber || strategy == BTEqualStrategyNumber)
	{
		set_bytes(iv->hi, &iv->hilen, b, len);
		iv->hilen = end_above(sk, iv->hi, len);
	}
	if (strategy == BTGreaterStrategyNumber)
	{
		set_bytes(iv->lo, &iv->lolen, b, len);
		iv->lolen = end_above(sk, iv->lo, len);
	}
	return CONST_INTERVAL;
}

/*
 * The interval of column bytes within which all values lie that match the qual with this constant; *near: others may
 * lie there as well.
 */
static ConstResult
constant_interval(SfxScanKeys *sk, const SfxQual *q, Datum value, ByteRange *iv, bool *near)
{
	const SfxColumn *col = &sk->kd->col[q->col];
	Converted	c;
	ConstResult r = convert_constant(col, q, value, &c);

	*near = c.near;
	if (r != CONST_INTERVAL)
		return r;
	if (c.all)
	{
		all_values(sk, iv);
		return CONST_INTERVAL;
	}
	if (c.near && q->strategy == BTEqualStrategyNumber)
	{
		ByteRange	upper = {palloc(SFX_MAX_ENTRY + 1), palloc(SFX_MAX_ENTRY + 1), 0, 0};

		if ((r = own_interval(sk, col, BTGreaterEqualStrategyNumber, c.value, iv)) == CONST_INTERVAL &&
			(r = own_interval(sk, col, BTLessEqualStrategyNumber, c.above, &upper)) == CONST_INTERVAL)
			intersect(sk, q->col, iv, &upper);
		return r;
	}
	return own_interval(sk, col, c.strategy, c.value, iv);
}

/* Narrow a to what it has in common with b. */
static void
intersect(const SfxScanKeys *sk, int col, ByteRange *a, const ByteRange *b)
{
	bool		first = a->hilen == 0;

	if (first || cmp_bytes(sk, col, b->lo, b->lolen, a->lo, a->lolen) > 0)
		set_bytes(a->lo, &a->lolen, b->lo, b->lolen);
	if (first || cmp_bytes(sk, col, b->hi, b->hilen, a->hi, a->hilen) < 0)
		set_bytes(a->hi, &a->hilen, b->hi, b->hilen);
}

/* ------------------------------------------------------------------ arrays */

/* Take the array of a scan key apart, in the work context. */
static int
open_array(SfxQual *q, const ScanKeyData *key, Datum **elems, bool **isnull)
{
	ArrayType  *arr = DatumGetArrayTypeP(key->sk_argument);
	int			n;

	if (ARR_ELEMTYPE(arr) != q->elemtype)
	{
		q->elemtype = ARR_ELEMTYPE(arr);
		get_typlenbyvalalign(q->elemtype, &q->elmlen, &q->elmbyval, &q->elmalign);
	}
	deconstruct_array(arr, q->elemtype, q->elmlen, q->elmbyval, q->elmalign, elems, isnull, &n);
	return n;
}

static int
qsort_elem(const void *a, const void *b, void *arg)
{
	return cmp_elem(arg, (const SfxBytes *) a, (const SfxBytes *) b);
}

static int
sort_unique(ElemOrder *eo, SfxBytes *set, int n)
{
	int			out = 0;

	if (n > 1)
		qsort_arg(set, n, sizeof(SfxBytes), qsort_elem, eo);
	for (int i = 0; i < n; i++)
		if (out == 0 || cmp_elem(eo, &set[out - 1], &set[i]) != 0)
			set[out++] = set[i];
	return out;
}

/* Is an equal one in the sorted set? */
static bool
in_set(const ElemOrder *eo, const SfxBytes *set, int n, const SfxBytes *b)
{
	int			lo = 0,
				hi = n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			c = cmp_elem(eo, &set[mid], b);

		if (c == 0)
			return true;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/*
 * The column bytes of all elements of a = ANY, sorted and without duplicates; the number of them, or -1 if some
 * element has no byte form.
 */
static int
equal_set(SfxScanKeys *sk, SfxQual *q, const ScanKeyData *key, SfxBytes **set)
{
	const SfxColumn *col = &sk->kd->col[q->col];
	ElemOrder	eo = {sk, q->col};
	Datum	   *elems;
	bool	   *isnull;
	int			n = open_array(q, key, &elems, &isnull);
	int			out = 0;

	*set = palloc(Max(n, 1) * sizeof(SfxBytes));
	for (int i = 0; i < n; i++)
	{
		Converted	c;
		ConstResult r;
		int			len = 0;
		uint8	   *copy;

		CHECK_FOR_INTERRUPTS();
		if (isnull[i])
			continue;
		r = convert_constant(col, q, elems[i], &c);
		if (r == CONST_INTERVAL &&
			!sfx_bound_encode(sk->kd, sk->index, q->col, c.value, sk->scratch, &len, SFX_MAX_ENTRY))
			r = equal_to_too_large(sk);
		if (r == CONST_FILTER || (r == CONST_INTERVAL && c.near))
			return -1;
		if (r == CONST_NONE)
			continue;
		copy = palloc(len);
		memcpy(copy, sk->scratch, len);
		(*set)[out].p = copy;
		(*set)[out++].len = len;
	}
	return sort_unique(&eo, *set, out);
}

/* a := what both sets have; the number of them. */
static int
intersect_sets(const ElemOrder *eo, SfxBytes *a, int na, const SfxBytes *b, int nb)
{
	int			out = 0;

	for (int i = 0, j = 0; i < na && j < nb;)
	{
		int			c = cmp_elem(eo, &a[i], &b[j]);

		if (c == 0)
			a[out++] = a[i];
		if (c <= 0)
			i++;
		if (c >= 0)
			j++;
	}
	return out;
}

/* An array with another operator (a < ANY): what one of its elements allows, which is what the extreme element does. */
static ConstResult
unequal_array_interval(SfxScanKeys *sk, SfxQual *q, const ScanKeyData *key, ByteRange *iv, bool *near)
{
	Datum	   *elems;
	bool	   *isnull;
	int			n = open_array(q, key, &elems, &isnull);
	ByteRange	one = {palloc(SFX_MAX_ENTRY + 1), palloc(SFX_MAX_ENTRY + 1), 0, 0};
	ConstResult result = CONST_NONE;

	*near = false;
	for (int i = 0; i < n; i++)
	{
		ConstResult r;
		bool		one_near;

		CHECK_FOR_INTERRUPTS();
		if (isnull[i] || (r = constant_interval(sk, q, elems[i], &one, &one_near)) == CONST_NONE)
			continue;
		if (r == CONST_FILTER)
			return r;
		*near |= one_near;
		if (result == CONST_NONE || cmp_bytes(sk, q->col, one.lo, one.lolen, iv->lo, iv->lolen) < 0)
			set_bytes(iv->lo, &iv->lolen, one.lo, one.lolen);
		if (result == CONST_NONE || cmp_bytes(sk, q->col, one.hi, one.hilen, iv->hi, iv->hilen) > 0)
			set_bytes(iv->hi, &iv->hilen, one.hi, one.hilen);
		result = CONST_INTERVAL;
	}
	return result;
}

/* ------------------------------------------------------------------ the conditions on one column */

static inline bool
is_equal_array(const SfxQual *q)
{
	return (q->flags & SK_SEARCHARRAY) && q->strategy == BTEqualStrategyNumber;
}

/* Does the condition, if its interval is not empty, leave one value? */
static inline bool
pins(const SfxQual *q)
{
	if (q->is_test)
		return (q->flags & SK_SEARCHNULL) != 0;
	return q->strategy == BTEqualStrategyNumber && !(q->flags & SK_SEARCHARRAY);
}

/* Intersect into *iv the intervals of all conditions but = ANY lists.  False: nothing matches. */
static bool
intersect_quals(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n, ByteRange *iv, bool *pinned)
{
	ByteRange	one = {sk->lo, sk->hi, 0, 0};	/* free until sfx_scankeys_bounds */

	*pinned = false;
	for (int i = 0; i < n; i++)
	{
		SfxQual    *q = &quals[i];
		const ScanKeyData *key = &keys[q->keyno];
		ConstResult r = CONST_INTERVAL;
		bool		near = false;

		if (is_equal_array(q))
			continue;
		if (q->is_test)
			null_test_interval(sk, q, &one);
		else if (q->flags & SK_SEARCHARRAY)
			r = unequal_array_interval(sk, q, key, &one, &near);
		else
			r = constant_interval(sk, q, key->sk_argument, &one, &near);

		if (r == CONST_NONE)
			return false;
		if (r == CONST_FILTER)
		{
			add_filter(sk, q);
			continue;
		}
		if (near)
			add_filter(sk, q);
		else
			*pinned |= pins(q);
		intersect(sk, q->col, iv, &one);
	}
	return iv->hilen == 0 || cmp_bytes(sk, quals->col, iv->lo, iv->lolen, iv->hi, iv->hilen) < 0;
}

/* Intersect all = ANY lists on the column; the number of elements, -1 if there is no list. */
static int
intersect_lists(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n, SfxBytes **set)
{
	int			count = -1;

	for (int i = 0; i < n; i++)
	{
		SfxBytes   *s;
		int			c;

		if (!is_equal_array(&quals[i]))
			continue;
		c = equal_set(sk, &quals[i], &keys[quals[i].keyno], &s);
		if (c < 0)
			add_filter(sk, &quals[i]);
		else if (count < 0)
		{
			*set = s;
			count = c;
		}
		else
		{
			ElemOrder	eo = {sk, quals[i].col};

			count = intersect_sets(&eo, *set, count, s, c);
		}
	}
	return count;
}

/* Keep of a list what lies in the interval; what is left makes the column's part of the prefix. */
static ColumnResult
use_list(SfxScanKeys *sk, int col, SfxBytes *set, int n, const ByteRange *iv)
{
	int			out = 0;
	SfxList    *l;

	for (int i = 0; i < n; i++)
		if (iv->hilen == 0 ||
			(cmp_bytes(sk, col, set[i].p, set[i].len, iv->lo, iv->lolen) >= 0 &&
			 cmp_bytes(sk, col, set[i].p, set[i].len, iv->hi, iv->hilen) < 0))
			set[out++] = set[i];
	if (out == 0)
		return COL_EMPTY;
	if (out == 1)
	{
		if (sk->pinned_len + set[0].len > SFX_MAX_ENTRY)
			return COL_EMPTY;
		memcpy(sk->pinned + sk->pinned_len, set[0].p, set[0].len);
		sk->pinned_len += set[0].len;
		return COL_PINNED;
	}
	l = &sk->lists[sk->nlists++];
	l->elem = set;
	l->n = out;
	l->cur = 0;
	l->at = sk->pinned_len;
	return COL_LIST;
}

static int
longest(const SfxBytes *set, int n)
{
	int			len = 0;

	for (int i = 0; i < n; i++)
		len = Max(len, set[i].len);
	return len;
}

/* What the lists of the prefix may add to its length. */
static int
longest_lists(const SfxScanKeys *sk)
{
	int			len = 0;

	for (int i = 0; i < sk->nlists; i++)
		len += longest(sk->lists[i].elem, sk->lists[i].n);
	return Min(len, SFX_MAX_ENTRY);
}

/* Leave the = ANY conditions of a column to the filters. */
static void
filter_lists(SfxScanKeys *sk, SfxQual *quals, int n)
{
	for (int i = 0; i < n; i++)
	{
		bool		there = !is_equal_array(&quals[i]);

		for (int j = 0; j < sk->nfilters && !there; j++)
			there = sk->filters[j].qual == &quals[i];
		if (!there)
			add_filter(sk, &quals[i]);
	}
}

/* Narrow iv to what lies between the first and the last of a sorted set. */
static void
span_list(SfxScanKeys *sk, int col, const SfxBytes *set, int n, ByteRange *iv)
{
	ByteRange	span = {palloc(SFX_MAX_ENTRY + 1), palloc(SFX_MAX_ENTRY + 1), 0, 0};

	if (n == 0)
		return;
	set_bytes(span.lo, &span.lolen, set[0].p, set[0].len);
	set_bytes(span.hi, &span.hilen, set[n - 1].p, set[n - 1].len);
	span.lolen = end_below(sk, span.lo, span.lolen);
	span.hilen = end_above(sk, span.hi, span.hilen);
	intersect(sk, col, iv, &span);
}

static ColumnResult
bound_column(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n)
{
	ByteRange	iv = {sk->tail_lo, sk->tail_hi, 0, 0};
	SfxBytes   *set = NULL;
	bool		pinned;
	int			count;

	/* the usual case, in one step */
	if (n == 1 && pins(quals) && quals->own_type && !quals->is_test)
	{
		if (sfx_column_encode(&sk->kd->col[quals->col], keys[quals->keyno].sk_argument, false,
							  sk->pinned, &sk->pinned_len, SFX_MAX_ENTRY - longest_lists(sk)))
			return COL_PINNED;
		if (!sk->kd->comparator && sk->nlists == 0)
			return COL_EMPTY;	/* the value does not fit behind the prefix, so that no key has it */
	}

	if (!intersect_quals(sk, keys, quals, n, &iv, &pinned))
		return COL_EMPTY;
	count = intersect_lists(sk, keys, quals, n, &set);
	if (count >= 0 && !pinned)
	{
		if (!sk->kd->comparator || sk->pinned_len + longest_lists(sk) + longest(set, count) <= SFX_MAX_ENTRY)
			return use_list(sk, quals->col, set, count, &iv);
		/* stored ones may be compressed: the interval from the least to the greatest, and a look at each entry */
		filter_lists(sk, quals, n);
		span_list(sk, quals->col, set, count, &iv);
	}
	if (pinned)
	{
		/* the lower bound is the value itself: other conditions cannot have cut a value in two */
		SfxBytes	self = {iv.lo, iv.lolen};
		ElemOrder	eo = {sk, quals->col};

		if (sk->kd->comparator && self.len > 1)
			self.len--;			/* without its mark */
		if (count >= 0 && !in_set(&eo, set, count, &self))
			return COL_EMPTY;
		if (sk->pinned_len + longest_lists(sk) + self.len <= SFX_MAX_ENTRY || !sk->kd->comparator)
			return use_list(sk, quals->col, &self, 1, &iv);
		/* too long for a prefix, but equal ones in keys may be shorter: leave it the end of the bounds */
	}
	if (iv.hilen == 0)
		return COL_OPEN;
	sk->tail_lo_len = iv.lolen;
	sk->tail_hi_len = iv.hilen;
	return COL_RANGE;
}

/* ------------------------------------------------------------------ filters */

static void
add_filter(SfxScanKeys *sk, SfxQual *q)
{
	SfxFilter  *f = &sk->filters[sk->nfilters++];

	memset(f, 0, sizeof(*f));
	f->qual = q;
	sk->filter_upto = Max(sk->filter_upto, q->col + 1);
}

/* Open the filters' arrays.  False: one of them matches nothing. */
static bool
fill_filters(SfxScanKeys *sk, ScanKey keys)
{
	if (sk->nfilters > 0 && sk->eval == NULL)
		sk->eval = AllocSetContextCreate(sk->parent, "surfidx scan filters", ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < sk->nfilters; i++)
	{
		SfxFilter  *f = &sk->filters[i];
		SfxQual    *q = f->qual;
		const ScanKeyData *key = &keys[q->keyno];

		if (!(q->flags & SK_SEARCHARRAY))
			continue;
		f->n = is_equal_array(q) ? equal_set(sk, q, key, &f->set) : -1;
		f->by_bytes = f->n >= 0;
		if (!f->by_bytes)
			f->n = open_array(q, key, &f->elems, &f->elem_isnull);
		if (f->n == 0)
			return false;
	}
	return true;
}

static bool
check_array(SfxScanKeys *sk, const SfxFilter *f, ScanKey key, Datum value)
{
	if (f->by_bytes)
	{
		SfxBytes	b = {sk->scratch, 0};
		ElemOrder	eo = {sk, f->qual->col};

		if (!sfx_bound_encode(sk->kd, sk->index, f->qual->col, value, sk->scratch, &b.len, SFX_MAX_ENTRY))
			return false;
		return in_set(&eo, f->set, f->n, &b);
	}
	for (int i = 0; i < f->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!f->elem_isnull[i] &&
			DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, f->elems[i])))
			return true;
	}
	return false;
}

static bool
check_one(SfxScanKeys *sk, const SfxFilter *f, ScanKey key, Datum value, bool isnull)
{
	if (f->qual->is_test)
		return isnull == ((f->qual->flags & SK_SEARCHNULL) != 0);
	if (isnull)
		return false;
	if (f->qual->flags & SK_SEARCHARRAY)
		return check_array(sk, f, key, value);
	return DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, key->sk_argument));
}

bool
sfx_scankeys_check(SfxScanKeys *sk, ScanKey keys, const Datum *values, const bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(sk->eval);
	bool		pass = true;

	/* operators may leave memory behind */
	MemoryContextReset(sk->eval);
	for (int i = 0; pass && i < sk->nfilters; i++)
	{
		const SfxFilter *f = &sk->filters[i];

		pass = check_one(sk, f, &keys[f->qual->keyno], values[f->qual->col], isnull[f->qual->col]);
	}
	MemoryContextSwitchTo(old);
	return pass;
}

/* ------------------------------------------------------------------ leaping
 *
 * The ranges end with the first column that has no equality. A later column's values ascend only among entries whose columns before it are
 * equal; so a scan can go, from an entry whose value there is too small, to the least one that fits behind the same columns, and from
 * one too great to the next value of those columns. (A btree of PostgreSQL 18 calls this a skip scan.)
 */

/* Conditions from quals[from] on are left to the filters: take the first column's interval.  False: it is empty. */
static bool
prepare_leap(SfxScanKeys *sk, ScanKey keys, int from)
{
	ByteRange	iv;
	ByteRange	one = {sk->lo, sk->hi, 0, 0};	/* free until sfx_scankeys_bounds */
	int			col;

	if (from >= sk->nquals)
		return true;
	if (sk->leap_lo == NULL)
	{
		sk->leap_lo = MemoryContextAlloc(sk->parent, SFX_MAX_ENTRY + 1);
		sk->leap_hi = MemoryContextAlloc(sk->parent, SFX_MAX_ENTRY + 1);
		sk->leap_to = MemoryContextAlloc(sk->parent, SFX_BOUND_MAX);
	}
	iv = (ByteRange) {sk->leap_lo, sk->leap_hi, 0, 0};
	sk->leap_list = NULL;
	col = sk->quals[from].col;
	for (int i = from; i < sk->nquals && sk->quals[i].col == col; i++)
	{
		SfxQual    *q = &sk->quals[i];
		ConstResult r = CONST_FILTER;
		bool		near;

		if (q->is_test)
			null_test_interval(sk, q, &one);
		else if ((q->flags & SK_SEARCHARRAY) == 0)
			r = constant_interval(sk, q, keys[q->keyno].sk_argument, &one, &near);
		if (r == CONST_NONE)
			return false;
		if (r == CONST_FILTER && !q->is_test)
			all_values(sk, &one);
		intersect(sk, col, &iv, &one);
	}
	for (int i = 0; i < sk->nfilters; i++)
		if (sk->filters[i].qual->col == col && sk->filters[i].by_bytes)
			sk->leap_list = &sk->filters[i];
	sk->leap_col = col;
	sk->leap_lolen = iv.lolen;
	sk->leap_hilen = iv.hilen;
	return cmp_bytes(sk, col, iv.lo, iv.lolen, iv.hi, iv.hilen) < 0;
}

/* The element of the leap column's list that is nearest to these bytes in that direction; NULL: there is none. *equal: it is the same. */
static const SfxBytes *
next_listed(const SfxScanKeys *sk, const SfxBytes *b, ScanDirection dir, bool *equal)
{
	const SfxFilter *f = sk->leap_list;
	ElemOrder	eo = {sk, sk->leap_col};
	int			lo = 0,
				hi = f->n;

	*equal = false;
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			c = cmp_elem(&eo, b, &f->set[mid]);

		if (c == 0)
		{
			*equal = true;
			return &f->set[mid];
		}
		if (c > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!ScanDirectionIsForward(dir))
		lo--;
	return lo >= 0 && lo < f->n ? &f->set[lo] : NULL;
}

/* Where to go from a value outside of what is asked for, as bytes behind the columns before: *b changed.  False: it is asked for. */
static bool
leap_target(const SfxScanKeys *sk, const SfxBytes *b, ScanDirection dir, SfxBytes *to, bool *away)
{
	bool		below = cmp_bytes(sk, sk->leap_col, b->p, b->len, sk->leap_lo, sk->leap_lolen) < 0;
	bool		above = !below && cmp_bytes(sk, sk->leap_col, b->p, b->len, sk->leap_hi, sk->leap_hilen) >= 0;

	/* away: there is nothing more behind the same columns */
	*away = ScanDirectionIsForward(dir) ? above : below;
	if (below || above)
	{
		*to = below ? (SfxBytes) {sk->leap_lo, sk->leap_lolen} : (SfxBytes) {sk->leap_hi, sk->leap_hilen};
		return true;
	}
	if (sk->leap_list)
	{
		bool		equal;
		const SfxBytes *e = next_listed(sk, b, dir, &equal);

		if (equal)
			return false;
		*away = e == NULL;
		if (e)
			*to = *e;
		return true;
	}
	return false;
}

bool
sfx_scankeys_leap(SfxScanKeys *sk, const uint8 *key, int len, ScanDirection dir, SfxPos *pos)
{
	bool		forward = ScanDirectionIsForward(dir);
	int			at = 0;
	SfxBytes	value;
	SfxBytes	to = {NULL, 0};
	bool		away;
	bool		listed;

	if (sk->leap_col < 0)
		return false;
	for (int i = 0; i < sk->leap_col; i++)
		at += sfx_column_length(&sk->kd->col[i], sk->index, key + at, len - at);
	value.p = key + at;
	value.len = sfx_column_length(&sk->kd->col[sk->leap_col], sk->index, key + at, len - at);
	if (!leap_target(sk, &value, dir, &to, &away))
		return false;
	memcpy(sk->leap_to, key, at);
	pos->key = sk->leap_to;
	pos->tid = 0;
	if (away)
	{
		pos->len = forward ? end_above(sk, sk->leap_to, at) : end_below(sk, sk->leap_to, at);
		return pos->len > 0;
	}
	pos->len = append_cut(sk, sk->leap_to, at, to.p, to.len);
	/* an element of the list has no end mark yet: the interval's ends have */
	listed = to.p != sk->leap_lo && to.p != sk->leap_hi;
	if (listed)
		pos->len = forward ? end_below(sk, sk->leap_to, pos->len) : end_above(sk, sk->leap_to, pos->len);
	return true;
}
