/*-------------------------------------------------------------------------
 * constraint_type.c - ALTER COLUMN TYPE of a column in a constraint of ours (Q3)
 *
 * Core rebuilds such a constraint from its definition, in a place without a hook: its parser would
 * ask btree for an index with our parameter.  So the constraint is dropped before the statement and
 * created after it, from the same definition, with what depends on its index, foreign keys included
 * (constraint_foreign.c).  Both is done by core's own functions, since users' commands would check
 * rights, go by names, and fire event triggers.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"
#include "settings.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/comment.h"
#include "commands/tablecmds.h"
#include "parser/parse_utilcmd.h"
#include "parser/parser.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* A constraint that is dropped for a while, and what brings it back. */
struct SfxDown
{
	Oid			table;
	Oid			constraint;
	char	   *name;			/* the constraint's and its index's */
	char	   *definition;		/* the ALTER TABLE that adds it */
	char	   *comment;		/* of the constraint; may be NULL */
	char	   *index_comment;
	bool		is_identity;
	bool		is_clustered;
	List	   *foreign;		/* keys that refer to it */
};								/* no constraint: only foreign keys are dropped */

/* Is that column of the table among the index's first n? */
static bool
has_column(const Form_pg_index index, int n, AttrNumber column)
{
	for (int i = 0; i < n && column != InvalidAttrNumber; i++)
	{
		if (index->indkey.values[i] == column)
			return true;
	}
	return false;
}

/* Does the statement make core rebuild what uses one of the index's columns? */
static bool
rebuilds(const AlterTableStmt *stmt, Relation table, const Form_pg_index index)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (SfxRebuildsColumn(cmd->subtype) &&
			has_column(index, index->indnatts, get_attnum(RelationGetRelid(table), cmd->name)))
			return true;
	}
	return false;
}

/* Is a child table's column dropped with its parent's? */
static bool
goes_with_parent(Relation child, AttrNumber column)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(child), column - 1);

	return !att->attislocal && att->attinhcount <= 1;
}

/*
 * Does the statement itself drop that constraint, or a column of it?  top: the table is the one
 * that the statement names.
 */
static bool
drops(const AlterTableStmt *stmt, bool top, Relation table, const Form_pg_index index, const char *name)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		AttrNumber	column;

		if (cmd->subtype == AT_DropConstraint && top && strcmp(cmd->name, name) == 0)
			return true;
		if (cmd->subtype != AT_DropColumn)
			continue;
		column = get_attnum(RelationGetRelid(table), cmd->name);
		if (has_column(index, index->indnatts, column) && (top || goes_with_parent(table, column)))
			return true;
	}
	return false;
}

/* Does an added constraint take that one's place, or choose a name, which may be its name? */
static bool
meets_added(const Constraint *c, const Form_pg_index index)
{
	switch (c->contype)
	{
		case CONSTR_PRIMARY:
			return c->conname == NULL || index->indisprimary;
		case CONSTR_UNIQUE:
		case CONSTR_EXCLUSION:
			return c->conname == NULL;
		default:
			return false;
	}
}

/* Does a command need the constraint, or what depends on its index? */
static bool
asks_for(const AlterTableCmd *cmd, Relation table, const Form_pg_index index, const char *name)
{
	const ReplicaIdentityStmt *identity;

	switch (cmd->subtype)
	{
		case AT_AddConstraint:
			return meets_added(castNode(Constraint, cmd->def), index);
		case AT_DropNotNull:
			return index->indisprimary &&
				has_column(index, index->indnkeyatts, get_attnum(RelationGetRelid(table), cmd->name));
		case AT_ClusterOn:
			return index->indisclustered || strcmp(cmd->name, name) == 0;
		case AT_DropCluster:
			return index->indisclustered;
		case AT_ReplicaIdentity:
			identity = castNode(ReplicaIdentityStmt, cmd->def);
			return index->indisreplident || (identity->name && strcmp(identity->name, name) == 0);
		default:
			return false;
	}
}

