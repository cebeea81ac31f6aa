/*-------------------------------------------------------------------------
 * strblock.c - key stream of a STRING block (format in strblock.h)
 *-------------------------------------------------------------------------
 */
#include "strblock.h"

/* ---- encoder ---- */

static inline uint32_t
group_size(int n, int first)
{
	return (uint32_t) (n - first < SFX_STR_GROUP ? n - first : SFX_STR_GROUP);
}

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

/* What key i shares with key i-1, behind the prefix and within the len bytes that are kept of it. */
static inline uint32_t
shared_len(const SfxKeys *k, int i, uint32_t len, uint32_t prevlen)
{
	uint32_t	s = k->lcp[i] - k->skip;

	if (s > len)
		s = len;
	return s > prevlen ? prevlen : s;
}

uint32_t
sfx_str_estimate(const SfxKeys *k)
{
	uint32_t	size = 1;

	for (int i = 0; i < k->n; i++)
	{
		uint32_t	len = k->off[i + 1] - k->off[i];

		size += len - (i % SFX_STR_GROUP ? k->lcp[i] : k->skip);
	}
	return size;
}

/* Encode one group of n keys from first on; the new end, or NULL if it does not fit before end. */
static uint8_t *
encode_group(const SfxKeys *k, int first, uint32_t n, uint32_t cut, uint8_t *p, const uint8_t *end)
{
	const uint8_t *key = k->bytes + k->off[first] + k->skip;
	uint32_t	len = k->off[first + 1] - k->off[first] - k->skip - cut;
	uint32_t	shared[SFX_STR_GROUP];
	uint32_t	least = UINT32_MAX;
	uint32_t	prevlen = len;

	if ((size_t) (end - p) < (size_t) len + 4)
		return NULL;
	p = sfx_len_put(p, len);
	memcpy(p, key, len);
	p += len;
	if (n == 1)
		return p;
	for (uint32_t j = 1; j < n; j++)
	{
		int			i = first + (int) j;

		len = k->off[i + 1] - k->off[i] - k->skip - cut;
		shared[j] = shared_len(k, i, len, prevlen);
		if (shared[j] < least)
			least = shared[j];
		prevlen = len;
	}
	p = sfx_len_put(p, least);
	for (uint32_t j = 1; j < n; j++)
	{
		int			i = first + (int) j;
		uint32_t	sh = shared[j] - least;
		uint32_t	rest;

		key = k->bytes + k->off[i] + k->skip + shared[j];
		rest = k->off[i + 1] - k->off[i] - k->skip - cut - shared[j];
		if ((size_t) (end - p) < (size_t) rest + 5)
			return NULL;
		*p++ = (uint8_t) ((sh < 15 ? sh : 15) << 4 | (rest < 15 ? rest : 15));
		if (sh >= 15)
			p = sfx_len_put(p, sh - 15);
		if (rest >= 15)
			p = sfx_len_put(p, rest - 15);
		memcpy(p, key, rest);
		p += rest;
	}
	return p;
}

