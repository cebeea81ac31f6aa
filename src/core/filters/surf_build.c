/*-------------------------------------------------------------------------
 * surf_build.c - SuRF: from sorted keys to the nodes of their trie, in one pass
 *
 * A key's cut is known as soon as its right neighbour is: it branches at the deeper of its two
 * common prefixes.  The nodes on the path to the last key are open; those deeper than the common
 * prefix with the next key are closed and written out, children before parents.  (The paper's
 * builder writes levels at once.  With compressed paths the level of a node is known only when all
 * nodes above it are, so levels wait for surf_write.c.)
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"

void *
surf_vec_room(SfxSurfBuild *b, SfxSurfVec *v, size_t n)
{
	size_t		cap = v->cap;
	void	   *p;

	if (v->p != NULL && v->cap - v->len >= n)
		return v->p + v->len;
	if (n > SIZE_MAX / 4 - v->len)
		return NULL;
	if (cap < 256)
		cap = 256;
	while (cap - v->len < n)
		cap *= 2;
	p = b->alloc.resize(b->alloc.ctx, v->p, v->cap, cap);
	if (p == NULL)
		return NULL;
	v->p = p;
	v->cap = cap;
	return v->p + v->len;
}

void *
surf_vec_zeroed(SfxSurfBuild *b, SfxSurfVec *v, size_t n)
{
	void	   *p;

	v->len = 0;
	p = surf_vec_push(b, v, n > 0 ? n : 1);
	if (p != NULL)
		memset(p, 0, n);
	return p;
}

void
sfx_surf_build_init(SfxSurfBuild *b, const SfxSurfAlloc *alloc, unsigned hashbits, unsigned realbits)
{
	memset(b, 0, sizeof(*b));
	b->alloc = *alloc;
	b->hashbits = (uint8_t) (hashbits < SFX_SURF_MAXBITS ? hashbits : SFX_SURF_MAXBITS);
	b->realbits = (uint8_t) (realbits < SFX_SURF_MAXBITS ? realbits : SFX_SURF_MAXBITS);
	b->hashbytes = (uint8_t) ((b->hashbits + 7) / 8);
	b->sufbytes = (uint8_t) (b->hashbytes + (b->realbits > 0 ? 1 + SURF_RESTLEN : 0));
}

void
sfx_surf_build_free(SfxSurfBuild *b)
{
	SfxSurfVec *all[] = {&b->last, &b->open, &b->pending, &b->nodes, &b->edges, &b->suffixes, &b->dict, &b->pathbytes,
	&b->buckets, &b->levels, &b->order, &b->coded, &b->codes, &b->code, &b->symbols, &b->rest};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
	{
		if (all[i]->p != NULL)
			b->alloc.resize(b->alloc.ctx, all[i]->p, all[i]->cap, 0);
		memset(all[i], 0, sizeof(*all[i]));
	}
	b->error = SFX_CORRUPT;
}

/* ---- the different paths ---- */

static bool
grow_buckets(SfxSurfBuild *b, size_t ndict)
{
	size_t		n = b->buckets.len / sizeof(uint32_t);
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint32_t   *bucket;

	if (2 * ndict < n)
		return true;
	n = n == 0 ? 256 : 4 * n;
	bucket = surf_vec_zeroed(b, &b->buckets, n * sizeof(uint32_t));
	if (bucket == NULL)
		return false;
	for (size_t i = 0; i < ndict; i++)
	{
		size_t		at = dict[i].hash & (n - 1);

		while (bucket[at] != 0)
			at = (at + 1) & (n - 1);
		bucket[at] = (uint32_t) i + 1;
	}
	return true;
}

