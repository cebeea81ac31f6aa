/*-------------------------------------------------------------------------
 * surf_write.c - SuRF: from the nodes of the trie in postorder to the filter in level order
 *
 * Postorder read backwards is preorder from right to left: it visits the nodes of every level from
 * right to left.  So two walks are enough: one sums up the levels, the other writes every level
 * downwards from its end.
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"

/*
 * A dense part may cost this share of the sparse one, for its speed (the paper's R, section 2.5);
 * ...
 */
#define DENSE_SHARE		64
/* ... and it ends above this level: below, nodes are too many and too small. */
#define DENSE_LEVELS	16
/*
 * The cost, in 20ths of a bit, of a sparse edge besides the stored bits of its label, of a bucket,
 * a dense edge, and a dense node.
 */
#define SPARSE_EDGE20	47
#define BUCKET20		22
#define DENSE_EDGE20	23
#define DENSE_NODE20	(SURF_DENSE * 8 * 20)

/* Bits of "buckets" between two samples, about. */
#define SAMPLE_BITS		256

/* Longest path that may become nodes of one edge. */
#define UNARY_MAX		8

typedef struct Level
{
	uint64_t	nodes;
	uint64_t	edges;
	uint64_t	leaves;
	uint64_t	paths;
	uint64_t	once;			/* paths that only one node has */
	uint64_t	longs;			/* paths with a long number */
} Level;

/* An edge as it will be written. */
typedef struct Edge
{
	uint8_t		label;			/* byte, or digit */
	bool		child;
	const uint8_t *suffix;		/* of a leaf */
} Edge;

/* A node; its edges to the right of edge i are done. */
typedef struct Frame
{
	uint64_t	first;			/* its first edge */
	uint64_t	suffix;			/* end of the suffix of its next leaf, in bytes */
	uint32_t	level;
	uint16_t	n;
	int16_t		i;
} Frame;

typedef struct Walk Walk;

/* Called for each node; node is NULL for a continuation node. */
typedef bool (*Emit) (Walk *w, uint32_t level, const SurfNode *node, const Edge *e, unsigned n);

struct Walk
{
	SfxSurfBuild *b;
	Emit		emit;
	const uint8_t *code;		/* the code section, or NULL */
	uint32_t	dense;			/* levels */
	bool		unary;			/* paths become nodes of one edge */
	uint64_t	node;			/* what is left to visit */
	uint64_t	edge;
	uint64_t	suffix;
	uint64_t   *hist;			/* of labels below the root, in counting */
	uint8_t		digit1[256];	/* with a code: each byte's digits */
	uint8_t		digit2[256];	/* SURF_SINGLE: it has one */
	uint16_t	below[256];		/* in writing, with a rest section: surf_weights_below */
};

/* Let labels of the levels from w->dense on be digits of this code. */
static void
use_code(Walk *w, const uint8_t *code)
{
	w->code = code;
	for (unsigned c = 0; c < 256; c++)
	{
		w->digit1[c] = (uint8_t) surf_code_digit1(code, c);
		w->digit2[c] = (uint8_t) surf_code_digit2(code, c);
	}
}

static inline bool
is_coded(const Walk *w, uint32_t level)
{
	return w->code != NULL && level >= w->dense;
}

static inline bool
two_digits(const Walk *w, uint32_t level, unsigned label)
{
	return is_coded(w, level) && w->digit2[label] != SURF_SINGLE;
}

static const SurfPath *
path_of(const SfxSurfBuild *b, const SurfNode *node)
{
	return node == NULL || node->path == 0 ? NULL : (const SurfPath *) b->dict.p + (node->path - 1);
}

static const uint16_t *
edges_at(const Walk *w, uint64_t first)
{
	return (const uint16_t *) w->b->edges.p + first;
}

