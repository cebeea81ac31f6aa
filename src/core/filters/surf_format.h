/*-------------------------------------------------------------------------
 * surf_format.h - the bytes of a SuRF, and the steps that lookups are made of.  Private to
 * surf*.c.
 *
 * A *node* is numbered in level order, and so is an *edge* (a node's edges ascend by label).  The
 * first ndense nodes, whole levels, are dense.  Child c (from 0) of all has-child bits is node c +
 * 1.  If a 256-letter label is cut into digits (lwidth < 8), a byte whose digit group has several
 * members takes a second edge, from a *continuation* node, which has no path and no end.
 *
 *	header		80 bytes, see sfx_surf_open
 *	dense		36 per dense node: 32 of label map, 4: number of its first edge
 *	dchild		rank vector of the has-child bits of dense edges
 *	code		rank vector over the 256 bytes, if flag CODE: a group begins here.  The number of
 *				a byte's group is its first digit, its place in a group of several the second
 *	blocks		one per 256 sparse edges, and one after them if they fill it: 4: ones of has-child
 *				before it (dense ones too), 4: ones before each of its words, 32 has-child, then
 *				the low bits of 256 labels; the last block has only the labels it needs
 *	buckets		of sparse nodes: for each of their 2^bshift buckets a one, and after it a zero for
 *				each of its edges
 *	select		for each 2^selshift buckets the position of its one, in as many bits as the size of
 *				buckets has
 *	haspath		rank vector over nodes, if there are paths
 *	ends		rank vector over nodes, if flag ENDS: a key ends here
 *	once		rank vector over nodes with a path, if nonce > 0: no other node has this path.
 *				These paths are the last ones of the pool, in the order of nodes
 *	kinds		rank vector over the others, if flag KINDS: its path number is a long one
 *	shorts		packed short path numbers; path = number
 *	longs		packed long ones; path = number + 2^shortw
 *	starts		for each 8 different paths the bit of the pool where number 8i begins, in as many
 *				bits as its size has
 *	symbols		if flag SYMBOLS, the code of the pool: 2 for each length from 1 to 12, above which
 *				12 bits the next code is longer; 2 for each length, what to add to such a code for
 *				its symbol's number; 2 per symbol, by their codes: 3 bits of its length - 1, and 13
 *				that are its byte or its place among the strings; the strings
 *	pool		bits, the highest of a byte first, for each different path: lenw of length (all
 *				ones: 20 more have it), and that many bits of its code, or its bytes
 *	rest		164 if flag REST, the code of real bits: 128: a weight in half a byte for each byte,
 *				32: for each 16 bytes the sum of the weights before them, 2: of all, 1: the weight
 *				of a key's end, which comes before all bytes, 1: zero
 *	suffixes	packed, one per leaf edge: hash bits above real bits
 *	slack		8
 *
 * A rank vector is blocks of 40 bytes: ones before it (4), ones in it before each of its 4 words
 * (4), 256 bits (32); n / 256 + 1 of them.  So a rank counts one word.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_SURF_FORMAT_H
#define SFX_SURF_FORMAT_H

#include "bits.h"
#include "hash.h"
#include "surf.h"

#define SURF_MAGIC		0x46527553u
#define SURF_VERSION	3
#define SURF_HEADER		80
#define SURF_DENSE		36
#define SURF_RANK		40
#define SURF_BITS		8		/* offset of the bits in a block, also of has-child bits */
#define SURF_BLOCKEDGES	256
#define SURF_LABELS		40		/* and offset of the labels */
#define SURF_MINLOW		2		/* least number of bits of a label that are stored */
#define SURF_CODE		SURF_RANK
#define SURF_SINGLE		255
#define SURF_DICTSTEP	8
#define SURF_CODELEN	12		/* most bits of a symbol's code */
#define SURF_SYMENTRIES (4 * SURF_CODELEN)	/* where symbols begin in their section */
#define SURF_SYMOFF		13		/* bits of a symbol's place */
#define SURF_MAXSYMBOLS	1024
#define SURF_MAXSYMSIZE	16384
#define SURF_LONGLEN	20		/* bits of a long record's length */
#define SURF_SLACK		8

