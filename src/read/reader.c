/*-------------------------------------------------------------------------
 * reader.c - delta and tree as one ordered stream of entries
 *
 * Everything that reads the index by key comes through here.  A reader is positioned by key, and goes on by *steps* (reader_step.c).
 *
 * No lock is held between calls, and nothing but the gate page and the metapage is pinned.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "counters.h"
#include "dict.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "predicate.h"
#include "reader.h"
#include "reader_impl.h"
#include "scratch.h"
#include "settings.h"

/* Order of two high bounds (inf greatest), or with low of two low ones (inf least). */
static int
bound_cmp(const SfxReader *r, const Bound *a, const Bound *b, bool low)
{
	if (a->inf || b->inf)
		return low ? b->inf - a->inf : a->inf - b->inf;
	return sfx_order_cmp_pos(r->order, &a->pos, &b->pos);
}

/* ---- set-up ---- */

SfxReader *
sfx_reader_begin(Relation index, const SfxOrder *order, bool gate)
{
	bool		fresh;
	SfxReader  *r = sfx_spare_get(SFX_SPARE_READER, sizeof(SfxReader), &fresh);

	/* Not zeroed whole: most of it is buffers. */
	r->cxt = CurrentMemoryContext;
	r->index = index;
	r->order = order;
	r->snapshot = NULL;
	r->gate = gate;
	r->gatebuf = r->metabuf = InvalidBuffer;
	r->gateno = sfx_reader_last_gate(index);
	r->follows = r->copied = false;
	r->same_leaf = 0;
	r->main.dict = NULL;
	for (int i = 0; i < SFX_MAX_GENS; i++)
		r->batch[i] = NULL;
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		r->run[i] = NULL;
	r->anchor = ANCHOR_END;
	r->parts = 0;
	r->one = r->tids_only = false;
	r->dir = ForwardScanDirection;
	r->curbuf = 0;
	r->stretched = NULL;
	r->stretch.block = NULL;
	r->stretch.at = 0;
	r->stretch.step = 1;
	end_step(r);
	r->touches = sfx_opt_merge_cold(index);
	r->believe = r->maybe = r->keys_only = false;
	memset(&r->filters, 0, sizeof(r->filters));
	r->nkilled = r->ndead = 0;
	r->dead = NULL;
	return r;
}

void
sfx_reader_snapshot(SfxReader *r, Snapshot snapshot)
{
	r->snapshot = snapshot;
}

void
sfx_reader_tids_only(SfxReader *r, bool tids_only)
{
	r->tids_only = tids_only;
}

static void
seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	/* S1 */
	Assert(sfx_predicate_told(r->index, r->order, r->snapshot, lo, hi));
	remove_dead(r);
	r->lo.pos = *lo;
	r->lo.inf = false;
	r->hi.pos = *hi;
	r->hi.inf = hi->key == NULL;
	r->point = !r->hi.inf && sfx_same_bytes(lo->key, lo->len, hi->key, hi->len);
	r->hashed = false;
	r->ask = true;
	r->anchor = ANCHOR_RANGE;
	r->parts = READER_PARTS;
	r->went_on = r->ahead = 0;
	end_step(r);
}

void
sfx_reader_seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	seek(r, lo, hi);
	r->follows = r->copied = false;
}

void
sfx_reader_seek_on(SfxReader *r, const SfxPos *lo, const SfxPos *hi)
{
	seek(r, lo, hi);
	r->follows = true;
}

void
sfx_reader_no_filters(SfxReader *r)
{
	r->ask = false;
}

void
sfx_reader_reposition(SfxReader *r, const SfxPos *pos, bool inclusive)
{
	remove_dead(r);
	bound_set(&r->anchor_pos, r->anchor_bytes, pos->key, pos->len, pos->tid);
	r->anchor = ANCHOR_POS;
	r->anchor_inclusive = inclusive;
	r->parts = READER_PARTS;
	end_step(r);
}

BlockNumber
sfx_reader_leaf(const SfxReader *r)
{
	return r->main.leafblk;
}

static void
unpin_dicts(SfxReader *r)
{
	sfx_dict_unpin(&r->main.dict);
	for (int i = 0; i < SFX_MAX_RUNS && r->run[i]; i++)
		sfx_dict_unpin(&r->run[i]->dict);
}

void
sfx_reader_release_gate(SfxReader *r)
{
	drop_gate(r);
}

void
sfx_reader_rewind(SfxReader *r)
{
	remove_dead(r);
	drop_gate(r);
	end_step(r);
	r->anchor = ANCHOR_END;
}

