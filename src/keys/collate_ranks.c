/*-------------------------------------------------------------------------
 * collate_ranks.c - which characters a collation puts first: what searches guess by
 *
 * A sort key of the provider's would tell more, but takes as long as several comparisons.  Ranks of
 * single characters are a table lookup, and most strings differ first in a character that counts.
 * Ranks need not be right (B5): a collation may take digits for numbers, letters in pairs, accents
 * from the end.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "collate.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#define FIRST			0x20	/* characters below it share one rank */
#define LAST			0x7E

static SfxRanks *known;			/* the ranks made so far, of all collations */

/*
 * Small letters of alphabets beyond ASCII, about in the order of most collations: each is first
 * tried right after the one before.
 */
static const uint16 greek[] = {
	0x3B1, 0x3AC, 0x3B2, 0x3B3, 0x3B4, 0x3B5, 0x3AD, 0x3B6, 0x3B7, 0x3AE, 0x3B8, 0x3B9,
	0x3AF, 0x3CA, 0x3BA, 0x3BB, 0x3BC, 0x3BD, 0x3BE, 0x3BF, 0x3CC, 0x3C0, 0x3C1, 0x3C3,
	0x3C2, 0x3C4, 0x3C5, 0x3CD, 0x3CB, 0x3C6, 0x3C7, 0x3C8, 0x3C9, 0x3CE
};
static const uint16 cyrillic[] = {
	0x430, 0x431, 0x432, 0x433, 0x491, 0x434, 0x452, 0x453, 0x435, 0x450, 0x451, 0x454,
	0x436, 0x437, 0x455, 0x438, 0x45D, 0x456, 0x457, 0x439, 0x458, 0x43A, 0x43B, 0x459,
	0x43C, 0x43D, 0x45A, 0x43E, 0x43F, 0x440, 0x441, 0x442, 0x45B, 0x45C, 0x443, 0x45E,
	0x444, 0x445, 0x446, 0x447, 0x45F, 0x448, 0x449, 0x44A, 0x44B, 0x44C, 0x44D, 0x44E,
	0x44F
};

/* The capital letter of one of them, or the character in its place. */
static int
capital_of(int c)
{
	static const uint8 accented[] = {0x88, 0x89, 0x8A};

	return c == 0x3AC ? 0x386 : c >= 0x3AD && c <= 0x3AF ? 0x300 + accented[c - 0x3AD] :
		c == 0x3CC ? 0x38C : c == 0x3CD || c == 0x3CE ? c - 0x3CD + 0x38E :
		c == 0x491 ? 0x490 : c >= 0x450 ? c - 0x50 : c - 0x20;
}

/* Write a character of one byte, or of two in UTF-8; returns its bytes. */
static int
put_char(uint8 *p, int c)
{
	if (c < SFX_RANKS_ASCII)
	{
		p[0] = c;
		return 1;
	}
	p[0] = 0xC0 | c >> 6;
	p[1] = 0x80 | (c & 0x3F);
	return 2;
}

/* Compare two characters, each followed by another one (0: by none). */
static int
compare(Oid collation, int a, int abehind, int b, int bbehind)
{
	uint8		x[4],
				y[4];
	int			xlen = put_char(x, a),
				ylen = put_char(y, b);

	x[xlen] = abehind;
	y[ylen] = bbehind;
	xlen += abehind != 0;
	ylen += bbehind != 0;
	x[xlen] = y[ylen] = 0;
	return sfx_collate(collation, x, xlen, y, ylen);
}

/* Does b, which comes after a, differ from it by less than the characters after them would? */
static bool
counts_alike(Oid collation, int a, int b)
{
	return compare(collation, b, '0', a, '1') < 0;
}

/* Is the character ignored between two others? */
static bool
is_ignored(Oid collation, int c)
{
	uint8		x[4] = {'0', c, '0', 0};
	uint8		y[3] = {'0', '1', 0};

	if (sfx_collate(collation, x, 3, y, 2) >= 0)
		return false;
	x[2] = '2';
	return sfx_collate(collation, x, 3, y, 2) > 0;
}

/* Are digits compared as numbers? */
static bool
is_numeric(Oid collation)
{
	static const uint8 ten[] = "10";
	static const uint8 nine[] = "9";

	return sfx_collate(collation, ten, 2, nine, 1) > 0;
}

/* Characters in a collation's order. */
typedef struct Sorted
{
	Oid			collation;
	int			n;
	uint16		of[SFX_RANKS_ORDERED];
} Sorted;

