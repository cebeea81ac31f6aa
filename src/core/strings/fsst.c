/*-------------------------------------------------------------------------
 * fsst.c - coding by a table of symbols: opening, encoding, decoding, comparing (layout: fsst.h)
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

#define HEADER	5

size_t
sfx_fsst_size(uint32_t leads)
{
	return sizeof(Fsst) + 256 * (size_t) (leads + 2) * (sizeof(FsstSlot) + sizeof(uint16_t));
}

/* ---- tables ---- */

/* Make a symbol of two or more bytes known to the encoder. */
static void
list_slot(Fsst *f, uint32_t slot)
{
	const FsstSlot *s = &f->slot[slot];
	uint16_t   *next = (uint16_t *) (f->slot + f->nslots);
	uint32_t   *table = s->len == 2 ? f->two : f->more;
	uint32_t	hash = fsst_hash(sfx_load64(s->byte), s->len == 2 ? 2 : 3),
			   *at = &table[fsst_place(table, hash)],
				first = *at & (FSST_HASH - 1),
				i;

	if (first != 0 && f->slot[first].len >= s->len)
	{
		for (i = first; next[i] != 0 && f->slot[next[i]].len >= s->len; i = next[i])
			;
		next[slot] = next[i];
		next[i] = (uint16_t) slot;
		return;
	}
	next[slot] = (uint16_t) first;
	*at = hash << FSST_HASH_BITS | slot;
}

void
sfx_fsst_fill(Fsst *f, uint32_t leads, const FsstSlot *symbols, uint32_t n)
{
	uint32_t	ones = FSST_ONES(leads),
				escape = 256 * (leads + 1);

	memset(f, 0, sfx_fsst_size(leads));
	f->shape.scheme = SFX_FSST;
	f->shape.nintervals = n;
	f->ones = ones;
	f->nslots = escape + 256;
	for (uint32_t b = 0; b < 256; b++)
	{
		f->slot[escape + b].byte[0] = (uint8_t) b;
		f->slot[escape + b].len = 1;
		f->one[b] = (uint16_t) (escape + b);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	slot = i < ones ? i + 1 : 256 + i - ones;

		f->slot[slot] = symbols[i];
		if (symbols[i].len == 1)
			f->one[symbols[i].byte[0]] = (uint16_t) slot;
		else
			list_slot(f, slot);
	}
}

/* Read leads and symbols from the header.  SFX_OK or SFX_CORRUPT. */
static int
read_header(const uint8_t *dict, size_t len, uint32_t *leads, uint32_t *n)
{
	if (len < HEADER || dict[0] != HOPE_MAGIC || dict[1] != SFX_FSST)
		return SFX_CORRUPT;
	*leads = dict[2];
	*n = dict[3] | (uint32_t) dict[4] << 8;
	return *leads <= FSST_LEADS && *n <= FSST_SYMBOLS && *n <= FSST_ONES(*leads) + 256 * *leads ? SFX_OK : SFX_CORRUPT;
}

size_t
sfx_fsst_state_size(const uint8_t *dict, size_t len)
{
	uint32_t	leads,
				n;

	return read_header(dict, len, &leads, &n) == SFX_OK ? sfx_fsst_size(leads) : 0;
}

int
sfx_fsst_open(Fsst *f, size_t size, const uint8_t *dict, size_t len)
{
	FsstSlot	symbol[FSST_SYMBOLS];
	FsstSlot	s = {{0}, 0};
	const uint8_t *p = dict + HEADER;
	uint32_t	leads,
				n;

	if (read_header(dict, len, &leads, &n) < 0)
		return SFX_CORRUPT;
	if (size < sfx_fsst_size(leads))
		return SFX_NOMEM;
	for (uint32_t i = 0; i < n; i++)
	{
		unsigned	shared,
					rest;

		if (p == dict + len)
			return SFX_CORRUPT;
		shared = *p >> 4;
		rest = *p++ & 15;
		if (shared > s.len || rest == 0 || shared + rest > FSST_MAXSYM || rest > dict + len - p)
			return SFX_CORRUPT;
		memcpy(s.byte + shared, p, rest);
		s.len = (uint8_t) (shared + rest);
		memset(s.byte + s.len, 0, FSST_MAXSYM - s.len);
		symbol[i] = s;
		p += rest;
	}
	if (p != dict + len)
		return SFX_CORRUPT;
	sfx_fsst_fill(f, leads, symbol, n);
	return SFX_OK;
}

/* ---- codes ---- */

