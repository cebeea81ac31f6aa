/*-------------------------------------------------------------------------
 * log_watch.c - what was appended to the log after a place that a backend remembers (U1, U3)
 *
 * A backend that has looked at all entries of an index up to a place in its log need not look at
 * these again: entries come into the index by the log alone, in the order of its pages and
 * generations.  So an append that depends on what is there shows the watch all entries after its
 * place, under the lock of the page that it appends to.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "log.h"
#include "log_watch.h"
#include "meta.h"
#include "page.h"

#include "miscadmin.h"

#define FOLLOW_PAGES	8		/* a watch that is further back had better look anew, unless that
								 * takes so long that it might never be done: patient */

/*
 * Show the watch all entries of a page, which is locked, from the place on.  False: one does not
 * pass.  The place moves to the page's end, or to the entry that did not pass.
 */
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

/* Does the place, which is before its generation's first page, mean the start of this page? */
static bool
begins_here(const SfxLogPlace *place, Page page)
{
	return place->blkno == InvalidBlockNumber && place->gen == SfxPageGetTail(page)->owner &&
		((SfxLogHeader *) SfxPageBody(page))->seq == 0;
}

/*
 * See log_watch.h.  Pages are never used twice by one generation, so the place is on this page if
 * the block and generation are those of the page.
 */
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
 * Show the watch what follows its place on that place's page, of generation meta->gens[*g], and
 * move the place to the next page, which may be the next generation's (*g is lowered).  *on: there
 * is one.
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
