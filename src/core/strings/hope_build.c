/*-------------------------------------------------------------------------
 * hope_build.c - making a dictionary: select symbols, count their intervals' uses in the sample,
 * assign codes
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

/*
 * Weight of one use; an interval that the sample did not use weighs 1.  Grams were chosen because
 * they occurred in the sample, and small samples overrate them: with 56 KB of URLs a weight of 64
 * takes 2-3% more bits than one of 2.  Pairs were not chosen: there a weight of 2 takes 8% more
 * (bench_hope on such a file).
 */
#define USE_WEIGHT		64
#define USE_WEIGHT_GRAM	2

/* One of so many (a power of two) symbols is assumed to be random bytes. */
#define RANDOM_SHARE	7

/* ALM-Improved at first takes so many times the intervals that it may keep. */
#define CANDIDATES		2

#define MAX_SAMPLE		(UINT32_C(1) << 31)

/* Bytes of the largest tables that that many intervals may need. */
static size_t
worst_state_size(SfxHopeScheme scheme, uint32_t limit)
{
	HopeShape	shape = {.scheme = scheme,.nintervals = limit,.nentries = limit};

	if (hope_is_alm(scheme))
	{
		shape.nentries = limit * ((SFX_HOPE_MAXSYM - 1) / HOPE_STRIDE + 1);
		shape.pool = limit * SFX_HOPE_MAXSYM;
	}
	return sfx_hope_layout(&shape, NULL);
}

/* The limit that is used, between the bounds of hope.h. */
static uint32_t
intervals_of(SfxHopeScheme scheme, uint32_t limit)
{
	if (limit < SFX_HOPE_MIN_LIMIT)
		limit = SFX_HOPE_MIN_LIMIT;
	if (limit > SFX_HOPE_MAX_INTERVALS)
		limit = SFX_HOPE_MAX_INTERVALS;
	return scheme == SFX_HOPE_SINGLE ? 257 : scheme == SFX_HOPE_DOUBLE ? SFX_HOPE_MAX_INTERVALS : limit;
}

/* Bytes of uses[n] and length[n], which precede what one step needs. */
static size_t
kept_size(uint32_t n)
{
	return 16 * (size_t) n;
}

size_t
sfx_hope_build_size(SfxHopeScheme scheme, uint32_t limit, size_t sample_bytes)
{
	uint32_t	n = intervals_of(scheme, limit);
	size_t		select,
				state = worst_state_size(scheme, n),
				assign = sfx_hope_assign_size(n),
				size;

	if (scheme == SFX_FSST)
		return sfx_fsst_build_size();
	if (sample_bytes > MAX_SAMPLE)
		sample_bytes = MAX_SAMPLE;
	select = sfx_hope_select_size(scheme, CANDIDATES * n, sample_bytes);
	size = kept_size(n) + (state > assign ? state : assign);
	return select > size ? select : size;
}

/*
 * Count the intervals' uses, with the dictionary in the memory at scratch.  SFX_NOMEM if that is
 * too small.
 */
static int
count_uses(SfxHopeScheme scheme, HopeSymbols s, const HopeSample *sample, uint64_t *uses, uint32_t n,
		   void *scratch, size_t size)
{
	SfxHope    *h = scratch;
	HopeShape	shape;
	uint32_t	left = sample->bytes;

	if (sfx_hope_shape(scheme, s, n, &shape) < 0 || sfx_hope_layout(&shape, NULL) > size)
		return SFX_NOMEM;
	sfx_hope_layout(&shape, h);
	sfx_hope_fill(h, s);
	memset(uses, 0, 8 * (size_t) n);
	for (uint32_t k = 0; k < sample->nkeys && sample->keys[k].len <= left; k++)
	{
		sfx_hope_count_uses(h, sample->keys[k].key, sample->keys[k].len, uses);
		left -= sample->keys[k].len;
	}
	return SFX_OK;
}

static uint32_t
count_intervals(SfxHopeScheme scheme, HopeSymbols s)
{
	HopeShape	shape;

	sfx_hope_shape(scheme, s, HOPE_MAX_CANDIDATES, &shape);
	return shape.nintervals;
}

/*
 * ALM-Improved: strings overlap, so many of those that occur often are hardly used.  It begins with
 * more than there is room for, and keeps those whose uses save most.
 */
