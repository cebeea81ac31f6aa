/*-------------------------------------------------------------------------
 * delta.c - the ordered structure of the dynamic stage: a slotted B+tree
 *
 * A node (8,192 bytes):
 *
 *	   0	4	prev		left neighbour of the level, or SFX_NODE_NULL
 *	   4	4	next		right neighbour
 *	   8	4	child0		inner nodes: the child left of the first separator
 *	  12	1	level		0 = leaf
 *	  13	1	run			how many of the latest inserts followed each other (saturates)
 *	  14	2	n			cells
 *	  16	2	low			where the bodies begin
 *	  18	2	garbage		bytes of dead bodies above low
 *	  20	2	plen		length of the prefix that all keys of the node share
 *	  22	2	last		slot of the latest insert
 *	  24	40	prefix		the first bytes of that prefix
 *	  64	8*n	slots		growing upwards, in entry order
 *	 low	 	bodies		growing downwards, in any order
 *
 * A slot is head << 32 | tail flag << 31 | offset << 16 | key length.  The head is
 * the first four bytes after the prefix, big-endian and zero-padded, so that the binary search
 * compares integers that lie together and touches a body only where heads are equal.  A body is
 *
 *	leaf	6-byte TID, key, and where the tail flag is set 2-byte length and payload
 *	inner	4-byte child, key, and where the tail flag is set 6-byte TID (else the TID is 0)
 *
 * An inner node with n separators has n + 1 children; child i >= 1 holds the positions from separator
 * i - 1 on.  Separators are made by sfx_order_separator and so as short as can be.
 *
 * plen is at most what the keys share: it shrinks when an insert demands it, and is
 * measured afresh by a split.  Removals leave it alone.
 *
 * In comparator order plen is always 0 and heads are not looked at: what bytes keys begin with says nothing
 * about their order.
 *
 * Two nodes are always enough for a split.  Let U = 8192 - 64 be the room of a node and M = 2714
 * the largest cell (slot, child, TID, SFX_MAX_ENTRY).  A node that overflows holds, with the new cell, T <= U + M bytes.
 * Cut at that edge of the cell straddling T/2 which is nearer to T/2: the larger side has at
 * most T/2 + M/2 <= U/2 + M bytes, which is less than U because 2M < U.  In an inner node the straddling cell
 * moves up instead.  It is neither the first nor the last one, because T > U > 2M; so each side keeps a separator.
 *-------------------------------------------------------------------------
 */
#include "delta.h"

#define PREFIX_INLINE	40
#define HEADER			64
#define ROOM			(SFX_NODE_SIZE - HEADER)
#define SLOT			8
#define MAX_CELL		(SLOT + 4 + 6 + SFX_MAX_ENTRY)

/* Nothing reaches this: a node overflows with four children and leaves two to each half, so that
 * height h costs 2^(h-1) splits, whatever was removed in between. */
#define MAX_HEIGHT		32

/* So many inserts side by side are taken for an ascending sequence. */
#define RUN_ENOUGH		6

typedef struct Node
{
	uint32_t	prev;
	uint32_t	next;
	uint32_t	child0;
	uint8_t		level;
	uint8_t		run;
	uint16_t	n;
	uint16_t	low;
	uint16_t	garbage;
	uint16_t	plen;
	uint16_t	last;
	uint8_t		prefix[PREFIX_INLINE];
	uint64_t	slot[];
} Node;

_Static_assert(sizeof(Node) == HEADER, "node header");
_Static_assert(2 * MAX_CELL < ROOM, "a split makes two nodes");

/* What a slot and its body say, or shall say. */
typedef struct Cell
{
	SfxPos		pos;
	uint32_t	child;			/* inner */
	uint32_t	paylen;			/* leaf */
	const uint8_t *payload;
} Cell;

/* The way down: node and chosen child per level, [0] the leaf. */
typedef struct Path
{
	Node	   *node[MAX_HEIGHT];
	uint32_t	ref[MAX_HEIGHT];
	int			child[MAX_HEIGHT];
} Path;

