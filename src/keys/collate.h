/*-------------------------------------------------------------------------
 * collate.h - comparing two strings by a collation, and guessing how they compare
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_COLLATE_H
#define SURFIDX_COLLATE_H

/*
 * Compare as text's comparison function does (below 0, 0, above 0).  A byte 00 follows each string,
 * as in keys, and none is inside.  May throw.
 */
extern int	sfx_collate(Oid collation, const uint8 *a, int alen, const uint8 *b, int blen);

/* How many strings this backend has compared so far, for tests and statistics. */
extern uint64 sfx_collations(void);

/*
 * Ranks of characters by a collation: equal where characters differ in no more than case or
 * accents, 0 where they count for nothing.  What ranks say of strings is a guess (B5).  They are
 * kept as long as the backend lives, and nothing invalidates them: a new version of the collation
 * makes the guesses worse, not the answers.
 */
#define SFX_RANKS_ASCII		128
#define SFX_RANKS_WIDE		1152	/* characters of two bytes in UTF-8, U+0080 to U+04FF */
#define SFX_RANKS_LATER		256 /* the first of these, which are ranked when they are met */
#define SFX_RANKS_ORDERED	224 /* ASCII, and the small letters of Greek and Cyrillic */
typedef struct SfxRanks
{
	struct SfxRanks *next;
	Oid			collation;
	bool		numeric;		/* digits count as numbers, by their value: there are no guesses */
	int			n;				/* ranks are 1 to n */
	uint8		ascii[SFX_RANKS_ASCII];
	uint8		wide[SFX_RANKS_WIDE];	/* SFX_RANK_UNKNOWN: not asked for yet */
	uint16		of[SFX_RANKS_ORDERED];	/* a character of each rank */
} SfxRanks;

#define SFX_RANK_IGNORED	0
#define SFX_RANK_UNKNOWN	0xFF
#define SFX_RANK_OTHER		0xFD	/* characters whose rank is not known */

/*
 * The index in SfxRanks.wide of the two-byte character that begins at p, if two bytes are there;
 * -1: it has none.
 */
static inline int
sfx_rank_place(const uint8 *p, const uint8 *end)
{
	return end - p >= 2 && *p >= 0xC2 && *p < 0xC2 + SFX_RANKS_WIDE / 64 && (p[1] & 0xC0) == 0x80 ?
		(*p - 0xC2) * 64 + (p[1] & 0x3F) : -1;
}

/*
 * The ranks of a collation; made when they are first asked for, by some 1,300 comparisons.  May
 * throw.
 */
extern const SfxRanks *sfx_collate_ranks(Oid collation);

/*
 * Write the ranks of a string's characters, at most cap, to out; desc: complemented.  Returns how
 * many.  May throw, as it may rank characters that are met for the first time.
 */
extern uint32 sfx_rank_string(const SfxRanks *ranks, const uint8 *p, int len, bool desc, uint8 *out,
							  uint32 cap);

/*
 * Which of two strings probably comes first (below 0, above 0); 0: that cannot be guessed.  Each
 * ends at its end pointer, or at a byte 00.  Calls no collation, so it may run under locks.
 */
extern int	sfx_collate_guess(const SfxRanks *ranks, const uint8 *a, const uint8 *aend,
							  const uint8 *b, const uint8 *bend);

#endif							/* SURFIDX_COLLATE_H */
