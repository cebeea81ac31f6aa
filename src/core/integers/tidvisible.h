/*-------------------------------------------------------------------------
 * tidvisible.h - how many rows of a block of TIDs are on all-visible heap blocks
 *
 * Counting needs no TIDs if a codec tells the heap blocks of many at once: a run of consecutive
 * offsets is tested by one bit.  (Lemire, Rupp: "Upscaledb", 2017, count on compressed blocks in
 * the same way.)
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TIDVISIBLE_H
#define SFX_TIDVISIBLE_H

#include "cpu.h"
#include "tidcodec.h"

/*
 * Write to hidden those of TIDs [from, to) of an encoded block (as for sfx_tid_decode) whose heap
 * block is not all-visible, in entry order.  hidden has room for to - from + SFX_HIDDEN_SLACK.
 * Returns how many, or SFX_CORRUPT.  Each TID's bit of the map, or one bit for all TIDs of a run,
 * is read once, at some time during the call.
 */
extern int sfx_tid_hidden(const uint8_t *in, size_t len, int n, const uint16_t *ends, int nlists,
						  int from, int to, const SfxVisMap *map, uint64_t *hidden);

#endif							/* SFX_TIDVISIBLE_H */
