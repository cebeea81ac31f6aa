/*-------------------------------------------------------------------------
 * baselines.h - pointer structures of the papers, to be held against src/core: an adaptive radix
 * tree (ART), its compact form, and a B+tree of 512-byte nodes
 *
 * Throw-away code for benchmarks: built once, from sorted keys of which none is a prefix of another
 * one; no inserts, no locks.  Nodes come out of one piece of memory, so that no allocator's room is
 * counted.  Values are the numbers of keys.
 *
 * ART (Leis et al., ICDE 2013): nodes of 4, 16, 48 and 256 children with headers of 16 bytes, paths
 * compressed; a leaf is a tagged number, and the key is compared in the record that has it.  The
 * compact form (Zhang et al., SIGMOD 2016) has nodes of exactly as many children as there are.
 *
 * B+tree: slots of 8 bytes for a key (an integer, or a pointer to the string's record) and 8 for a
 * value or child, nodes 69 % full, as random inserts leave them.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_BASELINES_H
#define SFX_BASELINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "keyset.h"

typedef struct Pieces
{
	uint8_t    *p;
	size_t		used,
				room;
} Pieces;

static inline void *
piece(Pieces *a, size_t bytes)
{
	void	   *p;

	a->used = (a->used + 7) & ~(size_t) 7;
	p = a->p + a->used;
	a->used += bytes;
	if (a->used > a->room)
	{
		fprintf(stderr, "no room\n");
		exit(1);
	}
	memset(p, 0, bytes);
	return p;
}

/* ---- radix trees ---- */

typedef struct RadixNode
{
	uint32_t	pathlen;		/* bytes that all keys below share after the parent's label */
	uint32_t	first;			/* a key that has them */
	uint16_t	n;				/* children */
	uint16_t	room;			/* 4, 16, 48, 256; or n */
	uint32_t	pad;
	uint8_t		rest[];			/* labels in order and children; 48: an index; 256: children */
} RadixNode;

typedef struct Radix
{
	const Key  *key;
	bool		compact;
	uintptr_t	root;			/* a node, or 2 * number + 1 */
	Pieces		mem;
} Radix;

static inline uintptr_t
radix_build_part(Radix *t, uint32_t from, uint32_t to, uint32_t depth)
{
	const Key  *k = t->key;
	uint32_t	path,
				n = 1;
	RadixNode  *v;

	if (to - from == 1)
		return 2 * (uintptr_t) from + 1;
	path = sfx_lcp(k[from].s + depth, k[from].len - depth, k[to - 1].s + depth,
		k[to - 1].len - depth);
	depth += path;
	for (uint32_t i = from + 1; i < to; i++)
		n += k[i].s[depth] != k[i - 1].s[depth];
	{
		uint16_t	room = (uint16_t) (n > 48 ? 256 : n > 16 ? 48 : n > 4 ? 16 : 4);
		size_t		size;

		if (t->compact)
			room = (uint16_t) (n > 227 ? 256 : n);
		size = sizeof(RadixNode) + 8 * (size_t) room;
		if (room == 48 && !t->compact)
			size += 256;
		else if (room != 256)
			size += ((size_t) room + 7) & ~(size_t) 7;
		v = piece(&t->mem, size);
		*v = (RadixNode) {path, from, (uint16_t) n, room, 0};
		/* room 48 has an index, which the compact form has not */
		if (t->compact && room == 48)
			v->pad = 1;
	}
	for (uint32_t i = from, c = 0; i < to; c++)
	{
		uint8_t		label = k[i].s[depth];
		uint32_t	end = i + 1;
		uintptr_t	child;

		while (end < to && k[end].s[depth] == label)
			end++;
		child = radix_build_part(t, i, end, depth + 1);
		if (v->room == 256)
			((uintptr_t *) v->rest)[label] = child;
		else if (v->room == 48 && !t->compact)
		{
			v->rest[label] = (uint8_t) (c + 1);
			((uintptr_t *) (v->rest + 256))[c] = child;
		}
		else
		{
			v->rest[c] = label;
			((uintptr_t *) (v->rest + ((v->room + (size_t) 7) & ~(size_t) 7)))[c] = child;
		}
		i = end;
	}
	return (uintptr_t) v;
}

static inline uintptr_t *
radix_sorted_children(const RadixNode *v)
{
	return (uintptr_t *) (v->rest + ((v->room + (size_t) 7) & ~(size_t) 7));
}