void
sfx_reader_reset(SfxReader *r)
{
	sfx_reader_rewind(r);
	if (BufferIsValid(r->metabuf))
		ReleaseBuffer(r->metabuf);
	r->metabuf = InvalidBuffer;
	if (r->filters.asked > 0)
		sfx_activity_add(r->index, &r->filters);
}

void
sfx_reader_end(SfxReader *r)
{
	sfx_reader_reset(r);
	unpin_dicts(r);
	if (r->dead)
		pfree(r->dead);
	for (int i = 0; i < SFX_MAX_GENS; i++)
		if (r->batch[i])
			sfx_spare_put(SFX_SPARE_BATCH, r->batch[i]);
	for (int i = 0; i < SFX_MAX_RUNS; i++)
		if (r->run[i])
			sfx_spare_put(SFX_SPARE_SHARE, r->run[i]);
	sfx_spare_put(SFX_SPARE_READER, r);
}

/* ---- the stream ---- */

static int
cmp_entries(const SfxReader *r, const SfxEntry *a, const SfxEntry *b)
{
	SfxPos		pa = {a->key, a->keylen, a->tid};
	SfxPos		pb = {b->key, b->keylen, b->tid};

	return sfx_order_cmp_pos(r->order, &pa, &pb);
}

/* The step goes on behind its first block. */
static inline void
ask_for_right(SfxReader *r)
{
	if (BlockNumberIsValid(r->right))
		sfx_prefetch_page(r->index, r->right);
	r->right = InvalidBlockNumber;
}

/* The leaf's next entry of this step; decodes the next block, or more of this one, where needed. */
static bool
leaf_peek(SfxReader *r, Share *s, SfxEntry *e)
{
	while (s->at < 0 || s->at >= s->block->nent)
	{
		int			next = s->blockno + (forward(r) ? 1 : -1);
		bool		left = sfx_block_left(s->block);

		if (!s->have_page || (!left && (next < 0 || next >= s->leaf.nblocks)))
			return false;
		CHECK_FOR_INTERRUPTS();
		if (left)
			sfx_reader_decode_left(r, s);
		else
		{
			ask_for_right(r);
			sfx_reader_decode(r, s, &s->leaf, next, false);
		}
		/* cut off by stop: later blocks hold nothing for this step */
		if (sfx_block_left(s->block))
			continue;
		if (forward(r) ? s->block->first + s->block->nent < s->block->total : s->block->first > 0)
			s->have_page = false;
	}
	sfx_block_entry(s->block, s->at, e);
	return true;
}

static inline void
leaf_advance(SfxReader *r, Share *s)
{
	s->at += forward(r) ? 1 : -1;
}

static bool
comes_before(const SfxReader *r, const SfxEntry *a, const SfxEntry *b)
{
	int			c = cmp_entries(r, a, b);

	return forward(r) ? c < 0 : c > 0;
}

static void
skip_if_equal(SfxReader *r, Share *s, const SfxEntry *e)
{
	SfxEntry	l;

	if (leaf_peek(r, s, &l) && cmp_entries(r, &l, e) == 0)
		leaf_advance(r, s);
}

/*
 * Where e, of another stage, belongs in main's block, which is keyless: before entry number rank of those that came out.  *equal: that one is e itself.  Looked up once
 * for each e and block: bytes of entries in hand stay where they are until the step ends.
 */
static int
rank_in_main(SfxReader *r, const SfxEntry *e, bool *equal)
{
	Share	   *s = &r->main;

	if (r->ranked_key != e->key || r->ranked_tid != e->tid || r->ranked_block != s->blockno)
	{
		SfxPos		pos = {e->key, e->keylen, e->tid};

		r->rank = sfx_leaf_rank(&s->leaf, s->blockno, &pos, &r->rank_equal);
		if (r->rank < 0)
			sfx_corrupt(r->index, s->leafblk, "leaf block");
		r->ranked_key = e->key;
		r->ranked_tid = e->tid;
		r->ranked_block = s->blockno;
	}
	*equal = r->rank_equal && !SFX_MUTANT("twice in two stages");
	return r->rank - s->block->first;
}

/* Main's next entry, which has no key, or e of another stage: does main's come first, or are they the same?  Then e's key is main's, too. */
static bool
main_comes_first(SfxReader *r, const SfxEntry *e, bool *same)
{
	bool		equal;
	int			rank = rank_in_main(r, e, &equal);

	*same = equal && r->main.at == rank;
	return *same || (forward(r) ? r->main.at < rank : r->main.at >= rank);
}

/*
 * The first of what the streams stand on, but for the share `but` (NULL: of all).  False: they are at their ends.  What is main's may lack its key, if no other stream
 * stands on the same.
 */
