/*-------------------------------------------------------------------------
 * cache.c - this backend's decoded copies of roots
 *
 * A descent that finds a copy begins below the root: a lock, a search in a trie and the root's cache misses are saved.
 *
 * A copy may be outdated, and need not know it: what it says are links, and T1 holds for readers that come by an outdated link,
 * whatever it leads to.  So a copy is valid as long as its root block is the tree's root; the metapage, which the
 * reader has read for this step anyway, says so by build id and structure epoch.  Where the links lag
 * behind, descents land on a wrong page and start over without the copy, or go right; a copy that causes this too often is dropped.
 *
 * What must not happen is that a block is beyond the file's end: shrink.c raises the epoch before it cuts the file off.
 *-------------------------------------------------------------------------
 */
#include "tree.h"

#include "upper.h"

#include "utils/memutils.h"

#define COPIES			8		/* roots remembered */
#define USES_BEFORE		200		/* descents through a root before it is worth a copy, which costs as much as some hundred */
#define LAGS_ALLOWED	100		/* descents that had to go right because of a copy, before it is made anew */
#define MAX_COPY		(256 * 1024)

typedef struct RootCopy
{
	uint64		build_id;
	uint64		epoch;
	BlockNumber root;
	uint32		uses;			/* without a copy */
	uint32		lags;
	uint64		last_used;
	Size		size;			/* of mem */
	void	   *mem;			/* kept for the next one where it is large enough */
	SfxUpper   *upper;			/* in mem; NULL: none */
} RootCopy;

static RootCopy copies[COPIES];
static RootCopy *latest = &copies[0];
static uint64 clock_hand = 0;

static inline bool
is_of(const RootCopy *c, const SfxMeta *meta)
{
	return c->build_id == meta->build_id &&
		((c->epoch == meta->epoch && c->root == SfxMetaMain(meta)->root) || SFX_MUTANT("old copies of roots"));
}

/* The tree's entry; if there is none, the one that was not used for the longest time, emptied. */
static RootCopy *
find_copy(const SfxMeta *meta)
{
	RootCopy   *oldest = &copies[0];

	if (likely(is_of(latest, meta)))
		return latest;
	for (int i = 0; i < COPIES; i++)
	{
		if (is_of(&copies[i], meta))
			return latest = &copies[i];
		if (copies[i].last_used < oldest->last_used)
			oldest = &copies[i];
	}
	oldest->build_id = meta->build_id;
	oldest->epoch = meta->epoch;
	oldest->root = SfxMetaMain(meta)->root;
	oldest->uses = oldest->lags = 0;
	oldest->upper = NULL;
	return latest = oldest;
}

BlockNumber
sfx_cache_descend(const SfxMeta *meta, const SfxOrder *order, const SfxPos *pos, bool before)
{
	RootCopy   *c = find_copy(meta);

	c->last_used = ++clock_hand;
	return c->upper ? sfx_upper_find(c->upper, order, pos, before) : InvalidBlockNumber;
}

void
sfx_cache_offer(const SfxMeta *meta, const SfxInner *root)
{
	RootCopy   *c = find_copy(meta);
	int64		size;

	/* a root that names filters has to be seen itself */
	if (c->upper != NULL || ++c->uses < USES_BEFORE || sfx_inner_has_filters(root))
		return;
	c->uses = c->lags = 0;
	size = sfx_upper_size(root);
	if (size < 0 || size > MAX_COPY)
		return;
	if (c->size < size)
	{
		if (c->mem)
			pfree(c->mem);
		c->mem = NULL;
		c->size = 0;
		c->mem = MemoryContextAlloc(TopMemoryContext, size);
		c->size = size;
	}
	c->upper = sfx_upper_build(c->mem, root);
}

void
sfx_cache_lagged(const SfxMeta *meta)
{
	RootCopy   *c = find_copy(meta);

	if (++c->lags >= LAGS_ALLOWED)
		sfx_cache_forget(meta);
}

void
sfx_cache_forget(const SfxMeta *meta)
{
	RootCopy   *c = find_copy(meta);

	c->upper = NULL;
	c->uses = 0;
}