#define SURF_F_CODE		1
#define SURF_F_ENDS		2
#define SURF_F_KINDS	4
#define SURF_F_SYMBOLS	8
#define SURF_F_REST		16

#define SURF_REST		164
#define SURF_RESTSUMS	128		/* offsets in that section */
#define SURF_RESTTOTAL	160
#define SURF_RESTEND	162
#define SURF_RESTLEN	8		/* most bytes of the key that real bits are made of */
#define SURF_RESTSPAN	48		/* bits of the interval that they divide */

#define likely(x)	__builtin_expect((x) != 0, 1)
#define unlikely(x)	__builtin_expect((x) != 0, 0)

/* ---- sizes ---- */

static inline uint64_t
surf_block_size(const SfxSurf *s)
{
	return SURF_LABELS + (uint64_t) (SURF_BLOCKEDGES / 8) * s->low;
}

static inline uint64_t
surf_nbuckets(const SfxSurf *s)
{
	return (s->nnodes - s->ndense) << s->bshift;
}

/* Number of bits of the section buckets. */
static inline uint64_t
surf_bucket_bits(const SfxSurf *s)
{
	return s->nedges - s->ndedges + surf_nbuckets(s);
}

static inline uint64_t
surf_rank_size(uint64_t n)
{
	return (n / 256 + 1) * SURF_RANK;
}

static inline unsigned
surf_suffix_bits(const SfxSurf *s)
{
	return (unsigned) s->hashbits + s->realbits;
}

static inline uint64_t
surf_leaves(const SfxSurf *s)
{
	return s->nnodes == 0 ? 0 : s->nedges - (s->nnodes - 1);
}

/* Number of bits of a select sample, and of a path's start. */
static inline unsigned
surf_sample_width(const SfxSurf *s)
{
	return sfx_bitlen(surf_bucket_bits(s));
}

static inline unsigned
surf_start_width(const SfxSurf *s)
{
	return sfx_bitlen(s->poolsize * 8);
}

/*
 * Set the pointers from the header's numbers, with base as the filter's first byte.  Returns the
 * size of the filter.
 */
extern uint64_t surf_layout(SfxSurf *s, const uint8_t *base);

/* ---- rank ---- */

static inline bool
surf_bit(const uint8_t *v, uint64_t i)
{
	return v[(i >> 8) * SURF_RANK + SURF_BITS + (i >> 3 & 31)] >> (i & 7) & 1;
}

/* Number of ones before bit i of 256, of a block that begins with its samples. */
static inline uint64_t
surf_block_rank(const uint8_t *b, unsigned i)
{
	unsigned	word = i >> 6;
	uint64_t	w = sfx_load64(b + SURF_BITS + 8 * word);

	return (uint64_t) sfx_get32(b) + b[4 + word] + sfx_popcount(w & ((UINT64_C(1) << (i & 63)) - 1));
}

/* Number of ones before bit i.  The result is as the bytes say: the caller checks it. */
static inline uint64_t
surf_rank(const uint8_t *v, uint64_t i)
{
	return surf_block_rank(v + (i >> 8) * SURF_RANK, i & 255);
}

/* ---- edges ---- */

static inline const uint8_t *
surf_block(const SfxSurf *s, uint64_t sparse)
{
	return s->blocks + sparse / SURF_BLOCKEDGES * surf_block_size(s);
}

static inline bool
surf_has_child(const SfxSurf *s, uint64_t edge)
{
	uint64_t	e;

	if (edge < s->ndedges)
		return surf_bit(s->dchild, edge);
	e = edge - s->ndedges;
	return surf_block(s, e)[SURF_BITS + (e >> 3 & 31)] >> (e & 7) & 1;
}

