/*-------------------------------------------------------------------------
 * raw.h - parts of key.c: raw values (raw.c) and long ones (longvalue.c)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RAW_H
#define SURFIDX_RAW_H

#include "column.h"

/* Bit 7 of a count's first byte: the count has two bytes. */
#define SFX_COUNT_LONG	0x80

/* ---- raw.c: columns with col->raw; p and len as in keys, marker not included ---- */

/* Write a value at buf; returns the length, or -1 if it needs more than maxlen. */
extern int	sfx_raw_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen);

/* The same, compressed if that is possible; and was a value written so? */
extern int	sfx_raw_squeeze(const SfxColumn *col, Form_pg_attribute att, Datum value, uint8 *buf, int maxlen);
extern bool sfx_raw_is_squeezed(const SfxColumn *col, const uint8 *p, int len);

/*
 * Length of a value of varying width, its count or end mark included; -1 if it does not end within
 * avail.
 */
extern int	sfx_raw_length(const SfxColumn *col, const uint8 *p, int avail);

/*
 * Number of bytes of a counted value, which follow p[0], if they are few and not compressed; else
 * -1.
 */
static inline int
sfx_counted_short(const uint8 *p, int avail)
{
	return avail > 0 && p[0] < SFX_COUNT_LONG && p[0] < avail ? p[0] : -1;
}

/*
 * Read a value back; len is its length in the key.  Returns the bytes of arena that it used, where
 * by-reference values stand.
 */
extern int	sfx_raw_get(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena);

/* ---- longvalue.c: encoded values that have more than SFX_LONG_PLAIN bytes ---- */

/*
 * Write the bytes of such a value at buf, compressed; returns the length, -1 if it needs more than
 * maxlen or has no more bytes than that.
 */
extern int	sfx_long_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen);

/* Length of such a value, which starts at p; -1 if it does not end within avail. */
extern int	sfx_long_length(const uint8 *p, int avail, bool desc);

/*
 * The bytes as the encoding wrote them, palloc'd; *n: their number.  p is not complemented.  Throws
 * ERRCODE_INDEX_CORRUPTED.
 */
extern uint8 *sfx_long_get(const uint8 *p, int len, int *n);

/* ERROR: stored bytes are no such value. */
pg_noreturn extern pg_attribute_cold void sfx_long_damaged(void);

#endif							/* SURFIDX_RAW_H */
