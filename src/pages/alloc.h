/*-------------------------------------------------------------------------
 * alloc.h - new and free blocks
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ALLOC_H
#define SURFIDX_ALLOC_H

#include "meta.h"

/*
 * A block for a new page, reused or at the file's end: exclusively locked, its contents undefined
 * (all zero, or an old free page).  The free space map proposes blocks; whether one is free its
 * page says (P3).  Nothing leads to the page yet, so its lock comes before all others (LOCK ORDER).
 */
extern Buffer sfx_page_alloc(Relation index, const SfxMeta *meta);

/* A new block at the file's end, exclusively locked. */
extern Buffer sfx_page_extend(Relation index);

/*
 * May this page, which the caller has locked, be used for something else (P3)?  It may if it is
 * new, unlinked, or of a dropped generation or run.  meta may be outdated: what was dropped by then
 * stays dropped.
 */
extern bool sfx_page_is_free(Page page, const SfxMeta *meta);

/*
 * Enter a block into the free space map, but not into the map's upper pages: that is left to the
 * caller (IndexFreeSpaceMapVacuum).
 */
extern void sfx_page_release_free(Relation index, BlockNumber blkno);

/*
 * The same for several blocks, with the map's upper pages: sfx_freed_end updates those parts of the
 * map in which blocks were freed.  Going through all of the map reads a page for each 32 MB of the
 * index.
 */
#define SFX_FREED_PARTS		64
typedef struct SfxFreed
{
	int			n;
	BlockNumber part[SFX_FREED_PARTS];	/* numbers of the map's lowest pages */
} SfxFreed;

/* *f is zeroed at first.  No page may be locked. */
extern void sfx_freed_add(SfxFreed *f, Relation index, BlockNumber blkno);
extern void sfx_freed_end(SfxFreed *f, Relation index);

/*
 * Claim that block: exclusively locked, and taken out of the free space map.  InvalidBuffer if it
 * is not free, or another backend holds its lock.
 */
extern Buffer sfx_page_claim(Relation index, BlockNumber blkno, const SfxMeta *meta);

#endif							/* SURFIDX_ALLOC_H */
