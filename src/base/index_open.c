/*-------------------------------------------------------------------------
 * index_open.c - opening the index that an SQL function was given
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "index_open.h"
#include "settings.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"

static Relation
open_ready(Oid relid, LOCKMODE lockmode)
{
	Relation	index = relation_open(relid, lockmode);

	if (index->rd_rel->relkind != RELKIND_INDEX || !sfx_is_ours(index->rd_indam))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a surfidx index", RelationGetRelationName(index)),
				 errhint("Give the name of an index made with CREATE INDEX ... USING surfidx; "
						 "for a partitioned index, that of a partition's index.")));
	if (!index->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready: CREATE INDEX CONCURRENTLY has not finished "
						"building it, or has failed", RelationGetRelationName(index)),
				 errhint("Wait for it; or drop the index, or REINDEX it.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary index \"%s\" of another session",
						RelationGetRelationName(index))));
	sfx_require_preload(index);
	return index;
}

bool
sfx_is_absent(Relation index)
{
	return RecoveryInProgress() &&
		index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED;
}

void
sfx_require_contents(Relation index)
{
	if (sfx_is_absent(index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is unlogged: a standby has nothing of it",
						RelationGetRelationName(index)),
				 errhint("Ask the primary.")));
}

Relation
sfx_open_index(Oid relid, LOCKMODE lockmode)
{
	Relation	index = open_ready(relid, lockmode);

	sfx_require_contents(index);
	return index;
}

Relation
sfx_open_with_table(Oid relid, Relation *heap)
{
	Oid			heapid = IndexGetRelation(relid, true);
	Relation	index;

	/* no index at all: the opening of it will say so */
	*heap = OidIsValid(heapid) ? table_open(heapid, AccessShareLock) : NULL;
	index = open_ready(relid, AccessShareLock);
	if (*heap == NULL || heapid != IndexGetRelation(relid, true))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"",
						RelationGetRelationName(index)),
				 errhint("The index was dropped or replaced at this moment.")));
	return index;
}
