/*-------------------------------------------------------------------------
 * comparison.c - which functions a comparison of two values calls
 *
 * Core's comparisons of arrays, rows, ranges and multiranges are written in C, but call those of
 * the types inside, which need not be.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "comparison.h"

#include "access/tupdesc.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* By the type's default order, which containers of it use. */
static Oid
foreign_of_type(Oid type)
{
	Oid			cmp = lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc;

	return OidIsValid(cmp) ? sfx_foreign_comparison(cmp, type) : InvalidOid;
}

static Oid
foreign_of_row(Oid type)
{
	TupleDesc	row = lookup_rowtype_tupdesc(type, -1);
	Oid			found = InvalidOid;

	for (int i = 0; i < row->natts && !OidIsValid(found); i++)
	{
		Form_pg_attribute att = TupleDescAttr(row, i);

		if (!att->attisdropped)
			found = foreign_of_type(att->atttypid);
	}
	ReleaseTupleDesc(row);
	return found;
}

static Oid
foreign_of_range(Oid type)
{
	TypeCacheEntry *range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);

	return range->rngelemtype == NULL ? InvalidOid :
		sfx_foreign_comparison(range->rng_cmp_proc_finfo.fn_oid, range->rngelemtype->type_id);
}

Oid
sfx_foreign_comparison(Oid cmp, Oid type)
{
	check_stack_depth();
	if (!SfxFunctionIsC(cmp))
		return cmp;
	type = getBaseType(type);
	if (cmp == F_BTARRAYCMP && OidIsValid(get_element_type(type)))
		return foreign_of_type(get_element_type(type));
	if (cmp == F_BTRECORDCMP && get_typtype(type) == TYPTYPE_COMPOSITE)
		return foreign_of_row(type);
	if (cmp == F_RANGE_CMP && get_typtype(type) == TYPTYPE_RANGE)
		return foreign_of_range(type);
	if (cmp == F_MULTIRANGE_CMP && get_typtype(type) == TYPTYPE_MULTIRANGE)
		return foreign_of_range(get_multirange_range(type));
	return InvalidOid;
}
