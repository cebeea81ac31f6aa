/*-------------------------------------------------------------------------
 * louds.h - page-local succinct structures: bit vectors with rank and select, string pools, the
 * LOUDS-DS trie
 *
 * The trie is the Fast Succinct Trie of the SuRF paper (sections 2 and 3) made for one page: nodes
 * are numbered level by level, the first few are LOUDS-Dense (two 256-bit maps each), the others
 * LOUDS-Sparse (labels, a has-child bit and a LOUDS bit per edge).  Differences to the paper:
 *
 * - Paths are compressed: bytes that all strings below a node share are in a pool, once for each
 *   node, and so are the bytes of a string below its last branch (its tail).  So every node has two
 *   branches or more.
 * - A string that ends at a node is marked by a bit of that node, outside the alphabet of labels.
 * - LOUDS order is not string order, but no permutation is kept: each node knows how many strings
 *   are smaller than all of its own (its base), and the place of a leaf edge in string order
 *   follows from the next branch that has a base.  There are fewer nodes than leaves, much fewer in
 *   large tries.  Tails are in string order.
 *
 * Offsets are relative to a buffer that is passed along.  Every load goes through sfx_ld8/16/64,
 * which read nothing outside that buffer: damaged bytes can only lead to wrong answers or
 * SFX_CORRUPT.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LOUDS_H
#define SFX_LOUDS_H

#include "bits.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SFX_TRIE_MAXKEYS	8192
/* Longest string: a key followed by a TID. */
#define SFX_TRIE_MAXLEN		(SFX_MAX_ENTRY + 6)
/*
 * Dense nodes: label map, has-child map, and the number of has-child bits in earlier dense nodes.
 */
#define SFX_DENSE_SIZE		66

/* ---- bounded loads ---- */

typedef struct SfxBuf
{
	const uint8_t *p;
	uint32_t	len;
} SfxBuf;

/* Load the last bytes of the buffer; bytes outside read as zero. */
extern uint64_t sfx_ld64_edge(SfxBuf b, uint32_t off);

/* Bytes outside the buffer read as zero. */
static inline uint64_t
sfx_ld64(SfxBuf b, uint32_t off)
{
	if (__builtin_expect((uint64_t) off + 8 <= b.len, 1))
		return sfx_load64(b.p + off);
	return sfx_ld64_edge(b, off);
}

static inline uint32_t
sfx_ld8(SfxBuf b, uint32_t off)
{
	return off < b.len ? b.p[off] : 0;
}

static inline uint32_t
sfx_ld16(SfxBuf b, uint32_t off)
{
	return (uint64_t) off + 2 <= b.len ? sfx_get16(b.p + off) : 0;
}

static inline uint32_t
sfx_bytes_of(uint64_t bits)
{
	return (uint32_t) ((bits + 7) / 8);
}

/* Value i of an array of width-bit integers (0 to 64) at off. */
static inline uint64_t
sfx_packed_get(SfxBuf b, uint32_t off, uint32_t width, uint32_t i)
{
	uint64_t	bit = (uint64_t) i * width;
	uint32_t	at = off + (uint32_t) (bit >> 3);
	uint32_t	sh = (uint32_t) bit & 7;
	uint64_t	v = sfx_ld64(b, at) >> sh;

	if (width + sh > 64)
		v |= (uint64_t) sfx_ld8(b, at + 8) << (64 - sh);
	return width < 64 ? v & ((UINT64_C(1) << width) - 1) : v;
}

/* OR value i into zeroed bytes. */
extern void sfx_packed_set(uint8_t *p, uint32_t width, uint32_t i, uint64_t v);

static inline bool
sfx_bit(SfxBuf b, uint32_t off, uint32_t i)
{
	return sfx_ld8(b, off + (i >> 3)) >> (i & 7) & 1;
}

/* ---- labels ---- */

#define SFX_LABELS_AT_ONCE	16	/* labels are bisected until so many are left */

