/*-------------------------------------------------------------------------
 * hope_dict.c - from a list of symbols to intervals and the tables to look them up (layout:
 * hope_format.h)
 *-------------------------------------------------------------------------
 */
#include "hope_format.h"

/* ---- lists of symbols ---- */

/*
 * Read one part of a symbol's lengths: a nibble, and if that is full a byte more.  False: beyond
 * the end.
 */
static bool
get_length(HopeSymbols *s, uint32_t nibble, uint32_t *len)
{
	*len = nibble;
	if (nibble < 15)
		return true;
	if (s->p == s->end)
		return false;
	*len += *s->p++;
	return true;
}

/*
 * Read the list's next symbol over the previous one.  At the end listedlen is 0.  False if it is
 * corrupt.
 */
static bool
next_listed(HopeWalk *w)
{
	HopeSymbols *s = &w->s;
	uint32_t	nibbles,
				shared,
				rest;

	if (s->n == 0)
	{
		w->listedlen = 0;
		return s->p == s->end;
	}
	if (s->p == s->end)
		return false;
	nibbles = *s->p++;
	if (!get_length(s, nibbles >> 4, &shared) || !get_length(s, nibbles & 15, &rest))
		return false;
	if (rest == 0 || rest > (size_t) (s->end - s->p) || shared > w->listedlen ||
		shared + rest < 2 || shared + rest > hope_maxsym(w->scheme))
		return false;
	/* strictly ascending */
	if (shared < w->listedlen && s->p[0] <= w->listed[shared])
		return false;
	memcpy(w->listed + shared, s->p, rest);
	w->listedlen = shared + rest;
	w->listedid++;
	s->p += rest;
	s->n--;
	return true;
}

/* Take the smaller one of the next single byte and the next listed symbol. */
static bool
advance(HopeWalk *w)
{
	if (w->single < 256 && (w->listedlen == 0 || w->single <= w->listed[0]))
	{
		w->next[0] = (uint8_t) w->single++;
		w->nextlen = 1;
		w->nextid = -1;
		return true;
	}
	memcpy(w->next, w->listed, w->listedlen);
	w->nextlen = w->listedlen;
	w->nextid = w->listedid;
	return w->nextlen == 0 || next_listed(w);
}

void
sfx_hope_walk_start(HopeWalk *w, SfxHopeScheme scheme, HopeSymbols s)
{
	w->s = s;
	w->scheme = scheme;
	w->listedlen = 0;
	w->listedid = -1;
	w->single = 0;
	w->nopen = 0;
	w->startlen = 0;
	w->owner = -1;
	w->corrupt = !next_listed(w) || !advance(w);
}

/*
 * Close the innermost open symbol.  If the first string after all that begin with it still belongs
 * to the symbol around it, and is not itself the next symbol, an interval starts there: true.
 */
static bool
close_symbol(HopeWalk *w)
{
	uint32_t	len = w->open[--w->nopen],
				around = w->nopen > 0 ? w->open[w->nopen - 1] : 0;

	while (len > 0 && w->cur[len - 1] == 0xFF)
		len--;
	if (around == 0 || len <= around)
		return false;
	memcpy(w->start, w->cur, len);
	w->start[len - 1]++;
	w->startlen = len;
	w->owner = w->openid[w->nopen - 1];
	return w->nextlen != len || memcmp(w->start, w->next, len) != 0;
}

bool
sfx_hope_walk_next(HopeWalk *w)
{
	uint32_t	shared;

	if (w->corrupt)
		return false;
	shared = w->nopen == 0 ? 0 : sfx_lcp(w->cur, w->open[w->nopen - 1], w->next, w->nextlen);

	/*
	 * cur is that of the symbol opened last, as long as any symbol with which that begins is to be
	 * closed
	 */
	while (w->nopen > 0 && w->open[w->nopen - 1] > shared)
		if (close_symbol(w))
			return true;
	if (w->nextlen == 0)
		return false;
	memcpy(w->cur, w->next, w->nextlen);
	memcpy(w->start, w->next, w->nextlen);
	w->startlen = w->nextlen;
	w->owner = w->nextid;
	w->open[w->nopen] = (uint8_t) w->nextlen;
	w->openid[w->nopen++] = w->nextid;
	if (!advance(w))
	{
		w->corrupt = true;
		return false;
	}
	return true;
}

