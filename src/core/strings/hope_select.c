/*-------------------------------------------------------------------------
 * hope_select.c - the choice of a dictionary's symbols
 *
 * All suffixes of the sampled keys are sorted, as deep as symbols may be long.  A string that
 * occurs more than once is then the common prefix of a run of neighbours, and the longest such
 * prefixes are found in one walk over the lengths of common prefixes of neighbours (Abouelhoda,
 * Kurtz, Ohlebusch 2004).  A scheme gives each a value: for grams the number of their occurrences
 * (section 4.1 of the paper), for ALM their length times that.  All strings of at least some value
 * are chosen, such that the dictionary has as many intervals as it may.  Of the strings that occur
 * at the same places only the longest is considered, which is the purpose of the paper's blending.
 *-------------------------------------------------------------------------
 */
#include "hope_format.h"

#define SMALL_SORT	12

typedef struct Suffixes
{
	uint8_t    *text;			/* the keys, one after the other */
	uint8_t    *room;			/* for each byte, bytes to the end of its key, at most depth */
	uint32_t   *order;			/* places in text */
	uint8_t    *lcp;			/* common prefix of order[i - 1] and order[i]; 0 for the first */
	uint64_t   *pick;			/* chosen strings: first place in order << 8 | length */
	uint32_t	n;
	uint32_t	maxpicks;
	SfxHopeScheme scheme;
} Suffixes;

/* Most bytes of the strings in a list of that many intervals. */
static size_t
picks_size(uint32_t limit)
{
	return 8 * (size_t) limit;
}

static size_t
rounded(size_t bytes)
{
	return (bytes + 7) & ~(size_t) 7;
}

size_t
sfx_hope_select_size(SfxHopeScheme scheme, uint32_t limit, size_t sample_bytes)
{
	if (scheme <= SFX_HOPE_DOUBLE)
		return 0;
	return picks_size(limit) + rounded(4 * sample_bytes) + 2 * rounded(sample_bytes) + rounded(sample_bytes + 1);
}

/* ---- sorting ---- */

/* Byte at depth of the suffix at place, as a number; 0 after its end. */
static inline unsigned
byte_at(const Suffixes *x, uint32_t place, unsigned depth)
{
	return depth < x->room[place] ? x->text[place + depth] + 1u : 0;
}

/* Length of the common prefix of two suffixes, which is at least from. */
static inline unsigned
common(const Suffixes *x, uint32_t a, uint32_t b, unsigned from)
{
	unsigned	room = x->room[a] < x->room[b] ? x->room[a] : x->room[b];

	while (from < room && x->text[a + from] == x->text[b + from])
		from++;
	return from;
}

static void
sort_few(const Suffixes *x, uint32_t *v, uint32_t n, unsigned depth)
{
	for (uint32_t i = 1; i < n; i++)
	{
		uint32_t	a = v[i],
					j = i;

		for (; j > 0; j--)
		{
			unsigned	d = common(x, v[j - 1], a, depth);

			if (byte_at(x, v[j - 1], d) <= byte_at(x, a, d))
				break;
			v[j] = v[j - 1];
		}
		v[j] = a;
	}
}

static unsigned
median(unsigned a, unsigned b, unsigned c)
{
	if (a > b)
	{
		unsigned	t = a;

		a = b;
		b = t;
	}
	return c <= a ? a : c >= b ? b : c;
}

/*
 * Multikey quicksort (Bentley and Sedgewick 1997) of suffixes that share depth bytes.  The largest
 * part is done in the loop, so the recursion is not deeper than the logarithm of n.
 */
static void
sort_suffixes(const Suffixes *x, uint32_t *v, uint32_t n, unsigned depth)
{
	while (n > SMALL_SORT)
	{
		unsigned	p = median(byte_at(x, v[0], depth), byte_at(x, v[n / 2], depth), byte_at(x, v[n - 1], depth));
		uint32_t	lt = 0,
					i = 0,
					gt = n;

		while (i < gt)
		{
			uint32_t	a = v[i];
			unsigned	c = byte_at(x, a, depth);

			if (c < p)
			{
				v[i++] = v[lt];
				v[lt++] = a;
			}
			else if (c > p)
			{
				v[i] = v[--gt];
				v[gt] = a;
			}
			else
				i++;
		}

		{
			/* below, equal, above; the equal ones are done if they all end */
			struct
			{
				uint32_t	from,
							n;
				unsigned	depth;
			}			part[3] = {{0, lt, depth}, {lt, p > 0 ? gt - lt : 0, depth + 1}, {gt, n - gt, depth}};
			int			largest = 0;

			for (int k = 1; k < 3; k++)
				if (part[k].n > part[largest].n)
					largest = k;
			for (int k = 0; k < 3; k++)
				if (k != largest)
					sort_suffixes(x, v + part[k].from, part[k].n, part[k].depth);
			v += part[largest].from;
			n = part[largest].n;
			depth = part[largest].depth;
		}
	}
	sort_few(x, v, n, depth);
}

