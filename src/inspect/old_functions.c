/*-------------------------------------------------------------------------
 * old_functions.c - functions that only install scripts of earlier versions name
 *
 * A database has the catalogs of the earlier version until ALTER EXTENSION UPDATE, and CREATE
 * EXTENSION may name that version.  So every later library has all functions that its scripts name.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"

#include "fmgr.h"

PG_FUNCTION_INFO_V1(surfidx_sort_support);
PG_FUNCTION_INFO_V1(surfidx_sort_less);

static void
refuse(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s() is gone", name),
			 errhint("ALTER EXTENSION surfidx UPDATE drops it from the catalogs.")));
}

/* 0.1.0: the order of a build, for tuplesort.  Only builds called them. */
Datum
surfidx_sort_support(PG_FUNCTION_ARGS)
{
	refuse("surfidx_sort_support");
	PG_RETURN_VOID();
}

Datum
surfidx_sort_less(PG_FUNCTION_ARGS)
{
	refuse("surfidx_sort_less");
	PG_RETURN_NULL();
}
