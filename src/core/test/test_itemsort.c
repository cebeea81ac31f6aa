/*
 * The sorts of byte strings, in their own order and in another one, against qsort, on sets that use
 * all of their branches; and they can be left at any poll.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "itemsort.h"
#include "tap.h"

#define MAXITEMS	20000
#define ARENA		(1 << 22)

static uint8_t	arena[ARENA];
static SfxItem	items[MAXITEMS];
static SfxItem	want[MAXITEMS];
static SfxItem	tmp[MAXITEMS];
static size_t	used;
static uint64_t	seed;

static uint64_t
pick(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % n;
}

static int
cmp(const void *x, const void *y)
{
	const SfxItem *a = x;
	const SfxItem *b = y;
	int			c = sfx_cmp_bytes(sfx_item_bytes(a), sfx_item_len(a), sfx_item_bytes(b), sfx_item_len(b));

	/* qsort is not stable: equal strings by address */
	return c ? c : (a->at > b->at) - (a->at < b->at);
}

/*
 * n strings: prefix bytes that all share, then some of up to len bytes from an alphabet of
 * `letters`.
 */
static void
make(size_t n, uint32_t prefix, uint32_t len, bool fixed, uint32_t letters)
{
	used = 0;
	for (size_t i = 0; i < n; i++)
	{
		uint8_t    *at = arena + used;
		uint32_t	l = prefix + (fixed ? len : (uint32_t) pick(len + 1));

		sfx_put16(at, (uint16_t) l);
		for (uint32_t j = 0; j < l; j++)
			at[2 + j] = j < prefix ? 'p' : letters == 256 ? (uint8_t) pick(256) : (uint8_t) (letters == 1 ? 0 : 'a' + pick(letters));
		used += 2 + l;
		sfx_item_set(&items[i], at);
	}
}

static int
errors(size_t n)
{
	int			bad = 0;

	memcpy(want, items, n * sizeof(SfxItem));
	qsort(want, n, sizeof(SfxItem), cmp);
	sfx_item_sort(items, tmp, n, NULL);
	for (size_t i = 0; i < n; i++)
		bad += !sfx_same_bytes(sfx_item_bytes(&items[i]), sfx_item_len(&items[i]),
							   sfx_item_bytes(&want[i]), sfx_item_len(&want[i]));
	/* every string is still there, once */
	memcpy(want, items, n * sizeof(SfxItem));
	qsort(want, n, sizeof(SfxItem), cmp);
	for (size_t i = 1; i < n; i++)
		bad += want[i].at == want[i - 1].at;
	return bad;
}

/* ---- in another order: the longest first, and the greatest first of one length ---- */

static int	asked;

static int
cmp_other(void *arg, const SfxItem *a, const SfxItem *b)
{
	uint32_t	alen = sfx_item_len(a);
	uint32_t	blen = sfx_item_len(b);

	(void) arg;
	asked++;
	if (alen != blen)
		return alen > blen ? -1 : 1;
	return -sfx_cmp_bytes(sfx_item_bytes(a), alen, sfx_item_bytes(b), blen);
}

static int
qsort_other(const void *x, const void *y)
{
	int			c = cmp_other(NULL, x, y);
	const SfxItem *a = x;
	const SfxItem *b = y;

	return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* Words that tell nothing, some of the lengths, or all of them and some bytes. */
static void
set_words(size_t n, int how)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	len = sfx_item_len(&items[i]);
		uint64_t	first = len > 0 ? sfx_item_bytes(&items[i])[0] : 0;

		items[i].word = how == 0 ? 0 : how == 1 ? ~(len / 8) : ~(len << 8 | first);
	}
}

/* The length, nothing, the first byte, the second one and so on, up to level 8. */
static bool
next_words(void *arg, SfxItem *a, size_t n, int level)
{
	(void) arg;
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	len = sfx_item_len(&a[i]);
		uint32_t	at = (uint32_t) level - 3;

		a[i].word = level == 1 ? ~(uint64_t) len : level == 2 ? 0 :
			~(uint64_t) (at < len ? sfx_item_bytes(&a[i])[at] : 0);
	}
	return level <= 8;
}

