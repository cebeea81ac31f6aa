/*-------------------------------------------------------------------------
 * collate.h - two strings by a collation, at the least cost
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COLLATE_H
#define SURFIDX_COLLATE_H

#include "postgres.h"

/*
 * As text's comparison function says (below 0, 0, above 0).  A byte 00 stands behind each string,
 * as in keys, and none inside.  May throw.
 */
extern int	sfx_collate(Oid collation, const uint8 *a, int alen, const uint8 *b, int blen);

/* How often this backend has asked so. */
extern uint64 sfx_collations(void);

/*
 * Characters by a collation: equal ranks where they differ in no more than case or accents, 0: they
 * count for nothing.  What strings of ranks say of strings is a guess (B5), for as long as the
 * backend lives, and nothing ends it: another version of a collation makes it a worse one.
 */
#define SFX_RANKS_ASCII		128
#define SFX_RANKS_WIDE		1152	/* characters of two bytes in UTF-8, U+0080 to U+04FF */
#define SFX_RANKS_LATER		256 /* of these the first, which are asked for when they are met */
#define SFX_RANKS_ORDERED	224 /* ASCII, and the small letters of Greek and Cyrillic */
typedef struct SfxRanks
{
	struct SfxRanks *next;
	Oid			collation;
	bool		numeric;		/* digits count as numbers, by their value */
	int			n;				/* ranks are 1 to n */
	uint8		ascii[SFX_RANKS_ASCII];
	uint8		wide[SFX_RANKS_WIDE];	/* SFX_RANK_UNKNOWN: not asked for yet */
	uint16		of[SFX_RANKS_ORDERED];	/* a character of each rank */
} SfxRanks;

#define SFX_RANK_IGNORED	0
#define SFX_RANK_UNKNOWN	0xFF
#define SFX_RANK_OTHER		0xFD	/* characters of which nothing is known */

/*
 * Where a character of two bytes that begins so stands in SfxRanks.wide, if there are two bytes;
 * -1: it has none there.
 */
static inline int
sfx_rank_place(const uint8 *p, const uint8 *end)
{
	return end - p >= 2 && *p >= 0xC2 && *p < 0xC2 + SFX_RANKS_WIDE / 64 && (p[1] & 0xC0) == 0x80 ?
		(*p - 0xC2) * 64 + (p[1] & 0x3F) : -1;
}

/* Made when they are first asked for, by some 1,300 comparisons, and kept.  May throw. */
extern const SfxRanks *sfx_collate_ranks(Oid collation);

/* The ranks of a string's characters, at most cap; desc: complemented.  How many.  May throw. */
extern uint32 sfx_rank_string(const SfxRanks *ranks, const uint8 *p, int len, bool desc, uint8 *out,
							  uint32 cap);

/*
 * Which of two strings comes first by these ranks (below 0, above 0), most of the time; 0: that
 * cannot be guessed.  They end with their bytes or at a byte 00.
 */
extern int	sfx_collate_guess(const SfxRanks *ranks, const uint8 *a, const uint8 *aend,
							  const uint8 *b, const uint8 *bend);

#endif							/* SURFIDX_COLLATE_H */
