/*-------------------------------------------------------------------------
 * surf_iter.h - SuRF: walking over the cut keys in order, for tests and the paper's benchmarks
 *
 * The index asks its filters for points and ranges only.  The iterator keeps one entry for each
 * level of the trie.  The key of a level is spelled up to its depth as soon as the level is
 * entered; the label of the edge taken follows that.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TEST_SURF_ITER_H
#define SFX_TEST_SURF_ITER_H

#include "surf_format.h"

typedef struct SfxSurfLevel
{
	uint64_t	node;
	uint64_t	first;			/* its edges */
	uint64_t	end;
	uint64_t	edge;			/* the edge taken */
	uint32_t	depth;			/* bytes of the key above the node's labels */
	bool		onend;			/* no edge taken: at the key that ends here */
	bool		cont;			/* a continuation node */
} SfxSurfLevel;

typedef struct SfxSurfIter
{
	const SfxSurf *s;
	uint32_t	nlevels;		/* 0: at no key */
	bool		complete;		/* the cut key is the whole key */
	uint32_t	len;
	uint8_t    *key;			/* the cut key: a prefix of the stored one */
	uint32_t	real;			/* the next realbits bits of the stored key, zeros after its end; or
								 * of their code */
	uint32_t	hash;			/* its hash bits; neither is set if complete */
	SfxSurfLevel *levels;
} SfxSurfIter;

/*
 * Memory (8-byte aligned) that an iterator of this filter needs.  A filter of damaged bytes can ask
 * for at most 2 MB.
 */
static inline size_t
sfx_surf_iter_size(const SfxSurf *s)
{
	return (size_t) s->height * sizeof(SfxSurfLevel) + s->maxdepth + 1;
}

static inline void
sfx_surf_iter_init(SfxSurfIter *it, const SfxSurf *s, void *memory)
{
	memset(it, 0, sizeof(*it));
	it->s = s;
	it->levels = memory;
	it->key = (uint8_t *) memory + (size_t) s->height * sizeof(SfxSurfLevel);
}

static inline int
iter_fail(SfxSurfIter *it)
{
	it->nlevels = 0;
	return SFX_CORRUPT;
}

static inline int
iter_none(SfxSurfIter *it)
{
	it->nlevels = 0;
	return 0;
}

/* Spell the path of a node after the first *d bytes of the key. */
static inline bool
spell_path(const SfxSurfIter *it, uint64_t node, uint32_t *d)
{
	const SfxSurf *s = it->s;
	uint64_t	id,
				at,
				end;

	if (s->npaths == 0 || !surf_bit(s->haspath, node))
		return true;
	if (!surf_path_id(s, node, &id) || !surf_path(s, id, &at, &end))
		return false;
	while (at < end)
	{
		uint64_t	sym;
		unsigned	n = surf_symbol(s, &at, end, &sym);

		if (n == 0 || n > s->maxdepth - *d)
			return false;
		for (; n > 0; n--, sym >>= 8)
			it->key[(*d)++] = (uint8_t) sym;
	}
	return true;
}

/* Enter a node, at its first edge or its last one. */
static inline bool
enter(SfxSurfIter *it, uint64_t node, uint32_t depth, bool cont, bool last)
{
	const SfxSurf *s = it->s;
	SfxSurfLevel *l;

	if (it->nlevels >= s->height || node >= s->nnodes || (cont && node < s->ndense))
		return false;
	if (!cont && !spell_path(it, node, &depth))
		return false;
	l = &it->levels[it->nlevels++];
	l->node = node;
	l->first = surf_first_edge(s, node);
	l->end = surf_first_edge(s, node + 1);
	l->depth = depth;
	l->cont = cont;
	l->onend = false;
	if (l->end > l->first)
		l->edge = last ? l->end - 1 : l->first;
	else if (!surf_ends(s, node) || l->end < l->first)
		return false;
	else
		l->onend = true;
	return true;
}

/* The label (digit) of the edge of a sparse node; more than 255: damaged. */
static inline unsigned
surf_label(const SfxSurf *s, uint64_t node, uint64_t edge)
{
	uint64_t	q = (node - s->ndense) << s->bshift,
				at = surf_select(s, q),
				n = surf_bucket_bits(s),
				e = edge - s->ndedges,
				skip = e - (at - q);	/* edges of the node before it */
	unsigned	bucket = 0;

	if (s->bshift == 0)
		return surf_low_label(s, e);
	/* the zero of the edge, and the ones before it */
	for (at++; at < n && skip <= 255; at += 32)
	{
		uint64_t	w = ~(sfx_load64(s->buckets + (at >> 3)) >> (at & 7)) & UINT32_MAX;
		unsigned	zeros = sfx_popcount(w);

		if (skip < zeros)
			return (bucket + sfx_select(w, (unsigned) skip) - (unsigned) skip) << s->low | surf_low_label(s, e);
		skip -= zeros;
		bucket += 32 - zeros;
	}
	return 256;
}

