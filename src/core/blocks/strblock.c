/*-------------------------------------------------------------------------
 * strblock.c - key stream of a STRING block: search and decoding (format in strblock.h)
 *-------------------------------------------------------------------------
 */
#include "strblock_runs.h"

#include <limits.h>

#include "frontrun.h"
#include "fsst.h"
#include "hope_step.h"

/*
 * Parse the alphabet at *p, and move *p after it.  Numbers without a symbol stand for zero bytes.
 */
static bool
open_symbols(const uint8_t **p, const uint8_t *end, SfxSymbols *a)
{
	uint32_t	n;

	if (*p >= end)
		return false;
	n = *(*p)++ + 1u;
	if (n > SFX_SYMBOLS || (ptrdiff_t) n > end - *p)
		return false;
	a->bits = sfx_symbol_bits(n);
	memcpy(a->symbol, *p, n);
	memset(a->symbol + n, 0, SFX_SYMBOLS - n);
	*p += n;
	return true;
}

int
sfx_str_open(SfxStr *s, const uint8_t *in, size_t len, int n, const SfxHope *dict)
{
	const uint8_t *p = in;
	const uint8_t *end = in + len;
	int			flags;
	uint32_t	at = 0;

	if (len < 2 || n < 1 || n > SFX_STR_GROUP * SFX_STR_MAXGROUPS)
		return SFX_CORRUPT;
	s->column = *p == SFX_STR_COLUMN;
	if (s->column)
	{
		s->n = n;
		s->coded = s->packed = false;
		if (sfx_strcol_open(&s->col, in, len, n) != SFX_OK)
			return SFX_CORRUPT;
		s->end = s->col.end;
		return SFX_OK;
	}
	flags = *p++;
	if ((flags & ~SFX_STR_FLAGS) || (flags & SFX_STR_CODED && flags & SFX_STR_PACKED))
		return SFX_CORRUPT;
	s->n = n;
	s->ngroups = (n + SFX_STR_GROUP - 1) / SFX_STR_GROUP;
	s->last = flags & SFX_STR_LAST ? *p++ : -1;
	s->coded = (flags & SFX_STR_CODED) != 0;
	s->dict = dict;
	s->limit = end;
	s->packed = (flags & SFX_STR_PACKED) != 0;
	if (s->packed && !open_symbols(&p, end, &s->symbols))
		return SFX_CORRUPT;
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

#define CMP_CORRUPT	INT_MIN		/* no comparison of bytes comes to this */

/*
 * Compare what follows a rest (the common last byte, or nothing) with t's bytes from position at
 * on.
 */
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

/* The same as cmp_rest for a coded rest. */
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

/* Symbol number i of those packed at p; bytes up to limit may be read. */
static inline uint8_t
symbol_at(const SfxSymbols *a, const uint8_t *p, const uint8_t *limit, uint32_t i)
{
	uint32_t	bit = i * a->bits;
	uint64_t	two;

	p += bit / 8;
	two = sfx_load_bytes(p, limit - p < 2 ? (size_t) (limit - p) : 2);
	return a->symbol[two >> bit % 8 & sfx_mask(a->bits)];
}

/* The same as cmp_rest for a packed rest. */
static int
cmp_packed(const SfxStr *s, const uint8_t *bytes, uint32_t rest, uint32_t at, const uint8_t *t,
		   uint32_t tlen, uint32_t *lcp)
{
	uint32_t	m = tlen - at;
	uint32_t	n = rest < m ? rest : m;

	for (uint32_t i = 0; i < n; i++)
	{
		uint8_t		b = symbol_at(&s->symbols, bytes, s->limit, i);

		if (b != t[at + i])
		{
			*lcp = at + i;
			return (int) b - (int) t[at + i];
		}
	}
	*lcp = at + n;
	return n < rest ? 1 : cmp_last(s, t, tlen, at + n);
}

/*
 * Compare a key's bytes from position at on (its rest, then the common last byte) with t's; the
 * bytes before are known to agree.  *lcp: the length in which the key, without the common last
 * byte, agrees with t.
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
	if (s->packed)
		return cmp_packed(s, bytes, rest, at, t, tlen, lcp);
	while (i < n && bytes[i] == t[at + i])
		i++;
	*lcp = at + i;
	if (i < rest)
		return i == m ? 1 : (int) bytes[i] - (int) t[at + i];
	return cmp_last(s, t, tlen, at + i);
}

/*
 * Walk through a run of n keys; the key before the run is < t and agrees with it in *m bytes.  A
 * key that shares more than *m bytes with the previous one compares with t as that one does; a key
 * that shares fewer is > t.  Returns the number of keys < t; *m becomes that of the last of them.
 */
static int
search_run(const SfxStr *s, const uint8_t *p, const uint8_t *end, int n, const uint8_t *t, uint32_t tlen,
		   uint32_t *m, SfxStrPlace *place)
{
	RunWalk		w;
	int			i;

	if (n == 0)
		return 0;
	if (!begin_run(s, p, end, &w))
		return SFX_CORRUPT;
	for (i = 0; i < n; i++)
	{
		uint32_t	shared,
					rest;

		if (!walk_key(&w, &shared, &p, &rest))
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
				place->equal = c == 0;
				return i;
			}
			*m = lcp;
			place->begins = lcp == shared + rest;
		}
	}
	return i;
}