/* Emit the path of a node as nodes of one edge each. */
static bool
emit_unary(Walk *w, uint32_t *level, const SurfPath *p)
{
	const uint8_t *s = w->b->pathbytes.p + p->off;

	for (uint32_t i = 0; i < p->len; i++)
	{
		bool		two = two_digits(w, *level, s[i]);
		Edge		e = {.label = s[i], .child = true};

		if (is_coded(w, *level))
			e.label = w->digit1[s[i]];
		if (!w->emit(w, (*level)++, NULL, &e, 1))
			return false;
		e.label = two ? w->digit2[s[i]] : 0;
		if (two && !w->emit(w, (*level)++, NULL, &e, 1))
			return false;
	}
	return true;
}

/* Emit the next node of the preorder, and push it on the stack if there is anything below it. */
static bool
visit(Walk *w, uint32_t level)
{
	SfxSurfBuild *b = w->b;
	const SurfNode *node = (const SurfNode *) b->nodes.p + --w->node;
	const uint16_t *in = edges_at(w, w->edge -= node->nedges);
	uint64_t	behind = w->suffix;
	Edge		e[256];
	unsigned	at = 256;
	bool		coded,
				below = false;

	if (w->unary && node->path != 0 && !emit_unary(w, &level, path_of(b, node)))
		return false;
	coded = is_coded(w, level);
	for (unsigned i = node->nedges; i-- > 0;)
	{
		unsigned	label = in[i] & 0xFF;
		bool		child = (in[i] & SURF_CHILD) != 0,
					two = coded && w->digit2[label] != SURF_SINGLE;

		w->suffix -= child ? 0 : b->sufbytes;
		below |= child || two;
		if (coded)
			label = w->digit1[label];
		if (!two || at == 256 || e[at].label != label)
			e[--at] = (Edge) {.label = (uint8_t) label, .child = child || two, .suffix = b->suffixes.p + w->suffix};
	}
	if (below)
	{
		Frame	   *f = surf_vec_push(b, &b->open, sizeof(*f));

		if (f == NULL)
			return false;
		*f = (Frame) {.first = w->edge, .suffix = behind, .level = level, .n = node->nedges, .i = (int16_t) (node->nedges - 1)};
	}
	return w->emit(w, level, node, e + at, 256 - at);
}

/* Emit the continuation node whose last edge is the frame's next. */
static bool
visit_continuation(Walk *w, const Frame *f)
{
	const uint16_t *in = edges_at(w, f->first);
	uint64_t	suffix = f->suffix;
	Edge		e[256];
	int			from = f->i,
				group = w->digit1[in[f->i] & 0xFF];

	while (from > 0 && w->digit1[in[from - 1] & 0xFF] == group)
		from--;
	for (int i = f->i; i >= from; i--)
	{
		bool		child = (in[i] & SURF_CHILD) != 0;

		suffix -= child ? 0 : w->b->sufbytes;
		e[i - from] = (Edge) {.label = w->digit2[in[i] & 0xFF], .child = child,
			.suffix = w->b->suffixes.p + suffix};
	}
	return w->emit(w, f->level + 1, NULL, e, (unsigned) (f->i - from + 1));
}

/* Emit all nodes, every level from right to left. */
static bool
walk(Walk *w)
{
	SfxSurfBuild *b = w->b;

	w->node = b->nodes.len / sizeof(SurfNode);
	w->edge = b->edges.len / sizeof(uint16_t);
	w->suffix = b->suffixes.len;
	b->open.len = 0;
	if (w->node > 0 && !visit(w, 0))
		return false;
	while (b->open.len > 0)
	{
		Frame	   *f = (Frame *) (b->open.p + b->open.len) - 1;
		const uint16_t *in = edges_at(w, f->first);
		uint32_t	level = f->level;
		unsigned	label;
		bool		two;

		if (f->i < 0)
		{
			b->open.len -= sizeof(*f);
			continue;
		}
		label = in[f->i] & 0xFF;
		two = two_digits(w, level, label);
		if (two && (f->i == f->n - 1 || w->digit1[in[f->i + 1] & 0xFF] != w->digit1[label]) &&
			!visit_continuation(w, f))
			return false;
		if (in[f->i--] & SURF_CHILD)
		{
			if (!visit(w, level + 1 + two))
				return false;
		}
		else
			f->suffix -= b->sufbytes;
	}
	return true;
}