static bool
first_of_all(SfxReader *r, const Share *but, SfxEntry *e, Share **share, const SfxEntry **batch)
{
	bool		have = but != &r->main && leaf_peek(r, &r->main, e);

	if (unlikely(have && r->main.block->keyless) && (r->nbatches > 0 || r->nruns > 0))
	{
		SfxEntry	main = *e;
		bool		same = false;
		bool		others = first_of_all(r, &r->main, e, share, batch);

		Assert(but == NULL);
		if (others && !main_comes_first(r, e, &same))
			return true;
		if (!same)
			*e = main;
		*share = &r->main;
		*batch = NULL;
		return true;
	}
	*share = &r->main;
	*batch = NULL;
	for (int i = 0; i < r->nruns; i++)
	{
		SfxEntry	l;

		if (but != r->run[i] && leaf_peek(r, r->run[i], &l) && (!have || comes_before(r, &l, e)))
		{
			*share = r->run[i];
			*e = l;
			have = true;
		}
	}
	for (int i = 0; i < r->nbatches; i++)
	{
		const Batch *b = r->batch[i];

		if (b->at < b->n && (!have || comes_before(r, &b->entry[b->at], e)))
		{
			*batch = &b->entry[b->at];
			*e = **batch;
			have = true;
		}
	}
	return have;
}

/*
 * How many of the n entries that share s has from its position on come before limit?  Looked for in growing leaps and
 * then by bisection, so that what a step costs beyond the leaf's own entries grows with what there is to merge with them.
 */
static int
count_before(const SfxReader *r, const Share *s, int n, const SfxEntry *limit)
{
	int			step = r->stretch.step;
	int			lo = 0;
	int			hi = n;
	int			leap = 1;
	SfxEntry	e;

	while (lo < hi)
	{
		int			count = leap > 0 ? Min(lo + leap, hi) : (lo + hi + 1) / 2;

		sfx_block_entry(s->block, s->at + step * (count - 1), &e);
		if (comes_before(r, &e, limit))
		{
			lo = count;
			leap *= 2;
		}
		else
		{
			hi = count - 1;
			leap = 0;
		}
	}
	return lo;
}

/* The same for main's block without keys. */
static int
count_before_keyless(SfxReader *r, int n, const SfxEntry *limit)
{
	bool		equal;
	int			rank = rank_in_main(r, limit, &equal);
	int			before = forward(r) ? rank - r->main.at : r->main.at + 1 - rank - (equal ? 1 : 0);

	return Max(Min(before, n), 0);
}

/* An entry of share s was returned: those that follow it directly can be taken the short way. */
static void
open_stretch(SfxReader *r, Share *s)
{
	int			n = r->stretch.step > 0 ? s->block->nent - s->at : s->at + 1;

	if (r->nbatches > 0 || r->nruns > 0)
	{
		SfxEntry	limit;
		Share	   *share;
		const SfxEntry *batch;

		/* nothing tells how many of another stage come before an entry without a key */
		if (s != &r->main && r->main.keyless)
			n = 0;
		if (n > 0 && first_of_all(r, s, &limit, &share, &batch))
			n = s->block->keyless ? count_before_keyless(r, n, &limit) : count_before(r, s, n, &limit);
	}
	r->stretched = s;
	r->stretch.block = s->block;
	r->stretch.at = s->at;
	r->stretch.end = s->at + n * r->stretch.step;
}

/* The union's next entry of this step. */
static bool
union_next(SfxReader *r, SfxEntry *e)
{
	close_stretch(r);
	if (!first_of_all(r, NULL, e, &r->last_share, &r->last_batch))
		return false;
	r->last_at = r->last_share->at;
	if (r->last_batch == NULL && e->keylen == 0)
	{
		/* without its key: nobody else stands on it */
		leaf_advance(r, r->last_share);
		open_stretch(r, r->last_share);
		return true;
	}
	/* Whoever else stands on the same (key, TID) moves on with it. */
	for (int i = 0; i < r->nbatches; i++)
	{
		Batch	   *b = r->batch[i];

		if (b->at < b->n && cmp_entries(r, &b->entry[b->at], e) == 0)
			b->at++;
	}
	if (r->last_batch == NULL)
		leaf_advance(r, r->last_share);
	for (int i = 0; i < r->nruns; i++)
		if (r->last_batch || r->run[i] != r->last_share)
			skip_if_equal(r, r->run[i], e);
	/* (of the same two, a main without keys has come first) */
	if ((r->last_batch || &r->main != r->last_share) && !r->main.keyless)
		skip_if_equal(r, &r->main, e);
	if (r->last_batch == NULL)
		open_stretch(r, r->last_share);
	return true;
}

