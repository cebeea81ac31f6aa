/*-------------------------------------------------------------------------
 * rowcompare.c - row comparisons, (a, b) > (1, 2), as conditions of a scan
 *
 * scankey_pieces.c computes where they are true; the functions here evaluate them for an entry.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "rowcompare.h"

#include "access/stratnum.h"

int
sfx_row_upto(const ScanKeyData *header)
{
	const ScanKeyData *m = sfx_first_key(header);
	int			upto = m->sk_attno;

	while (!(m->sk_flags & SK_ROW_END))
	{
		m++;
		upto = Max(upto, m->sk_attno);
	}
	return upto;
}

/*
 * The first column that differs decides.  The result is false if a column up to that one is NULL.
 */
bool
sfx_row_passes(const ScanKeyData *header, const Datum *values, const bool *isnull)
{
	int			c = 0;

	for (const ScanKeyData *m = sfx_first_key(header); c == 0; m++)
	{
		int			i = m->sk_attno - 1;

		if (isnull[i] || (m->sk_flags & SK_ISNULL))
			return false;
		c = DatumGetInt32(FunctionCall2Coll((FmgrInfo *) &m->sk_func, m->sk_collation,
											values[i], m->sk_argument));
		if (m->sk_flags & SK_ROW_END)
			break;
	}
	switch (header->sk_strategy)
	{
		case BTLessStrategyNumber:
			return c < 0;
		case BTLessEqualStrategyNumber:
			return c <= 0;
		case BTGreaterEqualStrategyNumber:
			return c >= 0;
		default:
			return c > 0;
	}
}
