/*-------------------------------------------------------------------------
 * varlena.c - varlenas as indexes and rows of index-only scans store them
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "varlena.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/toast_internals.h"

struct varlena *
sfx_storable_varlena(Form_pg_attribute att, struct varlena *v)
{
	struct varlena *fetched = v;
	struct varlena *packed;

	if (VARATT_IS_EXTERNAL(v))
		fetched = detoast_external_attr(v);
	if (VARATT_IS_EXTENDED(fetched) || VARSIZE(fetched) <= TOAST_INDEX_TARGET ||
		(att->attstorage != TYPSTORAGE_EXTENDED && att->attstorage != TYPSTORAGE_MAIN))
		return fetched;
	packed = (struct varlena *) DatumGetPointer(toast_compress_datum(PointerGetDatum(fetched), att->attcompression));
	if (packed == NULL)
		return fetched;
	if (fetched != v)
		pfree(fetched);
	return packed;
}

struct varlena *
sfx_row_varlena(struct varlena *v)
{
	struct varlena *packed;

	if (VARATT_IS_EXTENDED(v) || VARSIZE(v) <= TOAST_INDEX_TARGET)
		return v;
	packed = (struct varlena *) DatumGetPointer(toast_compress_datum(PointerGetDatum(v), TOAST_PGLZ_COMPRESSION));
	return packed ? packed : v;
}
