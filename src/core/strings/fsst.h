/*-------------------------------------------------------------------------
 * fsst.h - a table of strings whose codes are one byte or two: a code for rests that is read
 * without looking at bits
 *
 * FSST (Boncz, Neumann, Leis, VLDB 2020), extended: up to 4,096 symbols of one to fifteen bytes
 * instead of 255 of eight, of which the frequent ones have codes of one byte and the others of two;
 * and a string is divided so that its code is shortest, not by the longest symbol each time.  It is
 * a scheme beside HOPE's (hope.h), with the same calls: sfx_hope_build, sfx_hope_open,
 * sfx_hope_encode, sfx_hope_decode and sfx_hope_compare call these functions if the scheme is
 * SFX_FSST. Its codes do not compare as the strings do, so it is for rests only, which are compared
 * decoded.
 *
 * Slots.  A table with `leads` leads has ones = 254 - leads codes of one byte, 1 to ones, whose
 * slots have these numbers.  The leads follow, up to 254: a lead and the byte after it are a code
 * of two bytes, slot 256 * (lead - ones) + byte.  The last lead, FSST_ESCAPE, is in every table:
 * its slots are the 256 single bytes, so that each string has a code.  Code 0, slots without a
 * symbol and a lead at the end stand for nothing: any bytes are a code of some string.  So a
 * decoder may take as many steps as fit a word, whatever bytes it has.
 *
 * Table bytes: HOPE_MAGIC, SFX_FSST, leads (1 byte), number of symbols (2 bytes); the symbols of
 * codes of one byte, then the others, each: a byte with two nibbles, the number of bytes that it
 * shares with the previous one and of those that follow; these.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FSST_H
#define SFX_FSST_H

#include "hope_step.h"

#define FSST_ESCAPE		255u
#define FSST_MAXSYM		15
#define FSST_ROOM		16		/* bytes that are written for a byte of code, whether they count or
								 * not */
#define FSST_LEADS		16		/* most leads */
#define FSST_SYMBOLS	4096	/* most symbols */
#define FSST_ONES(leads)	(FSST_ESCAPE - 1 - (leads))
#define FSST_CHUNK		128		/* strings are coded in pieces of that many bytes */
#define FSST_HASH_BITS	13		/* more than twice FSST_SYMBOLS */
#define FSST_HASH		(1u << FSST_HASH_BITS)

/* Symbol and, in the last byte, its length; 0: none. */
typedef struct FsstSlot
{
	uint8_t		byte[FSST_MAXSYM];
	uint8_t		len;
} FsstSlot;

/*
 * An open table.  The shape is the first member, as in a dictionary of HOPE, so that its scheme
 * tells which of the two it is.
 */
typedef struct Fsst
{
	HopeShape	shape;			/* only the scheme and the number of symbols are set */
	uint32_t	ones;
	uint32_t	nslots;
	/*
	 * For encoding: the slot of a byte, never 0; the slot of the longest symbol that begins with
	 * two bytes, and with three, below the other bits of their hash.
	 */
	uint16_t	one[256];
	uint32_t	two[FSST_HASH];	/* symbols of two bytes */
	uint32_t	more[FSST_HASH];	/* longer ones; those with the same three bytes are linked by
									 * fsst_next, the longest first */
	FsstSlot	slot[];			/* nslots, then as many uint16_t */
} Fsst;

static inline bool
hope_is_fsst(const SfxHope *h)
{
	return ((const HopeShape *) h)->scheme == SFX_FSST;
}

/* Bytes that an open table takes; 0 if these bytes are not a table. */
extern size_t sfx_fsst_state_size(const uint8_t *dict, size_t len);
extern size_t sfx_fsst_size(uint32_t leads);

/*
 * Make a table of the first n symbols, those of codes of one byte first, in sfx_fsst_size(leads)
 * bytes.
 */
extern void sfx_fsst_fill(Fsst *f, uint32_t leads, const FsstSlot *symbols, uint32_t n);

/* Bytes of scratch memory that sfx_fsst_build needs, 8-byte aligned. */
extern size_t sfx_fsst_build_size(void);

/*
 * Make a table of at most limit symbols from a sample (from 256 KB of it, if it is larger).
 * Returns its length, or SFX_NOSPACE, SFX_NOMEM.  Deterministic.
 */
extern int sfx_fsst_build(uint32_t limit, const SfxHopeKey *keys, uint32_t nkeys, void *scratch, size_t size, uint8_t *dict, size_t cap);

/* Open a table in size bytes at f.  SFX_OK, SFX_CORRUPT or SFX_NOMEM. */
extern int sfx_fsst_open(Fsst *f, size_t size, const uint8_t *dict, size_t len);

/*
 * Divide n <= FSST_CHUNK bytes into symbols: pick[i] is the slot of the symbol at i, for every i at
 * which one begins.  Returns the bytes of the code.
 */
extern uint32_t sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, uint16_t *pick);

/* The same as sfx_hope_encode, sfx_hope_decode_within and sfx_hope_compare. */
extern int sfx_fsst_encode(const Fsst *f, const uint8_t *key, size_t len, uint8_t *out, size_t cap);
/*
 * Encode a key for which the code of a part is known: of its bytes from shift on, or, if shift is
 * negative, of a longer string that begins -shift bytes before the key.  From the first symbol of
 * that code that begins in the key the code is copied; the bytes before it are coded.  Takes less
 * than half the time, for a few bytes more.
 */
