/*-------------------------------------------------------------------------
 * fsst.c - coding by a table of symbols: opening, encoding, decoding, comparing (layout: fsst.h)
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

/* The symbols of each first byte in the order in which they are tried. */
static void
list_symbols(Fsst *f)
{
	uint32_t	n = 0;

	for (uint32_t b = 0; b < 256; b++)
	{
		f->first[b] = (uint8_t) n;
		for (unsigned len = FSST_MAXSYM; len > 0; len--)
			for (uint32_t s = 0; s < f->nsymbols; s++)
				if (f->len[s] == len && (f->word[s] & 0xFF) == b)
					f->list[n++] = (uint8_t) s;
	}
	f->first[256] = (uint8_t) n;
}

int
sfx_fsst_open(Fsst *f, const uint8_t *dict, size_t len)
{
	const uint8_t *p;
	uint32_t	n;

	if (len < 3 || dict[0] != HOPE_MAGIC || dict[1] != SFX_FSST || len < 3 + (size_t) dict[2])
		return SFX_CORRUPT;
	memset(f, 0, sizeof(*f));
	f->shape.scheme = SFX_FSST;
	f->shape.nintervals = n = f->nsymbols = dict[2];
	p = dict + 3 + n;
	for (uint32_t s = 0; s < n; s++)
	{
		uint8_t		symlen = dict[3 + s];

		if (symlen < 1 || symlen > FSST_MAXSYM || symlen > dict + len - p)
			return SFX_CORRUPT;
		f->len[s] = symlen;
		f->word[s] = sfx_load_bytes(p, symlen);
		p += symlen;
	}
	if (p != dict + len)
		return SFX_CORRUPT;
	list_symbols(f);
	return SFX_OK;
}

int
sfx_fsst_encode(const Fsst *f, const uint8_t *key, size_t len, uint8_t *out, size_t cap)
{
	size_t		n = 0;

	for (size_t i = 0; i < len;)
	{
		size_t		left = len - i;
		unsigned	s = fsst_longest(f, sfx_load64_avail(key + i, left), left < 8 ? left : 8);

		if (cap - n < 2)
		{
			if (cap == n || s == FSST_ESCAPE)
				return SFX_NOSPACE;
		}
		out[n++] = (uint8_t) s;
		if (s == FSST_ESCAPE)
			out[n++] = key[i++];
		else
			i += f->len[s];
	}
	return (int) n;
}

int
sfx_fsst_decode(const Fsst *f, const uint8_t *in, size_t len, uint8_t *out, size_t cap)
{
	size_t		n = 0;

	if (len <= cap / FSST_MAXSYM)
	{
		uint8_t    *end = fsst_decode_short(f, in, len, out);

		return end ? (int) (end - out) : SFX_CORRUPT;
	}
	for (size_t i = 0; i < len; i++)
	{
		uint8_t		bytes[8];
		unsigned	k = f->len[in[i]];

		sfx_store64(bytes, f->word[in[i]]);
		if (k == 0)
		{
			if (in[i] != FSST_ESCAPE || ++i == len)
				return SFX_CORRUPT;
			bytes[0] = in[i];
			k = 1;
		}
		if (k > cap - n)
			return SFX_NOSPACE;
		memcpy(out + n, bytes, k);
		n += k;
	}
	return (int) n;
}

int
sfx_fsst_compare(const Fsst *f, const uint8_t *in, size_t len, const uint8_t *t, size_t tlen, size_t at,
				 size_t *lcp, int *side)
{
	for (size_t i = 0; i < len; i++)
	{
		uint64_t	word = f->word[in[i]],
					x;
		unsigned	n = f->len[in[i]];
		size_t		left = tlen - at,
					same;

		if (n == 0)
		{
			if (in[i] != FSST_ESCAPE || ++i == len)
				return SFX_CORRUPT;
			word = in[i];
			n = 1;
		}
		x = (word ^ hope_load_rest(t, tlen, at)) & sfx_mask(8 * n);
		same = x ? (size_t) __builtin_ctzll(x) / 8 : n;
		same = same < left ? same : left;
		at += same;
		if (same < n)
		{
			*lcp = at;
			*side = same == left ? 1 : (int) (word >> (8 * same) & 0xFF) - (int) t[at];
			return SFX_OK;
		}
	}
	*lcp = at;
	*side = 0;
	return SFX_OK;
}