int
sfx_str_encode(const SfxKeys *k, uint8_t *out, size_t cap)
{
	int			last = common_last(k);
	uint32_t	cut = last >= 0;
	int			ngroups = (k->n + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	uint32_t	head = 1 + cut;
	uint32_t	gend[SFX_STR_MAXGROUPS];
	uint32_t	least = UINT32_MAX,
				most = 0,
				prev = 0;
	uint8_t    *start;
	uint8_t    *p;
	uint8_t    *q;

	if (cap < head + 2 * (size_t) ngroups)
		return SFX_NOSPACE;
	/* room for the wide table; the groups move down if the narrow one does */
	start = p = out + head + 2 * ngroups;
	for (int g = 0; g < ngroups; g++)
	{
		uint32_t	len;

		p = encode_group(k, g * SFX_STR_GROUP, group_size(k->n, g * SFX_STR_GROUP), cut, p, out + cap);
		if (p == NULL)
			return SFX_NOSPACE;
		gend[g] = (uint32_t) (p - start);
		len = gend[g] - prev;
		least = len < least ? len : least;
		most = len > most ? len : most;
		prev = gend[g];
	}
	if (gend[ngroups - 1] > SFX_LEAF_MAXLEN)
		return SFX_NOSPACE;
	out[0] = (uint8_t) (cut ? SFX_STR_LAST : 0);
	if (cut)
		out[1] = (uint8_t) last;
	q = out + head;
	if (ngroups > 2 && most - least <= 255)
	{
		out[0] |= SFX_STR_NARROW;
		sfx_put16(q, (uint16_t) least);
		q += 2;
		for (int g = 0; g < ngroups; g++)
			*q++ = (uint8_t) (gend[g] - (g ? gend[g - 1] : 0) - least);
		memmove(q, start, gend[ngroups - 1]);
		return (int) (q - out) + (int) gend[ngroups - 1];
	}
	for (int g = 0; g < ngroups; g++, q += 2)
		sfx_put16(q, (uint16_t) gend[g]);
	return (int) (p - out);
}

/* ---- decoder ---- */

int
sfx_str_open(SfxStr *s, const uint8_t *in, size_t len, int n)
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
	s->goff[0] = 0;
	if (flags & SFX_STR_NARROW)
	{
		uint32_t	least;

		if (end - p < 2 + s->ngroups)
			return SFX_CORRUPT;
		least = sfx_get16(p);
		if (least > SFX_LEAF_MAXLEN)
			return SFX_CORRUPT;
		p += 2;
		for (int g = 0; g < s->ngroups; g++)
		{
			at += least + *p++;
			s->goff[g + 1] = (uint16_t) at;
		}
	}
	else
	{
		uint32_t	prev = 0;

		if (end - p < 2 * s->ngroups)
			return SFX_CORRUPT;
		for (int g = 0; g < s->ngroups; g++, p += 2)
		{
			at = sfx_get16(p);
			if (at < prev)
				return SFX_CORRUPT;
			prev = at;
			s->goff[g + 1] = (uint16_t) at;
		}
	}
	/* at is exact even where goff[] would have wrapped around */
	if ((ptrdiff_t) at > end - p || at > UINT16_MAX)
		return SFX_CORRUPT;
	s->groups = p;
	s->end = p + at;
	return SFX_OK;
}

/* The restart key of group g; *p stands behind it. */
static inline bool
restart_key(const SfxStr *s, int g, const uint8_t **p, const uint8_t **key, uint32_t *len)
{
	const uint8_t *end = s->groups + s->goff[g + 1];

	*p = s->groups + s->goff[g];
	if (!sfx_len_get(p, end, len) || (ptrdiff_t) *len > end - *p)
		return false;
	*key = *p;
	*p += *len;
	return true;
}

/* The header of a key that is no restart key; *p stands at the rest's bytes, which lie before end. */
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

/*
 * Compare a key's bytes from position at on (rest bytes, then the common last byte) with
 * t's; the two are known to agree before.  *lcp: how far the kept bytes agree with t.
 */
static inline int
cmp_rest(const SfxStr *s, const uint8_t *bytes, uint32_t rest, uint32_t at,
		 const uint8_t *t, uint32_t tlen, uint32_t *lcp)
{
	uint32_t	m = tlen - at;
	uint32_t	n = rest < m ? rest : m;
	uint32_t	i = 0;

	while (i < n && bytes[i] == t[at + i])
		i++;
	*lcp = at + i;
	if (i < rest)
		return i == m ? 1 : (int) bytes[i] - (int) t[at + i];
	if (s->last < 0)
		return i == m ? 0 : -1;
	if (i == m)
		return 1;
	if (s->last != t[at + i])
		return s->last - t[at + i];
	return i + 1 == m ? 0 : -1;
}

