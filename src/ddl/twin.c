/*-------------------------------------------------------------------------
 * twin.c - operator classes of ours and of btree that are the same order
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "comparison.h"
#include "key.h"
#include "twin.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "nodes/value.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"

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
	FormData_pg_opclass row;
	CatCList   *all;
	List	   *name = NIL;

	if (!sfx_row_get(CLAOID, btree, &row, sizeof(row)))
		return NIL;
	all = SearchSysCacheList2(CLAAMNAMENSP, ObjectIdGetDatum(am), NameGetDatum(&row.opcname));
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
	FormData_pg_opclass one,
				other;

	return sfx_row_get(CLAOID, a, &one, sizeof(one)) && sfx_row_get(CLAOID, b, &other, sizeof(other)) &&
		strcmp(NameStr(one.opcname), NameStr(other.opcname)) == 0;
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
