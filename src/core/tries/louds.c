/*-------------------------------------------------------------------------
 * louds.c - reading a page-local LOUDS-DS trie: search, iteration (see louds_format.h)
 *-------------------------------------------------------------------------
 */
#include "louds_format.h"

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
		uint64_t	sums = sfx_byte_ranks(w);
		uint32_t	c = (uint32_t) (sums >> 56);

		if (r < c)
		{
			pos += sfx_select_in(w, sums, r);
			*next = sfx_next1(b, v, pos + 1, v->n);
			return pos < v->n ? pos : v->n;
		}
		r -= c;
		at += 8;
		w = sfx_ld64(b, at);
	}
	return v->n;
}

/* ---- reader ---- */

/* Take n bytes of the buffer at *off, which moves after them. */
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
	t->bwidth = sfx_bitlen(n);
	t->base = take(&off, sfx_bytes_of((uint64_t) (t->nnodes - 1) * t->bwidth));
	t->pk = 0;
	if (sfx_ld8(b, h + 11) & TRIE_HAS_PK)
		t->pk = take(&off, sfx_bytes_of(t->nnodes));
	open_pool(&t->paths, t->nnodes, sfx_ld16(b, h + 4), sfx_ld8(b, h + 12), &off);
	open_pool(&t->tails, n, sfx_ld16(b, h + 6), sfx_ld8(b, h + 13), &off);
	t->end = off;
	return off <= b.len ? SFX_OK : SFX_CORRUPT;
}

/* Number of strings below all of node v's (nnodes: of all). */
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
 * The state of a descent.  The strings of the current node end where those of `next` begin, the
 * next node in the same or a higher level, less the leaf edges in between.
 */
typedef struct Walk
{
	uint32_t	v;
	uint32_t	next;			/* see above */
	uint32_t	gap;			/* leaf edges in between */
} Walk;

static inline uint32_t
walk_end(const SfxTrie *t, SfxBuf b, const Walk *k)
{
	return node_base(t, b, k->next) - k->gap;
}

/* The result of one node for a byte. */
typedef enum Step
{
	STEP_DOWN,					/* continue in k->v */
	STEP_LEAF,					/* only string *rank has this byte here */
	STEP_DONE					/* *rank strings are smaller, the others are greater */
} Step;

static inline Step
step_sparse(const SfxTrie *t, SfxBuf b, Walk *k, uint32_t c, uint32_t *rank)
{
	uint32_t	end;
	uint32_t	s = sfx_select1(b, &t->louds, k->v - t->ndense, &end);
	uint32_t	e = s + sfx_labels_upto(b, t->labels + s, end > s ? end - s : 0, c);
	uint32_t	x;
	bool		equal = e > s && sfx_ld8(b, t->labels + e - 1) == c;

	if (equal)
	{
		/* has-child bits from the edge on: mostly all that the node has */
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

/* Number of ones before bit i (0 to 256) of a 256-bit map. */
static inline uint32_t
map_rank(SfxBuf b, uint32_t off, uint32_t i)
{
	uint32_t	r = 0;

	for (; i >= 64; i -= 64, off += 8)
		r += sfx_popcount(sfx_ld64(b, off));
	if (i > 0)
		r += sfx_popcount(sfx_ld64(b, off) << (64 - i));
	return r;
}

static inline Step
step_dense(const SfxTrie *t, SfxBuf b, Walk *k, uint32_t c, uint32_t *rank)
{
	uint32_t	node = t->dense + k->v * SFX_DENSE_SIZE;
	SfxBits		child = {.off = node + 32, .n = 256, .smp = 0, .shift = 0};
	bool		equal = sfx_bit(b, node, c);
	bool		down = equal && sfx_bit(b, node + 32, c);
	uint32_t	from = equal && !down ? c : c + 1;	/* labels from here on are after the byte */
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

/* The string of a leaf edge was found, except for its tail: compare that. */
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
		/* children have larger numbers than their parents, so the loop ends */
		if (k.v <= v || k.v >= t->nnodes)
			return SFX_CORRUPT;
	}
	return rank <= t->nkeys ? (int) rank : SFX_CORRUPT;
}

/* ---- iteration ---- */

/* A node of the descent: the next edge (dense: label) and where its edges end. */
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

/* Enter node v; len bytes of the string are built. */
static int
each_enter(Each *w, Frame *fr, uint32_t v, uint32_t len)
{
	const SfxTrie *t = w->t;
	uint32_t	n,
				end;
	int			rc;

	/* each node is entered once, so that damaged ranks cannot make a long walk */
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

/* Find the next edge of the node in fr.  False if there is none; *child is 0 for a leaf edge. */
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
		/* a level takes at least a byte, so depth stays below SFX_TRIE_MAXLEN */
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
