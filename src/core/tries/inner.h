/*-------------------------------------------------------------------------
 * inner.h - the body of an inner page: a page-local Fast Succinct Trie
 *
 * An inner page has the same fences as a leaf and n >= 1 children.  Child i holds the positions in
 * [sep(i), sep(i+1)), where sep(0) is the page's low fence and sep(n) its high fence.  The n-1
 * separators stand in a trie over bytes (LOUDS-DS: FST of the SuRF paper, sections 2 and 3) with
 * the page's common prefix removed and unary tails kept apart.  A separator with a TID is the byte
 * string key || 6-byte big-endian TID; one without is its key alone: stored keys are
 * self-delimiting, so that byte-string order is position order. Beside the trie: child block
 * numbers (packed; runs cost next to nothing), the number of entries below each child (packed), and
 * which neighbours share a filter page, if any do.
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
	uint64_t	count;			/* entries below (exact for level 1 at the time of writing) */
	uint32_t	filter;			/* block of the filter over the child's keys; 0: none */
} SfxChild;

/* Neighbours with one filter, at most. */
#define SFX_INNER_MAXFILTERED	255

#define SFX_INNER_MAXCHILDREN	8192

/* Scratch memory (8-byte aligned) the builder needs, in bytes. */
extern size_t sfx_inner_scratch_size(void);

/*
 * Write a page body with children[0..n), ascending, into body (capacity bytes). high NULL = plus
 * infinity. children[0].low is the page's low fence.  Returns the body's length in bytes, or
 * SFX_NOSPACE if they do not all fit (or n > SFX_INNER_MAXCHILDREN), or SFX_CORRUPT if the fences
 * do not ascend strictly as byte strings.  In comparator order nothing is compared: the caller
 * answers for the order, and only neighbours that are equal make SFX_CORRUPT.
 */
extern int sfx_inner_build(const SfxChild *children, int n, const SfxPos *high,
						   uint8_t *body, uint32_t capacity, void *scratch, const SfxOrder *order);

/* The same with the format of the separators pinned. */
typedef enum SfxInnerFormat
{
	SFX_INNER_ANY = -1,
	SFX_INNER_FRONT = 0,		/* front coding: the only one for fewer than two separators, and in comparator order */
	SFX_INNER_TRIE = 1
} SfxInnerFormat;

extern int sfx_inner_build_as(SfxInnerFormat format, const SfxChild *children, int n, const SfxPos *high,
							  uint8_t *body, uint32_t capacity, void *scratch, const SfxOrder *order);

/*
 * A lower bound of how many of children[0..n) fit into one page when packed full: an estimate by
 * bisection with sfx_inner_build; at least 1, or 2 if n >= 2.  high(i) is children[i].low.
 *
 * It tries the first SFX_INNER_STEP, 3 * SFX_INNER_STEP, 7 * SFX_INNER_STEP, ... of them (then all)
 * until they do not fit, and looks at none behind these.
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
 * Check the header, and everything that makes later reads bounded.  SFX_OK or SFX_CORRUPT (also
 * where the body is in byte order and order is not NULL, or the other way round).
 */
extern int sfx_inner_open(SfxInner *p, const uint8_t *body, uint32_t len, const SfxOrder *order);

/* As sfx_leaf_fences and sfx_leaf_cmp_fences. */
extern int sfx_inner_fences(const SfxInner *p, uint8_t *lowbuf, SfxPos *low,
							uint8_t *highbuf, SfxPos *high, bool *high_inf);
extern int sfx_inner_cmp_fences(const SfxInner *p, const SfxPos *pos);

/*
 * The child whose interval contains pos: the largest i with sep(i) <= pos (0 if pos lies below the
 * low fence). Or SFX_CORRUPT. In comparator order this takes log2(n) + 1 comparisons.
 */
extern int sfx_inner_find(const SfxInner *p, const SfxPos *pos);

/*
 * The child that holds the positions just below pos: the largest i with sep(i) < pos (0 if there is
 * none).  Or SFX_CORRUPT.
 */
extern int sfx_inner_find_before(const SfxInner *p, const SfxPos *pos);

/* Block number and entry count of child i. SFX_OK or SFX_CORRUPT. */
extern int sfx_inner_child(const SfxInner *p, int i, uint32_t *blkno, uint64_t *count);

/*
 * Sums of entry counts: of the children left of child i, of child i, of all. SFX_OK or SFX_CORRUPT.
 */
extern int sfx_inner_counts(const SfxInner *p, int i, uint64_t *below, uint64_t *own, uint64_t *total);

/* Are there any filters? */
extern bool sfx_inner_has_filters(const SfxInner *p);

/*
 * Block number of the filter over child i; 0 if there is none.  Takes a bisection over the page's
 * filters.
 */
extern uint32_t sfx_inner_filter(const SfxInner *p, int i);

/*
 * All children in order: calls f(ctx, i, &child) with the separators rebuilt (bytes valid during
 * the call). A negative return of f stops and is returned; else SFX_OK or SFX_CORRUPT.  A separator
 * with a TID comes back with key and TID apart.
 */
typedef int (*SfxChildFn) (void *ctx, int i, const SfxChild *child);
extern int sfx_inner_each(const SfxInner *p, SfxChildFn f, void *ctx);

/*
 * Everything: trie against its separators, rank/select against a scan, order, fences. SFX_OK, or
 * SFX_CORRUPT with *why; SFX_DISORDER if it is comparator order alone that does not hold.
 */
extern int sfx_inner_verify(const uint8_t *body, uint32_t len, const SfxOrder *order, void *scratch, const char **why);

#endif							/* SFX_INNER_H */
