/*-------------------------------------------------------------------------
 * scankey_row.c - the end of a range that a row comparison implies
 *
 * (a, b) > (1, 2) is true only of entries above the position "a is 1, b is 2", if b is the index's
 * next column after a and both ascend, or both descend.  So that position is an end of the range.
 * scankey_pieces.c computes where in the range the comparison is true; if bytes cannot tell, the
 * comparison as a whole becomes a filter.
 *
 * A position takes in members as long as each is the next column and has the direction of the first
 * one.  It ends
 *
 * - after the last member, with the comparison's own strictness;
 * - before a member that is not the next column, or whose constant has no byte form: entries
 *   equal up to there are left to the filter;
 * - before a NULL, or a constant that no value of the column passes: no entry equal up to there
 *   matches;
 * - with a member whose constant lies between values of the column (2.5 for an integer), or near
 *   one: no value is equal to it, so later members decide nothing.
 *
 * If the first column also has an equality or a list, that pins it, and this file is not used.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "key.h"
#include "order.h"
#include "rowcompare.h"
#include "scankey.h"
#include "scankey_impl.h"

typedef struct RowEnd
{
	uint8	   *bytes;			/* SFX_MAX_ENTRY + 1 of them */
	int			len;
	bool		strict;			/* entries equal up to here are outside */
} RowEnd;

static inline bool
is_strict(StrategyNumber strategy)
{
	return strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber;
}

static inline bool
is_upward(StrategyNumber strategy)
{
	return strategy >= BTGreaterEqualStrategyNumber;
}

/* Append the bytes of a value.  False: there is no room, and the end is unchanged. */
static inline bool
append_value(const SfxScanKeys *sk, int col, Datum value, RowEnd *end)
{
	return sfx_bound_encode(sk->kd, sk->index, col, value, end->bytes, &end->len, SFX_MAX_ENTRY);
}

static inline int
cmp_ends(const SfxScanKeys *sk, int col, const RowEnd *a, const uint8 *b, int blen)
{
	return sfx_order_cmp_columns(sk->order, col, a->bytes, a->len, b, blen);
}

/* Take in one more member.  False: it is the last one that the position takes. */
static bool
add_member(SfxScanKeys *sk, const ScanKeyData *m, RowEnd *end)
{
	const SfxColumn *col = &sk->kd->col[m->sk_attno - 1];
	SfxQual		q = {
		.col = m->sk_attno - 1,.strategy = BTEqualStrategyNumber,.subtype = m->sk_subtype,
		.own_type = m->sk_subtype == col->type
	};
	SfxConverted c;

	if (m->sk_flags & SK_ISNULL)
	{
		end->strict = true;
		return false;
	}
	if (sfx_convert_constant(col, &q, m->sk_argument, &c) == CONST_INTERVAL && !c.near)
		return append_value(sk, q.col, c.value, end);

	/* no value is equal to the constant: which values are beyond it? */
	q.strategy = is_upward(m->sk_strategy) ? BTGreaterStrategyNumber : BTLessStrategyNumber;
	switch (sfx_convert_constant(col, &q, m->sk_argument, &c))
	{
		case CONST_NONE:
			end->strict = true;
			break;
		case CONST_INTERVAL:
			if (!c.all && append_value(sk, q.col, c.value, end))
				end->strict = is_strict(c.strategy);
			break;
		case CONST_FILTER:
			break;
	}
	return false;
}

bool
sfx_row_narrow(SfxScanKeys *sk, const ScanKeyData *header)
{
	RowEnd		end = {sk->lo, 0, false};	/* free until sfx_scankeys_bounds */
	const ScanKeyData *m = sfx_first_key(header);
	int			col = m->sk_attno - 1;
	bool		desc = sk->kd->col[col].desc;
	bool		lower;

	for (int i = col; m->sk_attno == i + 1 && sk->kd->col[i].desc == desc; i++, m++)
	{
		if (!add_member(sk, m, &end))
			break;
		if (m->sk_flags & SK_ROW_END)
		{
			end.strict = is_strict(header->sk_strategy);
			break;
		}
	}
	if (end.len == 0)
		return true;
	lower = is_upward(header->sk_strategy) != desc;
	if (end.strict == lower)
		end.len = end_above(sk, end.bytes, end.len);
	else
		end.len = end_below(sk, end.bytes, end.len);
	if (lower && cmp_ends(sk, col, &end, sk->tail_lo, sk->tail_lo_len) > 0)
		set_bytes(sk->tail_lo, &sk->tail_lo_len, end.bytes, end.len);
	if (!lower && cmp_ends(sk, col, &end, sk->tail_hi, sk->tail_hi_len) < 0)
		set_bytes(sk->tail_hi, &sk->tail_hi_len, end.bytes, end.len);
	return sfx_order_cmp_columns(sk->order, col, sk->tail_lo, sk->tail_lo_len,
								 sk->tail_hi, sk->tail_hi_len) < 0;
}