/*
 * Number of the n ascending labels at off that are <= c (0 to 255); never more than n if they do
 * not ascend.  Sixteen are compared at once if the compiler's target has SSE2 (all of x86-64) and
 * the buffer is long enough, otherwise eight.
 */
static inline uint32_t
sfx_labels_upto(SfxBuf b, uint32_t off, uint32_t n, uint32_t c)
{
	uint64_t	y = c * SFX_BYTES_01;
	uint32_t	k = 0;

	while (n - k > SFX_LABELS_AT_ONCE)
	{
		uint32_t	half = (n - k) / 2;

		if (sfx_ld8(b, off + k + half) <= c)
			k += half;
		else
			n = k + half;
	}
#ifdef __SSE2__
	if (__builtin_expect((uint64_t) off + k + 16 <= b.len, 1))
	{
		__m128i		x = _mm_loadu_si128((const void *) (b.p + off + k));
		uint32_t	le = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8((char) c)), x));

		return k + (uint32_t) __builtin_ctz(~le | UINT32_C(1) << (n - k));
	}
#endif
	while (k < n)
	{
		uint64_t	x = sfx_ld64(b, off + k);
		uint64_t	le = ((y | SFX_BYTES_80) - (x & SFX_BYTES_7F)) & ~(x ^ y);	/* if the top bits are
																			 * equal, the low 7 bits
																			 * decide */
		uint32_t	m = n - k;

		le = (le | (~x & y)) & SFX_BYTES_80;
		if (m < 8)
			le &= (UINT64_C(1) << (8 * m)) - 1;
		m = (uint32_t) (((le >> 7) * SFX_BYTES_01) >> 56);
		k += m;
		if (m < 8)
			break;
	}
	return k;
}

/* ---- bit vectors ---- */

#define SFX_RANK_BITS	64		/* one rank sample for that many bits, so only one word is
								 * counted */
/*
 * One select sample for about this many bits, but for at most 2^(shift) ones: narrow for descents,
 * which need one in each level, wide for tails.
 */
#define SFX_SELECT_NEAR		64
#define SFX_SELECT_NEARSHIFT	3
#define SFX_SELECT_FAR		128
#define SFX_SELECT_FARSHIFT	7

/*
 * n bits at off.  At smp there are rank samples (ones before each 64 bits), or the positions of
 * every 2^shift-th one.
 */
typedef struct SfxBits
{
	uint32_t	off;
	uint32_t	n;
	uint32_t	smp;
	uint32_t	shift;
} SfxBits;

/* Number of ones before bit i. */
static inline uint32_t
sfx_rank1(SfxBuf b, const SfxBits *v, uint32_t i)
{
	uint32_t	blk = i / SFX_RANK_BITS;
	uint64_t	w = sfx_ld64(b, v->off + blk * (SFX_RANK_BITS / 8));

	return sfx_ld16(b, v->smp + 2 * blk) + sfx_popcount(w & ((UINT64_C(1) << (i % SFX_RANK_BITS)) - 1));
}

/* Returns the first one at or after bit i and before bit end; end if there is none. */
static inline uint32_t
sfx_next1(SfxBuf b, const SfxBits *v, uint32_t i, uint32_t end)
{
	while (i < end)
	{
		uint64_t	w = sfx_ld64(b, v->off + (i >> 3)) >> (i & 7);

		if (w != 0)
		{
			i += (uint32_t) __builtin_ctzll(w);
			return i < end ? i : end;
		}
		i += 64 - (i & 7);
	}
	return end;
}

/*
 * Returns the position of the one number r (from 0), counted from bit pos on; *next: of the one
 * after it.  v->n if there is none.
 */
extern uint32_t sfx_select_from(SfxBuf b, const SfxBits *v, uint32_t pos, uint32_t r, uint32_t *next);

/*
 * Returns the position of the one number k (from 0); *next: of the one after it.  v->n if there is
 * none.
 */
