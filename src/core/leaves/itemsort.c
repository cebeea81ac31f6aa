/*-------------------------------------------------------------------------
 * itemsort.c - sort byte strings in memory
 *
 * One level of the sort takes a run of items that agree in their first depth bytes: it sorts by the
 * next word, then takes the runs of equal words one level deeper.  Long runs are sorted by radix,
 * byte by byte from the last one on, leaving out bytes that are the same in all items (most are, in
 * deep levels); short ones by insertion, those between by quicksort.
 *-------------------------------------------------------------------------
 */
#include "itemsort.h"

#include "leaf_format.h"

#define INSERTION_MAX	16		/* items sorted by insertion */
#define RADIX_MIN		1500	/* from that many items on radix sort pays */
#define WHOLE_MAX		6		/* so few items of equal words are compared as whole strings at
								 * once */
#define WORDS_MIN		8		/* from that many items of equal words on their next words pay */
#define AHEAD			16		/* strings are prefetched that many items ahead */
#define POLL_ITEMS		65536	/* visits of items between two calls of poll */

typedef struct Sorter
{
	SfxItem    *tmp;
	uint32_t	count[8][256];	/* of one radix sort */
	void		(*poll) (void);
	size_t		visits;			/* since the last call of poll */
} Sorter;

/* Count n visits; calls poll when it is due. */
static inline void
visit(Sorter *s, size_t n)
{
	s->visits += n;
	if (s->visits < POLL_ITEMS)
		return;
	s->visits = 0;
	if (s->poll)
		s->poll();
}

/* The end of a piece of [i, n) that is short enough to be visited between two polls. */
static inline size_t
piece(Sorter *s, size_t i, size_t n)
{
	size_t		len = n - i < POLL_ITEMS ? n - i : POLL_ITEMS;

	visit(s, len);
	return i + len;
}

/* The word at byte depth. */
static inline uint64_t
word_at(const uint8_t *at, uint32_t depth)
{
	uint32_t	len = sfx_get16(at);

	return depth < len ? sfx_load_be(at + 2 + depth, len - depth) : 0;
}

void
sfx_item_set(SfxItem *item, const uint8_t *at)
{
	item->at = at;
	item->word = word_at(at, 0);
}

/* Compare strings that agree in their first depth bytes. */
static inline bool
is_above(const SfxItem *a, const SfxItem *b, uint32_t depth)
{
	uint32_t	alen = sfx_item_len(a);
	uint32_t	blen = sfx_item_len(b);

	if (alen <= depth || blen <= depth)
		return alen > blen;
	return sfx_cmp_bytes(a->at + 2 + depth, alen - depth, b->at + 2 + depth, blen - depth) > 0;
}

static void
insertion_sort_whole(SfxItem *a, size_t n, uint32_t depth)
{
	for (size_t i = 1; i < n; i++)
	{
		SfxItem		x = a[i];
		size_t		j = i;

		for (; j > 0 && is_above(&a[j - 1], &x, depth); j--)
			a[j] = a[j - 1];
		a[j] = x;
	}
}

static void
insertion_sort(SfxItem *a, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		SfxItem		x = a[i];
		size_t		j = i;

		for (; j > 0 && a[j - 1].word > x.word; j--)
			a[j] = a[j - 1];
		a[j] = x;
	}
}

static void
radix_sort(Sorter *s, SfxItem *a, size_t n)
{
	SfxItem    *from = a;
	SfxItem    *to = s->tmp;

	memset(s->count, 0, sizeof(s->count));
	for (size_t i = 0; i < n;)
		for (size_t end = piece(s, i, n); i < end; i++)
			for (int d = 0; d < 8; d++)
				s->count[d][a[i].word >> (8 * d) & 0xFF]++;
	for (int d = 0; d < 8; d++)
	{
		uint32_t   *count = s->count[d];
		uint32_t	at = 0;
		SfxItem    *t;

		if (count[a[0].word >> (8 * d) & 0xFF] == n)
			continue;			/* the same in all items */
		for (int v = 0; v < 256; v++)
		{
			uint32_t	c = count[v];

			count[v] = at;
			at += c;
		}
		for (size_t i = 0; i < n;)
			for (size_t end = piece(s, i, n); i < end; i++)
				to[count[from[i].word >> (8 * d) & 0xFF]++] = from[i];
		t = from;
		from = to;
		to = t;
	}
	if (from != a)
		memcpy(a, from, n * sizeof(SfxItem));
}

