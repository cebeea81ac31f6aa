/*-------------------------------------------------------------------------
 * sfx.h - ground rules and shared helpers of the core library
 *
 * src/core is pure C11.  It never includes a PostgreSQL header, never allocates memory (callers
 * pass it), never keeps state between calls, and never trusts bytes: a decoder given any bytes
 * returns SFX_CORRUPT or a bounded result and never reads outside the buffer that it was given.
 *
 * An *entry* is (key, TID, payload).  A key is a byte string.  In *byte order* its memcmp order (a
 * proper prefix sorts first) is the index order, and no key that is stored in an index is a proper
 * prefix of another one: keys are self-delimiting.  In *comparator order* an SfxOrder says which
 * key comes first, and keys may be any byte strings.  A TID is packed in a uint64_t as heap block
 * << 16 | offset.  Entries are ordered by (key, TID).
 *
 * A *position* (SfxPos) is a point in that order: a fence key, a scan bound, an entry.  Its key
 * need not be a stored key: it may be a truncated one.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_H
#define SFX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return codes: >= 0 is a result. */
#define SFX_OK			0
#define SFX_CORRUPT		(-1)	/* the bytes break the format */
#define SFX_NOSPACE		(-2)	/* the output does not fit */
#define SFX_NOMEM		(-3)	/* the allocator is exhausted */
#define SFX_DISORDER	(-4)	/* the bytes are well-formed, but not in the order of an SfxOrder */

/* Largest encoded key plus payload of one entry, in bytes.  Three of them (two
 * fences and one entry) fit into a page body with all headers. */
#define SFX_MAX_ENTRY	2696

#define SFX_TID(blk, off)	(((uint64_t) (blk) << 16) | (uint16_t) (off))
#define SFX_TID_BLOCK(t)	((uint32_t) ((t) >> 16))
#define SFX_TID_OFFSET(t)	((uint16_t) ((t) & 0xFFFF))
#define SFX_MAX_TID			UINT64_C(0xFFFFFFFFFFFF)

typedef struct SfxPos
{
	const uint8_t *key;
	uint32_t	len;
	uint64_t	tid;			/* 0 sorts before every entry of that key */
} SfxPos;

/* Before every entry, and after every one. */
#define SFX_POS_FIRST	((SfxPos) {(const uint8_t *) "", 0, 0})
#define SFX_POS_END		((SfxPos) {NULL, 0, 0})

/* Unaligned little-endian loads and stores; on-disk integers are little-endian
 * in the server's byte order (pages never move between architectures). */
static inline uint16_t sfx_get16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static inline uint32_t sfx_get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static inline uint64_t sfx_get64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline void sfx_put16(uint8_t *p, uint16_t v) { memcpy(p, &v, 2); }
static inline void sfx_put32(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }
static inline void sfx_put64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }

/* A number whose bytes are those of x, the highest first. */
static inline uint64_t
sfx_be64(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(x);
#else
	return x;
#endif
}

static inline uint32_t
sfx_be32(uint32_t x)
{
	return (uint32_t) (sfx_be64(x) >> 32);
}

/* 8 bytes at p as a big-endian number: so words compare as the bytes do. */
static inline uint64_t
sfx_load_be64(const uint8_t *p)
{
	return sfx_be64(sfx_get64(p));
}

static inline void
sfx_store_be64(uint8_t *p, uint64_t v)
{
	sfx_put64(p, sfx_be64(v));
}

/*
 * memcmp for short strings, as keys are, without a call.  A call has another cost: memcmp with
 * AVX-512 reads beyond the end by masked loads, and if these reach into a page that was never
 * touched, each takes microseconds.
 */
