/*-------------------------------------------------------------------------
 * strblock_write.c - key stream of a STRING block: encoding (format in strblock.h)
 *-------------------------------------------------------------------------
 */
#include "strblock_runs.h"

#include "fsst.h"

#define WORTH_MORE		16		/* packed rests may take one part of so many more than coded ones */

/* The byte in which all keys end, or -1. */
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
	/* the source has 15 readable bytes after it */
	if (end - p >= (ptrdiff_t) n + 16)
		sfx_copy16(p, src, n);
	else
		memcpy(p, src, n);
	return p + n;
}

/* The minimum of v over keys first + step, first + 2 * step, ... (n of them). */
static uint32_t
least_of(const uint32_t *v, int first, int step, int n)
{
	uint32_t	least = UINT32_MAX;

	for (int j = 0, i = first + step; j < n; j++, i += step)
		least = v[i] < least ? v[i] : least;
	return least;
}

/* What is stored of each key. */
typedef struct Parts
{
	uint32_t	shared[SFX_STR_GROUP * SFX_STR_MAXGROUPS];	/* without the block's prefix; [0]: none */
	uint32_t	len[SFX_STR_GROUP * SFX_STR_MAXGROUPS];	/* of the rest, as it is stored */
	const uint8_t *rest[SFX_STR_GROUP * SFX_STR_MAXGROUPS];	/* with 15 readable bytes after it */
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

/* Bytes that a rest takes, with the length that does not fit its nibble. */
static inline uint32_t
rest_size(uint32_t len)
{
	return len < 15 ? len : len + sfx_len_size(len - 15);
}

/*
 * Code the rest of key i, or copy the code if it is known, or the part of it that still is right.
 * Returns the bytes written, or SFX_NOSPACE.
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

/* Replace the rests of a by their codes, in to, if that is smaller.  The codes are in c. */
static bool
code_parts(SfxCoder *c, const SfxKeys *k, uint32_t cut, const Parts *a, Parts *to)
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
	memcpy(to->shared, a->shared, (size_t) n * sizeof(to->shared[0]));
	to->rest[0] = c->first;
	to->len[0] = (uint32_t) first;
	for (int i = 1; i < n; i++)
	{
		uint32_t	at = i > 1 ? c->end[i - 1] : 0;

		to->rest[i] = c->bytes + at;
		to->len[i] = c->end[i] - at;
	}
	return true;
}

/* ---- packing ---- */

static inline void
see_rest(SfxCoder *c, const uint8_t *rest, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		c->symbol[rest[i]] = 1;
}

/* Number of bytes that were seen. */
static int
count_symbols(const SfxCoder *c)
{
	const uint64_t even = UINT64_C(0x00FF00FF00FF00FF);
	uint64_t	sum = 0;		/* of each eighth byte: 32 at most */

	for (int i = 0; i < 256; i += 8)
		sum += sfx_load64(c->symbol + i);
	sum = (sum & even) + (sum >> 8 & even);
	return (int) (sum * UINT64_C(0x0001000100010001) >> 48);
}

/*
 * Find the bytes that occur in the rests.  The rest of a key does not depend on those after it, so
 * bytes that were seen stay seen, and an alphabet may have symbols that no rest needs any more.
 * False: there are too many.
 */
static bool
see_symbols(SfxCoder *c, const Parts *a, int n, uint32_t cut)
{
	if (c->seen == 0 || c->seencut != cut)
	{
		memset(c->symbol, 0, sizeof(c->symbol));
		c->nsymbols = 0;
		c->seen = 1;
		c->seencut = cut;
	}
	see_rest(c, a->rest[0], a->len[0]);
	while (c->seen < n && c->nsymbols <= SFX_SYMBOLS)
	{
		int			end = c->seen + SFX_STR_GROUP < n ? c->seen + SFX_STR_GROUP : n;

		for (; c->seen < end; c->seen++)
			see_rest(c, a->rest[c->seen], a->len[c->seen]);
		c->nsymbols = count_symbols(c);
	}
	c->nsymbols = count_symbols(c);
	return c->nsymbols <= SFX_SYMBOLS && c->nsymbols > 0;
}

/* Packed bytes of the keys of a run, as encode_run writes it. */
static uint32_t
packed_run_size(const Parts *a, int first, int step, int n, const SfxSymbols *s)
{
	uint32_t	least = least_of(a->len, first, step, n);
	uint32_t	size = n > 0;

	for (int j = 0, i = first + step; j < n; j++, i += step)
	{
		uint32_t	more = a->len[i] - least;

		size += packed_size(s, a->len[i]) + (more < 15 ? 0 : sfx_len_size(more - 15));
	}
	return size;
}

