/*-------------------------------------------------------------------------
 * fsst.c - coding by a table of symbols: opening, encoding, decoding, comparing (layout: fsst.h)
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

#define HEADER	5

/* Twice as many cells as symbols, and more. */
static uint32_t
cell_bits(uint32_t leads)
{
	uint32_t	bits = 9;

	while (1u << bits < 512 * (leads + 1))
		bits++;
	return bits;
}

size_t
sfx_fsst_size(uint32_t leads)
{
	return sizeof(Fsst) + 256 * (size_t) (leads + 2) * (sizeof(FsstSlot) + sizeof(uint16_t)) +
		sizeof(uint64_t) * ((size_t) 1 << cell_bits(leads));
}

/* ---- tables ---- */

/* A table without symbols. */
static void
clear_table(Fsst *f, uint32_t leads, uint32_t n)
{
	uint32_t	escape = 256 * (leads + 1);

	memset(f, 0, sizeof(Fsst) + sizeof(FsstSlot) * (escape + 256));
	f->shape.scheme = SFX_FSST;
	f->shape.nintervals = n;
	f->ones = FSST_ONES(leads);
	f->nslots = escape + 256;
	f->cell_bits = cell_bits(leads);
	for (uint32_t b = 0; b < 256; b++)
	{
		f->slot[escape + b].byte[0] = (uint8_t) b;
		f->slot[escape + b].len = 1;
		f->one[b] = (uint16_t) (escape + b);
	}
}

static inline void
set_slot(Fsst *f, uint32_t i, const FsstSlot *s)
{
	uint32_t	slot = i < f->ones ? i + 1 : 256 + i - f->ones;

	f->slot[slot] = *s;
	if (s->len == 1)
		f->one[s->byte[0]] = (uint16_t) slot;
}

void
sfx_fsst_fill(Fsst *f, uint32_t leads, const FsstSlot *symbols, uint32_t n)
{
	clear_table(f, leads, n);
	for (uint32_t i = 0; i < n; i++)
		set_slot(f, i, &symbols[i]);
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
	FsstSlot	s = {{0}, 0};
	const uint8_t *p = dict + HEADER;
	uint32_t	leads,
				n;

	if (read_header(dict, len, &leads, &n) < 0)
		return SFX_CORRUPT;
	if (size < sfx_fsst_size(leads))
		return SFX_NOMEM;
	clear_table(f, leads, n);
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
		set_slot(f, i, &s);
		p += rest;
	}
	return p == dict + len ? SFX_OK : SFX_CORRUPT;
}

/* ---- codes ---- */

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

/* ---- encoding ---- */

int
sfx_fsst_encode(const Fsst *f, const uint8_t *key, size_t len, uint8_t *out, size_t cap)
{
	FsstWays	w;
	size_t		used = 0;

	sfx_fsst_prepare(f);
	for (size_t done = 0; done < len; done += FSST_CHUNK)
	{
		uint32_t	n = len - done < FSST_CHUNK ? (uint32_t) (len - done) : FSST_CHUNK,
					bytes = sfx_fsst_parse(f, key + done, n, &w);
		uint8_t    *o;

		if (bytes > cap - used)
			return SFX_NOSPACE;
		used += bytes;
		o = out + used;
		for (uint32_t i = n; i > 0; i -= fsst_way_len(w.last[i]))
		{
			uint32_t	s = fsst_way_slot(w.last[i]);

			*--o = (uint8_t) s;
			if (s >= 256)
				*--o = (uint8_t) (f->ones + (s >> 8));
		}
	}
	return (int) used;
}

int
sfx_fsst_encode_again(const Fsst *f, const uint8_t *key, size_t len, const uint8_t *code, size_t codelen, int shift,
					  uint8_t *out, size_t cap)
{
	ptrdiff_t	at = shift;		/* of what is left of the code */
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
