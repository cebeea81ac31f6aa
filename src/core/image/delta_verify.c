/*-------------------------------------------------------------------------
 * delta_verify.c - the check of a delta's tree: order, links, counts
 *-------------------------------------------------------------------------
 */
#include "delta_node.h"
#include "hash.h"

#define BROKEN(text) do { *why = (text); return SFX_CORRUPT; } while (0)

/* a violation of the order: in comparator order the comparisons may have changed since */
#define UNORDERED(order, text) \
	do { *why = (text); return (order) ? SFX_DISORDER : SFX_CORRUPT; } while (0)

/* Check one node: counts, prefix, heads, order. */
static int
verify_node(const Node *nd, const SfxOrder *order, const char **why)
{
	uint32_t	used = 0;
	Cell		x,
				last = {0};

	if (order && nd->plen > 0)
		BROKEN("node has a prefix in comparator order");
	if (nd->low > SFX_NODE_SIZE || nd->low < HEADER + SLOT * nd->n)
		BROKEN("bodies and slots of a node overlap");
	for (int i = 0; i < nd->n; i++)
	{
		uint64_t	s = nd->slot[i];

		if (slot_off(s) < nd->low || slot_off(s) + fixed_part(nd) + slot_keylen(s) > SFX_NODE_SIZE)
			BROKEN("slot points outside the bodies");
		used += stored_size(nd, i);
		if (slot_off(s) + stored_size(nd, i) > SFX_NODE_SIZE)
			BROKEN("body reaches beyond its node");
		read_cell(nd, i, &x);
		if (x.pos.len < nd->plen || memcmp(node_prefix(nd), x.pos.key, nd->plen) != 0)
			BROKEN("key lacks the prefix of its node");
		if (nd->plen > 0 &&
			memcmp(nd->prefix, x.pos.key, nd->plen < PREFIX_INLINE ? nd->plen : PREFIX_INLINE) != 0)
			BROKEN("stored prefix is not that of the keys");
		if (slot_head(s) != head_of(x.pos.key, x.pos.len, nd->plen))
			BROKEN("head of a slot is not that of its key");
		if (nd->level > 0 && x.dead)
			BROKEN("a separator is flagged as dead");
		if (i > 0 && sfx_order_cmp_pos(order, &last.pos, &x.pos) >= 0)
			UNORDERED(order, "entries of a node out of order");
		last = x;
	}
	if (nd->low + used + nd->garbage != SFX_NODE_SIZE)
		BROKEN("body bytes of a node do not add up");
	return SFX_OK;
}

/*
 * Check that separator i of nd divides the leaves: all entries left of it are smaller, all to the
 * right are not.
 */
static int
verify_separator(const SfxNodeAlloc *a, const Node *nd, int i, const char **why)
{
	Cell		sep,
				x;

	read_cell(nd, i, &sep);
	nd = node_addr(a, sep.child);
	while (nd->level > 0)
		nd = node_addr(a, nd->child0);
	read_cell(nd, 0, &x);
	if (sfx_order_cmp_pos(a->order, &x.pos, &sep.pos) < 0)
		UNORDERED(a->order, "entry lies left of its separator");
	if (nd->prev == SFX_NODE_NULL)
		BROKEN("separator left of all leaves");
	nd = node_addr(a, nd->prev);
	read_cell(nd, nd->n - 1, &x);
	if (sfx_order_cmp_pos(a->order, &x.pos, &sep.pos) >= 0)
		UNORDERED(a->order, "entry lies right of its separator");
	return SFX_OK;
}

/*
 * Check the nodes of one level from first on; their children must be the level below, in link
 * order.
 */
static int
verify_level(const SfxDelta *d, const SfxNodeAlloc *a, int level, uint32_t first, SfxDelta *sum, const char **why)
{
	uint32_t	prev = SFX_NODE_NULL;
	uint32_t	down = level > 0 ? node_addr(a, first)->child0 : SFX_NODE_NULL;
	Cell		last = {0};

	for (uint32_t ref = first; ref != SFX_NODE_NULL;)
	{
		const Node *nd = node_addr(a, ref);
		Cell		x;
		int			rc;

		if (++sum->nodes > d->nodes)
			BROKEN("more nodes than counted");
		if (nd->level != level)
			BROKEN("node of another level");
		if (nd->prev != prev)
			BROKEN("left link does not match");
		rc = verify_node(nd, a->order, why);
		if (rc != SFX_OK)
			return rc;
		if (level == 0 && nd->n == 0)
			BROKEN("empty leaf");
		for (int i = 0; i < nd->n; i++)
		{
			read_cell(nd, i, &x);
			if (i == 0 && last.pos.key && sfx_order_cmp_pos(a->order, &last.pos, &x.pos) >= 0)
				UNORDERED(a->order, "neighbours out of order");
			last = x;
			if (level == 0)
				sum->bytes += x.pos.len + x.paylen;
		}
		if (level == 0)
			sum->nentries += nd->n;
		for (int i = 0; level > 0 && i <= nd->n; i++)
		{
			if (down == SFX_NODE_NULL || child_at(nd, i) != down)
				BROKEN("children are not the level below");
			down = node_addr(a, down)->next;
		}
		prev = ref;
		ref = nd->next;
	}
	if (level > 0 && down != SFX_NODE_NULL)
		BROKEN("level below has nodes without a parent");
	return SFX_OK;
}

/* Does the filter have the keys of all leaves? */
static bool
verify_filter(const SfxDelta *d, const SfxNodeAlloc *a)
{
	SfxCursor	c;
	SfxEntry	e;

	for (bool have = sfx_delta_seek(d, a, NULL, &c); have; have = sfx_delta_next(d, a, &c))
	{
		sfx_delta_get(d, a, &c, &e);
		if (sfx_delta_absent(d, a, sfx_hash_key(e.key, e.keylen)))
			return false;
	}
	return true;
}

int
sfx_delta_verify(const SfxDelta *d, const SfxNodeAlloc *a, const char **why)
{
	SfxDelta	sum = {0};
	uint32_t	first = d->root;

	*why = NULL;
	if ((d->height == 0) != (d->root == SFX_NODE_NULL) || d->height > SFX_DELTA_HEIGHT)
		BROKEN("height and root disagree");
	if (d->height > 1 && node_addr(a, d->root)->n == 0)
		BROKEN("root has a single child");
	if (d->height > 0 && node_addr(a, d->root)->next != SFX_NODE_NULL)
		BROKEN("root has a neighbour");
	for (int level = (int) d->height - 1; level >= 0; level--)
	{
		int			rc = verify_level(d, a, level, first, &sum, why);

		if (rc != SFX_OK)
			return rc;
		first = node_addr(a, first)->child0;
	}

	/* only now are the links known to be sound, which the check of separators follows */
	first = d->root;
	for (int level = (int) d->height - 1; level > 0; level--)
	{
		for (uint32_t ref = first; ref != SFX_NODE_NULL; ref = node_addr(a, ref)->next)
			for (int i = 0; i < node_addr(a, ref)->n; i++)
			{
				int			rc = verify_separator(a, node_addr(a, ref), i, why);

				if (rc != SFX_OK)
					return rc;
			}
		first = node_addr(a, first)->child0;
	}
	if (d->filter.nodes > 0 && !verify_filter(d, a))
		BROKEN("the filter lacks a key");
	if (sum.nodes != d->nodes || sum.nentries != d->nentries || sum.bytes != d->bytes)
		BROKEN("counters do not match the tree");
	return SFX_OK;
}
