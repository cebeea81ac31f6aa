/*-------------------------------------------------------------------------
 * delta_node.c - one node of the delta, and the descent to a leaf
 *-------------------------------------------------------------------------
 */
#include "contract.h"
#include "delta_node.h"

void
sfx_node_init(Node *nd, int level)
{
	memset(nd, 0, HEADER);
	nd->level = (uint8_t) level;
	nd->low = SFX_NODE_SIZE;
}

/* Is p below, above or among the keys that begin with the node's prefix (0)? */
static int
compare_prefix(const Node *nd, const SfxPos *p)
{
	uint32_t	m = p->len < nd->plen ? p->len : nd->plen;
	int			c = nd->plen > 0 ? sfx_memcmp(p->key, node_prefix(nd), m) : 0;

	return c == 0 && p->len < nd->plen ? -1 : c;
}

/* Compare slot i with p.  In byte order p begins with the node's prefix, and has that head. */
static inline int
compare_slot(const Node *nd, int i, const SfxPos *p, uint32_t head, const SfxOrder *order)
{
	uint64_t	s = nd->slot[i];
	Cell		cell;
	int			c;

	if (order == NULL)
	{
		const uint8_t *key = body_at(nd, s) + fixed_part(nd);

		if (slot_head(s) != head)
			return slot_head(s) < head ? -1 : 1;
		c = sfx_cmp_bytes(key + nd->plen, slot_keylen(s) - nd->plen, p->key + nd->plen, p->len - nd->plen);
		if (c != 0)
			return c;
		read_cell(nd, i, &cell);
		return (cell.pos.tid > p->tid) - (cell.pos.tid < p->tid);
	}
	read_cell(nd, i, &cell);
	return sfx_order_cmp_pos(order, &cell.pos, p);
}

