/*-------------------------------------------------------------------------
 * hope.h - high-speed order-preserving encoding of byte strings (HOPE; Zhang et al., SIGMOD 2020)
 *
 * SFX_FSST is an exception to all of this: it keeps no order and has its own format (fsst.h).
 *
 * A dictionary divides all byte strings, in their order, into intervals.  The strings of an
 * interval share a prefix, its symbol, and the interval has a code; codes ascend with the intervals
 * and none is a prefix of another.  A string is encoded by the code of the interval to which it
 * belongs; the symbol is taken off, and the rest is encoded in the same way.  Codes are written
 * from the highest bit of each byte down.
 *
 * The end of a key.  The empty rest is an interval of its own, the smallest one.  Its code is
 * zeros, and no other code is; at the end of a key only as many of them are written as fill up the
 * last byte: none to seven.  So
 *
 * - E(a) < E(b) exactly if a < b, and E(a) = E(b) only if a = b, for all byte strings: \0, empty,
 *   prefixes of each other.  (Both have the same codes up to where the rests belong to different
 *   intervals.  If neither rest is empty, two codes differ in a bit that both have written.  If
 *   a's is empty, b goes on with a code that has a one: either in the last byte of a, where a has
 *   a zero, or after it, and then b is longer.)
 * - the length in bytes is all that a decoder needs: padding of the last byte with zeros after it
 *   can only be the end's code, since every other one has a one that was written;
 * - if no key is a proper prefix of another one (sfx.h), no encoding is.
 *
 * This costs nothing.  An end code written in full would cost 4 to 8 bits per key, an explicit bit
 * length 3, and comparisons would have to read it.  An encoded key is a byte string like any other:
 * it may be compared, prefix-stripped, front-coded, truncated to a separator.  A truncated one
 * still compares, but may not decode.
 *
 * A dictionary is a byte string: its symbols (front-coded; none for the first two schemes) and the
 * lengths of its codes, by which an alphabetic code is determined.  sfx_hope_open turns it into a
 * state with tables.  A state holds no pointer and is never changed: it may be shared, copied, or
 * be in shared memory.  Any bytes that sfx_hope_open accepts are a complete dictionary with all the
 * properties above.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_HOPE_H
#define SFX_HOPE_H

#include "sfx.h"

typedef enum SfxHopeScheme
{
	SFX_HOPE_SINGLE = 1,		/* one byte */
	SFX_HOPE_DOUBLE = 2,		/* two bytes; one at the end of an odd key */
	SFX_HOPE_GRAM3 = 3,			/* frequent 3-byte strings, and the intervals between them */
	SFX_HOPE_GRAM4 = 4,			/* the same with 4 bytes */
	SFX_HOPE_ALM = 5,			/* strings of any length, by length * frequency; codes of equal length */
	SFX_HOPE_ALM_IMPROVED = 6,	/* the same, weighed again by use, with optimal codes */
	SFX_FSST = 7				/* none of HOPE's: one or two whole bytes per symbol, read faster, in no order (fsst.h).  Of the calls below it has making,
								 * opening, sfx_hope_encode, decoding and comparing.  Any bytes are a code of something */
} SfxHopeScheme;

#define SFX_HOPE_NSCHEMES	6

/*
 * Most intervals of a dictionary: those of Double-Char, the end, and for each first byte 256 pairs
 * and the byte alone.
 */
#define SFX_HOPE_MAX_INTERVALS	(1 + 256 * 257)
#define SFX_HOPE_MIN_LIMIT		1024	/* smallest limit of intervals */

#define SFX_HOPE_MAXBITS	22	/* longest code */
#define SFX_HOPE_MAXSYM		32	/* longest symbol, in bytes */
#define SFX_HOPE_SLACK		32	/* decoding is fastest with that much room after the key */

/*
 * Most bytes of a dictionary with that many intervals: symbols with two bytes of lengths, and code
 * lengths.
 */
