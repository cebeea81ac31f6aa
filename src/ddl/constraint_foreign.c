/*-------------------------------------------------------------------------
 * constraint_foreign.c - foreign keys that refer to a constraint which is dropped and created again
 *
 * They are dropped before it and created after it (Q3), from their definitions, as core does for
 * constraints of btree.  Core does not check who owns the referring table; the only way open to us
 * does, so it is checked beforehand.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/comment.h"
#include "commands/tablecmds.h"
#include "parser/parser.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* A foreign key, and what brings it back. */
typedef struct Foreign
{
	Oid			table;			/* the referring table */
	Oid			constraint;
	char	   *name;
	char	   *definition;		/* the ALTER TABLE that adds it */
	char	   *comment;		/* may be NULL */
	Oid			referred;		/* the table that it refers to */
	char	   *index;			/* ... and the index, whose name stays when it is rebuilt */
} Foreign;

/* Has the statement commands that may need a foreign key of the table itself? */
static bool
asks_for_foreign(const AlterTableStmt *stmt)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		AlterTableType kind = cmd->subtype;

		if (kind == AT_DropConstraint || kind == AT_DropColumn ||
			kind == AT_ValidateConstraint || kind == AT_AlterConstraint)
			return true;
	}
	return false;
}

static void
refuse(const Foreign *f, Relation table, const char *name, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot rebuild surfidx constraint \"%s\" on table \"%s\" because a foreign key refers to it",
					name, RelationGetRelationName(table)),
			 errdetail("The foreign key is \"%s\" on table \"%s\", %s.",
					   f->name, get_rel_name(f->table), why),
			 errhint("Drop the foreign key, alter the column, and add the foreign key again.")));
}

/*
 * Lock the referring table, with its partitions, and check that it is not in use.  altered: the
 * table that the statement alters, for which that is known.
 */
static void
lock_referrer(const Foreign *f, Oid altered)
{
	LockRelationOid(f->table, AccessExclusiveLock);
	foreach_oid(oid, find_all_inheritors(f->table, AccessExclusiveLock, NULL))
	{
		Relation	rel;

		if (oid == altered)
			continue;
		rel = relation_open(oid, NoLock);
		CheckTableNotInUse(rel, "ALTER TABLE");
		relation_close(rel, NoLock);
	}
}

/* Compare by age: rows of a catalog are in no order. */
static int
by_age(const ListCell *a, const ListCell *b)
{
	Oid			left = ((const Foreign *) lfirst(a))->constraint;
	Oid			right = ((const Foreign *) lfirst(b))->constraint;

	return left < right ? -1 : left > right;
}

/* Note what brings these keys back. */
static void
note(const List *found, Oid altered)
{
	foreach_ptr(Foreign, f, found)
	{
		lock_referrer(f, altered);
		f->definition = pg_get_constraintdef_command(f->constraint);
		f->comment = GetComment(f->constraint, ConstraintRelationId, 0);
	}
}

static Foreign *
foreign_of_row(const Form_pg_constraint c)
{
	Foreign    *f = palloc0(sizeof(Foreign));

	f->table = c->conrelid;
	f->constraint = c->oid;
	f->name = pstrdup(NameStr(c->conname));
	f->referred = c->confrelid;
	f->index = get_rel_name(c->conindid);
	return f;
}

List *
sfx_foreign_of(const AlterTableStmt *stmt, Relation table, Oid index, const char *name)
{
	List	   *found = NIL;

	foreach_ptr(HeapTupleData, row, sfx_rows_with(ConstraintRelationId, InvalidOid,
												  Anum_pg_constraint_confrelid,
												  RelationGetRelid(table)))
	{
		Form_pg_constraint c = (Form_pg_constraint) GETSTRUCT(row);

		/* keys of partitions are dropped and created with their parents' */
		if (c->contype == CONSTRAINT_FOREIGN && c->conindid == index && !OidIsValid(c->conparentid))
			found = lappend(found, foreign_of_row(c));
	}
	list_sort(found, by_age);
	foreach_ptr(Foreign, f, found)
	{
		if (f->table == RelationGetRelid(table) && asks_for_foreign(stmt))
			refuse(f, table, name, "and the statement does more with constraints or columns");
		if (!SfxOwnsRelation(f->table))
			refuse(f, table, name, "which is somebody else's");
	}
	note(found, RelationGetRelid(table));
	return found;
}

/* ---- before 18: keys that are rebuilt though no constraint of ours is ---- */

/* Is that column of that table part of the key, on either side? */
static bool
has_column(HeapTuple key, Oid table, AttrNumber column)
{
	Form_pg_constraint c = (Form_pg_constraint) GETSTRUCT(key);
	AttrNumber	from[INDEX_MAX_KEYS];
	AttrNumber	to[INDEX_MAX_KEYS];
	int			n;

	DeconstructFkConstraintRow(key, &n, from, to, NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < n; i++)
	{
		if ((c->conrelid == table && from[i] == column) ||
			(c->confrelid == table && to[i] == column))
			return true;
	}
	return false;
}

