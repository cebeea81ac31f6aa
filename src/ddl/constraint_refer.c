/*-------------------------------------------------------------------------
 * constraint_refer.c - foreign keys that leave their statement: before 18 those that refer to an
 * index of ours, in all versions those beside a column that is rebuilt
 *
 * Core finds a foreign key's operators through the classes of the index that it refers to, and
 * accepts only btree's.  Nothing that it stores, and nothing that it does later, depends on the
 * method.  So while it creates the key, pg_index has btree's twins of our classes (Q7): from here
 * to the row of the constraint, and no other code may run in between.  For that the key leaves its
 * statement, and core's function creates it: before the statement if that has nothing else in it,
 * and after it otherwise.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "constraint.h"
#include "twin.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* An index that has other classes for the moment, and its own classes. */
typedef struct Lent
{
	Oid			index;
	oidvector  *classes;
} Lent;

static object_access_hook_type prev_access = NULL;
static bool making = false;		/* a key is being created, and its row is not there yet */
static Oid	made;				/* the key */
static List *lent = NIL;
static List *hidden = NIL;		/* indexes that the key must not refer to */

/* ---- which indexes a key may refer to ---- */

static bool
is_candidate(const Form_pg_index index)
{
	return index->indisunique && index->indisvalid && sfx_is_our_index(index->indexrelid);
}

/* Has the table an index that a key may refer to?  Locks nothing: the answer is asked for again. */
static bool
has_candidate(Oid table)
{
	foreach_ptr(HeapTupleData, row, sfx_rows_with(IndexRelationId, IndexIndrelidIndexId,
												  Anum_pg_index_indrelid, table))
	{
		if (is_candidate((Form_pg_index) GETSTRUCT(row)))
			return true;
	}
	return false;
}

/* Btree's classes in place of an index's; NULL: a column has no such class, or is an expression. */
static oidvector *
twins_of(const Form_pg_index index, const oidvector *classes)
{
	oidvector  *twins = buildoidvector(classes->values, classes->dim1);

	for (int i = 0; i < index->indnkeyatts; i++)
	{
		AttrNumber	column = index->indkey.values[i];

		twins->values[i] = column <= 0 ? InvalidOid :
			sfx_twin_class(classes->values[i], get_atttype(index->indrelid, column), BTREE_AM_OID);
		if (!OidIsValid(twins->values[i]))
			return NULL;
	}
	return twins;
}

/* ---- lending classes ---- */

static void
set_classes(Oid index, oidvector *classes)
{
	sfx_row_set(IndexRelationId, INDEXRELID, index, Anum_pg_index_indclass, PointerGetDatum(classes), false);
}

/* Give an index of ours btree's classes, if it is a candidate. */
static void
lend(Oid indexoid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(indexoid));
	Form_pg_index index = HeapTupleIsValid(tuple) ? (Form_pg_index) GETSTRUCT(tuple) : NULL;

	if (index != NULL && is_candidate(index))
	{
		bool		isnull;
		oidvector  *classes = (oidvector *)
		DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &isnull));
		oidvector  *twins = twins_of(index, classes);

		if (twins != NULL)
		{
			Lent	   *l = palloc(sizeof(Lent));

			l->index = indexoid;
			l->classes = buildoidvector(classes->values, classes->dim1);
			lent = lappend(lent, l);
			set_classes(indexoid, twins);
		}
	}
	if (index != NULL)
		ReleaseSysCache(tuple);
}

/* ---- hiding indexes ---- */

/*
 * Core considers valid indexes only.  No other session sees this row before it is the old one
 * again.
 */
static void
set_valid(Oid index, bool valid)
{
	sfx_row_set(IndexRelationId, INDEXRELID, index, Anum_pg_index_indisvalid, BoolGetDatum(valid), false);
	/* its table's cache entry names the primary key's valid index */
	CacheInvalidateRelcacheByRelid(IndexGetRelation(index, false));
}

static void
hide(Oid indexoid)
{
	FormData_pg_index index;

	if (sfx_row_get(INDEXRELID, indexoid, &index, sizeof(index)) && index.indisunique && index.indisvalid)
	{
		hidden = lappend_oid(hidden, indexoid);
		set_valid(indexoid, false);
	}
}

/*
 * Arrange what core sees of a table's indexes: the one that the key had, or all (InvalidOid), with
 * classes that core accepts.  The lock on the table keeps other sessions from changing the rows of
 * its indexes.
 */
static void
arrange(Oid tableoid, Oid kept)
{
	Relation	table = table_open(tableoid, NoLock);

	Assert(lent == NIL && hidden == NIL);
	foreach_oid(oid, RelationGetIndexList(table))
	{
		if (OidIsValid(kept) && oid != kept)
			hide(oid);
		else if (SFX_UNIQUE_MEANS_BTREE && table->rd_rel->relkind == RELKIND_RELATION)
			lend(oid);
	}
	table_close(table, NoLock);
	CommandCounterIncrement();
}