static inline uint32_t
sfx_select1(SfxBuf b, const SfxBits *v, uint32_t k, uint32_t *next)
{
	uint32_t	pos = sfx_ld16(b, v->smp + 2 * (k >> v->shift));
	uint32_t	r = k & ((1u << v->shift) - 1);

	/* few ones to skip, nearly always in one word: cheaper than counting */
	if (v->shift <= SFX_SELECT_NEARSHIFT)
	{
		uint64_t	w = sfx_ld64(b, v->off + (pos >> 3)) >> (pos & 7);

		for (uint32_t i = r; i > 0; i--)
			w &= w - 1;
		if ((w & (w - 1)) != 0)
		{
			uint32_t	at = pos + (uint32_t) __builtin_ctzll(w);

			*next = pos + (uint32_t) __builtin_ctzll(w & (w - 1));
			if (*next > v->n)
				*next = v->n;
			return at < v->n ? at : v->n;
		}
	}
	return sfx_select_from(b, v, pos, r, next);
}

/* ---- output ---- */

typedef struct SfxOut
{
	uint8_t    *p;
	uint32_t	len;
	uint32_t	cap;
} SfxOut;

/*
 * Append n zeroed bytes to the output and return them; NULL if they do not fit, then and in all
 * later calls.
 */
extern uint8_t *sfx_out(SfxOut *o, uint32_t n);

/* ---- string pools: n byte strings one after the other, Elias-Fano over their starts ---- */

typedef struct SfxPool
{
	uint32_t	n;
	uint32_t	total;			/* bytes of all strings; 0: all are empty and nothing is stored */
	uint32_t	l;				/* low bits of a start */
	uint32_t	low;			/* offset of the low bits */
	uint32_t	data;			/* offset of the bytes */
	SfxBits		up;				/* n + 1 ones */
} SfxPool;

/* Set *off and *len to offset and length of string i.  False if the bytes are damaged. */
static inline bool
sfx_pool_get(SfxBuf b, const SfxPool *s, uint32_t i, uint32_t *off, uint32_t *len)
{
	uint32_t	at,
				next,
				start,
				end;

	if (i >= s->n)
		return false;
	at = sfx_select1(b, &s->up, i, &next);
	if (at >= s->up.n || at < i)
		return false;
	start = (at - i) << s->l;
	end = (next - i - 1) << s->l;
	if (s->l > 0)
	{
		/* both in one word: l <= 15 */
		uint32_t	bit = i * s->l;
		uint64_t	w = sfx_ld64(b, s->low + (bit >> 3)) >> (bit & 7);
		uint32_t	mask = (1u << s->l) - 1;

		start |= (uint32_t) w & mask;
		end |= (uint32_t) (w >> s->l) & mask;
	}
	*off = s->data + start;
	*len = end - start;
	return start <= end && end <= s->total;
}

/* ---- probes: a position as a byte string (key, followed by the TID unless that is 0) ---- */

typedef struct SfxProbe
{
	const uint8_t *key;
	uint32_t	len;
	uint32_t	total;
	uint8_t		tid[6];
} SfxProbe;

static inline void
sfx_probe_init(SfxProbe *q, const SfxPos *pos)
{
	q->key = pos->key;
	q->len = q->total = pos->len;
	if (pos->tid != 0)
	{
		sfx_put_tid(q->tid, pos->tid < SFX_MAX_TID ? pos->tid : SFX_MAX_TID);
		q->total += 6;
	}
}

static inline uint32_t
sfx_probe_byte(const SfxProbe *q, uint32_t i)
{
	return i < q->len ? q->key[i] : q->tid[i - q->len];
}

/*
 * Compare the probe's bytes from d (<= total) on with s[0..len).  0: they begin with s.  If they
 * end inside s they are smaller.  *same: number of equal bytes.
 */