/* ---- first walk: sums per level ---- */

static Level *
level_at(SfxSurfBuild *b, uint32_t level)
{
	while (b->levels.len <= level * sizeof(Level))
	{
		Level	   *l = surf_vec_push(b, &b->levels, sizeof(Level));

		if (l == NULL)
			return NULL;
		memset(l, 0, sizeof(*l));
	}
	return (Level *) b->levels.p + level;
}

static bool
is_once(const SfxSurf *s, const SurfPath *p)
{
	return s->nonce > 0 && p->uses == 1;
}

static bool
is_long(const SfxSurf *s, const SurfPath *p)
{
	return (s->flags & SURF_F_KINDS) == 0 || p->number >> s->shortw != 0;
}

static bool
count_node(Walk *w, uint32_t level, const SurfNode *node, const Edge *e, unsigned n)
{
	Level	   *l = level_at(w->b, level);
	const SurfPath *p = w->unary ? NULL : path_of(w->b, node);

	if (l == NULL)
		return false;
	l->nodes++;
	l->edges += n;
	for (unsigned i = 0; i < n; i++)
	{
		l->leaves += !e[i].child;
		if (level > 0 && w->hist != NULL)
			w->hist[e[i].label]++;
	}
	if (p != NULL)
	{
		l->paths++;
		if (is_once(&w->b->plan, p))
			l->once++;
		else
			l->longs += is_long(&w->b->plan, p);
	}
	return true;
}

/* ---- rank vectors ---- */

static void
set_rank_bit(uint8_t *v, uint64_t i)
{
	v[(i >> 8) * SURF_RANK + SURF_BITS + (i >> 3 & 31)] |= (uint8_t) (1u << (i & 7));
}

/*
 * Fill in the samples of a block that has `ones` ones before it.  Returns the number of ones up to
 * its end.
 */
static uint64_t
write_block_rank(uint8_t *b, uint64_t ones)
{
	unsigned	in = 0;

	sfx_put32(b, (uint32_t) ones);
	for (unsigned k = 0; k < 4; k++)
	{
		b[4 + k] = (uint8_t) in;
		in += sfx_popcount(sfx_load64(b + SURF_BITS + 8 * k));
	}
	return ones + in;
}

static void
write_ranks(uint8_t *v, uint64_t n)
{
	uint64_t	ones = 0;

	for (uint64_t k = 0; k <= n / 256; k++, v += SURF_RANK)
		ones = write_block_rank(v, ones);
}

/* ---- the digit code ---- */

/*
 * Make an order-preserving code of digits below 2^width in which bytes heavier than min have a
 * digit of their own, and runs of others share one.  Returns the number of digits it takes;
 * *shared: the weight of bytes that share.
 */
static unsigned
make_code(uint8_t *code, const uint64_t *hist, unsigned width, uint64_t min, uint64_t *shared)
{
	unsigned	groups = 0,
				from = 0;

	*shared = 0;
	memset(code, 0, SURF_CODE);
	while (from < 256)
	{
		unsigned	to = from + 1;

		if (hist[from] <= min)
			while (to < 256 && hist[to] <= min && to - from < 1u << width)
				to++;
		set_rank_bit(code, from);
		for (unsigned c = from; c < to && to - from > 1; c++)
			*shared += hist[c];
		from = to;
		groups++;
	}
	return groups;
}

/* Find the best code of that width.  Returns the weight of bytes that take two digits. */
static uint64_t
best_code(uint8_t *code, const uint64_t *hist, unsigned width)
{
	uint64_t	lo = 0,
				hi = 0,
				shared;

	/*
	 * Find the smallest threshold that needs no more digits than there are; if all bytes are in
	 * runs, that is 256 / 2^width.
	 */
	for (unsigned c = 0; c < 256; c++)
		hi = hist[c] > hi ? hist[c] : hi;
	while (lo < hi)
	{
		uint64_t	mid = lo + (hi - lo) / 2;

		if (make_code(code, hist, width, mid, &shared) <= 1u << width)
			hi = mid;
		else
			lo = mid + 1;
	}
	make_code(code, hist, width, hi, &shared);
	return shared;
}

