/*-------------------------------------------------------------------------
 * louds_write.c - writing a page-local LOUDS-DS trie (see louds_format.h)
 *-------------------------------------------------------------------------
 */
#include "louds_format.h"

#define MAXDENSE		255

/* ---- output ---- */

uint8_t *
sfx_out(SfxOut *o, uint32_t n)
{
	uint8_t    *p = o->p + o->len;

	if (o->len > o->cap || n > o->cap - o->len)
	{
		o->len = o->cap + 1;	/* stays full */
		return NULL;
	}
	memset(p, 0, n);
	o->len += n;
	return p;
}

void
sfx_packed_set(uint8_t *p, uint32_t width, uint32_t i, uint64_t v)
{
	uint32_t	bit = i * width;

	while (width > 0)
	{
		uint32_t	sh = bit & 7;
		uint32_t	n = 8 - sh < width ? 8 - sh : width;

		p[bit >> 3] |= (uint8_t) ((v & ((1u << n) - 1)) << sh);
		v >>= n;
		bit += n;
		width -= n;
	}
}

static inline void
set_bit(uint8_t *p, uint32_t i)
{
	p[i >> 3] |= (uint8_t) (1u << (i & 7));
}

static inline bool
test_bit(const uint8_t *p, uint32_t i)
{
	return p[i >> 3] >> (i & 7) & 1;
}

/* The largest shift up to max with which 2^shift ones are within span bits on average. */
static uint32_t
select_shift(uint32_t nbits, uint32_t ones, uint32_t span, uint32_t max)
{
	uint32_t	shift = 0;

	while (shift < max && ((uint64_t) nbits << (shift + 1)) <= (uint64_t) span * ones)
		shift++;
	return shift;
}

static bool
out_select(SfxOut *o, const uint8_t *bits, uint32_t nbits, uint32_t ones, uint32_t shift)
{
	uint8_t    *s = sfx_out(o, 2 * select_samples(ones, shift));
	uint32_t	k = 0;

	if (s == NULL)
		return false;
	for (uint32_t i = 0; i < nbits; i++)
		if (test_bit(bits, i))
		{
			if ((k & ((1u << shift) - 1)) == 0)
				sfx_put16(s + 2 * (k >> shift), (uint16_t) i);
			k++;
		}
	return true;
}

static bool
out_rank(SfxOut *o, const uint8_t *bits, uint32_t nbits)
{
	uint8_t    *s = sfx_out(o, 2 * rank_samples(nbits));
	uint32_t	k = 0;

	if (s == NULL)
		return false;
	for (uint32_t i = 0; i <= nbits; i++)
	{
		if (i % SFX_RANK_BITS == 0)
			sfx_put16(s + 2 * (i / SFX_RANK_BITS), (uint16_t) k);
		if (i < nbits)
			k += test_bit(bits, i);
	}
	return true;
}

/* ---- builder ---- */

/*
 * Node v holds the keys [a, b).  Their first `depth` bytes are used up on the path to it, and their
 * first `stop` bytes are equal: [depth, stop) is its path.
 */
typedef struct BuildNode
{
	uint16_t	a,
				b;
	uint16_t	depth,
				stop;
	uint16_t	edge;			/* its first edge */
	uint16_t	pk;				/* key a ends here */
} BuildNode;

typedef struct Build
{
	const SfxPos *keys;
	uint32_t	n;
	uint32_t	nnodes;
	uint32_t	nedges;
	uint32_t	pathbytes;
	uint32_t	tailbytes;
	bool		anypk;
	uint16_t	lcp[SFX_TRIE_MAXKEYS];	/* with the previous key */
	uint16_t	tail[SFX_TRIE_MAXKEYS];	/* where the tail begins */
	uint16_t	start[SFX_TRIE_MAXKEYS + 1];	/* of a pool */
	BuildNode	node[SFX_TRIE_MAXKEYS + 1];
	uint8_t		label[MAXEDGES];
	uint8_t		child[MAXEDGES];
} Build;

size_t
sfx_trie_scratch_size(void)
{
	return sizeof(Build);
}

static inline uint32_t
key_len(const SfxPos *k)
{
	return k->len + (k->tid ? 6 : 0);
}

static inline uint8_t
key_byte(const SfxPos *k, uint32_t i)
{
	return i < k->len ? k->key[i] : (uint8_t) (k->tid >> (40 - 8 * (i - k->len)));
}

static void
key_copy(const SfxPos *k, uint32_t from, uint32_t to, uint8_t *out)
{
	while (from < to)
		*out++ = key_byte(k, from++);
}

static uint32_t
key_lcp(const SfxPos *x, const SfxPos *y)
{
	uint32_t	i = sfx_lcp(x->key, x->len, y->key, y->len);
	uint32_t	xl = key_len(x),
				yl = key_len(y);

	while (i < xl && i < yl && key_byte(x, i) == key_byte(y, i))
		i++;
	return i;
}

/*
 * Split node v into its branches.  Children go to the end of the queue, so nodes are in level
 * order.
 */