/*
 * Insert a character in order; at: the index after which it probably belongs, -1: unknown.  Returns
 * its index.
 */
static int
sort_in(Sorted *s, int c, int at)
{
	int			lo = 0,
				hi = s->n;
	bool		near = at >= 0;

	while (lo < hi)
	{
		int			mid = !near ? (lo + hi) / 2 : lo <= at ? at : at + 1;

		if (compare(s->collation, s->of[mid], 0, c, 0) < 0)
			lo = mid + 1;
		else
			hi = mid;
		/* if the guess was right, two comparisons show it */
		near = near && lo == at + 1;
	}
	memmove(s->of + lo + 1, s->of + lo, (s->n++ - lo) * sizeof(s->of[0]));
	s->of[lo] = c;
	return lo;
}

/* Insert the letters of an alphabet. */
static void
sort_letters(Sorted *s, const uint16 *letter, int n)
{
	int			at = -1;

	for (int i = 0; i < n; i++)
		at = sort_in(s, letter[i], at);
}

/* Give a capital the rank of its small letter, if the two count alike, whichever comes first. */
static void
rank_capital(SfxRanks *r, int small, int rank)
{
	int			c = capital_of(small);

	if (small != 0x3C2 && counts_alike(r->collation, small, c) &&
		counts_alike(r->collation, c, small))
		r->wide[c - 0x80] = rank;
}

/*
 * Make the ranks of a collation: sort the characters, then count a rank for each group of them that
 * count alike.
 */
static void
fill_ranks(SfxRanks *r, Oid collation)
{
	Sorted		s = {collation};

	memset(r, 0, sizeof(*r));
	r->collation = collation;
	r->numeric = is_numeric(collation);
	memset(r->wide, SFX_RANK_OTHER, sizeof(r->wide));
	for (int c = FIRST; c <= LAST; c++)
		if (!is_ignored(collation, c))
			(void) sort_in(&s, c, -1);
	if (GetDatabaseEncoding() == PG_UTF8)
	{
		memset(r->wide, SFX_RANK_UNKNOWN, SFX_RANKS_LATER);
		sort_letters(&s, greek, lengthof(greek));
		sort_letters(&s, cyrillic, lengthof(cyrillic));
	}
	for (int i = 0; i < s.n; i++)
	{
		int			c = s.of[i];

		if (i == 0 || !counts_alike(collation, s.of[i - 1], c))
			r->of[++r->n] = c;
		if (c < SFX_RANKS_ASCII)
			r->ascii[c] = r->n;
		else
		{
			r->wide[c - 0x80] = r->n;
			rank_capital(r, c, r->n);
		}
	}
	for (int c = 1; c < FIRST; c++)
		r->ascii[c] = 1;
}

const SfxRanks *
sfx_collate_ranks(Oid collation)
{
	SfxRanks   *r = known;
	SfxRanks	made;

	while (r != NULL && r->collation != collation)
		r = r->next;
	if (r != NULL)
		return r;
	fill_ranks(&made, collation);
	made.next = known;
	r = MemoryContextAlloc(TopMemoryContext, sizeof(*r));
	*r = made;
	known = r;
	return r;
}

/*
 * The rank of a character of two bytes met for the first time: that of the character that it counts
 * like, or of the one before it.
 */
static uint8
rank_wide(const SfxRanks *r, const uint8 *p)
{
	int			c = (p[0] & 0x1F) << 6 | (p[1] & 0x3F);
	int			lo = 1,
				hi = r->n + 1;

	/* the last rank whose character, and all that count alike, come before it */
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (compare(r->collation, r->of[mid], 0, c, 0) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 1 ? lo - 1 : 1;
}

uint32
sfx_rank_string(const SfxRanks *ranks, const uint8 *p, int len, bool desc, uint8 *out, uint32 cap)
{
	const uint8 *end = p + len;
	uint32		n = 0;
	uint8		flip = desc ? 0xFF : 0;

	while (p < end && n < cap)
	{
		int			place = sfx_rank_place(p, end);
		int			rank = SFX_RANK_OTHER;

		if (place >= 0)
		{
			uint8	   *wide = unconstify(uint8 *, &ranks->wide[place]);

			if (*wide == SFX_RANK_UNKNOWN)
				*wide = rank_wide(ranks, p);
			rank = *wide;
		}
		else if (*p < SFX_RANKS_ASCII)
			rank = ranks->ascii[*p];
		p += place >= 0 ? 2 : 1;
		if (rank > 0)
			out[n++] = rank ^ flip;
	}
	if (n < cap)
		out[n++] = flip;
	return n;
}
