/*-------------------------------------------------------------------------
 * reader_leaf.c - one run's leaf in a step: found by key or denied by a filter, and its blocks
 * decoded from cur to stop
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
#include "reader_impl.h"

/* The keys of a block to be decoded at once; 0: all. */
static inline int
next_part(SfxReader *r)
{
	if (r->want.one)
		return 1;
	if (r->range.wanted > 0)
	{
		r->range.parts = Min(r->range.parts, READER_PARTS - 1);
		return r->range.wanted;
	}
	if (r->range.parts == 0)
		return 0;
	return READER_PART_KEYS << (READER_PARTS - r->range.parts--) / 2;
}

/* The cursor's block was decoded, in which the stream begins. */
static inline void
stand_at_first(SfxReader *r, LeafCursor *s)
{
	s->at = forward(r) ? 0 : s->block->nent - 1;
	r->range.wanted -= Min(r->range.wanted, s->block->nent);
}

/* A block of leaf was decoded: which of its entries are known to be of dead rows (X8)? */
static inline void
mark_skipped(SfxReader *r, LeafCursor *s, const SfxLeaf *leaf)
{
	s->skips = r->want.skip_dead && !r->want.one && !leaf->cut && !s->tidless &&
		s->block->nent > 0 &&
		sfx_passed_tids(r->index, &r->win.state, s->leafblk, s->block->tid, s->block->nent, s->skip);
}