/*
 * Find the best number of buckets for sparse nodes and edges with labels of that width.  Returns
 * what they cost then, in 20ths of a bit.
 */
static uint64_t
best_buckets(unsigned width, uint64_t nodes, uint64_t edges, uint8_t *bshift)
{
	uint64_t	best = UINT64_MAX;

	for (unsigned shift = 0; shift + SURF_MINLOW <= width; shift++)
	{
		uint64_t	cost = edges * ((width - shift) * 20 + SPARSE_EDGE20) + (nodes << shift) * BUCKET20;

		if (cost >= best)
			break;
		best = cost;
		*bshift = (uint8_t) shift;
	}
	return best;
}

/*
 * Choose the width of labels, and the code that goes with it.  The sums of nodes and edges are
 * about those of the sparse part.
 */
static void
choose_code(SfxSurf *plan, uint8_t *code, const uint64_t *hist, uint64_t nodes)
{
	uint64_t	total = 0,
				best;

	for (unsigned c = 0; c < 256; c++)
		total += hist[c];
	plan->lwidth = 8;
	best = best_buckets(8, nodes, total, &plan->bshift);
	for (unsigned width = 4; width < 8; width++)
	{
		uint64_t	shared = best_code(code, hist, width),
					cost;
		uint8_t		bshift = 0;

		/* at most as many continuation nodes as edges after them */
		cost = best_buckets(width, nodes + shared, total + shared, &bshift) + SURF_CODE * 8 * 20;
		if (cost < best)
		{
			best = cost;
			plan->lwidth = (uint8_t) width;
			plan->bshift = bshift;
		}
	}
	if (plan->lwidth < 8)
	{
		best_code(code, hist, plan->lwidth);
		write_ranks(code, 255);
		plan->flags |= SURF_F_CODE;
	}
}

/* ---- the plan ---- */

/* Bits of a level in the sparse part, in 20ths. */
static uint64_t
sparse_cost(const SfxSurf *plan, const Level *l)
{
	return l->edges * ((uint64_t) (plan->lwidth - plan->bshift) * 20 + SPARSE_EDGE20) + (l->nodes << plan->bshift) * BUCKET20;
}

/* Choose how many levels are dense: as many as pay, or cost little in comparison with the whole. */
static uint32_t
choose_dense(const SfxSurf *plan, const Level *l, uint32_t n)
{
	uint64_t	all = 0,
				dense = 0,
				sparse = 0;
	uint32_t	best = n > 0;

	for (uint32_t i = 0; i < n; i++)
		all += sparse_cost(plan, &l[i]);
	for (uint32_t i = 0; i < n && i < DENSE_LEVELS; i++)
	{
		dense += l[i].nodes * DENSE_NODE20 + l[i].edges * DENSE_EDGE20;
		sparse += sparse_cost(plan, &l[i]);
		if (dense <= sparse + all / DENSE_SHARE)
			best = i + 1;
	}
	return best;
}

/* Replace the numbers of every level by the sums of the levels up to it.  Returns the total. */
static Level
sum_levels(Level *l, uint32_t n)
{
	Level		sum = {0};

	for (uint32_t i = 0; i < n; i++)
	{
		sum.nodes += l[i].nodes;
		sum.edges += l[i].edges;
		sum.leaves += l[i].leaves;
		sum.paths += l[i].paths;
		sum.once += l[i].once;
		sum.longs += l[i].longs;
		l[i] = sum;
	}
	return sum;
}

/*
 * Choose code, dense levels and buckets, and compute the numbers in the header.  A first walk
 * counts labels and levels; if labels are coded, a second one counts levels again, with
 * continuation nodes. SFX_OK or SFX_NOMEM.
 */
