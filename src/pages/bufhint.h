/*-------------------------------------------------------------------------
 * bufhint.h - reading pages by the buffer that they were in last time
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_BUFHINT_H
#define SURFIDX_BUFHINT_H

/*
 * As ReadBuffer, but faster if this backend has read the page lately.  The page is pinned, not
 * locked.
 */
extern Buffer sfx_read_page(Relation index, BlockNumber blkno);

/*
 * The same for the page to which log entries are appended.  Each inserter visits it hundreds of
 * times, so fewer visits have to be counted as uses.
 */
extern Buffer sfx_read_tail_page(Relation index, BlockNumber blkno);

/*
 * As PrefetchBuffer.  If the page is in memory, its first bytes are fetched into the processor's
 * caches.  True: it is not, and a read was begun.
 */
extern bool sfx_prefetch_page(Relation index, BlockNumber blkno);

#endif							/* SURFIDX_BUFHINT_H */