#define SFX_HOPE_DICT_BOUND(scheme, limit) \
	(64 + ((scheme) == SFX_HOPE_SINGLE ? 168 : (scheme) == SFX_HOPE_DOUBLE ? 41200 : \
	 (size_t) (limit) * ((scheme) == SFX_HOPE_GRAM3 ? 5 : (scheme) == SFX_HOPE_GRAM4 ? 6 : SFX_HOPE_MAXSYM + 3)))

typedef struct SfxHopeKey
{
	const uint8_t *key;
	uint32_t	len;
} SfxHopeKey;

/* The state of an open dictionary. */
typedef struct SfxHope SfxHope;

/* ---- making a dictionary ---- */

/*
 * Bytes of scratch memory (8-byte aligned) that sfx_hope_build needs for a sample of sample_bytes
 * bytes in all.  limit: most intervals (bounded by SFX_HOPE_MIN_LIMIT and SFX_HOPE_MAX_INTERVALS;
 * the numbers for Single- and Double-Char are fixed).
 */
extern size_t sfx_hope_build_size(SfxHopeScheme scheme, uint32_t limit, size_t sample_bytes);

/*
 * Make a dictionary from a sample of keys (any order, duplicates count) into dict.  Keys beyond 2
 * GB in sum are ignored.  Returns its length; SFX_NOSPACE if it does not fit into cap
 * (SFX_HOPE_DICT_BOUND is enough), SFX_NOMEM if scratch is too small.  Deterministic.  The sample
 * may be empty, and keys unlike it are encoded correctly, but not well.
 */
extern int sfx_hope_build(SfxHopeScheme scheme, uint32_t limit, const SfxHopeKey *keys, uint32_t nkeys,
						  void *scratch, size_t scratch_size, uint8_t *dict, size_t cap);

/* ---- opening one ---- */

/*
 * Bytes of state that sfx_hope_open needs, at most 16 MB; 0 if the dictionary is found to be
 * corrupt.
 */
extern size_t sfx_hope_state_size(const uint8_t *dict, size_t len);

/*
 * Open a dictionary in the 8-byte aligned memory at h (size bytes).  The dictionary's bytes are not
 * needed any more.  SFX_OK, SFX_CORRUPT, or SFX_NOMEM if size is too small.
 */
extern int sfx_hope_open(SfxHope *h, size_t size, const uint8_t *dict, size_t len);

extern SfxHopeScheme sfx_hope_scheme(const SfxHope *h);
extern uint32_t sfx_hope_intervals(const SfxHope *h);

/* ---- encoding ---- */

/*
 * Encode a key into out.  Returns the length in bytes, or SFX_NOSPACE if it does not fit into cap.
 */
extern int sfx_hope_encode(const SfxHope *h, const uint8_t *key, size_t len, uint8_t *out, size_t cap);

/* ---- decoding ---- */

/*
 * Decode an encoded key.  Returns its length; SFX_NOSPACE if it does not fit into cap, SFX_CORRUPT
 * if the bytes end within a code or go on after the end.  May write anywhere in out[0, cap); is
 * fastest if cap is at least 32 bytes more than the key.
 */
extern int sfx_hope_decode(const SfxHope *h, const uint8_t *in, size_t len, uint8_t *out, size_t cap);

/*
 * The same if readable (>= len) bytes at in may be read, though only len of them count: twice as
 * fast for short keys.
 */
extern int sfx_hope_decode_within(const SfxHope *h, const uint8_t *in, size_t len, size_t readable, uint8_t *out, size_t cap);

/*
 * Compare an encoded key with the bytes of t from at on, decoding only as much as that needs.
 * *lcp: at plus the number of bytes that they share.  *side < 0: the key is less, > 0: it is
 * greater and perhaps not all of t's bytes were looked at; 0: the key ends there, and t may go on.
 * SFX_OK, or SFX_CORRUPT, as far as it was decoded.
 */
extern int sfx_hope_compare(const SfxHope *h, const uint8_t *in, size_t len, size_t readable,
							const uint8_t *t, size_t tlen, size_t at, size_t *lcp, int *side);

#endif							/* SFX_HOPE_H */
