/*-------------------------------------------------------------------------
 * fixblock.c - key stream of a FIXED block (format in fixblock.h)
 *-------------------------------------------------------------------------
 */
#include "fixblock.h"
#include "intcodec.h"

static inline uint64_t
load_be64(const uint8_t *p)
{
	uint64_t	v;

	memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void
store_be64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, 8);
}

static inline uint64_t
all_ones(int width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* ---- encoder ---- */

/* Which bytes are not the same in all keys. */
static uint64_t
varying_mask(const SfxKeys *k, int width)
{
	uint64_t	acc[SFX_FIX_MAXWIDTH / 8] = {0};
	int			words = (width + 7) / 8;
	const uint8_t *first = k->bytes + k->off[0] + k->skip;
	uint64_t	mask = 0;

	for (int i = 1; i < k->n; i++)
	{
		const uint8_t *p = k->bytes + k->off[i] + k->skip;

		for (int w = 0; w < words; w++)
			acc[w] |= sfx_get64(first + 8 * w) ^ sfx_get64(p + 8 * w);
	}
	for (int i = 0; i < width; i++)
	{
		uint8_t		b[8];

		memcpy(b, &acc[i / 8], 8);
		if (b[i % 8])
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

/* The first up to 8 varying bytes of a key as an integer. */
static inline uint64_t
gather(const uint8_t *key, uint64_t mask, int nint)
{
	uint64_t	v = 0;

	for (int j = 0; j < nint; j++)
	{
		v = v << 8 | key[__builtin_ctzll(mask)];
		mask &= mask - 1;
	}
	return v;
}

int
sfx_fix_encode(const SfxKeys *k, uint8_t *out, size_t cap, int *nvary)
{
	int			width = (int) (k->off[1] - k->off[0] - k->skip);
	uint64_t	mask = varying_mask(k, width);
	int			nv = __builtin_popcountll(mask);
	int			nint = nv < 8 ? nv : 8;
	bool		all = nv == width;
	uint8_t    *p = out;
	const uint8_t *first = k->bytes + k->off[0] + k->skip;
	uint64_t	v[SFX_INT_MAX];
	int			r;

	*nvary = nv;
	if (cap < (size_t) (1 + 8 + width))
		return SFX_NOSPACE;
	*p++ = (uint8_t) (width | (all ? SFX_FIX_ALL : 0));
	if (!all)
	{
		for (int i = 0; i < width; i += 8)
			*p++ = (uint8_t) (mask >> i);
		for (int i = 0; i < width; i++)
			if (!(mask >> i & 1))
				*p++ = first[i];
	}

	/* bytes 0..nint-1 vary: one load per key, the usual case */
	if ((mask & all_ones(nint)) == all_ones(nint))
	{
		for (int i = 0; i < k->n; i++)
			v[i] = load_be64(k->bytes + k->off[i] + k->skip) >> (64 - 8 * nint);
	}
	else
	{
		for (int i = 0; i < k->n; i++)
			v[i] = gather(k->bytes + k->off[i] + k->skip, mask, nint);
	}
	r = sfx_int_encode(v, k->n, p, cap - (size_t) (p - out));
	if (r < 0)
		return r;
	p += r;
	if (nv > 8)
	{
		uint64_t	restmask = mask;

		if (cap - (size_t) (p - out) < (size_t) k->n * (size_t) (nv - 8))
			return SFX_NOSPACE;
		for (int j = 0; j < 8; j++)
			restmask &= restmask - 1;
		for (int i = 0; i < k->n; i++)
		{
			const uint8_t *key = k->bytes + k->off[i] + k->skip;

			if (all)
			{
				memcpy(p, key + 8, (size_t) (nv - 8));
				p += nv - 8;
			}
			else
				for (uint64_t m = restmask; m; m &= m - 1)
					*p++ = key[__builtin_ctzll(m)];
		}
	}
	return (int) (p - out);
}

/* ---- decoder ---- */

int
sfx_fix_open(SfxFix *f, const uint8_t *in, size_t len, int n)
{
	const uint8_t *p = in;
	const uint8_t *end = in + len;
	int			masklen;
	int			r;

	if (len < 1)
		return SFX_CORRUPT;
	f->n = n;
	f->width = *p & ~SFX_FIX_ALL;
	if (f->width < 1 || f->width > SFX_FIX_MAXWIDTH)
		return SFX_CORRUPT;
	f->mask = all_ones(f->width);
	if (!(*p++ & SFX_FIX_ALL))
	{
		uint64_t	m = 0;

		masklen = (f->width + 7) / 8;
		if (end - p < masklen)
			return SFX_CORRUPT;
		for (int i = 0; i < masklen; i++)
			m |= (uint64_t) *p++ << (8 * i);
		if (m == 0 || (m & ~f->mask))
			return SFX_CORRUPT;
		f->mask = m;
	}
	f->nvary = __builtin_popcountll(f->mask);
	f->nint = f->nvary < 8 ? f->nvary : 8;
	f->consts = p;
	if (end - p < f->width - f->nvary)
		return SFX_CORRUPT;
	p += f->width - f->nvary;
	f->ints = p;
	r = sfx_int_size(p, (size_t) (end - p), n);
	if (r < 0 || r > end - p)
		return SFX_CORRUPT;
	p += r;
	f->rest = p;
	if (end - p < (ptrdiff_t) n * (f->nvary - f->nint))
		return SFX_CORRUPT;
	f->end = p + (ptrdiff_t) n * (f->nvary - f->nint);
	return SFX_OK;
}

static inline size_t
intlen(const SfxFix *f)
{
	return (size_t) (f->rest - f->ints);
}

/*
 * Bring t into the space of varying bytes: the answer to "how many keys are < t" is the number of keys
 * whose varying bytes are < tv, or <= tv if *above.  *exact: t has the block's other bytes and its width.
 */
static void
project(const SfxFix *f, const uint8_t *t, uint32_t tlen, uint8_t *tv, bool *above, bool *exact)
{
	const uint8_t *c = f->consts;
	int			nv = 0;
	int			i;

	*above = false;
	*exact = false;
	for (i = 0; i < f->width; i++)
	{
		if ((uint32_t) i == tlen)
			break;				/* t is a prefix of the keys that agree so far: below them */
		if (f->mask >> i & 1)
			tv[nv++] = t[i];
		else if (t[i] != *c++)
		{
			*above = t[i] > c[-1];
			break;
		}
	}
	if (i == f->width)
	{
		*exact = tlen == (uint32_t) f->width;
		*above = !*exact;
	}
	else
		memset(tv + nv, *above ? 0xFF : 0x00, (size_t) (f->nvary - nv));
}

/* Keys [i, j) have the target's integer: how many of all keys have varying bytes < tv? */
static int
search_rest(const SfxFix *f, int i, int j, const uint8_t *tv, bool *equal)
{
	size_t		w = (size_t) (f->nvary - 8);

	while (i < j)
	{
		int			mid = (i + j) / 2;
		int			c = memcmp(f->rest + (size_t) mid * w, tv, w);

		if (c == 0)
		{
			*equal = true;
			return mid;
		}
		if (c < 0)
			i = mid + 1;
		else
			j = mid;
	}
	return i;
}

int
sfx_fix_search(const SfxFix *f, const uint8_t *t, uint32_t tlen, bool *equal)
{
	uint8_t		tv[SFX_FIX_MAXWIDTH];
	bool		above = false,
				exact = true,
				hit = false;
	uint64_t	x = 0;
	uint64_t	got;
	int			i;

	*equal = false;
	if (f->nvary == f->width && f->width <= 8 && tlen == (uint32_t) f->width)
	{
		for (uint32_t j = 0; j < tlen; j++)
			x = x << 8 | t[j];
	}
	else
	{
		project(f, t, tlen, tv, &above, &exact);
		for (int j = 0; j < f->nint; j++)
			x = x << 8 | tv[j];
	}
	i = sfx_int_lower_bound(f->ints, intlen(f), f->n, x);
	if (i < 0 || i > f->n)
		return SFX_CORRUPT;
	if (i == f->n)
		return i;
	if (sfx_int_get(f->ints, intlen(f), f->n, i, &got) != SFX_OK)
		return SFX_CORRUPT;
	if (got != x)
		return i;
	if (f->nvary <= 8)
		hit = true;
	else
	{
		int			j = f->n;

		if (x != UINT64_MAX)
		{
			j = sfx_int_lower_bound(f->ints, intlen(f), f->n, x + 1);
			if (j < 0 || j > f->n)
				return SFX_CORRUPT;
		}
		i = search_rest(f, i, j, tv + 8, &hit);
	}
	*equal = hit && exact;
	return hit && above ? i + 1 : i;
}

/* Write the varying bytes of one key over its template. */
static inline void
scatter(const SfxFix *f, uint8_t *key, uint64_t v, const uint8_t *rest)
{
	uint64_t	m = f->mask;

	for (int j = f->nint - 1; j >= 0; j--, m &= m - 1)
		key[__builtin_ctzll(m)] = (uint8_t) (v >> (8 * j));
	for (; m; m &= m - 1)
		key[__builtin_ctzll(m)] = *rest++;
}

int
sfx_fix_decode(const SfxFix *f, int from, int to, uint32_t prelen, uint8_t *out)
{
	uint64_t	v[SFX_INT_MAX];
	uint32_t	keylen = prelen + (uint32_t) f->width;
	size_t		w = (size_t) (f->nvary - f->nint);
	int			n = to - from;
	uint8_t    *q = out;
	int			shift = 64 - 8 * f->nint;

	if (n <= 0)
		return SFX_OK;
	if (sfx_int_decode(f->ints, intlen(f), f->n, from, to, v) != SFX_OK)
		return SFX_CORRUPT;
	if (f->nvary == f->width)
	{
		const uint8_t *rest = f->rest + (size_t) from * w;

		/*
		 * An eight-byte store may run into the next key's place, which is
		 * written after it.
		 */
		if (keylen <= 16 && w == 0)
		{
			uint8_t		tmpl[16];

			memcpy(tmpl, out, 16);
			for (int i = 0; i < n; i++, q += keylen)
			{
				memcpy(q, tmpl, 16);
				store_be64(q + prelen, v[i] << shift);
			}
			return SFX_OK;
		}
		for (int i = 0; i < n; i++, q += keylen, rest += w)
		{
			if (i > 0)
				sfx_copy16(q, q - keylen, prelen);
			store_be64(q + prelen, v[i] << shift);
			if (w)
				memcpy(q + prelen + 8, rest, w);
		}
		return SFX_OK;
	}
	for (int j = 0, c = 0; j < f->width; j++)
		out[prelen + (uint32_t) j] = f->mask >> j & 1 ? 0 : f->consts[c++];
	for (int i = 0; i < n; i++, q += keylen)
	{
		if (i > 0)
			sfx_copy16(q, out, keylen);
		scatter(f, q + prelen, v[i], f->rest + (size_t) (from + i) * w);
	}
	return SFX_OK;
}
