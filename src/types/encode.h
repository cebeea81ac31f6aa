/*-------------------------------------------------------------------------
 * encode.h - values as bytes: markers, encodings, and what an operator class's support function 7
 * returns
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ENCODE_H
#define SURFIDX_ENCODE_H

/*
 * Ordered bytes: column by column a marker byte and, unless NULL, the encoded value:
 *
 *	NULL with NULLS FIRST	00
 *	not NULL				01 value	(value bytes complemented if DESC)
 *	NULL with NULLS LAST	02
 *
 * Encodings of values preserve order and delimit themselves.  After the last column come the rests
 * of those columns whose encoding has any (see SfxEncoding): what tells values apart that are
 * equal.
 */
#define SFX_MARK_NULL_FIRST	0x00
#define SFX_MARK_VALUE		0x01
#define SFX_MARK_NULL_LAST	0x02
/* only in bounds of the comparator key space, after the last column of a bound: */
#define SFX_MARK_BEFORE		0xFD	/* below every key that starts with columns equal to these */
#define SFX_MARK_AFTER		0xFF	/* above every key that starts with columns equal to these */

/* How a value can be read and written without a call of its encoding. */
typedef enum SfxDirect
{
	SFX_DIRECT_NO,
	SFX_DIRECT_SIGNED,			/* big-endian, sign bit flipped */
	SFX_DIRECT_UNSIGNED,		/* big-endian */
	SFX_DIRECT_FLOAT,			/* big-endian, the sign bit flipped, or all bits of negative ones;
								 * zeros and NaN have rests */
	SFX_DIRECT_BYTES,			/* fixed width, by reference: the value's own bytes */
	SFX_DIRECT_TEXT				/* varlena: its bytes, then 00 */
} SfxDirect;

/*
 * An encoding: what an operator class's support function SFX_ENCODING_PROC returns (a pointer to a
 * static one).
 *
 * Where values can be equal and yet different (-0 and 0, 1.0 and 1.00), encode writes the bytes
 * that equal values share.  What restores the original is the value's *rest*: a key ends with the
 * rests of its columns, after all values, where they have no part in the order of the columns (K1).
 * The length of a rest follows from the value's bytes and its own, and its first byte is below
 * SFX_REST_LIMIT.
 */
typedef struct SfxEncoding
{
	/* bytes of every encoded value; 0 = varying */
	int			width;

	/*
	 * encode and decode do no more than this says (width 1, 2, 4 or 8): a shortcut, used where the
	 * type is passed by value.  They are NULL where it always serves: up to width 4, and for
	 * BYTES.
	 */
	SfxDirect	direct;

	/*
	 * Append the value's bytes to buf (room for maxlen bytes); the length, or -1 if they do not
	 * fit.
	 */
	int			(*encode) (Datum value, uint8 *buf, int maxlen);

	/*
	 * Read a value from exactly the bytes that encode wrote.  Pass-by-reference values go to out,
	 * which is MAXALIGNed and has `room` bytes: at least len + NAMEDATALEN + 16, so only types
	 * whose values grow have to check.  Returns the Datum; *outlen = bytes used of out.  Throws
	 * ERRCODE_INDEX_CORRUPTED on bytes that encode cannot have written.
	 */
	Datum		(*decode) (const uint8 *buf, int len, char *out, int room, int *outlen);

	/*
	 * Varying width: the length of the value that starts at buf, its end mark included; -1 if it
	 * does not end within avail.  NULL for fixed width.  flip: 0, or 0xFF where the bytes are
	 * complemented (DESC).
	 */
	int			(*length) (const uint8 *buf, int avail, uint8 flip);

	/*
	 * Convert a constant of another type of the family (subtype) to a bound: see SfxBoundKind.
	 * NULL: only constants of the column's type.
	 */
	int			(*bound) (Oid subtype, Datum value, Datum *own, Datum *above);

	/*
	 * Append the value's rest, as encode does.  NULL, here and in the next two: equal values are
	 * the same.
	 */
	int			(*rest) (Datum value, uint8 *buf, int maxlen);

	/*
	 * The length of the rest that starts at `rest`, of a value whose bytes (not complemented) are
	 * buf; -1 if it does not end within avail.
	 */
	int			(*rest_length) (const uint8 *buf, int len, const uint8 *rest, int avail);

	/*
	 * As decode, with the rest: the very value.  Without it decode returns some value equal to
	 * that.
	 */
	Datum		(*restore) (const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen);

	/*
	 * A short cut for decode and restore, for readers of many values, or NULL: makes the value
	 * whose bytes begin at buf, complemented with flip, and end within avail, at out, which is
	 * MAXALIGNed and has avail + 16 bytes.  Returns the bytes of buf that it took; 0: use decode,
	 * which also finds damage.
	 */
	int			(*take) (const uint8 *buf, int avail, uint8 flip, char *out);

	/*
	 * Give the value at out, made by take, its rest, in place.  Returns the rest's bytes; -1: use
	 * restore.
	 */
	int			(*take_rest) (const uint8 *rest, int avail, char *out);

	/*
	 * Where values can be much longer than their bytes: the bytes of out that decode or restore
	 * needs, at least.
	 */
	int64		(*room) (const uint8 *buf, int len, const uint8 *rest, int restlen);
	/* true: only byte-comparing collations (C, POSIX) keep this order */
	bool		needs_c_collation;
} SfxEncoding;

#define SFX_REST_LIMIT		0xF0	/* below all end marks of bounds */

/*
 * A value's bytes beyond SFX_LONG_PLAIN are compressed (longvalue.c).  SFX_LONG_MAX: its size
 * before encoding, at most.
 */
#define SFX_LONG_PLAIN		1024
#define SFX_LONG_MAX		(1024 * 1024)

/* Where a constant of another type stands among the column type's values. */
typedef enum SfxBoundKind
{
	SFX_BOUND_EXACT,			/* equal to *own */
	SFX_BOUND_AFTER,			/* strictly between *own and its successor */
	SFX_BOUND_BELOW_ALL,
	SFX_BOUND_ABOVE_ALL,
	SFX_BOUND_NEAR,				/* equal to nothing below *own and nothing above *above; between
								 * them the operator decides */
	SFX_BOUND_UNKNOWN			/* cannot tell: the condition is left to a filter */
} SfxBoundKind;

#define SFX_ENCODING_PROC	7	/* support function number; 1 to 6 are as btree's */
#define SFX_NPROCS			7

#endif							/* SURFIDX_ENCODE_H */
