/*-------------------------------------------------------------------------
 * delta_split.c - splitting a node of the delta
 *
 * Two nodes are always enough for a split.  Let U = 8192 - 64 be the room of a node and M = 2714
 * the largest cell (slot, child, TID, SFX_MAX_ENTRY).  A node that overflows holds, with the new
 * cell, T <= U + M bytes.  It is cut at that edge of the cell straddling T/2 which is nearer to
 * T/2: the larger side has at most T/2 + M/2 <= U/2 + M bytes, which is less than U because 2M < U.
 * In an inner node the straddling cell moves up instead.  It is neither the first nor the last one,
 * because T > U > 2M; so each side keeps a separator.
 *-------------------------------------------------------------------------
 */
#include "delta_node.h"

/* That many inserts in adjacent slots are taken for an ascending sequence. */
#define RUN_ENOUGH		6

/* Cell i of the sequence "the cells of old, with c put at slot at". */
static inline void
merged_cell(const Node *old, int at, const Cell *c, int i, Cell *out)
{
	if (i == at)
		*out = *c;
	else
		read_cell(old, i < at ? i : i - 1, out);
}

/*
 * Where the cells of old, with c at slot at, are cut in the middle: see the top of the file.  In an
 * inner node: the cell that moves up.
 */
static int
middle(const Node *old, int at, const Cell *c)
{
	uint32_t	total = ROOM - free_room(old) + SLOT + body_size(old, c);
	uint32_t	before = 0;

	for (int i = 0;; i++)
	{
		Cell		x;
		uint32_t	size;

		merged_cell(old, at, c, i, &x);
		size = SLOT + body_size(old, &x);
		if (2 * (before + size) >= total)
		{
			if (old->level > 0 || total - 2 * before <= 2 * (before + size) - total)
				return i;
			return i + 1;
		}
		before += size;
	}
}

/*
 * Returns the first cell of the right half, or in an inner node the one that moves up.  Ascending
 * and descending inserts leave full nodes: at either end of the level, and where the latest inserts
 * were in adjacent slots (ascending within a group of keys).
 */
static int
choose_split(const Node *old, int at, const Cell *c)
{
	bool		run = old->run >= RUN_ENOUGH && at == old->last + 1;
	uint32_t	left = 0;
	Cell		x;

	if (at == old->n && (old->next == SFX_NODE_NULL || run))
		return old->level > 0 ? at - 1 : at;
	if (at == 0 && old->prev == SFX_NODE_NULL)
		return 1;
	if (!run || old->level > 0)
		return middle(old, at, c);

	/* in the middle of the level: the new cell ends the left node, which the sequence will fill */
	for (int i = 0; i <= at; i++)
	{
		merged_cell(old, at, c, i, &x);
		left += SLOT + body_size(old, &x);
	}
	return left <= ROOM ? at + 1 : middle(old, at, c);
}

/* Fill the new node nd with cells [from, to) of the merged sequence. */
static void
fill_node(Node *nd, const Node *old, int at, const Cell *c, int from, int to, const SfxOrder *order)
{
	Cell		first,
				x;

	if (from == to)
		return;
	if (order == NULL)
	{
		merged_cell(old, at, c, from, &first);
		merged_cell(old, at, c, to - 1, &x);
		sfx_node_set_prefix(nd, x.pos.key, sfx_lcp(first.pos.key, first.pos.len, x.pos.key, x.pos.len));
	}
	for (int i = from; i < to; i++)
	{
		merged_cell(old, at, c, i, &x);
		nd->slot[nd->n] = sfx_node_write(nd, &x);
		nd->n++;
	}
	if (from <= at && at < to)
	{
		nd->last = (uint16_t) (at - from);
		nd->run = old->run;
	}
}

uint32_t
sfx_node_plan_split(const Node *nd, int at, bool equal, const Cell *c, const SfxOrder *order)
{
	uint64_t	copy[SFX_NODE_SIZE / 8];
	Cell		left,
				right;
	int			k;

	memcpy(copy, nd, SFX_NODE_SIZE);
	if (equal)
		sfx_node_delete((Node *) copy, at);
	k = choose_split((const Node *) copy, at, c);
	merged_cell((const Node *) copy, at, c, k - 1, &left);
	merged_cell((const Node *) copy, at, c, k, &right);
	return sfx_order_separator(order, &left.pos, &right.pos).len;
}

uint32_t
sfx_node_split(SfxDelta *d, const SfxNodeAlloc *a, Node *nd, uint32_t ref, int at, const Cell *c,
		   uint32_t seplen, SfxPos *up, uint8_t *keybuf)
{
	uint64_t	copy[SFX_NODE_SIZE / 8];
	const Node *old = (const Node *) copy;
	int			k = choose_split(nd, at, c);
	int			leaf = nd->level == 0;
	uint32_t	rref;
	Node	   *right = sfx_node_new(d, a, nd->level, &rref);
	Cell		x;

	memcpy(copy, nd, SFX_NODE_SIZE);
	sfx_node_init(nd, old->level);
	nd->child0 = old->child0;
	nd->prev = old->prev;
	nd->next = rref;
	right->prev = ref;
	right->next = old->next;
	if (right->next != SFX_NODE_NULL)
		node_addr(a, right->next)->prev = rref;

	fill_node(nd, old, at, c, 0, k, a->order);
	fill_node(right, old, at, c, leaf ? k : k + 1, old->n + 1, a->order);
	merged_cell(old, at, c, k, &x);
	*up = x.pos;
	if (leaf)
	{
		merged_cell(old, at, c, k - 1, &x);
		if (a->order == NULL)
			*up = sfx_separator(&x.pos, up);
		else if (!sfx_same_bytes(x.pos.key, x.pos.len, up->key, up->len))
			*up = (SfxPos) {up->key, seplen, 0};
	}
	else
		right->child0 = x.child;
	if (up->len > 0)
		memmove(keybuf, up->key, up->len);
	up->key = keybuf;
	return rref;
}