static inline int
sfx_memcmp(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t		i = 0;

	for (; i + 8 <= n; i += 8)
	{
		uint64_t	x = sfx_load_be64(a + i);
		uint64_t	y = sfx_load_be64(b + i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	if (i < n && n >= 8)
	{
		/* bytes that are equal may be compared twice */
		uint64_t	x = sfx_load_be64(a + n - 8);
		uint64_t	y = sfx_load_be64(b + n - 8);

		return (x > y) - (x < y);
	}
	for (; i < n; i++)
		if (a[i] != b[i])
			return (int) a[i] - (int) b[i];
	return 0;
}

/* Byte-string order; a proper prefix sorts first. */
static inline int
sfx_cmp_bytes(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
	int			c = sfx_memcmp(a, b, alen < blen ? alen : blen);

	if (c != 0)
		return c;
	return (alen > blen) - (alen < blen);
}

static inline int
sfx_cmp_pos(const SfxPos *a, const SfxPos *b)
{
	int			c = sfx_cmp_bytes(a->key, a->len, b->key, b->len);

	if (c != 0)
		return c;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The first of eight bytes in which two words, loaded in the server's byte order, differ. */
static inline uint32_t
sfx_first_difference(uint64_t x, uint64_t y)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t) __builtin_ctzll(x ^ y) / 8;
#else
	return (uint32_t) __builtin_clzll(x ^ y) / 8;
#endif
}

/* Length of the longest common prefix. */
static inline uint32_t
sfx_lcp(const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	uint32_t	n = alen < blen ? alen : blen;
	uint32_t	i = 0;
	uint64_t	x,
				y;

	for (; i + 8 <= n; i += 8)
	{
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return i + sfx_first_difference(x, y);
	}
	if (n >= 8)
	{
		/* the last word overlaps the previous one */
		memcpy(&x, a + n - 8, 8);
		memcpy(&y, b + n - 8, 8);
		return x != y ? n - 8 + sfx_first_difference(x, y) : n;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* A 48-bit TID, big-endian, so that its bytes sort as it does. */
static inline void
sfx_put_tid(uint8_t *p, uint64_t tid)
{
	for (int i = 0; i < 6; i++)
		p[i] = (uint8_t) (tid >> (40 - 8 * i));
}

static inline uint64_t
sfx_get_tid(const uint8_t *p)
{
	uint64_t	t = 0;

	for (int i = 0; i < 6; i++)
		t = t << 8 | p[i];
	return t;
}

/*
 * The order of keys that are not in byte order: linguistic collations, ranges, arrays, types of
 * other extensions.  A NULL pointer to it means byte order.  Nothing stored says which order it
 * was, except for a flag "not byte order": the same one must be given for all of an index's life.
 *
 * The empty string is minus infinity in every order.  No function is ever called with it, nor with
 * two equal strings.  Searches pass a stored key as a and the key they look for as b, so the latter
 * may be in a form that is prepared for many comparisons.
 */
typedef struct SfxOrder
{
	/*
	 * Total order on key byte strings: < 0, 0, > 0; 0 only if the bytes are identical.  May leave
	 * by longjmp (an error of the server's comparison function): all comparisons of a step are made
	 * before its first change.
	 */
	int			(*cmp) (const struct SfxOrder *o, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen);

	/*
	 * Given left < right, returns the length of the shortest prefix p of right with left < p <=
	 * right that may be used as a separator (right's full length is always correct).  May leave by
	 * longjmp.
	 */
	uint32_t	(*separate) (const struct SfxOrder *o, const uint8_t *left, uint32_t llen,
							 const uint8_t *right, uint32_t rlen);

	/*
	 * Write bytes to out, at most cap, whose byte order probably is the order of keys.  Returns how
	 * many.  Only where a search begins depends on them (B5).  NULL: there are no such bytes.  May
	 * leave by longjmp.
	 */
	uint32_t	(*ranks) (const struct SfxOrder *o, const uint8_t *key, uint32_t len, uint8_t *out,
						  uint32_t cap);

	/*
	 * NULL, or a function that mostly returns what cmp returns, at a tenth of its cost; 0: cmp has
	 * to be called.  Neither string is empty.  A search that goes where guesses lead proves with
	 * cmp both ends of the gap to which it comes (B5).  May leave by longjmp.
	 */
	int			(*guess) (const struct SfxOrder *o, const uint8_t *a, uint32_t alen,
						  const uint8_t *b, uint32_t blen);

	bool		may_change;		/* a statement may change the order, while entries exist that were
								 * put in the present one (K4) */
} SfxOrder;

static inline bool
sfx_same_bytes(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
	return alen == blen && sfx_memcmp(a, b, alen) == 0;
}

/*
 * A comparison costs 100 to 1,000 ns, a look at the bytes 5: cmp is not called if the bytes are
 * equal.
 */
static inline int
sfx_order_cmp(const SfxOrder *o, const uint8_t *a, uint32_t alen, const uint8_t *b, uint32_t blen)
{
	if (o == NULL)
		return sfx_cmp_bytes(a, alen, b, blen);
	if (alen == 0 || blen == 0)
		return (alen > 0) - (blen > 0);
	if (sfx_same_bytes(a, alen, b, blen))
		return 0;
	return o->cmp(o, a, alen, b, blen);
}

static inline bool
sfx_order_guesses(const SfxOrder *o)
{
	return o != NULL && o->guess != NULL;
}

static inline int
sfx_order_cmp_pos(const SfxOrder *o, const SfxPos *a, const SfxPos *b)
{
	int			c = sfx_order_cmp(o, a->key, a->len, b->key, b->len);

	if (c != 0)
		return c;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/*
 * Compares by a guess, if o makes any; otherwise by a comparison, and *sure is set.  0 only if they
 * are equal.
 */
static inline int
sfx_order_guess_pos(const SfxOrder *o, const SfxPos *a, const SfxPos *b, bool *sure)
{
	int			c = a->len > 0 && b->len > 0 ? o->guess(o, a->key, a->len, b->key, b->len) : 0;

	*sure = c == 0;
	return c != 0 ? c : sfx_order_cmp_pos(o, a, b);
}

/*
 * The shortest position s with left < s <= right, given left < right, as a prefix of right: s->key
 * points into right->key.  If the keys are equal it is right itself, TID included.  (All fence keys
 * and separators are made by this or by sfx_order_separator.)
 */
static inline SfxPos
sfx_separator(const SfxPos *left, const SfxPos *right)
{
	SfxPos		s = *right;
	uint32_t	lcp = sfx_lcp(left->key, left->len, right->key, right->len);

	if (lcp < right->len)
	{
		s.len = lcp + 1;
		s.tid = 0;
	}
	return s;
}

/* The same in any order; in comparator order o->separate decides how short the prefix may be. */
static inline SfxPos
sfx_order_separator(const SfxOrder *o, const SfxPos *left, const SfxPos *right)
{
	SfxPos		s = *right;

	if (o == NULL)
		return sfx_separator(left, right);
	if (sfx_same_bytes(left->key, left->len, right->key, right->len))
		return s;
	s.tid = 0;
	/*
	 * right is not empty, since left is smaller; all of it separates from minus infinity, and a
	 * byte might not
	 */
	if (left->len > 0)
	{
		uint32_t	len = o->separate(o, left->key, left->len, right->key, right->len);

		s.len = len > 0 && len < right->len ? len : right->len;
	}
	return s;
}

#endif							/* SFX_H */
