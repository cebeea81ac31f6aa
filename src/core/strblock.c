/*-------------------------------------------------------------------------
 * strblock.c - key stream of a STRING block (format in strblock.h)
 *-------------------------------------------------------------------------
 */
#include "strblock.h"

#include <limits.h>

#include "frontrun.h"
#include "hope_step.h"

/* ---- encoder ---- */

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

/* Code the rest of key i, or copy the code if it is known.  Bytes written, or SFX_NOSPACE. */
static inline int
code_rest(const SfxCoder *c, const SfxKeys *k, const Parts *a, int i, uint8_t *out, size_t cap)
{
	const SfxKnownCodes *known = k->known;

	if (known && known->start[i] == k->skip + a->shared[i] && known->cut[i] == c->cut && known->len[i] <= cap)
	{
		memcpy(out, known->bytes + known->off[i], known->len[i]);
		return known->len[i];
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

/* Heads, then groups, from start on; ends[0] = end of the heads, ends[g + 1] = end of group g, from start. */
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

/* ---- decoder ---- */

int
sfx_str_open(SfxStr *s, const uint8_t *in, size_t len, int n, const SfxHope *dict)
{
	const uint8_t *p = in;
	const uint8_t *end = in + len;
	int			flags;
	uint32_t	at = 0;

	if (len < 2 || n < 1 || n > SFX_STR_GROUP * SFX_STR_MAXGROUPS)
		return SFX_CORRUPT;
	flags = *p++;
	if (flags & ~SFX_STR_FLAGS)
		return SFX_CORRUPT;
	s->n = n;
	s->ngroups = (n + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	s->last = flags & SFX_STR_LAST ? *p++ : -1;
	s->coded = (flags & SFX_STR_CODED) != 0;
	s->dict = dict;
	s->limit = end;
	if (flags & SFX_STR_NARROW)
	{
		uint32_t	least;

		if (end - p < 4 + s->ngroups)
			return SFX_CORRUPT;
		at = sfx_get16(p);
		least = sfx_get16(p + 2);
		p += 4;
		s->goff[0] = (uint16_t) at;
		for (int g = 0; g < s->ngroups; g++)
		{
			at += least + *p++;
			s->goff[g + 1] = (uint16_t) at;
		}
	}
	else
	{
		if (end - p < 2 * (s->ngroups + 1))
			return SFX_CORRUPT;
		for (int g = 0; g <= s->ngroups; g++, p += 2)
		{
			uint32_t	next = sfx_get16(p);

			if (next < at)
				return SFX_CORRUPT;
			at = next;
			s->goff[g] = (uint16_t) at;
		}
	}
	/* at is exact even where goff[] has wrapped around */
	if ((ptrdiff_t) at > end - p || at > UINT16_MAX)
		return SFX_CORRUPT;
	s->heads = p;
	s->end = p + at;
	return SFX_OK;
}

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

#define CMP_CORRUPT	INT_MIN		/* no comparison of bytes comes to this */

/* Compare what stands behind a rest, the common last byte if there is one, with t's bytes from position at on. */
static inline int
cmp_last(const SfxStr *s, const uint8_t *t, uint32_t tlen, uint32_t at)
{
	if (s->last < 0)
		return at == tlen ? 0 : -1;
	if (at == tlen)
		return 1;
	if (s->last != t[at])
		return s->last - t[at];
	return at + 1 == tlen ? 0 : -1;
}

/* cmp_rest for a coded rest. */
static int
cmp_coded(const SfxStr *s, const uint8_t *code, uint32_t len, uint32_t at, const uint8_t *t, uint32_t tlen, uint32_t *lcp)
{
	size_t		n;
	int			side;

	if (s->dict == NULL ||
		sfx_hope_compare(s->dict, code, len, (size_t) (s->limit - code), t, tlen, at, &n, &side) != SFX_OK)
		return CMP_CORRUPT;
	*lcp = (uint32_t) n;
	return side != 0 ? side : cmp_last(s, t, tlen, *lcp);
}

/*
 * Compare a key's bytes from position at on (its rest, then the common last byte) with
 * t's; the two are known to agree before.  *lcp: how far the kept bytes agree with t.
 */
static inline int
cmp_rest(const SfxStr *s, const uint8_t *bytes, uint32_t rest, uint32_t at,
		 const uint8_t *t, uint32_t tlen, uint32_t *lcp)
{
	uint32_t	m = tlen - at;
	uint32_t	n = rest < m ? rest : m;
	uint32_t	i = 0;

	if (s->coded)
		return cmp_coded(s, bytes, rest, at, t, tlen, lcp);
	while (i < n && bytes[i] == t[at + i])
		i++;
	*lcp = at + i;
	if (i < rest)
		return i == m ? 1 : (int) bytes[i] - (int) t[at + i];
	return cmp_last(s, t, tlen, at + i);
}

/*
 * Walk through a run of n keys; the key before it is < t and agrees with it in *m bytes.  A key that shares more
 * than *m bytes with the one before stands to t as that one does; one that shares fewer is > t.  Returns the number of
 * keys < t; *m is that of the last of them, then.
 */
static int
search_run(const SfxStr *s, const uint8_t *p, const uint8_t *end, int n, const uint8_t *t, uint32_t tlen,
		   uint32_t *m, bool *equal)
{
	uint32_t	least;
	int			i;

	if (n == 0)
		return 0;
	if (!sfx_len_get(&p, end, &least))
		return SFX_CORRUPT;
	for (i = 0; i < n; i++)
	{
		uint32_t	shared,
					rest;

		if (!next_key(&p, end, least, &shared, &rest))
			return SFX_CORRUPT;
		if (shared < *m)
			return i;
		if (shared == *m)
		{
			uint32_t	lcp;
			int			c = cmp_rest(s, p, rest, shared, t, tlen, &lcp);

			if (c == CMP_CORRUPT)
				return SFX_CORRUPT;
			if (c >= 0)
			{
				*equal = c == 0;
				return i;
			}
			*m = lcp;
		}
		p += rest;
	}
	return i;
}

int
sfx_str_search(const SfxStr *s, const uint8_t *t, uint32_t tlen, bool *equal)
{
	const uint8_t *p;
	const uint8_t *end;
	const uint8_t *key;
	uint32_t	len,
				m;
	int			c,
				g,
				i;

	*equal = false;
	if (!first_key(s, &p, &key, &len))
		return SFX_CORRUPT;
	c = cmp_rest(s, key, len, 0, t, tlen, &m);
	if (c == CMP_CORRUPT)
		return SFX_CORRUPT;
	if (c >= 0)
	{
		*equal = c == 0;
		return 0;
	}
	g = search_run(s, p, s->heads + s->goff[0], s->ngroups - 1, t, tlen, &m, equal);
	if (g < 0 || *equal)
		return g < 0 ? g : (g + 1) * SFX_STR_GROUP;
	p = group_run(s, g, &end);
	i = search_run(s, p, end, group_keys(s, g), t, tlen, &m, equal);
	return i < 0 ? i : g * SFX_STR_GROUP + 1 + i;
}

/* ---- search in comparator order ---- */

_Static_assert(SFX_STR_GROUP <= SFX_RUN_MAX && SFX_STR_MAXGROUPS <= SFX_RUN_MAX, "a group, or the heads, are one run");

typedef struct OrderSearch
{
	const SfxOrder *order;
	const uint8_t *t;
	uint32_t	tlen;
	int			last;			/* common last byte of the keys, or -1 */
	uint32_t	prefixlen;
	uint32_t	most;			/* most bytes of a key without prefix and last byte */
	uint8_t		key[SFX_MAX_ENTRY];	/* begins with the prefix */
	uint32_t	used;			/* of pool: the rests of one run, decoded */
	uint8_t		pool[SFX_RUN_MAX * SFX_MAX_ENTRY + SFX_HOPE_SLACK];
} OrderSearch;

/* Where a rest's bytes are; NULL if they cannot be decoded. */
static const uint8_t *
raw_rest(const SfxStr *s, OrderSearch *w, const uint8_t *p, uint32_t *len)
{
	uint8_t    *out = w->pool + w->used;
	int			r;

	if (!s->coded)
		return p;
	if (s->dict == NULL || w->used > sizeof(w->pool) - SFX_MAX_ENTRY)
		return NULL;
	r = sfx_hope_decode_within(s->dict, p, *len, (size_t) (s->limit - p), out, sizeof(w->pool) - w->used);
	if (r < 0)
		return NULL;
	w->used += (uint32_t) r;
	*len = (uint32_t) r;
	return out;
}

/* Append a run of n keys to r, whose last key is the one before them. */
static bool
parse_run(const SfxStr *s, OrderSearch *w, const uint8_t *p, const uint8_t *end, int n, SfxRun *r)
{
	uint32_t	least,
				shared,
				rest;

	if (n == 0)
		return true;
	if (!sfx_len_get(&p, end, &least))
		return false;
	for (int i = 0; i < n; i++)
	{
		const uint8_t *raw;
		const uint8_t *next;

		if (!next_key(&p, end, least, &shared, &rest))
			return false;
		next = p + rest;
		raw = raw_rest(s, w, p, &rest);
		if (raw == NULL || !sfx_run_add(r, shared, raw, rest, w->most))
			return false;
		p = next;
	}
	return true;
}

static bool
parse_heads(const SfxStr *s, OrderSearch *w, SfxRun *r)
{
	const uint8_t *p;
	const uint8_t *key;
	uint32_t	len;

	r->n = 0;
	w->used = 0;
	return first_key(s, &p, &key, &len) && (key = raw_rest(s, w, key, &len)) != NULL &&
		sfx_run_add(r, 0, key, len, w->most) &&
		parse_run(s, w, p, s->heads + s->goff[0], s->ngroups - 1, r);
}

/* A group with its head, which the caller has put together. */
static bool
parse_group(const SfxStr *s, OrderSearch *w, int g, const uint8_t *head, uint32_t headlen, SfxRun *r)
{
	const uint8_t *end;
	const uint8_t *p = group_run(s, g, &end);

	r->n = 0;
	w->used = 0;
	return sfx_run_add(r, 0, head, headlen, w->most) && parse_run(s, w, p, end, group_keys(s, g), r);
}

/* Key i of a run against t. */
static int
cmp_run(OrderSearch *w, const SfxRun *r, int i)
{
	uint32_t	len = w->prefixlen + sfx_run_string(r, i, w->key + w->prefixlen);

	if (w->last >= 0)
		w->key[len++] = (uint8_t) w->last;
	return sfx_order_cmp(w->order, w->key, len, w->t, w->tlen);
}

/* The first of keys [lo, hi) of a run that is not < t, hi if all are. */
static int
bisect_run(OrderSearch *w, const SfxRun *r, int lo, int hi, bool *equal)
{
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		int			c = cmp_run(w, r, mid);

		if (c == 0)
		{
			*equal = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The same where it is probably near lo: in steps that double. */
static int
gallop_run(OrderSearch *w, const SfxRun *r, int lo, int hi, bool *equal)
{
	for (int step = 1; lo < hi; step *= 2)
	{
		int			at = step < hi - lo ? lo + step - 1 : hi - 1;
		int			c = cmp_run(w, r, at);

		if (c > 0)
			return bisect_run(w, r, lo, at, equal);
		if (c == 0)
		{
			*equal = true;
			return at;
		}
		lo = at + 1;
	}
	return hi;
}

int
sfx_str_search_order(const SfxStr *s, const uint8_t *prefix, uint32_t prefixlen, int from, bool near,
					 const SfxOrder *o, const uint8_t *t, uint32_t tlen, bool *equal)
{
	OrderSearch w;
	SfxRun		run;
	uint8_t		head[SFX_MAX_ENTRY];
	uint32_t	headlen;
	int			lo = (from + SFX_STR_GROUP - 1) / SFX_STR_GROUP;	/* the first head that may not be < t */
	int			g,
				i;

	*equal = false;
	if (from >= s->n)
		return s->n;
	if (prefixlen + (s->last >= 0) > SFX_MAX_ENTRY)
		return SFX_CORRUPT;
	w.order = o;
	w.t = t;
	w.tlen = tlen;
	w.last = s->last;
	w.prefixlen = prefixlen;
	w.most = SFX_MAX_ENTRY - prefixlen - (s->last >= 0);
	if (prefixlen > 0)
		memcpy(w.key, prefix, prefixlen);
	if (!parse_heads(s, &w, &run))
		return SFX_CORRUPT;
	/* a scan that goes on from the block before is done after one comparison */
	if (from == 0)
	{
		lo = bisect_run(&w, &run, 0, 1, equal);
		if (lo == 0)
			return 0;
	}
	i = near ? gallop_run(&w, &run, lo, s->ngroups, equal) : bisect_run(&w, &run, lo, s->ngroups, equal);
	if (*equal)
		return i * SFX_STR_GROUP;
	g = i - 1;
	headlen = sfx_run_string(&run, g, head);
	if (!parse_group(s, &w, g, head, headlen, &run))
		return SFX_CORRUPT;
	i = g * SFX_STR_GROUP;
	lo = from > i + 1 ? from - i : 1;
	return i + (near ? gallop_run(&w, &run, lo, run.n, equal) : bisect_run(&w, &run, lo, run.n, equal));
}

/* ---- codes ---- */

static void
note_code(SfxCodes *c, int i, uint32_t start, const uint8_t *code, uint32_t len)
{
	c->start[i] = (uint16_t) start;
	c->code[i] = code;
	c->len[i] = (uint16_t) len;
}

/* The codes of a run of n keys: key first, and every step'th behind it. */
static bool
run_codes(const uint8_t *p, const uint8_t *end, uint32_t prelen, int first, int step, int n, SfxCodes *c)
{
	uint32_t	least,
				shared,
				rest;

	if (n == 0)
		return true;
	if (!sfx_len_get(&p, end, &least))
		return false;
	for (int i = first; n > 0; i += step, n--)
	{
		if (!next_key(&p, end, least, &shared, &rest))
			return false;
		note_code(c, i, prelen + shared, p, rest);
		p += rest;
	}
	return true;
}

int
sfx_str_codes(const SfxStr *s, uint32_t prelen, SfxCodes *c)
{
	const uint8_t *p;
	const uint8_t *key;
	uint32_t	len;

	c->n = 0;
	c->cut = s->last >= 0;
	if (!s->coded)
		return SFX_OK;
	if (!first_key(s, &p, &key, &len))
		return SFX_CORRUPT;
	note_code(c, 0, prelen, key, len);
	if (!run_codes(p, s->heads + s->goff[0], prelen, SFX_STR_GROUP, SFX_STR_GROUP, s->ngroups - 1, c))
		return SFX_CORRUPT;
	for (int g = 0; g < s->ngroups; g++)
	{
		const uint8_t *end;

		p = group_run(s, g, &end);
		if (!run_codes(p, end, prelen, g * SFX_STR_GROUP + 1, 1, group_keys(s, g), c))
			return SFX_CORRUPT;
	}
	c->n = s->n;
	return SFX_OK;
}

/* ---- decoding ---- */

/* Where decoded keys go. */
typedef struct Sink
{
	uint8_t    *out;
	uint32_t	cap;
	uint32_t	prelen;
	uint32_t	at;				/* where the next key goes */
	uint32_t	prev;			/* where the key before stands */
	uint32_t	prevlen;		/* its length without prefix and last byte */
	int			last;
	const uint8_t *bodyend;
	const SfxStr *str;
} Sink;

/* put_key for a coded rest. */
static bool
put_coded(Sink *k, uint32_t shared, const uint8_t *p, uint32_t rest)
{
	uint32_t	head = k->prelen + shared;
	uint8_t    *dst = k->out + k->at;
	int			r;

	if (k->str->dict == NULL || shared > k->prevlen || head >= SFX_MAX_ENTRY || head + 32 > k->cap - k->at)
		return false;
	if (k->prev != k->at)
		sfx_copy16(dst, k->out + k->prev, head);
	r = sfx_hope_decode_within(k->str->dict, p, rest, (size_t) (k->bodyend - p), dst + head, k->cap - k->at - head);
	if (r < 0 || head + (uint32_t) r + (k->last >= 0) > SFX_MAX_ENTRY ||
		head + (uint32_t) r + 17 > k->cap - k->at)
		return false;
	if (k->last >= 0)
		dst[head + (uint32_t) r] = (uint8_t) k->last;
	k->prev = k->at;
	k->prevlen = shared + (uint32_t) r;
	return true;
}

/*
 * Write one key at k->at: shared bytes of the key before, then rest bytes from p, then
 * the last byte.  Both copies go in steps of 16 where 16 bytes of room are left.
 */
static inline bool
put_key(Sink *k, uint32_t shared, const uint8_t *p, uint32_t rest)
{
	uint32_t	head = k->prelen + shared;
	uint32_t	len = head + rest + (k->last >= 0);
	uint8_t    *dst = k->out + k->at;

	if (k->str->coded)
		return put_coded(k, shared, p, rest);
	if (shared > k->prevlen || len > SFX_MAX_ENTRY || len + 16 > k->cap - k->at)
		return false;
	if (k->prev != k->at)
		sfx_copy16(dst, k->out + k->prev, head);
	if (k->bodyend - p >= (ptrdiff_t) rest + 16)
		sfx_copy16(dst + head, p, rest);
	else
		memcpy(dst + head, p, rest);
	if (k->last >= 0)
		dst[head + rest] = (uint8_t) k->last;
	k->prev = k->at;
	k->prevlen = shared + rest;
	return true;
}

/* The last key written is kept, and is number i of those that are wanted. */
static inline void
keep_key(Sink *k, uint32_t *off)
{
	*off = k->at;
	k->at += k->prelen + k->prevlen + (k->last >= 0);
}

/* Bytes that a coded key may take before it is found to be too long, with what is copied beyond its end. */
#define CODED_ROOM	(2 * SFX_MAX_ENTRY + HOPE_WINDOW_ROOM + 16)

/* Decode a coded rest to dst, where SFX_MAX_ENTRY + HOPE_WINDOW_ROOM bytes are free.  Its end, or NULL. */
static inline uint8_t *
decode_rest(const SfxHope *h, const uint64_t *table, const uint8_t *p, uint32_t rest, const uint8_t *bodyend, uint8_t *dst)
{
	uint8_t    *o = dst;
	size_t		bit = 0;
	size_t		readable = (size_t) (bodyend - p);
	uint64_t	acc = hope_window(p, rest, readable, 0);

	if (rest <= 8)
	{
		if (acc != 0)
			o = hope_decode_window(h, table, acc, 64, &bit, o);
	}
	else
		while (acc != 0)
		{
			o = hope_decode_window(h, table, acc, HOPE_WINDOW_STOP, &bit, o);
			if (o == NULL || o - dst > SFX_MAX_ENTRY)
				return NULL;
			acc = hope_window(p, rest, readable, bit);
		}
	return hope_ends_well(bit, rest) ? o : NULL;
}

/* Keys of a run whose rests are coded, and how far decoding has come. */
typedef struct CodedRun
{
	const uint8_t *p;			/* the next key */
	const uint8_t *end;
	uint32_t	least;			/* length that all keys share, at least */
	int			i;				/* keys before it */
} CodedRun;

/*
 * Decode keys of r up to number to, as decode_run does; stops early where the room that is left is less than any key may need. All that
 * a key needs is at hand: the general way takes half as much time again.
 */
static int
decode_run_coded(CodedRun *r, int from, int to, Sink *k, uint32_t **off)
{
	const SfxHope *h = k->str->dict;
	const uint64_t *table;
	const uint8_t *prev = k->out + k->prev;
	uint8_t    *dst = k->out + k->at;
	uint32_t	prevlen = k->prelen + k->prevlen;
	uint32_t	least = r->least + k->prelen;

	if (h == NULL)
		return SFX_CORRUPT;
	table = HOPE_CTABLE(h, uint64_t, decode);
	for (; r->i < to && k->cap - (uint32_t) (dst - k->out) >= CODED_ROOM; r->i++)
	{
		uint32_t	head,
					rest;
		uint8_t    *o;

		if (!next_key(&r->p, r->end, least, &head, &rest) || head > prevlen)
			return SFX_CORRUPT;
		if (dst != prev)
			sfx_copy16(dst, prev, head);
		o = decode_rest(h, table, r->p, rest, k->bodyend, dst + head);
		if (o == NULL)
			return SFX_CORRUPT;
		r->p += rest;
		prev = dst;
		prevlen = (uint32_t) (o - dst);
		if (k->last >= 0)
			*o++ = (uint8_t) k->last;
		if (o - dst > SFX_MAX_ENTRY)
			return SFX_CORRUPT;
		if (r->i >= from)
		{
			*(*off)++ = (uint32_t) (dst - k->out);
			dst = o;
		}
	}
	k->prev = (uint32_t) (prev - k->out);
	k->prevlen = prevlen - k->prelen;
	k->at = (uint32_t) (dst - k->out);
	return SFX_OK;
}

/* Keys [from, to) of a run, behind the key that was written last.  Those before from are written over one another. */
static int
decode_run(const uint8_t *p, const uint8_t *end, int from, int to, Sink *k, uint32_t *off)
{
	CodedRun	r = {p, end, 0, 0};
	uint32_t	rest,
				shared;

	if (to <= 0)
		return SFX_OK;
	if (!sfx_len_get(&r.p, end, &r.least) ||
		(k->str->coded && decode_run_coded(&r, from, to, k, &off) != SFX_OK))
		return SFX_CORRUPT;
	for (; r.i < to; r.i++)
	{
		if (!next_key(&r.p, end, r.least, &shared, &rest) || !put_key(k, shared, r.p, rest))
			return SFX_CORRUPT;
		r.p += rest;
		if (r.i >= from)
			keep_key(k, off++);
	}
	return SFX_OK;
}

/* A walk along the heads. */
typedef struct Heads
{
	const uint8_t *p;
	const uint8_t *end;
	int			g;				/* number of the next head */
	uint32_t	least;
	uint32_t	at;				/* where the last one stands, its length */
	uint32_t	len;
} Heads;

/* Write the next head. */
static bool
put_head(const SfxStr *s, Heads *h, Sink *k)
{
	const uint8_t *key;
	uint32_t	shared,
				rest;

	if (h->g == 0)
	{
		k->prevlen = 0;
		if (!first_key(s, &h->p, &key, &rest) || !put_key(k, 0, key, rest))
			return false;
		h->end = s->heads + s->goff[0];
		if (s->ngroups > 1 && !sfx_len_get(&h->p, h->end, &h->least))
			return false;
	}
	else
	{
		k->prev = h->at;
		k->prevlen = h->len;
		if (!next_key(&h->p, h->end, h->least, &shared, &rest) || !put_key(k, shared, h->p, rest))
			return false;
		h->p += rest;
	}
	h->g++;
	h->at = k->prev;
	h->len = k->prevlen;
	return true;
}

int
sfx_str_decode(const SfxStr *s, int from, int to, uint32_t prelen, uint8_t *out, uint32_t cap,
			   uint32_t *off, const uint8_t *bodyend)
{
	Sink		k = {out, cap, prelen, 0, 0, 0, s->last, bodyend, s};
	Heads		h = {0};
	int			i = from;

	/* the heads before are written over one another */
	while (h.g < from / SFX_STR_GROUP)
		if (!put_head(s, &h, &k))
			return SFX_CORRUPT;
	while (i < to)
	{
		int			base = h.g * SFX_STR_GROUP;
		int			g = h.g;
		int			stop = to - base < SFX_STR_GROUP ? to - base : SFX_STR_GROUP;
		const uint8_t *end;
		const uint8_t *p = group_run(s, g, &end);

		if (!put_head(s, &h, &k))
			return SFX_CORRUPT;
		/* the next head needs this one: it stays in any case */
		keep_key(&k, off + (i - from));
		if (i == base)
			i++;
		if (decode_run(p, end, i - base - 1, stop - 1, &k, off + (i - from)) != SFX_OK)
			return SFX_CORRUPT;
		i = base + stop;
	}
	off[to - from] = k.at;
	return SFX_OK;
}
