/*-------------------------------------------------------------------------
 * reader_cut.c - a step's entries of a leaf whose keys are cut
 *
 * What a leaf stores of a key tells its order among the leaf's others, and beside any position but
 * those that begin with all of it (W1).  So bounds are translated into stored keys first, for which
 * the table is asked at most once each.  Then keys are recovered: all of them, or where the caller
 * needs no keys only those beside which another stage has an entry whose place is open (W5).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "leaf.h"
#include "page.h"
#include "reader_impl.h"
#include "recover.h"

/*
 * So many keys of a block are decoded at once, at most, if they may be recovered: with the others
 * of a group of front-coded ones they have room in a block, however long they are.  A step begins
 * with one, since its caller may want no more, and each costs a visit to a row.
 */
#define CUT_PART_KEYS	8
#define FRONT_GROUP		16
StaticAssertDecl((CUT_PART_KEYS + FRONT_GROUP - 1) * SFX_MAX_ENTRY <= SFX_BLOCK_RAW + SFX_MAX_ENTRY,
				 "a part has room");

/* Begun when first needed: most steps of plain scans recover nothing. */
static SfxRecovery *
recovery(SfxReader *r)
{
	if (r->cut.recovery == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(r->cxt);

		r->cut.recovery = sfx_recovery_begin(r->index, NULL);
		MemoryContextSwitchTo(old);
	}
	Assert((r->gate.wanted && BufferIsValid(r->gate.buf)) || SFX_MUTANT("keys without a gate"));
	return r->cut.recovery;
}

void
sfx_reader_end_recovery(SfxReader *r)
{
	if (r->cut.recovery)
		sfx_recovery_end(r->cut.recovery, SFX_COUNT_READ);
	r->cut.recovery = NULL;
}

/* ---- bounds ---- */

/* Is there a stored key beside which this bound is undecided?  It is left in main's block. */
static bool
is_undecided(SfxReader *r, const SfxPos *pos)
{
	int			result = sfx_leaf_undecided(&r->main.leaf, pos, r->main.block);

	if (result < 0)
		sfx_corrupt(r->index, r->main.leafblk, "leaf block");
	return result > 0;
}

/*
 * All TIDs of one key are looked for, and the caller will look at the rows: the one stored key that
 * may be meant is as good as the whole one.
 */
static bool
point_is_undecided(SfxReader *r, bool others)
{
	uint8	   *key;
	SfxEntry	stored;

	/* (a fence may stand between the range's ends, among the TIDs of a key that is whole) */
	if (!r->want.rechecks || !r->range.point || others ||
		r->win.cur.pos.len != r->range.lo.pos.len ||
		r->win.stop.pos.len != r->range.lo.pos.len || !is_undecided(r, &r->range.lo.pos))
		return false;
	key = sfx_reader_bound_bytes(r, &r->room.cut[0], SFX_MAX_ENTRY);
	sfx_block_entry(r->main.block, 0, &stored);
	memcpy(key, stored.key, stored.keylen);
	r->cut.cur = (SfxPos) {key, stored.keylen, r->win.cur.pos.tid};
	r->cut.stop = (SfxPos) {key, stored.keylen, r->win.stop.pos.tid};
	return true;
}

/* How does the whole key of the stored one in main's block compare to pos?  Dead: as if below. */
static int
compare_whole(SfxReader *r, const SfxPos *pos)
{
	SfxBlock   *block = r->main.block;
	uint8		key[SFX_MAX_ENTRY];
	int			len = sfx_recover_key(recovery(r), r->main.leafblk, block, 0, block->nent, key);

	if (len >= 0)
		return sfx_cmp_bytes(key, len, pos->key, pos->len);
	note_dead(r, 0, block->nent);
	return -1;
}

/*
 * Both ends of a range of one key are undecided beside one stored key: its row is asked for once.
 */
void
sfx_reader_cut_bounds(SfxReader *r, bool others)
{
	const SfxPos *cur = &r->win.cur.pos;
	const SfxPos *stop = &r->win.stop.pos;
	bool		known = false;
	int			c = 0;

	Assert(r->main.leaf.cut && !r->main.keyless && !r->main.tidless);
	r->cut.whole_tid = 0;		/* TIDs may have other rows since the last step */
	r->cut.part = 1;
	r->cut.all = !r->want.candidates || (others && r->nruns > 0);
	r->cut.some = others;
	r->cut.recheck = point_is_undecided(r, others);
	if (r->cut.recheck)
		return;
	r->cut.cur = *cur;
	r->cut.stop = *stop;
	if (!r->win.cur.inf && is_undecided(r, cur))
	{
		c = compare_whole(r, cur);
		known = true;
		r->cut.cur = sfx_recover_bound(r->main.block, cur, c,
									   sfx_reader_bound_bytes(r, &r->room.cut[0], SFX_MAX_ENTRY));
	}
	if (!r->main.whole && !r->win.stop.inf && is_undecided(r, stop))
	{
		if (!known || sfx_cmp_bytes(cur->key, cur->len, stop->key, stop->len) != 0)
			c = compare_whole(r, stop);
		r->cut.stop = sfx_recover_bound(r->main.block, stop, c,
										sfx_reader_bound_bytes(r, &r->room.cut[1], SFX_MAX_ENTRY));
	}
	/* no page stays pinned: the step may need no key */
	if (r->cut.recovery)
		sfx_recovery_rest(r->cut.recovery);
}

