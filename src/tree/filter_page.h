/*-------------------------------------------------------------------------
 * filter_page.h - filter pages in the index, as readers ask them
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_FILTER_PAGE_H
#define SURFIDX_FILTER_PAGE_H

#include "filter.h"

/*
 * Is the page, which the caller has locked, the live filter of that run for the position, or with
 * `before` for those just below it (F3)?  Opens it in *f, valid while the page is locked.  ERROR if
 * it is damaged.
 */
extern bool sfx_filter_page_open(Relation index, const SfxOrder *order, uint64 build_id, uint32 run,
								 BlockNumber blkno, Page page,
								 const SfxPos *pos, bool before, SfxFilter *f);

#endif							/* SURFIDX_FILTER_PAGE_H */
