/*-------------------------------------------------------------------------
 * constraint_index.c - ALTER TABLE ... ADD PRIMARY KEY | UNIQUE USING INDEX, with an index of ours
 * (Q3)
 *
 * Core's parser refuses an index that is not a btree there, and nothing else in core does.  So the
 * command leaves the statement, and the constraint is created after it, by core's function for
 * that.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"
#include "convert.h"
#include "settings.h"

#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* A constraint to be created. */
typedef struct Using
{
	Oid			table;
	Oid			index;
	Constraint *constraint;
} Using;

static void
refuse(Relation index, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("index \"%s\" %s", RelationGetRelationName(index), why),
			 errdetail("Cannot create a primary key or unique constraint using such an index.")));
}

/* Has the column of the constraint its type's default order and equality? */
static bool
is_default_column(Relation table, Relation index, int i)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), index->rd_index->indkey.values[i] - 1);

	return sfx_key_class(index, i) == GetDefaultOpClass(column->atttypid, index->rd_rel->relam) &&
		index->rd_indcollation[i] == column->attcollation && index->rd_indoption[i] == 0;
}

/*
 * ERROR if the index cannot carry the constraint, on the conditions that core has for btree
 * (transformIndexConstraint).
 */
static void
check_index(Relation table, Relation index, const Constraint *c)
{
	Form_pg_index form = index->rd_index;

	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables")));
	if (form->indrelid != RelationGetRelid(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" does not belong to table \"%s\"",
						RelationGetRelationName(index), RelationGetRelationName(table))));
	if (OidIsValid(get_index_constraint(RelationGetRelid(index))))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is already associated with a constraint", RelationGetRelationName(index))));
	if (!form->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("REINDEX it first.")));
	if (!form->indisunique)
		refuse(index, "is not unique");
	if (RelationGetIndexExpressions(index) != NIL)
		refuse(index, "contains expressions");
	if (RelationGetIndexPredicate(index) != NIL)
		refuse(index, "is a partial index");
	if (c->contype == CONSTR_PRIMARY && form->indnullsnotdistinct)
		refuse(index, "takes NULLs for equal, which a primary key does not have");
	for (int i = 0; i < form->indnkeyatts; i++)
		if (!is_default_column(table, index, i))
			refuse(index, psprintf("does not have default sorting behavior in column %d", i + 1));
}

/* Of other kinds of relations core says itself that they take no constraints. */
static bool
takes_constraints(Oid relid)
{
	char		kind = OidIsValid(relid) ? get_rel_relkind(relid) : '\0';

	return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE;
}

/*
 * The index that the constraint is to use, if it is ours; else InvalidOid.  Locks nothing, for the
 * sake of other statements.
 */
static Oid
index_named(const RangeVar *table, const Constraint *c)
{
	Oid			relid = RangeVarGetRelid(table, NoLock, true);
	Oid			index = OidIsValid(relid) ? get_relname_relid(c->indexname, get_rel_namespace(relid)) : InvalidOid;

	return takes_constraints(relid) && sfx_is_our_index(index) ? index : InvalidOid;
}

static void
set_not_null(AlterTableStmt *stmt, char *column)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	cmd->subtype = AT_SetNotNull;
	cmd->name = column;
	stmt->cmds = lappend(stmt->cmds, cmd);
}

/*
 * ERROR if the statement has other commands that may need the constraint, which is created after
 * all of them, or change what it is made of.
 */
static void
refuse_company(const List *commands, const Constraint *c)
{
	foreach_node(AlterTableCmd, cmd, commands)
	{
		if (cmd->subtype != AT_DropConstraint && cmd->subtype != AT_SetNotNull &&
			!(cmd->subtype == AT_AddConstraint && castNode(Constraint, cmd->def)->indexname != NULL))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot add a constraint using surfidx index \"%s\" in a statement that does more", c->indexname),
					 errhint("Only DROP CONSTRAINT, SET NOT NULL and other constraints using an index may stand beside it.")));
	}
}