int
sfx_reader_cut_part(SfxReader *r)
{
	int			part = r->cut.part;

	if (!r->cut.all && !r->cut.some)
		return 0;
	r->cut.part = Min(2 * part, CUT_PART_KEYS);
	return part;
}

/* ---- keys of a decoded block ---- */

/* Does a batch have an entry of this step beside which the stored key is undecided? */
static bool
is_beside_others(const SfxReader *r, const SfxEntry *stored, unsigned loose)
{
	if (SFX_MUTANT("bytes tell readers"))
		loose = 0;
	if (SFX_MUTANT("stages beside cut keys"))
		return false;
	for (int i = 0; i < r->delta.nbatches; i++)
		for (int j = r->delta.batch[i]->at; j < r->delta.batch[i]->n; j++)
		{
			const SfxEntry *e = &r->delta.batch[i]->entry[j];

			if (sfx_leaves_open(stored->key, stored->keylen, loose, e->key, e->keylen))
				return true;
		}
	return false;
}

/* Room for the block's keys as they become. */
static uint8 *
whole_keys(SfxReader *r)
{
	if (r->cut.whole_keys == NULL)
		r->cut.whole_keys = MemoryContextAlloc(r->cxt, SFX_BLOCK_RAW + 2 * SFX_MAX_ENTRY);
	return r->cut.whole_keys;
}

/* The block has these keys from now on, and the n entries that were moved to its front. */
static void
set_keys(SfxBlock *block, const uint8 *keys, const uint32 *off, const uint8 *loose, int nkeys,
		 int n, bool cut_off)
{
	memcpy(block->keys, keys, off[nkeys]);
	memcpy(block->keyoff, off, (nkeys + 1) * sizeof(uint32));
	memcpy(block->loose, loose, nkeys);
	block->width = nkeys > 0 ? off[1] : 0;
	for (int k = 1; k < nkeys; k++)
		if (off[k + 1] - off[k] != block->width)
			block->width = 0;
	block->nkeys = nkeys;
	block->nent = n;
	/* what it tells of the blocks to come stays as it was: dead entries are no end */
	block->total = block->first + n + (cut_off ? 1 : 0);
}

/*
 * Recover the keys that are needed.  Entries that are dead to all snapshots go: for this step, and
 * if the caller wants that, for good.
 */
void
sfx_reader_recover_keys(SfxReader *r)
{
	SfxBlock   *block = r->main.block;
	bool		cut_off = block->first + block->nent < block->total;
	uint32		off[SFX_BLOCK_KEYS + 1];
	uint8		loose[SFX_BLOCK_KEYS];
	uint8	   *keys;
	uint32		at = 0;
	int			nkeys = 0;
	int			n = 0;

	if (block->nent == 0 || (!r->cut.all && !r->cut.some))
		return;
	keys = whole_keys(r);
	r->cut.whole_tid = 0;
	off[0] = 0;
	for (int i = 0; i < block->nent;)
	{
		int			end = sfx_block_end_of_key(block, i);
		SfxEntry	e;
		int			len;

		sfx_block_entry(block, i, &e);
		loose[nkeys] = sfx_block_loose(block, i);
		if (r->cut.all || is_beside_others(r, &e, loose[nkeys]))
		{
			if (r->cut.all)
				sfx_recovery_ahead(recovery(r), block, i);
			len = sfx_recover_key(recovery(r), r->main.leafblk, block, i, end, keys + at);
			loose[nkeys] = 0;
		}
		else
		{
			memcpy(keys + at, e.key, e.keylen);
			len = e.keylen;
		}
		if (len >= 0)
		{
			at += len;
			off[++nkeys] = at;
			memmove(block->tid + n, block->tid + i, (end - i) * sizeof(uint64));
			for (int j = i; j < end; j++, n++)
				block->keyno[n] = (uint16) (nkeys - 1);
		}
		else
			note_dead(r, i, end);
		i = end;
	}
	set_keys(block, keys, off, loose, nkeys, n, cut_off);
	if (r->cut.recovery)
		sfx_recovery_rest(r->cut.recovery);
}

void
sfx_reader_whole_key(SfxReader *r, int i, SfxEntry *e)
{
	const SfxBlock *block = r->main.block;
	int			from = i;

	Assert(r->main.leaf.cut && i >= 0 && i < block->nent);
	if (r->cut.all || SFX_MUTANT("cut keys outlive a page"))
		return;
	/* a caller that returns there looks for the key that was asked for */
	if (r->cut.recheck)
	{
		e->key = r->range.lo.pos.key;
		e->keylen = r->range.lo.pos.len;
		return;
	}
	while (from > 0 && sfx_block_keyno(block, from - 1) == sfx_block_keyno(block, i))
		from--;
	/* of a list of dead entries all rows are visited: once, not for each entry */
	if (r->cut.whole_tid != block->tid[from])
	{
		r->cut.whole_len = sfx_recover_key(recovery(r), r->main.leafblk, block, from,
										   sfx_block_end_of_key(block, i), whole_keys(r));
		sfx_recovery_rest(r->cut.recovery);
		r->cut.whole_tid = block->tid[from];
	}
	/* all entries of that key are dead to all snapshots: the scan may go on from the stored key */
	if (r->cut.whole_len < 0)
		return;
	e->key = r->cut.whole_keys;
	e->keylen = r->cut.whole_len;
}