static inline int
sfx_probe_cmp(const SfxProbe *q, uint32_t d, const uint8_t *s, uint32_t len, uint32_t *same)
{
	uint32_t	left = q->total - d;
	uint32_t	n = left < len ? left : len;
	uint32_t	nkey = d < q->len ? q->len - d : 0;
	uint32_t	i;

	if (nkey > n)
		nkey = n;
	i = nkey ? sfx_lcp(q->key + d, nkey, s, nkey) : 0;
	if (i == nkey)
		while (i < n && q->tid[d + i - q->len] == s[i])
			i++;
	*same = i;
	if (i < n)
		return (int) sfx_probe_byte(q, d + i) - (int) s[i];
	return left < len ? -1 : 0;
}

/*
 * The same with the string at off (off + len <= b.len), without a loop if it is short, as most are.
 */
static inline int
sfx_probe_cmp_at(SfxBuf b, const SfxProbe *q, uint32_t d, uint32_t off, uint32_t len)
{
	uint32_t	same;

	if (len <= 8 && d + 8 <= q->len && off + 8 <= b.len)
	{
		uint64_t	x = sfx_load_be64(q->key + d);
		uint64_t	y = sfx_load_be64(b.p + off);
		uint32_t	cut = 64 - 8 * len;

		if (len == 0)
			return 0;
		x >>= cut;
		y >>= cut;
		return (x > y) - (x < y);
	}
	return sfx_probe_cmp(q, d, b.p + off, len, &same);
}

/* ---- the trie ---- */

/* 32-bit numbers only, so that a reader can keep it in an array of them. */
typedef struct SfxTrie
{
	uint32_t	nkeys;
	uint32_t	nnodes;
	uint32_t	nedges;			/* of sparse nodes */
	uint32_t	ndense;
	uint32_t	dense;			/* offset of the dense nodes */
	uint32_t	dchildren;		/* has-child bits in dense nodes */
	uint32_t	labels;
	uint32_t	base;			/* offset of the bases of nodes 1.. */
	uint32_t	bwidth;
	uint32_t	pk;				/* offset of the string-ends-here bits, 0 if there are none */
	uint32_t	end;			/* offset of the first byte after the trie */
	SfxBits		child;			/* has-child, rank */
	SfxBits		louds;			/* select; one per sparse node */
	SfxPool		paths;			/* per node */
	SfxPool		tails;			/* per string */
} SfxTrie;

/* Scratch memory (8-byte aligned) for sfx_trie_build. */
extern size_t sfx_trie_scratch_size(void);

/*
 * Append the trie of keys[0..n), 2 <= n <= SFX_TRIE_MAXKEYS, to o.  They must ascend as byte
 * strings, each at most SFX_TRIE_MAXLEN bytes long.  SFX_OK or SFX_NOSPACE.
 */
extern int sfx_trie_build(const SfxPos *keys, uint32_t n, SfxOut *o, void *scratch);

/*
 * Open the trie of n strings that starts at off, with the checks that make reads bounded.  Takes
 * constant time.  SFX_OK or SFX_CORRUPT.
 */
extern int sfx_trie_open(SfxTrie *t, SfxBuf b, uint32_t off, uint32_t n);

/* Returns how many strings are <= q from its byte d on (strict: < q), or SFX_CORRUPT. */
extern int sfx_trie_rank(const SfxTrie *t, SfxBuf b, const SfxProbe *q, uint32_t d, bool strict);

/*
 * Call f(ctx, i, s, len) for all strings in order.  They are rebuilt in buf, after the skip bytes
 * that are there already, and are at most skip + SFX_TRIE_MAXLEN bytes long.  A negative return
 * value of f ends the walk and is returned; otherwise SFX_OK or SFX_CORRUPT (also if a base or the
 * number of nodes is wrong).
 */
typedef int (*SfxTrieFn) (void *ctx, uint32_t i, const uint8_t *s, uint32_t len);
extern int sfx_trie_each(const SfxTrie *t, SfxBuf b, uint8_t *buf, uint32_t skip, SfxTrieFn f, void *ctx);

/* Check rank and select samples against a scan.  Returns NULL, or what is wrong. */
extern const char *sfx_trie_check(const SfxTrie *t, SfxBuf b);

#endif							/* SFX_LOUDS_H */