/* Returns 1 + the index of a path in dict, where it is added if necessary; 0: no memory. */
static uint32_t
intern(SfxSurfBuild *b, const uint8_t *path, uint32_t len)
{
	uint32_t	hash = (uint32_t) (sfx_hash_key(path, len) >> 32);
	size_t		ndict = b->dict.len / sizeof(SurfPath),
				mask,
				at;
	uint32_t   *bucket;
	SurfPath   *e;
	void	   *bytes;

	if (!grow_buckets(b, ndict))
		return 0;
	mask = b->buckets.len / sizeof(uint32_t) - 1;
	bucket = (uint32_t *) b->buckets.p;
	for (at = hash & mask; bucket[at] != 0; at = (at + 1) & mask)
	{
		e = (SurfPath *) b->dict.p + (bucket[at] - 1);
		if (e->hash == hash && e->len == len && memcmp(b->pathbytes.p + e->off, path, len) == 0)
		{
			e->uses++;
			return bucket[at];
		}
	}
	bytes = surf_vec_push(b, &b->pathbytes, len);
	e = bytes != NULL ? surf_vec_push(b, &b->dict, sizeof(*e)) : NULL;
	if (e == NULL)
		return 0;
	memcpy(bytes, path, len);
	*e = (SurfPath) {.off = b->pathbytes.len - len, .len = len, .hash = hash, .uses = 1};
	bucket[at] = (uint32_t) ndict + 1;
	return bucket[at];
}

/* ---- nodes ---- */

static SurfOpen *
top(const SfxSurfBuild *b)
{
	return b->open.len == 0 ? NULL : (SurfOpen *) (b->open.p + b->open.len) - 1;
}

static bool
open_node(SfxSurfBuild *b, uint32_t depth, uint64_t pending, bool ends)
{
	SurfOpen   *o = surf_vec_push(b, &b->open, sizeof(*o));

	if (o != NULL)
		*o = (SurfOpen) {.pending = pending, .depth = depth, .ends = ends};
	return o != NULL;
}

/* Add the edge that leads to the subtree of the last key. */
static bool
add_child(SfxSurfBuild *b, uint8_t label)
{
	SurfPending *e = surf_vec_push(b, &b->pending, sizeof(*e));

	if (e != NULL)
		*e = (SurfPending) {.label = label, .child = true};
	return e != NULL;
}

/* Add the leaf edge of the last key, which is cut after `cut` bytes. */
static bool
add_leaf(SfxSurfBuild *b, uint32_t cut)
{
	const uint8_t *key = b->last.p;
	SurfPending *e = surf_vec_push(b, &b->pending, sizeof(*e));
	uint32_t	n = b->lastlen - cut;

	if (e == NULL)
		return false;
	*e = (SurfPending) {.label = key[cut - 1], .restlen = (uint8_t) (n < SURF_RESTLEN ? n : SURF_RESTLEN)};
	if (b->hashbits > 0)
		e->hash = (uint32_t) (sfx_hash_key(key, b->lastlen) >> (64 - b->hashbits));
	if (b->realbits > 0)
		e->rest = sfx_load_bytes(key + cut, e->restlen);
	return true;
}

static bool
write_edges(SfxSurfBuild *b, const SurfPending *e, size_t n)
{
	uint16_t   *out = surf_vec_push(b, &b->edges, n * sizeof(*out));	/* n is 0 for the only, empty key */
	uint8_t    *suffix = surf_vec_room(b, &b->suffixes, n * b->sufbytes + 16);

	if (out == NULL || suffix == NULL)
		return false;
	for (size_t i = 0; i < n; i++)
	{
		out[i] = (uint16_t) (e[i].label | (e[i].child ? SURF_CHILD : 0));
		if (!e[i].child && b->sufbytes > 0)
		{
			sfx_store64(suffix, e[i].hash);
			suffix[b->hashbytes] = e[i].restlen;
			sfx_store64(suffix + b->hashbytes + 1, e[i].rest);
			suffix += b->sufbytes;
			b->suffixes.len += b->sufbytes;
		}
	}
	return true;
}

