/*-------------------------------------------------------------------------
 * twin.c - operator classes of ours and of btree that are the same order
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "comparison.h"
#include "key.h"
#include "twin.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "nodes/value.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

bool
sfx_are_twins(Oid ours, Oid btree)
{
	Oid			family,
				type,
				btree_family,
				btree_type;

	if (!get_opclass_opfamily_and_input_type(ours, &family, &type) ||
		!get_opclass_opfamily_and_input_type(btree, &btree_family, &btree_type) ||
		type != btree_type)
		return false;
	for (int strategy = 1; strategy <= BTMaxStrategyNumber; strategy++)
	{
		if (get_opfamily_member(family, type, type, strategy) !=
			get_opfamily_member(btree_family, type, type, strategy))
			return false;
	}
	return get_opfamily_proc(family, type, type, BTORDER_PROC) ==
		get_opfamily_proc(btree_family, type, type, BTORDER_PROC);
}

bool
sfx_class_takes(Oid ours, Oid type)
{
	Oid			family,
				input;

	if (!get_opclass_opfamily_and_input_type(ours, &family, &input))
		return false;
	if (OidIsValid(get_opfamily_proc(family, input, input, SFX_ENCODING_PROC)))
		return true;
	return !OidIsValid(sfx_foreign_comparison(get_opfamily_proc(family, input, input, BTORDER_PROC),
											  type));
}

List *
sfx_twin_of_name(Oid btree, Oid type, Oid am)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(btree));
	CatCList   *all;
	List	   *name = NIL;

	if (!HeapTupleIsValid(tuple))
		return NIL;
	all = SearchSysCacheList2(CLAAMNAMENSP, ObjectIdGetDatum(am),
							  NameGetDatum(&((Form_pg_opclass) GETSTRUCT(tuple))->opcname));
	for (int i = 0; i < all->n_members && name == NIL; i++)
	{
		Form_pg_opclass form = (Form_pg_opclass) GETSTRUCT(&all->members[i]->tuple);

		/* a statement must not name what its user may not look up */
		if (sfx_are_twins(form->oid, btree) && sfx_class_takes(form->oid, type) &&
			SfxMayUseSchema(form->opcnamespace))
			name = list_make2(makeString(get_namespace_name(form->opcnamespace)),
							  makeString(pstrdup(NameStr(form->opcname))));
	}
	ReleaseCatCacheList(all);
	ReleaseSysCache(tuple);
	return name;
}

/* May a column of that type have the candidate, of that method, in place of the class? */
static bool
is_twin_in(Oid candidate, Oid opclass, Oid type, Oid am)
{
	if (am == BTREE_AM_OID)
		return sfx_are_twins(opclass, candidate);
	return sfx_are_twins(candidate, opclass) && sfx_class_takes(candidate, type);
}

static bool
same_name(Oid a, Oid b)
{
	HeapTuple	one = SearchSysCache1(CLAOID, ObjectIdGetDatum(a));
	HeapTuple	other = SearchSysCache1(CLAOID, ObjectIdGetDatum(b));
	bool		same = HeapTupleIsValid(one) && HeapTupleIsValid(other) &&
	strcmp(NameStr(((Form_pg_opclass) GETSTRUCT(one))->opcname),
		   NameStr(((Form_pg_opclass) GETSTRUCT(other))->opcname)) == 0;

	if (HeapTupleIsValid(one))
		ReleaseSysCache(one);
	if (HeapTupleIsValid(other))
		ReleaseSysCache(other);
	return same;
}

Oid
sfx_twin_class(Oid opclass, Oid type, Oid am)
{
	Oid			standard = GetDefaultOpClass(type, am);
	Oid			found = InvalidOid;
	bool		named;
	CatCList   *all;

	if (OidIsValid(standard) && is_twin_in(standard, opclass, type, am))
		found = standard;
	named = OidIsValid(found) && same_name(found, opclass);
	all = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(am));
	for (int i = 0; i < all->n_members && !named; i++)
	{
		Oid			candidate = ((Form_pg_opclass) GETSTRUCT(&all->members[i]->tuple))->oid;

		if (!is_twin_in(candidate, opclass, type, am))
			continue;
		named = same_name(candidate, opclass);
		if (named || !OidIsValid(found))
			found = candidate;
	}
	ReleaseCatCacheList(all);
	return found;
}

void
sfx_set_classes(Oid relid, oidvector *classes)
{
	Relation	catalog = table_open(IndexRelationId, RowExclusiveLock);
	HeapTuple	old = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(relid));
	Datum		values[Natts_pg_index] = {0};
	bool		nulls[Natts_pg_index] = {0};
	bool		replace[Natts_pg_index] = {0};
	HeapTuple	new;

	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for index %u", relid);
	values[Anum_pg_index_indclass - 1] = PointerGetDatum(classes);
	replace[Anum_pg_index_indclass - 1] = true;
	new = heap_modify_tuple(old, RelationGetDescr(catalog), values, nulls, replace);
	CatalogTupleUpdate(catalog, &new->t_self, new);
	ReleaseSysCache(old);
	table_close(catalog, RowExclusiveLock);
}
