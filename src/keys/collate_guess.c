/*-------------------------------------------------------------------------
 * collate_guess.c - guessing the order of two strings by ranks of characters
 *
 * Most strings are told apart by the first letter, digit or sign that differs and is not ignored,
 * whatever its case.  Letters of three bytes, letters written as two characters, accents and levels
 * are not looked at: guesses are proved (B5).  No collation is asked, since the caller may hold
 * locks.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "collate.h"

/*
 * The next rank of a string that counts; *p moves past its character.  -1: the string is at its
 * end.
 */
static inline int
next_rank(const SfxRanks *ranks, const uint8 **p, const uint8 *end)
{
	while (*p < end && **p != 0)
	{
		int			place = sfx_rank_place(*p, end);
		uint8		rank = SFX_RANK_OTHER;

		if (place >= SFX_RANKS_LATER)
			rank = ranks->wide[place];
		else if (place < 0 && **p < SFX_RANKS_ASCII)
			rank = ranks->ascii[**p];
		*p += place >= 0 ? 2 : 1;
		if (rank != SFX_RANK_IGNORED)
			return rank;
	}
	return -1;
}

int
sfx_collate_guess(const SfxRanks *ranks, const uint8 *a, const uint8 *aend,
				  const uint8 *b, const uint8 *bend)
{
	uint32		same = sfx_lcp(a, (uint32) (aend - a), b, (uint32) (bend - b));

	/*
	 * A string ends where both still agree: the other is the same or goes on, and what differs may
	 * be in the next column, which these ranks do not apply to.
	 */
	if (ranks->numeric || (same > 0 && memchr(a, 0, same) != NULL))
		return 0;

	/*
	 * step back to the start of the character: letters of one alphabet may share their first byte
	 */
	while (same > 0 && ((a + same < aend && (a[same] & 0xC0) == 0x80) ||
						(b + same < bend && (b[same] & 0xC0) == 0x80)))
		same--;
	a += same;
	b += same;
	for (;;)
	{
		int			x = next_rank(ranks, &a, aend);
		int			y = next_rank(ranks, &b, bend);

		if (x == SFX_RANK_OTHER || y == SFX_RANK_OTHER || (x < 0 && y < 0))
			return 0;
		if (x != y)
			return x - y;
	}
}
