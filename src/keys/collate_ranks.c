/*-------------------------------------------------------------------------
 * collate_ranks.c - which characters a collation puts first: what searches guess by
 *
 * A sort key of the provider's would tell more, and takes as long as some comparisons.  Ranks of
 * single characters take a table, and most strings differ first in a character that counts.  They
 * need not be right (B5): digits may count as numbers, letters in pairs, accents from the end.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "collate.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#define FIRST			0x20	/* what is below counts alike */
#define LAST			0x7E

static SfxRanks *known;			/* of each collation that was asked for */

/* Two characters, each with one behind it (0: none). */
static int
compare(Oid collation, int a, int abehind, int b, int bbehind)
{
	uint8		x[3] = {a, abehind, 0};
	uint8		y[3] = {b, bbehind, 0};

	return sfx_collate(collation, x, abehind ? 2 : 1, y, bbehind ? 2 : 1);
}

/* Does b, which comes behind a, differ from it in less than what stands behind them would? */
static bool
counts_alike(Oid collation, int a, int b)
{
	return compare(collation, b, '0', a, '1') < 0;
}

/* Does it count for nothing between two others? */
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

/* Are digits numbers? */
static bool
is_numeric(Oid collation)
{
	static const uint8 ten[] = "10";
	static const uint8 nine[] = "9";

	return sfx_collate(collation, ten, 2, nine, 1) > 0;
}

static void
fill_ranks(SfxRanks *r, Oid collation)
{
	uint8		sorted[SFX_RANKS_ASCII];
	int			n = 0;

	memset(r, 0, sizeof(*r));
	r->collation = collation;
	r->numeric = is_numeric(collation);
	memset(r->wide, SFX_RANK_UNKNOWN, sizeof(r->wide));
	for (int c = FIRST; c <= LAST; c++)
	{
		int			lo = 0,
					hi = n;

		if (is_ignored(collation, c))
			continue;
		while (lo < hi)
		{
			int			mid = (lo + hi) / 2;

			if (compare(collation, sorted[mid], 0, c, 0) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		memmove(sorted + lo + 1, sorted + lo, n++ - lo);
		sorted[lo] = c;
	}
	for (int i = 0; i < n; i++)
	{
		if (i == 0 || !counts_alike(collation, sorted[i - 1], sorted[i]))
			r->of[++r->n] = sorted[i];
		r->ascii[sorted[i]] = r->n;
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

/* Of a character of two bytes: that of the ASCII one that it counts like, or the one before it. */
static uint8
rank_wide(const SfxRanks *r, const uint8 *p)
{
	uint8		x[4] = {p[0], p[1], 0};
	uint8		y[3] = {0};
	int			lo = 1,
				hi = r->n + 1;

	/* the last rank whose character, and all that count alike, stand before it */
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		y[0] = r->of[mid];
		if (sfx_collate(r->collation, y, 1, x, 2) < 0)
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
		int			rank = SFX_RANK_OTHER;

		if (*p < SFX_RANKS_ASCII)
			rank = ranks->ascii[*p++];
		else if (end - p >= 2 && *p >= 0xC2 && *p <= 0xC5 && GetDatabaseEncoding() == PG_UTF8)
		{
			uint8	   *wide = unconstify(uint8 *, &ranks->wide[(*p - 0xC2) * 64 + (p[1] & 0x3F)]);

			if (*wide == SFX_RANK_UNKNOWN)
				*wide = rank_wide(ranks, p);
			rank = *wide;
			p += 2;
		}
		else
			p++;
		if (rank > 0)
			out[n++] = rank ^ flip;
	}
	if (n < cap)
		out[n++] = flip;
	return n;
}
