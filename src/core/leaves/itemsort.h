/*-------------------------------------------------------------------------
 * itemsort.h - sort byte strings in memory
 *
 * Radix and comparison sort by turns: the next eight bytes of each string stand beside its address,
 * and what they leave equal is sorted by the eight that follow.  A string is visited once for each
 * eight bytes that it shares with others, not once for each comparison; and strings that differ in
 * their first bytes are never visited.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_ITEMSORT_H
#define SFX_ITEMSORT_H

#include "sfx.h"

typedef struct SfxItem
{
	uint64_t	word;			/* first eight bytes, big-endian, zeros behind the end */
	const uint8_t *at;			/* two bytes length in the server's order, then the bytes */
} SfxItem;

/* Make an item of the string at `at`, which stays where it is. */
extern void sfx_item_set(SfxItem *item, const uint8_t *at);

/*
 * Sort a[0..n) in memcmp order; of two strings of which one is the other's prefix, the shorter one
 * first.  tmp: n more. poll (NULL: none) is called every millisecond or so of work and need not
 * return: the order of a is undefined then.
 */
extern void sfx_item_sort(SfxItem *a, SfxItem *tmp, size_t n, void (*poll) (void));

/* Which of two strings comes first: below 0, 0: either, above 0. */
typedef int (*SfxItemCmp) (void *arg, const SfxItem *a, const SfxItem *b);

/*
 * Give items that have equal words so far their words number level (1, 2, ...), which tell more of
 * their order.  False: there are no more; the words are anything then.
 */
typedef bool (*SfxItemWords) (void *arg, SfxItem *a, size_t n, int level);

/*
 * Sort in another order, of which the items' words, set by the caller, tell what they can: where
 * two differ, so stand the items.  Where many are equal, words (NULL: none) is asked for their next
 * ones; cmp is asked of others, as seldom as that can be.
 */
extern void sfx_item_sort_by(SfxItem *a, SfxItem *tmp, size_t n, SfxItemCmp cmp, SfxItemWords words,
							 void *arg, void (*poll) (void));

static inline uint32_t
sfx_item_len(const SfxItem *item)
{
	return sfx_get16(item->at);
}

static inline const uint8_t *
sfx_item_bytes(const SfxItem *item)
{
	return item->at + 2;
}

#endif							/* SFX_ITEMSORT_H */
