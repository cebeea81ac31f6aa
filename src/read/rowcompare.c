/*-------------------------------------------------------------------------
 * rowcompare.c - row comparisons, (a, b) > (1, 2), as conditions of a scan
 *
 * From (a, b) > (1, 2) follows a >= 1, which bounds a scan as any condition does; the comparison as a whole is asked of each entry.  So
 * only the entries with a = 1 may be looked at in vain.
 *
 * Core hands us row comparisons from 18 on, if the planner takes us for btree (planner.c).
 */
#include "rowcompare.h"

#include "access/nbtree.h"
#include "access/stratnum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* The first column's part of a comparison: an operator that may be true where the others decide. */
static void
first_column(Relation index, ScanKey key)
{
	ScanKey		first = (ScanKey) DatumGetPointer(key->sk_argument);
	int			i = first->sk_attno - 1;
	Oid			own = index->rd_opcintype[i];
	Oid			other = OidIsValid(first->sk_subtype) ? first->sk_subtype : own;
	StrategyNumber strategy = key->sk_strategy <= BTLessEqualStrategyNumber ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber;
	Oid			op = get_opfamily_member(index->rd_opfamily[i], own, other, strategy);

	if (!OidIsValid(op))
		elog(ERROR, "operator %d(%u,%u) is missing in the operator family of column %d of index \"%s\"",
			 strategy, own, other, i + 1, RelationGetRelationName(index));
	ScanKeyEntryInitialize(key, first->sk_flags & SK_ISNULL, i + 1, strategy, first->sk_subtype, first->sk_collation,
						   get_opcode(op), first->sk_argument);
}

int
sfx_rowcompare_split(Relation index, ScanKey keys, int nkeys, SfxRowCompare **rows, int *upto)
{
	int			n = 0;

	*rows = NULL;
	for (int i = 0; i < nkeys; i++)
	{
		SfxRowCompare *row;

		if (!(keys[i].sk_flags & SK_ROW_HEADER))
			continue;
		if (n == 0)
			*rows = palloc(nkeys * sizeof(SfxRowCompare));
		row = &(*rows)[n++];
		row->member = (ScanKey) DatumGetPointer(keys[i].sk_argument);
		row->strategy = keys[i].sk_strategy;
		for (ScanKey m = row->member;; m++)
		{
			*upto = Max(*upto, m->sk_attno);
			if (m->sk_flags & SK_ROW_END)
				break;
		}
		first_column(index, &keys[i]);
	}
	return n;
}

/* As the row's columns say up to the first that differs; NULL in one that is asked is not true. */
static bool
check_row(const SfxRowCompare *row, const Datum *values, const bool *isnull)
{
	int			c = 0;

	for (ScanKey m = row->member; c == 0; m++)
	{
		int			i = m->sk_attno - 1;

		if (isnull[i] || (m->sk_flags & SK_ISNULL))
			return false;
		c = DatumGetInt32(FunctionCall2Coll(&m->sk_func, m->sk_collation, values[i], m->sk_argument));
		if (m->sk_flags & SK_ROW_END)
			break;
	}
	switch (row->strategy)
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

bool
sfx_rowcompare_check(const SfxRowCompare *rows, int n, const Datum *values, const bool *isnull)
{
	for (int i = 0; i < n; i++)
		if (!check_row(&rows[i], values, isnull))
			return false;
	return true;
}