/* Number of has-child bits before edge (<= nedges); never more than there are. */
static inline uint64_t
surf_children(const SfxSurf *s, uint64_t edge)
{
	uint64_t	r,
				e = edge - s->ndedges;

	if (edge < s->ndedges)
		r = surf_rank(s->dchild, edge);
	else
		r = surf_block_rank(surf_block(s, e), e & 255);
	return r < s->nnodes ? r : s->nnodes - 1;
}

/* The node that an edge with has-child leads to.  False: damaged. */
static inline bool
surf_child(const SfxSurf *s, uint64_t edge, uint64_t *node)
{
	*node = surf_children(s, edge) + 1;
	return *node < s->nnodes;
}

/* Number of leaf edges before edge. */
static inline uint64_t
surf_leaf_rank(const SfxSurf *s, uint64_t edge)
{
	uint64_t	c = surf_children(s, edge),
				leaves = surf_leaves(s);

	if (c > edge)
		return 0;
	return edge - c < leaves ? edge - c : leaves;
}

/* Value i of packed values of w (<= 57) bits. */
static inline uint64_t
surf_packed(const uint8_t *p, uint64_t i, unsigned w)
{
	i *= w;
	return sfx_load64(p + (i >> 3)) >> (i & 7) & sfx_mask(w);
}

static inline uint64_t
surf_sample(const SfxSurf *s, uint64_t i)
{
	return surf_packed(s->select, i, s->samplew);
}

/* The position of the one of bucket q, if the bytes are sound; never beyond the end of all. */
static inline uint64_t
surf_select(const SfxSurf *s, uint64_t q)
{
	uint64_t	n = surf_bucket_bits(s);
	uint64_t	at = surf_sample(s, q >> s->selshift);
	unsigned	r = (unsigned) (q & ((UINT64_C(1) << s->selshift) - 1));
	uint64_t	w;

	if (at >= n)
		return n;
	w = sfx_load64(s->buckets + (at >> 6) * 8) & ~UINT64_C(0) << (at & 63);
	at &= ~UINT64_C(63);
	for (;;)
	{
		unsigned	c = sfx_popcount(w);

		if (r < c)
		{
			at += sfx_select(w, r);
			return at < n ? at : n;
		}
		r -= c;
		at += 64;
		if (at >= n)
			return n;
		w = sfx_load64(s->buckets + (at >> 3));
	}
}

/* The sparse edge at which bucket q (up to their number) begins; never beyond them all. */
static inline uint64_t
surf_bucket(const SfxSurf *s, uint64_t q)
{
	uint64_t	n = s->nedges - s->ndedges,
				e;

	if (q >= surf_nbuckets(s))
		return n;
	e = surf_select(s, q) - q;
	return e < n ? e : n;
}

/* Number of zeros after the one at bit at, up to the next one or the end. */
static inline uint64_t
surf_bucket_size(const SfxSurf *s, uint64_t at)
{
	uint64_t	n = surf_bucket_bits(s),
				from = ++at;

	while (at < n)
	{
		uint64_t	w = sfx_load64(s->buckets + (at >> 3)) >> (at & 7);

		if (w != 0)
		{
			at += (uint64_t) __builtin_ctzll(w);
			break;
		}
		at += 64 - (at & 7);
	}
	return (at < n ? at : n) - from;
}

/* The edge at which a node (<= nnodes) begins; never beyond nedges. */
static inline uint64_t
surf_first_edge(const SfxSurf *s, uint64_t node)
{
	uint64_t	e;

	if (node >= s->nnodes)
		return s->nedges;
	if (node < s->ndense)
	{
		e = sfx_get32(s->dense + node * SURF_DENSE + 32);
		return e < s->ndedges ? e : s->ndedges;
	}
	return s->ndedges + surf_bucket(s, (node - s->ndense) << s->bshift);
}

/* The bits of a sparse edge's label that are stored. */
static inline unsigned
surf_low_label(const SfxSurf *s, uint64_t e)
{
	uint64_t	bit = (e & 255) * s->low;
	const uint8_t *p = surf_block(s, e) + SURF_LABELS + (bit >> 3);

	return (unsigned) ((p[0] | (unsigned) p[1] << 8) >> (bit & 7)) & ((1u << s->low) - 1);
}

