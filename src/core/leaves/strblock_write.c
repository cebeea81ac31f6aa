/*-------------------------------------------------------------------------
 * strblock_write.c - the key stream of a STRING block is written (format in strblock.h)
 *-------------------------------------------------------------------------
 */
#include "strblock.h"

#include "fsst.h"

/* The byte all keys end in, or -1. */
static int
common_last(const SfxKeys *k)
{
	int			last;

	if (k->off[1] - k->off[0] <= k->skip)
		return -1;
	last = k->bytes[k->off[1] - 1];
	for (int i = 1; i < k->n; i++)
		if (k->off[i + 1] - k->off[i] <= k->skip || k->bytes[k->off[i + 1] - 1] != last)
			return -1;
	return last;
}

uint32_t
sfx_str_estimate(const SfxKeys *k)
{
	uint32_t	size = 1;

	for (int i = 1; i < k->n; i++)
		if (i % SFX_STR_GROUP)
			size += k->off[i + 1] - k->off[i] - k->lcp[i];
	return size;
}

static inline uint8_t *
put_bytes(uint8_t *p, const uint8_t *src, uint32_t n, const uint8_t *end)
{
	/* the source has 15 readable bytes behind it */
	if (end - p >= (ptrdiff_t) n + 16)
		sfx_copy16(p, src, n);
	else
		memcpy(p, src, n);
	return p + n;
}

/* What is stored of each key. */
typedef struct Parts
{
	uint32_t	shared[SFX_STR_GROUP * SFX_STR_MAXGROUPS];	/* without the block's prefix; [0]: none */
	uint32_t	len[SFX_STR_GROUP * SFX_STR_MAXGROUPS];	/* of the rest, as it is stored */
	const uint8_t *rest[SFX_STR_GROUP * SFX_STR_MAXGROUPS];	/* 15 readable bytes behind it */
} Parts;

static void
take_apart(const SfxKeys *k, uint32_t cut, Parts *a)
{
	for (int i = 0; i < k->n; i++)
	{
		uint32_t	len = k->off[i + 1] - k->off[i] - k->skip - cut;
		uint32_t	s = 0;

		if (i > 0)
		{
			int			before = i % SFX_STR_GROUP ? i - 1 : i - SFX_STR_GROUP;
			uint32_t	beforelen = k->off[before + 1] - k->off[before] - k->skip - cut;

			s = before == i - 1 ? k->lcp[i] :
				sfx_lcp(k->bytes + k->off[before], k->off[before + 1] - k->off[before],
						k->bytes + k->off[i], k->off[i + 1] - k->off[i]);
			s -= k->skip;
			s = s > len ? len : s;
			s = s > beforelen ? beforelen : s;
		}
		a->shared[i] = s;
		a->len[i] = len - s;
		a->rest[i] = k->bytes + k->off[i] + k->skip + s;
	}
}

/* Bytes that a rest takes with the lengths that do not fit their nibble. */
static inline uint32_t
rest_size(uint32_t len)
{
	return len < 15 ? len : len + sfx_len_size(len - 15);
}

/*
 * Code the rest of key i, or copy the code, or what may stay of it, if it is known.  Bytes written,
 * or SFX_NOSPACE.
 */
static inline int
code_rest(const SfxCoder *c, const SfxKeys *k, const Parts *a, int i, uint8_t *out, size_t cap)
{
	const SfxKnownCodes *known = k->known;

	if (known && known->start[i] != SFX_NO_CODE && known->cut[i] == c->cut && known->len[i] <= cap)
	{
		int			shift = known->start[i] - (int) (k->skip + a->shared[i]);
		const uint8_t *code = known->bytes + known->off[i];

		if (shift == 0)
		{
			sfx_copy16(out, code, known->len[i]);
			return known->len[i];
		}
		if (hope_is_fsst(c->dict))
			return sfx_fsst_encode_again((const Fsst *) c->dict, a->rest[i], a->len[i], code, known->len[i], shift, out, cap);
	}
	return sfx_hope_encode(c->dict, a->rest[i], a->len[i], out, cap);
}

/* Code keys [c->n, n) of a block.  False: they do not fit. */
static bool
code_keys(SfxCoder *c, const SfxKeys *k, const Parts *a, int n)
{
	for (int i = c->n > 1 ? c->n : 1; i < n; i++)
	{
		uint32_t	at = i > 1 ? c->end[i - 1] : 0;
		int			r = code_rest(c, k, a, i, c->bytes + at, SFX_CODER_ROOM - 16 - at);

		if (r < 0)
			return false;
		c->end[i] = at + (uint32_t) r;
		c->n = i + 1;
	}
	return true;
}