/* ERROR if another command of the statement needs the constraint while it is dropped. */
static void
refuse_company(const AlterTableStmt *stmt, Relation table, const Form_pg_index index,
			   const char *name)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (asks_for(cmd, table, index, name))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot rebuild surfidx constraint \"%s\" in a statement that also adds a key "
							"without a name, drops NOT NULL of a primary key, "
							"or sets CLUSTER or REPLICA IDENTITY", name),
					 errhint("Alter the column's type in a statement of its own.")));
	}
}

/* Is the constraint dropped and created with a partitioned table's? */
static bool
is_inherited(Oid constraint)
{
	FormData_pg_constraint row;

	return sfx_row_get(CONSTROID, constraint, &row, sizeof(row)) && OidIsValid(row.conparentid);
}

SfxDown *
sfx_down_note(const AlterTableStmt *stmt, Relation table, Relation index)
{
	Oid			oid = get_index_constraint(RelationGetRelid(index));
	SfxDown    *d = palloc(sizeof(SfxDown));

	d->foreign = sfx_foreign_of(stmt, table, RelationGetRelid(index),
								RelationGetRelationName(index));
	d->table = RelationGetRelid(table);
	d->constraint = oid;
	d->name = pstrdup(RelationGetRelationName(index));
	d->definition = pg_get_constraintdef_command(oid);
	d->comment = GetComment(oid, ConstraintRelationId, 0);
	d->index_comment = GetComment(RelationGetRelid(index), RelationRelationId, 0);
	d->is_identity = index->rd_index->indisreplident;
	d->is_clustered = index->rd_index->indisclustered;
	return d;
}

void
sfx_down_take(const SfxDown *d)
{
	ObjectAddress constraint;

	sfx_foreign_down(d->foreign);
	ObjectAddressSet(constraint, ConstraintRelationId, d->constraint);
	performDeletion(&constraint, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
}

/* What brings back that index's constraint, if the statement rebuilds it; NULL: it does not. */
static SfxDown *
note_down(const AlterTableStmt *stmt, bool top, Relation table, Relation index)
{
	Oid			oid = get_index_constraint(RelationGetRelid(index));
	const char *name = RelationGetRelationName(index);

	if (!OidIsValid(oid) || !sfx_is_ours(index->rd_indam) || index->rd_index->indisexclusion ||
		!rebuilds(stmt, table, index->rd_index) || drops(stmt, top, table, index->rd_index, name) || is_inherited(oid))
		return NULL;
	refuse_company(stmt, table, index->rd_index, name);
	return sfx_down_note(stmt, table, index);
}

/* Drop keys that are rebuilt though what they refer to is not. */
static List *
take_down_foreign(const AlterTableStmt *stmt, bool top, Oid relid)
{
	List	   *foreign = sfx_foreign_rebuilt(stmt, top, relid);
	SfxDown    *d;

	if (foreign == NIL)
		return NIL;
	sfx_foreign_down(foreign);
	d = palloc0(sizeof(SfxDown));
	d->foreign = foreign;
	return list_make1(d);
}

/* Drop the constraints of a table that the statement rebuilds; the list of them. */
static List *
take_down_of(const AlterTableStmt *stmt, bool top, Oid relid)
{
	Relation	table = table_open(relid, NoLock);
	List	   *down = NIL;

	foreach_oid(oid, RelationGetIndexList(table))
	{
		Relation	index = relation_open(oid, AccessShareLock);
		SfxDown    *d = note_down(stmt, top, table, index);

		if (d != NULL)
			down = lappend(down, d);
		relation_close(index, NoLock);
	}
	if (down != NIL)
		CheckTableNotInUse(table, "ALTER TABLE");
	table_close(table, NoLock);
	/* as core does it: part of the statement, without event triggers */
	foreach_ptr(SfxDown, d, down)
		sfx_down_take(d);
	return down;
}

/*
 * The tables of a composite type, to which ALTER TYPE ... CASCADE extends; in ascending order, in
 * which they are locked.
 */
static List *
tables_of_type(Oid type)
{
	List	   *tables = NIL;

	foreach_ptr(HeapTupleData, row,
				sfx_rows_with(RelationRelationId, InvalidOid, Anum_pg_class_reloftype, type))
		tables = lappend_oid(tables, ((Form_pg_class) GETSTRUCT(row))->oid);
	list_sort(tables, list_oid_cmp);
	return tables;
}

/* All tables whose columns the statement alters, locked. */
static List *
tables_altered(AlterTableStmt *stmt)
{
	Oid			relid = AlterTableLookupRelation(stmt, AccessExclusiveLock);
	List	   *tables = NIL;

	if (!OidIsValid(relid))
		return NIL;
	if (stmt->objtype == OBJECT_TYPE)
	{
		foreach_oid(oid, tables_of_type(get_rel_type_id(relid)))
		{
			LockRelationOid(oid, AccessExclusiveLock);
			tables = list_concat_unique_oid(tables, find_all_inheritors(oid, AccessExclusiveLock, NULL));
		}
		return tables;
	}
	return stmt->relation->inh ? find_all_inheritors(relid, AccessExclusiveLock, NULL) : list_make1_oid(relid);
}

bool
sfx_rebuilds_any(const AlterTableStmt *stmt)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (SfxRebuildsColumn(cmd->subtype) &&
			(stmt->objtype == OBJECT_TABLE || (stmt->objtype == OBJECT_TYPE && cmd->behavior == DROP_CASCADE)))
			return true;
	}
	return false;
}

