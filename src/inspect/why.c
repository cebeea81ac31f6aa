/*-------------------------------------------------------------------------
 * why.c - surfidx_why_not(): why indexes do not compute a query's aggregates
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_want.h"

#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/plancache.h"

PG_FUNCTION_INFO_V1(surfidx_why_not);

/* Plan the query, which is not executed. */
static void
plan(const char *query)
{
	SPIPlanPtr	prepared;
	CachedPlan *cached;

	SPI_connect();
	prepared = SPI_prepare(query, 0, NULL);
	if (prepared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the query cannot be planned: %s", SPI_result_code_string(SPI_result)),
				 errhint("Pass one query, with constants in place of its parameters.")));
	cached = SPI_plan_get_cached_plan(prepared);
	/* a plan that is not saved has no owner */
	if (cached)
		ReleaseCachedPlan(cached, NULL);
	SPI_finish();
}

/* surfidx_why_not(query): what the planner found out, a line each; NULL: it has no aggregates. */
Datum
surfidx_why_not(PG_FUNCTION_ARGS)
{
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	SfxAggReport report = {CurrentMemoryContext, NIL};
	StringInfoData said;
	ListCell   *lc;

	sfx_agg_set_report(&report);
	PG_TRY();
	{
		plan(query);
	}
	PG_FINALLY();
	{
		sfx_agg_set_report(NULL);
	}
	PG_END_TRY();
	if (report.lines == NIL)
		PG_RETURN_NULL();
	initStringInfo(&said);
	foreach(lc, report.lines)
		appendStringInfo(&said, "%s%s", said.len > 0 ? "\n" : "", (char *) lfirst(lc));
	PG_RETURN_TEXT_P(cstring_to_text(said.data));
}
