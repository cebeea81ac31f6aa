/*-------------------------------------------------------------------------
 * in_place.c - surfidx.in_place_of_btree: statements that name btree, or no method, create indexes
 * of ours
 *
 * The grammar makes the same tree of no method and of USING btree, so both are meant.  What would
 * be refused later, or would be another order, stays btree; a NOTICE says why.
 *
 * CREATE INDEX, and the constraints of CREATE TABLE, come by as IndexStmt, once the table exists.
 * ALTER TABLE ... ADD creates its indexes out of sight: its constraints are changed beforehand.
 *
 * An index of LIKE is a copy, and keeps its method: a table that is to be attached needs its
 * parent's methods.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"
#include "in_place.h"
#include "settings.h"
#include "twin.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_type.h"
#include "parser/parse_utilcmd.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Bits of the setting. */
#define CONSTRAINTS		1
#define INDEXES			2

static int	in_place = 0;
static bool in_place_notice = true;

static const struct config_enum_entry choices[] = {
	{"off", 0, false},
	{"constraints", CONSTRAINTS, false},
	{"indexes", INDEXES, false},
	{"all", CONSTRAINTS | INDEXES, false},
	/* "all" needs quotes in SET */
	{"on", CONSTRAINTS | INDEXES, true},
	{NULL, 0, false}
};

