/*-------------------------------------------------------------------------
 * agg_value_impl.h - what the files about aggregates' states share
 *
 * agg_value.c chooses how an output is computed, adds entries, and makes values of states; beside
 * it are agg_numeric.c (sums of numerics), agg_fed.c (any aggregate), agg_row.c (whole rows),
 * agg_coded.c (coded blocks) and agg_ones.c (groups of one entry).  No other file includes this.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_AGG_VALUE_IMPL_H
#define SURFIDX_AGG_VALUE_IMPL_H

#include "agg_value.h"
#include "key.h"
#include "leaf_sum.h"
#include "row_block.h"

#include "port/pg_bswap.h"

/* How an output is computed. */
typedef struct SfxAggMethod
{
	SfxAggOutput out;
	int16		typlen;			/* of the values taken */
	bool		typbyval;
	bool		integer;		/* SUM, AVG, LEAST: values are integers in their natural order */
	bool		numeric;		/* SUM, AVG of numeric */
	bool		last;			/* ... with which keys end */

	/* Offset of an integer in keys of one length, after its marker; 0: none. */
	int			at;
	int			width;
	uint64		flip;			/* bits to flip, also above those of its width */
	FmgrInfo	transfn;
} SfxAggMethod;

/* The outputs of a scan. */
struct SfxAggregates
{
	Relation	index;
	const SfxKeyDesc *kd;
	const SfxOrder *order;
	SfxExprs   *exprs;			/* of filters */
	MemoryContext cxt;			/* for the states' values */
	MemoryContext scratch;		/* garbage of a call of sfx_aggregates_add */
	uint32		keylen;			/* of each key without NULLs; 0: it varies */
	int			n;
	SfxAggMethod *method;
	const SfxAggMethod *row;	/* the first one of kind ROW, or NULL */
	bool		coded;			/* all methods have short cuts for coded blocks */
	bool		ones;			/* ... and for groups of one entry */
	bool		places;			/* all grouping columns have places */
	SfxSum	   *sum;			/* of a coded block, for each method */
	int		   *slow;			/* methods whose values are taken one by one */
	SfxRowsOfBlock *rows;		/* their rows; NULL: not needed yet */
	bool		ready[SFX_BLOCK_ENTRIES];	/* which of these are made */
	struct AggState *caller;	/* of functions of FED, or NULL */
	NullableDatum arg[FUNC_MAX_ARGS];	/* of the entry in hand */
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	PGAlignedBlock arena[SFX_ARENA / BLCKSZ];
	PGAlignedBlock payload_arena[SFX_ARENA / BLCKSZ];
};

static inline bool
sfx_agg_in_key(const SfxAggregates *a, const SfxAggMethod *m)
{
	return m->out.column >= 0 && m->out.column < a->kd->nkeys;
}

static inline int64
sfx_agg_integer_of(const SfxAggMethod *m, Datum value)
{
	return m->typlen == 8 ? DatumGetInt64(value) : m->typlen == 4 ? DatumGetInt32(value) :
		m->typlen == 2 ? DatumGetInt16(value) : DatumGetChar(value);
}

static inline Datum
sfx_agg_datum_of(const SfxAggMethod *m, int64 v)
{
	return m->typlen == 8 ? Int64GetDatum(v) : m->typlen == 4 ? Int32GetDatum((int32) v) :
		m->typlen == 2 ? Int16GetDatum((int16) v) : CharGetDatum((char) v);
}

/* Do entries i and k have one key? */
static inline bool
sfx_agg_same_key(const SfxBlock *block, int i, int k)
{
	return sfx_block_keyno(block, i) == sfx_block_keyno(block, k);
}

/* A sum in two halves: neither overflows for as many entries as a block has. */
typedef struct SfxHalves
{
	int64		high;
	uint64		low;
} SfxHalves;

