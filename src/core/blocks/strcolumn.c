/*-------------------------------------------------------------------------
 * strcolumn.c - cut keys with a column of shared lengths: search and decoding (format in
 * strcolumn.h)
 *-------------------------------------------------------------------------
 */
#include "strcolumn.h"

#include "bits.h"

/* Take the symbols from the bitmap of n bytes at p, whose first bit stands for the byte least. */
static bool
open_symbols(const uint8_t *p, uint32_t n, uint32_t least, SfxSymbols *s)
{
	uint32_t	k = 0;

	for (uint32_t at = 0; at < n; at += 8)
	{
		uint64_t	word = sfx_load_bytes(p + at, n - at < 8 ? n - at : 8);

		if (k + (uint32_t) __builtin_popcountll(word) > SFX_SYMBOLS)
			return false;
		for (; word != 0; word &= word - 1)
			s->symbol[k++] = (uint8_t) (least + 8 * at + (uint32_t) __builtin_ctzll(word));
	}
	/* numbers without a symbol stand for zero bytes */
	memset(s->symbol + k, 0, SFX_SYMBOLS - k);
	return true;
}

int
sfx_strcol_open(SfxStrCol *c, const uint8_t *in, size_t len, int n)
{
	const uint8_t *p = in + SFX_COLUMN_HEAD;
	size_t		need;

	if (len < SFX_COLUMN_HEAD || n < 1 || n > SFX_BLOCK_KEYS || in[0] != SFX_STR_COLUMN)
		return SFX_CORRUPT;
	c->n = n;
	c->bits = in[1] & 15;
	c->symbols.bits = in[1] >> 4;
	c->least = in[2];
	c->nover = in[3];
	c->nlonger = in[4];
	c->nsymbols = sfx_get16(in + 5);
	c->end = in + len;
	if (c->bits > 6 || c->least >= SFX_COLUMN_SHARED || c->nsymbols > SFX_COLUMN_SYMBOLS ||
		c->symbols.bits == 0 || c->symbols.bits == 7 || c->symbols.bits > 8)
		return SFX_CORRUPT;
	if (c->symbols.bits < 8)
	{
		if (c->end - p < 2 || p[1] > 32 || p[1] > c->end - p - 2 ||
			!open_symbols(p + 2, p[1], p[0], &c->symbols))
			return SFX_CORRUPT;
		p += 2 + p[1];
	}
	need = sfx_bits_bytes((size_t) n - 1, c->bits) + 2 * (size_t) c->nover +
		3 * (size_t) c->nlonger + sfx_bits_bytes(c->nsymbols, c->symbols.bits);
	if (need > (size_t) (c->end - p))
		return SFX_CORRUPT;
	c->shared = p;
	c->over = p + sfx_bits_bytes((size_t) n - 1, c->bits);
	c->longer = c->over + 2 * c->nover;
	c->rests = c->longer + 3 * c->nlonger;
	c->end = p + need;
	return SFX_OK;
}

/* What each key shares with the previous one: [0] and [n] are 0. */
typedef struct Shared
{
	uint8_t		len[SFX_BLOCK_KEYS + SFX_COLUMN_SLACK];
} Shared;

/*
 * Unpack all shared lengths: numbers are looked up in a table of the least length and those above
 * it, then the greater ones are corrected.  False: a correction is out of range.
 */
static bool
unpack_shared(const SfxStrCol *c, Shared *s)
{
	SfxSymbols	numbers;
	uint8_t    *v = s->len + 1;

	s->len[0] = 0;
	if (c->bits == 0)
		memset(v, (int) c->least, (size_t) c->n - 1);
	else
	{
		/* (no byte overflows into the next one: the least length is small enough) */
		numbers.bits = c->bits;
		for (unsigned i = 0; i < SFX_SYMBOLS; i += 8)
			sfx_store64(numbers.symbol + i, UINT64_C(0x0706050403020100) +
						(c->least + i) * UINT64_C(0x0101010101010101));
		sfx_kernels->symbols(&numbers, c->shared, (size_t) (c->end - c->shared),
							 (uint32_t) c->n - 1, v);
	}
	for (int i = 0; i < c->nover; i++)
	{
		const uint8_t *p = c->over + 2 * i;

		if (p[0] >= c->n || s->len[p[0]] + p[1] > UINT8_MAX)
			return false;
		s->len[p[0]] = (uint8_t) (s->len[p[0]] + p[1]);
	}
	s->len[0] = 0;
	memset(s->len + c->n, 0, SFX_COLUMN_SLACK);
	return true;
}