static inline bool
radix_indexed(const RadixNode *v)
{
	return v->room == 48 && v->pad == 0;
}

static inline uintptr_t
radix_child(const RadixNode *v, uint8_t label)
{
	if (v->room == 256)
		return ((const uintptr_t *) v->rest)[label];
	if (radix_indexed(v))
		return v->rest[label] ? ((const uintptr_t *) (v->rest + 256))[v->rest[label] - 1] : 0;
#ifdef __SSE2__
	/* 16 bytes can be read: children follow the labels */
	for (int at = 0; at < v->n; at += 16)
	{
		__m128i		x = _mm_loadu_si128((const __m128i *) (v->rest + at));
		int			hit = _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8((char) label)));

		if (v->n - at < 16)
			hit &= (1 << (v->n - at)) - 1;
		if (hit)
			return radix_sorted_children(v)[at + __builtin_ctz((unsigned) hit)];
	}
#else
	for (int i = 0; i < v->n; i++)
		if (v->rest[i] == label)
			return radix_sorted_children(v)[i];
#endif
	return 0;
}

/* The number of the key; or -1. */
static inline int64_t
radix_find(const Radix *t, const Key *k)
{
	uintptr_t	at = t->root;
	uint32_t	depth = 0;

	while (at != 0 && (at & 1) == 0)
	{
		const RadixNode *v = (const RadixNode *) at;

		depth += v->pathlen;
		if (depth >= k->len)
			return -1;
		at = radix_child(v, k->s[depth++]);
	}
	if (at == 0 || cmp_key(&t->key[at >> 1], k) != 0)
		return -1;
	return (int64_t) (at >> 1);
}

/* Visit up to *left keys from k (NULL: all) on, in order. */
static inline void
radix_walk(const Radix *t, uintptr_t at, uint32_t depth, const Key *k, int *left, uint64_t *sum)
{
	const RadixNode *v = (const RadixNode *) at;
	int			from = 0;

	if (at == 0 || *left == 0)
		return;
	if (at & 1)
	{
		if (k == NULL || cmp_key(&t->key[at >> 1], k) >= 0)
		{
			*sum += at >> 1;
			--*left;
		}
		return;
	}
	if (k != NULL && v->pathlen > 0)
	{
		uint32_t	n = k->len - depth < v->pathlen ? k->len - depth : v->pathlen;
		int			c = memcmp(k->s + depth, t->key[v->first].s + depth, n);

		if (c > 0)
			return;
		if (c < 0 || n < v->pathlen)
			k = NULL;
	}
	depth += v->pathlen;
	if (k != NULL && depth < k->len)
		from = k->s[depth];
	else
		k = NULL;
	if (v->room == 256 || radix_indexed(v))
	{
		for (int l = from; l < 256 && *left > 0; l++)
			radix_walk(t, radix_child(v, (uint8_t) l), depth + 1, l == from ? k : NULL, left, sum);
		return;
	}
	for (int i = 0; i < v->n && *left > 0; i++)
		if (v->rest[i] >= from)
			radix_walk(t, radix_sorted_children(v)[i], depth + 1, v->rest[i] == from ? k : NULL,
				left, sum);
}

static inline void
radix_build(Radix *t, const Key *key, uint32_t n, bool compact)
{
	*t = (Radix) {.key = key, .compact = compact};
	t->mem.room = (size_t) n * 160 + 1000000;
	t->mem.p = malloc(t->mem.room);
	t->root = radix_build_part(t, 0, n, 0);
}

/* ---- B+tree ---- */

#define BT_NODE	512
#define BT_SLOTS	((BT_NODE - 16) / 16)
#define BT_FULL	(BT_SLOTS * 69 / 100)

typedef struct BtNode
{
	uint32_t	n;
	uint32_t	level;			/* 0: leaf */
	struct BtNode *next;		/* of a leaf */
	uint64_t	key[BT_SLOTS];	/* an integer, or a record: a length of two bytes, and the key */
	uint64_t	value[BT_SLOTS];	/* a number, or a child whose keys are not less */
} BtNode;

typedef struct BtTree
{
	bool		integers;
	BtNode	   *root;
	Pieces		mem,
				records;
} BtTree;

static inline uint64_t
bt_integer(const Key *k)
{
	uint64_t	x;

	memcpy(&x, k->s, 8);
	return __builtin_bswap64(x);
}

