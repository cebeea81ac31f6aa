/*-------------------------------------------------------------------------
 * surf.c - SuRF: opening a filter, and asking it for keys and ranges
 *
 * A bound of a range cuts every level of the trie in two: the edges (and the keys that end at
 * nodes) before it, and the others.  In level order that cut is one number for each level, and the
 * cut of the next level follows from it by one rank and one select.  A range is empty if no level
 * has anything between two cuts.
 *-------------------------------------------------------------------------
 */
#include "surf_format.h"

/* ---- opening ---- */

uint64_t
surf_layout(SfxSurf *s, const uint8_t *base)
{
	uint64_t	nsparse = s->nedges - s->ndedges,
				nbuckets = surf_nbuckets(s);
	uint64_t	at = SURF_HEADER;

#define SECTION(field, bytes) \
	do { \
		s->field = base != NULL ? base + at : NULL; \
		at += (bytes); \
	} while (0)
	SECTION(dense, s->ndense * SURF_DENSE);
	SECTION(dchild, surf_rank_size(s->ndedges));
	SECTION(code, s->flags & SURF_F_CODE ? SURF_CODE : 0);
	SECTION(blocks, nsparse / SURF_BLOCKEDGES * surf_block_size(s) + SURF_LABELS +
			(nsparse % SURF_BLOCKEDGES * s->low + 7) / 8);
	SECTION(buckets, (surf_bucket_bits(s) + 7) / 8);
	SECTION(select, nbuckets == 0 ? 0 : sfx_bits_bytes((((nbuckets - 1) >> s->selshift) + 1), surf_sample_width(s)));
	SECTION(haspath, s->npaths == 0 ? 0 : surf_rank_size(s->nnodes));
	SECTION(ends, s->flags & SURF_F_ENDS ? surf_rank_size(s->nnodes) : 0);
	SECTION(once, s->nonce == 0 ? 0 : surf_rank_size(s->npaths));
	SECTION(kinds, s->flags & SURF_F_KINDS ? surf_rank_size(s->npaths - s->nonce) : 0);
	SECTION(shorts, (s->nshort * s->shortw + 7) / 8);
	SECTION(longs, ((s->npaths - s->nonce - s->nshort) * s->longw + 7) / 8);
	SECTION(starts, sfx_bits_bytes((s->ndict + SURF_DICTSTEP - 1) / SURF_DICTSTEP, surf_start_width(s)));
	SECTION(symbols, s->symsize);
	SECTION(pool, s->poolsize);
	SECTION(rest, s->flags & SURF_F_REST ? SURF_REST : 0);
	SECTION(suffixes, (surf_leaves(s) * surf_suffix_bits(s) + 7) / 8);
#undef SECTION
	return at + SURF_SLACK;
}

static bool
header_sane(const SfxSurf *s)
{
	const uint64_t max = UINT32_MAX;

	if (s->nkeys > SFX_SURF_MAXKEYS || s->nedges > max || s->nnodes > max || s->ndense > s->nnodes ||
		s->ndedges > s->nedges || s->npaths > s->nnodes || s->nonce > s->npaths || s->nshort > s->npaths - s->nonce ||
		s->ndict > s->npaths || s->nonce > s->ndict || s->poolsize > max / 8)
		return false;
	if (s->lenw > SURF_LONGLEN || s->nsymbols > SURF_MAXSYMBOLS || s->symsize > SURF_MAXSYMSIZE ||
		(s->flags & SURF_F_SYMBOLS ? s->symsize < SURF_SYMENTRIES + 2 * s->nsymbols : s->symsize != 0))
		return false;
	if (s->hashbits > SFX_SURF_MAXBITS || s->realbits > SFX_SURF_MAXBITS || s->selshift > 16 || s->shortw > 32 ||
		s->longw > 32 || s->maxdepth > SFX_SURF_MAXLEN || s->height > 2 * SFX_SURF_MAXLEN + 2)
		return false;
	if (s->flags & SURF_F_CODE ? s->lwidth < 4 || s->lwidth > 7 : s->lwidth != 8)
		return false;
	if (s->bshift + SURF_MINLOW > s->lwidth || s->nedges - s->ndedges + ((s->nnodes - s->ndense) << s->bshift) > max)
		return false;
	/* a node is a child or the root, and the root is dense */
	if (s->nnodes == 0)
		return s->nkeys == 0 && s->nedges == 0;
	return s->ndense > 0 && s->nedges >= s->nnodes - 1 && s->height > 0;
}

