/*-------------------------------------------------------------------------
 * reader_stream.c - what a step has read, as one ordered stream: the union of all stages
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "leaf.h"
#include "page.h"
#include "reader.h"
#include "reader_impl.h"

#include "miscadmin.h"

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
 * Where e, of another stage, belongs in main's block, which is keyless: before entry number rank
 * of those that came out.  *equal: that one is e itself.  Looked up once for each e and block:
 * bytes of entries in hand stay where they are until the step ends.
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

/*
 * Main's next entry, which has no key, or e of another stage: does main's come first, or are they
 * the same?  Then e's key is main's, too.
 */
static bool
main_comes_first(SfxReader *r, const SfxEntry *e, bool *same)
{
	bool		equal;
	int			rank = rank_in_main(r, e, &equal);

	*same = equal && r->main.at == rank;
	return *same || (forward(r) ? r->main.at < rank : r->main.at >= rank);
}

/*
 * The first of what the streams stand on, but for the share `but` (NULL: of all).  False: they are
 * at their ends.  What is main's may lack its key, if no other stream stands on the same.
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
 * How many of the n entries that share s has from its position on come before limit?  Looked for
 * in growing leaps and then by bisection, so that what a step costs beyond the leaf's own entries
 * grows with what there is to merge with them.
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
			n = s->block->keyless ? count_before_keyless(r, n, &limit) :
				count_before(r, s, n, &limit);
	}
	r->stretched = s;
	r->stretch.block = s->block;
	r->stretch.at = s->at;
	r->stretch.end = s->at + n * r->stretch.step;
}

bool
sfx_reader_union_next(SfxReader *r, SfxEntry *e)
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

bool
sfx_reader_last_tidless(const SfxReader *r)
{
	Assert(r->anchor == ANCHOR_ENTRY);
	return r->last_batch == NULL && r->last_share->block->tidless;
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
