/*-------------------------------------------------------------------------
 * image_fill.c - bringing an image up to date: applying what its log holds after the cursor
 *
 * An image whose cursor is on the log's last page gets entries one by one.  One that lags by pages
 * gets those of many pages at once, in key order (image_batch.c).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "delta.h"
#include "hash.h"
#include "image_batch.h"
#include "image_impl.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "page.h"

#define IMAGE_PAGES_A_HOLD	64	/* log pages, about, that are applied before the lock is released
								 * once */

/* An image that is being brought up to date, and its generation. */
typedef struct Fill
{
	Relation	index;
	const SfxMeta *meta;
	int			g;
	SfxImage   *img;
	SfxNodeAlloc nodes;			/* the image's */
} Fill;

/*
 * Parse the entry of a copied log page at *off, which moves on.  False at the page's end.  Notes in
 * the image whether the entry is SFX_LOG_UNCHANGED.
 */
static bool
next_entry(const Fill *f, BlockNumber blkno, Page page, uint32 *off, SfxEntry *e, bool *dead)
{
	uint32		at = Max(*off, sizeof(SfxLogHeader));

	if (!sfx_log_parse(f->index, blkno, page, off, e, dead))
		return false;
	if (SFX_MUTANT("flag means pair"))
	{
		static uint64 flagged = 0;

		flagged = *dead ? e->tid : flagged;
		*dead |= e->tid == flagged;
	}
	f->img->unchanged |= (SfxPageBody(page)[at] & SFX_LOG_UNCHANGED) != 0;
	return true;
}

/*
 * Insert an entry into the image's tree.  False: the pool is exhausted.  The reserve is filled only
 * when an insert has asked for nodes (I7): most need none.  *finger: as sfx_delta_insert_near.
 */
static bool
insert_entry(const Fill *f, const SfxEntry *e, uint32 *finger)
{
	int			r = sfx_delta_insert_near(&f->img->delta, &f->nodes, e, finger);

	if (r == SFX_NOMEM && sfx_image_reserve(f->img))
		r = sfx_delta_insert_near(&f->img->delta, &f->nodes, e, finger);
	return r != SFX_NOMEM;
}

/* The same; a mutant leaves the filter out (I4). */
static bool
apply_entry(const Fill *f, const SfxEntry *e, uint32 *finger)
{
	SfxDelta   *d = &f->img->delta;
	SfxDeltaFilter filter = d->filter;
	bool		done;

	if (!SFX_MUTANT("filter is not told"))
		return insert_entry(f, e, finger);
	d->filter.nodes = 0;
	done = insert_entry(f, e, finger);
	d->filter = filter;
	return done;
}

/*
 * Apply what a copied log page holds after the cursor, which moves with each entry.  False: the
 * pool is exhausted.
 */
static bool
apply_page(const Fill *f, Page page)
{
	SfxImage   *img = f->img;
	SfxEntry	e;
	bool		dead;
	uint32		off = img->off;
	uint32		finger = SFX_NODE_NULL;

	while (next_entry(f, img->blkno, page, &off, &e, &dead))
	{
		if (SFX_MUTANT("seen before applied"))
			img->off = off;
		if (!dead && !apply_entry(f, &e, &finger))
			return false;
		img->off = off;
		img->seen++;
	}
	img->off = SfxPageBodyLen(page);
	return true;
}

/*
 * Pages that are read before any entry of them is applied.  The image's cursor stays in front of
 * them until all are applied.  If an error ends that half-way they are read again, and the same
 * entries replace themselves: the tree has each (key, TID) once.
 */
typedef struct Ahead
{
	SfxBatch   *batch;
	BlockNumber blkno;			/* from here on: the cursor after these pages */
	uint32		seq;
	uint32		off;
	uint64		seen;
} Ahead;

/* Add what a copied page holds after that cursor, which moves to the page's end. */
static void
gather_page(const Fill *f, Page page, Ahead *a)
{
	SfxEntry	e;
	bool		dead;

	while (next_entry(f, a->blkno, page, &a->off, &e, &dead))
	{
		if (!dead)
			sfx_batch_add(a->batch, &e);
		a->seen++;
	}
	a->off = SfxPageBodyLen(page);
}

