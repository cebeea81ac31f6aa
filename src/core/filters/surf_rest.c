/*-------------------------------------------------------------------------
 * surf_rest.c - SuRF: the order-preserving code of what follows the cuts; real suffixes are its
 * first bits
 *
 * Every byte has a weight; it takes its share of the interval that the bytes before it have left,
 * and the end of the key takes a share below all bytes.  So intervals of rests ascend as the rests
 * do (surf_code_rest), and frequent bytes use up few bits.
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"

/* The code is made for that many bytes after the cut: few real bits do not reach further. */
#define REST_TRAIN		4
/* A code for fewer keys is not worth its table ... */
#define REST_MINKEYS	500
/*
 * ... and pairs of bytes must be equal that often, of 256: once is the case if all bytes are
 * equally frequent.
 */
#define REST_MINEQUAL	3

/*
 * Set weights in proportion to the counts, rounded down, such that the greatest is `most`;
 * count[256] is that of ends.
 */
static void
set_weights(uint8_t *rest, const uint64_t *count, uint64_t most)
{
	unsigned	sum;

	for (unsigned c = 0; c < 256; c++)
	{
		unsigned	q = 0;

		while (q < 15 && surf_weight_of(q + 1) * most <= count[c] * surf_weight_of(15))
			q++;
		rest[c >> 1] |= (uint8_t) (q << (c & 1) * 4);
	}
	sum = (unsigned) (count[256] * surf_weight_of(15) / most);
	sum = rest[SURF_RESTEND] = (uint8_t) (sum > 0 ? sum : 1);
	for (unsigned c = 0; c < 256; c++)
	{
		if (c % 16 == 0)
			sfx_put16(rest + SURF_RESTSUMS + c / 8, (uint16_t) sum);
		sum += surf_weight(rest, c);
	}
	sfx_put16(rest + SURF_RESTTOTAL, (uint16_t) sum);
}

int
surf_plan_rest(SfxSurfBuild *b)
{
	uint64_t   *count = surf_vec_zeroed(b, &b->buckets, 257 * sizeof(uint64_t)),
				total = 0,
				equal = 0,
				most = 1;
	uint8_t    *rest = surf_vec_zeroed(b, &b->rest, SURF_REST);

	if (count == NULL || rest == NULL)
		return SFX_NOMEM;
	if (b->realbits == 0 || b->nkeys < REST_MINKEYS)
		return SFX_OK;
	for (size_t at = 0; at < b->suffixes.len; at += b->sufbytes)
	{
		const uint8_t *p = b->suffixes.p + at + b->hashbytes;
		unsigned	n = p[0] < REST_TRAIN ? p[0] : REST_TRAIN;

		for (unsigned i = 0; i < n; i++)
			count[p[1 + i]]++;
		count[256] += n < REST_TRAIN;
		total += n;
	}
	for (unsigned c = 0; c < 256; c++)
	{
		equal += count[c] * count[c] / (total / 256 + 1);
		most = count[c] > most ? count[c] : most;
	}
	most = count[256] > most ? count[256] : most;
	if (equal < REST_MINEQUAL * total)
		return SFX_OK;
	set_weights(rest, count, most);
	b->plan.flags |= SURF_F_REST;
	return SFX_OK;
}
