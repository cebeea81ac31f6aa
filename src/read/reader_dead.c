/*-------------------------------------------------------------------------
 * reader_dead.c - removing what a reader's caller found dead (X1, X3, X8)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "dead_leaf.h"
#include "dead_rows.h"
#include "find.h"
#include "horizon.h"
#include "image.h"
#include "leaf.h"
#include "memo.h"
#include "meta.h"
#include "reader.h"
#include "reader_impl.h"

#include "access/parallel.h"
#include "utils/memutils.h"

/*
 * To take one entry out of an image costs as much as a lookup: most of it is locks, and the question
 * to the heap.  Many together cost little more.  So a backend keeps the few dead entries that a
 * reader meets on a list, until there are enough; most are flagged meanwhile, so that readers do not
 * meet them.  A list that is lost, or whose entries are gone, does no harm: X1 asks anew about each.
 */
#define PUT_OFF_FEW		2		/* of one batch: with more, each lookup would meet too many */
#define PUT_OFF_MOST	64
#define PUT_OFF_AGAIN	16		/* those that could not be flagged are met again, ... */
#define PUT_OFF_KEY		64		/* bytes of a key */
#define REMOVED_AT_ONCE	Max(READER_BATCH, PUT_OFF_MOST)

typedef struct PutOff
{
	SfxMemo		memo;			/* as of a generation */
	int			n;
	int			again;			/* so often one that is on it was met again */
	SfxEntry	entry[PUT_OFF_MOST];
	uint8		key[PUT_OFF_MOST][PUT_OFF_KEY];
} PutOff;

static PutOff put_offs[4];
static SfxMemoTable put_off_lists = SFX_MEMO_TABLE(put_offs);

/* ---- what of the main tree is dead from where a step begins (X8) ---- */

/*
 * X8: the step is read.  What it has of the main tree may be noted if that is all of it, forward,
 * and has whole keys.
 */
void
sfx_reader_start_passing(SfxReader *r, const SfxMeta *meta)
{
	const SfxPos *cur = &r->win.cur.pos;
	SfxBlock   *block = r->main.block;

	Assert(r->range.notes_dead && r->order == NULL && forward(r));
	r->passed.on = !r->win.cur.inf && meta->nruns == 1 &&
		!r->main.leaf.cut && !r->main.tidless && cur->len <= SFX_PASSED_KEY;
	if (!r->passed.on)
		return;
	/* no block was looked at */
	if (r->main.blockno < 0)
		block->first = block->total = 0;
	bound_set(r, &r->passed.from, &r->room.passed[0], cur->key, cur->len, cur->tid);
	r->passed.block = r->main.blockno;
	r->passed.at = block->first;
	r->passed.total = block->total;
	r->passed.n = 0;
}

/* The number of the entry returned last, which is a leaf's, in its block. */
static inline int
last_in_block(const SfxReader *r)
{
	return r->stretched ? r->stretch.at - r->stretch.step : r->last.at;
}

/* The entry of the main tree that was returned last, e, is dead. */
static void
pass_entry(SfxReader *r, const SfxEntry *e)
{
	int			i = last_in_block(r);

	if (!is_next_passed(r, i) || e->keylen > SFX_PASSED_KEY)
	{
		r->passed.on = false;
		return;
	}
	pass_number(r, i);
	bound_set(r, &r->passed.to, &r->room.passed[1], e->key, e->keylen, e->tid + 1);
	r->passed.n++;
	r->passed.found = true;
}

void
sfx_reader_passed_step(SfxReader *r)
{
	const SfxPos *stop = &r->win.stop.pos;

	Assert(r->passed.on && forward(r));
	if (r->win.stop.inf || stop->len > SFX_PASSED_KEY || !is_next_passed(r, r->main.block->nent))
		return;
	bound_set(r, &r->passed.to, &r->room.passed[1], stop->key, stop->len, stop->tid);
	r->passed.found = true;
}

/* ---- what the caller finds dead ---- */

void
sfx_reader_kill(SfxReader *r, Relation heap)
{
	LeafCursor *s = r->last.leaf;
	SfxEntry	e;
	SfxPos		pos;
	SfxDeadInLeaf *d;

	/*
	 * the heap also calls dead what it took from snapshots that have expired, and nothing here
	 * would tell them
	 */
	if (!r->win.active || r->range.anchor != ANCHOR_ENTRY || heap == NULL || SfxSnapshotsExpire())
		return;
	Assert(!r->delta.lasting);
	if (r->last.batch)
	{
		r->dead.heap = heap;
		for (int i = 0; i < r->delta.nbatches; i++)
		{
			Batch	   *b = r->delta.batch[i];

			if (r->last.batch < b->entry || r->last.batch >= b->entry + b->n ||
				b->nkilled == READER_BATCH)
				continue;
			b->killed[b->nkilled++] = r->last.batch - b->entry;
			r->dead.in_batches++;
		}
		return;
	}
	/* (it could rewrite no leaf) */
	if (IsParallelWorker())
		return;
	d = dead_in_leaf(r, s, heap);

	/* (a dead row has no whole key) */
	pos = *in_leaf(r);
	if (!(s == &r->main && s->leaf.cut) && (r->passed.on || d->tids == NULL))
	{
		sfx_reader_last(r, &e);
		pos = sfx_entry_pos(&e);
		if (r->passed.on && s == &r->main)
			pass_entry(r, &e);
	}
	sfx_dead_note(&r->dead.leaves, d, &pos, &s->block->tid[last_in_block(r)], 1);
	if (!s->leaf.cut)
		sfx_passed_note_tid(r->index, &r->win.state, s->leafblk, s->block->tid[last_in_block(r)]);
}

