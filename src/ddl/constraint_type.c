/*-------------------------------------------------------------------------
 * constraint_type.c - ALTER COLUMN TYPE of a column in a constraint of ours
 *
 * Core builds such a constraint again from its definition, in a place without a hook: its parser would ask btree for an
 * index with our parameter.  So the constraint is dropped before the statement and added behind it, from the same
 * definition, with what hangs on its index.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "constraint.h"
#include "settings.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/comment.h"
#include "commands/tablecmds.h"
#include "parser/parser.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

typedef struct Down
{
	Oid			table;
	char	   *name;			/* the constraint's and its index's */
	char	   *definition;		/* ALTER TABLE ... ADD CONSTRAINT ... */
	char	   *comment;		/* of the constraint; may be NULL */
	char	   *index_comment;
	bool		is_identity;
	bool		is_clustered;
} Down;

/* Does the statement have core rebuild what uses one of these columns? */
static bool
rebuilds(const AlterTableStmt * stmt, Relation table, const Form_pg_index index)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		AttrNumber	column;

		if (!SfxRebuildsColumn(cmd->subtype))
			continue;
		column = get_attnum(RelationGetRelid(table), cmd->name);
		for (int i = 0; i < index->indnatts; i++)
			if (index->indkey.values[i] == column && column != InvalidAttrNumber)
				return true;
	}
	return false;
}

/* Does the statement itself drop that constraint, or a column of it? */
static bool
drops(const AlterTableStmt * stmt, Relation table, const Form_pg_index index, const char *name)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_DropConstraint && strcmp(cmd->name, name) == 0)
			return true;
		if (cmd->subtype != AT_DropColumn)
			continue;
		for (int i = 0; i < index->indnatts; i++)
			if (index->indkey.values[i] == get_attnum(RelationGetRelid(table), cmd->name))
				return true;
	}
	return false;
}

static void
refuse_if_referenced(Relation table, Oid index, const char *name)
{
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_confrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationGetRelid(table)));
	scan = systable_beginscan(constraints, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint c = (Form_pg_constraint) GETSTRUCT(tuple);

		if (c->contype == CONSTRAINT_FOREIGN && c->conindid == index)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot rebuild surfidx constraint \"%s\" on table \"%s\" because a foreign key refers to it",
							name, RelationGetRelationName(table)),
					 errdetail("The foreign key is \"%s\" on table \"%s\".", NameStr(c->conname), get_rel_name(c->conrelid)),
					 errhint("Drop the foreign key, alter the column, and add the foreign key again.")));
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
}

/* Is the constraint one that goes and comes with a partitioned table's? */
static bool
is_inherited(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	bool		inherited = HeapTupleIsValid(tuple) && OidIsValid(((Form_pg_constraint) GETSTRUCT(tuple))->conparentid);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return inherited;
}

/* What is to be known of that index's constraint, if the statement rebuilds it; NULL: it does not. */
static Down *
note_down(const AlterTableStmt * stmt, Relation table, Relation index)
{
	Oid			oid = get_index_constraint(RelationGetRelid(index));
	const char *name = RelationGetRelationName(index);
	Down	   *d;

	if (!OidIsValid(oid) || !sfx_is_ours(index->rd_indam) || index->rd_index->indisexclusion ||
		!rebuilds(stmt, table, index->rd_index) || drops(stmt, table, index->rd_index, name) || is_inherited(oid))
		return NULL;
	refuse_if_referenced(table, RelationGetRelid(index), name);
	d = palloc(sizeof(Down));
	d->table = RelationGetRelid(table);
	d->name = pstrdup(name);
	d->definition = pg_get_constraintdef_command(oid);
	d->comment = GetComment(oid, ConstraintRelationId, 0);
	d->index_comment = GetComment(RelationGetRelid(index), RelationRelationId, 0);
	d->is_identity = index->rd_index->indisreplident;
	d->is_clustered = index->rd_index->indisclustered;
	return d;
}

