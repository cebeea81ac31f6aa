/*-------------------------------------------------------------------------
 * varlena.h - varlenas as indexes and rows of index-only scans store them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_VARLENA_H
#define SURFIDX_VARLENA_H

#include "surfidx.h"

/*
 * A row of an index-only scan has 8,191 bytes: so many for the values of key columns, compressed as
 * in btree's tuples, and INCLUDE columns.
 */
#define SFX_MAX_ROW_DATA	7600
/*
 * A varlena as btree would store it: fetched, compressed if it is long and its column allows, its
 * header perhaps yet to be shortened. v itself or palloced.
 */
extern struct varlena *sfx_storable_varlena(Form_pg_attribute att, struct varlena *v);

/*
 * A varlena as rows of index-only scans have it if they would be too large otherwise: compressed,
 * if that makes it smaller; v itself or palloced.
 */
extern struct varlena *sfx_row_varlena(struct varlena *v);

#endif							/* SURFIDX_VARLENA_H */
