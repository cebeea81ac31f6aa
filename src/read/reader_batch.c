/*-------------------------------------------------------------------------
 * reader_batch.c - what a step of a reader has of the delta: copies of its images' entries (R2,
 * R10)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "delta.h"
#include "hash.h"
#include "image.h"
#include "log.h"
#include "meta.h"
#include "pos.h"
#include "reader_impl.h"
#include "requests.h"

StaticAssertDecl(SFX_LOG_END_MAX <= READER_BATCH * SFX_LOG_MIN_ENTRY,
				 "a batch has room for the log's end");
StaticAssertDecl(SFX_LOG_END_MAX <= READER_BATCH_FEW, "... and for its bytes");

/* A step leaves out so many flagged entries of an image, at most: it holds the image's lock. */
#define SKIPS_MOST	256

static void
batch_add(Batch *b, const SfxEntry *e)
{
	b->used += sfx_entry_copy(e, &b->entry[b->n++], b->bytes + b->used);
}

/*
 * Does the image, which is held, certainly have nothing of the range?  Only a filter says so, and
 * of single keys.
 */
static inline bool
image_lacks(SfxReader *r, SfxImage *img)
{
	if (!r->range.point)
		return false;
	if (!r->range.hashed)
	{
		r->range.hash = sfx_hash_key(r->range.lo.pos.key, r->range.lo.pos.len);
		r->range.hashed = true;
	}
	return sfx_image_absent(img, r->range.hash);
}

/*
 * So many entries are copied of each generation: after a seek a part of a batch, since a caller
 * that wants few rows would pay for all of it; many, if the batch lasts.
 */
static inline int
entries_to_copy(const SfxReader *r)
{
	if (r->delta.portion > 0)
		return r->delta.portion;
	return r->range.parts == READER_PARTS ? READER_BATCH_FIRST : READER_BATCH;
}

/* ... and bytes, if they are so many. */
static inline uint32
bytes_to_copy(const SfxReader *r, int entries)
{
	return entries <= READER_BATCH_FIRST ? READER_BATCH_FEW :
		Max(r->delta.portion * READER_LASTING_BYTES, READER_BATCH_BYTES);
}

/* Room for so many, and in any case for what the log's end may have. */
static void
make_room(SfxReader *r, Batch *b, int most)
{
	if (most <= b->room)
		return;
	most = Max(most, READER_BATCH);
	sfx_reader_shrink_batch(b);
	b->entry = MemoryContextAlloc(r->cxt, most * sizeof(SfxEntry));
	b->bytes = MemoryContextAlloc(r->cxt, bytes_to_copy(r, most) + SFX_MAX_ENTRY);
	b->room = most;
}

/* There is more in the generation than was copied. */
static void
cut_batch(SfxReader *r, Batch *b)
{
	const SfxEntry *e = &b->entry[b->n - 1];

	b->cut = true;
	b->end.key = e->key;
	b->end.len = e->keylen;
	b->end.tid = forward(r) ? e->tid + 1 : e->tid;
}

/* Copy what an image that is held has from cur on, without some of what is flagged as dead. */
static void
copy_batch(SfxReader *r, SfxImage *img, Batch *b)
{
	int			most = entries_to_copy(r);
	int			skips = r->want.skip_dead ? SKIPS_MOST : 0;
	SfxNodeAlloc a;
	const SfxDelta *d = sfx_image_delta(img, r->order, &a);
	SfxCursor	c;
	bool		have = (forward(r) ? sfx_delta_seek(d, &a, &r->win.cur.pos, &c) :
						sfx_delta_seek_before(d, &a, r->win.cur.inf ? NULL : &r->win.cur.pos, &c));

	while (have)
	{
		SfxEntry	e;
		bool		flagged = sfx_delta_dead(d, &a, &c);

		sfx_delta_get(d, &a, &c, &e);
		if (beyond_range(r, &e))
			break;
		if (b->n == most || b->used >= bytes_to_copy(r, most))
		{
			cut_batch(r, b);
			break;
		}
		if (likely(!flagged) || skips-- <= 0)
		{
			b->has_flagged |= flagged;
			batch_add(b, &e);
		}
		have = forward(r) ? sfx_delta_next(d, &a, &c) : sfx_delta_prev(d, &a, &c);
	}
}

/*
 * I9 is for seeks: a long range has its images applied, or each of its steps would look into the
 * same end.  A frozen generation's image is applied once.
 */
static SfxImage *
acquire_image(SfxReader *r, const SfxMeta *meta, int g)
{
	bool		seeks = g == 0 && r->range.parts == READER_PARTS && r->delta.portion == 0;

	return sfx_image_acquire_but_end(r->index, r->order, meta, g, seeks ? &r->delta.end : NULL);
}

