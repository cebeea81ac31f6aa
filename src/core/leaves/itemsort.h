/*-------------------------------------------------------------------------
 * itemsort.h - sort byte strings in memory
 *
 * Radix and comparison sort in turn: the next eight bytes of each string are kept beside its
 * address, and strings that are equal in these are sorted by the following eight.  A string is
 * visited once for each eight bytes that it shares with others, not once for each comparison; and
 * strings that differ in their first bytes are never visited.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_ITEMSORT_H
#define SFX_ITEMSORT_H

#include "sfx.h"

typedef struct SfxItem
{
	uint64_t	word;			/* first eight bytes, big-endian, zeros after the end */
	const uint8_t *at;			/* two bytes length in the server's order, then the bytes */
} SfxItem;

/* Make an item of the string at `at`, which stays where it is. */
extern void sfx_item_set(SfxItem *item, const uint8_t *at);

/*
 * Sort a[0..n) in memcmp order; if a string is another one's prefix, it comes first.  tmp: n more
 * items of room.  poll (NULL: none) is called every millisecond or so of work and need not return:
 * the order of a is undefined then.
 */
extern void sfx_item_sort(SfxItem *a, SfxItem *tmp, size_t n, void (*poll) (void));

/* Compare two strings: < 0, 0 (either may come first), or > 0. */
typedef int (*SfxItemCmp) (void *arg, const SfxItem *a, const SfxItem *b);

/*
 * Give items that are equal in all words so far their words number `level` (1, 2, ...), which tell
 * more of their order.  False: there are no more; the words are undefined then.
 */
typedef bool (*SfxItemWords) (void *arg, SfxItem *a, size_t n, int level);

/*
 * Sort in another order.  The caller sets the items' words, which say as much of the order as they
 * can: items whose words differ are in the order of these.  If many words are equal, words (NULL:
 * none) is called for the next ones; for other items cmp is called, as seldom as possible.
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
