/*-------------------------------------------------------------------------
 * upper.c - neighbouring inner pages decoded for many searches
 *-------------------------------------------------------------------------
 */
#include "upper.h"

#include "contract.h"
#include "leaf_format.h"

#define UPPER_GUESS		64		/* most bytes by which searches guess */
#define UPPER_WRONG		8		/* one of so many neighbours may be in the wrong order */

/* Separator i leads to child i.  The first one, the first page's low fence, is never compared. */
struct SfxUpper
{
	int			n;				/* children */
	bool		guesses;		/* comparator order: words tell where to begin */
	bool		bytewise;		/* comparator order: separators are in byte order, or almost */
	uint32_t	prefixlen;		/* bytes that separators 1..n-1 share */
	const uint8_t *prefix;
	uint64_t   *word;			/* [n] the next eight bytes; comparator order: of what searches
								 * guess by */
	SfxPos	   *sep;			/* [n] */
	uint32_t   *blkno;			/* [n] */
	uint8_t    *bytes;			/* of the separators' keys */
	uint8_t		guessed[UPPER_GUESS];	/* comparator order: prefix */
};

typedef struct Fill
{
	SfxUpper   *u;				/* NULL: count only */
	int			before;			/* number of children of the pages before */
	uint64_t	used;			/* of bytes */
} Fill;

static int
fill_child(void *ctx, int i, const SfxChild *child)
{
	Fill	   *f = ctx;
	SfxUpper   *u = f->u;

	if (u)
	{
		i += f->before;
		u->sep[i] = child->low;
		u->sep[i].key = u->bytes + f->used;
		if (child->low.len > 0)
			memcpy(u->bytes + f->used, child->low.key, child->low.len);
		u->blkno[i] = child->blkno;
	}
	f->used += child->low.len;
	return SFX_OK;
}

#define ALIGN8(n)	(((n) + 7) & ~UINT64_C(7))

static int64_t
size_of(uint64_t n, const Fill *f)
{
	return (int64_t) (ALIGN8(sizeof(SfxUpper)) + n * (sizeof(uint64_t) + sizeof(SfxPos)) +
					  ALIGN8(n * sizeof(uint32_t)) + f->used);
}

/* Pass all pages' children to f. */
static int
fill_pages(Fill *f, const SfxInner *p, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (sfx_inner_each(&p[i], fill_child, f) < 0)
			return SFX_CORRUPT;
		f->before += p[i].nchildren;
	}
	return SFX_OK;
}

int64_t
sfx_upper_size(const SfxInner *p, int n)
{
	Fill		f = {NULL, 0, 0};

	if (fill_pages(&f, p, n) < 0)
		return SFX_CORRUPT;
	return size_of((uint64_t) f.before, &f);
}

int64_t
sfx_upper_size_of(const SfxChild *children, int n)
{
	Fill		f = {NULL, 0, 0};

	for (int i = 0; i < n; i++)
		(void) fill_child(&f, i, &children[i]);
	return size_of((uint64_t) n, &f);
}

/* Find what the separators share: that is what the first and the last one share. */
static void
find_prefix(SfxUpper *u)
{
	const SfxPos *a = &u->sep[1];
	const SfxPos *b = &u->sep[u->n - 1];

	u->prefix = a->key;
	u->prefixlen = sfx_lcp(a->key, a->len, b->key, b->len);
	for (int i = 1; i < u->n; i++)
		u->word[i] = sfx_load_be(u->sep[i].key + u->prefixlen, u->sep[i].len - u->prefixlen);
}

/* Lay out mem for n children. */
static SfxUpper *
lay_out(void *mem, int nchildren)
{
	SfxUpper   *u = mem;
	uint8_t    *at = (uint8_t *) mem + ALIGN8(sizeof(SfxUpper));
	size_t		n = (size_t) nchildren;

	u->n = nchildren;
	u->word = (uint64_t *) (void *) at;
	at += n * sizeof(uint64_t);
	u->sep = (SfxPos *) (void *) at;
	at += n * sizeof(SfxPos);
	u->blkno = (uint32_t *) (void *) at;
	at += ALIGN8(n * sizeof(uint32_t));
	u->bytes = at;
	u->prefixlen = 0;
	u->guesses = u->bytewise = false;
	u->prefix = u->bytes;
	memset(u->word, 0, n * sizeof(uint64_t));
	return u;
}

