/*-------------------------------------------------------------------------
 * merge_now.c - surfidx_merge(): move all of the delta into the main tree, now
 *
 * Waits for other merges of the index, since it takes the merge lock for each group.  Returns the
 * number of entries that were moved, those of runs included.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "find.h"
#include "index_open.h"
#include "leaf_keys.h"
#include "merge.h"
#include "order.h"
#include "shrink.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(surfidx_merge);

static bool
go_on(Relation index, SfxProgress *p)
{
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* Rewrite leaves as the storage parameters ask, and give the free pages at the file's end back. */
static void
tidy_up(Relation index)
{
	static const SfxLeafManner how = {go_on, true};
	SfxKeyDesc	kd;
	const SfxOrder *order;

	/*
	 * The workers of a parallel query share this backend's locks, so these locks would not keep us
	 * from cutting off the pages that the workers read.
	 */
	if (IsInParallelMode())
		return;
	order = sfx_order_open(index, &kd, true);
	(void) sfx_change_leaf_keys(index, order, &how);
	sfx_shrink_file(index, order, NULL, 1);
	sfx_order_end(order);
}

Datum
surfidx_merge(PG_FUNCTION_ARGS)
{
	Relation	index;
	uint64		merged;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is in progress"),
				 errhint("A standby receives its merges from the primary: run surfidx_merge() there.")));
	index = sfx_open_index(PG_GETARG_OID(0), RowExclusiveLock);
	if (!SfxMayMaintain(RelationGetRelid(index)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	merged = sfx_merge_all(index);
	tidy_up(index);
	relation_close(index, RowExclusiveLock);
	PG_RETURN_INT64((int64) merged);
}
