/*-------------------------------------------------------------------------
 * reader_kill.c - removing what a reader's caller found dead (README "Dead entries")
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "carried.h"
#include "dead_leaf.h"
#include "dead_rows.h"
#include "delta.h"
#include "find.h"
#include "horizon.h"
#include "image.h"
#include "leaf.h"
#include "meta.h"
#include "reader.h"
#include "reader_impl.h"

#include "utils/memutils.h"

/* ---- what of the main tree is dead from where a step begins (X8) ---- */

/* Is entry i of the main tree's block, or its end, the next one behind those that are dead? */
static bool
is_next_passed(const SfxReader *r, int i)
{
	int			b = r->main.blockno;

	i += r->main.block->first;
	return SFX_MUTANT("gaps are passed") || (b == r->passed_block && i == r->passed_at) ||
		(b == r->passed_block + 1 && i == 0 && r->passed_at == r->passed_total);
}

/* The entry of the main tree that was returned last, e, is dead. */
static void
pass_entry(SfxReader *r, const SfxEntry *e)
{
	int			i = r->stretched ? r->stretch.at - r->stretch.step : r->last_at;

	if (!is_next_passed(r, i) || e->keylen > SFX_PASSED_KEY)
	{
		r->passing = false;
		return;
	}
	r->passed_block = r->main.blockno;
	r->passed_at = r->main.block->first + i + 1;
	r->passed_total = r->main.block->total;
	bound_set(&r->passed_to, r->passed_bytes[1], e->key, e->keylen, e->tid + 1);
	r->passed = true;
}

void
sfx_reader_passed_step(SfxReader *r)
{
	const SfxPos *stop = &r->stop.pos;

	if (r->stop.inf || stop->len > SFX_PASSED_KEY || !is_next_passed(r, r->main.block->nent))
		return;
	bound_set(&r->passed_to, r->passed_bytes[1], stop->key, stop->len, stop->tid);
	r->passed = true;
}

/* ---- */

void
sfx_reader_kill(SfxReader *r, Relation heap)
{
	SfxEntry	e;

	/*
	 * the heap calls dead, too, what it took from snapshots that have expired, and nothing here
	 * would tell them
	 */
	if (!r->active || r->anchor != ANCHOR_ENTRY || heap == NULL || SfxSnapshotsExpire())
		return;
	Assert(!r->lasting);
	r->heap = heap;
	if (r->last_batch)
	{
		for (int i = 0; i < r->nbatches; i++)
		{
			Batch	   *b = r->batch[i];

			if (r->last_batch < b->entry || r->last_batch >= b->entry + b->n || b->nkilled == READER_BATCH)
				continue;
			b->killed[b->nkilled++] = r->last_batch - b->entry;
			r->nkilled++;
		}
		return;
	}
	/* in the other runs they stay until VACUUM comes */
	if (r->last_share != &r->main)
		return;
	sfx_reader_last(r, &e);
	if (r->passing)
		pass_entry(r, &e);
	if (r->ndead == SFX_DEAD_MAX)
		return;
	if (r->dead == NULL)
		r->dead = MemoryContextAlloc(r->cxt, sizeof(uint64) * SFX_DEAD_MAX);
	if (r->ndead == 0)
		bound_set(&r->dead_pos, r->dead_bytes, e.key, e.keylen, e.tid);
	r->dead[r->ndead++] = e.tid;
}

/*
 * Keep of the n entries those that stand in the image of generation number g now.  How many; 0 if
 * the generation is gone.
 */
static int
keep_standing(SfxReader *r, const SfxMeta *meta, int g, SfxEntry **entries, int n)
{
	SfxImage   *img = sfx_image_acquire(r->index, r->order, meta, g);
	SfxNodeAlloc a;
	const SfxDelta *d;
	int			kept = 0;

	if (img == NULL)
		return 0;
	d = sfx_image_delta(img, r->order, &a);
	for (int i = 0; i < n; i++)
	{
		SfxPos		pos = {entries[i]->key, entries[i]->keylen, entries[i]->tid};
		SfxCursor	c;
		SfxEntry	e;

		if (!sfx_delta_seek(d, &a, &pos, &c))
			continue;
		sfx_delta_get(d, &a, &c, &e);
		if (e.tid == pos.tid && e.keylen == pos.len && memcmp(e.key, pos.key, pos.len) == 0)
			entries[kept++] = entries[i];
	}
	sfx_image_release(img);
	return kept;
}

/* X1: out of the image with them, if they are still there and the heap still says so. */
static void
remove_from_image(SfxReader *r, const SfxMeta *meta, Batch *b)
{
	SfxEntry   *entries[READER_BATCH];
	uint64		tids[READER_BATCH];
	SfxHorizon	horizon = {InvalidTransactionId, false};
	int			n = b->nkilled;
	int			g = 0;

	Assert(BufferIsValid(r->gatebuf));
	b->nkilled = 0;
	while (g < meta->ngens && meta->gens[g].gen != b->gen)
		g++;

	/*
	 * a merge on its way leaves out of an older generation what this one has: it has to go on
	 * having it (M7)
	 */
	if (g == meta->ngens || (g < meta->ngens - 1 && sfx_carried(meta, g) && !SFX_MUTANT("kill what was carried over")))
		return;
	for (int i = 0; i < n; i++)
		entries[i] = &b->entry[b->killed[i]];
	n = keep_standing(r, meta, g, entries, n);
	for (int i = 0; i < n; i++)
		tids[i] = entries[i]->tid;
	if (n > 0)
	{
		int			ndead = sfx_dead_ask(r->index, r->heap, tids, n, &horizon);

		if (ndead > 0)
			sfx_image_kill(r->index, r->order, meta, g, entries, n, tids, ndead, &horizon);
	}
}

/*
 * The step in hand is done with: remove what of it was found dead. The gate keeps TIDs from being
 * reused meanwhile.
 */
void
sfx_reader_remove_dead(SfxReader *r)
{
	int			ndead = r->ndead;

	if (r->passed)
		sfx_passed_note(r->index, &r->step_state, &r->passed_from.pos, &r->passed_to.pos, ndead);
	r->passed = r->passing = false;
	if (r->nkilled > 0 || ndead > 0)
		SFX_STOP("dead entries found");
	if (r->nkilled > 0)
	{
		SfxMeta		meta;
		int			nbatches = r->nbatches;

		r->nkilled = 0;
		sfx_reader_pin_gate(r, &meta);
		for (int i = 0; i < nbatches; i++)
			if (r->batch[i]->nkilled > 0)
				remove_from_image(r, &meta, r->batch[i]);
		if (!r->gate)
			drop_gate(r);
	}
	r->ndead = 0;
	if (ndead > 0 && sfx_dead_worth(r->leaf_entries, ndead))
		sfx_dead_clean_leaf(r->index, r->heap, r->order, &r->dead_pos.pos, r->dead, ndead);
}
