/*-------------------------------------------------------------------------
 * inner_front.c - separators in front coding: search and iteration (see inner_format.h)
 *-------------------------------------------------------------------------
 */
#include "inner_format.h"
#include "frontrun.h"

/* Read a varint of up to 3 bytes at *at, which moves after it. */
static inline uint32_t
get_varint(SfxBuf b, uint32_t *at)
{
	uint32_t	x = 0;

	for (uint32_t sh = 0; sh < 21; sh += 7)
	{
		uint32_t	c = sfx_ld8(b, (*at)++);

		x |= (c & 127) << sh;
		if (c < 128)
			break;
	}
	return x;
}

/*
 * Parse the string at *at: length shared with the previous one, length and offset of its own bytes.
 */
static inline bool
front_string(SfxBuf b, uint32_t *at, bool first, uint32_t *shared, uint32_t *off, uint32_t *len)
{
	*shared = 0;
	if (first)
		*len = get_varint(b, at);
	else
	{
		uint32_t	c = sfx_ld8(b, (*at)++);

		*shared = c >> 4;
		*len = c & 15;
		if (*shared == 15)
			*shared += get_varint(b, at);
		if (*len == 15)
			*len += get_varint(b, at);
	}
	*off = *at;
	*at += *len;
	return *at <= b.len;
}

static inline uint32_t
front_block(const View *v, SfxBuf b, uint32_t blk)
{
	return v->data + (blk ? sfx_ld16(b, v->front + 2 * (blk - 1)) : 0);
}

/* See inner_format.h. */
int
sfx_front_rank(const View *v, SfxBuf b, const SfxProbe *q, uint32_t d, bool strict)
{
	uint32_t	lo = 0,
				hi = (v->nsep + FRONT_BLOCK - 1) / FRONT_BLOCK;
	uint32_t	at,
				shared,
				off,
				len,
				same,
				m = 0;
	uint32_t	i;

	/* the last block whose first string is <= q, or the first block */
	while (hi - lo > 1)
	{
		uint32_t	mid = (lo + hi) / 2;

		at = front_block(v, b, mid);
		if (!front_string(b, &at, true, &shared, &off, &len))
			return SFX_CORRUPT;
		if (sfx_probe_cmp(q, d, b.p + off, len, &same) < 0)
			hi = mid;
		else
			lo = mid;
	}
	if (v->nsep == 0)
		return 0;
	/* m: length that the previous string has in common with q, if q is greater */
	at = front_block(v, b, lo);
	for (i = lo * FRONT_BLOCK; i < v->nsep && i < (lo + 1) * FRONT_BLOCK; i++)
	{
		bool		first = i == lo * FRONT_BLOCK;
		int			c;

		if (!front_string(b, &at, first, &shared, &off, &len))
			return SFX_CORRUPT;
		if (shared > m)
			continue;			/* it differs from q where the previous one did */
		if (shared < m)
			break;				/* greater than the previous one where that was equal to q */
		c = sfx_probe_cmp(q, d + m, b.p + off, len, &same);
		m += same;
		if (c < 0 || (strict && c == 0 && d + m == q->total))
			break;
	}
	return (int) i;
}

/* Parse block blk of front-coded strings. */
static bool
parse_front_block(const View *v, SfxBuf b, uint32_t blk, SfxFrontRun *run)
{
	uint32_t	at = front_block(v, b, blk);
	uint32_t	shared,
				off,
				len;

	run->n = 0;
	for (uint32_t i = blk * FRONT_BLOCK; i < v->nsep && run->n < FRONT_BLOCK; i++)
		if (!front_string(b, &at, run->n == 0, &shared, &off, &len) ||
			!sfx_run_add(run, shared, b.p + off, len, SFX_TRIE_MAXLEN))
			return false;
	return true;
}

/* See inner_format.h. */
int
sfx_front_rank_order(const View *v, SfxBuf b, const SfxOrder *o, const SfxPos *pos, bool strict)
{
	uint32_t	lo = 0,
				hi = (v->nsep + FRONT_BLOCK - 1) / FRONT_BLOCK;
	uint8_t		s[SFX_TRIE_MAXLEN];
	SfxFrontRun run;
	SfxPos		sep;
	int			first,
				i,
				end,
				c;

	/* the last block whose first string is <= pos, or the first block */
	while (hi - lo > 1)
	{
		uint32_t	mid = (lo + hi) / 2;
		uint32_t	at = front_block(v, b, mid),
					shared,
					off,
					len;

		if (!front_string(b, &at, true, &shared, &off, &len) ||
			!split_separator(v, b, mid * FRONT_BLOCK, b.p + off, len, &sep))
			return SFX_CORRUPT;
		c = sfx_order_cmp_pos(o, &sep, pos);
		if (c < 0 || (c == 0 && !strict))
			lo = mid;
		else
			hi = mid;
	}
	if (v->nsep == 0)
		return 0;
	if (!parse_front_block(v, b, lo, &run))
		return SFX_CORRUPT;
	first = (int) lo * FRONT_BLOCK;
	i = lo > 0 ? 1 : 0;
	end = run.n;
	while (i < end)
	{
		int			mid = (i + end) / 2;
		uint32_t	len = sfx_run_string(&run, mid, s);

		if (!split_separator(v, b, (uint32_t) (first + mid), s, len, &sep))
			return SFX_CORRUPT;
		c = sfx_order_cmp_pos(o, &sep, pos);
		if (c < 0 || (c == 0 && !strict))
			i = mid + 1;
		else
			end = mid;
	}
	return first + i;
}

int
sfx_front_each(const View *v, SfxBuf b, uint8_t *out, SfxTrieFn f, void *ctx)
{
	uint32_t	at = 0,
				prev = 0;

	for (uint32_t i = 0; i < v->nsep; i++)
	{
		bool		first = i % FRONT_BLOCK == 0;
		uint32_t	shared,
					off,
					len;
		int			rc;

		if (first)
		{
			/* blocks are adjacent */
			if (i > 0 && at != front_block(v, b, i / FRONT_BLOCK))
				return SFX_CORRUPT;
			at = front_block(v, b, i / FRONT_BLOCK);
		}
		if (!front_string(b, &at, first, &shared, &off, &len) || shared > prev || shared + len > SFX_TRIE_MAXLEN)
			return SFX_CORRUPT;
		memcpy(out + v->prefix + shared, b.p + off, len);
		prev = shared + len;
		if ((rc = f(ctx, i, out, v->prefix + prev)) < 0)
			return rc;
	}
	return SFX_OK;
}
