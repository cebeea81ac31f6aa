/*-------------------------------------------------------------------------
 * settled.c - is what the catalog says of a column older than the snapshot in use?
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "settled.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

bool
sfx_column_is_settled(Oid table, AttrNumber column)
{
	HeapTuple	row;
	TransactionId changed;

	if (!ActiveSnapshotSet())
		return false;
	row = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table), Int16GetDatum(column));
	if (!HeapTupleIsValid(row))
		return false;
	changed = HeapTupleHeaderGetXmin(row->t_data);
	ReleaseSysCache(row);
	/* a snapshot of before this transaction declared it sees rows of before */
	if (TransactionIdIsCurrentTransactionId(changed))
		return !IsolationUsesXactSnapshot();
	return !XidInMVCCSnapshot(changed, GetActiveSnapshot());
}