/* ---- keys ---- */

/* Weights of bytes in the code of rests. */
static inline unsigned
surf_weight_of(unsigned half)
{
	static const uint8_t weight[16] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 240};

	return weight[half];
}

static inline unsigned
surf_weight(const uint8_t *rest, unsigned c)
{
	return surf_weight_of(rest[c >> 1] >> (c & 1) * 4 & 15);
}

/* The weights of the end and of the bytes below c. */
static inline unsigned
surf_weights_below(const uint8_t *rest, unsigned c)
{
	unsigned	sum = sfx_get16(rest + SURF_RESTSUMS + 2 * (c >> 4));

	for (unsigned i = c & 0xF0u; i < c; i++)
		sum += surf_weight(rest, i);
	return sum;
}

/*
 * The code of a rest of n bytes, its highest bits.  More bytes may follow only if n = SURF_RESTLEN.
 * below: NULL, or surf_weights_below of all bytes, for a caller that codes many.
 */
static inline uint32_t
surf_code_rest(const uint8_t *rest, const uint16_t *below, const uint8_t *p, uint32_t n, unsigned bits)
{
	unsigned	shift = SURF_RESTSPAN - bits;
	uint64_t	lo = 0,
				range = UINT64_C(1) << SURF_RESTSPAN,
				total = sfx_get16(rest + SURF_RESTTOTAL);

	if (total == 0)
		return 0;
	/* until what follows makes no difference */
	for (uint32_t i = 0; range > 0 && lo >> shift != (lo + range - 1) >> shift && i < n; i++)
	{
		uint64_t	share = range / total;

		lo += share * (below != NULL ? below[p[i]] : surf_weights_below(rest, p[i]));
		range = share * surf_weight(rest, p[i]);
	}
	return (uint32_t) (lo >> shift & UINT32_MAX);
}

/*
 * The real bits of a rest of n bytes (more may follow if n = SURF_RESTLEN): those of its code, or
 * the next bits, and zeros after its end.  below: see surf_code_rest.
 */
static inline uint32_t
surf_real_of(const SfxSurf *s, const uint16_t *below, const uint8_t *p, uint32_t n)
{
	uint64_t	x = 0;

	if (s->flags & SURF_F_REST)
		return surf_code_rest(s->rest, below, p, n, s->realbits);
	for (uint32_t i = 0; i < 4; i++)
		x = x << 8 | (i < n ? p[i] : 0);
	return (uint32_t) (x >> (32 - s->realbits));
}

/* The real bits of a key that is cut after d bytes. */
static inline uint32_t
surf_real(const SfxSurf *s, const uint8_t *key, uint32_t len, uint32_t d)
{
	uint32_t	n = d < len ? len - d : 0;

	return surf_real_of(s, NULL, key + (n > 0 ? d : 0), n < SURF_RESTLEN ? n : SURF_RESTLEN);
}

/* The suffix of a key that is cut after d bytes. */
static inline uint64_t
surf_suffix(const SfxSurf *s, const uint8_t *key, uint32_t len, uint32_t d)
{
	uint64_t	x = 0;

	if (s->hashbits > 0)
		x = (sfx_hash_key(key, len) >> (64 - s->hashbits)) << s->realbits;
	if (s->realbits > 0)
		x |= surf_real(s, key, len, d);
	return x;
}

/* The suffix of a leaf edge. */
static inline uint64_t
surf_stored_suffix(const SfxSurf *s, uint64_t edge)
{
	unsigned	w = surf_suffix_bits(s);
	uint64_t	leaf = surf_leaf_rank(s, edge);

	if (w == 0 || leaf >= surf_leaves(s))
		return 0;
	return sfx_bits_get(s->suffixes, (leaf * w + w + 7) / 8 + SURF_SLACK, leaf * w, w);
}