void
sfx_in_place_define_gucs(void)
{
	DefineCustomEnumVariable("surfidx.in_place_of_btree",
							 "Makes surfidx indexes where statements ask for btree or for none.",
							 "What surfidx cannot serve becomes btree.",
							 &in_place,
							 0, choices,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("surfidx.in_place_notice",
							 "Tells why an index stayed btree with surfidx.in_place_of_btree.",
							 "One notice for a client's statement.",
							 &in_place_notice,
							 true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

/*
 * Does the setting ask for this?  Not in an extension's script, which has its author's indexes, nor
 * in a binary upgrade, which has the old cluster's files for them.
 */
static bool
is_wanted(int what)
{
	return (in_place & what) != 0 && !IsBinaryUpgrade && !creating_extension &&
		sfx_is_our_method(SFX_METHOD);
}

bool
sfx_in_place_indexes(void)
{
	return is_wanted(INDEXES);
}

bool
sfx_in_place_any(void)
{
	return is_wanted(CONSTRAINTS | INDEXES);
}

/* ---- what stays btree, and why (NULL: it need not) ---- */

const char *
sfx_relation_stays(Oid relid)
{
	FormData_pg_class row;

	if (!sfx_row_get(RELOID, relid, &row, sizeof(row)))
		return "the table is gone";
	if (relid < FirstNormalObjectId || IsSystemClass(relid, &row))
		return "the table is the system's";
	if (row.relpersistence == RELPERSISTENCE_TEMP)
		return "the table is temporary";
	if ((row.relkind == RELKIND_RELATION || row.relkind == RELKIND_MATVIEW) && row.relam != HEAP_TABLE_AM_OID)
		return "the table's access method is not heap";
	return NULL;
}

/* When all is there surfidx_convert() can tell whether one does. */
#define UNIQUE_STAYS	"before version 18 others may need a unique index to be a btree"

static const char *
table_stays(Oid relid, bool unique)
{
	const char *why = sfx_relation_stays(relid);

	if (why == NULL && unique && SFX_UNIQUE_MEANS_BTREE)
		return UNIQUE_STAYS;
	if (why != NULL || get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return why;
	foreach_oid(oid, find_all_inheritors(relid, NoLock, NULL))
	{
		char		kind = get_rel_relkind(oid);

		/* a partition of a partition may be dropped meanwhile: core leaves it out, too */
		if (kind != '\0' && kind != RELKIND_FOREIGN_TABLE &&
			(why = sfx_relation_stays(oid)) != NULL)
			return why;
	}
	return NULL;
}

static bool
is_btree(Oid relid)
{
	FormData_pg_class row;

	return sfx_row_get(RELOID, relid, &row, sizeof(row)) && row.relam == BTREE_AM_OID;
}

/* Has the table a btree on columns of these names (NULL: an expression)? */
static bool
has_btree(Oid relid, List *columns)
{
	bool		found = false;

	foreach_ptr(HeapTupleData, row, sfx_rows_with(IndexRelationId, IndexIndrelidIndexId,
												  Anum_pg_index_indrelid, relid))
	{
		Form_pg_index index = (Form_pg_index) GETSTRUCT(row);

		found = index->indnkeyatts == list_length(columns) &&
			is_btree(index->indexrelid);
		for (int i = 0; found && i < index->indnkeyatts; i++)
		{
			const char *name = list_nth(columns, i);
			const char *its = get_attname(relid, index->indkey.values[i], true);

			found = name == NULL || its == NULL ? name == its : strcmp(name, its) == 0;
		}
		if (found)
			break;
	}
	return found;
}

/*
 * Indexes of a partitioned table and of its partitions are attached to one another if their methods
 * are the same; so an index of a table above or below decides.
 */
static const char *
relatives_stay(Oid relid, List *columns)
{
	List	   *relatives = get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL;

	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		relatives = list_concat(relatives,
								list_delete_first(find_all_inheritors(relid, NoLock, NULL)));
	foreach_oid(oid, relatives)
	{
		if (has_btree(oid, columns))
			return "a table above or below it has a btree of these columns";
	}
	return NULL;
}

/*
 * Has the type a class of ours in place of btree's class, which *opclass names or, as NIL, leaves
 * to the type's default?  Then *opclass becomes ours; NIL if that is the default, too.
 */
static bool
find_class(Oid type, List **opclass)
{
	Oid			am = get_index_am_oid(SFX_METHOD, false);
	Oid			btree,
				ours;
	List	   *twin;

	if (!OidIsValid(type))
		return false;
	ours = GetDefaultOpClass(type, am);
	btree = *opclass == NIL ? GetDefaultOpClass(type, BTREE_AM_OID) :
		get_opclass_oid(BTREE_AM_OID, *opclass, true);
	if (!OidIsValid(btree) || !IsBinaryCoercible(type, get_opclass_input_type(btree)))
		return false;
	if (OidIsValid(ours) && sfx_are_twins(ours, btree) && sfx_class_takes(ours, type))
	{
		*opclass = NIL;
		return true;
	}
	twin = *opclass == NIL ? NIL : sfx_twin_of_name(btree, type, am);
	if (twin != NIL)
		*opclass = twin;
	return twin != NIL;
}

#define NO_CLASS	"a column has no operator class of surfidx with the same order"

/* ON CONFLICT may name a class, too, and core looks that up among btree's. */
#define NAMED_CLASS	"it is unique and names an operator class"

/* ---- CREATE INDEX, and what CREATE TABLE makes ---- */

static bool
has_expressions(const IndexStmt *stmt)
{
	foreach_node(IndexElem, elem, stmt->indexParams)
	{
		if (elem->expr != NULL)
			return true;
	}
	return false;
}

/* Replace the columns' classes by ours, if all can be; else say why not. */
static const char *
columns_stay(Oid table, IndexStmt *stmt, const char *source)
{
	List	   *columns = copyObject(stmt->indexParams);

	/* the types of expressions are known once these are analyzed, as core is going to do */
	IndexStmt  *analyzed = has_expressions(stmt) ?
	transformIndexStmt(table, copyObject(stmt), source) : stmt;
	List	   *names = NIL;
	const char *why;
	ListCell   *lc,
			   *known;

	forboth(lc, columns, known, analyzed->indexParams)
	{
		IndexElem  *column = lfirst_node(IndexElem, lc);
		AttrNumber	number = column->expr ? InvalidAttrNumber : get_attnum(table, column->name);
		Oid			type;

		if (column->expr == NULL && number <= 0)
			return "its columns are not the table's";
		type = column->expr ? exprType(lfirst_node(IndexElem, known)->expr) :
			get_atttype(table, number);
		if (stmt->unique && column->opclass != NIL)
			return NAMED_CLASS;
		if (column->opclassopts != NIL || !find_class(type, &column->opclass))
			return NO_CLASS;
		names = lappend(names, column->name);
	}
	why = relatives_stay(table, names);
	if (why == NULL)
		stmt->indexParams = columns;
	return why;
}

/*
 * Once for a client's statement, however many indexes it makes: the first of them.  Indexes of
 * temporary tables are nobody's concern.
 */
static void
tell(Oid table, const char *index, const char *why)
{
	static TimestampTz told = 0;
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	const char *name = index ? psprintf("index \"%s\"", index) : "an index";
	bool		unique = strcmp(why, UNIQUE_STAYS) == 0;

	if (!in_place_notice || statement == told ||
		isTempOrTempToastNamespace(get_rel_namespace(table)))
		return;
	told = statement;
	ereport(NOTICE,
			(errmsg("%s of table \"%s\" stays btree: %s", name, get_rel_name(table), why),
			 errhint("%sSet surfidx.in_place_notice to off to silence this notice.", !unique ? "" :
					 "surfidx_convert() makes it surfidx later, if nothing needs a btree. ")));
}

/* IF NOT EXISTS: is there a relation of that name, so that nothing will be created? */
bool
sfx_name_is_taken(const IndexStmt *stmt, Oid table)
{
	return stmt->if_not_exists && stmt->idxname != NULL && OidIsValid(table) &&
		OidIsValid(get_relname_relid(stmt->idxname, get_rel_namespace(table)));
}

void
sfx_in_place_of_index(IndexStmt *stmt, const char *source)
{
	bool		copied = stmt->transformed; /* by LIKE */
	Oid			table;
	const char *why;

	if (copied || strcmp(stmt->accessMethod, DEFAULT_INDEX_TYPE) != 0 ||
		stmt->excludeOpNames != NIL || stmt->relation == NULL || !is_wanted(stmt->isconstraint ? CONSTRAINTS : INDEXES))
		return;
	table = RangeVarGetRelidExtended(stmt->relation,
									 stmt->concurrent ? ShareUpdateExclusiveLock : ShareLock, 0, RangeVarCallbackOwnsRelation, NULL);
	why = table_stays(table, stmt->unique);
	if (why == NULL)
		why = columns_stay(table, stmt, source);
	if (why != NULL)
	{
		if (!sfx_name_is_taken(stmt, table))
			tell(table, stmt->idxname, why);
	}
	else
	{
		stmt->accessMethod = pstrdup(SFX_METHOD);
		if (stmt->isconstraint)
			stmt->options = sfx_with_method(stmt->options, true);
	}
}

/* ---- ALTER TABLE ... ADD ---- */

/* Will that constraint create a btree? */
static bool
makes_btree(const Constraint *c)
{
	return (c->contype == CONSTR_PRIMARY || c->contype == CONSTR_UNIQUE) &&
		c->indexname == NULL && c->access_method == NULL && !SfxWithoutOverlaps(c);
}

/* The type of that name; InvalidOid: unknown here. */
static Oid
type_named(const TypeName *name)
{
	static const struct
	{
		const char *name;
		Oid			type;
	}			serials[] = {
		{"smallserial", INT2OID}, {"serial2", INT2OID}, {"serial", INT4OID},
		{"serial4", INT4OID}, {"bigserial", INT8OID}, {"serial8", INT8OID}
	};
	Type		tuple;
	Oid			type = InvalidOid;

	/* as the parser does, before it looks for types */
	if (list_length(name->names) == 1 && !name->pct_type)
	{
		for (int i = 0; i < lengthof(serials); i++)
		{
			if (strcmp(strVal(linitial(name->names)), serials[i].name) == 0)
				return serials[i].type;
		}
	}
	tuple = LookupTypeName(NULL, name, NULL, true);
	if (tuple != NULL)
	{
		if (((Form_pg_type) GETSTRUCT(tuple))->typisdefined)
			type = typeTypeId(tuple);
		ReleaseSysCache(tuple);
	}
	return type;
}

/* IF NOT EXISTS: has the table that column, so that nothing will be added? */
static bool
is_there(const AlterTableCmd *cmd, Oid table)
{
	return cmd->missing_ok &&
		get_attnum(table, castNode(ColumnDef, cmd->def)->colname) > 0;
}

/*
 * The type of a column when the statement's indexes are created: after all that it does to columns.
 */
static Oid
type_of_key(const AlterTableStmt *stmt, Oid table, const char *key)
{
	AttrNumber	number = get_attnum(table, key);
	Oid			type = number > 0 ? get_atttype(table, number) : InvalidOid;

	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (cmd->subtype == AT_AlterColumnType && strcmp(cmd->name, key) == 0)
			return type_named(castNode(ColumnDef, cmd->def)->typeName);
		if (cmd->subtype == AT_AddColumn &&
			strcmp(castNode(ColumnDef, cmd->def)->colname, key) == 0 && !is_there(cmd, table))
			type = type_named(castNode(ColumnDef, cmd->def)->typeName);
	}
	return type;
}

static const char *
constraint_stays(const AlterTableStmt *stmt, Oid table, List *keys)
{
	const char *why = table_stays(table, true);
	List	   *names = NIL;

	foreach_node(String, key, keys)
	{
		List	   *opclass = NIL;

		if (why == NULL && !find_class(type_of_key(stmt, table, strVal(key)), &opclass))
			why = NO_CLASS;
		names = lappend(names, strVal(key));
	}
	return why ? why : relatives_stay(table, names);
}

/* If the constraint would create a btree, add it to *constraints, and its columns to *keys. */
static void
note_constraint(Constraint *c, char *column, List **constraints, List **keys)
{
	if (!makes_btree(c))
		return;
	*constraints = lappend(*constraints, c);
	*keys = lappend(*keys, c->keys != NIL ? c->keys : list_make1(makeString(column)));
}

/* The constraints that create btrees; table: that of the statement, or InvalidOid, and all may. */
static List *
find_constraints(const AlterTableStmt *stmt, Oid table, List **keys)
{
	List	   *found = NIL;

	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (cmd->subtype == AT_AddConstraint)
			note_constraint(castNode(Constraint, cmd->def), NULL, &found, keys);
		else if (cmd->subtype == AT_AddColumn && !is_there(cmd, table))
		{
			ColumnDef  *column = castNode(ColumnDef, cmd->def);

			foreach_node(Constraint, c, column->constraints)
				note_constraint(c, column->colname, &found, keys);
		}
	}
	return found;
}

void
sfx_in_place_of_constraints(AlterTableStmt *stmt)
{
	List	   *keys = NIL;
	List	   *found;
	Oid			table;
	ListCell   *lc,
			   *of;

	if (stmt->objtype != OBJECT_TABLE || !is_wanted(CONSTRAINTS) ||
		find_constraints(stmt, InvalidOid, &keys) == NIL)
		return;
	table = AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
	if (!OidIsValid(table))
		return;
	keys = NIL;
	found = find_constraints(stmt, table, &keys);
	forboth(lc, found, of, keys)
	{
		Constraint *c = lfirst_node(Constraint, lc);
		const char *why = constraint_stays(stmt, table, lfirst(of));

		if (why != NULL)
			tell(table, c->conname, why);
		else
		{
			c->access_method = pstrdup(SFX_METHOD);
			c->options = sfx_with_method(c->options, true);
		}
	}
}
