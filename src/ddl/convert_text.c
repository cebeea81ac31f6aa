/*-------------------------------------------------------------------------
 * convert_text.c - names and statements of a conversion
 *
 * A name holds the OID of the index that it is about.  So it needs no room for that index's name,
 * is still right after a renaming, and tells what an earlier run was about:
 *
 *	surfidx_new_16412	the twin of index 16412
 *	surfidx_old_16412	was replaced by its twin, and is index 16412 itself
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"
#include "convert.h"
#include "settings.h"
#include "twin.h"

#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#define TWIN_PREFIX		"surfidx_new_"
#define REPLACED_PREFIX	"surfidx_old_"

void
sfx_twin_name(char *name, Oid of)
{
	snprintf(name, NAMEDATALEN, TWIN_PREFIX "%u", of);
}

void
sfx_replaced_name(char *name, Oid of)
{
	snprintf(name, NAMEDATALEN, REPLACED_PREFIX "%u", of);
}

bool
sfx_is_twin_name(const char *name, Oid *of)
{
	char		made[NAMEDATALEN];

	if (strncmp(name, TWIN_PREFIX, strlen(TWIN_PREFIX)) != 0)
		return false;
	*of = (Oid) strtoul(name + strlen(TWIN_PREFIX), NULL, 10);
	sfx_twin_name(made, *of);
	return strcmp(made, name) == 0;
}

char *
sfx_qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/* ---- columns ---- */

/* The expression of a key column; NULL: it is a column of the table. */
static Node *
key_expression(Relation index, int i)
{
	int			n = 0;

	if (index->rd_index->indkey.values[i] != InvalidAttrNumber)
		return NULL;
	for (int k = 0; k < i; k++)
		n += index->rd_index->indkey.values[k] == InvalidAttrNumber;
	return list_nth(RelationGetIndexExpressions(index), n);
}

Oid
sfx_key_type(Relation index, int i)
{
	Node	   *expression = key_expression(index, i);

	return expression ? exprType(expression) :
		get_atttype(index->rd_index->indrelid, index->rd_index->indkey.values[i]);
}

static Oid
key_collation(Relation index, int i)
{
	Node	   *expression = key_expression(index, i);
	Oid			type,
				collation;
	int32		typmod;

	if (expression)
		return exprCollation(expression);
	get_atttypetypmodcoll(index->rd_index->indrelid, index->rd_index->indkey.values[i],
						  &type, &typmod, &collation);
	return collation;
}

Oid
sfx_key_class(Relation index, int i)
{
	bool		isnull;
	Datum		classes = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										  Anum_pg_index_indclass, &isnull);

	return ((oidvector *) DatumGetPointer(classes))->values[i];
}

Oid
sfx_key_class_in(Relation index, int i, Oid am)
{
	return sfx_twin_class(sfx_key_class(index, i), sfx_key_type(index, i), am);
}

static void
add_class(StringInfo s, Oid opclass, Oid type, Oid am)
{
	FormData_pg_opclass row;

	if (opclass == GetDefaultOpClass(type, am))
		return;
	sfx_row_must_get(CLAOID, opclass, &row, sizeof(row));
	appendStringInfo(s, " %s",
					 quote_qualified_identifier(get_namespace_name(row.opcnamespace), NameStr(row.opcname)));
}

/* Append a column as CREATE INDEX writes it; with its order if it is a key column. */
static void
add_column(StringInfo s, Relation index, int i, Oid am)
{
	Datum		column = DirectFunctionCall3(pg_get_indexdef_ext,
											 ObjectIdGetDatum(RelationGetRelid(index)),
											 Int32GetDatum(i + 1), BoolGetDatum(false));
	int16		option;
	Oid			collation;

	appendStringInfoString(s, TextDatumGetCString(column));
	if (i >= index->rd_index->indnkeyatts)
		return;
	collation = index->rd_indcollation[i];
	if (OidIsValid(collation) && collation != key_collation(index, i))
		appendStringInfo(s, " COLLATE %s", generate_collation_name(collation));
	add_class(s, sfx_key_class_in(index, i, am), sfx_key_type(index, i), am);
	option = index->rd_indoption[i];
	if (option & INDOPTION_DESC)
		appendStringInfoString(s, option & INDOPTION_NULLS_FIRST ? " DESC" : " DESC NULLS LAST");
	else if (option & INDOPTION_NULLS_FIRST)
		appendStringInfoString(s, " NULLS FIRST");
}

static void
add_columns(StringInfo s, Relation index, Oid am)
{
	Form_pg_index form = index->rd_index;

	for (int i = 0; i < form->indnatts; i++)
	{
		appendStringInfoString(s, i == 0 ? "(" : i == form->indnkeyatts ? ") INCLUDE (" : ", ");
		add_column(s, index, i, am);
	}
	appendStringInfoChar(s, ')');
}

/* ---- the statement ---- */

/*
 * See convert.h.  What pg_dump sets for the same reason, and other settings that change how text is
 * read.
 */
void
sfx_exact_settings(GucAction action)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"DateStyle", "ISO"},
		{"IntervalStyle", "postgres"},
		{"extra_float_digits", "3"},
		{"array_nulls", "on"},
		{"transform_null_equals", "off"},
		{"xmloption", "content"}
	};

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 action, true, 0, false);
}

/* Append the tablespace if it is not the one that the session would choose. */
static void
add_tablespace(StringInfo s, Relation index)
{
	Oid			tablespace = index->rd_rel->reltablespace;

	if (!OidIsValid(tablespace) && *GetConfigOption("default_tablespace", false, false))
		tablespace = MyDatabaseTableSpace;
	if (OidIsValid(tablespace))
		appendStringInfo(s, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(tablespace)));
}

static void
add_predicate(StringInfo s, Relation index)
{
	bool		isnull;
	Datum		predicate = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
											Anum_pg_index_indpred, &isnull);

	if (isnull)
		return;
	predicate = DirectFunctionCall2(pg_get_expr, predicate,
									ObjectIdGetDatum(index->rd_index->indrelid));
	appendStringInfo(s, " WHERE %s", TextDatumGetCString(predicate));
}

/* Has each key column a class of that method? */
static bool
has_classes(Relation index, Oid am)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		if (!OidIsValid(sfx_key_class_in(index, i, am)))
			return false;
	return true;
}

char *
sfx_index_statement(Relation index, Oid am, const char *name, bool of_constraint)
{
	StringInfoData s;

	if (!has_classes(index, am))
		return NULL;
	initStringInfo(&s);
	appendStringInfo(&s, "CREATE %sINDEX CONCURRENTLY %s ON %s USING %s ",
					 index->rd_index->indisunique ? "UNIQUE " : "", quote_identifier(name),
					 sfx_qualified_name(index->rd_index->indrelid),
					 quote_identifier(get_am_name(am)));
	add_columns(&s, index, am);
	if (index->rd_index->indnullsnotdistinct)
		appendStringInfoString(&s, " NULLS NOT DISTINCT");
	if (of_constraint)
		appendStringInfo(&s, " WITH (%s = %s)", SFX_METHOD_OPTION, SFX_METHOD);
	add_tablespace(&s, index);
	add_predicate(&s, index);
	return s.data;
}

char *
sfx_twin_statement(Relation index, Oid am)
{
	char		name[NAMEDATALEN];
	Oid			constraint = get_index_constraint(RelationGetRelid(index));

	sfx_twin_name(name, RelationGetRelid(index));
	return sfx_index_statement(index, am, name, am != BTREE_AM_OID && OidIsValid(constraint));
}
