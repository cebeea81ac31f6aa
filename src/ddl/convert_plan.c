/*-------------------------------------------------------------------------
 * convert_plan.c - the steps by which the indexes of a table become another method's (Q6)
 *
 * All that is known of earlier runs stands in the catalogs.  An index is in one of these states,
 * and the steps lead from each of them to the last:
 *
 *	no twin						CREATE twin, swap, DROP
 *	twin not valid, or none		DROP twin, CREATE twin, swap, DROP
 *	twin valid					swap, DROP
 *	swapped						DROP what was replaced
 *	a twin that is left over	DROP it: its index is of that method already
 *	a twin of nothing			the remark says so: its origin is unknown
 *
 * An index of a partitioned table is converted with all below it: each partition's index gets a
 * twin, and one step swaps all of them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "convert.h"
#include "index_open.h"
#include "settings.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* A plan in the making. */
typedef struct Planning
{
	Oid			am;
	List	   *tables;
	bool		owned;			/* the user owns the current index, with all below it, ... */
	bool		may_create;		/* ... and may create indexes in their schemas */
	List	   *steps;
} Planning;

static SfxStep *
add_step(Planning *p, SfxStepKind kind, Oid item, Relation index, char *statement)
{
	SfxStep    *step = palloc0(sizeof(SfxStep));

	step->kind = kind;
	step->item = item;
	step->table = index->rd_index->indrelid;
	step->index = RelationGetRelid(index);
	step->statement = statement;
	p->steps = lappend(p->steps, step);
	return step;
}

static void
add_left(Planning *p, Relation index, const char *why)
{
	SfxStep    *step = add_step(p, SFX_STEP_LEFT, RelationGetRelid(index), index, NULL);

	step->remark = psprintf("stays %s: %s", get_am_name(index->rd_rel->relam), why);
}

static char *
drop_of(Oid schema, const char *name)
{
	return psprintf("DROP INDEX CONCURRENTLY %s",
					quote_qualified_identifier(get_namespace_name(schema), name));
}

static void
add_drop(Planning *p, Oid item, Relation index, const char *name)
{
	(void) add_step(p, SFX_STEP_DROP, item, index, drop_of(RelationGetNamespace(index), name));
}

static void
add_create(Planning *p, Oid item, Relation index)
{
	SfxStep    *step = add_step(p, SFX_STEP_CREATE, item, index,
								sfx_twin_statement(index, p->am));

	step->deferrable = !index->rd_index->indimmediate;
	if (step->deferrable)
		step->remark = "run by hand, this checks at once what the constraint may defer, "
			"until it is swapped";
}

char *
sfx_our_schema(void)
{
	FormData_pg_am row;

	sfx_row_must_get(AMOID, get_index_am_oid(SFX_METHOD, false), &row, sizeof(row));
	return get_namespace_name(get_func_namespace(row.amhandler));
}

static void
add_swap(Planning *p, Relation index)
{
	char	   *name = sfx_qualified_name(RelationGetRelid(index));

	(void) add_step(p, SFX_STEP_SWAP, RelationGetRelid(index), index,
					psprintf("SELECT %s.surfidx_convert_swap(%s)",
							 quote_identifier(sfx_our_schema()), quote_literal_cstr(name)));
}

/* ---- one index ---- */

char *
sfx_drop_of_failed(Oid indexoid)
{
	Relation	index = try_relation_open(indexoid, AccessShareLock);
	Relation	twin = index ? sfx_open_twin(index, AccessShareLock) : NULL;
	char	   *statement = NULL;

	if (twin && !twin->rd_index->indisvalid && sfx_work_of(twin) == NULL)
		statement = drop_of(RelationGetNamespace(twin), RelationGetRelationName(twin));
	if (twin)
		relation_close(twin, AccessShareLock);
	if (index)
		relation_close(index, AccessShareLock);
	return statement;
}

/* Add the steps that make the twin, as far as it is not there. */
static void
add_twin(Planning *p, Oid item, Relation index)
{
	Relation	twin = sfx_open_twin(index, AccessShareLock);
	bool		usable = twin && twin->rd_index->indisvalid && sfx_is_twin(index, twin, p->am);

	if (twin && !usable)
		add_drop(p, item, index, RelationGetRelationName(twin));
	if (twin)
		relation_close(twin, AccessShareLock);
	if (!usable)
		add_create(p, item, index);
}

static void
add_drop_replaced(Planning *p, Oid item, Relation index)
{
	char		name[NAMEDATALEN];

	sfx_replaced_name(name, RelationGetRelid(index));
	add_drop(p, item, index, name);
}

/*
 * Call add for each leaf of an index's tree.  One after the other is opened, as there may be more
 * of them than locks.
 */
static void
for_each_leaf(Planning *p, Relation root, void (*add) (Planning *, Oid, Relation))
{
	foreach_oid(oid, find_all_inheritors(RelationGetRelid(root), NoLock, NULL))
	{
		Oid			heap;
		Relation	index = sfx_open_after_table(oid, &heap);

		if (index == NULL)
			continue;
		if (index->rd_rel->relkind == RELKIND_INDEX)
			add(p, RelationGetRelid(root), index);
		sfx_close_before_table(index, heap);
	}
}

/* Was the index replaced by its twin? */
static bool
is_replaced(Relation index)
{
	char		name[NAMEDATALEN];

	sfx_replaced_name(name, RelationGetRelid(index));
	return strcmp(RelationGetRelationName(index), name) == 0 && !index->rd_index->indisvalid &&
		sfx_work_of(index) == NULL;
}