void
sfx_reader_decode_left(SfxReader *r, LeafCursor *s)
{
	int			part = s->leaf.cut ? sfx_reader_cut_part(r) : 0;

	Assert(sfx_block_left(s->block));
	r->ranked.key = NULL;
	part = part > 0 ? part : next_part(r);
	if (sfx_leaf_decode_left(&s->leaf, s->blockno, part, !forward(r), s->block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	if (s->leaf.cut)
		sfx_reader_recover_keys(r);
	mark_skipped(r, s, &s->leaf);
	stand_at_first(r, s);
}

/* Where the step stops, in the leaf's terms.  NULL: not in this leaf. */
static inline const SfxPos *
leaf_stop(const SfxReader *r, const LeafCursor *s, const SfxLeaf *leaf)
{
	/* all that may be meant by one key's stored form is asked for with its TIDs */
	if (leaf->cut && r->cut.recheck)
		return &r->cut.stop;
	if (s->whole || r->win.stop.inf)
		return NULL;
	return leaf->cut ? &r->cut.stop : &r->win.stop.pos;
}

void
sfx_reader_decode(SfxReader *r, LeafCursor *s, const SfxLeaf *leaf, int b, bool first)
{
	const SfxPos *cur = !first || r->win.cur.inf ? NULL : leaf->cut ? &r->cut.cur : &r->win.cur.pos;
	const SfxPos *stop = leaf_stop(r, s, leaf);
	const SfxPos *lo = forward(r) ? cur : stop;
	const SfxPos *hi = forward(r) ? stop : cur;
	int			part = leaf->cut ? sfx_reader_cut_part(r) : 0;
	int			result;

	Assert(b >= 0 && b < leaf->nblocks);
	Assert(!leaf->cut || s == &r->main);
	r->ranked.key = NULL;
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
	mark_skipped(r, s, leaf);
	s->blockno = b;
	stand_at_first(r, s);
}

/* Comparator order, forward: is what is left of the range of one key, whole in its bytes? */
static inline bool
is_key(const SfxReader *r)
{
	const SfxPos *stop = &r->win.stop.pos;

	return r->order != NULL && !r->win.cur.inf && !r->win.stop.inf && stop->tid > 0 &&
		sfx_same_bytes(r->win.cur.pos.key, r->win.cur.pos.len, stop->key, stop->len);
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
		if (r->range.point && !sfx_leaf_high_has_tid(leaf))
		{
			Assert(r->order != NULL || sfx_leaf_up_to_high(leaf, &r->win.stop.pos));
			return false;
		}
		if (is_key(r) && !sfx_leaf_high_is(leaf, r->win.stop.pos.key, r->win.stop.pos.len))
			return false;
		if (!r->win.stop.inf && sfx_leaf_up_to_high(leaf, &r->win.stop.pos))
			return false;
	}
	else if (sfx_leaf_cmp_fences(leaf, &r->win.stop.pos) >= 0)
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
Buffer
sfx_reader_find_leaf(SfxReader *r, const SfxMeta *meta, uint32 run, const SfxPos *pos,
					 LeafCursor *s, SfxLeaf *leaf, bool *answered)
{
	SfxFilterProbe probe;
	Buffer		buf;
	bool		fwd = forward(r);

	*answered = s->promised = false;
	sfx_leaves_read++;
	probe.key = r->range.point ? r->range.lo.pos.key : NULL;
	probe.keylen = r->range.lo.pos.len;
	/* An open end is next to never empty: no filter is asked for it. */
	if (!r->filter.ask || (r->filter.keys_only && probe.key == NULL) ||
		(fwd ? r->win.stop.inf : r->win.stop.pos.len == 0))
		return sfx_tree_find_leaf(SfxTreeOf(r->index, r->order, meta, run), pos, !fwd, leaf);
	probe.lo = fwd ? &r->win.cur.pos : &r->win.stop.pos;
	probe.hi = fwd ? &r->win.stop.pos : r->win.cur.inf ? NULL : &r->win.cur.pos;
	probe.no_leaf = r->want.believe;
	buf = sfx_tree_probe(SfxTreeOf(r->index, r->order, meta, run), pos, !fwd, leaf, &probe);
	r->filter.keys_only |= probe.keys_only;
	r->filter.counts.asked += probe.asked;
	r->filter.counts.denied += probe.asked && probe.absent;
	s->promised = probe.asked && !probe.absent;
	*answered = !BufferIsValid(buf) && sfx_filter_answered(&probe);
	if (!*answered)
		return buf;
	sfx_leaves_read--;
	if (!probe.absent)
		r->filter.maybe = true;
	else if (!probe.fence_inf)
		stop_at(r, probe.fence.key, probe.fence.len, probe.fence.tid);
	return buf;
}

/* The step has nothing of this run's leaf. */
void
sfx_reader_skip_leaf(SfxReader *r, LeafCursor *s)
{
	s->have_page = s->keyless = s->tidless = s->promised = s->skips = false;
	s->entries = 0;
	s->leaf.nblocks = 0;
	s->leaf.cut = false;
	s->block->nent = 0;
	s->block->left_from = s->block->left_to = 0;
	s->at = forward(r) ? 0 : -1;
}

/* R4, for a leaf that is opened, with its dictionary. */
void
sfx_reader_open_leaf(SfxReader *r, LeafCursor *s, const SfxLeaf *leaf)
{
	s->entries = leaf->nentries;
	s->have_page = s->keyless = s->tidless = s->skips = false;
	s->block->nent = 0;
	s->block->left_from = s->block->left_to = 0;
	s->at = forward(r) ? 0 : -1;
	s->whole = stop_at_fence(r, s->leafblk, leaf);
}

/*
 * Is there anything for this step in the blocks after number b, which is decoded, or left of it?
 */
static inline bool
more_blocks(const SfxReader *r, const LeafCursor *s, const SfxLeaf *leaf, int b)
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
first_decoded(SfxReader *r, LeafCursor *s, const SfxLeaf *leaf, int b, bool *more)
{
	/* where there are entries, more are likely to follow */
	if (s->block->nent > 0)
		r->filter.ask = s->promised = false;
	*more = more_blocks(r, s, leaf, b);
	r->filter.counts.wrong += s->promised && !*more;
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
check_exact(SfxReader *r, const LeafCursor *s, const SfxLeaf *leaf, int b)
{
	const SfxBlock *exact = s->block;
	SfxBlock   *block;
	int			found;

	if (!is_in_order(leaf))
		return;
	found = sfx_leaf_find_block(leaf, &r->win.cur.pos);
	Assert(exact->nent == 0 || found == b);
	if (found >= leaf->nblocks)
		return;
	block = palloc(sizeof(SfxBlock));
	if (sfx_leaf_decode(leaf, found, &r->win.cur.pos, leaf_stop(r, s, leaf), block) < 0)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	Assert(exact->nent == block->nent || (r->want.one && block->nent > 0 && exact->nent > 0));
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
found_by_bytes(SfxReader *r, const SfxMeta *meta, LeafCursor *s, const SfxLeaf *leaf)
{
	SfxExact	found;
	int			b;

	if (!leaf->bytewise || !forward(r) || s->tidless || s->whole || !is_key(r) ||
		r->win.cur.pos.tid != 0)
		return false;
	found = sfx_leaf_find_exact(leaf, r->win.stop.pos.key, r->win.stop.pos.len,
								r->win.stop.pos.tid, s->block, &b);
	if (found == SFX_EXACT_CORRUPT)
		sfx_corrupt(r->index, s->leafblk, "leaf block");
	sfx_cache_tried_bytes(r->index, meta, found != SFX_EXACT_UNDECIDED);
	if (found == SFX_EXACT_UNDECIDED)
		return false;
#ifdef USE_ASSERT_CHECKING
	check_exact(r, s, leaf, b);
#endif
	r->ranked.key = NULL;
	s->blockno = b;
	s->at = 0;
	return true;
}

/*
 * The leaf's first block of the step.  False: there is none.  *more: the next block may have some
 * of it, too.
 */
bool
sfx_reader_first_block(SfxReader *r, const SfxMeta *meta, LeafCursor *s, const SfxLeaf *leaf,
					   const SfxPos *pos, bool *more)
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
		r->filter.counts.wrong += s->promised;
		return false;
	}
	sfx_reader_decode(r, s, leaf, b, true);
	first_decoded(r, s, leaf, b, more);
	return true;
}

/* The main tree's leaf has its keys whole: what is it worth to the scan that it has them? */
void
sfx_reader_warm(SfxReader *r)
{
	r->warmed |= sfx_heat_touch(r->index, r->main.leafblk, false,
								r->want.candidates ? 1 : SFX_HEAT_OF_KEYS);
}

void
sfx_reader_keep_leaf(SfxReader *r, LeafCursor *s, Buffer buf)
{
	s->leafblk = BufferGetBlockNumber(buf);
	if (r->warms)
		sfx_reader_warm(r);
	sfx_reader_take_page(r, s);
	memcpy(s->page->data, BufferGetPage(buf), BLCKSZ);
	s->leaf.body = SfxPageBody((Page) s->page->data);
	sfx_dict_attach(r->index, s->leafblk, (Page) s->page->data, &s->leaf, &s->dict);
	sfx_reader_open_leaf(r, s, &s->leaf);
	UnlockReleaseBuffer(buf);
}

void
sfx_reader_keep_blocks(SfxReader *r, LeafCursor *s, Buffer buf, int *first, int *end)
{
	Page		page = BufferGetPage(buf);
	const SfxLeaf *leaf = &s->leaf;
	uint8	   *to;
	uint32		head = leaf->len;
	uint32		from = head;
	uint32		upto = head;
	uint32		unused;
	int			last;

	Assert(forward(r));
	sfx_reader_take_page(r, s);
	to = SfxPageBody((Page) s->page->data);
	s->leafblk = BufferGetBlockNumber(buf);
	sfx_dict_attach(r->index, s->leafblk, page, &s->leaf, &s->dict);
	sfx_reader_open_leaf(r, s, leaf);
	*first = sfx_leaf_find_block(leaf, &r->win.cur.pos);
	last = leaf->nblocks;
	if (!s->whole && !r->win.stop.inf)
		last = sfx_leaf_find_block(leaf, &r->win.stop.pos);
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
