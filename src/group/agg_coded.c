/*-------------------------------------------------------------------------
 * agg_coded.c - aggregates of integers in coded blocks (Y1)
 *
 * leaf_sum.c gives sums and bounds of unsigned numbers; here these become those of the column's
 * values.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "agg_value_impl.h"

/* What leaf_sum.c has to compute for the aggregate; 0: the number of entries. */
static int
what_is_wanted(const SfxAggMethod *m)
{
	switch (m->out.kind)
	{
		case SFX_AGG_SUM:
		case SFX_AGG_AVG:
			return SFX_WANT_SUM;
		case SFX_AGG_LEAST:
			return m->out.ordered ? SFX_WANT_ENDS : SFX_WANT_BOUNDS;
		default:
			return 0;
	}
}

static int
sum_coded(const SfxAggregates *a, const SfxAggMethod *m, const SfxLeaf *leaf, int b,
		  const SfxPos *lo, const SfxPos *hi, SfxSum *sum)
{
	int			want = what_is_wanted(m);
	SfxPlace	place = {a->keylen, 0, 0, SFX_MARK_VALUE};

	if (want != 0)
	{
		place.at = m->at;
		place.width = m->width;
	}
	return sfx_leaf_sum(leaf, b, lo, hi, &place, want, sum);
}

/* The integer that a stored number stands for. */
static int64
number_of(const SfxAggMethod *m, uint64 v)
{
	v ^= m->flip;
	return m->width == 8 ? (int64) v : m->width == 4 ? (int32) v : m->width == 2 ? (int16) v :
		(int8) v;
}

/*
 * Add the sum of the integers: each is less than the stored number by a constant, or, in a
 * descending column, that number's complement.
 */
static void
add_sum(const SfxAggMethod *m, SfxAggState *s, const SfxSum *sum)
{
	bool		desc = number_of(m, 0) > 0; /* the least bytes are those of the greatest number */
	int64		more = SFX_BLOCK_ENTRIES + 1;
	SfxHalves	h;

	if (m->width == 8)
	{
		h.high = (int64) sum->high - ((int64) sum->n << 31);
		h.low = sum->low;
	}
	else
	{
		int64		all = ((int64) ((sum->high << 32) + sum->low) -
						   ((int64) sum->n << (8 * m->width - 1)));

		h.high = all >> 32;
		h.low = (uint32) all;
	}
	if (desc)
	{
		h.high = -h.high - more;
		h.low = ((uint64) more << 32) - h.low - (uint64) sum->n;
	}
	s->n += sum->n;
	sfx_agg_add_halves(s, &h);
}

static void
add_coded(const SfxAggMethod *m, SfxAggState *s, const SfxSum *sum)
{
	switch (m->out.kind)
	{
		case SFX_AGG_SUM:
		case SFX_AGG_AVG:
			add_sum(m, s, sum);
			break;
		case SFX_AGG_LEAST:
			sfx_agg_note_least(m, s, number_of(m, sum->least));
			sfx_agg_note_least(m, s, number_of(m, sum->most));
			break;
		default:
			s->n += sum->n;
	}
}

int
sfx_aggregates_sum_coded(SfxAggregates *a, const SfxLeaf *leaf, int b, const SfxPos *lo,
						 const SfxPos *hi)
{
	if (!a->coded)
		return SFX_NOT_CODED;
	for (int i = 0; i < a->n; i++)
	{
		int			done = sum_coded(a, &a->method[i], leaf, b, lo, hi, &a->sum[i]);

		if (done <= 0)
			return done < 0 ? SFX_CORRUPT : SFX_NOT_CODED;
		Assert(a->sum[i].n == a->sum[0].n);
	}
	return a->sum[0].n;
}

void
sfx_aggregates_add_coded(SfxAggregates *a, SfxAggState *states)
{
	for (int i = 0; i < a->n; i++)
		add_coded(&a->method[i], &states[i], &a->sum[i]);
}