/* ---- slots and cells ---- */

static inline uint32_t slot_head(uint64_t s) { return (uint32_t) (s >> 32); }
static inline bool slot_tail(uint64_t s) { return (s >> 31) & 1; }
static inline uint32_t slot_off(uint64_t s) { return (uint32_t) (s >> 16) & 0x7FFF; }
static inline uint32_t slot_keylen(uint64_t s) { return (uint32_t) s & 0xFFFF; }

static inline uint64_t
make_slot(uint32_t head, bool tail, uint32_t off, uint32_t keylen)
{
	return (uint64_t) head << 32 | (uint64_t) tail << 31 | (uint64_t) off << 16 | keylen;
}

static inline uint32_t
fixed_part(const Node *nd)
{
	return nd->level == 0 ? 6 : 4;
}

static inline uint8_t *
body_at(const Node *nd, uint64_t s)
{
	return (uint8_t *) nd + slot_off(s);
}

static inline const uint8_t *
key_at(const Node *nd, int i)
{
	return body_at(nd, nd->slot[i]) + fixed_part(nd);
}

static inline uint64_t
get_tid(const uint8_t *p)
{
	return (uint64_t) sfx_get32(p) | (uint64_t) sfx_get16(p + 4) << 32;
}

static inline void
put_tid(uint8_t *p, uint64_t tid)
{
	sfx_put32(p, (uint32_t) tid);
	sfx_put16(p + 4, (uint16_t) (tid >> 32));
}

static void
read_cell(const Node *nd, int i, Cell *c)
{
	uint64_t	s = nd->slot[i];
	const uint8_t *b = body_at(nd, s);
	const uint8_t *tail;

	c->pos.key = b + fixed_part(nd);
	c->pos.len = slot_keylen(s);
	c->payload = NULL;
	c->paylen = 0;
	c->child = SFX_NODE_NULL;
	tail = c->pos.key + c->pos.len;
	if (nd->level > 0)
	{
		c->child = sfx_get32(b);
		c->pos.tid = slot_tail(s) ? get_tid(tail) : 0;
		return;
	}
	c->pos.tid = get_tid(b);
	if (slot_tail(s))
	{
		c->paylen = sfx_get16(tail);
		c->payload = tail + 2;
	}
}

static inline bool
has_tail(const Node *nd, const Cell *c)
{
	return nd->level == 0 ? c->paylen > 0 : c->pos.tid != 0;
}

static inline uint32_t
body_size(const Node *nd, const Cell *c)
{
	uint32_t	tail = nd->level == 0 ? 2 + c->paylen : 6;

	return fixed_part(nd) + c->pos.len + (has_tail(nd, c) ? tail : 0);
}

static inline uint32_t
stored_size(const Node *nd, int i)
{
	Cell		c;

	read_cell(nd, i, &c);
	return body_size(nd, &c);
}

static inline uint32_t
child_at(const Node *nd, int i)
{
	return i == 0 ? nd->child0 : sfx_get32(body_at(nd, nd->slot[i - 1]));
}

/* Room for bodies and slots, dead bodies included. */
static inline uint32_t
free_room(const Node *nd)
{
	return (uint32_t) (nd->low - HEADER - SLOT * nd->n + nd->garbage);
}

/* The four key bytes from plen on; plen <= len. */
static inline uint32_t
head_of(const uint8_t *key, uint32_t len, uint32_t plen)
{
	uint32_t	left = len - plen;
	uint32_t	h = 0;

	if (left >= 4)
	{
		key += plen;
		return (uint32_t) key[0] << 24 | (uint32_t) key[1] << 16 | (uint32_t) key[2] << 8 | key[3];
	}
	for (uint32_t i = 0; i < left; i++)
		h |= (uint32_t) key[plen + i] << (24 - 8 * i);
	return h;
}

/* ---- one node ---- */

static void
init_node(Node *nd, int level)
{
	memset(nd, 0, HEADER);
	nd->level = (uint8_t) level;
	nd->low = SFX_NODE_SIZE;
}