/* The label of edge number k of a dense node; 256 if there is none. */
static inline unsigned
dense_label(const SfxSurf *s, uint64_t node, uint64_t k)
{
	const uint8_t *p = s->dense + node * SURF_DENSE;

	for (unsigned i = 0; i < 4; i++)
	{
		uint64_t	w = sfx_load64(p + 8 * i);
		unsigned	n = sfx_popcount(w);

		if (k < n)
			return 64 * i + sfx_select(w, (unsigned) k);
		k -= n;
	}
	return 256;
}

/* The byte that begins a group of the code; 256: there is no such group. */
static inline unsigned
first_of_group(const SfxSurf *s, unsigned group)
{
	for (unsigned k = 0; k < 4; k++)
	{
		uint64_t	w = sfx_load64(s->code + SURF_BITS + 8 * k);
		unsigned	n = sfx_popcount(w);

		if (group < n)
			return 64 * k + sfx_select(w, group);
		group -= n;
	}
	return 256;
}

/*
 * Spell the byte of the edge taken at a level.  1: that needs a continuation node, 0: done, or
 * SFX_CORRUPT.
 */
static inline int
spell_edge(const SfxSurfIter *it, const SfxSurfLevel *l)
{
	const SfxSurf *s = it->s;
	unsigned	c;

	if (l->depth >= s->maxdepth)
		return SFX_CORRUPT;
	if (l->node < s->ndense)
		c = dense_label(s, l->node, l->edge - l->first);
	else
	{
		c = surf_label(s, l->node, l->edge);
		/* the last level but one has the edge to the continuation node */
		if (s->flags & SURF_F_CODE)
			c = l->cont ? c + first_of_group(s, surf_label(s, l[-1].node, l[-1].edge)) : first_of_group(s, c);
	}
	if (c > 255)
		return SFX_CORRUPT;
	it->key[l->depth] = (uint8_t) c;
	return l->node >= s->ndense && !l->cont && surf_digit2(s, c) != SURF_SINGLE;
}

/* The top level is at an edge: go down from there to the first key below, or the last one. */
static inline int
settle(SfxSurfIter *it, bool last)
{
	const SfxSurf *s = it->s;

	for (;;)
	{
		SfxSurfLevel *l = &it->levels[it->nlevels - 1];
		uint64_t	node;
		int			cont;

		if (l->onend)
		{
			it->complete = true;
			it->len = l->depth;
			it->hash = it->real = 0;
			return 1;
		}
		cont = spell_edge(it, l);
		if (cont < 0)
			return iter_fail(it);
		if (!surf_has_child(s, l->edge))
		{
			uint64_t	suffix = surf_stored_suffix(s, l->edge);

			if (cont)
				return iter_fail(it);
			it->complete = false;
			it->len = l->depth + 1;
			it->hash = (uint32_t) (suffix >> s->realbits);
			it->real = (uint32_t) (suffix & sfx_mask(s->realbits));
			return 1;
		}
		if (!surf_child(s, l->edge, &node) || !enter(it, node, l->depth + !cont, cont, last))
			return iter_fail(it);
		l = &it->levels[it->nlevels - 1];
		if (!last && !l->cont && surf_ends(s, node))
			l->onend = true;
	}
}

static inline int
sfx_surf_next(SfxSurfIter *it)
{
	while (it->nlevels > 0)
	{
		SfxSurfLevel *l = &it->levels[it->nlevels - 1];

		if (l->onend && l->end > l->first)
		{
			l->onend = false;
			l->edge = l->first;
			return settle(it, false);
		}
		if (!l->onend && l->edge + 1 < l->end)
		{
			l->edge++;
			return settle(it, false);
		}
		it->nlevels--;
	}
	return 0;
}

static inline int
sfx_surf_prev(SfxSurfIter *it)
{
	while (it->nlevels > 0)
	{
		SfxSurfLevel *l = &it->levels[it->nlevels - 1];

		if (!l->onend && l->edge > l->first)
		{
			l->edge--;
			return settle(it, true);
		}
		if (!l->onend && !l->cont && surf_ends(it->s, l->node))
		{
			l->onend = true;
			return settle(it, true);
		}
		it->nlevels--;
	}
	return 0;
}

/*
 * Move to the last key; then, and from any key, to the next and the previous one.  1, 0 (there is
 * none, and the iterator is at no key), or SFX_CORRUPT.
 */
