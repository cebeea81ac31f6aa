/*-------------------------------------------------------------------------
 * log_watch.c - what came into the log behind a place that somebody knows (U1, U3)
 *
 * Who has looked at all that an index has, up to a place in the log, need not look again: entries
 * come into the index by the log alone, in the order of its pages and generations.  So an append
 * that depends on what there is shows what stands behind its place to the watch, under the lock of
 * the page that it goes to.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "log.h"
#include "log_watch.h"
#include "meta.h"
#include "page.h"

#include "miscadmin.h"

#define FOLLOW_PAGES	8		/* who is further behind has less to do if he looks again, unless
								 * that takes so long that he never comes to an end: patient */

/* All of a page, which is locked, from the place on. */
static bool
passes_page(Relation index, BlockNumber blkno, Page page, SfxLogWatch *w)
{
	SfxEntry	e;
	bool		dead;

	while (sfx_log_parse(index, blkno, page, &w->place->off, &e, &dead))
		if (!w->passes(w->arg, &e) && !SFX_MUTANT("appends see nothing new"))
			return false;
	w->place->off = SfxPageBodyLen(page);
	return true;
}

/* The place is in front of its generation's first page: is it this one? */
static bool
begins_here(const SfxLogPlace *place, Page page)
{
	return place->blkno == InvalidBlockNumber && place->gen == SfxPageGetTail(page)->owner &&
		((SfxLogHeader *) SfxPageBody(page))->seq == 0;
}

SfxWatched
sfx_log_watch_tail(Relation index, BlockNumber blkno, Page page, SfxLogWatch *w)
{
	SfxLogPlace *at = w->place;

	if (at->build_id != SfxPageGetTail(page)->build_id)
		return SFX_WATCH_LOST;
	if (begins_here(at, page))
	{
		at->blkno = blkno;
		at->off = 0;
	}
	else if (at->blkno != blkno || at->gen != SfxPageGetTail(page)->owner)
		return SFX_WATCH_BEHIND;
	return passes_page(index, blkno, page, w) ? SFX_WATCH_PASSED : SFX_WATCH_MET;
}

void
sfx_log_watch_appended(Page page, SfxLogWatch *w, const SfxEntry *e)
{
	if (w->appended == NULL)
		return;
	if (!SFX_MUTANT("own entries raise no bound"))
		w->appended(w->arg, e);
	w->place->off = SfxPageBodyLen(page);
}

/*
 * The place's page, of generation meta->gens[*g]: what stands there, and on to the next page, which
 * may be the next generation's.  *on: there is one.
 */
static SfxWatched
follow_page(Relation index, const SfxMeta *meta, int *g, SfxLogWatch *w, bool *on)
{
	SfxLogPlace *at = w->place;
	Buffer		buf = sfx_read_page(index, at->blkno);
	Page		page = BufferGetPage(buf);
	SfxWatched	result = SFX_WATCH_PASSED;
	BlockNumber right = InvalidBlockNumber;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	if (!sfx_log_page_is(index, at->blkno, page, at->build_id, at->gen))
		result = SFX_WATCH_LOST;
	else if (!passes_page(index, at->blkno, page, w))
		result = SFX_WATCH_MET;
	else
		right = SfxPageGetTail(page)->right;
	UnlockReleaseBuffer(buf);
	*on = result == SFX_WATCH_PASSED && (right != InvalidBlockNumber || *g > 0);
	if (!*on)
		return result;
	at->off = 0;
	at->blkno = right;
	if (right == InvalidBlockNumber)
	{
		at->gen = meta->gens[--*g].gen;
		at->blkno = meta->gens[*g].first;
		*on = at->blkno != InvalidBlockNumber;
	}
	return result;
}

SfxWatched
sfx_log_watch_follow(Relation index, SfxLogWatch *w)
{
	SfxLogPlace *at = w->place;
	SfxWatched	result = SFX_WATCH_PASSED;
	SfxMeta		meta;
	bool		on;
	int			g = 0;

	sfx_meta_read(index, &meta);
	while (g < meta.ngens && meta.gens[g].gen != at->gen)
		g++;
	if (meta.build_id != at->build_id || g == meta.ngens)
		return SFX_WATCH_LOST;
	if (SFX_MUTANT("places skip a frozen end") && g > 0)
	{
		*at = (SfxLogPlace) {at->build_id, meta.gens[0].gen, InvalidBlockNumber, 0};
		g = 0;
	}
	if (at->blkno == InvalidBlockNumber)
		at->blkno = meta.gens[g].first;
	on = at->blkno != InvalidBlockNumber;
	for (int n = 0; on; n++)
	{
		if (n >= FOLLOW_PAGES && !w->patient)
			return SFX_WATCH_LOST;
		CHECK_FOR_INTERRUPTS();
		result = follow_page(index, &meta, &g, w, &on);
	}
	return result;
}