static bool
is_rebuilt(const AlterTableStmt *stmt, HeapTuple key, Oid table)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (SfxRebuildsColumn(cmd->subtype) && has_column(key, table, get_attnum(table, cmd->name)))
			return true;
	}
	return false;
}

static void
refuse_rebuilt(const AlterTableStmt *stmt, const Foreign *f, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot alter a column of table \"%s\" because foreign key \"%s\" "
					"on table \"%s\" refers to a surfidx index",
					stmt->relation->relname, f->name, get_rel_name(f->table)),
			 errdetail("Before version 18 it is built again behind the statement, %s.", why),
			 errhint("Alter the column's type in a statement of its own, or drop the foreign key "
					 "before and add it again.")));
}

/*
 * Does the statement itself drop that key, by its name, a column of it, or the constraint it refers
 * to?  top: the table is the one that the statement names.
 */
static bool
is_dropped(const AlterTableStmt *stmt, bool top, HeapTuple key, Oid table)
{
	Form_pg_constraint c = (Form_pg_constraint) GETSTRUCT(key);
	const char *index = get_rel_name(c->conindid);

	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (cmd->subtype == AT_DropConstraint && top &&
			((c->conrelid == table && strcmp(cmd->name, NameStr(c->conname)) == 0) ||
			 (c->confrelid == table && index && strcmp(cmd->name, index) == 0)))
			return true;
		if (cmd->subtype == AT_DropColumn && has_column(key, table, get_attnum(table, cmd->name)))
			return true;
	}
	return false;
}

/* Does a command need that key while it is dropped, or choose a name, which may be the key's? */
static bool
asks_for_key(const AlterTableStmt *stmt, const Foreign *f)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		Constraint *c = cmd->subtype == AT_AddConstraint ? castNode(Constraint, cmd->def) : NULL;

		if (cmd->subtype == AT_AlterConstraint ||
			(cmd->subtype == AT_ValidateConstraint && strcmp(cmd->name, f->name) == 0) ||
			(c && (c->conname ? strcmp(c->conname, f->name) == 0 :
				   c->contype == CONSTR_FOREIGN)))
			return true;
	}
	return false;
}

static void
find_rebuilt(const AlterTableStmt *stmt, bool top, Oid table, AttrNumber side, Oid index,
			 List **found)
{
	foreach_ptr(HeapTupleData, tuple, sfx_rows_with(ConstraintRelationId, index, side, table))
	{
		Form_pg_constraint c = (Form_pg_constraint) GETSTRUCT(tuple);

		/* a key that refers to its own table is found by its referring side */
		if (c->contype == CONSTRAINT_FOREIGN && !OidIsValid(c->conparentid) &&
			!(side == Anum_pg_constraint_confrelid && c->conrelid == table) &&
			sfx_is_our_index(c->conindid) && is_rebuilt(stmt, tuple, table) &&
			!is_dropped(stmt, top, tuple, table))
			*found = lappend(*found, foreign_of_row(c));
	}
}

List *
sfx_foreign_rebuilt(const AlterTableStmt *stmt, bool top, Oid table)
{
	List	   *found = NIL;

	if (!SFX_UNIQUE_MEANS_BTREE || SFX_MUTANT("core makes keys again"))
		return NIL;
	find_rebuilt(stmt, top, table, Anum_pg_constraint_conrelid, ConstraintRelidTypidNameIndexId,
				 &found);
	find_rebuilt(stmt, top, table, Anum_pg_constraint_confrelid, InvalidOid, &found);
	list_sort(found, by_age);
	foreach_ptr(const Foreign, f, found)
	{
		if (asks_for_key(stmt, f))
			refuse_rebuilt(stmt, f, "and this one does more with constraints or columns");
		if (!SfxOwnsRelation(f->table))
			refuse_rebuilt(stmt, f, "and its table is somebody else's");
	}
	note(found, table);
	return found;
}

void
sfx_foreign_down(List *foreign)
{
	foreach_ptr(Foreign, f, foreign)
	{
		ObjectAddress constraint;

		ObjectAddressSet(constraint, ConstraintRelationId, f->constraint);
		performDeletion(&constraint, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	}
	if (foreign != NIL)
		CommandCounterIncrement();
}

static void
put_back(const Foreign *f)
{
	RawStmt    *raw = linitial_node(RawStmt, raw_parser(f->definition, RAW_PARSE_DEFAULT));

	/* core would choose the oldest index, but an index that was rebuilt is the youngest */
	Oid			index = f->index ?
	get_relname_relid(f->index, get_rel_namespace(f->referred)) : InvalidOid;

	(void) sfx_foreign_make(castNode(AlterTableStmt, raw->stmt), f->table, index, f->definition);
	if (f->comment)
		CreateComments(get_relation_constraint_oid(f->table, f->name, false), ConstraintRelationId, 0,
					   f->comment);
}

void
sfx_foreign_up(List *foreign)
{
	foreach_ptr(Foreign, f, foreign)
		put_back(f);
}
