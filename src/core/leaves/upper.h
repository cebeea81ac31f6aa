/*-------------------------------------------------------------------------
 * upper.h - neighbouring inner pages decoded for many searches
 *
 * A trie is small, a sorted array is fast: pages that are searched again and again are worth
 * decoding once, neighbours of a level into one array.  The eight bytes of each separator that
 * follow what all separators share are in one array, which a search bisects without a branch; the
 * separators themselves are compared only if these are equal.
 *
 * In comparator order these words are of the bytes by which the order guesses, and lead to a place
 * whose two separators are then compared (B5): two comparisons instead of nine, if the guess is
 * good.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_UPPER_H
#define SFX_UPPER_H

#include "inner.h"

typedef struct SfxUpper SfxUpper;

/*
 * Bytes of memory (8-byte aligned) that the copy of p[0..n) takes; or SFX_CORRUPT.  Each page
 * begins where the previous one ends.
 */
extern int64_t sfx_upper_size(const SfxInner *p, int n);

/*
 * Decode the pages into mem, which has sfx_upper_size(p, n) bytes.  NULL if they are damaged.  The
 * pages are not needed any more.
 */
extern SfxUpper *sfx_upper_build(void *mem, const SfxInner *p, int n);

extern int sfx_upper_children(const SfxUpper *u);

/*
 * The same for any ascending positions, with a number each (blkno): low of the first one is never
 * compared.  n >= 1.
 */
extern int64_t sfx_upper_size_of(const SfxChild *children, int n);
extern SfxUpper *sfx_upper_build_of(void *mem, const SfxChild *children, int n, const SfxOrder *order);

/* The separators between which a search ended; they live as long as the copy. */
typedef struct SfxUpperPlace
{
	bool		known;			/* in comparator order; false: nothing else is set */
	bool		bytewise;		/* separators are in byte order, or almost */
	bool		last;			/* there is no separator above */
	SfxPos		low;			/* len 0: there is none below */
	SfxPos		high;
} SfxUpperPlace;

/*
 * Returns the block of the child whose interval holds pos (before: that holds the positions just
 * below pos; pos->key NULL: the last child), like sfx_inner_find and sfx_inner_find_before.  order
 * is the page's; its comparison may leave by longjmp.  place (may be NULL) is filled in.
 */
extern uint32_t sfx_upper_find(const SfxUpper *u, const SfxOrder *order, const SfxPos *pos,
							   bool before, SfxUpperPlace *place);

#endif							/* SFX_UPPER_H */