uint8_t *
sfx_hope_put_symbol(uint8_t *p, uint8_t *end, const uint8_t *prev, uint32_t prevlen,
					const uint8_t *sym, uint32_t len)
{
	uint32_t	shared = sfx_lcp(prev, prevlen, sym, len),
				rest = len - shared;

	if ((size_t) (end - p) < 3 + (size_t) rest)
		return NULL;
	*p++ = (uint8_t) ((shared < 15 ? shared : 15) << 4 | (rest < 15 ? rest : 15));
	if (shared >= 15)
		*p++ = (uint8_t) (shared - 15);
	if (rest >= 15)
		*p++ = (uint8_t) (rest - 15);
	memcpy(p, sym + shared, rest);
	return p + rest;
}

/* ---- sizes ---- */

/*
 * Number of levels below the root in which two interval starts with this common prefix are in the
 * same node.
 */
static uint32_t
shared_levels(uint32_t lcp, uint32_t alen, uint32_t blen)
{
	uint32_t	shorter = alen < blen ? alen : blen,
				byprefix = lcp / HOPE_STRIDE,
				bylength = (shorter - 1) / HOPE_STRIDE;

	return byprefix < bylength ? byprefix : bylength;
}

int
sfx_hope_shape(SfxHopeScheme scheme, HopeSymbols s, uint32_t max, HopeShape *shape)
{
	HopeWalk	w;
	uint8_t		prev[SFX_HOPE_MAXSYM];
	uint32_t	prevlen = 0,
				before = 0;

	memset(shape, 0, sizeof(*shape));
	shape->scheme = scheme;
	shape->nsymbols = s.n;
	shape->nintervals = 1;
	if (scheme <= SFX_HOPE_DOUBLE)
	{
		shape->nintervals = scheme == SFX_HOPE_SINGLE ? 257 : SFX_HOPE_MAX_INTERVALS;
		return s.n == 0 && s.p == s.end ? SFX_OK : SFX_CORRUPT;
	}
	shape->nentries = 1;
	sfx_hope_walk_start(&w, scheme, s);
	while (sfx_hope_walk_next(&w))
	{
		/*
		 * The previous start has an entry for each level that it does not share with the one before
		 * it.
		 */
		uint32_t	shared = prevlen == 0 ? 0 :
			shared_levels(sfx_lcp(prev, prevlen, w.start, w.startlen), prevlen, w.startlen);

		if (shared > before)
			shape->nentries += shared - before;
		before = shared;
		if (++shape->nintervals > max)
			return SFX_CORRUPT;
		shape->nentries++;
		shape->pool += w.startlen;
		memcpy(prev, w.start, w.startlen);
		prevlen = w.startlen;
	}
	return w.corrupt ? SFX_CORRUPT : SFX_OK;
}

static uint32_t
place(size_t *size, size_t bytes)
{
	size_t		at = *size;

	*size += (bytes + 7) & ~(size_t) 7;
	return (uint32_t) at;
}

size_t
sfx_hope_layout(const HopeShape *shape, SfxHope *h)
{
	size_t		size = 0,
				n = shape->nintervals;
	SfxHope		t;

	memset(&t, 0, sizeof(t));
	t.shape = *shape;
	(void) place(&size, sizeof(SfxHope));
	t.code = place(&size, 4 * n);
	t.decode = place(&size, 8 << HOPE_DECODE_BITS);
	t.second = place(&size, ((size_t) 8 << HOPE_SECOND_BITS) * hope_second_tables(shape));
	if (shape->scheme >= SFX_HOPE_GRAM3)
	{
		t.pair = place(&size, 4 * 65537);
		t.lone = place(&size, 4 * 256);
		t.head = place(&size, 8 * (size_t) shape->nentries);
	}
	if (hope_is_alm(shape->scheme))
	{
		/* each entry beyond one per interval has a node; number 0 is none */
		t.nnodes = shape->nentries - shape->nintervals + 1;
		t.entry = place(&size, sizeof(HopeEntry) * shape->nentries);
		t.node = place(&size, sizeof(HopeNode) * t.nnodes);
		t.start = place(&size, 4 * (n + 1));
		t.bytes = place(&size, (size_t) shape->pool + SFX_HOPE_MAXSYM);
	}
	t.size = size;
	if (h)
		*h = t;
	return size;
}

