/*-------------------------------------------------------------------------
 * tidvisible.c - how many rows of a block of TIDs are on all-visible heap blocks
 *-------------------------------------------------------------------------
 */
#include "tidvisible.h"

#include "tidruns.h"

/*
 * Write those of TIDs [a, b), which are consecutive numbers, that are not all-visible.  Most of the
 * time they have one heap block, and one bit.
 */
static int
run_hidden(const SfxVisMap *map, uint64_t a, uint64_t b, uint64_t *hidden)
{
	uint64_t	one[1 + SFX_HIDDEN_SLACK];
	int			found = 0;

	if (a >> 16 == (b - 1) >> 16 && sfx_kernels->hidden(map, &a, 1, one) == 0)
		return 0;
	for (uint64_t t = a; t < b; t++)
		if (a >> 16 == (b - 1) >> 16 || sfx_kernels->hidden(map, &t, 1, one) > 0)
			hidden[found++] = t;
	return found;
}

static void
reverse(uint64_t *v, int n)
{
	for (int i = 0, k = n - 1; i < k; i++, k--)
	{
		uint64_t	t = v[i];

		v[i] = v[k];
		v[k] = t;
	}
}

static int
runs_hidden(const uint8_t *in, size_t len, int n, int from, int to, const SfxVisMap *map,
			uint64_t *hidden)
{
	bool		reversed = (in[0] & RUNS_REVERSED) != 0;
	int			lo = reversed ? n - to : from,
				hi = reversed ? n - from : to,
				found = 0;
	SfxRunReader r;

	sfx_runs_start(&r, in, len);
	for (int i = 0; i < hi; i += (int) r.length)
	{
		int			a,
					b;

		if (sfx_run_next(&r, (uint64_t) (n - i)) < 0)
			return SFX_CORRUPT;
		a = i < lo ? lo : i;
		b = i + (int) r.length < hi ? i + (int) r.length : hi;
		if (a < b)
			found += run_hidden(map, r.start + (uint64_t) (a - i), r.start + (uint64_t) (b - i),
								hidden + found);
	}
	if (reversed)
		reverse(hidden, found);
	return found;
}

int
sfx_tid_hidden(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists,
			   int from, int to, const SfxVisMap *map, uint64_t *hidden)
{
	if (n < 1 || n > SFX_TID_MAXN || len < 1 || from < 0 || from > to || to > n)
		return SFX_CORRUPT;
	if ((in[0] & 7) == SFX_TID_RUNS)
		return runs_hidden(in, len, n, from, to, map, hidden);
	if (sfx_tid_decode(in, len, n, ends, nlists, from, to, hidden) < 0)
		return SFX_CORRUPT;
	return sfx_kernels->hidden(map, hidden, to - from, hidden);
}
