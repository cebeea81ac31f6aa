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

/* Put the slot into the list at head, behind those of longer symbols. */
static void
list_slot(Fsst *f, uint16_t *head, uint32_t slot)
{
	uint16_t   *next = (uint16_t *) (f->slot + f->nslots);

	while (*head != 0 && f->slot[*head].len > f->slot[slot].len)
		head = &next[*head];
	next[slot] = *head;
	*head = (uint16_t) slot;
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
		uint64_t	x = sfx_load64(symbols[i].byte);

		f->slot[slot] = symbols[i];
		if (symbols[i].len == 1)
			f->one[symbols[i].byte[0]] = (uint16_t) slot;
		else
			list_slot(f, symbols[i].len == 2 ? &f->two[fsst_hash_two(x)] : &f->more[fsst_hash_more(x)], slot);
	}
}

/* Leads and symbols, by the header.  SFX_OK or SFX_CORRUPT. */
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

/* ---- encoding ---- */

uint32_t
sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, uint16_t *pick)
{
	uint8_t		text[FSST_CHUNK + 16];
	uint16_t	cost[FSST_CHUNK + 1];	/* of what begins there */
	const uint16_t *next = fsst_next(f);

	memcpy(text, p, n);
	memset(text + n, 0, 16);
	cost[n] = 0;
	for (uint32_t i = n; i-- > 0;)
	{
		uint64_t	x = sfx_load64(text + i),
					y = sfx_load64(text + i + 8);
		uint32_t	left = n - i,
					best = f->one[x & 0xFF],
					least = cost[i + 1] + 1u + (best >= 256);

		for (uint32_t s = left > 1 ? f->two[fsst_hash_two(x)] : 0; s != 0; s = next[s])
		{
			uint32_t	c = cost[i + 2] + 1u + (s >= 256);

			if (c <= least && fsst_begins(&f->slot[s], x, y))
				least = c, best = s;
		}
		for (uint32_t s = left > 2 ? f->more[fsst_hash_more(x)] : 0; s != 0; s = next[s])
		{
			uint32_t	len = f->slot[s].len,
						c;

			if (len > left)
				continue;
			c = cost[i + len] + 1u + (s >= 256);
			/* of two ways that cost the same the one with longer symbols first is read faster */
			if (c < least + (len > f->slot[best].len) && fsst_begins(&f->slot[s], x, y))
				least = c, best = s;
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

/* ---- decoding ---- */

/* The symbol of the code at *i, and past it; in[len) and beyond count as 0. */
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
