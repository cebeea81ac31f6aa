/*-------------------------------------------------------------------------
 * inner.h - the body of an inner page: a page-local Fast Succinct Trie
 *
 * An inner page has the same fences as a leaf and n >= 1 children.  Child i holds the positions in
 * [sep(i), sep(i+1)), where sep(0) is the page's low fence and sep(n) its high fence.  The n-1
 * separators are in a trie over bytes (LOUDS-DS: FST of the SuRF paper, sections 2 and 3), without
 * the page's common prefix, and with unary tails stored separately.  A separator with a TID is the
 * byte string key || 6-byte big-endian TID; one without is its key only: stored keys are
 * self-delimiting, so byte-string order is position order.  Beside the trie the page has child
 * block numbers (packed; runs take almost no room), the number of entries below each child
 * (packed), and which neighbours share a filter page, if there are any.
 *
 * In comparator order (an SfxOrder is given) there is no trie and no common prefix: separators are
 * front-coded, and searched by bisection.  The functions that compare (find, cmp_fences, verify)
 * may leave by longjmp then; they have changed nothing.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_INNER_H
#define SFX_INNER_H

#include "sfx.h"

typedef struct SfxChild
{
	SfxPos		low;			/* low fence of the child */
	uint32_t	blkno;
	uint64_t	count;			/* number of entries below (exact for level 1 at the time of
								 * writing) */
	uint32_t	filter;			/* block of the filter over the child's keys; 0: none */
} SfxChild;

/* Most neighbours with one filter. */
#define SFX_INNER_MAXFILTERED	255

#define SFX_INNER_MAXCHILDREN	8192

/* Bytes of scratch memory (8-byte aligned) that the builder needs. */
extern size_t sfx_inner_scratch_size(void);

/*
 * Write a page body with children[0..n), ascending, into body (capacity bytes).  high NULL = plus
 * infinity.  children[0].low is the page's low fence.  Returns the body's length in bytes, or
 * SFX_NOSPACE if they do not all fit (or n > SFX_INNER_MAXCHILDREN), or SFX_CORRUPT if the fences
 * do not ascend strictly as byte strings.  In comparator order nothing is compared: the caller is
 * responsible for the order, and only equal neighbours lead to SFX_CORRUPT.
 */
extern int sfx_inner_build(const SfxChild *children, int n, const SfxPos *high,
						   uint8_t *body, uint32_t capacity, void *scratch, const SfxOrder *order);

/* The same with a given format of the separators. */
typedef enum SfxInnerFormat
{
	SFX_INNER_ANY = -1,
	SFX_INNER_FRONT = 0,		/* front coding: the only one for fewer than two separators, and in comparator order */
	SFX_INNER_TRIE = 1
} SfxInnerFormat;

extern int sfx_inner_build_as(SfxInnerFormat format, const SfxChild *children, int n, const SfxPos *high,
							  uint8_t *body, uint32_t capacity, void *scratch, const SfxOrder *order);

/*
 * Returns a lower bound of how many of children[0..n) fit into one page that is packed full, found
 * by bisection with sfx_inner_build: at least 1, or 2 if n >= 2, or else SFX_NOSPACE; or
 * SFX_CORRUPT. high(i) is children[i].low.  body holds the page of these children, of *len bytes.
 *
 * It tries the first SFX_INNER_STEP, 3 * SFX_INNER_STEP, 7 * SFX_INNER_STEP, ... children (then
 * all) until they do not fit, and looks at no child after these.
 */
#define SFX_INNER_STEP		256
extern int sfx_inner_fit(const SfxChild *children, int n, const SfxPos *high, uint8_t *body,
						 uint32_t capacity, void *scratch, int *len, const SfxOrder *order);

typedef struct SfxInner
{
	const uint8_t *body;
	uint32_t	len;
	int			nchildren;
	const SfxOrder *order;		/* NULL: byte order */
	uint32_t	priv[64];		/* private to inner*.c */
} SfxInner;

/*
 * Check the header, and everything that makes later reads bounded.  SFX_OK or SFX_CORRUPT (also if
 * the body is in byte order and order is not NULL, or the other way round).  Nothing is copied:
 * body and order must outlive p.
 */
extern int sfx_inner_open(SfxInner *p, const uint8_t *body, uint32_t len, const SfxOrder *order);

/* The same as sfx_leaf_fences and sfx_leaf_cmp_fences. */
extern int sfx_inner_fences(const SfxInner *p, uint8_t *lowbuf, SfxPos *low,
							uint8_t *highbuf, SfxPos *high, bool *high_inf);
extern int sfx_inner_cmp_fences(const SfxInner *p, const SfxPos *pos);

/*
 * Returns the child whose interval contains pos: the largest i with sep(i) <= pos (0 if pos is
 * below the low fence), or SFX_CORRUPT.  In comparator order this takes log2(n) + 1 comparisons.
 */
extern int sfx_inner_find(const SfxInner *p, const SfxPos *pos);

/*
 * Returns the child that holds the positions just below pos: the largest i with sep(i) < pos (0 if
 * there is none), or SFX_CORRUPT.
 */
extern int sfx_inner_find_before(const SfxInner *p, const SfxPos *pos);

/* Set *blkno and *count to the block number and entry count of child i.  SFX_OK or SFX_CORRUPT. */
extern int sfx_inner_child(const SfxInner *p, int i, uint32_t *blkno, uint64_t *count);

/*
 * Sums of entry counts: of the children left of child i, of child i, and of all.  SFX_OK or
 * SFX_CORRUPT.
 */
extern int sfx_inner_counts(const SfxInner *p, int i, uint64_t *below, uint64_t *own, uint64_t *total);

/*
 * Pass over children [from, to) as long as they have no more than `most` entries together.  Returns
 * the first one left, or `to`; *sum: the entries of those before it.  Or SFX_CORRUPT.
 */
extern int sfx_inner_pass(const SfxInner *p, int from, int to, uint64_t most, uint64_t *sum);

/* Are there any filters? */
extern bool sfx_inner_has_filters(const SfxInner *p);

/*
 * Block number of the filter over child i; 0 if there is none.  Takes a bisection over the page's
 * filters.
 */
extern uint32_t sfx_inner_filter(const SfxInner *p, int i);

/*
 * Call f(ctx, i, &child) for all children in order, with the separators rebuilt (bytes valid during
 * the call; key and TID are separate).  A negative return value of f ends the walk and is returned;
 * otherwise SFX_OK or SFX_CORRUPT.
 */
typedef int (*SfxChildFn) (void *ctx, int i, const SfxChild *child);
extern int sfx_inner_each(const SfxInner *p, SfxChildFn f, void *ctx);

/*
 * Check everything: trie against its separators, rank and select against a scan, order, fences.
 * SFX_OK, or SFX_CORRUPT with *why; SFX_DISORDER if only comparator order does not hold.
 */
extern int sfx_inner_verify(const uint8_t *body, uint32_t len, const SfxOrder *order, void *scratch, const char **why);

#endif							/* SFX_INNER_H */