/* Replace the rests by their codes, if that is smaller.  The codes lie in c. */
static bool
code_parts(SfxCoder *c, const SfxKeys *k, uint32_t cut, Parts *a)
{
	int			n = k->n;
	uint32_t	raw = 0,
				coded = 0;
	int			first;

	for (int i = 0; i < n; i++)
		raw += rest_size(a->len[i]);
	c->raw = c->stored = raw;
	if (c->dict == NULL)
		return false;
	if (c->cut != cut)
		c->n = 0;
	c->cut = cut;
	first = code_rest(c, k, a, 0, c->first, sizeof(c->first) - 16);
	if (first < 0 || !code_keys(c, k, a, n))
		return false;
	coded = rest_size((uint32_t) first);
	for (int i = 1; i < n; i++)
		coded += rest_size(c->end[i] - (i > 1 ? c->end[i - 1] : 0));
	if (coded >= raw)
		return false;
	c->stored = coded;
	a->rest[0] = c->first;
	a->len[0] = (uint32_t) first;
	for (int i = 1; i < n; i++)
	{
		uint32_t	at = i > 1 ? c->end[i - 1] : 0;

		a->rest[i] = c->bytes + at;
		a->len[i] = c->end[i] - at;
	}
	return true;
}

/*
 * Encode the run of keys first + step, first + 2 * step, ... (n of them), each against the one step before.
 * The new end, or NULL if it does not fit before end.
 */
static uint8_t *
encode_run(const Parts *a, int first, int step, int n, uint8_t *p, const uint8_t *end)
{
	uint32_t	least = UINT32_MAX;

	if (n == 0)
		return p;
	for (int j = 0, i = first + step; j < n; j++, i += step)
		least = a->shared[i] < least ? a->shared[i] : least;
	if (end - p < 2)
		return NULL;
	p = sfx_len_put(p, least);
	for (int j = 0, i = first + step; j < n; j++, i += step)
	{
		uint32_t	sh = a->shared[i] - least;
		uint32_t	rest = a->len[i];

		if (end - p < (ptrdiff_t) rest + 5)
			return NULL;
		*p++ = (uint8_t) ((sh < 15 ? sh : 15) << 4 | (rest < 15 ? rest : 15));
		if (sh >= 15)
			p = sfx_len_put(p, sh - 15);
		if (rest >= 15)
			p = sfx_len_put(p, rest - 15);
		p = put_bytes(p, a->rest[i], rest, end);
	}
	return p;
}

/*
 * Heads, then groups, from start on; ends[0] = end of the heads, ends[g + 1] = end of group g, from
 * start.
 */
static uint8_t *
encode_runs(const Parts *a, int nkeys, uint8_t *start, const uint8_t *end, uint32_t *ends)
{
	int			ngroups = (nkeys + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	uint8_t    *p = start;

	if (end - p < (ptrdiff_t) a->len[0] + 2)
		return NULL;
	p = sfx_len_put(p, a->len[0]);
	p = put_bytes(p, a->rest[0], a->len[0], end);
	p = encode_run(a, 0, SFX_STR_GROUP, ngroups - 1, p, end);
	if (p == NULL)
		return NULL;
	ends[0] = (uint32_t) (p - start);
	for (int g = 0; g < ngroups; g++)
	{
		int			first = g * SFX_STR_GROUP;
		int			n = nkeys - first < SFX_STR_GROUP ? nkeys - first : SFX_STR_GROUP;

		p = encode_run(a, first, 1, n - 1, p, end);
		if (p == NULL)
			return NULL;
		ends[g + 1] = (uint32_t) (p - start);
	}
	return ends[ngroups] > SFX_LEAF_MAXLEN ? NULL : p;
}

int
sfx_str_encode(const SfxKeys *k, SfxCoder *c, uint8_t *out, size_t cap)
{
	int			last = common_last(k);
	uint32_t	cut = last >= 0;
	int			ngroups = (k->n + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	uint32_t	head = 1 + cut;
	uint32_t	table = 2 * (uint32_t) (ngroups + 1);
	uint32_t	ends[SFX_STR_MAXGROUPS + 1];
	uint32_t	least = UINT32_MAX,
				most = 0;
	uint8_t    *p;
	uint8_t    *q = out + head;
	Parts		parts;
	bool		coded;

	if (cap < head + table)
		return SFX_NOSPACE;
	take_apart(k, cut, &parts);
	coded = code_parts(c, k, cut, &parts);
	p = encode_runs(&parts, k->n, q + table, out + cap, ends);
	if (p == NULL)
		return SFX_NOSPACE;
	out[0] = (uint8_t) ((cut ? SFX_STR_LAST : 0) | (coded ? SFX_STR_CODED : 0));
	if (cut)
		out[1] = (uint8_t) last;
	for (int g = 0; g < ngroups; g++)
	{
		uint32_t	len = ends[g + 1] - ends[g];

		least = len < least ? len : least;
		most = len > most ? len : most;
	}
	if (ngroups > 2 && most - least <= 255)
	{
		out[0] |= SFX_STR_NARROW;
		sfx_put16(q, (uint16_t) ends[0]);
		sfx_put16(q + 2, (uint16_t) least);
		for (int g = 0; g < ngroups; g++)
			q[4 + g] = (uint8_t) (ends[g + 1] - ends[g] - least);
		memmove(q + 4 + ngroups, q + table, ends[ngroups]);
		return (int) (head + 4 + (uint32_t) ngroups + ends[ngroups]);
	}
	for (int g = 0; g <= ngroups; g++, q += 2)
		sfx_put16(q, (uint16_t) ends[g]);
	return (int) (p - out);
}
