/*-------------------------------------------------------------------------
 * hope_assign.c - optimal alphabetic codes: the algorithm of Garsia and Wachs (SIAM J. Comput. 6(4), 1977)
 *
 * The weights stand in a list.  Again and again, the leftmost neighbours u, v that have t to the left of
 * u and w to the right of v with weight(u) <= weight(w) become one node; it moves left, to behind the nearest
 * node that is not lighter.  The depths of the weights in the tree that results are the lengths of an optimal alphabetic code,
 * though the tree itself is out of order.
 *
 * Left of the place of work, each weight is larger than the next but one to its right ("2-descending").  So a stretch
 * of the list that starts with two light nodes has light ones only, and the way left can skip it: nodes belong to stretches of at
 * most 2 * STRETCH nodes, found by the first of each.  A step takes O(STRETCH + n / STRETCH) in the worst case instead of O(n), and
 * O(1) nearly always.
 *-------------------------------------------------------------------------
 */
#include "hope_format.h"

#define STRETCH		128
#define NONE		UINT32_MAX

typedef struct Tree
{
	uint64_t   *weight;			/* of 2n nodes: n leaves, n - 1 merged ones, a heavy one at the end */
	uint32_t   *left;			/* neighbours in the list */
	uint32_t   *right;
	uint32_t   *stretch;		/* stretch of a node, then its depth */
	uint32_t   *child[2];		/* of merged nodes, by number - n */
	uint32_t   *first;			/* leftmost node of a stretch */
	uint32_t   *count;
	uint32_t   *pending;		/* nodes whose left side is to be looked at again */
	uint32_t	leftmost;
	uint32_t	n;
	uint32_t	nnodes;
	uint32_t	nstretches;
} Tree;

/* Stretches are made of STRETCH nodes, at the start or by a split, which takes as many insertions. */
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
	return 16 * ((size_t) n + 1) + 3 * (8 * (size_t) n + 8) + 3 * (4 * (size_t) n + 8) + 2 * (4 * max_stretches(n) + 8);
}

static void
unlink_node(Tree *t, uint32_t a)
{
	uint32_t	l = t->left[a],
				r = t->right[a],
				s = t->stretch[a];

	if (l != NONE)
		t->right[l] = r;
	else
		t->leftmost = r;
	t->left[r] = l;
	t->count[s]--;
	if (t->first[s] == a)
		t->first[s] = r;
}

/* The second half of a stretch becomes a new one. */
static void
split_stretch(Tree *t, uint32_t s)
{
	uint32_t	a = t->first[s],
				new = t->nstretches++;

	for (int i = 0; i < STRETCH; i++)
		a = t->right[a];
	t->first[new] = a;
	t->count[new] = t->count[s] - STRETCH;
	t->count[s] = STRETCH;
	for (uint32_t i = 0; i < t->count[new]; i++)
	{
		t->stretch[a] = new;
		a = t->right[a];
	}
}

/* Put node a between l (or NONE) and r; into r's stretch if l is none. */
static void
link_node(Tree *t, uint32_t a, uint32_t l, uint32_t r)
{
	uint32_t	s = t->stretch[l != NONE ? l : r];

	t->left[a] = l;
	t->right[a] = r;
	t->left[r] = a;
	if (l != NONE)
		t->right[l] = a;
	else
		t->leftmost = t->first[s] = a;
	t->stretch[a] = s;
	if (++t->count[s] > 2 * STRETCH)
		split_stretch(t, s);
}

/* The nearest node at a or to its left that has at least this weight, or NONE. */
static uint32_t
heavier_at_left(const Tree *t, uint32_t a, uint64_t weight)
{
	while (a != NONE && t->weight[a] < weight)
	{
		uint32_t	first = t->first[t->stretch[a]];

		/* where the stretch has one node, the second is the next one's first, and light */
		if (t->weight[first] < weight && t->weight[t->right[first]] < weight)
			a = t->left[first];
		else
			a = t->left[a];
	}
	return a;
}

/* Make one node of the two to the left of r, and put it in its place. */
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

/* Merge whatever must be merged to the left of node a, the last of those looked at. */
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
		/* the heavy end, number 2n - 1, has a stretch of its own: what is merged at the left end before it must find one */
		uint32_t	a = i < n ? i : 2 * n - 1;

		t->left[a] = i == 0 ? NONE : i - 1;
		t->right[a] = i + 1 < n ? i + 1 : 2 * n - 1;
		if (i % STRETCH == 0 || i == n)
		{
			t->first[t->nstretches] = a;
			t->count[t->nstretches++] = 0;
		}
		t->stretch[a] = t->nstretches - 1;
		t->count[t->nstretches - 1]++;
	}
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
	t.first = (uint32_t *) carve(&p, 4 * max_stretches(n));
	t.count = (uint32_t *) carve(&p, 4 * max_stretches(n));

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
	unsigned	longest;

	for (uint32_t i = 1; i < n; i++)
		total += weight[i];
	weight[HOPE_END] = (total >> HOPE_END_BITS) + (total >> (HOPE_END_BITS + 2));
	floor = total >> maxbits;

	/* ends at the latest when all weights are equal, but for the end's */
	for (;;)
	{
		sfx_hope_optimal_lengths(weight, n, length, scratch);
		longest = 0;
		for (uint32_t i = 1; i < n; i++)
			longest = length[i] > longest ? length[i] : longest;
		if (length[HOPE_END] <= HOPE_END_BITS && longest <= maxbits)
			return;
		if (length[HOPE_END] > HOPE_END_BITS)
			weight[HOPE_END] += weight[HOPE_END] / 2 + 1;
		if (longest <= maxbits)
			continue;
		floor += floor / 2 + 1;
		for (uint32_t i = 1; i < n; i++)
			weight[i] = weight[i] < floor ? floor : weight[i];
	}
}

int
sfx_hope_codes(uint32_t *code, uint32_t n)
{
	uint64_t	next = 0;		/* the next code, left-aligned in SFX_HOPE_MAXBITS bits */

	if (HOPE_BITS(code[HOPE_END]) > HOPE_END_BITS)
		return SFX_CORRUPT;
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
