/*-------------------------------------------------------------------------
 * strblock.h - key stream of a STRING block: front-coded keys
 *
 * Keys are counted from the end of the block's prefix.  If all of them end in the same byte (the
 * terminator of text), that byte is stored once.  Keys are in groups of SFX_STR_GROUP; the first
 * key of a group is its head.  A key is stored as the length that it shares with the previous key,
 * and the rest.  For a head, the previous key is the previous head: the heads make a run of their
 * own, in front.  So a search walks through the heads and then through one group, at most 30 steps,
 * most of which compare two lengths.  Heads that are stored whole and searched by bisection would
 * take half a byte to a byte more per key.
 *
 * The rests may be coded by a HOPE dictionary that was trained on such rests, if that makes the
 * stream smaller.  What keys share is taken off before, byte for byte.  So no bit that two keys
 * share is stored twice, and a search compares raw bytes and decodes only the few rests that begin
 * where the probe and the previous key part, as far as it has to.  Coding whole keys and
 * front-coding the codes takes a fifth to a third more, and a search must encode the whole probe
 * first.
 *
 * Or the rests are packed: if all of their bytes are of a small alphabet (digests, codes, numbers
 * as they are printed), a byte takes the bits that number the alphabet's symbols, and lengths count
 * symbols.
 *
 *	0		flags: SFX_STR_LAST, SFX_STR_NARROW, SFX_STR_CODED or SFX_STR_PACKED;
 *			or SFX_STR_COLUMN alone: cut keys, in the form of strcolumn.h
 *	1		the common last byte, if SFX_STR_LAST
 *	...		if SFX_STR_PACKED: number of symbols - 1, the symbols, ascending
 *	...		lengths of the heads and of each group: narrow: that of the heads and the smallest of
 *			the groups' (2 bytes each), then the excess of each group (1 byte);
 *			else the end of each, counted from the start of the heads (2 bytes)
 *	...		heads: length of the first key, its bytes; run of the other heads
 *	...		groups: run of the keys after the head
 *
 * A run (nothing if it has no keys):
 *
 *	0		shared length that all keys of the run have at least
 *	...		if SFX_STR_PACKED: length of the rest that all have at least
 *	...		each key: a byte with two nibbles, shared length above that minimum and length of
 *			the rest; a nibble of 15 is followed by a length to be added; the rest
 *
 * With SFX_STR_PACKED the second nibble counts from that minimum as well, and a rest of n symbols
 * takes n * bits / 8 bytes, rounded up.  With SFX_STR_CODED "rest", and the bytes of the first key,
 * mean the code, and its length is that of the code.
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
	bool		column;			/* the stream is a column; then of the above only end and n are
								 * set */
	SfxStrCol	col;			/* its parsed form */
	uint16_t	goff[SFX_STR_MAXGROUPS + 1];	/* heads end at heads + goff[0], group g at heads + goff[g+1] */
} SfxStr;

/* A lower bound of what sfx_str_encode would write, at little cost. */
extern uint32_t sfx_str_estimate(const SfxKeys *k);

/*
 * The codes of a block's rests.  The rest of a key does not depend on how many keys follow it in
 * the block: so the codes are kept while a page's writer tries different numbers of keys.
 */
#define SFX_CODER_ROOM		(128 * 1024)
typedef struct SfxCoder
{
	const SfxHope *dict;		/* NULL: code nothing */
	bool		packing;		/* rests may be packed */
	int			n;				/* keys [1, n) are coded; set to 0 when the block begins with
								 * another key */
	uint32_t	cut;			/* bytes taken off the end of each */
	uint32_t	raw,			/* of the last stream encoded: bytes of its rests, ... */
				stored;			/* ... and what they take; with a dictionary: if they were not
								 * packed */
	int			seen;			/* only these bytes are in the rests of keys [1, seen); set to 0
								 * together with n */
	uint32_t	seencut;
	int			nsymbols;
	uint8_t		symbol[256];	/* 1: it was seen */
	uint32_t	end[SFX_STR_GROUP * SFX_STR_MAXGROUPS];
	uint8_t		bytes[SFX_CODER_ROOM];	/* of all keys but the first */
	uint8_t		first[3 * SFX_MAX_ENTRY];	/* of the first */
} SfxCoder;

/* The block begins with another key: forget the codes. */
static inline void
sfx_coder_restart(SfxCoder *c)
{
	c->n = c->seen = 0;
}

/*
 * Encode k into out, with the rests coded or packed as c allows if that is smaller.  Returns the
 * bytes written, or SFX_NOSPACE.
 */
extern int sfx_str_encode(const SfxKeys *k, SfxCoder *c, uint8_t *out, size_t cap);

/*
 * Parse a stream of n keys: SFX_OK or SFX_CORRUPT.  *s points into the stream.  dict: the
 * dictionary of its rests, if they are coded; without it (NULL) only the stream's end is known.
 */
extern int sfx_str_open(SfxStr *s, const uint8_t *in, size_t len, int n, const SfxHope *dict);

/*
 * Returns the number of keys < t (bytes after the block's prefix) in byte order, or SFX_CORRUPT.
 * (place tells whether t begins with the previous key only if sfx_str_tells.)
 */
extern int sfx_str_search(const SfxStr *s, const uint8_t *t, uint32_t tlen, SfxStrPlace *place);

/* Does a search find out whether t begins with a key? */
static inline bool
sfx_str_tells(const SfxStr *s)
{
	return s->column || (!s->coded && s->last < 0);
}

/*
 * Look for t in group g, after its head, in any order of keys.  Returns the number of keys there
 * before t itself (*equal), or the number of keys there are, or SFX_CORRUPT.  The head agrees with
 * t in lcp bytes.  The caller sets *equal to false.
 */
extern int sfx_str_find_in_group(const SfxStr *s, int g, uint32_t lcp, const uint8_t *t,
								 uint32_t tlen, bool *equal);

/* How a search in comparator order proceeds. */
typedef enum SfxSeek
{
	SFX_SEEK_PLACE,
	SFX_SEEK_NEAR,				/* the answer is probably a short way after from: in steps that
								 * grow */
	SFX_SEEK_EXACT				/* t itself is looked for; if it is not there, any place will do
								 * (B3) */
} SfxSeek;

/*
 * The same as sfx_str_search for keys in comparator order, with the block's prefix in front of them
 * and of t.  The first from keys are known to be < t.  Compares with the first key (if from is 0),
 * then bisects the heads, then one group.
 */
extern int sfx_str_search_order(const SfxStr *s, const uint8_t *prefix, uint32_t prefixlen, int from, SfxSeek seek,
								const SfxOrder *o, const uint8_t *t, uint32_t tlen, bool *equal);

/*
 * Find the codes of all keys' rests in the stream, and which bytes of each key they encode: from
 * start (prelen is added) to the common last byte.  SFX_OK, with c->n 0 if rests are not coded, or
 * SFX_CORRUPT.
 */
extern int sfx_str_codes(const SfxStr *s, uint32_t prelen, SfxCodes *c);

/*
 * Write keys [from, to) to out (cap bytes), one after the other; off[0..to-from] are their bounds
 * (off[0] need not be 0).  The first prelen bytes at out are the prefix of all keys.  Bytes after
 * the stream up to bodyend may be read, but are not used.  SFX_OK or SFX_CORRUPT.
 */
extern int sfx_str_decode(const SfxStr *s, int from, int to, uint32_t prelen, uint8_t *out, uint32_t cap,
						  uint32_t *off, const uint8_t *bodyend);

#endif							/* SFX_STRBLOCK_H */
