/*-------------------------------------------------------------------------
 * row_gather.c - putting together the row comparisons of plans that rowlift.c took apart
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "rowlift.h"

#include "access/nbtree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Make the member that a marked key stands for, except for its argument. */
static void
set_member(Relation index, const ScanKeyData *key, ScanKey member)
{
	int			col = key->sk_attno - 1;
	Oid			own = index->rd_opcintype[col];
	Oid			proc = get_opfamily_proc(index->rd_opfamily[col], own, key->sk_subtype,
										 BTORDER_PROC);

	if (!OidIsValid(proc))
		elog(ERROR, "support function %d(%u,%u) is missing for column %d of index \"%s\"",
			 BTORDER_PROC, own, key->sk_subtype, col + 1, RelationGetRelationName(index));
	ScanKeyEntryInitialize(member, SK_ROW_MEMBER, key->sk_attno, key->sk_strategy, key->sk_subtype,
						   key->sk_collation, proc, (Datum) 0);
}

int
sfx_row_gather(Relation index, ScanKey keys, int nkeys, ScanKey members, MemoryContext cxt)
{
	int			n = 0;
	ScanKey		first = NULL;

	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		ScanKey		member = &members[i];
		Oid			mark = key->sk_func.fn_oid;

		if (!sfx_is_row_member(mark))
		{
			Assert(first == NULL);
			keys[n++] = *key;
			continue;
		}
		/* a plan's keys are the same each time, except for their arguments */
		if (member->sk_attno != key->sk_attno || member->sk_subtype != key->sk_subtype ||
			member->sk_strategy != key->sk_strategy || member->sk_collation != key->sk_collation)
		{
			MemoryContext old = MemoryContextSwitchTo(cxt);

			set_member(index, key, member);
			MemoryContextSwitchTo(old);
		}
		member->sk_flags = SK_ROW_MEMBER | (key->sk_flags & SK_ISNULL) |
			(mark == SFX_ROW_ENDS ? SK_ROW_END : 0);
		member->sk_argument = key->sk_argument;
		if (first == NULL)
			first = member;
		Assert(first->sk_strategy == member->sk_strategy);
		if (mark != SFX_ROW_ENDS)
			continue;
		/* this cannot overwrite a key that is still to be looked at: n <= i */
		keys[n++] = (ScanKeyData)
		{
			.sk_flags = SK_ROW_HEADER,.sk_attno = first->sk_attno,.sk_strategy = first->sk_strategy,
				.sk_argument = PointerGetDatum(first)
		};
		first = NULL;
	}
	if (first != NULL)
		elog(ERROR, "a row comparison has no end in the conditions of index \"%s\"",
			 RelationGetRelationName(index));
	return n;
}
