/*-------------------------------------------------------------------------
 * reader_step.c - one step of a reader: what all stages have between a boundary and a stop
 *
 * src/README.md, "read", has the rules R1 to R8 and why nothing is missed.  A step covers the
 * positions from the boundary `cur` to `stop`: metapage (R1), images (R2, reader_batch.c), leaves
 * (R3), and the least end of all these (R4).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "counters.h"
#include "dict.h"
#include "encode.h"
#include "find.h"
#include "heat.h"
#include "leaf.h"
#include "meta.h"
#include "page.h"
#include "pending.h"
#include "reader_impl.h"
#include "retry.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/*
 * Finding an entry's place in a block takes as long as decoding so many words of a dictionary, or
 * less.
 */
#define FEW_OTHERS	16

/*
 * The gates that this backend found to be the current ones.  An index whose slot another one has
 * taken has none: only VACUUM's flip makes a guess wrong.
 */
#define LAST_GATES	256

static struct
{
	Oid			index;
	uint8		gate;
}			last_gate[LAST_GATES];

uint8
sfx_reader_last_gate(Relation index)
{
	Oid			id = RelationGetRelid(index);

	return last_gate[id % LAST_GATES].index == id ? last_gate[id % LAST_GATES].gate : SFX_GATE_UNKNOWN;
}

static void
note_gate(Relation index, uint8 gate)
{
	Oid			id = RelationGetRelid(index);

	last_gate[id % LAST_GATES].index = id;
	last_gate[id % LAST_GATES].gate = gate;
}

/* What a mutant does instead: VACUUM may flip the gate between the two pages. */
static void
pin_gate_unconfirmed(SfxReader *r, SfxMeta *meta)
{
	sfx_meta_reread(r->index, meta, &r->metabuf);
	drop_gate(r);
	r->gateno = meta->gate;
	SFX_STOP("gate chosen");
	r->gatebuf = sfx_read_page(r->index, SFX_GATE_BLKNO(r->gateno));
}

/*
 * Pin the gate that the metapage names, before anything is copied.  Which one that is hardly ever
 * changes: the one of the last time is pinned first, and one look at the metapage confirms it.
 */
void
sfx_reader_pin_gate(SfxReader *r, SfxMeta *meta)
{
	if (SFX_MUTANT("gate not read again"))
	{
		pin_gate_unconfirmed(r, meta);
		return;
	}
	for (;;)
	{
		if (!BufferIsValid(r->gatebuf) && r->gateno != SFX_GATE_UNKNOWN)
		{
			SFX_STOP("gate chosen");
			r->gatebuf = sfx_read_page(r->index, SFX_GATE_BLKNO(r->gateno));
		}
		sfx_meta_reread(r->index, meta, &r->metabuf);
		if (r->gateno == meta->gate)
			return;
		drop_gate(r);
		r->gateno = meta->gate;
		note_gate(r->index, meta->gate);
		CHECK_FOR_INTERRUPTS();
	}
}

void
sfx_reader_meta(SfxReader *r, SfxMeta *meta)
{
	sfx_pending_flush_index(r->index);
	if (r->gate)
		sfx_reader_pin_gate(r, meta);
	else
		sfx_meta_reread(r->index, meta, &r->metabuf);
	Assert(!r->gate || BufferIsValid(r->gatebuf));
}

/* The keys of a block to be decoded at once; 0: all. */
static inline int
next_part(SfxReader *r)
{
	if (r->one)
		return 1;
	if (r->wanted > 0)
	{
		r->parts = Min(r->parts, READER_PARTS - 1);
		return r->wanted;
	}
	if (r->parts == 0)
		return 0;
	return READER_PART_KEYS << (READER_PARTS - r->parts--) / 2;
}

/* The share's block was decoded, in which the stream begins. */
static inline void
stand_at_first(SfxReader *r, Share *s)
{
	s->at = forward(r) ? 0 : s->block->nent - 1;
	r->wanted -= Min(r->wanted, s->block->nent);
}

