/*-------------------------------------------------------------------------
 * root_copy.c - this backend's decoded copies of roots
 *
 * A descent that finds a copy begins below the root, which saves a lock, a search in a trie and the
 * root's cache misses.  Where the level below the root is few pages of links, one copy leads over
 * both levels; it is made once as many descents have gone through the root's copy as it takes to
 * pay.
 *
 * A copy may be outdated and need not know it.  It holds links, and T1 allows for readers that come
 * by an outdated link, whatever that leads to.  So a copy is valid as long as its root block is the
 * tree's root; the metapage, which the reader has read for this step anyway, says so by the index's
 * life (memo.h) and its structure epoch.  Where the links lag, descents land on a wrong page and
 * start over without the copy, or go right; a copy that causes this too often is dropped.
 *
 * No link may lead to a block beyond the file's end: shrink.c raises the epoch before it cuts the
 * file off.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "find.h"
#include "inner.h"
#include "memo.h"
#include "meta.h"
#include "upper.h"

#include "utils/memutils.h"

#define COPIES			8		/* roots remembered */
#define USES_BEFORE		200		/* descents through a root before a copy of it is made, which costs
								 * as much as some hundred of them */
#define USES_BEFORE_TWO	4000	/* descents through the copy of a root before the level below is
								 * added to it */
#define LAGS_ALLOWED	100		/* descents that had to go right because of a copy, before it is
								 * dropped, or ... */
#define LAGS_SHARE		8		/* ... one for so many of its links, if that is more */
#define VAIN_ALLOWED	64		/* searches by bytes in leaves that told nothing, before there are
								 * no more of them; ... */
#define BYTES_PAY		8		/* ... one that told something makes up for so many */
#define MAX_COPY		(256 * 1024)	/* bytes of a copy, at most; ... */
#define MAX_COPY_TWO	(512 * 1024)	/* ... and of one over two levels */

/* A root, and its copy if one was made. */
typedef struct RootCopy
{
	SfxMemo		memo;			/* as of the structure epoch, which changes of the root raise */
	BlockNumber root;
	uint32		uses;			/* descents without a copy; then those by a copy that might lead
								 * over two levels */
	int			levels;			/* that the copy leads over */
	bool		no_more;		/* it will not lead over more levels */
	uint32		lags;			/* descents that had to go right */
	int			vain;			/* searches by bytes that told nothing; beyond VAIN_ALLOWED there
								 * are none any more */
	Size		size;			/* of mem */
	void	   *mem;			/* kept for the next copy if it is large enough */
	SfxUpper   *upper;			/* in mem; NULL: none */
} RootCopy;

static RootCopy copies[COPIES];
static SfxMemoTable table = SFX_MEMO_TABLE(copies);

/* The entry of that index's root; if there is none, the one least recently used, emptied. */
static RootCopy *
find_copy(Relation index, const SfxMeta *meta)
{
	bool		any = SFX_MUTANT("old copies of roots");
	bool		fresh;
	RootCopy   *c = sfx_memo_get(&table, index, meta->build_id, any ? 0 : meta->epoch, &fresh);

	if (fresh)
	{
		c->root = SfxMetaMain(meta)->root;
		c->uses = c->lags = 0;
		c->upper = NULL;
	}
	Assert(c->root == SfxMetaMain(meta)->root || any);
	return c;
}

BlockNumber
sfx_cache_descend(Relation index, const SfxMeta *meta, const SfxOrder *order, const SfxPos *pos,
				  bool before, int *levels, SfxUpperPlace *place)
{
	RootCopy   *c = find_copy(index, meta);

	BlockNumber blkno;

	*levels = c->levels;
	if (c->upper == NULL)
		return InvalidBlockNumber;
	blkno = sfx_upper_find(c->upper, order, pos, before, place);
	if (place && place->known)
		place->bytewise = place->bytewise && c->vain <= VAIN_ALLOWED;
	return blkno;
}

void
sfx_cache_tried_bytes(Relation index, const SfxMeta *meta, bool told)
{
	RootCopy   *c = find_copy(index, meta);

	if (!told)
		c->vain++;
	else if (c->vain > 0)
		c->vain = Max(c->vain - BYTES_PAY, 0);
}

/*
 * Decode these pages, which are so many levels below the page that the copy stands for, unless the
 * copy would take more than `most` bytes.
 */
static void
make_copy(RootCopy *c, const SfxInner *pages, int n, int levels, int64 most)
{
	int64		size = sfx_upper_size(pages, n);

	c->uses = c->lags = c->vain = 0;
	if (size < 0 || size > most)
		return;
	c->upper = NULL;
	if (c->size < size)
	{
		if (c->mem)
			pfree(c->mem);
		c->mem = NULL;
		c->size = 0;
		c->mem = MemoryContextAlloc(TopMemoryContext, size);
		c->size = size;
	}
	c->upper = sfx_upper_build(c->mem, pages, n);
	c->levels = levels;
}

void
sfx_cache_offer(Relation index, const SfxMeta *meta, const SfxInner *root)
{
	RootCopy   *c = find_copy(index, meta);

	/* descents have to see a root that names filters, since a copy would not tell of new ones */
	if (c->upper != NULL || ++c->uses < USES_BEFORE || sfx_inner_has_filters(root))
		return;
	make_copy(c, root, 1, 1, MAX_COPY);
	c->no_more = SfxMetaMain(meta)->level < 2 || root->nchildren > SFX_CACHE_BELOW;
}

bool
sfx_cache_wants_below(Relation index, const SfxMeta *meta)
{
	RootCopy   *c = find_copy(index, meta);

	if (c->upper == NULL || c->no_more || ++c->uses < USES_BEFORE_TWO)
		return false;
	/* once, whatever comes of it */
	c->no_more = true;
	return true;
}

void
sfx_cache_offer_below(Relation index, const SfxMeta *meta, const SfxInner *pages, int n)
{
	RootCopy   *c = find_copy(index, meta);

	if (c->upper != NULL)
		make_copy(c, pages, n, 2, MAX_COPY_TWO);
}

void
sfx_cache_lagged(Relation index, const SfxMeta *meta)
{
	RootCopy   *c = find_copy(index, meta);

	if (++c->lags >= LAGS_ALLOWED && (c->upper == NULL || c->lags >= sfx_upper_children(c->upper) / LAGS_SHARE))
		sfx_cache_forget(index, meta);
}

void
sfx_cache_forget(Relation index, const SfxMeta *meta)
{
	RootCopy   *c = find_copy(index, meta);

	c->upper = NULL;
	c->uses = 0;
}