/* What an index is that has a twin's name. */
typedef enum Twinship
{
	NO_TWIN,
	TWIN_AWAITED,				/* the steps of its index say what becomes of it */
	TWIN_LEFT_OVER,				/* its index needs none any more */
	TWIN_OF_NOTHING				/* it has such a name, but there is no such index */
} Twinship;

/* An index with a twin's name is one only if its index belongs to the same table. */
static Twinship
twinship_of(Planning *p, Relation index)
{
	Twinship	ship = TWIN_OF_NOTHING;
	Relation	its;
	Oid			of;

	if (!sfx_is_twin_name(RelationGetRelationName(index), &of) || sfx_work_of(index) != NULL)
		return NO_TWIN;
	its = try_relation_open(of, AccessShareLock);
	if (its == NULL)
		return ship;
	if (its->rd_rel->relkind == RELKIND_INDEX &&
		its->rd_index->indrelid == index->rd_index->indrelid)
		ship = sfx_is_convertible(its->rd_rel->relam, p->am) ? TWIN_AWAITED : TWIN_LEFT_OVER;
	relation_close(its, AccessShareLock);
	return ship;
}

/*
 * Plan the steps for one index of a table: drop what an earlier conversion has left, convert it, or
 * list why it is left as it is.
 */
static void
plan_index(Planning *p, Relation index)
{
	Oid			relid = RelationGetRelid(index);
	Twinship	ship = twinship_of(p, index);
	const char *why;

	if (is_replaced(index))
	{
		if (p->owned)
			add_drop_replaced(p, relid, index);
	}
	else if (ship == TWIN_AWAITED || ship == TWIN_LEFT_OVER)
	{
		if (p->owned && ship == TWIN_LEFT_OVER)
			add_drop(p, relid, index, RelationGetRelationName(index));
	}
	else if (ship == TWIN_OF_NOTHING && index->rd_rel->relam == p->am)
		add_left(p, index, "it is called as the twin of an index that is not there: drop it if a "
				 "conversion has left it");
	else if (!sfx_is_convertible(index->rd_rel->relam, p->am))
		return;
	else if (index->rd_rel->relispartition)
	{
		Oid			root = llast_oid(get_partition_ancestors(relid));

		/* otherwise it is converted with that one */
		if (!list_member_oid(p->tables, IndexGetRelation(root, false)))
			add_left(p, index, psprintf("it goes with \"%s\" of a partitioned table",
										get_rel_name(root)));
	}
	else if (!p->owned)
		add_left(p, index, "the table is somebody else's");
	else if (!p->may_create)
		add_left(p, index, "you may not create in the schema");
	else if ((why = sfx_index_stays(index, p->am)) != NULL)
		add_left(p, index, why);
	else
	{
		for_each_leaf(p, index, add_twin);
		add_swap(p, index);
		for_each_leaf(p, index, add_drop_replaced);
	}
}

/* ---- a table ---- */

/* All indexes of a table, half dropped ones included. */
static List *
indexes_of(Oid table)
{
	List	   *found = NIL;

	foreach_ptr(HeapTupleData, row, sfx_rows_with(IndexRelationId, IndexIndrelidIndexId,
												  Anum_pg_index_indrelid, table))
		found = lappend_oid(found, ((Form_pg_index) GETSTRUCT(row))->indexrelid);
	list_sort(found, list_oid_cmp);
	return found;
}

/*
 * Add the steps of an index.  Constants in expressions are computed when these are looked at, by
 * functions of the table's owner; so this is done as the owner.
 */
static void
plan_as_owner(Planning *p, Oid indexoid)
{
	Oid			heap;
	Relation	index = sfx_open_after_table(indexoid, &heap);
	Oid			user;
	int			context;

	CHECK_FOR_INTERRUPTS();
	if (index == NULL)
		return;
	p->owned = sfx_owns_index(index);
	p->may_create = sfx_may_create_beside(index);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(index->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	plan_index(p, index);
	SetUserIdAndSecContext(user, context);
	sfx_close_before_table(index, heap);
}

List *
sfx_convert_plan(const SfxConversion *c, Oid table)
{
	Planning	p = {.am = c->ours ? get_index_am_oid(SFX_METHOD, false) : BTREE_AM_OID};
	int			level = NewGUCNestLevel();

	sfx_exact_settings(GUC_ACTION_SAVE);
	p.tables = get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE ?
		find_all_inheritors(table, NoLock, NULL) : list_make1_oid(table);
	foreach_oid(oid, p.tables)
	{
		foreach_oid(relid, indexes_of(oid))
			plan_as_owner(&p, relid);
	}
	AtEOXact_GUC(true, level);
	return p.steps;
}

/* ---- a schema ---- */

/* Is the table converted by itself, rather than with a partitioned table of the schema? */
static bool
stands_alone(const Form_pg_class form)
{
	List	   *above;

	if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_MATVIEW &&
		form->relkind != RELKIND_PARTITIONED_TABLE)
		return false;
	if (!form->relispartition)
		return true;
	above = get_partition_ancestors(form->oid);
	/* NIL: it is being detached, or was a moment ago */
	return above == NIL || get_rel_namespace(llast_oid(above)) != form->relnamespace;
}

List *
sfx_convert_tables(const SfxConversion *c)
{
	List	   *found = NIL;

	if (OidIsValid(c->table))
		return list_make1_oid(c->table);
	foreach_ptr(HeapTupleData, row, sfx_rows_with(RelationRelationId, InvalidOid,
												  Anum_pg_class_relnamespace, c->schema))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(row);

		if (stands_alone(form))
			found = lappend_oid(found, form->oid);
	}
	list_sort(found, list_oid_cmp);
	return found;
}
