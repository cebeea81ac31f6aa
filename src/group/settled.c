/*-------------------------------------------------------------------------
 * settled.c - does NOT NULL hold for all rows that a snapshot sees?
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "compat.h"
#include "settled.h"

#include "access/htup_details.h"
#include "access/xact.h"
#if PG_VERSION_NUM >= 180000
#include "catalog/pg_constraint.h"
#endif
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
	bool		result;

	if (!SfxColumnIsNotNull(table, column))
		return false;
	row = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(table)), Int16GetDatum(column));
	if (!HeapTupleIsValid(row))
		return false;
	result = sees(snapshot, row, table);
	ReleaseSysCache(row);
#if PG_VERSION_NUM >= 180000
	/* VALIDATE CONSTRAINT changes the row of the constraint alone */
	row = findNotNullConstraintAttnum(RelationGetRelid(table), column);
	result = result && HeapTupleIsValid(row) && sees(snapshot, row, table);
#endif
	return result;
}
