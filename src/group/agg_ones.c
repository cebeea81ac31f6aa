/*-------------------------------------------------------------------------
 * agg_ones.c - from keys: outputs of groups of one entry, and grouping columns
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_value_impl.h"

#include "utils/numeric.h"

static inline int64
load_number(const SfxAggMethod *m, const uint8 *key)
{
	const uint8 *p = key + m->at;

	return m->width == 8 ? sfx_agg_load(p, 8, m->flip) :
		m->width == 4 ? sfx_agg_load(p, 4, m->flip) : sfx_agg_load(p, 2, m->flip);
}

bool
sfx_aggregates_group(const SfxAggregates *a, const uint8 *key, uint32 keylen, Datum *values,
					 bool *isnull)
{
	if (!a->places || keylen != a->keylen)
		return false;
	for (int i = 0; i < a->n; i++)
	{
		const SfxAggMethod *m = &a->method[i];

		if (m->out.kind != SFX_AGG_GROUP)
			continue;
		if (key[m->at - 1] != SFX_MARK_VALUE)
			return false;
		values[i] = sfx_agg_datum_of(m, load_number(m, key));
		isnull[i] = false;
	}
	return true;
}

bool
sfx_aggregates_have_ones(const SfxAggregates *a, const SfxBlock *block, int from, int to)
{
	if (!a->ones || block->dups || block->width != a->keylen)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->method[i].at > 0 && !sfx_agg_in_place(a, &a->method[i], block, from, to))
			return false;
	return true;
}

/* The integers of entries [from, to), as Datums. */
static void
ones_of_width(const SfxAggMethod *m, int width, const SfxBlock *block, int from, int to,
			  Datum *values)
{
	const uint8 *p = block->keys + block->keyoff[from] + m->at;
	uint32		step = block->width;

	for (int i = from; i < to; i++, p += step)
	{
		int64		v = sfx_agg_load(p, width, m->flip);

		*values++ = width == 8 ? Int64GetDatum(v) : width == 4 ? Int32GetDatum((int32) v) :
			Int16GetDatum((int16) v);
	}
}

static void
ones_of_number(const SfxAggMethod *m, const SfxBlock *block, int from, int to, Datum *values)
{
	if (m->width == 8)
		ones_of_width(m, 8, block, from, to, values);
	else if (m->width == 4)
		ones_of_width(m, 4, block, from, to, values);
	else
		ones_of_width(m, 2, block, from, to, values);
}

void
sfx_aggregates_ones(const SfxAggregates *a, int k, const SfxBlock *block, int from, int to,
					Datum *values)
{
	const SfxAggMethod *m = &a->method[k];

	Assert(a->ones && !block->dups);
	if (m->out.kind == SFX_AGG_COUNT_ROWS || m->out.kind == SFX_AGG_COUNT_COLUMN)
	{
		for (int i = 0; i < to - from; i++)
			values[i] = Int64GetDatum(1);
		return;
	}
	ones_of_number(m, block, from, to, values);
	if (m->out.kind != SFX_AGG_SUM)
		return;
	/* the type of a sum differs from that of its values */
	for (int i = 0; i < to - from; i++)
	{
		int64		v = sfx_agg_integer_of(m, values[i]);

		values[i] = m->width == 8 ? NumericGetDatum(int64_to_numeric(v)) : Int64GetDatum(v);
	}
}