/* ---- symbols of intervals ---- */

/*
 * Length of what all strings of the interval from a up to b (exclusive; blen 0: no end) share.  The
 * largest of them is b without its last byte if that is 0; otherwise b with that byte less one, and
 * 0xFF without end.
 */
static uint32_t
symbol_length(const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	uint32_t	i = 0;

	if (blen > 0)
	{
		uint32_t	last = blen - 1;

		while (i < alen && i < last && a[i] == b[i])
			i++;
		if (i < last || b[last] == 0 || i == alen || a[i] != b[last] - 1)
			return i;
		i++;
	}
	while (i < alen && a[i] == 0xFF)
		i++;
	return i;
}

const uint8_t *
sfx_hope_symbol(const SfxHope *h, uint32_t interval, uint8_t buf[SFX_HOPE_MAXSYM])
{
	if (hope_is_alm(h->shape.scheme))
		return HOPE_CTABLE(h, uint8_t, bytes) + HOPE_CTABLE(h, uint32_t, start)[interval];
	if (h->shape.scheme == SFX_HOPE_SINGLE)
		buf[0] = (uint8_t) (interval - 1);
	else if (h->shape.scheme == SFX_HOPE_DOUBLE)
	{
		buf[0] = (uint8_t) ((interval - 1) / 257);
		buf[1] = (uint8_t) ((interval - 1) % 257 - 1);
	}
	else
		sfx_store_be64(buf, HOPE_CTABLE(h, uint64_t, head)[interval]);
	return buf;
}

static inline uint32_t
code_word(uint32_t symlen)
{
	return (symlen - 1) << 5;
}

/* ---- filling the tables ---- */

/* pair[q] is the first of the root's entries [0, nroot) that is not before the two bytes q. */
static void
fill_pairs(SfxHope *h, uint32_t nroot)
{
	uint32_t   *pair = HOPE_TABLE(h, uint32_t, pair);
	const uint64_t *head = HOPE_CTABLE(h, uint64_t, head);
	uint32_t	q = 0;

	for (uint32_t e = 0; e < nroot; e++)
	{
		/* a single byte comes before all pairs that start with it */
		uint64_t	to = (head[e] >> 48) + ((head[e] & 0xFF) >= 2);

		while (q < to)
			pair[q++] = e;
	}
	while (q <= 65536)
		pair[q++] = nroot;
}

/*
 * Fill the entries of node k for the intervals [first, last], whose starts share depth strides.
 * Returns the next free entry.
 */
static uint32_t
fill_node(SfxHope *h, uint32_t first, uint32_t last, uint32_t depth, uint32_t e, uint32_t *nnodes)
{
	const uint32_t *start = HOPE_CTABLE(h, uint32_t, start);
	const uint8_t *bytes = HOPE_CTABLE(h, uint8_t, bytes);
	uint64_t   *head = HOPE_TABLE(h, uint64_t, head);
	HopeEntry  *entry = HOPE_TABLE(h, HopeEntry, entry);
	HopeNode   *node = HOPE_TABLE(h, HopeNode, node);
	uint32_t	lo = e;

	for (uint32_t i = first; i <= last; i++)
	{
		uint32_t	at = start[i] + HOPE_STRIDE * depth;
		uint64_t	x = hope_head(bytes + at, start[i + 1] - at);

		if (e > lo && head[e - 1] == x)
		{
			/* the second interval of an entry */
			if (entry[e - 1].node == 0)
			{
				node[*nnodes] = (HopeNode) {0, e - 1, i - 2, depth + 1};
				entry[e - 1].node = (*nnodes)++;
			}
			entry[e - 1].last = i;
			continue;
		}
		head[e] = x;
		entry[e++] = (HopeEntry) {i, 0};
	}
	return e;
}

