/*-------------------------------------------------------------------------
 * hope_format.h - a HOPE dictionary as bytes and as tables; what the hope_*.c files share
 *
 * The four modules of the paper (section 4.1): symbol selector hope_select.c, code assigner
 * hope_assign.c, dictionary hope_dict.c (symbols to intervals, lookup) and hope_file.c (bytes to
 * state), encoder hope_encode.c; beside them hope_decode.c and hope_build.c, which calls them all
 * to make a dictionary.
 *
 * Dictionary bytes:
 *
 *	0		HOPE_MAGIC
 *	1		scheme
 *	2		number of symbols (4 bytes, little-endian; 0 for Single- and Double-Char)
 *	6		number of intervals (4 bytes)
 *	10		bytes of symbols (4 bytes)
 *	14		symbols, ascending, each: a byte with two nibbles, length shared with the previous one
 *			and length of the rest, where 15 is followed by a byte to be added; the rest.  Single
 *			bytes are not listed: they are symbols in every dictionary
 *	...		HOPE_LENGTHS_RAW: 5 bits per interval, or HOPE_LENGTHS_RUNS: per run of equal lengths
 *			5 bits and the run's length in Elias-gamma (n zeros, then n + 1 bits)
 *
 * Intervals follow from symbols: each symbol starts one, and so does the first string after all
 * that begin with it.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_HOPE_FORMAT_H
#define SFX_HOPE_FORMAT_H

#include "bits.h"
#include "hope.h"

#define HOPE_MAGIC			0x48
#define HOPE_HEADER			14
#define HOPE_LENGTHS_RAW	0
#define HOPE_LENGTHS_RUNS	1

#define HOPE_END			0u		/* the interval of the empty string */
#define HOPE_NO_INTERVAL	UINT32_MAX

/* Most intervals of a dictionary under construction, which may have more than it may keep. */
#define HOPE_MAX_CANDIDATES	(4 * SFX_HOPE_MAX_INTERVALS)

/*
 * A code and the length of its symbol in a word: code, left-aligned (22 bits); length of the symbol
 * - 1 (5 bits); length of the code (5 bits).  Words ascend as codes do.
 */
#define HOPE_CODE(w)		((w) & 0xFFFFFC00)
#define HOPE_BELOW_CODE		0x3FFu
#define HOPE_SYMLEN(w)		((((w) >> 5) & 31) + 1)
#define HOPE_BITS(w)		((w) & 31)

/* Double-Char: 0 is the end; then for each byte it alone, and it before each other byte. */
#define HOPE_PAIR(a, b)		(2 + 257 * (uint32_t) (a) + (uint32_t) (b))
#define HOPE_LONE(a)		(1 + 257 * (uint32_t) (a))

/*
 * Decoding table, indexed by the next 12 bits of the input.  An entry is either the bytes of all
 * whole codes in these bits, at most seven bytes: low 7 bytes, their number (bits 57-59), bits of
 * the codes (60-63).  Or HOPE_SPECIAL is set, and the kind is in the bits of the number: the end,
 * if its code is that short; a symbol of more than seven bytes, by its place in the pool (28 bits)
 * and its length (28); codes of more than 12 bits, by the start of the table of the next 5 bits,
 * whose entries have the same form.  Codes that are longer than both, or for which there is no
 * second table left, are searched for among those with the same first bits: the number of the first
 * one (28 bits) and how many there are (28 bits).
 */
#define HOPE_DECODE_BITS	12
#define HOPE_SECOND_BITS	5
#define HOPE_SECOND_MAX		1024	/* most tables for these bits */
#define HOPE_DECODE_BYTES	7
#define HOPE_SPECIAL		(UINT64_C(1) << 56)
#define HOPE_KIND_END		0u
#define HOPE_KIND_LONG		1u
#define HOPE_KIND_SEARCH	2u
#define HOPE_KIND_SECOND	3u
#define HOPE_KIND(e)		((uint32_t) ((e) >> 57) & 7)	/* if it is special */
#define HOPE_NBYTES(e)		((uint32_t) ((e) >> 57) & 7)	/* if it is not */
#define HOPE_LOW(e)			((uint32_t) (e) & 0xFFFFFFF)

