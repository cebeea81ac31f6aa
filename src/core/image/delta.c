/*-------------------------------------------------------------------------
 * delta.c - inserting into the delta's B+tree, and removing from it (nodes: delta_node.h)
 *-------------------------------------------------------------------------
 */
#include "delta_node.h"

/*
 * Insert c at slot at of the leaf at the end of path, splitting upwards; available() has promised
 * height + 1 nodes.
 */
static void
insert_splitting(SfxDelta *d, const SfxNodeAlloc *a, Path *path, int at, Cell c, uint32_t seplen)
{
	uint8_t		keybuf[SFX_MAX_ENTRY];
	uint32_t	rref;

	for (uint32_t level = 0;; level++)
	{
		Node	   *nd = path->node[level];
		Cell		up = {0};

		if (free_room(nd) >= SLOT + body_size(nd, &c))
		{
			sfx_node_insert(nd, at, &c, a->order);
			return;
		}
		up.child = sfx_node_split(d, a, nd, path->ref[level], at, &c, seplen, &up.pos, keybuf);
		c = up;
		if (level + 1 == d->height)
			break;
		at = path->child[level + 1];
	}

	Node	   *root = sfx_node_new(d, a, (int) d->height, &rref);

	root->child0 = d->root;
	sfx_node_insert(root, 0, &c, a->order);
	d->root = rref;
	d->height++;
}

/*
 * The place of pos in the leaf *finger, into which the previous entry was inserted; -1 if pos may
 * belong to another leaf.  Only a place between two of the leaf's entries is certainly the leaf's.
 */
static int
near_finger(const SfxNodeAlloc *a, uint32_t finger, const SfxPos *pos, bool *equal)
{
	const Node *leaf;
	int			at;

	if (finger == SFX_NODE_NULL || a->order != NULL)
		return -1;
	leaf = node_addr(a, finger);
	at = sfx_node_search_near(leaf, pos, equal);
	return (at == 0 && !*equal) || (at == leaf->n && leaf->next != SFX_NODE_NULL) ? -1 : at;
}

int
sfx_delta_insert(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e)
{
	uint32_t	finger = SFX_NODE_NULL;

	return sfx_delta_insert_near(d, a, e, &finger);
}

/*
 * Find the leaf where pos belongs, and its place there: beside *finger if that is near, and then
 * path->node[0] is NULL; otherwise from the root, and *finger becomes that leaf.
 */
static Node *
find_near(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, uint32_t *finger, Path *path, int *at, bool *equal)
{
	*at = near_finger(a, *finger, pos, equal);
	path->node[0] = NULL;
	if (*at >= 0)
		return node_addr(a, *finger);
	*finger = sfx_node_find_leaf(d, a, pos, path);
	*at = sfx_node_search(path->node[0], pos, a->order, equal);
	return path->node[0];
}

int
sfx_delta_insert_near(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e, uint32_t *finger)
{
	Cell		c = {{e->key, e->keylen, e->tid}, SFX_NODE_NULL, e->paylen, e->payload, false};
	Path		path;
	Node	   *leaf;
	uint32_t	room,
				oldpay = 0,
				seplen = 0;
	int			at;
	bool		equal,
				split;

	if ((uint64_t) e->keylen + e->paylen > SFX_MAX_ENTRY)
		return SFX_NOSPACE;
	if (d->height == 0)
	{
		if (a->available(a->ctx) < 1)
			return SFX_NOMEM;
		sfx_node_new(d, a, 0, &d->root);
		d->height = 1;
	}
	leaf = find_near(d, a, &c.pos, finger, &path, &at, &equal);
	room = free_room(leaf);
	if (equal)
	{
		Cell		was;

		read_cell(leaf, at, &was);
		oldpay = was.paylen;
		if (oldpay == e->paylen)
		{
			if (oldpay > 0)
				memcpy((uint8_t *) was.payload, e->payload, oldpay);
			leaf->slot[at] &= ~(uint64_t) DEAD_FLAG;
			return 1;
		}
		room += SLOT + body_size(leaf, &was);
	}
	split = room < SLOT + body_size(leaf, &c);
	if (split && (a->available(a->ctx) < d->height + 1 || d->height >= SFX_DELTA_HEIGHT))
		return SFX_NOMEM;
	if (split && a->order)
		seplen = sfx_node_plan_split(leaf, at, equal, &c, a->order);

	/* nothing fails from here on */
	if (d->filter.nodes > 0 && !equal)
		sfx_delta_filter_add(d, a, e->key, e->keylen);
	if (equal)
		sfx_node_delete(leaf, at);
	if (!split)
		sfx_node_insert(leaf, at, &c, a->order);
	else
	{
		if (path.node[0] == NULL)
			sfx_node_find_leaf(d, a, &c.pos, &path);
		insert_splitting(d, a, &path, at, c, seplen);
		*finger = SFX_NODE_NULL;
	}
	d->bytes += e->paylen - (uint64_t) oldpay + (equal ? 0 : e->keylen);
	d->nentries += !equal;
	return equal;
}

/* Remove child i of an inner node.  False if it has no other child. */
static bool
drop_child(Node *nd, int i)
{
	if (nd->n == 0)
		return false;
	if (i == 0)
		nd->child0 = child_at(nd, 1);
	sfx_node_delete(nd, i == 0 ? 0 : i - 1);
	return true;
}

/*
 * Free the leaf at the end of path, which is empty, and all nodes above it that have no child left.
 */
static void
remove_leaf(SfxDelta *d, const SfxNodeAlloc *a, Path *path)
{
	for (uint32_t level = 0; level < d->height; level++)
	{
		Node	   *nd = path->node[level];

		if (level > 0 && drop_child(nd, path->child[level]))
			return;
		if (nd->prev != SFX_NODE_NULL)
			node_addr(a, nd->prev)->next = nd->next;
		if (nd->next != SFX_NODE_NULL)
			node_addr(a, nd->next)->prev = nd->prev;
		sfx_node_free(d, a, path->ref[level]);
	}
	d->root = SFX_NODE_NULL;
	d->height = 0;
}

int
sfx_delta_remove(SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos)
{
	Path		path;
	Node	   *leaf;
	Cell		c;
	int			at;
	bool		equal;

	if (d->height == 0)
		return 0;
	sfx_node_find_leaf(d, a, pos, &path);
	leaf = path.node[0];
	at = sfx_node_search(leaf, pos, a->order, &equal);
	if (!equal)
		return 0;
	read_cell(leaf, at, &c);
	d->nentries--;
	d->bytes -= c.pos.len + c.paylen;
	sfx_node_delete(leaf, at);
	if (leaf->n > 0)
		return 1;

	remove_leaf(d, a, &path);
	while (d->height > 1 && node_addr(a, d->root)->n == 0)
	{
		uint32_t	child = node_addr(a, d->root)->child0;

		sfx_node_free(d, a, d->root);
		d->root = child;
		d->height--;
	}
	return 1;
}

void
sfx_delta_free(SfxDelta *d, const SfxNodeAlloc *a)
{
	uint32_t	first = d->root;

	sfx_delta_filter_free(d, a);
	while (first != SFX_NODE_NULL)
	{
		uint32_t	ref = first;

		first = node_addr(a, ref)->child0;
		while (ref != SFX_NODE_NULL)
		{
			uint32_t	next = node_addr(a, ref)->next;

			a->free(a->ctx, ref);
			ref = next;
		}
	}
	memset(d, 0, sizeof(*d));
}
