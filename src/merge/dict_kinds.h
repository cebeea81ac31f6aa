/*-------------------------------------------------------------------------
 * dict_kinds.h - which parts of a sample of rests are of other kinds of text than the others
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_DICT_KINDS_H
#define SURFIDX_DICT_KINDS_H

#include "hope.h"

/*
 * Divide n rests, in the order of their keys, into kinds, at most `most`, for each of which a
 * dictionary of its own is probably smaller than one for all: kind[i] is the number of rest i's.
 * Returns how many kinds there are.
 */
extern int	sfx_rest_kinds(const SfxHopeKey *rests, uint32 n, int most, uint8 *kind);

#endif							/* SURFIDX_DICT_KINDS_H */
