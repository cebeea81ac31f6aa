/*-------------------------------------------------------------------------
 * strblock.h - key stream of a STRING block: front-coded keys
 *
 * Keys count from behind the block's prefix.  Where all of them end in the same byte (the
 * terminator of text), that byte is stored once.  Groups of SFX_STR_GROUP keys; the first of a
 * group is its head.  A key is stored as the length it shares with the one before, and the rest.
 * The one before is, for a head, the head before: the heads make a run of their own, in front. So
 * to find a key means a walk through the heads and one through a group, at most 30 steps that
 * mostly compare two lengths; heads stored whole and searched by bisection would take half a byte
 * to a byte more per key.
 *
 * The rests may be coded by a HOPE dictionary that was trained on such rests, where that makes the
 * stream smaller.  What keys share is taken off before, byte for byte: so no bit that two keys
 * share is stored twice, a search compares with raw bytes and decodes only those few rests that
 * begin where the probe and the key before part, as far as it has to.  Coding whole keys and
 * front-coding the codes takes a fifth to a third more, and a search must encode the whole probe
 * first.
 *
 * Or they are packed: where all bytes of a block's rests are of a small alphabet (digests, codes,
 * numbers as they are printed), a byte takes the bits that number the alphabet's symbols, and
 * lengths count symbols.
 *
 *	0			flags: SFX_STR_LAST, SFX_STR_NARROW, SFX_STR_CODED or SFX_STR_PACKED;
 *				or SFX_STR_COLUMN alone: cut keys, in the form of strcolumn.h
 *	1			the common last byte, if SFX_STR_LAST
 *	...			if SFX_STR_PACKED: number of symbols - 1, the symbols, ascending
 *	...			lengths of the heads and of each group: narrow: that of the heads and the smallest of
 *				the groups' (2 bytes each), then the excess of each group (1 byte);
 *				else the end of each, counted from the start of the heads (2 bytes)
 *	...			heads: length of the first key, its bytes; run of the other heads
 *	...			groups: run of the keys behind the head
 *
 * A run (nothing if it has no keys):
 *
 *	0			shared length that all keys of the run have at least
 *	...			if SFX_STR_PACKED: length of the rest that all have at least
 *	...			each key: a byte with two nibbles, shared length above that minimum and length of
 *				the rest; a nibble of 15 is followed by a length to be added; the rest
 *
 * With SFX_STR_PACKED the second nibble counts from that minimum, too, and a rest of n symbols
 * takes n * bits / 8 bytes, rounded up. With SFX_STR_CODED "rest", and what the first key is made
 * of, is the code and its length that of the code.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_STRBLOCK_H
#define SFX_STRBLOCK_H

#include "cpu.h"
#include "hope.h"
#include "block_format.h"
#include "strcolumn.h"

#define SFX_STR_GROUP		16
#define SFX_STR_MAXGROUPS	16
#define SFX_STR_LAST		0x01
#define SFX_STR_NARROW		0x02
#define SFX_STR_CODED		0x04
#define SFX_STR_PACKED		0x08
#define SFX_STR_FLAGS		0x0F

typedef struct SfxStr
{
	const uint8_t *heads;
	const uint8_t *end;			/* end of the stream */
	int			n;
	int			ngroups;
	int			last;			/* common last byte, or -1 */
	bool		coded;			/* the rests are coded, */
	const SfxHope *dict;		/* by this, if the caller has it */
	bool		packed;			/* the rests are of these symbols */
	SfxSymbols	symbols;
	const uint8_t *limit;		/* bytes up to there may be read */
	bool		column;			/* the stream is a column, and of the above all but end and n is */
	SfxStrCol	col;			/* meaningless */
	uint16_t	goff[SFX_STR_MAXGROUPS + 1];	/* heads end at heads + goff[0], group g at heads + goff[g+1] */
} SfxStr;

/* A lower bound of what sfx_str_encode would write, at little cost. */
extern uint32_t sfx_str_estimate(const SfxKeys *k);

/*
 * The codes of a block's rests.  What a key's rest is does not depend on how many keys behind it
 * are in the block: so the codes are kept while a page's writer tries different numbers of keys.
 */