/*
 * Bytes that the rests take when packed, with the alphabet (which is filled) and the minima of the
 * runs.
 */
static uint32_t
packed_parts_size(const SfxCoder *c, const Parts *a, int n, SfxSymbols *s)
{
	int			ngroups = (n + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	uint32_t	size;

	s->bits = sfx_symbol_bits((uint32_t) c->nsymbols);
	for (int b = 0, k = 0; b < 256; b++)
		if (c->symbol[b])
			s->symbol[k++] = (uint8_t) b;
	size = 1 + (uint32_t) c->nsymbols + packed_size(s, a->len[0]) +
		packed_run_size(a, 0, SFX_STR_GROUP, ngroups - 1, s);
	for (int g = 0; g < ngroups; g++)
	{
		int			left = n - g * SFX_STR_GROUP;

		left = left < SFX_STR_GROUP ? left : SFX_STR_GROUP;
		size += packed_run_size(a, g * SFX_STR_GROUP, 1, left - 1, s);
	}
	return size;
}

/* How rests are packed: the symbols, and their numbers by their bytes. */
typedef struct Packing
{
	SfxSymbols	symbols;
	int			n;				/* symbols; 0: the rests are not packed */
	uint8_t		number[256];
} Packing;

/*
 * Decide whether rests are packed: if that is smaller, or not much larger than their codes, since
 * packed rests are read in a fraction of the time.  a has the rests as they are in the keys.
 */
static bool
choose_packing(SfxCoder *c, const Parts *a, int n, uint32_t cut, uint32_t stored, bool coded,
			   Packing *p)
{
	uint32_t	size;

	p->n = 0;
	if (!c->packing || !see_symbols(c, a, n, cut))
		return false;
	size = packed_parts_size(c, a, n, &p->symbols);
	if (coded ? size > stored + stored / WORTH_MORE : size >= stored)
		return false;
	p->n = c->nsymbols;
	for (int i = 0; i < p->n; i++)
		p->number[p->symbols.symbol[i]] = (uint8_t) i;
	if (c->dict == NULL)
		c->stored = size;
	return true;
}

/* The numbers of len symbols, at most eight; the first one in the lowest bits. */
static inline uint64_t
pack_some(const Packing *k, const uint8_t *rest, uint32_t len)
{
	unsigned	bits = k->symbols.bits;
	uint64_t	v = 0;

	for (uint32_t i = len; i-- > 0;)
		v = v << bits | k->number[rest[i]];
	return v;
}

/* Write len symbols at p; the bytes that they take are free. */
static uint8_t *
pack(const Packing *k, const uint8_t *rest, uint32_t len, uint8_t *p)
{
	uint32_t	bits = k->symbols.bits;
	uint64_t	v;

	/* eight symbols fill whole bytes; what is written after these is overwritten */
	for (; len * bits >= 64; len -= 8, rest += 8, p += bits)
		sfx_put64(p, pack_some(k, rest, 8));
	for (; len > 8; len -= 8, rest += 8)
	{
		v = pack_some(k, rest, 8);
		for (uint32_t i = 0; i < bits; i++, v >>= 8)
			*p++ = (uint8_t) v;
	}
	v = pack_some(k, rest, len);
	for (uint32_t i = 0; i < len * bits; i += 8, v >>= 8)
		*p++ = (uint8_t) v;
	return p;
}

/* Write a rest's bytes as they are stored.  Returns the end, NULL: they do not fit before end. */
static inline uint8_t *
put_rest(const Packing *k, const uint8_t *rest, uint32_t len, uint8_t *p, const uint8_t *end)
{
	return k->n > 0 ? pack(k, rest, len, p) : put_bytes(p, rest, len, end);
}

static inline uint32_t
stored_size(const Packing *k, uint32_t len)
{
	return k->n > 0 ? packed_size(&k->symbols, len) : len;
}

/* ---- the stream ---- */

/*
 * Encode the run of keys first + step, first + 2 * step, ... (n of them), each against the one step
 * before it.  Returns the new end, or NULL if it does not fit before end.
 */
static uint8_t *
encode_run(const Parts *a, const Packing *k, int first, int step, int n, uint8_t *p,
		   const uint8_t *end)
{
	uint32_t	least = least_of(a->shared, first, step, n);
	uint32_t	leastrest = 0;

	if (n == 0)
		return p;
	if (end - p < 4)
		return NULL;
	p = sfx_len_put(p, least);
	if (k->n > 0)
	{
		leastrest = least_of(a->len, first, step, n);
		p = sfx_len_put(p, leastrest);
	}
	for (int j = 0, i = first + step; j < n; j++, i += step)
	{
		uint32_t	sh = a->shared[i] - least;
		uint32_t	rest = a->len[i] - leastrest;

		if (end - p < (ptrdiff_t) stored_size(k, a->len[i]) + 5)
			return NULL;
		*p++ = (uint8_t) ((sh < 15 ? sh : 15) << 4 | (rest < 15 ? rest : 15));
		if (sh >= 15)
			p = sfx_len_put(p, sh - 15);
		if (rest >= 15)
			p = sfx_len_put(p, rest - 15);
		p = put_rest(k, a->rest[i], a->len[i], p, end);
	}
	return p;
}

/*
 * Write heads, then groups, from start on; ends[0] = end of the heads, ends[g + 1] = end of group
 * g, counted from start.
 */
static uint8_t *
encode_runs(const Parts *a, const Packing *k, int nkeys, uint8_t *start, const uint8_t *end,
			uint32_t *ends)
{
	int			ngroups = (nkeys + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	uint8_t    *p = start;

	if (end - p < (ptrdiff_t) a->len[0] + 2)
		return NULL;
	p = sfx_len_put(p, a->len[0]);
	p = put_rest(k, a->rest[0], a->len[0], p, end);
	p = encode_run(a, k, 0, SFX_STR_GROUP, ngroups - 1, p, end);
	if (p == NULL)
		return NULL;
	ends[0] = (uint32_t) (p - start);
	for (int g = 0; g < ngroups; g++)
	{
		int			first = g * SFX_STR_GROUP;
		int			n = nkeys - first < SFX_STR_GROUP ? nkeys - first : SFX_STR_GROUP;

		p = encode_run(a, k, first, 1, n - 1, p, end);
		if (p == NULL)
			return NULL;
		ends[g + 1] = (uint32_t) (p - start);
	}
	return ends[ngroups] > SFX_LEAF_MAXLEN ? NULL : p;
}

/* Write flags, common last byte, and alphabet.  Returns their end. */
static uint8_t *
put_head(uint8_t flags, int last, const Packing *k, uint8_t *out)
{
	*out++ = flags;
	if (last >= 0)
		*out++ = (uint8_t) last;
	if (k->n > 0)
	{
		*out++ = (uint8_t) (k->n - 1);
		memcpy(out, k->symbols.symbol, (size_t) k->n);
		out += k->n;
	}
	return out;
}

/*
 * Write the ends of heads and groups before the runs, which are at q + table, and move the runs
 * down if the ends take less.  Returns the stream's end.
 */
static uint8_t *
put_ends(const uint32_t *ends, int ngroups, uint8_t *flags, uint8_t *q, uint32_t table)
{
	uint32_t	least = UINT32_MAX,
				most = 0;

	for (int g = 0; g < ngroups; g++)
	{
		uint32_t	len = ends[g + 1] - ends[g];

		least = len < least ? len : least;
		most = len > most ? len : most;
	}
	if (ngroups > 2 && most - least <= 255)
	{
		*flags |= SFX_STR_NARROW;
		sfx_put16(q, (uint16_t) ends[0]);
		sfx_put16(q + 2, (uint16_t) least);
		for (int g = 0; g < ngroups; g++)
			q[4 + g] = (uint8_t) (ends[g + 1] - ends[g] - least);
		memmove(q + 4 + ngroups, q + table, ends[ngroups]);
		return q + 4 + ngroups + ends[ngroups];
	}
	for (int g = 0; g <= ngroups; g++)
		sfx_put16(q + 2 * g, (uint16_t) ends[g]);
	return q + table + ends[ngroups];
}

int
sfx_str_encode(const SfxKeys *k, SfxCoder *c, uint8_t *out, size_t cap)
{
	int			last = common_last(k);
	uint32_t	cut = last >= 0;
	int			ngroups = (k->n + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	uint32_t	table = 2 * (uint32_t) (ngroups + 1);
	uint32_t	ends[SFX_STR_MAXGROUPS + 1];
	uint8_t		flags;
	uint8_t    *q;
	Parts		plain;
	Parts		codes;
	Packing		packing;
	bool		coded;

	take_apart(k, cut, &plain);
	coded = code_parts(c, k, cut, &plain, &codes);
	if (choose_packing(c, &plain, k->n, cut, c->stored, coded, &packing))
		coded = false;
	if (cap < 2 + cut + (uint32_t) packing.n + table)
		return SFX_NOSPACE;
	flags = (uint8_t) ((cut ? SFX_STR_LAST : 0) | (coded ? SFX_STR_CODED : 0) |
					   (packing.n > 0 ? SFX_STR_PACKED : 0));
	q = put_head(flags, last, &packing, out);
	if (encode_runs(coded ? &codes : &plain, &packing, k->n, q + table, out + cap, ends) == NULL)
		return SFX_NOSPACE;
	return (int) (put_ends(ends, ngroups, out, q, table) - out);
}