static int
select_improved(uint32_t limit, const HopeSample *sample, uint8_t *scratch, size_t size,
				uint8_t *list, size_t cap, HopeSymbols *s)
{
	for (uint32_t more = CANDIDATES; more > 1; more--)
	{
		uint32_t	n;
		size_t		before;

		if (sfx_hope_select(SFX_HOPE_ALM_IMPROVED, more * limit, sample, scratch, list, cap, s) < 0)
			continue;
		n = count_intervals(SFX_HOPE_ALM_IMPROVED, *s);
		before = kept_size(n);
		if (n <= limit)
			return SFX_OK;
		if (before < size && before + sfx_hope_prune_size(*s) <= size &&
			count_uses(SFX_HOPE_ALM_IMPROVED, *s, sample, (uint64_t *) scratch, n, scratch + before, size - before) == SFX_OK)
		{
			sfx_hope_prune(SFX_HOPE_ALM_IMPROVED, limit, (uint64_t *) scratch, scratch + before, list, s);
			return SFX_OK;
		}
	}
	return sfx_hope_select(SFX_HOPE_ALM_IMPROVED, limit, sample, scratch, list, cap, s);
}

/*
 * Where an interval starts, as a fraction of the strings that begin with random bytes, in 1/2^32.
 */
static uint64_t
start_fraction(const SfxHope *h, uint32_t interval)
{
	const uint32_t *start;

	if (interval == h->shape.nintervals)
		return UINT64_C(1) << 32;
	switch (h->shape.scheme)
	{
		case SFX_HOPE_SINGLE:
			return (uint64_t) (interval - 1) << 24;
		case SFX_HOPE_DOUBLE:
			return (uint64_t) (interval - 1 - (interval + 255) / 257) << 16;
		case SFX_HOPE_GRAM3:
		case SFX_HOPE_GRAM4:
			return HOPE_CTABLE(h, uint64_t, head)[interval] >> 32;
		default:
			start = HOPE_CTABLE(h, uint32_t, start);
			return hope_head(HOPE_CTABLE(h, uint8_t, bytes) + start[interval], start[interval + 1] - start[interval]) >> 32;
	}
}

/*
 * Turn uses into weights.  Intervals that the sample did not use, or not often, get a share by
 * their width, so that keys of another kind grow by less than a byte per byte; it costs all others
 * 0.01 bits per symbol.
 */
static void
weigh_intervals(const SfxHope *h, uint64_t *uses)
{
	uint64_t	total = 0,
				weight = hope_is_gram(h->shape.scheme) ? USE_WEIGHT_GRAM : USE_WEIGHT;

	uses[HOPE_END] = 1;			/* its code is never written in full */
	for (uint32_t i = 1; i < h->shape.nintervals; i++)
	{
		uses[i] = h->shape.scheme == SFX_HOPE_ALM ? 1 : weight * uses[i] + 1;
		total += uses[i];
	}
	if (h->shape.scheme == SFX_HOPE_ALM)
		return;
	for (uint32_t i = 1; i < h->shape.nintervals; i++)
	{
		uint64_t	width = start_fraction(h, i + 1) - start_fraction(h, i);

		/* total is less than 2^38 and the widest interval 1/256 of all */
		uses[i] += ((total >> RANDOM_SHARE) * width) >> 32;
	}
}

int
sfx_hope_build(SfxHopeScheme scheme, uint32_t limit, const SfxHopeKey *keys, uint32_t nkeys,
			   void *scratch, size_t scratch_size, uint8_t *dict, size_t cap)
{
	HopeSample	sample = {keys, 0, 0};
	HopeSymbols s;
	uint32_t	n;
	uint64_t   *uses = scratch;
	uint8_t    *length,
			   *rest;
	int			r;

	if (scheme == SFX_FSST)
		return sfx_fsst_build(intervals_of(scheme, limit), keys, nkeys, scratch, scratch_size, dict, cap);
	limit = intervals_of(scheme, limit);
	while (sample.nkeys < nkeys && keys[sample.nkeys].len <= MAX_SAMPLE - sample.bytes)
		sample.bytes += keys[sample.nkeys++].len;
	if (scratch_size < sfx_hope_build_size(scheme, limit, sample.bytes))
		return SFX_NOMEM;
	if (cap < HOPE_HEADER)
		return SFX_NOSPACE;

	if (scheme == SFX_HOPE_ALM_IMPROVED)
		r = select_improved(limit, &sample, scratch, scratch_size, dict + HOPE_HEADER, cap - HOPE_HEADER, &s);
	else
		r = sfx_hope_select(scheme, limit, &sample, scratch, dict + HOPE_HEADER, cap - HOPE_HEADER, &s);
	if (r < 0)
		return r;

	n = count_intervals(scheme, s);
	length = (uint8_t *) scratch + 8 * (size_t) n;
	rest = (uint8_t *) scratch + kept_size(n);
	r = count_uses(scheme, s, &sample, uses, n, rest, scratch_size - kept_size(n));
	if (r < 0)
		return r;
	weigh_intervals((const SfxHope *) rest, uses);
	sfx_hope_assign(uses, n, SFX_HOPE_MAXBITS, length, rest);
	return sfx_hope_finish(scheme, dict, cap, s.n, (size_t) (s.end - s.p), length, n);
}
