/*-------------------------------------------------------------------------
 * column.h - columns of an index, as keys are made of them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COLUMN_H
#define SURFIDX_COLUMN_H

#include "encode.h"

/* A column of an index, as keys are made of it. */
typedef struct SfxColumn
{
	const SfxEncoding *enc;		/* NULL: raw */
	Oid			type;			/* opcintype */
	Oid			composite;		/* the type whose rows are stored, where those of others may be
								 * looked for (composite.h) */
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	bool		desc;
	bool		nulls_first;
	bool		raw;			/* there is no byte order: the datum's bytes, compared by the
								 * class's support function 1 */
	/* enc->bound, kept where the collation makes the column raw */
	int			(*bound) (Oid subtype, Datum value, Datum *own, Datum *above);
	bool		counted;		/* raw, of varying width and not a string: a length comes before
								 * the bytes */
	const struct SfxStructure *structure;	/* raw and INCLUDE columns: the layout that values are
											 * checked against (sound.h); NULL: none */
} SfxColumn;

/* The columns of an index. */
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
 * Fill *kd for an index; parts of it are palloc'd.  ERROR if a column's collation or class is not
 * supported.
 */
extern void sfx_keydesc_init(SfxKeyDesc *kd, Relation index);

/* May decoding a key of len bytes allocate? */
static inline bool
sfx_key_may_be_long(const SfxKeyDesc *kd, int len)
{
	return kd->grows || len > SFX_LONG_PLAIN;
}

#endif							/* SURFIDX_COLUMN_H */