static void
set_widths(SfxSurf *s)
{
	s->low = (uint8_t) (s->lwidth - s->bshift);
	s->samplew = (uint8_t) surf_sample_width(s);
	s->startw = (uint8_t) surf_start_width(s);
	s->lanes = s->low == 8 ? 8 : (uint8_t) (57 / s->low);
	s->lrecip = 65536 / s->low + 1;
	s->lane1 = 0;
	for (unsigned i = 0; i < s->lanes; i++)
		s->lane1 |= UINT64_C(1) << i * s->low;
	s->laneh = s->lane1 << (s->low - 1);
}

/*
 * Header: magic (4), version, hashbits, realbits, lwidth, selshift, shortw, longw, flags (1 each),
 * height, maxdepth (4 each), bshift, lenw, zero (2), and from byte 24 on size (8), and 4 each:
 * nkeys, nedges, nnodes, ndedges, ndense, npaths, nshort, ndict, poolsize, nonce, nsymbols,
 * symsize.
 */
int
sfx_surf_open(SfxSurf *s, const uint8_t *buf, uint64_t len)
{
	memset(s, 0, sizeof(*s));
	if (len < SURF_HEADER || sfx_get32(buf) != SURF_MAGIC || buf[4] != SURF_VERSION)
		return SFX_CORRUPT;
	s->base = buf;
	s->hashbits = buf[5];
	s->realbits = buf[6];
	s->lwidth = buf[7];
	s->selshift = buf[8];
	s->shortw = buf[9];
	s->longw = buf[10];
	s->flags = buf[11];
	s->height = sfx_get32(buf + 12);
	s->maxdepth = sfx_get32(buf + 16);
	s->bshift = buf[20];
	s->lenw = buf[21];
	s->size = sfx_get64(buf + 24);
	s->nkeys = sfx_get32(buf + 32);
	s->nedges = sfx_get32(buf + 36);
	s->nnodes = sfx_get32(buf + 40);
	s->ndedges = sfx_get32(buf + 44);
	s->ndense = sfx_get32(buf + 48);
	s->npaths = sfx_get32(buf + 52);
	s->nshort = sfx_get32(buf + 56);
	s->ndict = sfx_get32(buf + 60);
	s->poolsize = sfx_get32(buf + 64);
	s->nonce = sfx_get32(buf + 68);
	s->nsymbols = sfx_get32(buf + 72);
	s->symsize = sfx_get32(buf + 76);
	if (!header_sane(s))
		return SFX_CORRUPT;
	set_widths(s);
	if (surf_layout(s, NULL) != s->size || s->size > len)
		return SFX_CORRUPT;
	surf_layout(s, buf);
	return SFX_OK;
}

/* ---- paths ---- */

bool
surf_path_id(const SfxSurf *s, uint64_t node, uint64_t *id)
{
	uint64_t	i = surf_rank(s->haspath, node),
				nnumbers = s->npaths - s->nonce,
				nlong = nnumbers - s->nshort,
				longs;

	if (i >= s->npaths)
		return false;
	if (s->nonce > 0)
	{
		uint64_t	once = surf_rank(s->once, i);

		if (surf_bit(s->once, i))
		{
			*id = s->ndict - s->nonce + once;
			return once < s->nonce;
		}
		i -= once < i ? once : i;
		if (i >= nnumbers)
			return false;
	}
	longs = i;
	if (s->flags & SURF_F_KINDS)
	{
		longs = surf_rank(s->kinds, i);
		if (!surf_bit(s->kinds, i))
		{
			i -= longs < i ? longs : i;
			if (i >= s->nshort)
				return false;
			*id = sfx_bits_get(s->shorts, (s->nshort * s->shortw + 7) / 8 + SURF_SLACK, i * s->shortw, s->shortw);
			return *id < s->ndict;
		}
	}
	if (longs >= nlong)
		return false;
	*id = sfx_bits_get(s->longs, (nlong * s->longw + 7) / 8 + SURF_SLACK, longs * s->longw, s->longw);
	if (s->flags & SURF_F_KINDS)
		*id += UINT64_C(1) << s->shortw;
	return *id < s->ndict;
}

/* Open the record at bit *at of the pool: *at moves to its code, which ends at *end. */
static inline bool
open_record(const SfxSurf *s, uint64_t *at, uint64_t *end)
{
	uint64_t	size = s->poolsize * 8,
				len;

	if (*at >= size)
		return false;
	len = s->lenw > 0 ? surf_pool_bits(s, *at) >> (64 - s->lenw) : 0;
	*at += s->lenw;
	if (len == sfx_mask(s->lenw))
	{
		if (*at >= size)
			return false;
		len = surf_pool_bits(s, *at) >> (64 - SURF_LONGLEN);
		*at += SURF_LONGLEN;
	}
	*end = *at + len;
	return *end <= size;
}

