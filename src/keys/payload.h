/*-------------------------------------------------------------------------
 * payload.h - INCLUDE columns, and values as rows store them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_PAYLOAD_H
#define SURFIDX_PAYLOAD_H

#include "column.h"

/*
 * Write the INCLUDE columns as payload bytes at buf; returns the length, 0 if there are none.
 * ERROR if they need more than maxlen.
 */
extern int	sfx_payload_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull,
							   uint8 *buf, int maxlen);

/*
 * Decode a payload into values[nkeys..natts).  Pass-by-reference Datums point into arena
 * (MAXALIGNed, SFX_ARENA bytes).  ERROR if it is damaged.
 */
extern void sfx_payload_decode(const SfxKeyDesc *kd, Relation index, const uint8 *payload, int len,
							   Datum *values, bool *isnull, char *arena);

/*
 * The same, but Datums may point into the payload as well, unaligned where their type allows that.
 * arena has len bytes and MAXIMUM_ALIGNOF for each column; returns its first free byte.
 */
extern char *sfx_payload_in_place(const SfxKeyDesc *kd, Relation index, const uint8 *payload,
								  int len, Datum *values, bool *isnull, char *arena);

#endif							/* SURFIDX_PAYLOAD_H */