List *
sfx_constraints_down(AlterTableStmt *stmt)
{
	List	   *down = NIL;
	bool		top = stmt->objtype == OBJECT_TABLE;

	if (!sfx_rebuilds_any(stmt))
		return NIL;
	foreach_oid(oid, tables_altered(stmt))
	{
		char		kind = get_rel_relkind(oid);

		if (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE)
		{
			down = list_concat(down, take_down_of(stmt, top, oid));
			down = list_concat(down, take_down_foreign(stmt, top, oid));
		}
		top = false;
	}
	return down;
}

/* ---- creating them again ---- */

/* The definition, as the statement that creates an index, of ours or a btree. */
static IndexStmt *
index_of(const SfxDown *d, bool ours)
{
	AlterTableStmt *alter = castNode(AlterTableStmt,
									 linitial_node(RawStmt, raw_parser(d->definition, RAW_PARSE_DEFAULT))->stmt);
	List	   *before,
			   *after;

	foreach_node(AlterTableCmd, cmd, alter->cmds)
	{
		Constraint *c = castNode(Constraint, cmd->def);

		c->options = sfx_with_method(c->options, ours);
	}
	sfx_method_of_constraints(alter);
	alter = transformAlterTableStmt(d->table, alter, d->definition, &before, &after);
	foreach_node(AlterTableCmd, cmd, alter->cmds)
	{
		if (cmd->subtype == AT_AddIndex)
			return castNode(IndexStmt, cmd->def);
	}
	elog(ERROR, "surfidx: constraint \"%s\" makes no index", d->name);
	return NULL;
}

void
sfx_down_put_back(const SfxDown *d, bool ours)
{
	IndexStmt  *stmt = index_of(d, ours);
	Relation	table;
	Oid			index;

	stmt->idxcomment = d->index_comment;
	stmt->reset_default_tblspc = true;
	index = SfxRebuildIndex(d->table, stmt).objectId;
	CommandCounterIncrement();
	if (d->comment)
		CreateComments(get_index_constraint(index), ConstraintRelationId, 0, d->comment);
	table = table_open(d->table, NoLock);
	if (d->is_clustered)
		mark_index_clustered(table, index, true);
	CommandCounterIncrement();
	if (d->is_identity)
		sfx_row_set(IndexRelationId, INDEXRELID, index, Anum_pg_index_indisreplident,
					BoolGetDatum(true), false);
	CacheInvalidateRelcache(table);
	table_close(table, NoLock);
	CommandCounterIncrement();
}

void
sfx_constraints_up(List *down)
{
	if (down != NIL)
		CommandCounterIncrement();
	foreach_ptr(SfxDown, d, down)
	{
		if (OidIsValid(d->constraint))
			sfx_down_put_back(d, true);
	}
	foreach_ptr(SfxDown, d, down)
		sfx_foreign_up(d->foreign);
}

void
sfx_down_foreign_up(const SfxDown *d)
{
	sfx_foreign_up(d->foreign);
}