bool
surf_path(const SfxSurf *s, uint64_t id, uint64_t *at, uint64_t *end)
{
	*end = surf_packed(s->starts, id / SURF_DICTSTEP, s->startw);
	for (unsigned k = id % SURF_DICTSTEP; k > 0; k--)
	{
		*at = *end;
		if (!open_record(s, at, end))
			return false;
	}
	*at = *end;
	return open_record(s, at, end);
}

int
surf_match_path(const SfxSurf *s, uint64_t node, const uint8_t *key, uint32_t len, uint32_t *d)
{
	uint64_t	id,
				at,
				end;
	uint32_t	i = *d;

	if (!surf_path_id(s, node, &id) || !surf_path(s, id, &at, &end))
		return SURF_DAMAGED;
	while (at < end)
	{
		uint64_t	sym;
		unsigned	n = surf_symbol(s, &at, end, &sym);

		if (n == 0)
			return SURF_DAMAGED;
		for (; n > 0; n--, i++, sym >>= 8)
		{
			if (i >= len)
				return -1;
			if (key[i] != (sym & 0xFF))
				return key[i] < (sym & 0xFF) ? -1 : 1;
		}
	}
	*d = i;
	return 0;
}

/* ---- points ---- */

/* Is the suffix of a leaf edge the one of this key, cut after d bytes? */
static bool
suffix_fits(const SfxSurf *s, uint64_t edge, const uint8_t *key, uint32_t len, uint32_t d)
{
	if (surf_suffix_bits(s) == 0)
		return true;
	return surf_stored_suffix(s, edge) == surf_suffix(s, key, len, d);
}

/* The edge of byte c at a node.  1, 0 (there is none), or SFX_CORRUPT. */
static inline __attribute__((always_inline)) int
find_byte(const SfxSurf *s, uint64_t node, unsigned c, uint64_t *edge)
{
	bool		equal;
	unsigned	digit;

	if (node < s->ndense)
		return surf_find_dense(s, node, c, edge, &equal) ? equal : SFX_CORRUPT;
	if (!surf_find_sparse(s, node, surf_digit1(s, c), edge, &equal))
		return SFX_CORRUPT;
	digit = surf_digit2(s, c);
	if (digit == SURF_SINGLE || !equal)
		return equal;
	if (!surf_has_child(s, *edge) || !surf_child(s, *edge, &node) || node < s->ndense ||
		!surf_find_sparse(s, node, digit, edge, &equal))
		return SFX_CORRUPT;
	return equal;
}

int
sfx_surf_lookup(const SfxSurf *s, const uint8_t *key, uint32_t len)
{
	uint64_t	node = 0,
				edge;
	uint32_t	d = 0;
	int			c;

	if (s->nnodes == 0)
		return 0;
	for (;;)
	{
		c = surf_walk_path(s, node, key, len, &d);
		if (c != 0)
			return c == SURF_DAMAGED ? SFX_CORRUPT : 0;
		if (d >= len)
			return surf_ends(s, node);
		c = find_byte(s, node, key[d++], &edge);
		if (c != 1)
			return c;
		if (!surf_has_child(s, edge))
			return suffix_fits(s, edge, key, len, d);
		if (!surf_child(s, edge, &node))
			return SFX_CORRUPT;
	}
}

/* ---- ranges ---- */

/*
 * One bound's cut, level by level.  In a level, nodes before cutnode and edges before cutedge are
 * before the bound (and so is a key that ends at a node before cutnode).  Below, either the bound
 * goes on through node, or the cut is in front of node.
 */
typedef struct Cut
{
	const uint8_t *key;
	uint32_t	len;
	uint32_t	d;
	bool		upper;			/* keys that cannot be told from the bound are before it */
	bool		equal_before;	/* the key that equals the bound is before it */
	bool		through;		/* goes on through node */
	unsigned	digit;			/* of a continuation node, or SURF_SINGLE */
	uint64_t	node;
	uint64_t	cutnode;
	uint64_t	cutedge;
} Cut;

static void
cut_init(Cut *c, const SfxSurfBound *b, bool upper)
{
	memset(c, 0, sizeof(*c));
	c->upper = upper;
	c->digit = SURF_SINGLE;
	c->node = upper;
	if (b == NULL)
		return;
	c->key = b->key;
	c->len = b->len;
	c->equal_before = upper == b->inclusive;
	c->through = true;
	c->node = 0;
}