void
sfx_reader_decode_left(SfxReader *r, Share *s)
{
	int			part = s->leaf.cut ? sfx_reader_cut_part(r) : 0;

	r->ranked_key = NULL;
	part = part > 0 ? part : next_part(r);
	if (sfx_leaf_decode_left(&s->leaf, s->blockno, part, !forward(r), s->block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	if (s->leaf.cut)
		sfx_reader_recover_keys(r);
	stand_at_first(r, s);
}

/* Where the step stops, in the leaf's terms.  NULL: not in this leaf. */
static inline const SfxPos *
leaf_stop(const SfxReader *r, const Share *s, const SfxLeaf *leaf)
{
	/* all that may be meant by one key's stored form is asked for with its TIDs */
	if (leaf->cut && r->recheck)
		return &r->cut_stop;
	if (s->whole || r->stop.inf)
		return NULL;
	return leaf->cut ? &r->cut_stop : &r->stop.pos;
}

void
sfx_reader_decode(SfxReader *r, Share *s, const SfxLeaf *leaf, int b, bool first)
{
	const SfxPos *cur = !first || r->cur.inf ? NULL : leaf->cut ? &r->cut_cur : &r->cur.pos;
	const SfxPos *stop = leaf_stop(r, s, leaf);
	const SfxPos *lo = forward(r) ? cur : stop;
	const SfxPos *hi = forward(r) ? stop : cur;
	int			part = leaf->cut ? sfx_reader_cut_part(r) : 0;
	int			result;

	r->ranked_key = NULL;
	if (s->keyless)
		result = sfx_leaf_decode_keyless(leaf, b, lo, hi, s->block);
	else if (s->tidless)
		result = sfx_leaf_decode_tidless(leaf, b, lo, hi, s->block);
	else
	{
		part = part > 0 ? part : next_part(r);
		result = sfx_leaf_decode_limit(leaf, b, lo, hi, part, !forward(r), s->block);
	}
	if (result < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	if (leaf->cut)
		sfx_reader_recover_keys(r);
	s->blockno = b;
	stand_at_first(r, s);
}

/* Comparator order, forward: is what is left of the range of one key, whole in its bytes? */
static inline bool
is_key(const SfxReader *r)
{
	const SfxPos *stop = &r->stop.pos;

	return r->order != NULL && !r->cur.inf && !r->stop.inf && stop->tid > 0 &&
		sfx_same_bytes(r->cur.pos.key, r->cur.pos.len, stop->key, stop->len);
}

/*
 * Where does the leaf's fence, which holds cur, lie in the direction of the scan: beyond stop, or
 * not?  If not, stop moves there.
 */
static bool
stop_at_fence(SfxReader *r, BlockNumber blkno, const SfxLeaf *leaf)
{
	uint8		lowbuf[SFX_MAX_ENTRY];
	uint8		highbuf[SFX_MAX_ENTRY];
	SfxPos		low,
				high;
	bool		inf;

	if (forward(r))
	{
		/* cur is below the fence, and so is the rest of its key, unless the fence cuts that */
		if (is_key(r) && !sfx_leaf_high_is(leaf, r->stop.pos.key, r->stop.pos.len))
			return false;
		if (!r->stop.inf && sfx_leaf_up_to_high(leaf, &r->stop.pos))
			return false;
	}
	else if (sfx_leaf_cmp_fences(leaf, &r->stop.pos) >= 0)
		return false;
	if (sfx_leaf_fences(leaf, lowbuf, &low, highbuf, &high, &inf) < 0)
		sfx_corrupt(r->index, blkno, "leaf fences");
	if (!forward(r))
		stop_at(r, low.key, low.len, low.tid);
	else if (!inf)
		stop_at(r, high.key, high.len, high.tid);
	return true;
}

/*
 * The leaf of a run that holds pos.  InvalidBuffer with *answered: a filter says that there is no
 * need to read it; without: the run is gone.
 */
static Buffer
find_leaf(SfxReader *r, const SfxMeta *meta, uint32 run, const SfxPos *pos, Share *s, SfxLeaf *leaf, bool *answered)
{
	SfxFilterProbe probe;
	Buffer		buf;
	bool		fwd = forward(r);

	*answered = s->promised = false;
	sfx_leaves_read++;
	probe.key = r->point ? r->lo.pos.key : NULL;
	probe.keylen = r->lo.pos.len;
	/* An open end is next to never empty: no filter is asked for it. */
	if (!r->ask || (r->keys_only && probe.key == NULL) || (fwd ? r->stop.inf : r->stop.pos.len == 0))
		return sfx_tree_find_leaf(SfxTreeOf(r->index, r->order, meta, run), pos, !fwd, leaf);
	probe.lo = fwd ? &r->cur.pos : &r->stop.pos;
	probe.hi = fwd ? &r->stop.pos : r->cur.inf ? NULL : &r->cur.pos;
	probe.no_leaf = r->believe;
	buf = sfx_tree_probe(SfxTreeOf(r->index, r->order, meta, run), pos, !fwd, leaf, &probe);
	r->keys_only |= probe.keys_only;
	r->filters.asked += probe.asked;
	r->filters.denied += probe.asked && probe.absent;
	s->promised = probe.asked && !probe.absent;
	*answered = !BufferIsValid(buf) && sfx_filter_answered(&probe);
	if (!*answered)
		return buf;
	sfx_leaves_read--;
	if (!probe.absent)
		r->maybe = true;
	else if (!probe.fence_inf)
		stop_at(r, probe.fence.key, probe.fence.len, probe.fence.tid);
	return buf;
}

/* The step has nothing of this run's leaf. */
static void
skip_leaf(SfxReader *r, Share *s)
{
	s->have_page = s->keyless = s->tidless = s->promised = false;
	s->leaf.nblocks = 0;
	s->leaf.cut = false;
	s->block->nent = 0;
	s->block->left_from = s->block->left_to = 0;
	s->at = forward(r) ? 0 : -1;
}

/* R4, for a leaf that is opened, with its dictionary. */
static void
start_share(SfxReader *r, Share *s, const SfxLeaf *leaf)
{
	s->have_page = s->keyless = s->tidless = false;
	s->block->nent = 0;
	s->block->left_from = s->block->left_to = 0;
	s->at = forward(r) ? 0 : -1;
	s->whole = stop_at_fence(r, s->leafblk, leaf);
}

/*
 * Is there anything for this step in the blocks behind number b, which is decoded, or left of it?
 */
static inline bool
more_blocks(const SfxReader *r, const Share *s, const SfxLeaf *leaf, int b)
{
	const SfxPos *stop;
	int			last;

	if (sfx_block_left(s->block))
		return true;
	if (!forward(r))
		return s->block->first == 0 && b > 0;
	if (s->block->first + s->block->nent < s->block->total || b + 1 >= leaf->nblocks)
		return false;
	stop = leaf_stop(r, s, leaf);
	if (stop == NULL)
		return true;
	last = sfx_leaf_find_block(leaf, stop);
	if (last < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf directory");
	return last > b;
}

/*
 * The leaf's first block of the step is decoded: what follows from it.  *more: the next block may
 * have some of it, too.
 */
static void
first_decoded(SfxReader *r, Share *s, const SfxLeaf *leaf, int b, bool *more)
{
	/* where there are entries, more are likely to follow */
	if (s->block->nent > 0)
		r->ask = s->promised = false;
	*more = more_blocks(r, s, leaf, b);
	r->filters.wrong += s->promised && !*more;
}

#ifdef USE_ASSERT_CHECKING
/* Is the leaf in the order that it is searched in?  A collation may have changed (K4). */
static bool
is_in_order(const SfxLeaf *leaf)
{
	SfxBlock   *scratch = palloc(sizeof(SfxBlock));
	const char *why;
	bool		ok = sfx_leaf_verify(leaf->body, leaf->len, leaf->order, leaf->dict, scratch,
									 &why) == SFX_OK;

	pfree(scratch);
	return ok;
}

/* Does the search by comparisons come to the same?  In a block of its own: the reader goes on. */
static void
check_exact(SfxReader *r, const Share *s, const SfxLeaf *leaf, int b)
{
	const SfxBlock *exact = s->block;
	SfxBlock   *block;
	int			found;

	if (!is_in_order(leaf))
		return;
	found = sfx_leaf_find_block(leaf, &r->cur.pos);
	Assert(exact->nent == 0 || found == b);
	if (found >= leaf->nblocks)
		return;
	block = palloc(sizeof(SfxBlock));
	if (sfx_leaf_decode(leaf, found, &r->cur.pos, leaf_stop(r, s, leaf), block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	Assert(exact->nent == block->nent || (r->one && block->nent > 0 && exact->nent > 0));
	for (int i = 0; i < exact->nent; i++)
	{
		SfxEntry	x,
					y;

		sfx_block_entry(exact, i, &x);
		sfx_block_entry(block, i, &y);
		Assert(x.tid == y.tid && sfx_same_bytes(x.key, x.keylen, y.key, y.keylen) &&
			   sfx_same_bytes(x.payload, x.paylen, y.payload, y.paylen));
	}
	pfree(block);
}
#endif

/* B5: is the range one key, and is it found, or known to be missing, by its bytes? */
static bool
found_by_bytes(SfxReader *r, const SfxMeta *meta, Share *s, const SfxLeaf *leaf)
{
	SfxExact	found;
	int			b;

	if (!leaf->bytewise || !forward(r) || s->tidless || s->whole || !is_key(r) ||
		r->cur.pos.tid != 0)
		return false;
	found = sfx_leaf_find_exact(leaf, r->stop.pos.key, r->stop.pos.len, r->stop.pos.tid, s->block,
								&b);
	if (found == SFX_EXACT_CORRUPT)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	sfx_cache_tried_bytes(r->index, meta, found != SFX_EXACT_UNDECIDED);
	if (found == SFX_EXACT_UNDECIDED)
		return false;
#ifdef USE_ASSERT_CHECKING
	check_exact(r, s, leaf, b);
#endif
	r->ranked_key = NULL;
	s->blockno = b;
	s->at = 0;
	return true;
}

/*
 * The leaf's first block of the step.  False: there is none.  *more: the next block may have some
 * of it, too.
 */
static bool
first_block(SfxReader *r, const SfxMeta *meta, Share *s, const SfxLeaf *leaf, const SfxPos *pos,
			bool *more)
{
	int			b = 0;

	if (found_by_bytes(r, meta, s, leaf))
	{
		first_decoded(r, s, leaf, s->blockno, more);
		return true;
	}
	if (leaf->nblocks > 0)
	{
		if (forward(r))
			b = sfx_leaf_find_block(leaf, pos);
		else
			b = pos->key == NULL ? leaf->nblocks - 1 : sfx_leaf_find_block_before(leaf, pos);
		if (b < 0)
			sfx_corrupt(r->index, s->leafblk, "leaf directory");
	}
	if (b >= leaf->nblocks)
	{
		r->filters.wrong += s->promised;
		return false;
	}
	sfx_reader_decode(r, s, leaf, b, true);
	first_decoded(r, s, leaf, b, more);
	return true;
}

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
	while (len > 0 && key[len - 1] == 0xFF)
		len--;
	if (len == 0)
		return false;
	key[len - 1]++;
	*e = (SfxEntry) {.key = key,.keylen = len};
	return true;
}

/* All that the tree's last leaf has stands before the step: note where it ends. */
static void
note_last(SfxReader *r, const SfxMeta *meta, Share *s, const SfxLeaf *leaf)
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

/*
 * Is pos in the leaf that was copied, and the copy as good as the page (R7)?  While the trees stand
 * still (T6), what R3 would find in the leaf now was there when it was copied.  What was removed
 * since is harmless, as in a step that lasts: the snapshot is the same, and the gate was kept.
 */
static bool
copy_holds(const SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	const SfxLeaf *leaf = &r->main.leaf;

	if (!r->follows || !r->copied)
		return false;
	if (!sfx_state_still_holds(&r->copied_state, meta, SFX_TREES_STAND_STILL) &&
		!SFX_MUTANT("old copy of a leaf"))
		return false;
	if (forward(r))
		return sfx_leaf_cmp_fences(leaf, pos) == 0;
	/* all of the step, which begins below pos */
	return pos->key != NULL && sfx_leaf_cmp_fences(leaf, &r->stop.pos) == 0 && sfx_leaf_up_to_high(leaf, pos);
}

/*
 * The main tree's leaf, whose page is locked, for later blocks or ranges.  Without other ranges of
 * the scan before this one, only what stands from the block in hand on.
 */
static void
copy_leaf(SfxReader *r, const SfxMeta *meta, Share *s, Page page, const SfxLeaf *leaf)
{
	uint32		head,
				begin,
				end;
	uint8	   *to = SfxPageBody((Page) s->page.data);

	r->copied = r->follows;
	if (r->copied)
		memcpy(s->page.data, page, BLCKSZ);
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
		s->block->payload = SfxPageBody((Page) s->page.data) + (s->block->payload - leaf->body);
	s->leaf = *leaf;
	s->leaf.body = to;
	r->copied_state = sfx_state_take(meta);
}

/*
 * Does the step take all that the main tree's leaf has left, and the scan more than that, as far as
 * is known?  Then ask for what comes; right: the leaf's neighbour.
 */
static void
ask_for_more(SfxReader *r, const SfxMeta *meta, BlockNumber right)
{
	bool		enough = r->expected > 0 && r->wanted == 0;

	if (r->main.whole && !r->final && !r->one && !enough)
		sfx_reader_ask_ahead(r, meta, forward(r) ? right : InvalidBlockNumber);
}

/* Entries of other stages, at most, now that it is known where the step stops. */
static uint32
count_others(SfxReader *r)
{
	uint32		others = 0;

	sfx_reader_trim_batches(r);
	for (int i = 0; i < r->nbatches; i++)
		others += r->batch[i]->n - r->batch[i]->at;
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

	if (!r->tids_only)
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
		Share	   *s = r->run[i];
		bool		more;

		/* other leaves may have moved stop since */
		s->whole = false;
		if (first_block(r, meta, s, &s->leaf, pos, &more))
			s->have_page = more;
	}
}

/* The main tree's leaf, which is copied, has cut keys. */
static void
read_cut_leaf(SfxReader *r, const SfxMeta *meta, const SfxPos *pos, BlockNumber right)
{
	static const SfxPos infinity = {NULL, 0, 0};
	Share	   *s = &r->main;
	bool		more = false;

	s->promised = false;
	start_share(r, s, &s->leaf);
	start_runs(r, meta, pos);
	sfx_reader_cut_bounds(r, count_others(r) > 0);
	if (r->warms && r->recover_all)
		sfx_heat_touch(r->index, s->leafblk, SFX_HEAT_OF_KEYS);
	r->leaf_entries = s->leaf.nentries;
	s->block->nent = 0;
	s->block->left_from = s->block->left_to = 0;
	(void) first_block(r, meta, s, &s->leaf, r->cur.inf ? &infinity : &r->cut_cur, &more);
	s->have_page = more;
	if (forward(r) && !more && s->block->nent == 0 && !BlockNumberIsValid(right))
		note_last(r, meta, s, &s->leaf);
	ask_for_more(r, meta, right);
}

/* R3 from the copy of the leaf. */
static void
read_copy(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	Share	   *s = &r->main;
	bool		more = false;

	if (s->leaf.cut)
	{
		read_cut_leaf(r, meta, pos, SfxPageGetTail((Page) s->page.data)->right);
		return;
	}
	s->promised = false;
	start_share(r, s, &s->leaf);
	start_runs(r, meta, pos);
	s->keyless = needs_no_keys(r, &s->leaf);
	s->tidless = needs_no_tids(r, meta);
	(void) first_block(r, meta, s, &s->leaf, pos, &more);
	s->have_page = more;
	ask_for_more(r, meta, SfxPageGetTail((Page) s->page.data)->right);
}

/* Will the one stored key that may be meant do, in place of a search for the whole one? */
static inline bool
is_cut_point(const SfxReader *r)
{
	const Bound *from = forward(r) ? &r->lo : &r->hi;

	return r->rechecks && r->point && r->lo.pos.tid == 0 && r->cur.pos.key == from->pos.key &&
		r->cur.pos.tid == from->pos.tid;
}

/*
 * A lookup of one key in main's leaf, which is locked and has cut keys: what is there is all that
 * the step has, and whoever gets it looks at the rows: neither keys nor the gate are needed.
 * False: other stages have entries of the key, or the leaf has it whole.
 */
static bool
read_cut_point(SfxReader *r, const SfxMeta *meta, const SfxLeaf *leaf, const SfxPos *pos)
{
	Share	   *s = &r->main;
	SfxCutSide	side;

	start_share(r, s, leaf);
	if (r->nruns > 0)
		start_runs(r, meta, pos);
	if ((r->nruns > 0 || r->nbatches > 0) && count_others(r) > 0)
		return false;
	side = sfx_leaf_find_cut(leaf, &r->lo.pos, s->block);
	if (side == SFX_CUT_CORRUPT)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	if (side == SFX_CUT_EQUAL)
		return false;
	s->promised = s->have_page = false;
	r->recover_all = r->recover_some = false;
	r->recheck = side == SFX_CUT_UNDECIDED;
	if (!r->recheck)
		s->block->nent = s->block->left_from = s->block->left_to = 0;
	r->leaf_entries = leaf->nentries;
	s->at = forward(r) ? 0 : s->block->nent - 1;
	return true;
}

/* The leaf in buf, which is let go: its keys are recovered under the gate and no page lock (W3). */
static void
copy_cut_leaf(SfxReader *r, const SfxMeta *meta, Buffer buf, const SfxLeaf *leaf)
{
	Share	   *s = &r->main;

	r->gate_missing = !r->gate && !SFX_MUTANT("keys without a gate");
	r->gate |= r->gate_missing;
	memcpy(s->page.data, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	s->leaf = *leaf;
	s->leaf.body = SfxPageBody((Page) s->page.data);
	r->copied = r->follows && !r->gate_missing;
	r->copied_state = sfx_state_take(meta);
	SFX_STOP("cut leaf copied");
}

/* The main tree's leaf has its keys whole: what is it worth to the scan that it has them? */
static void
warm(SfxReader *r)
{
	sfx_heat_touch(r->index, r->main.leafblk, r->candidates ? 1 : SFX_HEAT_OF_KEYS);
}

/*
 * R3: find the main tree's leaf, decode the other runs' blocks, then its own first one in place;
 * copy the page if more of it is wanted, by this range or others.
 */
static void
read_main(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	Share	   *s = &r->main;
	SfxLeaf		leaf;
	bool		answered;
	Buffer		buf = InvalidBuffer;
	Page		page;
	BlockNumber right;
	BlockNumber last = s->leafblk;
	bool		more = false;

	if (copy_holds(r, meta, pos))
	{
		read_copy(r, meta, pos);
		return;
	}
	r->copied = false;
	r->leaf_entries = 0;
	s->leafblk = InvalidBlockNumber;
	answered = sfx_last_before(r->index, meta, r->order, forward(r) ? &r->cur.pos : &r->stop.pos);
	if (!answered)
		buf = find_leaf(r, meta, SfxMetaMain(meta)->id, pos, s, &leaf, &answered);
	if (answered)
	{
		skip_leaf(r, s);
		start_runs(r, meta, pos);
		return;
	}
	page = BufferGetPage(buf);
	s->leafblk = BufferGetBlockNumber(buf);
	s->leaf.cut = leaf.cut;
	r->same_leaf = r->follows && s->leafblk == last ? r->same_leaf + 1 : 1;
	if (leaf.cut && is_cut_point(r) && read_cut_point(r, meta, &leaf, pos))
	{
		if (s->block->nent == 0 && forward(r) && !BlockNumberIsValid(SfxPageGetTail(page)->right))
			note_last(r, meta, s, &leaf);
		UnlockReleaseBuffer(buf);
		return;
	}
	if (leaf.cut)
	{
		copy_cut_leaf(r, meta, buf, &leaf);
		if (!r->gate_missing)
			read_cut_leaf(r, meta, pos, SfxPageGetTail((Page) s->page.data)->right);
		return;
	}
	if (r->warms)
		warm(r);
	sfx_dict_attach(r->index, s->leafblk, page, &leaf, &s->dict);
	start_share(r, s, &leaf);
	start_runs(r, meta, pos);
	s->keyless = needs_no_keys(r, &leaf) && !SFX_MUTANT("leaf before delta");
	s->tidless = needs_no_tids(r, meta);
	sfx_leaves_tidless += s->tidless;
	r->leaf_entries = leaf.nentries;
	if (first_block(r, meta, s, &leaf, pos, &more) &&
		(more || ((s->block->haspay || s->block->keyless) && s->block->nent > 0) || r->same_leaf >= READER_SAME_LEAF))
	{
		if (!r->one || s->block->nent == 0 || s->block->haspay)
		{
			copy_leaf(r, meta, s, page, &leaf);
			s->have_page = more;
		}
	}
	else if (forward(r) && !more && s->block->nent == 0 && !BlockNumberIsValid(SfxPageGetTail(page)->right))
		note_last(r, meta, s, &leaf);
	right = SfxPageGetTail(page)->right;
	UnlockReleaseBuffer(buf);
	ask_for_more(r, meta, right);
}

/*
 * X8: the step is read.  What it has of the main tree may be noted if that is all of it, forward,
 * and has whole keys.
 */
static void
start_passing(SfxReader *r, const SfxMeta *meta)
{
	const SfxPos *cur = &r->cur.pos;
	SfxBlock   *block = r->main.block;

	r->passing = r->pass_dead && forward(r) && !r->cur.inf && !r->point && meta->nruns == 1 &&
		!r->main.leaf.cut && !r->main.tidless && cur->len <= SFX_PASSED_KEY;
	if (!r->passing)
		return;
	/* no block was looked at */
	if (r->main.blockno < 0)
		block->first = block->total = 0;
	bound_set(&r->passed_from, r->passed_bytes[0], cur->key, cur->len, cur->tid);
	r->passed_block = r->main.blockno;
	r->passed_at = block->first;
	r->passed_total = block->total;
}

/*
 * R3 for the main tree: as if the step began behind what is known to be dead there (X8), if it is
 * the only run.
 */
static void
read_leaf(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	Bound		cur = r->cur;
	SfxPos		to;

	r->main.blockno = -1;
	if (!r->pass_dead || !forward(r) || meta->nruns > 1 ||
		!sfx_passed_until(r->index, meta, pos, &to, r->passed_bytes[2]))
		read_main(r, meta, pos);
	else if (!r->stop.inf && sfx_order_cmp_pos(NULL, &r->stop.pos, &to) <= 0)
	{
		r->copied = false;
		r->leaf_entries = 0;
		r->main.leafblk = InvalidBlockNumber;
		skip_leaf(r, &r->main);
	}
	else
	{
		r->cur.pos = to;
		read_main(r, meta, &to);
		r->cur = cur;
	}
	start_passing(r, meta);
}

void
sfx_reader_keep_leaf(SfxReader *r, Share *s, Buffer buf)
{
	s->leafblk = BufferGetBlockNumber(buf);
	if (r->warms)
		warm(r);
	memcpy(s->page.data, BufferGetPage(buf), BLCKSZ);
	s->leaf.body = SfxPageBody((Page) s->page.data);
	sfx_dict_attach(r->index, s->leafblk, (Page) s->page.data, &s->leaf, &s->dict);
	start_share(r, s, &s->leaf);
	UnlockReleaseBuffer(buf);
}

void
sfx_reader_keep_blocks(SfxReader *r, Share *s, Buffer buf, int *first, int *end)
{
	Page		page = BufferGetPage(buf);
	const SfxLeaf *leaf = &s->leaf;
	uint8	   *to = SfxPageBody((Page) s->page.data);
	uint32		head = leaf->len;
	uint32		from = head;
	uint32		upto = head;
	uint32		unused;
	int			last;

	s->leafblk = BufferGetBlockNumber(buf);
	sfx_dict_attach(r->index, s->leafblk, page, &s->leaf, &s->dict);
	start_share(r, s, leaf);
	*first = sfx_leaf_find_block(leaf, &r->cur.pos);
	last = s->whole || r->stop.inf ? leaf->nblocks : sfx_leaf_find_block(leaf, &r->stop.pos);
	if (*first < 0 || last < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf directory");
	*end = Min(last + 1, leaf->nblocks);
	if (*first < *end)
	{
		sfx_leaf_place(leaf, *first, &head, &from, &unused);
		sfx_leaf_place(leaf, *end - 1, &head, &unused, &upto);
		/* slots of a damaged page */
		if (from > upto)
		{
			from = head;
			upto = leaf->len;
		}
	}
	memcpy(to, leaf->body, head);
	memcpy(to + from, leaf->body + from, upto - from);
	s->leaf.body = to;
	UnlockReleaseBuffer(buf);
}

/*
 * R3 for the other runs: copy the leaves; they can be decoded only when it is known where the step
 * stops. False: one of them is gone.
 */
static bool
copy_run_leaves(SfxReader *r, const SfxMeta *meta, const SfxPos *pos)
{
	for (r->nruns = 0; r->nruns < meta->nruns - 1; r->nruns++)
	{
		Share	   *s = r->run[r->nruns];
		Buffer		buf;
		bool		answered;

		if (s == NULL)
		{
			s = r->run[r->nruns] = get_spare(r, SFX_SPARE_SHARE, sizeof(Share));
			s->dict = NULL;
		}
		buf = find_leaf(r, meta, meta->runs[r->nruns].id, pos, s, &s->leaf, &answered);
		if (answered)
		{
			skip_leaf(r, s);
			continue;
		}
		if (!BufferIsValid(buf))
			return false;
		sfx_reader_keep_leaf(r, s, buf);
	}
	return true;
}

/* R3 and R4.  False: start again with R1. */
static bool
read_trees(SfxReader *r, const SfxMeta *meta)
{
	SfxPos		infinity = {NULL, 0, 0};
	const SfxPos *pos = r->cur.inf ? &infinity : &r->cur.pos;

	if (!copy_run_leaves(r, meta, pos))
		return false;
	read_leaf(r, meta, pos);
	return !r->gate_missing;
}

/* R2 and R3.  False: start again with R1. */
static bool
read_stages(SfxReader *r, const SfxMeta *meta)
{
	if (SFX_MUTANT("leaf before delta"))
	{
		(void) read_trees(r, meta);
		SFX_STOP("between stages");
		return sfx_reader_fill_batches(r, meta);
	}
	if (!sfx_reader_fill_batches(r, meta))
		return false;
	SFX_STOP("between stages");
	return read_trees(r, meta);
}

/* Was the leaf read without TIDs, and something may have come into it before that? */
static bool
vouched_too_much(SfxReader *r)
{
	SfxMeta		meta;

	if (!r->main.tidless)
		return false;
	sfx_meta_reread(r->index, &meta, &r->metabuf);
	r->vouched = sfx_reader_is_vouched(r, &meta);
	return !r->vouched;
}

void
sfx_reader_one_step(SfxReader *r)
{
	SfxRetry	retry = {.index = r->index};
	SfxMeta		meta;

	Assert(r->nkilled == 0 && r->ndead == 0);
	CHECK_FOR_INTERRUPTS();
	for (;;)
	{
		r->stop = forward(r) ? r->hi : r->lo;
		r->final = true;
		r->right = InvalidBlockNumber;
		r->ranked_key = NULL;
		sfx_reader_meta(r, &meta);
		SFX_STOP("metapage read");
		if (read_stages(r, &meta))
		{
			if (!vouched_too_much(r))
				break;
		}
		else if (r->gate_missing)
			r->gate_missing = false;
		else if (!sfx_retry(&retry))
			sfx_corrupt(r->index, SFX_META_BLKNO,
						"a generation of the delta, or a run, that is listed is not there");
	}
	sfx_retry_end(&retry);
	/* R6: last, since VACUUM changes the metapage before it removes anything */
	if (!SFX_MUTANT("snapshots do not expire"))
		SfxTestForOldSnapshot(r->snapshot, r->index, BufferGetPage(r->metabuf));
	sfx_reader_trim_batches(r);
	sfx_reader_prove_batches(r, &meta);
	r->step_state = sfx_state_take(&meta);
	r->stretch.step = r->dir;
	r->active = true;
}