static int
plan_levels(SfxSurfBuild *b)
{
	SfxSurf    *plan = &b->plan;
	Walk		w = {.b = b, .emit = count_node, .unary = b->unary};
	uint8_t    *code;
	uint32_t	n;
	uint64_t	nodes = 0;
	Level		sum;

	w.hist = surf_vec_zeroed(b, &b->buckets, 256 * sizeof(uint64_t));
	code = surf_vec_zeroed(b, &b->code, SURF_CODE);
	if (w.hist == NULL || code == NULL || !walk(&w))
		return SFX_NOMEM;
	n = (uint32_t) (b->levels.len / sizeof(Level));
	for (uint32_t i = 1; i < n; i++)
		nodes += ((Level *) b->levels.p)[i].nodes;
	choose_code(plan, code, w.hist, nodes);
	w.dense = choose_dense(plan, (Level *) b->levels.p, n);
	if (plan->flags & SURF_F_CODE)
	{
		use_code(&w, code);
		w.hist = NULL;
		b->levels.len = 0;
		if (!walk(&w))
			return SFX_NOMEM;
		n = (uint32_t) (b->levels.len / sizeof(Level));
	}
	plan->height = n;
	sum = sum_levels((Level *) b->levels.p, n);
	plan->nnodes = sum.nodes;
	plan->nedges = sum.edges;
	plan->npaths = sum.paths;
	plan->nshort = sum.paths - sum.once - sum.longs;
	if (w.dense > 0)
	{
		plan->ndense = ((Level *) b->levels.p)[w.dense - 1].nodes;
		plan->ndedges = ((Level *) b->levels.p)[w.dense - 1].edges;
	}
	best_buckets(plan->lwidth, plan->nnodes - plan->ndense, plan->nedges - plan->ndedges, &plan->bshift);
	plan->low = (uint8_t) (plan->lwidth - plan->bshift);
	return SFX_OK;
}

/*
 * Are paths so few and short that nodes of one edge take less room than a has-path bit for every
 * node?
 */
static bool
paths_few(const SfxSurfBuild *b)
{
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint64_t	edges = 0,
				ndict = b->dict.len / sizeof(*dict);

	if (ndict > 4096)
		return false;
	for (uint64_t i = 0; i < ndict; i++)
	{
		if (dict[i].len > UNARY_MAX)
			return false;
		edges += (uint64_t) dict[i].len * dict[i].uses;
	}
	return edges * (8 * 20 + SPARSE_EDGE20) <= b->nodes.len / sizeof(SurfNode) * DENSE_EDGE20;
}

int
sfx_surf_size(SfxSurfBuild *b, uint64_t *size)
{
	SfxSurf    *plan = &b->plan;
	uint64_t	npaths = 0;
	const SurfNode *node;

	if (b->done || surf_close(b) != SFX_OK)
		return b->error != 0 ? b->error : SFX_CORRUPT;
	memset(plan, 0, sizeof(*plan));
	plan->nkeys = b->nkeys;
	plan->hashbits = b->hashbits;
	plan->realbits = b->realbits;
	plan->maxdepth = b->maxdepth;
	node = (const SurfNode *) b->nodes.p;
	for (size_t i = 0; i < b->nodes.len / sizeof(*node); i++)
	{
		npaths += node[i].path != 0;
		plan->flags |= node[i].ends ? SURF_F_ENDS : 0;
	}
	b->unary = paths_few(b);
	b->error = b->unary ? SFX_OK : surf_plan_paths(b, npaths);
	if (b->error == SFX_OK)
		b->error = plan_levels(b);
	if (b->error == SFX_OK)
		b->error = surf_plan_rest(b);
	if (b->error != SFX_OK)
		return b->error;
	if (plan->nedges > UINT32_MAX || surf_bucket_bits(plan) > UINT32_MAX || plan->poolsize > UINT32_MAX / 8)
		return b->error = SFX_NOSPACE;
	while (plan->selshift < 8 && surf_bucket_bits(plan) << (plan->selshift + 1) <= SAMPLE_BITS * surf_nbuckets(plan))
		plan->selshift++;
	plan->size = *size = surf_layout(plan, NULL);
	return SFX_OK;
}

/* ---- second walk: bytes ---- */

static inline void
set_bit(uint8_t *v, uint64_t i)
{
	v[i >> 3] |= (uint8_t) (1u << (i & 7));
}

