/*-------------------------------------------------------------------------
 * strblock_runs.h - where the runs of a STRING block lie, and how they are stepped through
 *-------------------------------------------------------------------------
 */
#ifndef SFX_STRBLOCK_RUNS_H
#define SFX_STRBLOCK_RUNS_H

#include "strblock.h"

/* Where group g's run begins and ends. */
static inline const uint8_t *
group_run(const SfxStr *s, int g, const uint8_t **end)
{
	*end = s->heads + s->goff[g + 1];
	return s->heads + s->goff[g];
}

/* Keys of group g behind the head. */
static inline int
group_keys(const SfxStr *s, int g)
{
	int			n = s->n - g * SFX_STR_GROUP;

	return (n < SFX_STR_GROUP ? n : SFX_STR_GROUP) - 1;
}

/* The first key of all; *p stands behind it, at the run of the other heads. */
static inline bool
first_key(const SfxStr *s, const uint8_t **p, const uint8_t **key, uint32_t *len)
{
	const uint8_t *end = s->heads + s->goff[0];

	*p = s->heads;
	if (!sfx_len_get(p, end, len) || (ptrdiff_t) *len > end - *p)
		return false;
	*key = *p;
	*p += *len;
	return true;
}

/* The header of a key in a run; *p stands at the rest's bytes, which lie before end. */
static inline bool
next_key(const uint8_t **p, const uint8_t *end, uint32_t least, uint32_t *shared, uint32_t *rest)
{
	uint32_t	sh,
				re,
				more;

	if (*p >= end)
		return false;
	sh = **p >> 4;
	re = **p & 15;
	(*p)++;
	if (sh == 15)
	{
		if (!sfx_len_get(p, end, &more))
			return false;
		sh += more;
	}
	if (re == 15)
	{
		if (!sfx_len_get(p, end, &more))
			return false;
		re += more;
	}
	*shared = sh + least;
	*rest = re;
	return (ptrdiff_t) re <= end - *p;
}

#endif							/* SFX_STRBLOCK_RUNS_H */