static inline const uint8_t *
node_prefix(const Node *nd)
{
	return nd->plen <= PREFIX_INLINE ? nd->prefix : key_at(nd, 0);
}

static int
search_node_order(const Node *nd, const SfxPos *p, const SfxOrder *order, bool *equal)
{
	int			lo = 0,
				hi = nd->n;

	*equal = false;
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		Cell		cell;
		int			c;

		read_cell(nd, mid, &cell);
		c = sfx_order_cmp_pos(order, &cell.pos, p);
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

/* The first slot whose position is >= p (n if none), and whether it is equal. */
static int
search_node(const Node *nd, const SfxPos *p, const SfxOrder *order, bool *equal)
{
	int			lo = 0,
				hi = nd->n;
	uint32_t	plen = nd->plen;
	uint32_t	fixed = fixed_part(nd);
	uint32_t	head;

	if (order)
		return search_node_order(nd, p, order, equal);
	*equal = false;
	if (hi == 0)
		return 0;
	if (plen > 0)
	{
		uint32_t	m = p->len < plen ? p->len : plen;
		int			c = sfx_memcmp(p->key, node_prefix(nd), m);

		if (c > 0)
			return hi;
		if (c < 0 || p->len < plen)
			return 0;
	}
	head = head_of(p->key, p->len, plen);
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		uint64_t	s = nd->slot[mid];
		int			c = (slot_head(s) > head) - (slot_head(s) < head);

		if (c == 0)
		{
			const uint8_t *key = body_at(nd, s) + fixed;

			c = sfx_cmp_bytes(key + plen, slot_keylen(s) - plen, p->key + plen, p->len - plen);
			if (c == 0)
			{
				Cell		cell;

				read_cell(nd, mid, &cell);
				c = (cell.pos.tid > p->tid) - (cell.pos.tid < p->tid);
			}
			if (c == 0)
			{
				*equal = true;
				return mid;
			}
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Write the body of c below low; the room is there. */
static uint64_t
write_body(Node *nd, const Cell *c)
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
	return make_slot(head_of(c->pos.key, c->pos.len, nd->plen), tail, nd->low, c->pos.len);
}

/* Write all bodies anew without the dead ones, in entry order. */
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
		nd->slot[i] = make_slot(slot_head(s), slot_tail(s), nd->low, slot_keylen(s));
	}
}

static void
set_prefix(Node *nd, const uint8_t *key, uint32_t plen)
{
	nd->plen = (uint16_t) plen;
	if (plen > 0)
		memcpy(nd->prefix, key, plen < PREFIX_INLINE ? plen : PREFIX_INLINE);
}

/* Before key comes in: shrink the prefix to what it shares, and renew the heads then. */
static void
adapt_prefix(Node *nd, const uint8_t *key, uint32_t len)
{
	uint32_t	plen;

	if (nd->n == 0)
	{
		set_prefix(nd, key, len);
		return;
	}
	plen = sfx_lcp(node_prefix(nd), nd->plen, key, len);
	if (plen == nd->plen)
		return;
	set_prefix(nd, key, plen);
	for (int i = 0; i < nd->n; i++)
	{
		uint64_t	s = nd->slot[i];

		nd->slot[i] = (uint64_t) head_of(key_at(nd, i), slot_keylen(s), plen) << 32 | (uint32_t) s;
	}
}

/* Put c at slot i.  The caller knows that free_room() suffices. */
static void
insert_cell(Node *nd, int i, const Cell *c, const SfxOrder *order)
{
	bool		follows = i == nd->last + 1;

	if (order == NULL)
		adapt_prefix(nd, c->pos.key, c->pos.len);
	if (free_room(nd) - nd->garbage < SLOT + body_size(nd, c))
		compact(nd);
	memmove(&nd->slot[i + 1], &nd->slot[i], (size_t) (nd->n - i) * SLOT);
	nd->n++;
	nd->slot[i] = write_body(nd, c);
	nd->run = !follows ? 0 : nd->run < UINT8_MAX ? nd->run + 1 : nd->run;
	nd->last = (uint16_t) i;
}

