/*-------------------------------------------------------------------------
 * fsst.h - a table of strings whose codes are one byte or two: a code for rests that is read
 * without looking at bits
 *
 * FSST (Boncz, Neumann, Leis, VLDB 2020), grown: up to 32,384 symbols of one to fifteen bytes
 * instead of 255 of eight, of which the frequent ones have codes of one byte and the others of two;
 * and a string is divided so that its code is shortest, not by the longest symbol each time.  It
 * stands beside HOPE's schemes (hope.h), behind the same calls: sfx_hope_build, sfx_hope_open,
 * sfx_hope_encode, sfx_hope_decode, sfx_hope_compare lead here where the scheme is SFX_FSST.  Its
 * codes do not compare as the strings do, so it is for rests only, which are compared with what
 * they decode to.
 *
 * Slots.  A table with so many leads (126 at most) has ones = 254 - leads codes of one byte, 1 to ones, whose slots have their numbers.  The leads
 * follow, up to 254: a lead and the byte behind it are a code of two bytes, slot 256 * (lead - ones) + byte.  The last lead, FSST_ESCAPE, is every table's:
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
#define FSST_LEADS		126		/* at most: slots are numbered in 15 bits */
#define FSST_ONES(leads)	(FSST_ESCAPE - 1 - (leads))
#define FSST_SYMBOLS	(FSST_ONES(FSST_LEADS) + 256 * FSST_LEADS)	/* at most */
#define FSST_CHUNK		128		/* strings are coded in pieces of so many bytes */

/* Symbol and, in the last byte, its length; 0: none. */
typedef struct FsstSlot
{
	uint8_t		byte[FSST_MAXSYM];
	uint8_t		len;
} FsstSlot;

/*
 * An open table.  Its first member is where a dictionary of HOPE has its own, so that either can be
 * told from the other.  What encoding needs (fsst_trie.c) is made by the first who encodes: those
 * who read come without it.
 */
typedef struct Fsst
{
	HopeShape	shape;			/* the scheme and the number of symbols, nothing else */
	uint32_t	ones;
	uint32_t	nslots;
	uint32_t	cell_bits;
	uint32_t	nodes;			/* of the trie; 0: there is none yet */
	uint16_t	one[256];		/* of a byte its slot, never 0 */
	FsstSlot	slot[];			/* nslots, then what fsst_cells and fsst_next lead to */
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
extern size_t sfx_fsst_build_size(uint32_t limit);

/*
 * Make a table of at most limit symbols from a sample (64 bytes of it for each, if it has more).
 * Its length, or SFX_NOSPACE, SFX_NOMEM.  Deterministic.
 */
extern int sfx_fsst_build(uint32_t limit, const SfxHopeKey *keys, uint32_t nkeys, void *scratch, size_t size, uint8_t *dict, size_t cap);

/* Open a table in size bytes at f.  SFX_OK, SFX_CORRUPT or SFX_NOMEM. */
extern int sfx_fsst_open(Fsst *f, size_t size, const uint8_t *dict, size_t len);

/*
 * Ways through a string: of each place the bytes of the shortest code found that leads there, and
 * its last symbol, the longer one first: bytes << 19 | (FSST_MAXSYM - length) << 15 | slot; and of
 * each number of bytes the place farthest on that they lead to.
 */
typedef struct FsstWays
{
	uint32_t	last[FSST_CHUNK + 1];
	uint8_t		reach[2 * FSST_CHUNK + 3];
} FsstWays;

static inline uint32_t
fsst_way_slot(uint32_t way)
{
	return way & 0x7FFF;
}

static inline uint32_t
fsst_way_len(uint32_t way)
{
	return FSST_MAXSYM - (way >> 15 & 15);
}

/*
 * Divide n <= FSST_CHUNK bytes, for a short code.  Its bytes; its symbols are read from last[n]
 * back.  The table is prepared.
 */
extern uint32_t sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, FsstWays *w);

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

/*
 * Symbols of two bytes and more stand in a trie, of which a cell is what two first bytes lead to,
 * or a node and the byte behind it: the slot of the symbol that ends there, and what goes on from
 * there: nothing, the first of a few symbols that fsst_next leads through, or a node.  The cells
 * are a hash table, with their key in the upper half; 0 is none.
 */
#define FSST_CELL_SLOT	0x7FFFu
#define FSST_CELL_LIST	0x8000u /* the upper half is a slot, not a node */
#define FSST_FIRST_NODE	256u	/* so that no key of one is that of two bytes */

static inline const uint64_t *
fsst_cells(const Fsst *f)
{
	return (const uint64_t *) (f->slot + f->nslots);
}

static inline const uint16_t *
fsst_next(const Fsst *f)
{
	return (const uint16_t *) (fsst_cells(f) + ((size_t) 1 << f->cell_bits));
}

/* Where a cell is, or would be. */
static inline uint32_t
fsst_cell_at(const Fsst *f, uint32_t key)
{
	const uint64_t *cells = fsst_cells(f);
	uint32_t	at = key * 0x9E3779B1u >> (32 - f->cell_bits);

	while (cells[at] != 0 && cells[at] >> 32 != key)
		at = (at + 1) & ((1u << f->cell_bits) - 1);
	return at;
}

static inline uint32_t
fsst_cell(const Fsst *f, uint32_t from, uint8_t byte)
{
	return (uint32_t) fsst_cells(f)[fsst_cell_at(f, from << 8 | byte)];
}

/* Make what encoding needs, if nobody has. */
extern void sfx_fsst_prepare(const Fsst *f);

/* The longest symbol that begins the n > 0 bytes at p; of a table that is prepared. */
extern uint32_t sfx_fsst_longest(const Fsst *f, const uint8_t *p, size_t n);

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