static void
build_node(Build *w, uint32_t v)
{
	BuildNode  *nd = &w->node[v];
	uint32_t	stop = UINT16_MAX;
	uint32_t	i = nd->a;

	for (uint32_t j = i + 1; j < nd->b; j++)
		if (w->lcp[j] < stop)
			stop = w->lcp[j];
	nd->stop = (uint16_t) stop;
	nd->edge = (uint16_t) w->nedges;
	nd->pk = key_len(&w->keys[i]) == stop;
	w->pathbytes += stop - nd->depth;
	if (nd->pk)
	{
		w->anypk = true;
		w->tail[i++] = (uint16_t) stop;
	}
	while (i < nd->b)
	{
		uint32_t	j = i + 1;

		while (j < nd->b && w->lcp[j] > stop)
			j++;
		w->label[w->nedges] = key_byte(&w->keys[i], stop);
		w->child[w->nedges++] = j - i > 1;
		if (j - i > 1)
			w->node[w->nnodes++] = (BuildNode) {.a = (uint16_t) i, .b = (uint16_t) j, .depth = (uint16_t) (stop + 1)};
		else
		{
			w->tail[i] = (uint16_t) (stop + 1);
			w->tailbytes += key_len(&w->keys[i]) - stop - 1;
		}
		i = j;
	}
}

/*
 * Choose how many nodes are dense: the prefix that saves most.  A dense node is searched in
 * constant time, so it may cost a quarter more than it saves.
 */
static uint32_t
choose_dense(const Build *w)
{
	int32_t		sum = 0,
				best = 0;
	uint32_t	ndense = 0;

	for (uint32_t v = 0; v < w->nnodes && v < MAXDENSE; v++)
	{
		int32_t		k = (int32_t) (w->node[v + 1].edge - w->node[v].edge);

		sum += k * 41 / 4 * 5 / 4 - SFX_DENSE_SIZE * 8;
		if (sum > best)
		{
			best = sum;
			ndense = v + 1;
		}
	}
	return ndense;
}

static bool
out_dense(const Build *w, uint32_t ndense, SfxOut *o)
{
	uint32_t	children = 0;

	for (uint32_t v = 0; v < ndense; v++)
	{
		uint8_t    *p = sfx_out(o, SFX_DENSE_SIZE);

		if (p == NULL)
			return false;
		sfx_put16(p + 64, (uint16_t) children);
		for (uint32_t e = w->node[v].edge; e < w->node[v + 1].edge; e++)
		{
			set_bit(p, w->label[e]);
			if (w->child[e])
			{
				set_bit(p + 32, w->label[e]);
				children++;
			}
		}
	}
	return true;
}

static bool
out_sparse(const Build *w, uint32_t ndense, SfxOut *o, uint32_t shift)
{
	uint32_t	from = w->node[ndense].edge;
	uint32_t	ne = w->nedges - from;
	uint8_t    *p;

	if ((p = sfx_out(o, sfx_bytes_of(ne))) == NULL)
		return false;
	for (uint32_t e = 0; e < ne; e++)
		if (w->child[from + e])
			set_bit(p, e);
	if (!out_rank(o, p, ne) || (p = sfx_out(o, sfx_bytes_of(ne))) == NULL)
		return false;
	for (uint32_t v = ndense; v < w->nnodes; v++)
		set_bit(p, w->node[v].edge - from);
	if (!out_select(o, p, ne, w->nnodes - ndense, shift) || (p = sfx_out(o, ne)) == NULL)
		return false;
	memcpy(p, w->label + from, ne);
	return true;
}

/* Number of low bits with which a pool of n strings is smallest. */
static uint32_t
pool_low_bits(uint32_t n, uint32_t total)
{
	uint32_t	best = 0;

	for (uint32_t l = 1; l < 15; l++)
		if ((n + 1) * l + (total >> l) < (n + 1) * best + (total >> best))
			best = l;
	return best;
}

/* Write the directory of a pool: w->start[0..n] are the starts and the end. */
static bool
out_starts(const Build *w, uint32_t n, uint32_t l, uint32_t shift, SfxOut *o)
{
	uint32_t	nup = (w->start[n] >> l) + n + 1;
	uint8_t    *p = sfx_out(o, sfx_bytes_of((uint64_t) (n + 1) * l));

	if (p == NULL)
		return false;
	for (uint32_t i = 0; i <= n; i++)
		sfx_packed_set(p, l, i, w->start[i] & ((1u << l) - 1));
	if ((p = sfx_out(o, sfx_bytes_of(nup))) == NULL)
		return false;
	for (uint32_t i = 0; i <= n; i++)
		set_bit(p, (w->start[i] >> l) + i);
	return out_select(o, p, nup, n + 1, shift);
}

