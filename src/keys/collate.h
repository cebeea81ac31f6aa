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

/*
 * Characters by a collation: equal ranks where they differ in no more than case or accents, 0: they
 * count for nothing.  What strings of ranks say of strings is a guess (B5), for as long as the
 * backend lives, and nothing ends it: another version of a collation makes it a worse one.
 */
#define SFX_RANKS_ASCII		128
#define SFX_RANKS_WIDE		256 /* characters of two bytes in UTF-8, from U+0080 on */
typedef struct SfxRanks
{
	struct SfxRanks *next;
	Oid			collation;
	bool		numeric;		/* digits count as numbers, by their value */
	int			n;				/* ranks of ASCII: 1 to n */
	uint8		ascii[SFX_RANKS_ASCII];
	uint8		wide[SFX_RANKS_WIDE];	/* SFX_RANK_UNKNOWN: not asked for yet */
	uint8		of[SFX_RANKS_ASCII];	/* a character of each rank */
} SfxRanks;

#define SFX_RANK_IGNORED	0
#define SFX_RANK_UNKNOWN	0xFF
#define SFX_RANK_OTHER		0xFD	/* characters of which nothing is known */

/* Made when they are first asked for, by some 800 comparisons, and kept.  May throw. */
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
