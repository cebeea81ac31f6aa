/*-------------------------------------------------------------------------
 * bufhint.c - reading pages without a look into the buffer pool's hash table
 *
 * A page that was read lately most likely still is in the same buffer.  Asking that buffer takes
 * one look at its header; asking the hash table takes a hash, a partition lock and a chain, which
 * in a lookup in memory costs as much as the search in an inner page.
 *
 * What is remembered is a hint: the buffer's own tag decides.  Core does not count such a visit as
 * a use of the buffer.  So every USE_EVERY-th visit of a page goes through the table, or pages that
 * are read all the time would be evicted as unused.  The metapage and the gates are read by many
 * scans, and the log's last page by every insert; they stay in memory with fewer counted visits.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "meta.h"
#include "page.h"

#include "pgstat.h"

#define REMEMBERED	4096		/* pages; two that share a place replace each other */
#define USE_EVERY	4			/* visits, one of which is counted */
#define USE_EVERY_FIXED	32		/* the same for the metapage, the gates and the log's tail */

/* A page, and the buffer it was in last time. */
typedef struct Recent
{
	Oid			index;
	BlockNumber blkno;
	Buffer		buf;
	uint32		visits;
} Recent;

static Recent recent[REMEMBERED];

static inline Buffer
read_page(Relation index, BlockNumber blkno, uint32 use_every)
{
	Oid			id = RelationGetRelid(index);
	Recent	   *r = &recent[(blkno ^ (id * 2654435769U) >> 16) % REMEMBERED];

	if (likely(r->blkno == blkno && r->index == id && BufferIsValid(r->buf)) &&
		++r->visits % use_every != 0 &&
		ReadRecentBuffer(SfxRelLocator(index), MAIN_FORKNUM, blkno, r->buf))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		return r->buf;
	}
	r->index = id;
	r->blkno = blkno;
	r->buf = InvalidBuffer;		/* in case reading fails */
	return r->buf = sfx_read_linked(index, blkno, NULL);
}

Buffer
sfx_read_page(Relation index, BlockNumber blkno)
{
	return read_page(index, blkno, blkno < SFX_FIRST_BLKNO ? USE_EVERY_FIXED : USE_EVERY);
}

Buffer
sfx_read_tail_page(Relation index, BlockNumber blkno)
{
	return read_page(index, blkno, USE_EVERY_FIXED);
}

/*
 * See bufhint.h.  The buffer may hold another page by the time it is looked at; that costs time
 * only.
 */
bool
sfx_prefetch_page(Relation index, BlockNumber blkno)
{
	PrefetchBufferResult where;
	BlockNumber end;
	const char *page;

	/* the reader that follows the link reports the damage */
	if (!sfx_has_block(index, blkno, &end))
		return false;
	where = PrefetchBuffer(index, MAIN_FORKNUM, blkno);
	if (where.recent_buffer <= 0)
		return where.initiated_io;
	page = BufferGetPage(where.recent_buffer);
	__builtin_prefetch(page + BLCKSZ - sizeof(SfxPageTail));
	for (int i = 0; i < 1024; i += 64)
		__builtin_prefetch(page + i);
	return false;
}