static void
empty_batch(Batch *b, uint32 gen)
{
	b->gen = gen;
	b->n = b->at = 0;
	b->used = 0;
	b->cut = false;
	b->seen = BATCH_NO_IMAGE;
	b->has_flagged = false;
	b->nkilled = 0;
}

/*
 * The range's first look at the active generation: how far the log was seen (its image is held), or
 * that it has no pages (NULL).  The first step may miss what comes after that.
 */
static inline void
note_place(SfxReader *r, const SfxMeta *meta, const SfxImage *img)
{
	if (r->range.placed)
		return;
	r->range.placed = true;
	r->range.place = (SfxLogPlace) {meta->build_id, meta->gens[0].gen, InvalidBlockNumber, 0};
	if (img == NULL)
		return;
	r->range.place = sfx_image_place(img);
	r->range.place.off += r->delta.end.len;
}

/* R2 for one generation.  False: it is gone. */
static bool
fill_batch(SfxReader *r, const SfxMeta *meta, int g, Batch *b)
{
	SfxImage   *img = acquire_image(r, meta, g);
	bool		grow = false,
				idle;

	empty_batch(b, meta->gens[g].gen);
	if (img == NULL)
		return false;
	if (g == 0)
		note_place(r, meta, img);
	make_room(r, b, entries_to_copy(r));
	b->seen = sfx_image_seen(img);
	if (!image_lacks(r, img))
	{
		copy_batch(r, img, b);
		grow = r->range.point && b->n == 0 && sfx_image_wants_filter(img);
	}
	idle = sfx_image_idle(img);
	sfx_image_release(img);
	if (grow)
		sfx_image_grow_filter(r->index, meta, g);
	if (idle)
		sfx_request_idle(r->index);
	return true;
}

/* Does the entry lie between cur and the range's end? */
static inline bool
is_wanted(const SfxReader *r, const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};
	bool		ahead;

	if (r->range.point &&
		!sfx_same_bytes(r->range.lo.pos.key, r->range.lo.pos.len, e->key, e->keylen))
		return false;
	if (forward(r))
		ahead = sfx_order_cmp_pos(r->order, &p, &r->win.cur.pos) >= 0;
	else
		ahead = r->win.cur.inf || sfx_order_cmp_pos(r->order, &p, &r->win.cur.pos) < 0;
	return ahead && !beyond_range(r, e);
}

/* Add the entry where the scan's direction has it. */
static void
insert_in_order(SfxReader *r, Batch *b, const SfxEntry *e)
{
	SfxPos		p = {e->key, e->keylen, e->tid};
	SfxEntry	added;
	int			at = b->n;

	batch_add(b, e);
	added = b->entry[at];
	for (; at > 0; at--)
	{
		SfxPos		before = {b->entry[at - 1].key, b->entry[at - 1].keylen, b->entry[at - 1].tid};
		int			cmp = sfx_order_cmp_pos(r->order, &before, &p);

		if (forward(r) ? cmp <= 0 : cmp >= 0)
			break;
		b->entry[at] = b->entry[at - 1];
	}
	b->entry[at] = added;
}

/* What the copied end of the log has of the range (I9). */
static void
fill_from_end(SfxReader *r, const SfxMeta *meta, Batch *b)
{
	Page		page = r->delta.end.copy.page;
	bool		bytes_tell = r->range.point || r->order == NULL;
	SfxEntry	e;
	bool		dead;
	uint32		off = r->delta.end.off;

	empty_batch(b, meta->gens[0].gen);
	if (SFX_MUTANT("end of the log unread"))
		return;
	for (;;)
	{
		/* most entries are of other keys than those that are looked up */
		if (bytes_tell)
			sfx_log_skip_outside(&r->delta.end, &off, &r->range.lo.pos, &r->range.hi.pos);
		if (!sfx_log_parse(r->index, r->delta.end.blkno, page, &off, &e, &dead))
			break;
		if (!dead && is_wanted(r, &e))
			insert_in_order(r, b, &e);
	}
}

/* Is the step's end beyond its beginning? */
static bool
lies_ahead(const SfxReader *r, const SfxPos *end)
{
	if (forward(r))
		return sfx_order_cmp_pos(r->order, end, &r->win.cur.pos) > 0;
	return r->win.cur.inf || sfx_order_cmp_pos(r->order, end, &r->win.cur.pos) < 0;
}

/* An image that was filled in another order (K4) would lead the scan round in circles. */
static void
stop_at_cut(SfxReader *r, const SfxMeta *meta, const Batch *b)
{
	if (!b->cut)
		return;
	if (r->order && !lies_ahead(r, &b->end) && !SFX_MUTANT("steps go back"))
		sfx_image_misled(r->index, r->order, meta, b->gen);
	stop_at(r, b->end.key, b->end.len, b->end.tid);
}

