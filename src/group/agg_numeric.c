/*-------------------------------------------------------------------------
 * agg_numeric.c - sums of numerics: of most of them as two integers (number.h), of the others by
 * core's functions
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_value_impl.h"
#include "number.h"

#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* entries; a shorter stretch is summed key by key */
#define ALIKE_LEAST		8

void
sfx_agg_add_odd(SfxAggregates *a, SfxAggState *s, Datum value, int times)
{
	MemoryContext old;
	Datum		sum = value;

	Assert(CurrentMemoryContext == a->scratch);
	if (times > 1 && !SFX_MUTANT("odd numbers once"))
		sum = DirectFunctionCall2(numeric_mul, value, NumericGetDatum(int64_to_numeric(times)));
	if (s->have)
		sum = DirectFunctionCall2(numeric_add, s->value, sum);
	old = MemoryContextSwitchTo(a->cxt);
	sum = datumCopy(sum, false, -1);
	MemoryContextSwitchTo(old);
	if (s->have)
		pfree(DatumGetPointer(s->value));
	s->value = sum;
	s->have = true;
}

static void
add_parts(SfxAggState *s, int64 whole, int64 fraction, int scale)
{
	SfxHalves	h = {whole >> 32, (uint32) whole};

	sfx_agg_add_halves(s, &h);
	s->fraction += fraction;
	s->scale = SFX_MUTANT("scale of the last") ? scale : Max(s->scale, scale);
}

void
sfx_agg_add_numeric(SfxAggregates *a, SfxAggState *s, Datum value, int times)
{
	SfxNumber	number;

	s->n += times;
	if (sfx_number_of_numeric(value, &number))
		add_parts(s, number.whole * times, number.fraction * times, number.scale);
	else
		sfx_agg_add_odd(a, s, value, times);
}

/* Add once more, to *sum, the entries that have the key of the entry before. */
static void
add_repeated(const SfxBlock *block, int from, int to, int at, bool desc, SfxNumber *sum)
{
	SfxNumber	number = {0, 0, 0};

	for (int i = from + 1; i < to; i++)
	{
		if (!sfx_agg_same_key(block, i, i - 1))
			continue;
		(void) sfx_number_of_bytes(block->keys + block->keyoff[block->keyno[i]] + at,
								   (int) block->width - at, desc, &number);
		sum->whole += number.whole;
		sum->fraction += number.fraction;
	}
}

/*
 * Sum up entries whose keys are alike except for the numeric, by which they ascend: all keys have
 * one length, and few have several entries.  False: they are not alike.
 */
static bool
add_alike(const SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s, const SfxBlock *block,
		  int from, int to)
{
	int			key = sfx_block_keyno(block, from);
	int			n = sfx_block_keyno(block, to - 1) - key + 1;
	const uint8 *p = block->keys + block->keyoff[key];
	int			width = (int) block->width;
	int			at = 0;
	bool		desc = a->kd->col[m->out.column].desc;
	SfxNumber	sum;

	if (!m->out.ordered || width == 0 || n < ALIKE_LEAST || n < (to - from) / 4 * 3)
		return false;
	for (int c = 0; c < m->out.column; c++)
		at += sfx_column_length(&a->kd->col[c], a->index, p + at, width - at);
	/* NULL, or damaged */
	if (width - at < 3 || p[at] != SFX_MARK_VALUE || p[(n - 1) * width + at] != SFX_MARK_VALUE ||
		!sfx_number_sum(p + at + 1, width - at - 1, width, n, desc, &sum))
		return false;
	if (block->dups && !SFX_MUTANT("repeated keys once"))
		add_repeated(block, from, to, at + 1, desc, &sum);
	s->n += to - from;
	add_parts(s, sum.whole, sum.fraction, sum.scale);
	return true;
}

bool
sfx_agg_add_numerics(SfxAggregates *a, const SfxAggMethod *m, SfxAggState *s,
					 const SfxBlock *block, int from, int to)
{
	int			column = m->out.column;
	const SfxColumn *col = &a->kd->col[column];
	SfxNumber	sum = {0, 0, 0};
	int			times;

	if (!m->last)
		return false;
	if (add_alike(a, m, s, block, from, to))
		return true;
	for (int i = from; i < to; i += times)
	{
		int			k = sfx_block_keyno(block, i);
		const uint8 *p = block->keys + block->keyoff[k];
		const uint8 *end = block->keys + block->keyoff[k + 1];
		SfxNumber	number;

		for (times = 1; i + times < to && sfx_agg_same_key(block, i, i + times);)
			times++;
		for (int c = 0; c < column; c++)
			p += sfx_column_length(&a->kd->col[c], a->index, p, (int) (end - p));
		if (end - p > 1 && *p == SFX_MARK_VALUE &&
			sfx_number_of_bytes(p + 1, (int) (end - p) - 1, col->desc, &number))
		{
			s->n += times;
			sum.whole += number.whole * times;
			sum.fraction += number.fraction * times;
			sum.scale = Max(sum.scale, number.scale);
			continue;
		}
		sfx_agg_decode_key(a, block, i, column + 1);
		if (!a->isnull[column])
			sfx_agg_add_numeric(a, s, a->values[column], times);
	}
	add_parts(s, sum.whole, sum.fraction, sum.scale);
	return true;
}

StaticAssertDecl(SFX_BLOCK_ENTRIES <= 900, "a block's numbers of 16 digits have a sum of 64 bits");

Datum
sfx_agg_sum_of_integers(const SfxAggState *s)
{
	Datum		shift = NumericGetDatum(int64_to_numeric(INT64CONST(1) << 32));
	Datum		sum;

	if (s->high == ((int64) s->low < 0 ? -1 : 0))
		return NumericGetDatum(int64_to_numeric((int64) s->low));
	sum = NumericGetDatum(int64_to_numeric(s->high));
	for (int half = 1; half >= 0; half--)
	{
		int64		part = (int64) (s->low >> 32 * half & 0xFFFFFFFF);

		sum = DirectFunctionCall2(numeric_mul, sum, shift);
		sum = DirectFunctionCall2(numeric_add, sum, NumericGetDatum(int64_to_numeric(part)));
	}
	return sum;
}

Datum
sfx_agg_sum_of_numerics(const SfxAggState *s)
{
	Datum		fraction = NumericGetDatum(int64_div_fast_to_numeric(s->fraction,
																	 SFX_NUMBER_PLACES));
	Datum		sum = DirectFunctionCall2(numeric_add, sfx_agg_sum_of_integers(s), fraction);

	sum = DirectFunctionCall2(numeric_round, sum, Int32GetDatum(s->scale));
	return s->have ? DirectFunctionCall2(numeric_add, sum, s->value) : sum;
}
