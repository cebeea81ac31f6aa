/*-------------------------------------------------------------------------
 * sortorder.c - the order in which a build sorts columns: the index's own, not that of some operator
 *
 * tuplesort takes an operator for each column and sorts as a class says that the operator belongs to. That need not be
 * the index's class: a type may have several orders, and before 18 only btree's classes are looked at.  So
 * the extension has an operator for this one purpose, <#< on (internal, internal), whose family's sort support
 * function is surfidx_sort_support.  It is called by tuplesort_begin_heap for each column, and sets up
 * what the index's class has: its sort support (2), or its comparison function (1).
 *
 * Which index that is stands in a variable of this file from sfx_sort_prepare to the next one: tuplesort asks when it
 * is begun, and has all that it needs then.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "order.h"

#include "access/nbtree.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "nodes/value.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"

#define SORT_OPERATOR		"<#<"

PG_FUNCTION_INFO_V1(surfidx_sort_support);
PG_FUNCTION_INFO_V1(surfidx_sort_less);

static Relation sort_relation;
static const SfxKeyDesc *sort_keys;

Oid
sfx_sort_operator(Relation index)
{
	Oid			namespace = get_func_namespace(index->rd_amhandler);
	char	   *schema = get_namespace_name(namespace);
	Oid			operator = InvalidOid;

	if (schema)
		operator = OpernameGetOprid(list_make2(makeString(schema), makeString(SORT_OPERATOR)), INTERNALOID, INTERNALOID);
	if (!OidIsValid(operator))
		elog(ERROR, "operator %s of extension surfidx is missing", SORT_OPERATOR);
	return operator;
}

void
sfx_sort_prepare(Relation index, const SfxKeyDesc *kd)
{
	sort_relation = index;
	sort_keys = kd;
}

void
sfx_column_sortsupport(Relation index, const SfxKeyDesc *kd, int attno, SortSupport ssup)
{
	Oid			proc = index_getprocid(index, attno + 1, BTSORTSUPPORT_PROC);

	if (OidIsValid(proc))
		OidFunctionCall1(proc, PointerGetDatum(ssup));
	if (ssup->comparator == NULL)
		PrepareSortSupportComparisonShim(index_getprocid(index, attno + 1, BTORDER_PROC), ssup);
}

/* Called by tuplesort_begin_heap for one of its keys. */
Datum
surfidx_sort_support(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);
	int			attno = ssup->ssup_attno - 1;

	if (sort_relation == NULL || attno < 0 || attno >= sort_keys->nkeys)
		elog(ERROR, "operator %s sorts columns of a surfidx index only", SORT_OPERATOR);
	ssup->ssup_reverse = sort_keys->col[attno].desc;
	sfx_column_sortsupport(sort_relation, sort_keys, attno, ssup);
	PG_RETURN_VOID();
}

/* The operator's function. No value is of type internal, so that nothing can call it. */
Datum
surfidx_sort_less(PG_FUNCTION_ARGS)
{
	elog(ERROR, "operator %s cannot be called", SORT_OPERATOR);
	PG_RETURN_BOOL(false);
}