/* The symbol of the code at *i, which moves after it; in[len) and beyond count as 0. */
static inline const FsstSlot *
next_symbol(const Fsst *f, const uint8_t *in, size_t len, size_t *i)
{
	uint32_t	lead = in[(*i)++],
				byte;

	if (lead <= f->ones)
		return &f->slot[lead];
	byte = *i < len ? in[(*i)++] : 0;
	return &f->slot[256 * (lead - f->ones) + byte];
}

/* ---- encoding ---- */

uint32_t
sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, uint16_t *pick)
{
	uint16_t	cost[FSST_CHUNK + 16];	/* bytes of the code from there on */
	const uint16_t *next = fsst_next(f);
	uint64_t	x = 0,			/* the next 16 bytes */
				y = 0;

	for (uint32_t i = 1; i < 16; i++)
		cost[n + i] = 4 * FSST_CHUNK;	/* a symbol that ends there is too long */
	cost[n] = 0;
	for (uint32_t i = n; i-- > 0;)
	{
		uint32_t	best = f->one[p[i]],
					least = cost[i + 1] + 1u + (best >= 256),
					s;

		y = y << 8 | x >> 56;
		x = x << 8 | p[i];
		s = fsst_first(f->two, x, 2);
		if (s != 0 && cost[i + 2] + 1u + (s >= 256) <= least)
		{
			best = s;
			least = cost[i + 2] + 1u + (s >= 256);
		}
		/* of two ways with the same cost, the one with the longer symbol is read faster */
		for (s = fsst_first(f->more, x, 3); s != 0; s = next[s])
		{
			uint32_t	len = f->slot[s].len,
						c = cost[i + len] + 1u + (s >= 256);

			if (c < least + (len > f->slot[best].len) && fsst_begins(&f->slot[s], x, y))
			{
				best = s;
				least = c;
			}
		}
		cost[i] = (uint16_t) least;
		pick[i] = (uint16_t) best;
	}
	return cost[0];
}

int
sfx_fsst_encode(const Fsst *f, const uint8_t *key, size_t len, uint8_t *out, size_t cap)
{
	uint16_t	pick[FSST_CHUNK];
	uint8_t    *o = out;

	for (size_t done = 0; done < len; done += FSST_CHUNK)
	{
		uint32_t	n = len - done < FSST_CHUNK ? (uint32_t) (len - done) : FSST_CHUNK;

		if (sfx_fsst_parse(f, key + done, n, pick) > cap - (size_t) (o - out))
			return SFX_NOSPACE;
		for (uint32_t i = 0; i < n; i += f->slot[pick[i]].len)
		{
			if (pick[i] >= 256)
				*o++ = (uint8_t) (f->ones + (pick[i] >> 8));
			*o++ = (uint8_t) pick[i];
		}
	}
	return (int) (o - out);
}

int
sfx_fsst_encode_again(const Fsst *f, const uint8_t *key, size_t len, const uint8_t *code, size_t codelen, int shift,
					  uint8_t *out, size_t cap)
{
	ptrdiff_t	at = shift;		/* in what is left of the code */
	size_t		i = 0;
	int			n;

	while (at < 0 && i < codelen)
		at += next_symbol(f, code, codelen, &i)->len;
	if (at < 0 || 2 * (size_t) at > len)
		return sfx_fsst_encode(f, key, len, out, cap);
	n = sfx_fsst_encode(f, key, (size_t) at, out, cap);
	if (n < 0 || codelen - i > cap - (size_t) n)
		return SFX_NOSPACE;
	memcpy(out + n, code + i, codelen - i);
	return n + (int) (codelen - i);
}

/* ---- decoding ---- */

int
sfx_fsst_decode(const Fsst *f, const uint8_t *in, size_t len, size_t readable, uint8_t *out, size_t cap)
{
	size_t		n = 0;

	if (len < cap / FSST_ROOM)
		return (int) (fsst_decode_short(f, in, len, readable, out) - out);
	for (size_t i = 0; i < len;)
	{
		const FsstSlot *s = next_symbol(f, in, len, &i);

		if (s->len > cap - n)
			return SFX_NOSPACE;
		memcpy(out + n, s->byte, s->len);
		n += s->len;
	}
	return (int) n;
}

int
sfx_fsst_compare(const Fsst *f, const uint8_t *in, size_t len, const uint8_t *t, size_t tlen, size_t at,
				 size_t *lcp, int *side)
{
	for (size_t i = 0; i < len;)
	{
		const FsstSlot *s = next_symbol(f, in, len, &i);
		uint32_t	same = sfx_lcp(s->byte, s->len, t + at, (uint32_t) (tlen - at));

		at += same;
		if (same < s->len)
		{
			*lcp = at;
			*side = at == tlen ? 1 : (int) s->byte[same] - (int) t[at];
			return SFX_OK;
		}
	}
	*lcp = at;
	*side = 0;
	return SFX_OK;
}
