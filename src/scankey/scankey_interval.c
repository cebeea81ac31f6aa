/*-------------------------------------------------------------------------
 * scankey_interval.c - the conditions on one column as intervals and lists of its bytes
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "encode.h"
#include "key.h"
#include "rowcompare.h"
#include "scankey.h"
#include "scankey_impl.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

void
sfx_scanfilter_add(SfxScanKeys *sk, SfxQual *q)
{
	SfxScanFilter *f = &sk->filters[sk->nfilters++];

	memset(f, 0, sizeof(*f));
	f->qual = q;
}

void
sfx_scanfilter_once(SfxScanKeys *sk, SfxQual *q)
{
	for (int i = 0; i < sk->nfilters; i++)
		if (sk->filters[i].qual == q)
			return;
	sfx_scanfilter_add(sk, q);
}

void
sfx_interval_all(const SfxScanKeys *sk, ByteRange *iv)
{
	iv->lo[0] = SFX_MARK_VALUE;
	iv->hi[0] = SFX_MARK_VALUE + 1;
	iv->lolen = 1;

	/*
	 * NULL markers are bytes of the same kind; where bytes break ties among equal keys, the bound
	 * must not be equal to one
	 */
	iv->hilen = end_below(sk, iv->hi, 1);
}

void
sfx_interval_null_test(const SfxScanKeys *sk, const SfxQual *q, ByteRange *iv)
{
	if (q->flags & SK_SEARCHNOTNULL)
	{
		sfx_interval_all(sk, iv);
		return;
	}
	iv->lo[0] = iv->hi[0] = sk->kd->col[q->col].nulls_first ? SFX_MARK_NULL_FIRST : SFX_MARK_NULL_LAST;
	iv->lolen = end_below(sk, iv->lo, 1);
	iv->hilen = end_above(sk, iv->hi, 1);
}

/*
 * The result for = and a value longer than any key.  In byte order no stored value equals it.  In
 * comparator order one may: values of other lengths (text in some collations), or a compressed one.
 */
static ConstResult
equal_to_too_large(const SfxScanKeys *sk)
{
	return sk->kd->comparator ? CONST_FILTER : CONST_NONE;
}

/*
 * The interval of column bytes that "column <strategy> value" describes; value is of the column's
 * type.
 */
static ConstResult
own_interval(SfxScanKeys *sk, const SfxColumn *col, StrategyNumber strategy, Datum value, ByteRange *iv)
{
	uint8	   *b = sk->scratch;
	int			len = 0;

	sfx_interval_all(sk, iv);
	if (!sfx_bound_encode(sk->kd, sk->index, col - sk->kd->col, value, b, &len, SFX_MAX_ENTRY))
		return strategy == BTEqualStrategyNumber ? equal_to_too_large(sk) : CONST_FILTER;
	if (col->desc)
		strategy = BTMaxStrategyNumber + 1 - strategy;

	/* =, >=, > */
	if (strategy >= BTEqualStrategyNumber)
	{
		memcpy(iv->lo, b, len);
		iv->lolen = strategy == BTGreaterStrategyNumber ? end_above(sk, iv->lo, len) :
			end_below(sk, iv->lo, len);
	}
	/* <, <=, = */
	if (strategy <= BTEqualStrategyNumber)
	{
		memcpy(iv->hi, b, len);
		iv->hilen = strategy == BTLessStrategyNumber ? end_below(sk, iv->hi, len) :
			end_above(sk, iv->hi, len);
	}
	return CONST_INTERVAL;
}