/* Fill nodes level by level; a node that is not filled yet keeps its entry's number in hi. */
static void
fill_nodes(SfxHope *h)
{
	HopeNode   *node = HOPE_TABLE(h, HopeNode, node);
	uint32_t	nnodes = 1,
				e = fill_node(h, 0, h->shape.nintervals - 1, 0, 0, &nnodes);

	fill_pairs(h, e);
	for (uint32_t k = 1; k < nnodes; k++)
	{
		uint32_t	last = HOPE_CTABLE(h, HopeEntry, entry)[node[k].hi].last;

		node[k].lo = e;
		e = fill_node(h, node[k].before + 1, last, node[k].depth, e, &nnodes);
		node[k].hi = e;
	}
}

/* Fill start and symbol length of each interval. */
static void
fill_intervals(SfxHope *h, HopeSymbols s)
{
	bool		alm = hope_is_alm(h->shape.scheme);
	uint32_t   *code = HOPE_TABLE(h, uint32_t, code);
	HopeWalk	w;
	uint8_t		prev[SFX_HOPE_MAXSYM];
	uint32_t	prevlen = 0,
				i = 0,
				used = 0;

	code[HOPE_END] = code_word(1);
	if (alm)
		HOPE_TABLE(h, uint32_t, start)[0] = 0;
	else
		HOPE_TABLE(h, uint64_t, head)[0] = 0;
	sfx_hope_walk_start(&w, h->shape.scheme, s);
	while (sfx_hope_walk_next(&w))
	{
		if (i > 0)
			code[i] = code_word(symbol_length(prev, prevlen, w.start, w.startlen));
		i++;
		if (w.startlen == 1)
			HOPE_TABLE(h, uint32_t, lone)[w.start[0]] = i;
		if (alm)
		{
			HOPE_TABLE(h, uint32_t, start)[i] = used;
			memcpy(HOPE_TABLE(h, uint8_t, bytes) + used, w.start, w.startlen);
			used += w.startlen;
		}
		else
			HOPE_TABLE(h, uint64_t, head)[i] = hope_head(w.start, w.startlen);
		memcpy(prev, w.start, w.startlen);
		prevlen = w.startlen;
	}
	code[i] = code_word(symbol_length(prev, prevlen, NULL, 0));
	if (alm)
	{
		HOPE_TABLE(h, uint32_t, start)[i + 1] = used;
		memset(HOPE_TABLE(h, uint8_t, bytes) + used, 0, SFX_HOPE_MAXSYM);
	}
}

void
sfx_hope_fill(SfxHope *h, HopeSymbols s)
{
	uint32_t   *code = HOPE_TABLE(h, uint32_t, code);
	SfxHopeScheme scheme = h->shape.scheme;

	if (scheme >= SFX_HOPE_GRAM3)
	{
		fill_intervals(h, s);
		if (hope_is_alm(scheme))
			fill_nodes(h);
		else
			fill_pairs(h, h->shape.nintervals);
		return;
	}
	code[HOPE_END] = code_word(1);
	for (uint32_t i = 1; i < h->shape.nintervals; i++)
		code[i] = code_word(scheme == SFX_HOPE_SINGLE || (i - 1) % 257 == 0 ? 1 : 2);
}

/* ---- lookup below the root ---- */

uint32_t
sfx_hope_find_below(const SfxHope *h, uint32_t e, const uint8_t *p, size_t n)
{
	const uint64_t *head = HOPE_CTABLE(h, uint64_t, head);
	const HopeEntry *entry = HOPE_CTABLE(h, HopeEntry, entry);
	const uint32_t *start = HOPE_CTABLE(h, uint32_t, start);
	uint32_t	depth = 1;

	while (entry[e].node != 0)
	{
		const HopeNode *node = HOPE_CTABLE(h, HopeNode, node) + entry[e].node;
		uint64_t	x = hope_head(p, n);
		uint32_t	count = hope_count_le(head + node->lo, node->hi - node->lo, x);

		if (count == 0)
			return node->before;
		e = node->lo + count - 1;
		if (head[e] != x || (x & 0xFF) != HOPE_MORE)
			return entry[e].last;
		p += HOPE_STRIDE;
		n -= HOPE_STRIDE;
		depth++;
	}

	/* one interval: is the string before its start? */
	{
		uint32_t	i = entry[e].last,
					at = start[i] + HOPE_STRIDE * depth;

		return sfx_cmp_bytes(HOPE_CTABLE(h, uint8_t, bytes) + at, start[i + 1] - at, p, n) <= 0 ? i : i - 1;
	}
}