/* Give the indexes their own classes, and make them valid again. */
static void
take_back(void)
{
	List	   *all = lent;
	List	   *unseen = hidden;

	making = false;
	lent = hidden = NIL;
	if (all == NIL && unseen == NIL)
		return;
	foreach_ptr(const Lent, l, all)
	{
		set_classes(l->index, l->classes);
	}
	foreach_oid(oid, unseen)
		set_valid(oid, true);
	CommandCounterIncrement();
}

/* The object access hook: the row of the constraint has been created. */
static void
at_access(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	if (prev_access)
		prev_access(access, class, object, sub, arg);
	if (!making || access != OAT_POST_CREATE || class != ConstraintRelationId)
		return;
	made = object;
	if (!SFX_MUTANT("classes lent for longer"))
		take_back();
}

void
sfx_refer_init(void)
{
	prev_access = object_access_hook;
	object_access_hook = at_access;
}

bool
sfx_classes_are_lent(void)
{
	return making && lent != NIL;
}

/* ---- making a key ---- */

/* Create the key, by core's function. */
static void
make(AlterTableStmt *stmt, Oid table, Oid index, const char *source)
{
	const Constraint *c = castNode(Constraint, linitial_node(AlterTableCmd, stmt->cmds)->def);
	PlannedStmt *planned = makeNode(PlannedStmt);
	AlterTableUtilityContext context = {.pstmt = planned,.queryString = source,.relid = table};
	Oid			referred;

	planned->commandType = CMD_UTILITY;
	planned->canSetTag = false;
	planned->utilityStmt = (Node *) stmt;
	/* as core is going to lock it */
	referred = SFX_UNIQUE_MEANS_BTREE || OidIsValid(index) ?
		RangeVarGetRelid(c->pktable, SFX_MUTANT("lent without a lock") ? NoLock :
						 ShareRowExclusiveLock, true) : InvalidOid;
	if (OidIsValid(referred))
	{
		arrange(referred, index);
		making = true;
	}
	AlterTable(stmt, AlterTableGetLockLevel(stmt->cmds), &context);
	take_back();
	CommandCounterIncrement();
}

Oid
sfx_foreign_make(AlterTableStmt *stmt, Oid table, Oid index, const char *source)
{
	/* part of a statement that triggers have seen; the next statement may begin within this one */
	EventTriggerInhibitCommandCollection();
	made = InvalidOid;
	PG_TRY();
	{
		make(stmt, table, index, source);
	}
	PG_FINALLY();
	{
		/* after an error the rows are the old ones, by the rollback */
		making = false;
		lent = hidden = NIL;
		EventTriggerUndoInhibitCommandCollection();
	}
	PG_END_TRY();
	return made;
}

/* ---- taking keys out of their statement ---- */

/* Does the statement make an index of ours, to which a key of the statement may refer? */
static bool
makes_ours(const AlterTableStmt *stmt)
{
	foreach_node(Constraint, c, sfx_constraints_added(stmt))
	{
		if ((c->contype == CONSTR_PRIMARY || c->contype == CONSTR_UNIQUE) &&
			c->access_method != NULL && sfx_is_our_method(c->access_method))
			return true;
	}
	return false;
}

static bool
may_refer_to_ours(const AlterTableStmt *stmt, Oid table, const Constraint *c)
{
	Oid			referred = c->contype == CONSTR_FOREIGN && c->pktable != NULL ?
	RangeVarGetRelid(c->pktable, NoLock, true) : InvalidOid;

	return OidIsValid(referred) && (has_candidate(referred) ||
									(referred == table && makes_ours(stmt)));
}

static AlterTableStmt *
statement_of(const AlterTableStmt *stmt, Constraint *c)
{
	AlterTableStmt *one = makeNode(AlterTableStmt);
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	cmd->subtype = AT_AddConstraint;
	cmd->def = (Node *) c;
	cmd->behavior = DROP_RESTRICT;
	one->relation = copyObject(stmt->relation);
	one->objtype = stmt->objtype;
	one->cmds = list_make1(cmd);
	return one;
}

/*
 * The column's constraints without its foreign keys, which are added to *out as the table's.  The
 * attributes after a constraint say when it is checked.
 */
static List *
without_foreign(const AlterTableStmt *stmt, const ColumnDef *column, List **out)
{
	List	   *left = NIL;
	Constraint *foreign = NULL;

	foreach_node(Constraint, c, column->constraints)
	{
		if (c->contype == CONSTR_FOREIGN)
		{
			foreign = copyObject(c);
			foreign->fk_attrs = list_make1(makeString(pstrdup(column->colname)));
			*out = lappend(*out, statement_of(stmt, foreign));
		}
		else if (foreign != NULL && c->contype == CONSTR_ATTR_DEFERRABLE)
			foreign->deferrable = true;
		else if (foreign != NULL && c->contype == CONSTR_ATTR_DEFERRED)
			foreign->deferrable = foreign->initdeferred = true;
		else if (foreign == NULL ||
				 (c->contype != CONSTR_ATTR_NOT_DEFERRABLE && c->contype != CONSTR_ATTR_IMMEDIATE))
		{
			left = lappend(left, c);
			foreign = NULL;
		}
	}
	return left;
}

