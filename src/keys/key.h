/*-------------------------------------------------------------------------
 * key.h - keys: Datums to bytes and back
 *
 * Functions that read stored keys treat them as hostile, and raise ERRCODE_INDEX_CORRUPTED, naming
 * the index, on bytes that cannot have been written.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_KEY_H
#define SURFIDX_KEY_H

#include "column.h"

/*
 * For builds: ERROR (FEATURE_NOT_SUPPORTED, naming the column) if comparisons of arrays, rows or
 * ranges would call a function that is not in C.
 */
extern void sfx_key_check_inside(const SfxKeyDesc *kd, Relation index);

/*
 * Encode all key columns into buf (SFX_MAX_ENTRY bytes); returns the length.  In the comparator key
 * space long values are compressed if the key is too large otherwise (half of SFX_MAX_ENTRY if
 * there are INCLUDE columns: whether values are compressed follows from the key alone).  ERROR
 * (PROGRAM_LIMIT_EXCEEDED, naming the index) if the key is larger than SFX_MAX_ENTRY.
 */
extern int	sfx_key_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull, uint8 *buf);

/* Append a column's marker and value to buf at *len; false if there is no room. */
extern bool sfx_column_encode(const SfxColumn *col, Datum value, bool isnull, uint8 *buf, int *len, int maxlen);

/*
 * The same for a value to search for, of column attno (from 0), which is compressed if only that
 * makes it fit.
 */
extern bool sfx_bound_encode(const SfxKeyDesc *kd, Relation index, int attno, Datum value, uint8 *buf, int *len, int maxlen);

/*
 * Has a stored key a compressed value?  Then equal keys need not have equal bytes, whatever
 * image_equal says.
 */
extern bool sfx_key_is_squeezed(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len);

/*
 * Decode key columns [0, upto) of a key: the very values if these are all columns, else perhaps
 * others that are equal to them.  Pass-by-reference values go to arena (MAXALIGNed, SFX_ARENA
 * bytes); where sfx_key_may_be_long they may go to palloc'd memory, with much garbage beside them.
 */
#define SFX_ARENA	(2 * BLCKSZ)
extern void sfx_key_decode(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, int upto,
						   Datum *values, bool *isnull, char *arena);

/*
 * Length of the value (marker not included) that starts at p; ERROR if it does not end within
 * avail.
 */
extern int	sfx_value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail);

/* The same with the marker, at p. */
extern int	sfx_column_length(const SfxColumn *col, Relation index, const uint8 *p, int avail);

/* Where a column stands in keys without NULLs; -1: not at one place.  column: nkeys for their end. */
extern int	sfx_key_place(const SfxKeyDesc *kd, int column);

/*
 * Length of a raw string whose bytes stand in the key as they are (nothing escaped, not
 * compressed); -1 if they do not.
 */
extern int	sfx_plain_string(const SfxColumn *col, const uint8 *p, int len);

/*
 * Decode a value of a column, its rest ignored; returns the bytes of arena (MAXALIGNed) that it
 * used.
 */
extern int	sfx_value_decode(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena);

/*
 * The same for the very value of a stored key: its rest, if the column has rests, starts at `rest`
 * and ends within avail; *restlen: its length.  arena has room bytes.  -1: the value is long, or
 * may need more than these.
 */
extern int	sfx_value_make(const SfxColumn *col, Relation index, const uint8 *p, int len,
						   const uint8 *rest, int avail, int *restlen, Datum *value, char *arena,
						   int room);

/* For error_context_stack: names the index (arg) whose key is being read. */
extern void sfx_key_error_context(void *arg);

/* Length of a stored key without its rests; all of it if the index has none. */
extern int	sfx_key_equal_len(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len);

/*
 * The range [lo, hi) of all keys whose columns all equal key's.  Buffers of SFX_MAX_ENTRY + 1
 * bytes; hi->key NULL: to the end.
 */
extern void sfx_key_range(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, uint8 *lobuf, SfxPos *lo,
						  uint8 *hibuf, SfxPos *hi);

#endif							/* SURFIDX_KEY_H */
