/*-------------------------------------------------------------------------
 * constraint.c - WITH (access_method = surfidx): the method of a constraint's index
 *
 * Core's grammar has no place for the access method of a PRIMARY KEY or UNIQUE constraint, but its
 * parse tree has: a field that only exclusion constraints fill.  So a storage parameter names the
 * method.  It reaches the tree, stays with the index (pg_class.reloptions), and thus gets into
 * dumps.
 *
 * The constraints of CREATE TABLE come by as CREATE INDEX statements, once the table exists.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"
#include "settings.h"

#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"

bool
sfx_is_our_method(const char *name)
{
	Oid			am = get_am_oid(name, true);

	return am >= FirstNormalObjectId && sfx_is_ours(GetIndexAmRoutineByAmId(am, true));
}

/* ---- Q1 ---- */

static DefElem *
find_method(List *options)
{
	foreach_node(DefElem, option, options)
	{
		if (option->defnamespace == NULL && strcmp(option->defname, SFX_METHOD_OPTION) == 0)
			return option;
	}
	return NULL;
}

List *
sfx_with_method(List *options, bool ours)
{
	List	   *result = list_copy(options);
	DefElem    *said = find_method(result);

	if (said != NULL)
		return ours ? result : list_delete_ptr(result, said);
	return !ours ? result :
		lappend(result, makeDefElem(pstrdup(SFX_METHOD_OPTION),
									(Node *) makeString(pstrdup(SFX_METHOD)), -1));
}

/* The method that the parameters name; NULL: none.  ERROR if it is not ours. */
static char *
method_said(List *options)
{
	DefElem    *option = find_method(options);
	char	   *name = option ? defGetString(option) : NULL;

	if (name != NULL && !sfx_is_our_method(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for parameter \"%s\": \"%s\"", SFX_METHOD_OPTION, name),
				 strcmp(name, SFX_METHOD) == 0 ?
				 errhint("The extension is not in this database: CREATE EXTENSION surfidx first.") :
				 errhint("Its only value is %s; leave it out for btree.", SFX_METHOD)));
	return name;
}

/* Before 18: ERROR if the table is partitioned.  Core says no more than the first line. */
static void
refuse_partitioned(const RangeVar *name)
{
	Oid			table = SFX_UNIQUE_MEANS_BTREE ? RangeVarGetRelid(name, NoLock, true) : InvalidOid;

	if (OidIsValid(table) && get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot match partition key to an index using access method \"%s\"",
						SFX_METHOD),
				 errdetail("Before version 18 a unique index of a partitioned table, \"%s\" here, "
						   "has to be a btree.", get_rel_name(table)),
				 errhint("Make a unique index on each of its partitions instead, or a btree.")));
}

/*
 * From 18 on: ERROR for WITHOUT OVERLAPS, as core would not know the parameter.  name: the
 * constraint's; NULL if core chooses it.
 */
static void
refuse_without_overlaps(const RangeVar *table, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 name != NULL ?
			 errmsg("constraint \"%s\" WITHOUT OVERLAPS of table \"%s\" cannot use access method \"%s\"",
					name, table->relname, SFX_METHOD) :
			 errmsg("a constraint WITHOUT OVERLAPS of table \"%s\" cannot use access method \"%s\"",
					table->relname, SFX_METHOD),
			 errdetail("Its index has to be a gist."),
			 errhint("Leave the parameter \"%s\" out.", SFX_METHOD_OPTION)));
}

void
sfx_method_of_index(IndexStmt *stmt)
{
	/* an exclusion constraint names its method itself */
	char	   *name = stmt->excludeOpNames == NIL ? method_said(stmt->options) : NULL;

	if (name != NULL && SfxIndexWithoutOverlaps(stmt))
		refuse_without_overlaps(stmt->relation, stmt->idxname);
	if (name != NULL && strcmp(stmt->accessMethod, DEFAULT_INDEX_TYPE) == 0)
		stmt->accessMethod = name;
	if (stmt->unique && stmt->relation != NULL && sfx_is_our_method(stmt->accessMethod))
		refuse_partitioned(stmt->relation);
}

List *
sfx_constraints_added(const AlterTableStmt *stmt)
{
	List	   *added = NIL;

	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (cmd->subtype == AT_AddConstraint)
			added = lappend(added, castNode(Constraint, cmd->def));
		else if (cmd->subtype == AT_AddColumn)
			added = list_concat(added, castNode(ColumnDef, cmd->def)->constraints);
	}
	return added;
}

void
sfx_method_of_constraints(AlterTableStmt *stmt)
{
	foreach_node(Constraint, c, sfx_constraints_added(stmt))
	{
		if (c->contype != CONSTR_PRIMARY && c->contype != CONSTR_UNIQUE)
			continue;
		c->access_method = method_said(c->options);
		if (c->access_method != NULL && SfxWithoutOverlaps(c))
			refuse_without_overlaps(stmt->relation, c->conname);
		if (c->access_method != NULL)
			refuse_partitioned(stmt->relation);
	}
}

bool
sfx_is_our_index(Oid relid)
{
	FormData_pg_class row;

	return sfx_row_get(RELOID, relid, &row, sizeof(row)) &&
		(row.relkind == RELKIND_INDEX || row.relkind == RELKIND_PARTITIONED_INDEX) &&
		row.relam >= FirstNormalObjectId && sfx_is_ours(GetIndexAmRoutineByAmId(row.relam, true));
}

void
sfx_method_stays(AlterTableStmt *stmt)
{
	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if ((cmd->subtype == AT_SetRelOptions || cmd->subtype == AT_ResetRelOptions) &&
			find_method((List *) cmd->def) &&
			sfx_is_our_index(AlterTableLookupRelation(stmt, ShareUpdateExclusiveLock)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("parameter \"%s\" of index \"%s\" cannot be changed",
							SFX_METHOD_OPTION, stmt->relation->relname),
					 errdetail("It says by which access method a dump makes the constraint again."),
					 errhint("Drop the constraint, and add it with or without the parameter.")));
	}
}