static inline int
sfx_surf_seek_last(SfxSurfIter *it)
{
	it->nlevels = 0;
	if (it->s->nnodes == 0)
		return 0;
	return enter(it, 0, 0, false, true) ? settle(it, true) : iter_fail(it);
}

/*
 * Compare the iterator's stored key with key: < 0, > 0, or 0 if the filter cannot tell or they are
 * equal.
 */
static inline int
sfx_surf_iter_cmp(const SfxSurfIter *it, const uint8_t *key, uint32_t len)
{
	uint32_t	n = it->len < len ? it->len : len;
	int			c = n > 0 ? memcmp(it->key, key, n) : 0;
	uint32_t	real;

	if (c != 0 || it->complete || len < it->len)
		return c != 0 ? c : (it->len > len) - (it->len < len);
	if (it->s->realbits == 0)
		return 0;
	real = surf_real(it->s, key, len, it->len);
	return (it->real > real) - (it->real < real);
}

/* Move to the first key of a node just entered. */
static inline int
first_of_node(SfxSurfIter *it)
{
	SfxSurfLevel *l = &it->levels[it->nlevels - 1];

	l->onend = l->onend || surf_ends(it->s, l->node);
	return settle(it, false);
}

/*
 * Take the edge of a byte or digit at the top level.  1: done, and *result is not set.  Otherwise
 * there is none, and the iterator moves to the first key after it.
 */
static inline int
take(SfxSurfIter *it, unsigned c, int *result)
{
	const SfxSurf *s = it->s;
	SfxSurfLevel *l = &it->levels[it->nlevels - 1];
	uint64_t	edge = 0;
	bool		equal;

	if (l->node < s->ndense ? !surf_find_dense(s, l->node, c, &edge, &equal) :
		!surf_find_sparse(s, l->node, c, &edge, &equal))
		*result = iter_fail(it);
	else if (equal && edge < l->end)
	{
		l->edge = edge;
		return 1;
	}
	else if (edge >= l->end)
	{
		it->nlevels--;
		*result = sfx_surf_next(it);
	}
	else
	{
		l->edge = edge;
		*result = settle(it, false);
	}
	return 0;
}

/* The seek ended at a leaf edge that may be the key's own. */
static inline int
seek_leaf(SfxSurfIter *it, const uint8_t *key, uint32_t len, bool *fp)
{
	int			r = settle(it, false),
				c;

	if (r != 1)
		return r;
	c = sfx_surf_iter_cmp(it, key, len);
	if (c < 0)
		return sfx_surf_next(it);
	*fp = c == 0;
	return 1;
}

/*
 * Move to the first cut key whose stored key may be >= key (NULL: the first of all); *fp is set if
 * the stored key may be smaller, too (the paper's false-positive flag).  1, 0 if there is none, or
 * SFX_CORRUPT.
 */
static inline int
sfx_surf_seek(SfxSurfIter *it, const uint8_t *key, uint32_t len, bool *fp)
{
	const SfxSurf *s = it->s;
	uint64_t	node = 0;
	uint32_t	d = 0;
	int			r;

	it->nlevels = 0;
	*fp = false;
	if (s->nnodes == 0)
		return 0;
	for (;;)
	{
		uint32_t	above = d;
		SfxSurfLevel *l;
		unsigned	second = SURF_SINGLE;

		r = key == NULL ? -1 : surf_walk_path(s, node, key, len, &d);
		if (r == SURF_DAMAGED || !enter(it, node, above, false, false))
			return iter_fail(it);
		if (r > 0)
		{
			it->nlevels--;
			return sfx_surf_next(it);
		}
		if (r < 0 || d >= len)
			return first_of_node(it);
		l = &it->levels[it->nlevels - 1];
		l->onend = false;
		if (l->end <= l->first)
			return iter_none(it);
		if (node >= s->ndense)
			second = surf_digit2(s, key[d]);
		if (!take(it, node < s->ndense ? key[d] : surf_digit1(s, key[d]), &r))
			return r;
		if (second != SURF_SINGLE)
		{
			if (!surf_has_child(s, l->edge) || spell_edge(it, l) != 1 || !surf_child(s, l->edge, &node) ||
				!enter(it, node, d, true, false))
				return iter_fail(it);
			if (!take(it, second, &r))
				return r;
			l = &it->levels[it->nlevels - 1];
		}
		if (spell_edge(it, l) < 0)
			return iter_fail(it);
		d++;
		if (!surf_has_child(s, l->edge))
			return seek_leaf(it, key, len, fp);
		if (!surf_child(s, l->edge, &node))
			return iter_fail(it);
	}
}

#endif							/* SFX_TEST_SURF_ITER_H */
