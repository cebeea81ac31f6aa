/*-------------------------------------------------------------------------
 * catalog_rows.c - rows of the system catalogs
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "catalog_rows.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

bool
sfx_row_get(int cache, Oid oid, void *row, Size size)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(oid));

	if (!HeapTupleIsValid(tuple))
		return false;
	memcpy(row, GETSTRUCT(tuple), size);
	ReleaseSysCache(tuple);
	return true;
}

void
sfx_row_must_get(int cache, Oid oid, void *row, Size size)
{
	if (!sfx_row_get(cache, oid, row, size))
		elog(ERROR, "cache lookup failed for row %u of system cache %d", oid, cache);
}

List *
sfx_rows_with(Oid catalog, Oid index, AttrNumber column, Oid value)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	List	   *rows = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
	scan = systable_beginscan(rel, index, OidIsValid(index), NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		rows = lappend(rows, heap_copytuple(tuple));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return rows;
}

void
sfx_row_set(Oid catalog, int cache, Oid oid, AttrNumber column, Datum value, bool isnull)
{
	Relation	rel = table_open(catalog, RowExclusiveLock);
	HeapTuple	old = SearchSysCache1(cache, ObjectIdGetDatum(oid));
	int			attno = column;
	HeapTuple	new;

	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for row %u of catalog %u", oid, catalog);
	new = heap_modify_tuple_by_cols(old, RelationGetDescr(rel), 1, &attno, &value, &isnull);
	CatalogTupleUpdate(rel, &new->t_self, new);
	ReleaseSysCache(old);
	table_close(rel, RowExclusiveLock);
}
