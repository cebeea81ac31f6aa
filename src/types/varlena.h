/*-------------------------------------------------------------------------
 * varlena.h - varlenas as indexes and rows of index-only scans store them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VARLENA_H
#define SURFIDX_VARLENA_H

/*
 * A row of an index-only scan has 8,191 bytes, at most.  So many of them are for the values of key
 * columns, compressed as in btree's tuples, and of INCLUDE columns.
 */
#define SFX_MAX_ROW_DATA	7600
/*
 * A varlena as btree would store it: fetched, compressed if it is long and its column allows that;
 * its header may still be shortened.  Returns v itself, or a palloc'd copy.
 */
extern struct varlena *sfx_storable_varlena(Form_pg_attribute att, struct varlena *v);

/*
 * A varlena as rows of index-only scans have it if they would be too large otherwise: compressed,
 * if that makes it smaller.  Returns v itself, or a palloc'd copy.
 */
extern struct varlena *sfx_row_varlena(struct varlena *v);

/* Free what was made of a value by detoasting it, unless that is the value itself. */
static inline void
sfx_free_copy(void *copy, Datum value)
{
	if (copy != DatumGetPointer(value))
		pfree(copy);
}

#endif							/* SURFIDX_VARLENA_H */