static inline int64
sfx_agg_load(const uint8 *p, int width, uint64 flip)
{
	if (width == 8)
	{
		uint64		v;

		memcpy(&v, p, 8);
		return (int64) (pg_ntoh64(v) ^ flip);
	}
	if (width == 4)
	{
		uint32		v;

		memcpy(&v, p, 4);
		return (int32) (pg_ntoh32(v) ^ (uint32) flip);
	}
	else
	{
		uint16		v;

		memcpy(&v, p, 2);
		return (int16) (pg_ntoh16(v) ^ (uint16) flip);
	}
}

/* Does each key of these entries have the integer at its place? */
static inline bool
sfx_agg_in_place(const SfxAggregates *a, const SfxAggMethod *m, const SfxBlock *block, int from,
				 int to)
{
	return m->at > 0 && m->width > 1 && a->keylen > 0 && block->width == a->keylen &&
		block->keys[block->keyoff[sfx_block_keyno(block, from)] + m->at - 1] == SFX_MARK_VALUE &&
		block->keys[block->keyoff[sfx_block_keyno(block, to - 1)] + m->at - 1] == SFX_MARK_VALUE;
}

/* Add halves of a block's sum to the state's 128 bits. */
static inline void
sfx_agg_add_halves(SfxAggState *s, const SfxHalves *sum)
{
	uint64		low = s->low;

	s->low += sum->low;
	s->high += s->low < low;
	low = s->low;
	s->low += (uint64) sum->high << 32;
	s->high += (sum->high >> 32) + (s->low < low);
}

static inline void
sfx_agg_note_least(const SfxAggMethod *m, SfxAggState *s, int64 v)
{
	if (!s->have || (m->out.direction > 0 ? v < s->high : v > s->high))
		s->high = v;
	s->have = true;
}

/* Decode a key's columns before upto, as they were stored; valid until the next call. */
static inline void
sfx_agg_decode_key(SfxAggregates *a, const SfxBlock *block, int i, int upto)
{
	const SfxKeyDesc *kd = a->kd;
	SfxEntry	e;

	sfx_block_entry(block, i, &e);
	/* only a whole key has the rests */
	sfx_key_decode(kd, a->index, e.key, e.keylen, kd->nrests > 0 ? kd->nkeys : upto,
				   a->values, a->isnull, a->arena->data);
}

/* ---- agg_row.c ---- */

/* Add entries to the state of a ROW. */
extern void sfx_agg_add_row(SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s,
							const SfxBlock *block, int from, int to);

/* ---- agg_fed.c ---- */

/* Have a caller for the functions of an aggregate. */
extern void sfx_fed_begin(SfxAggregates *a, struct SfxFed *fed);

/* Begin to add to this state; and call the transition function with arguments, `times` times. */
extern void sfx_fed_open(SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s);
extern void sfx_fed_add(SfxAggregates *a, const SfxAggMethod *m, const NullableDatum *arg,
						int times);

/* The aggregate's value, or its state for core (Y13); and free what a state has. */
extern Datum sfx_fed_value(SfxAggregates *a, const SfxAggMethod *m, const SfxAggState *s,
						   bool *isnull);
extern void sfx_fed_clear(SfxAggState *s);

/* ---- agg_numeric.c ---- */

/* Add a value `times` times. */
extern void sfx_agg_add_numeric(SfxAggregates *a, SfxAggState *s, Datum value, int times);

/*
 * Add a value that does not fit the state's integers: NaN, an infinity, a very large or fine
 * number.
 */
extern void sfx_agg_add_odd(SfxAggregates *a, SfxAggState *s, Datum value, int times);

/* Sum up numerics with which keys end, where they stand.  False: these are not at the end. */
extern bool sfx_agg_add_numerics(SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s,
								 const SfxBlock *block, int from, int to);

/* The sum of integers. */
extern Datum sfx_agg_sum_of_integers(const SfxAggState *s);

/* The sum of numerics, with core's display scale, the greatest of theirs. */
extern Datum sfx_agg_sum_of_numerics(const SfxAggState *s);

#endif							/* SURFIDX_AGG_VALUE_IMPL_H */
