/*-------------------------------------------------------------------------
 * louds.c - page-local LOUDS-DS trie: builder, search, iteration
 *
 * Layout of a trie (offsets from its start; k2 = 2-byte samples):
 *
 *	off	size	what
 *	0	2	nodes
 *	2	2	edges of sparse nodes
 *	4	2	bytes in the pool of paths (0: no pool)
 *	6	2	bytes in the pool of tails (0: no pool)
 *	8	2	has-child bits in dense nodes
 *	10	1	dense nodes: nodes 0 .. this - 1
 *	11	1	bits 0-3 select shift of the LOUDS bits; bit 4: string-ends-here bits are present
 *	12	1	pool of paths: bits 0-3 low bits of a start, bits 4-7 select shift
 *	13	1	the same for the pool of tails
 *	14	66 * dense		dense nodes: 256 label bits, 256 has-child bits, 2 bytes has-child bits before
 *		edges/8			has-child bits
 *		k2				their rank samples
 *		edges/8			LOUDS bits: 1 at the first edge of each sparse node
 *		k2				their select samples
 *		edges			labels, ascending within a node
 *		packed			bases of nodes 1 .. nodes - 1, as wide as the number of strings needs
 *		nodes/8			string-ends-here bits
 *		pool			paths
 *		pool			tails
 *
 * A pool: packed low bits of n + 1 starts; upper bits; k2 select samples; bytes.
 *-------------------------------------------------------------------------
 */
#include "louds.h"

#define TRIE_HEADER		14
#define TRIE_HAS_PK		0x10
#define MAXDENSE		255
#define MAXEDGES		(2 * SFX_TRIE_MAXKEYS)

/* ---- bits ---- */

uint64_t
sfx_ld64_edge(SfxBuf b, uint32_t off)
{
	uint64_t	v = 0;

	for (uint32_t i = 0; i < 8 && off < b.len && i < b.len - off; i++)
		v |= (uint64_t) b.p[off + i] << (8 * i);
	return v;
}

uint32_t
sfx_select_from(SfxBuf b, const SfxBits *v, uint32_t pos, uint32_t r, uint32_t *next)
{
	uint32_t	at = v->off + (pos >> 3);
	uint64_t	w = sfx_ld64(b, at) & (~UINT64_C(0) << (pos & 7));

	*next = v->n;
	for (pos &= ~7u; pos < v->n; pos += 64)
	{
		uint64_t	sums = sfx_byte_sums(w);
		uint32_t	c = (uint32_t) (sums >> 56);

		if (r < c)
		{
			pos += sfx_select_word(w, sums, r);
			*next = sfx_next1(b, v, pos + 1, v->n);
			return pos < v->n ? pos : v->n;
		}
		r -= c;
		at += 8;
		w = sfx_ld64(b, at);
	}
	return v->n;
}

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

/* The largest shift up to max with which 2^shift ones lie within span bits on average. */
static uint32_t
select_shift(uint32_t nbits, uint32_t ones, uint32_t span, uint32_t max)
{
	uint32_t	shift = 0;

	while (shift < max && ((uint64_t) nbits << (shift + 1)) <= (uint64_t) span * ones)
		shift++;
	return shift;
}

