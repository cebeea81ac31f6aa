/*-------------------------------------------------------------------------
 * convert_stays.c - which indexes surfidx_convert() leaves as they are, and why
 *
 * The question is asked when steps are planned, and again, with the tables locked, before the
 * exchange.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "convert.h"
#include "in_place.h"
#include "index_open.h"
#include "settings.h"

#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_subscription_rel.h"
#include "commands/defrem.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

bool
sfx_is_convertible(Oid from, Oid to)
{
	Oid			ours = get_index_am_oid(SFX_METHOD, false);

	return (from == ours && to == BTREE_AM_OID) || (from == BTREE_AM_OID && to == ours);
}

static const char *
table_stays(Oid table)
{
	const char *why = sfx_relation_stays(table);

	if (why == NULL && sfx_is_distributed(table))
		why = "Citus keeps the table's rows and their indexes in shards";
	if (why == NULL && OidIsValid(getExtensionOfObject(RelationRelationId, table)))
		why = "the table belongs to an extension, which would make it again as it was";
	return why;
}

/* ---- what core grants to unique btrees alone, before 18 ---- */

static bool
is_subscribed(Oid table)
{
	return sfx_rows_with(SubscriptionRelRelationId, InvalidOid,
						 Anum_pg_subscription_rel_srrelid, table) != NIL;
}

static const char *
unique_stays(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	if (!SFX_UNIQUE_MEANS_BTREE)
		return NULL;
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		return "before version 18 a partitioned table's unique index has to be a btree";
	if (get_rel_relispartition(table))
		return "before version 18 ON CONFLICT of rows that are routed to a partition needs a btree";
	if (get_rel_relkind(table) == RELKIND_MATVIEW)
		return "before version 18 REFRESH CONCURRENTLY needs a btree";
	if (SFX_APPLY_MEANS_BTREE && (index->rd_index->indisprimary || index->rd_index->indisreplident) &&
		is_subscribed(table))
		return "version 17 applies what a subscription brings by a btree";
	return NULL;
}

/* ---- an index ---- */

/* Do the classes store different key types? */
static bool
has_other_key_type(Oid opclass, Oid other)
{
	FormData_pg_opclass a,
				b;

	return !sfx_row_get(CLAOID, opclass, &a, sizeof(a)) ||
		!sfx_row_get(CLAOID, other, &b, sizeof(b)) || a.opckeytype != b.opckeytype;
}

static const char *
columns_stay(Relation index, Oid am)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		Oid			its = sfx_key_class(index, i);
		Oid			other = sfx_key_class_in(index, i, am);

		if (!OidIsValid(other))
			return psprintf("%s has no operator class with the same order for a column",
							am == BTREE_AM_OID ? "btree" : SFX_METHOD);
		if (get_attoptions(RelationGetRelid(index), i + 1) != (Datum) 0)
			return "a column's operator class has parameters";
		if (index->rd_index->indisunique && am != BTREE_AM_OID &&
			its != GetDefaultOpClass(sfx_key_type(index, i), index->rd_rel->relam))
			return "it is unique and names an operator class";
		if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX && has_other_key_type(its, other))
			return "it is a partitioned table's, and a column is stored as another type";
	}
	return NULL;
}

static const char *
one_stays(Relation index, Oid am)
{
	const char *why = table_stays(index->rd_index->indrelid);

	if (why != NULL)
		return why;
	if (index->rd_index->indisexclusion)
		return "it belongs to an exclusion constraint, which names its method";
	if (!index->rd_index->indisvalid || !index->rd_index->indisready)
		return "it is not valid";
	why = columns_stay(index, am);
	if (why == NULL && index->rd_index->indisunique && am != BTREE_AM_OID)
		why = unique_stays(index);
	if (why == NULL && index->rd_rel->relkind == RELKIND_INDEX)
		why = sfx_beside_stays(index);
	return why;
}

bool
sfx_owns_index(Relation index)
{
	if (!SfxOwnsRelation(RelationGetRelid(index)))
		return false;
	if (index->rd_rel->relkind != RELKIND_PARTITIONED_INDEX)
		return true;
	foreach_oid(oid, find_all_inheritors(RelationGetRelid(index), NoLock, NULL))
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(oid)) &&
			!SfxOwnsRelation(oid))
			return false;
	}
	return true;
}

bool
sfx_may_create_beside(Relation index)
{
	foreach_oid(oid, find_all_inheritors(RelationGetRelid(index), NoLock, NULL))
	{
		Oid			schema = get_rel_namespace(oid);

		if (OidIsValid(schema) && !SfxMayCreateIn(schema))
			return false;
	}
	return true;
}

const char *
sfx_index_stays(Relation index, Oid am)
{
	const char *why = one_stays(index, am);

	if (why != NULL || index->rd_rel->relkind != RELKIND_PARTITIONED_INDEX)
		return why;
	foreach_oid(oid, find_all_inheritors(RelationGetRelid(index), NoLock, NULL))
	{
		Relation	below = try_relation_open(oid, AccessShareLock);

		if (below == NULL)
			return "an index below it is gone";
		why = one_stays(below, am);
		if (why != NULL)
			why = psprintf("of \"%s\" below it: %s", RelationGetRelationName(below), why);
		relation_close(below, AccessShareLock);
		if (why != NULL)
			return why;
	}
	return NULL;
}
