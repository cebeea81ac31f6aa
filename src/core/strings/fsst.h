/*-------------------------------------------------------------------------
 * fsst.h - a table of strings whose codes are one byte or two: a code for rests that is read
 * without looking at bits
 *
 * FSST (Boncz, Neumann, Leis, VLDB 2020), grown: up to 4,096 symbols of one to fifteen bytes
 * instead of 255 of eight, of which the frequent ones have codes of one byte and the others of two;
 * and a string is divided so that its code is shortest, not by the longest symbol each time.  It
 * stands beside HOPE's schemes (hope.h), behind the same calls: sfx_hope_build, sfx_hope_open,
 * sfx_hope_encode, sfx_hope_decode, sfx_hope_compare lead here where the scheme is SFX_FSST.  Its
 * codes do not compare as the strings do, so it is for rests only, which are compared with what
 * they decode to.
 *
 * Slots.  A table with so many leads has ones = 254 - leads codes of one byte, 1 to ones, whose slots have their numbers.  The leads follow, up to
 * 254: a lead and the byte behind it are a code of two bytes, slot 256 * (lead - ones) + byte.  The last lead, FSST_ESCAPE, is every table's:
 * its slots are the 256 single bytes, so that each string has a code.  Code 0, slots without a symbol and a lead at the end stand for nothing:
 * any bytes are a code of something.  So a decoder may take as many steps as fit a word, whatever is in it.
 *
 * Table bytes: HOPE_MAGIC, SFX_FSST, leads (1 byte), number of symbols (2 bytes); the symbols of
 * codes of one byte, then the others, each: a byte with two nibbles, the bytes that it shares with
 * the one before and those that follow; these.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_FSST_H
#define SFX_FSST_H

#include "hope_step.h"

#define FSST_ESCAPE		255u
#define FSST_MAXSYM		15
#define FSST_ROOM		16		/* bytes that are written for a byte of code, used or not */
#define FSST_LEADS		16		/* at most */
#define FSST_SYMBOLS	4096	/* at most */
#define FSST_ONES(leads)	(FSST_ESCAPE - 1 - (leads))
#define FSST_CHUNK		128		/* strings are coded in pieces of so many bytes */
#define FSST_HASH_BITS	13		/* twice FSST_SYMBOLS and more */
#define FSST_HASH		(1u << FSST_HASH_BITS)

/* Symbol and, in the last byte, its length; 0: none. */
typedef struct FsstSlot
{
	uint8_t		byte[FSST_MAXSYM];
	uint8_t		len;
} FsstSlot;

/*
 * An open table.  Its first member is where a dictionary of HOPE has its own, so that either can be
 * told from the other.
 */
typedef struct Fsst
{
	HopeShape	shape;			/* the scheme and the number of symbols, nothing else */
	uint32_t	ones;
	uint32_t	nslots;
	/*
	 * for encoding: of a byte its slot, never 0; of two bytes, and of three, the slot of the
	 * longest symbol that begins so, below their hash's other bits
	 */
	uint16_t	one[256];
	uint32_t	two[FSST_HASH];	/* symbols of two bytes */
	uint32_t	more[FSST_HASH];	/* longer ones; those that share three bytes are linked by fsst_next, the longest first */
	FsstSlot	slot[];			/* nslots, then as many uint16_t */
} Fsst;

static inline bool
hope_is_fsst(const SfxHope *h)
{
	return ((const HopeShape *) h)->scheme == SFX_FSST;
}

/* Bytes of an open table; 0 if there can be none of these bytes. */
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
 * Make a table of at most limit symbols from a sample (256 KB of it, if it has more).  Its length,
 * or SFX_NOSPACE, SFX_NOMEM.  Deterministic.
 */
extern int sfx_fsst_build(uint32_t limit, const SfxHopeKey *keys, uint32_t nkeys, void *scratch, size_t size, uint8_t *dict, size_t cap);

/* Open a table in size bytes at f.  SFX_OK, SFX_CORRUPT or SFX_NOMEM. */
extern int sfx_fsst_open(Fsst *f, size_t size, const uint8_t *dict, size_t len);

/*
 * Divide n <= FSST_CHUNK bytes: pick[i] is the slot of the symbol at i, for those i where one
 * begins.  Bytes of the code.
 */
extern uint32_t sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, uint16_t *pick);

/* As sfx_hope_encode, sfx_hope_decode_within and sfx_hope_compare. */
extern int sfx_fsst_encode(const Fsst *f, const uint8_t *key, size_t len, uint8_t *out, size_t cap);
/*
 * Encode a key of which a code is known, but from elsewhere on: from shift bytes behind the key's
 * start, or before.  What is in front of it is coded, behind the first symbol that begins there the
 * code stays: less than half the time, for a little more bytes.
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
 * A hash of two bytes, or of three, that tells them apart: the high bits say where, the others
 * stand in the table.
 */
static inline uint32_t
fsst_hash(uint64_t x, unsigned n)
{
	return (uint32_t) (x & sfx_mask(8 * n)) * 0x9E3779B1u;
}

/* Where in such a table the hash stands, or would. */
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

/* Do the 16 bytes x, y begin with that symbol?  Of none all bytes begin with. */
static inline bool
fsst_begins(const FsstSlot *s, uint64_t x, uint64_t y)
{
	unsigned	n = s->len;

	x ^= sfx_load64(s->byte);
	y ^= sfx_load64(s->byte + 8);
	return n <= 8 ? (x & sfx_mask(8 * n)) == 0 : x == 0 && (y & sfx_mask(8 * (n - 8))) == 0;
}

/* The longest symbol that begins the 16 bytes x, y, of which n (> 0) are there. */
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
 * Decode the code that the word begins with: what is behind it, the new end of out, where FSST_ROOM
 * bytes are free.
 */
static inline uint8_t *
fsst_step(const Fsst *f, uint32_t ones, uint64_t *acc, unsigned *bits, uint8_t *out)
{
	uint32_t	lead = (uint32_t) (*acc >> 56),
				both = (uint32_t) (*acc >> 48) - (ones << 8),
				two = 0 - (uint32_t) (lead > ones),	/* all ones: said so that no compiler makes a branch of it, which nobody could foresee */
				n = 8 + (two & 8);
	const FsstSlot *s = &f->slot[lead + ((both - lead) & two)];

	memcpy(out, s, sizeof(*s));
	*acc <<= n;
	*bits += n;
	return out + s->len;
}

/*
 * Decode a string to out, where FSST_ROOM bytes are free for each of its own, and for one more;
 * readable as for hope_window.  The new end.
 */
static inline uint8_t *
fsst_decode_short(const Fsst *f, const uint8_t *in, size_t len, size_t readable, uint8_t *out)
{
	const uint32_t ones = f->ones;
	uint64_t	acc;
	unsigned	bits = 0;

	/*
	 * four codes are in any word, and mostly in all of a rest: no branch depends on how many bytes
	 * each has
	 */
	while (len > 8)
	{
		acc = hope_load_be64(in);
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