static void
load_sample(Suffixes *x, const HopeSample *sample, unsigned depth)
{
	uint32_t	n = 0;

	for (uint32_t k = 0; k < sample->nkeys; k++)
	{
		uint32_t	len = sample->keys[k].len;

		if (len > sample->bytes - n)
			break;
		if (len > 0)
			memcpy(x->text + n, sample->keys[k].key, len);
		for (uint32_t i = 0; i < len; i++, n++)
		{
			x->order[n] = n;
			x->room[n] = (uint8_t) (len - i < depth ? len - i : depth);
		}
	}
	x->n = n;
	sort_suffixes(x, x->order, n, 0);
	x->lcp[0] = 0;
	for (uint32_t i = 1; i < n; i++)
		x->lcp[i] = (uint8_t) common(x, x->order[i - 1], x->order[i], 0);
}

/* ---- choosing ---- */

/* The value of a string of len bytes that occurs count times; 0: not a symbol. */
static inline uint64_t
value_of(SfxHopeScheme scheme, unsigned len, uint32_t count)
{
	if (hope_is_gram(scheme))
		return len == (unsigned) scheme ? count : 0;
	return len < 2 ? 0 : (uint64_t) len * count;
}

/* False: there is no room, and npicks is one too large. */
static inline bool
pick(Suffixes *x, uint32_t *npicks, uint32_t first, unsigned len)
{
	if (++*npicks > x->maxpicks)
		return false;
	x->pick[x->maxpicks - *npicks] = (uint64_t) first << 8 | len;
	return true;
}

/*
 * Pick all strings worth at least `least` (> 0), in order, into the end of pick[].  Returns how
 * many, or one more than there is room for.  The walk is from the right, so of strings that start
 * at the same place the longer ones are picked first and come later.  *most: the largest value of
 * all.
 */
static uint32_t
pick_strings(Suffixes *x, uint64_t least, uint64_t *most)
{
	struct
	{
		unsigned	len;
		uint32_t	right;
	}			open[SFX_HOPE_MAXSYM + 1];
	int			nopen = 0;
	uint32_t	npicks = 0;
	unsigned	gram = hope_is_gram(x->scheme) ? hope_maxsym(x->scheme) : 0;

	*most = 0;
	for (uint32_t i = x->n; i-- > 0;)
	{
		uint32_t	right = i;

		/* a gram that occurs once */
		if (gram && least == 1 && x->lcp[i] < gram && (i + 1 == x->n || x->lcp[i + 1] < gram) &&
			x->room[x->order[i]] == gram && !pick(x, &npicks, i, gram))
			return npicks;
		while (nopen > 0 && open[nopen - 1].len > x->lcp[i])
		{
			unsigned	len = open[--nopen].len;
			uint64_t	value;

			right = open[nopen].right;
			value = value_of(x->scheme, len, right - i + 1);
			*most = value > *most ? value : *most;
			if (value < least)
				continue;
			if (!pick(x, &npicks, i, len))
				return npicks;
		}
		if (x->lcp[i] > (nopen > 0 ? open[nopen - 1].len : 0))
		{
			open[nopen].len = x->lcp[i];
			open[nopen++].right = right;
		}
	}
	return npicks;
}

/* Write the picked strings as a list.  False if it does not fit. */
static bool
write_picks(const Suffixes *x, uint32_t npicks, uint8_t *list, size_t cap, HopeSymbols *s)
{
	const uint64_t *pick = x->pick + (x->maxpicks - npicks);
	const uint8_t *prev = NULL;
	uint32_t	prevlen = 0;
	uint8_t    *p = list;

	for (uint32_t i = 0; i < npicks; i++)
	{
		const uint8_t *sym = x->text + x->order[pick[i] >> 8];
		uint32_t	len = pick[i] & 0xFF;

		p = sfx_hope_put_symbol(p, list + cap, prev, prevlen, sym, len);
		if (p == NULL)
			return false;
		prev = sym;
		prevlen = len;
	}
	s->p = list;
	s->end = p;
	s->n = npicks;
	return true;
}

/* Is a dictionary of all strings of at least this value small enough? */
static bool
try_value(Suffixes *x, uint64_t least, uint32_t limit, uint8_t *list, size_t cap, HopeSymbols *s, uint64_t *most)
{
	HopeShape	shape;
	uint32_t	npicks = pick_strings(x, least, most);

	return npicks <= x->maxpicks && write_picks(x, npicks, list, cap, s) &&
		sfx_hope_shape(x->scheme, *s, limit, &shape) == SFX_OK;
}

