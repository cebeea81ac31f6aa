/*-------------------------------------------------------------------------
 * hope_assign.c - optimal alphabetic codes: the algorithm of Garsia and Wachs (SIAM J. Comput.
 * 6(4), 1977)
 *
 * The weights are in a list.  Again and again, the leftmost neighbours u, v that have t to the left
 * of u and w to the right of v with weight(u) <= weight(w) become one node; it moves left, to the
 * right side of the nearest node that is not lighter.  The depths of the weights in the resulting
 * tree are the lengths of an optimal alphabetic code, though the tree itself is out of order.
 *
 * Left of the current place, each weight is larger than the next but one to its right
 * ("2-descending").  So a stretch of the list that starts with two light nodes has light ones only,
 * and the way left can skip it: nodes belong to stretches of at most 2 * STRETCH nodes.  A step
 * takes O(STRETCH + n / STRETCH) in the worst case instead of O(n), and O(1) nearly always.
 *-------------------------------------------------------------------------
 */
#include "hope_format.h"

#define STRETCH		256
#define NONE		UINT32_MAX

typedef struct Stretch
{
	uint64_t	top;			/* the larger one of the first two nodes' weights; left of the
								 * current place that is the largest */
	uint32_t	first;			/* leftmost node */
	uint32_t	count;
	uint32_t	left;			/* neighbours; stretches without nodes are dropped */
	uint32_t	right;
} Stretch;

typedef struct Tree
{
	uint64_t   *weight;			/* of 2n nodes: n leaves, n - 1 merged ones, a heavy one at the end */
	uint32_t   *left;			/* neighbours in the list */
	uint32_t   *right;
	uint32_t   *stretch;		/* stretch of a node, then its depth */
	uint32_t   *child[2];		/* of merged nodes, by number - n */
	Stretch    *stretches;
	uint32_t   *pending;		/* nodes whose left side is to be looked at again */
	uint32_t	leftmost;
	uint32_t	n;
	uint32_t	nnodes;
	uint32_t	nstretches;
} Tree;

/*
 * Stretches are made of STRETCH nodes, at the start or by a split, which takes as many insertions.
 */
static size_t
max_stretches(uint32_t n)
{
	return 2 * ((size_t) n / STRETCH + 2);
}

static uint8_t *
carve(uint8_t **p, size_t bytes)
{
	uint8_t    *at = *p;

	*p += (bytes + 7) & ~(size_t) 7;
	return at;
}

size_t
sfx_hope_assign_size(uint32_t n)
{
	return 16 * ((size_t) n + 1) + 3 * (8 * (size_t) n + 8) + 3 * (4 * (size_t) n + 8) + sizeof(Stretch) * max_stretches(n);
}

/* To be called after each change in a stretch. */
static inline void
update_top(const Tree *t, Stretch *s)
{
	s->top = t->weight[s->first];
	if (s->count > 1 && t->weight[t->right[s->first]] > s->top)
		s->top = t->weight[t->right[s->first]];
}

static void
unlink_node(Tree *t, uint32_t a)
{
	uint32_t	l = t->left[a],
				r = t->right[a];
	Stretch    *s = &t->stretches[t->stretch[a]];

	if (l != NONE)
		t->right[l] = r;
	else
		t->leftmost = r;
	t->left[r] = l;
	if (--s->count > 0)
	{
		s->first = s->first == a ? r : s->first;
		update_top(t, s);
		return;
	}
	if (s->left != NONE)
		t->stretches[s->left].right = s->right;
	if (s->right != NONE)
		t->stretches[s->right].left = s->left;
}

/* Make the second half of a stretch a new one. */
static void
split_stretch(Tree *t, uint32_t k)
{
	Stretch    *s = &t->stretches[k],
			   *n = &t->stretches[t->nstretches];
	uint32_t	a = s->first;

	for (int i = 0; i < STRETCH; i++)
		a = t->right[a];
	n->first = a;
	n->count = s->count - STRETCH;
	s->count = STRETCH;
	for (uint32_t i = 0; i < n->count; i++)
	{
		t->stretch[a] = t->nstretches;
		a = t->right[a];
	}
	n->left = k;
	n->right = s->right;
	if (s->right != NONE)
		t->stretches[s->right].left = t->nstretches;
	s->right = t->nstretches++;
	update_top(t, n);
}

/* Insert node a between l (or NONE) and r; into r's stretch if l is none. */
static void
link_node(Tree *t, uint32_t a, uint32_t l, uint32_t r)
{
	uint32_t	k = t->stretch[l != NONE ? l : r];
	Stretch    *s = &t->stretches[k];

	t->left[a] = l;
	t->right[a] = r;
	t->left[r] = a;
	if (l != NONE)
		t->right[l] = a;
	else
		t->leftmost = s->first = a;
	t->stretch[a] = k;
	if (++s->count > 2 * STRETCH)
		split_stretch(t, k);
	update_top(t, s);
}

/* Returns the nearest node at a or to its left that has at least this weight, or NONE. */
static uint32_t
heavier_at_left(const Tree *t, uint32_t a, uint64_t weight)
{
	const Stretch *s;

	if (a == NONE)
		return NONE;
	s = &t->stretches[t->stretch[a]];
	if (s->top < weight)
	{
		do
		{
			if (s->left == NONE)
				return NONE;
			s = &t->stretches[s->left];
		} while (s->top < weight);
		a = t->left[t->stretches[s->right].first];
	}
	while (a != NONE && t->weight[a] < weight)
		a = t->left[a];
	return a;
}