static int
errors_other(size_t n, int how)
{

	int			bad = 0;
	int			most = 0;

	for (size_t m = 1; m < n; m *= 2)
		most += (int) n;
	set_words(n, how % 3);
	memcpy(want, items, n * sizeof(SfxItem));
	qsort(want, n, sizeof(SfxItem), qsort_other);
	asked = 0;
	sfx_item_sort_by(items, tmp, n, cmp_other, how < 3 ? NULL : next_words, NULL, NULL);
	/* n log2 n, and one comparison for each two halves */
	bad += asked > most + (int) n;
	for (size_t i = 0; i < n; i++)
		bad += !sfx_same_bytes(sfx_item_bytes(&items[i]), sfx_item_len(&items[i]),
							   sfx_item_bytes(&want[i]), sfx_item_len(&want[i]));
	memcpy(want, items, n * sizeof(SfxItem));
	qsort(want, n, sizeof(SfxItem), qsort_other);
	for (size_t i = 1; i < n; i++)
		bad += want[i].at == want[i - 1].at;
	return bad;
}

static int	polls;
static int	last_poll;
static jmp_buf out;

static void
poll_once(void)
{
	if (++polls == last_poll)
		longjmp(out, 1);
}

/* Leave the sort at its first poll, its second and so on.  Returns the number of polls. */
static int
leave(size_t n, bool other)
{
	for (last_poll = 1; last_poll < 1000; last_poll++)
	{
		polls = 0;
		if (setjmp(out) == 0)
		{
			if (other)
				sfx_item_sort_by(items, tmp, n, cmp_other, NULL, NULL, poll_once);
			else
				sfx_item_sort(items, tmp, n, poll_once);
			return polls;
		}
		make(n, 1, 14, true, 256);
		if (other)
			set_words(n, 0);
	}
	return -1;
}

int
main(void)
{
	static const struct
	{
		const char *name;
		size_t		n;
		uint32_t	prefix,
					len;
		bool		fixed;
		uint32_t	letters;
	}			sets[] = {
		{"nothing", 0, 0, 8, true, 256},
		{"one", 1, 0, 8, true, 256},
		{"two", 2, 0, 8, true, 256},
		{"keys of eight bytes and a TID", 20000, 1, 14, true, 256},
		{"a middling number", 1000, 1, 14, true, 256},
		{"few letters", 20000, 0, 12, true, 2},
		{"few letters, many lengths", 20000, 3, 30, false, 2},
		{"a long prefix", 5000, 100, 20, false, 3},
		{"many equal", 20000, 0, 3, false, 2},
		{"zeros only", 3000, 0, 40, false, 1},
		{"all lengths of any bytes", 10000, 0, 60, false, 256},
		{"equal up to the end", 2000, 500, 1, true, 256},
	};

	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
	{
		int			bad = 0;

		for (seed = 1; seed < 4; seed++)
		{
			make(sets[s].n, sets[s].prefix, sets[s].len, sets[s].fixed, sets[s].letters);
			bad += errors(sets[s].n);
			for (size_t i = 0; i < sets[s].n; i++)
				sfx_item_set(&items[i], items[i].at);
			bad += errors(sets[s].n);	/* sorted already */
			for (size_t i = 0; i < sets[s].n / 2; i++)
			{
				SfxItem		t = items[i];

				items[i] = items[sets[s].n - 1 - i];
				items[sets[s].n - 1 - i] = t;
			}
			for (size_t i = 0; i < sets[s].n; i++)
				sfx_item_set(&items[i], items[i].at);
			bad += errors(sets[s].n);	/* the other way round */
		}
		ok(bad == 0, "%s: %d errors", sets[s].name, bad);
		bad = 0;
		for (int how = 0; how < 6; how++)
		{
			make(sets[s].n, sets[s].prefix, sets[s].len, sets[s].fixed, sets[s].letters);
			bad += errors_other(sets[s].n, how);
			bad += errors_other(sets[s].n, how);
		}
		ok(bad == 0, "%s, in another order: %d errors", sets[s].name, bad);
	}
	/* a radix sort visits each item once for each byte, and once more */
	make(MAXITEMS, 1, 14, true, 256);
	ok(leave(MAXITEMS, false) >= MAXITEMS * 7 / 65536, "left at every poll");
	make(MAXITEMS, 1, 14, true, 256);
	set_words(MAXITEMS, 0);
	ok(leave(MAXITEMS, true) >= MAXITEMS * 10 / 65536, "left at every poll in another order");
	return done_testing();
}
