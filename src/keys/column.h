/*-------------------------------------------------------------------------
 * column.h - columns of an index, as keys are made of them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COLUMN_H
#define SURFIDX_COLUMN_H

#include "encode.h"

typedef struct SfxColumn
{
	const SfxEncoding *enc;
	Oid			type;			/* opcintype */
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	bool		desc;
	bool		nulls_first;
	bool		raw;			/* no byte order: datum bytes, compared by the class's support
								 * function 1 */
	int			(*bound) (Oid subtype, Datum value, Datum *own, Datum *above);	/* the encoding's, kept
																				 * where a collation
																				 * makes it raw */
	bool		counted;		/* raw, of varying width and not a string: a length stands before
								 * the bytes */
	const struct SfxStructure *structure;	/* raw and INCLUDE columns: what to hold values against
											 * (sound.h), or NULL */
} SfxColumn;

typedef struct SfxKeyDesc
{
	int			nkeys;			/* key columns */
	int			natts;			/* with INCLUDE columns */
	int			nrests;			/* columns whose values may have rests */
	bool		grows;			/* some column's values may be much longer than their bytes
								 * (SfxEncoding.room) */
	bool		comparator;		/* comparator key space: some column is raw */
	bool		image_equal;	/* equal keys have equal bytes, rests aside */
	SfxColumn	col[INDEX_MAX_KEYS];	/* of INCLUDE columns only structure is set */
} SfxKeyDesc;

/*
 * Fill *kd for an index; parts of it are palloced.  ERROR if a column's collation or class cannot
 * be served.
 */
extern void sfx_keydesc_init(SfxKeyDesc *kd, Relation index);

/* May decoding a key of len bytes allocate? */
static inline bool
sfx_key_may_be_long(const SfxKeyDesc *kd, int len)
{
	return kd->grows || len > SFX_LONG_PLAIN;
}

#endif							/* SURFIDX_COLUMN_H */