/* Merge the two nodes to the left of r into one, and move that to its place. */
static uint32_t
merge_left_of(Tree *t, uint32_t r)
{
	uint32_t	v = t->left[r],
				u = t->left[v],
				a = t->nnodes++,
				l = t->left[u];

	t->child[0][a - t->n] = u;
	t->child[1][a - t->n] = v;
	t->weight[a] = t->weight[u] + t->weight[v];
	unlink_node(t, u);
	unlink_node(t, v);
	l = heavier_at_left(t, l, t->weight[a]);
	link_node(t, a, l, l != NONE ? t->right[l] : t->leftmost);
	return a;
}

/* Merge all that must be merged to the left of node a, the last one that was looked at. */
static void
settle(Tree *t, uint32_t a)
{
	uint32_t	npending = 0;

	for (;;)
	{
		uint32_t	v = t->left[a],
					u = v == NONE ? NONE : t->left[v];

		if (u != NONE && t->weight[u] <= t->weight[a])
		{
			t->pending[npending++] = a;
			a = merge_left_of(t, a);
		}
		else if (npending > 0)
			a = t->pending[--npending];
		else
			return;
	}
}

static void
start_list(Tree *t, const uint64_t *weight, uint32_t n)
{
	memcpy(t->weight, weight, 8 * (size_t) n);
	t->weight[2 * n - 1] = UINT64_MAX;
	t->n = n;
	t->nnodes = n;
	t->nstretches = 0;
	t->leftmost = 0;
	for (uint32_t i = 0; i <= n; i++)
	{
		/*
		 * The heavy end, number 2n - 1, has a stretch of its own: nodes that are merged at the left
		 * end before it must find one.
		 */
		uint32_t	a = i < n ? i : 2 * n - 1;

		t->left[a] = i == 0 ? NONE : i - 1;
		t->right[a] = i + 1 < n ? i + 1 : 2 * n - 1;
		if (i % STRETCH == 0 || i == n)
		{
			t->stretches[t->nstretches] = (Stretch) {0, a, 0, t->nstretches - 1, t->nstretches + 1};
			t->nstretches++;
		}
		t->stretch[a] = t->nstretches - 1;
		t->stretches[t->nstretches - 1].count++;
	}
	t->stretches[0].left = NONE;
	t->stretches[t->nstretches - 1].right = NONE;
	for (uint32_t k = 0; k < t->nstretches; k++)
		update_top(t, &t->stretches[k]);
}

void
sfx_hope_optimal_lengths(const uint64_t *weight, uint32_t n, uint8_t *length, void *scratch)
{
	Tree		t;
	uint8_t    *p = scratch;
	uint32_t	root;

	t.weight = (uint64_t *) carve(&p, 16 * (size_t) n);
	t.left = (uint32_t *) carve(&p, 8 * (size_t) n);
	t.right = (uint32_t *) carve(&p, 8 * (size_t) n);
	t.stretch = (uint32_t *) carve(&p, 8 * (size_t) n);
	t.child[0] = (uint32_t *) carve(&p, 4 * (size_t) n);
	t.child[1] = (uint32_t *) carve(&p, 4 * (size_t) n);
	t.pending = (uint32_t *) carve(&p, 4 * (size_t) n);
	t.stretches = (Stretch *) carve(&p, sizeof(Stretch) * max_stretches(n));

	start_list(&t, weight, n);
	for (uint32_t i = 0; i < n; i++)
		settle(&t, i);
	settle(&t, 2 * n - 1);		/* the end is heavier than all: one node is left */

	/* children have smaller numbers than their parent */
	root = t.nnodes - 1;
	t.stretch[root] = 0;
	for (uint32_t a = root; a >= n && a != NONE; a--)
	{
		t.stretch[t.child[0][a - n]] = t.stretch[a] + 1;
		t.stretch[t.child[1][a - n]] = t.stretch[a] + 1;
	}
	for (uint32_t i = 0; i < n; i++)
		length[i] = (uint8_t) (t.stretch[i] < 255 ? t.stretch[i] : 255);
}

/* ---- bounds ---- */

void
sfx_hope_assign(uint64_t *weight, uint32_t n, unsigned maxbits, uint8_t *length, void *scratch)
{
	uint64_t	total = 0,
				floor;

	for (uint32_t i = 0; i < n; i++)
		total += weight[i];
	floor = total >> maxbits;

	/* ends at the latest when all weights are equal */
	for (;;)
	{
		unsigned	longest = 0;

		sfx_hope_optimal_lengths(weight, n, length, scratch);
		for (uint32_t i = 0; i < n; i++)
			longest = length[i] > longest ? length[i] : longest;
		if (longest <= maxbits)
			return;
		floor += floor / 2 + 1;
		for (uint32_t i = 0; i < n; i++)
			weight[i] = weight[i] < floor ? floor : weight[i];
	}
}

int
sfx_hope_codes(uint32_t *code, uint32_t n)
{
	uint64_t	next = 0;		/* the next code, left-aligned in SFX_HOPE_MAXBITS bits */

	for (uint32_t i = 0; i < n; i++)
	{
		unsigned	length = HOPE_BITS(code[i]),
					below = SFX_HOPE_MAXBITS - length;

		if (length < 1 || length > SFX_HOPE_MAXBITS)
			return SFX_CORRUPT;
		if ((next & sfx_mask(below)) != 0 || next >> SFX_HOPE_MAXBITS != 0)
			return SFX_CORRUPT;
		code[i] |= (uint32_t) next << (32 - SFX_HOPE_MAXBITS);
		next += UINT64_C(1) << below;
	}
	return next == UINT64_C(1) << SFX_HOPE_MAXBITS ? SFX_OK : SFX_CORRUPT;
}
