/*-------------------------------------------------------------------------
 * check_base.c - what all parts of the verifier use: the error, blocks and their owners, copies of
 * pages
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "key.h"
#include "page.h"

#include <stdarg.h>

#include "miscadmin.h"

void
sfx_broken(SfxCheck *cs, BlockNumber blkno, const char *fmt,...)
{
	char		what[512];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	sfx_corrupt(cs->index, blkno, what);
}

void
sfx_disordered(SfxCheck *cs, BlockNumber blkno, const char *what)
{
	sfx_out_of_order(cs->index, cs->order, blkno, what);
}

void
sfx_check_grow(SfxCheck *cs, BlockNumber nblocks)
{
	Size		oldlen = cs->owned ? (Size) cs->nblocks / 8 + 1 : 0;
	Size		newlen = (Size) nblocks / 8 + 1;

	cs->owned = cs->owned ? repalloc_huge(cs->owned, newlen) :
		MemoryContextAllocHuge(CurrentMemoryContext, newlen);
	memset(cs->owned + oldlen, 0, newlen - oldlen);
	cs->nblocks = nblocks;
}

bool
sfx_check_is_owned(SfxCheck *cs, BlockNumber blkno)
{
	return (cs->owned[blkno / 8] & (1 << (blkno % 8))) != 0;
}

void
sfx_check_context(void *arg)
{
	errcontext("checking block %u", *(BlockNumber *) arg);
}

/* See check.h. */
void
sfx_check_own(SfxCheck *cs, BlockNumber from, BlockNumber blkno)
{
	if (blkno >= cs->nblocks)
	{
		BlockNumber now = RelationGetNumberOfBlocks(cs->index);

		if (blkno >= now)
			sfx_broken(cs, from, "link to block %u beyond the end of the file, which has %u blocks", blkno, now);
		sfx_check_grow(cs, now);
	}
	if (sfx_check_is_owned(cs, blkno))
		sfx_broken(cs, from, "link to block %u, which has another owner already", blkno);
	cs->owned[blkno / 8] |= 1 << (blkno % 8);
}

/* See check.h. */
SfxPageTail *
sfx_check_copy(SfxCheck *cs, BlockNumber blkno)
{
	Buffer		buf;

	CHECK_FOR_INTERRUPTS();
	buf = ReadBufferExtended(cs->index, MAIN_FORKNUM, blkno, RBM_NORMAL, cs->strategy);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(cs->page.data, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	return sfx_page_check(cs->index, blkno, cs->page.data) ? SfxPageGetTail(cs->page.data) : NULL;
}

int
sfx_check_element(SfxCheck *cs, const uint8 *key, int len, uint64 tid, uint8 *bytes)
{
	if (sfx_key_is_squeezed(&cs->kd, cs->index, key, len))
		len = 0;
	memmove(bytes, key, len);
	sfx_put_tid(bytes + len, tid);
	return len + 6;
}