/* Close the deepest open node, whose path begins at byte from of the last key. */
static bool
close_node(SfxSurfBuild *b, uint32_t from)
{
	SurfOpen   *o = top(b);
	uint64_t	first = o->pending;
	size_t		n = (b->pending.len - first) / sizeof(SurfPending);
	SurfNode   *node = surf_vec_push(b, &b->nodes, sizeof(*node));
	uint32_t	path = 0;

	if (node == NULL || surf_vec_room(b, &b->pending, 1) == NULL ||
		!write_edges(b, (const SurfPending *) (b->pending.p + first), n))
		return false;
	if (o->depth > from)
	{
		path = intern(b, b->last.p + from, o->depth - from);
		if (path == 0)
			return false;
	}
	*node = (SurfNode) {.path = path, .nedges = (uint16_t) n, .ends = o->ends};
	b->pending.len = first;
	b->open.len -= sizeof(*o);
	return true;
}

/* ---- keys ---- */

/*
 * Cut the last key, whose right neighbour has its first lcp bytes (-1: there is none), and close
 * the nodes that are not on the path to that.
 */
static bool
finish_key(SfxSurfBuild *b, int32_t lcp)
{
	const uint8_t *key = b->last.p;
	uint32_t	len = b->lastlen,
				cut;
	SurfOpen   *o = top(b);
	int32_t		depth = o != NULL ? (int32_t) o->depth : -1;

	if (lcp == (int32_t) len || (lcp < 0 && depth < 0))
	{
		/* the next key continues this one, or this is the only one */
		cut = lcp >= 0 ? (uint32_t) lcp : 0;
		if (!open_node(b, cut, b->pending.len, cut == len))
			return false;
		if (cut < len && !add_leaf(b, 1))
			return false;
		cut += cut < len;
	}
	else
	{
		if (lcp > depth && !open_node(b, (uint32_t) lcp, b->pending.len, false))
			return false;
		cut = top(b)->depth + 1;
		if (!add_leaf(b, cut))
			return false;
	}
	if (cut > b->maxdepth)
		b->maxdepth = cut;
	while ((o = top(b)) != NULL && (int32_t) o->depth > lcp)
	{
		uint64_t	first = o->pending;
		int32_t		above = b->open.len > sizeof(*o) ? (int32_t) o[-1].depth : -1;

		if (above < lcp)
			above = lcp;
		if (!close_node(b, (uint32_t) (above + 1)))
			return false;
		if (above < 0)
			break;
		if (((o = top(b)) == NULL || (int32_t) o->depth < above) && !open_node(b, (uint32_t) above, first, false))
			return false;
		if (!add_child(b, key[above]))
			return false;
	}
	return true;
}

int
sfx_surf_add(SfxSurfBuild *b, const uint8_t *key, uint32_t len)
{
	uint32_t	lcp = 0;

	if (b->error != 0)
		return b->error;
	if (b->done)
		return b->error = SFX_CORRUPT;
	if (len > SFX_SURF_MAXLEN || b->nkeys >= SFX_SURF_MAXKEYS)
		return b->error = SFX_NOSPACE;
	if (b->nkeys > 0)
	{
		const uint8_t *last = b->last.p;

		lcp = sfx_lcp(last, b->lastlen, key, len);
		if (lcp == len && lcp == b->lastlen)
			return SFX_OK;
		if (lcp == len || (lcp < b->lastlen && key[lcp] < last[lcp]))
			return b->error = SFX_CORRUPT;
		if (!finish_key(b, (int32_t) lcp))
			return b->error = SFX_NOMEM;
	}
	b->last.len = 0;
	if (surf_vec_push(b, &b->last, len + 1) == NULL)
		return b->error = SFX_NOMEM;
	if (len > lcp)
		memcpy(b->last.p + lcp, key + lcp, len - lcp);
	b->lastlen = len;
	b->nkeys++;
	return SFX_OK;
}

int
surf_close(SfxSurfBuild *b)
{
	if (b->error == 0 && !b->done && b->nkeys > 0 && !finish_key(b, -1))
		b->error = SFX_NOMEM;
	b->done = true;
	return b->error;
}
