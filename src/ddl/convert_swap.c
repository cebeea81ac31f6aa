/*-------------------------------------------------------------------------
 * convert_swap.c - the exchange of an index and its twin, by the function of REINDEX CONCURRENTLY
 *
 * Core moves name, constraint, foreign keys, triggers, comment, marks, place among partitions and
 * dependencies from one to the other.  It takes both for the same except for their files: what
 * depends on the access method is put right here.
 *
 * The index of a partitioned table has no file, so it stays, and its rows in the catalogs change.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"
#include "convert.h"
#include "settings.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

typedef struct Pair
{
	Oid			index;
	Oid			twin;			/* InvalidOid: it is a partitioned table's */
} Pair;

pg_noreturn static void refuse(Oid index, const char *why);

static void
refuse(Oid index, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" cannot be exchanged", get_rel_name(index)),
			 errdetail("%s", why),
			 errhint("surfidx_convert() tells which steps are missing.")));
}

/* ---- the twin ---- */

static Oid
find_twin(Relation index, Oid am)
{
	char		name[NAMEDATALEN];
	Relation	twin = sfx_open_twin(index, ShareUpdateExclusiveLock);
	const char *why;

	sfx_twin_name(name, RelationGetRelid(index));
	if (twin == NULL)
		refuse(RelationGetRelid(index), psprintf("There is no index \"%s\" beside it.", name));
	/* the lock may have been waited for */
	if ((why = sfx_beside_stays(index)) != NULL)
		refuse(RelationGetRelid(index), psprintf("It has to stay as it is: %s.", why));
	if (!twin->rd_index->indisvalid || !twin->rd_index->indisready)
		refuse(RelationGetRelid(index), psprintf("Index \"%s\" is not valid.", name));
	if (!sfx_is_twin(index, twin, am))
		refuse(RelationGetRelid(index),
			   psprintf("Index \"%s\" is not the same in another access method.", name));
	relation_close(twin, NoLock);
	return RelationGetRelid(twin);
}

/* ---- what depends on the access method ---- */

/*
 * Record what classes an index depends on: ours can be dropped, with the extension; core's are
 * pinned.
 */
static void
depend_on_classes(Oid relid)
{
	Relation	index = relation_open(relid, NoLock);
	ObjectAddress its,
				opclass;

	ObjectAddressSet(its, RelationRelationId, relid);
	deleteDependencyRecordsForClass(RelationRelationId, relid, OperatorClassRelationId,
									DEPENDENCY_NORMAL);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		ObjectAddressSet(opclass, OperatorClassRelationId, sfx_key_class(index, i));
		recordDependencyOn(&its, &opclass, DEPENDENCY_NORMAL);
	}
	relation_close(index, NoLock);
}

/*
 * Copy statistics targets.  From 17 on core does so before its exchange, when it creates the copy.
 */
static void
copy_statistics_targets(Oid from, Oid to)
{
	Relation	catalog = table_open(AttributeRelationId, RowExclusiveLock);
	HeapTuple	old;

	for (AttrNumber n = 1; HeapTupleIsValid(old = SearchSysCache2(ATTNUM, ObjectIdGetDatum(from),
																  Int16GetDatum(n))); n++)
	{
		HeapTuple	new = SearchSysCache2(ATTNUM, ObjectIdGetDatum(to), Int16GetDatum(n));
		int			column = Anum_pg_attribute_attstattarget;
		Datum		target;
		bool		isnull;
		HeapTuple	changed;

		/* a twin has the same columns */
		if (!HeapTupleIsValid(new))
			elog(ERROR, "cache lookup failed for attribute %d of relation %u", n, to);
		target = SysCacheGetAttr(ATTNUM, old, column, &isnull);
		changed = heap_modify_tuple_by_cols(new, RelationGetDescr(catalog), 1, &column, &target, &isnull);
		CatalogTupleUpdate(catalog, &changed->t_self, changed);
		heap_freetuple(changed);
		ReleaseSysCache(old);
		ReleaseSysCache(new);
	}
	table_close(catalog, RowExclusiveLock);
}

/*
 * Core makes the old index check at once.  Until it is dropped every write continues to fill it,
 * and may insert what its constraint defers; the constraint's triggers check the new index by now.
 */
static void
stay_deferrable(Oid from, Oid to)
{
	FormData_pg_index row;

	sfx_row_must_get(INDEXRELID, from, &row, sizeof(row));
	sfx_row_set(IndexRelationId, INDEXRELID, to, Anum_pg_index_indimmediate, BoolGetDatum(row.indimmediate), false);
}

static void
swap_with_twin(const Pair *pair)
{
	char		name[NAMEDATALEN];

	sfx_replaced_name(name, pair->index);
	index_concurrently_swap(pair->twin, pair->index, name);
	CommandCounterIncrement();
	stay_deferrable(pair->twin, pair->index);
	depend_on_classes(pair->twin);
	depend_on_classes(pair->index);
	copy_statistics_targets(pair->index, pair->twin);
	CommandCounterIncrement();
}

/* ---- the index of a partitioned table ---- */

static void
change_method(Oid relid, Oid am)
{
	bool		kept = am != BTREE_AM_OID && OidIsValid(get_index_constraint(relid));
	Datum		options = kept ?
	transformRelOptions((Datum) 0, sfx_with_method(NIL, true), NULL, NULL, false, false) : (Datum) 0;

	sfx_row_set(RelationRelationId, RELOID, relid, Anum_pg_class_relam, ObjectIdGetDatum(am), false);
	CommandCounterIncrement();
	sfx_row_set(RelationRelationId, RELOID, relid, Anum_pg_class_reloptions, options, !kept);
}