/*
 * The start of an interval, as a number: the first 7 bytes (zeros after the end), then in the low
 * byte its length, 8 if there is more.  Numbers ascend as strings do, except that ties with low
 * byte 8 are undecided.
 */
#define HOPE_STRIDE			7
#define HOPE_MORE			8

/*
 * A node holds the starts that share their first 7 * depth bytes; what follows these is in heads
 * [lo, hi).  Heads that tie with HOPE_MORE are one entry; if that stands for two intervals or more,
 * it has a node below it.  The root is entered through a table of the first two bytes.
 */
typedef struct HopeNode
{
	uint32_t	lo,
				hi;
	uint32_t	before;			/* the interval before the node's first one */
	uint32_t	depth;
} HopeNode;

typedef struct HopeEntry
{
	uint32_t	last;			/* the last interval of the entry */
	uint32_t	node;			/* node below, or 0 */
} HopeEntry;

/* Sizes of a dictionary's tables. */
typedef struct HopeShape
{
	SfxHopeScheme scheme;
	uint32_t	nsymbols;
	uint32_t	nintervals;
	uint32_t	nentries;		/* in all nodes; as many as intervals, except with ALM */
	uint32_t	pool;			/* bytes of all interval starts; ALM only */
} HopeShape;

struct SfxHope
{
	HopeShape	shape;
	uint32_t	nnodes;
	uint64_t	size;
	/* offsets from here, all multiples of 8; 0 if the scheme has no such table */
	uint32_t	code;			/* uint32_t[nintervals] */
	uint32_t	decode;			/* uint64_t[1 << HOPE_DECODE_BITS] */
	uint32_t	second;			/* uint64_t[1 << HOPE_SECOND_BITS] as often as hope_second_tables says */
	uint32_t	pair;			/* uint32_t[65537]: root heads that start with these two bytes */
	uint32_t	lone;			/* uint32_t[256]: intervals that start with these single bytes */
	uint32_t	head;			/* uint64_t[nentries] */
	uint32_t	entry;			/* HopeEntry[nentries] */
	uint32_t	node;			/* HopeNode[] */
	uint32_t	start;			/* uint32_t[nintervals + 1], into the pool */
	uint32_t	bytes;			/* the pool, SFX_HOPE_MAXSYM bytes more than it needs */
};

#define HOPE_TABLE(h, type, name) ((type *) ((char *) (h) + (h)->name))
#define HOPE_CTABLE(h, type, name) ((const type *) ((const char *) (h) + (h)->name))

static inline bool
hope_is_gram(SfxHopeScheme scheme)
{
	return scheme == SFX_HOPE_GRAM3 || scheme == SFX_HOPE_GRAM4;
}

static inline bool
hope_is_alm(SfxHopeScheme scheme)
{
	return scheme == SFX_HOPE_ALM || scheme == SFX_HOPE_ALM_IMPROVED;
}

/* Number of second decoding tables for which there is room: the codes of each are at least two. */
static inline uint32_t
hope_second_tables(const HopeShape *shape)
{
	return shape->nintervals / 2 < HOPE_SECOND_MAX ? shape->nintervals / 2 : HOPE_SECOND_MAX;
}

/* Longest symbol of a scheme. */
static inline uint32_t
hope_maxsym(SfxHopeScheme scheme)
{
	return scheme <= SFX_HOPE_GRAM4 ? (uint32_t) scheme : SFX_HOPE_MAXSYM;
}

/* ---- big-endian words: codes are compared as bytes ---- */

/* The head (see above) of the string of n bytes at p. */
static inline uint64_t
hope_head(const uint8_t *p, size_t n)
{
	if (n >= 8)
		return (sfx_load_be64(p) & ~UINT64_C(0xFF)) | HOPE_MORE;
	return sfx_load_be(p, n) | n;
}

/* ---- comparing ---- */

/* The bytes t[at..tlen) that fit into a little-endian word, zeros after them. */
static inline uint64_t
hope_load_rest(const uint8_t *t, size_t tlen, size_t at)
{
	size_t		left = tlen - at;

	if (left >= 8)
		return sfx_load64(t + at);
	if (left == 0)
		return 0;
	if (tlen >= 8)
		return sfx_load64(t + tlen - 8) >> (64 - 8 * left);
	return sfx_load_bytes(t + at, (unsigned) left);
}

