/*-------------------------------------------------------------------------
 * filter_page.h - filter pages in the index, as they are asked
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_FILTER_PAGE_H
#define SURFIDX_FILTER_PAGE_H

#include "filter.h"
#include "leaf.h"

/*
 * Is the page, which is locked, the live filter of that run for the position, or with before for
 * those just below it?  Opens it.
 */
extern bool sfx_filter_page_open(Relation index, const SfxOrder *order, uint64 build_id, uint32 run,
								 BlockNumber blkno, Page page,
								 const SfxPos *pos, bool before, SfxFilter *f);

#endif							/* SURFIDX_FILTER_PAGE_H */