int
sfx_str_search(const SfxStr *s, const uint8_t *t, uint32_t tlen, SfxStrPlace *place)
{
	const uint8_t *p;
	const uint8_t *end;
	const uint8_t *key;
	uint32_t	len,
				m;
	int			c,
				g,
				i;

	if (s->column)
		return sfx_strcol_search(&s->col, t, tlen, place);
	place->equal = place->begins = false;
	if (!first_key(s, &p, &key, &len))
		return SFX_CORRUPT;
	c = cmp_rest(s, key, len, 0, t, tlen, &m);
	if (c == CMP_CORRUPT)
		return SFX_CORRUPT;
	if (c >= 0)
	{
		place->equal = c == 0;
		return 0;
	}
	place->begins = m == len;
	g = search_run(s, p, s->heads + s->goff[0], s->ngroups - 1, t, tlen, &m, place);
	if (g < 0 || place->equal)
		return g < 0 ? g : (g + 1) * SFX_STR_GROUP;
	p = group_run(s, g, &end);
	i = search_run(s, p, end, group_keys(s, g), t, tlen, &m, place);
	place->len = m;
	return i < 0 ? i : g * SFX_STR_GROUP + 1 + i;
}

int
sfx_str_find_in_group(const SfxStr *s, int g, uint32_t lcp, const uint8_t *t, uint32_t tlen,
					  bool *equal)
{
	int			n = group_keys(s, g);
	RunWalk		w;
	const uint8_t *end;
	int			i;
	const uint8_t *p = group_run(s, g, &end);

	if (n == 0)
		return 0;
	if (!begin_run(s, p, end, &w))
		return SFX_CORRUPT;
	for (i = 0; i < n && !*equal; i++)
	{
		uint32_t	shared,
					rest;
		int			c;

		if (!walk_key(&w, &shared, &p, &rest))
			return SFX_CORRUPT;
		/* a key that shares more with the previous one differs from t where that one does */
		if (shared < lcp)
			lcp = shared;
		else if (shared == lcp)
		{
			c = cmp_rest(s, p, rest, shared, t, tlen, &lcp);
			if (c == CMP_CORRUPT)
				return SFX_CORRUPT;
			*equal = c == 0;
			/* the common last byte follows what keys share */
			if (s->last >= 0 && lcp == tlen)
				lcp--;
		}
	}
	return *equal ? i - 1 : n;
}

/* ---- codes ---- */

static void
note_code(SfxCodes *c, int i, uint32_t start, const uint8_t *code, uint32_t len)
{
	c->start[i] = (uint16_t) start;
	c->code[i] = code;
	c->len[i] = (uint16_t) len;
}

/* Note the codes of a run of n keys: key first, and every step'th after it. */
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
	c->cut = !s->column && s->last >= 0;
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
	uint32_t	prev;			/* where the previous key stands */
	uint32_t	prevlen;		/* its length without prefix and last byte */
	int			last;
	const uint8_t *bodyend;
	const SfxStr *str;
} Sink;

/* The same as put_key for a coded rest. */
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

/* The same as put_key for a packed rest. */
static bool
put_packed(Sink *k, uint32_t shared, const uint8_t *p, uint32_t rest)
{
	uint32_t	head = k->prelen + shared;
	uint32_t	len = head + rest + (k->last >= 0);
	uint8_t    *dst = k->out + k->at;

	if (shared > k->prevlen || len > SFX_MAX_ENTRY || len + 16 > k->cap - k->at)
		return false;
	if (k->prev != k->at)
		sfx_copy16(dst, k->out + k->prev, head);
	sfx_kernels->symbols(&k->str->symbols, p, (size_t) (k->bodyend - p), rest, dst + head);
	if (k->last >= 0)
		dst[head + rest] = (uint8_t) k->last;
	k->prev = k->at;
	k->prevlen = shared + rest;
	return true;
}

/*
 * Write one key at k->at: shared bytes of the previous key, then rest bytes from p, then the last
 * byte.  Both copies go in steps of 16 if 16 bytes of room are left.
 */