/* Length of key i's rest, if it is as long as the rule says. */
static inline uint32_t
rule_rest(const uint8_t *shared, int i)
{
	return 1 + (shared[i + 1] > shared[i] ? (uint32_t) (shared[i + 1] - shared[i]) : 0);
}

/* Number of the i'th key that is longer than the rule says; longer_by: by how much. */
static inline int
longer_key(const SfxStrCol *c, int i)
{
	return i < c->nlonger ? c->longer[3 * i] : SFX_BLOCK_KEYS;
}

static inline uint32_t
longer_by(const SfxStrCol *c, int i)
{
	return sfx_get16(c->longer + 3 * i + 1);
}

/* ---- search ---- */

/* Position of a search: key i; the rests of the keys before it have at symbols. */
typedef struct Walk
{
	const SfxStrCol *c;
	const uint8_t *shared;
	int			i;
	int			nlonger;		/* longer keys before i */
	uint32_t	at;
} Walk;

/*
 * Move to the next key that shares at most `most` bytes with the previous one; to n if there is
 * none.
 */
static void
walk_on(Walk *w, unsigned most)
{
	int			next = sfx_kernels->next_low(w->shared, w->i + 1, most);

	w->at += (uint32_t) (next - w->i) + sfx_kernels->rises(w->shared, w->i, next);
	for (; longer_key(w->c, w->nlonger) < next; w->nlonger++)
		w->at += longer_by(w->c, w->nlonger);
	w->i = next;
}

/* Number of symbols of key i's rest. */
static inline uint32_t
walk_rest(const Walk *w)
{
	return rule_rest(w->shared, w->i) +
		(longer_key(w->c, w->nlonger) == w->i ? longer_by(w->c, w->nlonger) : 0);
}

/*
 * Number of symbols, from number at on, that agree with t, at most n; t has n bytes at least.
 * *differs: the symbol that does not.
 */
static uint32_t
agree(const SfxStrCol *c, uint32_t at, const uint8_t *t, uint32_t n, uint8_t *differs)
{
	unsigned	bits = c->symbols.bits;
	uint64_t	mask = sfx_mask(bits);
	uint32_t	i = 0;

	if (bits == 8)
	{
		for (const uint8_t *p = c->rests + at; i < n; i++)
			if (p[i] != t[i])
			{
				*differs = p[i];
				break;
			}
		return i;
	}
	while (i < n)
	{
		size_t		bit = (size_t) (at + i) * bits;
		const uint8_t *p = c->rests + bit / 8;
		uint64_t	word = sfx_load64_avail(p, (size_t) (c->end - p)) >> bit % 8;

		/* (a word has nine symbols at least) */
		for (int j = 0; j < 9 && i < n; j++, i++, word >>= bits)
			if (c->symbols.symbol[word & mask] != t[i])
			{
				*differs = c->symbols.symbol[word & mask];
				return i;
			}
	}
	return n;
}

int
sfx_strcol_search(const SfxStrCol *c, const uint8_t *t, uint32_t tlen, SfxStrPlace *place)
{
	Shared		s;
	Walk		w = {c, s.len, 0, 0, 0};
	uint32_t	m = 0;			/* the key before and t agree in so many bytes */

	place->equal = place->begins = false;
	if (!unpack_shared(c, &s))
		return SFX_CORRUPT;
	/* a key that shares more than m bytes with the previous one compares with t as that one does */
	do
	{
		uint32_t	rest = walk_rest(&w);
		uint32_t	left = tlen - m;
		uint32_t	n = rest < left ? rest : left;
		uint32_t	same;
		uint8_t		differs = 0;

		if (w.at > c->nsymbols || rest > c->nsymbols - w.at)
			return SFX_CORRUPT;
		same = agree(c, w.at, t + m, n, &differs);
		if (same == n ? n < rest || rest == left : differs > t[m + same])
		{
			place->equal = same == n && rest == left;
			return w.i;
		}
		m += same;
		/* (a key that begins with this one shares all of it, no more, and that is not stored) */
		if (same == n)
		{
			place->begins = true;
			place->len = m;
			return w.i + 1;
		}
		walk_on(&w, m);
	} while (w.i < c->n && s.len[w.i] == m);
	return w.i;
}

