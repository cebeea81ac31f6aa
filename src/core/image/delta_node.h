/*-------------------------------------------------------------------------
 * delta_node.h - nodes of the delta's B+tree: their layout, and what the delta's files share
 *
 * A node (8,192 bytes):
 *
 *	0	4		prev	left neighbour of the level, or SFX_NODE_NULL
 *	4	4		next	right neighbour
 *	8	4		child0	inner nodes: the child left of the first separator
 *	12	1		level	0 = leaf
 *	13	1		run		how many of the latest inserts followed each other (saturates)
 *	14	2		n		cells
 *	16	2		low		where the bodies begin
 *	18	2		garbage	bytes of dead bodies above low
 *	20	2		plen	length of the prefix that all keys of the node share
 *	22	2		last	slot of the latest insert
 *	24	40		prefix	the first bytes of that prefix
 *	64	8*n		slots	growing upwards, in entry order
 *	low			bodies	growing downwards, in any order
 *
 * A slot is head << 32 | tail flag << 31 | offset << 16 | dead flag << 15 | key length.  The head is
 * the first four bytes after the prefix, big-endian and zero-padded, so that the binary search
 * compares adjacent integers and reads a body only if heads are equal.  A body is
 *
 *	leaf	6-byte TID, key, and if the tail flag is set 2-byte length and payload
 *	inner	4-byte child, key, and if the tail flag is set 6-byte TID (else the TID is 0)
 *
 * An inner node with n separators has n + 1 children; child i >= 1 holds the positions from
 * separator i - 1 on.  Separators are made by sfx_order_separator, so they are as short as
 * possible.
 *
 * plen is at most the length that the keys share: it shrinks when an insert requires that, and is
 * computed anew by a split.  Removals leave it as it is.
 *
 * In comparator order plen is always 0 and heads are not used: the first bytes of keys say nothing
 * about their order.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_DELTA_NODE_H
#define SFX_DELTA_NODE_H

#include "delta.h"

#define PREFIX_INLINE	40
#define HEADER			64
#define ROOM			(SFX_NODE_SIZE - HEADER)
#define SLOT			8
#define DEAD_FLAG		0x8000u
#define MAX_CELL		(SLOT + 4 + 6 + SFX_MAX_ENTRY)

/*
 * The height stays below this: a node overflows with four children and leaves two to each half, so
 * height h costs 2^(h-1) splits, whatever was removed in between.
 */
#define SFX_DELTA_HEIGHT	32

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
_Static_assert(SFX_MAX_ENTRY < DEAD_FLAG, "keys' lengths leave a bit");
_Static_assert(SFX_NODE_SIZE <= 0x8000, "offsets have 15 bits");

/* What a slot and its body contain. */
typedef struct Cell
{
	SfxPos		pos;
	uint32_t	child;			/* inner */
	uint32_t	paylen;			/* leaf */
	const uint8_t *payload;
	bool		dead;			/* leaf */
} Cell;

/* The path from the root: node and chosen child for each level, [0] is the leaf. */
typedef struct Path
{
	Node	   *node[SFX_DELTA_HEIGHT];
	uint32_t	ref[SFX_DELTA_HEIGHT];
	int			child[SFX_DELTA_HEIGHT];
} Path;

/* ---- slots and cells ---- */

static inline uint32_t slot_head(uint64_t s) { return (uint32_t) (s >> 32); }
static inline bool slot_tail(uint64_t s) { return (s >> 31) & 1; }
static inline uint32_t slot_off(uint64_t s) { return (uint32_t) (s >> 16) & 0x7FFF; }
static inline bool slot_dead(uint64_t s) { return (s & DEAD_FLAG) != 0; }
static inline uint32_t slot_keylen(uint64_t s) { return (uint32_t) s & (DEAD_FLAG - 1); }

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

static inline void
read_cell(const Node *nd, int i, Cell *c)
{
	uint64_t	s = nd->slot[i];
	const uint8_t *b = body_at(nd, s);
	const uint8_t *tail;

	c->pos.key = b + fixed_part(nd);
	c->pos.len = slot_keylen(s);
	c->payload = NULL;
	c->paylen = 0;
	c->dead = slot_dead(s);
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

/* Room for bodies and slots, including that of dead bodies. */
static inline uint32_t
free_room(const Node *nd)
{
	return (uint32_t) (nd->low - HEADER - SLOT * nd->n + nd->garbage);
}

/* The four bytes of the key from plen on; plen <= len. */
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

/* The first plen bytes of all keys of a node, which is not empty. */
static inline const uint8_t *
node_prefix(const Node *nd)
{
	return nd->plen <= PREFIX_INLINE ? nd->prefix : key_at(nd, 0);
}

/* ---- nodes of a tree ---- */

static inline Node *
node_addr(const SfxNodeAlloc *a, uint32_t ref)
{
	return (Node *) a->addr(a->ctx, ref);
}

extern void sfx_node_init(Node *nd, int level);

/*
 * Returns the first slot whose position is >= p (n if there is none); *equal: it is p.  In
 * comparator order it may leave by longjmp.
 */
extern int sfx_node_search(const Node *nd, const SfxPos *p, const SfxOrder *order, bool *equal);

/* The same in byte order, for a slot that is expected a little after that of the latest insert. */
extern int sfx_node_search_near(const Node *nd, const SfxPos *p, bool *equal);

/* Set the prefix of an empty node, whose keys will all begin with the first plen bytes of key. */
extern void sfx_node_set_prefix(Node *nd, const uint8_t *key, uint32_t plen);

/*
 * Write the body of c below low, where the caller has made sure that there is room.  Returns the
 * slot for it.
 */
extern uint64_t sfx_node_write(Node *nd, const Cell *c);

/* Insert c at slot i.  The caller has made sure that free_room() suffices. */
extern void sfx_node_insert(Node *nd, int i, const Cell *c, const SfxOrder *order);
extern void sfx_node_delete(Node *nd, int i);

/* Returns a new node, of those that available() has promised; *ref: its name. */
extern Node *sfx_node_new(SfxDelta *d, const SfxNodeAlloc *a, int level, uint32_t *ref);
extern void sfx_node_free(SfxDelta *d, const SfxNodeAlloc *a, uint32_t ref);

/*
 * Descend to the leaf whose interval contains p (NULL: the first leaf), and return its name.  path
 * (may be NULL) is filled in.
 */
extern uint32_t sfx_node_find_leaf(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *p, Path *path);

/* ---- splits (delta_split.c) ---- */

/*
 * In comparator order the separator of a split is computed before anything is changed.  Returns its
 * key's length if c is inserted at slot at of the leaf nd, in place of the entry there if equal,
 * and splits it.
 */
extern uint32_t sfx_node_plan_split(const Node *nd, int at, bool equal, const Cell *c, const SfxOrder *order);

/*
 * Split nd (named ref) while c is inserted at slot at.  Returns the new right node's name.  *up:
 * the separator of the two, its key copied to keybuf (SFX_MAX_ENTRY bytes, where c's own key may
 * be). seplen: the result of sfx_node_plan_split, if nd is a leaf in comparator order.
 */
extern uint32_t sfx_node_split(SfxDelta *d, const SfxNodeAlloc *a, Node *nd, uint32_t ref, int at, const Cell *c,
							   uint32_t seplen, SfxPos *up, uint8_t *keybuf);

/* ---- filters (delta_filter.c) ---- */

/* Add that key to the filter, which must exist. */
extern void sfx_delta_filter_add(SfxDelta *d, const SfxNodeAlloc *a, const uint8_t *key, uint32_t len);

#endif							/* SFX_DELTA_NODE_H */