static uint32_t
select_samples(uint32_t ones, uint32_t shift)
{
	return (ones + (1u << shift) - 1) >> shift;
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

static uint32_t
rank_samples(uint32_t nbits)
{
	return nbits / SFX_RANK_BITS + 1;
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
 * Node v holds the keys [a, b), whose first `depth` bytes were spent on the way to it and whose first
 * `stop` bytes are equal: [depth, stop) is its path.
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
	uint16_t	lcp[SFX_TRIE_MAXKEYS];	/* with the key before */
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

/* Split node v into its branches; children go to the end of the queue, which makes the order that of levels. */
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
 * How many nodes to make dense: the prefix that saves most.  A dense node is searched in
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

/* Low bits that make a pool of n strings smallest. */
static uint32_t
pool_low_bits(uint32_t n, uint32_t total)
{
	uint32_t	best = 0;

	for (uint32_t l = 1; l < 15; l++)
		if ((n + 1) * l + (total >> l) < (n + 1) * best + (total >> best))
			best = l;
	return best;
}

/* The directory of a pool: w->start[0..n] are the starts and the end. */
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

/* Bases of all nodes but the root, and the string-ends-here bits. */
static bool
out_nodes(const Build *w, SfxOut *o)
{
	uint32_t	width = sfx_width(w->n);
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
		/* more than any page holds; what fits below it also fits the 16-bit fields */
		if (w->pathbytes + w->tailbytes + w->nedges > o->cap || w->pathbytes + w->tailbytes > UINT16_MAX)
			return SFX_NOSPACE;
	}
	w->node[w->nnodes].edge = (uint16_t) w->nedges;
	return build_write(w, o);
}

/* ---- reader ---- */

/* Take n bytes of the buffer at *off. */
static inline uint32_t
take(uint32_t *off, uint32_t n)
{
	uint32_t	at = *off;

	*off += n;
	return at;
}

static void
open_pool(SfxPool *s, uint32_t n, uint32_t total, uint32_t desc, uint32_t *off)
{
	memset(s, 0, sizeof(*s));
	s->n = n;
	s->total = total;
	if (total == 0)
		return;
	s->l = desc & 15;
	s->up.shift = desc >> 4;
	s->up.n = (total >> s->l) + n + 1;
	s->low = take(off, sfx_bytes_of((uint64_t) (n + 1) * s->l));
	s->up.off = take(off, sfx_bytes_of(s->up.n));
	s->up.smp = take(off, 2 * select_samples(n + 1, s->up.shift));
	s->data = take(off, total);
}

int
sfx_trie_open(SfxTrie *t, SfxBuf b, uint32_t off, uint32_t n)
{
	uint32_t	h = off;
	uint32_t	nsparse;

	if ((uint64_t) off + TRIE_HEADER > b.len || n < 2 || n > SFX_TRIE_MAXKEYS)
		return SFX_CORRUPT;
	t->nkeys = n;
	t->nnodes = sfx_ld16(b, h);
	t->nedges = sfx_ld16(b, h + 2);
	t->dchildren = sfx_ld16(b, h + 8);
	t->ndense = sfx_ld8(b, h + 10);
	if (t->nnodes < 1 || t->nnodes >= n || t->ndense > t->nnodes || t->nedges > MAXEDGES || t->dchildren >= t->nnodes)
		return SFX_CORRUPT;
	nsparse = t->nnodes - t->ndense;
	if (t->nedges < nsparse)
		return SFX_CORRUPT;
	off += TRIE_HEADER;
	t->dense = take(&off, t->ndense * SFX_DENSE_SIZE);
	t->child.n = t->louds.n = t->nedges;
	t->child.shift = 0;
	t->child.off = take(&off, sfx_bytes_of(t->nedges));
	t->child.smp = take(&off, 2 * rank_samples(t->nedges));
	t->louds.shift = sfx_ld8(b, h + 11) & 15;
	t->louds.off = take(&off, sfx_bytes_of(t->nedges));
	t->louds.smp = take(&off, 2 * select_samples(nsparse, t->louds.shift));
	t->labels = take(&off, t->nedges);
	t->bwidth = sfx_width(n);
	t->base = take(&off, sfx_bytes_of((uint64_t) (t->nnodes - 1) * t->bwidth));
	t->pk = 0;
	if (sfx_ld8(b, h + 11) & TRIE_HAS_PK)
		t->pk = take(&off, sfx_bytes_of(t->nnodes));
	open_pool(&t->paths, t->nnodes, sfx_ld16(b, h + 4), sfx_ld8(b, h + 12), &off);
	open_pool(&t->tails, n, sfx_ld16(b, h + 6), sfx_ld8(b, h + 13), &off);
	t->end = off;
	return off <= b.len ? SFX_OK : SFX_CORRUPT;
}

/* Strings below all of node v (nnodes: all). */
static inline uint32_t
node_base(const SfxTrie *t, SfxBuf b, uint32_t v)
{
	if (v - 1 >= t->nnodes - 1)
		return v == 0 ? 0 : t->nkeys;
	return (uint32_t) sfx_packed_get(b, t->base, t->bwidth, v - 1);
}

static inline uint32_t
node_pk(const SfxTrie *t, SfxBuf b, uint32_t v)
{
	return t->pk != 0 && sfx_bit(b, t->pk, v);
}

/*
 * The state of a descent.  The strings of the node it stands in end where those of the next node
 * that hangs on the same or a higher level begin, less the leaf edges in between.
 */
typedef struct Walk
{
	uint32_t	v;
	uint32_t	next;			/* that node */
	uint32_t	gap;			/* leaf edges in between */
} Walk;

static inline uint32_t
walk_end(const SfxTrie *t, SfxBuf b, const Walk *k)
{
	return node_base(t, b, k->next) - k->gap;
}

/* What one node says about a byte. */
typedef enum Step
{
	STEP_DOWN,					/* go on in k->v */
	STEP_LEAF,					/* only string *rank has this byte here */
	STEP_DONE					/* *rank strings are smaller, the others are greater */
} Step;

/* How many of the n ascending labels at off are <= c. */
static inline uint32_t
labels_upto(SfxBuf b, uint32_t off, uint32_t n, uint32_t c)
{
	uint64_t	y = c * SFX_ONES;
	uint32_t	k = 0;

	while (n - k > 16)
	{
		uint32_t	half = (n - k) / 2;

		if (sfx_ld8(b, off + k + half) <= c)
			k += half;
		else
			n = k + half;
	}
	while (k < n)
	{
		uint64_t	x = sfx_ld64(b, off + k);
		uint64_t	le = ((y | SFX_HIGHS) - (x & ~SFX_HIGHS)) & ~(x ^ y);	/* low 7 bits decide where the tops are equal */
		uint32_t	m = n - k;

		le = (le | (~x & y)) & SFX_HIGHS;
		if (m < 8)
			le &= (UINT64_C(1) << (8 * m)) - 1;
		m = (uint32_t) (((le >> 7) * SFX_ONES) >> 56);
		k += m;
		if (m < 8)
			break;
	}
	return k;
}

static inline Step
step_sparse(const SfxTrie *t, SfxBuf b, Walk *k, uint32_t c, uint32_t *rank)
{
	uint32_t	end;
	uint32_t	s = sfx_select1(b, &t->louds, k->v - t->ndense, &end);
	uint32_t	e = s + labels_upto(b, t->labels + s, end > s ? end - s : 0, c);
	uint32_t	x;
	bool		equal = e > s && sfx_ld8(b, t->labels + e - 1) == c;

	if (equal)
	{
		/* has-child bits from the edge on: mostly all of the node's */
		uint64_t	w = sfx_ld64(b, t->child.off + ((e - 1) >> 3)) >> ((e - 1) & 7);

		if (w & 1)
		{
			k->v = t->dchildren + sfx_rank1(b, &t->child, e - 1) + 1;
			w >>= 1;
			x = w != 0 ? e + (uint32_t) __builtin_ctzll(w) : sfx_next1(b, &t->child, e, end);
			if (x < end)
				k->next = k->v + 1;
			k->gap = x < end ? x - e : k->gap + (end - e);
			return STEP_DOWN;
		}
		e--;
	}
	else if (e == s)
	{
		*rank = node_base(t, b, k->v) + node_pk(t, b, k->v);
		return STEP_DONE;
	}
	/* strings before edge e: count back from the next node in this one, or from its end */
	x = sfx_next1(b, &t->child, e, end);
	*rank = x < end ? node_base(t, b, t->dchildren + sfx_rank1(b, &t->child, x) + 1) - (x - e)
		: walk_end(t, b, k) - (end - e);
	return equal ? STEP_LEAF : STEP_DONE;
}

/* Ones before bit i (0 to 256) of a 256-bit map. */
static inline uint32_t
map_rank(SfxBuf b, uint32_t off, uint32_t i)
{
	uint32_t	r = 0;

	for (; i >= 64; i -= 64, off += 8)
		r += sfx_ones64(sfx_ld64(b, off));
	if (i > 0)
		r += sfx_ones64(sfx_ld64(b, off) << (64 - i));
	return r;
}

static inline Step
step_dense(const SfxTrie *t, SfxBuf b, Walk *k, uint32_t c, uint32_t *rank)
{
	uint32_t	node = t->dense + k->v * SFX_DENSE_SIZE;
	SfxBits		child = {.off = node + 32, .n = 256, .smp = 0, .shift = 0};
	bool		equal = sfx_bit(b, node, c);
	bool		down = equal && sfx_bit(b, node + 32, c);
	uint32_t	from = equal && !down ? c : c + 1;	/* labels from here on lie behind the place */
	uint32_t	x = sfx_next1(b, &child, from, 256);
	uint32_t	gap = map_rank(b, node, x) - map_rank(b, node, from);
	uint32_t	below = sfx_ld16(b, node + 64) + map_rank(b, node + 32, from);	/* children before x */

	if (down)
	{
		k->v = below;
		if (x < 256)
			k->next = below + 1;
		k->gap = x < 256 ? gap : k->gap + gap;
		return STEP_DOWN;
	}
	*rank = (x < 256 ? node_base(t, b, below + 1) : walk_end(t, b, k)) - gap;
	return equal ? STEP_LEAF : STEP_DONE;
}

/* The string of a leaf edge has been found but for its tail. */
static int
rank_tail(const SfxTrie *t, SfxBuf b, const SfxProbe *q, uint32_t d, bool strict, uint32_t i)
{
	uint32_t	off,
				len = 0;
	int			c = 0;

	if (i >= t->nkeys)
		return SFX_CORRUPT;
	if (t->tails.total != 0)
	{
		if (!sfx_pool_get(b, &t->tails, i, &off, &len))
			return SFX_CORRUPT;
		c = sfx_probe_cmp_at(b, q, d, off, len);
	}
	if (c == 0 && strict && d + len == q->total)
		return (int) i;
	return (int) i + (c >= 0);
}

int
sfx_trie_rank(const SfxTrie *t, SfxBuf b, const SfxProbe *q, uint32_t d, bool strict)
{
	Walk		k = {.v = 0, .next = t->nnodes, .gap = 0};
	uint32_t	rank = 0;

	for (;;)
	{
		uint32_t	v = k.v;
		Step		s;

		if (t->paths.total != 0)
		{
			uint32_t	off,
						len;
			int			c;

			if (!sfx_pool_get(b, &t->paths, v, &off, &len))
				return SFX_CORRUPT;
			c = sfx_probe_cmp_at(b, q, d, off, len);
			if (c != 0)
			{
				rank = c < 0 ? node_base(t, b, v) : walk_end(t, b, &k);
				break;
			}
			d += len;
		}
		if (d == q->total)
		{
			rank = node_base(t, b, v) + (!strict && node_pk(t, b, v));
			break;
		}
		s = v < t->ndense ? step_dense(t, b, &k, sfx_probe_byte(q, d), &rank)
			: step_sparse(t, b, &k, sfx_probe_byte(q, d), &rank);
		if (s == STEP_LEAF)
			return rank_tail(t, b, q, d + 1, strict, rank);
		if (s == STEP_DONE)
			break;
		d++;
		/* children have larger numbers than their parents, so that this ends */
		if (k.v <= v || k.v >= t->nnodes)
			return SFX_CORRUPT;
	}
	return rank <= t->nkeys ? (int) rank : SFX_CORRUPT;
}

/* ---- iteration ---- */

/* A node on the way down: the next edge (dense: label) and where they end. */
typedef struct Frame
{
	uint16_t	v;
	uint16_t	edge;
	uint16_t	end;
	uint16_t	len;			/* bytes before the label */
} Frame;

typedef struct Each
{
	const SfxTrie *t;
	SfxBuf		b;
	uint8_t    *buf;
	uint32_t	skip;
	uint32_t	i;				/* strings so far */
	uint32_t	nodes;			/* nodes so far */
	SfxTrieFn	f;
	void	   *ctx;
} Each;

static int
each_string(Each *w, const SfxPool *s, uint32_t i, uint32_t len, uint32_t *outlen)
{
	uint32_t	off,
				n = 0;

	if (s->total != 0)
	{
		if (!sfx_pool_get(w->b, s, i, &off, &n) || len + n > SFX_TRIE_MAXLEN)
			return SFX_CORRUPT;
		memcpy(w->buf + w->skip + len, w->b.p + off, n);
	}
	*outlen = len + n;
	return SFX_OK;
}

static int
each_emit(Each *w, uint32_t len)
{
	if (w->i >= w->t->nkeys)
		return SFX_CORRUPT;
	return w->f(w->ctx, w->i++, w->buf, w->skip + len);
}

/* Enter node v with len bytes built. */
static int
each_enter(Each *w, Frame *fr, uint32_t v, uint32_t len)
{
	const SfxTrie *t = w->t;
	uint32_t	n,
				end;
	int			rc;

	/* each node is entered once, so that hostile ranks cannot make a long walk */
	if (v >= t->nnodes || ++w->nodes > t->nnodes || node_base(t, w->b, v) != w->i)
		return SFX_CORRUPT;
	if ((rc = each_string(w, &t->paths, v, len, &n)) < 0)
		return rc;
	fr->v = (uint16_t) v;
	fr->len = (uint16_t) n;
	fr->edge = 0;
	fr->end = 256;
	if (v >= t->ndense)
	{
		fr->edge = (uint16_t) sfx_select1(w->b, &t->louds, v - t->ndense, &end);
		fr->end = (uint16_t) end;
		if (fr->edge >= fr->end)
			return SFX_CORRUPT;
	}
	if (node_pk(t, w->b, v))
		return each_emit(w, n);
	return SFX_OK;
}

/* The next edge of the node in fr.  False if there is none; *child is 0 for a leaf edge. */
static bool
each_edge(const Each *w, Frame *fr, uint32_t *label, uint32_t *child)
{
	const SfxTrie *t = w->t;
	uint32_t	e = fr->edge;

	*child = 0;
	if (fr->v < t->ndense)
	{
		uint32_t	node = t->dense + fr->v * SFX_DENSE_SIZE;
		SfxBits		map = {.off = node, .n = 256, .smp = 0, .shift = 0};

		e = sfx_next1(w->b, &map, e, 256);
		if (e < 256 && sfx_bit(w->b, node + 32, e))
			*child = sfx_ld16(w->b, node + 64) + map_rank(w->b, node + 32, e) + 1;
		*label = e;
	}
	else if (e < fr->end)
	{
		if (sfx_bit(w->b, t->child.off, e))
			*child = t->dchildren + sfx_rank1(w->b, &t->child, e) + 1;
		*label = sfx_ld8(w->b, t->labels + e);
	}
	fr->edge = (uint16_t) (e + 1);
	return e < fr->end;
}

int
sfx_trie_each(const SfxTrie *t, SfxBuf b, uint8_t *buf, uint32_t skip, SfxTrieFn f, void *ctx)
{
	Each		w = {.t = t, .b = b, .buf = buf, .skip = skip, .f = f, .ctx = ctx};
	Frame		stack[SFX_TRIE_MAXLEN + 1];
	int			depth = 0;
	int			rc = each_enter(&w, &stack[0], 0, 0);

	while (rc >= 0 && depth >= 0)
	{
		Frame	   *fr = &stack[depth];
		uint32_t	label = 0,
					child = 0,
					len = fr->len;

		if (!each_edge(&w, fr, &label, &child))
		{
			depth--;
			continue;
		}
		if (len >= SFX_TRIE_MAXLEN)
			return SFX_CORRUPT;
		buf[skip + len++] = (uint8_t) label;
		/* a level costs a byte at least, so that depth stays below SFX_TRIE_MAXLEN */
		if (child != 0)
			rc = each_enter(&w, &stack[++depth], child, len);
		else if ((rc = each_string(&w, &t->tails, w.i, len, &len)) >= 0)
			rc = each_emit(&w, len);
	}
	if (rc < 0)
		return rc;
	return w.i == t->nkeys && w.nodes == t->nnodes ? SFX_OK : SFX_CORRUPT;
}

/* ---- check ---- */

static const char *
check_select(SfxBuf b, const SfxBits *v, uint32_t ones)
{
	uint32_t	k = 0;
	uint32_t	next;

	for (uint32_t i = 0; i < v->n; i++)
		if (sfx_bit(b, v->off, i))
		{
			if (k >= ones || sfx_select1(b, v, k, &next) != i || next != sfx_next1(b, v, i + 1, v->n))
				return "a select sample does not agree with its bits";
			k++;
		}
	return k == ones ? NULL : "a bit vector has the wrong number of ones";
}

static const char *
check_pool(SfxBuf b, const SfxPool *s)
{
	uint32_t	off,
				len,
				at = s->data;

	if (s->total == 0)
		return NULL;
	for (uint32_t i = 0; i < s->n; i++)
	{
		if (!sfx_pool_get(b, s, i, &off, &len) || off != at)
			return "the strings of a pool do not follow one another";
		at += len;
	}
	return at == s->data + s->total ? check_select(b, &s->up, s->n + 1) : "a string pool has bytes of no string";
}

const char *
sfx_trie_check(const SfxTrie *t, SfxBuf b)
{
	const char *why;
	uint32_t	k = 0;

	for (uint32_t v = 0; v < t->ndense; v++)
	{
		uint32_t	node = t->dense + v * SFX_DENSE_SIZE;

		if (sfx_ld16(b, node + 64) != k)
			return "a dense node has the wrong rank";
		k += map_rank(b, node + 32, 256);
	}
	if (k != t->dchildren)
		return "the dense nodes have the wrong number of children";
	for (uint32_t e = 0; e < t->nedges; e++)
	{
		if (t->dchildren + sfx_rank1(b, &t->child, e) != k)
			return "a rank sample does not agree with its bits";
		k += sfx_bit(b, t->child.off, e);
	}
	if (k + 1 != t->nnodes)
		return "the number of nodes is not that of has-child bits";
	if ((why = check_select(b, &t->louds, t->nnodes - t->ndense)) != NULL)
		return why;
	if ((why = check_pool(b, &t->paths)) != NULL)
		return why;
	return check_pool(b, &t->tails);
}
