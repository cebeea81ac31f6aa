/*-------------------------------------------------------------------------
 * raw.h - what key.c is made of: raw values (raw.c) and long ones (longvalue.c)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_RAW_H
#define SURFIDX_RAW_H

#include "surfidx.h"
#include "column.h"

/* Bit 7 of a count's first byte: there is a second one. */
#define SFX_COUNT_LONG	0x80

/* ---- raw.c: columns with col->raw; p and len as in keys, marker not included ---- */

/* Append a value at buf; the length, or -1 if it does not fit into maxlen. */
extern int	sfx_raw_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen);

/* The same, compressing what can be compressed. */
extern int	sfx_raw_squeeze(const SfxColumn *col, Form_pg_attribute att, Datum value, uint8 *buf, int maxlen);
extern bool sfx_raw_is_squeezed(const SfxColumn *col, const uint8 *p, int len);

/*
 * The length of a value of varying width with its count or end mark; -1 if it does not lie within
 * avail.
 */
extern int	sfx_raw_length(const SfxColumn *col, const uint8 *p, int avail);

/* The bytes of a counted value, which stand behind p[0], if they are few and not squeezed; -1. */
static inline int
sfx_counted_short(const uint8 *p, int avail)
{
	return avail > 0 && p[0] < SFX_COUNT_LONG && p[0] < avail ? p[0] : -1;
}

/*
 * The inverse of put and squeeze, len as the former or the type says.  Returns bytes of arena used.
 */
extern int	sfx_raw_get(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena);

/* ---- longvalue.c: encoded values that have more than SFX_LONG_PLAIN bytes ---- */

/*
 * Append such a value's bytes at buf, compressed; -1 if it does not fit into maxlen or has fewer
 * bytes than that.
 */
extern int	sfx_long_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen);

/*
 * The length of the value that starts at p, which is longer than SFX_LONG_PLAIN; -1 if it does not
 * lie within avail.
 */
extern int	sfx_long_length(const uint8 *p, int avail, bool desc);

/*
 * Its bytes as the encoding wrote them, palloced; *n their number.  p is upright. Throws
 * ERRCODE_INDEX_CORRUPTED.
 */
extern uint8 *sfx_long_get(const uint8 *p, int len, int *n);

/* ERROR: stored bytes are no such value. */
pg_noreturn extern void sfx_long_damaged(void);

#endif							/* SURFIDX_RAW_H */