/* Are so many neighbours in the wrong order that a guess is of no use? */
static inline bool
too_wrong(const SfxUpper *u, int wrong)
{
	return wrong > u->n / UPPER_WRONG;
}

/* Make words of what the order guesses by; if they almost ascend, they are made to ascend. */
static void
find_guesses(SfxUpper *u, const SfxOrder *order)
{
	uint8_t		g[UPPER_GUESS];
	uint32_t	n,
				same = 0;
	int			wrong = 0;

	for (int i = 1; i < u->n; i++)
	{
		n = order->ranks(order, u->sep[i].key, u->sep[i].len, g, UPPER_GUESS);
		same = i == 1 ? n : sfx_lcp(u->guessed, same, g, n);
		if (i == 1)
			memcpy(u->guessed, g, n);
	}
	if (same > UPPER_GUESS - 8)
		return;
	for (int i = 1; i < u->n; i++)
	{
		n = order->ranks(order, u->sep[i].key, u->sep[i].len, g, same + 8);
		u->word[i] = sfx_load_be(g + same, n - same);
		if (i > 1 && u->word[i] < u->word[i - 1])
		{
			u->word[i] = u->word[i - 1];
			wrong++;
		}
	}
	u->prefix = u->guessed;
	u->prefixlen = same;
	u->guesses = !too_wrong(u, wrong);
}

/* Do the separators, in comparator order, ascend in byte order, or almost? */
static bool
ascend_in_bytes(const SfxUpper *u)
{
	int			wrong = 0;

	for (int i = 2; i < u->n; i++)
		wrong += sfx_cmp_pos(&u->sep[i - 1], &u->sep[i]) >= 0;
	return !too_wrong(u, wrong);
}

/* Called when all children are filled in. */
static SfxUpper *
finish(SfxUpper *u, const SfxOrder *order)
{
	if (order != NULL && u->n > 1)
	{
		u->bytewise = ascend_in_bytes(u);
		if (order->ranks)
			find_guesses(u, order);
	}
	if (order == NULL && u->n > 1)
	{
		/*
		 * Separators that do not ascend in bytes are damage, and must not make the prefix longer
		 * than a separator.
		 */
		for (int i = 2; i < u->n; i++)
			if (sfx_cmp_pos(&u->sep[i - 1], &u->sep[i]) >= 0)
				return NULL;
		find_prefix(u);
	}
	return u;
}

SfxUpper *
sfx_upper_build(void *mem, const SfxInner *p, int n)
{
	int			children = 0;
	Fill		f = {NULL, 0, 0};

	for (int i = 0; i < n; i++)
		children += p[i].nchildren;
	f.u = lay_out(mem, children);
	if (fill_pages(&f, p, n) < 0)
		return NULL;
	return finish(f.u, p->order);
}

SfxUpper *
sfx_upper_build_of(void *mem, const SfxChild *children, int n, const SfxOrder *order)
{
	Fill		f = {lay_out(mem, n), 0, 0};

	for (int i = 0; i < n; i++)
		(void) fill_child(&f, i, &children[i]);
	return finish(f.u, order);
}

/* The number of words in w[0..n) that are less than x. */
static inline int
lower_bound(const uint64_t *w, int n, uint64_t x)
{
	const uint64_t *base = w;

	while (n > 1)
	{
		int			half = n / 2;

		base += base[half - 1] < x ? half : 0;
		n -= half;
	}
	return (int) (base - w) + (n == 1 && *base < x);
}

/*
 * Returns the last of the separators [lo, hi) that is <= pos (before: < pos); lo - 1 if there is
 * none.
 */
