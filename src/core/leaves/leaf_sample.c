/*-------------------------------------------------------------------------
 * leaf_sample.c - a sample of keys' rests, taken while leaves are packed, to train a dictionary
 * with
 *-------------------------------------------------------------------------
 */
#include "leaf_packer.h"

void
sfx_sample_init(SfxRestSample *s)
{
	s->nkeys = s->used = s->seen = 0;
	s->stride = 1;
}

/* Drop every other group; each has SFX_STR_GROUP - 1 rests. */
static void
thin_sample(SfxRestSample *s)
{
	uint32_t	n = 0,
				used = 0;

	for (uint32_t i = 0; i < s->nkeys; i++)
	{
		uint32_t	from = i > 0 ? s->end[i - 1] : 0;
		uint32_t	len = s->end[i] - from;

		if (i / (SFX_STR_GROUP - 1) % 2)
			continue;
		/* end[n] is below i, or is end[i] itself: from was read */
		memmove(s->bytes + used, s->bytes + from, len);
		used += len;
		if (n < i)
			s->end[n] = used;
		n++;
	}
	s->nkeys = n;
	s->used = used;
	s->stride *= 2;
}

static void
add_rest(SfxRestSample *s, const uint8_t *rest, uint32_t len)
{
	if (s->nkeys == SFX_SAMPLE_KEYS || s->used + len > SFX_SAMPLE_BYTES)
		return;
	if (len > 0)
		memcpy(s->bytes + s->used, rest, len);
	s->used += len;
	s->end[s->nkeys++] = s->used;
}

uint32_t
sfx_sample_keys(const SfxRestSample *s, SfxHopeKey *keys)
{
	for (uint32_t i = 0; i < s->nkeys; i++)
	{
		uint32_t	from = i > 0 ? s->end[i - 1] : 0;

		keys[i] = (SfxHopeKey) {s->bytes + from, s->end[i] - from};
	}
	return s->nkeys;
}

void
sfx_sample_block(SfxRestSample *s, const Pending *q, int nkeys, uint32_t cut)
{
	for (int g = 0; g + SFX_STR_GROUP <= nkeys; g += SFX_STR_GROUP)
	{
		if (s->seen++ % s->stride != 0)
			continue;
		if (s->nkeys + SFX_STR_GROUP > SFX_SAMPLE_KEYS ||
			s->used + (q->keyoff[g + SFX_STR_GROUP] - q->keyoff[g]) > SFX_SAMPLE_BYTES)
			thin_sample(s);
		for (int i = g + 1; i < g + SFX_STR_GROUP; i++)
		{
			uint32_t	from = q->keyoff[i] + q->lcp[i];
			uint32_t	to = q->keyoff[i + 1] - cut;

			add_rest(s, q->keys + from, to > from ? to - from : 0);
		}
	}
}