/* ---- lookup ---- */

/* Number of v[0..n) that are <= x; v ascends.  Without branches that depend on the data. */
static inline uint32_t
hope_count_le(const uint64_t *v, uint32_t n, uint64_t x)
{
	const uint64_t *p = v;

	if (n == 0)
		return 0;
	while (n > 1)
	{
		uint32_t	half = n / 2;

		p = p[half - 1] <= x ? p + half : p;
		n -= half;
	}
	return (uint32_t) (p - v) + (*p <= x);
}

/*
 * The interval, in a node below the root, of the string of n bytes at p (after the node's common
 * part).
 */
extern uint32_t sfx_hope_find_below(const SfxHope *h, uint32_t node, const uint8_t *p, size_t n);

/* The interval of the string of n (> 0) bytes at p, in a dictionary of grams (gram) or of ALM. */
static inline uint32_t
hope_find(const SfxHope *h, const uint8_t *p, size_t n, bool gram)
{
	const uint32_t *pair = HOPE_CTABLE(h, uint32_t, pair);
	const uint64_t *head = HOPE_CTABLE(h, uint64_t, head);
	const HopeEntry *entry = HOPE_CTABLE(h, HopeEntry, entry);
	uint32_t	lo,
				e;
	uint64_t	x;

	if (n == 1)
		return HOPE_CTABLE(h, uint32_t, lone)[p[0]];
	e = (uint32_t) p[0] << 8 | p[1];
	lo = pair[e];
	if (lo == pair[e + 1])
		return gram ? lo - 1 : entry[lo - 1].last;
	x = hope_head(p, n);
	e = lo + hope_count_le(head + lo, pair[e + 1] - lo, x) - 1;
	if (gram)
		return e;
	if (head[e] == x && (x & 0xFF) == HOPE_MORE)
		return sfx_hope_find_below(h, e, p + HOPE_STRIDE, n - HOPE_STRIDE);
	return entry[e].last;
}

/*
 * The interval of the string of n (> 0) bytes at p; scheme is h's, as a constant where speed
 * matters.
 */
static inline uint32_t
hope_lookup(const SfxHope *h, SfxHopeScheme scheme, const uint8_t *p, size_t n)
{
	if (scheme == SFX_HOPE_SINGLE)
		return 1 + (uint32_t) p[0];
	if (scheme == SFX_HOPE_DOUBLE)
		return n > 1 ? HOPE_PAIR(p[0], p[1]) : HOPE_LONE(p[0]);
	return hope_find(h, p, n, hope_is_gram(scheme));
}

/* ---- walking through the intervals of a list of symbols (hope_dict.c) ---- */

/* Symbols, as in dictionary bytes. */
typedef struct HopeSymbols
{
	const uint8_t *p,
			   *end;
	uint32_t	n;
} HopeSymbols;

typedef struct HopeWalk
{
	HopeSymbols s;
	SfxHopeScheme scheme;
	bool		corrupt;
	/* the next symbol; none: len 0 */
	uint8_t		next[SFX_HOPE_MAXSYM];
	uint32_t	nextlen;
	int32_t		nextid;			/* its number in the list, or -1 for a single byte */
	/* the next symbol of the list, while single bytes come first */
	uint8_t		listed[SFX_HOPE_MAXSYM];
	uint32_t	listedlen;
	int32_t		listedid;
	int			single;			/* next single byte, 256: none */
	/* symbols with which the last one begins, by length, and their numbers */
	uint8_t		cur[SFX_HOPE_MAXSYM];
	uint8_t		open[SFX_HOPE_MAXSYM + 1];
	int32_t		openid[SFX_HOPE_MAXSYM + 1];
	int			nopen;
	/*
	 * The last interval's start, and the longest listed symbol with which all of it begins (-1: a
	 * single byte).
	 */
	uint8_t		start[SFX_HOPE_MAXSYM];
	uint32_t	startlen;
	int32_t		owner;
} HopeWalk;

/* Start before the first interval after the end's. */
extern void sfx_hope_walk_start(HopeWalk *w, SfxHopeScheme scheme, HopeSymbols s);

