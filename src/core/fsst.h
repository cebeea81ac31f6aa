/*-------------------------------------------------------------------------
 * fsst.h - a table of up to 255 symbols of one to eight bytes: a code for rests that is a byte per symbol
 *
 * FSST (Boncz, Neumann, Leis, VLDB 2020) beside HOPE's schemes (hope.h), behind the same calls: sfx_hope_build, sfx_hope_open, sfx_hope_encode,
 * sfx_hope_decode, sfx_hope_compare lead here where the scheme is SFX_FSST.  Its codes do not compare as the strings do, so it is for rests only,
 * which are compared with what they decode to.
 *
 * The code of a symbol is its number; FSST_ESCAPE stands before a byte that is no symbol.  Any string of bytes without unknown codes that does
 * not end in FSST_ESCAPE is the code of something.
 *
 * Table bytes: HOPE_MAGIC, SFX_FSST, number of symbols (1 byte); the length of each; the bytes of each.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FSST_H
#define SFX_FSST_H

#include "hope_format.h"

#define FSST_ESCAPE		255
#define FSST_SYMBOLS	255		/* at most */
#define FSST_MAXSYM		8

/* An open table.  Its first member is where a dictionary of HOPE has its own, so that either can be told from the other. */
typedef struct Fsst
{
	HopeShape	shape;			/* the scheme, and nothing else */
	uint32_t	nsymbols;
	uint64_t	word[256];		/* the bytes of a symbol, little-endian, zeros behind them */
	uint8_t		len[256];		/* 0: no symbol, or FSST_ESCAPE */
	/* for encoding */
	uint8_t		first[257];		/* symbols that begin with byte b: list[first[b]..first[b + 1]), long ones first */
	uint8_t		list[FSST_SYMBOLS];
} Fsst;

static inline bool
hope_is_fsst(const SfxHope *h)
{
	return ((const HopeShape *) h)->scheme == SFX_FSST;
}

/* Bytes of scratch memory that sfx_fsst_build needs, 8-byte aligned. */
extern size_t sfx_fsst_build_size(void);

/* Make a table from a sample (128 KB of it, if it has more).  Its length, or SFX_NOSPACE, SFX_NOMEM.  Deterministic. */
extern int sfx_fsst_build(const SfxHopeKey *keys, uint32_t nkeys, void *scratch, size_t size, uint8_t *dict, size_t cap);

/* Open a table; f has sizeof(Fsst) bytes.  SFX_OK or SFX_CORRUPT. */
extern int sfx_fsst_open(Fsst *f, const uint8_t *dict, size_t len);

/* As sfx_hope_encode, sfx_hope_decode and sfx_hope_compare. */
extern int sfx_fsst_encode(const Fsst *f, const uint8_t *key, size_t len, uint8_t *out, size_t cap);
extern int sfx_fsst_decode(const Fsst *f, const uint8_t *in, size_t len, uint8_t *out, size_t cap);
extern int sfx_fsst_compare(const Fsst *f, const uint8_t *in, size_t len, const uint8_t *t, size_t tlen, size_t at,
							size_t *lcp, int *side);

/* The longest symbol that begins x, of which n bytes (1..8) are there, zeros behind them; FSST_ESCAPE if there is none. */
static inline unsigned
fsst_longest(const Fsst *f, uint64_t x, size_t n)
{
	for (unsigned i = f->first[x & 0xFF]; i < f->first[(x & 0xFF) + 1]; i++)
	{
		unsigned	s = f->list[i];

		if (f->len[s] <= n && ((x ^ f->word[s]) & sfx_mask(8 * f->len[s])) == 0)
			return s;
	}
	return FSST_ESCAPE;
}

/*
 * Decode a short string to out, where FSST_MAXSYM bytes for each of its own are free.  The new end, or NULL.
 */
static inline uint8_t *
fsst_decode_short(const Fsst *f, const uint8_t *in, size_t len, uint8_t *out)
{
	for (size_t i = 0; i < len; i++)
	{
		uint8_t		c = in[i];

		if (f->len[c] == 0)
		{
			if (c != FSST_ESCAPE || ++i == len)
				return NULL;
			*out++ = in[i];
			continue;
		}
		sfx_store64(out, f->word[c]);
		out += f->len[c];
	}
	return out;
}

#endif							/* SFX_FSST_H */
