/*-------------------------------------------------------------------------
 * sql_rows.h - how SQL functions that return rows begin
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SQL_ROWS_H
#define SURFIDX_SQL_ROWS_H

#include "surfidx.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

/*
 * The declaration of the function that is called has as many columns as the library knows; ERROR
 * if not.  sfx_one_row: the description of its only row.  sfx_many_rows: where its rows go.
 */
extern TupleDesc sfx_one_row(FunctionCallInfo fcinfo, int columns);
extern ReturnSetInfo *sfx_many_rows(FunctionCallInfo fcinfo, int columns);

#endif							/* SURFIDX_SQL_ROWS_H */