/* ---- decoding ---- */

/*
 * Number of symbols of the rests of all keys before key i; more than there are, if the bytes are
 * broken.
 */
static uint32_t
symbols_before(const SfxStrCol *c, const uint8_t *shared, int i)
{
	uint32_t	at = (uint32_t) i + sfx_kernels->rises(shared, 0, i);

	for (int j = 0; longer_key(c, j) < i; j++)
		at += longer_by(c, j);
	return at;
}

/* Decoded symbols, from number from on. */
typedef struct Rests
{
	uint32_t	from;
	uint8_t		byte[SFX_COLUMN_SYMBOLS + SFX_COLUMN_SLACK];
} Rests;

/* Decode symbols [from, to). */
static void
unpack_rests(const SfxStrCol *c, uint32_t from, uint32_t to, Rests *r)
{
	const uint8_t *p;

	/* eight symbols take whole bytes */
	r->from = from / 8 * 8;
	p = c->rests + (size_t) r->from * c->symbols.bits / 8;
	if (c->symbols.bits == 8)
		memcpy(r->byte, p, to - r->from);
	else
		sfx_kernels->symbols(&c->symbols, p, (size_t) (c->end - p), to - r->from, r->byte);
}

/*
 * Write to out what key i shares with the previous one: each byte is in the rest of the last key
 * before it that has that position in its rest.  at: number of symbols before key i.
 */
static bool
put_shared(const SfxStrCol *c, const uint8_t *shared, int i, uint32_t at, uint8_t *out)
{
	uint32_t	need = shared[i];
	int			l = 0;
	Rests		r;

	while (longer_key(c, l) < i)
		l++;
	while (need > 0 && --i >= 0)
	{
		uint32_t	rest = rule_rest(shared, i);

		if (l > 0 && longer_key(c, l - 1) == i)
			rest += longer_by(c, --l);
		if (rest > at)
			return false;
		at -= rest;
		if (shared[i] >= need)
			continue;
		/*
		 * (this key's successor, and so all after it up to key i, share need bytes with this key)
		 */
		if (rest < need - shared[i])
			return false;
		unpack_rests(c, at, at + need - shared[i], &r);
		memcpy(out + shared[i], r.byte + (at - r.from), need - shared[i]);
		need = shared[i];
	}
	return need == 0;
}

int
sfx_strcol_decode(const SfxStrCol *c, int from, int to, uint32_t prelen, uint8_t *out,
				  uint32_t cap, uint32_t *off)
{
	Shared		s;
	Rests		rests;
	uint32_t	at,
				end,
				done = 0;
	const uint8_t *prev = out;
	int			l = 0;

	if (!unpack_shared(c, &s))
		return SFX_CORRUPT;
	at = symbols_before(c, s.len, from);
	end = to == c->n ? c->nsymbols : symbols_before(c, s.len, to);
	if (at > end || end > c->nsymbols || prelen + s.len[from] > SFX_MAX_ENTRY ||
		prelen + s.len[from] > cap || !put_shared(c, s.len, from, at, out + prelen))
		return SFX_CORRUPT;
	while (longer_key(c, l) < from)
		l++;
	unpack_rests(c, at, end, &rests);
	for (int i = from; i < to; i++)
	{
		uint32_t	rest = rule_rest(s.len, i);
		uint32_t	head = prelen + s.len[i];
		uint8_t    *dst = out + done;

		if (longer_key(c, l) == i)
			rest += longer_by(c, l++);
		if (rest > end - at || head + rest > SFX_MAX_ENTRY ||
			head + rest + 16 > cap - done)
			return SFX_CORRUPT;
		if (dst != prev)
			sfx_copy16(dst, prev, head);
		sfx_copy16(dst + head, rests.byte + (at - rests.from), rest);
		off[i - from] = done;
		at += rest;
		done += head + rest;
		prev = dst;
	}
	off[to - from] = done;
	return SFX_OK;
}
