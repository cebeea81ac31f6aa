/*-------------------------------------------------------------------------
 * explain_ahead.c - EXPLAIN (ANALYZE, BUFFERS) shows what a statement read ahead
 *
 * Scans and nested loops add what they requested to this backend's counts when they end.  They end
 * in ExecutorEnd, which EXPLAIN calls just before it prints the execution time: so the hook there
 * prints one more property of the statement, in text if pages were requested, in other formats
 * always.  ExecutorEnd does not get the state of EXPLAIN; the hook that explains a query remembers
 * it.  EXPLAIN EXECUTE does not call that hook, and what parallel workers request stays with them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "explain_ahead.h"

#include "commands/explain.h"
#include "executor/executor.h"

/* A statement that is being explained; on the stack of its EXPLAIN. */
typedef struct Explained
{
	ExplainState *es;
	const char *source;			/* text: the query's QueryDesc has the same pointer, and no other
								 * that ends meanwhile has it */
	SfxAheadCounts before;		/* this backend's counts when it began */
} Explained;

static Explained *explained = NULL; /* NULL: none */

static ExplainOneQuery_hook_type prev_explain = NULL;
static ExecutorEnd_hook_type prev_executor_end = NULL;

static void
print_read_ahead(const Explained *e)
{
	uint64		pages = sfx_ahead_counts.pages - e->before.pages;
	uint64		in_vain = sfx_ahead_counts.in_vain - e->before.in_vain;

	Assert(in_vain <= pages);
	if (e->es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyUInteger("Pages Read Ahead", NULL, pages, e->es);
		ExplainPropertyUInteger("Pages Read In Vain", NULL, in_vain, e->es);
	}
	else if (pages > 0)
		ExplainPropertyText("Read Ahead",
							psprintf("pages=" UINT64_FORMAT " in vain=" UINT64_FORMAT, pages, in_vain),
							e->es);
}

static void
explain_executor_end(QueryDesc *query)
{
	const Explained *e = explained && query->sourceText == explained->source ? explained : NULL;

	if (prev_executor_end)
		prev_executor_end(query);
	else
		standard_ExecutorEnd(query);
	if (e && e->es->analyze && e->es->buffers)
		print_read_ahead(e);
}

static void
explain_one_query(Query *query, int options, IntoClause *into, ExplainState *es, const char *source,
				  ParamListInfo params, QueryEnvironment *env)
{
	Explained	this = {es, source, sfx_ahead_counts};
	Explained  *around = explained;

	explained = &this;
	PG_TRY();
	{
		if (prev_explain)
			prev_explain(query, options, into, es, source, params, env);
		else
			SfxExplainOneQuery(query, options, into, es, source, params, env);
	}
	PG_FINALLY();
	{
		explained = around;
	}
	PG_END_TRY();
}

void
sfx_explain_ahead_init(void)
{
	prev_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_one_query;
	prev_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = explain_executor_end;
}