static void
delete_slot(Node *nd, int i)
{
	nd->garbage += (uint16_t) stored_size(nd, i);
	nd->n--;
	memmove(&nd->slot[i], &nd->slot[i + 1], (size_t) (nd->n - i) * SLOT);
	nd->run = 0;
}

/* ---- nodes of a tree ---- */

static inline Node *
node_addr(const SfxNodeAlloc *a, uint32_t ref)
{
	return (Node *) a->addr(a->ctx, ref);
}

static Node *
new_node(SfxDelta *d, const SfxNodeAlloc *a, int level, uint32_t *ref)
{
	Node	   *nd;

	*ref = a->alloc(a->ctx);
	nd = node_addr(a, *ref);
	init_node(nd, level);
	d->nodes++;
	return nd;
}

static void
free_node(SfxDelta *d, const SfxNodeAlloc *a, uint32_t ref)
{
	a->free(a->ctx, ref);
	d->nodes--;
}

/* Down to the leaf whose interval contains p.  NULL goes to the first leaf. */
static uint32_t
find_leaf(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *p, Path *path)
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
			i = search_node(nd, p, a->order, &equal);
			i += equal;
		}
		if (path)
			path->child[level] = i;
		ref = child_at(nd, i);
	}
}

/* ---- split ---- */

/* Cell i of the sequence "the cells of old, with c put at slot at". */
static inline void
merged_cell(const Node *old, int at, const Cell *c, int i, Cell *out)
{
	if (i == at)
		*out = *c;
	else
		read_cell(old, i < at ? i : i - 1, out);
}

/* Where the cells of old, with c at slot at, are cut in the middle: see the top of the file.  Inner: the cell that moves up. */
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
 * The first cell of the right half, or in an inner node the one that moves up. Ascending and descending inserts
 * leave full nodes behind: at either end of the level, and where the latest
 * inserts stood side by side (ascending within a group of keys).
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

	/* In the midst: the new cell ends the left node, which the sequence will fill. */
	for (int i = 0; i <= at; i++)
	{
		merged_cell(old, at, c, i, &x);
		left += SLOT + body_size(old, &x);
	}
	return left <= ROOM ? at + 1 : middle(old, at, c);
}

/* Fill the fresh node nd with cells [from, to) of the merged sequence. */
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
		set_prefix(nd, x.pos.key, sfx_lcp(first.pos.key, first.pos.len, x.pos.key, x.pos.len));
	}
	for (int i = from; i < to; i++)
	{
		merged_cell(old, at, c, i, &x);
		nd->slot[nd->n] = write_body(nd, &x);
		nd->n++;
	}
	if (from <= at && at < to)
	{
		nd->last = (uint16_t) (at - from);
		nd->run = old->run;
	}
}

/*
 * In comparator order the separator of a split is asked for before anything is changed.  This is its key's length
 * if c comes in at slot at of the leaf nd, in place of the entry there if equal, and splits it.
 */
static uint32_t
plan_separator(const Node *nd, int at, bool equal, const Cell *c, const SfxOrder *order)
{
	uint64_t	copy[SFX_NODE_SIZE / 8];
	Cell		left,
				right;
	int			k;

	memcpy(copy, nd, SFX_NODE_SIZE);
	if (equal)
		delete_slot((Node *) copy, at);
	k = choose_split((const Node *) copy, at, c);
	merged_cell((const Node *) copy, at, c, k - 1, &left);
	merged_cell((const Node *) copy, at, c, k, &right);
	return sfx_order_separator(order, &left.pos, &right.pos).len;
}

/*
 * Split nd (named ref) while c comes in at slot at.  Returns the new right node's name
 * and in up the separator between the two, its key copied to keybuf (where c's own key may stand).
 * seplen: what plan_separator said, if nd is a leaf in comparator order.
 */