static int
bisect(const SfxUpper *u, const SfxOrder *order, const SfxPos *pos, bool before, int lo, int hi)
{
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		int			c = sfx_order_cmp_pos(order, &u->sep[mid], pos);

		if (c < 0 || (c == 0 && !before))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

/*
 * Find the separators whose word is key's: those in [1, *lo) have smaller words, those in [*hi, n)
 * greater ones.
 */
static inline void
find_word(const SfxUpper *u, const uint8_t *key, uint32_t len, int *lo, int *hi)
{
	uint32_t	m = u->prefixlen;
	int			c = sfx_memcmp(key, u->prefix, len < m ? len : m);
	uint64_t	word;
	int			i;

	if (c != 0 || len < m)
	{
		*lo = *hi = c > 0 ? u->n : 1;
		return;
	}
	word = sfx_load_be(key + m, len - m);
	*lo = 1 + lower_bound(u->word + 1, u->n - 1, word);
	for (i = *lo; i < u->n && u->word[i] == word && i < *lo + 4; i++)
		;
	if (i == *lo + 4)
		i = word == UINT64_MAX ? u->n : 1 + lower_bound(u->word + 1, u->n - 1, word + 1);
	*hi = i;
}

/* Is separator i at or below pos (before: below it)? */
static inline bool
is_below(const SfxUpper *u, const SfxOrder *order, const SfxPos *pos, bool before, int i)
{
	int			c = sfx_order_cmp_pos(order, &u->sep[i], pos);

	return c < 0 || (c == 0 && !before);
}

/*
 * The same as bisect over all separators, but begins where the words say.  It ends right in any
 * case (B5).
 */
static int
bisect_near(const SfxUpper *u, const SfxOrder *order, const SfxPos *pos, bool before)
{
	uint8_t		g[UPPER_GUESS];
	uint32_t	n = order->ranks(order, pos->key, pos->len, g, u->prefixlen + 8);
	bool		left = false;
	int			lo,
				hi;

	find_word(u, g, n, &lo, &hi);
	if (SFX_CORE_MUTANT("guesses believed"))
		return lo - 1;
	for (int step = 1; lo > 1 && !is_below(u, order, pos, before, lo - 1); step *= 2)
	{
		left = true;
		hi = lo - 1;
		lo = hi - step > 1 ? hi - step : 1;
	}
	for (int step = 1; !left && hi < u->n && is_below(u, order, pos, before, hi); step *= 2)
	{
		lo = hi + 1;
		hi = u->n - lo > step ? lo + step : u->n;
	}
	return bisect(u, order, pos, before, lo, hi);
}

/* A search ended at child i: fill *place, and return its block. */
static uint32_t
found(const SfxUpper *u, const SfxOrder *order, int i, SfxUpperPlace *place)
{
	static const SfxPos none = {(const uint8_t *) "", 0, 0};

	if (place)
		place->known = order != NULL;
	if (place && order)
	{
		place->bytewise = u->bytewise;
		place->last = i == u->n - 1;
		place->low = i > 0 ? u->sep[i] : none;
		place->high = place->last ? none : u->sep[i + 1];
	}
	return u->blkno[i];
}

uint32_t
sfx_upper_find(const SfxUpper *u, const SfxOrder *order, const SfxPos *pos, bool before,
			   SfxUpperPlace *place)
{
	int			lo,
				hi;

	if (pos->key == NULL || u->n == 1)
		return found(u, order, u->n - 1, place);
	if (order != NULL && u->guesses && pos->len > 0)
		return found(u, order, bisect_near(u, order, pos, before), place);
	if (order != NULL)
		return found(u, order, bisect(u, order, pos, before, 1, u->n), place);
	find_word(u, pos->key, pos->len, &lo, &hi);
	return found(u, order, bisect(u, NULL, pos, before, lo, hi), place);
}

int
sfx_upper_children(const SfxUpper *u)
{
	return u->n;
}
