/*-------------------------------------------------------------------------
 * alloc.h - new and free blocks
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ALLOC_H
#define SURFIDX_ALLOC_H

#include "meta.h"

/*
 * A new or reused block, exclusively locked, contents undefined (all zero or an old free page).
 * Takes a page from the free space map only if its state says that it is free: the map may lie.
 */
extern Buffer sfx_page_alloc(Relation index, const SfxMeta *meta);

/* A new block at the file's end, exclusively locked. */
extern Buffer sfx_page_extend(Relation index);

/*
 * May this page (locked by the caller) be given a new life?  New, unlinked, or of a dropped
 * generation or run.  meta may be outdated: what was dropped by then stays so.
 */
extern bool sfx_page_is_free(Page page, const SfxMeta *meta);

/* Tell the free space map, but not its upper pages: the caller answers for these. */
extern void sfx_page_release_free(Relation index, BlockNumber blkno);

/*
 * The same for many blocks, upper pages and all.  Those are told of the parts of the map in which
 * something was freed: going through the map reads a page for each 32 MB of the index.
 */
#define SFX_FREED_PARTS		64
typedef struct SfxFreed
{
	int			n;
	BlockNumber part[SFX_FREED_PARTS];	/* numbers of pages of the map */
} SfxFreed;

/* *f: zeros at first.  No lock may be held. */
extern void sfx_freed_add(SfxFreed *f, Relation index, BlockNumber blkno);
extern void sfx_freed_end(SfxFreed *f, Relation index);

/*
 * That block, exclusively locked and gone from the free space map; InvalidBuffer if it is not free
 * or if somebody is using it.
 */
extern Buffer sfx_page_claim(Relation index, BlockNumber blkno, const SfxMeta *meta);

#endif							/* SURFIDX_ALLOC_H */
