/*-------------------------------------------------------------------------
 * payload.h - INCLUDE columns, and values as rows store them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PAYLOAD_H
#define SURFIDX_PAYLOAD_H

#include "column.h"

/* A row of an index-only scan has 8,191 bytes: so many for the values of key columns, compressed as in btree's tuples, and INCLUDE columns. */
#define SFX_MAX_ROW_DATA	7600

/* INCLUDE columns as payload bytes: null bitmap and heap-style data.  Length, or ERROR; 0 if there are none. */
extern int	sfx_payload_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull,
							   uint8 *buf, int maxlen);
/*
 * A varlena as btree would store it: fetched, compressed if it is long and its column allows, its header perhaps yet to be shortened.
 * v itself or palloced.
 */
extern struct varlena *sfx_storable_varlena(Form_pg_attribute att, struct varlena *v);
/* Fills values[nkeys..natts); pass-by-reference Datums point into arena (MAXALIGNed, SFX_ARENA bytes). */
extern void sfx_payload_decode(const SfxKeyDesc *kd, Relation index, const uint8 *payload, int len,
							   Datum *values, bool *isnull, char *arena);

/* A varlena as rows of index-only scans have it if they would be too large otherwise: compressed, if that makes it smaller; v itself or palloced. */
extern struct varlena *sfx_row_varlena(struct varlena *v);

#endif							/* SURFIDX_PAYLOAD_H */
