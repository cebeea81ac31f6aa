/*-------------------------------------------------------------------------
 * delta_filter.c - a Bloom filter over the keys of the delta's B+tree
 *
 * A key's hash chooses a block, which is a cache line, and BITS of its bits.  Blocks fill nodes of
 * the tree's allocator; if a filter needs more than one node, a directory in a node of its own
 * names them.
 *
 * A key is added before its entry is inserted, and is never removed: after removals the filter says
 * yes too often, until a new one is made.  A new filter gets room for twice the present entries, so
 * over a tree's life each entry is walked over once or twice.
 *-------------------------------------------------------------------------
 */
#include "delta_node.h"
#include "hash.h"

#define BLOCK_WORDS		8
#define NODE_BLOCKS		(SFX_NODE_SIZE / (BLOCK_WORDS * 8))
#define NODE_KEYS		(SFX_NODE_SIZE * 8 / 10)	/* ten bits a key when full: 1 % of absent keys pass */
#define MAX_NODES		(SFX_NODE_SIZE / 4)
#define BITS			6

/* The numbers of the bits within a block, nine bits each, from the top of a word down. */
static inline uint64_t
choose_bits(uint64_t hash)
{
	return hash * UINT64_C(0xC2B2AE3D27D4EB4F);
}

static inline uint64_t *
block_of(const SfxDeltaFilter *f, const SfxNodeAlloc *a, uint64_t hash)
{
	uint32_t	block = (uint32_t) ((hash >> 32) * (f->nodes * NODE_BLOCKS) >> 32);
	uint32_t	ref = f->root;

	if (f->nodes > 1)
		ref = ((const uint32_t *) a->addr(a->ctx, ref))[block / NODE_BLOCKS];
	return (uint64_t *) a->addr(a->ctx, ref) + (size_t) (block % NODE_BLOCKS) * BLOCK_WORDS;
}

static void
add(SfxDeltaFilter *f, const SfxNodeAlloc *a, const uint8_t *key, uint32_t len)
{
	uint64_t	hash = sfx_hash_key(key, len);
	uint64_t   *block = block_of(f, a, hash);
	uint64_t	bits = choose_bits(hash);

	for (int i = 0; i < BITS; i++, bits <<= 9)
		block[bits >> 61] |= UINT64_C(1) << (bits >> 55 & 63);
	f->keys++;
}

void
sfx_delta_filter_add(SfxDelta *d, const SfxNodeAlloc *a, const uint8_t *key, uint32_t len)
{
	add(&d->filter, a, key, len);
}

bool
sfx_delta_absent(const SfxDelta *d, const SfxNodeAlloc *a, uint64_t hash)
{
	const uint64_t *block;
	uint64_t	bits = choose_bits(hash);
	uint64_t	all = 1;

	if (d->filter.nodes == 0)
		return false;
	block = block_of(&d->filter, a, hash);
	for (int i = 0; i < BITS; i++, bits <<= 9)
		all &= block[bits >> 61] >> (bits >> 55 & 63);
	return all == 0;
}

/* Number of nodes of bits for twice the present entries. */
static uint32_t
wanted_nodes(const SfxDelta *d)
{
	uint64_t	n = d->nentries * 2 / NODE_KEYS + 1;

	return n < MAX_NODES ? (uint32_t) n : MAX_NODES;
}

bool
sfx_delta_filter_due(const SfxDelta *d)
{
	const SfxDeltaFilter *f = &d->filter;

	/* the filter also has keys that were removed since */
	return f->nodes == 0 ? d->height > 1 :
		f->keys > (uint64_t) f->nodes * NODE_KEYS && d->nentries < (uint64_t) MAX_NODES * NODE_KEYS / 2;
}

uint32_t
sfx_delta_filter_nodes(const SfxDelta *d)
{
	uint32_t	n = wanted_nodes(d);

	return n + (n > 1);
}

static void
free_filter(const SfxDeltaFilter *f, const SfxNodeAlloc *a)
{
	const uint32_t *dir;

	if (f->nodes == 0)
		return;
	if (f->nodes > 1)
	{
		dir = a->addr(a->ctx, f->root);
		for (uint32_t i = 0; i < f->nodes; i++)
			if (dir[i] != SFX_NODE_NULL)
				a->free(a->ctx, dir[i]);
	}
	a->free(a->ctx, f->root);
}

void
sfx_delta_filter_free(SfxDelta *d, const SfxNodeAlloc *a)
{
	free_filter(&d->filter, a);
	memset(&d->filter, 0, sizeof(d->filter));
}

/* A node of zeros: no bits, or a directory that names nothing. */
static uint32_t
zero_node(const SfxNodeAlloc *a)
{
	uint32_t	ref = a->alloc(a->ctx);

	if (ref != SFX_NODE_NULL)
		memset(a->addr(a->ctx, ref), 0, SFX_NODE_SIZE);
	return ref;
}

/* Make an empty filter; false: there are not enough nodes. */
static bool
make_empty(SfxDeltaFilter *f, const SfxNodeAlloc *a, uint32_t nodes)
{
	uint32_t   *dir;

	f->keys = 0;
	f->nodes = nodes;
	f->root = zero_node(a);
	if (f->root == SFX_NODE_NULL)
		return false;
	if (nodes == 1)
		return true;
	dir = a->addr(a->ctx, f->root);
	for (uint32_t i = 0; i < nodes; i++)
		if ((dir[i] = zero_node(a)) == SFX_NODE_NULL)
		{
			free_filter(f, a);
			return false;
		}
	return true;
}

int
sfx_delta_filter_grow(SfxDelta *d, const SfxNodeAlloc *a)
{
	SfxDeltaFilter f;
	uint32_t	ref;

	if (d->height == 0)
		return SFX_OK;
	if (!make_empty(&f, a, wanted_nodes(d)))
		return SFX_NOMEM;
	for (ref = sfx_node_find_leaf(d, a, NULL, NULL); ref != SFX_NODE_NULL; ref = node_addr(a, ref)->next)
	{
		const Node *nd = node_addr(a, ref);

		for (int i = 0; i < nd->n; i++)
			add(&f, a, key_at(nd, i), slot_keylen(nd->slot[i]));
	}
	sfx_delta_filter_free(d, a);
	d->filter = f;
	return SFX_OK;
}
