/*-------------------------------------------------------------------------
 * index_open.c - opening the index that an SQL function was given
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "index_open.h"
#include "settings.h"

#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"

Relation
sfx_open_index(Oid relid, LOCKMODE lockmode)
{
	Relation	index = relation_open(relid, lockmode);

	if (index->rd_rel->relkind != RELKIND_INDEX || !sfx_is_ours(index->rd_indam))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a surfidx index", RelationGetRelationName(index)),
				 errhint("Give the name of an index made with CREATE INDEX ... USING surfidx; for a partitioned index, that of a partition's index.")));
	if (!index->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready: CREATE INDEX CONCURRENTLY has not finished building it, or has failed",
						RelationGetRelationName(index)),
				 errhint("Wait for it; or drop the index, or REINDEX it.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary index \"%s\" of another session", RelationGetRelationName(index))));
	sfx_require_preload(index);
	return index;
}