static inline bool
put_key(Sink *k, uint32_t shared, const uint8_t *p, uint32_t rest)
{
	uint32_t	head = k->prelen + shared;
	uint32_t	len = head + rest + (k->last >= 0);
	uint8_t    *dst = k->out + k->at;

	if (k->str->coded)
		return put_coded(k, shared, p, rest);
	if (k->str->packed)
		return put_packed(k, shared, p, rest);
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

/* Keep the last key written: it is one of those asked for.  *off: where it begins. */
static inline void
keep_key(Sink *k, uint32_t *off)
{
	*off = k->at;
	k->at += k->prelen + k->prevlen + (k->last >= 0);
}

/* Room for a coded key before it is found to be too long, with what is copied beyond its end. */
#define CODED_ROOM	(2 * SFX_MAX_ENTRY + HOPE_WINDOW_ROOM + 16)

/*
 * Decode a coded rest to dst, where SFX_MAX_ENTRY + HOPE_WINDOW_ROOM bytes are free.  Returns its
 * end, or NULL.
 */
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

/* The same as decode_rest for FSST. */
static inline uint8_t *
decode_rest_fsst(const Fsst *f, const uint8_t *p, uint32_t rest, const uint8_t *bodyend, uint8_t *dst)
{
	int			r;

	if (rest < HOPE_WINDOW_ROOM / FSST_ROOM)
		return fsst_decode_short(f, p, rest, (size_t) (bodyend - p), dst);
	r = sfx_fsst_decode(f, p, rest, (size_t) (bodyend - p), dst, SFX_MAX_ENTRY + HOPE_WINDOW_ROOM);
	return r < 0 ? NULL : dst + r;
}

/* The keys of a run whose rests are coded, and how far decoding has come. */
typedef struct CodedRun
{
	const uint8_t *p;			/* the next key */
	const uint8_t *end;
	uint32_t	least;			/* length that all keys share, at least */
	int			i;				/* keys before it */
} CodedRun;

/*
 * Decode keys of r up to number to, as decode_run does.  Stops early if the room that is left is
 * less than a key may need.  All variables are local: the general way takes half as much time
 * again.
 */
static inline int
decode_run_coded(CodedRun *r, int from, int to, Sink *k, uint32_t **off, const bool fsst)
{
	const SfxHope *h = k->str->dict;
	const uint8_t *prev = k->out + k->prev;
	uint8_t    *dst = k->out + k->at;
	uint32_t	prevlen = k->prelen + k->prevlen;
	uint32_t	least = r->least + k->prelen;
	const uint64_t *table = fsst ? NULL : HOPE_CTABLE(h, uint64_t, decode);

	for (; r->i < to && k->cap - (uint32_t) (dst - k->out) >= CODED_ROOM; r->i++)
	{
		uint32_t	head,
					rest;
		uint8_t    *o;

		if (!next_key(&r->p, r->end, least, &head, &rest) || head > prevlen)
			return SFX_CORRUPT;
		if (dst != prev)
			sfx_copy16(dst, prev, head);
		o = fsst ? decode_rest_fsst((const Fsst *) h, r->p, rest, k->bodyend, dst + head) :
			decode_rest(h, table, r->p, rest, k->bodyend, dst + head);
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

/* The same as decode_run for packed rests. */
static int
decode_run_packed(const uint8_t *p, const uint8_t *end, int from, int to, Sink *k, uint32_t *off)
{
	RunWalk		w;
	uint32_t	rest,
				shared;

	if (!begin_run(k->str, p, end, &w))
		return SFX_CORRUPT;
	for (int i = 0; i < to; i++)
	{
		if (!walk_key(&w, &shared, &p, &rest) || !put_packed(k, shared, p, rest))
			return SFX_CORRUPT;
		if (i >= from)
			keep_key(k, off++);
	}
	return SFX_OK;
}

/*
 * Decode keys [from, to) of a run; the previous key is the one written last.  Keys before from are
 * written over one another.
 */
static int
decode_run(const uint8_t *p, const uint8_t *end, int from, int to, Sink *k, uint32_t *off)
{
	CodedRun	r = {p, end, 0, 0};
	uint32_t	rest,
				shared;

	if (to <= 0)
		return SFX_OK;
	if (k->str->packed)
		return decode_run_packed(p, end, from, to, k, off);
	if (!sfx_len_get(&r.p, end, &r.least))
		return SFX_CORRUPT;
	if (k->str->coded)
	{
		const SfxHope *h = k->str->dict;

		if (h == NULL ||
			(hope_is_fsst(h) ? decode_run_coded(&r, from, to, k, &off, true) : decode_run_coded(&r, from, to, k, &off, false)) != SFX_OK)
			return SFX_CORRUPT;
	}
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
	RunWalk		walk;
	int			g;				/* number of the next head */
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
		const uint8_t *p;

		k->prevlen = 0;
		if (!first_key(s, &p, &key, &rest) || !put_key(k, 0, key, rest))
			return false;
		if (s->ngroups > 1 && !begin_run(s, p, s->heads + s->goff[0], &h->walk))
			return false;
	}
	else
	{
		k->prev = h->at;
		k->prevlen = h->len;
		if (!walk_key(&h->walk, &shared, &key, &rest) || !put_key(k, shared, key, rest))
			return false;
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

	if (s->column)
		return sfx_strcol_decode(&s->col, from, to, prelen, out, cap, off);
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
		/* the next head needs this one, so it stays in any case */
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