#define SFX_CODER_ROOM		(128 * 1024)
typedef struct SfxCoder
{
	const SfxHope *dict;		/* NULL: code nothing */
	bool		packing;		/* rests may be packed */
	int			n;				/* keys [1, n) are coded; set to 0 when the block begins with another key */
	uint32_t	cut;			/* bytes taken off the end of each */
	uint32_t	raw,			/* of the last stream encoded: bytes of its rests, */
				stored;			/* and what they take; with a dictionary: were they not packed */
	int			seen;			/* keys [1, seen) have none but these bytes in their rests; set to 0
								 * with n */
	uint32_t	seencut;
	int			nsymbols;
	uint8_t		symbol[256];	/* 1: it was seen */
	uint32_t	end[SFX_STR_GROUP * SFX_STR_MAXGROUPS];
	uint8_t		bytes[SFX_CODER_ROOM];	/* of keys 1, 2, ... */
	uint8_t		first[3 * SFX_MAX_ENTRY];	/* of key 0 */
} SfxCoder;

/* The block begins with another key. */
static inline void
sfx_coder_restart(SfxCoder *c)
{
	c->n = c->seen = 0;
}

/* Encode k into out, the rests as c says where that is smaller.  Bytes written, or SFX_NOSPACE. */
extern int sfx_str_encode(const SfxKeys *k, SfxCoder *c, uint8_t *out, size_t cap);

/*
 * Parse a stream of n keys.  SFX_OK or SFX_CORRUPT.  dict: what its rests are coded with, if they
 * are; the stream's end is found without it (NULL), but then nothing else.
 */
extern int sfx_str_open(SfxStr *s, const uint8_t *in, size_t len, int n, const SfxHope *dict);

/*
 * The number of keys < t (bytes behind the block's prefix) in byte order, or SFX_CORRUPT.  (Whether
 * the one before is t's beginning is told where sfx_str_tells.)
 */
extern int sfx_str_search(const SfxStr *s, const uint8_t *t, uint32_t tlen, SfxStrPlace *place);

/* Does a search tell whether t begins with a key? */
static inline bool
sfx_str_tells(const SfxStr *s)
{
	return s->column || (!s->coded && s->last < 0);
}

/*
 * The number of keys of group g behind its head that stand before t itself, or that there are
 * (*equal tells); in any order.  The head agrees with t in lcp bytes.  Or SFX_CORRUPT.
 */
extern int sfx_str_find_in_group(const SfxStr *s, int g, uint32_t lcp, const uint8_t *t,
								 uint32_t tlen, bool *equal);

/* How a search in comparator order goes about it. */
typedef enum SfxSeek
{
	SFX_SEEK_PLACE,
	SFX_SEEK_NEAR,				/* the answer is probably close behind from: steps which grow */
	SFX_SEEK_EXACT				/* t itself is looked for; if it is not there, any place will do (B4) */
} SfxSeek;

/*
 * As sfx_str_search for keys in comparator order, with the block's prefix in front of them and of
 * t.  The first from keys are known to be < t.  Compares with the first key (if from is 0), then
 * bisects the heads, then one group.
 */
extern int sfx_str_search_order(const SfxStr *s, const uint8_t *prefix, uint32_t prefixlen, int from, SfxSeek seek,
								const SfxOrder *o, const uint8_t *t, uint32_t tlen, bool *equal);

/*
 * Where the codes of all keys' rests stand in the stream, and which bytes of each key they are for:
 * from start (prelen is added) up to the common last byte.  SFX_OK, with c->n 0 where rests are not
 * coded, or SFX_CORRUPT.
 */
extern int sfx_str_codes(const SfxStr *s, uint32_t prelen, SfxCodes *c);

/*
 * Materialise keys [from, to) in out (cap bytes), one after the other; off[0..to-from] are their
 * bounds (off[0] need not be 0). The first prelen bytes at out are the prefix of all keys. bodyend:
 * bytes up to there may be read (not used) behind the stream.
 */
extern int sfx_str_decode(const SfxStr *s, int from, int to, uint32_t prelen, uint8_t *out, uint32_t cap,
						  uint32_t *off, const uint8_t *bodyend);

#endif							/* SFX_STRBLOCK_H */