/*
 * Write the path number of a node of level l, whose counters run backward: they are the numbers of
 * paths left of the node.
 */
static void
write_path(SfxSurfBuild *b, Level *l, uint64_t node, const SurfPath *p)
{
	SfxSurf    *s = &b->plan;
	uint64_t	i = --l->paths;

	set_rank_bit((uint8_t *) s->haspath, node);
	if (is_once(s, p))
	{
		set_rank_bit((uint8_t *) s->once, i);
		surf_name_once(b, s->ndict - s->nonce + --l->once, p);
		return;
	}
	i -= l->once;
	if (!is_long(s, p))
	{
		/* the long ones from here on are counted already */
		surf_or_bits((uint8_t *) s->shorts, (i - l->longs) * s->shortw, p->number, s->shortw);
		return;
	}
	l->longs--;
	if (s->flags & SURF_F_KINDS)
	{
		set_rank_bit((uint8_t *) s->kinds, i);
		surf_or_bits((uint8_t *) s->longs, l->longs * s->longw, p->number - (UINT64_C(1) << s->shortw), s->longw);
	}
	else
		surf_or_bits((uint8_t *) s->longs, l->longs * s->longw, p->number, s->longw);
}

static void
write_dense(SfxSurf *s, uint64_t node, uint64_t first, const Edge *e, unsigned n)
{
	uint8_t    *p = (uint8_t *) s->dense + node * SURF_DENSE;

	sfx_put32(p + 32, (uint32_t) first);
	for (unsigned i = 0; i < n; i++)
	{
		p[e[i].label >> 3] |= (uint8_t) (1u << (e[i].label & 7));
		if (e[i].child)
			set_rank_bit((uint8_t *) s->dchild, first + i);
	}
}

static void
write_sparse(SfxSurf *s, uint64_t node, uint64_t first, const Edge *e, unsigned n)
{
	uint64_t	q = node << s->bshift;
	unsigned	bucket = 0;

	for (unsigned i = 0; i < n; i++)
	{
		uint64_t	at = first + i;
		uint8_t    *p = (uint8_t *) surf_block(s, at);
		unsigned	lbit = (unsigned) (at & 255) * s->low,
					label = e[i].label & ((1u << s->low) - 1);

		if (e[i].child)
			p[SURF_BITS + (at >> 3 & 31)] |= (uint8_t) (1u << (at & 7));
		for (; bucket <= (unsigned) e[i].label >> s->low; bucket++)
			set_bit((uint8_t *) s->buckets, at + q + bucket);
		p += SURF_LABELS + (lbit >> 3);
		p[0] |= (uint8_t) (label << (lbit & 7));
		if ((lbit & 7) + s->low > 8)
			p[1] |= (uint8_t) (label >> (8 - (lbit & 7)));
	}
	for (; bucket < 1u << s->bshift; bucket++)
		set_bit((uint8_t *) s->buckets, first + n + q + bucket);
}

/* The stored form of a suffix that was collected. */
static uint64_t
suffix_of(const Walk *w, const uint8_t *p)
{
	const SfxSurfBuild *b = w->b;
	uint64_t	x = (sfx_load64(p) & sfx_mask(b->hashbits)) << b->realbits;

	p += b->hashbytes;
	return b->realbits == 0 ? x : x | surf_real_of(&b->plan, w->below, p + 1, p[0]);
}

static bool
write_node(Walk *w, uint32_t level, const SurfNode *node, const Edge *e, unsigned n)
{
	SfxSurf    *s = &w->b->plan;
	Level	   *l = (Level *) w->b->levels.p + level;
	uint64_t	id = --l->nodes,
				first = l->edges -= n;
	unsigned	width = surf_suffix_bits(s);
	const SurfPath *p = w->unary ? NULL : path_of(w->b, node);

	if (id < s->ndense)
		write_dense(s, id, first, e, n);
	else
		write_sparse(s, id - s->ndense, first - s->ndedges, e, n);
	for (unsigned i = n; i-- > 0 && width > 0;)
		if (!e[i].child)
			surf_or_bits((uint8_t *) s->suffixes, --l->leaves * width,
						 suffix_of(w, e[i].suffix), width);
	if (p != NULL)
		write_path(w->b, l, id, p);
	if (node != NULL && node->ends)
		set_rank_bit((uint8_t *) s->ends, id);
	return true;
}