static inline uint64_t
median(uint64_t a, uint64_t b, uint64_t c)
{
	return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Sort by word.  If quicksort divides badly, radix sort takes over. */
static void
sort_words(Sorter *s, SfxItem *a, size_t n)
{
	int			patience = 40;

	while (n > INSERTION_MAX)
	{
		uint64_t	pivot = median(a[0].word, a[n / 2].word, a[n - 1].word);
		size_t		i = 0,
					j = n - 1;

		if (n >= RADIX_MIN || patience-- == 0)
		{
			radix_sort(s, a, n);
			return;
		}
		for (;;)
		{
			SfxItem		x;

			while (a[i].word < pivot)
				i++;
			while (a[j].word > pivot)
				j--;
			if (i >= j)
				break;
			x = a[i];
			a[i++] = a[j];
			a[j--] = x;
		}
		/* the smaller part by recursion, which is at most log2 of RADIX_MIN deep */
		if (j + 1 < n - j - 1)
		{
			sort_words(s, a, j + 1);
			a += j + 1;
			n -= j + 1;
		}
		else
		{
			sort_words(s, a + j + 1, n - j - 1);
			n = j + 1;
		}
	}
	insertion_sort(a, n);
}

static bool
words_ascend(const SfxItem *a, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (a[i - 1].word > a[i].word)
			return false;
	return true;
}

/* Load the next words.  False: all strings end before. */
static bool
load_words(Sorter *s, SfxItem *a, size_t n, uint32_t depth)
{
	bool		more = false;

	for (size_t i = 0; i < n;)
		for (size_t end = piece(s, i, n); i < end; i++)
		{
			if (i + AHEAD < n)
				__builtin_prefetch(a[i + AHEAD].at + depth);
			a[i].word = word_at(a[i].at, depth);
			more |= sfx_item_len(&a[i]) > depth;
		}
	return more;
}

/* Sort strings that agree before depth, and whose words at depth are loaded. */
static void
sort_level(Sorter *s, SfxItem *a, size_t n, uint32_t depth)
{
	for (;;)
	{
		visit(s, n);
		if (!words_ascend(a, n))
			sort_words(s, a, n);
		if (a[0].word != a[n - 1].word)
			break;
		/* all are equal: no recursion for that */
		depth += 8;
		if (!load_words(s, a, n, depth))
		{
			insertion_sort_whole(a, n, 0);
			return;
		}
	}
	for (size_t i = 0; i < n;)
	{
		size_t		j = i + 1;

		while (j < n && a[j].word == a[i].word)
			j++;
		if (j - i <= WHOLE_MAX)
			insertion_sort_whole(a + i, j - i, depth);
		else
		{
			(void) load_words(s, a + i, j - i, depth + 8);
			sort_level(s, a + i, j - i, depth + 8);
		}
		i = j;
	}
}

/* ---- in another order ---- */

/* Merge two sorted halves of a. */
static void
merge_halves(SfxItem *a, SfxItem *tmp, size_t half, size_t n, SfxItemCmp cmp, void *arg)
{
	size_t		i = 0;
	size_t		j = half;
	size_t		out = 0;

	memcpy(tmp, a, half * sizeof(SfxItem));
	while (i < half && j < n)
	{
		if (i + AHEAD < half)
			__builtin_prefetch(tmp[i + AHEAD].at);
		if (j + AHEAD < n)
			__builtin_prefetch(a[j + AHEAD].at);
		if (cmp(arg, &tmp[i], &a[j]) <= 0)
			a[out++] = tmp[i++];
		else
			a[out++] = a[j++];
	}
	memcpy(a + out, tmp + i, (half - i) * sizeof(SfxItem));
}

/* A merge sort: no other sort compares so seldom. */
static void
sort_equal_words(Sorter *s, SfxItem *a, size_t n, SfxItemCmp cmp, void *arg)
{
	size_t		half = n / 2;

	if (n < 2)
		return;
	sort_equal_words(s, a, half, cmp, arg);
	sort_equal_words(s, a + half, n - half, cmp, arg);
	visit(s, n);
	if (cmp(arg, &a[half - 1], &a[half]) > 0)
		merge_halves(a, s->tmp, half, n, cmp, arg);
}

/* The caller's functions for another order. */
typedef struct Other
{
	SfxItemCmp	cmp;
	SfxItemWords words;
	void	   *arg;
} Other;

/* Sort items that are equal in the words before the ones that they have now. */
static void
sort_other_level(Sorter *s, SfxItem *a, size_t n, const Other *o, int level)
{
	if (n > 1 && !words_ascend(a, n))
		sort_words(s, a, n);
	for (size_t i = 0, j = 0; i < n; i = j)
	{
		while (j < n && a[j].word == a[i].word)
		{
			if (j + AHEAD < n && a[j + AHEAD].word == a[j + AHEAD - 1].word)
				__builtin_prefetch(a[j + AHEAD].at);
			j++;
		}
		visit(s, j - i);
		if (o->words && j - i >= WORDS_MIN && o->words(o->arg, a + i, j - i, level + 1))
			sort_other_level(s, a + i, j - i, o, level + 1);
		else
			sort_equal_words(s, a + i, j - i, o->cmp, o->arg);
	}
}

void
sfx_item_sort_by(SfxItem *a, SfxItem *tmp, size_t n, SfxItemCmp cmp, SfxItemWords words,
				 void *arg, void (*poll) (void))
{
	Other		o = {cmp, words, arg};
	Sorter		s;

	s.tmp = tmp;
	s.poll = poll;
	s.visits = 0;
	sort_other_level(&s, a, n, &o, 0);
}

void
sfx_item_sort(SfxItem *a, SfxItem *tmp, size_t n, void (*poll) (void))
{
	Sorter		s;

	s.tmp = tmp;
	s.poll = poll;
	s.visits = 0;
	if (n > 1)
		sort_level(&s, a, n, 0);
}
