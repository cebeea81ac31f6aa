/*-------------------------------------------------------------------------
 * why.c - surfidx_why_not(): why indexes do not compute a query's aggregates
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_want.h"

#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "nodes/parsenodes.h"
#include "utils/plancache.h"

PG_FUNCTION_INFO_V1(surfidx_why_not);

/*
 * Plan the query, which is not executed; but a user that may not execute it is not told of its
 * plan either, which depends on statistics.
 */
static void
plan(const char *query)
{
	SPIPlanPtr	prepared;
	CachedPlan *cached;

	SPI_connect();
	prepared = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	cached = prepared ? SPI_plan_get_cached_plan(prepared) : NULL;
	if (cached == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the query is not one statement that can be planned"),
				 errhint("Pass one query, with constants in place of its parameters.")));
	foreach_node(PlannedStmt, node, cached->stmt_list)
		SfxCheckRights(node);
	/* a plan that is not saved has no owner */
	ReleaseCachedPlan(cached, NULL);
	SPI_finish();
}

/* surfidx_why_not(query): what the planner found out, a line each; NULL: it has no aggregates. */
Datum
surfidx_why_not(PG_FUNCTION_ARGS)
{
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	SfxAggReport report = {CurrentMemoryContext, NIL};
	SfxAggReport *outer = sfx_agg_set_report(&report);
	StringInfoData said;

	PG_TRY();
	{
		plan(query);
	}
	PG_FINALLY();
	{
		sfx_agg_set_report(outer);
	}
	PG_END_TRY();
	if (report.lines == NIL)
		PG_RETURN_NULL();
	initStringInfo(&said);
	foreach_node(String, line, report.lines)
		appendStringInfo(&said, "%s%s", said.len > 0 ? "\n" : "", strVal(line));
	PG_RETURN_TEXT_P(cstring_to_text(said.data));
}