ConstResult
sfx_interval_constant(SfxScanKeys *sk, const SfxQual *q, Datum value, ByteRange *iv, bool *near)
{
	const SfxColumn *col = &sk->kd->col[q->col];
	SfxConverted c;
	ConstResult r = sfx_convert_constant(col, q, value, &c);

	*near = c.near;
	if (r != CONST_INTERVAL)
		return r;
	if (c.all)
	{
		sfx_interval_all(sk, iv);
		return CONST_INTERVAL;
	}
	if (c.near && q->strategy == BTEqualStrategyNumber)
	{
		ByteRange	upper = {palloc(SFX_MAX_ENTRY + 1), palloc(SFX_MAX_ENTRY + 1), 0, 0};

		if ((r = own_interval(sk, col, BTGreaterEqualStrategyNumber, c.value, iv)) == CONST_INTERVAL &&
			(r = own_interval(sk, col, BTLessEqualStrategyNumber, c.above, &upper)) == CONST_INTERVAL)
			sfx_interval_intersect(sk, q->col, iv, &upper);
		return r;
	}
	return own_interval(sk, col, c.strategy, c.value, iv);
}

void
sfx_interval_intersect(const SfxScanKeys *sk, int col, ByteRange *a, const ByteRange *b)
{
	bool		first = a->hilen == 0;

	if (first || cmp_bytes(sk, col, b->lo, b->lolen, a->lo, a->lolen) > 0)
		set_bytes(a->lo, &a->lolen, b->lo, b->lolen);
	if (first || cmp_bytes(sk, col, b->hi, b->hilen, a->hi, a->hilen) < 0)
		set_bytes(a->hi, &a->hilen, b->hi, b->hilen);
}

/* ------------------------------------------------------------------ arrays */

int
sfx_array_open(SfxQual *q, const ScanKeyData *key, Datum **elems, bool **isnull)
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

