/*-------------------------------------------------------------------------
 * sql_rows.c - the beginning of SQL functions that return rows
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "sql_rows.h"

#include "funcapi.h"
#include "utils/lsyscache.h"

/* After an update the library may be newer than the functions' declarations, or older. */
static void
check_columns(FunctionCallInfo fcinfo, int declared, int columns)
{
	if (declared != columns)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("columns of function %s: %d as declared, %d in the library",
						get_func_name(fcinfo->flinfo->fn_oid), declared, columns),
				 errhint("The library is of another version than the extension in this database. Run ALTER EXTENSION surfidx UPDATE.")));
}

TupleDesc
sfx_one_row(FunctionCallInfo fcinfo, int columns)
{
	TupleDesc	desc = NULL;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		check_columns(fcinfo, 1, columns);
	else
		check_columns(fcinfo, desc->natts, columns);
	return BlessTupleDesc(desc);
}

ReturnSetInfo *
sfx_many_rows(FunctionCallInfo fcinfo, int columns)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	check_columns(fcinfo, rsinfo->setDesc->natts, columns);
	return rsinfo;
}