static Using *
begin_using(AlterTableStmt *stmt, Oid relid, Oid indexoid, Constraint *c)
{
	Using	   *u = palloc(sizeof(Using));
	Relation	table;
	Relation	index;

	if (!OidIsValid(relid) || !OidIsValid(indexoid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index \"%s\" does not exist", c->indexname)));
	table = table_open(relid, NoLock);
	index = index_open(indexoid, AccessShareLock);
	check_index(table, index, c);
	if (c->contype == CONSTR_PRIMARY && !stmt->relation->inh && has_subclass(relid))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("constraint must be added to child tables too"),
				 errhint("Do not specify the ONLY keyword.")));
	for (int i = 0; c->contype == CONSTR_PRIMARY && i < index->rd_index->indnkeyatts; i++)
		set_not_null(stmt, get_attname(relid, index->rd_index->indkey.values[i], false));
	index_close(index, NoLock);
	table_close(table, NoLock);
	u->table = relid;
	u->index = indexoid;
	u->constraint = c;
	return u;
}

/* SET without a parameter does nothing, but shows event triggers that the table was altered. */
static AlterTableCmd *
set_nothing(void)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	cmd->subtype = AT_SetRelOptions;
	return cmd;
}

List *
sfx_using_out(AlterTableStmt *stmt)
{
	List	   *commands = stmt->cmds;
	List	   *out = NIL;

	foreach_node(AlterTableCmd, cmd, commands)
	{
		Constraint *c = cmd->subtype == AT_AddConstraint ? castNode(Constraint, cmd->def) : NULL;
		Oid			table;

		if (c == NULL || c->indexname == NULL || !OidIsValid(index_named(stmt->relation, c)))
			continue;
		refuse_company(commands, c);
		table = AlterTableLookupRelation(stmt, AccessExclusiveLock);
		if (out == NIL)
			stmt->cmds = list_copy(commands);
		stmt->cmds = list_delete_ptr(stmt->cmds, cmd);
		/* looked up again, as the lock may have been waited for */
		out = lappend(out, begin_using(stmt, table, index_named(stmt->relation, c), c));
	}
	if (out != NIL && stmt->cmds == NIL)
		stmt->cmds = list_make1(set_nothing());
	return out;
}

/*
 * Make the constraint for the index, as core does after its checks (ATExecAddIndexConstraint).  The
 * caller has locked the table.
 */
static void
make_constraint(const Using *u)
{
	const Constraint *c = u->constraint;
	bool		primary = c->contype == CONSTR_PRIMARY;
	Relation	table = table_open(u->table, NoLock);
	Relation	index = index_open(u->index, AccessShareLock);
	IndexInfo  *info = BuildIndexInfo(index);
	char	   *name = pstrdup(c->conname ? c->conname : RelationGetRelationName(index));
	IndexStmt  *stmt = makeNode(IndexStmt);
	uint16		flags = INDEX_CONSTR_CREATE_UPDATE_INDEX | INDEX_CONSTR_CREATE_REMOVE_OLD_DEPS;

	if (strcmp(name, RelationGetRelationName(index)) != 0)
	{
		ereport(NOTICE,
				(errmsg("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" to \"%s\"",
						RelationGetRelationName(index), name)));
		RenameRelationInternal(u->index, name, false, true);
	}
	stmt->primary = primary;
	stmt->isconstraint = true;
	if (primary)
	{
		index_check_primary_key(table, info, true, stmt);
		flags |= INDEX_CONSTR_CREATE_MARK_AS_PRIMARY;
	}
	if (c->deferrable)
		flags |= INDEX_CONSTR_CREATE_DEFERRABLE;
	if (c->initdeferred)
		flags |= INDEX_CONSTR_CREATE_INIT_DEFERRED;
	index_constraint_create(table, u->index, InvalidOid, info, name,
							primary ? CONSTRAINT_PRIMARY : CONSTRAINT_UNIQUE, flags, allowSystemTableMods, false);
	index_close(index, NoLock);
	table_close(table, NoLock);
}

/* Set the parameter by which dumps keep the method. */
static void
keep_method(Oid index)
{
	HeapTuple	old = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	List	   *set = list_make1(makeDefElem(SFX_METHOD_OPTION, (Node *) makeString(SFX_METHOD), -1));
	Datum		options;
	bool		isnull;

	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for relation %u", index);
	options = SysCacheGetAttr(RELOID, old, Anum_pg_class_reloptions, &isnull);
	options = transformRelOptions(isnull ? (Datum) 0 : options, set, NULL, NULL, false, false);
	ReleaseSysCache(old);
	sfx_row_set(RelationRelationId, RELOID, index, Anum_pg_class_reloptions, options, false);
	CommandCounterIncrement();
}

void
sfx_using_done(List *out)
{
	foreach_ptr(Using, u, out)
	{
		CommandCounterIncrement();
		make_constraint(u);
		CommandCounterIncrement();
		keep_method(u->index);
	}
}