/* Is the slot's key less than k? */
static inline bool
bt_less(const BtTree *t, uint64_t slot, const Key *k, uint64_t number)
{
	const uint8_t *r = (const uint8_t *) slot;
	uint16_t	len;

	if (t->integers)
		return slot < number;
	memcpy(&len, r, 2);
	return sfx_cmp_bytes(r + 2, len, k->s, k->len) < 0;
}

static inline void
bt_build(BtTree *t, const Key *key, uint32_t n, bool integers)
{
	BtNode	   *last = NULL,
			  **level;
	uint32_t	nodes = 0;
	size_t		bytes = 0;

	*t = (BtTree) {.integers = integers};
	t->mem.room = ((size_t) n / BT_FULL + 1) * BT_NODE * 5 / 4 + 100000;
	t->mem.p = malloc(t->mem.room);
	for (uint32_t i = 0; i < n; i++)
		bytes += key[i].len + 16;
	t->records.room = integers ? 0 : bytes;
	t->records.p = integers ? NULL : malloc(bytes);
	level = malloc((n / BT_FULL + 1) * sizeof(*level));
	for (uint32_t i = 0; i < n; i++)
	{
		if (i % BT_FULL == 0)
		{
			BtNode	   *v = piece(&t->mem, BT_NODE);

			if (last)
				last->next = v;
			level[nodes++] = last = v;
		}
		if (integers)
			last->key[last->n] = bt_integer(&key[i]);
		else
		{
			uint16_t	len = (uint16_t) key[i].len;
			uint8_t    *r = piece(&t->records, len + 2);

			memcpy(r, &len, 2);
			memcpy(r + 2, key[i].s, len);
			last->key[last->n] = (uint64_t) (uintptr_t) r;
		}
		last->value[last->n++] = i;
	}
	for (uint32_t depth = 1; nodes > 1; depth++)
	{
		uint32_t	above = 0;
		BtNode	   *v = NULL;

		for (uint32_t i = 0; i < nodes; i++)
		{
			BtNode	   *child = level[i];

			if (i % BT_FULL == 0)
			{
				v = piece(&t->mem, BT_NODE);
				v->level = depth;
				level[above++] = v;
			}
			v->key[v->n] = child->key[0];
			v->value[v->n++] = (uint64_t) (uintptr_t) child;
		}
		nodes = above;
	}
	t->root = level[0];
	free(level);
}

/* The first key >= k: its leaf and slot, which may be the one after the last. */
static inline const BtNode *
bt_seek(const BtTree *t, const Key *k, uint32_t *slot)
{
	const BtNode *v = t->root;
	uint64_t	number = t->integers ? bt_integer(k) : 0;

	for (;;)
	{
		uint32_t	lo = v->level > 0,
					hi = v->n;

		/* inner nodes: the last child whose first key is not above k */
		while (lo < hi)
		{
			uint32_t	mid = (lo + hi) / 2;
			bool		less = bt_less(t, v->key[mid], k, number);

			if (!less && v->level > 0 && t->integers && v->key[mid] == number)
				less = true;
			if (less)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (v->level == 0)
		{
			*slot = lo;
			if (lo == v->n && v->next)
			{
				*slot = 0;
				return v->next;
			}
			return v;
		}
		v = (const BtNode *) (uintptr_t) v->value[lo - 1];
	}
}

static inline int64_t
bt_find(const BtTree *t, const Key *k)
{
	uint32_t	slot;
	const BtNode *v = bt_seek(t, k, &slot);
	const uint8_t *r;
	uint16_t	len;

	if (slot >= v->n)
		return -1;
	if (t->integers)
		return v->key[slot] == bt_integer(k) ? (int64_t) v->value[slot] : -1;
	r = (const uint8_t *) (uintptr_t) v->key[slot];
	memcpy(&len, r, 2);
	return len == k->len && memcmp(r + 2, k->s, len) == 0 ? (int64_t) v->value[slot] : -1;
}

static inline void
bt_walk(const BtTree *t, const Key *k, int left, uint64_t *sum)
{
	uint32_t	slot;
	const BtNode *v = bt_seek(t, k, &slot);

	for (; v; v = v->next, slot = 0)
		for (; slot < v->n; slot++)
		{
			*sum += v->value[slot];
			if (--left == 0)
				return;
		}
}

#endif							/* SFX_BASELINES_H */
