/*-------------------------------------------------------------------------
 * settled.c - does NOT NULL hold for all rows that a snapshot sees?
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "settled.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_constraint.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Does the snapshot see the row of the catalog? */
static bool
sees(Snapshot snapshot, HeapTuple row, Relation table)
{
	TransactionId changed = HeapTupleHeaderGetXmin(row->t_data);

	if (!TransactionIdIsNormal(changed))
		return true;
	if (snapshot == NULL)
		return GlobalVisCheckRemovableXid(table, changed);
	/* a snapshot of before this transaction declared it sees rows of before */
	if (TransactionIdIsCurrentTransactionId(changed))
		return !IsolationUsesXactSnapshot() &&
			HeapTupleHeaderGetCmin(row->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(changed, snapshot);
}

bool
sfx_column_has_no_nulls(Relation table, AttrNumber column, Snapshot snapshot)
{
	HeapTuple	row;
	HeapTuple	valid;
	bool		result;

	if (!SfxColumnIsNotNull(table, column))
		return false;
	row = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(table)), Int16GetDatum(column));
	if (!HeapTupleIsValid(row))
		return false;
	valid = SfxNotNullRow(table, column, row);
	result = HeapTupleIsValid(valid) && sees(snapshot, row, table) && sees(snapshot, valid, table);
	ReleaseSysCache(row);
	return result;
}
