/*-------------------------------------------------------------------------
 * reader_main.c - the main tree's leaf in a step (R3): kept from range to range (R7), without keys
 * or TIDs where these are not needed (R8, Y8), with cut keys (W7), or left out
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "counters.h"
#include "dict.h"
#include "find.h"
#include "heat.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "pos.h"
#include "reader_impl.h"

/*
 * Finding an entry's place in a block takes as long as decoding so many words of a dictionary, or
 * less.
 */
#define FEW_OTHERS	16

/*
 * What begins as e does, but for loose bits of its last byte, stands below what e becomes.  False:
 * there is no such key.
 */
static bool
raise_above(SfxEntry *e, unsigned loose, uint8 *key)
{
	uint32		len = e->keylen;

	memcpy(key, e->key, len);
	if (len > 0)
		key[len - 1] |= (1 << loose) - 1;
	len = sfx_successor(key, len);
	if (len == 0)
		return false;
	*e = (SfxEntry) {.key = key,.keylen = len};
	return true;
}

/* All that the tree's last leaf has stands before the step: note where it ends. */
static void
note_last(SfxReader *r, const SfxMeta *meta, LeafCursor *s, const SfxLeaf *leaf)
{
	SfxEntry	e;
	uint8		above[SFX_MAX_ENTRY];

	if (leaf->nblocks == 0 || !sfx_last_wanted(r->index, meta))
		return;
	if (sfx_leaf_decode(leaf, leaf->nblocks - 1, NULL, NULL, s->block) < 0 || s->block->nent == 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	sfx_block_entry(s->block, s->block->nent - 1, &e);
	if (!leaf->cut || raise_above(&e, sfx_block_loose(s->block, s->block->nent - 1), above))
		sfx_last_note(r->index, meta, &e);
	s->block->nent = 0;
}

/* The step has nothing of this leaf: if it is the tree's last one, note where the tree ends. */
static inline void
may_be_last(SfxReader *r, const SfxMeta *meta, const SfxLeaf *leaf, Page page, bool more)
{
	if (forward(r) && !more && r->main.block->nent == 0 &&
		!BlockNumberIsValid(SfxPageGetTail(page)->right))
		note_last(r, meta, &r->main, leaf);
}

/*
 * Is pos in the leaf that was copied, and the copy as good as the page (R7)?  While the trees stand
 * still (T6), what R3 would find in the leaf now was there when it was copied.  What was removed
 * since is harmless, as in a step that lasts: the snapshot is the same, and the gate was kept.
 */
static bool
copy_holds(const SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	const SfxLeaf *leaf = &r->main.leaf;

	if (!r->range.follows || !r->kept.valid)
		return false;
	if (!sfx_state_still_holds(&r->kept.state, meta, SFX_TREES_STAND_STILL) &&
		!SFX_MUTANT("old copy of a leaf"))
		return false;
	if (forward(r))
		return sfx_leaf_cmp_fences(leaf, pos) == 0;
	/* all of the step, which begins below pos */
	return pos->key != NULL && sfx_leaf_cmp_fences(leaf, &r->win.stop.pos) == 0 &&
		sfx_leaf_up_to_high(leaf, pos);
}

/*
 * The main tree's leaf, whose page is locked, for later blocks or ranges.  Without other ranges of
 * the scan before this one, only what stands from the block in hand on.
 */
static void
copy_leaf(SfxReader *r, const SfxMeta *meta, LeafCursor *s, Page page, const SfxLeaf *leaf)
{
	uint32		head,
				begin,
				end;
	uint8	   *to;

	sfx_reader_take_page(r, s);
	to = SfxPageBody((Page) s->page->data);
	r->kept.valid = r->range.follows;
	if (r->kept.valid)
		memcpy(s->page->data, page, BLCKSZ);
	else
	{
		sfx_leaf_place(leaf, s->blockno, &head, &begin, &end);
		if (forward(r))
			end = leaf->len;
		else
			begin = head;
		memcpy(to, leaf->body, head);
		memcpy(to + begin, leaf->body + begin, end - begin);
	}
	/* payloads lie in the page, too */
	if (s->block->haspay)
		s->block->payload = SfxPageBody((Page) s->page->data) + (s->block->payload - leaf->body);
	s->leaf = *leaf;
	s->leaf.body = to;
	r->kept.state = sfx_state_take(meta);
}

/*
 * Does the step take all that the main tree's leaf has left, and the scan more than that, as far as
 * is known?  Then ask for what comes; right: the leaf's neighbour.
 */
static void
ask_for_more(SfxReader *r, const SfxMeta *meta, BlockNumber right)
{
	bool		enough = r->want.expected > 0 && r->range.wanted == 0;

	if (r->main.whole && !r->win.final && !r->want.one && !enough)
		sfx_reader_ask_ahead(r, meta, forward(r) ? right : InvalidBlockNumber);
}

/* Entries of other stages, at most, now that it is known where the step stops. */
static uint32
count_others(SfxReader *r)
{
	uint32		others = 0;

	if (r->delta.nbatches > 0)
		sfx_reader_trim_batches(r);
	for (int i = 0; i < r->delta.nbatches; i++)
		others += r->delta.batch[i]->n - r->delta.batch[i]->at;
	for (int i = 0; i < r->nruns; i++)
		others += r->run[i]->have_page ? r->run[i]->leaf.nentries : r->run[i]->block->nent;
	return others;
}

/* Y8: can the main tree's entries come without TIDs, since no others come among them? */
static bool
needs_no_tids(SfxReader *r, const SfxMeta *meta)
{
	return sfx_reader_is_vouched(r, meta) && forward(r) && count_others(r) == 0;
}

/*
 * R8: the main tree's leaf is found, so that it is known where the step stops, and the other runs'
 * blocks are decoded.  May its keys be left out?  They are needed to tell what comes first and what
 * is the same, if other stages have entries in the step.  If those are few, it is cheaper to look
 * up where each of them belongs than to decode words of a dictionary.  (Builds with assertions do
 * so more often, to have it tested.)
 */
static bool
needs_no_keys(SfxReader *r, const SfxLeaf *leaf)
{
	uint32		others;

	if (!r->want.tids_only)
		return false;
	others = count_others(r);
#ifdef USE_ASSERT_CHECKING
	if (others % 2 == 1)
		return true;
#endif
	return others == 0 || (leaf->dictno != 0 && others <= leaf->nentries / FEW_OTHERS);
}

/*
 * The main tree's leaf is found, or none is needed: nothing moves stop any more.  Decode the first
 * block of each other run's leaf.
 */
static void
start_runs(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	for (int i = 0; i < r->nruns; i++)
	{
		LeafCursor *s = r->run[i];
		bool		more;

		Assert(!s->leaf.cut);
		/* other leaves may have moved stop since */
		s->whole = false;
		if (sfx_reader_first_block(r, meta, s, &s->leaf, pos, &more))
			s->have_page = more;
	}
}

/* The main tree's leaf, which is copied, has cut keys. */
static void
read_cut_leaf(SfxReader *r, const SfxMeta *meta, const SfxPos *pos, BlockNumber right)
{
	static const SfxPos infinity = {NULL, 0, 0};
	LeafCursor *s = &r->main;
	bool		more = false;

	s->promised = false;
	sfx_reader_open_leaf(r, s, &s->leaf);
	start_runs(r, meta, pos);
	sfx_reader_cut_bounds(r, count_others(r) > 0);
	if (r->warms && r->cut.all)
		r->warmed |= sfx_heat_touch(r->index, s->leafblk, true, SFX_HEAT_OF_KEYS);
	s->block->nent = 0;
	s->block->left_from = s->block->left_to = 0;
	(void) sfx_reader_first_block(r, meta, s, &s->leaf,
								  r->win.cur.inf ? &infinity : &r->cut.cur, &more);
	s->have_page = more;
	may_be_last(r, meta, &s->leaf, (Page) s->page->data, more);
	ask_for_more(r, meta, right);
}

/* R3 from the copy of the leaf. */
static void
read_copy(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	LeafCursor *s = &r->main;
	bool		more = false;

	if (s->leaf.cut)
	{
		read_cut_leaf(r, meta, pos, SfxPageGetTail((Page) s->page->data)->right);
		return;
	}
	s->promised = false;
	sfx_reader_open_leaf(r, s, &s->leaf);
	start_runs(r, meta, pos);
	s->keyless = needs_no_keys(r, &s->leaf);
	s->tidless = needs_no_tids(r, meta);
	(void) sfx_reader_first_block(r, meta, s, &s->leaf, pos, &more);
	s->have_page = more;
	ask_for_more(r, meta, SfxPageGetTail((Page) s->page->data)->right);
}

/* Will the one stored key that may be meant do, in place of a search for the whole one? */
static inline bool
is_cut_point(const SfxReader *r)
{
	const Bound *from = forward(r) ? &r->range.lo : &r->range.hi;

	return r->range.cut_point && r->win.cur.pos.key == from->pos.key &&
		r->win.cur.pos.tid == from->pos.tid;
}

/*
 * A lookup of one key in main's leaf, which is locked and has cut keys: what is there is all that
 * the step has, and the caller looks at the rows: neither keys nor the gate are needed.
 * False: other stages have entries of the key, the step ends in the midst of its TIDs, or the leaf
 * has it whole.
 */
static bool
read_cut_point(SfxReader *r, const SfxMeta *meta, const SfxLeaf *leaf, const SfxPos *pos)
{
	LeafCursor *s = &r->main;
	SfxCutSide	side;

	sfx_reader_open_leaf(r, s, leaf);
	if (r->nruns > 0)
		start_runs(r, meta, pos);
	if ((r->nruns > 0 || r->delta.nbatches > 0) && count_others(r) > 0)
		return false;
	/* a run's leaf ends there, and has no entry of the key any more: the next step begins there */
	if (!r->win.final && !SFX_MUTANT("points beyond their step"))
		return false;
	side = sfx_leaf_find_cut(leaf, &r->range.lo.pos, s->block);
	if (side == SFX_CUT_CORRUPT)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	if (side == SFX_CUT_EQUAL)
		return false;
	s->promised = s->have_page = false;
	r->cut.all = r->cut.some = false;
	r->cut.recheck = side == SFX_CUT_UNDECIDED;
	if (!r->cut.recheck)
		s->block->nent = s->block->left_from = s->block->left_to = 0;
	s->at = forward(r) ? 0 : s->block->nent - 1;
	return true;
}

/* The leaf in buf, which is let go: its keys are recovered under the gate and no page lock (W3). */
static void
copy_cut_leaf(SfxReader *r, const SfxMeta *meta, Buffer buf, const SfxLeaf *leaf)
{
	LeafCursor *s = &r->main;

	r->gate.missing = !r->gate.wanted && !SFX_MUTANT("keys without a gate");
	r->gate.wanted |= r->gate.missing;
	sfx_reader_take_page(r, s);
	memcpy(s->page->data, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	s->leaf = *leaf;
	s->leaf.body = SfxPageBody((Page) s->page->data);
	r->kept.valid = r->range.follows && !r->gate.missing;
	r->kept.state = sfx_state_take(meta);
	SFX_STOP("cut leaf copied");
}

/* A leaf with cut keys, in buf, which is let go. */
static void
read_cut_page(SfxReader *r, const SfxMeta *meta, const SfxPos *pos, Buffer buf,
			  const SfxLeaf *leaf)
{
	if (is_cut_point(r) && read_cut_point(r, meta, leaf, pos))
	{
		may_be_last(r, meta, leaf, BufferGetPage(buf), false);
		UnlockReleaseBuffer(buf);
		return;
	}
	copy_cut_leaf(r, meta, buf, leaf);
	if (!r->gate.missing)
		read_cut_leaf(r, meta, pos, SfxPageGetTail((Page) r->main.page->data)->right);
}

/*
 * A leaf with whole keys, in buf, which is let go: its first block is decoded in place, and the
 * page copied if more of it is wanted, by this range or others.
 */
static void
read_whole_page(SfxReader *r, const SfxMeta *meta, const SfxPos *pos, Buffer buf, SfxLeaf *leaf)
{
	LeafCursor *s = &r->main;
	Page		page = BufferGetPage(buf);
	BlockNumber right = SfxPageGetTail(page)->right;
	bool		more = false;
	bool		found;

	if (r->warms)
		sfx_reader_warm(r);
	sfx_dict_attach(r->index, s->leafblk, page, leaf, &s->dict);
	sfx_reader_open_leaf(r, s, leaf);
	start_runs(r, meta, pos);
	s->keyless = needs_no_keys(r, leaf) && !SFX_MUTANT("leaf before delta");
	s->tidless = needs_no_tids(r, meta);
	sfx_leaves_tidless += s->tidless;
	found = sfx_reader_first_block(r, meta, s, leaf, pos, &more);
	if (found && (more || r->kept.in_a_row >= READER_SAME_LEAF ||
				  ((s->block->haspay || s->block->keyless) && s->block->nent > 0)))
	{
		if (!r->want.one || s->block->nent == 0 || s->block->haspay)
		{
			copy_leaf(r, meta, s, page, leaf);
			s->have_page = more;
		}
	}
	else
		may_be_last(r, meta, leaf, page, more);
	UnlockReleaseBuffer(buf);
	ask_for_more(r, meta, right);
}

/* R3: find the main tree's leaf, decode the other runs' blocks, then its own first one. */
static void
read_main(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	LeafCursor *s = &r->main;
	SfxLeaf		leaf;
	bool		answered;
	Buffer		buf = InvalidBuffer;
	BlockNumber last = s->leafblk;

	if (copy_holds(r, meta, pos))
	{
		read_copy(r, meta, pos);
		return;
	}
	r->kept.valid = false;
	s->leafblk = InvalidBlockNumber;
	answered = sfx_last_before(r->index, meta, r->order,
							   forward(r) ? &r->win.cur.pos : &r->win.stop.pos);
	if (!answered)
		buf = sfx_reader_find_leaf(r, meta, SfxMetaMain(meta)->id, pos, s, &leaf, &answered);
	if (answered)
	{
		sfx_reader_skip_leaf(r, s);
		start_runs(r, meta, pos);
		return;
	}
	Assert(BufferIsValid(buf));
	s->leafblk = BufferGetBlockNumber(buf);
	s->leaf.cut = leaf.cut;
	r->kept.in_a_row = r->range.follows && s->leafblk == last ? r->kept.in_a_row + 1 : 1;
	if (leaf.cut)
		read_cut_page(r, meta, pos, buf, &leaf);
	else
		read_whole_page(r, meta, pos, buf, &leaf);
}

/*
 * R3 for the main tree: as if the step began after what is known to be dead there (X8), if it is
 * the only run.
 */
void
sfx_reader_read_main(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	Bound		cur = r->win.cur;
	SfxPos		to;

	r->main.blockno = -1;
	r->main.run = SfxMetaMain(meta)->id;
	if (!r->want.pass_dead || !forward(r) || meta->nruns > 1 ||
		!sfx_passed_until(r->index, meta, pos, &to, r->room.passed[2].few))
		read_main(r, meta, pos);
	else if (!r->win.stop.inf && sfx_order_cmp_pos(NULL, &r->win.stop.pos, &to) <= 0)
	{
		r->kept.valid = false;
		r->main.leafblk = InvalidBlockNumber;
		sfx_reader_skip_leaf(r, &r->main);
	}
	else
	{
		r->win.cur.pos = to;
		read_main(r, meta, &to);
		r->win.cur = cur;
	}
	r->passed.on = false;
	if (r->range.notes_dead && forward(r))
		sfx_reader_start_passing(r, meta);
}
