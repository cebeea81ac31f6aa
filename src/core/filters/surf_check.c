/*-------------------------------------------------------------------------
 * surf_check.c - SuRF: checking a whole filter
 *-------------------------------------------------------------------------
 */
#include "surf_format.h"

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