/* Do a column's constraints say twice, or in contradiction, when they are checked? */
static bool
is_contradictory(const List *constraints)
{
	int			said[4] = {0};	/* DEFERRABLE, NOT DEFERRABLE, DEFERRED, IMMEDIATE, as ConstrType
								 * has them */

	foreach_node(Constraint, c, constraints)
	{
		if (c->contype >= CONSTR_ATTR_DEFERRABLE && c->contype <= CONSTR_ATTR_IMMEDIATE)
			said[c->contype - CONSTR_ATTR_DEFERRABLE]++;
		else
			memset(said, 0, sizeof(said));
		if (said[0] + said[1] > 1 || said[2] + said[3] > 1 || (said[1] && said[2]))
			return true;
	}
	return false;
}

/*
 * May a key of that column refer to an index of ours?  Columns that core refuses, or ignores, stay.
 */
static bool
column_refers_to_ours(const AlterTableStmt *stmt, Oid table, const AlterTableCmd *cmd)
{
	const ColumnDef *column = castNode(ColumnDef, cmd->def);

	if (cmd->missing_ok && get_attnum(table, column->colname) != InvalidAttrNumber)
		return false;
	foreach_node(Constraint, c, column->constraints)
	{
		if (may_refer_to_ours(stmt, table, c))
			return !is_contradictory(column->constraints);
	}
	return false;
}

/*
 * Take out the table's keys from the first one on that may refer to an index of ours, so that names
 * are chosen in turn; of a new column all keys, if one of them may.
 */
static List *
take_out(AlterTableStmt *stmt, Oid table)
{
	List	   *left = NIL;
	List	   *out = NIL;

	foreach_node(AlterTableCmd, cmd, stmt->cmds)
	{
		if (cmd->subtype == AT_AddConstraint)
		{
			Constraint *c = castNode(Constraint, cmd->def);

			if (c->contype == CONSTR_FOREIGN && (out != NIL || may_refer_to_ours(stmt, table, c)))
			{
				out = lappend(out, statement_of(stmt, c));
				continue;
			}
		}
		else if (cmd->subtype == AT_AddColumn && column_refers_to_ours(stmt, table, cmd))
		{
			ColumnDef  *column = castNode(ColumnDef, cmd->def);

			column->constraints = without_foreign(stmt, column, &out);
		}
		left = lappend(left, cmd);
	}
	if (out != NIL)
	{
		/* locks must not be raised later; and rights are checked before anything is done */
		(void) AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
		stmt->cmds = left;
	}
	return out;
}

/*
 * A command in place of a key that was created: it does nothing, and shows event triggers that the
 * table was altered.  VALIDATE of a valid key; of one that is not valid, ALTER to what it is, whose
 * lock is not stronger than the one creating it takes.
 */
static AlterTableCmd *
change_nothing(Constraint *c, Oid key)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);
	Constraint *same = copyObject(c);

	same->conname = get_constraint_name(key);
	cmd->subtype = c->initially_valid ? AT_ValidateConstraint : AT_AlterConstraint;
	cmd->name = same->conname;
	cmd->def = c->initially_valid ? NULL : (Node *) same;
	return cmd;
}

static Oid
make_out(AlterTableStmt *one, const char *source)
{
	return sfx_foreign_make(one, AlterTableLookupRelation(one, AlterTableGetLockLevel(one->cmds)),
							InvalidOid, source);
}

List *
sfx_foreign_out(AlterTableStmt *stmt, const char *source)
{
	Oid			table;
	List	   *out;

	if (stmt->objtype != OBJECT_TABLE || !(SFX_UNIQUE_MEANS_BTREE || sfx_rebuilds_any(stmt)))
		return NIL;
	table = RangeVarGetRelid(stmt->relation, NoLock, true);
	out = OidIsValid(table) ? take_out(stmt, table) : NIL;
	if (stmt->cmds != NIL && !SFX_MUTANT("keys before their statement"))
		return out;
	foreach_node(AlterTableStmt, one, out)
	{
		Constraint *c = castNode(Constraint, linitial_node(AlterTableCmd, one->cmds)->def);
		Oid			key = make_out(one, source);

		if (OidIsValid(key) && !SFX_MUTANT("keys without a trace"))
			stmt->cmds = lappend(stmt->cmds, change_nothing(c, key));
	}
	return NIL;
}

void
sfx_foreign_done(List *out, const char *source)
{
	foreach_node(AlterTableStmt, one, out)
		(void) make_out(one, source);
}
