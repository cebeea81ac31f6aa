/*-------------------------------------------------------------------------
 * dict_kinds.c - which parts of a sample of rests are of other kinds of text than the others
 *
 * Neighbors are alike, so rests are looked at in stretches, each by the numbers of its pairs of
 * bytes.  Stretches are divided between two kinds as k-means does: each goes to the kind by whose
 * pairs it would be coded in fewer bits.  What a kind takes is the length of the code that learns
 * its pairs as it goes (Krichevsky and Trofimov's); so a division that only follows chance takes
 * more bits than none.  Pairs tell in a millisecond whether it is worth it to train several
 * dictionaries, which takes tens of them.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "dict_kinds.h"

#include <math.h>

#define STRETCH_RESTS	256
#define PAIRS			1024	/* numbers that pairs of bytes are mapped to */
#define FIRST_CUTS		8		/* a division begins as one of so many equal parts */
#define ROUNDS			8
#define KIND_GAIN		0.03	/* share of its bits that the division of a kind has to save */

typedef struct Stretch
{
	int			kind;
	uint32		count[PAIRS];
} Stretch;

/* A kind's pairs. */
typedef struct Kind
{
	double		total;
	double		count[PAIRS];
} Kind;

static void
count_pairs(const SfxHopeKey *rests, uint32 n, Stretch *s)
{
	memset(s, 0, sizeof(*s));
	for (uint32 i = 0; i < n; i++)
	{
		uint32		before = 0;

		for (uint32 j = 0; j < rests[i].len; j++)
		{
			uint32		pair = before << 8 | rests[i].key[j];

			s->count[pair * 2654435761u >> 22]++;
			before = rests[i].key[j];
		}
	}
}

static void
sum_kind(const Stretch *s, int n, int kind, Kind *k)
{
	memset(k, 0, sizeof(*k));
	for (int i = 0; i < n; i++)
		for (int p = 0; p < PAIRS && s[i].kind == kind; p++)
		{
			k->count[p] += s[i].count[p];
			k->total += s[i].count[p];
		}
}

/* Length of the code that learns the kind's pairs as it goes, in units of log(2) bits. */
static double
kind_length(const Kind *k)
{
	double		length = lgamma(k->total + PAIRS / 2.0) - lgamma(PAIRS / 2.0);

	for (int p = 0; p < PAIRS; p++)
		if (k->count[p] > 0)
			length -= lgamma(k->count[p] + 0.5) - lgamma(0.5);
	return length;
}

/* The lengths of a and b together; what they take of the stretches is known. */
static double
pair_length(const Stretch *s, int n, int a, int b)
{
	Kind		k[2];

	sum_kind(s, n, a, &k[0]);
	sum_kind(s, n, b, &k[1]);
	return kind_length(&k[0]) + kind_length(&k[1]);
}

/* Give each stretch of kinds a and b to the one by whose pairs it takes less.  Does any change? */
static bool
assign_stretches(Stretch *s, int n, int a, int b)
{
	Kind		ka,
				kb;
	bool		changed = false;

	sum_kind(s, n, a, &ka);
	sum_kind(s, n, b, &kb);
	/* by how much a pair is longer in a than in b */
	for (int p = 0; p < PAIRS; p++)
		ka.count[p] = log((kb.count[p] + 0.5) / (kb.total + PAIRS / 2.0) / (ka.count[p] + 0.5) * (ka.total + PAIRS / 2.0));
	for (int i = 0; i < n; i++)
	{
		double		longer = 0;
		int			kind = s[i].kind;

		if (kind != a && kind != b)
			continue;
		for (int p = 0; p < PAIRS; p++)
			longer += s[i].count[p] * ka.count[p];
		s[i].kind = longer > 0 ? b : a;
		changed |= s[i].kind != kind;
	}
	return changed;
}

/* Give the stretches of kind a, from the at-th of its `of` equal parts on, to kind b. */
static void
cut_kind(Stretch *s, int n, int a, int b, int at, int of)
{
	int			members = 0,
				seen = 0;

	for (int i = 0; i < n; i++)
		members += s[i].kind == a;
	for (int i = 0; i < n; i++)
		if (s[i].kind == a && seen++ >= members * at / of)
			s[i].kind = b;
}

/* Kind b goes back to a. */
static void
join_kinds(Stretch *s, int n, int a, int b)
{
	for (int i = 0; i < n; i++)
		if (s[i].kind == b)
			s[i].kind = a;
}

/* Divide kind a, if that is worth it, into a and b, which is new.  False: it is not. */
static bool
divide_kind(Stretch *s, int n, int a, int b)
{
	Kind		whole;
	double		limit,
				best;
	int			cut = 0;

	sum_kind(s, n, a, &whole);
	best = kind_length(&whole);
	limit = (1 - KIND_GAIN) * best;
	for (int at = 1; at < FIRST_CUTS; at++)
	{
		double		length;

		cut_kind(s, n, a, b, at, FIRST_CUTS);
		length = pair_length(s, n, a, b);
		if (length < best)
		{
			best = length;
			cut = at;
		}
		join_kinds(s, n, a, b);
	}
	if (cut == 0)
		return false;
	cut_kind(s, n, a, b, cut, FIRST_CUTS);
	for (int i = 0; i < ROUNDS && assign_stretches(s, n, a, b); i++)
		;
	if (pair_length(s, n, a, b) < limit)
		return true;
	join_kinds(s, n, a, b);
	return false;
}

int
sfx_rest_kinds(const SfxHopeKey *rests, uint32 n, int most, uint8 *kind)
{
	int			nstretches = n / STRETCH_RESTS;
	Stretch    *s;
	int			kinds = 1;

	memset(kind, 0, n);
	if (nstretches < 2)
		return 1;
	s = palloc(nstretches * sizeof(Stretch));
	for (int i = 0; i < nstretches; i++)
		count_pairs(rests + i * STRETCH_RESTS, STRETCH_RESTS, &s[i]);
	for (int a = 0; a < kinds && kinds < most;)
		if (divide_kind(s, nstretches, a, kinds))
			kinds++;
		else
			a++;
	for (uint32 i = 0; i < n; i++)
		kind[i] = s[Min((int) (i / STRETCH_RESTS), nstretches - 1)].kind;
	pfree(s);
	return kinds;
}
