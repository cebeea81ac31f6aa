/*-------------------------------------------------------------------------
 * frontrun.h - a run of front-coded strings, parsed, for searches in comparator order
 *
 * In byte order a walk along a run mostly compares lengths, and needs no string.  A comparison
 * function needs whole strings, but few of them: so the run's lengths are parsed once, and the
 * strings that bisection compares are put together one by one, from the pieces that they share with
 * those before.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FRONTRUN_H
#define SFX_FRONTRUN_H

#include "sfx.h"

#define SFX_RUN_MAX		16

typedef struct SfxFrontRun
{
	int			n;
	const uint8_t *rest[SFX_RUN_MAX];	/* bytes after the shared ones */
	uint16_t	shared[SFX_RUN_MAX];	/* with the previous string; [0]: none */
	uint16_t	len[SFX_RUN_MAX];
} SfxFrontRun;

/*
 * Append a string; there may be SFX_RUN_MAX of them.  False if it shares more than the previous one
 * has, or is longer than `most` bytes.
 */
static inline bool
sfx_run_add(SfxFrontRun *r, uint32_t shared, const uint8_t *rest, uint32_t restlen, uint32_t most)
{
	uint32_t	prevlen = r->n > 0 ? r->len[r->n - 1] : 0;

	if (shared > prevlen || restlen > most || shared > most - restlen)
		return false;
	r->rest[r->n] = rest;
	r->shared[r->n] = (uint16_t) shared;
	r->len[r->n] = (uint16_t) (shared + restlen);
	r->n++;
	return true;
}

/* Write string i to out and return its length. */
static inline uint32_t
sfx_run_string(const SfxFrontRun *r, int i, uint8_t *out)
{
	uint32_t	len = r->len[i];

	/* the first need bytes are those of string i, which has at least so many */
	for (uint32_t need = len; need > 0; i--)
		if (r->shared[i] < need)
		{
			memcpy(out + r->shared[i], r->rest[i], need - r->shared[i]);
			need = r->shared[i];
		}
	return len;
}

#endif							/* SFX_FRONTRUN_H */
