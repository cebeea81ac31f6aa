/*-------------------------------------------------------------------------
 * constraint_attach.c - partitions whose primary key is of another method than the parent's: ATTACH
 * PARTITION, and ADD PRIMARY KEY to the parent
 *
 * Core looks for an index like the parent's, of the same method, and creates one if there is none;
 * a second primary key it refuses.  While surfidx.in_place_of_btree is on, no user has chosen these
 * methods, so the partition's key is rebuilt.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "constraint.h"
#include "in_place.h"
#include "settings.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/tablecmds.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* The primary key's index, opened; NULL: there is none. */
static Relation
open_primary_key(Relation table)
{
	foreach_oid(oid, RelationGetIndexList(table))
	{
		Relation	index = relation_open(oid, AccessShareLock);

		if (index->rd_index->indisprimary)
			return index;
		relation_close(index, NoLock);
	}
	return NULL;
}

/* Rebuild the partition's primary key with an index of ours, or a btree. */
static void
build_again(const AlterTableStmt *stmt, Relation partition, Relation index, Relation parent,
			bool ours)
{
	SfxDown    *d;

	CheckTableNotInUse(partition, "ALTER TABLE");
	find_all_inheritors(RelationGetRelid(partition), AccessExclusiveLock, NULL);
	ereport(NOTICE,
			(errmsg("primary key \"%s\" is built again as %s, as that of table \"%s\" is",
					RelationGetRelationName(index), ours ? SFX_METHOD : "btree",
					RelationGetRelationName(parent))));
	d = sfx_down_note(stmt, partition, index);
	relation_close(index, NoLock);
	table_close(partition, NoLock);
	sfx_down_take(d);
	CommandCounterIncrement();
	sfx_down_put_back(d, ours);
	sfx_down_foreign_up(d);
}

static bool
is_btree_or_ours(Relation index)
{
	return index->rd_rel->relam == BTREE_AM_OID || sfx_is_ours(index->rd_indam);
}

/* Are these, by name, the index's key columns? */
static bool
is_of_columns(Relation index, const List *names)
{
	int			i = 0;

	if (index->rd_index->indnkeyatts != list_length(names))
		return false;
	foreach_node(String, name, names)
	{
		if (get_attnum(index->rd_index->indrelid, strVal(name)) !=
			index->rd_index->indkey.values[i++])
			return false;
	}
	return true;
}

/*
 * Rebuild a partition's primary key if its method, ours or btree, is not the parent's.  names: only
 * a key on these columns; NIL: any.
 */
static void
match_key(const AlterTableStmt *stmt, Relation parent, bool ours, Oid partitionoid,
		  const List *names)
{
	Relation	partition = table_open(partitionoid, NoLock);
	Relation	its = open_primary_key(partition);

	if (its && is_btree_or_ours(its) && sfx_is_ours(its->rd_indam) != ours &&
		(names == NIL || is_of_columns(its, names)))
	{
		build_again(stmt, partition, its, parent, ours);
		return;
	}
	if (its)
		relation_close(its, NoLock);
	table_close(partition, NoLock);
}

/* ---- a key that is made for all partitions ---- */

/* The primary key that the statement adds, if it names columns; else NULL. */
static const Constraint *
key_added(const AlterTableStmt *stmt)
{
	foreach_node(Constraint, c, sfx_constraints_added(stmt))
	{
		if (c->contype == CONSTR_PRIMARY && c->keys != NIL)
			return c;
	}
	return NULL;
}

void
sfx_method_of_partitions(AlterTableStmt *stmt)
{
	const Constraint *c = stmt->objtype == OBJECT_TABLE ? key_added(stmt) : NULL;
	Relation	parent;
	Oid			table;

	if (c == NULL || !stmt->relation->inh || !sfx_in_place_any())
		return;
	table = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (!OidIsValid(table) || get_rel_relkind(table) != RELKIND_PARTITIONED_TABLE)
		return;
	parent = table_open(AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds)), NoLock);
	foreach_oid(oid, find_all_inheritors(table, AccessExclusiveLock, NULL))
	{
		char		kind = get_rel_relkind(oid);

		if (oid != table &&
			(kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE))
			match_key(stmt, parent, c->access_method != NULL, oid, c->keys);
	}
	table_close(parent, NoLock);
}

/* ---- ATTACH PARTITION ---- */

static void
match_keys(const AlterTableStmt *stmt, Oid parentoid, Oid partitionoid)
{
	Relation	parent = table_open(parentoid, NoLock);
	Relation	theirs = open_primary_key(parent);

	if (theirs && is_btree_or_ours(theirs))
		match_key(stmt, parent, sfx_is_ours(theirs->rd_indam), partitionoid, NIL);
	if (theirs)
		relation_close(theirs, NoLock);
	table_close(parent, NoLock);
}

void
sfx_method_of_partition(AlterTableStmt *stmt)
{
	AlterTableCmd *cmd = stmt->cmds ? linitial_node(AlterTableCmd, stmt->cmds) : NULL;
	Oid			parent,
				partition;

	/* ATTACH PARTITION is always a statement's only command */
	if (stmt->objtype != OBJECT_TABLE || cmd == NULL || cmd->subtype != AT_AttachPartition ||
		!sfx_in_place_any())
		return;
	parent = AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
	if (!OidIsValid(parent) || get_rel_relkind(parent) != RELKIND_PARTITIONED_TABLE)
		return;
	partition = RangeVarGetRelidExtended(castNode(PartitionCmd, cmd->def)->name,
										 AccessExclusiveLock, RVR_MISSING_OK,
										 RangeVarCallbackOwnsRelation, NULL);
	if (!OidIsValid(partition) || partition == parent || get_rel_relispartition(partition))
		return;
	if (get_rel_relkind(partition) == RELKIND_RELATION ||
		get_rel_relkind(partition) == RELKIND_PARTITIONED_TABLE)
		match_keys(stmt, parent, partition);
}