static void
relabel(Oid relid, Oid am)
{
	Relation	index = relation_open(relid, NoLock);
	int			n = index->rd_index->indnkeyatts;
	Oid			opclass[INDEX_MAX_KEYS];
	oidvector  *classes;

	CheckTableNotInUse(index, "surfidx_convert_swap");
	for (int i = 0; i < n; i++)
		opclass[i] = sfx_key_class_in(index, i, am);
	classes = buildoidvector(opclass, n);
	relation_close(index, NoLock);
	change_method(relid, am);
	sfx_row_set(IndexRelationId, INDEXRELID, relid, Anum_pg_index_indclass, PointerGetDatum(classes), false);
	CommandCounterIncrement();
	depend_on_classes(relid);
}

/* ---- the exchange ---- */

/*
 * The tables of the indexes below that index, locked.  Includes those of partitions whose
 * detachment has begun (DETACH ... CONCURRENTLY), which are missing in the tables' tree but not in
 * the indexes' tree.
 */
static List *
tables_of_tree(Oid index)
{
	List	   *tables = NIL;

	foreach_oid(oid, find_all_inheritors(index, NoLock, NULL))
	{
		Oid			table = IndexGetRelation(oid, true);

		if (!OidIsValid(table))
			continue;
		LockRelationOid(table, ShareUpdateExclusiveLock);
		tables = lappend_oid(tables, table);
	}
	return tables;
}

/* The index's table, owned and locked, and its partitions if it is partitioned. */
static List *
lock_tables(Oid index)
{
	char		kind = get_rel_relkind(index);
	Oid			table = kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX ?
	IndexGetRelation(index, true) : InvalidOid;
	List	   *tables;

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(kind ? ERRCODE_WRONG_OBJECT_TYPE : ERRCODE_UNDEFINED_OBJECT),
				 kind ? errmsg("\"%s\" is not an index", get_rel_name(index)) :
				 errmsg("index with OID %u does not exist", index)));
	if (!SfxOwnsRelation(table))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(table));
	LockRelationOid(table, ShareUpdateExclusiveLock);
	tables = kind == RELKIND_PARTITIONED_INDEX ?
		list_concat_unique_oid(find_all_inheritors(table, ShareUpdateExclusiveLock, NULL),
							   tables_of_tree(index)) : list_make1_oid(table);
	/* the lock may have been waited for */
	if (!SearchSysCacheExists1(INDEXRELID, ObjectIdGetDatum(index)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index with OID %u does not exist", index)));
	foreach_oid(oid, tables)
	{
		if (!SfxOwnsRelation(oid))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(oid));
	}
	return tables;
}

/* The index, with all below it, locked, and their twins. */
static List *
find_pairs(Oid relid, Oid am)
{
	List	   *pairs = NIL;

	foreach_oid(oid, find_all_inheritors(relid, NoLock, NULL))
	{
		Pair	   *pair = palloc0(sizeof(Pair));
		bool		tree = get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX;
		Relation	index = relation_open(oid, tree ? AccessExclusiveLock :
										  ShareUpdateExclusiveLock);

		pair->index = RelationGetRelid(index);
		if (!tree)
			pair->twin = find_twin(index, am);
		pairs = lappend(pairs, pair);
		relation_close(index, NoLock);
	}
	return pairs;
}

/* The method that the index is to get; ERROR if it cannot. */
static Oid
other_method(Oid relid)
{
	Relation	index = relation_open(relid, AccessShareLock);
	Oid			ours = get_index_am_oid(SFX_METHOD, false);
	Oid			am = index->rd_rel->relam == ours ? BTREE_AM_OID : ours;
	const char *why;

	if (index->rd_rel->relispartition)
		refuse(relid, "It goes with the index of a partitioned table.");
	if (!sfx_is_convertible(index->rd_rel->relam, am))
		refuse(relid, "It is of another access method.");
	why = sfx_index_stays(index, am);
	if (why != NULL)
		refuse(relid, psprintf("It has to stay as it is: %s.", why));
	relation_close(index, NoLock);
	return am;
}

static Oid
owner_of(Oid relid)
{
	FormData_pg_class row;

	sfx_row_must_get(RELOID, relid, &row, sizeof(row));
	return row.relowner;
}

static void
swap_all(Oid index)
{
	Oid			am = other_method(index);
	List	   *pairs = find_pairs(index, am);

	foreach_ptr(const Pair, pair, pairs)
	{
		if (OidIsValid(pair->twin))
			swap_with_twin(pair);
		else
			relabel(pair->index, am);
	}
}

void
sfx_convert_swap(Oid index, const char *lock_timeout)
{
	List	   *tables = lock_tables(index);
	int			level = NewGUCNestLevel();
	Oid			user;
	int			context;

	/* expressions are looked at: as the owner, as in convert_plan.c */
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(owner_of(linitial_oid(tables)),
						   context | SECURITY_RESTRICTED_OPERATION);
	SfxRestrictSearchPath();
	if (lock_timeout)
		(void) set_config_option("lock_timeout", lock_timeout, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	swap_all(index);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
	foreach_oid(oid, tables)
		CacheInvalidateRelcacheByRelid(oid);
	CommandCounterIncrement();
}