static bool
out_paths(Build *w, SfxOut *o, uint8_t *desc)
{
	uint32_t	l = pool_low_bits(w->nnodes, w->pathbytes);
	uint32_t	shift = select_shift((w->pathbytes >> l) + w->nnodes + 1, w->nnodes + 1,
								 SFX_SELECT_NEAR, SFX_SELECT_NEARSHIFT);
	uint32_t	at = 0;
	uint8_t    *p;

	*desc = (uint8_t) (l | shift << 4);
	if (w->pathbytes == 0)
		return true;
	for (uint32_t v = 0; v < w->nnodes; v++)
	{
		w->start[v] = (uint16_t) at;
		at += w->node[v].stop - w->node[v].depth;
	}
	w->start[w->nnodes] = (uint16_t) at;
	if (!out_starts(w, w->nnodes, l, shift, o) || (p = sfx_out(o, at)) == NULL)
		return false;
	for (uint32_t v = 0; v < w->nnodes; v++)
		key_copy(&w->keys[w->node[v].a], w->node[v].depth, w->node[v].stop, p + w->start[v]);
	return true;
}

static bool
out_tails(Build *w, SfxOut *o, uint8_t *desc)
{
	uint32_t	l = pool_low_bits(w->n, w->tailbytes);
	uint32_t	shift = select_shift((w->tailbytes >> l) + w->n + 1, w->n + 1, SFX_SELECT_FAR, SFX_SELECT_FARSHIFT);
	uint32_t	at = 0;
	uint8_t    *p;

	*desc = (uint8_t) (l | shift << 4);
	if (w->tailbytes == 0)
		return true;
	for (uint32_t i = 0; i < w->n; i++)
	{
		w->start[i] = (uint16_t) at;
		at += key_len(&w->keys[i]) - w->tail[i];
	}
	w->start[w->n] = (uint16_t) at;
	if (!out_starts(w, w->n, l, shift, o) || (p = sfx_out(o, at)) == NULL)
		return false;
	for (uint32_t i = 0; i < w->n; i++)
		key_copy(&w->keys[i], w->tail[i], key_len(&w->keys[i]), p + w->start[i]);
	return true;
}

/* Write the bases of all nodes except the root, and the string-ends-here bits. */
static bool
out_nodes(const Build *w, SfxOut *o)
{
	uint32_t	width = sfx_bitlen(w->n);
	uint8_t    *p = sfx_out(o, sfx_bytes_of((uint64_t) (w->nnodes - 1) * width));

	if (p == NULL)
		return false;
	for (uint32_t v = 1; v < w->nnodes; v++)
		sfx_packed_set(p, width, v - 1, w->node[v].a);
	if (!w->anypk)
		return true;
	if ((p = sfx_out(o, sfx_bytes_of(w->nnodes))) == NULL)
		return false;
	for (uint32_t v = 0; v < w->nnodes; v++)
		if (w->node[v].pk)
			set_bit(p, v);
	return true;
}

static int
build_write(Build *w, SfxOut *o)
{
	uint32_t	ndense = choose_dense(w);
	uint32_t	shift = 0;
	uint32_t	children = 0;
	uint8_t    *h = sfx_out(o, TRIE_HEADER);

	if (h == NULL)
		return SFX_NOSPACE;
	for (uint32_t e = 0; e < w->node[ndense].edge; e++)
		children += w->child[e];
	if (ndense < w->nnodes)
		shift = select_shift(w->nedges - w->node[ndense].edge, w->nnodes - ndense, SFX_SELECT_NEAR, SFX_SELECT_NEARSHIFT);
	sfx_put16(h, (uint16_t) w->nnodes);
	sfx_put16(h + 2, (uint16_t) (w->nedges - w->node[ndense].edge));
	sfx_put16(h + 4, (uint16_t) w->pathbytes);
	sfx_put16(h + 6, (uint16_t) w->tailbytes);
	sfx_put16(h + 8, (uint16_t) children);
	h[10] = (uint8_t) ndense;
	h[11] = (uint8_t) (shift | (w->anypk ? TRIE_HAS_PK : 0));
	if (!out_dense(w, ndense, o) || !out_sparse(w, ndense, o, shift) || !out_nodes(w, o) ||
		!out_paths(w, o, h + 12) || !out_tails(w, o, h + 13))
		return SFX_NOSPACE;
	return SFX_OK;
}

int
sfx_trie_build(const SfxPos *keys, uint32_t n, SfxOut *o, void *scratch)
{
	Build	   *w = scratch;

	if (n < 2 || n > SFX_TRIE_MAXKEYS)
		return SFX_NOSPACE;
	w->keys = keys;
	w->n = n;
	w->nnodes = 1;
	w->nedges = w->pathbytes = w->tailbytes = 0;
	w->anypk = false;
	w->lcp[0] = 0;
	for (uint32_t i = 1; i < n; i++)
		w->lcp[i] = (uint16_t) key_lcp(&keys[i - 1], &keys[i]);
	w->node[0] = (BuildNode) {.a = 0, .b = (uint16_t) n, .depth = 0};
	for (uint32_t v = 0; v < w->nnodes; v++)
	{
		build_node(w, v);
		/* more than any page holds; what is less also fits the 16-bit fields */
		if (w->pathbytes + w->tailbytes + w->nedges > o->cap || w->pathbytes + w->tailbytes > UINT16_MAX)
			return SFX_NOSPACE;
	}
	w->node[w->nnodes].edge = (uint16_t) w->nedges;
	return build_write(w, o);
}
