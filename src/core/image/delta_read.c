/*-------------------------------------------------------------------------
 * delta_read.c - cursors over the delta's entries
 *-------------------------------------------------------------------------
 */
#include "delta_node.h"

#define WALK	16		/* leaves (of some hundred entries each) that are counted one by one */

bool
sfx_delta_seek(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c)
{
	const Node *nd;
	bool		equal;

	c->node = SFX_NODE_NULL;
	c->slot = 0;
	if (d->height == 0)
		return false;
	c->node = sfx_node_find_leaf(d, a, pos, NULL);
	nd = node_addr(a, c->node);
	if (pos)
		c->slot = sfx_node_search(nd, pos, a->order, &equal);
	if (c->slot == nd->n)
	{
		c->node = nd->next;
		c->slot = 0;
	}
	return c->node != SFX_NODE_NULL;
}

bool
sfx_delta_seek_before(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c)
{
	const Node *nd;
	bool		equal;

	c->node = SFX_NODE_NULL;
	c->slot = 0;
	if (d->height == 0)
		return false;
	if (pos)
	{
		c->node = sfx_node_find_leaf(d, a, pos, NULL);
		c->slot = sfx_node_search(node_addr(a, c->node), pos, a->order, &equal);
		return sfx_delta_prev(d, a, c);
	}
	c->node = d->root;
	for (nd = node_addr(a, c->node); nd->level > 0; nd = node_addr(a, c->node))
		c->node = child_at(nd, nd->n);
	c->slot = nd->n - 1;
	return true;
}

/* Estimate the number of entries below a position, by its leaf's place among the nodes above. */
static double
place_of(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos)
{
	double		share = 0,
				width = 1;
	Path		path;
	bool		equal;

	if (d->height == 0)
		return 0;
	(void) sfx_node_find_leaf(d, a, pos, &path);
	for (int level = (int) d->height - 1; level > 0; level--)
	{
		width /= path.node[level]->n + 1;
		share += width * path.child[level];
	}
	share += width * sfx_node_search(path.node[0], pos, a->order, &equal) / path.node[0]->n;
	return share * (double) d->nentries;
}

/*
 * Number of entries from leaf `from` up to leaf `to`, whose own are not counted; -1 if that are
 * more than WALK leaves.
 */
static int64_t
count_leaves(const SfxNodeAlloc *a, uint32_t from, uint32_t to)
{
	int64_t		n = 0;

	for (int i = 0; from != to; i++)
	{
		const Node *nd;

		if (i == WALK || from == SFX_NODE_NULL)
			return -1;
		nd = node_addr(a, from);
		n += nd->n;
		from = nd->next;
	}
	return n;
}

void
sfx_delta_ranks(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, int n, double *below)
{
	uint32_t	node = SFX_NODE_NULL;	/* a leaf */
	double		before = 0;		/* number of entries before it */

	if (d->height > 0)
		node = sfx_node_find_leaf(d, a, NULL, NULL);
	for (int i = 0; i < n; i++)
	{
		uint32_t	leaf;
		int			slot;
		int64_t		between;
		bool		equal;

		if (pos[i].key == NULL || d->height == 0)
		{
			below[i] = (double) d->nentries;
			continue;
		}
		below[i] = 0;
		if (pos[i].len == 0 && pos[i].tid == 0)
			continue;
		leaf = sfx_node_find_leaf(d, a, &pos[i], NULL);
		slot = sfx_node_search(node_addr(a, leaf), &pos[i], a->order, &equal);
		if ((between = count_leaves(a, node, leaf)) >= 0)
			before += (double) between;
		else if ((between = count_leaves(a, leaf, SFX_NODE_NULL)) >= 0)
			before = (double) ((int64_t) d->nentries - between);
		else
			before = place_of(d, a, &pos[i]) - slot;
		node = leaf;
		below[i] = before + slot;
		if (i > 0 && below[i] < below[i - 1])
			below[i] = below[i - 1];
	}
}

void
sfx_delta_get(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c, SfxEntry *e)
{
	Cell		x;

	(void) d;
	read_cell(node_addr(a, c->node), c->slot, &x);
	e->key = x.pos.key;
	e->keylen = x.pos.len;
	e->tid = x.pos.tid;
	e->payload = x.payload;
	e->paylen = x.paylen;
}

bool
sfx_delta_set_dead(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c)
{
	uint64_t   *slot = &node_addr(a, c->node)->slot[c->slot];

	(void) d;
	return !slot_dead(__atomic_fetch_or(slot, DEAD_FLAG, __ATOMIC_RELAXED));
}

bool
sfx_delta_dead(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c)
{
	(void) d;
	return slot_dead(node_addr(a, c->node)->slot[c->slot]);
}

bool
sfx_delta_next(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c)
{
	const Node *nd;

	(void) d;
	if (c->node == SFX_NODE_NULL)
		return false;
	nd = node_addr(a, c->node);
	if (c->slot + 1 < nd->n)
	{
		c->slot++;
		return true;
	}
	c->node = nd->next;
	c->slot = 0;
	return c->node != SFX_NODE_NULL;
}

bool
sfx_delta_prev(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c)
{
	(void) d;
	if (c->node == SFX_NODE_NULL)
		return false;
	if (c->slot > 0)
	{
		c->slot--;
		return true;
	}
	c->node = node_addr(a, c->node)->prev;
	if (c->node == SFX_NODE_NULL)
		return false;
	c->slot = node_addr(a, c->node)->n - 1;
	return true;
}
