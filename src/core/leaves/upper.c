/*-------------------------------------------------------------------------
 * upper.c - neighbouring inner pages decoded for many searches
 *-------------------------------------------------------------------------
 */
#include "upper.h"

#include "leaf_format.h"

/* Separator i leads to child i; the first one, the first page's low fence, is never compared. */
struct SfxUpper
{
	int			n;				/* children */
	uint32_t	prefixlen;		/* bytes that separators 1..n-1 share; in comparator order 0 */
	const uint8_t *prefix;
	uint64_t   *word;			/* [n] the next eight bytes; in comparator order 0 */
	SfxPos	   *sep;			/* [n] */
	uint32_t   *blkno;			/* [n] */
	uint8_t    *bytes;			/* of the separators' keys */
};

typedef struct Fill
{
	SfxUpper   *u;				/* NULL: count only */
	int			before;			/* children of the pages before */
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

/* All pages' children through f. */
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

/* What the separators share: what the first and the last one do. */
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
	u->prefix = u->bytes;
	memset(u->word, 0, n * sizeof(uint64_t));
	return u;
}

/* All children are filled in. */
static SfxUpper *
finish(SfxUpper *u, const SfxOrder *order)
{
	if (order == NULL && u->n > 1)
	{
		/*
		 * bytes that do not ascend are damage, and must not make the prefix longer than a separator
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

/* The number of words in w[0..n) below x. */
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

/* The last of the separators [lo, hi) that is <= pos (before: < pos); lo - 1 if none is. */
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

uint32_t
sfx_upper_find(const SfxUpper *u, const SfxOrder *order, const SfxPos *pos, bool before)
{
	uint32_t	m = u->prefixlen;
	uint64_t	word;
	int			lo,
				hi,
				c;

	if (pos->key == NULL)
		return u->blkno[u->n - 1];
	if (order != NULL || u->n == 1)
		return u->blkno[bisect(u, order, pos, before, 1, u->n)];
	c = sfx_memcmp(pos->key, u->prefix, pos->len < m ? pos->len : m);
	if (c < 0 || (c == 0 && pos->len < m))
		return u->blkno[0];
	if (c > 0)
		return u->blkno[u->n - 1];
	word = sfx_load_be(pos->key + m, pos->len - m);
	lo = 1 + lower_bound(u->word + 1, u->n - 1, word);
	for (hi = lo; hi < u->n && u->word[hi] == word && hi < lo + 4; hi++)
		;
	if (hi == lo + 4)
		hi = word == UINT64_MAX ? u->n : 1 + lower_bound(u->word + 1, u->n - 1, word + 1);
	return u->blkno[bisect(u, NULL, pos, before, lo, hi)];
}

int
sfx_upper_children(const SfxUpper *u)
{
	return u->n;
}