/* Returns the first slot in [lo, hi) whose position is >= p; hi if there is none. */
static inline int
search_between(const Node *nd, const SfxPos *p, uint32_t head, const SfxOrder *order, int lo, int hi, bool *equal)
{
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		int			c = compare_slot(nd, mid, p, head, order);

		if (c == 0)
		{
			*equal = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * The same for all slots, by guesses, which are then proved (B5): slots before `below` are known to
 * be before p, and those from `above` on after it.
 */
static int
search_guessing(const Node *nd, const SfxPos *p, const SfxOrder *order, bool *equal)
{
	int			lo = 0,
				below = 0,
				hi = nd->n,
				above = nd->n;
	int			c;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		Cell		cell;
		bool		sure;

		read_cell(nd, mid, &cell);
		c = sfx_order_guess_pos(order, &cell.pos, p, &sure);
		*equal = c == 0;
		if (*equal)
			return mid;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
		if (sure && c < 0)
			below = lo;
		else if (sure)
			above = hi;
	}
	if (SFX_CORE_MUTANT("guesses of images unproved"))
		return lo;
	if (lo > below && (c = compare_slot(nd, lo - 1, p, 0, order)) >= 0)
	{
		*equal = c == 0;
		return *equal ? lo - 1 : search_between(nd, p, 0, order, below, lo - 1, equal);
	}
	if (lo < above && (c = compare_slot(nd, lo, p, 0, order)) <= 0)
	{
		*equal = c == 0;
		return *equal ? lo : search_between(nd, p, 0, order, lo + 1, above, equal);
	}
	return lo;
}

int
sfx_node_search(const Node *nd, const SfxPos *p, const SfxOrder *order, bool *equal)
{
	int			c;

	*equal = false;
	if (sfx_order_guesses(order))
		return search_guessing(nd, p, order, equal);
	if (order)
		return search_between(nd, p, 0, order, 0, nd->n, equal);
	c = nd->n > 0 ? compare_prefix(nd, p) : -1;
	if (c != 0)
		return c > 0 ? nd->n : 0;
	return search_between(nd, p, head_of(p->key, p->len, nd->plen), NULL, 0, nd->n, equal);
}

int
sfx_node_search_near(const Node *nd, const SfxPos *p, bool *equal)
{
	int			n = nd->n;
	int			lo = 0,
				step = 1;
	int			c = n > 0 ? compare_prefix(nd, p) : -1;
	uint32_t	head;

	*equal = false;
	if (c != 0)
		return c > 0 ? n : 0;
	head = head_of(p->key, p->len, nd->plen);
	if (nd->last >= n || slot_head(nd->slot[nd->last]) >= head)
		return search_between(nd, p, head, NULL, 0, n, equal);
	/* slots before lo are before p, which their heads alone tell */
	for (lo = nd->last + 1; lo < n; step *= 2)
	{
		int			at = lo + step - 1 < n ? lo + step - 1 : n - 1;
		uint32_t	h = slot_head(nd->slot[at]);

		if (h >= head)
		{
			/* other slots with an equal head may be between this one and the place */
			n = h > head ? at + 1 : n;
			break;
		}
		lo = at + 1;
	}
	return search_between(nd, p, head, NULL, lo, n, equal);
}

uint64_t
sfx_node_write(Node *nd, const Cell *c)
{
	bool		tail = has_tail(nd, c);
	uint8_t    *b;

	nd->low -= (uint16_t) body_size(nd, c);
	b = (uint8_t *) nd + nd->low;
	if (nd->level == 0)
		put_tid(b, c->pos.tid);
	else
		sfx_put32(b, c->child);
	b += fixed_part(nd);
	if (c->pos.len > 0)
		memcpy(b, c->pos.key, c->pos.len);
	b += c->pos.len;
	if (tail && nd->level > 0)
		put_tid(b, c->pos.tid);
	else if (tail)
	{
		sfx_put16(b, (uint16_t) c->paylen);
		memcpy(b + 2, c->payload, c->paylen);
	}
	return make_slot(head_of(c->pos.key, c->pos.len, nd->plen), tail, nd->low,
					 c->pos.len | (c->dead ? DEAD_FLAG : 0));
}

/* Write all bodies anew, without the dead ones, in entry order. */
static void
compact(Node *nd)
{
	uint64_t	copy[SFX_NODE_SIZE / 8];
	const Node *old = (const Node *) copy;

	memcpy(copy, nd, SFX_NODE_SIZE);
	nd->low = SFX_NODE_SIZE;
	nd->garbage = 0;
	for (int i = nd->n - 1; i >= 0; i--)
	{
		uint32_t	size = stored_size(old, i);
		uint64_t	s = old->slot[i];

		nd->low -= (uint16_t) size;
		memcpy((uint8_t *) nd + nd->low, body_at(old, s), size);
		nd->slot[i] = make_slot(slot_head(s), slot_tail(s), nd->low,
								slot_keylen(s) | (s & DEAD_FLAG));
	}
}

void
sfx_node_set_prefix(Node *nd, const uint8_t *key, uint32_t plen)
{
	nd->plen = (uint16_t) plen;
	if (plen > 0)
		memcpy(nd->prefix, key, plen < PREFIX_INLINE ? plen : PREFIX_INLINE);
}

/* Called before key is inserted: shrink the prefix to what key shares, and then renew the heads. */
static void
adapt_prefix(Node *nd, const uint8_t *key, uint32_t len)
{
	uint32_t	plen;

	if (nd->n == 0)
	{
		sfx_node_set_prefix(nd, key, len);
		return;
	}
	plen = sfx_lcp(node_prefix(nd), nd->plen, key, len);
	if (plen == nd->plen)
		return;
	sfx_node_set_prefix(nd, key, plen);
	for (int i = 0; i < nd->n; i++)
	{
		uint64_t	s = nd->slot[i];

		nd->slot[i] = (uint64_t) head_of(key_at(nd, i), slot_keylen(s), plen) << 32 | (uint32_t) s;
	}
}

void
sfx_node_insert(Node *nd, int i, const Cell *c, const SfxOrder *order)
{
	bool		follows = i == nd->last + 1;

	if (order == NULL)
		adapt_prefix(nd, c->pos.key, c->pos.len);
	if (free_room(nd) - nd->garbage < SLOT + body_size(nd, c))
		compact(nd);
	memmove(&nd->slot[i + 1], &nd->slot[i], (size_t) (nd->n - i) * SLOT);
	nd->n++;
	nd->slot[i] = sfx_node_write(nd, c);
	nd->run = !follows ? 0 : nd->run < UINT8_MAX ? nd->run + 1 : nd->run;
	nd->last = (uint16_t) i;
}

void
sfx_node_delete(Node *nd, int i)
{
	nd->garbage += (uint16_t) stored_size(nd, i);
	nd->n--;
	memmove(&nd->slot[i], &nd->slot[i + 1], (size_t) (nd->n - i) * SLOT);
	nd->run = 0;
}

Node *
sfx_node_new(SfxDelta *d, const SfxNodeAlloc *a, int level, uint32_t *ref)
{
	Node	   *nd;

	*ref = a->alloc(a->ctx);
	nd = node_addr(a, *ref);
	sfx_node_init(nd, level);
	d->nodes++;
	return nd;
}

void
sfx_node_free(SfxDelta *d, const SfxNodeAlloc *a, uint32_t ref)
{
	a->free(a->ctx, ref);
	d->nodes--;
}

uint32_t
sfx_node_find_leaf(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *p, Path *path)
{
	uint32_t	ref = d->root;

	for (int level = (int) d->height - 1;; level--)
	{
		Node	   *nd = node_addr(a, ref);
		int			i = 0;
		bool		equal;

		if (path)
		{
			path->node[level] = nd;
			path->ref[level] = ref;
		}
		if (level == 0)
			return ref;
		if (p)
		{
			i = sfx_node_search(nd, p, a->order, &equal);
			i += equal;
		}
		if (path)
			path->child[level] = i;
		ref = child_at(nd, i);
	}
}