/* The entry last returned is one of a leaf's: its key may have been left out. */
static void
need_key(SfxReader *r)
{
	Share	   *s = r->stretched ? r->stretched : r->last_share;

	if (unlikely(s->block->keyless) && sfx_leaf_add_keys(&s->leaf, s->blockno, s->block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
}

/* The entry last returned. */
void
sfx_reader_last(SfxReader *r, SfxEntry *e)
{
	Assert(r->anchor == ANCHOR_ENTRY);
	if (r->stretched || r->last_batch == NULL)
		need_key(r);
	if (r->stretched)
		sfx_block_entry(r->stretched->block, r->stretch.at - r->stretch.step, e);
	else if (r->last_batch)
		*e = *r->last_batch;
	else
		sfx_block_entry(r->last_share->block, r->last_at, e);
}

/* Set cur for the direction now asked for, from where the stream stands. */
static void
set_boundary(SfxReader *r)
{
	const Bound *start = forward(r) ? &r->lo : &r->hi;
	SfxEntry	last;

	switch (r->anchor)
	{
		case ANCHOR_RANGE:
		case ANCHOR_END:		/* turned round after running off the far end */
			r->cur = *start;
			break;
		case ANCHOR_ENTRY:
			sfx_reader_last(r, &last);
			set_cur(r, last.key, last.keylen, last.tid + (forward(r) ? 1 : 0));
			break;
		case ANCHOR_POS:
			r->cur = r->anchor_pos;
			r->cur.pos.tid += forward(r) == r->anchor_inclusive ? 0 : 1;
			break;
	}
	/* never outside the range */
	if (r->anchor >= ANCHOR_ENTRY && bound_cmp(r, &r->cur, start, forward(r)) * (forward(r) ? 1 : -1) < 0)
		r->cur = *start;
}

static bool
range_is_empty(const SfxReader *r)
{
	if (forward(r))
		return !r->hi.inf && sfx_order_cmp_pos(r->order, &r->cur.pos, &r->hi.pos) >= 0;
	return !r->cur.inf && sfx_order_cmp_pos(r->order, &r->cur.pos, &r->lo.pos) <= 0;
}

bool
sfx_reader_next(SfxReader *r, ScanDirection dir, SfxEntry *e)
{
	if (!r->active || r->dir != dir)
	{
		if (r->anchor == ANCHOR_END && r->dir == dir)
			return false;
		r->dir = dir;
		set_boundary(r);
		remove_dead(r);
		end_step(r);
		if (range_is_empty(r))
		{
			r->anchor = ANCHOR_END;
			return false;
		}
		sfx_reader_one_step(r);
	}
	for (;;)
	{
		if (union_next(r, e))
		{
			r->anchor = ANCHOR_ENTRY;
			return true;
		}
		if (r->final || r->maybe)
		{
			r->anchor = ANCHOR_END;
			end_step(r);
			return false;
		}
		cur_from_stop(r);
		sfx_reader_one_step(r);
	}
}

bool
sfx_reader_first(SfxReader *r, const SfxPos *lo, const SfxPos *hi, SfxEntry *e)
{
	bool		found;

	sfx_reader_seek(r, lo, hi);
	r->one = true;
	found = sfx_reader_next(r, ForwardScanDirection, e);
	r->one = false;
	/* what else the step has is not all that there is */
	end_step(r);
	r->anchor = ANCHOR_END;
	return found;
}

bool
sfx_reader_may_hold(SfxReader *r)
{
	SfxEntry	e;
	bool		found;

	r->believe = true;
	r->maybe = false;
	found = sfx_reader_next(r, ForwardScanDirection, &e) || r->maybe;
	r->believe = r->maybe = r->keys_only = false;
	return found;
}

/* ---- single steps, for parallel scans ---- */

bool
sfx_reader_step(SfxReader *r, ScanDirection dir, const SfxPos *from, SfxPos *stop)
{
	remove_dead(r);
	r->dir = dir;
	r->anchor = ANCHOR_RANGE;
	end_step(r);
	if (from == NULL)
		set_boundary(r);
	else
		set_cur(r, from->key, from->len, from->tid);
	if (range_is_empty(r))
		return false;
	sfx_reader_one_step(r);
	*stop = r->stop.pos;
	return !r->final;
}

bool
sfx_reader_take(SfxReader *r, SfxEntry *e)
{
	if (!r->active)
		return false;
	if (union_next(r, e))
	{
		r->anchor = ANCHOR_ENTRY;
		return true;
	}
	r->anchor = ANCHOR_END;
	end_step(r);
	return false;
}