/* Compare the real bits of a leaf edge with those of a key that is cut after d bytes. */
static inline int
surf_cmp_real(const SfxSurf *s, uint64_t edge, const uint8_t *key, uint32_t len, uint32_t d)
{
	uint64_t	a,
				b;

	if (s->realbits == 0)
		return 0;
	a = surf_stored_suffix(s, edge) & sfx_mask(s->realbits);
	b = surf_real(s, key, len, d);
	return (a > b) - (a < b);
}

/* ---- nodes ---- */

/* The bits of path number id in the pool: [*at, *end).  False: damaged. */
extern bool surf_path(const SfxSurf *s, uint64_t id, uint64_t *at, uint64_t *end);

/* At least 56 bits of the pool, from bit at on, as the high bits. */
static inline uint64_t
surf_pool_bits(const SfxSurf *s, uint64_t at)
{
	return __builtin_bswap64(sfx_load64(s->pool + (at >> 3))) << (at & 7);
}

/* The number of limits, of four, that are not above x. */
static inline uint64_t
surf_reached(const uint8_t *limits, uint64_t x)
{
	const uint64_t ones = UINT64_C(0x0001000100010001);

	return (((x * ones | ones << 15) - sfx_load64(limits)) >> 15 & ones) * ones >> 48;
}

/*
 * The next symbol of a path, whose next bit is *at < end.  Returns its length (1 to 8); *sym: its
 * bytes, the first in the lowest 8 bits.  0: damaged.
 */
static inline unsigned
surf_symbol(const SfxSurf *s, uint64_t *at, uint64_t end, uint64_t *sym)
{
	uint64_t	w = surf_pool_bits(s, *at),
				x = w >> (64 - SURF_CODELEN);
	const uint8_t *t = s->symbols;
	unsigned	shorter,
				index,
				entry,
				len;

	if ((s->flags & SURF_F_SYMBOLS) == 0)
	{
		*at += 8;
		*sym = w >> 56;
		return *at <= end;
	}
	shorter = (unsigned) (surf_reached(t, x) + surf_reached(t + 8, x) + surf_reached(t + 16, x));
	*at += shorter + 1;
	if (unlikely(shorter >= SURF_CODELEN || *at > end))
		return 0;
	index = (sfx_get16(t + 2 * (SURF_CODELEN + shorter)) + (unsigned) (x >> (SURF_CODELEN - 1 - shorter))) & 0xFFFF;
	if (unlikely(index >= s->nsymbols))
		return 0;
	t += SURF_SYMENTRIES;
	entry = sfx_get16(t + 2 * index);
	len = (entry >> SURF_SYMOFF) + 1;
	entry &= (1u << SURF_SYMOFF) - 1;
	*sym = entry & 0xFF;
	if (len == 1)
		return 1;
	if (unlikely(SURF_SYMENTRIES + 2 * s->nsymbols + entry + len > s->symsize))
		return 0;
	*sym = sfx_load64(t + 2 * s->nsymbols + entry) & sfx_mask(8 * len);
	return len;
}

/* The number of the path of a node, which has a path.  False: damaged. */
extern bool surf_path_id(const SfxSurf *s, uint64_t node, uint64_t *id);

/*
 * Compare key[*d..len) with the path of a node.  0: it begins with the path, and *d moves after
 * that.  < 0: the key is smaller than all keys below (it may end inside the path); > 0: larger;
 * SURF_DAMAGED.
 */
extern int surf_match_path(const SfxSurf *s, uint64_t node, const uint8_t *key, uint32_t len, uint32_t *d);

#define SURF_DAMAGED	2

static inline int
surf_walk_path(const SfxSurf *s, uint64_t node, const uint8_t *key, uint32_t len, uint32_t *d)
{
	if (s->npaths == 0 || !surf_bit(s->haspath, node))
		return 0;
	return surf_match_path(s, node, key, len, d);
}

static inline bool
surf_ends(const SfxSurf *s, uint64_t node)
{
	return (s->flags & SURF_F_ENDS) != 0 && surf_bit(s->ends, node);
}