/*
 * Walk through group g, whose restart key is < t and agrees with it in m bytes.  A key that shares more than m
 * bytes with the one before stands to t as that one does; one that shares fewer is > t.
 */
static int
search_group(const SfxStr *s, int g, const uint8_t *p, uint32_t m, const uint8_t *t, uint32_t tlen, bool *equal)
{
	const uint8_t *end = s->groups + s->goff[g + 1];
	int			i = g * SFX_STR_GROUP + 1;
	int			to = i - 1 + (int) group_size(s->n, i - 1);
	uint32_t	least;

	if (i == to)
		return i;
	if (!sfx_len_get(&p, end, &least))
		return SFX_CORRUPT;
	for (; i < to; i++)
	{
		uint32_t	shared,
					rest;

		if (!next_key(&p, end, least, &shared, &rest))
			return SFX_CORRUPT;
		if (shared < m)
			return i;
		if (shared == m)
		{
			int			c = cmp_rest(s, p, rest, m, t, tlen, &m);

			if (c >= 0)
			{
				*equal = c == 0;
				return i;
			}
		}
		p += rest;
	}
	return i;
}

int
sfx_str_search(const SfxStr *s, const uint8_t *t, uint32_t tlen, bool *equal)
{
	int			lo = 0,
				hi = s->ngroups;	/* groups below lo start < t, from hi on > t */
	const uint8_t *at = NULL;
	uint32_t	m = 0;

	*equal = false;
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		const uint8_t *p;
		const uint8_t *key;
		uint32_t	len;
		uint32_t	lcp;
		int			c;

		if (!restart_key(s, mid, &p, &key, &len))
			return SFX_CORRUPT;
		c = cmp_rest(s, key, len, 0, t, tlen, &lcp);
		if (c == 0)
		{
			*equal = true;
			return mid * SFX_STR_GROUP;
		}
		if (c < 0)
		{
			lo = mid + 1;
			at = p;
			m = lcp;
		}
		else
			hi = mid;
	}
	if (lo == 0)
		return 0;
	return search_group(s, lo - 1, at, m, t, tlen, equal);
}

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
} Sink;

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

/* Keys [from, to) of group g (numbers inside the group).  Those before from are written over one another. */
static int
decode_group(const SfxStr *s, int g, int from, int to, Sink *k, uint32_t *off)
{
	const uint8_t *end = s->groups + s->goff[g + 1];
	const uint8_t *p;
	const uint8_t *key;
	uint32_t	rest,
				shared = 0,
				least = 0;

	k->prevlen = 0;
	if (!restart_key(s, g, &p, &key, &rest) || !put_key(k, 0, key, rest))
		return SFX_CORRUPT;
	if (to > 1 && !sfx_len_get(&p, end, &least))
		return SFX_CORRUPT;
	for (int i = 0;;)
	{
		if (i >= from)
		{
			*off++ = k->at;
			k->at += k->prelen + k->prevlen + (k->last >= 0);
		}
		if (++i >= to)
			return SFX_OK;
		if (!next_key(&p, end, least, &shared, &rest) || !put_key(k, shared, p, rest))
			return SFX_CORRUPT;
		p += rest;
	}
}

int
sfx_str_decode(const SfxStr *s, int from, int to, uint32_t prelen, uint8_t *out, uint32_t cap,
			   uint32_t *off, const uint8_t *bodyend)
{
	Sink		k = {out, cap, prelen, 0, 0, 0, s->last, bodyend};

	for (int i = from; i < to;)
	{
		int			g = i / SFX_STR_GROUP;
		int			base = g * SFX_STR_GROUP;
		int			stop = to - base < SFX_STR_GROUP ? to - base : SFX_STR_GROUP;

		if (decode_group(s, g, i - base, stop, &k, off + (i - from)) != SFX_OK)
			return SFX_CORRUPT;
		i = base + stop;
	}
	off[to - from] = k.at;
	return SFX_OK;
}
