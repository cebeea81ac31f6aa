/*-------------------------------------------------------------------------
 * sql_rows.c - rows that SQL functions return, and the columns that name an index
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "sql_rows.h"

#include "access/htup_details.h"
#include "catalog/index.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*
 * After an update the library may be newer than the functions' declarations, or older.  A version
 * may add columns; it takes none away.
 */
static void
check_columns(FunctionCallInfo fcinfo, int declared, int columns)
{
	if (declared != columns)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("columns of function %s: %d as declared, %d in the library",
						get_func_name(fcinfo->flinfo->fn_oid), declared, columns),
				 declared < columns ?
				 errhint("The library is newer than the extension in this database. "
						 "Run ALTER EXTENSION surfidx UPDATE.") :
				 errhint("The library is older than the extension in this database. "
						 "Install the newer one, and restart the server.")));
}

Datum
sfx_one_row(FunctionCallInfo fcinfo, int columns, Datum *values, bool *nulls)
{
	TupleDesc	desc = NULL;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		check_columns(fcinfo, 1, columns);
	else
		check_columns(fcinfo, desc->natts, columns);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

ReturnSetInfo *
sfx_many_rows(FunctionCallInfo fcinfo, int columns)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	check_columns(fcinfo, rsinfo->setDesc->natts, columns);
	return rsinfo;
}

static void
put_name(const char *name, Datum *value, bool *isnull)
{
	*isnull = name == NULL;
	*value = name ? DirectFunctionCall1(namein, CStringGetDatum(name)) : (Datum) 0;
}

void
sfx_name_index(Oid index, Datum *values, bool *nulls)
{
	char	   *name = get_rel_name(index);
	Oid			table = name ? IndexGetRelation(index, true) : InvalidOid;

	put_name(name ? get_namespace_name(get_rel_namespace(index)) : NULL, &values[0], &nulls[0]);
	put_name(OidIsValid(table) ? get_rel_name(table) : NULL, &values[1], &nulls[1]);
	put_name(name, &values[2], &nulls[2]);
	values[3] = ObjectIdGetDatum(index);
	nulls[3] = false;
}