/* X1: out of that generation's image with those that are still there, if the heap still says so. */
static void
remove_from_image(SfxReader *r, const SfxMeta *meta, uint32 gen, SfxEntry **entries, int n)
{
	uint64		tids[REMOVED_AT_ONCE];
	SfxHorizon	horizon = {InvalidTransactionId, false};
	int			g = 0;
	int			ndead;

	Assert(BufferIsValid(r->gate.buf) && n <= REMOVED_AT_ONCE);
	while (g < meta->ngens && meta->gens[g].gen != gen)
		g++;
	if (g == meta->ngens)
		return;
	for (int i = 0; i < n; i++)
		tids[i] = entries[i]->tid;
	ndead = sfx_dead_ask(r->index, r->dead.heap, tids, n, &horizon);
	if (ndead > 0)
		sfx_image_kill(r->index, r->order, meta, g, entries, n, tids, ndead, &horizon);
}

/*
 * Add what the batch has of dead entries to this backend's list for its generation.  True: they can
 * wait there.  *l: the list; NULL: it does not take them.
 */
static bool
put_off(SfxReader *r, Batch *b, PutOff **l)
{
	bool		fresh;

	*l = NULL;
	if (b->nkilled > PUT_OFF_FEW)
		return false;
	for (int i = 0; i < b->nkilled; i++)
		if (b->entry[b->killed[i]].keylen > PUT_OFF_KEY)
			return false;
	*l = sfx_memo_get(&put_off_lists, r->index, r->win.state.build_id, b->gen, &fresh);
	/* an error may have left a full one */
	if (fresh || (*l)->n > PUT_OFF_MOST - PUT_OFF_FEW)
		(*l)->n = (*l)->again = 0;
	for (int i = 0; i < b->nkilled; i++)
	{
		const SfxEntry *e = &b->entry[b->killed[i]];
		int			at = 0;

		while (at < (*l)->n && (*l)->entry[at].tid != e->tid)
			at++;
		if (at < (*l)->n)
		{
			(*l)->again++;
			continue;
		}
		memcpy((*l)->key[at], e->key, e->keylen);
		(*l)->entry[at] = (SfxEntry) {.key = (*l)->key[at],.keylen = e->keylen,.tid = e->tid};
		(*l)->n++;
	}
	Assert((*l)->n <= PUT_OFF_MOST);
	b->nkilled = 0;
	return (*l)->n <= PUT_OFF_MOST - PUT_OFF_FEW && (*l)->again < PUT_OFF_AGAIN;
}

/*
 * X1: flag what the batch has of dead entries in its image, if that has seen nothing since; those
 * that another backend has flagged first are on its list.  Where flagged ones had to be copied, for
 * there were too many, this backend removes them.
 */
static void
flag_in_image(SfxReader *r, Batch *b)
{
	SfxEntry   *entries[READER_BATCH];
	int			flagged;

	if (b->seen == BATCH_NO_IMAGE || b->has_flagged)
		return;
	for (int i = 0; i < b->nkilled; i++)
		entries[i] = &b->entry[b->killed[i]];
	flagged = sfx_image_flag_dead(r->index, r->order, r->win.state.build_id, b->gen, b->seen,
								  entries, b->nkilled);
	if (flagged < 0)
		return;
	b->nkilled = flagged;
	for (int i = 0; i < flagged; i++)
		b->killed[i] = (uint8) (entries[i] - b->entry);
}

/* X1 for all batches.  The gate keeps TIDs from being reused meanwhile. */
static void
remove_from_images(SfxReader *r)
{
	SfxEntry   *entries[REMOVED_AT_ONCE];
	SfxMeta		meta;
	bool		pinned = false;

	r->dead.in_batches = 0;
	for (int i = 0; i < r->delta.nbatches; i++)
	{
		Batch	   *b = r->delta.batch[i];
		PutOff	   *l;
		int			n = 0;

		if (b->nkilled > 0)
			flag_in_image(r, b);
		if (b->nkilled == 0 || put_off(r, b, &l))
			continue;
		if (!pinned)
			sfx_reader_pin_gate(r, &meta);
		pinned = true;
		for (int k = 0; k < b->nkilled; k++)
			entries[n++] = &b->entry[b->killed[k]];
		for (int k = 0; l && k < l->n; k++)
			entries[n++] = &l->entry[k];
		b->nkilled = 0;
		if (l)
			l->n = l->again = 0;
		remove_from_image(r, &meta, b->gen, entries, n);
	}
	if (pinned && !r->gate.wanted)
		drop_gate(r);
}

void
sfx_reader_remove_dead(SfxReader *r, SfxDeadWhen when)
{
	bool		in_leaves = r->dead.in_leaves;

	if (r->passed.found)
		sfx_passed_note(r->index, &r->win.state, &r->passed.from.pos, &r->passed.to.pos,
						r->passed.n);
	r->passed.found = r->passed.on = r->dead.in_leaves = false;
	if (r->dead.in_batches > 0 || in_leaves)
		SFX_STOP("dead entries found");
	if (r->dead.in_batches > 0)
		remove_from_images(r);
	if (in_leaves || when != SFX_DEAD_STEP)
		sfx_dead_clean(r->index, r->dead.heap, r->order, &r->dead.leaves, when);
}
