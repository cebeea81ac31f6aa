/*-------------------------------------------------------------------------
 * constraint_foreign.c - foreign keys that refer to a constraint which goes and comes back
 *
 * They go before it and come back behind it (rule Q3), from their definitions, as core has it for
 * constraints of btree.  Core does not ask who owns the table that refers; the only way that is
 * open to us does, so it is asked beforehand.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "constraint.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/comment.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "parser/parser.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

typedef struct Foreign
{
	Oid			table;			/* that refers */
	Oid			constraint;
	char	   *name;
	char	   *definition;		/* ALTER TABLE ... ADD CONSTRAINT ... */
	char	   *comment;		/* may be NULL */
} Foreign;

/* Does the statement have commands that may ask for a foreign key of the table itself? */
static bool
asks_for_foreign(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableType kind = lfirst_node(AlterTableCmd, lc)->subtype;

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
 * Locked, with its partitions; and nothing is going on there.  (Of altered itself that is known.)
 */
static void
lock_referrer(const Foreign *f, Oid altered)
{
	ListCell   *lc;

	LockRelationOid(f->table, AccessExclusiveLock);
	foreach(lc, find_all_inheritors(f->table, AccessExclusiveLock, NULL))
	{
		Relation	rel;

		if (lfirst_oid(lc) == altered)
			continue;
		rel = relation_open(lfirst_oid(lc), NoLock);
		CheckTableNotInUse(rel, "ALTER TABLE");
		relation_close(rel, NoLock);
	}
}

List *
sfx_foreign_of(const AlterTableStmt *stmt, Relation table, Oid index, const char *name)
{
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);
	List	   *found = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	ListCell   *lc;

	ScanKeyInit(&key, Anum_pg_constraint_confrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationGetRelid(table)));
	scan = systable_beginscan(constraints, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint c = (Form_pg_constraint) GETSTRUCT(tuple);
		Foreign    *f;

		/* those of partitions go and come with their parents' */
		if (c->contype != CONSTRAINT_FOREIGN || c->conindid != index || OidIsValid(c->conparentid))
			continue;
		f = palloc0(sizeof(Foreign));
		f->table = c->conrelid;
		f->constraint = c->oid;
		f->name = pstrdup(NameStr(c->conname));
		found = lappend(found, f);
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
	foreach(lc, found)
	{
		Foreign    *f = lfirst(lc);

		if (f->table == RelationGetRelid(table) && asks_for_foreign(stmt))
			refuse(f, table, name, "and the statement does more with constraints or columns");
		if (!SfxOwnsRelation(f->table))
			refuse(f, table, name, "which is somebody else's");
		lock_referrer(f, RelationGetRelid(table));
		f->definition = pg_get_constraintdef_command(f->constraint);
		f->comment = GetComment(f->constraint, ConstraintRelationId, 0);
	}
	return found;
}

void
sfx_foreign_down(List *foreign)
{
	ListCell   *lc;

	foreach(lc, foreign)
	{
		ObjectAddress constraint;

		ObjectAddressSet(constraint, ConstraintRelationId, ((Foreign *) lfirst(lc))->constraint);
		performDeletion(&constraint, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	}
	if (foreign != NIL)
		CommandCounterIncrement();
}

static void
put_back(const Foreign *f)
{
	RawStmt    *raw = linitial_node(RawStmt, raw_parser(f->definition, RAW_PARSE_DEFAULT));
	PlannedStmt *planned = makeNode(PlannedStmt);
	AlterTableUtilityContext context = {
		.pstmt = planned,
		.queryString = f->definition,
		.relid = f->table
	};

	planned->commandType = CMD_UTILITY;
	planned->canSetTag = false;
	planned->utilityStmt = raw->stmt;
	AlterTable(castNode(AlterTableStmt, raw->stmt), AccessExclusiveLock, &context);
	CommandCounterIncrement();
	if (f->comment)
		CreateComments(get_relation_constraint_oid(f->table, f->name, false), ConstraintRelationId, 0,
					   f->comment);
}

void
sfx_foreign_up(List *foreign)
{
	ListCell   *lc;

	if (foreign == NIL)
		return;
	/* a part of the statement that triggers have seen; the next one may begin within this */
	EventTriggerInhibitCommandCollection();
	PG_TRY();
	{
		foreach(lc, foreign)
			put_back((Foreign *) lfirst(lc));
	}
	PG_FINALLY();
	{
		EventTriggerUndoInhibitCommandCollection();
	}
	PG_END_TRY();
}