/* Nothing may be open while a part runs. */
static List *
take_down_of(const AlterTableStmt * stmt, Oid relid, const char *source, List *down)
{
	Relation	table = table_open(relid, NoLock);
	AlterTableStmt *part = sfx_alter_of(relid);
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(table))
	{
		Relation	index = relation_open(lfirst_oid(lc), AccessExclusiveLock);
		Down	   *d = note_down(stmt, table, index);

		if (d != NULL)
		{
			down = lappend(down, d);
			sfx_alter_add(part, AT_DropConstraint, d->name, NULL);
		}
		relation_close(index, NoLock);
	}
	table_close(table, NoLock);
	if (part->cmds != NIL)
		sfx_run_part((Node *) part, source);
	return down;
}

/* The tables of a composite type: ALTER TYPE ... CASCADE comes to them. */
static List *
tables_of_type(Oid type)
{
	Relation	classes = table_open(RelationRelationId, AccessShareLock);
	List	   *tables = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_class_reloftype, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	scan = systable_beginscan(classes, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		tables = lappend_oid(tables, ((Form_pg_class) GETSTRUCT(tuple))->oid);
	systable_endscan(scan);
	table_close(classes, AccessShareLock);
	return tables;
}

/* Every table whose columns the statement comes to, locked. */
static List *
tables_altered(AlterTableStmt * stmt)
{
	Oid			relid = AlterTableLookupRelation(stmt, AccessExclusiveLock);
	List	   *tables = NIL;
	ListCell   *lc;

	if (!OidIsValid(relid))
		return NIL;
	if (stmt->objtype == OBJECT_TYPE)
	{
		foreach(lc, tables_of_type(get_rel_type_id(relid)))
		{
			LockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
			tables = list_concat_unique_oid(tables, find_all_inheritors(lfirst_oid(lc), AccessExclusiveLock, NULL));
		}
		return tables;
	}
	return stmt->relation->inh ? find_all_inheritors(relid, AccessExclusiveLock, NULL) : list_make1_oid(relid);
}

List *
sfx_constraints_down(AlterTableStmt * stmt, const char *source)
{
	List	   *down = NIL;
	bool		any = false;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
		any |= SfxRebuildsColumn(lfirst_node(AlterTableCmd, lc)->subtype);
	if (!any || (stmt->objtype != OBJECT_TABLE && stmt->objtype != OBJECT_TYPE))
		return NIL;
	foreach(lc, tables_altered(stmt))
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION ||
			get_rel_relkind(lfirst_oid(lc)) == RELKIND_PARTITIONED_TABLE)
		down = take_down_of(stmt, lfirst_oid(lc), source, down);
	return down;
}

static void
put_back(const Down *d)
{
	AlterTableStmt *part = sfx_alter_of(d->table);
	Oid			constraint;

	sfx_run_part(linitial_node(RawStmt, raw_parser(d->definition, RAW_PARSE_DEFAULT))->stmt, d->definition);
	constraint = get_relation_constraint_oid(d->table, d->name, false);
	if (d->comment)
		CreateComments(constraint, ConstraintRelationId, 0, d->comment);
	if (d->index_comment)
		CreateComments(get_constraint_index(constraint), RelationRelationId, 0, d->index_comment);
	if (d->is_identity)
	{
		ReplicaIdentityStmt *identity = makeNode(ReplicaIdentityStmt);

		identity->identity_type = REPLICA_IDENTITY_INDEX;
		identity->name = d->name;
		sfx_alter_add(part, AT_ReplicaIdentity, NULL, (Node *) identity);
	}
	if (d->is_clustered)
		sfx_alter_add(part, AT_ClusterOn, d->name, NULL);
	if (part->cmds != NIL)
		sfx_run_part((Node *) part, d->definition);
}

void
sfx_constraints_up(List *down)
{
	ListCell   *lc;

	if (down != NIL)
		CommandCounterIncrement();
	foreach(lc, down)
		put_back((Down *) lfirst(lc));
}