/* Apply the batch in key order, and move the image's cursor.  False: the pool is exhausted. */
static bool
apply_batch(const Fill *f, const Ahead *a)
{
	SfxImage   *img = f->img;
	int			n = sfx_batch_sort(a->batch);
	uint32		finger = SFX_NODE_NULL;

	for (int i = 0; i < n; i++)
	{
		SfxEntry	e;

		sfx_batch_get(a->batch, i, &e);
		if (!apply_entry(f, &e, &finger))
			return false;
	}
	img->blkno = a->blkno;
	img->seq = a->seq;
	img->off = a->off;
	img->seen = a->seen;
	return true;
}

/*
 * Apply log pages from the cursor on as one batch, until it is full or the log ends; copy is that
 * of the cursor's page, and is overwritten.
 */
static CatchupResult
catch_up_pages(const Fill *f, Page copy)
{
	const SfxImage *img = f->img;
	Ahead		a = {NULL, img->blkno, img->seq, img->off, img->seen};
	uint32		logged = f->meta->gens[f->g].pages;
	uint32		pages = logged > img->seq ? logged - img->seq : 1;
	CatchupResult result = CATCHUP_MORE;

	a.batch = sfx_batch_create(Min(pages, IMAGE_PAGES_A_HOLD));
	for (;;)
	{
		BlockNumber right = SfxPageGetTail(copy)->right;

		gather_page(f, copy, &a);
		if (right == InvalidBlockNumber)
		{
			result = CATCHUP_DONE;
			break;
		}
		a.blkno = right;
		a.seq++;
		a.off = 0;
		if (!sfx_batch_has_room(a.batch))
			break;
		if (!sfx_log_copy_page(f->index, f->meta, f->g, a.blkno, a.seq, copy))
		{
			result = CATCHUP_GONE;
			break;
		}
	}
	if (result != CATCHUP_GONE && !apply_batch(f, &a))
		result = CATCHUP_NOMEM;
	sfx_batch_free(a.batch);
	return result;
}

/*
 * See image_impl.h.  Most of an insert's time is waiting for memory: for the nodes that a search
 * for the same entry touches, too.
 */
void
sfx_image_warm(Relation index, SfxImage *img, SfxLogEnd *end)
{
	SfxNodeAlloc nodes = sfx_image_nodes(img, NULL);
	uint32		off = end->off;
	SfxEntry	e;
	bool		dead;

	while (sfx_log_parse(index, end->blkno, end->copy.page, &off, &e, &dead))
	{
		SfxPos		pos = {e.key, e.keylen, e.tid};
		SfxCursor	c;

		if (dead)
			continue;
		(void) sfx_delta_absent(&img->delta, &nodes, sfx_hash_key(e.key, e.keylen));
		(void) sfx_delta_seek(&img->delta, &nodes, &pos, &c);
	}
}

/* See image_impl.h. */
CatchupResult
sfx_image_catch_up(Relation index, const SfxOrder *order, SfxImage *img, const SfxMeta *meta,
				   int g)
{
	Fill		f = {index, meta, g, img, sfx_image_nodes(img, order)};
	PGAlignedBlock copy;

	if (img->removals < meta->removals)
	{
		sfx_image_clear(img);
		img->removals = meta->removals;
	}
	if (img->blkno == InvalidBlockNumber)
	{
		if (meta->gens[g].first == InvalidBlockNumber)
			return CATCHUP_DONE;
		img->blkno = meta->gens[g].first;
		img->seq = 0;
		img->off = 0;
	}
	for (int n = 0; n < IMAGE_PAGES_A_HOLD; n++)
	{
		BlockNumber right;

		if (!sfx_log_copy_page(index, meta, g, img->blkno, img->seq, copy.data))
			return CATCHUP_GONE;
		right = SfxPageGetTail((Page) copy.data)->right;
		/* in comparator order comparisons cost most, and a batch saves none */
		if (right != InvalidBlockNumber && order == NULL)
			return catch_up_pages(&f, copy.data);
		if (!apply_page(&f, copy.data))
			return CATCHUP_NOMEM;
		if (right == InvalidBlockNumber)
			return CATCHUP_DONE;
		img->blkno = right;
		img->seq++;
		img->off = 0;
	}
	return CATCHUP_MORE;
}
