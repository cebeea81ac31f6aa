/*-------------------------------------------------------------------------
 * convert.c - surfidx_convert(), surfidx_convert_swap(), surfidx_statement()
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "convert.h"
#include "in_place.h"
#include "index_open.h"
#include "settings.h"
#include "sql_rows.h"

#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(surfidx_convert);
PG_FUNCTION_INFO_V1(surfidx_convert_swap);
PG_FUNCTION_INFO_V1(surfidx_statement);

#define CONVERT_COLUMNS	(SFX_INDEX_COLUMNS + 2)

/* ---- what is asked for ---- */

static void
refuse(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", message),
			 errhint("%s", hint)));
}

static void
check_table(Oid table)
{
	char		kind = get_rel_relkind(table);

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation %s is not a table or materialized view",
						kind ? psprintf("\"%s\"", get_rel_name(table)) : psprintf("%u", table))));
	if (!SfxOwnsRelation(table))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(table));
}

/*
 * The arguments of surfidx_convert(relation regclass, schema regnamespace, method name, dry_run
 * boolean).
 */
static SfxConversion
conversion_asked_for(FunctionCallInfo fcinfo)
{
	SfxConversion c = {
		.database = MyDatabaseId,
		.session_user = GetSessionUserId(),
		.user = GetUserId(),
		.table = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0),
		.schema = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1)
	};
	const char *method = PG_ARGISNULL(2) ? "" : NameStr(*PG_GETARG_NAME(2));

	if (OidIsValid(c.table) == OidIsValid(c.schema))
		refuse("either a table or a schema has to be named",
			   "Say surfidx_convert('table') or surfidx_convert(schema => 'schema').");
	c.ours = pg_strcasecmp(method, SFX_METHOD) == 0;
	if (!c.ours && pg_strcasecmp(method, DEFAULT_INDEX_TYPE) != 0)
		refuse(psprintf("there is no conversion to method \"%s\"", method),
			   "Indexes are converted to surfidx, or back to btree.");
	if (OidIsValid(c.table))
		check_table(c.table);
	return c;
}

/* ---- the answer ---- */

static void
put_row(ReturnSetInfo *rows, const SfxStep *step)
{
	Datum		values[CONVERT_COLUMNS] = {0};
	bool		nulls[CONVERT_COLUMNS] = {0};
	int			n = SFX_INDEX_COLUMNS;

	/* a setting belongs to no index */
	for (int i = 0; i < SFX_INDEX_COLUMNS; i++)
		nulls[i] = true;
	if (OidIsValid(step->index))
		sfx_name_index(step->index, values, nulls);
	nulls[n] = step->statement == NULL;
	if (!nulls[n])
		values[n] = CStringGetTextDatum(step->statement);
	nulls[++n] = step->remark == NULL;
	if (!nulls[n])
		values[n] = CStringGetTextDatum(step->remark);
	tuplestore_putvalues(rows->setResult, rows->setDesc, values, nulls);
}

/* Return the rows of all steps; the number of those that do something. */
static int
put_steps(ReturnSetInfo *rows, const SfxConversion *c)
{
	int			n = 0;

	foreach_oid(oid, sfx_convert_tables(c))
	{
		foreach_ptr(const SfxStep, step, sfx_convert_plan(c, oid))
		{
			put_row(rows, step);
			n += step->statement != NULL;
		}
	}
	return n;
}

/* ERROR if the session's user, as which the worker connects, may not log in. */
static void
check_may_log_in(Oid role)
{
	FormData_pg_authid row;

	if (!sfx_row_get(AUTHOID, role, &row, sizeof(row)) || !row.rolcanlogin)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION),
				 errmsg("role \"%s\" may not log in, so no worker can convert as that",
						GetUserNameFromId(role, false)),
				 errhint("Connect as a role with LOGIN and SET ROLE, or run the statements of "
						 "surfidx_convert(dry_run => true).")));
}

static void
start(SfxConversion *c)
{
	PreventCommandIfReadOnly("surfidx_convert");
	PreventCommandDuringRecovery("surfidx_convert");
	check_may_log_in(c->session_user);
	c->caller = GetCurrentTransactionId();
	sfx_convert_start(c);
}

Datum
surfidx_convert(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rows = sfx_many_rows(fcinfo, CONVERT_COLUMNS);
	SfxConversion c = conversion_asked_for(fcinfo);
	bool		dry_run = PG_ARGISNULL(3) || PG_GETARG_BOOL(3);
	SfxStep		off = {.statement = "SET surfidx.in_place_of_btree = off"};

	/* otherwise USING btree would make indexes of ours again */
	if (dry_run && !c.ours && sfx_in_place_indexes())
		put_row(rows, &off);
	if (put_steps(rows, &c) > 0 && !dry_run)
		start(&c);
	return (Datum) 0;
}

Datum
surfidx_convert_swap(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("surfidx_convert_swap");
	sfx_convert_swap(PG_GETARG_OID(0), NULL);
	PG_RETURN_VOID();
}

/* surfidx_statement(index regclass, name name): for a btree, for surfidx_advise() */
Datum
surfidx_statement(PG_FUNCTION_ARGS)
{
	Oid			heap;
	Relation	index = sfx_open_after_table(PG_GETARG_OID(0), &heap);
	char	   *statement;

	if (index == NULL)
		PG_RETURN_NULL();
	if (index->rd_rel->relkind != RELKIND_INDEX || index->rd_rel->relam != BTREE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a btree index", RelationGetRelationName(index)),
				 errhint("surfidx_statement() says how to make what a btree index has as surfidx.")));
	statement = sfx_index_statement(index, get_index_am_oid(SFX_METHOD, false),
									NameStr(*PG_GETARG_NAME(1)), false);
	sfx_close_before_table(index, heap);
	if (statement == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(statement));
}
