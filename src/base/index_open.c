/*-------------------------------------------------------------------------
 * index_open.c - opening the index that an SQL function was given
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "index_open.h"
#include "settings.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

bool
sfx_is_distributed(Oid table)
{
	Oid			list = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	AttrNumber	attno = OidIsValid(list) ? get_attnum(list, "logicalrelid") : InvalidAttrNumber;

	if (attno == InvalidAttrNumber || get_rel_relkind(list) != RELKIND_RELATION ||
		get_atttype(list, attno) != REGCLASSOID)
		return false;
	return sfx_rows_with(list, InvalidOid, attno, table) != NIL;
}

/* ERROR for an index of a table of Citus: what it has on this server is not what the table has. */
static void
refuse_distributed(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	if (sfx_is_distributed(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has nothing here: Citus keeps the rows of table \"%s\" in shards",
						RelationGetRelationName(index), get_rel_name(table)),
				 errhint("Ask the shards' indexes, by run_command_on_shards().")));
}

/* Open the index.  Raises the errors that sfx_open_index promises, but for contents. */
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
	refuse_distributed(index);
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

	/* if relid is no index, opening it raises the error */
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