int
sfx_hope_select(SfxHopeScheme scheme, uint32_t limit, const HopeSample *sample, void *scratch,
				uint8_t *list, size_t cap, HopeSymbols *s)
{
	Suffixes	x;
	uint8_t    *p = scratch;
	uint64_t	lo = hope_is_gram(scheme) ? 0 : 1,
				hi,
				most;

	s->p = s->end = list;
	s->n = 0;
	if (scheme <= SFX_HOPE_DOUBLE)
		return SFX_OK;
	x.scheme = scheme;
	x.maxpicks = limit;
	x.pick = (uint64_t *) p;
	p += picks_size(limit);
	x.order = (uint32_t *) p;
	p += rounded(4 * (size_t) sample->bytes);
	x.text = p;
	p += rounded(sample->bytes);
	x.room = p;
	p += rounded(sample->bytes);
	x.lcp = p;
	load_sample(&x, sample, hope_maxsym(scheme));

	/* the least value that is enough is above lo, at most hi; within 1% is good enough */
	if (try_value(&x, lo + 1, limit, list, cap, s, &most))
		return SFX_OK;
	pick_strings(&x, UINT64_MAX, &hi);
	hi = hi > 1 ? hi : 1;
	for (hi++, lo++; hi - lo > 1 + lo / 128;)
	{
		uint64_t	mid = lo + (hi - lo) / (hi / 4 > lo ? 4 : 2);

		if (try_value(&x, mid, limit, list, cap, s, &most))
			hi = mid;
		else
			lo = mid;
	}
	return try_value(&x, hi, limit, list, cap, s, &most) ? SFX_OK : SFX_NOSPACE;
}

/* ---- pruning ---- */

/* For each symbol, the bytes that its uses save compared with the symbol around it. */
static void
weigh_symbols(SfxHopeScheme scheme, HopeSymbols s, const uint64_t *uses, uint64_t *saved)
{
	HopeWalk	w;
	uint32_t	i = HOPE_END;

	memset(saved, 0, 8 * (size_t) s.n);
	sfx_hope_walk_start(&w, scheme, s);
	while (sfx_hope_walk_next(&w))
	{
		i++;
		if (w.owner >= 0)
		{
			int			k = w.nopen - 1;

			saved[w.owner] += uses[i] * (uint64_t) (w.open[k] - w.open[k - 1]);
		}
	}
}

static void
copy_worthy(SfxHopeScheme scheme, HopeSymbols s, const uint64_t *saved, uint64_t least, uint8_t *list, HopeSymbols *kept)
{
	HopeWalk	w;
	uint8_t		prev[SFX_HOPE_MAXSYM];
	uint32_t	prevlen = 0;
	int32_t		last = -1;
	uint8_t    *p = list;

	kept->n = 0;
	sfx_hope_walk_start(&w, scheme, s);
	while (sfx_hope_walk_next(&w))
	{
		/* a symbol's first interval is its own */
		if (w.owner <= last)
			continue;
		last = w.owner;
		if (saved[last] < least)
			continue;
		p = sfx_hope_put_symbol(p, list + (s.end - s.p) + 3, prev, prevlen, w.start, w.startlen);
		memcpy(prev, w.start, w.startlen);
		prevlen = w.startlen;
		kept->n++;
	}
	kept->p = list;
	kept->end = p;
}

size_t
sfx_hope_prune_size(HopeSymbols s)
{
	return 8 * (size_t) s.n + (size_t) (s.end - s.p) + 8;
}

void
sfx_hope_prune(SfxHopeScheme scheme, uint32_t limit, const uint64_t *uses, void *scratch,
			   uint8_t *list, HopeSymbols *s)
{
	uint64_t   *saved = scratch;
	uint8_t    *copy = (uint8_t *) (saved + s->n);
	uint64_t	lo = 0,
				hi = 1;
	HopeSymbols kept;
	HopeShape	shape;

	weigh_symbols(scheme, *s, uses, saved);
	for (uint32_t i = 0; i < s->n; i++)
		hi = saved[i] >= hi ? saved[i] + 1 : hi;
	while (hi - lo > 1 + lo / 128)
	{
		uint64_t	mid = lo + (hi - lo) / (hi / 4 > lo ? 4 : 2);

		copy_worthy(scheme, *s, saved, mid, copy, &kept);
		if (sfx_hope_shape(scheme, kept, limit, &shape) == SFX_OK)
			hi = mid;
		else
			lo = mid;
	}
	copy_worthy(scheme, *s, saved, hi, copy, &kept);
	memcpy(list, kept.p, (size_t) (kept.end - kept.p));
	s->p = list;
	s->end = list + (kept.end - kept.p);
	s->n = kept.n;
}
