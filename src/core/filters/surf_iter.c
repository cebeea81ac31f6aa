/*-------------------------------------------------------------------------
 * surf_iter.c - SuRF: walking over the cut keys in order, and checking a whole filter
 *
 * The iterator keeps one entry for each level of the trie.  The key of a level is spelled up to its
 * depth as soon as the level is entered; the label of the edge taken follows that.
 *-------------------------------------------------------------------------
 */
#include "surf_format.h"

size_t
sfx_surf_iter_size(const SfxSurf *s)
{
	return (size_t) s->height * sizeof(SfxSurfLevel) + s->maxdepth + 1;
}

void
sfx_surf_iter_init(SfxSurfIter *it, const SfxSurf *s, void *memory)
{
	memset(it, 0, sizeof(*it));
	it->s = s;
	it->levels = memory;
	it->key = (uint8_t *) memory + (size_t) s->height * sizeof(SfxSurfLevel);
}

static int
iter_fail(SfxSurfIter *it)
{
	it->nlevels = 0;
	return SFX_CORRUPT;
}

static int
iter_none(SfxSurfIter *it)
{
	it->nlevels = 0;
	return 0;
}

/* Spell the path of a node after the first *d bytes of the key. */
static bool
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
static bool
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

/* The label of edge number k of a dense node; 256 if there is none. */
static unsigned
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
static unsigned
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
static int
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
static int
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

int
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

int
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

int
sfx_surf_seek_last(SfxSurfIter *it)
{
	it->nlevels = 0;
	if (it->s->nnodes == 0)
		return 0;
	return enter(it, 0, 0, false, true) ? settle(it, true) : iter_fail(it);
}

/* Move to the first key of a node just entered. */
static int
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
static int
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
static int
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

int
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

int
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

/* ---- check ---- */

static const char *
check_rank(const uint8_t *v, uint64_t n, uint64_t *ones)
{
	uint64_t	r = 0;

	for (uint64_t i = 0; i < n; i++)
	{
		if ((i & 63) == 0 && surf_rank(v, i) != r)
			return "a rank sample is wrong";
		r += surf_bit(v, i);
	}
	*ones = r;
	return NULL;
}

static const char *
check_dense(const SfxSurf *s)
{
	uint64_t	e = 0,
				ones;
	const char *why = check_rank(s->dchild, s->ndedges, &ones);

	for (uint64_t i = 0; i < s->ndense; i++)
	{
		const uint8_t *p = s->dense + i * SURF_DENSE;

		if (sfx_get32(p + 32) != e)
			return "the first edge of a dense node is wrong";
		for (int k = 0; k < 4; k++)
			e += sfx_popcount(sfx_load64(p + 8 * k));
	}
	return e != s->ndedges ? "the dense labels do not make up the dense edges" : why;
}

/* Check an edge of the sparse part: the rank sample, the order of labels, and where a child is. */
static const char *
check_edge(const SfxSurf *s, uint64_t e, uint64_t node, int *label, uint64_t *children)
{
	int			l = (int) surf_low_label(s, e);

	if (e % 64 == 0 && surf_block_rank(surf_block(s, e), e & 255) != *children)
		return "a rank sample of the sparse part is wrong";
	if (l <= *label)
		return "labels do not ascend";
	*label = l;
	if (surf_has_child(s, s->ndedges + e) && ++*children <= node)
		return "a node leads upwards";
	return NULL;
}

/*
 * Walk over the bits of all buckets: there are as many as sparse nodes need, each edge belongs to
 * one, select samples are right, and has-child bits number all nodes.
 */
