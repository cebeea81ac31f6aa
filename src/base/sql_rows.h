/*-------------------------------------------------------------------------
 * sql_rows.h - rows that SQL functions return, and the columns that name an index
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SQL_ROWS_H
#define SURFIDX_SQL_ROWS_H

/*
 * ERROR unless the declaration of the function being called has as many columns as the library
 * knows.  sfx_one_row: the function's result, its only row.  sfx_many_rows: begins materialize mode;
 * the rows go to the result's setResult.
 */
extern Datum sfx_one_row(FunctionCallInfo fcinfo, int columns, Datum *values, bool *nulls);
extern ReturnSetInfo *sfx_many_rows(FunctionCallInfo fcinfo, int columns);

/*
 * The columns that name an index, everywhere the same: schemaname, relname, indexrelname,
 * indexrelid.  Fills as many values and nulls; of an index that is gone all but the last are NULL.
 */
#define SFX_INDEX_COLUMNS	4
extern void sfx_name_index(Oid index, Datum *values, bool *nulls);

#endif							/* SURFIDX_SQL_ROWS_H */