static void
write_samples(SfxSurf *s)
{
	uint64_t	n = s->nedges - s->ndedges,
				mask = (UINT64_C(1) << s->selshift) - 1,
				q = 0,
				children;
	unsigned	width = surf_sample_width(s);

	write_ranks((uint8_t *) s->dchild, s->ndedges);
	if (s->npaths > 0)
		write_ranks((uint8_t *) s->haspath, s->nnodes);
	if (s->flags & SURF_F_ENDS)
		write_ranks((uint8_t *) s->ends, s->nnodes);
	if (s->nonce > 0)
		write_ranks((uint8_t *) s->once, s->npaths);
	if (s->flags & SURF_F_KINDS)
		write_ranks((uint8_t *) s->kinds, s->npaths - s->nonce);
	children = surf_rank(s->dchild, s->ndedges);
	for (uint64_t e = 0; e <= n; e += SURF_BLOCKEDGES)
		children = write_block_rank((uint8_t *) surf_block(s, e), children);
	for (uint64_t at = 0; at < surf_bucket_bits(s); at += 8)
		for (unsigned w = s->buckets[at >> 3]; w != 0; w &= w - 1, q++)
			if ((q & mask) == 0)
				surf_or_bits((uint8_t *) s->select, (q >> s->selshift) * width, at + (unsigned) __builtin_ctz(w), width);
}

static void
write_header(const SfxSurf *s, uint8_t *p)
{
	const uint64_t number[] = {s->nkeys, s->nedges, s->nnodes, s->ndedges, s->ndense, s->npaths, s->nshort,
	s->ndict, s->poolsize, s->nonce, s->nsymbols, s->symsize};

	sfx_put32(p, SURF_MAGIC);
	p[4] = SURF_VERSION;
	p[5] = s->hashbits;
	p[6] = s->realbits;
	p[7] = s->lwidth;
	p[8] = s->selshift;
	p[9] = s->shortw;
	p[10] = s->longw;
	p[11] = s->flags;
	sfx_put32(p + 12, s->height);
	sfx_put32(p + 16, s->maxdepth);
	p[20] = s->bshift;
	p[21] = s->lenw;
	sfx_put64(p + 24, s->size);
	for (unsigned i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		sfx_put32(p + 32 + 4 * i, (uint32_t) number[i]);
}

int
sfx_surf_write(SfxSurfBuild *b, uint8_t *buf, uint64_t cap)
{
	SfxSurf    *s = &b->plan;
	Walk		w = {.b = b, .emit = write_node, .dense = DENSE_LEVELS + 1, .unary = b->unary};

	if (b->error != 0 || !b->done || s->size == 0)
		return b->error != 0 ? b->error : SFX_CORRUPT;
	if (cap < s->size)
		return SFX_NOSPACE;
	memset(buf, 0, s->size);
	surf_layout(s, buf);
	write_header(s, buf);
	if (s->flags & SURF_F_CODE)
	{
		memcpy((uint8_t *) s->code, b->code.p, SURF_CODE);
		use_code(&w, s->code);
		for (w.dense = 0; ((Level *) b->levels.p)[w.dense].nodes < s->ndense;)
			w.dense++;
		w.dense++;
	}
	if (s->flags & SURF_F_REST)
	{
		memcpy((uint8_t *) s->rest, b->rest.p, SURF_REST);
		for (unsigned c = 0; c < 256; c++)
			w.below[c] = (uint16_t) surf_weights_below(s->rest, c);
	}
	if (!walk(&w))
		return b->error = SFX_NOMEM;
	write_samples(s);
	surf_write_paths(b);
	b->error = SFX_CORRUPT;		/* the levels are used up */
	return SFX_OK;
}