static const char *
check_sparse(const SfxSurf *s)
{
	uint64_t	n = s->nedges - s->ndedges,
				bits = surf_bucket_bits(s),
				q = 0,
				e = 0,
				children = surf_rank(s->dchild, s->ndedges);
	int			label = -1;

	for (uint64_t at = 0; at < bits; at++)
	{
		const char *why;

		if (s->buckets[at >> 3] >> (at & 7) & 1)
		{
			if ((q & ((UINT64_C(1) << s->selshift) - 1)) == 0 && q < surf_nbuckets(s) &&
				surf_sample(s, q >> s->selshift) != at)
				return "a select sample is wrong";
			q++;
			label = -1;
			continue;
		}
		if (q == 0 || e >= n)
			return "a sparse edge belongs to no node";
		why = check_edge(s, e++, s->ndense + ((q - 1) >> s->bshift), &label, &children);
		if (why != NULL)
			return why;
	}
	if (q != surf_nbuckets(s))
		return "the buckets do not make up the sparse nodes";
	return children != s->nnodes - 1 ? "the has-child bits do not make up the nodes" : NULL;
}

/*
 * Check the rank vectors of paths, that each node's path number exists, and that each path is made
 * of symbols.
 */
static const char *
check_paths(const SfxSurf *s)
{
	uint64_t	n = 0,
				longs = 0,
				once = 0,
				id,
				at,
				end,
				sym;
	const char *why = NULL;

	if (s->npaths > 0)
		why = check_rank(s->haspath, s->nnodes, &n);
	if (why == NULL && s->nonce > 0)
		why = check_rank(s->once, s->npaths, &once);
	if (why == NULL && s->flags & SURF_F_KINDS)
		why = check_rank(s->kinds, s->npaths - s->nonce, &longs);
	if (why != NULL)
		return why;
	if (n != s->npaths || once != s->nonce || (s->flags & SURF_F_KINDS && longs != s->npaths - s->nonce - s->nshort))
		return "the number of paths is wrong";
	for (uint64_t i = 0; i < s->nnodes && n > 0; i++)
		if (surf_bit(s->haspath, i) && !surf_path_id(s, i, &id))
			return "a path number is too large";
	for (uint64_t i = 0; i < s->ndict; i++)
	{
		if (!surf_path(s, i, &at, &end))
			return "a path lies outside the pool";
		while (at < end)
			if (surf_symbol(s, &at, end, &sym) == 0)
				return "a path has bits that are no symbol";
	}
	return NULL;
}

/* Check that each group has a digit of its own, and each byte of a group. */
static const char *
check_code(const SfxSurf *s)
{
	uint64_t	groups;
	const char *why;
	unsigned	size = 0;

	if ((s->flags & SURF_F_CODE) == 0)
		return NULL;
	why = check_rank(s->code, 256, &groups);
	if (why == NULL && (groups > 1u << s->lwidth || !surf_bit(s->code, 0)))
		why = "the label code has too many digits";
	for (unsigned c = 0; c < 256 && why == NULL; c++)
	{
		size = surf_bit(s->code, c) ? 1 : size + 1;
		if (size > 1u << s->lwidth)
			why = "the label code has too many second digits";
	}
	return why;
}

static const char *
check_rest(const SfxSurf *s)
{
	unsigned	sum;

	if ((s->flags & SURF_F_REST) == 0)
		return NULL;
	sum = s->rest[SURF_RESTEND];
	for (unsigned c = 0; c < 256; c++)
	{
		if (c % 16 == 0 && sfx_get16(s->rest + SURF_RESTSUMS + c / 8) != sum)
			return "a sum of weights is wrong";
		sum += surf_weight(s->rest, c);
	}
	return sfx_get16(s->rest + SURF_RESTTOTAL) != sum ? "the sum of all weights is wrong" : NULL;
}

const char *
sfx_surf_check(const SfxSurf *s)
{
	const char *why;
	uint64_t	ends = 0;

	if (s->nnodes == 0)
		return NULL;
	why = check_dense(s);
	if (why == NULL)
		why = check_sparse(s);
	if (why == NULL)
		why = check_paths(s);
	if (why == NULL)
		why = check_code(s);
	if (why == NULL)
		why = check_rest(s);
	if (why == NULL && s->flags & SURF_F_ENDS)
		why = check_rank(s->ends, s->nnodes, &ends);
	if (why == NULL && ends + surf_leaves(s) != s->nkeys)
		why = "the leaves and ends do not make up the keys";
	return why;
}
