/*-------------------------------------------------------------------------
 * alloc.c - new and free blocks
 *
 * Allocation believes a page's own state, never the free space map alone: the map is not logged,
 * and may be wrong after a crash (P3).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "meta.h"
#include "page.h"

#include "miscadmin.h"
#include "storage/freespace.h"
#include "storage/fsm_internals.h"
#include "storage/indexfsm.h"
#include "utils/rel.h"

bool
sfx_page_is_free(Page page, const SfxMeta *meta)
{
	SfxPageTail *tail;

	if (PageIsNew(page))
		return true;
	if (((PageHeader) page)->pd_special != BLCKSZ - sizeof(SfxPageTail))
		return false;
	tail = SfxPageGetTail(page);
	if (tail->page_id != SFX_PAGE_ID)
		return false;
	if (tail->kind == SFX_PAGE_LOG)
		return tail->owner < SfxMetaOldestGen(meta);
	if (tail->kind == SFX_PAGE_LEAF || tail->kind == SFX_PAGE_INNER || tail->kind == SFX_PAGE_FILTER)
		return tail->owner < meta->next_run && sfx_meta_find_run(meta, tail->owner) < 0;
	return tail->kind == SFX_PAGE_DELETED;
}

/*
 * See alloc.h.  A page is claimed by its lock, which is only tried: a backend that holds it is
 * using the page.  Its state is read under the lock, so of two backends that the map sends to one
 * page the second finds it taken.
 */
Buffer
sfx_page_alloc(Relation index, const SfxMeta *meta)
{
	Buffer		buf;

	for (;;)
	{
		BlockNumber blkno = GetFreeIndexPage(index);

		if (blkno == InvalidBlockNumber)
			break;
		CHECK_FOR_INTERRUPTS();

		/*
		 * the map may name reserved blocks, or blocks beyond the end: it is not logged, and the
		 * file may have been longer
		 */
		if (blkno < SFX_FIRST_BLKNO || blkno >= RelationGetNumberOfBlocks(index))
			continue;
		buf = ReadBuffer(index, blkno);
		/* another backend that holds the lock is using the page */
		if (ConditionalLockBuffer(buf))
		{
			if (sfx_page_is_free(BufferGetPage(buf), meta) || SFX_MUTANT("believe free space map"))
				return buf;
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		}
		ReleaseBuffer(buf);
	}
	return sfx_page_extend(index);
}

Buffer
sfx_page_extend(Relation index)
{
	for (;;)
	{
		Buffer		buf = SfxExtendRelation(index);

		if (PageIsNew(BufferGetPage(buf)) || SFX_MUTANT("extend blindly"))
			return buf;

		/*
		 * between the extension and our lock another backend found it all zero, so free, and took
		 * it
		 */
		UnlockReleaseBuffer(buf);
	}
}

Buffer
sfx_page_claim(Relation index, BlockNumber blkno, const SfxMeta *meta)
{
	Buffer		buf = ReadBuffer(index, blkno);

	/* another backend that holds the lock is using the page */
	if (!ConditionalLockBuffer(buf))
	{
		ReleaseBuffer(buf);
		return InvalidBuffer;
	}
	RecordUsedIndexPage(index, blkno);
	if (sfx_page_is_free(BufferGetPage(buf), meta))
		return buf;
	UnlockReleaseBuffer(buf);
	return InvalidBuffer;
}

void
sfx_page_release_free(Relation index, BlockNumber blkno)
{
	RecordFreeIndexPage(index, blkno);
}

void
sfx_freed_add(SfxFreed *f, Relation index, BlockNumber blkno)
{
	BlockNumber part = blkno / SlotsPerFSMPage;
	int			i = f->n;

	RecordFreeIndexPage(index, blkno);
	while (i > 0 && f->part[i - 1] != part)
		i--;
	if (i > 0)
		return;
	if (f->n == SFX_FREED_PARTS)
		sfx_freed_end(f, index);
	f->part[f->n++] = part;
}

void
sfx_freed_end(SfxFreed *f, Relation index)
{
	for (int i = 0; i < f->n; i++)
	{
		uint64		from = (uint64) f->part[i] * SlotsPerFSMPage;

		FreeSpaceMapVacuumRange(index, (BlockNumber) from,
								(BlockNumber) Min(from + SlotsPerFSMPage, InvalidBlockNumber));
	}
	f->n = 0;
}