/* Cut between whole nodes; `node` is the first one after the cut. */
static void
cut_between(const SfxSurf *s, Cut *c, uint64_t node)
{
	c->through = false;
	c->cutnode = node;
	c->cutedge = surf_first_edge(s, node);
	c->node = surf_children(s, c->cutedge) + 1;
}

/* Cut in a node, at edge; then go on through its child, if follow, or below that. */
static int
cut_at(const SfxSurf *s, Cut *c, uint64_t edge, bool equal)
{
	c->cutnode = c->node + 1;
	c->cutedge = edge;
	c->through = equal && surf_has_child(s, edge);
	if (c->through)
		return surf_child(s, edge, &c->node) ? SFX_OK : SFX_CORRUPT;
	if (equal)
	{
		int			r = surf_cmp_real(s, edge, c->key, c->len, c->d + 1);

		c->cutedge += r < 0 || (r == 0 && c->upper);
	}
	c->node = surf_children(s, c->cutedge) + 1;
	return SFX_OK;
}

/* Step through a sparse node by a digit. */
static int
cut_sparse(const SfxSurf *s, Cut *c)
{
	unsigned	second = SURF_SINGLE,
				digit = c->digit;
	uint64_t	edge;
	bool		equal;
	int			r;

	if (digit == SURF_SINGLE)
	{
		digit = surf_digit1(s, c->key[c->d]);
		second = surf_digit2(s, c->key[c->d]);
	}
	c->digit = SURF_SINGLE;
	if (c->node < s->ndense || !surf_find_sparse(s, c->node, digit, &edge, &equal))
		return SFX_CORRUPT;
	if (second != SURF_SINGLE && equal && !surf_has_child(s, edge))
		return SFX_CORRUPT;
	r = cut_at(s, c, edge, equal);
	if (second != SURF_SINGLE)
		c->digit = second;
	else
		c->d++;
	return r;
}

/* Find the cut of the next level.  SFX_OK or SFX_CORRUPT. */
static int
cut_next(const SfxSurf *s, Cut *c)
{
	uint64_t	edge;
	bool		equal;
	int			r;

	if (!c->through)
	{
		cut_between(s, c, c->node);
		return SFX_OK;
	}
	if (c->digit != SURF_SINGLE)
		return cut_sparse(s, c);
	r = surf_walk_path(s, c->node, c->key, c->len, &c->d);
	if (r == SURF_DAMAGED)
		return SFX_CORRUPT;
	if (r != 0)
	{
		cut_between(s, c, c->node + (r > 0));
		return SFX_OK;
	}
	if (c->d >= c->len)
	{
		/* all edges are after the cut; the key that ends here is equal */
		uint64_t	node = c->node;

		cut_between(s, c, node);
		c->cutnode = node + c->equal_before;
		return SFX_OK;
	}
	if (c->node >= s->ndense)
		return cut_sparse(s, c);
	if (!surf_find_dense(s, c->node, c->key[c->d], &edge, &equal))
		return SFX_CORRUPT;
	r = cut_at(s, c, edge, equal);
	c->d++;
	return r;
}

/* Is the range empty in any case? */
static bool
range_void(const SfxSurf *s, const SfxSurfBound *low, const SfxSurfBound *high)
{
	int			c;

	if (s->nnodes == 0)
		return true;
	if (low == NULL || high == NULL)
		return false;
	c = sfx_cmp_bytes(low->key, low->len, high->key, high->len);
	return c > 0 || (c == 0 && !(low->inclusive && high->inclusive));
}

static inline uint64_t
ends_before(const SfxSurf *s, uint64_t node)
{
	return s->flags & SURF_F_ENDS ? surf_rank(s->ends, node < s->nnodes ? node : s->nnodes) : 0;
}

/* Is nothing left between the cuts, in this level and below? */
static inline bool
cuts_met(const Cut *a, const Cut *b)
{
	return !a->through && !b->through && a->node == b->node;
}

int
sfx_surf_lookup_range(const SfxSurf *s, const SfxSurfBound *low, const SfxSurfBound *high)
{
	Cut			a,
				b;

	if (range_void(s, low, high))
		return 0;
	cut_init(&a, low, false);
	cut_init(&b, high, true);
	for (uint32_t level = 0; level < s->height; level++)
	{
		if (cut_next(s, &a) != SFX_OK || cut_next(s, &b) != SFX_OK)
			return SFX_CORRUPT;
		/* an edge through which the lower bound goes on need not have anything after the bound */
		if (b.cutedge > a.cutedge + a.through || ends_before(s, b.cutnode) > ends_before(s, a.cutnode))
			return 1;
		if (cuts_met(&a, &b))
			return 0;
	}
	return a.through || b.through ? SFX_CORRUPT : 0;
}