int
sfx_array_find(const ElemOrder *eo, const SfxBytes *set, int n, const SfxBytes *b, bool *found)
{
	int			lo = 0,
				hi = n;

	*found = false;
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			c = cmp_elem(eo, &set[mid], b);

		if (c == 0)
		{
			*found = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int
sfx_array_equal_set(SfxScanKeys *sk, SfxQual *q, const ScanKeyData *key, SfxBytes **set)
{
	const SfxColumn *col = &sk->kd->col[q->col];
	ElemOrder	eo = {sk, q->col};
	Datum	   *elems;
	bool	   *isnull;
	int			n = sfx_array_open(q, key, &elems, &isnull);
	int			out = 0;

	*set = palloc(Max(n, 1) * sizeof(SfxBytes));
	for (int i = 0; i < n; i++)
	{
		SfxConverted c;
		ConstResult r;
		int			len = 0;
		uint8	   *copy;

		CHECK_FOR_INTERRUPTS();
		if (isnull[i])
			continue;
		r = sfx_convert_constant(col, q, elems[i], &c);
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

/* Reduce a to the elements that b has as well; returns their number. */
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

/*
 * The interval of an array with an operator other than = (a < ANY): the union of its elements'
 * intervals, which is that of the extreme element.
 */
static ConstResult
unequal_array_interval(SfxScanKeys *sk, SfxQual *q, const ScanKeyData *key, ByteRange *iv, bool *near)
{
	Datum	   *elems;
	bool	   *isnull;
	int			n = sfx_array_open(q, key, &elems, &isnull);
	ByteRange	one = {palloc(SFX_MAX_ENTRY + 1), palloc(SFX_MAX_ENTRY + 1), 0, 0};
	ConstResult result = CONST_NONE;

	*near = false;
	for (int i = 0; i < n; i++)
	{
		ConstResult r;
		bool		one_near;

		CHECK_FOR_INTERRUPTS();
		if (isnull[i] || (r = sfx_interval_constant(sk, q, elems[i], &one, &one_near)) == CONST_NONE)
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

/* ----------------------------------------------------------------- the conditions on one column */

/* Does the condition allow one value only, if any? */
static inline bool
pins(const SfxQual *q)
{
	if (q->is_test)
		return (q->flags & SK_SEARCHNULL) != 0;
	return q->strategy == BTEqualStrategyNumber && !(q->flags & SK_SEARCHARRAY);
}

/*
 * Intersect *iv with the intervals of all conditions except = ANY lists.  *pinned: one value is
 * left.  False: no value matches.
 */
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
			sfx_interval_null_test(sk, q, &one);
		else if (q->flags & SK_SEARCHARRAY)
			r = unequal_array_interval(sk, q, key, &one, &near);
		else
			r = sfx_interval_constant(sk, q, sfx_first_key(key)->sk_argument, &one, &near);

		if (r == CONST_NONE)
			return false;
		if (r == CONST_FILTER)
		{
			sfx_scanfilter_add(sk, q);
			continue;
		}
		if (near && !q->row)
			sfx_scanfilter_add(sk, q);
		else if (!q->row)
			*pinned |= pins(q);
		sfx_interval_intersect(sk, q->col, iv, &one);
	}
	return iv->hilen == 0 || cmp_bytes(sk, quals->col, iv->lo, iv->lolen, iv->hi, iv->hilen) < 0;
}

/*
 * Intersect all = ANY lists on the column into *set; returns the number of elements, -1 if there is
 * no list.
 */
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
		c = sfx_array_equal_set(sk, &quals[i], &keys[quals[i].keyno], &s);
		if (c < 0)
			sfx_scanfilter_add(sk, &quals[i]);
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

/* Reduce a list to elements in the interval, which become the column's part of the prefix. */
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

/* The length that lists may add to the prefix. */
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
		if (is_equal_array(&quals[i]))
			sfx_scanfilter_once(sk, &quals[i]);
}

/* Leave the row comparisons of a column to the filters. */
static void
filter_rows(SfxScanKeys *sk, SfxQual *quals, int n)
{
	for (int i = 0; i < n; i++)
		if (quals[i].row)
			sfx_scanfilter_once(sk, &quals[i]);
}

/* Narrow iv to the span from the first to the last element of a sorted set. */
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
	sfx_interval_intersect(sk, col, iv, &span);
}

ColumnResult
sfx_interval_column(SfxScanKeys *sk, ScanKey keys, SfxQual *quals, int n)
{
	const SfxColumn *col = &sk->kd->col[quals->col];
	ByteRange	iv = {sk->tail_lo, sk->tail_hi, 0, 0};
	SfxBytes   *set = NULL;
	bool		pinned;
	int			count;

	/* the usual case: one equality */
	if (n == 1 && pins(quals) && quals->own_type && !quals->is_test && !OidIsValid(col->composite))
	{
		if (sfx_column_encode(col, keys[quals->keyno].sk_argument, false,
							  sk->pinned, &sk->pinned_len, SFX_MAX_ENTRY - longest_lists(sk)))
			return COL_PINNED;
		if (!sk->kd->comparator && sk->nlists == 0)
			return COL_EMPTY;	/* the value does not fit after the prefix, so no key has it */
	}

	if (!intersect_quals(sk, keys, quals, n, &iv, &pinned))
		return COL_EMPTY;
	count = intersect_lists(sk, keys, quals, n, &set);
	if (count >= 0 && !pinned)
	{
		if (!sk->kd->comparator || sk->pinned_len + longest_lists(sk) + longest(set, count) <= SFX_MAX_ENTRY)
		{
			filter_rows(sk, quals, n);
			return use_list(sk, quals->col, set, count, &iv);
		}

		/*
		 * stored values may be compressed: use the span from least to greatest element, and check
		 * each entry
		 */
		filter_lists(sk, quals, n);
		span_list(sk, quals->col, set, count, &iv);
	}
	if (pinned)
	{
		/* the lower bound is the value itself: intervals of other conditions end between values */
		SfxBytes	self = {iv.lo, iv.lolen};
		ElemOrder	eo = {sk, quals->col};

		if (sk->kd->comparator && self.len > 1)
			self.len--;			/* without its end mark */
		if (count >= 0 && !sfx_array_has(&eo, set, count, &self))
			return COL_EMPTY;
		if (sk->pinned_len + longest_lists(sk) + self.len <= SFX_MAX_ENTRY || !sk->kd->comparator)
		{
			filter_rows(sk, quals, n);
			return use_list(sk, quals->col, &self, 1, &iv);
		}

		/* too long for the prefix, but equal values in keys may be shorter: they stay bounds */
	}
	if (iv.hilen == 0)
		return COL_OPEN;
	sk->tail_lo_len = iv.lolen;
	sk->tail_hi_len = iv.hilen;
	return COL_RANGE;
}
