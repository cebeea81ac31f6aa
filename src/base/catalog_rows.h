/*-------------------------------------------------------------------------
 * catalog_rows.h - rows of the system catalogs: by their OIDs, by a column, and changed
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_CATALOG_ROWS_H
#define SURFIDX_CATALOG_ROWS_H

#include "nodes/pg_list.h"
#include "utils/syscache.h"

/*
 * Copy the first bytes of the row with that OID, by that syscache: those of fixed width.  False:
 * there is no such row.
 */
extern bool sfx_row_get(int cache, Oid oid, void *row, Size size);

/* The same; ERROR if there is no such row. */
extern void sfx_row_must_get(int cache, Oid oid, void *row, Size size);

/*
 * Copies (HeapTuple) of the catalog's rows that have that OID in a column.  index: of the catalog
 * on that column, or InvalidOid.
 */
extern List *sfx_rows_with(Oid catalog, Oid index, AttrNumber column, Oid value);

/* Set a column of the row with that OID.  ERROR if there is none. */
extern void sfx_row_set(Oid catalog, int cache, Oid oid, AttrNumber column, Datum value,
						bool isnull);

#endif							/* SURFIDX_CATALOG_ROWS_H */