static uint32_t
split_node(SfxDelta *d, const SfxNodeAlloc *a, Node *nd, uint32_t ref, int at, const Cell *c,
		   uint32_t seplen, SfxPos *up, uint8_t *keybuf)
{
	uint64_t	copy[SFX_NODE_SIZE / 8];
	const Node *old = (const Node *) copy;
	int			k = choose_split(nd, at, c);
	int			leaf = nd->level == 0;
	uint32_t	rref;
	Node	   *right = new_node(d, a, nd->level, &rref);
	Cell		x;

	memcpy(copy, nd, SFX_NODE_SIZE);
	init_node(nd, old->level);
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

/* Put c at slot at of the leaf at the end of path, splitting upwards; available() promised height + 1 nodes. */
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
			insert_cell(nd, at, &c, a->order);
			return;
		}
		up.child = split_node(d, a, nd, path->ref[level], at, &c, seplen, &up.pos, keybuf);
		c = up;
		if (level + 1 == d->height)
			break;
		at = path->child[level + 1];
	}

	Node	   *root = new_node(d, a, (int) d->height, &rref);

	root->child0 = d->root;
	insert_cell(root, 0, &c, a->order);
	d->root = rref;
	d->height++;
}

/* ---- public face ---- */

int
sfx_delta_insert(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e)
{
	Cell		c = {{e->key, e->keylen, e->tid}, SFX_NODE_NULL, e->paylen, e->payload};
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
		new_node(d, a, 0, &d->root);
		d->height = 1;
	}
	find_leaf(d, a, &c.pos, &path);
	leaf = path.node[0];
	at = search_node(leaf, &c.pos, a->order, &equal);

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
			return 1;
		}
		room += SLOT + body_size(leaf, &was);
	}
	split = room < SLOT + body_size(leaf, &c);
	if (split && (a->available(a->ctx) < d->height + 1 || d->height >= MAX_HEIGHT))
		return SFX_NOMEM;
	if (split && a->order)
		seplen = plan_separator(leaf, at, equal, &c, a->order);

	/* Nothing fails from here on. */
	if (equal)
		delete_slot(leaf, at);
	if (!split)
		insert_cell(leaf, at, &c, a->order);
	else
		insert_splitting(d, a, &path, at, c, seplen);
	d->bytes += e->paylen - (uint64_t) oldpay + (equal ? 0 : e->keylen);
	d->nentries += !equal;
	return equal;
}

/* Forget child i of an inner node.  False if it has no other child. */
static bool
drop_child(Node *nd, int i)
{
	if (nd->n == 0)
		return false;
	if (i == 0)
		nd->child0 = child_at(nd, 1);
	delete_slot(nd, i == 0 ? 0 : i - 1);
	return true;
}

/* Free the leaf at the end of path, which is empty, and what above it becomes childless. */
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
		free_node(d, a, path->ref[level]);
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
	find_leaf(d, a, pos, &path);
	leaf = path.node[0];
	at = search_node(leaf, pos, a->order, &equal);
	if (!equal)
		return 0;
	read_cell(leaf, at, &c);
	d->nentries--;
	d->bytes -= c.pos.len + c.paylen;
	delete_slot(leaf, at);
	if (leaf->n > 0)
		return 1;

	remove_leaf(d, a, &path);
	while (d->height > 1 && node_addr(a, d->root)->n == 0)
	{
		uint32_t	child = node_addr(a, d->root)->child0;

		free_node(d, a, d->root);
		d->root = child;
		d->height--;
	}
	return 1;
}

void
sfx_delta_free(SfxDelta *d, const SfxNodeAlloc *a)
{
	uint32_t	first = d->root;

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

bool
sfx_delta_seek(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c)
{
	const Node *nd;
	bool		equal;

	c->node = SFX_NODE_NULL;
	c->slot = 0;
	if (d->height == 0)
		return false;
	c->node = find_leaf(d, a, pos, NULL);
	nd = node_addr(a, c->node);
	if (pos)
		c->slot = search_node(nd, pos, a->order, &equal);
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
		c->node = find_leaf(d, a, pos, NULL);
		c->slot = search_node(node_addr(a, c->node), pos, a->order, &equal);
		return sfx_delta_prev(d, a, c);
	}
	c->node = d->root;
	for (nd = node_addr(a, c->node); nd->level > 0; nd = node_addr(a, c->node))
		c->node = child_at(nd, nd->n);
	c->slot = nd->n - 1;
	return true;
}

