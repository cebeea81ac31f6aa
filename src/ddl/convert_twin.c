/*-------------------------------------------------------------------------
 * convert_twin.c - what stands beside an index under the names that a conversion uses (Q6)
 *
 * A name does not make a twin.  A user with rights on the table may give the name to something
 * else, and core may give a twin work of its own: CREATE INDEX on the partitioned table takes it as
 * a partition's.  Exchanged or dropped then, it would leave references to it in the catalogs.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "convert.h"

#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "nodes/nodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

Relation
sfx_open_twin(Relation index, LOCKMODE lock)
{
	char		name[NAMEDATALEN];
	Oid			oid;
	Relation	twin;

	sfx_twin_name(name, RelationGetRelid(index));
	oid = get_relname_relid(name, RelationGetNamespace(index));
	twin = OidIsValid(oid) ? try_relation_open(oid, lock) : NULL;
	if (twin == NULL ||
		(twin->rd_index && twin->rd_index->indrelid == index->rd_index->indrelid))
		return twin;
	relation_close(twin, lock);
	return NULL;
}

const char *
sfx_work_of(Relation index)
{
	Oid			relid = RelationGetRelid(index);

	if (index->rd_rel->relkind != RELKIND_INDEX)
		return "is a partitioned table's";
	if (index->rd_rel->relispartition)
		return "has become part of a partitioned table's index";
	if (OidIsValid(get_index_constraint(relid)))
		return "has become a constraint's";
	if (get_index_ref_constraints(relid) != NIL)
		return "is what a foreign key refers to";
	if (index->rd_index->indisreplident)
		return "has become the replica identity";
	if (index->rd_index->indisclustered)
		return "is what the table is clustered on";
	return NULL;
}

/* ---- is it a twin? ---- */

static bool
same_columns(Relation index, Relation twin)
{
	Form_pg_index a = index->rd_index;
	Form_pg_index b = twin->rd_index;

	if (a->indnatts != b->indnatts || a->indnkeyatts != b->indnkeyatts)
		return false;
	for (int i = 0; i < a->indnatts; i++)
	{
		if (a->indkey.values[i] != b->indkey.values[i])
			return false;
	}
	for (int i = 0; i < a->indnkeyatts; i++)
	{
		if (index->rd_indcollation[i] != twin->rd_indcollation[i] ||
			index->rd_indoption[i] != twin->rd_indoption[i] ||
			sfx_key_class_in(index, i, twin->rd_rel->relam) != sfx_key_class(twin, i))
			return false;
	}
	return true;
}

bool
sfx_is_twin(Relation index, Relation twin, Oid am)
{
	Form_pg_index a = index->rd_index;
	Form_pg_index b = twin->rd_index;

	return twin->rd_rel->relam == am && a->indisunique == b->indisunique &&
		a->indnullsnotdistinct == b->indnullsnotdistinct && !b->indisexclusion &&
		same_columns(index, twin) &&
		equal(RelationGetIndexExpressions(index), RelationGetIndexExpressions(twin)) &&
		equal(RelationGetIndexPredicate(index), RelationGetIndexPredicate(twin));
}

/* ---- do names or the twin's work keep the index from its conversion? ---- */

const char *
sfx_beside_stays(Relation index)
{
	char		name[NAMEDATALEN];
	Relation	twin = sfx_open_twin(index, AccessShareLock);
	const char *work = NULL;

	sfx_twin_name(name, RelationGetRelid(index));
	if (twin)
	{
		work = sfx_work_of(twin);
		relation_close(twin, AccessShareLock);
		if (work)
			return psprintf("index \"%s\" beside it %s: drop one of the two, or rename that",
							name, work);
	}
	else if (OidIsValid(get_relname_relid(name, RelationGetNamespace(index))))
		return psprintf("something else is called \"%s\": rename that", name);
	sfx_replaced_name(name, RelationGetRelid(index));
	if (OidIsValid(get_relname_relid(name, RelationGetNamespace(index))))
		return psprintf("something else is called \"%s\": rename that", name);
	return NULL;
}