/* The first digit of byte c in a code. */
static inline unsigned
surf_code_digit1(const uint8_t *code, unsigned c)
{
	uint64_t	w = sfx_load64(code + SURF_BITS + 8 * (c >> 6));

	return code[4 + (c >> 6)] + sfx_popcount(w & ((UINT64_C(2) << (c & 63)) - 1)) - 1;
}

/* And the second one: SURF_SINGLE if there is none. */
static inline unsigned
surf_code_digit2(const uint8_t *code, unsigned c)
{
	unsigned	k = c >> 6;
	uint64_t	w = sfx_load64(code + SURF_BITS + 8 * k),
				upto = w & ((UINT64_C(2) << (c & 63)) - 1);

	if ((w >> (c & 63) & 1) && (c == 255 || ((c & 63) == 63 ? surf_bit(code, c + 1) : w >> (c & 63) >> 1 & 1)))
		return SURF_SINGLE;
	while (upto == 0 && k > 0)
		upto = sfx_load64(code + SURF_BITS + 8 * --k);
	return upto == 0 ? c : c - (64 * k + 63 - (unsigned) __builtin_clzll(upto));
}

/* The digits of a byte at a sparse node. */
static inline unsigned
surf_digit1(const SfxSurf *s, unsigned c)
{
	return s->flags & SURF_F_CODE ? surf_code_digit1(s->code, c) & ((1u << s->lwidth) - 1) : c;
}

static inline unsigned
surf_digit2(const SfxSurf *s, unsigned c)
{
	unsigned	d;

	if ((s->flags & SURF_F_CODE) == 0)
		return SURF_SINGLE;
	d = surf_code_digit2(s->code, c);
	return d == SURF_SINGLE ? d : d & ((1u << s->lwidth) - 1);
}

/*
 * The first edge of a dense node whose label is >= c, or its end; *equal: == c.  False: damaged.
 */
static inline bool
surf_find_dense(const SfxSurf *s, uint64_t node, unsigned c, uint64_t *edge, bool *equal)
{
	const uint8_t *p = s->dense + node * SURF_DENSE;
	uint64_t	e = sfx_get32(p + 32);
	uint64_t	w = sfx_load64(p + (c >> 6) * 8);

	for (unsigned k = 0; k < c >> 6; k++)
		e += sfx_popcount(sfx_load64(p + 8 * k));
	e += sfx_popcount(w & ((UINT64_C(1) << (c & 63)) - 1));
	*equal = w >> (c & 63) & 1;
	*edge = e;
	return e < s->ndedges || (e == s->ndedges && !*equal);
}

/* The same of a sparse node. */
static inline bool
surf_find_sparse(const SfxSurf *s, uint64_t node, unsigned digit, uint64_t *edge, bool *equal)
{
	uint64_t	q = (node - s->ndense) << s->bshift | digit >> s->low;
	uint64_t	at = surf_select(s, q),
				e = at - q,
				end,
				y = (digit & ((1u << s->low) - 1)) * s->lane1,
				ylow = y & ~s->laneh;

	*equal = false;
	end = e + surf_bucket_size(s, at);
	if (unlikely(e > s->nedges - s->ndedges || end > s->nedges - s->ndedges))
		return false;
	while (e < end)
	{
		unsigned	block = e & 255,
					bit = block * s->low,
					n = SURF_BLOCKEDGES - block,
					lane;
		uint64_t	x = sfx_load64(surf_block(s, e) + SURF_LABELS + (bit >> 3)) >> (bit & 7),
					ge = ((x & ~y) | (~(x ^ y) & ((x | s->laneh) - ylow))) & s->laneh;

		if (n > s->lanes)
			n = s->lanes;
		if (n > end - e)
			n = (unsigned) (end - e);
		lane = ge == 0 ? 64 : (unsigned) __builtin_ctzll(ge) * s->lrecip >> 16;
		if (lane < n)
		{
			e += lane;
			*equal = ((x ^ y) >> lane * s->low & ((1u << s->low) - 1)) == 0;
			break;
		}
		e += n;
	}
	*edge = s->ndedges + e;
	return true;
}

#endif							/* SFX_SURF_FORMAT_H */
