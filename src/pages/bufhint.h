/*-------------------------------------------------------------------------
 * bufhint.h - pages by the buffer that they were in last time
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BUFHINT_H
#define SURFIDX_BUFHINT_H

#include "surfidx.h"

/* As ReadBuffer, faster where this backend has read the page lately. */
extern Buffer sfx_read_page(Relation index, BlockNumber blkno);

/*
 * The same for the page to which a log's entries are appended: of a page that each inserter visits
 * hundreds of times fewer visits have to count.
 */
extern Buffer sfx_read_tail_page(Relation index, BlockNumber blkno);

/*
 * As PrefetchBuffer; where the page is in memory, its first bytes are fetched into the processor.
 * True: it is not, and was asked for.
 */
extern bool sfx_prefetch_page(Relation index, BlockNumber blkno);

#endif							/* SURFIDX_BUFHINT_H */
