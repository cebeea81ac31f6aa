/*-------------------------------------------------------------------------
 * strblock_runs.h - where the runs of a STRING block are, and how readers step through them
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

/* Number of keys of group g after the head. */
static inline int
group_keys(const SfxStr *s, int g)
{
	int			n = s->n - g * SFX_STR_GROUP;

	return (n < SFX_STR_GROUP ? n : SFX_STR_GROUP) - 1;
}

/* Bytes that n packed symbols take. */
static inline uint32_t
packed_size(const SfxSymbols *s, uint32_t n)
{
	return (n * s->bits + 7) / 8;
}

/* A walk along a run. */
typedef struct RunWalk
{
	const uint8_t *p;			/* the next key */
	const uint8_t *end;
	uint32_t	least;			/* length that all keys share, at least */
	uint32_t	leastrest;		/* packed: symbols that all their rests have */
	const SfxSymbols *symbols;	/* NULL: not packed */
} RunWalk;

/*
 * The first key of the stream; *p moves after it, to the run of the other heads.  False: the bytes
 * end early.
 */
static inline bool
first_key(const SfxStr *s, const uint8_t **p, const uint8_t **key, uint32_t *len)
{
	const uint8_t *end = s->heads + s->goff[0];
	uint32_t	size;

	*p = s->heads;
	if (!sfx_len_get(p, end, len))
		return false;
	size = s->packed ? packed_size(&s->symbols, *len) : *len;
	if ((ptrdiff_t) size > end - *p)
		return false;
	*key = *p;
	*p += size;
	return true;
}

/* Begin to walk along a run that has keys.  False: the bytes end early. */
static inline bool
begin_run(const SfxStr *s, const uint8_t *p, const uint8_t *end, RunWalk *w)
{
	w->p = p;
	w->end = end;
	w->leastrest = 0;
	w->symbols = s->packed ? &s->symbols : NULL;
	return sfx_len_get(&w->p, end, &w->least) &&
		(!s->packed || sfx_len_get(&w->p, end, &w->leastrest));
}

/* Read the lengths of a key in a run.  False: the run's bytes end early. */
static inline bool
next_lengths(const uint8_t **p, const uint8_t *end, uint32_t *shared, uint32_t *rest)
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
	*shared = sh;
	*rest = re;
	return true;
}

/*
 * Read the header of a key in a run whose rests are not packed; *p moves to the rest's bytes, which
 * end before end.
 */
static inline bool
next_key(const uint8_t **p, const uint8_t *end, uint32_t least, uint32_t *shared, uint32_t *rest)
{
	if (!next_lengths(p, end, shared, rest))
		return false;
	*shared += least;
	return (ptrdiff_t) *rest <= end - *p;
}

/* The same in any run: *bytes is the rest, of *rest bytes, symbols or bytes of code. */
static inline bool
walk_key(RunWalk *w, uint32_t *shared, const uint8_t **bytes, uint32_t *rest)
{
	uint32_t	size;

	if (!next_lengths(&w->p, w->end, shared, rest))
		return false;
	*shared += w->least;
	*rest += w->leastrest;
	size = w->symbols ? packed_size(w->symbols, *rest) : *rest;
	if ((ptrdiff_t) size > w->end - w->p)
		return false;
	*bytes = w->p;
	w->p += size;
	return true;
}

#endif							/* SFX_STRBLOCK_RUNS_H */