/* Move to the next interval; false at the end, or if the list is corrupt. */
extern bool sfx_hope_walk_next(HopeWalk *w);

/*
 * Append a symbol to a list at p; prev is the previous one.  Returns the list's new end, NULL if it
 * is beyond end.
 */
extern uint8_t *sfx_hope_put_symbol(uint8_t *p, uint8_t *end, const uint8_t *prev, uint32_t prevlen,
									const uint8_t *sym, uint32_t len);

/*
 * Find the sizes of the tables for a list of symbols.  SFX_OK, or SFX_CORRUPT (also with more than
 * max intervals).
 */
extern int sfx_hope_shape(SfxHopeScheme scheme, HopeSymbols s, uint32_t max, HopeShape *shape);

/* Bytes of state for such tables; lays them out in h, if h is not NULL. */
extern size_t sfx_hope_layout(const HopeShape *shape, SfxHope *h);

/* Fill in all tables except codes and decoding; lengths of symbols are filled in. */
extern void sfx_hope_fill(SfxHope *h, HopeSymbols s);

/*
 * Returns the symbol of an interval; its bytes, at least SFX_HOPE_MAXSYM of them readable, are in
 * buf or in h.
 */
extern const uint8_t *sfx_hope_symbol(const SfxHope *h, uint32_t interval, uint8_t buf[SFX_HOPE_MAXSYM]);

/* ---- codes (hope_assign.c) ---- */

/* Bytes of scratch memory for sfx_hope_optimal_lengths and sfx_hope_assign. */
extern size_t sfx_hope_assign_size(uint32_t n);

/*
 * Optimal lengths of an alphabetic code for n (> 0) weights (Garsia and Wachs 1977).  The weights'
 * sum is below 2^63.
 */
extern void sfx_hope_optimal_lengths(const uint64_t *weight, uint32_t n, uint8_t *length, void *scratch);

/*
 * The same, with small weights raised until no length is above maxbits, which is at least 1 more
 * than the logarithm of n.
 */
extern void sfx_hope_assign(uint64_t *weight, uint32_t n, unsigned maxbits, uint8_t *length, void *scratch);

/*
 * Complete the words, which have no code yet, by the codes that their lengths determine.  SFX_OK,
 * or SFX_CORRUPT if the lengths are not those of a complete code.
 */
extern int sfx_hope_codes(uint32_t *code, uint32_t n);

/* ---- bytes (hope_file.c) ---- */

/*
 * Write header and lengths around the symbols, which are after the header already.  Returns the
 * length, or SFX_NOSPACE.
 */
extern int sfx_hope_finish(SfxHopeScheme scheme, uint8_t *dict, size_t cap, uint32_t nsymbols, size_t symbol_bytes,
						   const uint8_t *length, uint32_t n);

/* ---- the decoding table (hope_decode.c) ---- */
extern void sfx_hope_fill_decode(SfxHope *h);

/* ---- counting (hope_encode.c): add to uses[i] how often interval i occurs in a key ---- */
extern void sfx_hope_count_uses(const SfxHope *h, const uint8_t *key, size_t len, uint64_t *uses);

/* ---- symbol selection (hope_select.c) ---- */

typedef struct HopeSample
{
	const SfxHopeKey *keys;
	uint32_t	nkeys;
	uint32_t	bytes;
} HopeSample;

extern size_t sfx_hope_select_size(SfxHopeScheme scheme, uint32_t limit, size_t sample_bytes);

/*
 * Choose symbols for at most limit intervals and write their list, s, to list (up to cap bytes).
 * SFX_OK or SFX_NOSPACE.
 */
extern int sfx_hope_select(SfxHopeScheme scheme, uint32_t limit, const HopeSample *sample, void *scratch,
						   uint8_t *list, size_t cap, HopeSymbols *s);

/* Bytes of scratch memory for sfx_hope_prune. */
extern size_t sfx_hope_prune_size(HopeSymbols s);

/*
 * Keep those of the symbols that save most by their uses; uses[i] counts interval i.  Rewrites the
 * list in place.
 */
extern void sfx_hope_prune(SfxHopeScheme scheme, uint32_t limit, const uint64_t *uses, void *scratch,
						   uint8_t *list, HopeSymbols *s);

#endif							/* SFX_HOPE_FORMAT_H */