extern int sfx_fsst_encode_again(const Fsst *f, const uint8_t *key, size_t len, const uint8_t *code, size_t codelen, int shift,
								 uint8_t *out, size_t cap);
extern int sfx_fsst_decode(const Fsst *f, const uint8_t *in, size_t len, size_t readable, uint8_t *out, size_t cap);
extern int sfx_fsst_compare(const Fsst *f, const uint8_t *in, size_t len, const uint8_t *t, size_t tlen, size_t at,
							size_t *lcp, int *side);

/* ---- symbols at a place ---- */

static inline const uint16_t *
fsst_next(const Fsst *f)
{
	return (const uint16_t *) (f->slot + f->nslots);
}

/*
 * A hash of two bytes, or of three, without collisions: the high bits give the place in the table,
 * the others are stored there.
 */
static inline uint32_t
fsst_hash(uint64_t x, unsigned n)
{
	return (uint32_t) (x & sfx_mask(8 * n)) * 0x9E3779B1u;
}

/* The place of the hash in such a table; if it is not there, its free place. */
static inline uint32_t
fsst_place(const uint32_t *table, uint32_t hash)
{
	uint32_t	at = hash >> (32 - FSST_HASH_BITS);

	while (table[at] != 0 && (table[at] ^ hash << FSST_HASH_BITS) >= FSST_HASH)
		at = (at + 1) & (FSST_HASH - 1);
	return at;
}

/* The first slot at that place, 0 if there is none. */
static inline uint32_t
fsst_first(const uint32_t *table, uint64_t x, unsigned n)
{
	return table[fsst_place(table, fsst_hash(x, n))] & (FSST_HASH - 1);
}

/* Do the 16 bytes x, y begin with that symbol?  An empty slot's begins all. */
static inline bool
fsst_begins(const FsstSlot *s, uint64_t x, uint64_t y)
{
	unsigned	n = s->len;

	x ^= sfx_load64(s->byte);
	y ^= sfx_load64(s->byte + 8);
	return n <= 8 ? (x & sfx_mask(8 * n)) == 0 : x == 0 && (y & sfx_mask(8 * (n - 8))) == 0;
}

/* The longest symbol with which the 16 bytes x, y begin, of which n (> 0) exist. */
static inline uint32_t
fsst_longest(const Fsst *f, uint64_t x, uint64_t y, size_t n)
{
	for (uint32_t i = n > 2 ? fsst_first(f->more, x, 3) : 0; i != 0; i = fsst_next(f)[i])
		if (f->slot[i].len <= n && fsst_begins(&f->slot[i], x, y))
			return i;
	if (n > 1)
	{
		uint32_t	i = fsst_first(f->two, x, 2);

		if (i != 0)
			return i;
	}
	return f->one[x & 0xFF];
}

/* ---- decoding ---- */

/*
 * Decode the first code in *acc.  Returns the new end of out, where FSST_ROOM bytes must be free;
 * *acc moves to the next code, and *bits counts the bits.
 */
static inline uint8_t *
fsst_step(const Fsst *f, uint32_t ones, uint64_t *acc, unsigned *bits, uint8_t *out)
{
	uint32_t	lead = (uint32_t) (*acc >> 56),
				both = (uint32_t) (*acc >> 48) - (ones << 8),
				two = 0 - (uint32_t) (lead > ones),	/* all ones: written so that no compiler makes
													 * it a branch, which could not be predicted */
				n = 8 + (two & 8);
	const FsstSlot *s = &f->slot[lead + ((both - lead) & two)];

	memcpy(out, s, sizeof(*s));
	*acc <<= n;
	*bits += n;
	return out + s->len;
}

/*
 * Decode a string to out, where FSST_ROOM bytes are free for each of its own, and for one more;
 * readable as for hope_window.  Returns the new end.
 */
static inline uint8_t *
fsst_decode_short(const Fsst *f, const uint8_t *in, size_t len, size_t readable, uint8_t *out)
{
	const uint32_t ones = f->ones;
	uint64_t	acc;
	unsigned	bits = 0;

	/*
	 * Four codes are in any word, and mostly in all of a rest: no branch depends on the length of
	 * each.
	 */
	while (len > 8)
	{
		acc = sfx_load_be64(in);
		bits = 0;
		out = fsst_step(f, ones, &acc, &bits, out);
		out = fsst_step(f, ones, &acc, &bits, out);
		out = fsst_step(f, ones, &acc, &bits, out);
		out = fsst_step(f, ones, &acc, &bits, out);
		in += bits / 8;
		len -= bits / 8;
		readable -= bits / 8;
	}
	acc = hope_window(in, len, readable, 0);
	do
	{
		out = fsst_step(f, ones, &acc, &bits, out);
		out = fsst_step(f, ones, &acc, &bits, out);
		out = fsst_step(f, ones, &acc, &bits, out);
		out = fsst_step(f, ones, &acc, &bits, out);
	} while (acc != 0);
	return out;
}

#endif							/* SFX_FSST_H */