double
sfx_delta_below(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos)
{
	double		share = 0,
				width = 1;
	Path		path;
	bool		equal;

	if (d->height == 0)
		return 0;
	(void) find_leaf(d, a, pos, &path);
	for (int level = (int) d->height - 1; level > 0; level--)
	{
		width /= path.node[level]->n + 1;
		share += width * path.child[level];
	}
	share += width * search_node(path.node[0], pos, a->order, &equal) / path.node[0]->n;
	return share * (double) d->nentries;
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

/* ---- verification ---- */

#define BROKEN(text) do { *why = (text); return SFX_CORRUPT; } while (0)

/* Inside one node: counts, prefix, heads, order. */
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
		if (i > 0 && sfx_order_cmp_pos(order, &last.pos, &x.pos) >= 0)
			BROKEN("entries of a node out of order");
		last = x;
	}
	if (nd->low + used + nd->garbage != SFX_NODE_SIZE)
		BROKEN("body bytes of a node do not add up");
	return SFX_OK;
}

/* Separator i of nd divides the leaves: all entries left of it are smaller, all to the right are not. */
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
		BROKEN("entry lies left of its separator");
	if (nd->prev == SFX_NODE_NULL)
		BROKEN("separator left of all leaves");
	nd = node_addr(a, nd->prev);
	read_cell(nd, nd->n - 1, &x);
	if (sfx_order_cmp_pos(a->order, &x.pos, &sep.pos) >= 0)
		BROKEN("entry lies right of its separator");
	return SFX_OK;
}

/* The nodes of one level from first on; their children must be the level below, in link order. */
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

		if (++sum->nodes > d->nodes)
			BROKEN("more nodes than counted");
		if (nd->level != level)
			BROKEN("node of another level");
		if (nd->prev != prev)
			BROKEN("left link does not match");
		if (verify_node(nd, a->order, why) != SFX_OK)
			return SFX_CORRUPT;
		if (level == 0 && nd->n == 0)
			BROKEN("empty leaf");
		for (int i = 0; i < nd->n; i++)
		{
			read_cell(nd, i, &x);
			if (i == 0 && last.pos.key && sfx_order_cmp_pos(a->order, &last.pos, &x.pos) >= 0)
				BROKEN("neighbours out of order");
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

int
sfx_delta_verify(const SfxDelta *d, const SfxNodeAlloc *a, const char **why)
{
	SfxDelta	sum = {0};
	uint32_t	first = d->root;

	*why = NULL;
	if ((d->height == 0) != (d->root == SFX_NODE_NULL) || d->height > MAX_HEIGHT)
		BROKEN("height and root disagree");
	if (d->height > 1 && node_addr(a, d->root)->n == 0)
		BROKEN("root has a single child");
	if (d->height > 0 && node_addr(a, d->root)->next != SFX_NODE_NULL)
		BROKEN("root has a neighbour");
	for (int level = (int) d->height - 1; level >= 0; level--)
	{
		if (verify_level(d, a, level, first, &sum, why) != SFX_OK)
			return SFX_CORRUPT;
		first = node_addr(a, first)->child0;
	}

	/* Only now are the links known to be sound, which the separators' check follows. */
	first = d->root;
	for (int level = (int) d->height - 1; level > 0; level--)
	{
		for (uint32_t ref = first; ref != SFX_NODE_NULL; ref = node_addr(a, ref)->next)
			for (int i = 0; i < node_addr(a, ref)->n; i++)
				if (verify_separator(a, node_addr(a, ref), i, why) != SFX_OK)
					return SFX_CORRUPT;
		first = node_addr(a, first)->child0;
	}
	if (sum.nodes != d->nodes || sum.nentries != d->nentries || sum.bytes != d->bytes)
		BROKEN("counters do not match the tree");
	return SFX_OK;
}
