/*-------------------------------------------------------------------------
 * key.h - keys: Datums to bytes and back
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_KEY_H
#define SURFIDX_KEY_H

#include "column.h"

/*
 * For who builds the index: comparisons of arrays, rows and ranges ask those of what is inside,
 * which have to be in C, too.  Throws ERRCODE_FEATURE_NOT_SUPPORTED with the column's name.
 */
extern void sfx_key_check_inside(const SfxKeyDesc *kd, Relation index);

/* Encode all key columns; the length.  In the comparator key space long values are compressed if the key is too large
 * otherwise (half of SFX_MAX_ENTRY where there are INCLUDE columns: whether they are follows from the key alone).  Throws ERRCODE_PROGRAM_LIMIT_EXCEEDED with the index's name if
 * the key is larger than SFX_MAX_ENTRY.  buf has SFX_MAX_ENTRY bytes. */
extern int	sfx_key_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull, uint8 *buf);

/* Append a column's marker and value to buf at *len; false if there is no room. */
extern bool sfx_column_encode(const SfxColumn *col, Datum value, bool isnull, uint8 *buf, int *len, int maxlen);

/*
 * As above for a value to search for, which is compressed if only that makes it fit; attno is
 * 0-based.
 */
extern bool sfx_bound_encode(const SfxKeyDesc *kd, Relation index, int attno, Datum value, uint8 *buf, int *len, int maxlen);

/*
 * Has a stored key a value that is compressed?  Then equal keys need not have equal bytes, whatever
 * image_equal says.
 */
extern bool sfx_key_is_squeezed(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len);

/* Decode the key columns [0, upto) of a key: the very values if these are all, else perhaps others equal to them; pass-by-reference values go to arena (MAXALIGNed, SFX_ARENA bytes),
 * or, where sfx_key_may_be_long, perhaps to palloced memory, of which much more may be left behind. */
#define SFX_ARENA	(2 * BLCKSZ)
extern void sfx_key_decode(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, int upto,
						   Datum *values, bool *isnull, char *arena);

/* The bytes of the value (marker not included) that starts at p; throws if it runs beyond avail. */
extern int	sfx_value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail);

/* The same with the marker, with which it starts. */
extern int	sfx_column_length(const SfxColumn *col, Relation index, const uint8 *p, int avail);

/*
 * The bytes of a raw string as they are, if they stand like that in the key (nothing escaped, not
 * compressed): their number, else -1.
 */
extern int	sfx_plain_string(const SfxColumn *col, const uint8 *p, int len);

/* Decode one value of a column; returns the bytes of arena (MAXALIGNed) that it took. */
extern int	sfx_value_decode(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena);

/*
 * The same for a value of a stored key whose rest, if its column has them, starts at rest and has
 * *restlen bytes within avail: the very value.  arena has room bytes.  -1: it is long, or may take
 * more than these.
 */
extern int	sfx_value_make(const SfxColumn *col, Relation index, const uint8 *p, int len,
						   const uint8 *rest, int avail, int *restlen, Datum *value, char *arena,
						   int room);

/* An error context for who calls these: which index (arg) is read. */
extern void sfx_key_error_context(void *arg);

/* The bytes of a stored key without the rests: all of it, if the index has none. */
extern int	sfx_key_equal_len(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len);

/*
 * The range [lo, hi) of all keys whose columns all equal key's; buffers of SFX_MAX_ENTRY + 1 bytes;
 * hi->key NULL: to the end.
 */
extern void sfx_key_range(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, uint8 *lobuf, SfxPos *lo,
						  uint8 *hibuf, SfxPos *hi);

#endif							/* SURFIDX_KEY_H */