static Batch *
get_batch(SfxReader *r)
{
	Batch	   *b = get_spare(r, SFX_SPARE_BATCH, sizeof(Batch));

	b->entry = b->few;
	sfx_reader_shrink_batch(b);
	return b;
}

/* The next one that is not in use. */
static Batch *
next_batch(SfxReader *r)
{
	if (r->delta.batch[r->delta.nbatches] == NULL)
		r->delta.batch[r->delta.nbatches] = get_batch(r);
	return r->delta.batch[r->delta.nbatches];
}

/* R10: do the batches that last have all of this step?  Then so much of them as it takes. */
static bool
go_on_in_batches(SfxReader *r, const SfxMeta *meta)
{
	if (!r->delta.lasting)
		return false;
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		const Batch *b = r->delta.batch[i];

		if (b->cut && sfx_order_cmp_pos(r->order, &r->win.cur.pos, &b->end) >= 0)
			return false;
	}
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		r->delta.batch[i]->n = r->delta.batch[i]->all;
		if (!SFX_MUTANT("batches without an end"))
			stop_at_cut(r, meta, r->delta.batch[i]);
	}
	return true;
}

/* How much is copied the next time: more, if this was not all. */
static void
set_portion(SfxReader *r)
{
	bool		more = false;

	for (int i = 0; i < r->delta.nbatches; i++)
		more |= r->delta.batch[i]->cut;
	if (!more || r->delta.looker == NULL || !forward(r))
		return;
	r->delta.portion = r->delta.portion == 0 ? READER_LASTING_FIRST :
		Min(r->delta.portion * READER_LASTING_GROWTH, READER_LASTING);
}

bool
sfx_reader_fill_batches(SfxReader *r, const SfxMeta *meta)
{
	if (go_on_in_batches(r, meta))
		return true;
	r->delta.nbatches = 0;
	r->delta.lasting = false;
	r->delta.end.len = 0;
	for (int g = 0; g < meta->ngens; g++)
	{
		Batch	   *b;

		if (meta->gens[g].first == InvalidBlockNumber)
		{
			note_place(r, meta, NULL);
			continue;
		}
		b = next_batch(r);
		SFX_STOP("between generations");
		if (!fill_batch(r, meta, g, b) && !SFX_MUTANT("no restart"))
			return false;
		stop_at_cut(r, meta, b);
		if (b->n > 0)
			r->delta.nbatches++;
	}
	if (r->delta.end.len > 0)
	{
		Batch	   *b = next_batch(r);

		fill_from_end(r, meta, b);
		if (b->n > 0)
			r->delta.nbatches++;
	}
	if (r->delta.portion > 0)
		sfx_reader_look_at_batches(r);
	set_portion(r);
	return true;
}

/* Does the batch's entry i lie beyond stop? */
static inline bool
beyond_stop(const SfxReader *r, const Batch *b, int i)
{
	const SfxEntry *e = &b->entry[i];
	SfxPos		p = {e->key, e->keylen, e->tid};

	if (forward(r))
		return !r->win.stop.inf && sfx_order_cmp_pos(r->order, &p, &r->win.stop.pos) >= 0;
	return sfx_order_cmp_pos(r->order, &p, &r->win.stop.pos) < 0;
}

void
sfx_reader_trim_batches(SfxReader *r)
{
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		Batch	   *b = r->delta.batch[i];
		int			lo = b->at;

		if (b->n == lo || !beyond_stop(r, b, b->n - 1))
			continue;
		b->n--;
		while (lo < b->n)
		{
			int			middle = lo + (b->n - lo) / 2;

			if (beyond_stop(r, b, middle))
				b->n = middle;
			else
				lo = middle + 1;
		}
	}
}

/*
 * Do the batch's entries follow each other in the scan's direction, from cur on?  If they do, what
 * has been trimmed is all of this step, so that no entry comes twice.
 */
static bool
goes_on_from_cur(const SfxReader *r, const Batch *b)
{
	SfxPos		last = r->win.cur.pos;
	bool		any = !r->win.cur.inf;

	for (int i = b->at; i < b->n; i++)
	{
		SfxPos		p = sfx_entry_pos(&b->entry[i]);
		int			cmp = any ? sfx_order_cmp_pos(r->order, &last, &p) : 0;

		/* cur is where a way forward begins, and where one back has ended */
		if (forward(r) ? cmp > 0 || (cmp == 0 && i > b->at) : any && cmp <= 0)
			return false;
		last = p;
		any = true;
	}
	return true;
}

void
sfx_reader_prove_batches(SfxReader *r, const SfxMeta *meta)
{
	if (r->order == NULL || !r->order->may_change || SFX_MUTANT("batches in any order"))
		return;
	for (int i = 0; i < r->delta.nbatches; i++)
		if (!goes_on_from_cur(r, r->delta.batch[i]))
			sfx_image_misled(r->index, r->order, meta, r->delta.batch[i]->gen);
}
